"""Protected attributes: the characteristic that each is about, canonical labels, ages in bands, and crossings.

Every protected column is an attribute of its own. Ages and dates of birth become two groups, "under 40" and "40 and
over", with the finer `AGE_BANDS` beside them: the age on the date of the application where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.dates import looks_like_dates, to_dates
from auditkit.data.numbers import to_numbers
from auditkit.data.personal import listed_cells
from auditkit.data.problems import Collector, Notice
from auditkit.data.values import read_group
from auditkit.data.vocabulary import plain, spoken
from auditkit.model.groups import UNKNOWN

YOUNG, OLD = "under 40", "40 and over"
AGE_BANDS = (YOUNG, "40-49", "50-59", "60 and over")
"""Finer than the two groups that are compared: a difference that grows with age shows as a trend along them."""
JOINED_BANDS = {"40-49": OLD, "50-59": "50 and over"}
"""The name of a band together with all later ones."""
_BAND_STARTS = (40, 50, 60)
_YEAR = 365.2425
_LEGEND = re.compile(r"\b(\w{1,3})\s*[=:]\s*([^\W\d_][^\W\d_/ -]*(?:[ /-][^\W\d_]+)*)")
_HOMBRE = frozenset({"h", "hombre", "hombres"})
"""Beside these, `m` may be `mujer`."""
_MARKS: dict[bool | None, str] = {True: "yes", False: "no"}


def default_crossing(characteristics: Mapping[str, str]) -> tuple[str, str] | None:
    """The first column of sex with the first of race, where there are both."""
    first: dict[str, str] = {}
    for name, characteristic in characteristics.items():
        first.setdefault(characteristic, name)
    return (first["sex"], first["race"]) if {"sex", "race"} <= first.keys() else None


def read_attribute(
    cells: pd.Series[Any],
    column: str,
    characteristic: str,
    applied: pd.Series[Any],
    collector: Collector,
    notices: list[Notice],
) -> tuple[pd.Series[Any], pd.Series[Any] | None]:
    """The group of each row in one attribute, and its band of age where ages are known.

    `applied` are the dates of the applications, NaT where unknown.
    """
    if characteristic == "age" and (age := _ages(cells, column, applied, notices)) is not None:
        known = age.notna() & (age > 0) & (age < 120)
        collector.add("unknown-group", ~known, column, cells)
        bands = np.array(AGE_BANDS, dtype=object)[np.searchsorted(_BAND_STARTS, age.fillna(0) + 1e-9, side="right")]
        band = pd.Series(bands, index=cells.index, dtype="str")
        return band.where(band == YOUNG, OLD).where(known, UNKNOWN), band.where(known, UNKNOWN)
    return _read_words(cells, column, characteristic, collector, notices), None


def legend_of(column: str) -> dict[str, str]:
    """Codes that a header explains: `sex (1=M, 2=F)`."""
    found = dict(_LEGEND.findall(column))
    return {plain(code): meaning.strip() for code, meaning in found.items()} if len(found) > 1 else {}


def is_coded(column: str, words: Iterable[str]) -> bool:
    """Whether groups are numbers that nothing explains."""
    known = {plain(word) for word in words if not spoken().is_unknown(word)}
    return len(known) > 1 and all(word.isdigit() for word in known) and not known <= legend_of(column).keys()


def _read_words(
    cells: pd.Series[Any], column: str, characteristic: str, collector: Collector, notices: list[Notice]
) -> pd.Series[Any]:
    if legend := legend_of(column):
        cells = cells.map({word: legend.get(plain(word), word) for word in pd.unique(cells)}).astype("str")
    found = {plain(word) for word in pd.unique(cells)}
    if characteristic == "sex" and not (found & _HOMBRE and "m" in found):
        return read_group(_without_odd_words(cells, column, notices), column, collector, spoken().sex)
    if characteristic in ("veteran", "disability", "transgender"):
        return read_group(cells, column, collector, lambda word: _MARKS.get(spoken().mark(word)))
    return read_group(cells, column, collector)


def _without_odd_words(cells: pd.Series[Any], column: str, notices: list[Notice]) -> pd.Series[Any]:
    """Beside women and men, an unknown word is not counted as an answer: `N/D`, `Omitted`, `s/d`."""
    words = spoken()
    found = [str(word) for word in pd.unique(cells) if not words.is_unknown(str(word))]
    sexes = {words.sex(word) for word in found}
    odd = [w for w in found if words.sex(w) is None and plain(w) not in words.words("values", "other_sex")]
    if not odd or not {"female", "male"} <= sexes or cells.isin(odd).mean() > 0.5:
        return cells
    shown = listed_cells(column, odd)
    text = (
        f"{column!r}: {shown} {'is' if len(odd) == 1 else 'are'} read as no answer, as no gender is known by that word"
    )
    notices.append(Notice("no-answer", text))
    return cells.where(~cells.isin(odd), "")


def in_order(bands: Iterable[str]) -> tuple[str, ...]:
    """Bands of age from the youngest, by the first number of each; none where one has no number."""
    starts = {band: re.search(r"\d+", band) for band in bands if band != UNKNOWN}
    young = re.compile(r"<|under|below|unter|moins|menos|onder|meno", re.IGNORECASE)
    if not all(starts.values()):
        return ()
    return tuple(sorted(starts, key=lambda band: (int(starts[band].group()), not young.search(band))))  # type: ignore[union-attr]


def _ages(cells: pd.Series[Any], column: str, applied: pd.Series[Any], notices: list[Notice]) -> pd.Series[Any] | None:
    """Ages in years, from ages, years of birth or dates of birth; None where the column has bands of its own."""
    known = ~cells.map(spoken().is_unknown).astype(bool)
    if not known.any():
        return None
    dated = looks_like_dates(cells[known]).mean() >= 0.5
    numbers = to_numbers(cells).values
    counted = numbers[known].notna().mean() >= 0.9
    if not dated and not counted:
        return None
    if counted and not dated and float(numbers.max()) < 150 and not _is_birth(column):
        age = numbers
        text = f"{column!r}: ages are in two bands, {YOUNG!r} and {OLD!r}"
    else:
        born = to_dates(cells).values if dated else numbers.map(_first_of_july, na_action="ignore")
        born = pd.to_datetime(born)
        # of a year with two digits nobody is born after they applied
        born = born.where(~(born > applied.fillna(applied.max())), born - pd.DateOffset(years=100))
        age = (applied.fillna(applied.max()) - born) / np.timedelta64(1, "D") / _YEAR
        text = f"{column!r}: ages on the date of the application are in two bands, {YOUNG!r} and {OLD!r}"
        if applied.isna().all():
            text = f"{column!r}: without a date of application there are no ages, so all are unknown"
    notices.append(Notice("age-bands", text))
    return age.astype(float)


def _is_birth(column: str) -> bool:
    return any(f" {name} " in f" {plain(column)} " for name in spoken().words("names", "birth"))


def _first_of_july(year: float) -> pd.Timestamp:
    return pd.Timestamp(year=int(year), month=7, day=1) if 1900 <= year <= 2100 else pd.NaT  # type: ignore[return-value]


def crossed(parts: list[pd.Series[Any]]) -> pd.Series[Any]:
    """Groups of several attributes joined by `+`; unknown where one of them is."""
    unknown = pd.concat([part == UNKNOWN for part in parts], axis=1).any(axis=1)
    return reduce(lambda a, b: a + "+" + b, parts).where(~unknown, UNKNOWN)
