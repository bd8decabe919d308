"""Which constraints cannot hold together: the fewest of them, so that the user knows what to give up."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from auditkit.constraints import Rows
from auditkit.layout import Layout
from auditkit.solve.master import Master, phase_one
from auditkit.solve.oracle import Infeasible, Oracle

MOST_SETS = 2_000
"""How many sets of constraints may be tried in looking for the smallest; beyond that, one that cannot be reduced."""


def smallest_conflict(layout: Layout, rows: Rows) -> tuple[str, ...]:
    """A conflicting set of constraints with no fewer members than necessary, described as SPECs.

    Constraints are dropped one by one while the rest still conflicts; then every smaller set is tried, in order of
    size, while their number is moderate.
    """
    present = sorted(set(rows.owner))
    conflict = list(present)
    for i in present:
        rest = [j for j in conflict if j != i]
        if rest and not feasible(layout, rows.only(rest)):
            conflict = rest
    tried = 0
    for size in range(1, len(conflict)):
        for some in combinations(present, size):
            tried += 1
            if tried > MOST_SETS:
                break
            if not feasible(layout, rows.only(some)):
                return tuple(rows.constraints[i].describe() for i in some)
    return tuple(rows.constraints[i].describe() for i in conflict)


def feasible(layout: Layout, rows: Rows) -> bool:
    """Whether some mixture of policies meets every row."""
    oracle = Oracle(layout, rows)
    free = oracle.at(np.zeros(len(rows)))
    master = Master(oracle, oracle.scale(free))
    master.add(free)
    try:
        phase_one(oracle, master)
    except Infeasible:
        return False
    return True
