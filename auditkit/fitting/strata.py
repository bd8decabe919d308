"""Laws of strata that shrink toward their parents' (empirical Bayes).

**Strata** are the nested cells of `partition`, for everybody together and for each group by itself. With F_s the law
observed in stratum s, n_s its effective size (sum w)^2 / sum w^2, and L_parent the law already found for its parent,

    L_s = (n_s F_s + K L_parent) / (n_s + K).

This is the posterior mean if the laws of the strata of one level were Dirichlet processes around their parents with
pseudo-count K; its mean shrinks by Buehlmann's credibility n_s / (n_s + K). For such strata the variance of any mean
between strata is 1/K times the variance within, so K is estimated, level by level, by Buehlmann and Straub's ratio

    within  = sum_i w_i (y_i - mean_s)^2 / (N - S)
    between = (sum_s n_s (mean_s - mean_parent)^2 - (S - P) within) / (N - sum_s n_s^2 / n_parent)
    K = within / between,   infinite (the parent's law) if between <= 0,

for N rows in S strata of P parents, n_s here the sum of weights. It is taken for the scores and for their distances
from the median, and the smaller K serves, so that strata that differ in spread alone keep that difference too.

**Groups.** The law of group g in cell c is (n_g L_gc + K' L_c) / (n_g + K'), L_gc learnt from the group alone and L_c
from everybody, n_g the size of the whole group and K' the ratio for groups within cells. So a large group has laws of
its own, of another level and another spread; a small one has those of everybody with the same priors, and so has a
group never seen. Several protected attributes add up: each has such laws, learnt from scores less the effects of the
other attributes in the regression below; the law of a candidate is the mixture of theirs, moved so that its mean is
that of everybody plus what each attribute adds.

**Trend.** Neighbouring cells of a number differ mostly by its slope, and shrinking that away would make candidates look
more alike than they are. So the laws are of y - m_c, with m_c the mean over the cell of a linear regression on the
priors (fitted together with the groups, whose part is left out), and m_c is added in the end: a cell shrinks toward its
parent moved along the trend. Somebody whose own trend is off m_c is moved by the difference, in steps of `STEP`
standard deviations around the trend. Firms inspect people of high trend, so the lowest cell holds most of those never
inspected: with the law of the cell alone they would look as good as the lowest who were. The trend ends where the
scores do.

Scores with few different values (ratings) keep these: laws are of y itself, and somebody off m_c has the law of the
cell with each rating v weighed by exp(b v), b such that the mean moves by the difference, at most `REACH` of the way to
the lowest or highest rating. Of two values (a stage that is passed or not) nothing is moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from auditkit.fitting.fitter import Laws, ScoreModel, group_columns, quantise
from auditkit.fitting.partition import TREND, numbered, partition
from auditkit.fitting.regression import Design, distinct_values, least_squares, positions_in
from auditkit.model.layout import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

FINER = 8
"""Laws of parents are kept with this many times the final number of points."""

STEP = 0.5
"""Of the standard deviation around the trend: people of one cell whose trends differ by less share a law."""

REACH = 0.9
"""Of the way from the mean of a law of ratings to its lowest or highest: its mean moves no further."""

Law = tuple[Floats, Floats]
"""Values and their weights."""


def pseudo_count(measured: Floats, strata: Ints, parents: Ints, weights: Floats) -> float:
    """The smallest K of the columns of `measured`; infinite if strata do not differ within their parents.

    `strata` and `parents` are codes of the rows; rows of one stratum have one parent.
    """
    stratum, above = numbered(strata)[0], numbered(parents)[0]
    n, sizes, parent_sizes = float(weights.sum()), np.bincount(stratum, weights), np.bincount(above, weights)
    parent_of = np.zeros(len(sizes), dtype=np.int64)
    parent_of[stratum] = above
    spare, spread = n - len(sizes), n - float((sizes**2 / parent_sizes[parent_of]).sum())
    smallest = float("inf")
    if spare <= 0 or spread <= 1e-9 * n:
        return smallest
    for column in measured.T:
        own = np.bincount(stratum, weights * column) / sizes
        whole = np.bincount(above, weights * column) / parent_sizes
        within = float(weights @ (column - own[stratum]) ** 2) / spare
        between = (float(sizes @ (own - whole[parent_of]) ** 2) - (len(sizes) - len(parent_sizes)) * within) / spread
        if between > 0:
            smallest = min(smallest, within / between)
    return smallest


def credibility(size: float, pseudo: float) -> float:
    """n / (n + K): what a stratum's own law weighs."""
    return 0.0 if np.isinf(pseudo) or size <= 0 else size / (size + pseudo)


def effective_size(weights: Floats) -> float:
    """How many equal weights carry as much information: (sum w)^2 / sum w^2."""
    return float(weights.sum() ** 2 / (weights**2).sum()) if len(weights) else 0.0


class Strata(ScoreModel):
    """Trained strata; laws are worked out when somebody needs them, once each."""

    def __init__(self, features: pd.DataFrame, scores: Floats, weights: Floats, points: int) -> None:
        self.points, self.weights = points, weights
        self._columns = group_columns(features)
        self._design = Design.of(features)
        self._slopes = least_squares(self._design.matrix(features), scores, weights, self._design.penalty)
        self._ends = float(scores.min()), float(scores.max())
        table = self._with_trend(features)
        line = table[TREND].to_numpy(dtype=np.float64)
        self._centre, different = float(np.average(line, weights=weights)), len(np.unique(scores))
        line = line - self._centre
        self._rated = different <= points
        self._step = STEP * float(np.sqrt(np.average((scores - self._centre - line) ** 2, weights=weights)))
        if different <= 2:
            self._step = 0.0
        self.partition = partition(table, scores, weights)
        codes = self.partition.cells(table)
        self._trend = [_means(code, line, weights) for code in codes]
        finest = np.array([self._trend[-1][code] for code in codes[-1].tolist()])
        self.scores = scores if self._rated else scores - finest - self._step * self._steps(line - finest)
        self.pseudo = [pseudo_count(_measured(self.scores), cell, parent, weights) for parent, cell in pairwise(codes)]
        """K of level 1, 2, ..."""
        self._everybody = _Laws(self, self.scores, [dict(_positions(code)) for code in codes])
        self._attributes = [_Attribute(self, name, features, codes) for name in self._columns]

    def _with_trend(self, features: pd.DataFrame) -> pd.DataFrame:
        """The features with the trend in front; protected attributes have no part in it."""
        table = features.drop(columns=self._columns)
        line = self._design.matrix(features, without=self._columns) @ self._slopes
        table.insert(0, TREND, np.clip(line, *self._ends))
        return table

    def _steps(self, away: Floats) -> Ints:
        """So many steps of a trend that is so far away from the mean of its cell."""
        steps = np.rint(away / self._step) if self._step > 0 else np.zeros(len(away))
        return np.asarray(steps, dtype=np.int64)

    def effect(self, features: pd.DataFrame, name: str) -> Floats:
        """What the regression adds for the groups of one attribute, less its mean."""
        others = [column for column, _ in self._design.categories if column != name]
        rows = self._design.matrix(features, without=others, numbers=False)
        found = np.asarray(rows @ self._slopes) - self._slopes[0]
        return found - np.average(found, weights=self.weights)

    @property
    def group_credibility(self) -> dict[str, float]:
        """What a group's own laws weigh against those of everybody in the same cell."""
        return {name: weight for attribute in self._attributes for name, weight in attribute.credibility.items()}

    def laws(self, features: pd.DataFrame) -> Laws:
        table = self._with_trend(features)
        codes = np.stack(self.partition.cells(table))
        deepest = np.zeros(len(features), dtype=np.int64)
        for level in range(1, len(codes)):  # a cell without training rows has the law of its nearest ancestor
            known = np.array(list(self._everybody.rows[level]), dtype=np.int64)
            deepest[np.isin(codes[level], known) & (deepest == level - 1)] = level
        cell = codes[deepest, np.arange(len(features))]
        groups = [positions_in(attribute.groups, features[attribute.name]) for attribute in self._attributes]
        which, kinds = _combined([deepest, cell])
        mean = np.array([self._trend[level][code] for level, code in kinds.T.tolist()])[which]
        steps = self._steps(table[TREND].to_numpy(dtype=np.float64) - self._centre - mean)
        lowest = int(steps.min(initial=0))
        which, kinds = _combined([deepest, cell, *groups, steps - lowest])
        found: list[Law] = []
        last: tuple[int, int, list[int]] | None = None
        for level, code, *own, above in kinds.T.tolist():
            if last != (level, code, own):
                last, trend = (level, code, own), self._trend[level][code]
                support, probs = quantise(*self._blended(level, self.partition.path(level, code), own), self.points)
            away = self._step * (above + lowest)
            moved = (support, _tilted(support, probs, away)) if self._rated else (support + away + trend, probs)
            found.append(moved)
        return Laws.of(found, which)

    def _blended(self, level: int, path: list[int], groups: list[int]) -> Law:
        """The law of a cell for people of these groups, without its trend."""
        base = self._everybody.law(level, path)
        parts = [attribute.law(level, path, g) for attribute, g in zip(self._attributes, groups, strict=True)]
        if len(parts) < 2:
            return parts[0][0] if parts else base
        mean = _mean(base) + sum(gain for _, gain in parts)
        values = np.concatenate([law[0] + (mean - _mean(law)) for law, _ in parts])
        return values, np.concatenate([law[1] / law[1].sum() for law, _ in parts])


class _Laws:
    """The laws of all cells, learnt from some of the rows."""

    def __init__(self, strata: Strata, scores: Floats, rows: list[dict[int, Ints]]) -> None:
        """`rows` has, for each level, the rows of each cell."""
        self.strata, self.scores, self.rows = strata, scores, rows
        self._made: dict[tuple[int, int], Law] = {}

    def law(self, level: int, path: list[int]) -> Law:
        """L_s of a cell, without its trend."""
        key = level, path[level]
        if key not in self._made:
            own = self.rows[level].get(path[level])
            if own is None:
                self._made[key] = self.law(level - 1, path)
            else:
                weights = self.strata.weights[own]
                law = self.scores[own], weights
                if level:
                    weight = credibility(effective_size(weights), self.strata.pseudo[level - 1])
                    law = _blend(weight, law, self.law(level - 1, path))
                self._made[key] = quantise(*law, self.strata.points * FINER)
        return self._made[key]


class _Attribute:
    """What the groups of one protected attribute add."""

    def __init__(self, strata: Strata, name: str, features: pd.DataFrame, codes: list[Ints]) -> None:
        self.name, self.groups = name, distinct_values(features[name])
        group = positions_in(self.groups, features[name])
        others = [strata.effect(features, other) for other in group_columns(features) if other != name]
        scores = strata.scores - sum(others) if others else strata.scores
        self.pseudo = pseudo_count(_measured(scores), codes[-1] * len(self.groups) + group, codes[-1], strata.weights)
        """K' of the groups within cells."""
        own = [np.flatnonzero(group == g) for g in range(len(self.groups))]
        self.credibility = {
            str(g): credibility(effective_size(strata.weights[rows]), self.pseudo)
            for g, rows in zip(self.groups, own, strict=True)
        }
        self._own = [
            _Laws(strata, scores, [{cell: rows[i] for cell, i in _positions(code[rows])} for code in codes])
            for rows in own
        ]
        self._everybody = strata._everybody if not others else _Laws(strata, scores, strata._everybody.rows)
        self._made: dict[tuple[int, int, int], tuple[Law, float]] = {}

    def law(self, level: int, path: list[int], group: int) -> tuple[Law, float]:
        """The law of a group in a cell, and how far its mean is from everybody's."""
        key = level, path[level], group
        if key not in self._made:
            law = base = self._everybody.law(level, path)
            if group >= 0 and (weight := self.credibility[str(self.groups[group])]):
                law = _blend(weight, self._own[group].law(level, path), base)
            self._made[key] = law, _mean(law) - _mean(base)
        return self._made[key]


def _measured(scores: Floats) -> Floats:
    return np.stack([scores, np.abs(scores - np.median(scores))], axis=1)


def _mean(law: Law) -> float:
    return float((law[0] * law[1]).sum() / law[1].sum())


def _means(code: Ints, values: Floats, weights: Floats) -> dict[int, float]:
    inverse, found = numbered(code)
    means = np.bincount(inverse, weights * values) / np.bincount(inverse, weights)
    return dict(zip(found.tolist(), means.tolist()))


def _tilted(values: Floats, probs: Floats, away: float) -> Floats:
    """Probabilities in proportion to p exp(b v), b such that the mean moves by `away`, or by as much as it may."""
    mean = float(probs @ values)
    low, high = REACH * (values[0] - mean), REACH * (values[-1] - mean)
    if away == 0.0 or low >= high:
        return probs
    size, b = float(values[-1] - values[0]), 0.0
    at, wanted = (values - mean) / size, min(max(away, low), high) / size
    for _ in range(50):  # Newton's method, each step at most 4 in b
        tilted = probs * np.exp(b * at - max(b * at[0], b * at[-1]))
        tilted /= tilted.sum()
        now = float(tilted @ at)
        step = (wanted - now) / max(float(tilted @ at**2) - now**2, 1e-12)
        b += min(max(step, -4.0), 4.0)
        if abs(step) < 1e-9:
            break
    return tilted


def _combined(keys: list[Ints]) -> tuple[Ints, Ints]:
    """The combination of keys that each row has, and all of these (keys, combinations) in order, first key first."""
    which = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        own, values = numbered(key)
        which = numbered(which * len(values) + own)[0]
    return which, np.stack(keys)[:, np.unique(which, return_index=True)[1]]


def _positions(code: Ints) -> Iterator[tuple[int, Ints]]:
    """Each code that occurs, and where."""
    order = np.argsort(code, kind="stable")
    found, first = np.unique(code[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, first[1:]))


def _blend(weight: float, law: Law, other: Law) -> Law:
    """weight * law + (1 - weight) * other, whatever their weights sum to."""
    if weight == 0.0:
        return other
    return (
        np.concatenate([law[0], other[0]]),
        np.concatenate([weight * law[1] / law[1].sum(), (1 - weight) * other[1] / other[1].sum()]),
    )
