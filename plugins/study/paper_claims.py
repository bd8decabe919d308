"""The paper's statements next to the measurements, and the written parts of a study.

A verdict is computed, never written down: with an estimate e and its standard error,

    agrees         the paper's statement is true of e (a stated number: within the tolerance named in the table)
    within error   it is true of some number within 2 standard errors of e
    differs        it is not
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from auditkit.model.layout import Floats
from auditkit.plugins.study.estimate import Estimate, standard_error
from auditkit.plugins.study.store import Data

Verdict = Literal["agrees", "within error", "differs"]


@dataclass(frozen=True)
class Claim:
    where: str
    says: str
    measured: str
    verdict: Verdict


def judged(distance: float, se: float) -> Verdict:
    """`distance` is how far the estimate is on the wrong side of the statement."""
    if distance <= 0:
        return "agrees"
    return "within error" if not math.isnan(se) and distance <= 2 * se else "differs"


def less(where: str, says: str, e: Estimate, limit: float, text: str | None = None) -> Claim:
    return Claim(where, says, text or e.text(), judged(e.value - limit, e.se))


def more(where: str, says: str, e: Estimate, limit: float, text: str | None = None) -> Claim:
    return Claim(where, says, text or e.text(), judged(limit - e.value, e.se))


def about(where: str, says: str, e: Estimate, value: float, tolerance: float, text: str | None = None) -> Claim:
    says = f"{says} (taken as {value:g} ± {tolerance:g})"
    return Claim(where, says, text or e.text(), judged(abs(e.value - value) - tolerance, e.se))


def true(where: str, says: str, measured: str, holds: bool) -> Claim:
    """A statement about the shape of a curve, checked on the means."""
    return Claim(where, says, measured, "agrees" if holds else "differs")


@dataclass(frozen=True, eq=False)
class Line:
    """A curve with its standard errors; `style` is solid, dashed or steps."""

    label: str
    x: Floats
    y: Floats
    se: Floats | None = None
    style: Literal["solid", "dashed", "steps"] = "solid"
    colour: int | None = None


def curve(
    label: str,
    x: Floats,
    values: Floats,
    style: Literal["solid", "dashed", "steps"] = "solid",
    colour: int | None = None,
) -> Line:
    """The mean of (instances, points)."""
    return Line(label, x, values.mean(axis=0), standard_error(values), style, colour)


@dataclass(frozen=True, eq=False)
class Panel:
    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    level: float | None = None
    """A horizontal line to compare with."""


@dataclass(frozen=True, eq=False)
class StudyTable:
    """For the CSV file, and in the page if it's short."""

    columns: tuple[str, ...]
    rows: tuple[tuple[float | str, ...], ...]


@dataclass(frozen=True, eq=False)
class Findings:
    claims: tuple[Claim, ...]
    panels: tuple[Panel, ...]
    table: StudyTable
    shown: tuple[tuple[str, StudyTable], ...] = ()
    """Tables for the page, each with its heading."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Study:
    name: str
    title: str
    paper: str
    """Which figures and tables of the paper it repeats."""
    sweeps: tuple[str, ...]
    build: Callable[[Mapping[str, Data]], Findings] = field(repr=False)


def summary(data: Data, numbers: Mapping[str, Floats]) -> StudyTable:
    """Mean and standard error of every number at every point; a number is (instances, points)."""
    keys = list(data.keys)
    columns = [*keys, *(f"{name}{end}" for name in numbers for end in ("", "_se"))]
    parts = [data.keys[key] for key in keys]
    for values in numbers.values():
        parts += [values.mean(axis=0), standard_error(values)]
    return StudyTable(tuple(columns), tuple(tuple(float(x) for x in row) for row in zip(*parts, strict=True)))


def joined(tables: Sequence[tuple[str, StudyTable]]) -> StudyTable:
    """Tables below each other, with the name of each in the first column; absent cells stay empty."""
    columns = list(dict.fromkeys(column for _, table in tables for column in table.columns))
    rows: list[tuple[float | str, ...]] = []
    for name, table in tables:
        place = {column: i for i, column in enumerate(table.columns)}
        rows += [(name, *(row[place[c]] if c in place else "" for c in columns)) for row in table.rows]
    return StudyTable(("sweep", *columns), tuple(rows))


def ratios(data: Data, long: bool = False) -> Floats:
    """The price of fairness of every instance and point: constrained over unconstrained utility."""
    end = "_long" if long else ""
    return data.columns[f"best{end}"] / data.columns[f"free{end}"]


def with_ratios(data: Data) -> Data:
    """The data with `ratio`, `long_ratio`, `loss` and `long_gain` as further numbers."""
    data.columns.setdefault("ratio", ratios(data))
    data.columns.setdefault("long_ratio", ratios(data, long=True))
    data.columns.setdefault("loss", data.columns["free"] - data.columns["best"])
    data.columns.setdefault("long_gain", data.columns["best_long"] - data.columns["free_long"])
    return data


def monotone(values: Iterable[float], rising: bool = True, slack: float = 0.0) -> bool:
    steps = np.diff(np.array(list(values)))
    return bool((steps >= -slack).all() if rising else (steps <= slack).all())
