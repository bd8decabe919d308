"""Convex constraints: columns and tangents.

A measure F(p) >= b with F concave (or <= with F convex) implies, by its tangent at any p0, the affine row
F(p0) + F'(p0).(p - p0) >= b: a *cut*. Rounds go as for affine rows (`master.py`), with two programs over the same
columns, one for each side of the certificate:

    the nonlinear master   weights w with the best utility that meet the measures themselves: a value (SLSQP)
    the linear master      with cuts at the former's solution, where both have the same optimum: duals, hence a bound

The duals price the next policy. Both bound and value hold in every round, whatever the accuracy of SLSQP.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint, minimize

from auditkit.constraints import Measure
from auditkit.errors import InputError
from auditkit.layout import Floats
from auditkit.policy import Policy
from auditkit.solve.dual_search import Meeting
from auditkit.solve.master import MOST_ROUNDS, Master, phase_one, price
from auditkit.solve.oracle import FEASIBILITY, Column, Infeasible, Oracle

CLOSED = 1e-10
"""Of the size of the utility: value and bound closer than this have met."""

STALLED = 8
"""Rounds without a better value or bound after which the gap is reported as it is."""


def generate(oracle: Oracle) -> Meeting:
    """The optimum of a problem with convex measures; raises `Infeasible` with a proof made of rows and cuts."""
    problem = _Problem(oracle)
    problem.meet_measures()
    return problem.optimise()


def meet(oracle: Oracle) -> None:
    """Raise `Infeasible` if no mixture of policies meets the rows and measures."""
    _Problem(oracle).meet_measures()


class _Problem:
    """Columns and cuts found so far. Cuts are appended to the oracle's rows, so that policies keep their duals."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.affine = oracle.rows
        self.scale = oracle.scale(oracle.free)
        first = Master(self.affine, self.scale, oracle.free.utility)
        for column in (oracle.free, *oracle.known):
            first.add(column)
        if len(self.affine):
            phase_one(oracle, first)
        self.columns = first.columns
        self.cut_scales: list[float] = []
        self.weights = np.ones(len(self.columns)) / len(self.columns)

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.affine.measures

    def visits(self, weights: Floats) -> Floats:
        return np.sum([w * c.visits for w, c in zip(weights, self.columns, strict=True) if w > 0], axis=0)

    def missed(self, visits: Floats) -> float:
        """By how much the measures are missed, relative to their bounds, all together."""
        return sum(max(0.0, -m.slack(visits)) / _size(m) for m in self.measures)

    def cut_at(self, visits: Floats) -> None:
        for k, measure in enumerate(self.measures):
            cut = measure.tangent(visits[measure.states])
            if not np.isfinite(cut.coefficients).all() or not np.isfinite(cut.bound):
                raise InputError(f"{self._blame(k)}: value or gradient is not finite at a point of its domain")
            for column in self.columns:  # a tangent lies on the right side of what is convex, everywhere
                x = column.visits[measure.states]
                over = cut.value(column.visits) - cut.bound - (measure.value(x) - measure.bound)
                if (over if measure.sense == "<=" else -over) > 1e-6 * (1.0 + _size(measure) + abs(cut.bound)):
                    kind = "convex" if measure.sense == "<=" else "concave"
                    raise InputError(
                        f"{self._blame(k)}: its value is not {kind}, or its gradient is not that of its value, so that "
                        f"'{measure.sense} {measure.bound:g}' is not a convex constraint"
                    )
            self.oracle.add_cut(k, cut)
            terms = float(np.abs(cut.coefficients) @ visits[cut.states])
            self.cut_scales.append(max(abs(cut.bound), terms, 1e-12))

    def _blame(self, k: int) -> str:
        return (
            f"constraint {self.affine.constraints[self.affine.measured_by[k]].describe()!r} ({self.measures[k].label})"
        )

    def linear(self, feasible: bool) -> tuple[float, Floats]:
        """Value and duals of the master LP with all cuts."""
        rows = self.oracle.rows
        master = Master(rows, np.append(self.scale, self.cut_scales), self.oracle.free.utility)
        for column in self.columns:
            master.add(replace(column, values=rows.values(column.visits)))
        if feasible:
            master.begin_phase_two()
        return master.solve()

    def add(self, column: Column) -> None:
        self.columns.append(column)
        self.weights = np.append(self.weights, 0.0)

    def meet_measures(self) -> None:
        """Generate columns until a mixture of them meets every measure, or prove that none does."""
        for _ in range(MOST_ROUNDS):
            self.weights = nonlinear_master(self, elastic=True)
            visits = self.visits(self.weights)
            if self.missed(visits) <= FEASIBILITY:
                return
            self.cut_at(visits)
            _, duals = self.linear(feasible=False)
            duals = self.oracle.proper(duals)
            new = self.oracle.column(Policy.towards(duals))
            reach = float(duals @ (self.oracle.rows.bounds - new.values))
            if reach < -FEASIBILITY:
                raise Infeasible(duals)
            self.add(new)
        raise ArithmeticError("convex constraints: neither met nor refuted")

    def optimise(self) -> Meeting:
        oracle, stalled = self.oracle, 0
        proof = (oracle.free.utility, np.zeros(len(oracle.rows)))
        best = (-np.inf, self.weights)
        for _ in range(MOST_ROUNDS):
            self.weights = nonlinear_master(self, elastic=False)
            visits = self.visits(self.weights)
            value = float(oracle.layout.reward @ visits)
            before = (best[0], proof[0])
            if value > best[0] and self.missed(visits) <= 10 * FEASIBILITY:
                best = (value, self.weights)
            self.cut_at(visits)
            _, duals = self.linear(feasible=True)
            new, proof = price(oracle, duals, proof)
            size = 1e-9 + abs(value)
            if proof[0] - best[0] <= CLOSED * size:
                break
            stalled = stalled + 1 if (best[0], proof[0]) == before else 0
            if stalled > STALLED:
                break
            self.add(new)
        kept = np.flatnonzero(best[1])
        duals = np.append(proof[1], np.zeros(len(oracle.rows) - len(proof[1])))
        columns = tuple(self.columns[i] for i in kept)
        return Meeting(columns, best[1][kept] / best[1].sum(), duals, proof[0], oracle.calls)


def _size(measure: Measure) -> float:
    return max(abs(measure.bound), 1e-3)


@dataclass(frozen=True, eq=False)
class _Seen:
    """A measure as a function of the weights of columns."""

    measure: Measure
    visits: Floats

    def slack(self, weights: Floats) -> float:
        value = self.measure.value(self.visits @ weights)
        difference = value - self.measure.bound
        return (difference if self.measure.sense == ">=" else -difference) / _size(self.measure)

    def slope(self, weights: Floats) -> Floats:
        gradient = np.asarray(self.measure.gradient(self.visits @ weights)) @ self.visits
        return (gradient if self.measure.sense == ">=" else -gradient) / _size(self.measure)


def nonlinear_master(problem: _Problem, elastic: bool) -> Floats:
    """Weights of the columns that meet rows and measures with the best utility; elastic: that miss measures least."""
    columns, affine = problem.columns, problem.affine
    n, extra = len(columns), len(problem.measures) if elastic else 0
    if n == 1:
        return np.ones(1)
    utility = np.array([c.utility for c in columns]) - problem.oracle.free.utility
    cost = np.append(np.zeros(n), np.ones(extra)) if elastic else -utility / max(np.abs(utility).max(), 1e-12)
    seen = [_Seen(m, np.column_stack([c.visits[m.states] for c in columns])) for m in problem.measures]

    def slacks(x: Floats) -> Floats:
        spare = x[n:] if elastic else np.zeros(len(seen))
        return np.array([s.slack(x[:n]) for s in seen]) + spare

    def slopes(x: Floats) -> Floats:
        rows = np.array([s.slope(x[:n]) for s in seen])
        return np.hstack([rows, np.eye(extra)]) if elastic else rows

    constraints: list[LinearConstraint | NonlinearConstraint] = [
        LinearConstraint(np.append(np.ones(n), np.zeros(extra))[None, :], 1.0, 1.0),
        NonlinearConstraint(slacks, 0.0, np.inf, jac=slopes),
    ]
    if len(affine):
        matrix = np.array([c.values[: len(affine)] for c in columns]).T / problem.scale[:, None]
        bounds = affine.bounds / problem.scale
        low = np.where([row.sense == "<=" for row in affine.rows], -np.inf, bounds)
        high = np.where([row.sense == ">=" for row in affine.rows], np.inf, bounds)
        constraints.append(LinearConstraint(np.hstack([matrix, np.zeros((len(affine), extra))]), low, high))
    start = problem.weights
    if elastic:
        start = np.append(start, np.maximum(0.0, -np.array([s.slack(problem.weights) for s in seen])))
    found = minimize(
        lambda x: float(cost @ x),
        start,
        jac=lambda x: cost,
        bounds=[(0.0, None)] * (n + extra),
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    weights = np.maximum(found.x[:n], 0.0)
    weights[weights < 1e-14] = 0.0
    return weights / weights.sum()
