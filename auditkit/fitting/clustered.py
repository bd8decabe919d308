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

from dataclasses import dataclass

import numpy as np

from auditkit.model.layout import Floats, Ints

MOST_STEPS = 60
BLOCK = 500
"""Searches whose products are summed at once."""


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
    names, code = np.unique(cluster, return_inverse=True)
    order, s = np.argsort(code, kind="stable"), len(names)
    sizes, directions = np.linalg.eigh(inverse)
    root = directions * np.sqrt(np.maximum(sizes, 0.0))
    moved = np.zeros((s, x.shape[1]))
    for number, rows in enumerate(np.split(order, np.cumsum(np.bincount(code))[:-1])):
        own = x[rows]
        moved[number] = inverse @ (own.T @ _power_of_rest(own @ root, -1.0, rest[rows]))
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
    _, code = np.unique(cluster, return_inverse=True)
    order = np.argsort(code, kind="stable")
    covariance, total = np.zeros((q, q)), 0.0
    together = np.zeros((q * basis.shape[1],) * 2)
    block: list[Floats] = []
    searches = np.split(order, np.cumsum(np.bincount(code))[:-1])
    for s, rows in enumerate(searches, 1):
        adjusted = _power_of_rest(basis[rows], -0.5, own[rows]).T
        moved = adjusted @ rest[rows]
        covariance += np.outer(moved, moved)
        # B_st = [s = t] A_s A_s' - D_s D_t'. The sum over s and t of the second part alone comes from `together`.
        shared = adjusted @ basis[rows]
        less = shared @ shared.T
        total += _squares(adjusted @ adjusted.T - less) - _squares(less)
        block.append(shared.ravel())
        if len(block) == BLOCK or s == len(searches):
            flat = np.array(block)
            together += flat.T @ flat
            block = []
    across = together.reshape(q, basis.shape[1], q, basis.shape[1])
    total += float((across**2).sum() + np.einsum("acbd,bcad->", across, across))
    eta = q * (q + 1) / total
    free = eta - q + 1
    if free < 1:
        return None
    statistic = float(b @ np.linalg.lstsq(covariance, b, rcond=None)[0])
    return float(fdtrc(q, free, statistic * free / (eta * q)))


def _power_of_rest(a: Floats, power: float, v: Floats) -> Floats:
    """(I - A A')^power v; directions in which I - A A' is 0 are left out.

    Only as many of its eigenvalues differ from 1 as A has columns, so no matrix of the size of a search is needed.
    """
    directions, sizes, _ = np.linalg.svd(a, full_matrices=False)
    left = 1.0 - sizes**2
    scale = np.where(left > 1e-9, np.maximum(left, 1e-9) ** power, 0.0) - 1.0
    return np.asarray(v + (directions * scale) @ (directions.T @ v))


def _basis(x: Floats) -> Floats:
    """Orthonormal columns that say what those of x do."""
    scale = np.sqrt((x**2).sum(axis=0))
    left, sizes, _ = np.linalg.svd(x / np.where(scale > 0, scale, 1.0), full_matrices=False)
    return np.asarray(left[:, sizes > 1e-9 * sizes.max(initial=1e-300)])


def _squares(matrix: Floats) -> float:
    return float(np.trace(matrix) ** 2 + (matrix * matrix.T).sum())


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
