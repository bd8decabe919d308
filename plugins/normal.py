"""The fitter `normal`: a regression of the score on what was known, with a spread that also depends on it.

    score = x.b + sigma(x) z,    log sigma^2(x) = x.c,    z standard normal

x holds the priors, the categories and the group. b and c are fitted in turn: weighted least squares with weights
1/sigma^2, then maximum likelihood for c given the squared residuals (`auditkit.fitting.regression`), whose variance is
scaled by n / (n - number of coefficients). The law of z is cut into m equally likely slices, each replaced by its mean

    z_j = m (phi(q_{j-1}) - phi(q_j)),    q_j the j/m quantile,

so every candidate's support x.b + sigma(x) z_j keeps the mean x.b. If x lies beyond the training rows, sigma stays
within the range found there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from auditkit import hookimpl
from auditkit.fitting.fitter import Fitter, Laws, ScoreModel
from auditkit.fitting.regression import Design, least_squares, log_variance
from auditkit.model.layout import Floats

if TYPE_CHECKING:
    import pandas as pd

ROUNDS = 4
SPREAD_PENALTY = 5.0
"""Pseudo-candidates with the average spread, for every coefficient of c except the constant."""


def normal_points(points: int) -> Floats:
    """Means of the equally likely slices of the standard normal law, symmetric about 0."""
    from scipy.special import ndtri

    edges = ndtri(np.arange(points + 1) / points)
    means = points * -np.diff(np.exp(-(edges**2) / 2) / np.sqrt(2 * np.pi))
    return np.asarray((means - means[::-1]) / 2)


@dataclass(frozen=True, eq=False)
class Regression(ScoreModel):
    """The fitted regression."""

    design: Design
    mean: Floats
    log_variance: Floats
    inflation: float
    """n / (n - number of coefficients)."""
    range: tuple[float, float]
    """Of log sigma^2 in training."""
    points: int

    def laws(self, features: pd.DataFrame) -> Laws:
        rows, which = np.unique(self.design.matrix(features), axis=0, return_inverse=True)
        spread = np.sqrt(self.inflation * np.exp(np.clip(rows @ self.log_variance, *self.range)))
        values = (rows @ self.mean)[:, None] + spread[:, None] * normal_points(self.points)
        return Laws(values, np.full(values.shape, 1.0 / self.points), which.ravel())


class Normal(Fitter):
    name: ClassVar[str] = "normal"

    def train(self, features: pd.DataFrame, scores: Floats, weights: Floats) -> Regression:
        design = Design.of(features)
        x = design.matrix(features)
        penalty = design.penalty
        shy = np.where(np.arange(len(penalty)) > 0, SPREAD_PENALTY, 0.0)
        centre, scale = float(np.average(scores, weights=weights)), float(scores.std())
        if scale == 0:
            only = np.where(np.arange(len(penalty)) > 0, 0.0, 1.0)
            return Regression(design, centre * only, -700.0 * only, 1.0, (-700.0, -700.0), self.points)
        y = (scores - centre) / scale
        precision = np.ones(len(y))
        for _ in range(ROUNDS):
            b = least_squares(x, y, weights * precision, penalty)
            c = log_variance(x, (y - x @ b) ** 2, weights, shy)
            eta = x @ c
            precision = np.exp(-np.clip(eta, eta.max() - 14, None))  # no candidate counts a million times another
        first = np.arange(len(b)) == 0
        inflation = len(y) / max(1, len(y) - min(len(b), len(y) // 2))
        low, high = float(eta.min()), float(eta.max())
        shift = 2 * np.log(scale)
        return Regression(
            design, b * scale + centre * first, c + shift * first, inflation, (low + shift, high + shift), self.points
        )


@hookimpl
def auditkit_fitters() -> list[type[Normal]]:
    return [Normal]
