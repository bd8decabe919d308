"""Rows of constraints taken apart by group.

Rows weigh the groups of one attribute, or of several; the **classes** of a problem are the groups of all attributes
that its rows use, crossed. The coefficients of a row on the states of one class are a multiple of a **part**, a weight
for each of these states:

    theta_j . p  =  sum_f M[j, f] phi_f . p                 phi_f lives on one class

Nearly always phi_f counts the group's selections, its inspections, or its exits of a stage. Then the row is a function
of firm-wide counts, which is what the ex-post law (`expost`), the duals in words (`shadow_prices`) and intervals
(`intervals`) need. M[j, f] scales with 1/n_g for rows on rates, as their `meaning` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from auditkit.constraints.base import CellRow, KindRow, Row, Rows
from auditkit.constraints.two_sets import INSPECTION, SELECTION
from auditkit.model.groups import UNKNOWN
from auditkit.model.layout import Bools, Floats, Ints, Layout

Rate = tuple[Bools | None, Ints, Bools]

MOST_ROWS = 500
"""More rows than this (one for each candidate, say) are not taken apart."""


@dataclass(frozen=True, eq=False)
class Part:
    """phi: `weights` at `places`, all of one class. `counts` is what it counts, None if it is not a plain count.

    Places are cells (`model/state_cells.py`), the shared ones after the plain ones, where `by_cell`, otherwise states.
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
    rows: Rows
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    """Of each class: its group of every attribute."""
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
        names, labels, classes = classes_of(rows, layout)
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
        return Parts(layout, rows, names, labels, classes, tuple(parts), matrix, rate, group_of, groups)

    @property
    def of_rates(self) -> Bools:
        """The rows that compare rates, so that their bounds do not grow with the number of candidates."""
        assert self.rate is not None
        told = np.array([row.meaning.basis == "rate" for row in self.rows.rows], dtype=np.bool_)
        return (self.rate | (self.matrix == 0)).all(axis=1) | (told & self.layout.uncertain)

    def by_search(self, visits: Floats) -> Floats:
        """phi_f . p of each search, an array (parts, searches)."""
        layout, size = self.layout, len(self.layout.search_ids)
        cells, found = layout.cells, np.zeros((len(self.parts), size))
        used = np.unique(np.concatenate([np.zeros(0, np.int64), *(p.places for p in self.parts if p.by_cell)]))
        counts = np.zeros((size, len(cells) + cells.shares.shape[1]))
        if (used < len(cells)).any():
            place = layout.spread(layout.candidate_search * len(cells))
            place += cells.of_state
            plain = np.bincount(place, visits, minlength=size * len(cells))
            counts[:, : len(cells)] = plain.reshape(size, len(cells))
        for c in used[used >= len(cells)]:
            counts[:, c] = layout.sum_by_search(layout.of_states(cells.shares[:, c - len(cells)]) * visits)
        for f, part in enumerate(self.parts):
            if part.by_cell:
                found[f] = np.einsum("sc,c->s", counts[:, part.places], part.weights)
            else:
                search = layout.candidate_search[layout.owners(part.places)]
                found[f] = np.bincount(search, part.weights * visits[part.places], minlength=size)
        return found


def classes_of(rows: Rows, layout: Layout) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], Ints]:
    """The classes that the rows tell apart: their names, their groups of every attribute, and whose is which."""
    attributes = dict.fromkeys(row.by for row in rows.rows)
    if not attributes or None in attributes:
        first = dict(zip(*np.unique(layout.candidate_group, return_index=True), strict=True))
        partitions = list(layout.protected.values())
        own = tuple(
            tuple([*part.names, UNKNOWN][part.codes[first[g]]] for part in partitions) if g in first else (name,)
            for g, name in enumerate(layout.groups)
        )
        return layout.groups, own, layout.candidate_group
    single = dict.fromkeys(name for by in attributes for name in str(by).split("+"))
    partitions = [layout.partition(name) for name in single]
    codes = np.stack([part.codes for part in partitions], axis=1)
    known, number = np.unique(codes, axis=0, return_inverse=True)
    labels = [[*part.names, UNKNOWN] for part in partitions]  # code -1 is the last
    own = tuple(tuple(label[code] for label, code in zip(labels, row, strict=True)) for row in known.tolist())
    return tuple(map("+".join, own)), own, number.ravel().astype(np.int64)


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
    if isinstance(row, KindRow) and row.shared is not None and not classes.any():
        used = np.flatnonzero(row.shared)
        return True, len(layout.cells) + used, row.shared[used], np.zeros(len(used), np.int64)
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


def _rate(rows: Rows, layout: Layout, classes: Ints, parts: list[Part], matrix: Floats) -> Rate:
    """Where M scales with one over the size of a group, which group that is, and of which classes it consists."""
    group_of = np.zeros(matrix.shape, dtype=np.int64)
    rate = np.zeros(matrix.shape, dtype=np.bool_)
    groups: dict[tuple[str | None, int], int] = {}
    members: list[Bools] = []
    count = int(classes.max(initial=-1)) + 1
    for j, row in enumerate(rows.rows):
        if row.meaning.basis is None or row.tangent_at is not None:
            return None, group_of, np.zeros((0, count), dtype=np.bool_)
        codes = layout.candidate_group if row.by is None else layout.partition(row.by).codes
        for f in np.flatnonzero(matrix[j]) if row.meaning.basis == "rate" else ():
            code = int(codes[np.argmax(classes == parts[f].group)])
            if code < 0:
                continue
            rate[j, f] = True
            if (row.by, code) not in groups:
                groups[row.by, code] = len(groups)
                members.append(np.bincount(classes[codes == code], minlength=count) > 0)
            group_of[j, f] = groups[row.by, code]
    return rate, group_of, np.array(members, dtype=np.bool_).reshape(len(members), count)


def individual(row: Row, layout: Layout) -> bool:
    """Whether a row is about one candidate, so that a report must not show it."""
    states = row.states
    if not len(states) or len(layout.candidate_ids) < 2:
        return False
    first, last = layout.owners(states[[0, -1]])  # states rise
    return bool(first == last)
