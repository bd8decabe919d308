"""What no table of applications has: a small file must not exhaust the machine.

A cell in the last corner of a sheet, a cell of ten megabytes or a file that unpacks to a thousand times its size is
refused with its place before memory is spent on it. The limits lie far above what any export of hiring data holds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from auditkit.errors import InputError, Problem

if TYPE_CHECKING:
    import pandas as pd

MOST_COLUMNS = 2_000
LONGEST_CELL = 100_000
"""Characters; Python's own csv module reads a little more."""

LONGEST_LINE = 1_000_000
"""Bytes between two line breaks of a text file."""

MOST_BLANK_ROWS = 10_000
"""Blank rows one after the other."""

ALWAYS_FINE = {"bytes": 10_000_000, "cells": 1_000_000}
"""How much a file may unpack to whatever its own size; a cell takes some hundred bytes of memory."""

MOST_CELLS = 50_000_000
"""Of a sheet, or of the rows of a query."""

MOST_EXPANSION = 100
"""Bytes, or cells, for each byte of the file beyond that; real workbooks unpack to five or twenty times their size."""

_CHUNK = 1 << 24


def check_width(place: str, columns: int) -> None:
    """Refuse a table that is wider than any export."""
    if columns > MOST_COLUMNS:
        what = f"has {columns:,} columns, and at most {MOST_COLUMNS:,} are read"
        raise InputError(Problem(place, what, "export only the columns that the audit needs"))


def check_expansion(place: str, size: int, unpacked: int, of_what: str = "bytes") -> None:
    """Refuse a file of `size` bytes that would unpack to far more than real files do."""
    if unpacked > max(ALWAYS_FINE[of_what], MOST_EXPANSION * size):
        what = f"would unpack from {size:,} bytes to {unpacked:,} {of_what}, which no real export does"
        raise InputError(Problem(place, what, "export the table again, as CSV"))


def check_lines(place: str, data: bytes) -> None:
    """Refuse text without line breaks, or with nothing but line breaks, for a megabyte or ten thousand lines."""
    for line in (b"\n", b"\r\n", b"\n\0", b"\0\n", b"\r\0\n\0", b"\0\r\0\n") if len(data) > MOST_BLANK_ROWS else ():
        if (start := data.find(line * (MOST_BLANK_ROWS + 1))) >= 0:
            raise InputError(blank_rows(f"{place}, row {_row(data, start)}"))
    if len(data) <= LONGEST_LINE:
        return
    last = -1  # where the line before ended
    for begin in range(0, len(data), _CHUNK):
        chunk = np.frombuffer(data, np.uint8, count=min(_CHUNK, len(data) - begin), offset=begin)
        ends = np.flatnonzero((chunk == 10) | (chunk == 13)) + begin
        starts = np.concatenate([[last], ends])
        stops = np.append(ends, begin + len(chunk))
        long = np.flatnonzero(stops - starts > LONGEST_LINE)
        if long.size:
            row = _row(data, int(starts[long[0]]) + 1)
            what = f"is a line of more than {LONGEST_LINE:,} bytes"
            raise InputError(Problem(f"{place}, row {row}", what, "export the table again, one line for each row"))
        last = int(starts[-1])


def check_cells(place: str, table: pd.DataFrame) -> None:
    """Refuse a cell that is longer than any cell of a table; the index holds the row numbers."""
    for name in table.columns:
        lengths = table[name].str.len().to_numpy(dtype=np.float64, na_value=0.0)
        if lengths.size and lengths.max() > LONGEST_CELL:
            row = table.index[int(lengths.argmax())]
            raise InputError(long_cell(f"{place}, row {row}", int(lengths.max())))


def long_cell(where: str, length: int | None = None) -> Problem:
    """A cell that is longer than any cell of a table."""
    size = "too many" if length is None else f"{length:,}"
    what = f"a cell holds {size} characters, and at most {LONGEST_CELL:,} are read"
    return Problem(where, what, "look for a quotation mark that is never closed, or leave that column out")


def blank_rows(where: str) -> Problem:
    """Rows so far below the others that a spreadsheet made them."""
    what = f"there are more than {MOST_BLANK_ROWS:,} blank rows on end"
    return Problem(where, what, "delete them, and whatever is far below the table")


def unprintable(text: str) -> Problem | None:
    """A NUL in a text, with its row: no table holds one, and other programs end the text there."""
    at = text.find("\0")
    if at < 0:
        return None
    row = 1 + len(re.findall(r"\r\n|\r|\n", text[:at]))
    return Problem(f"row {row}", "holds a NUL character, which no text has", "export the table again as CSV (UTF-8)")


def _row(data: bytes, at: int) -> int:
    return 1 + max(data.count(b"\n", 0, at), data.count(b"\r", 0, at))
