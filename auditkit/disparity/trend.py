"""Ordered groups, such as bands of age: does the rate rise or fall along them.

With scores s_j of the groups j (their order, 0, 1, 2, ...), n applicants and x selected in each, P = S/N:

    Cochran-Armitage    Z = sum s (x - n P) / sqrt( P (1-P) (sum n s^2 - (sum n s)^2 / N) )
    within requisitions the same sums over requisitions k with their own P_k, and the variance of sampling without
                        replacement, m (t-m) / (t (t-1)) (sum n s^2 - (sum n s)^2 / t)        (Mantel's extension)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Ints = NDArray[np.int64]

AGE_BANDS = ("under 40", "40-49", "50-59", "60 and over")
AGE_LIMITS = (40, 50, 60)


@dataclass(frozen=True)
class Trend:
    """Over ordered groups; Z is negative where the rate falls."""

    groups: tuple[str, ...]
    z: float
    p: float
    z_within: float | None
    p_within: float | None


def trend(groups: Sequence[str], n: Ints, x: Ints) -> Trend | None:
    """Of counts by stratum and ordered group; None where nothing can be told."""
    n, x = np.atleast_2d(n).astype(np.float64), np.atleast_2d(x).astype(np.float64)
    order = np.arange(n.shape[1], dtype=np.float64)
    total, chosen = n.sum(axis=0), x.sum(axis=0)
    N, S = float(total.sum()), float(chosen.sum())
    spread = float(total @ order**2 - (total @ order) ** 2 / max(N, 1.0))
    if not 0 < S < N or spread <= 0:
        return None
    P = S / N
    z = float(order @ (chosen - total * P)) / math.sqrt(P * (1 - P) * spread)
    t, m = n.sum(axis=1), x.sum(axis=1)
    inside = (t > 1) & (m > 0) & (m < t)
    t, m, n, x = t[inside], m[inside], n[inside], x[inside]
    variance = float(np.sum(m * (t - m) / (t * (t - 1)) * (n @ order**2 - (n @ order) ** 2 / t))) if len(t) > 1 else 0.0
    within = float(np.sum((x - n * (m / t)[:, None]) @ order)) / math.sqrt(variance) if variance > 0 else None
    return Trend(tuple(groups), z, _two_sided(z), within, None if within is None else _two_sided(within))


def age_band(age: float) -> str:
    """The band of an age in years."""
    return AGE_BANDS[int(np.searchsorted(AGE_LIMITS, age, side="right"))]


def _two_sided(z: float) -> float:
    return float(2 * ndtr(-abs(z)))
