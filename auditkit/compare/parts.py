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

from auditkit.constraints.base import Row, Rows
from auditkit.constraints.binding import bind
from auditkit.errors import InputError
from auditkit.model.groups import UNKNOWN
from auditkit.model.layout import Bools, Floats, Ints, Layout, Partition

SELECTION, INSPECTION = "selection", "inspection"

MOST_ROWS = 500
"""More rows than this (one for each candidate, say) are not taken apart."""


@dataclass(frozen=True, eq=False)
class Part:
    """phi: `weights` on `states`, all of one class. `counts` is what it counts, None if it is no plain count."""

    group: int
    """The number of the class."""
    counts: str | None
    states: Ints
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
        found: dict[tuple[Any, ...], int] = {}
        parts: list[Part] = []
        entries: list[tuple[int, int, float]] = []
        for j, row in enumerate(rows.rows):
            for group, states, coefficients in _by_class(row, layout, classes):
                scale = float(coefficients[np.argmax(np.abs(coefficients))])
                weights = np.round(coefficients / scale, 12)
                key = (group, states.tobytes(), weights.tobytes())
                if key not in found:
                    found[key] = len(parts)
                    parts.append(Part(group, _counts(layout, classes == group, states, weights), states, weights))
                entries.append((j, found[key], scale))
        matrix = np.zeros((len(rows), len(parts)))
        for j, f, scale in entries:
            matrix[j, f] = scale
        rate, group_of, groups = _rate(rows, layout, classes, parts, matrix)
        return Parts(layout, names, classes, tuple(parts), matrix, rate, group_of, groups)

    def by_search(self, visits: Floats) -> Floats:
        """phi_f . p of each search, an array (parts, searches)."""
        search = self.layout.candidate_search[self.layout.state_candidate]
        size = len(self.layout.search_ids)
        return np.array(
            [np.bincount(search[p.states], p.weights * visits[p.states], minlength=size) for p in self.parts]
        ).reshape(len(self.parts), size)


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


def _by_class(row: Row, layout: Layout, classes: Ints) -> list[tuple[int, Ints, Floats]]:
    own = classes[layout.state_candidate[row.states]]
    return [(int(c), row.states[own == c], row.coefficients[own == c]) for c in np.unique(own)]


def _counts(layout: Layout, who: Bools, states: Ints, weights: Floats) -> str | None:
    """What a part counts: every selecting state, start, or state of a stage of its class, each with weight 1."""
    if not (weights == 1.0).all():
        return None
    member = who[layout.state_candidate]
    if np.array_equal(states, np.flatnonzero(member & layout.selecting)):
        return SELECTION
    if np.array_equal(states, layout.start[who]):
        return INSPECTION
    for number, stage in enumerate(layout.stages):
        if np.array_equal(states, np.flatnonzero(member & (layout.state_stage == number))):
            return stage
    return None


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
        if row.bound != twin.bound or not np.array_equal(row.states, twin.states):
            return None, group_of, nothing
        codes, factors = _codes(layout, row.by)
        for f in np.flatnonzero(matrix[j]):
            inside = np.searchsorted(row.states, parts[f].states)
            shrunk = row.coefficients[inside] / twin.coefficients[inside]
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


def _codes(layout: Layout, by: str | None) -> tuple[Ints, Ints]:
    """The group of each candidate as a row by this attribute sees it, and the factors that `_Resized` applies."""
    if by is None:
        return layout.candidate_group, 2 + np.arange(len(layout.groups))
    part = layout.partition(by)
    return part.codes, _factors(part)


def individual(row: Row, layout: Layout) -> bool:
    """Whether a row is about one candidate, so that a report must not show it."""
    owner = layout.state_candidate[row.states]
    return len(owner) > 0 and bool((owner == owner[0]).all()) and len(layout.candidate_ids) > 1
