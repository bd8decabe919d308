"""The three tables of New York City Local Law 144: sex; race/ethnicity; their intersection.

For each category with n applicants of which x selected, or scored above the median of the full sample:

    rate          x / n          ("selection rate" or "scoring rate")
    impact ratio  rate / the highest rate of a category that is not left out

A category under `minimum_share` (2 %) of the applicants of known category is left out of the ratio, and so cannot be
the reference; its n and rate and the reason are still stated. An applicant of unknown sex or race/ethnicity isn't in
any of the intersection's categories and counts there as unknown. The rule doesn't require any particular ratio.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue

from auditkit.disparity.plain import plain
from auditkit.errors import InputError, Problem
from auditkit.model.groups import UNKNOWN, comparable
from auditkit.plugins.local_law_144.outcomes import CountedOutcome

TWO_PER_CENT = Fraction(1, 50)


@dataclass(frozen=True)
class CategoryRow:
    """One category."""

    category: str
    applicants: int
    selected: int
    rate: Fraction
    impact_ratio: Fraction | None
    reference: bool
    reason: str
    """Why the impact ratio is missing; empty otherwise."""


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

    def to_json(self) -> dict[str, JsonValue]:
        document: dict[str, JsonValue] = plain(self)
        return document


def table(
    name: str, category: pd.Series[Any], outcome: CountedOutcome, minimum_share: float | Fraction = TWO_PER_CENT
) -> CategoryTable:
    """One table from the category of each row and its outcome."""
    names = category.astype("string").fillna(UNKNOWN)
    known = outcome.counted & (names != UNKNOWN).to_numpy(np.bool_)
    found = pd.Series(outcome.values[known]).groupby(names.to_numpy(object)[known]).agg(["size", "sum"])
    counts = {str(each): (int(n), int(x)) for each, n, x in found.itertuples()}
    least = Fraction(str(minimum_share))
    taken = comparable({each: n for each, (n, _) in counts.items()}, least)
    # if rates are equal, the larger category is the reference
    reference = max(taken, key=lambda each: (Fraction(counts[each][1], counts[each][0]), counts[each][0]), default=None)
    highest = None if reference is None else Fraction(counts[reference][1], counts[reference][0])
    rows = []
    for each, (n, x) in counts.items():
        ratio, reason = None, ""
        if each not in taken:
            reason = f"under {float(100 * least):g} % of the applicants: left out of the ratio"
        elif not highest:
            reason = "not defined: the highest rate is zero"
        else:
            ratio = Fraction(x, n) / highest
        rows.append(CategoryRow(each.replace("+", " / "), n, x, Fraction(x, n), ratio, each == reference, reason))
    return CategoryTable(
        name=name,
        outcome=outcome.name,
        rate_name="selection rate" if outcome.median is None else "scoring rate",
        rows=tuple(rows),
        applicants=sum(row.applicants for row in rows),
        selected=sum(row.selected for row in rows),
        unknown=int((outcome.counted & ~known).sum()),
        withdrawn=outcome.withdrawn,
        pending=outcome.pending,
        not_measured=outcome.not_measured,
        median=outcome.median,
        minimum_share=least,
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
