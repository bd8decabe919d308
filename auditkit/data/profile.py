"""What the values of a column look like: the half of role inference that does not trust names."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.dates import looks_like_dates
from auditkit.data.numbers import to_numbers
from auditkit.data.vocabulary import FALSE, INSPECTED, MISSING, STATUS, TRUE, code_of, plain

_LOOKED_AT = 1000


@dataclass(frozen=True)
class ColumnProfile:
    """A column as `check` and `init` describe it; shares are of its different values."""

    name: str
    rows: int
    filled: int
    distinct: int
    numbers: float
    marks: float
    dates: float
    statuses: float
    inspections: float
    whole: bool
    examples: tuple[str, ...]
    low: float = math.nan
    high: float = math.nan

    @property
    def kind(self) -> str:
        """One word for people."""
        if not self.filled:
            return "empty"
        if self.marks == 1 and self.distinct <= 3:
            return "yes/no"
        if self.numbers >= 0.9:
            return "id" if self.whole and self.distinct == self.rows > 20 else "number"
        if self.dates >= 0.9:
            return "date"
        if self.statuses >= 0.5:
            return "status"
        if self.distinct <= 50:
            return "category"
        return "id" if self.distinct >= 0.9 * self.filled else "text"


def is_mark(word: str) -> bool | None:
    """True for yes, False for no, None for neither."""
    text = "x" if word in ("✓", "✔", "☑") else plain(word)
    return True if text in TRUE else False if text in FALSE else None


def describe(name: str, cells: pd.Series[Any]) -> ColumnProfile:
    """Look at a column. Shares come from at most a thousand of its values, evenly taken, so they never change."""
    found = pd.unique(cells)
    found = found[found != ""]
    filled = int((cells != "").sum())
    step = np.unique(np.linspace(0, len(found) - 1, min(len(found), _LOOKED_AT)).astype(int))
    sampled = [str(word) for word in found[step]]
    looked = [word for word in sampled if plain(word) not in MISSING or is_mark(word) is not None]
    if not looked:
        return ColumnProfile(name, len(cells), filled, len(found), 0.0, 0.0, 0.0, 0.0, 0.0, False, ())
    digits = any(c.isdigit() for word in looked for c in word)
    words = pd.Series(looked if digits else [], dtype="str")
    numbers = to_numbers(words)
    good = numbers.values[~numbers.bad]
    few = len(found) <= 200

    def share(flags: Iterable[object]) -> float:
        return sum(map(bool, flags)) / len(looked)

    return ColumnProfile(
        name,
        len(cells),
        filled,
        len(found),
        numbers=share(~numbers.bad),
        marks=share(is_mark(word) is not None for word in looked),
        dates=share(looks_like_dates(words)),
        statuses=share(few and code_of(word, STATUS) for word in looked),
        inspections=share(few and code_of(word, INSPECTED) for word in looked),
        whole=bool(len(good) and (good == good.round()).all() and (good >= 0).all()),
        examples=tuple(looked[:3]) if len(found) <= 20 else (),
        low=float(good.min()) if len(good) else math.nan,
        high=float(good.max()) if len(good) else math.nan,
    )
