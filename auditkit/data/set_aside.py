"""Rows that are no applications: headers that occur again, totals, headings between the rows, and rows about no person.

A list that people keep by hand, a board of cards or the answers to a form hold more than applications: the day above
those who came on it, a card that explains the board, a task, an answer that somebody sent to try the form. Such a row
lacks what nearly all others have. Each is left out and said, never counted.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.columns import describe, is_protected
from auditkit.data.numbers import is_number
from auditkit.data.problems import Collector
from auditkit.data.raw_table import RawTable
from auditkit.data.shapes import hides_numbers
from auditkit.data.vocabulary import plain, spoken
from auditkit.errors import InputError, Problem

_FOOT = 4
"""Rows at the end of a table that may be totals or notes, whatever they are called."""
_NEARLY_ALL, _MOST = 0.95, 0.9
"""Share of the other rows that have a cell which a row about no person lacks."""
_FEWEST_ROWS = 20
_FEW_ROWS = 0.1
"""Share of the rows that may be about no person."""
_SORTS = 12
"""Different values of a column that may say of what sort a row is."""
_LONGEST_NAME = 60
_LONGEST_LIST = 20_000
"""Rows of a table above which no system exports anything but people."""
_AT_EXAMPLE = re.compile(r"@example\.(?:com|org|net)$")
"""The addresses of invented people: documentation writes them so, and they say nothing about a single row."""
_SIGN = re.compile(r"^\W*\w\W*$|\d")
"""A mark of one letter, or a number."""


def set_aside(raw: RawTable) -> tuple[RawTable, Collector, dict[str, int], tuple[str, ...]]:
    """The table without rows that are no applications, how many left and why, and what a reader must know of it."""
    collector, left, table = Collector(), {}, raw.table
    names = [str(name) for name in table.columns]
    same = np.sum([(table[name] == name).to_numpy() for name in names], axis=0)
    first = table.iloc[:, 0]
    for i in range(1, min(3, table.shape[1])):
        first = first.where(first != "", table.iloc[:, i])
    assumptions = []
    for code, find, column in (
        ("repeated-header", lambda rows: (same >= 2) & (same >= 0.8 * len(names)), ""),
        ("total-row", lambda rows: _totals(rows, first.loc[rows.index]), names[0]),
        ("heading-row", _headings, names[0]),
        ("not-a-person", _no_people, names[0]),
    ):
        flags = pd.Series(find(table), index=table.index)
        if flags.any():
            collector.add(code, flags, column, first[flags.index] if column else None)
            left[code] = int(flags.sum())
            if code == "not-a-person":
                assumptions.append(_said(table, flags))
            table = table[~flags]
    if table.empty:
        raise InputError(Problem(raw.source.path, "has no row that is an application"))
    return replace(raw, table=table), collector, left, tuple(assumptions)


def _filled(table: pd.DataFrame) -> pd.Series[Any]:
    return pd.Series(np.sum([(table[name] != "").to_numpy() for name in table], axis=0), index=table.index)


def _totals(table: pd.DataFrame, first: pd.Series[Any]) -> pd.Series[Any]:
    """Rows of totals, and at the foot notes such as who exported the file."""
    codes, found = pd.factorize(first)
    words = pd.Series(found, dtype="str")
    known = spoken().words("values", "totals") - {"all", "overall"}
    worded = ~words.str.contains("[0-9]")  # no word for a total has a digit, and most ids have one
    is_total = np.zeros(len(words), dtype=bool)
    is_total[worded] = [plain(word) in known for word in words[worded]]
    total: pd.Series[Any] = pd.Series(is_total[codes], index=table.index)
    if total.any() and hides_numbers(table):
        total &= False  # totals of parts that are hidden are needed
    filled = _filled(table)
    foot = pd.Series(np.arange(len(table)) >= len(table) - _FOOT, index=table.index) & (len(table) > 8)
    starts = pd.Series([plain(word).startswith(spoken().phrases("values", "total_starts")) for word in found])
    started = pd.Series(starts.to_numpy(dtype=bool)[codes], index=table.index)
    total |= foot & started & (filled < 0.7 * filled.median())
    notes = (filled[::-1] == 1).cumprod()[::-1].astype(bool)  # all rows from here to the end have one cell
    total |= notes & (filled[~notes].median() >= 3)
    total |= foot & (filled == 1) & (filled.median() >= 4)
    below = ((table.index.to_series().diff() > 1) & foot).cumsum() > 0  # a blank line of the file
    total |= foot & below & (2 * filled <= filled.median())
    for row in table.index[started & ~total]:  # among the rows, where all that is counted are numbers
        cells = [cell for cell in table.loc[row] if cell and cell != first[row]]
        total[row] = bool(cells) and all(map(is_number, cells))
    return total


def _headings(table: pd.DataFrame) -> pd.Series[Any]:
    """Rows with one cell between rows of several: the day, the office or the round of the rows below."""
    filled = _filled(table)
    alone = (filled == 1) & (filled.median() >= 4)
    if not alone.any() or alone.mean() > 2 * _FEW_ROWS:
        return alone & False
    for name in map(str, table):
        here = alone & (table[name] != "")
        if here.any():  # an id, or a mark, like those of the other rows may be all that is known of somebody
            usual = set(table[name][~alone].map(_shape))
            shapes = table[name].where(table[name].str.contains(_SIGN), "").map(_shape)
            alone &= ~(here & (shapes != "") & shapes.isin(usual))
    return alone


def _shape(cell: str) -> str:
    """`F-12/b` is `a-9/a`: what kind of text a cell is."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", cell))


def _no_people(table: pd.DataFrame) -> pd.Series[Any]:
    """Rows that say that they are about no person, or that lack a group and more and are unlike all others."""
    none = pd.Series(False, index=table.index)
    groups = [str(name) for name in table if is_protected(str(name))]
    if not _FEWEST_ROWS <= len(table) <= _LONGEST_LIST or not groups:
        return none
    blank = table == ""
    found = _say_so(table, blank) | _marked(table) | _of_another_sort(table, blank, groups)
    found |= _unnamed(table, blank, groups)
    return found if found.mean() <= _FEW_ROWS else none


def _say_so(table: pd.DataFrame, blank: pd.DataFrame) -> pd.Series[Any]:
    """Rows whose name, title or address says so: `TEST please ignore`; a mere `Template` only where more is missing."""
    found = pd.Series(False, index=table.index)
    sure, maybe = (spoken().pattern("rows", key) for key in ("no_person", "maybe_no_person"))
    lacks = blank.loc[:, blank.mean() < 1 - _NEARLY_ALL].sum(axis=1)
    for name in map(str, table):
        cells = table[name]
        if is_protected(name) or cells.nunique() < 0.5 * len(cells) or cells.str.len().median() > _LONGEST_NAME / 2:
            continue
        short = (cells.str.len() <= _LONGEST_NAME) & ~cells.str.contains(_AT_EXAMPLE)
        worded = cells.str.contains("[^\\W\\d_]{3}", regex=True) & short
        texts = cells[worded].map(plain)
        least = [0 if sure.search(t) else _lacking(maybe, t) for t in texts]
        found |= (lacks[worded] >= least).reindex(table.index, fill_value=False)
    return found


def _marked(table: pd.DataFrame) -> pd.Series[Any]:
    """Rows that a column marks as tests of the system: `is_test`."""
    found, words = pd.Series(False, index=table.index), spoken()
    for name in map(str, table):
        if words.pattern("rows", "marks").fullmatch(plain(name)):
            found |= table[name].map(words.mark).eq(True)
    return found


def _lacking(words: re.Pattern[str], text: str) -> float:
    """How many cells must be missing before a text with such a word is about no person."""
    places = [found.span() for found in words.finditer(text)]
    whole, edge = (0, len(text)) in places, any(start == 0 or end == len(text) for start, end in places)
    return 1 if whole else 2 if edge else 3 if places else np.inf


def _of_another_sort(table: pd.DataFrame, blank: pd.DataFrame, groups: list[str]) -> pd.Series[Any]:
    """Rows of one value of a column, all without a group, with an end of their own or none: tasks, cards.

    People of all kinds end in the same ways. One row must lack more than the group.
    """
    found = pd.Series(False, index=table.index)
    without = blank[groups].all(axis=1)
    if not without.any() or (~without).mean() < _MOST:
        return found
    told = [str(name) for name in table if name not in groups and 2 <= table[name].nunique() <= _SORTS]
    theirs = {name: ~table[name].isin(table[name][~without]) & ~blank[name] for name in told}
    for name in told:
        for value in table[name][theirs[name]].unique():
            rows = table[name] == value
            others = [other for other in told if other != name and theirs[other][rows].all()]
            lacks = (blank[rows].all() & (blank[~rows].mean() < 1 - _MOST)).drop(groups)
            ended = any(describe(str(other), table[other]).statuses >= 0.5 for other in lacks.index[lacks])
            if ended or (others and (lacks.any() or rows.sum() > 1)):
                found |= rows
    return found


def _unnamed(table: pd.DataFrame, blank: pd.DataFrame, groups: list[str]) -> pd.Series[Any]:
    """Rows without a group and without anything that tells rows apart, such as ids and names: sums, notes."""
    telling = [
        name
        for name in map(str, table)
        if name not in groups and table[name][~blank[name]].nunique() > _MOST * len(table)
    ]
    found = blank[groups].all(axis=1) & blank[telling].all(axis=1)
    return found & bool(telling) & bool((~blank[groups].all(axis=1)).mean() >= _MOST)


def _said(table: pd.DataFrame, flags: pd.Series[Any]) -> str:
    number = int(flags.sum())
    blank = table == ""
    lacks = [str(name) for name in table if blank[name][flags].all() and blank[name][~flags].mean() < 1 - _MOST]
    rows = f"{number:,} rows are" if number > 1 else "1 row is"
    more = f": {', '.join(map(repr, lacks[:4]))} {'is' if len(lacks) == 1 else 'are'} empty there" if lacks else ""
    return f"{rows} not counted, as {'they are' if number > 1 else 'it is'} not about an applicant{more}"
