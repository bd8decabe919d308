"""The hypergeometric law: how many of n1 are among m drawn from n1 + n0.

    P(x+1) / P(x) = (n1-x)(m-x) / ((x+1)(n0-m+x+1)),   max(0, m-n0) <= x <= min(n1, m)

Logarithms are summed from the mode, so that large numbers lose no digits. Outcomes further from the mean than both 12
standard deviations and the outcome in question have a total probability below 1e-30 and are left out.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TIE = 1e-7
"""Probabilities that differ by less, relatively, are equal."""


def law(n1: int, n0: int, m: int, seen: int | None = None) -> tuple[int, Floats]:
    """The smallest outcome, and the probabilities from there on."""
    lower, upper, t = max(0, m - n0), min(n1, m), n1 + n0
    mean = n1 * m / max(t, 1)
    sd = math.sqrt(mean * n0 * (t - m) / max(t * (t - 1), 1))
    reach = max(12 * sd, abs((mean if seen is None else seen) - mean)) + 2
    lower, upper = max(lower, math.floor(mean - reach)), min(upper, math.ceil(mean + reach))
    x = np.arange(lower, upper, dtype=np.float64)
    steps = np.log((n1 - x) * (m - x)) - np.log((x + 1) * (n0 - m + x + 1))
    log = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(log - log.max())
    return lower, weights / weights.sum()


def two_sided(n1: int, x1: int, n0: int, x0: int) -> tuple[float, float]:
    """Fisher's p (all tables that are no likelier than this one), and the probability of this one."""
    lower, probabilities = law(n1, n0, x1 + x0, x1)
    seen = float(probabilities[x1 - lower])
    return min(1.0, float(probabilities[probabilities <= seen * (1 + TIE)].sum())), seen
