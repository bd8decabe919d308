"""Thresholds such as `impact_ratio.min=0.8`: which measurements of a report cross them.

A threshold that cannot be measured counts as crossed: too little evidence is never a pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from auditkit.errors import InputError, Problem, nearest
from auditkit.report.reading import at, constrained, lowest_ratio

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Threshold:
    measure: str
    side: Literal["min", "max"]
    bound: float

    def __str__(self) -> str:
        return f"{self.measure}.{self.side}={self.bound:g}"


@dataclass(frozen=True)
class Crossing:
    """A threshold that was crossed: what was measured (None: it could not be), and of what."""

    threshold: Threshold
    value: float | None
    subject: str

    def __str__(self) -> str:
        measured = "could not be measured" if self.value is None else f"is {self.value:.6g}"
        about = f" ({self.subject})" if self.subject else ""
        return f"{self.threshold.measure} {measured}{about}: {self.threshold} is crossed"


Found = list[tuple[float | None, str]]


def _lowest(key: str) -> Callable[[Document], Found]:
    def measure(document: Document) -> Found:
        low = lowest_ratio(at(document, "disparity", key))
        return [(None, "") if low is None else (low.impact_ratio, f"group {low.group} against {low.reference}")]

    return measure


def _each(*path: str) -> Callable[[Document], Found]:
    def measure(document: Document) -> Found:
        return [(at(entry, *path), str(entry["label"])) for entry in constrained(document)] or [(None, "")]

    return measure


MEASURES: dict[str, Callable[[Document], Found]] = {
    "impact_ratio": _lowest("selected"),
    "impact_ratio.inspected": _lowest("inspected"),
    "price_of_fairness.ratio": _each("price_of_fairness", "ratio"),
    "price_of_fairness.loss": _each("price_of_fairness", "loss"),
    "unfilled_capacity": lambda document: [(at(document, "firm", "unfilled_capacity"), "the firm")],
    "problems": lambda document: [(at(document, "problems", "total"), "")],
}
"""What can be watched, and on what it was measured."""


def parse(text: str) -> Threshold:
    """`measure.min=number` or `measure.max=number`."""
    name, sign, number = text.partition("=")
    measure, _, side = name.strip().rpartition(".")
    place = f"--fail-on {text!r}"
    if not sign or side not in ("min", "max"):
        raise InputError(Problem(place, "is not MEASURE.min=NUMBER or MEASURE.max=NUMBER", "e.g. impact_ratio.min=0.8"))
    if measure not in MEASURES:
        raise InputError(Problem(place, f"there is no measure {measure!r}", nearest(measure, MEASURES)))
    try:
        bound = float(number)
    except ValueError:
        bound = math.nan
    if not math.isfinite(bound):
        raise InputError(Problem(place, f"{number.strip()!r} is not a number"))
    return Threshold(measure, "min" if side == "min" else "max", bound)


def crossed(document: Document, thresholds: Iterable[Threshold]) -> list[Crossing]:
    """Every crossing, in the order of the thresholds."""
    found = []
    for threshold in thresholds:
        for value, subject in MEASURES[threshold.measure](document):
            over = value is None or (value < threshold.bound if threshold.side == "min" else value > threshold.bound)
            if over:
                found.append(Crossing(threshold, value, subject))
    return found
