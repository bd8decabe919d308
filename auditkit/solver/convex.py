"""Convex constraints: columns and tangents.

A measure F(p) >= b with F concave (or <= with F convex) implies, by its tangent at any p0, the affine row
F(p0) + F'(p0).(p - p0) >= b: a *cut*. Rounds go as for affine rows (`master.py`): the master LP over columns, rows and
cuts gives duals, which price the next policy and prove a bound. Its solution may miss the measures. An *anchor* meets
them all with room to spare; on the way from the anchor to that solution the last point that still meets them is a
value, and the tangent there is the next cut (supporting hyperplanes). Bound and value hold in every round; they meet
to rounding in some tens of rounds. Where no policy meets the measures with room to spare they may stay apart, because
tangents do not tell how good those few policies are that do; the solution then is `unproved`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from auditkit.constraints.base import Constraint, Measure, Row
from auditkit.constraints.checks import STEP, slope_flaw
from auditkit.errors import PluginError, shipped
from auditkit.model.layout import Floats, dot
from auditkit.solver.dual_search import DualOptimum
from auditkit.solver.master import MOST_ROUNDS, Master, Pricing, phase_one
from auditkit.solver.oracle import FEASIBILITY, Column, Infeasible, Oracle
from auditkit.solver.policy import Policy

CLOSED = 1e-10
"""Of the size of the utility: value and bound closer than this have met."""

STALLED = 20
"""Rounds without a better value or bound after which the gap is reported as it is; with affine rows two more for each
of them, because as many columns may be needed before one of them helps."""

CUT_WHEN = 0.1
"""A cut is added where it takes off at least this share of what the next column may add: early ones soon do nothing."""

MARGINS = (1e-2, 1e-4, 1e-6, 0.0)
"""Room to spare that an anchor is asked for, of the size of each measure, until one can be had."""


def generate(oracle: Oracle) -> DualOptimum:
    """The optimum of a problem with convex measures; raises `Infeasible` with a proof made of rows and cuts."""
    problem = _Problem(oracle)
    problem.find_anchor()
    return problem.optimise()


def meet(oracle: Oracle) -> None:
    """Raise `Infeasible` if no mixture of policies meets the rows and measures."""
    _Problem(oracle).find_anchor()


class _Problem:
    """Columns and cuts found so far. Cuts are appended to the oracle's rows, so that policies keep their duals."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.affine = oracle.rows
        self.measures = oracle.rows.measures
        self.scale = oracle.scale
        self.columns: list[Column] = [oracle.free, *oracle.known]
        self.anchor = np.zeros(0)
        self.check_gradients(0.5 * oracle.free_visits, lambda _: True)
        if len(self.affine):
            first = Master.whole(self.affine, self.scale, self.columns)
            phase_one(oracle, first)
            self.columns = first.columns

    def visits(self, weights: Floats) -> Floats:
        return np.sum([w * _visits(c) for w, c in zip(weights, self.columns, strict=False) if w > 0], axis=0)

    def room(self, visits: Floats) -> float:
        """The least slack of a measure, relative to its size: >= 0 where all are met."""
        return min(measure.slack(visits) / _size(measure) for measure in self.measures)

    def cut_at(self, visits: Floats, master: Master | None = None) -> None:
        self.check_gradients((1 - 2 * STEP) * visits, lambda owner: not shipped(owner))
        for k, measure in enumerate(self.measures):
            cut = measure.tangent(visits[measure.states])
            if not np.isfinite(cut.coefficients).all() or not np.isfinite(cut.bound):
                raise self._blame(k, "its value or gradient is not finite at a point of its domain")
            values = [cut.value(_visits(column)) for column in self.columns]
            for column, value in zip(self.columns, values, strict=True):
                self._check_tangent(k, cut, column, value)
            self.columns = [
                replace(column, values=np.append(column.values, value))
                for column, value in zip(self.columns, values, strict=True)
            ]
            self.oracle.add_cut(k, cut)
            weights = np.abs(cut.coefficients)
            size = max(abs(cut.bound), dot(weights, visits[cut.states]), float(weights.max(initial=0.0)), 1e-9)
            self.scale = np.append(self.scale, size)
            if master is not None:
                master.add_row(self.oracle.rows, size, self.columns)

    def check_gradients(self, at: Floats, which: Callable[[Constraint], bool]) -> None:
        """Compare gradients with differences of the values, near some visits."""
        for k, measure in enumerate(self.measures):
            if which(self._owner(k)) and (wrong := slope_flaw(measure, at[measure.states])) is not None:
                raise self._blame(k, wrong)

    def add(self, column: Column) -> None:
        for (k, cut), value in zip(self.oracle.cuts, column.values[len(self.affine) :], strict=True):
            self._check_tangent(k, cut, column, float(value))
        self.columns.append(column)

    def _check_tangent(self, k: int, cut: Row, column: Column, value: float) -> None:
        """A tangent lies on one side of what is convex, everywhere; a plugin that breaks this gets no answer."""
        measure = self.measures[k]
        over = value - cut.bound - measure.value(_visits(column)[measure.states]) + measure.bound
        if (over if measure.sense == "<=" else -over) > 1e-6 * (1.0 + _size(measure) + abs(cut.bound)):
            kind = "convex" if measure.sense == "<=" else "concave"
            raise self._blame(
                k,
                f"its value is not {kind}, or its gradient is not that of its value, so that "
                f"'{measure.sense} {measure.bound:g}' is not a convex constraint",
            )

    def _owner(self, k: int) -> Constraint:
        return self.affine.constraints[self.affine.measured_by[k]]

    def _blame(self, k: int, what: str) -> PluginError:
        owner = self._owner(k)
        return PluginError(owner, f"constraint {owner.to_spec()!r} ({self.measures[k].label}): {what}")

    def linear(self, margin: float) -> Master:
        """The LP of by how much columns miss rows and cuts, these moved inwards by a margin."""
        rows = self.oracle.rows
        if margin > 0:
            moved = [
                replace(row, bound=row.bound + margin * _size(self.measures[k]) * (1 if row.sense == ">=" else -1))
                for k, row in self.oracle.cuts
            ]
            rows = replace(rows, rows=(*rows.rows[: len(self.affine)], *moved))
        return Master.whole(rows, self.scale, self.columns)

    def find_anchor(self) -> None:
        """Generate columns and cuts until a mixture meets every measure with room to spare, or prove that none does."""
        margins = iter(MARGINS)
        margin, repeated = next(margins), 0
        for _ in range(MOST_ROUNDS):
            master = self.linear(margin)
            value, duals = master.solve()
            weights = master.weights()
            if -value <= FEASIBILITY:
                visits = self.visits(weights)
                if self.room(visits) >= max(margin / 2, -FEASIBILITY) or (margin == 0 and self.room(visits) >= -1e-8):
                    self.anchor = weights
                    return
                self.cut_at(visits)
                continue
            duals = self.oracle.proper(duals)
            new = self.oracle.column(Policy.towards(duals))
            reach = float(duals @ (self.oracle.rows.bounds - new.values))
            gain = sum(
                abs(d) * margin * _size(self.measures[k])
                for d, (k, _) in zip(duals[len(self.affine) :], self.oracle.cuts, strict=True)
            )
            if reach < -FEASIBILITY:
                raise Infeasible(duals)
            if reach - gain < -FEASIBILITY:  # not with this margin
                margin = next(margins)
                continue
            if not master.add(new):  # the LP cannot tell the column's worth: ask it something else
                repeated += 1
                if repeated > STALLED:
                    break
                self.cut_at(self.visits(weights))
            else:
                self.add(new)
        theirs = [k for k in range(len(self.measures)) if not shipped(self._owner(k))]
        if theirs:
            raise self._blame(theirs[0], "neither met nor refuted: check that it is convex, and its gradient")
        raise ArithmeticError("convex constraints: neither met nor refuted")

    def optimise(self) -> DualOptimum:
        oracle, stalled = self.oracle, 0
        pricing = Pricing(oracle)
        best = (-np.inf, self.anchor)
        master = Master.whole(oracle.rows, self.scale, self.columns)
        master.begin_phase_two()
        before, tiny = np.inf, 1e-9 * abs(oracle.free.utility)
        for _ in range(MOST_ROUNDS):
            value, duals = master.solve()
            duals, weights = oracle.proper(duals), master.weights()
            earlier = pricing.bound
            least = value + 0.01 * CLOSED * (tiny + abs(value))
            new = pricing.next(duals, partial(self._above, duals, least))
            reached = self._towards(weights)
            visits = self.visits(reached)
            utility = dot(oracle.layout.reward, visits)
            size = tiny + abs(utility)
            moved = abs(value - before) > 0.01 * CLOSED * size
            stalled = 0 if utility > best[0] or pricing.bound < earlier or moved else stalled + 1
            best, before = max(best, (utility, reached), key=lambda pair: pair[0]), value
            if pricing.bound - best[0] <= CLOSED * size or stalled > STALLED + 2 * len(self.affine):
                break
            gain, loss = oracle.plane(new, duals) - value, value - utility
            if gain > 0.01 * CLOSED * size and master.add(new):
                self.add(new)
            if loss > max(CUT_WHEN * gain, 0.01 * CLOSED * size):
                self.cut_at(visits, master)
        kept = np.flatnonzero(best[1])
        duals = np.append(pricing.centre, np.zeros(len(oracle.rows) - len(pricing.centre)))
        return DualOptimum(tuple(self.columns[i] for i in kept), best[1][kept] / best[1].sum(), duals, pricing.bound)

    def _above(self, duals: Floats, least: float, column: Column) -> bool:
        return self.oracle.plane(column, duals) > least

    def _towards(self, weights: Floats) -> Floats:
        """The last mixture on the way from the anchor to `weights` that meets every measure."""
        anchor = np.append(self.anchor, np.zeros(len(weights) - len(self.anchor)))
        near, far = self.visits(anchor), self.visits(weights)
        if self.room(far) >= 0:
            return weights
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            if self.room(near + middle * (far - near)) >= 0:
                low = middle
            else:
                high = middle
        return anchor + low * (weights - anchor)


def _visits(column: Column) -> Floats:
    assert column.visits is not None  # the oracle keeps them where there are measures
    return column.visits


def _size(measure: Measure) -> float:
    return max(abs(measure.bound), 1e-3)
