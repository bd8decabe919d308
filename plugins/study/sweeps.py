"""Sweeps: the points of one instance, as rows of numbers. A study reads one sweep or several.

A sweep is a function of a seed and the number of an instance, and of nothing else: instances can be computed in any
order, by any process, and again. Neighbouring points of a row of points share columns where the problems have the same
policies (budgets), and otherwise the dual to begin with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from auditkit.constraints.base import Constraint
from auditkit.model.instance import Instance
from auditkit.plugins.study import ex_post, timing, two_stage
from auditkit.plugins.study.point import NUMBERS, PARITY, Point, Solved, around, budget, columns_near, measure, quota
from auditkit.plugins.study.population import BASIC, HIGH_COST, UNIFORM, Setup, resized
from auditkit.plugins.study.randomness import NEEDS, need
from auditkit.solver.oracle import Column

Rows = list[tuple[float, ...]]

TENTHS = tuple(i / 10 for i in range(1, 11))
RHOS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0)
"""The paper's tenths, smaller ones to see where the constrained policy starts to win, and 0.75, named in the text."""

ALL_K = tuple(range(1, 21))
SHARES = tuple(i / 20 for i in range(21))
QUOTA_K = {1: TENTHS, 10: TENTHS, 20: TENTHS, 5: (0.3, 0.7, 0.9), 15: (0.3, 0.7, 0.9)}
BUDGET_RHOS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
BUDGET_K = (5, 10, 15, 20)
TABLE_K, TABLE_B = range(1, 12), range(6)


FEW, FEWER = 0.4, 0.2
"""Factors of sweeps whose verdicts do not depend on the third digit."""


@dataclass(frozen=True)
class Sweep:
    """`keys` are the columns that tell points apart, `numbers` the measurements there."""

    name: str
    keys: tuple[str, ...]
    numbers: tuple[str, ...]
    rows: Callable[[int, int], Rows]
    points: int
    factor: float = 1.0
    """How many instances it takes for every one that is asked for."""
    atoms: int = BASIC.atoms
    timed: bool = False
    """Measures seconds: run alone, and not reproducible to the digit."""

    def count(self, instances: int) -> int:
        return max(1, round(self.factor * instances))


def _in_line(problems: Iterable[tuple[Instance, Constraint]]) -> Iterable[Solved]:
    """Solve points one after another, each from the dual of the one before."""
    last: Solved | None = None
    for instance, constraint in problems:
        binding = last is not None and last.optimum.duals[0] != 0
        known = columns_near(instance, constraint, around(last.optimum)) if last is not None and binding else ()
        last = measure(instance, constraint, known)
        yield last


def _parity(setup: Setup, rhos: tuple[float, ...], capacities: tuple[int, ...]) -> Callable[[int, int], Rows]:
    def rows(seed: int, number: int) -> Rows:
        population = setup.draw(seed, number)
        found: Rows = []
        for rho in rhos:
            base = population.instance(rho, capacities[-1])
            solved = _in_line((resized(base, k), PARITY) for k in reversed(capacities))
            found += [(rho, k, *s.point.row) for k, s in zip(reversed(capacities), solved, strict=True)]
        return found

    return rows


def _quota(
    setup: Setup, rhos_of: dict[int, tuple[float, ...]], shares: tuple[float, ...]
) -> Callable[[int, int], Rows]:
    def rows(seed: int, number: int) -> Rows:
        population = setup.draw(seed, number)
        found: Rows = []
        for k, rho in ((k, rho) for k, rhos in rhos_of.items() for rho in rhos):
            instance = population.instance(rho, k)
            solved = _in_line((instance, quota(share)) for share in shares)
            found += [(rho, k, share, *s.point.row) for share, s in zip(shares, solved, strict=True)]
        return found

    return rows


def _budgets(instance: Instance, limits: Iterable[int]) -> Iterable[tuple[int, Point]]:
    """All limits of one instance: the row stays and only its bound moves, so that every column serves the next."""
    known: Sequence[Column] = ()
    for limit in limits:
        solved = measure(instance, budget(limit), known)
        known = solved.optimum.columns
        yield limit, solved.point


def _budget(seed: int, number: int) -> Rows:
    population = BASIC.draw(seed, number)
    found: Rows = []
    for rho in BUDGET_RHOS:
        base = population.instance(rho, max(BUDGET_K))
        for k in BUDGET_K:
            found += [(rho, k, b, *point.row) for b, point in _budgets(resized(base, k), range(k + 1))]
    return found


TABLE = Setup(atoms=20)


def _table(seed: int, number: int) -> Rows:
    base = TABLE.draw(seed, number).instance(1.0, max(TABLE_K))
    points = ((k, b, point) for k in TABLE_K for b, point in _budgets(resized(base, k), TABLE_B))
    return [(k, b, point.best, point.gap) for k, b, point in points]


RANDOM_ATOMS = (20, 40, 80, 160)
RANDOM_POINTS = tuple(product((0.3, 0.5, 0.7, 0.9, 1.0), (1, 5, 10, 20)))


def _randomness(seed: int, number: int) -> Rows:
    found: Rows = []
    for atoms in RANDOM_ATOMS:
        population = Setup(atoms=atoms).draw(seed, number)
        for rho, k in RANDOM_POINTS:
            solved = measure(population.instance(rho, k), PARITY)
            found.append((atoms, rho, k, *need(solved.optimum)))
    return found


def _values(seed: int, number: int) -> Rows:
    """Shares of the values of each group in bins of width 5, by group and bias factor."""
    found: Rows = []
    for uniform, setup in ((0, BASIC), (1, UNIFORM)):
        values = setup.draw(seed, number).values
        half = len(values) // 2
        for rho in (0.3, 0.6, 0.9):
            for group, seen in enumerate((values[:half], rho * values[half:])):
                counts, _ = np.histogram(np.clip(seen, VALUE_EDGES[0], VALUE_EDGES[-1] - 1e-9), VALUE_EDGES)
                found += [(uniform, rho, group, low, n / seen.size) for low, n in zip(VALUE_EDGES, counts)]
    return found


VALUE_EDGES = np.arange(-20.0, 125.0, 5.0)

_K = ("rho", "k")
_uniform_quota = {20: TENTHS}
_tenths_of_share = tuple(i / 10 for i in range(11))

SWEEPS = {
    sweep.name: sweep
    for sweep in (
        Sweep("values", ("uniform", "rho", "group", "low"), ("share",), _values, 12 * (len(VALUE_EDGES) - 1)),
        Sweep("parity", _K, NUMBERS, _parity(BASIC, RHOS, ALL_K), len(RHOS) * len(ALL_K)),
        Sweep("high-cost", _K, NUMBERS, _parity(HIGH_COST, RHOS, ALL_K), len(RHOS) * len(ALL_K)),
        Sweep("uniform", _K, NUMBERS, _parity(UNIFORM, TENTHS, (8, 15, 20)), len(TENTHS) * 3, FEWER),
        Sweep(
            "quota",
            (*_K, "share"),
            NUMBERS,
            _quota(BASIC, QUOTA_K, SHARES),
            sum(map(len, QUOTA_K.values())) * len(SHARES),
            FEW,
        ),
        Sweep(
            "uniform-quota",
            (*_K, "share"),
            NUMBERS,
            _quota(UNIFORM, _uniform_quota, _tenths_of_share),
            len(TENTHS) * len(_tenths_of_share),
            FEWER,
        ),
        Sweep("budget", (*_K, "b"), NUMBERS, _budget, len(BUDGET_RHOS) * sum(k + 1 for k in BUDGET_K), FEW),
        Sweep("budget-table", ("k", "b"), ("best", "gap"), _table, len(TABLE_K) * len(TABLE_B), 20, atoms=TABLE.atoms),
        Sweep(
            "randomisation",
            ("atoms", *_K),
            NEEDS,
            _randomness,
            len(RANDOM_ATOMS) * len(RANDOM_POINTS),
            FEW,
            atoms=max(RANDOM_ATOMS),
        ),
        Sweep("ex-post", ex_post.KEYS, ex_post.NUMBERS, ex_post.rows, len(ex_post.QUESTIONS)),
        Sweep("times", timing.KEYS, timing.NUMBERS, timing.rows, timing.POINTS, 0.1, timed=True),
        Sweep("two-stage", two_stage.KEYS, two_stage.NUMBERS, two_stage.rows, two_stage.POINTS, FEWER),
        Sweep("trajectories", two_stage.STEP_KEYS, two_stage.STEPS, two_stage.trajectories, two_stage.STEP_POINTS, 0.1),
        Sweep(
            "two-stage-times",
            timing.KEYS,
            timing.CHAIN_NUMBERS,
            timing.two_stage_rows,
            timing.CHAIN_POINTS,
            0.04,
            timed=True,
        ),
    )
}
