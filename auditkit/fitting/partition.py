"""Which candidates are alike: nested cells of what was known before.

Level 0 is one cell, everybody. Each further level splits all cells of the one before by one column: a number into the
lower and the upper half of its bin (bins are quantiles of the training rows; not known is a third part), a category
into its values. The column is the one that lowers the sum of squared deviations of the scores from their cell means
most, after PENALTY * s^2 for every cell that it adds (s^2 the variance within cells). The first column to choose from
is the trend, a linear regression of the score on all the others, so that several priors of some use need no cell for
each combination; the others are there for what is not linear.

When no column pays, the trend alone is split further while its sum of squares within cells is more than FINE of that of
the scores: it is known better than single cells are, and candidates in one cell look the same. The average cell always
has at least LEAST rows, and there are at most MOST cells.

The group is not such a column: every group has its own laws in the same cells (`strata`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from auditkit.fitting.fitter import group_columns
from auditkit.fitting.regression import distinct_values, is_number, positions_in
from auditkit.model.layout import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

TREND = "(trend)"
"""The column of the trend, beside the features."""

LEAST = 20
PENALTY = 2.0
"""Twice what a cell gains on average if the column says nothing about the score."""
FINE = 0.005
MOST = 256

FEW_CODES = 10_000
"""Codes below this are counted instead of sorted."""


@dataclass(frozen=True, eq=False)
class Halves:
    """A split of a number at every second quantile: 0 below the middle of its bin, 1 above, 2 not known."""

    column: str
    edges: Floats

    @property
    def base(self) -> int:
        return 3

    def digits(self, features: pd.DataFrame) -> Ints:
        values = features[self.column].to_numpy(dtype=np.float64, na_value=np.nan)
        # the edges of all levels before are among these, so the last binary digit of the bin is the half
        return np.where(np.isnan(values), 2, np.searchsorted(self.edges, values, "right") & 1)


@dataclass(frozen=True, eq=False)
class ByValue:
    """A split of a category into its values; 0 for one never seen in training."""

    column: str
    seen: pd.Index[Any]

    @property
    def base(self) -> int:
        return len(self.seen) + 1

    def digits(self, features: pd.DataFrame) -> Ints:
        return positions_in(self.seen, features[self.column]) + 1


Split = Halves | ByValue


@dataclass(frozen=True, eq=False)
class CellPartition:
    """The splits, one a level."""

    splits: tuple[Split, ...]

    def cells(self, features: pd.DataFrame) -> list[Ints]:
        """The cell of every row at every level, level 0 first; codes of a level name the same cell in any table."""
        codes = [np.zeros(len(features), dtype=np.int64)]
        for split in self.splits:
            codes.append(codes[-1] * split.base + split.digits(features))
        return codes

    def path(self, level: int, code: int) -> list[int]:
        """The codes of a cell's ancestors and its own, from level 0."""
        path = [code]
        for split in reversed(self.splits[:level]):
            path.append(path[-1] // split.base)
        return path[::-1]


def partition(features: pd.DataFrame, scores: Floats, weights: Floats) -> CellPartition:
    """Choose the columns to split by, level after level; `features` has the trend among its columns."""
    n = len(scores)
    chosen: tuple[Split, ...] = ()
    depth = {str(column): 0 for column in features.columns if column not in group_columns(features)}
    code, count = np.zeros(n, dtype=np.int64), 1
    known: dict[tuple[str, int], tuple[Split, Ints] | None] = {}
    loss = _spread(code, scores, weights)
    while loss > 0:
        price = PENALTY * loss / max(1, n - count)
        trend = features[TREND].to_numpy(dtype=np.float64) if TREND in depth else np.zeros(n)
        coarse = _spread(code, trend, weights) > FINE * loss
        best: tuple[float, Split, Ints, int, float] | None = None
        for column, times in depth.items():
            if (column, times) not in known:
                next_ = _next_split(features, column, times)
                known[column, times] = None if next_ is None else (next_, next_.digits(features))
            found = known[column, times]
            if found is None:
                continue
            split, digits = found
            finer = numbered(code * split.base + digits)[0]
            more = int(finer.max()) + 1
            if more == count or more > min(MOST, n / LEAST):
                continue
            left = _spread(finer, scores, weights)
            gain = loss - left - price * (more - count)
            if gain <= 0 and column == TREND and coarse:
                gain = 0.0  # the last resort: better than to stop
            if gain >= 0 and (best is None or gain > best[0]):
                best = gain, split, finer, more, left
        if best is None:
            break
        _, split, code, count, loss = best
        depth[split.column] += 1
        chosen = (*chosen, split)
    return CellPartition(chosen)


def numbered(codes: Ints) -> tuple[Ints, Ints]:
    """The number of each code among the different ones in order, and these: np.unique without sorting all of them."""
    if codes.min(initial=0) >= 0 and codes.max(initial=0) < FEW_CODES:
        occurs = np.bincount(codes) > 0
        return (np.cumsum(occurs) - 1)[codes], np.flatnonzero(occurs)
    import pandas as pd

    numbers, found = pd.factorize(codes, sort=True)
    return numbers.astype(np.int64, copy=False), np.asarray(found)


def _next_split(features: pd.DataFrame, column: str, times: int) -> Split | None:
    """The next split of a column that was split some times already; None if there is nothing left to split."""
    if not is_number(features[column]):
        return ByValue(column, distinct_values(features[column])) if times == 0 else None
    values = features[column].to_numpy(dtype=np.float64, na_value=np.nan)
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    parts = 2 ** (times + 1)
    return Halves(column, np.quantile(known, np.arange(1, parts) / parts))


def _spread(code: Ints, scores: Floats, weights: Floats) -> float:
    """Sum of squared deviations from the means of the cells."""
    mass = np.bincount(code, weights)
    mean = np.bincount(code, weights * scores) / np.where(mass > 0, mass, 1.0)
    return float(weights @ (scores - mean[code]) ** 2)
