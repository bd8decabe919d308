"""The three tables of New York City Local Law 144: sex; race/ethnicity; their intersection.

For each category with n applicants of which x selected, or scored above the median of the full sample:

    rate          x / n          ("selection rate" or "scoring rate")
    impact ratio  rate / the highest rate of a category that is not left out

A category under `minimum_share` (2 %) of the applicants of known category is left out of the ratio, and so cannot be
the reference; its n and rate and the reason are still stated. An applicant with an unknown sex or race/ethnicity is in
none of the intersection's categories and counts there as unknown. The rule names no ratio to be reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from auditkit.disparity import CountedOutcome, Group, Status, compare, plain, tally
from auditkit.errors import InputError, Problem
from auditkit.model.groups import UNKNOWN

TWO_PER_CENT = Fraction(1, 50)


@dataclass(frozen=True)
class CategoryRow:
    """One category."""

    category: str
    applicants: int
    selected: int
    rate: Fraction | None
    impact_ratio: Fraction | None
    reference: bool
    reason: str
    """Why there is no impact ratio; empty otherwise."""


@dataclass(frozen=True)
class CategoryTable:
    """One of the three. Rows read = applicants + unknown + withdrawn + pending + not_measured."""

    name: str
    outcome: str
    rate_name: str
    rows: tuple[CategoryRow, ...]
    applicants: int
    selected: int
    unknown: int
    withdrawn: int
    pending: int
    not_measured: int
    median: float | None
    minimum_share: Fraction

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = plain(self)
        return document


def table(
    name: str, category: pd.Series[Any], outcome: CountedOutcome, minimum_share: float | Fraction = TWO_PER_CENT
) -> CategoryTable:
    """One table from the category of each row and its outcome."""
    counts, unknown = tally(category, outcome)
    found = compare(counts, minimum_share=minimum_share, outcome=outcome.name)
    return CategoryTable(
        name=name,
        outcome=outcome.name,
        rate_name="selection rate" if outcome.median is None else "scoring rate",
        rows=tuple(map(_row, found.groups)),
        applicants=found.applicants,
        selected=found.selected,
        unknown=unknown,
        withdrawn=outcome.withdrawn,
        pending=outcome.pending,
        not_measured=outcome.not_measured,
        median=outcome.median,
        minimum_share=found.minimum_share,
    )


def _row(group: Group) -> CategoryRow:
    reason = group.reason if group.status is Status.EXCLUDED else ""
    if not reason and group.impact_ratio is None:
        reason = "not defined: the highest rate is zero"
    return CategoryRow(
        category=group.group.replace("+", " / "),
        applicants=group.applicants or 0,
        selected=group.selected or 0,
        rate=group.rate,
        impact_ratio=group.impact_ratio,
        reference=group.status is Status.REFERENCE,
        reason=reason,
    )


def tables(
    outcome: CountedOutcome, columns: Mapping[str, pd.Series[Any]], minimum_share: float | Fraction = TWO_PER_CENT
) -> tuple[list[CategoryTable], list[str]]:
    """A table for each column of categories, row by row the same applicants as `outcome`; and what is left out."""
    found, notes = [], []
    for name, column in columns.items():
        if len(column) != len(outcome.values):
            raise InputError(Problem(name, f"has {len(column)} rows, but the outcome has {len(outcome.values)}"))
        known = (column.astype("string").fillna(UNKNOWN) != UNKNOWN).to_numpy(np.bool_)
        if (known & outcome.counted).any():
            found.append(table(name, column, outcome, minimum_share))
        else:
            notes.append(f"no applicant with a known {name} and outcome: the table is left out")
    return found, notes
