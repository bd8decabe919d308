"""Candidates that are alike: of the same law, rewards and coefficients in every row, they are one *type*.

Policies treat the candidates of a type alike but for ties, so indices and capped values are worked out once for each
type. Where all rows are by cells, types are the kinds of the layout. Other rows may split these: types are then found
by a hash of the coefficients of each candidate, and every candidate is compared with the first of its type, so that no
collision goes unseen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from auditkit.constraints.base import CellRow, DenseRow, KindRow, Row, Rows
from auditkit.model.layout import Floats, Ints, Layout
from auditkit.model.session import current

Words = NDArray[np.uint64]

MOST_KEPT = 16
"""Rows that are kept by the states of types."""


@dataclass(frozen=True, eq=False)
class Types:
    """`of[c]` is the type of candidate c; states of types are numbered one after another, from `ptr[t]` on."""

    of: Ints
    ptr: Ints
    states: Ints
    """Of each state of a type: the same state of the first candidate of the type, in the layout."""
    alike: Ints
    """The same among the states of kinds."""
    reward: Floats
    chance: Floats
    _last: dict[int, tuple[Row, Row]] = field(default_factory=dict, init=False, repr=False)
    """Rows that were restricted last: the policies of a mixture are asked for one after another."""

    @staticmethod
    def of_boxes(layout: Layout, rows: Sequence[Row] = ()) -> Types:
        """Types of boxes that agree in kind and in their coefficients in some rows; without any, found once."""
        rows = [row for row in rows if not isinstance(row, KindRow)]
        if rows:
            return Types._of_boxes(layout, rows)
        return current().get(layout, "types", lambda: Types._of_boxes(layout, ()))

    @staticmethod
    def _of_boxes(layout: Layout, rows: Sequence[Row]) -> Types:
        kinds, of = layout.kinds, layout.candidate_kind
        if rows:
            _, first, of = np.unique(_keys(layout, rows), return_index=True, return_inverse=True)
            if not _same(layout, first[of], rows):
                first = of = np.arange(len(layout.candidate_ids))
        else:
            first = np.empty(len(kinds.group), dtype=np.int64)
            first[of[::-1]] = np.arange(len(of) - 1, -1, -1)
        kind = layout.candidate_kind[first]
        sizes = np.diff(kinds.ptr)[kind]
        ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        own = np.arange(ptr[-1]) - np.repeat(ptr[:-1], sizes)
        states, alike = (np.repeat(begin, sizes) + own for begin in (layout.start[first], kinds.ptr[kind]))
        reward, chance = kinds.reward[alike], kinds.chance[alike]
        for array in (reward, chance):  # as those of a layout are, or kernels would be compiled twice
            array.flags.writeable = False
        return Types(of, ptr, states, alike, reward, chance)

    def restrict(self, rows: Rows) -> Rows:
        """Rows in the numbering of the states of types."""
        return replace(rows, rows=tuple(self._restricted(row) for row in rows.rows))

    def _restricted(self, row: Row) -> Row:
        if id(row) not in self._last:
            while len(self._last) >= MOST_KEPT:
                del self._last[next(iter(self._last))]
            self._last[id(row)] = row, self._restrict(row)
        return self._last[id(row)][1]

    def _restrict(self, row: Row) -> Row:
        if isinstance(row, CellRow | KindRow) or len(row.states) >= len(self.states):
            weights = row.kind_weights[self.alike] if isinstance(row, KindRow) else row.at(self.states)
            return DenseRow(row.label, weights, row.sense, row.bound, row.by, row.meaning)
        if not len(row.states):
            return row
        order, states = self._sorted  # a short row is looked up among the states of types
        found = np.minimum(np.searchsorted(states, row.states), len(states) - 1)
        place = np.flatnonzero(states[found] == row.states)
        own = order[found[place]]
        back = np.argsort(own)
        return Row(
            row.label, own[back], row.coefficients[place[back]], row.sense, row.bound, row.by, meaning=row.meaning
        )

    @cached_property
    def _sorted(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.states)
        return order, self.states[order]


def _mixed(numbers: NDArray[np.generic]) -> Words:
    """Bits of numbers, stirred so that their sums tell them apart."""
    x = np.ascontiguousarray(numbers).view(np.uint64).copy()
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def _keys(layout: Layout, rows: Sequence[Row]) -> Words:
    """A hash of the kind and the coefficients of each candidate."""
    key = _mixed(layout.candidate_kind)
    for number, row in enumerate(rows):
        if len(row.states):
            owner = layout.owners(row.states)
            begins = np.flatnonzero(np.diff(owner, prepend=-1))
            place = row.states - layout.start[owner]
            entries = _mixed(row.coefficients + 0.0) * (_mixed(place) | np.uint64(1))
            factor = _mixed(np.array([number + 1]))[0] | np.uint64(1)
            key[owner[begins]] += np.add.reduceat(entries, begins) * factor
    return key


def _same(layout: Layout, alike: Ints, rows: Sequence[Row]) -> bool:
    """Whether every candidate has the kind and the coefficients of the candidate that it is said to be alike."""
    if not np.array_equal(layout.candidate_kind[alike], layout.candidate_kind):
        return False
    twin = np.arange(layout.states) + np.repeat(layout.start[alike] - layout.start, np.diff(layout.candidate_ptr))
    sizes_alike = np.bincount(alike, minlength=len(alike))
    for row in rows:
        place = np.minimum(np.searchsorted(row.states, twin[row.states]), len(row.states) - 1)
        if not np.array_equal(row.states[place], twin[row.states]):
            return False
        if not np.array_equal(row.coefficients[place], row.coefficients):
            return False
        owner, entries = np.unique(layout.owners(row.states), return_counts=True)
        place = np.minimum(np.searchsorted(owner, alike[owner]), len(owner) - 1)
        if not (np.array_equal(owner[place], alike[owner]) and np.array_equal(entries[place], entries)):
            return False
        heads = alike[owner]  # a candidate like one of the row belongs to the row too
        if len(owner) < int(sizes_alike[np.unique(heads)].sum()):
            return False
    return True
