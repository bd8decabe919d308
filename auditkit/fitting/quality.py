"""How well priors fit, judged only by scores that they were not learnt from.

**PIT.** If y comes from the law F, F(y) is uniform. A discrete law leaves F(y) an interval [a, b] instead of a number:
[F(y-), F(y)] at a support point; between two points, which are means of slices of a finer law, from the middle of the
one slice to the middle of the other; beyond the last point, its outer half. Each score spreads its weight evenly over
its interval (the nonrandomised PIT of Czado, Gneiting and Held), so nothing is drawn at random and the histogram is
exact; (a + b)/2 is the mid-PIT.

**Coverage** of the central interval of level q: the weight that falls between (1 - q)/2 and (1 + q)/2.

**CRPS** = E|V - y| - E|V - V'|/2, in the unit of the score, smaller is better; `skill` is 1 - CRPS / CRPS of the one
law that knows nothing of anybody. Mean error is the mean of score - expected score, with its standard error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditkit.fitting.fitter import Laws, quantise
from auditkit.fitting.propensity import TERCILES, Selection, known_groups, terciles
from auditkit.model.layout import Bools, Floats
from auditkit.text import brief, p_value

BINS = 10
LEVELS = (0.5, 0.8, 0.9)
BLOCK = 65_536
"""Scores that are compared with their laws at once."""
FEW = 30
"""Fewer scores than this in a group or stratum are called few."""
DOUBTFUL = 0.01
"""A PIT histogram less likely than this under a right fit is pointed out."""


@dataclass(frozen=True)
class Error:
    """Errors of some candidates' priors; numbers are None where there is no score."""

    name: str
    scores: int
    mean_error: float | None
    standard_error: float | None = None
    crps: float | None = None
    coverage: float | None = None
    """Of the central 80 % interval."""


@dataclass(frozen=True)
class FitQuality:
    """Quality of all priors together, by group and by tercile of the expected score."""

    overall: Error
    by_group: tuple[Error, ...]
    by_stratum: tuple[Error, ...]
    pit: tuple[float, ...]
    """Share of the scores in each of ten equal parts of [0, 1]; 0.1 each if the fit is right."""
    pit_p: float
    """How likely a histogram at least this uneven is if the fit is right (chi-square)."""
    coverage: tuple[tuple[float, float], ...]
    """(level, share covered)."""
    skill: float | None
    selection: Selection
    warnings: tuple[str, ...]


def pit_intervals(laws: Laws, scores: Floats) -> tuple[Floats, Floats]:
    """The interval of F(y) for each score; the middle of it is the mid-PIT."""
    low, high = np.empty(len(laws)), np.empty(len(laws))
    for start in range(0, len(laws), BLOCK):  # a million scores times the points of their laws are not held at once
        part = slice(start, start + BLOCK)
        low[part], high[part] = _intervals(laws.values[laws.which[part]], laws.probs[laws.which[part]], scores[part])
    return low, high


def _intervals(values: Floats, probs: Floats, scores: Floats) -> tuple[Floats, Floats]:
    y = scores[:, None]
    below, at = (probs * (values < y)).sum(axis=1), (probs * (values == y)).sum(axis=1)
    # half the weight of the nearest points on either side, equal points counted as one
    under = np.where((values < y) & (probs > 0), values, -np.inf).max(axis=1)
    over = np.where((values > y) & (probs > 0), values, np.inf).min(axis=1)
    half_under = (probs * (values == under[:, None])).sum(axis=1) / 2
    half_over = (probs * (values == over[:, None])).sum(axis=1) / 2
    between = at == 0
    return np.where(between, below - half_under, below), np.where(between, below + half_over, below + at)


def spread_over(low: Floats, high: Floats, edges: Floats) -> Floats:
    """Share of each interval below each edge, an array (scores, edges)."""
    width = np.maximum(high - low, 1e-12)[:, None]
    return np.clip((edges - low[:, None]) / width, 0.0, 1.0)


def crps(laws: Laws, scores: Floats) -> Floats:
    """The continuous ranked probability score of each score."""
    upto = np.cumsum(laws.probs, axis=1)
    # E|V - V'|/2 = sum_j p_j v_j (F(v_j-) + F(v_j) - 1) for increasing v
    spread = (laws.probs * laws.values * (2 * upto - laws.probs - 1)).sum(axis=1)
    distance = np.empty(len(laws))
    for start in range(0, len(laws), BLOCK):
        which, y = laws.which[start : start + BLOCK], scores[start : start + BLOCK]
        distance[start : start + BLOCK] = (laws.probs[which] * np.abs(laws.values[which] - y[:, None])).sum(axis=1)
    return distance - spread[laws.which]


def assess(laws: Laws, scores: Floats, groups: Mapping[str, NDArray[Any]], selection: Selection) -> FitQuality:
    """Quality of the priors of all candidates; `scores` are NaN for those without one."""
    known = np.flatnonzero(~np.isnan(scores))
    held, y = laws.take(known), scores[known]
    expected = laws.means
    low, high = pit_intervals(held, y)
    shares = np.diff(spread_over(low, high, np.linspace(0, 1, BINS + 1)).mean(axis=0))
    score = crps(held, y)
    errors = y - expected[known]
    covered = {level: _covered(low, high, level) for level in LEVELS}
    third = terciles(expected)

    def error(name: str, who: Bools) -> Error:
        mine = who[known]
        n = int(mine.sum())
        if not n:
            return Error(name, 0, None, None, None, None)
        own = errors[mine]
        deviation = float(own.std(ddof=1) / np.sqrt(n)) if n > 1 else None
        return Error(name, n, float(own.mean()), deviation, float(score[mine].mean()), float(covered[0.8][mine].mean()))

    by_group = tuple(error(name, who) for name, who in known_groups(groups))
    by_stratum = tuple(error(name, third == i) for i, name in enumerate(TERCILES))
    support, probs = quantise(y, np.ones(len(y)), laws.values.shape[1])
    blind = float(crps(Laws.of([(support, probs)], np.zeros(len(y), dtype=np.int64)), y).mean())
    p = _uniform_p(shares, len(y))
    return FitQuality(
        overall=error("all", np.ones(len(scores), dtype=np.bool_)),
        by_group=by_group,
        by_stratum=by_stratum,
        pit=tuple(float(share) for share in shares),
        pit_p=p,
        coverage=tuple((level, float(share.mean())) for level, share in covered.items()),
        skill=1 - float(score.mean()) / blind if blind > 0 else None,
        selection=selection,
        warnings=_warnings(by_group, by_stratum, p),
    )


def _covered(low: Floats, high: Floats, level: float) -> Floats:
    edges = np.array([(1 - level) / 2, (1 + level) / 2])
    return np.diff(spread_over(low, high, edges), axis=1)[:, 0]


def _uniform_p(shares: Floats, n: int) -> float:
    from scipy.special import chdtrc

    statistic = n * BINS * float(((shares - 1 / BINS) ** 2).sum())
    return float(chdtrc(BINS - 1, statistic))


def _warnings(by_group: tuple[Error, ...], by_stratum: tuple[Error, ...], p: float) -> tuple[str, ...]:
    found = []
    if few := [error.name for error in by_group if error.scores < FEW]:  # no numbers: they may be very small
        found.append(f"fewer than {FEW} scores to learn from and to judge by in group {', '.join(few)}")
    if few := [error.name for error in by_stratum if error.scores < FEW]:
        found.append(f"fewer than {FEW} scores to judge by among candidates of {', '.join(few)} expected score")
    for what, error in [*(("group", e) for e in by_group), *(("expected score", e) for e in by_stratum)]:
        if error.scores < FEW or error.mean_error is None or not error.standard_error:
            continue
        if abs(error.mean_error) > 3 * error.standard_error:
            side = "higher" if error.mean_error > 0 else "lower"
            found.append(
                f"{what} {error.name}: scores are {brief(abs(error.mean_error))} {side} than expected on average"
            )
    if p < DOUBTFUL:
        found.append(f"the priors' spread or shape is off: the PIT histogram is not even (p = {p_value(p)})")
    return tuple(found)
