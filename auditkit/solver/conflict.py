"""Which constraints cannot hold together: the fewest of them, so that the user knows what to give up."""

from __future__ import annotations

from itertools import combinations, islice

from auditkit.constraints.base import Rows
from auditkit.model.layout import Layout
from auditkit.solver import block_master, convex
from auditkit.solver.master import phase_one
from auditkit.solver.oracle import Infeasible, Oracle
from auditkit.solver.solution import Proof

MOST_SETS = 2_000
"""How many sets of constraints may be tried in looking for the smallest; beyond that, one that cannot be reduced."""


def smallest_conflict(layout: Layout, rows: Rows) -> Proof:
    """A conflicting set of constraints with no more members than necessary, and the proof that it conflicts.

    Constraints are dropped one by one while the rest still conflicts; then every smaller set is tried, in order of
    size, while their number is moderate.
    """
    present = sorted({*rows.owner, *rows.measured_by})
    found = conflict(layout, rows)
    if found is None:
        raise ArithmeticError("the rows that were found to conflict do not, looked at again")
    for i in present:
        rest = found.constraints - {i}
        found = (conflict(layout, rows.only(rest)) if rest else None) or found
    smaller = (some for size in range(1, len(found.constraints)) for some in combinations(present, size))
    for some in islice(smaller, MOST_SETS):
        fewer = conflict(layout, rows.only(some))
        if fewer is not None:
            return fewer
    return found


def conflict(layout: Layout, rows: Rows) -> Proof | None:
    """A proof that no mixture of policies meets every row and measure, or None if one does."""
    oracle = Oracle(layout, rows)
    try:
        if rows.measures:
            convex.meet(oracle)
        else:
            phase_one(oracle, block_master.begin(oracle, [oracle.free]))
    except Infeasible as error:
        return Proof(oracle.rows, error.duals)
    return None
