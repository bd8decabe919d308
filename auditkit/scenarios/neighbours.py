"""Problems that differ a little, solved one after another, each from the one before.

If two problems have the same policies and rows and only the bounds differ, every column of the first serves the second.
Otherwise (another quota share, other capacities, other scores) columns do not carry over but their duals do: the
policies that the neighbour mixes lie on both sides of its optimum, and evaluated on the new problem they are near its
own. Convex constraints name their policies by cuts, which do not carry over at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from auditkit.constraints.base import Constraint, Rows
from auditkit.constraints.binding import bind
from auditkit.model.instance import Instance
from auditkit.model.layout import Layout
from auditkit.solver import Optimum, Solution, solve
from auditkit.solver.oracle import Column, Oracle

MOST_KEPT = 100_000_000
"""Numbers held in columns (8 bytes each); beyond, the oldest are forgotten."""


class Neighbours:
    """Remembers the last optimum."""

    def __init__(self) -> None:
        self.last: Optimum | None = None
        self.evaluations = 0

    def solve(self, instance: Instance, constraints: Sequence[Constraint]) -> Solution:
        known: tuple[Column, ...] = ()
        if self.last is not None:
            known = carried(self.last, instance.layout, bind(constraints, instance.layout))
        solution = solve(instance, constraints, known=known)
        if solution.constrained is not None:
            self.last = solution.constrained
            self.evaluations += solution.constrained.evaluations
        return solution


def carried(last: Optimum, layout: Layout, rows: Rows) -> tuple[Column, ...]:
    """Columns of a problem to start from, given the optimum of its neighbour."""
    if rows.measures or last.rows.measures or len(rows) != len(last.rows) or not len(rows):
        return ()
    most = max(2, MOST_KEPT // layout.states)
    if layout is last.outcome.layout and _same_but_for_bounds(rows, last.rows):
        return last.columns[:1] + last.columns[1:][1 - most :]
    oracle = Oracle(layout, rows)
    seen = dict.fromkeys(level.duals for policy in last.mixture.policies for level in policy.levels[:1])
    return tuple(oracle.at(oracle.proper(np.array(duals))) for duals in list(seen)[:most])


def _same_but_for_bounds(rows: Rows, others: Rows) -> bool:
    return all(
        a.sense == b.sense and np.array_equal(a.states, b.states) and np.array_equal(a.coefficients, b.coefficients)
        for a, b in zip(rows.rows, others.rows, strict=True)
    )
