"""Design effects: how much more the applications vary together than if they were independent.

People who apply more than once, and the applications of one requisition, are clusters c. With u_i the score of
application i and u_c their sum over cluster c, the robust variance of U = sum u_c is R = K/(K-1) sum (u_c - U/K)(...)'
over K clusters, and

    effect     D = trace(V^- R) / rank(V)                                                       (Rao and Scott)
    p          P( F > statistic / (df D) ),  F with df and K - df degrees of freedom
    reach      of an interval: t_{K-1} sqrt(D) in place of z

K is infinite for repeat applicants, whose D comes from all people. p is never below the p without a design effect, and
no interval is narrower: both have the same basis.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from scipy.special import chdtrc, fdtrc, ndtr, ndtri, stdtr, stdtrit

SMALLEST = 1e-300
"""The smallest level of an interval, 37 standard deviations."""

Cause = Literal["requisitions", "repeat applicants"]


@dataclass(frozen=True)
class ClusterDesign:
    """One kind of cluster, and how many times larger it makes the variance."""

    cause: Cause
    effect: float
    clusters: float | None = None
    """None if there are many."""

    def p(self, statistic: float, df: int) -> float:
        """Of a chi-square statistic."""
        if self.effect <= 0:
            return 0.0
        if self.clusters is None:
            return float(chdtrc(df, statistic / self.effect))
        return float(fdtrc(df, max(self.clusters - df, 1.0), statistic / (df * self.effect)))

    def p_of_pair(self, z: float) -> float:
        """Of a standard normal statistic, two-sided."""
        scaled = abs(z) / math.sqrt(max(self.effect, 1e-300))
        return float(2 * (ndtr(-scaled) if self.clusters is None else stdtr(max(self.clusters - 1, 1.0), -scaled)))

    def stretch(self, alpha: float) -> float:
        """How many times wider an interval becomes."""
        z = -float(ndtri(alpha / 2))
        t = z if self.clusters is None else -float(stdtrit(max(self.clusters - 1, 1.0), alpha / 2))
        return math.sqrt(max(self.effect, 0.0)) * t / z


Designs = Sequence[ClusterDesign]


def corrected(p: float, z: float | None, designs: Designs) -> float:
    """p of two groups on the basis of these designs; `z` is the normal statistic behind it."""
    return p if z is None else max([p, *(design.p_of_pair(z) for design in designs)])


def corrected_omnibus(p: float, statistic: float, df: int, designs: Designs) -> float:
    return max([p, *(design.p(statistic, df) for design in designs)])


def stretch(designs: Iterable[ClusterDesign], alpha: float) -> float:
    """Of an interval at this level: at least 1."""
    return max([1.0, *(design.stretch(alpha) for design in designs)])


def largest(designs: Designs, alpha: float, p: float | None, z: float | None) -> ClusterDesign | None:
    """The design that matters most, if any widens the interval or raises p; z is the normal statistic behind p."""
    if stretch(designs, alpha) > 1.0:
        return max(designs, key=lambda design: design.stretch(alpha))
    if p is None or z is None or corrected(p, z, designs) == p:
        return None
    return max(designs, key=lambda design: design.p_of_pair(z))


def widened(alpha: float, factor: float) -> float:
    """The level of a normal interval whose reach is `factor` times that at `alpha`."""
    return alpha if factor == 1.0 else max(float(2 * ndtr(float(ndtri(alpha / 2)) * factor)), SMALLEST)
