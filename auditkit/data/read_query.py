"""The rows that a database returns become a table of text, as an export of them as CSV would be read.

Rows arrive in chunks and become text at once, so that memory holds no more than the text. The SHA-256 is that of these
rows as CSV, in the order in which the database returns them: ORDER BY keeps it the same.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pandas as pd

from auditkit.data.file_limits import check_cells
from auditkit.data.header import named
from auditkit.data.problems import Notice
from auditkit.data.raw_table import RawTable, Source
from auditkit.data.read_file import cell_text, without_blank_rows
from auditkit.data.sql_query import Query
from auditkit.errors import InputError, Problem


def read_query(query: Query) -> RawTable:
    """All rows of a query, numbered from 1."""
    with _text_chunks(query) as (names, chunks, digest):
        parts, read = list[pd.DataFrame](), 0
        for columns in chunks:
            parts.append(pd.DataFrame(dict(enumerate(columns)), dtype="str"))
            check_cells(query.shown, parts[-1].set_axis(range(read + 1, read + 1 + len(parts[-1]))))
            read += len(parts[-1])
    if not parts:
        raise InputError(Problem(query.shown, "the query returns no rows", "check its WHERE"))
    cells = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
    del parts
    cells.index = pd.RangeIndex(1, len(cells) + 1)
    notices: list[Notice] = []
    table = without_blank_rows(query.shown, named(query.shown, names, cells, notices), notices)
    if re.search(r"\border\s+by\b", query.sql, re.IGNORECASE) is None:
        text = "the query has no ORDER BY: the database may return the rows in another order the next time"
        notices.append(Notice("no-order", text))
    source = Source(
        query.name, len(table), digest.hexdigest(), None, None, header_row=0, url=query.shown, query=query.sql
    )
    return RawTable(table, source, tuple(notices))


def sha256_of_rows(query: Query) -> str:
    """What `Source.sha256` will be, without keeping a row."""
    with _text_chunks(query) as (_, chunks, digest):
        for _ in chunks:
            pass
    return str(digest.hexdigest())


@contextmanager
def _text_chunks(query: Query) -> Iterator[tuple[list[str], Iterator[list[list[str]]], Any]]:
    """The names of the columns, chunks of text (a list for each column), and the digest of those read so far."""
    digest = _Digest()
    with query.rows() as (names, chunks):
        digest.add([names])
        yield names, (_texts(rows, digest) for rows in chunks), digest.sha256


def _texts(rows: Sequence[Sequence[Any]], digest: _Digest) -> list[list[str]]:
    columns = [[cell if isinstance(cell, str) else _text(cell) for cell in cells] for cells in zip(*rows, strict=True)]
    digest.add(zip(*columns, strict=True))
    return columns


def _text(cell: Any) -> str:
    return f"{cell:f}" if isinstance(cell, Decimal) and cell.is_finite() else cell_text(cell)


class _Digest:
    """The SHA-256 of rows written as CSV."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()
        self._writer = csv.writer(self, lineterminator="\n")

    def write(self, text: str) -> int:
        self.sha256.update(text.encode("utf-8", "surrogatepass"))
        return len(text)

    def add(self, rows: Any) -> None:
        self._writer.writerows(rows)
