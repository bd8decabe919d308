"""Strata of what was known before, and laws that shrink from each stratum to its parent (empirical Bayes).

**Strata.** Level 0 is everybody. Each further level splits all cells of the one before by one column: a number into the
lower and the upper half of its bin (bins are quantiles of the training rows; not known is a third part), a category
into its values. The column is the one that lowers the sum of squared deviations of the scores from their cell means
most, counting s^2 times `PENALTY` against every cell that it adds; splitting ends when no column pays or the average
cell would have fewer than `LEAST` rows. Groups are no such column: every group has its own laws in the same cells.

**Shrinkage.** With F_s the law observed in stratum s, n_s its effective size (sum w)^2 / sum w^2, and L_parent the law
already found for its parent,

    L_s = (n_s F_s + K L_parent) / (n_s + K).

This is the posterior mean if the laws of the strata of one level were Dirichlet processes around their parents with
pseudo-count K. For such strata, and for any event A, the variance of P_s(A) between them is 1/K times its mean variance
within, so K is estimated by Buehlmann-Straub's ratio, summed over the events A_t = {score <= t}, t the deciles:

    within  = sum_t sum_i w_i (1{i in A_t} - F_s(A_t))^2 / (N - S)
    between = sum_t ( sum_s n_s (F_s(A_t) - F_parent(A_t))^2 ) - (S - P) within ) / (N - sum_s n_s^2 / n_parent)
    K = within / between,   infinite (the parent's law) if between <= 0,

for N rows in S strata of P parents, n_s here the sum of weights. Means are a special case: the mean of L_s shrinks by
Buehlmann's credibility n_s / (n_s + K).

**Groups.** The same is done for each group by itself (its own F and n, the K of the level) and for everybody together;
the law of group g in cell c is then (n_g L_gc + K' L_c) / (n_g + K'), with n_g the size of the whole group and K' the
ratio for groups within cells. A large group therefore has laws of its own, of another level and another spread; a small
one has those of everybody with the same priors, and so has a group never seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from auditkit.fit.fitter import GROUP, Laws, ScoreModel, quantise
from auditkit.layout import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

LEAST = 20
"""Rows that a cell must have on average."""
PENALTY = 2.0
MOST_LEVELS = 12
FINER = 8
"""Laws of parents are kept with this many times the final number of points."""


@dataclass(frozen=True, eq=False)
class Halves:
    """A split of a number at odd quantiles: 0 below the middle of its bin, 1 above, 2 not known."""

    column: str
    edges: Floats

    @staticmethod
    def of(column: str, values: Floats, depth: int) -> Halves | None:
        known = values[~np.isnan(values)]
        if not len(known):
            return None
        parts = 2**depth
        return Halves(column, np.quantile(known, np.arange(1, parts) / parts))

    def digits(self, features: pd.DataFrame) -> Ints:
        values = features[self.column].to_numpy(dtype=np.float64, na_value=np.nan)
        return np.where(np.isnan(values), 2, np.searchsorted(self.edges, values, "right") & 1)

    @property
    def base(self) -> int:
        return 3


@dataclass(frozen=True, eq=False)
class Kinds:
    """A split of a category into its values; 0 for one never seen in training."""

    column: str
    seen: pd.Index[Any]

    def digits(self, features: pd.DataFrame) -> Ints:
        return positions_in(self.seen, features[self.column]) + 1

    @property
    def base(self) -> int:
        return len(self.seen) + 1


Split = Halves | Kinds


def is_number(column: pd.Series[Any]) -> bool:
    return bool(column.dtype.kind in "fiub")


def positions_in(seen: pd.Index[Any], column: pd.Series[Any]) -> Ints:
    """Where each value of a category stands in a list of values; -1 for one that is not there."""
    import pandas as pd

    return np.asarray(seen.get_indexer(pd.Index(column.astype("str"))), dtype=np.int64)


def _splits(features: pd.DataFrame, column: str, depth: int) -> Split | None:
    """The next split of a column that was split `depth` times already."""
    if is_number(features[column]):
        return Halves.of(column, features[column].to_numpy(dtype=np.float64, na_value=np.nan), depth + 1)
    import pandas as pd

    return Kinds(column, pd.Index(features[column].astype("str").unique())) if depth == 0 else None


def cells(splits: tuple[Split, ...], features: pd.DataFrame) -> list[Ints]:
    """The cell of every row at every level, level 0 first; codes of a level name the same cell in any table."""
    codes = [np.zeros(len(features), dtype=np.int64)]
    for split in splits:
        codes.append(codes[-1] * split.base + split.digits(features))
    return codes


def choose_splits(features: pd.DataFrame, scores: Floats, weights: Floats) -> tuple[Split, ...]:
    """Columns to split by, level after level."""
    n = len(scores)
    chosen: tuple[Split, ...] = ()
    depth = {str(column): 0 for column in features.columns if column != GROUP}
    code, count = np.zeros(n, dtype=np.int64), 1
    loss = _spread(code, scores, weights)
    while len(chosen) < MOST_LEVELS and loss > 0:
        best: tuple[float, Split, Ints, int, float] | None = None
        price = PENALTY * loss / max(1, n - count)
        for column, times in depth.items():
            split = _splits(features, column, times)
            if split is None:
                continue
            finer = np.unique(code * split.base + split.digits(features), return_inverse=True)[1]
            more = int(finer.max()) + 1
            if more == count or n < LEAST * more:
                continue
            left = _spread(finer, scores, weights)
            gain = loss - left - price * (more - count)
            if gain > 0 and (best is None or gain > best[0]):
                best = gain, split, finer, more, left
        if best is None:
            break
        _, split, code, count, loss = best
        depth[split.column] += 1
        chosen = (*chosen, split)
    return chosen


def _spread(code: Ints, scores: Floats, weights: Floats) -> float:
    """Sum of squared deviations from the means of the cells."""
    mass = np.bincount(code, weights)
    mean = np.bincount(code, weights * scores) / np.where(mass > 0, mass, 1.0)
    return float(weights @ (scores - mean[code]) ** 2)


def level_and_spread(scores: Floats) -> Floats:
    """What strata are compared by, one column each: the score, and its distance from the median."""
    return np.stack([scores, np.abs(scores - np.median(scores))], axis=1)


def pseudo_count(measured: Floats, strata: Ints, parents: Ints, weights: Floats) -> float:
    """K = within / between of the columns of `measured`; infinite if strata do not differ within their parents.

    `strata` and `parents` are codes of the rows; rows of one stratum have one parent.
    """
    stratum = np.unique(strata, return_inverse=True)[1]
    above = np.unique(parents, return_inverse=True)[1]
    n, sizes = float(weights.sum()), np.bincount(stratum, weights)
    parent_of = np.zeros(len(sizes), dtype=np.int64)
    parent_of[stratum] = above
    parent_sizes = np.bincount(above, weights)
    spare, spread = n - len(sizes), n - float((sizes**2 / parent_sizes[parent_of]).sum())
    if spare <= 0 or spread <= 1e-9 * n:
        return float("inf")
    smallest = float("inf")
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
        import pandas as pd

        self.points = points
        self.splits = choose_splits(features, scores, weights)
        codes = cells(self.splits, features)
        self._trend = _trend(codes, features, scores, weights, points)
        finest = np.array([self._trend[code] for code in codes[-1].tolist()])
        self._top = len(codes) - 1
        self.weights = weights
        self.scores = scores = scores - finest
        self._groups = pd.Index(features[GROUP].astype("str").unique())
        group = positions_in(self._groups, features[GROUP])
        measured = level_and_spread(scores)
        self.pseudo = [float("inf")] + [pseudo_count(measured, c, p, weights) for p, c in pairwise(codes)]
        """K of each level (of level 0 it is never used)."""
        self.group_pseudo = pseudo_count(measured, codes[-1] * len(self._groups) + group, codes[-1], weights)
        """K' of groups within cells."""
        self._members = {(-1, level): dict(_positions(code)) for level, code in enumerate(codes)}
        for g in range(len(self._groups)):
            own = np.flatnonzero(group == g)
            for level, code in enumerate(codes):
                self._members[g, level] = {cell: own[i] for cell, i in _positions(code[own])}
        self._made: dict[tuple[int, int, int], tuple[Floats, Floats]] = {}

    @cached_property
    def group_credibility(self) -> dict[str, float]:
        """What a group's own laws weigh against those of everybody in the same cell."""
        rows = [self._members[g, 0].get(0, np.zeros(0, dtype=np.int64)) for g in range(len(self._groups))]
        sizes = [effective_size(self.weights[i]) for i in rows]
        return {str(g): credibility(n, self.group_pseudo) for g, n in zip(self._groups, sizes)}

    def laws(self, features: pd.DataFrame) -> Laws:
        codes = np.stack(cells(self.splits, features))
        deepest = np.zeros(len(features), dtype=np.int64)
        for level in range(1, len(codes)):  # a cell without training rows has its parent's law
            known = np.array(list(self._members[-1, level]), dtype=np.int64)
            deepest[np.isin(codes[level], known) & (deepest == level - 1)] = level
        cell = codes[deepest, np.arange(len(features))]
        group = positions_in(self._groups, features[GROUP])
        kinds, which = np.unique(np.stack([group, deepest, cell]), axis=1, return_inverse=True)
        found = []
        for g, level, code in kinds.T.tolist():
            path = self._path(level, code)
            common = self._law(-1, level, path)
            weight = self.group_credibility[str(self._groups[g])] if g >= 0 else 0.0
            law = _blend(weight, self._law(g, level, path), common) if weight else common
            support, probs = quantise(*law, self.points)
            found.append((support + self._trend.get(code, 0.0) if level == self._top else support, probs))
        return Laws.of(found, which.ravel())

    def _path(self, level: int, code: int) -> list[int]:
        """The codes of a cell's ancestors and its own, from level 0."""
        path = [code]
        for split in reversed(self.splits[:level]):
            path.append(path[-1] // split.base)
        return path[::-1]

    def _law(self, group: int, level: int, path: list[int]) -> tuple[Floats, Floats]:
        """L_s of one group (-1: everybody) in a cell."""
        key = group, level, path[level]
        if key not in self._made:
            own = self._members[group, level].get(path[level])
            if level and own is None:
                self._made[key] = self._law(group, level - 1, path)
            else:
                assert own is not None, "level 0 holds everybody"
                law = self.scores[own], self.weights[own]
                if level:
                    weight = credibility(effective_size(self.weights[own]), self.pseudo[level])
                    law = _blend(weight, law, self._law(group, level - 1, path))
                self._made[key] = quantise(*law, self.points * FINER)
        return self._made[key]


def _positions(code: Ints) -> Iterator[tuple[int, Ints]]:
    """Each code that occurs, and where."""
    order = np.argsort(code, kind="stable")
    found, first = np.unique(code[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, first[1:]))


def _blend(weight: float, law: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """weight * law + (1 - weight) * other, each with its weights summing to 1."""
    if weight == 0.0:
        return other
    return (
        np.concatenate([law[0], other[0]]),
        np.concatenate([weight * law[1] / law[1].sum(), (1 - weight) * other[1] / other[1].sum()]),
    )


def _trend(codes, features, scores, weights, points):
    if len(np.unique(scores)) <= points:
        return {c: 0.0 for c in np.unique(codes[-1]).tolist()}
    from auditkit.fit.design import Design, least_squares
    d = Design.of(features)
    b = least_squares(d.matrix(features), scores, weights, d.penalty)
    line = d.matrix(features.assign(**{GROUP: ""})) @ b
    line -= np.average(line, weights=weights)
    u, inv = np.unique(codes[-1], return_inverse=True)
    m = np.bincount(inv, weights * line) / np.bincount(inv, weights)
    return dict(zip(u.tolist(), m.tolist()))
