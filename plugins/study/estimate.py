"""Means over instances with their standard errors. Each instance is an independent draw; its points aren't.

mean             x_bar,  se = s / sqrt(N)
ratio of means   a_bar / b_bar,  se by the delta method: sd(a_i - r b_i) / (b_bar sqrt(N))
start            where a mean curve becomes positive, linear between points; se from a bootstrap over instances
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from auditkit.model.layout import Floats

REPLICATES = 400


@dataclass(frozen=True)
class Estimate:
    value: float
    se: float

    def text(self, digits: int = 3, percent: bool = False) -> str:
        """The value, and the error in the same digits."""
        if not np.isfinite(self.value):
            return "none"
        scale, unit = (100.0, " %") if percent else (1.0, "")
        error = f"{scale * self.se:.{digits}f}" if np.isfinite(self.se) else "?"
        return f"{scale * self.value:.{digits}f} ± {error}{unit}"


def standard_error(x: Floats) -> Floats:
    """Of the mean over the first axis; unknown (NaN) from a single instance."""
    if len(x) < 2:
        return np.full(x.shape[1:], np.nan)
    return np.asarray(x.std(axis=0, ddof=1) / np.sqrt(len(x)))


def mean(x: Floats) -> Estimate:
    """Of one number per instance."""
    return Estimate(float(x.mean()), float(standard_error(x)))


def ratio_of_means(a: Floats, b: Floats) -> Estimate:
    r = float(a.mean() / b.mean())
    return Estimate(r, float(standard_error(a - r * b)) / abs(float(b.mean())))


def starts(x: Floats, y: Floats) -> float:
    """Where a curve that is positive at its peak becomes so, seen from the left; -inf if it always is, NaN if never."""
    peak = int(np.argmax(y))
    below = np.flatnonzero(y[:peak] < 0)
    if y[peak] <= 0:
        return np.nan
    if not len(below):
        return -np.inf
    i = int(below[-1])
    return float(x[i] - (x[i + 1] - x[i]) * y[i] / (y[i + 1] - y[i]))


def bootstrapped(curves: Floats, statistic: Callable[[Floats], float], seed: int = 0) -> Estimate:
    """A statistic of the mean curve (instances, points), with its spread over resampled instances."""
    rng = np.random.default_rng(seed)
    n = len(curves)
    values = [statistic(curves[rng.integers(0, n, n)].mean(axis=0)) for _ in range(REPLICATES if n > 1 else 0)]
    finite = np.array([v for v in values if np.isfinite(v)])
    return Estimate(statistic(curves.mean(axis=0)), float(finite.std(ddof=1)) if len(finite) > 1 else np.nan)


def capacity_worth(utilities: Floats, targets: Floats) -> Floats:
    """For each target the (interpolated) capacity at which the utilities of capacities 1, 2, ... reach it, 0 paying 0.

    `utilities` and `targets` are (instances, capacities); the answer may not exceed the largest capacity.
    """
    grid = np.arange(utilities.shape[1] + 1, dtype=np.float64)
    found = np.empty_like(targets)
    for i, (u, wanted) in enumerate(zip(utilities, targets, strict=True)):
        curve = np.maximum.accumulate(np.append(0.0, u))
        found[i] = np.interp(wanted, curve, grid)
    return found
