"""Settings that were written for an earlier file: columns that are gone are found by name and content, or asked about.

`[columns]` of audit.toml keeps what each column looked like: its words where they are few. A column
that is gone is matched with one that nothing else uses if its words are the same and no other column comes close, or
if only its name was changed a little. Every match is said; what cannot be matched is a question.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from auditkit.data.columns import describe, named, suits
from auditkit.data.personal import is_personal
from auditkit.data.reading import MOST_SHOWN, Reading
from auditkit.data.roles import Given, column_in
from auditkit.data.statuses import is_bad
from auditkit.data.vocabulary import plain
from auditkit.errors import Problem
from auditkit.text import indefinite

Seen = Mapping[str, "str | Sequence[str]"]
"""Column -> its words, or "many"."""

_SAME = 0.6
"""Share of all words of two columns that both have, from which they are taken as the same."""
_CLOSE_NAME = 0.8
_NEEDED = ("group", "selected", "candidate", "stage", "stages", "inspected", "count", "result", "reason")
"""Roles without which a file is another one; the others can be left out."""


@dataclass(frozen=True)
class Rematched:
    """The mapping for this file, what was matched and what could not be, with the likeliest answers to all of that."""

    given: Given
    said: tuple[str, ...]
    lost: tuple[Problem, ...]
    answers: tuple[Mapping[str, str], ...] = ()


def columns_seen(reading: Reading) -> dict[str, str | list[str]]:
    """What to keep of each column: its words where they are few, nothing of names, addresses and ids."""
    found = {column.name: [word for word, _ in column.values if word] for column in reading.columns}
    return {
        name: words if 0 < len(words) < MOST_SHOWN and not any(is_personal(name, word) for word in words) else "many"
        for name, words in found.items()
    }


def rematched(given: Given, seen: Seen, table: pd.DataFrame) -> Rematched:
    """The mapping with columns that are gone replaced by what they are called now."""
    columns = [str(name) for name in table.columns]
    used = {found for value in given.values() for part in _parts(value) if (found := column_in(part, columns))}
    changed: dict[str, str | list[str]] = {}
    said: list[str] = []
    lost: dict[tuple[str, str], tuple[str, ...]] = {}
    for role, value in given.items():
        parts = []
        for part in _parts(value):
            old = next((name for name in seen if part == name or part.startswith(name)), part)
            if column_in(part, columns) or old not in seen:
                parts.append(part)
                continue
            free = [name for name in columns if name not in used]
            new = _match(old, seen[old], role, free, table)
            if new is None:
                lost[role, old] = ()
                parts.append(part)
                continue
            used.add(new)
            said.append(f"{old!r} is called {new!r} in this file")
            parts.append(_renamed(part, old, new, role))
        changed[role] = parts[0] if isinstance(value, str) else parts
    claimed: set[str] = set()
    for role, old in sorted(lost, key=lambda pair: pair[0] not in _NEEDED):  # what an audit needs chooses first
        free = [name for name in columns if name not in used | claimed]
        lost[role, old] = likely = _likeliest(old, seen[old], role, free, table)
        claimed.update(likely[:1] if role in _NEEDED else ())
    fix = "say which it is now, under [mapping] in audit.toml or with --map"
    problems = [Problem(f"{role} = {old!r}", "the file no longer has this column", fix) for role, old in lost]
    places = range(max(map(len, lost.values()), default=0))
    return Rematched(changed, tuple(said), tuple(problems), tuple(_answer(changed, lost, k) for k in places))


def _answer(given: Given, lost: Mapping[tuple[str, str], tuple[str, ...]], place: int) -> dict[str, str]:
    """The roles with lost columns, each of these replaced by one that it may be now, or left out where none may."""
    result: dict[str, str] = {}
    for role in dict.fromkeys(role for role, _ in lost):
        parts = _parts(given[role])
        for old, likely in ((old, likely) for (other, old), likely in lost.items() if other == role):
            name = likely[min(place, len(likely) - 1)] if likely else ""
            mine = [part.startswith(old) for part in parts]
            now = [_renamed(part, old, name, role) if name else "" for part in parts]
            parts = [new if own else part for part, new, own in zip(parts, now, mine, strict=True)]
        result[role] = ",".join(part for part in parts if part) or "none"
    return result


def _renamed(part: str, old: str, new: str, role: str) -> str:
    """What a mapping says of a column under its new name; a yes stays bad or good, whatever the name sounds like."""
    if role == "selected" and part == old and is_bad(old) != is_bad(new):
        return f"{new}!=Yes"
    return new + part[len(old) :]


def new_columns(seen: Seen, looks: Mapping[str, str], said: Iterable[str]) -> tuple[str, ...]:
    """A sentence for each unused column that was not there before and looks like something that matters."""
    known = {plain(name) for name in seen}
    told = " ".join(said)
    return tuple(
        f"{name!r} is new in this file and not used; it looks like {indefinite(role)}"
        for name, role in looks.items()
        if role and plain(name) not in known and f"called {name!r}" not in told
    )


def _parts(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else [*value]


def _match(old: str, before: str | Sequence[str], role: str, free: Sequence[str], table: pd.DataFrame) -> str | None:
    """The one free column that the old one is now."""
    same = [name for name in free if _overlap(before, table[name]) >= _SAME]
    if len(same) > 1:
        same = [name for name in same if _alike(old, name) >= 0.5 or named(name, role) is not None]
    if len(same) == 1:
        return same[0]
    alike = [name for name in free if _alike(old, name) >= _CLOSE_NAME and _like_before(before, name, table, role)]
    return alike[0] if len(alike) == 1 and not same else None


def _likeliest(
    old: str, before: str | Sequence[str], role: str, free: Sequence[str], table: pd.DataFrame
) -> tuple[str, ...]:
    """Free columns that could play the role, most alike first."""
    able = [
        name
        for name in free
        if suits(describe(name, table[name]), role, "age" if role == "group" else "") or _says(name, role)
    ]
    if role not in _NEEDED:  # it can be left out, so only what sounds like it is tried
        able = [n for n in able if _says(n, role) or _overlap(before, table[n]) or _alike(old, n) >= _CLOSE_NAME]
    return tuple(
        sorted(able, key=lambda n: (-_overlap(before, table.loc[:, n]), named(n, role) is None, -_alike(old, n)))[:3]
    )


def _says(name: str, role: str) -> bool:
    match = named(name, role)
    return match is not None and not match.loose


def _overlap(before: str | Sequence[str], cells: pd.Series[Any]) -> float:
    """Of the words of two columns, the share that both have; 0 where the old one had no words."""
    if isinstance(before, str):
        return 0.0
    old, now = {plain(word) for word in before}, {plain(str(word)) for word in pd.unique(cells)[:100]} - {""}
    return len(old & now) / max(1, len(old | now)) if not old <= {"yes", "no", "y", "n", "0", "1"} else 0.0


def _alike(old: str, name: str) -> float:
    one, other = plain(old), plain(name)
    if set(one.split()) <= set(other.split()) or set(other.split()) <= set(one.split()):
        return 0.9
    return difflib.SequenceMatcher(None, one, other).ratio()


def _like_before(before: str | Sequence[str], name: str, table: pd.DataFrame, role: str) -> bool:
    profile = describe(name, table[name])
    if isinstance(before, str):
        return suits(profile, role)
    return _overlap(before, table[name]) > 0 or {plain(w) for w in before} <= {"yes", "no", "y", "n", "0", "1"}


def favoured(given: Given, favourable: str, table: pd.DataFrame) -> Given | Problem:
    """The mapping in which `favourable` ("Retained", or "Hired|Offer accepted") is the good outcome."""
    own = given.get("selected")
    column = column_in(_parts(own)[0], table.columns) if own else None
    wanted = {plain(word) for word in favourable.split("|")}
    names = [column] if column else [str(name) for name in table.columns]
    cells = {name: {plain(str(word)) for word in pd.unique(table[name])[:1000]} for name in names}
    found = [name for name, words in cells.items() if wanted <= words]
    if len(found) > 1:
        found = [name for name in found if named(name, "selected") or named(name, "stage")] or found
    if len(found) == 1:
        return {**given, "selected": f"{found[0]}={favourable}"}
    if found:
        listed = ", ".join(map(repr, found))
        fix = f'--map "selected={found[0]}={favourable}"'
        return Problem(
            "favourable", f"{favourable!r} is a value of several columns: {listed}", f"say which, e.g. {fix}"
        )
    where = f"column {column!r}" if column else "any column"
    return Problem("favourable", f"{favourable!r} is not a value of {where}", "write it as the file does")
