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
from scipy.special import gammaincc

from auditkit.disparity.pair import holm

Floats = NDArray[np.float64]

SEED = 12
DRAWS = 20_000


def step_down(p: Sequence[float], scores: Sequence[Floats], alpha: float = 0.05) -> tuple[list[float], float]:
    """Adjusted p, and the p that a single test needs; `scores` has for each test an array rows x degrees of freedom."""
    if not p:
        return [], alpha
    drawn = _null(scores)
    order = np.argsort(p, kind="stable")
    least = np.minimum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    raw = np.asarray(p, dtype=np.float64)[order]
    share = (np.sum(least <= raw, axis=0) + 1) / (len(drawn) + 1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(share), 1.0)
    level = float(np.quantile(least[:, 0], alpha, method="lower"))
    return [min(a, b) for a, b in zip(adjusted.tolist(), holm(list(p)))], min(level, alpha)


def _null(scores: Sequence[Floats]) -> Floats:
    """p-values under the null, draws by tests."""
    white = [_whitened(block) for block in scores]
    df = np.array([block.shape[1] for block in white])
    all_scores = np.concatenate(white, axis=1)
    values, vectors = np.linalg.eigh(all_scores.T @ all_scores)
    # The symmetric root: eigenvectors have no sign of their own, and the draws must not depend on one.
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    normal = np.random.default_rng(SEED).standard_normal((DRAWS, len(root))) @ root
    ends = np.concatenate([[0], np.cumsum(df)])
    squares = np.stack([np.sum(normal[:, a:b] ** 2, axis=1) for a, b in pairwise(ends)], axis=1)
    p: Floats = np.where(df > 0, gammaincc(np.maximum(df, 1) / 2, squares / 2), 1.0)
    return p


def _whitened(block: Floats) -> Floats:
    """The block with the identity as its covariance, in the space that it spans."""
    values, vectors = np.linalg.eigh(block.T @ block)
    keep = values > 1e-9 * max(float(values.max(initial=0.0)), 1e-300)
    white: Floats = block @ (vectors[:, keep] / np.sqrt(values[keep]))
    return white
