"""The realised slack of a constraint that holds on average: its exact law under the optimal policy, capacity 20.

With s_g the numbers selected from group g in one realisation, the paper's normalised ex-post slacks are

    parity   (s_X - s_Y) / (s_X + s_Y)
    quota    (theta s_X - (1 - theta) s_Y) / (theta s_X + (1 - theta) s_Y)
    budget   (s_Y - b) / (s_Y + b)

that is (p - q) / (p + q) for two forms p and q, and 0 where both are 0. The joint law of (s_X, s_Y) is exact
(`Prepared.selection_law`); that of a mixture is the mixture of the laws. Bins are 0.1 wide and centred on multiples of
0.1, so that slack 0 is inside one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditkit.constraints.base import Constraint
from auditkit.model.layout import Floats
from auditkit.plugins.study.point import PARITY, budget, measure, quota
from auditkit.plugins.study.population import BASIC
from auditkit.solver import Optimum
from auditkit.solver.evaluate import Prepared

CAPACITY = 20
BINS = 21
CENTRES = np.linspace(-1.0, 1.0, BINS)
KEYS = ("kind", "parameter")
NUMBERS = ("mean", "sd", "within", *(f"bin{i}" for i in range(BINS)))
"""`within`: chance of a slack of at most 0.2 either way."""


@dataclass(frozen=True)
class Slacks:
    """Slack (p - q) / (p + q); `p` and `q` hold the weights of s_X and s_Y and a constant."""

    kind: int
    parameter: float
    rho: float
    constraint: Constraint
    p: tuple[float, float, float]
    q: tuple[float, float, float]

    def slack(self, x: Floats, y: Floats) -> Floats:
        p, q = (a * x + b * y + c for a, b, c in (self.p, self.q))
        return np.where(p + q > 0, (p - q) / np.where(p + q > 0, p + q, 1.0), 0.0)


KINDS = ("parity", "quota", "budget")
QUESTIONS = (
    *(Slacks(0, rho, rho, PARITY, (1, 0, 0), (0, 1, 0)) for rho in (0.3, 0.5, 0.7, 0.9)),
    *(Slacks(1, t, 0.7, quota(t), (t, 0, 0), (0, 1 - t, 0)) for t in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)),
    *(Slacks(2, b, 1.0, budget(b), (0, 1, 0), (0, 0, b)) for b in (2, 4, 6, 8, 10, 12)),
)
"""The capacity and the bias factors of quota and budget are the paper's; it does not say those of parity."""


def law(optimum: Optimum) -> Floats:
    """P(s_X = a, s_Y = b) under the mixture, for one search."""
    layout = optimum.outcome.layout
    k = int(layout.capacity[0])
    total = np.zeros((k + 1, k + 1))
    for weight, policy in zip(optimum.mixture.weights, optimum.mixture.policies, strict=True):
        prepared = Prepared.of_policy(layout, optimum.rows, policy)
        total += weight * prepared.selection_law(0, layout.candidate_group, 2)
    return total


def rows(seed: int, number: int) -> list[tuple[float, ...]]:
    population = BASIC.draw(seed, number)
    found = []
    for question in QUESTIONS:
        chance = law(measure(population.instance(question.rho, CAPACITY), question.constraint).optimum)
        counts = np.arange(CAPACITY + 1, dtype=np.float64)
        slack = question.slack(counts[:, None], counts[None, :]).ravel()
        chance = chance.ravel() / chance.sum()
        mean = float(slack @ chance)
        sd = float(np.sqrt((slack - mean) ** 2 @ chance))
        within = float(chance[np.abs(slack) <= 0.2 + 1e-12].sum())
        bins = np.bincount(np.rint((slack + 1) * 10).astype(np.int64), chance, minlength=BINS)
        found.append((question.kind, question.parameter, mean, sd, within, *map(float, bins)))
    return found
