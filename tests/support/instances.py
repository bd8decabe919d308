"""Small instances with optima that are known, and random ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.plugins.affine import Affine

FOUR = Instance(
    (
        Search(
            "s",
            1,
            tuple(
                Box(name, group, 1.0, values, [0.5, 0.5])
                for name, group, values in [
                    ("a", "X", [10, 4]),
                    ("b", "X", [9, 3]),
                    ("c", "Y", [8, 2]),
                    ("d", "Y", [7, 1]),
                ]
            ),
        ),
    )
)


FREE_PARITY = Instance(
    (
        Search(
            "s",
            1,
            (
                Box("1", "X", 1.0, [7.5, 4], [2 / 3, 1 / 3]),
                Box("2", "X", 1.0, [9, 4], [1 / 3, 2 / 3]),
                Box("3", "Y", 1.0, [10, 4], [1 / 4, 3 / 4]),
                Box("4", "Y", 1.0, [7, 4], [1 / 2, 1 / 2]),
            ),
        ),
    )
)


THREE = Instance(
    (
        Search(
            "s",
            1,
            (
                Box("1", "X", 2.0, [6], [1.0]),
                Box("2", "X", 1.0, [14, 2], [0.1, 0.9]),
                Box("3", "Y", 4.0, [9, 3], [0.8, 0.2]),
            ),
        ),
    )
)


def weighted_parity(state: str) -> Affine:
    terms = [{"candidate": c, "state": state, "coefficient": w} for c, w in (("1", 1), ("2", 1), ("3", -2))]
    return Affine.model_validate({"terms": terms, "sense": "==", "bound": 0, "label": f"parity {state}"})


FOUR_BOXES = {
    "format": "auditkit-instance/1",
    "searches": [
        {
            "id": "s",
            "capacity": 1,
            "candidates": [
                {"id": f"{group}{low}", "group": group, "cost": 1, "values": [low + 6, low], "probs": [0.5, 0.5]}
                for group, low in (("X", 4), ("X", 3), ("Y", 2), ("Y", 1))
            ],
        }
    ],
    "constraints": [{"type": "parity"}],
}


DOCUMENT: dict[str, Any] = {
    "format": "auditkit-instance/1",
    "searches": [
        {
            "id": "q",
            "capacity": 2,
            "candidates": [
                {"id": "a", "group": "X", "cost": 1, "values": [10, 4], "probs": [0.25, 0.75], "attributes": {"km": 3}},
                {"id": "b", "group": "Y", "cost": 2, "values": [9, 3], "probs": [0.5, 0.5], "attributes": {"km": 5}},
                {
                    "id": "c",
                    "group": "Y",
                    "start": "phone",
                    "attributes": {"km": 7},
                    "states": {
                        "phone": {"stage": "phone", "reward": -1.5, "to": {"onsite": 0.8, "out": 0.2}},
                        "onsite": {"stage": "onsite", "reward": -3, "to": {"hired-9": 0.5, "hired-4": 0.5}},
                        "hired-9": {"reward": 9, "terminal": True},
                        "hired-4": {"reward": 4, "terminal": True},
                        "out": {"reward": 0},
                    },
                },
            ],
        }
    ],
}


def boxes(rng: np.random.Generator, searches: int, size: int, capacity: int, groups: str = "AB") -> Instance:
    """Searches in which the last group is seen somewhat worse."""
    made = []
    for s in range(searches):
        candidates = []
        for i in range(size):
            group = groups[i % len(groups)]
            values = rng.normal(rng.normal(20 if group != groups[-1] else 17, 3), 4, 3)
            probs = rng.dirichlet(np.ones(3))
            candidates.append(Box(f"{i}", group, float(rng.uniform(0.5, 3)), values, probs))
        made.append(Search(f"s{s}", capacity, tuple(candidates)))
    return Instance(tuple(made))


def hidden_groups(seed: int, as_chains: bool = False) -> dict[str, Any]:
    """An instance document of two searches whose candidates are F, M or of an unknown group by some probability."""
    rng = np.random.default_rng(seed)
    searches = []
    for s, (people, capacity) in enumerate([(3, 1 + seed % 2), (2, 1)]):
        candidates = []
        for i in range(people):
            values = sorted((round(float(v), 2) for v in rng.uniform(-1, 10, 2)), reverse=True)  # as in the layout
            probs, given = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(3), 2)
            cost = round(float(rng.uniform(-0.2 if seed % 3 == 0 and not as_chains else 0.05, 1.5)), 2)
            told = {
                g: {"before": float(probs @ given[:, j]), "given": given[:, j].tolist()} for j, g in enumerate("FM")
            }
            who: dict[str, Any] = {"id": f"c{i}", "cost": cost, "values": values, "probs": probs.tolist()}
            who["membership"] = {"Gender": told}
            candidates.append(_chain(who) if as_chains else who)
        searches.append({"id": f"s{s}", "capacity": capacity, "candidates": candidates})
    return {"format": "auditkit-instance/2", "searches": searches}


def _chain(box: dict[str, Any]) -> dict[str, Any]:
    """The box as a chain: an interview that shows the score, then the hire."""
    told = box["membership"]["Gender"]
    states: dict[str, Any] = {
        "open": {
            "stage": "interview",
            "reward": -box["cost"],
            "to": {f"seen{v}": p for v, p in enumerate(box["probs"])},
            "membership": {"Gender": {g: own["before"] for g, own in told.items()}},
        }
    }
    for v, value in enumerate(box["values"]):
        member = {"Gender": {g: own["given"][v] for g, own in told.items()}}
        states[f"seen{v}"] = {"stage": "seen", "reward": 0, "to": {f"hired{v}": 1.0}, "membership": member}
        states[f"hired{v}"] = {"reward": value, "terminal": True, "membership": member}
    return {"id": box["id"], "start": "open", "states": states}
