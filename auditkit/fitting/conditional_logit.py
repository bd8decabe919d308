"""Conditional logit: who of a stratum was chosen, given how many were.

In a stratum of n people of whom k were chosen, with weights w_i = exp(x_i b),

    P(the set C) = prod_{i in C} w_i / e_k(w),      e_k(w) = sum over all sets of k of the products of their weights.

e_k and its first two derivatives in b follow from adding one person after the other,
e_k(w_1..w_j) = e_k(w_1..w_{j-1}) + w_j e_{k-1}(w_1..w_{j-1}), so that the likelihood is exact for any number chosen.
Where more than half were chosen, the others are counted instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditkit.model.layout import Bools, Floats, Ints

MOST_STEPS = 40
MOST_ODDS = 150.0
"""Log odds whose products of four are still numbers."""
SEPARATED = 0.01
"""Log likelihood lost per stratum below which choices follow the columns without exception."""


@dataclass(frozen=True, eq=False)
class ConditionalLogit:
    """Coefficients b, their covariance (inverse information), and whether the likelihood has a maximum."""

    coefficients: Floats
    covariance: Floats
    log_likelihood: float
    converged: bool
    strata: int
    """Those in which some were chosen and some were not; the others say nothing."""


class Choices:
    """People in strata, some of them chosen; columns may be changed without sorting again."""

    def __init__(self, chosen: Bools, stratum: Ints) -> None:
        sizes, taken = np.bincount(stratum), np.bincount(stratum, chosen).astype(np.int64)
        told = np.flatnonzero((taken > 0) & (taken < sizes))
        self.strata = len(told)
        self.informative: Bools = np.isin(stratum, told)
        flip = 2 * taken > sizes
        few = np.where(flip, sizes - taken, taken)
        rows = np.argsort(stratum, kind="stable")
        self._members = rows[self.informative[rows]]
        self._ptr = np.concatenate([[0], np.cumsum(sizes[told])])
        self._few, self._flip = few[told], flip[told]
        self.chosen = np.asarray(chosen, dtype=np.bool_)

    def fit(self, x: Floats) -> ConditionalLogit:
        """Newton's method, halving steps that overshoot."""
        b = np.zeros(x.shape[1])
        value, slope, curvature = self.likelihood(x, b)
        converged = False
        for _ in range(MOST_STEPS):
            step = np.linalg.lstsq(curvature, slope, rcond=None)[0]
            size = 1.0
            while True:
                then = self.likelihood(x, b + size * step)
                if then[0] >= value - 1e-12 * abs(value) or size < 1e-4:
                    break
                size /= 2
            if not np.isfinite(then[0]):
                break
            gained, b = then[0] - value, b + size * step
            value, slope, curvature = then
            if -value < SEPARATED * self.strata:
                break
            if abs(gained) <= 1e-9 * (1 + abs(value)) and float(slope @ np.linalg.pinv(curvature) @ slope) < 1e-8:
                converged = True
                break
        covariance = np.asarray(np.linalg.pinv(curvature), dtype=np.float64)
        return ConditionalLogit(b, covariance, value, converged, self.strata)

    def likelihood(self, x: Floats, b: Floats) -> tuple[float, Floats, Floats]:
        """Log likelihood, its slope, and minus its curvature."""
        from auditkit.fitting import logit_kernels

        strata = (self._ptr, self._members, self._few, self._flip, self.chosen)
        value, slope, curvature = logit_kernels.likelihood(*strata, np.ascontiguousarray(x), b, MOST_ODDS)
        return float(value), slope, curvature
