"""Selection into inspection: only the inspected have a score, and they were not drawn at random.

The propensity e(x) = P(a score exists | what was known before) is a logistic regression on the features, numbers with
their squares. Weights r / max(e(x), r / MOST_WEIGHT), with r the share that has a score, make those with a score stand
for all; their effective number is (sum w)^2 / sum w^2. Where the law of the score given the features is right, weights
change nothing but its precision; where strata are coarse or the regression is wrong, they mend what inspection of the
more promising distorts. What neither can mend: selection on something that is not in the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditkit.fitting.regression import Design, logistic
from auditkit.fitting.strata import effective_size
from auditkit.model.groups import UNKNOWN
from auditkit.model.layout import Bools, Floats, Ints

MOST_WEIGHT = 10.0
"""The largest weight, in multiples of the average."""

TERCILES = ("low", "middle", "high")


@dataclass(frozen=True)
class Rate:
    """How many were inspected among some candidates."""

    name: str
    candidates: int
    inspected: int
    scored: int

    @property
    def rate(self) -> float | None:
        """The share that was inspected."""
        return self.inspected / self.candidates if self.candidates else None


@dataclass(frozen=True)
class Selection:
    """Who was inspected, by group and by tercile of the expected score."""

    by_group: tuple[Rate, ...]
    by_tercile: tuple[Rate, ...]
    scored: int
    effective_sample_size: float
    """How many equally weighted scores those with a score are worth, if they are to stand for all."""
    weighted: bool
    """Whether the fit used the weights."""


def propensity_weights(features: pd.DataFrame, scored: Bools) -> Floats:
    """A weight for every row with a score (mean 1), 0 for the others."""
    from scipy.special import expit

    rate = float(scored.mean())
    if rate in (0.0, 1.0):
        return scored.astype(np.float64)
    design = Design.of(features, squares=True)
    x = design.matrix(features)
    chance = expit(x @ logistic(x, scored.astype(np.float64), np.maximum(design.penalty, 1e-3)))
    weights = np.where(scored, rate / np.maximum(chance, rate / MOST_WEIGHT), 0.0)
    return weights * scored.sum() / weights.sum()


def terciles(expected: Floats) -> Ints:
    """0, 1, 2 for the lower, middle and upper third of the expected scores; equal ones stay together."""
    return np.searchsorted(np.quantile(expected, [1 / 3, 2 / 3]), expected, "left")


def known_groups(groups: Mapping[str, NDArray[Any]]) -> Iterator[tuple[str, Bools]]:
    """Every known group of every attribute, and who is in it; with its attribute's name where there are several."""
    for attribute, labels in groups.items():
        codes, names = pd.factorize(labels, sort=True)
        for code, label in enumerate(map(str, names)):
            if label != UNKNOWN:
                yield (f"{attribute}: {label}" if len(groups) > 1 else label), codes == code


def selection(
    groups: Mapping[str, NDArray[Any]],
    expected: Floats,
    inspected: Bools,
    scored: Bools,
    weights: Floats,
    *,
    weighted: bool,
) -> Selection:
    """The report on selection into inspection; `expected` is the mean of every candidate's prior."""
    third = terciles(expected)
    return Selection(
        by_group=tuple(_rate(name, who, inspected, scored) for name, who in known_groups(groups)),
        by_tercile=tuple(_rate(name, third == i, inspected, scored) for i, name in enumerate(TERCILES)),
        scored=int(scored.sum()),
        effective_sample_size=effective_size(weights[scored]),
        weighted=weighted,
    )


def _rate(name: str, who: Bools, inspected: Bools, scored: Bools) -> Rate:
    return Rate(name, int(who.sum()), int((who & inspected).sum()), int((who & scored).sum()))
