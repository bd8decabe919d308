"""A file becomes a table of text: bytes, encoding, separator, header row, row numbers as in the file.

Nothing is interpreted here; every cell keeps its text from the file, without spaces around it. Readers are
plugins (`auditkit.data.reader`); what none of them knows is delimited text, whatever its name. Row numbers count the
records of the file from 1, so in a spreadsheet they are the numbers at the left.
"""

from __future__ import annotations

import difflib
import gzip
import hashlib
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import pandas as pd

from auditkit.data.delimited import decode, delimited
from auditkit.data.file_limits import LONGEST_CELL, check_cells, check_expansion, check_lines, check_width, long_cell
from auditkit.data.header import under_header
from auditkit.data.joins import below, beside, explained, go_on, listed, together
from auditkit.data.problems import Notice
from auditkit.data.raw_table import RawTable, Source
from auditkit.data.reader import Reader, claims
from auditkit.errors import InputError, PluginError, Problem, blaming, origin_of, shipped
from auditkit.files import read_regular

_FOREIGN = (
    (b"\xd0\xcf\x11\xe0", "an old Excel file or one with a password", "save it as .xlsx without a password, or as CSV"),
    (b"%PDF", "a PDF file", "export the table as CSV or .xlsx"),
    (b"SQLite format 3", "a SQLite database", "give sqlite:///FILE and --query SQL, or export the table as CSV"),
    (b"\x89PNG", "an image", "export the table as CSV or .xlsx"),
)
IN_MEMORY = "DataFrame"
"""What stands for the name of the file where there is none."""


@runtime_checkable
class ArrowTable(Protocol):
    """A table of another library that Arrow's PyCapsule interface hands over: polars, pyarrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


Tabular = pd.DataFrame | ArrowTable
"""A table in memory."""


def give_up(error: PluginError) -> None:
    """The default for a reader that fails."""
    raise error


Files = Sequence[str | Path]
"""Several files that are read as one table."""
_CLAIMED = (".xlsx", ".xlsm", ".parquet", ".json", ".jsonl", ".ndjson")
"""Endings of files that are never delimited text."""
_LARGEST_UNPACKED = 2_000_000_000


def read(
    path: str | Path | Files | Tabular,
    *,
    sheet: str | None = None,
    readers: Iterable[type[Reader]] = (),
    on_fault: Callable[[PluginError], None] = give_up,
) -> RawTable:
    """Read a file with the first of the readers that knows it, or as delimited text.

    A reader that fails is told of to `on_fault`, and the next is tried. A table in memory is read as if it had been
    written with `to_csv(index=False)`: the same cells, and the same SHA-256.
    """
    readers = list(readers)
    if isinstance(path, list | tuple):
        found = [_read(each, sheet, readers, on_fault) for each in path]
    else:
        found = [_read(cast(str | Path | Tabular, path), sheet, readers, on_fault)]
    if sheet is not None and all(raw.source.encoding is not None for raw in found):
        what = f"is not a workbook, so it has no sheet {sheet!r}"
        raise _error(found[0].source.path, what, "leave out --sheet")
    return together(found) if isinstance(path, list | tuple) else found[0]


def _read(
    path: str | Path | Tabular, sheet: str | None, readers: list[type[Reader]], on_fault: Callable[[PluginError], None]
) -> RawTable:
    if isinstance(path, str | Path):
        place, data = str(path), _bytes(Path(path))
    else:
        place, data = IN_MEMORY, to_pandas(path).to_csv(index=False).encode()
    digest = hashlib.sha256(data).hexdigest()
    if data.startswith(b"\x1f\x8b"):
        data, place = _unpacked(place, data), place.removesuffix(".gz")
    encoding = separator = None
    notices: list[Notice] = []
    tables = _with_readers(place, data, sheet, readers, on_fault, notices)
    if tables is None:
        _refuse_foreign(place, data)
        check_lines(place, data)
        text, encoding = decode(place, data)
        if encoding == "cp1252":
            notices.append(Notice("encoding", "the file is not UTF-8; it was read as Windows-1252 (cp1252)"))
        table, separator = delimited(place, text)
        tables = [("", table)]
    (_, table), *others = tables
    raw = _under_names(place, table, digest, encoding, separator, notices)
    return _with_sheets(raw, others)


def _under_names(
    place: str, table: pd.DataFrame, digest: str, encoding: str | None, separator: str | None, notices: list[Notice]
) -> RawTable:
    """A table of cells under its header, without blank rows."""
    check_cells(place, table)
    header_row, titles = 0, tuple[str, ...]()
    if pd.api.types.is_integer_dtype(table.columns.dtype):
        table, header_row, titles = under_header(place, table, notices)
    table = without_blank_rows(place, table, notices)
    source = Source(place, len(table), digest, encoding, separator, header_row)
    return RawTable(table, source, tuple(notices), titles=titles)


def _with_sheets(raw: RawTable, others: list[tuple[str, pd.DataFrame]]) -> RawTable:
    """The table with the rows of sheets of the same columns and the columns of sheets that share an id with it.

    The others are only a notice.
    """
    for name, table in others:
        try:
            sheet = _under_names(f"sheet {name!r}", table, raw.source.sha256, None, None, [])
        except InputError:  # a cover, or a legend
            continue
        joined = below(raw, sheet) if go_on(raw, sheet) else listed(raw, name, sheet)
        joined = joined or beside(raw, sheet) or explained(raw, sheet)
        if joined is not None:
            source = replace(raw.source, rows=len(joined.table))
            raw = replace(joined, source=source, notices=(*raw.notices, *joined.notices[-1:]))
    return raw


def _refuse_foreign(place: str, data: bytes) -> None:
    """What is not a table of text is never read as one, whatever a reader made of it."""
    for start, what, fix in _FOREIGN:
        if data.startswith(start):
            raise _error(place, f"is {what}", fix)
    ending = next((ending for ending in _CLAIMED if place.lower().endswith(ending)), None)
    if ending is not None:
        raise _error(place, f"no reader could read this {ending} file", "export it again, or save it as CSV")
    head = data[:100_000].lstrip(b"\xef\xbb\xbf \t\r\n").splitlines()[:1]
    if head and head[0][:1] in (b"{", b"["):
        with suppress(ValueError):
            if isinstance(json.loads(head[0]), dict | list):
                raise _error(place, "is JSON, whatever its name says", "let its name end with .json or .jsonl")


def _unpacked(place: str, data: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            plain = file.read(_LARGEST_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise _error(place, f"is a compressed file that cannot be unpacked: {error}", "compress it again") from None
    check_expansion(place, len(data), len(plain))
    if not plain.strip():
        raise _error(place, "the file is empty", "export it again")
    return plain


def without_blank_rows(place: str, table: pd.DataFrame, notices: list[Notice]) -> pd.DataFrame:
    """The rows that have a cell with more than spaces; no cell has spaces around it any more."""
    for name in table.columns:
        table[name] = table[name].str.strip()
    blank = (table == "").all(axis="columns")
    if blank.all():
        raise _error(place, "has a header but no rows", "export it again with its data")
    if blank.any():
        notices.append(Notice("blank-rows", f"{int(blank.sum())} blank rows were skipped"))
        table = table[~blank]
    return table


def to_pandas(table: object) -> pd.DataFrame:
    """A table of any library as one of pandas, with the cells as the other library holds them.

    The columns of an Arrow table become Python objects: pandas would turn whole numbers with gaps into 1.0 and NaN.
    """
    if isinstance(table, pd.DataFrame):
        return table
    if not isinstance(table, ArrowTable):
        what = f"an object of type {type(table).__name__} is neither a path nor a table"
        raise _error("data", what, "give a path, a DataFrame of pandas or polars, or an Arrow table")
    names, columns = _arrow_columns(table)
    frame = pd.DataFrame({i: pd.Series(column, dtype=object) for i, column in enumerate(columns)})
    return frame.set_axis(names, axis="columns")


def _arrow_columns(table: ArrowTable) -> tuple[list[str], list[list[Any]]]:
    """The names and cells of the columns, by whichever library is there."""
    with suppress(ImportError):
        import pyarrow

        arrow = pyarrow.table(table)
        return arrow.column_names, [column.to_pylist() for column in arrow.columns]
    try:
        import polars
    except ImportError:
        raise _error(IN_MEMORY, "an Arrow table needs pyarrow or polars", "pip install 'auditkit[parquet]'") from None
    frame = polars.DataFrame(table)
    return frame.columns, [column.to_list() for column in frame]


def _with_readers(
    place: str,
    data: bytes,
    sheet: str | None,
    readers: Iterable[type[Reader]],
    on_fault: Callable[[PluginError], None],
    notices: list[Notice],
) -> list[tuple[str, pd.DataFrame]] | None:
    """The text cells that a reader finds, the table to read first; None if no reader knows the file."""
    asked: list[tuple[int, type[Reader]]] = []
    for reader in readers:
        try:
            with blaming(reader, f"the reader {reader.name!r}"):
                asked.append((claims(reader, data, place), reader))
        except PluginError as error:
            on_fault(error)
    for sure, reader in sorted(asked, key=lambda pair: -pair[0]):
        if not sure:
            break
        try:
            with blaming(reader, f"the reader {reader.name!r}"):
                tables = {str(name): table for name, table in reader().read(data, place).items()}
                if not all(isinstance(table, pd.DataFrame) for table in tables.values()):
                    raise TypeError("it returned something else than tables of pandas")
                texts = []
                for name in _chosen(place, tables, sheet, notices):
                    check_width(place, tables[name].shape[1])
                    texts.append((name, _kept_as_text(place, tables[name])))
        except PluginError as error:
            on_fault(error)
            continue
        if not shipped(reader):
            notices.append(Notice("reader", f"the file was read by the {origin_of(reader)}"))
        return texts
    return None


def _chosen(place: str, tables: Mapping[str, pd.DataFrame], sheet: str | None, notices: list[Notice]) -> list[str]:
    """The table that the user names, or the first that is not empty and then the others that are seen.

    A title sheet does not go before a far larger one.

    Hidden sheets (`DataFrame.attrs["hidden"]`) are read only by name: hidden data must not be audited by accident.
    """
    full = [name for name, table in tables.items() if not table.empty]
    if sheet is not None and sheet not in tables:
        raise _error(place, f"there is no sheet {sheet!r}", f"sheets: {', '.join(tables)}")
    if not full:
        raise _error(place, "has no cells in any sheet, or no rows", "export it again with its data")
    hidden = [name for name in full if tables[name].attrs.get("hidden")]
    seen = [name for name in full if name not in hidden]
    if sheet is None and not seen:
        names = ", ".join(map(repr, hidden))
        raise _error(place, f"only hidden sheets hold cells: {names}", "unhide the sheet, or name it with --sheet")
    largest = max(seen or full, key=lambda name: tables[name].size)
    first = (seen or full)[0]
    chosen = sheet or (largest if tables[largest].size > 5 * tables[first].size else first)
    if sheet is None and len(seen) > 1:
        others = ", ".join(repr(name) for name in seen if name != chosen)
        notices.append(Notice("sheets", f"the sheet {chosen!r} was read; also there: {others}"))
    if unread := [name for name in hidden if name != chosen]:
        notices.append(Notice("hidden-sheets", f"hidden sheets were not read: {', '.join(map(repr, unread))}"))
    elif chosen in hidden:
        notices.append(Notice("hidden-sheets", f"the sheet {chosen!r} is hidden and was read because it was named"))
    return [chosen, *(name for name in seen if name != chosen and sheet is None)]


def _error(place: str, what: str, fix: str = "") -> InputError:
    return InputError(Problem(place, what, fix))


def _bytes(path: Path) -> bytes:
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else read_regular(path)
    except FileNotFoundError:
        beside = [p.name for p in path.parent.iterdir() if p.is_file()] if path.parent.is_dir() else []
        close = difflib.get_close_matches(path.name, beside, n=1)
        raise _error(str(path), "there is no such file", f"did you mean {close[0]!r}?" if close else "") from None
    except (OSError, ValueError) as error:
        raise _error(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not data.strip():
        raise _error(str(path), "the file is empty", "export it again")
    return data


def _kept_as_text(place: str, table: pd.DataFrame) -> pd.DataFrame:
    """Every cell as an export would write it."""
    columns: dict[Any, Any] = {}
    for name in table.columns:
        column = table[name]
        if column.dtype == object:  # such a column may hold 1 and True, which are one to a dictionary
            values = column.map(cell_text)
        else:
            codes, found = pd.factorize(column, use_na_sentinel=False)
            texts = [cell_text(value) for value in found]
            if (longest := max(map(len, texts), default=0)) > LONGEST_CELL:  # before a million rows repeat it
                raise InputError(long_cell(f"{place}, column {name!r}", longest))
            values = pd.Series(texts, dtype="str").take(codes)
        columns[name] = values.to_numpy()
    cells = pd.DataFrame(columns, index=pd.RangeIndex(1, len(table) + 1), dtype="str")
    return cells if pd.api.types.is_integer_dtype(table.columns.dtype) else cells.rename(columns=str)


def cell_text(value: Any) -> str:
    """A cell of a spreadsheet or database as an export would write it."""
    if value is None or (isinstance(value, float) and value != value) or value is pd.NaT or value is pd.NA:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).removesuffix("T00:00:00")
    return str(value)
