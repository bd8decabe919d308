"""Evaluation of an index policy the obvious way: for every threshold, a product over all others. Slow and plain."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from auditkit.model.search import Box, Search


def reservation(box: Box) -> float:
    """sigma with E(v - sigma)+ = cost, on the sorted support."""
    if box.cost < 0:
        return np.inf
    top, below = -box.cost, 0.0
    for j in np.argsort(-box.values, kind="stable"):
        if box.probs[j] == 0:
            continue
        if box.cost == 0:
            return float(box.values[j])
        if below > 0 and box.values[j] <= top / below:
            break
        top += box.probs[j] * box.values[j]
        below += box.probs[j]
    return float(top / below)


def visits(search: Search) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """P(inspect i) and P(select i with its j-th value) under the index policy; ties go to the earlier candidate."""
    boxes = [c for c in search.candidates if isinstance(c, Box)]
    sigma = [reservation(box) for box in boxes]
    kappa = [np.minimum(box.values, s) for box, s in zip(boxes, sigma, strict=True)]

    def chance(i: int, y: float) -> float:
        if y <= 0:
            return 0.0
        if y == np.inf:
            return 1.0
        law = np.zeros(max(search.capacity, 1))
        law[0] = 1.0
        for j, box in enumerate(boxes):
            if j != i:
                p = float(box.probs[(kappa[j] > y) | ((kappa[j] == y) & (j < i))].sum())
                shifted = np.concatenate([[0.0], law[:-1]])
                law = (1 - p) * law + p * shifted
        return float(law[: search.capacity].sum())

    inspect = np.array([chance(i, s) for i, s in enumerate(sigma)])
    select = [
        np.array([p * chance(i, y) for p, y in zip(box.probs, kappa[i], strict=True)]) for i, box in enumerate(boxes)
    ]
    return inspect, select


def selection_law(search: Search, group: list[int], groups: int) -> NDArray[np.float64]:
    """Joint law of selections per group by going through every combination of values."""
    boxes = [c for c in search.candidates if isinstance(c, Box)]
    sigma = [reservation(box) for box in boxes]
    table = np.zeros((search.capacity + 1,) * groups)
    for outcome in itertools.product(*(range(len(box.values)) for box in boxes)):
        chance = float(np.prod([box.probs[j] for box, j in zip(boxes, outcome, strict=True)]))
        kappa = [min(box.values[j], s) for box, j, s in zip(boxes, outcome, sigma, strict=True)]
        ranked = sorted(range(len(boxes)), key=lambda i: (-kappa[i], i))
        chosen = [i for i in ranked if kappa[i] > 0][: search.capacity]
        counts = [0] * groups
        for i in chosen:
            counts[group[i]] += 1
        table[tuple(counts)] += chance
    return table


def inspection_law(search: Search, group: list[int], groups: int) -> dict[tuple[int, ...], float]:
    """Joint law of inspections per group by going through every combination of values."""
    boxes = [c for c in search.candidates if isinstance(c, Box)]
    sigma = [reservation(box) for box in boxes]
    law: dict[tuple[int, ...], float] = {}
    for outcome in itertools.product(*(range(len(box.values)) for box in boxes)):
        chance = float(np.prod([box.probs[j] for box, j in zip(boxes, outcome, strict=True)]))
        kappa = [min(box.values[j], s) for box, j, s in zip(boxes, outcome, sigma, strict=True)]
        counts = [0] * groups
        for i, s in enumerate(sigma):
            ahead = sum(kappa[j] > s or (kappa[j] == s and j < i) for j in range(len(boxes)) if j != i)
            counts[group[i]] += s == np.inf or (s > 0 and ahead < search.capacity)
        law[tuple(counts)] = law.get(tuple(counts), 0.0) + chance
    return law
