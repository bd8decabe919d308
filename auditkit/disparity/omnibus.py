"""One test for all groups of a table: are their rates the same, pooled and within requisitions?

Strata k, groups g, n applicants and x selected in each; N, S and P = S/N as in `pair`, t and m by stratum.

    pooled       U = x - n P,                 V = P (1-P) (diag(n) - n n'/N)             (Pearson's chi-square)
    stratified   U = sum_k x_k - n_k m_k/t_k,  V = sum_k m_k (t_k-m_k)/(t_k-1) (diag(q_k) - q_k q_k'),  q_k = n_k/t_k
                                                            (general association: CMH for more than two groups)

    statistic    U' V^- U,  chi-square with rank(V) degrees of freedom; with two groups Z^2 and CMH

If some n < 30 or an expected count is under 5, p is exact: Fisher's test for two groups, otherwise the law of the
statistic given the margins (all tables if there are few, otherwise drawn with a fixed seed). Over strata it's the exact
conditional test for two groups; with more groups, each against all others with Bonferroni's correction.

Clusters increase the variance of U: see `design`. A test gets these effects from the robust variances it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaln

from auditkit.disparity.design import Cause, ClusterDesign, corrected_omnibus
from auditkit.disparity.pair import Pair
from auditkit.disparity.stratified import exact_p, sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEED = 144
DRAWS = 20_000
MOST_TABLES = 200_000


@dataclass(frozen=True)
class Association:
    """Statistic, degrees of freedom, p and how it was computed; `corrected` is p on the basis of the designs."""

    statistic: float
    df: int
    p: float
    method: str
    corrected: float
    designs: tuple[ClusterDesign, ...] = ()

    @property
    def design_effect(self) -> float:
        return max([1.0, *(design.effect for design in self.designs)])


@dataclass(frozen=True, eq=False)
class Robust:
    """The variance of U over clusters, and how many clusters there are."""

    cause: Cause
    variance: Floats
    clusters: float | None = None
    """None if there are many."""


def _quadratic(U: Floats, V: Floats) -> tuple[float, int, Floats]:
    """U' V^- U, the rank of V, and V^-."""
    values, vectors = np.linalg.eigh(V)
    keep = values > 1e-9 * max(float(values.max(initial=0.0)), 1e-300)
    inverse = (vectors[:, keep] / values[keep]) @ vectors[:, keep].T
    return float(U @ inverse @ U), int(keep.sum()), inverse


def pooled(n: Ints, x: Ints, robust: Sequence[Robust] = ()) -> Association | None:
    """Test of equal rates in pooled counts, one entry per group; None if it isn't defined."""
    there = n > 0
    N, S = int(n.sum()), int(x.sum())
    if np.sum(there) < 2 or not 0 < S < N:
        return None
    robust = [replace(one, variance=one.variance[np.ix_(there, there)]) for one in robust]
    size, chosen = n[there].astype(np.float64), x[there].astype(np.float64)
    variance = pooled_variance(n[there], x[there])
    statistic, df, inverse = _quadratic(chosen - size * S / N, variance)
    small = size.min() < 30 or size.min() * min(S, N - S) < 5 * N
    if len(size) == 2:
        pair = Pair(int(size[0]), int(chosen[0]), int(size[1]), int(chosen[1]))
        p, method = pair.p, pair.recommended
    elif small:
        p, method = _exact(size, chosen)
    else:
        p, method = float(chdtrc(df, statistic)), "chi-square"
    return _with_effect(statistic, df, p, method, inverse, robust)


def pooled_variance(n: Ints, x: Ints) -> Floats:
    """V of pooled counts."""
    N, P = float(n.sum()), float(x.sum()) / float(n.sum())
    V: Floats = P * (1 - P) * (np.diag(n.astype(np.float64)) - np.outer(n, n) / N)
    return V


def stratified_variance(n: Ints, x: Ints) -> Floats:
    """V of counts by stratum."""
    t, m = n.sum(axis=1).astype(np.float64), x.sum(axis=1).astype(np.float64)
    q = n / np.maximum(t, 1)[:, None]
    w = m * (t - m) / np.maximum(t - 1, 1)
    V: Floats = np.diag(w @ q) - (q * w[:, None]).T @ q
    return V


def stratified(n: Ints, x: Ints, robust: Sequence[Robust] = ()) -> Association | None:
    """Test of equal rates within strata (rows of `n` and `x`); None if no stratum is informative."""
    n, x = n.astype(np.float64), x.astype(np.float64)
    t, m = n.sum(axis=1), x.sum(axis=1)
    inside = (t > 1) & (m > 0) & (m < t)
    n, x, t, m = n[inside], x[inside], t[inside], m[inside]
    q = n / t[:, None]
    V = stratified_variance(n, x)
    if not np.any(np.diag(V) > 1e-12):
        return None
    U = (x - q * m[:, None]).sum(axis=0)
    statistic, df, inverse = _quadratic(U, V)
    rest = [(n[:, g], x[:, g], t - n[:, g], m - x[:, g]) for g in range(n.shape[1]) if V[g, g] > 1e-12]
    p, method = float(chdtrc(df, statistic)), "cmh"
    if any(sparse(*counts) for counts in rest):
        exact = [exact_p(*counts) for counts in (rest[:1] if df == 1 else rest)]
        if None not in exact:
            p = min(1.0, len(exact) * min(value for value in exact if value is not None))
            method = "exact" if df == 1 else "exact, each group against all others"
    return _with_effect(statistic, df, p, method, inverse, robust)


def _with_effect(
    statistic: float, df: int, p: float, method: str, inverse: Floats, robust: Sequence[Robust]
) -> Association:
    designs = tuple(
        ClusterDesign(one.cause, float(np.sum(inverse * one.variance)) / df, one.clusters) for one in robust if df
    )
    return Association(statistic, df, p, method, corrected_omnibus(p, statistic, df, designs), designs)


def clustered(n: Ints, x: Ints) -> Robust:
    """Robust variance of the pooled U from counts by requisition (rows)."""
    n, x = n.astype(np.float64), x.astype(np.float64)
    N = n.sum()
    r = x - n * (x.sum() / N)
    u = r - r.sum(axis=1, keepdims=True) * (n.sum(axis=0) / N)
    u = u[n.sum(axis=1) > 0]
    K = len(u)
    u -= u.mean(axis=0)  # otherwise a difference in every requisition would count as variance
    return Robust("requisitions", (u.T @ u) * (K / max(K - 1, 1)), K)


def _exact(n: Floats, x: Floats) -> tuple[float, str]:
    """p of the chi-square statistic given the margins."""
    size, S = n.astype(np.int64), int(x.sum())
    if size.sum() - S < S:  # the statistic is the same for those not selected, who are fewer
        x, S = n - x, int(size.sum()) - S
    ranges = [np.arange(min(int(g), S) + 1) for g in size[:-1]]
    score = float(np.sum(x * x / n))
    if np.prod([float(len(r)) for r in ranges]) <= MOST_TABLES:
        cells = np.stack([grid.ravel() for grid in np.meshgrid(*ranges, indexing="ij")], axis=1).astype(np.float64)
        last = S - cells.sum(axis=1)
        cells = np.column_stack([cells, last])[(last >= 0) & (last <= size[-1])]
        log = -np.sum(gammaln(cells + 1) + gammaln(n - cells + 1), axis=1)
        weights = np.exp(log - log.max())
        extreme = np.sum(cells * cells / n, axis=1) >= score * (1 - 1e-9)
        return min(1.0, float(weights[extreme].sum() / weights.sum())), "exact"
    drawn = np.random.default_rng(SEED).multivariate_hypergeometric(size, S, size=DRAWS, method="marginals")
    hits = int(np.sum(np.sum(drawn * drawn / n, axis=1) >= score * (1 - 1e-9)))
    return (hits + 1) / (DRAWS + 1), "exact, drawn"
