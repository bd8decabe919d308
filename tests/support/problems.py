"""Constraints as rows of the occupancy LP, written out from a document without auditkit's layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from auditkit.constraints.base import Constraint
from auditkit.plugins.parity import Parity
from auditkit.plugins.quota import Quota
from support.occupancy import Document, Key, Row

Counted = Callable[[Document, str], dict[str | tuple[str, int], float]]


def outcome(candidate: Document, on: str) -> dict[str | tuple[str, int], float]:
    """The states of a candidate whose visits are the outcome, each with weight 1."""
    if "values" in candidate:
        if on == "inspection":
            return {"inspected": 1.0}
        return {("value", j): 1.0 for j in range(len(candidate["values"]))} if on == "selection" else {}
    states = candidate["states"]
    if on == "inspection":
        return {candidate["start"]: 1.0}
    if on == "selection":
        return {name: 1.0 for name, state in states.items() if state.get("terminal") or state.get("selected")}
    return {name: 1.0 for name, state in states.items() if state.get("stage") == on}


def members(document: Document, group: str, **where: str) -> list[tuple[str, Document]]:
    """The candidates of a group, in all searches, whose attributes are as said."""
    return [
        (search["id"], one)
        for search in document["searches"]
        for one in search["candidates"]
        if one["group"] == group and all(one.get("attributes", {}).get(k) == v for k, v in where.items())
    ]


def rate(document: Document, group: str, on: str, basis: str = "rate", **where: str) -> dict[Key, float]:
    """Terms of the rate of a group, or of its number."""
    own = members(document, group, **where)
    size = len(own) if basis == "rate" else 1
    return {(s, one["id"], state): w / size for s, one in own for state, w in outcome(one, on).items()}


def combined(*terms: tuple[float, dict[Key, float]]) -> dict[Key, float]:
    found: dict[Key, float] = {}
    for factor, part in terms:
        for key, w in part.items():
            found[key] = found.get(key, 0.0) + factor * w
    return found


def rows_of(constraints: Iterable[Constraint], document: Document) -> list[Row]:
    """Parity of two groups and quotas, from their formulas."""
    groups = sorted({one["group"] for search in document["searches"] for one in search["candidates"]})
    found: list[Row] = []
    for one in constraints:
        if isinstance(one, Parity):
            g, h = (rate(document, name, one.on, one.basis) for name in groups)
            found.append((combined((1.0, g), (-1.0, h)), "==", 0.0))
        else:
            assert isinstance(one, Quota)
            each = [rate(document, name, one.on, "count") for name in groups]
            own = each[groups.index(one.group)]
            found.append((combined((1.0, own), *((-one.share, part) for part in each)), ">=", 0.0))
    return found
