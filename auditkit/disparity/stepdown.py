"""Adjusted p-values for all tests of a page, with their dependence (Westfall and Young's step-down min-p).

Every test is a quadratic form of a score, a sum over rows i of u_i = (1[g_i = g] - share)(y_i - rate), pooled or within
requisitions. Under the null the scores of all tests together are about normal, and sum_i u_i u_i' estimates their
covariance: cumulative and conditional tables, pooled and stratified tests, attributes and crossings share rows, so
their tests are far from independent and Holm's correction gives too much away. Draws of the normal law (fixed seed)
become p-values p*; with the observed p in ascending order,

    adjusted p_(j) = max over i <= j of  P( min over l >= i of p*_(l) <= p_(i) )

Where the p-value at hand is exact, its law is discrete and this is conservative. Holm's value is taken where it is
smaller, which happens only when p is too small for the number of draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.special import erfc, gammaincc

from auditkit.disparity.pair import holm

Floats = NDArray[np.float64]

SEED = 12
DRAWS = 10_000


def step_down(p: Sequence[float], scores: Floats, df: Sequence[int], alpha: float = 0.05) -> tuple[list[float], float]:
    """Adjusted p, and the p that a single test needs.

    `scores` has a row for each application and, test by test, as many columns as the test has degrees of freedom.
    """
    if not len(p):
        return [], alpha
    drawn = _null(scores.T @ scores, df)
    order = np.argsort(p, kind="stable")
    least = np.minimum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    raw = np.asarray(p, dtype=np.float64)[order]
    share = (np.sum(least <= raw, axis=0) + 1) / (len(drawn) + 1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(share), 1.0)
    level = float(np.quantile(least[:, 0], alpha, method="lower"))
    return [min(a, b) for a, b in zip(adjusted.tolist(), holm(list(p)))], min(level, alpha)


def _null(covariance: Floats, df: Sequence[int]) -> Floats:
    """p-values under the null, draws by tests."""
    ends = np.concatenate([[0], np.cumsum(df)])
    blocks = [slice(a, b) for a, b in pairwise(ends)]
    white = [_whitening(covariance[block, block]) for block in blocks]
    rank = np.array([w.shape[1] for w in white])
    joint = block_diag(*white)
    values, vectors = np.linalg.eigh(joint.T @ covariance @ joint)
    # The symmetric root: eigenvectors have no sign of their own, and the draws must not depend on one.
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    normal = np.random.default_rng(SEED).standard_normal((DRAWS, len(root))) @ root
    np.square(normal, out=normal)
    ends = np.concatenate([[0], np.cumsum(rank)])
    sums = np.stack([normal[:, a:b].sum(axis=1) for a, b in pairwise(ends)], axis=1)
    return np.stack([_tail(column, df) for column, df in zip(sums.T, rank.tolist())], axis=1)


def _tail(statistic: Floats, df: int) -> Floats:
    """P(chi-square > statistic), in closed form where it has a short one."""
    half = statistic / 2
    if df == 0:
        return np.ones_like(half)
    if df == 1:
        return np.asarray(erfc(np.sqrt(half)), dtype=np.float64)
    return np.asarray(np.exp(-half) if df == 2 else gammaincc(df / 2, half), dtype=np.float64)


def _whitening(covariance: Floats) -> Floats:
    """W with W' C W = identity, on the space that C spans."""
    values, vectors = np.linalg.eigh(covariance)
    keep = values > 1e-9 * max(float(values.max(initial=0.0)), 1e-300)
    white: Floats = vectors[:, keep] / np.sqrt(values[keep])
    return white
