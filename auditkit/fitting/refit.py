"""Fitting a resampled history again, to learn how much priors owe to the searches that happened to be there.

A resample counts every search some number of times, most of them perhaps not at all; the rows of a search that was
drawn twice teach twice. Only the rows that teach and those of the candidates asked for are touched, so that a resample
of a hundred searches costs the same whether they are drawn from a hundred or from a hundred thousand. Folds stay as
they are, so that nobody's own score enters their own prior, however often it was drawn. Fitters are only asked to train
once more: those of plugins serve like the others. Weights for who was inspected are held fixed.

**What shrinkage leaves out.** A fitter may draw groups toward what everybody has, and of a resample that shows little
difference it does so again, so that resamples alone would say that there is none. Each fit is therefore moved, group by
group, to the scores that it has not seen: with r_i the score less the mean of the law of row i, learnt from other
folds, and D_i the dummies of its groups,

    r_i = a + D_i d + error   (least squares),        the law of everybody in D is moved by D d less its mean.

Chances of passing a stage are moved in the same way. The moved fit has no more bias than a regression, and its noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auditkit.fitting import chains
from auditkit.fitting.boxes import BoxSearches, boxes
from auditkit.fitting.chains import StagePlan
from auditkit.fitting.fitter import Fitter, Laws, group_columns
from auditkit.fitting.folds import Folds, cross_fit
from auditkit.fitting.group_chances import (
    CellShares,
    GroupChances,
    Passing,
    group_chances,
    logit_columns,
    logit_errors,
)
from auditkit.fitting.regression import Design, least_squares
from auditkit.fitting.searches import People
from auditkit.model.instance import Instance
from auditkit.model.layout import ByKind, Floats, Ints, runs
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
    fitter: Fitter
    plan: StagePlan | None
    results: Sequence[Floats]
    """Of each stage: 1 for passed, 0 for failed, NaN if not known."""

    def only(self, rows: Ints) -> Training:
        """The same of some of the rows."""
        return replace(
            self,
            features=self.features.iloc[rows],
            scores=self.scores[rows],
            weights=self.weights[rows],
            folds=replace(self.folds, fold=self.folds.fold[rows], person=self.folds.person[rows]),
            results=[known[rows] for known in self.results],
        )


@dataclass(frozen=True, eq=False)
class StageResults:
    """Of every row: the chance of passing each stage, and what is known of it."""

    plan: StagePlan
    chances: Floats
    results: Sequence[Floats]


def cell_shares(
    chances: Mapping[str, GroupChances],
    laws: Laws,
    rows: Ints,
    scores: Floats,
    weights: Floats,
    folds: Folds,
    passed: StageResults | None = None,
    *,
    shrunk: bool = True,
    tested: bool = False,
) -> CellShares:
    """The membership of the candidates at some rows, from the laws of all rows; `weights` say how much each teaches.

    If `tested`, chances and effects that do not foretell other folds are left out (`group_chances`).
    """
    numbers = _numbers(laws, scores, weights, passed, shrunk=shrunk)
    learnt = {n: [own.effects(*number, folds, shrunk=shrunk) for number in numbers] for n, own in chances.items()}
    mine = {name: own.only(rows) for name, own in chances.items()}
    for name, own in chances.items() if tested else ():
        if not own.chances_foretell(rows):
            mine[name] = mine[name].shares
        told = [
            own.effects_foretell(residual, e, folds) for (residual, _), e in zip(numbers, learnt[name], strict=True)
        ]
        learnt[name] = [known * effects for known, effects in zip(told, learnt[name], strict=True)]
    return _cells(mine, learnt, laws, rows, folds, passed)


def _numbers(
    laws: Laws, scores: Floats, weights: Floats, passed: StageResults | None, *, shrunk: bool
) -> list[tuple[Floats, Floats]]:
    """What groups may have an effect on: the score, then passing each stage. Each less its expectation, and weights."""
    numbers = [(scores - laws.means, weights)]
    if passed is not None:
        ones = (weights > 0).astype(np.float64) if not shrunk else np.ones(len(weights))
        numbers += [(known - passed.chances[:, stage], ones) for stage, known in enumerate(passed.results)]
    return numbers


def _cells(
    mine: Mapping[str, GroupChances],
    learnt: Mapping[str, Sequence[Floats]],
    laws: Laws,
    rows: Ints,
    folds: Folds,
    passed: StageResults | None,
) -> CellShares:
    """The membership of some rows from their chances of groups and the effects on every number (folds, classes)."""
    passing = None
    if passed is not None:
        by_stage = {name: np.stack(effects[1:], axis=1) for name, effects in learnt.items()}
        plan = passed.plan
        passing = Passing(plan.shows, plan.shows + plan.fails, passed.chances[rows], by_stage)
    of_scores = {name: effects[0] for name, effects in learnt.items()}
    return CellShares.of(laws.take(rows), mine, of_scores, folds.fold[rows], passing)


@dataclass(frozen=True, eq=False)
class GroupLabels:
    """The groups of every row, and what is known of it before: what chances of groups are learnt from."""

    labels: Mapping[str, NDArray[Any]]
    features: pd.DataFrame
    imputed: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict)
    """Attribute -> group -> the probability of each row, where the data have these."""

    def only(self, rows: Ints) -> GroupLabels:
        imputed = {name: {group: p[rows] for group, p in own.items()} for name, own in self.imputed.items()}
        return GroupLabels({n: own[rows] for n, own in self.labels.items()}, self.features.iloc[rows], imputed)


@dataclass(frozen=True, eq=False)
class Refit:
    """Fits resampled histories."""

    training: Training
    search: Ints
    """Of each row of the table: its search, numbered in the order of names, whatever the order of the rows."""
    rows: Ints
    """Per candidate, in the order of the layout: its row of the table."""
    people: ByKind[People]
    attributes: ByKind[Mapping[str, float | str]]
    costs: Floats
    """Of the inspection, or (candidates, stages)."""
    value_scale: float
    chances: Mapping[str, GroupChances] = field(default_factory=dict)
    """Of groups, from what is known before, where policies do not see them."""
    groups: GroupLabels | None = None
    """From which they are learnt."""
    laws: Laws | None = None
    """Of every row, as they were fitted."""
    passed: StageResults | None = None

    @property
    def searches(self) -> int:
        return int(self.search.max(initial=-1)) + 1

    def instance(
        self, like: Instance, times: Ints, searches: Ints, *, moved: bool = True, regrouped: bool = False
    ) -> Instance:
        """Some searches of the instance, if search s had occurred times[s] times: other laws, and other chances of
        passing stages, `moved` by what shrinkage left out.

        The chances of groups before the inspection are taken as they are, or learnt from these searches (`regrouped`).
        """
        which = _members(like, searches)
        asked, taught = self.rows[which], times[self.search]
        used = np.union1d(asked, np.flatnonzero(taught))
        rows, t, taught = np.searchsorted(used, asked), self.training.only(used), taught[used]
        groups = GroupResiduals(t.features)
        laws = cross_fit(t.fitter, t.features, t.scores, t.weights, t.folds, taught)
        if moved:
            laws = groups.moved(laws, t.scores, t.weights * taught)
        of_groups = {name: own.only(used) for name, own in self.chances.items()}
        if regrouped and self.groups is not None:
            own_groups = self.groups.only(used)
            names_of = {name: own.names for name, own in self.chances.items()}
            of_groups = group_chances(
                own_groups.labels, own_groups.features, t.folds, taught, names_of, own_groups.imputed
            )
        passed = None
        if t.plan is not None:
            chances = chains.pass_chances(t.plan, t.results, t.features, t.folds, taught)
            for stage, known in enumerate(t.results if moved else ()):
                if t.plan.by_chance(stage):
                    missed = groups.left_out(known - chances[:, stage], taught.astype(np.float64))
                    chances[:, stage] = np.clip(chances[:, stage] + missed, 0.0, 1.0)
            passed = StageResults(t.plan, chances, t.results)
        members = None
        if of_groups:
            teach = t.weights * taught
            members = cell_shares(of_groups, laws, rows, t.scores, teach, t.folds, passed, shrunk=not moved)
        return self._built(like, searches, laws.take(rows), None if passed is None else passed.chances[rows], members)

    def drawn(self, like: Instance, searches: Ints, draws: Floats) -> Iterator[Instance]:
        """Some searches with other chances of groups and other effects of theirs, laws as they are.

        One instance for each row of `draws`, (draws, searches of the history): search s counts draws[., s] more than
        it does, in everything that groups are learnt from, to first order. Effects are without shrinkage.
        """
        assert self.laws is not None and self.groups is not None
        t, asked, weight = self.training, self.rows[_members(like, searches)], draws[:, self.search]
        numbers = _numbers(self.laws, t.scores, t.weights, self.passed, shrunk=False)
        matrix, penalty = logit_columns(self.groups.features)
        counted = np.zeros(len(t.scores))
        counted[self.rows] = 1.0
        errors, effects = {}, {}
        for name, own in self.chances.items():
            errors[name] = logit_errors(matrix, own.told, penalty, counted, weight)
            learnt = [own.effects(*number, t.folds, shrunk=False) for number in numbers]
            moves = [own.effect_errors(*number, weight) for number in numbers]
            effects[name] = [(known, move[:, None, :]) for known, move in zip(learnt, moves, strict=True)]
        laws = self.laws.take(asked)
        chances = None if self.passed is None else self.passed.chances[asked]
        for b in range(len(draws)):
            moved = {n: own.moved(matrix @ errors[n][b], self.rows).only(asked) for n, own in self.chances.items()}
            by_number = {name: [known + move[b] for known, move in each] for name, each in effects.items()}
            members = _cells(moved, by_number, self.laws, asked, t.folds, self.passed)
            yield self._built(like, searches, laws, chances, members)

    def _built(
        self, like: Instance, searches: Ints, own: Laws, passing: Floats | None, members: CellShares | None
    ) -> Instance:
        """Some searches of an instance whose candidates have these laws, chances of passing stages and membership."""
        layout, plan, which = like.layout, self.training.plan, _members(like, searches)
        people = ByKind(self.people.items, self.people.kind[which]) if members is None else members.people
        costs, extra = self.costs[which], ByKind(self.attributes.items, self.attributes.kind[which])
        ids = [layout.candidate_ids[i] for i in which.tolist()]
        ends = np.concatenate([[0], np.cumsum(np.diff(layout.search_ptr)[searches])])
        if passing is None and layout.limits is None:
            names = [layout.search_ids[s] for s in searches.tolist()]
            terms = names, layout.capacity[searches], ends, own, people, costs, extra, self.value_scale, None
            return BoxSearches(*terms, members, ids).instance()
        made: Sequence[Candidate]
        if passing is None or plan is None:
            made = boxes(own, people, costs, extra, self.value_scale, None, ids, members)
        else:
            made = chains.chains(plan, own, passing, costs, people, extra, self.value_scale, None, ids, members)
        return Instance(
            replace(like.searches[s], candidates=tuple(made[a:b]))
            for s, (a, b) in zip(searches.tolist(), pairwise(ends.tolist()), strict=True)
        )


def _members(like: Instance, searches: Ints) -> Ints:
    """The candidates of some searches."""
    ptr = like.layout.search_ptr
    return runs(ptr[searches], np.diff(ptr)[searches])


class GroupResiduals:
    """The groups of some rows, and what a fit left out of the differences between them."""

    def __init__(self, features: pd.DataFrame) -> None:
        own = features[group_columns(features)]
        design = Design.of(own)
        self.matrix, self.kind = np.unique(design.matrix(own), axis=0, return_inverse=True)
        """The dummies of each combination of groups, and the combination of each row."""
        self.penalty = design.penalty

    def left_out(self, residual: Floats, weights: Floats) -> Floats:
        """D d of each row less its mean; residuals that are not known are NaN."""
        known = np.flatnonzero(~np.isnan(residual) & (weights > 0))
        if not len(known) or self.matrix.shape[1] == 1:
            return np.zeros(len(residual))
        kind, own = self.kind[known], weights[known]
        found = self.matrix[:, 1:] @ least_squares(self.matrix[kind], residual[known], own, self.penalty)[1:]
        return (found - np.average(found[kind], weights=own))[self.kind]

    def moved(self, laws: Laws, scores: Floats, weights: Floats) -> Laws:
        """The laws moved by what they left out of the scores."""
        missed = self.left_out(scores - laws.means, weights)
        kinds = len(self.matrix)
        pairs, first, which = np.unique(laws.which * kinds + self.kind, return_index=True, return_inverse=True)
        law = pairs // kinds
        return Laws(laws.values[law] + missed[first][:, None], laws.probs[law], which)
