"""Random instances as the paper's "Basic simulation setup" describes them.

n = 60 candidates, half in X and half in Y. For candidate i

    mean   mu_i    20 + 10 * LogNormal(0, 1)          ("uniform": U[20, 60])
    cost   c_i     U[3, 6]                            ("high cost": U[25, 35])
    value  v+_i    N(mu_i, 10^2), the true value      ("uniform": mu_i + U[-20, 20])
    signal v_i     rho_i * v+_i                       rho_i = 1 in X, rho in Y

The firm sees v; short-term utility is measured with v, long-term utility with v+. Two-stage candidates
(`Multi-stage Search with Rejection`) have a phone interview (cost U[1, 2], passed with chance 0.8), an onsite interview
(U[2, 4]) that shows the value, and an offer (cost 3, accepted with chance 0.9).

What the paper leaves open, and what we do here:
- Values are continuous there. Here a value takes ATOMS equally likely levels, the means of as many slices of its law:
  its mean is right, and E(v - s)+ is right at the edges of the slices. With 40 levels utilities are within 3e-4 and
  short-term price-of-fairness ratios within 3e-5 of those with 400, relative (measured; a test repeats it).
- Means and costs are drawn for every instance; the same draws serve all rho, k and constraints, so that points of
  a curve share their noise. Draw i depends on the seed and on i only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditkit.model.instance import Instance
from auditkit.model.layout import Floats
from auditkit.model.search import Box, Candidate, Chain, Search, State
from auditkit.model.session import kept
from auditkit.model.variants import with_capacities

SIZE = 60
ATOMS = 40
MAJORITY, MINORITY = "X", "Y"
PHONE, ONSITE, OFFER = "phone", "onsite", "offer"
PASS, ACCEPT, OFFER_COST = 0.8, 0.9, 3.0


@kept()
def normal_slices(atoms: int) -> Floats:
    """Means of equally likely slices of N(0, 1): E[z; slice] is the difference of the density at its ends."""
    from scipy.stats import norm

    density = norm.pdf(norm.ppf(np.arange(atoms + 1) / atoms))
    return -np.diff(density) * atoms


def uniform_slices(atoms: int) -> Floats:
    """The same of U[-1, 1]."""
    return (2 * np.arange(atoms) + 1) / atoms - 1


@dataclass(frozen=True)
class Setup:
    """How instances are drawn."""

    costs: tuple[float, float] = (3.0, 6.0)
    uniform: bool = False
    two_stage: bool = False
    atoms: int = ATOMS

    def draw(self, seed: int, number: int) -> Population:
        """The candidates of instance `number`."""
        rng = np.random.default_rng([seed, number])
        means, first, second = rng.lognormal(0.0, 1.0, SIZE), rng.random(SIZE), rng.random(SIZE)
        noise = 10.0 * normal_slices(self.atoms)
        if self.uniform:
            means, noise = rng.uniform(20.0, 60.0, SIZE), 20.0 * uniform_slices(self.atoms)
        else:
            means = 20.0 + 10.0 * means
        low, high = (1.0, 2.0) if self.two_stage else self.costs
        return Population(self, means[:, None] + noise, low + (high - low) * first, 2.0 + 2.0 * second)


BASIC = Setup()
HIGH_COST = Setup(costs=(25.0, 35.0))
UNIFORM = Setup(uniform=True)
TWO_STAGE = Setup(two_stage=True)


@dataclass(frozen=True, eq=False)
class Population:
    """The true values of all candidates, (SIZE, atoms), each level equally likely, and their costs."""

    setup: Setup
    values: Floats
    costs: Floats
    onsite_costs: Floats

    def instance(self, rho: float, capacity: int) -> Instance:
        """What the firm sees when the values of Y reach it multiplied by rho."""
        one = _two_stage if self.setup.two_stage else _box
        candidates = tuple(
            one(self, i, MAJORITY if i < SIZE // 2 else MINORITY, 1.0 if i < SIZE // 2 else rho) for i in range(SIZE)
        )
        return Instance((Search("search", capacity, candidates),))


def resized(instance: Instance, capacity: int) -> Instance:
    """The same candidates with a different number of positions."""
    return with_capacities(instance, [capacity])


def _box(population: Population, i: int, group: str, rho: float) -> Candidate:
    true = population.values[i]
    probs = np.full(len(true), 1 / len(true))
    return Box(str(i), group, float(population.costs[i]), rho * true, probs, true)


def _two_stage(population: Population, i: int, group: str, rho: float) -> Candidate:
    true = population.values[i]
    levels = range(len(true))
    states = [
        State(PHONE, -float(population.costs[i]), {ONSITE: PASS, "out": 1 - PASS}, stage=PHONE),
        State(ONSITE, -float(population.onsite_costs[i]), {f"offer-{j}": 1 / len(true) for j in levels}, stage=ONSITE),
        *(State(f"offer-{j}", -OFFER_COST, {f"hired-{j}": ACCEPT, "out": 1 - ACCEPT}, stage=OFFER) for j in levels),
        *(State(f"hired-{j}", rho * v, selected=True, true_reward=float(v)) for j, v in enumerate(true)),
        State("out", 0.0),
    ]
    return Chain(str(i), group, PHONE, tuple(states))
