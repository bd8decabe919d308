"""Problems of unusual kinds, each with an independent statement for the occupancy LP: rows, and measures to cut.

`problem(seed)` draws one; the kinds take turns. No problem uses auditkit's layout or constraints: it is a plain
document, SPEC keys for auditkit, and the same conditions as rows over states. `compared` solves it both ways.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from auditkit.constraints import bind, make
from auditkit.model.documents import instance_from_document
from auditkit.solver import solve
from auditkit.verification import check_solution
from support import constraints
from support.occupancy import Document, Key, Occupancy, Row, StateKey, occupancy
from support.tiny import add_limits, box_instance, chain_instance, random_box

Vector = np.ndarray[Any, np.dtype[np.float64]]
Terms = dict[Key, float]

ORDERS: tuple[float, ...] = (-np.inf, -3.0, -1.0, 0.3, 0.5, 2.0, 4.0)
MOST_CUTS = 150


@dataclass(frozen=True)
class Curve:
    """A function of outcomes u_i = terms_i . p that is bounded."""

    terms: list[Terms]
    value: Callable[[Vector], float]
    slope: Callable[[Vector], Vector]
    sense: str
    bound: float


@dataclass
class Problem:
    kind: str
    document: Document
    specs: list[dict[str, Any]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)

    def truth(self) -> Occupancy | None:
        """The LP over all policies, cut at its own solutions until the curves hold; None if that takes too long."""
        cuts: list[Row] = []
        for _ in range(MOST_CUTS):
            found = occupancy(self.document, self.rows + cuts)
            if found.status == "infeasible":
                return found
            new = [cut for curve in self.curves if (cut := _cut(curve, found.visits)) is not None]
            if not new:
                return found
            cuts += new
        return None


def _cut(curve: Curve, visits: dict[Key, float]) -> Row | None:
    u = np.array([sum(c * visits.get(key, 0.0) for key, c in terms.items()) for terms in curve.terms])
    inside = np.maximum(u, 1e-300)
    missed = curve.bound - curve.value(inside) if curve.sense == ">=" else curve.value(inside) - curve.bound
    if missed <= 1e-9:
        return None
    at = np.maximum(u, 1e-3)
    g = curve.slope(at)
    size = float(np.abs(g).max())
    cut = {key: c * float(g[i]) / size for i, terms in enumerate(curve.terms) for key, c in terms.items()}
    return cut, curve.sense, (curve.bound - curve.value(at) + float(g @ at)) / size


# ------------------------------------------------------------------------------------------- outcomes from a document


def people(document: Document) -> list[tuple[str, Document, bool]]:
    """Search, candidate, and whether the candidate can be selected at all."""
    found = []
    for search in document["searches"]:
        for one in search["candidates"]:
            inside = [k["capacity"] for k in search.get("limits", []) if one["id"] in k.get("candidates", [])]
            found.append((search["id"], one, min([search["capacity"], *inside]) > 0))
    return found


def states(one: Document, on: str, least: float | None = None) -> dict[StateKey, float]:
    """The states whose visits are the outcome, and their weights; with `least`, of values that prove to be as high."""
    if "values" in one:
        good = [least is None or value >= least for value in one["values"]]
        if on == "inspection":
            return {"inspected": sum(p for p, g in zip(one["probs"], good, strict=True) if g)}
        return {("value", j): 1.0 for j, g in enumerate(good) if g} if on == "selection" else {}
    every = one["states"]
    if on == "selection":
        return {s: 1.0 for s, at in every.items() if at.get("terminal") and (least is None or at["reward"] >= least)}
    left = [s for s, at in every.items() if at.get("to") and (s == one["start"] if on == "inspection" else True)]
    named = [s for s in left if on == "inspection" or every[s].get("stage") == on]
    return {s: 1.0 if least is None else _proves(every, s, least) for s in named}


def _reach(every: dict[str, Document], start: str) -> set[str]:
    found, todo = {start}, [start]
    while todo:
        for child, p in every[todo.pop()].get("to", {}).items():
            if p > 0 and child not in found:
                found.add(child)
                todo.append(child)
    return found


def _proves(every: dict[str, Document], start: str, least: float) -> float:
    """Chance to come, always going on, to a state from which every value that can still be reached is as high."""
    names = sorted(every)

    def settled(s: str) -> bool:
        values = [every[t]["reward"] for t in _reach(every, s) if every[t].get("terminal")]
        return bool(values) and min(values) >= least

    done = {s for s in names if settled(s)}
    hopeful = {s for s in names if _reach(every, s) & done}
    matrix, target = np.eye(len(names)), np.zeros(len(names))
    for i, s in enumerate(names):
        target[i] = float(s in done)
        for child, p in every[s].get("to", {}).items() if s in hopeful - done else ():
            matrix[i, names.index(child)] -= p
    return float(np.linalg.solve(matrix, target)[names.index(start)])


def outcome(
    document: Document, who: Callable[[Document], bool], on: str, least: dict[str, float] | None = None
) -> Terms:
    return {
        (search, one["id"], s): w
        for search, one, _ in people(document)
        if who(one)
        for s, w in states(one, on, None if least is None else least.get(one["group"], -np.inf)).items()
        if w
    }


def less(a: Terms, b: Terms, factor: float = 1.0) -> Terms:
    found = dict(a)
    for key, w in b.items():
        found[key] = found.get(key, 0.0) - factor * w
    return found


def scaled(a: Terms, factor: float) -> Terms:
    return {key: factor * w for key, w in a.items()}


def of_group(group: str, **where: str) -> Callable[[Document], bool]:
    def holds(one: Document) -> bool:
        return one["group"] == group and all(one.get("attributes", {}).get(k) == v for k, v in where.items())

    return holds


def size(document: Document, who: Callable[[Document], bool]) -> int:
    return sum(who(one) for _, one, _ in people(document))


def groups(document: Document, **where: str) -> list[str]:
    return sorted({one["group"] for _, one, _ in people(document) if of_group(one["group"], **where)(one)})


# ------------------------------------------------------------------------------------------------------------ the kinds


def _value_specific(rng: np.random.Generator, kind: str) -> Problem:
    document = chain_instance(rng, candidates=3)
    on = str(rng.choice(["selection", "inspection", "first", "later"]))
    least = {g: float(rng.integers(-2, 8)) for g in groups(document)}
    found = Problem(kind, document)
    if on in ("first", "later") and not any(on in _stages(one) for _, one, _ in people(document)):
        on = "inspection"
    _parity(found, on, "count", least, float(rng.choice([0.0, 0.2])))
    return found


def _stages(one: Document) -> set[str]:
    return {at.get("stage") for at in one.get("states", {}).values() if at.get("to")}


def _parity(found: Problem, on: str, basis: str, least: dict[str, float] | None, tolerance: float = 0.0) -> None:
    names = groups(found.document)
    spec: dict[str, Any] = {"type": "parity", "on": on, "basis": basis}
    found.specs.append(spec | ({"min_value": least} if least else {}) | ({"tolerance": tolerance} if tolerance else {}))
    rate = {}
    for g in names:
        n = size(found.document, of_group(g)) if basis == "rate" else 1
        rate[g] = scaled(outcome(found.document, of_group(g), on, least), 1 / n)
    pairs = pairwise(names) if not tolerance else ((g, h) for g in names for h in names if g != h)
    found.rows += [(less(rate[g], rate[h]), "<=" if tolerance else "==", tolerance) for g, h in pairs]


def _cycles(rng: np.random.Generator, kind: str) -> Problem:
    document = chain_instance(rng, candidates=3, boxes=0.0)
    found = Problem(kind, document)
    stages = sorted(set().union(*(_stages(one) for _, one, _ in people(document))) - {None})
    for on in stages:
        _parity(found, on, str(rng.choice(["rate", "count"])), None, 0.15)
    return found


def _column_budget(rng: np.random.Generator, kind: str) -> Problem:
    document = add_limits(rng, box_instance(rng, candidates=3))
    for _, one, _ in people(document):
        one["attributes"] = {"fee": float(rng.integers(0, 4))}
    found = Problem(kind, document)
    on, limit = str(rng.choice(["selection", "inspection"])), float(rng.choice([0.0, 0.5, 1.0, 2.5]))
    found.specs.append({"type": "budget", "on": on, "expense": "fee", "limit": limit})
    spent: Terms = {}
    for _, one, _ in people(document):
        own = outcome(document, lambda other, one=one: other is one, on)  # type: ignore[misc]
        spent |= scaled(own, one["attributes"]["fee"])
    found.rows.append((spent, "<=", limit))
    most = float(rng.choice([0.5, 1.5]))
    found.specs.append({"type": "budget", "on": "total", "expense": "cost", "limit": most})
    costs = {(s, one["id"], "inspected"): one["cost"] for s, one, _ in people(document)}
    found.rows.append((costs, "<=", most))
    return found


def _teams(rng: np.random.Generator, document: Document) -> None:
    for i, (_, one, _) in enumerate(people(document)):
        one["attributes"] = {"team": ("Ops", "Dev+Ops")[i % 2]}
        one["group"] = ("X", "Y")[(i // 2) % 2] if rng.random() < 0.9 else one["group"]


def _mean(q: float) -> tuple[Callable[[Vector], float], Callable[[Vector], Vector]]:
    def value(u: Vector) -> float:
        if q == 0:
            return float(np.exp(np.log(u).mean()))
        top = u.max() if q > 0 else u.min()
        return float(top * np.mean((u / top) ** q) ** (1 / q))

    def slope(u: Vector) -> Vector:
        return (u / value(u)) ** (q - 1) / len(u)

    return value, slope


def _within_nash(rng: np.random.Generator, kind: str) -> Problem:
    document = box_instance(rng, searches=1, candidates=4)
    _teams(rng, document)
    found = Problem(kind, document)
    minimum = float(rng.choice([0.05, 0.15, 0.3]))
    found.specs.append({"type": "nash-welfare", "within": "team", "minimum": minimum})
    for team in ("Ops", "Dev+Ops"):
        terms = [outcome(document, of_group(g, team=team), "selection") for g in groups(document, team=team)]
        if terms:
            found.curves.append(Curve(terms, *_mean(0), ">=", minimum))
    return found


def _holder(rng: np.random.Generator, kind: str) -> Problem:
    document = box_instance(rng, candidates=3) if rng.random() < 0.6 else chain_instance(rng, searches=1, candidates=3)
    found = Problem(kind, document)
    q, on = float(rng.choice(ORDERS)), str(rng.choice(["selection", "inspection"]))
    level, basis = str(rng.choice(["group", "individual"])), str(rng.choice(["rate", "count"]))
    bound = float(rng.choice([0.05, 0.15, 0.3])) if q < 1 else float(rng.choice([0.3, 0.5]))
    key = "minimum" if q < 1 else "maximum"
    order: float | str = "-inf" if q == -np.inf else q
    found.specs.append({"type": "holder-mean", "q": order, "on": on, "level": level, "basis": basis, key: bound})
    if level == "group":
        named = [(of_group(g), size(document, of_group(g)) if basis == "rate" else 1) for g in groups(document)]
        terms = [scaled(outcome(document, who, on), 1 / n) for who, n in named]
    else:
        everyone = [one for _, one, possible in people(document) if possible]
        terms = [outcome(document, lambda other, one=one: other is one, on) for one in everyone]  # type: ignore[misc]
    sense = ">=" if q < 1 else "<="
    if q == -np.inf:
        found.rows += [(term, sense, bound) for term in terms]
    else:
        found.curves.append(Curve(terms, *_mean(q), sense, bound))
    return found


def _ties(rng: np.random.Generator, kind: str) -> Problem:
    one = random_box(rng, "a", "X")
    names = "abcd"[: int(rng.integers(3, 5))]
    alike = [{**one, "id": name, "group": str(rng.choice(["X", "Y"]))} for name in names]
    alike[0]["group"], alike[1]["group"] = "X", "Y"
    search = {"id": "q0", "capacity": int(rng.integers(1, len(names))), "candidates": alike}
    found = Problem(kind, {"format": "auditkit-instance/1", "searches": [search], "constraints": []})
    _parity(found, "selection", "rate", None)
    _quota(found, "inspection", "Y", float(rng.choice([0.3, 0.5, 0.9])))
    return found


def _quota(found: Problem, on: str, group: str, share: float) -> None:
    found.specs.append({"type": "quota", "group": group, "share": share, "on": on})
    all_of = outcome(found.document, lambda one: True, on)
    found.rows.append((less(outcome(found.document, of_group(group), on), all_of, share), ">=", 0.0))


def _negative_costs(rng: np.random.Generator, kind: str) -> Problem:
    document = box_instance(rng, candidates=3)
    for _, one, _ in people(document):
        one["cost"] = float(rng.choice([-2.0, -1.0, 0.0, 0.5]))
    found = Problem(kind, document)
    group = str(rng.choice(groups(document)))
    _quota(found, str(rng.choice(["inspection", "selection"])), group, float(rng.choice([0.25, 0.6, 1.0])))
    _parity(found, "inspection", "rate", None, 0.25)
    return found


def _zero_capacity(rng: np.random.Generator, kind: str) -> Problem:
    document = box_instance(rng, searches=2, candidates=3) if rng.random() < 0.6 else chain_instance(rng, searches=2)
    document["searches"][int(rng.integers(2))]["capacity"] = 0
    if rng.random() < 0.4:
        add_limits(rng, document)
    found = Problem(kind, document)
    _parity(found, "inspection", str(rng.choice(["rate", "count"])), None)
    if rng.random() < 0.5:
        least = float(rng.choice([0.05, 0.2]))
        found.specs.append({"type": "floor", "on": "inspection", "minimum": least})
        for _, one, possible in people(document):
            if possible:
                own = outcome(document, lambda other, one=one: other is one, "inspection")  # type: ignore[misc]
                found.rows.append((own, ">=", least))
    return found


def _scale_free(rng: np.random.Generator, kind: str) -> Problem:
    document = box_instance(rng, candidates=3) if rng.random() < 0.6 else chain_instance(rng, searches=1, candidates=3)
    found = Problem(kind, document)
    on, most = str(rng.choice(["selection", "inspection"])), float(rng.choice([0.05, 0.2, 0.5]))
    terms = [outcome(document, of_group(g), on) for g in groups(document)]
    if rng.random() < 0.5:
        aversion = float(rng.choice([0.5, 1.0, 2.0]))
        found.specs.append({"type": "atkinson", "on": on, "aversion": aversion, "maximum": most})
        mean, slope = _mean(1 - aversion)
        found.curves.append(
            Curve(
                terms,
                lambda u: mean(u) - (1 - most) * float(u.mean()),
                lambda u: slope(u) - (1 - most) / len(u),
                ">=",
                0.0,
            )
        )
        return found
    sizes = np.array([size(document, of_group(g)) for g in groups(document)])
    shares = sizes / sizes.sum()
    found.specs.append({"type": "divergence", "on": on, "maximum": most})
    found.curves.append(
        Curve(
            terms,
            lambda u: float(u @ np.log(u / (shares * u.sum()))) - most * float(u.sum()),
            lambda u: np.log(u / (shares * u.sum())) - most,
            "<=",
            0.0,
        )
    )
    return found


KINDS: dict[str, Callable[[np.random.Generator, str], Problem]] = {
    "value-specific by group on chains": _value_specific,
    "cycles with parity at every stage": _cycles,
    "column budgets with limits": _column_budget,
    "Nash welfare within a segment": _within_nash,
    "Hölder means of all orders": _holder,
    "ties": _ties,
    "negative costs": _negative_costs,
    "zero capacity": _zero_capacity,
    "scale-free welfare": _scale_free,
}


def problem(seed: int) -> Problem:
    """The problem of a number."""
    kind = list(KINDS)[seed % len(KINDS)]
    return KINDS[kind](np.random.default_rng([17, seed]), kind)


@dataclass(frozen=True)
class Agreement:
    """A problem solved both ways: `skipped` says why it could not be compared, `apart` how far utilities are apart."""

    kind: str
    skipped: str | None = None
    infeasible: bool = False
    apart: float = 0.0


def compared(seed: int, tolerance: float = 1e-6) -> Agreement:
    """Solve a problem both ways, and have the solution verified; an AssertionError where they disagree."""
    one = problem(seed)
    truth = one.truth()
    if truth is None:
        return Agreement(one.kind, f"the LP took more than {MOST_CUTS} cuts")
    if 0 < truth.violation < 1e-6:
        return Agreement(one.kind, "on the edge of feasibility")
    instance = instance_from_document(one.document)
    stated = [make(constraints.KINDS, spec) for spec in one.specs]
    solution = solve(instance, stated)
    where = f"{one.kind}, problem({seed}): {one.specs}"
    assert solution.status == truth.status, where
    document = json.loads(json.dumps(solution.to_json()))
    checks = check_solution(document, instance.layout, bind(stated, instance.layout), "any")
    assert [check.claim for check in checks if not check.holds] == [], where
    if solution.constrained is None:
        return Agreement(one.kind, infeasible=True)
    apart = abs(solution.constrained.utility - truth.utility)
    assert apart <= tolerance and solution.constrained.gap <= tolerance, f"{where}: {apart:g}"
    return Agreement(one.kind, apart=apart)
