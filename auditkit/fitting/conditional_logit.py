"""Conditional logit: who of a stratum was chosen, given how many were.

In a stratum of n people of whom k were chosen, with weights w_i = exp(x_i b),

    P(the set C) = prod_{i in C} w_i / e_k(w),      e_k(w) = sum over all sets of k of the products of their weights.

e_k and its first two derivatives in b follow from adding one person after the other,
e_k(w_1..w_j) = e_k(w_1..w_{j-1}) + w_j e_{k-1}(w_1..w_{j-1}), so that the likelihood is exact for any number chosen.
Where more than half were chosen, the others are counted instead. Strata are worked on side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from auditkit.model.layout import Bools, Floats, Ints

MOST_STEPS = 40
MOST_CELLS = 4_000_000
"""Numbers that are worked on at once."""
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
    """People in strata, some of them chosen; columns may be changed without sorting anew."""

    def __init__(self, chosen: Bools, stratum: Ints) -> None:
        sizes, taken = np.bincount(stratum), np.bincount(stratum, chosen).astype(np.int64)
        told = np.flatnonzero((taken > 0) & (taken < sizes))
        self.strata = len(told)
        self.informative: Bools = np.isin(stratum, told)
        flip = 2 * taken > sizes
        few = np.where(flip, sizes - taken, taken)
        order = told[np.lexsort((sizes[told], few[told]))]
        rows = np.argsort(stratum, kind="stable")
        first = np.concatenate([[0], np.cumsum(sizes)])
        self._members = [rows[first[s] : first[s + 1]] for s in order]
        self._few, self._flip = few[order], flip[order]
        self.chosen = chosen

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
        p = x.shape[1]
        value, slope, curvature = 0.0, np.zeros(p), np.zeros((p, p))
        for rows, sign, inside, few, chosen in self._batches(p):
            own = x[rows] * sign[:, None, None]
            eta = np.where(inside, own @ b, -np.inf)
            # about the last one chosen by weight, so that e_k is among the largest of the e_j
            eta -= -np.sort(-eta, axis=1)[np.arange(len(few)), few - 1][:, None]
            if eta.max() > MOST_ODDS:
                return -np.inf, slope, curvature
            log_e, mean, spread = _sets(np.exp(eta), np.where(inside[:, :, None], own, 0.0), few)
            picked = np.where(chosen[:, :, None], own, 0.0).sum(axis=1)
            value += float(np.where(chosen, eta, 0.0).sum() - log_e.sum())
            slope += (picked - mean).sum(axis=0)
            curvature += spread.sum(axis=0)
        return value, slope, curvature

    def _batches(self, p: int) -> Iterator[tuple[Ints, Floats, Bools, Ints, Bools]]:
        """Rows (strata, places), sign of the columns, which places are taken, how many are chosen, and who."""
        start = 0
        while start < len(self._members):
            end, width = start, 0
            while end < len(self._members):
                width = max(width, len(self._members[end]))
                cells = (end + 1 - start) * ((int(self._few[end]) + 1) * (1 + p + p * p) + width * p)
                if end > start and cells > MOST_CELLS:
                    break
                end += 1
            members = self._members[start:end]
            width = max(map(len, members))
            rows, inside = np.zeros((len(members), width), dtype=np.int64), np.zeros((len(members), width), np.bool_)
            for i, own in enumerate(members):
                rows[i, : len(own)], inside[i, : len(own)] = own, True
            flip = self._flip[start:end]
            chosen = inside & (self.chosen[rows] ^ flip[:, None])
            yield rows, np.where(flip, -1.0, 1.0), inside, self._few[start:end], chosen
            start = end


def _sets(weight: Floats, x: Floats, few: Ints) -> tuple[Floats, Floats, Floats]:
    """Of each stratum: log e_k, and mean and covariance of the sum of x over a random set of k."""
    strata, width, p = x.shape
    most = int(few.max())
    zero, one, two = np.zeros((strata, most + 1)), np.zeros((strata, most + 1, p)), np.zeros((strata, most + 1, p, p))
    zero[:, 0] = 1.0
    log_scale = np.zeros(strata)
    for j in range(width):
        w, own = weight[:, j, None], x[:, j, None, :]
        z, d = w * zero[:, :-1], w[:, :, None] * one[:, :-1]
        cross = own[:, :, :, None] * d[:, :, None, :]
        two[:, 1:] += w[:, :, None, None] * two[:, :-1] + cross + np.swapaxes(cross, 2, 3)
        two[:, 1:] += (own[:, :, :, None] * own[:, :, None, :]) * z[:, :, None, None]
        one[:, 1:] += d + own * z[:, :, None]
        zero[:, 1:] += z
        if j % 4 == 3:  # sums of products grow like binomial coefficients
            top = zero.max(axis=1)
            log_scale += np.log(top)
            zero /= top[:, None]
            one /= top[:, None, None]
            two /= top[:, None, None, None]
    here = np.arange(strata), few
    total = zero[here]
    mean = one[here] / total[:, None]
    spread = two[here] / total[:, None, None] - mean[:, :, None] * mean[:, None, :]
    return np.log(total) + log_scale, mean, spread
