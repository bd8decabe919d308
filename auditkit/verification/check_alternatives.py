"""Check the alternatives of a report without the code that found them.

Each published rule is rebuilt from its parameters and played by other code (`played_rules`); so is the firm's own rule.
The bound of each point of a frontier is derived from its dual lambda: with the row theta . p >= 0 no policy earns more
than max_p (R - lambda theta) . p, which one index policy attains. Two policies show that a policy with this utility
**exists**, the best ones for duals slightly on either side of lambda: one meets the row, the other need not, and the
mixture of the two that just meets it is a policy that any firm could follow.

A **largest ratio** r at a utility is checked the same way, with duals found here (`best_with_row`): some policy has the
ratio r and the utility, and no policy has the utility at r + `FURTHER`. With positions filled, the row is their number
and the objective the difference of the rates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from auditkit.errors import InputError
from auditkit.fitting.fitted import Fitted
from auditkit.model.layout import Floats, Layout, Partition
from auditkit.report.schema import AlternativePart
from auditkit.rules.blind_frontier import BELOW, HALVINGS, FrontierOptimum
from auditkit.rules.find import LESS, MOST, RuleResult
from auditkit.rules.known_before import firm_ranking, known_of
from auditkit.rules.play import GroupPair, RuleYield, ranked
from auditkit.rules.requisitions import among, some
from auditkit.rules.rule import Ranking, Rule
from auditkit.verification.claims import CLOSED, Check, check_number
from auditkit.verification.independent import evaluate
from auditkit.verification.played_rules import box_numbers, play

SAME_CODE = "alternatives: gains judged on other requisitions"

BESIDE = (1e-7, 1e-4)
"""Relative to a dual: how far from it the two policies are looked for whose mixture is the optimum. Next to the rewards
a small dual may be too small for the first."""

FURTHER = 3 * BELOW
"""No policy has a ratio that is so much above the largest."""

MOST_DUALS = 30


def check_alternatives(
    claimed: Sequence[AlternativePart],
    fitted: Fitted,
    aware: Fitted | None,
    rules: Mapping[str, type[Rule]],
    progress: Callable[[str], None],
) -> tuple[list[Check], list[str]]:
    """All claims about rules and frontiers; also what only the same code derived."""
    searches = some(fitted.instance.layout, MOST)
    fitted, aware = among(fitted, searches), None if aware is None else among(aware, searches)
    layout, known = fitted.instance.layout, known_of(fitted)
    own = play(layout, firm_ranking(known))
    played: dict[str, Floats] = {}
    checks: list[Check] = []
    for each in claimed:
        progress(f"replaying the rules for {each.attribute}")
        name, pair = (
            f"alternatives by {each.attribute} on {each.step}",
            GroupPair(each.attribute, each.group, each.against, each.step),
        )
        if pair.attribute not in layout.protected:
            checks.append(Check(f"{name}: the attribute is in the data", False))
            continue
        checks += _yield(f"{name}: the firm's own rule", each.firm, _measured(layout, own, pair))
        for entry in each.rules:
            what = f"{name}: {entry.name} at {entry.target:g}"
            told = f"{entry.name} {entry.parameters}"
            try:
                if told not in played:
                    rule = rules[entry.name].model_validate(entry.parameters)
                    played[told] = play(layout, ranked(rule, known))
            except (KeyError, ValueError, InputError) as error:
                checks.append(Check(f"{what}: it is a rule", False, str(error)))
                continue
            people = found = _measured(layout, played[told], pair)
            checks += _yield(what, entry, found)
            if pair.attribute in fitted.groups:
                people = _of_people(layout, played[told], pair, fitted.groups[pair.attribute])
            checks += _yield(f"{what}, for those who applied", entry.people, people)
        for kind, model, points in (("blind", fitted, each.blind), ("aware", aware, each.aware)):
            for point in points if model is not None else ():
                assert model is not None
                checks += _bound(f"{name}, {kind} at {point.ratio}", point, model.instance.layout, pair)
        checks += _largest(name, each, layout, pair)
    return checks, [SAME_CODE]


def _yield(what: str, claimed: RuleYield | RuleResult, found: Mapping[str, float | None]) -> list[Check]:
    return [check_number(f"{what}: {key}", getattr(claimed, key), number) for key, number in found.items()]


def _outcomes(layout: Layout, visits: Floats, on: str) -> Floats:
    counted = np.zeros(layout.states)
    where = {"selection": np.flatnonzero(layout.selecting), "inspection": layout.start}.get(on)
    if where is None:
        where = np.flatnonzero(layout.state_stage == layout.stages.index(on))
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
    """Candidate by candidate: everyone in their own group, with that group's law of scores."""
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


def _bound(what: str, point: FrontierOptimum, layout: Layout, pair: GroupPair) -> list[Check]:
    """The bound of a frontier's point, from its dual, and a check that a policy earns as much."""
    if point.utility is None:
        return []
    told, filled_claimed, gap = (math.nan if x is None else x for x in (point.bound, point.filled, point.gap))
    one, two = _rates(layout, pair)
    dual, row = point.dual, one - (point.ratio or 0.0) * two
    rewards = layout.reward - dual * row
    visits = _best(layout, rewards)
    bound, claimed = float(rewards @ visits), told
    near = abs(bound - claimed) <= CLOSED * (1 + abs(bound))
    closed = -CLOSED * (1 + abs(bound)) <= bound - point.utility <= CLOSED * (1 + abs(bound)) + gap
    checks = [
        Check(f"{what}: sign of the dual", dual <= 0.0, f"dual {dual}"),
        Check(f"{what}: bound from the dual", near, f"{claimed} in the report, {bound} here"),
        Check(f"{what}: utility within the gap of the bound", closed, f"{point.utility}, bound {bound}"),
    ]
    if dual < 0:
        exists, least = False, point.utility - CLOSED * (1 + abs(bound))
        for beside in BESIDE:
            sides = [_best(layout, layout.reward - dual * (1 + side) * row) for side in (-beside, beside)]
            earned = _mixed(layout.reward, row, 0.0, sides)
            exists = earned is not None and earned >= least
            if exists:
                break
        checks.append(Check(f"{what}: a policy earns as much", exists, f"{point.utility}, found {earned}"))
        filled = [np.add.reduceat(np.where(layout.selecting, v, 0.0), layout.candidate_ptr[:-1]) for v in sides]
        ends = [float(each.sum()) for each in (np.minimum(*filled), np.maximum(*filled))]
        within = ends[0] - CLOSED * (1 + ends[1]) <= filled_claimed <= ends[1] + CLOSED * (1 + ends[1])
        checks.append(Check(f"{what}: positions filled", within, f"{point.filled}, between {ends[0]} and {ends[1]}"))
    elif point.ratio is None:
        found = _measured(layout, visits, pair)
        checks.append(check_number(f"{what}: positions filled", point.filled, found["filled"]))
        checks.append(check_number(f"{what}: ratio", point.reached, found["ratio"]))
    if point.ratio is not None:
        met = point.reached is None or point.reached >= point.ratio - CLOSED
        checks.append(Check(f"{what}: the ratio is reached", met, f"{point.reached}"))
    return checks


def _best(layout: Layout, rewards: Floats) -> Floats:
    """Visits of the best policy for some rewards."""
    if layout.only_boxes:
        return play(layout, Ranking(box_numbers(layout, rewards)))
    return evaluate(layout, ([rewards], (float(np.abs(rewards).max()),)))


def _mixed(objective: Floats, row: Floats, least: float, sides: Sequence[Floats]) -> float | None:
    """What the mixture of policies that just meets row . p >= least earns; None if none meets it."""
    points = [(float(row @ v) - least, float(objective @ v)) for v in sides]
    met = [earned for slack, earned in points if slack >= 0.0]
    for slack, earned in points:
        for other, less in points:
            if slack < 0.0 <= other:
                met.append(less + (earned - less) * other / (other - slack))
    return max(met, default=None)


def best_with_row(
    layout: Layout, objective: Floats, row: Floats, least: float, wanted: float
) -> tuple[float | None, float]:
    """The most that a policy with row . p >= least earns: of policies that were found, and at most.

    The tangents of G(lambda) = max_p objective . p + lambda (row . p - least) at two lambdas cross where the next one
    is tried; it ends early once `wanted` is above the bound or below what was found.
    """
    visits = _best(layout, objective)
    seen = [visits]
    slack, bound = float(row @ visits) - least, float(objective @ visits)
    if slack >= 0.0:
        return bound, bound
    low, high, step = (0.0, slack, bound), None, 1.0 + abs(bound) / max(abs(slack), 1e-12)
    found: float | None = None
    for _ in range(MOST_DUALS):
        if high is None:
            at = low[0] + step
            step *= 4.0
        else:
            at = (low[2] - low[0] * low[1] - high[2] + high[0] * high[1]) / (high[1] - low[1])
        visits = _best(layout, objective + at * row)
        seen = [*seen[-5:], visits]
        slack = float(row @ visits) - least
        value = float(objective @ visits) + at * slack
        bound = min(bound, value)
        mixed = _mixed(objective, row, least, seen)
        found = mixed if found is None else max(found, mixed if mixed is not None else found)
        if bound < wanted or (found is not None and found >= wanted) or (high is not None and at in (low[0], high[0])):
            break
        if slack >= 0.0:
            high = at, slack, value
        else:
            low = at, slack, value
    return found, bound


def _largest(name: str, each: AlternativePart, layout: Layout, pair: GroupPair) -> list[Check]:
    """That some policy has each of the largest ratios, and none a larger one."""
    firm, checks = each.firm.utility, []
    one, two = _rates(layout, pair)
    count = layout.selecting.astype(np.float64)
    free = each.blind[0]
    asked: dict[str, tuple[Floats | None, float, float]] = {
        "at_firm_utility": (None, firm, FURTHER),
        "at_less": (None, firm - LESS * abs(firm), FURTHER),
        "filled": (count, 0.9999 * (free.filled or 0.0), 2.0**-HALVINGS),
    }
    for key, (counted, least, further) in asked.items():
        what, ratio = f"{name}, largest ratio {key.replace('_', ' ')}", getattr(each.largest_ratio, key)
        if ratio is None:
            none = counted is None and (free.utility or 0.0) < least
            checks.append(Check(f"{what}: no policy earns as much", none))
            continue
        for r, reached in ((ratio, True), (ratio + further, False)):
            if not reached and ratio >= 1.0:
                continue
            row = one - r * two
            if counted is None:
                small = CLOSED * (1 + abs(least))
                found, bound = best_with_row(layout, layout.reward, row, 0.0, least - small)
                holds = (found is not None and found >= least - small) if reached else bound < least
            else:
                found, bound = best_with_row(layout, row, count, least, -CLOSED)
                holds = (found is not None and found >= -CLOSED) if reached else bound < 0.0
            told = "a policy has it" if reached else f"none has {r:g}"
            checks.append(Check(f"{what}: {told}", holds, f"{found} found, at most {bound}"))
    return checks
