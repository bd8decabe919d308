"""Features as the columns of a regression, and the two regressions that are made with them.

A number x becomes (x - mean)/sd, with 0 and a column of its own where it is not known, and its square if asked for; a
category becomes one 0/1 column per value. Columns of categories are penalised by `CATEGORY` pseudo-candidates, so that
a value seen once moves the fit little and a value never seen, all zeros, has the average effect.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from auditkit.model.layout import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

CATEGORY = 1.0
NUMBER = 1e-6
"""Ridge on the columns of numbers: only for columns that say the same."""
MOST_STEPS = 50


def is_number(column: pd.Series[Any]) -> bool:
    """Whether a feature is a number; it is a category otherwise."""
    return bool(column.dtype.kind in "fiub")


def distinct_values(column: pd.Series[Any]) -> pd.Index[Any]:
    """The values of a category that occur, as text."""
    import pandas as pd

    return pd.Index(column.dropna().unique()).astype("str")


def positions_in(seen: pd.Index[Any], column: pd.Series[Any]) -> Ints:
    """The place of each value of a category in a list of values; -1 for one that is not there."""
    import pandas as pd

    codes, values = pd.factorize(column)
    places = np.append(seen.get_indexer(pd.Index(values).astype("str")), -1)
    return np.asarray(places[codes], dtype=np.int64)  # the code of what is not known, -1, takes the last


@dataclass(frozen=True, eq=False)
class Design:
    """How a table of features becomes a matrix; learnt from the training rows."""

    numbers: tuple[tuple[str, float, float, bool], ...]
    """Column, mean, standard deviation, whether some are not known."""
    categories: tuple[tuple[str, pd.Index[Any]], ...]
    squares: bool

    @staticmethod
    def of(features: pd.DataFrame, *, squares: bool = False) -> Design:
        numbers, categories = [], []
        for name in map(str, features.columns):
            column = features[name]
            if not is_number(column):
                seen = distinct_values(column)
                if len(seen) > 1:
                    categories.append((name, seen))
                continue
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
            known = values[~np.isnan(values)]
            if len(known) and known.std() > 0:
                numbers.append((name, float(known.mean()), float(known.std()), len(known) < len(values)))
        return Design(tuple(numbers), tuple(categories), squares)

    def matrix(self, features: pd.DataFrame, without: Collection[str] = (), numbers: bool = True) -> Floats:
        """One row per candidate; the first column is 1, those of the categories `without` (and of numbers) may be 0."""
        n = len(features)
        columns = [np.ones((n, 1))]
        for name, mean, sd, gaps in self.numbers:
            values = (features[name].to_numpy(dtype=np.float64, na_value=np.nan) - mean) / sd
            missing = np.isnan(values)
            if not numbers:
                values, missing = np.zeros(n), np.zeros(n, dtype=np.bool_)
            values = np.where(missing, 0.0, values)
            columns.append(values[:, None])
            if self.squares:
                columns.append(values[:, None] ** 2)
            if gaps:
                columns.append(missing[:, None].astype(np.float64))
        for name, seen in self.categories:
            code = positions_in(seen, features[name]) if name not in without else np.full(n, -1)
            columns.append((code[:, None] == np.arange(len(seen))).astype(np.float64))
        return np.concatenate(columns, axis=1)

    @property
    def penalty(self) -> Floats:
        """The ridge on each column of the matrix, in pseudo-candidates; none on the first."""
        parts = [0.0]
        for _, _, _, gaps in self.numbers:
            parts += [NUMBER] * (1 + self.squares + gaps)
        for _, seen in self.categories:
            parts += [CATEGORY] * len(seen)
        return np.array(parts)


def least_squares(matrix: Floats, target: Floats, weights: Floats, penalty: Floats) -> Floats:
    """Coefficients b that minimise sum w (y - Xb)^2 + sum penalty b^2."""
    scaled = matrix * weights[:, None]
    return np.asarray(np.linalg.lstsq(scaled.T @ matrix + np.diag(penalty), scaled.T @ target, rcond=None)[0])


def log_variance(matrix: Floats, squares: Floats, weights: Floats, penalty: Floats) -> Floats:
    """Coefficients c of log sigma^2 = Xc, by maximum likelihood of normal residuals with the given squares.

    Minimises  sum w (Xc + r^2 exp(-Xc)) / 2 + sum penalty c^2 / 2, which is convex, by Fisher scoring: the expected
    second derivative X'wX/2 is the same everywhere.
    """
    squares = np.maximum(squares, 1e-12 * max(float(squares.mean()), 1e-300))
    start = np.zeros(matrix.shape[1])
    start[0] = np.log(np.average(squares, weights=weights))
    curvature = (matrix * weights[:, None]).T @ matrix / 2 + np.diag(penalty)

    def loss(c: Floats) -> float:
        eta = np.clip(matrix @ c, -700, 700)
        return float(weights @ (eta + squares * np.exp(-eta)) / 2 + penalty @ c**2 / 2)

    def step(c: Floats) -> Floats:
        eta = np.clip(matrix @ c, -700, 700)
        slope = matrix.T @ (weights * (1 - squares * np.exp(-eta))) / 2 + penalty * c
        return np.asarray(np.linalg.lstsq(curvature, slope, rcond=None)[0])

    return _descend(start, loss, step)


def logistic(matrix: Floats, yes: Floats, penalty: Floats) -> Floats:
    """Coefficients b of P(yes) = 1 / (1 + exp(-Xb)), by penalised maximum likelihood and Newton's method."""
    from scipy.special import expit

    def loss(b: Floats) -> float:
        eta = matrix @ b
        return float(np.logaddexp(0, eta).sum() - yes @ eta + penalty @ b**2 / 2)

    def step(b: Floats) -> Floats:
        chance = expit(matrix @ b)
        slope = matrix.T @ (chance - yes) + penalty * b
        curvature = (matrix * (chance * (1 - chance))[:, None]).T @ matrix + np.diag(penalty)
        return np.asarray(np.linalg.lstsq(curvature, slope, rcond=None)[0])

    return _descend(np.zeros(matrix.shape[1]), loss, step)


def _descend(point: Floats, loss: Callable[[Floats], float], step: Callable[[Floats], Floats]) -> Floats:
    """Minimise a convex loss along the given steps, each halved until the loss falls."""
    now = loss(point)
    for _ in range(MOST_STEPS):
        move, size = step(point), 1.0
        while (then := loss(point - size * move)) > now and size > 1e-6:
            size /= 2
        if then > now:
            break
        point, before, now = point - size * move, now, then
        if before - now < 1e-10 * max(1.0, abs(now)):
            break
    return point
