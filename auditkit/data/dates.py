"""Dates as exports write them, several styles in one column, and never a guess between day and month.

`05/03/2024` is read only if another cell of its style settles the order (`25/03/2024`: day first). Dots mean day
first, as everywhere they are in use, unless a cell says otherwise. Times are kept, time zones are not converted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.vocabulary import spoken

_MONTH = r"(?P<m>[^\W\d_]{3,10})\.?"
_YEAR = r"(?P<y>\d{4}|\d{2})"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[,.]?\s+)?"
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[ap]\.?m\.?)?\s*(?:z|utc|gmt|[+-]\d{2}:?\d{2})?")
_CLOCK = re.compile(r"(?P<h>\d{1,2}):(?P<min>\d{2})(?::(?P<s>\d{2}(?:[.,]\d+)?))?\s*(?P<half>[ap])?")

# How a style looks, its pattern, and whether the order of day and month (a, b) is open.
_STYLES: tuple[tuple[str, str, bool], ...] = (
    ("2024-03-25", r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})", False),
    ("2024/03/25", r"(?P<y>\d{4})[/.](?P<m>\d{1,2})[/.](?P<d>\d{1,2})", False),
    ("20240325", r"(?P<y>(?:19|20)\d{2})(?P<m>0[1-9]|1[0-2])(?P<d>[0-3]\d)", False),
    ("25.03.2024", rf"(?P<a>\d{{1,2}})\.(?P<b>\d{{1,2}})\.{_YEAR}", True),
    ("25/03/2024", rf"(?P<a>\d{{1,2}})/(?P<b>\d{{1,2}})/{_YEAR}", True),
    ("25-03-2024", rf"(?P<a>\d{{1,2}})-(?P<b>\d{{1,2}})-{_YEAR}", True),
    ("25 Mar 2024", rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th|er)?[\s.-]*(?:de )?{_MONTH}[\s,.-]*(?:de )?{_YEAR}", False),
    ("Mar 25, 2024", rf"{_MONTH}[\s-]*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[\s,-]+{_YEAR}", False),
)
_PATTERNS = tuple(re.compile(_WEEKDAY + pattern) for _, pattern, _ in _STYLES)
_DAY_NUMBER = re.compile(r"[2-5]\d{4}(?:\.\d+)?")
_MILLISECONDS = re.compile(r"1\d{12}")
"""Since 1970, as some systems count."""


@dataclass(frozen=True, eq=False)
class Dates:
    """`values` with NaT where a cell cannot be read; `styles` counts the cells of each way of writing."""

    values: pd.Series[Any]
    bad: pd.Series[Any]
    ambiguous: pd.Series[Any]
    styles: dict[str, int]


def _split(cells: pd.Series[Any]) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """Day and time of day apart: both have few different values, however many time stamps there are."""
    low = cells.str.lower()
    day, time = low.copy(), pd.Series("", index=cells.index, dtype="str")
    # cut at the places where the hour may begin, all cells at once: to match each of a million time stamps takes longer
    colon = low.str.find(":")
    for place in np.unique(colon[colon > 1]).tolist():
        cut = (colon == place).to_numpy(copy=True)
        for hour in (place - 2, place - 1):
            before, clock = low[cut].str.slice(0, hour), low[cut].str.slice(hour)
            codes, found = pd.factorize(clock)
            timed = np.array([bool(_TIME.fullmatch(word)) for word in found], dtype=bool)[codes]
            timed &= before.str.slice(-1).isin(list("t ,")).to_numpy()
            rows = np.flatnonzero(cut)[timed]
            day.iloc[rows], time.iloc[rows] = before[timed].str.rstrip("t ,"), clock[timed]
            cut[rows] = False
    return day, time


def looks_like_dates(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Which cells are written as dates (day numbers of spreadsheets are not told from other numbers)."""
    codes, found = pd.factorize(_split(cells)[0])
    match = np.array([_matched(word) is not None for word in found], dtype=bool)
    return pd.Series(match[codes], index=cells.index)


def from_day_numbers(cells: pd.Series[Any]) -> pd.Series[Any] | None:
    """A column of the day numbers of a spreadsheet, or of milliseconds, as dates; None if it is of something else."""
    filled = cells[cells != ""]
    if filled.empty or not any(form.fullmatch(filled.iloc[0]) for form in (_DAY_NUMBER, _MILLISECONDS)):
        return None
    codes, found = pd.factorize(filled)
    if not all(_DAY_NUMBER.fullmatch(word) or _MILLISECONDS.fullmatch(word) for word in found):
        return None
    dates = to_dates(pd.Series(found, dtype="str")).values.dt.strftime("%Y-%m-%d").astype("str")
    return cells.mask(cells != "", pd.Series(dates.to_numpy()[codes], index=filled.index))


def _matched(word: str) -> tuple[int, dict[str, str]] | None:
    """The style in which a day is written, and its parts."""
    for style, pattern in enumerate(_PATTERNS):
        if (match := pattern.fullmatch(word)) is not None:
            parts = match.groupdict()
            month = parts.get("m") or "1"
            if month.isdigit() or spoken().month(month) is not None:
                return style, parts
    return None


def to_dates(cells: pd.Series[Any]) -> Dates:
    """Read a column of cells as dates."""
    day, time = _split(cells)
    codes, found = pd.factorize(day)
    count = np.bincount(codes, minlength=len(found))
    parts: list[list[tuple[int, dict[str, str]]]] = [[] for _ in _STYLES]
    values = np.full(len(found), np.datetime64("NaT", "us"))
    ambiguous = np.zeros(len(found), dtype=bool)
    styles: dict[str, int] = {}
    for i, word in enumerate(found):
        if (match := _matched(word)) is not None:
            parts[match[0]].append((i, match[1]))
        elif _DAY_NUMBER.fullmatch(word):
            name = "45376 (day number)"
            styles[name] = styles.get(name, 0) + int(count[i])
            values[i] = np.datetime64("1899-12-30", "us") + np.timedelta64(round(float(word) * 86400), "s")
        elif _MILLISECONDS.fullmatch(word):
            name = "1711324800000 (milliseconds)"
            styles[name] = styles.get(name, 0) + int(count[i])
            values[i] = np.datetime64(int(word), "ms")
    for (name, _, is_open), of_style in zip(_STYLES, parts, strict=True):
        if of_style:
            styles[name] = sum(int(count[i]) for i, _ in of_style)
            pairs = _settle(of_style, dots="." in name) if is_open else _direct(of_style)
            for i, year, month, date in pairs:
                if month is None:
                    ambiguous[i] = True
                else:
                    values[i] = _date(year, month, date)
    spread = pd.Series(values[codes], index=cells.index) + _times(time)
    unclear = pd.Series(ambiguous[codes], index=cells.index)
    lost = (spread.isna() & ~unclear).to_numpy(copy=True)
    codes, found = pd.factorize(cells[lost])
    lost[lost] = np.array([not spoken().is_missing(str(word)) for word in found], dtype=bool)[codes]
    return Dates(spread, pd.Series(lost, index=cells.index), unclear, styles)


_Part = tuple[int, int, int | None, int]


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else int(text) + (1900 if int(text) >= 70 else 2000)


def _direct(parts: list[tuple[int, dict[str, str]]]) -> list[_Part]:
    return [(i, _year(p["y"]), spoken().month(p["m"]) or int(p["m"]), int(p["d"])) for i, p in parts]


def _settle(parts: list[tuple[int, dict[str, str]]], *, dots: bool) -> list[_Part]:
    """Day and month of one style; the month is None where a cell could be read both ways."""
    day_first = any(int(p["a"]) > 12 for _, p in parts)
    month_first = any(int(p["b"]) > 12 for _, p in parts)
    settled: list[_Part] = []
    for i, part in parts:
        year, a, b = _year(part["y"]), int(part["a"]), int(part["b"])
        own = a > 12 or b > 12 or a == b  # this cell can be read in one way only
        if own:
            settled.append((i, year, a, b) if b > 12 else (i, year, b, a))
        elif day_first == month_first and (day_first or not dots):
            settled.append((i, year, None, 0))
        else:
            settled.append((i, year, a, b) if month_first else (i, year, b, a))
    return settled


def _date(year: int, month: int, day: int) -> np.datetime64:
    try:
        return np.datetime64(f"{year:04}-{month:02}-{day:02}", "us")
    except ValueError:
        return np.datetime64("NaT", "us")


def _times(time: pd.Series[Any]) -> pd.Series[Any]:
    """Time of day; an impossible one (25:00) leaves no date."""
    codes, found = pd.factorize(time)
    spans = np.zeros(len(found), dtype="timedelta64[us]")
    for i, word in enumerate(found):
        if (match := _CLOCK.match(word)) is not None:
            hour, minute, second = int(match["h"]), int(match["min"]), float((match["s"] or "0").replace(",", "."))
            if match["half"]:
                hour = hour % 12 + (12 if match["half"] == "p" else 0) if 1 <= hour <= 12 else 99
            good = hour < 24 and minute < 60 and second < 60
            micros = round((hour * 3600 + minute * 60 + second) * 1e6)
            spans[i] = np.timedelta64(micros, "us") if good else np.timedelta64("NaT")
    return pd.Series(spans[codes], index=time.index)
