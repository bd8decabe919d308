"""Policies that were evaluated on a layout, whatever problem they were evaluated for: other problems start from them.

What a policy yields is kept as counts of cells by block (`block_sums.py`), from which the value of every row that is a
sum over cells follows. So a policy found under parity is a column of a quota too, without another evaluation; it keeps
the rows by which its duals name it.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from auditkit.constraints.base import CellRow, KindRow, Rows
from auditkit.model.layout import Floats, Layout
from auditkit.model.session import current
from auditkit.solver.block_sums import Sums
from auditkit.solver.policy import Policy

MOST_POLICIES = 200
MOST_ENTRIES = 20_000_000
"""Coefficients of the rows that are kept with the policies (16 bytes each)."""


class Pool:
    """The policies of one layout, the newest last."""

    def __init__(self) -> None:
        self.found: deque[tuple[Policy, Sums]] = deque(maxlen=MOST_POLICIES)

    def add(self, policy: Policy, rows: Rows, sums: Sums) -> None:
        self.found.append((policy.of(rows), sums))
        while len(self.found) > 1 and self._entries() > MOST_ENTRIES:
            self.found.popleft()

    def _entries(self) -> int:
        kept = {id(policy.rows): policy.rows for policy, _ in self.found if policy.rows is not None}
        every = [row for rows in kept.values() for row in rows.rows if not isinstance(row, CellRow)]
        return sum(len(row.numbers if isinstance(row, KindRow) else row.states) for row in every)

    def best(self, matrix: Floats, bounds: Floats, duals: Floats, most: int) -> list[tuple[Policy, Sums]]:
        """Policies that come nearest to the bound at some duals of rows with these weights of cells."""
        planes = [
            float(sums.utility.sum() + duals @ (bounds - matrix @ sums.counts.sum(axis=0))) for _, sums in self.found
        ]
        return [self.found[i] for i in np.argsort(-np.array(planes), kind="stable")[:most]]

    @staticmethod
    def of(layout: Layout) -> Pool:
        return current().get(layout, "pool", Pool)
