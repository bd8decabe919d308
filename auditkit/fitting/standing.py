"""The standing of candidates: the score expected from their priors alone, and how far it is known.

A linear regression of the score on priors, job family and protected attributes (`regression`), b = (X'X + P)^-1 X'y
over those with a score. The standing is X b without the columns of protected attributes, so that people of different
groups and equal priors stand alike; the effect of a group is its column's coefficient. The priors' error is carried by
the influence of each search on b,

    psi_s = (X'X + P)^-1 sum_{i in s} x_i (y_i - x_i b),        Cov(b) = S / (S - 1) sum_s psi_s psi_s',

which allows residuals to be correlated within a search and unequal in spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from auditkit.fitting.fitter import GROUP, group_columns
from auditkit.fitting.regression import Design, least_squares
from auditkit.model.layout import Bools, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

FEWEST_STANDING = 20
"""Scores without which there is no standing."""


@dataclass(frozen=True, eq=False)
class Standings:
    """One row per application."""

    matrix: Floats
    coefficients: Floats
    prior: Bools
    """Which columns are of priors."""
    effects: dict[tuple[str, str], int]
    """(attribute, group) -> its column."""
    residual: Floats
    """Score less its expectation, the groups' part included; NaN without a score."""
    search: Ints
    influence: Floats
    """psi, (searches, columns); 0 for searches without a score."""

    @property
    def values(self) -> Floats:
        """The standing of each application, up to a constant."""
        return self.matrix[:, self.prior] @ self.coefficients[self.prior]

    @property
    def spread(self) -> float:
        """Standard deviation of the scores around their expectation."""
        known = self.residual[~np.isnan(self.residual)]
        return float(np.sqrt(known @ known / max(1, len(known) - np.linalg.matrix_rank(self.matrix))))

    @property
    def covariance(self) -> Floats:
        """Cov(b)."""
        used = int((np.abs(self.influence).sum(axis=1) > 0).sum())
        return self.influence.T @ self.influence * (used / max(1, used - 1))

    @property
    def tells(self) -> bool:
        """Whether candidates of one search differ in standing."""
        values = self.values
        sizes = np.bincount(self.search)
        means = np.bincount(self.search, values) / np.maximum(sizes, 1)
        inner = values - means[self.search]
        return bool(np.abs(inner).max(initial=0.0) > 1e-9 * (1 + np.abs(values).max(initial=0.0)))


def standings(features: pd.DataFrame, scores: Floats, search: Ints, attribute: str = GROUP) -> Standings | None:
    """From features with the protected attributes among them; None if there are too few scores.

    `attribute` is the name of the only one, whose column does not say it.
    """
    known = np.flatnonzero(~np.isnan(scores))
    if len(known) < FEWEST_STANDING:
        return None
    design = Design.of(features.iloc[known])
    matrix = design.matrix(features)
    x, y = matrix[known], scores[known]
    ones = np.ones(len(known))
    b = least_squares(x, y, ones, design.penalty)
    rest = y - x @ b
    per_search = np.zeros((int(search.max()) + 1, x.shape[1]))
    np.add.at(per_search, search[known], x * rest[:, None])
    influence = np.linalg.lstsq(x.T @ x + np.diag(design.penalty), per_search.T, rcond=None)[0].T
    residual = np.full(len(scores), np.nan)
    residual[known] = rest
    protected = group_columns(features)
    effects: dict[tuple[str, str], int] = {}
    prior = np.ones(matrix.shape[1], dtype=np.bool_)
    end = matrix.shape[1]
    for name, seen in reversed(design.categories):
        start = end - len(seen)
        if name in protected:
            prior[start:end] = False
            called = attribute if name == GROUP else name.removeprefix(f"{GROUP}:")
            effects |= {(called, str(group)): start + i for i, group in enumerate(seen)}
        end = start
    return Standings(matrix, b, prior, effects, residual, search, np.ascontiguousarray(influence))
