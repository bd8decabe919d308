"""The applications of an audit as arrays: what `disparities` measures.

Every array has one entry per row. Counts of any attribute and step are sums over cells of codes, so a million rows take
only a few passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditkit.errors import InputError, Problem
from auditkit.model.groups import UNKNOWN

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Column: TypeAlias = "pd.Series[Any] | NDArray[Any] | Sequence[object]"

PERIOD = "period"
"""The name of the segment made from dates."""
NO_VALUE = "(none)"
"""The value of a segment, requisition or period that a row lacks."""


@dataclass(frozen=True, eq=False)
class Applicants:
    """Columns of equal length; labels are text, and a missing label means an unknown category."""

    attributes: Mapping[str, Column]
    steps: Mapping[str, Column]
    """Step -> whether the application reached it, in the order of the process."""
    crossings: Mapping[str, Column] = field(default_factory=dict)
    strata: Column | None = None
    """Requisitions."""
    segments: Mapping[str, Column] = field(default_factory=dict)
    dates: Column | None = None
    persons: Column | None = None
    """Who applied, where people may apply more than once."""
    undecided: Column | None = None
    """Withdrawn or pending: in the rates of the steps they reached, and no later ones."""
    pending: Column | None = None
    """Those of the undecided who may still get a decision; None means all."""
    ordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Attributes that have bands in an order, and that order: their groups, or the finer `bands`."""
    bands: Mapping[str, Column] = field(default_factory=dict)
    """Attribute -> band of each row, finer than its groups."""
    favourable: bool = True
    """Whether it is good to be selected; False for dismissals, layoffs and the like."""

    def __post_init__(self) -> None:
        if not self.attributes or not self.steps:
            raise InputError(Problem("applications", "there must be at least one attribute and one step"))
        columns = {**self.attributes, **self.crossings, **self.steps, **self.segments}
        alone = {"strata": self.strata, "dates": self.dates, "persons": self.persons, "undecided": self.undecided}
        alone["pending"] = self.pending
        columns |= {name: column for name, column in alone.items() if column is not None}
        rows = len(next(iter(self.attributes.values())))
        wrong = [name for name, column in columns.items() if len(column) != rows]
        if wrong:
            raise InputError(Problem(f"column {name!r}", f"does not have {rows} rows") for name in wrong)

    @property
    def rows(self) -> int:
        return len(next(iter(self.attributes.values())))

    @cached_property
    def decided(self) -> Bools:
        """Applications with a final decision."""
        if self.undecided is None:
            return np.ones(self.rows, dtype=np.bool_)
        return ~np.asarray(self.undecided, dtype=np.bool_)

    @cached_property
    def counted(self) -> Bools:
        """In the rates of at least one step."""
        return np.logical_or.reduce([self.decided, *(self.reached(step) for step in self.steps)])

    def decided_at(self, step: str) -> Bools:
        """In the rates of a step: a final decision was made, or they reached the step."""
        return self.decided | self.reached(step)

    @cached_property
    def stratum(self) -> tuple[Ints, tuple[str, ...]]:
        """Code of each row's requisition, and their names; one stratum if there are none."""
        if self.strata is None:
            return np.zeros(self.rows, dtype=np.int64), ("",)
        return codes(self.strata)

    @cached_property
    def repeat_applicants(self) -> tuple[Ints, Ints] | None:
        """Counted rows of people who applied more than once, and a code of the person; None if all applied once."""
        if self.persons is None:
            return None
        rows = np.flatnonzero(self.counted)
        person = pd.factorize(pd.Series(np.asarray(self.persons)[rows]))[0].astype(np.int64)
        known = person >= 0  # each missing id counts as a different person
        rows, person = rows[known], person[known]
        often = np.bincount(person, minlength=1)[person] > 1
        if not often.any():
            return None
        return rows[often], pd.factorize(person[often])[0].astype(np.int64)

    @cached_property
    def segment_codes(self) -> dict[str, tuple[Ints, tuple[str, ...]]]:
        """Segment -> code of each row's value, and the values; also periods, if there are dates."""
        columns = dict(self.segments) if self.dates is None else {**self.segments, PERIOD: periods(self.dates)}
        return {name: codes(labels) for name, labels in columns.items()}

    def reached(self, step: str) -> Bools:
        return np.asarray(self.steps[step], dtype=np.bool_)

    def good(self, step: str) -> Bools:
        """Who has the favourable outcome at a step."""
        return self.reached(step) if self.favourable else ~self.reached(step)


def codes(labels: Column, missing: str | None = NO_VALUE) -> tuple[Ints, tuple[str, ...]]:
    """Codes in the order of the sorted labels; missing ones are -1, or labelled `missing`."""
    factors, index = pd.factorize(pd.Series(labels), sort=True)
    found = factors.astype(np.int64)
    names = tuple(str(name) for name in index)
    if missing is not None and np.any(found < 0):
        found = np.where(found < 0, len(names), found)
        names = (*names, missing)
    return found, names


def group_codes(labels: Column) -> tuple[Ints, tuple[str, ...]]:
    """Codes of the known groups; -1 for unknown."""
    found, names = codes(labels, None)
    if UNKNOWN in names:
        at = names.index(UNKNOWN)
        found = np.where(found == at, -1, found - (found > at))
        names = (*names[:at], *names[at + 1 :])
    return found, names


def periods(dates: Column) -> NDArray[Any]:
    """Labels of the quarters (2023-Q1), or of the months (2023-01) if all dates lie within half a year."""
    days = pd.Series(pd.to_datetime(pd.Series(np.asarray(dates)), errors="coerce"))
    known = days.dropna()
    if known.empty:
        return np.full(len(days), NO_VALUE, dtype=object)
    span = (known.max().year - known.min().year) * 12 + known.max().month - known.min().month
    if span < 6:
        labels = days.dt.strftime("%Y-%m")
    else:
        labels = days.dt.year.astype("Int64").astype("string") + "-Q" + days.dt.quarter.astype("Int64").astype("string")
    return labels.astype(object).where(days.notna(), NO_VALUE).to_numpy(object)
