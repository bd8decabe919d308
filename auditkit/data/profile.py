"""What the values of a column look like: the half of role inference that does not trust names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.dates import looks_like_dates
from auditkit.data.numbers import to_numbers
from auditkit.data.words import FALSE, INSPECTED, MISSING, STATUS, TRUE, code_of, plain

_LOOKED_AT = 1000


@dataclass(frozen=True)
class Column:
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


def describe(name: str, cells: pd.Series[Any]) -> Column:
    """Look at a column. Shares come from at most a thousand of its values, evenly taken, so they never change."""
    found = pd.Series(pd.unique(cells), dtype="str")
    filled = int((cells != "").sum())
    distinct = int((found != "").sum())
    looked = found.iloc[np.unique(np.linspace(0, len(found) - 1, min(len(found), _LOOKED_AT)).astype(int))]
    looked = looked[~looked.map(plain).isin(MISSING) | looked.str.contains(r"[✓✔☑]", regex=True)]
    if looked.empty:
        return Column(name, len(cells), filled, distinct, 0.0, 0.0, 0.0, 0.0, 0.0, False, ())
    numbers = to_numbers(looked)
    good = numbers.values[~numbers.bad]
    marks = looked.map(lambda word: is_mark(word) is not None)
    few = distinct <= 200
    return Column(
        name,
        len(cells),
        filled,
        distinct,
        float((~numbers.bad).mean()),
        float(marks.mean()),
        float(looks_like_dates(looked).mean()),
        float(looked.map(lambda word: code_of(word, STATUS) is not None).mean()) if few else 0.0,
        float(looked.map(lambda word: code_of(word, INSPECTED) is not None).mean()) if few else 0.0,
        bool(len(good) and (good == good.round()).all() and (good >= 0).all()),
        tuple(looked.head(3)) if distinct <= 20 else (),
    )
