"""Two groups, selected or not: impact ratio, tests and intervals, and the same over strata.

Counts are numbers of people; rates, ratios and p-values are pure numbers. What can't be computed is None, never NaN.

Group 1 is compared with group 0, the **reference**: the highest rate x/n *after* exclusions (a tie goes to the
larger group). With n applicants and x selected in each, p = x/n, and of the two together N = n1+n0, S = x1+x0,
F = N-S, P = S/N:

    impact ratio     IR = p1/p0, compared with the line (4/5) as exact fractions
    Z                (p1-p0) / sqrt(P (1-P) (1/n1 + 1/n0))
    SD               (x1 - n1 S/N) / sqrt(n1 n0 S F / (N^2 (N-1)))        (hypergeometric; margins fixed)
    shortfall        n1 P - x1
    p                Fisher's exact test if some n < 30 or an expected count < 5, else the normal test of Z; two-sided
    mid-p            Fisher's p minus half the observed table's probability (Lancaster); less conservative
    h                2 asin(sqrt p1) - 2 asin(sqrt p0)                     (Cohen)
    phi              Z / sqrt(N)
    odds ratio       x1 (n0 - x0) / (x0 (n1 - x1)), with Woolf's interval exp(ln OR -+ z sqrt(sum of 1/cells))
    Katz interval    exp(ln IR -+ z sqrt((1-p1)/x1 + (1-p0)/x0)), or, when one of the four cells is zero,
    score interval   {f : |T(f)| <= z},  T(f) = (p1 - f p0) / sqrt(q1 (1-q1)/n1 + f^2 q0 (1-q0)/n0)   (Koopman 1984)
                     with q the likeliest rates under q1 = f q0:  A q0^2 - B q0 + S = 0,
                     A = N f,  B = (n1 + x0) f + x1 + n0

If being selected is bad (a dismissal), x counts those who were *not* selected: tests, shortfalls and odds are then
about the favourable outcome as everywhere else, the reference has the lowest rate of being selected, and the impact
ratio is that rate over the group's.

Over strata (requisitions), with a = x1, b = n1-x1, c = x0, d = n0-x0, t = n1+n0, m = a+c of each stratum:

    odds ratio       sum(ad/t) / sum(bc/t)                 (Mantel-Haenszel; Robins-Breslow-Greenland interval)
    risk ratio       sum(a n0/t) / sum(c n1/t)             (Mantel-Haenszel; Greenland-Robins interval)
    CMH              sum(a - n1 m/t)^2 / sum(n1 n0 m (t-m) / (t^2 (t-1)))     (no continuity correction, 1 degree)

The three numerators have the sign of sum(ad-bc)/t, so "pooling reverses the sign" has one meaning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, ndtr, ndtri

from auditkit.disparity.hypergeometric import two_sided


@dataclass(frozen=True)
class Interval:
    """Confidence interval of a ratio or a difference."""

    lower: float
    upper: float | None
    """None: no upper bound."""
    method: str
    confidence: float

    @property
    def ends(self) -> tuple[float, float | None]:
        return self.lower, self.upper


def as_float(x: Fraction | None) -> float | None:
    return None if x is None else float(x)


@dataclass(frozen=True)
class Pair:
    """Group 1 against the reference 0; the formulas are those of the module."""

    n1: int
    x1: int
    n0: int
    x0: int
    adverse: bool = False
    """Those not counted in x were selected for something bad; the impact ratio then uses their rates."""

    @property
    def selected(self) -> tuple[int, int]:
        """Those selected in the group and in the reference, for better or worse."""
        return (self.n1 - self.x1, self.n0 - self.x0) if self.adverse else (self.x1, self.x0)

    @property
    def inverse(self) -> Pair:
        """Of an adverse decision: the reference's rate of being selected over the group's, as an impact ratio."""
        return Pair(self.n0, self.n0 - self.x0, self.n1, self.n1 - self.x1)

    @property
    def impact_ratio(self) -> Fraction | None:
        if self.adverse:
            return self.inverse.impact_ratio
        return Fraction(self.x1 * self.n0, self.n1 * self.x0) if self.n1 and self.x0 else None

    @property
    def z(self) -> float | None:
        n1, n0, N, S = self.n1, self.n0, self.n1 + self.n0, self.x1 + self.x0
        if not (n1 and n0 and 0 < S < N):
            return None
        P = S / N
        return (self.x1 / n1 - self.x0 / n0) / math.sqrt(P * (1 - P) * (1 / n1 + 1 / n0))

    @property
    def sd(self) -> float | None:
        n1, n0, N, S = self.n1, self.n0, self.n1 + self.n0, self.x1 + self.x0
        if not (n1 and n0 and 0 < S < N):
            return None
        return (self.x1 - n1 * S / N) / math.sqrt(n1 * n0 * S * (N - S) / (N**2 * (N - 1)))

    @property
    def shortfall(self) -> float:
        return self.n1 * (self.x1 + self.x0) / (self.n1 + self.n0) - self.x1

    @property
    def fisher_p(self) -> float:
        return two_sided(self.n1, self.x1, self.n0, self.x0)[0]

    @property
    def mid_p(self) -> float:
        p, seen = two_sided(self.n1, self.x1, self.n0, self.x0)
        return max(0.0, p - seen / 2)

    @property
    def h(self) -> float | None:
        if not (self.n1 and self.n0):
            return None
        return 2 * (math.asin(math.sqrt(self.x1 / self.n1)) - math.asin(math.sqrt(self.x0 / self.n0)))

    @property
    def phi(self) -> float | None:
        z = self.z
        return None if z is None else z / math.sqrt(self.n1 + self.n0)

    @property
    def odds_ratio(self) -> float | None:
        below = self.x0 * (self.n1 - self.x1)
        return self.x1 * (self.n0 - self.x0) / below if below else None

    def odds_interval(self, alpha: float = 0.05) -> Interval | None:
        """Woolf's interval; None where a cell is empty."""
        cells = (self.x1, self.n1 - self.x1, self.x0, self.n0 - self.x0)
        odds = self.odds_ratio
        if odds is None or 0 in cells:
            return None
        return _log_interval(odds, sum(1 / cell for cell in cells), "woolf", alpha)

    @property
    def z_p(self) -> float | None:
        z = self.z
        return None if z is None else 2 * float(ndtr(-abs(z)))

    @property
    def recommended(self) -> str:
        N, S, small = self.n1 + self.n0, self.x1 + self.x0, min(self.n1, self.n0)
        return "fisher" if small < 30 or small * min(S, N - S) < 5 * N else "z"

    @property
    def p(self) -> float:
        """Of the recommended test."""
        z_p = self.z_p
        return self.fisher_p if self.recommended == "fisher" or z_p is None else z_p

    def below(self, line: Fraction) -> bool | None:
        """IR < line, exactly; also defined if no one in the reference is selected but someone in the group is."""
        if self.adverse:
            return self.inverse.below(line)
        return self.x1 * self.n0 < line * self.x0 * self.n1 if self.x1 or self.x0 else None

    def moved(self, k: int) -> Pair | None:
        """With k selections moved from the reference to the group, if that's possible."""
        x1, x0 = self.x1 + k, self.x0 - k
        return Pair(self.n1, x1, self.n0, x0, self.adverse) if 0 <= x1 <= self.n1 and 0 <= x0 <= self.n0 else None

    def interval(self, alpha: float = 0.05) -> Interval | None:
        if self.adverse:
            return self.inverse.interval(alpha)
        if self.impact_ratio is None:
            return None
        if 0 in (self.x1, self.n1 - self.x1, self.n0 - self.x0):
            return score_interval(self, alpha)
        variance = (1 - self.x1 / self.n1) / self.x1 + (1 - self.x0 / self.n0) / self.x0
        return _log_interval(float(self.impact_ratio), variance, "katz", alpha)


def score_interval(pair: Pair, alpha: float = 0.05) -> Interval:
    """Koopman's interval for the impact ratio; needs at least one selection to say anything."""
    n1, x1, n0, x0 = pair.n1, pair.x1, pair.n0, pair.x0
    z = -float(ndtri(alpha / 2))

    def T(log_f: float) -> float:
        f = math.exp(log_f)
        A, B = (n1 + n0) * f, (n1 + x0) * f + x1 + n0
        q0 = 2 * (x1 + x0) / (B + math.sqrt(max(B * B - 4 * A * (x1 + x0), 0.0)))  # the smaller root, stably
        q1 = f * q0
        variance = q1 * max(1 - q1, 0.0) / n1 + f * f * q0 * max(1 - q0, 0.0) / n0
        return (x1 / n1 - f * x0 / n0) / math.sqrt(max(variance, 1e-300))

    lower = _crossing(T, z) if x1 else 0.0
    upper = _crossing(T, -z) if x0 else None
    return Interval(lower, upper, "score", 1 - alpha)


def _crossing(T: Callable[[float], float], level: float) -> float:
    """f where the decreasing T(ln f) equals `level`."""
    low = high = 0.0
    while T(low) < level:
        low = 2 * low - 1
    while T(high) > level:
        high = 2 * high + 1
    return math.exp(low if low == high else float(brentq(lambda log_f: T(log_f) - level, low, high, xtol=1e-13)))


@dataclass(frozen=True)
class FlipFlop:
    """What moving one or two selections between the group and the reference would change."""

    impact_ratio: float | None
    """After the move that is worst for the measured side of the line."""
    line_holds: bool | None
    test_holds: bool
    sign_reverses: bool
    """One selection moved to the group would give it the higher rate."""
    robust: bool
    needed: int | None = None
    """The fewest selections, 1 or 2, whose move would change a conclusion; None if it takes more."""


def flip_flop(pair: Pair, line: Fraction, significant: Callable[[Pair], bool]) -> FlipFlop:
    """Move selections against each conclusion: to the group against a finding, from it against no finding."""
    below, found = pair.below(line), significant(pair)

    def holds(k: int) -> tuple[Pair | None, bool | None, bool]:
        toward, away = pair.moved(k), pair.moved(-k)
        against_line, against_test = toward if below else away, toward if found else away
        line_holds = None if below is None else against_line is None or against_line.below(line) == below
        return against_line, line_holds, against_test is None or significant(against_test) == found

    against_line, line_holds, test_holds = holds(1)
    robust = line_holds is not False and test_holds
    needed: int | None = None if robust else 1
    if robust:
        _, line_twice, test_twice = holds(2)
        needed = None if line_twice is not False and test_twice else 2
    toward = pair.moved(1)
    return FlipFlop(
        impact_ratio=None if against_line is None else as_float(against_line.impact_ratio),
        line_holds=line_holds,
        test_holds=test_holds,
        sign_reverses=toward is not None and toward.x1 * toward.n0 > toward.x0 * toward.n1,
        robust=robust,
        needed=needed,
    )


@dataclass(frozen=True)
class Stratified:
    strata: int
    """Strata that contain both groups."""
    odds_ratio: float | None
    odds_interval: Interval | None
    risk_ratio: float | None
    risk_interval: Interval | None
    cmh: float | None
    p: float | None
    shortfall: float
    reverses: bool
    log_variance: float | None = None
    """Of the logarithm of the odds ratio (Robins, Breslow and Greenland)."""


def stratify(n1: Any, x1: Any, n0: Any, x0: Any, alpha: float = 0.05) -> Stratified:
    """Mantel-Haenszel and CMH over strata, from one array of counts each."""
    pooled = int(np.sum(x1)) * int(np.sum(n0)) - int(np.sum(x0)) * int(np.sum(n1))
    both = (np.asarray(n1) > 0) & (np.asarray(n0) > 0)
    n1, a, n0, c = (np.asarray(counts, dtype=np.float64)[both] for counts in (n1, x1, n0, x0))
    b, d, t, m = n1 - a, n0 - c, n1 + n0, a + c
    R, S = a * d / t, b * c / t
    excess, noise = float(np.sum(R - S)), 1e-12 * float(np.sum(R + S))
    sign = 0.0 if abs(excess) <= noise else math.copysign(1.0, excess)
    variance = float(np.sum(n1 * n0 * m * (t - m) / (t**2 * (t - 1))))
    cmh = excess**2 / variance if variance > 0 else None
    top, bottom = float(np.sum(a * n0 / t)), float(np.sum(c * n1 / t))
    odds = risk = odds_interval = risk_interval = log_variance = None
    if bottom > 0:
        risk = top / bottom
        if risk > 0:
            spread = float(np.sum((m * n1 * n0 - a * c * t) / t**2)) / (top * bottom)
            risk_interval = _log_interval(risk, spread, "greenland-robins", alpha)
    r, s = float(R.sum()), float(S.sum())
    if s > 0:
        odds = r / s
        if odds > 0:
            h, k = (a + d) / t, (b + c) / t
            spread = float(np.sum(h * R) / r**2 + np.sum(h * S + k * R) / (r * s) + np.sum(k * S) / s**2) / 2
            log_variance = spread
            odds_interval = _log_interval(odds, spread, "robins-breslow-greenland", alpha)
    return Stratified(
        strata=len(t),
        odds_ratio=odds,
        odds_interval=odds_interval,
        risk_ratio=risk,
        risk_interval=risk_interval,
        cmh=cmh,
        p=None if cmh is None else float(chdtrc(1, cmh)),
        shortfall=-excess,
        reverses=pooled * sign < 0,
        log_variance=log_variance,
    )


def _log_interval(ratio: float, variance: float, method: str, alpha: float) -> Interval:
    reach = -float(ndtri(alpha / 2)) * math.sqrt(max(variance, 0.0))
    return Interval(ratio * math.exp(-reach), ratio * math.exp(reach), method, 1 - alpha)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment, in the order given."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(np.asarray(p, dtype=np.float64)[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return [float(value) for value in adjusted]
