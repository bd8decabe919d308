"""Dates as exports write them, several styles in one column, and never a guess between day and month.

`05/03/2024` is read only if another cell of its style settles the order (`25/03/2024`: day first). Dots mean day
first, as everywhere they are in use, unless a cell says otherwise. Times are kept, time zones are not converted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.words import MISSING, plain

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = r"(?:[T ,]+(?P<time>\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)\s*(?P<half>[ap]\.?m\.?)?\s*(?:z|utc|gmt|[+-]\d{2}:?\d{2})?)?"
_WEEKDAY = r"^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[,.]?\s+"

# name, pattern with the parts, and whether the order of day and month is open
_STYLES: tuple[tuple[str, str, bool], ...] = (
    ("2024-03-25", r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})", False),
    ("2024/03/25", r"(?P<y>\d{4})[/.](?P<m>\d{1,2})[/.](?P<d>\d{1,2})", False),
    ("20240325", r"(?P<y>(?:19|20)\d{2})(?P<m>0[1-9]|1[0-2])(?P<d>[0-3]\d)", False),
    ("25.03.2024", r"(?P<a>\d{1,2})\.(?P<b>\d{1,2})\.(?P<y>\d{4}|\d{2})", True),
    ("25/03/2024", r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>\d{4}|\d{2})", True),
    ("25-03-2024", r"(?P<a>\d{1,2})-(?P<b>\d{1,2})-(?P<y>\d{4}|\d{2})", True),
    ("25 Mar 2024", rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[\s.-]*(?P<m>{_MONTH})[\s,.-]*(?P<y>\d{{4}}|\d{{2}})", False),
    ("Mar 25, 2024", rf"(?P<m>{_MONTH})[\s-]*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[\s,-]+(?P<y>\d{{4}}|\d{{2}})", False),
)
_DAY_NUMBER = r"[2-5]\d{4}(?:\.\d+)?"


@dataclass(frozen=True, eq=False)
class Dates:
    """`values` with NaT where nothing readable stands; `styles` counts the cells of each way of writing."""

    values: pd.Series[Any]
    bad: pd.Series[Any]
    ambiguous: pd.Series[Any]
    styles: dict[str, int]


def looks_like_dates(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Which cells are written as dates (day numbers of spreadsheets are not told from other numbers)."""
    low = cells.str.lower().str.replace(_WEEKDAY, "", regex=True)
    match = pd.Series(False, index=cells.index)
    for _, pattern, _ in _STYLES:
        match |= low.str.contains(rf"^{_nameless(pattern)}{_nameless(_TIME)}$", regex=True, case=False)
    return match


def _nameless(pattern: str) -> str:
    for part in ("y", "m", "d", "a", "b", "time", "half"):
        pattern = pattern.replace(f"(?P<{part}>", "(?:")
    return pattern


def to_dates(cells: pd.Series[Any]) -> Dates:
    """Read a column of cells as dates."""
    codes, found = pd.factorize(cells)
    words = pd.Series(found, dtype="str")
    count = np.bincount(codes, minlength=len(words))
    low = words.str.lower().str.replace(_WEEKDAY, "", regex=True)
    values = pd.Series(pd.NaT, index=words.index, dtype="datetime64[us]")
    ambiguous = pd.Series(False, index=words.index)
    matched = pd.Series(False, index=words.index)
    styles: dict[str, int] = {}
    for name, pattern, is_open in _STYLES:
        parts = low.str.extract(rf"^{pattern}{_TIME}$")
        here = parts["y"].notna() & ~matched
        if not here.any():
            continue
        parts, matched = parts[here], matched | here
        styles[name] = int(count[here.to_numpy()].sum())
        if is_open:
            day, month, unclear = _order(parts["a"].astype(int), parts["b"].astype(int), dots="." in name)
            ambiguous.loc[unclear.index] = unclear
        else:
            day, month = parts["d"].astype(int), _month(parts["m"])
        values.loc[day.index] = _assemble(parts, day, month).astype("datetime64[us]")
    number = low.str.fullmatch(_DAY_NUMBER) & ~matched
    if number.any():
        styles["45376 (day number)"] = int(count[number.to_numpy()].sum())
        days = pd.to_timedelta(low[number].astype(float), unit="D")
        values.loc[days.index] = (pd.Timestamp("1899-12-30") + days).dt.round("s").astype("datetime64[us]")
    values = values.where(~ambiguous)
    missing = words.map(plain).isin(MISSING)
    bad = values.isna() & ~ambiguous & ~missing

    def spread(series: pd.Series[Any]) -> pd.Series[Any]:
        return pd.Series(series.to_numpy()[codes], index=cells.index)

    return Dates(spread(values), spread(bad), spread(ambiguous), styles)


def _order(a: pd.Series[Any], b: pd.Series[Any], *, dots: bool) -> tuple[pd.Series[Any], pd.Series[Any], pd.Series[Any]]:
    """Day, month, and which cells could be read both ways."""
    day_first, month_first = bool((a > 12).any()), bool((b > 12).any())
    if day_first and month_first:
        unclear = (a <= 12) & (b <= 12) & (a != b)
        return a.where(a > 12, b.where(b > 12, a)), b.where(a > 12, a.where(b > 12, b)), unclear
    if not day_first and not month_first and not dots:
        return a, b, a != b
    unclear = pd.Series(False, index=a.index)
    return (b, a, unclear) if month_first else (a, b, unclear)


def _month(text: pd.Series[Any]) -> pd.Series[Any]:
    names = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
    return text.map(lambda t: names.get(t[:3], -1) if not t.isdigit() else int(t)).astype(int)


def _assemble(parts: pd.DataFrame, day: pd.Series[Any], month: pd.Series[Any]) -> pd.Series[Any]:
    year = parts["y"].astype(int)
    year = year.where(parts["y"].str.len() == 4, year.where(year >= 70, year + 100) + 1900)
    date = pd.to_datetime(pd.DataFrame({"year": year, "month": month, "day": day}), errors="coerce")
    if parts["time"].notna().any():
        clock = parts["time"].fillna("0:00").str.replace(",", ".")
        clock = clock.where(clock.str.count(":") == 2, clock + ":00")
        span = pd.to_timedelta(clock, errors="coerce").fillna(pd.Timedelta(0))
        hour, half = span.dt.components["hours"], parts["half"].fillna("").str[:1]
        span = span + pd.to_timedelta(np.where((half == "p") & (hour < 12), 12, np.where((half == "a") & (hour == 12), -12, 0)), unit="h")
        date = date + span
    return date
