"""Fitting a resampled history again, to learn how much priors owe to the searches that happened to be there.

A resample counts every search some number of times; the rows of a search that was drawn twice teach twice. Folds stay
as they are, so that nobody's own score enters their own prior, however often it was drawn. Fitters are only asked to
train once more: those of plugins serve like the others. Weights for who was inspected are held fixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from auditkit.fitting import chains
from auditkit.fitting.boxes import boxes
from auditkit.fitting.chains import StagePlan
from auditkit.fitting.fitter import Fitter
from auditkit.fitting.folds import Folds, cross_fit
from auditkit.fitting.searches import People
from auditkit.model.layout import Floats, Ints
from auditkit.model.search import Candidate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Training:
    """What priors are learnt from: one entry per row of the history's table."""

    features: pd.DataFrame
    scores: Floats
    weights: Floats
    folds: Folds
    kind: Fitter
    plan: StagePlan | None
    results: Sequence[Floats]
    """Of each stage: 1 for passed, 0 for failed, NaN if not known."""


@dataclass(frozen=True, eq=False)
class Refit:
    """Fits resampled histories; candidates are in the order of the layout."""

    training: Training
    search: Ints
    """Of each row of the table: its search, numbered in the order of names, whatever the order of the rows."""
    rows: Ints
    people: Sequence[People]
    attributes: Sequence[Mapping[str, float | str]]
    """Limits, expenses and segments that constraints name are found by them."""
    costs: Floats
    """Of the inspection, or (candidates, stages)."""
    value_scale: float

    @property
    def searches(self) -> int:
        return int(self.search.max(initial=-1)) + 1

    def candidates(self, times: Ints) -> list[Candidate]:
        """The candidates if search s had occurred times[s] times: other laws, and other chances of passing stages."""
        t = self.training
        laws = cross_fit(t.kind, t.features, t.scores, t.weights, t.folds, times[self.search]).take(self.rows)
        if t.plan is None:
            return [*boxes(laws, self.people, self.costs, self.attributes, self.value_scale, None)]
        chances = chains.pass_chances(t.plan, t.results, t.features, t.folds, times[self.search])[self.rows]
        return [*chains.chains(t.plan, laws, chances, self.costs, self.people, self.attributes, self.value_scale, None)]
