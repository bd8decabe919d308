"""One point of a sweep: an instance, a constraint, and the exact results of the two optimal policies on it.

With S_g the expected number selected from group g, U the utility measured with signals and U+ with true values:

    free, free_long      U and U+ of the unconstrained optimum      best, best_long   of the constrained optimum
    slack                (S_X - S_Y) / k of the unconstrained optimum, the normalised constraint slack of the paper
    free_unfilled, unfilled   expected share of the k positions that stay empty, unconstrained and constrained
    dual                 lambda*; policies    how many policies the optimum mixes
    gap                  bound - value: the certificate of the solver, relative to the value

The dual is positive if the constraint favours Y (for a budget: if it binds). Parity adds it to the worth of selecting
from Y and subtracts it from X; a quota theta adds (1 - theta) of it to Y and subtracts theta of it from X.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from auditkit.constraints.base import Constraint
from auditkit.constraints.binding import bind
from auditkit.model.instance import Instance
from auditkit.plugins.budget import Budget
from auditkit.plugins.parity import Parity
from auditkit.plugins.quota import Quota
from auditkit.plugins.study.population import MAJORITY, MINORITY
from auditkit.solver import Optimum, solve
from auditkit.solver.oracle import Column, Oracle
from auditkit.solver.policy import Outcome


def parity(on: str = "selection") -> Parity:
    return Parity.model_validate({"basis": "count", "groups": (MAJORITY, MINORITY), "on": on})


def quota(share: float) -> Quota:
    return Quota.model_validate({"group": MINORITY, "share": share})


def budget(limit: float) -> Budget:
    return Budget.model_validate({"group": MINORITY, "limit": limit})


PARITY = parity()


@dataclass(frozen=True)
class Point:
    free: float
    free_long: float
    best: float
    best_long: float
    slack: float
    free_unfilled: float
    unfilled: float
    dual: float
    policies: int
    gap: float

    @property
    def row(self) -> tuple[float, ...]:
        return tuple(getattr(self, name) for name in NUMBERS)


NUMBERS = tuple(field.name for field in fields(Point))


@dataclass(frozen=True, eq=False)
class Solved:
    """A point, and the optimum behind it: its columns and duals are where the neighbouring point starts."""

    point: Point
    optimum: Optimum


def measure(instance: Instance, constraint: Constraint, known: Sequence[Column] = ()) -> Solved:
    """Solve one point. Every constraint of the study can be met, if only by selecting nobody."""
    solution = solve(instance, [constraint], known=known)
    optimum = solution.constrained
    if optimum is None:
        raise ArithmeticError(f"{constraint.to_spec()} was found infeasible, though selecting nobody satisfies it")
    free, best = solution.unconstrained, optimum.outcome
    positions = int(instance.layout.capacity.sum())
    x, y = selected(free)
    point = Point(
        free=free.utility,
        free_long=long_term(free),
        best=best.utility,
        best_long=long_term(best),
        slack=(x - y) / positions,
        free_unfilled=max(0.0, free.unfilled_capacity) / positions,
        unfilled=max(0.0, best.unfilled_capacity) / positions,
        dual=float(optimum.rows.signs[0] * optimum.duals[0]) + 0.0,
        policies=len(optimum.mixture.weights),
        gap=optimum.gap / max(1.0, abs(best.utility)),
    )
    return Solved(point, optimum)


def selected(outcome: Outcome) -> tuple[float, float]:
    """Expected selections from X and from Y."""
    by_group = dict(zip(outcome.layout.groups, outcome.by_group(outcome.selected), strict=True))
    return float(by_group.get(MAJORITY, 0.0)), float(by_group.get(MINORITY, 0.0))


def long_term(outcome: Outcome) -> float:
    value = outcome.long_term_utility
    return outcome.utility if value is None else value


def columns_near(instance: Instance, constraint: Constraint, duals: Sequence[float]) -> tuple[Column, ...]:
    """Columns at some duals: where the search for the optimal one begins if a neighbour's lies between them."""
    oracle = Oracle(instance.layout, bind([constraint], instance.layout))
    return tuple(oracle.at(oracle.proper(np.array([dual]))) for dual in duals)


def around(optimum: Optimum, spread: float = 0.05) -> tuple[float, float]:
    """Two duals on either side of a neighbour's."""
    dual = float(optimum.duals[0])
    return dual * (1 - spread), dual * (1 + spread)
