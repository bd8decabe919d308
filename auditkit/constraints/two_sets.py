"""Rows that compare two groups which are known by their probability only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditkit.constraints.base import Row
from auditkit.constraints.outcome import Scope, weights_on
from auditkit.model.layout import Floats, Layout
from auditkit.model.row_meaning import RateGap, RatioAtLeast, ShareAtLeast

SELECTION, INSPECTION = "selection", "inspection"


@dataclass(frozen=True, eq=False)
class TwoSets:
    """A row as a N_A + b N_B, where the groups of A and B are known by their probability.

    A and B are the groups that its meaning compares; for a share B is everybody else.
    """

    name: tuple[str | None, ...]
    """The same for rows that count the same sets."""
    mirrored: tuple[str | None, ...]
    """The name with the second set first."""
    counted: str
    outcome: Floats
    """Of every state: 1 if a visit is counted."""
    share: tuple[Floats, Floats]
    """Of every state: the chance that a visit is of A, and of B."""
    coefficients: tuple[float, float]

    @property
    def theta(self) -> Floats:
        """Of every state: the chances of the first set, of the second, and of neither."""
        one, two = self.share
        return np.ascontiguousarray(np.column_stack([one, two, np.maximum(0.0, 1.0 - one - two)]))

    @staticmethod
    def of(row: Row, layout: Layout) -> TwoSets | None:
        """From the meaning of a row; None if that is not what the row weighs."""
        meaning = row.meaning
        if not isinstance(meaning, RateGap | RatioAtLeast | ShareAtLeast) or meaning.on not in (SELECTION, INSPECTION):
            return None
        segment = None if meaning.within is None else layout.partition(meaning.within)
        number = None if segment is None or meaning.value is None else segment.names.index(meaning.value)
        scope = Scope.of(layout, layout.partition(meaning.by), segment, number)
        one = np.asarray(scope.share(layout, meaning.group), dtype=np.float64)
        if isinstance(meaning, ShareAtLeast):
            two, a, b = scope.covers(layout) - one, 1.0 - meaning.minimum, -meaning.minimum
        else:
            two = np.asarray(scope.share(layout, meaning.against), dtype=np.float64)
            a, b = 1.0, -1.0 if isinstance(meaning, RateGap) else -meaning.minimum
            if meaning.basis == "rate":
                a, b = a / scope.sizes[meaning.group], b / scope.sizes[meaning.against]
        against = None if isinstance(meaning, ShareAtLeast) else meaning.against
        outcome = weights_on(layout, meaning.on)
        if not np.allclose(
            row.at(np.arange(layout.states)), outcome * (a * one + b * two), rtol=0.0, atol=1e-10 * max(abs(a), abs(b))
        ):
            return None
        place = (meaning.on, meaning.by, meaning.within, meaning.value)
        name, mirrored = (*place, meaning.group, against), (*place, against, meaning.group)
        return TwoSets(name, mirrored, meaning.on, outcome, (one, two), (a, b))


def joint_cells(layout: Layout, inspections: bool) -> Floats:
    """Of each search: the size of the tables that the joint law of two such groups is made in, for every state."""
    people, k = np.diff(layout.search_ptr).astype(np.float64), layout.capacity.astype(np.float64)
    return np.asarray(((people if inspections else k) + 1) ** 2 * np.maximum(k, 1))
