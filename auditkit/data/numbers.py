"""Numbers as people write them: `1.234,5`, `1,234.5`, `1 234,5`, `€ 12`, `(12)`, `85 %`.

A cell such as `1,234` alone does not say what its comma means. The column decides, then the file, then the separator
of the file (a file split at semicolons comes from a program that writes decimal commas).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.words import MISSING, plain

_STRICT = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_SIMPLE = r"-?\d+(?:\.\d+)?"
_CURRENCY = r"(?:[€$£¥]|\b(?:EUR|USD|GBP|CHF|CAD|AUD)\b)"
UNCLEAR = r"[+-]?\d{1,3}[.,]\d{3}"
"""A cell whose mark may be a decimal or a thousands mark."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """`values` with NaN where nothing (or nothing readable) stands; `bad` marks what is not a number."""

    values: pd.Series[Any]
    bad: pd.Series[Any]
    doubtful: bool
    decimal: str


def _bare(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Without currency, spaces within the number, apostrophes, and with one kind of minus sign."""
    bare = cells.str.replace(_CURRENCY, "", regex=True).str.replace("−", "-", regex=False).str.strip()
    bare = bare.str.replace(r"(?<=\d)[\s\u00a0\u202f'’](?=\d{3}(?:\D|$))", "", regex=True)
    return bare.str.replace(r"^\((.+)\)$", r"-\1", regex=True)


def _only(decimal: str, thousands: str) -> str:
    """The cells that can be read with this decimal mark only."""
    d, t = "\\" + decimal, "\\" + thousands
    short_or_long = rf"\d*{d}(?:\d{{1,2}}|\d{{4,}})"
    no_group_before = rf"(?:0\d*|\d{{4,}}){d}\d+"
    grouped = rf"\d{{1,3}}(?:(?:{t}\d{{3}})+{d}\d+|(?:{t}\d{{3}}){{2,}})"
    return rf"[+-]?(?:{short_or_long}|{no_group_before}|{grouped})%?"


def _evidence(bare: pd.Series[Any]) -> tuple[bool, bool]:
    """Whether some cell can only be read with a decimal comma, and whether some only with a decimal point."""
    if not bare.str.contains(r"\d[.,]|[.,]\d", regex=True).any():
        return False, False
    return bool(bare.str.fullmatch(_only(",", ".")).any()), bool(bare.str.fullmatch(_only(".", ",")).any())


def decimal_mark(columns: Iterable[pd.Series[Any]]) -> str | None:
    """The decimal mark that the whole file speaks for, if it speaks for one only."""
    marks = set()
    for column in columns:
        marked = column[column.str.contains(r"\d[.,]|[.,]\d", regex=True)]
        if len(marked):
            comma, point = _evidence(_bare(marked))
            marks |= {","} if comma else set()
            marks |= {"."} if point else set()
    return marks.pop() if len(marks) == 1 else None


def to_numbers(cells: pd.Series[Any], file_mark: str | None = None, separator: str | None = None) -> Numbers:
    """Read a column of cells as numbers."""
    codes, found = pd.factorize(cells)
    words = pd.Series(found, dtype="str")
    digits = words.str.contains(r"\d", regex=True)
    missing = pd.Series([not d and plain(word) in MISSING for word, d in zip(words, digits, strict=True)], dtype=bool)
    mark, doubtful = ".", False
    # what needs no thought, which is nearly every column, is spared it
    if not digits.any() or (file_mark != "," and separator != ";" and (missing | words.str.fullmatch(_SIMPLE)).all()):
        bare = words
    else:
        bare, mark, doubtful = _pointed(words, missing, file_mark, separator)
    good = bare.str.fullmatch(_STRICT)
    values = pd.to_numeric(bare.where(good), errors="coerce").to_numpy(dtype="float64", na_value=np.nan)
    infinite = np.isinf(values)  # 1e999
    bad = (~missing & ~good).to_numpy(dtype=bool) | infinite
    values = np.where(infinite, np.nan, values)
    return Numbers(
        pd.Series(values[codes], index=cells.index), pd.Series(bad[codes], index=cells.index), doubtful, mark
    )


def _pointed(
    words: pd.Series[Any], missing: pd.Series[Any], file_mark: str | None, separator: str | None
) -> tuple[pd.Series[Any], str, bool]:
    """Cells with a decimal point and no thousands marks; the decimal mark that they had, and if that is doubtful."""
    bare = _bare(words)
    # 85 % beside 0.85 would be read a hundred times too large, so the sign counts only if every cell has it
    if (bare.str.endswith("%") | missing).all():
        bare = bare.str.rstrip("%").str.strip()
    comma, point = _evidence(bare)
    doubtful = False
    if comma != point:
        mark = "," if comma else "."
    elif file_mark is not None:
        mark = file_mark
    else:
        has_comma = bool(bare.str.contains(",", regex=False).any())
        mark = "," if has_comma and separator in (";", "\t") else "."
        unclear = bool(bare.str.fullmatch(UNCLEAR).any())
        doubtful = unclear and not comma and (separator == ";" or (has_comma and separator == "\t"))
    thousands = "." if mark == "," else ","
    grouped = bare.str.fullmatch(rf"[+-]?\d{{1,3}}(?:\{thousands}\d{{3}})+(?:\{mark}\d*)?")
    bare = bare.where(~grouped, bare.str.replace(thousands, "", regex=False))
    if mark == ",":
        # a point that is no thousands mark must not pass for a decimal point once the commas are points
        foreign = bare.str.contains(".", regex=False)
        bare = bare.str.replace(",", ".", regex=False).where(~foreign, "?")
    return bare, mark, doubtful


def clean_ids(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Ids as text, where `1,234` and `1234.0` are spreadsheet dress for 1234 if the whole column is so dressed."""
    filled = cells[cells != ""]
    for dress, take in (
        (r"\d+(?:\.0)?", r"\.0$"),
        (r"\d{1,3}(?:,\d{3})*|\d+", ","),
        (r"\d{1,3}(?:\.\d{3})*|\d+", r"\."),
    ):
        if len(filled) and filled.str.fullmatch(dress).all():
            return cells.str.replace(take, "", regex=True)
    return cells
