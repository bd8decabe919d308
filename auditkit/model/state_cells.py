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
        kinds = layout.kinds
        meant = STAGES * (kinds.stage.astype(np.int64) + 1) + kinds.selecting
        meant[kinds.ptr[:-1]] += STARTS
        meanings, number = np.unique(meant, return_inverse=True)
        groups = int(layout.candidate_group.max(initial=0)) + 1
        count = len(meanings) * groups
        cell = len(meanings) * kinds.group[kinds.owner] + number
        members = np.bincount(layout.candidate_kind, minlength=len(kinds.group))
        meaning = np.tile(meanings, groups)
        return StateCells(
            layout.of_states(cell.astype(np.min_scalar_type(max(count - 1, 0)))),
            np.bincount(cell, members[kinds.owner], minlength=count).astype(np.int64),
            np.repeat(np.arange(groups), len(meanings)),
            meaning % STARTS == SELECTED,
            meaning % STAGES >= STARTS,
            meaning // STAGES - 1,
        )

    def counts(self, visits: Floats) -> Floats:
        """Visits of the states of each cell, added up."""
        return np.bincount(self.of_state, visits, minlength=len(self)).astype(np.float64)
