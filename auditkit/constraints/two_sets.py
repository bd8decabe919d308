"""Rows that compare two groups known only by their probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditkit.constraints.base import KindRow, Row
from auditkit.constraints.outcome import Scope, weights_on
from auditkit.model.layout import Floats, Layout
from auditkit.model.row_meaning import RateGap, RatioAtLeast, ShareAtLeast

SELECTION, INSPECTION = "selection", "inspection"


@dataclass(frozen=True, eq=False)
class TwoSets:
    """A row as a N_A + b N_B, where the groups of A and B are known by their probability.

    A and B are the groups that its meaning compares; for a share, B is everyone else.
    """

    name: tuple[str | None, ...]
    """Equal for rows that count the same sets."""
    mirrored: tuple[str | None, ...]
    """The name with the second set first."""
    counted: str
    layout: Layout
    by_kind: bool
    """The arrays that follow are of the states of kinds, not of all states."""
    outcome: Floats
    """1 if a visit is counted."""
    share: tuple[Floats, Floats]
    """The chance that a visit is of A, and of B."""
    coefficients: tuple[float, float]

    @property
    def chances(self) -> Floats:
        """Of every state, or of those of kinds: the chances of the first set, of the second, and of neither."""
        one, two = self.share
        return np.column_stack([one, two, np.maximum(0.0, 1.0 - one - two)])

    def theta(self, first: int, last: int) -> Floats:
        """The chances of the states of candidates first..last-1."""
        chances = self.chances
        if not self.by_kind:
            return np.ascontiguousarray(chances[self.layout.candidate_ptr[first] : self.layout.candidate_ptr[last]])
        return self.layout.of_candidates(chances, first, last)

    def numbers(self, visits: Floats) -> tuple[Floats, Floats]:
        """How many are counted in A and in B, by search."""
        spread = self.layout.of_states if self.by_kind else np.asarray
        one, two = (self.layout.sum_by_search(spread(self.outcome * share) * visits) for share in self.share)
        return one, two

    def sizes(self) -> tuple[Floats, Floats]:
        """How many candidates of each search are of A and of B, as far as is known before."""
        layout = self.layout
        start = layout.kinds.ptr[layout.candidate_kind] if self.by_kind else layout.start
        search, count = layout.candidate_search, len(layout.search_ids)
        one, two = (np.bincount(search, share[start], count).astype(np.float64) for share in self.share)
        return one, two

    @staticmethod
    def of(row: Row, layout: Layout) -> TwoSets | None:
        """From the meaning of a row; None if the row's weights differ from it."""
        meaning = row.meaning
        if not isinstance(meaning, RateGap | RatioAtLeast | ShareAtLeast) or meaning.on not in (SELECTION, INSPECTION):
            return None
        segment = None if meaning.within is None else layout.partition(meaning.within)
        number = None if segment is None or meaning.value is None else segment.names.index(meaning.value)
        scope = Scope.of(layout, layout.partition(meaning.by), segment, number)
        told = scope.attribute.uncertain
        by_kind = isinstance(row, KindRow) and segment is None and told is not None and told.known is None

        def share(group: str) -> Floats:
            if by_kind and told is not None:
                return np.ascontiguousarray(layout.kinds.membership[told.attribute][:, told.group[scope.code(group)]])
            return np.asarray(scope.share(layout, group), dtype=np.float64)

        one = share(meaning.group)
        if isinstance(meaning, ShareAtLeast):
            two = (1.0 if by_kind else scope.covers(layout)) - one
            a, b = 1.0 - meaning.minimum, -meaning.minimum
        else:
            two = share(meaning.against)
            a, b = 1.0, -1.0 if isinstance(meaning, RateGap) else -meaning.minimum
            if meaning.basis == "rate":
                a, b = a / scope.sizes[meaning.group], b / scope.sizes[meaning.against]
        against = None if isinstance(meaning, ShareAtLeast) else meaning.against
        outcome, weights = weights_on(layout, meaning.on), None
        if by_kind and isinstance(row, KindRow):
            outcome, weights = outcome[layout.states_of_kinds], row.kind_weights
        else:
            weights = row.at(np.arange(layout.states))
        if not np.allclose(weights, outcome * (a * one + b * two), rtol=0.0, atol=1e-10 * max(abs(a), abs(b))):
            return None
        place = (meaning.on, meaning.by, meaning.within, meaning.value)
        name, mirrored = (*place, meaning.group, against), (*place, against, meaning.group)
        return TwoSets(name, mirrored, meaning.on, layout, by_kind, outcome, (one, two), (a, b))


def joint_cells(layout: Layout, inspections: bool) -> Floats:
    """Of each search: the size of the tables that the joint law of two such groups is made in, for every state."""
    people, k = np.diff(layout.search_ptr).astype(np.float64), layout.capacity.astype(np.float64)
    return np.asarray(((people if inspections else k) + 1) ** 2 * np.maximum(k, 1))
