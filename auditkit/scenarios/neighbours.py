"""Problems that differ slightly, solved one after another, each starting from the previous one.

On the same layout (a different bound, quota share or constraint) the policies evaluated before, for any problem, also
serve the next one (`pool.py`). Otherwise (different capacities or scores) their duals do: evaluated on the new problem,
the neighbour's policies are close to its own. Convex constraints describe their policies by cuts, which don't carry
over at all.
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

MOST_POOLED = 12
"""Policies of the pool that a problem starts from."""

MOST_EVALUATED = 3
"""Policies of a neighbour that are evaluated again where nothing else carries over."""


LARGE, NEARLY = 5_000, 1e-8
"""With more candidates than the first, problems that are asked in passing end with a gap of the second, of the utility:
it is stated with every answer."""


def precision(layout: Layout) -> float:
    """How much of the utility may be left open."""
    return NEARLY if len(layout.candidate_ids) > LARGE else 0.0


class Neighbours:
    """Remembers the last optimum."""

    def __init__(self) -> None:
        self.last: Optimum | None = None
        self.evaluations = 0

    def solve(self, instance: Instance, constraints: Sequence[Constraint]) -> Solution:
        known = carried(self.last, instance.layout, bind(constraints, instance.layout))
        solution = solve(instance, constraints, known=known, precision=precision(instance.layout))
        if solution.constrained is not None:
            self.last = solution.constrained
            self.evaluations += solution.constrained.evaluations
        return solution


def carried(last: Optimum | None, layout: Layout, rows: Rows) -> tuple[Column, ...]:
    """Columns of a problem to start from, given the optimum of its neighbour."""
    if rows.measures or not len(rows):
        return ()
    oracle = Oracle(layout, rows)
    near = last is not None and not last.rows.measures and len(last.rows) == len(rows)
    duals = last.duals if last is not None and near else np.zeros(len(rows))
    if last is None or (layout is last.outcome.layout and not oracle.blocks.further):
        return oracle.pooled(oracle.proper(duals), MOST_POOLED)
    if not near:
        return ()
    weights = dict(zip(last.mixture.policies, last.mixture.weights, strict=True))
    often = sorted((p for p in weights if p.rows is None), key=lambda policy: -weights[policy])[:MOST_EVALUATED]
    seen = dict.fromkeys([tuple(last.duals), *(policy.levels[0].duals for policy in often)])
    return tuple(oracle.at(oracle.proper(np.array(duals))) for duals in seen)
