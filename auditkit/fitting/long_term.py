"""True values from outcomes: what a score proved to be worth, by group.

Among the hired with an outcome (performance y) and a score s,

    y' = a + b s + c_g + error,

where y' is the outcome in the unit of the score: as given, or moved and stretched so that it has the mean and the
standard deviation of the scores of the same people (`match`). Shrinkage pulls toward "the score is right":

    b = 1 + (b^ - 1) max(0, 1 - se(b^)^2 / (b^ - 1)^2),   b^ the slope within groups
    c_g = e_g n_g / (n_g + K),   e_g the group's mean of y' - a - b s,  K within over between of these (see `strata`)

Those hired are not all candidates, and hiring on the score narrows its range: b^ is that of the range seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from auditkit.fitting.strata import credibility, pseudo_count
from auditkit.model.layout import Floats

FEWEST_HIRED = 20
"""Outcomes needed to say anything."""

OutcomeScale = Literal["match", "given"]


@dataclass(frozen=True)
class TrueValue:
    """E(outcome | score, group) in the unit of the score; a group without outcomes has effect 0."""

    intercept: float
    slope: float
    effects: Mapping[str, float]
    outcomes: int
    scale: OutcomeScale

    def of(self, scores: Floats, group: str) -> Floats:
        return self.intercept + self.slope * scores + self.effects.get(group, 0.0)


def true_values(scores: Floats, outcomes: Floats, group: Any, scale: OutcomeScale) -> TrueValue | str:
    """The regression, or in words why there is none. Give only the hired who have both numbers."""
    n = len(scores)
    if n < FEWEST_HIRED:
        return f"{n} hired have both a score and an outcome; long-term utilities need {FEWEST_HIRED}, so there are none"
    names, code = np.unique(np.asarray(group, dtype=object).astype(str), return_inverse=True)
    if scores.std() == 0 or outcomes.std() == 0:
        return "all scores or all outcomes of the hired are equal, so there are no long-term utilities"
    y = outcomes
    if scale == "match":
        y = scores.mean() + (outcomes - outcomes.mean()) * scores.std() / outcomes.std()
    sizes = np.bincount(code)
    inner_s = scores - (np.bincount(code, scores) / sizes)[code]
    inner_y = y - (np.bincount(code, y) / sizes)[code]
    slope, power = 1.0, float(inner_s @ inner_s)
    if power > 0 and n > len(names) + 1:
        estimate = float(inner_s @ inner_y) / power
        residual = inner_y - estimate * inner_s
        error = float(residual @ residual) / (n - len(names) - 1) / power
        off = estimate - 1
        slope = 1 + off * max(0.0, 1 - error / off**2) if off else 1.0
    intercept = float(y.mean() - slope * scores.mean())
    rest = y - intercept - slope * scores
    ones = np.ones(n)
    pseudo = pseudo_count(rest[:, None], code, np.zeros(n, dtype=np.int64), ones)
    means = np.bincount(code, rest) / sizes
    effects = {str(g): float(m) * credibility(float(k), pseudo) for g, m, k in zip(names, means, sizes)}
    return TrueValue(intercept, slope, effects, n, scale)
