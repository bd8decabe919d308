"""Scores by group: how far apart their means are, and which impact ratio each cut score would have.

For a group with n1 scores of mean m1 and variance s1^2 and a reference 0:

    d           (m1 - m0) / s,  s^2 = ((n1-1) s1^2 + (n0-1) s0^2) / (n1+n0-2)                    (Cohen)
    interval    d -+ z sqrt( (n1+n0)/(n1 n0) + d^2 / (2 (n1+n0)) )
    p           Welch's t test
    cut score   c: share of each group at or above c; impact ratio: that share over the highest one

At most 21 cut scores are shown, between which equal numbers of people lie, and the *present* one: the cut that admits
as many as were selected. A cut of which some group would have fewer than `threshold` people above is left out, as long
as anybody is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import ttest_ind_from_stats

from auditkit.disparity.pair import Interval

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
    quantiles: tuple[float, ...]
    """At 10, 25, 50, 75 and 90 %."""
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
    impact_ratios: tuple[Fraction | None, ...]
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
    """Of those selected, the share who are at or above the present cut; 1: the score alone decided."""


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
            _group(group, values, kept[reference], group == reference, alpha) for group, values in kept.items()
        ),
        cuts=tuple(cut for cut in cuts if not any(0 < above < threshold for above in cut.above)),
        agree=None if present is None else float(np.mean(everybody[chosen] >= present)),
    )


def _group(group: str, values: Floats, zero: Floats, is_reference: bool, alpha: float) -> ScoreGroup:
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
            means, sds = (mean / unit, other / unit), (sd / unit, spread / unit)
            p = float(ttest_ind_from_stats(means[0], sds[0], n1, means[1], sds[1], n0, equal_var=False).pvalue)
    quantiles = tuple(float(value) for value in np.quantile(values, QUANTILES))
    return ScoreGroup(group, len(values), mean, sd, quantiles, d, interval, p)


def _cut(scores: Mapping[str, Floats], level: float, present: bool) -> CutScore:
    above = tuple(int(np.sum(values >= level)) for values in scores.values())
    shares = [Fraction(many, len(values)) for many, values in zip(above, scores.values())]
    top = max(shares)
    return CutScore(level, above, tuple(share / top if top else None for share in shares), bool(present))
