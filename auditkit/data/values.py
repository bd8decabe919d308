"""Cells of one column to numbers, dates, groups and ids, each with the problems of that column."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

import pandas as pd

from auditkit.data.dates import Dates, looks_like_dates, to_dates
from auditkit.data.numbers import UNCLEAR, ParsedNumbers, clean_ids, to_numbers
from auditkit.data.problems import Collector
from auditkit.data.vocabulary import plain, spoken
from auditkit.model.groups import UNKNOWN

_MOSTLY = 0.9
_LARGEST = 1e12


def among(cells: pd.Series[Any], words: Set[str]) -> pd.Series[Any]:
    """Which cells, made plain, are among the words."""
    index, found = pd.factorize(cells)
    return pd.Series([plain(word) in words for word in found], dtype=bool).take(index).set_axis(cells.index)


def is_blank(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Which cells hold no value at all."""
    return among(cells, spoken().words("values", "missing"))


class NumberReader:
    """Reads the number columns of one file, which share its decimal mark."""

    def __init__(self, collector: Collector, mark: str | None, separator: str | None) -> None:
        self._collector, self._mark, self._separator = collector, mark, separator

    def parse(self, cells: pd.Series[Any]) -> ParsedNumbers:
        return to_numbers(cells, self._mark, self._separator)

    def read(self, cells: pd.Series[Any], column: str, *, wrong: str = "not-a-number") -> pd.Series[Any]:
        """Numbers of a column; whatever is none is a problem."""
        numbers = self.parse(cells)
        self._collector.add(wrong, numbers.bad, column, cells)
        if numbers.doubtful:
            example = next(cell for cell in cells if UNCLEAR.fullmatch(cell))
            self._collector.add_column("ambiguous-number", column, example, value_mark=repr(numbers.decimal))
        return numbers.values

    def whole(self, cells: pd.Series[Any], column: str, wrong: str, *, required: bool = False) -> pd.Series[Any]:
        """Whole numbers from 0; others are problems and become NaN."""
        numbers = self.parse(cells)
        values = numbers.values
        bad = numbers.bad | (values < 0) | (values != values.round()) & values.notna() | (values > _LARGEST)
        self._collector.add(wrong, bad | (values.isna() & required), column, cells)
        return values.mask(bad)

    def prior(self, cells: pd.Series[Any], column: str) -> pd.Series[Any]:
        """Numbers if nearly all cells are numbers, categories otherwise."""
        numbers = self.parse(cells)
        filled = numbers.values.notna() | numbers.bad
        if filled.any() and (~numbers.bad[filled]).mean() >= _MOSTLY:
            self._collector.add("prior-not-number", numbers.bad, column, cells)
            return numbers.values
        return cells.where(~is_blank(cells), UNKNOWN).astype("category")


def read_dates(
    cells: pd.Series[Any], column: str, collector: Collector, role: str, table: pd.DataFrame | None = None
) -> pd.Series[Any]:
    """Dates of a column; the other dates of its table may settle whether the day or the month comes first."""
    dates = to_dates(cells)
    if dates.ambiguous.any() and table is not None:
        dates = _settled_by(table, cells)
    collector.add("ambiguous-date", dates.ambiguous, column, cells, role=role)
    collector.add("unreadable-date", dates.bad, column, cells)
    if len(dates.styles) > 1:
        listed = ", ".join(
            f"{count} like {style}" for style, count in sorted(dates.styles.items(), key=lambda s: -s[1])
        )
        collector.add_column("mixed-dates", column, len(dates.styles), other=listed)
    return dates.values


def _settled_by(table: pd.DataFrame, cells: pd.Series[Any]) -> Dates:
    """Dates of a column, read together with all others of the table."""
    words = [pd.Series(pd.unique(table[name]), dtype="str") for name in table]
    others = [found for found in words if looks_like_dates(found.head(50)).any()]
    dates = to_dates(pd.concat([cells, *others], ignore_index=True))
    own = [part.iloc[: len(cells)].set_axis(cells.index) for part in (dates.values, dates.bad, dates.ambiguous)]
    return Dates(own[0], own[1], own[2], to_dates(cells).styles)


def read_group(
    cells: pd.Series[Any], column: str, collector: Collector, same: Callable[[str], str | None] = lambda word: None
) -> pd.Series[Any]:
    """Group values: unknown ones become `unknown`, and spellings that differ in case or spaces become one.

    `same` gives words that mean the same one name: `f` and `female`.
    """
    index, found = pd.factorize(cells)
    words = pd.Series(found, dtype="str")
    often = pd.Series(index).value_counts().reindex(range(len(words)), fill_value=0)
    unknown = words.map(spoken().is_unknown).astype(bool)
    # not `plain`, for which '<30' and '>30' are the same
    key = words.map(lambda word: same(word) or " ".join(word.casefold().split()))
    usual = words.loc[often.sort_values(ascending=False, kind="stable").index].groupby(key, sort=False).first()
    named = key.map(usual).where(~unknown, UNKNOWN)
    for word, name in zip(words[(named != words) & ~unknown], named[(named != words) & ~unknown], strict=True):
        collector.add_column("group-spelling", column, word, other=repr(name))
    groups = named.astype("str").take(index).set_axis(cells.index)
    collector.add("unknown-group", groups == UNKNOWN, column, cells)
    return groups


def read_ids(
    cells: pd.Series[Any] | None, index: pd.Index[Any], column: str | None, collector: Collector
) -> pd.Series[Any]:
    """Candidate ids; where there is none, the row number serves."""
    numbered = pd.Series([f"row {row}" for row in index], index=index, dtype="str")
    if cells is None or column is None:
        return numbered
    ids = clean_ids(cells)
    collector.add("missing-candidate", ids == "", column)
    return ids.where(ids != "", numbered)
