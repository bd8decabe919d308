"""Cells: the states of an instance by the group of the candidate and by what a visit means.

A visit means that the candidate is inspected (its start is left), leaves a stage, is selected, or several of these.
Rows on numbers or rates by group weigh all states of a cell alike, so that one number for each cell says them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from auditkit.model.layout import Bools, Floats, Ints, Layout

SELECTED, STARTS, STAGES = 1, 2, 4
"""Terms of the number that says what a visit means; stages are counted from 1 on, in units of the last."""


@dataclass(frozen=True, eq=False)
class StateCells:
    of_state: NDArray[Any]
    """The cell of every state, in the smallest integers that hold it."""
    sizes: Ints
    """How many states each cell has."""
    group: Ints
    """The group of each cell, among `layout.groups`."""
    selecting: Bools
    starts: Bools
    stage: Ints
    """The stage that a visit leaves, -1 for none."""

    def __len__(self) -> int:
        return len(self.sizes)

    @staticmethod
    def of(layout: Layout) -> StateCells:
        means = STAGES * (layout.state_stage + 1) + layout.selecting
        means[layout.start] += STARTS
        kinds = np.flatnonzero(np.bincount(means))
        number = np.zeros(int(kinds.max(initial=0)) + 1, dtype=np.int64)
        number[kinds] = np.arange(len(kinds))
        count = len(kinds) * (int(layout.candidate_group.max(initial=0)) + 1)
        small = np.min_scalar_type(max(count - 1, 0))
        first = (len(kinds) * layout.candidate_group).astype(small)
        of_state = number.astype(small)[means] + first[layout.state_candidate]
        kind = np.tile(kinds, count // max(len(kinds), 1))
        return StateCells(
            of_state,
            np.bincount(of_state, minlength=count),
            np.repeat(np.arange(count // max(len(kinds), 1)), len(kinds)),
            kind % STARTS == SELECTED,
            kind % STAGES >= STARTS,
            kind // STAGES - 1,
        )

    def counts(self, visits: Floats) -> Floats:
        """Visits of the states of each cell, added up."""
        return np.bincount(self.of_state, visits, minlength=len(self)).astype(np.float64)
