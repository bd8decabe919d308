"""Rows of constraints taken apart by group.

The coefficients of a row on the states of one group are a multiple of a **part**, a weight for each of these states:

    theta_j . p  =  sum_f M[j, f] phi_f . p                 phi_f lives on one group

Nearly always phi_f counts the group's selections, its inspections, or its exits of a stage. Then the row is a function
of firm-wide counts, which is what the ex-post law (`expost`), the duals in words (`words`) and the bootstrap
(`bootstrap`) need. M[j, f] scales with 1/n_g for rows on rates; whether it does is seen by binding the constraints once
more to a layout whose groups have other sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from auditkit.constraints.base import Row, Rows
from auditkit.constraints.binding import bind
from auditkit.errors import InputError
from auditkit.model.layout import Bools, Floats, Ints, Layout

SELECTION, INSPECTION = "selection", "inspection"

MOST_ROWS = 500
"""More rows than this (one for each candidate, say) are not taken apart."""


@dataclass(frozen=True, eq=False)
class Part:
    """phi: `weights` on `states`, all of one group. `counts` is what it counts, None if it is no plain count."""

    group: str
    counts: str | None
    states: Ints
    weights: Floats


@dataclass(frozen=True, eq=False)
class Parts:
    """`matrix` is M (rows, parts); `rate` says where M scales with one over the size of the group, None if unknown."""

    layout: Layout
    parts: tuple[Part, ...]
    matrix: Floats
    rate: Bools | None

    @staticmethod
    def of(rows: Rows, layout: Layout) -> Parts | None:
        """None if there are too many rows."""
        if len(rows) > MOST_ROWS:
            return None
        found: dict[tuple[Any, ...], int] = {}
        parts: list[Part] = []
        entries: list[tuple[int, int, float]] = []
        for j, row in enumerate(rows.rows):
            for group, states, coefficients in _by_group(row, layout):
                scale = float(coefficients[np.argmax(np.abs(coefficients))])
                weights = np.round(coefficients / scale, 12)
                key = (group, states.tobytes(), weights.tobytes())
                if key not in found:
                    found[key] = len(parts)
                    parts.append(Part(layout.groups[group], _counts(layout, group, states, weights), states, weights))
                entries.append((j, found[key], scale))
        matrix = np.zeros((len(rows), len(parts)))
        for j, f, scale in entries:
            matrix[j, f] = scale
        return Parts(layout, tuple(parts), matrix, _rate(rows, layout, parts, matrix))

    def by_search(self, visits: Floats) -> Floats:
        """phi_f . p of each search, an array (parts, searches)."""
        search = self.layout.candidate_search[self.layout.state_candidate]
        size = len(self.layout.search_ids)
        return np.array(
            [np.bincount(search[p.states], p.weights * visits[p.states], minlength=size) for p in self.parts]
        ).reshape(len(self.parts), size)


def _by_group(row: Row, layout: Layout) -> list[tuple[int, Ints, Floats]]:
    group = layout.candidate_group[layout.state_candidate[row.states]]
    return [(int(g), row.states[group == g], row.coefficients[group == g]) for g in np.unique(group)]


def _counts(layout: Layout, group: int, states: Ints, weights: Floats) -> str | None:
    """What a part counts: every selecting state, start, or state of a stage of the group, each with weight 1."""
    if not (weights == 1.0).all():
        return None
    member = layout.candidate_group[layout.state_candidate] == group
    if np.array_equal(states, np.flatnonzero(member & layout.selecting)):
        return SELECTION
    if np.array_equal(states, layout.start[layout.candidate_group == group]):
        return INSPECTION
    for number, stage in enumerate(layout.stages):
        if np.array_equal(states, np.flatnonzero(member & (layout.state_stage == number))):
            return stage
    return None


class _Resized(Layout):
    """A layout that says of its groups that they have other sizes."""

    sizes: Ints

    @staticmethod
    def of(layout: Layout, sizes: Ints) -> _Resized:
        other = object.__new__(_Resized)
        other.__dict__.update(layout.__dict__, sizes=sizes)
        return other

    @property
    def group_sizes(self) -> Ints:
        return self.sizes


def _rate(rows: Rows, layout: Layout, parts: list[Part], matrix: Floats) -> Bools | None:
    factor = 2 + np.arange(len(layout.groups))  # a different one for each, so that no other dependence looks like it
    used = [rows.constraints[i] for i in dict.fromkeys(rows.owner)]
    try:
        other = bind(used, _Resized.of(layout, layout.group_sizes * factor))
    except InputError:
        return None
    if [row.label for row in other.rows] != [row.label for row in rows.rows]:
        return None  # tangents of measures, say, which are not bound by themselves
    rate = np.zeros(matrix.shape, dtype=np.bool_)
    for j, (row, twin) in enumerate(zip(rows.rows, other.rows, strict=True)):
        if row.bound != twin.bound or not np.array_equal(row.states, twin.states):
            return None
        for f in np.flatnonzero(matrix[j]):
            inside = np.searchsorted(row.states, parts[f].states)
            shrunk = row.coefficients[inside] / twin.coefficients[inside]
            by = factor[layout.groups.index(parts[f].group)]
            if np.allclose(shrunk, by, rtol=1e-9):
                rate[j, f] = True
            elif not np.allclose(shrunk, 1.0, rtol=1e-9):
                return None
    return rate


def individual(row: Row, layout: Layout) -> bool:
    """Whether a row is about one candidate, so that a report must not show it."""
    owner = layout.state_candidate[row.states]
    return len(owner) > 0 and bool((owner == owner[0]).all()) and len(layout.candidate_ids) > 1
