"""The oracle behind every method: a policy goes in, its exact column comes out.

    maximise R.p   subject to   theta_j.p  <= | == | >=  b_j

For duals lambda (>= 0 for "<=", <= 0 for ">=", free for "==") the Lagrangian R.p + lambda.(b - Theta p) is maximised by
the index policy of the adjusted rewards R - Theta' lambda, so that G(lambda) = max_p L(p; lambda) bounds the optimum
from above. A column is one policy's (utility u, values a = Theta p); it bounds G from below by the plane
u + lambda.(b - a).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from auditkit.constraints.base import Row, Rows
from auditkit.model.layout import Floats, Layout, dot
from auditkit.model.session import current
from auditkit.solver import evaluate
from auditkit.solver.block_sums import BlockSums, Sums
from auditkit.solver.policy import Policy
from auditkit.solver.pool import Pool
from auditkit.solver.rounding import without_noise

FEASIBILITY = 1e-9
"""A row may miss its bound by this much, relative to the size of its terms."""


class Infeasible(Exception):
    """No policy meets the rows; `duals` prove it: min over all policies of duals . (Theta p - b) is positive."""

    def __init__(self, duals: Floats) -> None:
        super().__init__("the constraints cannot hold together")
        self.duals = duals


LARGE, NEARLY = 5_000, 1e-10
"""With more candidates than the first, the last digits of a gap, below the second of the utility, stay open."""


@dataclass(frozen=True, eq=False)
class Column:
    """`utility` and `values` of all searches together; `sums` and `by_block`, of each (row, block), are kept with them.

    Visits of all states are kept only where convex measures need them, and then nothing by block.
    """

    policy: Policy
    utility: float
    values: Floats
    sums: Sums | None = None
    by_block: Floats | None = None
    visits: Floats | None = None


class Oracle:
    """Evaluates policies on one problem and keeps their columns: other problems can start from them."""

    def __init__(self, layout: Layout, rows: Rows, known: Sequence[Column] = (), precision: float = 0.0) -> None:
        self.layout = layout
        self.rows = rows
        self.precision = precision  # of the utility: a smaller gap need not be closed
        self.known = tuple(known)  # columns of a neighbouring problem with the same rows
        self.columns: list[Column] = []
        self.unkept = 0  # policies that were evaluated without a column
        self.cuts: list[tuple[int, Row]] = []  # tangents of measures, with the number of the measure
        self._uncut = rows

    @property
    def enough(self) -> float:
        """How much of the utility a gap may leave open."""
        return max(self.precision, NEARLY if len(self.layout.candidate_ids) > LARGE else 0.0)

    @cached_property
    def blocks(self) -> BlockSums:
        return BlockSums(self.layout, self.rows)

    def add_cut(self, measure: int, cut: Row) -> None:
        """One more row; earlier policies and columns keep their meaning, because rows are only ever appended."""
        self.cuts.append((measure, cut))
        self.rows = self._uncut.with_cuts(self.cuts)

    @property
    def calls(self) -> int:
        """How many policies were evaluated."""
        return len(self.columns) + self.unkept

    def column(self, policy: Policy) -> Column:
        if self.rows.measures:
            visits = evaluate.Prepared.of_policy(self.layout, self.rows, policy).visits()
            column = Column(policy, dot(self.layout.reward, visits), self.rows.values(visits), visits=visits)
        else:
            sums = self.blocks.of_policy(policy)
            column = self.summed(policy, sums)
            if len(policy.levels) == 1:
                Pool.of(self.layout).add(policy, self.rows, sums)
        self.columns.append(column)
        return column

    def pooled(self, duals: Floats, most: int) -> tuple[Column, ...]:
        """Columns of policies that were evaluated for other problems of this layout, the best at some duals."""
        if self.rows.measures or self.blocks.further:
            return ()
        found = Pool.of(self.layout).best(self.blocks.matrix, self.rows.bounds, duals, most)
        return tuple(self.summed(policy, sums) for policy, sums in found)

    def summed(self, policy: Policy, sums: Sums) -> Column:
        """The column of a policy whose sums by block are known."""
        by_block = self.blocks.values(sums)
        return Column(policy, float(sums.utility.sum()), self.blocks.totals(by_block), sums, by_block)

    def at(self, duals: Floats) -> Column:
        return self.column(Policy.at(duals))

    @cached_property
    def free_visits(self) -> Floats:
        """Those of the unconstrained optimum, found once for each layout."""
        return free_visits(self.layout)

    @cached_property
    def free(self) -> Column:
        """The unconstrained optimum."""
        policy = Policy.at(np.zeros(len(self.rows)))
        if self.rows.measures:
            visits = self.free_visits
            utility = dot(self.layout.reward, visits)
            column = Column(policy, utility, self.rows.values(visits), visits=visits)
        elif self.blocks.further:
            column = self.summed(policy, self.blocks.of_visits(self.free_visits))
        else:  # all problems of the layout share them
            column = self.summed(policy, current().get(self.layout, "free sums", self.blocks.free))
        self.columns.append(column)
        return column

    def plane(self, column: Column, duals: Floats) -> float:
        """The column's Lagrangian at `duals`; equal to G(duals) if the column is optimal there."""
        return column.utility + float(duals @ (self.rows.bounds - column.values))

    def proper(self, duals: Floats) -> Floats:
        """Duals with the signs that make G a bound."""
        return self.rows.proper(duals)

    def is_met_by(self, column: Column) -> bool:
        """Whether a column meets all rows up to rounding, which nothing could mend but to select nobody."""
        miss = without_noise(self.rows.signs * (column.values - self.rows.bounds), self.scale)
        return bool(np.where(self.rows.is_equality, miss == 0, miss <= 0).all())

    @cached_property
    def scale(self) -> Floats:
        """The size of each row, for tolerances: its bound, its largest coefficient, its terms in the free optimum."""
        bounds = np.abs(self.rows.bounds)
        terms = self.rows.sizes(self.free_visits) - bounds
        size = np.maximum(np.maximum(terms, self.rows.largest), bounds)
        return np.where(size > 0, size, 1.0)


def free_visits(layout: Layout) -> Floats:
    """Expected visits under the unconstrained optimum of a layout, evaluated once."""

    def make() -> Floats:
        visits = evaluate.Prepared.of_policy(layout, Rows((), (), ()), Policy.at(())).visits()
        visits.flags.writeable = False
        return visits

    return current().get(layout, "free visits", make)
