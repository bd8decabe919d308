"""Cells: the states of an instance by the group of the candidate and by what a visit means.

A visit means that the candidate is inspected (its start is left), leaves a stage, is selected, or several of these.
Rows on numbers or rates by group weight all states of a cell alike, so one number per cell describes them.

If groups are known by their probability, a visit counts in several *shared* cells, one for each group and meaning of
the visit, with the chance of the group. Rows on such groups are sums over shared cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from auditkit.model.layout import Bools, Floats, Ints, Layout

MOST_SHARED = 20_000_000
"""Entries of `shares`."""

SELECTED, STARTS, STAGES = 1, 2, 4
"""Terms of the number that encodes what a visit means; stages are counted from 1, in units of the last."""


@dataclass(frozen=True, eq=False)
class StateCells:
    of_state: NDArray[Any]
    """The cell of every state, in the smallest integers that fit."""
    sizes: Ints
    """How many states each cell has."""
    group: Ints
    """The group of each cell, among `layout.groups`."""
    selecting: Bools
    starts: Bools
    stage: Ints
    """The stage that a visit leaves, -1 for none."""
    meaning: Ints
    """What a visit of each cell means, numbered."""
    shares: Floats
    """(states of kinds, shared cells): how much of a visit counts in each; no cells where they would be too many. As
    the chances of groups, cell after cell in memory, which is how they are added up."""
    first_shared: Mapping[str, int]
    """Of attributes with shared cells: the number of the first. Those of one meaning are contiguous."""
    width: int
    """How many states each candidate has, if visits mean the same for all of them in this order; otherwise 0."""
    _kept: dict[int, tuple[Floats, Floats | None]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What `by_meaning` found of arrays that cannot change, which are kept with it."""

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
            np.tile(np.arange(len(meanings)), groups),
            *_shared(kinds.membership, number, len(meanings)),
            _width(np.diff(kinds.ptr), number),
        )

    def counts(self, visits: Floats) -> Floats:
        """Visits of the states of each cell, added up."""
        if not self.width:
            return np.bincount(self.of_state, visits, minlength=len(self)).astype(np.float64)
        means, table = self.meaning[self.of_state[: self.width]], visits.reshape(-1, self.width)
        group, found = self.group[self.of_state[:: self.width]], np.zeros((int(self.group[-1]) + 1, means.max() + 1))
        for meaning in np.unique(means).tolist():  # of the same states of every candidate
            own = np.einsum("cs,s->c", table, (means == meaning).astype(np.float64))
            found[:, meaning] = np.bincount(group, own, minlength=len(found))
        return found.ravel()

    def by_meaning(self, weights: Floats) -> Floats | None:
        """Weights of all states by what a visit means; None if they distinguish more."""
        if id(weights) in self._kept:
            return self._kept[id(weights)][1]
        found = np.zeros(int(self.meaning.max(initial=-1)) + 1)
        if self.width:  # a large array is read once
            means, table = self.meaning[self.of_state[: self.width]], weights.reshape(-1, self.width)
            found[means] = table[0]
            told = found if (table == found[means]).all() else None
        else:
            found[self.meaning[self.of_state]] = weights
            told = found if np.array_equal(found[self.meaning[self.of_state]], weights) else None
        if not weights.flags.writeable:
            self._kept[id(weights)] = weights, told
        return told


def _width(sizes: Ints, meaning: Ints) -> int:
    """Of kinds with these numbers of states, whose visits mean this."""
    width = int(sizes[0]) if len(sizes) and (sizes == sizes[0]).all() else 0
    return width if width and (meaning.reshape(-1, width) == meaning[:width]).all() else 0


def _shared(membership: Mapping[str, Floats], meaning: Ints, meanings: int) -> tuple[Floats, dict[str, int]]:
    """`shares` and `first_shared`, from the chances of groups in the states of kinds and what visits of these mean."""
    counts = {name: meanings * chances.shape[1] for name, chances in membership.items()}
    if not counts or len(meaning) * sum(counts.values()) > MOST_SHARED:
        return np.zeros((len(meaning), 0)), {}
    means = [meaning == meant for meant in range(meanings)]
    shares = [own * chance for chances in membership.values() for own in means for chance in chances.T]
    first = np.cumsum([0, *counts.values()]).tolist()
    return np.stack(shares).T, dict(zip(counts, first))
