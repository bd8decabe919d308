"""Which ratio a comparison could have shown, and how many applicants it would take.

With rates p1 = r p0 and the variance-stabilised difference h = 2 asin(sqrt p0) - 2 asin(sqrt p1), a two-sided test at
level a has power b where

    h = (z_{a/2} + z_b) sqrt(D (1/n1 + 1/n0))        (D: design effect, 1 for independent applications)

so the smallest difference that is found with power b is p1 = sin^2(asin(sqrt p0) - h/2), and a difference that was
observed needs D (z_{a/2} + z_b)^2 (1/n1 + 1/n0) / h^2 times as many applicants in both groups.
"""

from __future__ import annotations

import math

from scipy.special import ndtri

POWER = 0.8


def _reach(alpha: float) -> float:
    return -float(ndtri(alpha / 2)) + float(ndtri(POWER))


def detectable_ratio(
    n1: int,
    n0: int,
    rate: float,
    alpha: float = 0.05,
    design_effect: float = 1.0,
    adverse: bool = False,
) -> float | None:
    """The largest impact ratio below 1 that a test at `alpha` detects with power 0.8; None if it can't detect even 0.

    If being selected is bad, the group's rate is the higher one and the ratio is `rate` over it.
    """
    if not (n1 and n0 and 0 < rate <= 1):
        return None
    half = _reach(alpha) / 2 * math.sqrt(design_effect * (1 / n1 + 1 / n0))
    root = math.asin(math.sqrt(rate))
    if adverse:
        return rate / math.sin(root + half) ** 2 if root + half < math.pi / 2 else None
    return math.sin(root - half) ** 2 / rate if root > half else None


def applicants_needed(
    n1: int, n0: int, p1: float, p0: float, alpha: float = 0.05, design_effect: float = 1.0
) -> int | None:
    """Applicants of both groups, in their current proportion, who would show these rates; None if they're equal."""
    h = 2 * abs(math.asin(math.sqrt(p0)) - math.asin(math.sqrt(p1)))
    if not (n1 and n0) or h < 1e-9:
        return None
    factor = design_effect * (_reach(alpha) / h) ** 2 * (1 / n1 + 1 / n0)
    return math.ceil(factor * (n1 + n0))
