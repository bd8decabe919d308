"""What exact evaluation is measured against: simulation, and the direct dynamic program plain and compiled.

All of them evaluate the same index policy of one search of boxes. `Boxes` holds reservation values and capped values;
the opponents are given them for free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.solver.evaluate import Prepared


def random_instance(n: int, support: int, k: int, seed: int = 0) -> Instance:
    """Continuous random values, so that ties do not matter; about a third of the candidates are worth inspecting."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(0, 10, (n, support))
    probs = rng.dirichlet(np.ones(support), n)
    cost = rng.uniform(0.1, 1.0, n)
    boxes = tuple(Box(str(i), "XY"[i % 2], cost[i], values[i], probs[i]) for i in range(n))
    return Instance((Search("s", k, boxes),))


@dataclass(frozen=True)
class Boxes:
    sigma: np.ndarray
    kappa: np.ndarray
    probs: np.ndarray
    k: int

    @staticmethod
    def of(instance: Instance) -> Boxes:
        layout = instance.layout
        index = Prepared.of(layout, layout.reward).index[:, 0].reshape(len(layout.candidate_ids), -1)
        sigma = index[:, 0]
        probs = layout.edge_prob.reshape(len(sigma), -1)
        return Boxes(sigma, np.minimum(index[:, 1:], sigma[:, None]), probs, int(layout.capacity[0]))


def monte_carlo(boxes: Boxes, draws: int = 100_000, seed: int = 1) -> np.ndarray:
    """P(inspect) by simulation, vectorised: sample capped values, find the k-th best, compare."""
    rng = np.random.default_rng(seed)
    n, support = boxes.kappa.shape
    cumulated = np.cumsum(boxes.probs, axis=1)
    inspected = np.zeros(n)
    chunk = max(1, 4_000_000 // n)
    flat = boxes.kappa.ravel()
    for start in range(0, draws, chunk):
        size = min(chunk, draws - start)
        uniform = rng.random((n, size))
        drawn = np.empty((n, size))
        for i in range(n):
            places = np.minimum(np.searchsorted(cumulated[i], uniform[i]), support - 1)
            drawn[i] = flat[i * support + places]
        best = np.partition(drawn, n - boxes.k, axis=0)[n - boxes.k]
        inspected += (boxes.sigma[:, None] >= np.maximum(best, 0.0)).sum(axis=1)
    return inspected / draws


def thresholds(boxes: Boxes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All (candidate, capped value) in decreasing order: owners, values, and probabilities."""
    order = np.argsort(-boxes.kappa.ravel(), kind="stable")
    return order // boxes.kappa.shape[1], boxes.kappa.ravel()[order], boxes.probs.ravel()[order]


def direct(boxes: Boxes, every: int) -> tuple[np.ndarray, np.ndarray]:
    """At each `every`-th threshold P(fewer than k others are ahead): a product over all others, in numpy."""
    owner, _, probs = thresholds(boxes)
    ahead = np.zeros(len(boxes.sigma))
    places, found = [], []
    for event, i in enumerate(owner):
        if event % every == 0:
            law = np.zeros(boxes.k)
            law[0] = 1.0
            for j, p in enumerate(ahead):
                if j != i and p > 0:
                    law[1:] = (1 - p) * law[1:] + p * law[:-1]
                    law[0] *= 1 - p
            places.append(event)
            found.append(law.sum())
        ahead[i] += probs[event]
    return np.array(places), np.array(found)


@njit(cache=True)
def direct_compiled(owner: np.ndarray, probs: np.ndarray, n: int, k: int, every: int) -> np.ndarray:
    """The same, compiled: the chance of each `every`-th threshold."""
    ahead = np.zeros(n)
    found = np.empty((len(owner) + every - 1) // every)
    law = np.empty(k)
    for event in range(len(owner)):
        if event % every == 0:
            law[:] = 0.0
            law[0] = 1.0
            for j in range(n):
                p = ahead[j]
                if j != owner[event] and p > 0.0:
                    q = 1.0 - p
                    for i in range(k - 1, 0, -1):
                        law[i] = q * law[i] + p * law[i - 1]
                    law[0] *= q
            found[event // every] = law.sum()
        ahead[owner[event]] += probs[event]
    return found
