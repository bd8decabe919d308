"""Rows of constraints taken apart by group.

Rows weigh the groups of one attribute, or of several; the **classes** of a problem are the groups of all attributes
that its rows use, crossed. The coefficients of a row on the states of one class are a multiple of a **part**, a weight
for each of these states:

    theta_j . p  =  sum_f M[j, f] phi_f . p                 phi_f lives on one class

Nearly always phi_f counts the group's selections, its inspections, or its exits of a stage. Then the row is a function
of firm-wide counts, which is what the ex-post law (`expost`), the duals in words (`shadow_prices`) and intervals
(`intervals`) need. M[j, f] scales with 1/n_g for rows on rates; whether it does is seen by binding the constraints once
more to a layout whose groups have other sizes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from auditkit.constraints.base import CellRow, Row, Rows
from auditkit.constraints.binding import bind
from auditkit.errors import InputError
from auditkit.model.groups import UNKNOWN
from auditkit.model.layout import Bools, Floats, Ints, Layout, Partition

SELECTION, INSPECTION = "selection", "inspection"

MOST_ROWS = 500
"""More rows than this (one for each candidate, say) are not taken apart."""


@dataclass(frozen=True, eq=False)
class Part:
    """phi: `weights` at `places`, all of one class. `counts` is what it counts, None if it is no plain count.

    Places are cells (`model/state_cells.py`) where `by_cell`, otherwise states.
    """

    group: int
    """The number of the class."""
    counts: str | None
    by_cell: bool
    places: Ints
    weights: Floats


@dataclass(frozen=True, eq=False)
class Parts:
    """`matrix` is M (rows, parts); `rate` says where M scales with one over the size of a group, None if unknown.

    `names` and `classes` are the classes and that of each candidate. Where `rate[j, f]`, the group is `group_of[j, f]`
    of `groups`, and `groups[g, c]` says whether it includes class c.
    """

    layout: Layout
    names: tuple[str, ...]
    classes: Ints
    parts: tuple[Part, ...]
    matrix: Floats
    rate: Bools | None
    group_of: Ints
    groups: Bools

    @staticmethod
    def of(rows: Rows, layout: Layout) -> Parts | None:
        """None if there are too many rows."""
        if len(rows) > MOST_ROWS:
            return None
        names, classes = classes_of(rows, layout)
        class_of_cell = _class_of_cell(layout, classes)
        found: dict[tuple[Any, ...], int] = {}
        parts: list[Part] = []
        entries: list[tuple[int, int, float]] = []
        for j, row in enumerate(rows.rows):
            by_cell, places, coefficients, own = _placed(row, layout, classes, class_of_cell)
            for group in map(int, np.unique(own)):
                here, these = places[own == group], coefficients[own == group]
                scale = float(these[np.argmax(np.abs(these))])
                weights = np.round(these / scale, 12)
                key = (group, by_cell, here.tobytes(), weights.tobytes())
                if key not in found:
                    found[key] = len(parts)
                    counts = _counts(layout, classes == group, by_cell, here, weights)
                    parts.append(Part(group, counts, by_cell, here, weights))
                entries.append((j, found[key], scale))
        matrix = np.zeros((len(rows), len(parts)))
        for j, f, scale in entries:
            matrix[j, f] = scale
        rate, group_of, groups = _rate(rows, layout, classes, parts, matrix)
        return Parts(layout, names, classes, tuple(parts), matrix, rate, group_of, groups)

    def by_search(self, visits: Floats) -> Floats:
        """phi_f . p of each search, an array (parts, searches)."""
        layout, size = self.layout, len(self.layout.search_ids)
        cells, found = layout.cells, np.zeros((len(self.parts), size))
        if any(part.by_cell for part in self.parts):
            place = layout.spread(layout.candidate_search * len(cells))
            place += cells.of_state
            counts = np.bincount(place, visits, minlength=size * len(cells)).reshape(size, len(cells))
        for f, part in enumerate(self.parts):
            if part.by_cell:
                found[f] = np.einsum("sc,c->s", counts[:, part.places], part.weights)
            else:
                search = layout.candidate_search[layout.owners(part.places)]
                found[f] = np.bincount(search, part.weights * visits[part.places], minlength=size)
        return found


def classes_of(rows: Rows, layout: Layout) -> tuple[tuple[str, ...], Ints]:
    """The classes that the rows tell apart, by name, and that of each candidate."""
    attributes = dict.fromkeys(row.by for row in rows.rows)
    if not attributes or None in attributes:
        return layout.groups, layout.candidate_group
    single = dict.fromkeys(name for by in attributes for name in str(by).split("+"))
    labels = []
    for part in (layout.partition(name) for name in single):
        names = np.array([*part.names, UNKNOWN], dtype=object)
        labels.append(names[part.codes])
    joined = ["+".join(each) for each in zip(*labels, strict=True)]
    known, codes = np.unique(joined, return_inverse=True)
    return tuple(map(str, known)), codes.astype(np.int64)


def _class_of_cell(layout: Layout, classes: Ints) -> Ints | None:
    """The class of each cell, -1 for empty ones; None where classes tell candidates of a group apart."""
    of_group = np.full(len(layout.groups), -1, dtype=np.int64)
    of_group[layout.candidate_group] = classes
    return of_group[layout.cells.group] if np.array_equal(of_group[layout.candidate_group], classes) else None


def _placed(row: Row, layout: Layout, classes: Ints, class_of_cell: Ints | None) -> tuple[bool, Ints, Floats, Ints]:
    """Whether a row is taken apart by cells; its cells or states, their coefficients and their classes."""
    if isinstance(row, CellRow) and class_of_cell is not None:
        used = np.flatnonzero((row.cell_weights != 0.0) & (layout.cells.sizes > 0))
        return True, used, row.cell_weights[used], class_of_cell[used]
    states = row.states
    return False, states, row.coefficients, classes[layout.owners(states)]


def _counts(layout: Layout, who: Bools, by_cell: bool, places: Ints, weights: Floats) -> str | None:
    """What a part counts: every selecting state, start, or state of a stage of its class, each with weight 1."""
    if not (weights == 1.0).all():
        return None
    cells = layout.cells
    if by_cell:
        member = (cells.sizes > 0) & np.isin(cells.group, layout.candidate_group[who])
        meanings = {SELECTION: cells.selecting, INSPECTION: cells.starts}
        meanings |= {stage: cells.stage == number for number, stage in enumerate(layout.stages)}
    else:
        member = who[layout.state_candidate]
        starts = np.zeros(layout.states, dtype=np.bool_)
        starts[layout.start] = True
        meanings = {SELECTION: layout.selecting, INSPECTION: starts}
        meanings |= {stage: layout.state_stage == number for number, stage in enumerate(layout.stages)}
    own = [what for what, meant in meanings.items() if np.array_equal(places, np.flatnonzero(member & meant))]
    return own[0] if own else None


class _Resized(Layout):
    """A layout that says of its groups that they have other sizes: group g of a partition is 2 + g times as large."""

    @staticmethod
    def of(layout: Layout) -> _Resized:
        other = object.__new__(_Resized)
        other.__dict__.update(layout.__dict__)
        other.__dict__["protected"] = {name: _resized(part) for name, part in layout.protected.items()}
        return other

    def partition(self, by: str | None = None) -> Partition:
        part = super().partition(by)
        return part if by in self.protected or (len(self.protected) == 1 and by is None) else _resized(part)

    @property
    def group_sizes(self) -> Ints:
        return super().group_sizes * (2 + np.arange(len(self.groups)))


def _resized(part: Partition) -> Partition:
    # a different factor for each, so that no other dependence looks like it
    return replace(part, sizes=np.bincount(part.codes[part.codes >= 0], minlength=len(part.names)) * _factors(part))


def _factors(part: Partition) -> Ints:
    return 2 + np.arange(len(part.names))


def _rate(
    rows: Rows, layout: Layout, classes: Ints, parts: list[Part], matrix: Floats
) -> tuple[Bools | None, Ints, Bools]:
    """Where M scales with one over the size of a group, which group that is, and of which classes it consists."""
    group_of = np.zeros(matrix.shape, dtype=np.int64)
    nothing = np.zeros((0, int(classes.max(initial=-1)) + 1), dtype=np.bool_)
    used = [rows.constraints[i] for i in dict.fromkeys(rows.owner)]
    try:
        other = bind(used, _Resized.of(layout))
    except InputError:
        return None, group_of, nothing
    if [row.label for row in other.rows] != [row.label for row in rows.rows]:
        return None, group_of, nothing  # tangents of measures, say, which are not bound by themselves
    rate = np.zeros(matrix.shape, dtype=np.bool_)
    groups: dict[tuple[str | None, int], int] = {}
    members = []
    for j, (row, twin) in enumerate(zip(rows.rows, other.rows, strict=True)):
        if row.bound != twin.bound or type(row) is not type(twin):
            return None, group_of, nothing
        codes, factors = _codes(layout, row.by)
        for f in np.flatnonzero(matrix[j]):
            before, after = _at(row, parts[f]), _at(twin, parts[f])
            if (after == 0.0).any():
                return None, group_of, nothing
            shrunk = before / after
            code = int(codes[np.argmax(classes == parts[f].group)])
            if code >= 0 and np.allclose(shrunk, factors[code], rtol=1e-9):
                rate[j, f] = True
                if (row.by, code) not in groups:
                    groups[row.by, code] = len(groups)
                    members.append(np.bincount(classes[codes == code], minlength=nothing.shape[1]) > 0)
                group_of[j, f] = groups[row.by, code]
            elif not np.allclose(shrunk, 1.0, rtol=1e-9):
                return None, group_of, nothing
    return rate, group_of, np.array(members, dtype=np.bool_).reshape(len(members), nothing.shape[1])


def _at(row: Row, part: Part) -> Floats:
    return row.cell_weights[part.places] if part.by_cell and isinstance(row, CellRow) else row.at(part.places)


def _codes(layout: Layout, by: str | None) -> tuple[Ints, Ints]:
    """The group of each candidate as a row by this attribute sees it, and the factors that `_Resized` applies."""
    if by is None:
        return layout.candidate_group, 2 + np.arange(len(layout.groups))
    part = layout.partition(by)
    return part.codes, _factors(part)


def individual(row: Row, layout: Layout) -> bool:
    """Whether a row is about one candidate, so that a report must not show it."""
    owner = layout.owners(row.states)
    return len(owner) > 0 and bool((owner == owner[0]).all()) and len(layout.candidate_ids) > 1
