"""Check the alternatives of a report without the code that found them.

Each published rule is made from its parameters and played by other code (`played_rules`); so is the firm's own. The
bound of each point of a frontier is derived from its dual lambda: with the row theta . p >= 0 no policy earns more than
max_p (R - lambda theta) . p, which one index policy attains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from auditkit.errors import InputError
from auditkit.fitting.fitted import Fitted
from auditkit.model.layout import Floats, Layout, Partition
from auditkit.rules.find import MOST
from auditkit.rules.known_before import firm_ranking, known_of
from auditkit.rules.play import GroupPair, ranked
from auditkit.rules.requisitions import among, some
from auditkit.rules.rule import Ranking, Rule
from auditkit.verification.claims import CLOSED, Check, check_number
from auditkit.verification.independent import evaluate
from auditkit.verification.played_rules import box_numbers, play

SAME_CODE = (
    "alternatives: that policies with the utilities of the frontiers exist (they are not listed), largest ratios, and "
    "gains judged on other requisitions"
)


def check_alternatives(
    report: Mapping[str, Any],
    fitted: Fitted,
    aware: Fitted | None,
    rules: Mapping[str, type[Rule]],
    progress: Callable[[str], None],
) -> tuple[list[Check], list[str]]:
    """All claims about rules and frontiers; also what was derived by the same code only."""
    claimed = report.get("alternatives") or ()
    if not claimed:
        return [], []
    searches = some(fitted.instance.layout, MOST)
    fitted, aware = among(fitted, searches), None if aware is None else among(aware, searches)
    layout, known = fitted.instance.layout, known_of(fitted)
    own = play(layout, firm_ranking(known))
    played: dict[str, Floats] = {}
    checks: list[Check] = []
    for each in claimed:
        progress(f"playing the rules for {each['attribute']} again")
        name, pair = f"alternatives by {each['attribute']}", GroupPair(*(each[k] for k in PAIR))
        if pair.attribute not in layout.protected:
            checks.append(Check(f"{name}: the attribute is in the data", False))
            continue
        checks += _yield(f"{name}: the firm's own rule", each["firm"], _measured(layout, own, pair))
        for entry in each["rules"]:
            what = f"{name}: {entry['name']} at {entry['target']:g}"
            told = f"{entry['name']} {entry['parameters']}"
            try:
                if told not in played:
                    rule = rules[entry["name"]].model_validate(entry["parameters"])
                    played[told] = play(layout, ranked(rule, known))
            except (KeyError, ValueError, InputError) as error:
                checks.append(Check(f"{what}: it is a rule", False, str(error)))
                continue
            checks += _yield(what, entry, _measured(layout, played[told], pair))
            people = _of_people(layout, played[told], pair, fitted.groups[pair.attribute])
            checks += _yield(f"{what}, for those who applied", entry["people"], people)
        for kind, model in (("blind", fitted), ("aware", aware)):
            points = each[kind] if model is not None else ()
            for point in points:
                assert model is not None
                checks += _bound(f"{name}, {kind} at {point['ratio']}", point, model.instance.layout, pair)
    return checks, [SAME_CODE]


PAIR = ("attribute", "group", "against", "step")


def _yield(what: str, claimed: Mapping[str, Any], found: Mapping[str, float | None]) -> list[Check]:
    return [check_number(f"{what}: {key}", claimed[key], number) for key, number in found.items()]


def _outcomes(layout: Layout, visits: Floats, on: str) -> Floats:
    counted = np.zeros(layout.states)
    where = np.flatnonzero(layout.selecting) if on == "selection" else layout.start
    counted[where] = visits[where]
    return counted


def _measured(layout: Layout, visits: Floats, pair: GroupPair) -> dict[str, float | None]:
    one, two = (float(weights @ visits) for weights in _rates(layout, pair))
    return _numbers(layout, visits, float(layout.reward @ visits), one, two)


def _numbers(layout: Layout, visits: Floats, utility: float, one: float, two: float) -> dict[str, float | None]:
    return {
        "utility": utility,
        "ratio": one / two if two > 0 else None,
        "interviews": float(visits[layout.start].sum()),
        "filled": float(visits[layout.selecting].sum()),
    }


def _rates(layout: Layout, pair: GroupPair) -> list[Floats]:
    part, on = layout.protected[pair.attribute], _outcomes(layout, np.ones(layout.states), pair.on)
    codes = [part.names.index(group) for group in (pair.group, pair.against)]
    return [on * layout.share(part, code) / float(part.sizes[code]) for code in codes]


def _of_people(layout: Layout, visits: Floats, pair: GroupPair, actual: Partition) -> dict[str, float | None]:
    """Candidate by candidate: everybody in their own group, whose scores have that group's law."""
    part = layout.protected[pair.attribute]
    worth, rate = 0.0, dict.fromkeys(actual.names, 0.0)
    counted = _outcomes(layout, visits, pair.on)
    thetas = {g: np.asarray(layout.share(part, part.names.index(g)), dtype=np.float64) for g in part.names}
    for c, code in enumerate(actual.codes.tolist()):
        own = slice(int(layout.candidate_ptr[c]), int(layout.candidate_ptr[c + 1]))
        group = actual.names[code] if code >= 0 else None
        likelihood = np.ones(own.stop - own.start)
        if group in thetas:
            likelihood = thetas[group][own] / max(float(thetas[group][own.start]), 1e-12)
            rate[group] += float(likelihood @ counted[own])
        worth += float((likelihood * layout.reward[own]) @ visits[own])
    one, two = (
        rate.get(g, 0.0) / max(1, int((actual.codes == actual.names.index(g)).sum()))
        for g in (pair.group, pair.against)
    )
    return _numbers(layout, visits, worth, one, two)


def _bound(what: str, point: Mapping[str, Any], layout: Layout, pair: GroupPair) -> list[Check]:
    """The bound of a point of a frontier from its dual, and that what it earns is as much."""
    if point["utility"] is None:
        return []
    one, two = _rates(layout, pair)
    dual = float(point["dual"])
    rewards = layout.reward - dual * (one - (point["ratio"] or 0.0) * two)
    if layout.only_boxes:
        visits = play(layout, Ranking(box_numbers(layout, rewards)))
    else:
        visits = evaluate(layout, ([rewards], (float(np.abs(rewards).max()),)))
    bound, claimed = float(rewards @ visits), float(point["bound"])
    near = abs(bound - claimed) <= CLOSED * (1 + abs(bound))
    closed = -CLOSED * (1 + abs(bound)) <= bound - float(point["utility"]) <= CLOSED * (1 + abs(bound)) + point["gap"]
    checks = [
        Check(f"{what}: sign of the dual", dual <= 0.0, f"dual {dual}"),
        Check(f"{what}: bound from the dual", near, f"{claimed} in the report, {bound} here"),
        Check(f"{what}: utility within the gap of the bound", closed, f"{point['utility']}, bound {bound}"),
    ]
    if point["ratio"] is not None:
        met = point["reached"] is None or point["reached"] >= point["ratio"] - CLOSED
        checks.append(Check(f"{what}: the ratio is reached", met, f"{point['reached']}"))
    return checks
