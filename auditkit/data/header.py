"""Find the header and the names of the columns."""

from __future__ import annotations

from typing import Any

import pandas as pd

from auditkit.data.dates import looks_like_dates
from auditkit.data.numbers import to_numbers
from auditkit.data.personal import is_contact
from auditkit.data.problems import Notice
from auditkit.errors import InputError, Problem

_HEADER_WITHIN = 50
"""Rows in which a header is looked for."""


def under_header(place: str, cells: pd.DataFrame, notices: list[Notice]) -> tuple[pd.DataFrame, int, tuple[str, ...]]:
    """Find the header and name the columns; the rows above are titles."""
    head = cells.head(200)
    filled = head.map(lambda cell: bool(cell.strip()))
    if not filled.to_numpy().any():
        raise InputError(Problem(place, "the file is empty", "export it again"))
    count = filled.sum(axis="columns")
    last = filled.apply(lambda row: int(row.to_numpy().nonzero()[0].max(initial=-1)), axis="columns")
    full, able, strict = count >= 0.6 * count.max(), None, None
    for number in head.index[full][:_HEADER_WITHIN]:
        names = head.loc[number][filled.loc[number]].str.strip()
        if names.map(is_contact).any():  # a row of data: its cells would be printed as names of columns
            continue
        if (~to_numbers(names).bad | looks_like_dates(names)).mean() < 0.5:
            able = number if able is None else able
            if last[number] >= last.max():
                strict = number
                break
    if _rownames_without_name(head, count):
        cells = cells.copy()
        cells.iloc[0] = ["", *cells.iloc[0, :-1]]
        row = head.index[0]
    elif able is not None:
        # a title may be as wide as the header, but does not reach as far to the right
        row = able if strict is None else strict
    else:
        what = "there is no header row: the first rows look like data"
        raise InputError(Problem(place, what, "put the column names in the first row"))
    if row != head.index[0]:
        notices.append(Notice("title-rows", f"the header was found in row {row}; the rows above it were skipped"))
    below = cells.loc[row:].iloc[1:]
    names = [str(name) for name in cells.loc[row]]
    if row != head.index[0] and (joined := _two_rows([str(name).strip() for name in cells.loc[row - 1]], names)):
        notices.append(Notice("two-header-rows", f"rows {row - 1} and {row} are read as one header"))
        names = joined
    titles = tuple(" ".join(filter(None, map(str, cells.loc[i]))) for i in cells.index[cells.index < row])
    return named(place, names, below, notices), int(row), titles


def _two_rows(above: list[str], names: list[str]) -> list[str] | None:
    """Names from two rows, where the upper one says of whom the lower, repeated ones are."""
    filled = [name.strip() for name in names if name.strip()]
    if len(set(filled)) == len(filled) or len({name for name in above if name}) < 2:
        return None
    result, current = [], ""
    for top, name in zip(above, names, strict=True):
        current = top or current
        result.append(f"{current} {name.strip()}".strip())
    return result if len(set(result)) == len(result) else None


def _rownames_without_name(head: pd.DataFrame, count: pd.Series[Any]) -> bool:
    """R writes row names without a header for them: one name fewer than cells, and the first column counts up."""
    if len(head) < 2 or head.shape[1] < 2 or head.iloc[0, -1] != "" or count.iloc[0] != head.shape[1] - 1:
        return False
    return bool((head.iloc[1:, 0] == [str(i) for i in range(1, len(head))]).all() and (head.iloc[1:, -1] != "").any())


def named(place: str, names: list[str], below: pd.DataFrame, notices: list[Notice]) -> pd.DataFrame:
    """The rows below a header, under its names: spaces tidied, names that occur again told apart."""
    names = [" ".join(name.split()) for name in names]
    kept, labels, twice, unnamed = [], [], [], []
    seen = {name for name in names if name}
    for i, name in enumerate(names):
        if not name:
            if (below.iloc[:, i].str.strip() == "").all():
                continue
            name = f"unnamed {i + 1}"
            unnamed.append(name)
        if name in labels:
            base, k = name, 2
            while name in seen:
                name, k = f"{base} ({k})", k + 1
            seen.add(name)
            twice.append(name)
        kept.append(i)
        labels.append(name)
    if unnamed:
        notices.append(Notice("unnamed-columns", f"columns without a name are called {', '.join(map(repr, unnamed))}"))
    if twice:
        notices.append(Notice("duplicate-headers", f"names that occur again are called {', '.join(map(repr, twice))}"))
    if not labels or below.empty:
        raise InputError(Problem(place, "has a header but no rows", "export it again with its data"))
    table = below.iloc[:, kept].copy()
    table.columns = pd.Index(labels)
    return table
