"""Delimited text: which encoding, which separator, how wide."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter

import pandas as pd

from auditkit.data.file_limits import check_width, long_cell, unprintable
from auditkit.errors import InputError, Problem

SEPARATORS = (",", ";", "\t", "|")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 200_000
CHUNK = 50_000
"""Rows that are parsed at once."""
_START = 1_000
"""Characters that tell a text from other files."""


def _error(place: str, what: str, fix: str = "") -> InputError:
    return InputError(Problem(place, what, fix))


def decode(place: str, data: bytes) -> tuple[str, str]:
    """Byte order mark, then zeros that only UTF-16 has, then strict UTF-8, then cp1252."""
    tries = [name for bom, name in _BOMS if data.startswith(bom)][:1]
    if not tries:
        even, odd = data[:_SAMPLE:2].count(0), data[1:_SAMPLE:2].count(0)
        half = min(len(data), _SAMPLE) / 2
        tries = (
            ["utf-16-le"]
            if odd > 0.3 * half > even
            else ["utf-16-be"]
            if even > 0.3 * half > odd
            else ["utf-8", "cp1252"]
        )
    for encoding in tries:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not text.strip():
            raise _error(place, "the file is empty", "export it again")
        head = text[:_SAMPLE]
        controls = sum(not c.isprintable() and not c.isspace() and ord(c) < 160 for c in head)
        if controls > 0.01 * len(head) or "\x00" in head[:_START]:
            break
        if (nul := unprintable(text)) is not None:
            raise InputError(Problem(f"{place}, {nul.where}", nul.what, nul.fix))
        if re.match(r"\s*<(!doctype html|html|table)", head, re.IGNORECASE):
            raise _error(place, "is a web page, not a table", "save it as CSV or .xlsx")
        return text, encoding
    raise _error(place, "is not a text file, nor .xlsx, nor Parquet", "export the table as CSV (UTF-8) or .xlsx")


def _records(text: str, separator: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True))


def _separator(head: str) -> str:
    """The separator with which most records have one same number of fields.

    csv.Sniffer takes decimal commas for separators and fails on one column, so the count is done here.
    """
    best, choice = (0.0, 1), ","
    for separator in SEPARATORS:
        widths = Counter(len(record) for record in _records(head, separator) if any(record))
        if not widths:
            continue
        width, often = max(widths.items(), key=lambda item: (item[1], item[0]))
        if width > 1 and (often / widths.total(), width) > best:
            best, choice = (often / widths.total(), width), separator
    return choice


def delimited(place: str, text: str) -> tuple[pd.DataFrame, str]:
    try:
        head = text[:_SAMPLE]
        if len(text) > _SAMPLE:
            head = head[: max(head.rfind("\n"), head.rfind("\r")) + 1] or head
        told = re.match(r"sep=(\t|[^\w\s\"'])\r?\n", head, re.IGNORECASE)
        separator = told.group(1) if told else _separator(head)
        width = max(len(record) for record in _records(head, separator))
        check_width(place, width)
        try:
            cells = _parse(text, separator, width)
        except pd.errors.ParserError as error:
            if (opened := re.search(r"EOF inside string starting at row (\d+)", str(error))) is not None:
                row = int(opened.group(1)) + 1
                raise _error(
                    f"{place}, row {row}", "a quotation mark is opened and never closed", "close or remove it"
                ) from None
            cells = _parse(text, separator, _full_width(place, text, separator, width))
    except csv.Error as error:
        if "field limit" in str(error):
            raise InputError(long_cell(place)) from None
        raise _error(place, f"is not a table: {error}", "export it again as CSV") from None
    if told:
        cells = cells.iloc[1:]
    return cells, separator


class _Pieces(io.TextIOBase):
    """A text as a file that is read piece by piece; io.StringIO would keep a copy of four bytes a character."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def read(self, size: int | None = -1, /) -> str:
        start, self.at = self.at, len(self.text) if size is None or size < 0 else self.at + size
        return self.text[start : self.at]


def _parse(text: str, separator: str, width: int) -> pd.DataFrame:
    """All cells, parsed in chunks: the parser's own text of a chunk takes several times the room of the result."""
    chunks = pd.read_csv(
        _Pieces(text),
        sep=separator,
        header=None,
        names=list(range(width)),
        index_col=False,
        dtype="str",
        na_filter=False,
        skip_blank_lines=False,
        skipinitialspace=True,
        low_memory=False,
        chunksize=CHUNK,
    )
    with chunks:
        parts = [chunk.fillna("") for chunk in chunks]
    cells = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    cells.index = pd.RangeIndex(1, len(cells) + 1)
    return cells


def _full_width(place: str, text: str, separator: str, width: int) -> int:
    """The width of the longest record if what overhangs is empty, or an error with each record that is too long."""
    longest, problems = width, []
    for row, record in enumerate(_records(text, separator), 1):
        longest = max(longest, len(record))
        if any(record[width:]):
            fix = "put quotation marks around the cell that holds the separator"
            problems.append(
                Problem(f"{place}, row {row}", f"has {len(record)} cells where the rows above have {width}", fix)
            )
    if problems:
        raise InputError(problems)
    check_width(place, longest)
    return longest
