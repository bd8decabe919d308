"""Scores by group: how far apart their means are, and which impact ratio each cut score would have.

For a group with n1 scores of mean m1 and variance s1^2 and a reference 0:

    d           (m1 - m0) / s,  s^2 = ((n1-1) s1^2 + (n0-1) s0^2) / (n1+n0-2)                    (Cohen)
    interval    d -+ z sqrt( (n1+n0)/(n1 n0) + d^2 / (2 (n1+n0)) )
    p           Welch's t test
    cut score   c: share of each group at or above c; impact ratio: that share over the highest one

At most 21 cut scores are shown, with about equal numbers of people between them, plus the *present* one: the cut that
admits as many as were selected. Cuts are left out until no group has fewer than `threshold` people, but some, between
two of them, above the highest or below the lowest; a quantile is left out if fewer than `threshold` people of its group
lie on either side of it: of five people, quartiles are the scores of three. Means, spreads and quantiles have as many
digits as the standard error of the mean supports: those of two months a person apart do not give that score away. With
a threshold of 0 everything is shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from auditkit.disparity.pair import Interval
from auditkit.text import to_digits

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

CUTS = 21
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True)
class ScoreGroup:
    """The scores of one group, and how far their mean is from that of the reference."""

    group: str
    scored: int
    mean: float
    sd: float
    quantiles: tuple[float | None, ...]
    """At 10, 25, 50, 75 and 90 %; None if they would be the scores of few people."""
    d: float | None
    """From the reference, in standard deviations; None for the reference itself."""
    interval: Interval | None
    p: float | None


@dataclass(frozen=True)
class CutScore:
    """Those at or above a score."""

    score: float
    above: tuple[int, ...]
    """In each group, in the order of the page."""
    impact_ratios: tuple[float | None, ...]
    present: bool


@dataclass(frozen=True)
class ScorePage:
    """One score by the groups of one attribute; the reference is the largest group."""

    attribute: str
    score: str
    reference: str
    groups: tuple[ScoreGroup, ...]
    cuts: tuple[CutScore, ...]
    agree: float | None
    """Of those selected, the share at or above the present cut; 1 means that the score alone decided."""


def score_page(
    attribute: str,
    name: str,
    scores: Mapping[str, Floats],
    selected: Mapping[str, Bools],
    *,
    alpha: float = 0.05,
    threshold: int = 0,
) -> ScorePage | None:
    """Of the groups that have at least two scores and `threshold` of them; None with fewer than two such groups."""
    kept = {group: values for group, values in scores.items() if len(values) >= max(2, threshold)}
    everybody = np.concatenate(list(kept.values())) if kept else np.zeros(0)
    if len(kept) < 2 or everybody.min() == everybody.max():
        return None
    reference = max(kept, key=lambda group: len(kept[group]))
    chosen = np.concatenate([selected[group] for group in kept])
    few = int(chosen.sum()) < threshold
    present = np.sort(everybody)[-int(chosen.sum())] if 0 < chosen.sum() < len(chosen) else None
    levels = np.unique(np.quantile(everybody, np.linspace(0, 1, CUTS), method="lower"))
    if present is not None:
        levels = np.union1d(levels, [present])
    cuts = [_cut(kept, float(level), level == present) for level in levels]
    return ScorePage(
        attribute=attribute,
        score=name,
        reference=reference,
        groups=tuple(
            _group(group, values, kept[reference], group == reference, alpha, threshold)
            for group, values in kept.items()
        ),
        cuts=_apart(cuts, [len(values) for values in kept.values()], threshold),
        agree=None if present is None or few else float(np.mean(everybody[chosen] >= present)),
    )


def _apart(cuts: Sequence[CutScore], sizes: Sequence[int], threshold: int) -> tuple[CutScore, ...]:
    """The present cut and as many others as leave no group with few people, but some, between two of them."""

    def enough(high: Sequence[int], low: Sequence[int]) -> bool:
        return not any(0 < b - a < threshold for a, b in zip(high, low, strict=True))

    ends = [tuple(0 for _ in sizes), tuple(sizes)]
    kept: list[CutScore] = []
    for cut in sorted(cuts, key=lambda cut: (not cut.present, -cut.score)):
        above = [one.above for one in kept]
        higher = max((one for one in above if sum(one) <= sum(cut.above)), key=sum, default=ends[0])
        lower = min((one for one in above if sum(one) > sum(cut.above)), key=sum, default=ends[1])
        if enough(higher, cut.above) and enough(cut.above, lower) and (not threshold or cut.above != ends[1]):
            kept.append(cut)
    return tuple(sorted(kept, key=lambda cut: cut.score))


def _group(group: str, values: Floats, zero: Floats, is_reference: bool, alpha: float, threshold: int) -> ScoreGroup:
    mean, sd = float(values.mean()), float(values.std(ddof=1))
    d = interval = p = None
    if not is_reference:
        n1, n0, other, spread = len(values), len(zero), float(zero.mean()), float(zero.std(ddof=1))
        pooled = math.sqrt(((n1 - 1) * sd**2 + (n0 - 1) * spread**2) / (n1 + n0 - 2))
        if pooled > 0:
            d = (mean - other) / pooled
            reach = -float(ndtri(alpha / 2)) * math.sqrt((n1 + n0) / (n1 * n0) + d * d / (2 * (n1 + n0)))
            interval = Interval(d - reach, d + reach, "normal", 1 - alpha)
            unit = math.ldexp(1.0, math.frexp(pooled)[1])  # dividing by a power of two is exact; fourth powers overflow
            v1, v0 = (sd / unit) ** 2 / n1, (spread / unit) ** 2 / n0
            freedom = (v1 + v0) ** 2 / (v1**2 / (n1 - 1) + v0**2 / (n0 - 1))
            p = float(2 * stdtr(freedom, -abs(mean - other) / unit / math.sqrt(v1 + v0)))  # Welch
    quantiles = [float(value) for value in np.quantile(values, QUANTILES)]
    if not threshold:
        return ScoreGroup(group, len(values), mean, sd, tuple(quantiles), d, interval, p)
    digits = -math.floor(math.log10(sd / math.sqrt(len(values)))) if sd > 0 else None
    mean, sd, *quantiles = (value if digits is None else round(value, digits) for value in (mean, sd, *quantiles))
    sides = [len(values) * min(q, 1 - q) for q in QUANTILES]
    shown = tuple(value if side >= threshold else None for value, side in zip(quantiles, sides, strict=True))
    if d is not None and p is not None and interval is not None:
        d, p = to_digits(d, 3), to_digits(p, 3)
        upper = None if interval.upper is None else to_digits(interval.upper, 3)
        interval = replace(interval, lower=to_digits(interval.lower, 3), upper=upper)
    return ScoreGroup(group, len(values), mean, sd, shown, d, interval, p)


def _cut(scores: Mapping[str, Floats], level: float, present: bool) -> CutScore:
    above = tuple(int(np.sum(values >= level)) for values in scores.values())
    shares = [Fraction(many, len(values)) for many, values in zip(above, scores.values())]
    top = max(shares)
    return CutScore(level, above, tuple(float(share / top) if top else None for share in shares), bool(present))
