"""What a column could be: what its values look like, and which roles its name suggests.

Names of an earlier tier go first, and whole names before names that are part of a longer one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from auditkit.data.dates import looks_like_dates
from auditkit.data.numbers import to_numbers
from auditkit.data.vocabulary import ROLES, plain, spoken

LOOKED_AT = 1000
"""Different values of a column that are looked at."""
_MOST_WORDS = 200
_LONGEST_PHRASE = 90


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
    steps: float
    whole: bool
    examples: tuple[str, ...]
    low: float = math.nan
    high: float = math.nan

    @property
    def content(self) -> str:
        """One word for what it holds."""
        if not self.filled:
            return "empty"
        if self.marks == 1 and self.distinct <= 3:
            return "yes/no"
        if self.numbers >= 0.9 and self.steps < 0.5:  # "40-Hired" is a stage, "4 - Yes" a rating
            return "id" if self.whole and self.distinct == self.rows > 20 else "number"
        if self.dates >= 0.9:
            return "date"
        if self.statuses >= 0.5:
            return "status"
        if self.distinct <= 50:
            return "category"
        return "id" if self.distinct >= 0.9 * self.filled else "text"

    @property
    def is_words(self) -> bool:
        """Few different words or phrases, neither numbers nor dates."""
        return (
            0 < self.distinct <= _MOST_WORDS
            and self.content not in ("yes/no", "number", "date", "id")
            and self.dates < 0.5
        )


def describe(name: str, cells: pd.Series[Any]) -> ColumnProfile:
    """Look at a column. Shares come from at most a thousand of its values, evenly taken, so they never change."""
    words = spoken()
    found = pd.unique(cells)
    found = found[found != ""]
    filled = int((cells != "").sum())
    places = np.unique(np.linspace(0, len(found) - 1, min(len(found), LOOKED_AT)).astype(int))
    sampled = [str(word) for word in found[places]]
    looked = [word for word in sampled if not words.is_missing(word) or words.mark(word) is not None]
    if not looked:
        return ColumnProfile(name, len(cells), filled, len(found), 0.0, 0.0, 0.0, 0.0, 0.0, False, ())
    digits = any(c.isdigit() for word in looked for c in word)
    digital = pd.Series(looked if digits else [], dtype="str")
    numbers = to_numbers(digital)
    good = numbers.values[~numbers.bad]
    few = len(found) <= _MOST_WORDS

    def share(flags: Iterable[object]) -> float:
        return sum(map(bool, flags)) / len(looked)

    return ColumnProfile(
        name,
        len(cells),
        filled,
        len(found),
        numbers=share(~numbers.bad),
        marks=share(words.mark(word) is not None for word in looked),
        dates=share(looks_like_dates(digital)),
        statuses=share(few and _phrase(word) and words.meaning(word) for word in looked),
        steps=share(few and _phrase(word) and words.step_rank(word) is not None for word in looked),
        whole=bool(len(good) and (good == good.round()).all() and (good >= 0).all()),
        examples=tuple(looked[:3]) if len(found) <= 20 else (),
        low=float(good.min()) if len(good) else math.nan,
        high=float(good.max()) if len(good) else math.nan,
    )


def _phrase(word: str) -> bool:
    return len(word) <= _LONGEST_PHRASE


class Match(NamedTuple):
    """A column whose name is one of a role's names, or holds one (`loose`)."""

    role: str
    column: str
    loose: bool
    tier: int
    words: int
    name: str
    characteristic: str

    @property
    def rank(self) -> tuple[bool, int]:
        """Columns of one role are compared by this; equal ranks are ambiguous."""
        return self.loose, self.tier

    @property
    def closeness(self) -> tuple[bool, int, int, int]:
        """Roles of one column are compared by this. A longer name tells more: 'interview score' is not an interview."""
        return self.loose, -self.words, self.tier, list(ROLES).index(self.role)


def best_of(found: list[Match]) -> list[Match]:
    """Those of the best rank."""
    top = min((match.rank for match in found), default=None)
    return [match for match in found if match.rank == top]


def by_name(name: str) -> tuple[Match, ...]:
    """The roles that a name suggests, whatever the values are."""
    vocabulary = spoken()
    key = ("name", name)
    if key not in vocabulary._memory:
        vocabulary._memory[key] = _by_name(name)
    found: tuple[Match, ...] = vocabulary._memory[key]
    return found


def _by_name(name: str) -> tuple[Match, ...]:
    vocabulary = spoken()
    words = plain(name)
    # `Person : Gender`, `Diversity: Gender`, `candidate.gender`: before is of whom or of what
    short = plain(re.split(r":|\[|\s[-–—]\s|\.(?=[A-Za-z])", name)[-1]) or words
    joined = (words.replace(" ", ""), short.replace(" ", ""))
    first = re.sub(r" [1-9]$", "", words).replace(" ", "")  # `Decision 1`
    tables = [(role, "", tiers) for role, tiers in vocabulary.roles.items()]
    tables += [("group", attribute, tiers) for attribute, tiers in vocabulary.groups.items()]
    found, exact_only, padded = [], vocabulary.words("names", "exact_only"), f" {words} "
    for role, attribute, tiers in tables:
        foreign = any(f" {word} " in padded for word in vocabulary.words("names", f"foreign_{role}"))
        matches = []
        for tier, names in enumerate(tiers):
            for known in names:
                written = known.replace(" ", "")
                whole = written in (joined[:1] if foreign else joined) or (role == "selected" and written == first)
                if whole or (not foreign and f" {known} " in padded and known not in exact_only):
                    matches.append(Match(role, name, not whole, tier, len(known.split()), known, attribute))
        if matches:
            found.append(min(matches, key=lambda match: match.closeness))
    return tuple(found)


def named(name: str, role: str) -> Match | None:
    """How well a name says a role, if it does."""
    return next((match for match in by_name(name) if match.role == role), None)


def suits(column: ColumnProfile, role: str, characteristic: str = "") -> bool:
    """Whether the values can be what the role means; `characteristic` is that of a protected column."""
    marked = column.content == "yes/no"
    if not column.filled:
        return False
    if role == "candidate":
        return column.distinct > 1 and column.dates < 0.5 and not marked
    if role in ("search", "stage"):
        return column.numbers < 1 or column.whole
    if role == "group":
        if characteristic == "age" and (column.dates >= 0.5 or (column.numbers >= 0.9 and _are_ages(column))):
            return True
        return column.distinct <= (12 if column.numbers == 1 else 50) and column.dates < 0.5
    if role == "segment":
        few = 1 < column.distinct <= max(2, min(60, column.rows // 3))
        return few and column.dates < 0.5 and (column.numbers < 0.9 or (column.whole and column.distinct <= 12))
    if role == "reason":
        return column.dates < 0.5 and column.numbers < 0.5 and not marked
    if role == "prior":
        return column.numbers >= 0.9 or column.distinct <= 50
    if role == "person":
        return column.distinct > 1 and column.dates < 0.5
    if role == "date":
        return column.dates >= 0.5 or (column.numbers >= 0.9 and column.low >= 1e12 and column.high < 2e12)
    if role in ("capacity", "count"):
        return column.numbers >= 0.9 and column.whole
    if role in ("score", "outcome"):
        return column.numbers >= 0.9 and not marked
    if role in ("selected", "inspected", "result"):
        return marked or column.dates >= 0.5 or column.statuses >= 0.5
    return column.numbers >= 0.5


def is_protected(name: str) -> bool:
    """Whether a column is named like a protected attribute, which no message suggests for another role."""
    return any(match.role == "group" for match in by_name(name))


def characteristic_of(column: str) -> str:
    """`sex`, `race`, `age`, `veteran`, `disability`, ... by the name of a protected column; else `other`."""
    found = [match for match in by_name(column) if match.role == "group"]
    return min(found, key=lambda match: match.closeness).characteristic if found else "other"


def _are_ages(column: ColumnProfile) -> bool:
    """Ages in years, or years of birth."""
    return (column.low >= 12 and column.high <= 110) or (column.low >= 1900 and column.high <= 2030 and column.whole)


def matches_of(
    columns: Mapping[str, ColumnProfile], taken: Collection[str], settled: Collection[str]
) -> dict[str, list[Match]]:
    """For each role that is not settled the columns that could play it; a column counts for its best role only."""
    result: dict[str, list[Match]] = {}
    for column in columns.values():
        if column.name in taken:
            continue
        found = [
            match
            for match in by_name(column.name)
            if match.role not in settled and match.role != "result" and suits(column, match.role, match.characteristic)
        ]
        # whether a column named 'status' is a final status or a stage, the rows decide: it may be both until then
        for role in ({match.role for match in found} & {"stage"}) | {m.role for m in _closest(found)}:
            result.setdefault(role, []).extend(match for match in found if match.role == role)
    return result


def _closest(found: list[Match]) -> list[Match]:
    return sorted((match for match in found if match.role != "stage"), key=lambda match: match.closeness)[:1]


def suggestions(column: ColumnProfile) -> tuple[str, ...]:
    """The roles that a column could play, best first."""
    found = [match for match in by_name(column.name) if suits(column, match.role, match.characteristic)]
    return tuple(match.role for match in sorted(found, key=lambda match: match.closeness) if match.role != "result")
