"""Which columns could play a role: a name of `words.NAMES`, and values that suit.

Names of an earlier tier go first, and whole names before names that are part of a longer one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import NamedTuple

import pandas as pd

from auditkit.data.profile import ColumnProfile
from auditkit.data.vocabulary import EXACT_ONLY, FOREIGN, GROUP_NAMES, NAMES, ROLES, ROW_NUMBERS, plain

_CELLS_AT_MOST = 5000


class Match(NamedTuple):
    """A column whose name is one of a role's names, or holds one (`loose`)."""

    role: str
    column: str
    loose: bool
    tier: int
    words: int
    name: str
    attribute: str

    @property
    def rank(self) -> tuple[bool, int]:
        """Columns of one role are compared by this; equal ranks are ambiguous."""
        return self.loose, self.tier

    @property
    def closeness(self) -> tuple[bool, int, int, int]:
        """Roles of one column are compared by this. A longer name tells more: 'interview score' is no interview."""
        return self.loose, -self.words, self.tier, list(ROLES).index(self.role)


def best_of(found: list[Match]) -> list[Match]:
    """Those of the best rank."""
    top = min((match.rank for match in found), default=None)
    return [match for match in found if match.rank == top]


@lru_cache(maxsize=10_000)
def by_name(name: str) -> tuple[Match, ...]:
    """The roles that a name suggests, whatever the values are."""
    words = plain(name)
    # `Person : Gender`: what stands before the colon says of whom
    short = plain(name.rpartition(" : ")[2]) or words
    joined = (words.replace(" ", ""), short.replace(" ", ""))
    tables = [(role, "", tiers) for role, tiers in NAMES.items()]
    tables += [("group", attribute, tiers) for attribute, tiers in GROUP_NAMES.items()]
    found = []
    for role, attribute, tiers in tables:
        matches = []
        for tier, names in enumerate(tiers):
            for known in names:
                whole = known.replace(" ", "") in joined
                if whole or _holds(words, known, role):
                    matches.append(Match(role, name, not whole, tier, len(known.split()), known, attribute))
        if matches:
            found.append(min(matches, key=lambda match: match.closeness))
    return tuple(found)


def _holds(words: str, known: str, role: str) -> bool:
    if known in EXACT_ONLY or FOREIGN.get(role, frozenset()) & set(words.split()):
        return False
    return f" {known} " in f" {words} "


def suits(column: ColumnProfile, role: str, attribute: str = "") -> bool:
    """Whether the values can be what the role means; `attribute` is the kind of a protected column."""
    marked = column.kind == "yes/no"
    if not column.filled:
        return False
    if role == "candidate":
        return column.distinct > 1 and column.dates < 0.5 and not marked
    if role in ("search", "stage"):
        return column.numbers < 1 or column.whole
    if role == "group":
        if attribute == "age" and (column.dates >= 0.5 or (column.numbers >= 0.9 and _are_ages(column))):
            return True
        return column.distinct <= (12 if column.numbers == 1 else 50) and column.dates < 0.5
    if role == "segment":
        few = 1 < column.distinct <= max(2, min(60, column.rows // 3))
        return few and column.dates < 0.5 and (column.numbers < 0.9 or (column.whole and column.distinct <= 12))
    if role == "reason":
        return column.dates < 0.5 and column.numbers < 0.5 and not marked
    if role == "selected":
        return marked or column.dates >= 0.9 or column.statuses >= 0.5
    if role == "inspected":
        return marked or column.dates >= 0.5 or column.inspections >= 0.5
    if role == "prior":
        return column.numbers >= 0.9 or column.distinct <= 50
    if role == "person":
        return column.distinct > 1 and column.dates < 0.5
    if role == "date":
        return column.dates >= 0.5
    if role in ("capacity", "count"):
        return column.numbers >= 0.9 and column.whole
    if role in ("score", "outcome"):
        return column.numbers >= 0.9 and not marked
    return column.numbers >= 0.5


def is_protected(name: str) -> bool:
    """Whether a column is named like a protected attribute, which no message suggests for another role."""
    return any(match.role == "group" for match in by_name(name))


def kind_of(column: str) -> str:
    """`sex`, `race`, `age`, `veteran`, `disability`, ... by the name of a protected column; else `other`."""
    found = [match for match in by_name(column) if match.role == "group"]
    return min(found, key=lambda match: match.closeness).attribute if found else "other"


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
            if match.role not in settled and suits(column, match.role, match.attribute)
        ]
        # whether a column named 'status' is a final status or a stage, the rows decide: it may be both until then
        for role in ({match.role for match in found} & {"stage"}) | {m.role for m in _closest(found)}:
            result.setdefault(role, []).extend(match for match in found if match.role == role)
    return result


def _closest(found: list[Match]) -> list[Match]:
    return sorted((match for match in found if match.role != "stage"), key=lambda match: match.closeness)[:1]


def suggestions(column: ColumnProfile) -> tuple[str, ...]:
    """The roles that a column could play, best first."""
    found = [match for match in by_name(column.name) if suits(column, match.role, match.attribute)]
    return tuple(match.role for match in sorted(found, key=lambda match: match.closeness))


def is_event_log(table: pd.DataFrame, person: str | None, search: str | None, stages: list[Match]) -> bool:
    """Several rows for an application, told apart by a column named like a stage."""
    best = best_of(stages)
    if len(best) != 1 or person is None:
        return False
    keys = [person, search] if search is not None else [person]
    repeated = len(table) / len(table.drop_duplicates(keys))
    told_apart = len(table.drop_duplicates([*keys, best[0].column])) / len(table)
    return repeated > 1.2 and told_apart > 0.8 and table[best[0].column].nunique() <= 40


def is_cells(table: pd.DataFrame, counts: list[Match]) -> bool:
    """One row per combination of the other columns: the rows are cells of a table of counts."""
    best = best_of(counts)
    if len(best) != 1 or len(table) > _CELLS_AT_MOST:
        return False
    rest = [name for name in table.columns if name != best[0].column and plain(str(name)) not in ROW_NUMBERS]
    return bool(rest) and not table.duplicated(rest).any() and max(table[name].nunique() for name in rest) < len(table)
