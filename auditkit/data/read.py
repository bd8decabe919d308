"""A file becomes a table of text: bytes, encoding, separator, header row, row numbers as in the file.

Nothing is interpreted here; every cell stays the text that stands in the file, without spaces around it. What kind of
file it is, its first bytes say, not its name. Row numbers count the records of the file from 1, so in a spreadsheet
they are the numbers at the left.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import hashlib
import io
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from auditkit.data.header import under_header
from auditkit.data.problems import Notice
from auditkit.errors import InputError, Problem

SEPARATORS = (",", ";", "\t", "|")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FOREIGN = (
    (b"\xd0\xcf\x11\xe0", "an old Excel file or one with a password", "save it as .xlsx without a password, or as CSV"),
    (b"%PDF", "a PDF file", "export the table as CSV or .xlsx"),
    (b"\x1f\x8b", "a compressed file", "unpack it first"),
    (b"SQLite format 3", "a SQLite database", "export the table as CSV"),
    (b"\x89PNG", "an image", "export the table as CSV or .xlsx"),
)
_SAMPLE = 200_000


@dataclass(frozen=True)
class Source:
    """Where the data came from; `rows` are those below the header that are not blank."""

    path: str
    rows: int
    sha256: str
    encoding: str | None
    separator: str | None
    header_row: int


@dataclass(frozen=True, eq=False)
class RawTable:
    """Text cells ("" where empty); the index holds the row numbers of the file."""

    table: pd.DataFrame
    source: Source
    notices: tuple[Notice, ...]


def read(path: str | Path, *, sheet: str | None = None) -> RawTable:
    """Read a CSV, TSV, .xlsx or Parquet file."""
    place, data = str(path), _bytes(Path(path))
    digest = hashlib.sha256(data).hexdigest()
    encoding = separator = None
    notices: list[Notice] = []
    if data.startswith(b"PAR1"):
        table, header_row = _parquet(place, data), 0
    else:
        if data.startswith(b"PK\x03\x04"):
            cells = _excel(place, data, sheet, notices)
        else:
            text, encoding = _decode(place, data)
            if encoding == "cp1252":
                notices.append(Notice("encoding", "the file is not UTF-8; it was read as Windows-1252 (cp1252)"))
            cells, separator = _delimited(place, text)
        table, header_row = under_header(place, cells, notices)
    for name in table.columns:
        table[name] = table[name].str.strip()
    blank = (table == "").all(axis="columns")
    if blank.all():
        raise _error(place, "has a header but no rows", "export it again with its data")
    if blank.any():
        notices.append(Notice("blank-rows", f"{int(blank.sum())} blank rows were passed over"))
        table = table[~blank]
    return RawTable(table, Source(place, len(table), digest, encoding, separator, header_row), tuple(notices))


def _error(place: str, what: str, fix: str = "") -> InputError:
    return InputError(Problem(place, what, fix))


def _bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        beside = [p.name for p in path.parent.iterdir() if p.is_file()] if path.parent.is_dir() else []
        close = difflib.get_close_matches(path.name, beside, n=1)
        raise _error(str(path), "there is no such file", f"did you mean {close[0]!r}?" if close else "") from None
    except IsADirectoryError:
        raise _error(str(path), "is a folder, not a file", "name the file in it") from None
    except (OSError, ValueError) as error:
        raise _error(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not data.strip():
        raise _error(str(path), "the file is empty", "export it again")
    for start, what, fix in _FOREIGN:
        if data.startswith(start):
            raise _error(str(path), f"is {what}", fix)
    return data


def _decode(place: str, data: bytes) -> tuple[str, str]:
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
        if controls > 0.01 * len(head) or "\x00" in head:
            break
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


def _delimited(place: str, text: str) -> tuple[pd.DataFrame, str]:
    try:
        head = text[:_SAMPLE]
        if len(text) > _SAMPLE:
            head = head[: max(head.rfind("\n"), head.rfind("\r")) + 1] or head
        told = re.match(r"sep=(\t|[^\w\s\"'])\r?\n", head, re.IGNORECASE)
        separator = told.group(1) if told else _separator(head)
        width = max(len(record) for record in _records(head, separator))
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
        raise _error(place, f"is not a table: {error}", "export it again as CSV") from None
    if told:
        cells = cells.iloc[1:]
    return cells, separator


def _parse(text: str, separator: str, width: int) -> pd.DataFrame:
    cells = pd.read_csv(
        io.StringIO(text, newline=""),
        sep=separator,
        header=None,
        names=list(range(width)),
        index_col=False,
        dtype="str",
        na_filter=False,
        skip_blank_lines=False,
        skipinitialspace=True,
        low_memory=False,
    ).fillna("")
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
    return longest


def _text(value: Any) -> str:
    """A cell of a spreadsheet or database as an export would write it."""
    if value is None or (isinstance(value, float) and value != value) or value is pd.NaT or value is pd.NA:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).removesuffix("T00:00:00")
    return str(value)


def _excel(place: str, data: bytes, sheet: str | None, notices: list[Notice]) -> pd.DataFrame:
    try:
        sheets = pd.read_excel(
            io.BytesIO(data), sheet_name=None, header=None, dtype=object, na_filter=False, engine="openpyxl"
        )
    except Exception as error:  # openpyxl raises whatever its XML and zip readers raise
        raise _error(place, f"is not a readable .xlsx file ({error})", "save it again as .xlsx, or as CSV") from None
    full = [str(name) for name, cells in sheets.items() if not cells.empty]
    if sheet is not None and sheet not in sheets:
        raise _error(place, f"there is no sheet {sheet!r}", f"sheets: {', '.join(map(str, sheets))}")
    if not full:
        raise _error(place, "has no cells in any sheet", "export it again")
    chosen = sheet or full[0]
    if sheet is None and len(full) > 1:
        notices.append(Notice("sheets", f"the sheet {chosen!r} was read; also there: {', '.join(map(repr, full[1:]))}"))
    cells = sheets[chosen].map(_text).astype("str")
    cells.index = pd.RangeIndex(1, len(cells) + 1)
    return cells


def _parquet(place: str, data: bytes) -> pd.DataFrame:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(data)).to_pandas(ignore_metadata=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise _error(place, f"is not a readable Parquet file ({error})", "write it again") from None
    if table.empty:
        raise _error(place, "has columns but no rows", "export it again with its data")
    columns = {}
    for name in map(str, table.columns):
        column = table[name]
        codes, found = (
            pd.factorize(column, use_na_sentinel=False) if _hashable(column) else pd.factorize(column.map(str))
        )
        columns[name] = pd.Series([_text(value) for value in found], dtype="str").take(codes).to_numpy()
    return pd.DataFrame(columns, index=pd.RangeIndex(1, len(table) + 1), dtype="str")


def _hashable(column: pd.Series[Any]) -> bool:
    return (
        column.dtype != object
        or not column.map(lambda value: isinstance(value, list | dict | set) or hasattr(value, "shape")).any()
    )
