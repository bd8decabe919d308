"""Numbers as people write them: `1.234,5`, `1,234.5`, `1 234,5`, `€ 12`, `(12)`, `85 %`.

A cell such as `1,234` alone does not say what its comma means. The column decides, then the file, then the separator
of the file (a file split at semicolons comes from a program that writes decimal commas).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.vocabulary import spoken
from auditkit.model.search import LARGEST

_STRICT = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_SIMPLE = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
_MARKED = re.compile(r"\d[.,]|[.,]\d")
_DIGIT = re.compile(r"\d")
_RATING = re.compile(r"(?P<number>\d{1,3}(?:\.\d+)?)\s*[-–—:=]\s*[^\W\d][^\d]*", re.ASCII)
"""`3 - Yes`: a rating with its meaning."""
_CURRENCY = re.compile(r"[€$£¥]|\b(?:EUR|USD|GBP|CHF|CAD|AUD)\b")
_SPACED = re.compile(r"(?<=\d)[\s'’](?=\d{3}(?:\D|$))")
UNCLEAR = re.compile(r"[+-]?\d{1,3}[.,]\d{3}")
"""A cell whose mark may be a decimal or a thousands mark."""


@dataclass(frozen=True, eq=False)
class ParsedNumbers:
    """`values` with NaN where a cell is empty or cannot be read; `bad` marks what is not a number."""

    values: pd.Series[Any]
    bad: pd.Series[Any]
    doubtful: bool
    decimal: str


def _bare(word: str) -> str:
    """Without currency, spaces within the number, apostrophes, and with one kind of minus sign."""
    if _SIMPLE.fullmatch(word):
        return word
    word = _SPACED.sub("", _CURRENCY.sub("", word).replace("−", "-").strip())
    return f"-{word[1:-1]}" if word.startswith("(") and word.endswith(")") else word


def _only(decimal: str, thousands: str) -> re.Pattern[str]:
    """The cells that can be read with this decimal mark only."""
    d, t = re.escape(decimal), re.escape(thousands)
    short_or_long = rf"\d*{d}(?:\d{{1,2}}|\d{{4,}})"
    no_group_before = rf"(?:0\d*|\d{{4,}}){d}\d+"
    grouped = rf"\d{{1,3}}(?:(?:{t}\d{{3}})+{d}\d+|(?:{t}\d{{3}}){{2,}})"
    return re.compile(rf"[+-]?(?:{short_or_long}|{no_group_before}|{grouped})%?")


_ONLY = {",": _only(",", "."), ".": _only(".", ",")}
_GROUPED = {
    mark: re.compile(rf"[+-]?\d{{1,3}}(?:\{thousands}\d{{3}})+(?:\{mark}\d*)?") for mark, thousands in (",.", ".,")
}


def _evidence(bare: list[str]) -> set[str]:
    """The decimal marks without which some cell cannot be read."""
    marked = [word for word in bare if _MARKED.search(word)]
    return {mark for mark, pattern in _ONLY.items() if any(pattern.fullmatch(word) for word in marked)}


def decimal_mark(columns: Iterable[Iterable[str]]) -> str | None:
    """The decimal mark that the whole file speaks for, if it speaks for one only."""
    marks: set[str] = set()
    for column in columns:
        marks |= _evidence([_bare(word) for word in column if _MARKED.search(word)])
    return marks.pop() if len(marks) == 1 else None


def to_numbers(cells: pd.Series[Any], file_mark: str | None = None, separator: str | None = None) -> ParsedNumbers:
    """Read a column of cells as numbers."""
    codes, found = pd.factorize(cells)
    values, bad, doubtful, mark = _of_words([str(word) for word in found], file_mark, separator)
    return ParsedNumbers(
        pd.Series(values[codes], index=cells.index), pd.Series(bad[codes], index=cells.index), doubtful, mark
    )


def is_number(word: str) -> bool:
    """Whether a cell by itself is a number; most need no thought."""
    if _SIMPLE.fullmatch(word) and len(word) < 100:  # so that neither it nor its inverse exceeds LARGEST
        return True
    return any(c.isdigit() for c in word) and not _of_words([word], None, None)[1][0]


def _of_words(
    words: list[str], file_mark: str | None, separator: str | None
) -> tuple[np.ndarray, np.ndarray, bool, str]:
    """Of the different cells of a column: the values, which are no numbers, whether the mark is doubtful, the mark."""
    mark, doubtful, bare = ".", False, words
    nothing = spoken().is_missing
    missing = [_SIMPLE.fullmatch(w) is None and not _DIGIT.search(w) and nothing(w) for w in words]
    if any(_RATING.fullmatch(word) for word in words):
        rated = [_RATING.fullmatch(word) for word in words]
        if all(m or no or _SIMPLE.fullmatch(w) for m, no, w in zip(rated, missing, words, strict=True)):
            bare = words = [m["number"] if m else word for m, word in zip(rated, words, strict=True)]
    # what needs no thought, which is nearly every column, is spared it
    simple = all(no or _SIMPLE.fullmatch(word) for word, no in zip(words, missing, strict=True))
    if not simple or file_mark == "," or separator == ";":
        bare, mark, doubtful = _pointed(words, missing, file_mark, separator)
    values = np.array([float(word) if _STRICT.fullmatch(word) else np.nan for word in bare], dtype=float)
    size = np.abs(values)
    values[(size > LARGEST) | ((size < 1 / LARGEST) & (size > 0))] = np.nan  # 1e999, or a date that lost its marks
    return values, np.isnan(values) & ~np.array(missing, dtype=bool), doubtful, mark


def _pointed(
    words: list[str], missing: list[bool], file_mark: str | None, separator: str | None
) -> tuple[list[str], str, bool]:
    """Cells with a decimal point and no thousands marks; the decimal mark that they had, and if that is doubtful."""
    bare = [_bare(word) for word in words]
    # 85 % beside 0.85 would be read a hundred times too large, so the sign counts only if every cell has it
    if all(no or word.endswith("%") for word, no in zip(bare, missing, strict=True)):
        bare = [word.rstrip("%").strip() for word in bare]
    seen = _evidence(bare)
    doubtful = False
    if len(seen) == 1:
        mark = seen.pop()
    elif file_mark is not None:
        mark = file_mark
    else:
        has_comma = any("," in word for word in bare)
        mark = "," if has_comma and separator in (";", "\t") else "."
        unclear = not seen and any(UNCLEAR.fullmatch(word) for word in bare)
        doubtful = unclear and (separator == ";" or (has_comma and separator == "\t"))
    thousands = "." if mark == "," else ","
    bare = [word.replace(thousands, "") if _GROUPED[mark].fullmatch(word) else word for word in bare]
    if mark == ",":
        # a point that is not a thousands mark must not pass for a decimal point once the commas are points
        bare = ["?" if "." in word else word.replace(",", ".") for word in bare]
    return bare, mark, doubtful


def clean_ids(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Ids as text, where `1,234` and `1234.0` are spreadsheet dress for 1234 if the whole column is so dressed."""
    filled = cells[cells != ""]
    # the first id that is not dressed so settles it, before a million are looked at
    head = filled.iloc[:100]
    for dress, take in (
        (r"\d+(?:\.0)?", r"\.0$"),
        (r"\d{1,3}(?:,\d{3})*|\d+", ","),
        (r"\d{1,3}(?:\.\d{3})*|\d+", r"\."),
    ):
        if len(filled) and head.str.fullmatch(dress).all() and filled.str.fullmatch(dress).all():
            return cells.str.replace(take, "", regex=True)
    return cells
