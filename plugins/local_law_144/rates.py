"""The three tables of New York City Local Law 144 (sex; race/ethnicity; their intersection), and dated legal texts.

For each category with n applicants of which x selected, or scored above the median of the full sample:

    rate          x / n          ("selection rate" or "scoring rate")
    impact ratio  rate / the highest rate of a category that is not left out

A category under `minimum_share` (2 %) of the applicants of known category is left out of the ratio, and so cannot be
the reference; its n and rate and the reason are still stated. An applicant with an unknown sex or race/ethnicity is in
none of the intersection's categories and counts there as unknown. The rule names no ratio to be reached.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from auditkit.disparity import UNKNOWN, CountedOutcome, Group, Status, compare, hidden, plain, shown, tally
from auditkit.errors import InputError, Problem, nearest

TWO_PER_CENT = Fraction(1, 50)
BETWEEN = " / "
"""Joins the two parts of an intersection's category."""


@dataclass(frozen=True)
class Convention:
    """A convention or legal text in our own words, and when it was last read."""

    key: str
    name: str
    text: str
    read_on: date
    source: str


def conventions() -> Mapping[str, Convention]:
    """The texts of `conventions.toml` by key."""
    document = tomllib.loads((files("auditkit.plugins.local_law_144") / "conventions.toml").read_text(encoding="utf-8"))
    return {key: Convention(key=key, **entry) for key, entry in document.items()}


@dataclass(frozen=True)
class CategoryRow:
    """One category. `applicants` is None only where it is suppressed; `shown` is what to print."""

    category: str
    parts: tuple[str, ...]
    applicants: int | None
    shown: str
    selected: int | None
    rate: Fraction | None
    impact_ratio: Fraction | None
    reference: bool
    reason: str
    """Why there is no impact ratio, or no number; empty otherwise."""


@dataclass(frozen=True)
class CategoryTable:
    """One of the three. Rows read = applicants + unknown + withdrawn + pending + not_measured."""

    name: str
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


@dataclass(frozen=True)
class LawStatement:
    """What the summary says in words; the user supplies it, and `missing` names what is still to be said."""

    data_source: str = ""
    explanation: str = ""
    audit_date: date | None = None
    distribution_date: date | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in self.__dataclass_fields__ if not getattr(self, name))


@dataclass(frozen=True)
class Summary:
    """The tables that the data supports; `notes` says what is left out and why."""

    sex: CategoryTable | None
    race: CategoryTable | None
    intersection: CategoryTable | None
    statement: LawStatement
    notes: tuple[str, ...]
    convention: Convention

    @property
    def tables(self) -> tuple[CategoryTable, ...]:
        return tuple(table for table in (self.sex, self.race, self.intersection) if table is not None)

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = plain(self)
        document["statement"]["missing"] = list(self.statement.missing)
        return document


def cross(sex: pd.Series[Any], race: pd.Series[Any]) -> pd.Series[Any]:
    """The intersection; unknown where either is."""
    first, second = (column.astype("string").fillna(UNKNOWN).reset_index(drop=True) for column in (sex, race))
    known = (first != UNKNOWN) & (second != UNKNOWN)
    return (first + BETWEEN + second).where(known, UNKNOWN)


def table(
    name: str,
    category: pd.Series[Any],
    outcome: CountedOutcome,
    minimum_share: float | Fraction = TWO_PER_CENT,
    parts: Mapping[str, tuple[str, ...]] | None = None,
) -> CategoryTable:
    """One table from the category of each row and its outcome. `parts` splits the categories of an intersection."""
    counts, unknown = tally(category, outcome)
    found = compare(counts, minimum_share=minimum_share, outcome=outcome.name)
    return CategoryTable(
        name=name,
        rate_name="selection rate" if outcome.median is None else "scoring rate",
        rows=tuple(_row(group, (parts or {}).get(group.group, (group.group,))) for group in found.groups),
        applicants=found.applicants,
        selected=found.selected,
        unknown=unknown,
        withdrawn=outcome.withdrawn,
        pending=outcome.pending,
        not_measured=outcome.not_measured,
        median=outcome.median,
        minimum_share=found.minimum_share,
    )


def _row(group: Group, parts: tuple[str, ...]) -> CategoryRow:
    reason = group.reason if group.status is Status.EXCLUDED else ""
    if not reason and group.impact_ratio is None:
        reason = "not defined: the highest rate is zero"
    return CategoryRow(
        category=group.group,
        parts=parts,
        applicants=group.applicants,
        shown=group.shown,
        selected=group.selected,
        rate=group.rate,
        impact_ratio=group.impact_ratio,
        reference=group.status is Status.REFERENCE,
        reason=reason,
    )


def summarise(
    outcome: CountedOutcome,
    sex: pd.Series[Any] | None = None,
    race: pd.Series[Any] | None = None,
    *,
    minimum_share: float | Fraction = TWO_PER_CENT,
    statement: LawStatement | None = None,
) -> Summary:
    """The tables for the columns given, row by row the same applicants as `outcome`."""
    notes, tables = [], {}
    columns = {"sex": sex, "race/ethnicity": race}
    parts: dict[str, tuple[str, ...]] = {}
    if sex is not None and race is not None:
        columns["intersection"] = cross(sex, race)
        parts = {f"{a}{BETWEEN}{b}": (str(a), str(b)) for a in sex.dropna().unique() for b in race.dropna().unique()}
    for name, column in columns.items():
        if column is None:
            notes.append(f"no column for {name}: its table and the intersection are left out")
        elif len(column) != len(outcome.values):
            raise InputError(Problem(name, f"has {len(column)} rows, but the outcome has {len(outcome.values)}"))
        elif not _anyone(column, outcome):
            notes.append(f"no applicant with a known {name} and outcome: the table is left out")
        else:
            tables[name] = table(name, column, outcome, minimum_share, parts)
    return Summary(
        sex=tables.get("sex"),
        race=tables.get("race/ethnicity"),
        intersection=tables.get("intersection"),
        statement=statement or LawStatement(),
        notes=tuple(notes),
        convention=conventions()["local_law_144"],
    )


def _anyone(column: pd.Series[Any], outcome: CountedOutcome) -> bool:
    known = (column.astype("string").fillna(UNKNOWN) != UNKNOWN).to_numpy(np.bool_)
    return bool((known & outcome.counted).any())


def of_table(
    history: pd.DataFrame,
    sex: str | None = "group:sex",
    race: str | None = "group:race",
    outcome: str = "selected",
    *,
    minimum_share: float | Fraction = TWO_PER_CENT,
    statement: LawStatement | None = None,
) -> Summary:
    """The same from a history table; `sex` and `race` name columns, `outcome` is `score` for the scored variant."""
    names = [str(name) for name in history.columns]
    problems = [
        Problem(f"column {name!r}", "is not in the table", nearest(name, names))
        for name in (sex, race)
        if name is not None and name not in names
    ]
    if problems:
        raise InputError(problems)
    by_sex, by_race = (None if name is None else history[name] for name in (sex, race))
    seen = CountedOutcome.of_table(history, outcome)
    return summarise(seen, by_sex, by_race, minimum_share=minimum_share, statement=statement)


def suppress(summary: Summary, threshold: int = 5) -> Summary:
    """The same without small categories; no sum over a sex or a race gives one of the intersection away."""
    sex, race, both = (
        None if part is None else _suppressed(part, threshold)
        for part in (summary.sex, summary.race, summary.intersection)
    )
    return replace(summary, sex=sex, race=race, intersection=both)


def _suppressed(part: CategoryTable, threshold: int) -> CategoryTable:
    applicants = {row.category: row.applicants for row in part.rows if row.applicants is not None}
    lines: list[list[str]] = [list(applicants)]
    for i in range(max(len(row.parts) for row in part.rows) if len(part.rows[0].parts) > 1 else 0):
        for value in dict.fromkeys(row.parts[i] for row in part.rows):
            lines.append([row.category for row in part.rows if row.parts[i] == value])
    reference = next((row.category for row in part.rows if row.reference), None)
    out = hidden(applicants, threshold, last=reference, lines=lines)
    rows = []
    for row in part.rows:
        if row.category in out:
            text = shown(row.applicants or 0, threshold)
            blank = replace(row, applicants=None, shown=text, selected=None, rate=None, impact_ratio=None)
            rows.append(replace(blank, reason=Status.SUPPRESSED.text))
        elif reference in out:
            rows.append(replace(row, impact_ratio=None, reason="the category with the highest rate is not shown"))
        else:
            rows.append(row)
    return replace(part, rows=tuple(rows))
