"""Small instance files (`auditkit-instance/1`) whose answers are known or easy to follow."""

from __future__ import annotations

import json
from typing import Any

WIDTH = 118


def four_boxes() -> dict[str, Any]:
    """Unconstrained 7.0625, under parity of selections 6.5625."""
    people = [("a", "X", 10, 4), ("b", "X", 9, 3), ("c", "Y", 8, 2), ("d", "Y", 7, 1)]
    boxes = [_box(name, group, 1, {high: 0.5, low: 0.5}) for name, group, high, low in people]
    return _document("four-boxes", 1, boxes, [{"type": "parity", "on": "selection", "basis": "count"}])


def three_boxes() -> dict[str, Any]:
    """4.0 with and without constraints, but no mix of the four corner tie-breaking rules meets both of them."""
    boxes = [
        _box("1", "X", 2, {6: 1.0}),
        _box("2", "X", 1, {14: 0.1, 2: 0.9}),
        _box("3", "Y", 4, {9: 0.8, 3: 0.2}),
    ]
    return _document("three-boxes", 1, boxes, [_weighted_parity("selected"), _weighted_parity("inspected")])


def _weighted_parity(state: str) -> dict[str, Any]:
    terms = [{"candidate": name, "state": state, "coefficient": c} for name, c in (("1", 1), ("2", 1), ("3", -2))]
    return {"type": "affine", "label": f"{state}: X = 2 Y", "sense": "==", "bound": 0, "terms": terms}


def stages() -> dict[str, Any]:
    """Two positions, six candidates of two groups, phone -> onsite -> offer, and parity at three places."""
    chains = [
        _chain("a", "X", passes=0.8, onsite_cost=2.0, values={10: 0.5, 6: 0.5}, accepts=0.9),
        _chain("b", "X", passes=0.7, onsite_cost=2.0, values={11: 0.4, 5: 0.6}, accepts=0.8),
        _chain("c", "X", passes=0.6, onsite_cost=1.5, values={9: 0.5, 4: 0.5}, accepts=0.9),
        _chain("d", "Y", passes=0.6, onsite_cost=2.0, values={9: 0.5, 5: 0.5}, accepts=0.8),
        _chain("e", "Y", passes=0.5, onsite_cost=1.5, values={8: 0.6, 4: 0.4}, accepts=0.9),
        _chain("f", "Y", passes=0.7, onsite_cost=1.5, values={8: 0.3, 3: 0.7}, accepts=0.9),
    ]
    constraints = [{"type": "parity", "on": on} for on in ("phone", "onsite", "selection")]
    return _document("stages", 2, chains, constraints)


def _box(name: str, group: str, cost: float, law: dict[int, float]) -> dict[str, Any]:
    return {"id": name, "group": group, "cost": cost, "values": list(law), "probs": list(law.values())}


def _chain(
    name: str, group: str, *, passes: float, onsite_cost: float, values: dict[int, float], accepts: float
) -> dict[str, Any]:
    states: dict[str, Any] = {
        "phone": {"stage": "phone", "reward": -0.5, "to": {"onsite": passes, "out": round(1 - passes, 6)}},
        "onsite": {"stage": "onsite", "reward": -onsite_cost, "to": {f"offer-{v}": p for v, p in values.items()}},
    }
    for v in values:
        answer = {f"hired-{v}": accepts, "out": round(1 - accepts, 6)}
        states[f"offer-{v}"] = {"stage": "offer", "reward": -1.0, "to": answer}
    states |= {f"hired-{v}": {"reward": v, "terminal": True} for v in values}
    states["out"] = {"reward": 0, "to": {}}
    return {"id": name, "group": group, "start": "phone", "states": states}


def _document(name: str, capacity: int, candidates: list[Any], constraints: list[Any]) -> dict[str, Any]:
    search = {"id": name, "capacity": capacity, "candidates": candidates}
    return {"format": "auditkit-instance/1", "searches": [search], "constraints": constraints}


def render(value: Any, indent: int = 0, before: int = 0) -> str:
    """JSON in which whatever fits into a line stands on one; `before` is what its key takes of the line."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or (indent and indent + before + len(flat) < WIDTH):
        return flat
    inner = indent + 2
    if isinstance(value, dict):
        keys = [(json.dumps(key, ensure_ascii=False) + ": ", item) for key, item in value.items()]
        parts = [key + render(item, inner, len(key)) for key, item in keys]
        opening, closing = "{", "}"
    else:
        parts = [render(item, inner) for item in value]
        opening, closing = "[", "]"
    lines = ",\n".join(" " * inner + part for part in parts)
    return f"{opening}\n{lines}\n{' ' * indent}{closing}"
