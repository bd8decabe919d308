"""Whether the score predicts the later outcomes of those hired, and whether it does so equally for each group.

For the n people hired who have a score s and an outcome y, within the F values of a segment (job families, say), with
centred numbers s~ and y~:

    r = sum s~ y~ / sqrt(sum s~^2 sum y~^2)          interval: tanh(atanh r -+ z / sqrt(n - F - 2))  (Fisher)

**Restriction of range.** Only those hired have an outcome, and they were chosen by their scores. So their scores lie
closer together than everyone's, and r understates how well the score predicts for all. With U the standard deviation of
all scores over that of the hired (both within the segment),

    r_all = r U / sqrt(1 + r^2 (U^2 - 1))            (Thorndike's case 2: chosen by the score itself)

For each group compared with the largest one, level and slope of the regression of y on s are Cleary's
(`fitting/score_meaning.py`); with two tests for each group of each attribute, Holm's method corrects p.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from auditkit.disparity.pair import Interval, holm
from auditkit.fitting.score_meaning import ScoreMeaning, by_attribute
from auditkit.model.layout import Bools, Floats, Ints

FISHER = "fisher-z"
FEWEST_RATED = 20
"""The fewest people hired, with both numbers, about whom something is said."""


@dataclass(frozen=True)
class PredictedGroup:
    """One group compared with the reference; p is corrected for all such tests in the section."""

    attribute: str
    group: str
    level_p_adjusted: float | None
    slope_p_adjusted: float | None


@dataclass(frozen=True)
class ScoreValidity:
    """Outcomes on scores. `correlation_of_all` is corrected for the restriction of range; None if there is none."""

    people: int
    scored: int
    correlation: float
    interval: Interval
    p: float
    spread: float
    """Standard deviation of the scores of those hired."""
    spread_of_all: float
    """Of all who have a score."""
    correlation_of_all: float | None
    interval_of_all: Interval | None
    within: str | None
    tables: tuple[ScoreMeaning, ...]
    adjusted: tuple[PredictedGroup, ...]
    left_out: tuple[str, ...]


def score_validity(
    groups: Mapping[str, NDArray[Any]],
    family: NDArray[Any] | None,
    search: NDArray[Any],
    scores: Floats,
    outcomes: Floats,
    hired: Bools,
    *,
    within: str | None = None,
    threshold: int = 0,
    alpha: float = 0.05,
) -> ScoreValidity | None:
    """Arrays have one entry per application, NaN where a number is missing; None with too few people."""
    scored = ~np.isnan(scores)
    both = scored & hired & ~np.isnan(outcomes)
    n = int(both.sum())
    if n < max(FEWEST_RATED, threshold):
        return None
    code = np.zeros(len(scores), dtype=np.int64) if family is None else np.unique(family, return_inverse=True)[1]
    s, y = _centred(scores[both], code[both]), _centred(outcomes[both], code[both])
    families = len(np.unique(code[both]))
    if not (s @ s > 0 and y @ y > 0) or n - families - 2 < 1:
        return None
    r = float(s @ y) / math.sqrt(float(s @ s) * float(y @ y))
    reach = -float(ndtri(alpha / 2)) / math.sqrt(n - families - 2)
    ends = [math.tanh(math.atanh(min(max(r, -1 + 1e-12), 1 - 1e-12)) + sign * reach) for sign in (-1, 1)]
    free = n - families - 1
    t = math.inf if abs(r) >= 1 else abs(r) * math.sqrt(free / (1 - r * r))
    spread = math.sqrt(float(s @ s) / (n - families))
    every = _centred(scores[scored], code[scored])
    spread_of_all = math.sqrt(float(every @ every) / max(1, int(scored.sum()) - len(np.unique(code[scored]))))
    u = spread_of_all / spread
    found = by_attribute(
        "outcome",
        groups,
        family,
        search,
        np.where(both, outcomes, np.nan),
        scores,
        within,
        threshold,
        1 - alpha,
    )
    return ScoreValidity(
        people=n,
        scored=int(scored.sum()),
        correlation=r,
        interval=Interval(ends[0], ends[1], FISHER, 1 - alpha),
        p=2 * float(stdtr(free, -t)),
        spread=spread,
        spread_of_all=spread_of_all,
        correlation_of_all=_of_all(r, u) if u > 1 else None,
        interval_of_all=Interval(_of_all(ends[0], u), _of_all(ends[1], u), FISHER, 1 - alpha) if u > 1 else None,
        within=within,
        tables=found.tables,
        adjusted=_adjusted(found.tables),
        left_out=found.left_out,
    )


def _of_all(r: float, u: float) -> float:
    return r * u / math.sqrt(1 + r * r * (u * u - 1))


def _centred(x: Floats, code: Ints) -> Floats:
    size = np.bincount(code)
    return np.asarray(x - (np.bincount(code, x) / np.maximum(size, 1))[code])


def _adjusted(tables: tuple[ScoreMeaning, ...]) -> tuple[PredictedGroup, ...]:
    rows = [(table.attribute, row) for table in tables for row in table.groups]
    tests = [p for _, row in rows for p in (row.level_p, row.slope_p)]
    known = iter(holm([p for p in tests if p is not None]))
    both = [None if p is None else float(next(known)) for p in tests]
    return tuple(
        PredictedGroup(attribute, row.group, both[2 * i], both[2 * i + 1]) for i, (attribute, row) in enumerate(rows)
    )
