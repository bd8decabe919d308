"""Least squares with errors that may be correlated within searches, and the probit.

    Cov(b) = (S - 1)/S sum_s d_s d_s',      d_s = (X'X)^+ X_s' (I - H_s)^+ e_s,      H_s = X_s (X'X)^+ X_s'

where d_s is what leaving search s out changes (the jackknife, CR3): with few searches the usual sandwich is too small.
Intervals use Student's t with S - 1 degrees of freedom, S the number of searches.

A test of q coefficients together has far fewer, because a small group occurs in few searches. `wald` is the
approximate Hotelling test of Pustejovsky and Tipton (2018): (I - H_s)^(-1/2) in place of (I - H_s)^+ (CR2), and

    (eta - q + 1) / (eta q)  b' V^-1 b  ~  F(q, eta - q + 1),      eta = q (q + 1) / sum_st [tr(B_st)^2 + tr(B_st B_st)]

where B_st is the covariance of what searches s and t add to V^(1/2), in units of V, if residuals are independent and
of one spread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from auditkit.model.layout import Floats, Ints

MOST_STEPS = 60
BLOCK = 500
"""Searches that are gone through at once."""


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
        from scipy.special import stdtr

        error = self.error(weights)
        return None if not error else float(2 * stdtr(self.freedom, -abs(float(weights @ self.coefficients)) / error))

    def reach(self, level: float) -> float:
        """How many standard errors an interval of this level extends to either side."""
        from scipy.special import stdtrit

        return float(stdtrit(self.freedom, (1 + level) / 2))


def clustered(x: Floats, y: Floats, cluster: Ints) -> LeastSquares:
    """Regress y on the columns of x; columns that say the same are shared out."""
    inverse = np.linalg.pinv(x.T @ x, hermitian=True)
    b = inverse @ (x.T @ y)
    rest = y - x @ b
    sizes, directions = np.linalg.eigh(inverse)
    root = directions * np.sqrt(np.maximum(sizes, 0.0))
    s = len(np.unique(cluster))
    moved = np.zeros((s, x.shape[1]))
    for searches, rows in _of_one_size(cluster):
        own = x[rows]
        left_out = _power_of_rest(own @ root, -1.0, rest[rows][:, :, None])
        moved[searches] = (own.swapaxes(1, 2) @ left_out)[:, :, 0] @ inverse
    return LeastSquares(b, (s - 1) / s * moved.T @ moved, rest, s)


def wald(x: Floats, y: Floats, cluster: Ints, columns: Ints) -> float | None:
    """p of several coefficients being 0 in the regression of `clustered`; None if there are too few searches to tell.

    The columns must not be combinations of the others.
    """
    from scipy.special import fdtrc

    others = _basis(np.delete(x, columns, axis=1))
    own = x[:, columns]
    own = _basis(own - others @ (others.T @ own))
    basis, q = np.column_stack([others, own]), len(columns)
    b = own.T @ y  # in units in which V is the identity if residuals are independent and of spread 1
    rest = y - basis @ (basis.T @ y)
    covariance, total = np.zeros((q, q)), 0.0
    together = np.zeros((q * basis.shape[1],) * 2)
    for _, rows in _of_one_size(cluster):
        adjusted = _power_of_rest(basis[rows], -0.5, own[rows]).swapaxes(1, 2)
        moved = (adjusted @ rest[rows][:, :, None])[:, :, 0]
        covariance += moved.T @ moved
        # B_st = [s = t] A_s A_s' - D_s D_t'. The sum over s and t of the second part alone comes from `together`.
        shared = adjusted @ basis[rows]
        less = shared @ shared.swapaxes(1, 2)
        total += _squares(adjusted @ adjusted.swapaxes(1, 2) - less) - _squares(less)
        flat = shared.reshape(len(rows), -1)
        together += flat.T @ flat
    across = together.reshape(q, basis.shape[1], q, basis.shape[1])
    total += float((across**2).sum() + np.einsum("acbd,bcad->", across, across))
    eta = q * (q + 1) / total
    free = eta - q + 1
    if free < 1:
        return None
    statistic = float(b @ np.linalg.lstsq(covariance, b, rcond=None)[0])
    return float(fdtrc(q, free, statistic * free / (eta * q)))


def _of_one_size(cluster: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Searches with the same number of rows, at most `BLOCK` at once: their numbers, and the rows of each."""
    _, code, counts = np.unique(cluster, return_inverse=True, return_counts=True)
    order, begin = np.argsort(code, kind="stable"), np.cumsum(counts) - counts
    for size in np.unique(counts):
        alike = np.flatnonzero(counts == size)
        for low in range(0, len(alike), BLOCK):
            searches = alike[low : low + BLOCK]
            yield searches, order[begin[searches][:, None] + np.arange(size)]


def _power_of_rest(a: Floats, power: float, v: Floats) -> Floats:
    """(I - A A')^power v of each search; directions in which I - A A' is 0 are left out.

    Only as many of its eigenvalues differ from 1 as A has columns, so no matrix of the size of a search is needed.
    """
    if a.shape[1] <= a.shape[2]:
        squares, directions = np.linalg.eigh(a @ a.swapaxes(1, 2))
    else:
        directions, sizes, _ = np.linalg.svd(a, full_matrices=False)
        squares = sizes**2
    left = 1.0 - squares
    scale = np.where(left > 1e-9, np.maximum(left, 1e-9) ** power, 0.0) - 1.0
    return np.asarray(v + (directions * scale[:, None, :]) @ (directions.swapaxes(1, 2) @ v))


def _basis(x: Floats) -> Floats:
    """Orthonormal columns that say what those of x do."""
    scale = np.sqrt((x**2).sum(axis=0))
    left, sizes, _ = np.linalg.svd(x / np.where(scale > 0, scale, 1.0), full_matrices=False)
    return np.asarray(left[:, sizes > 1e-9 * sizes.max(initial=1e-300)])


def _squares(matrices: Floats) -> float:
    traces = np.trace(matrices, axis1=1, axis2=2)
    return float((traces**2).sum() + (matrices * matrices.swapaxes(1, 2)).sum())


def probit(x: Floats, yes: Floats) -> Floats | None:
    """Coefficients of P(yes) = Phi(x b) by Fisher scoring; None if the likelihood has no maximum."""
    from scipy.special import log_ndtr

    sign = 2 * yes - 1
    b = np.zeros(x.shape[1])
    value = float(log_ndtr(np.zeros(len(yes))).sum())
    for _ in range(MOST_STEPS):
        eta = x @ b
        log_density = -(eta**2) / 2 - 0.5 * np.log(2 * np.pi)
        ratio = np.exp(log_density - log_ndtr(sign * eta))  # phi / P of what happened
        slope = x.T @ (sign * ratio)
        weight = np.exp(2 * log_density - log_ndtr(eta) - log_ndtr(-eta))
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
