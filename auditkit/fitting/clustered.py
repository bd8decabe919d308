"""Least squares with errors that may be correlated within searches, and the probit.

    Cov(b) = (S - 1)/S sum_s d_s d_s',      d_s = (X'X)^+ X_s' (I - H_s)^+ e_s,      H_s = X_s (X'X)^+ X_s'

where d_s is what leaving search s out changes (the jackknife, CR3): with few searches the usual sandwich is too small.
Tests use Student's t and F with about S degrees of freedom, S the number of searches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditkit.model.layout import Floats, Ints

MOST_STEPS = 60


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Coefficients b with their covariance; `clusters` is the number of searches."""

    coefficients: Floats
    covariance: Floats
    residual: Floats
    clusters: int

    @property
    def freedom(self) -> int:
        return max(1, self.clusters - 1)

    def error(self, weights: Floats) -> float:
        """Standard error of a combination of the coefficients."""
        return float(np.sqrt(max(0.0, float(weights @ self.covariance @ weights))))

    def p(self, weights: Floats) -> float | None:
        """Two-sided p of a combination being 0."""
        from scipy.stats import t

        error = self.error(weights)
        return None if not error else float(2 * t.sf(abs(float(weights @ self.coefficients)) / error, self.freedom))

    def together(self, columns: Ints) -> float:
        """p of several coefficients being 0 (Wald)."""
        from scipy.stats import f

        b, cov = self.coefficients[columns], self.covariance[np.ix_(columns, columns)]
        statistic = float(b @ np.linalg.pinv(cov) @ b) / len(columns)
        free = max(1, self.clusters - len(columns))
        return float(f.sf(statistic, len(columns), free))

    def reach(self, level: float) -> float:
        """How many standard errors an interval of this level extends to either side."""
        from scipy.stats import t

        return float(t.ppf((1 + level) / 2, self.freedom))


def clustered(x: Floats, y: Floats, cluster: Ints) -> LeastSquares:
    """Regress y on the columns of x; columns that say the same are shared out."""
    inverse = np.linalg.pinv(x.T @ x, hermitian=True)
    b = inverse @ (x.T @ y)
    rest = y - x @ b
    names, code = np.unique(cluster, return_inverse=True)
    order, s = np.argsort(code, kind="stable"), len(names)
    moved = np.zeros((s, x.shape[1]))
    for number, rows in enumerate(np.split(order, np.cumsum(np.bincount(code))[:-1])):
        own = x[rows]
        left = np.eye(len(rows)) - own @ inverse @ own.T
        moved[number] = inverse @ (own.T @ np.linalg.lstsq(left, rest[rows], rcond=1e-9)[0])
    return LeastSquares(b, (s - 1) / s * moved.T @ moved, rest, s)


def probit(x: Floats, yes: Floats) -> Floats | None:
    """Coefficients of P(yes) = Phi(x b) by Fisher scoring; None if the likelihood has no maximum."""
    from scipy.special import log_ndtr
    from scipy.stats import norm

    sign = 2 * yes - 1
    b = np.zeros(x.shape[1])
    value = float(log_ndtr(np.zeros(len(yes))).sum())
    for _ in range(MOST_STEPS):
        eta = x @ b
        ratio = np.exp(norm.logpdf(eta) - log_ndtr(sign * eta))  # phi / P of what happened
        slope = x.T @ (sign * ratio)
        weight = np.exp(2 * norm.logpdf(eta) - log_ndtr(eta) - log_ndtr(-eta))
        step = np.linalg.lstsq((x * weight[:, None]).T @ x, slope, rcond=None)[0]
        size = 1.0
        while (then := float(log_ndtr(sign * (x @ (b + size * step))).sum())) < value - 1e-12 and size > 1e-4:
            size /= 2
        b, gained, value = b + size * step, then - value, then
        if abs(gained) < 1e-10 * (1 + abs(value)):
            return b if np.abs(x @ b).max(initial=0.0) < 30 else None
    return None


def mills(eta: Floats) -> Floats:
    """phi / Phi: the mean of a standard normal signal above -eta."""
    from scipy.special import log_ndtr

    return np.asarray(np.exp(-(eta**2) / 2 - 0.5 * np.log(2 * np.pi) - log_ndtr(eta)))
