"""Which column plays which role: from its name and its values, or as the user says. Never a silent guess.

A column is a candidate for a role if its name is one of the role's names (or holds one) and its values suit. Names of
an earlier tier go first. Two columns of the same rank: a required role is asked for, an optional one is left out, and
both messages name the columns and the flag to type.
"""

from __future__ import annotations

import difflib
import re
from collections import abc
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pandas as pd

from auditkit.data.profile import Column, describe
from auditkit.data.read import Notice, RawTable
from auditkit.data.words import EXACT_ONLY, FOREIGN, GROUP_NAMES, NAMES, ROLES, ROW_NUMBERS, SEVERAL, plain
from auditkit.errors import InputError, Problem, nearest

Given = abc.Mapping[str, "str | abc.Sequence[str]"]
"""What a user maps: role -> column, or several columns (in a list, or joined by `+`)."""

NONE = ("", "none")
"""`--map score=none`: leave the role out."""

_TEST = re.compile(r"^(?P<column>.+?)\s*(?P<sign>>=|<=|==|=|>|<)\s*(?P<value>.+)$")
_TESTED = ("selected", "inspected")
_CELLS_AT_MOST = 5000


class Test(NamedTuple):
    """`--map "selected=Score>=70"`: the column says yes where the comparison holds."""

    sign: str
    value: str


@dataclass(frozen=True)
class Choice:
    """The columns of a role, and why they."""

    role: str
    columns: tuple[str, ...]
    reason: str
    given: bool = False
    test: Test | None = None


@dataclass(frozen=True)
class Mapping:
    """Every role that the data has, in the order of `words.ROLES`."""

    choices: tuple[Choice, ...]
    unused: tuple[str, ...]
    notices: tuple[Notice, ...] = ()

    def columns(self, role: str) -> tuple[str, ...]:
        """The columns of a role; none if the data does not have it."""
        return next((choice.columns for choice in self.choices if choice.role == role), ())

    def column(self, role: str) -> str | None:
        """The column of a role that has one."""
        return next(iter(self.columns(role)), None)

    def choice(self, role: str) -> Choice | None:
        return next((choice for choice in self.choices if choice.role == role), None)

    def as_dict(self) -> dict[str, list[str]]:
        """For `audit.toml` and the report: what can be given back to `load` as its mapping."""
        return {
            c.role: [f"{c.columns[0]}{c.test.sign}{c.test.value}"] if c.test else list(c.columns) for c in self.choices
        }


class _Match(NamedTuple):
    role: str
    column: str
    loose: bool  # the name only holds the role's name
    tier: int
    words: int
    name: str
    attribute: str = ""

    @property
    def rank(self) -> tuple[bool, int]:
        return self.loose, self.tier


def describe_all(raw: RawTable) -> tuple[Column, ...]:
    """All columns of a table, described."""
    return tuple(describe(str(name), raw.table[name]) for name in raw.table.columns)


def infer(raw: RawTable, given: Given | None = None) -> Mapping:
    """The mapping of a table, or one InputError with every role that must be asked for."""
    columns = {column.name: column for column in describe_all(raw)}
    chosen, off, problems, stageless = _resolve(given or {}, list(columns))
    matches = _matches(columns, chosen, off)
    if "stage" not in chosen and not _is_event_log(raw.table, chosen, matches):
        matches.pop("stage", None)
    if "stage" in chosen or matches.get("stage"):
        chosen.update({} if "stage" in chosen else {"stage": _single("stage", matches["stage"], columns)})
        matches = _matches(columns, chosen, off)
    if "count" not in chosen and not _is_cells(raw.table, matches):
        matches.pop("count", None)
    notices: list[Notice] = []
    for role in ROLES:
        if role in chosen or role in off or role in ("group", "stages"):
            continue
        found = matches.get(role, [])
        if role == "prior" or role == "expense":
            if found:
                names = tuple(name for name in columns if any(m.column == name for m in found))
                chosen[role] = Choice(role, names, "by name and values")
        elif (best := _best(found)) and len(best) == 1:
            chosen[role] = _single(role, best, columns)
        elif best and not (role == "selected" and _selected_needed(chosen)):
            notices.append(_left_out(role, best))
    problems += _ask_for_group(chosen, off, matches, columns, notices)
    problems += _ask_for_selected(chosen, off, matches, columns, notices)
    if "stage" not in chosen:
        problems += stageless
    elif "candidate" not in chosen:
        problems.append(_ask("candidate", "an event log must say whose event each row is", list(columns)))
    if problems:
        raise InputError(problems)
    choices = tuple(chosen[role] for role in ROLES if role in chosen)
    used = {column for choice in choices for column in choice.columns}
    return Mapping(choices, tuple(name for name in columns if name not in used), tuple(notices))


def _resolve(given: Given, names: list[str]) -> tuple[dict[str, Choice], set[str], list[Problem], list[Problem]]:
    """What the user says, with columns found regardless of case and punctuation.

    In an event log the `stages` are values of the stage column, so the last list, of stages that are no columns, is
    wrong only if there is no stage column.
    """
    chosen: dict[str, Choice] = {}
    off: set[str] = set()
    problems: list[Problem] = []
    stageless: list[Problem] = []
    for role, value in given.items():
        if role not in ROLES:
            problems.append(Problem(f"--map {role}", f"there is no role {role!r}", nearest(role, ROLES)))
            continue
        parts = [value] if isinstance(value, str) else list(value)
        if not parts or (len(parts) == 1 and parts[0].strip().lower() in NONE and parts[0] not in names):
            off.add(role)
            continue
        test = None
        if len(parts) == 1 and _find(parts[0], names) is None:
            if role in _TESTED and (match := _TEST.match(parts[0])):
                parts, test = [match["column"]], Test(match["sign"].replace("==", "="), match["value"].strip())
            else:
                parts = [part.strip() for part in parts[0].split("+")]
        found = [(part, _find(part, names)) for part in parts]
        for part, name in found:
            if name is None:
                (stageless if role == "stages" else problems).append(
                    Problem(f"--map {role}={part}", f"there is no column {part!r}", _closest(part, names))
                )
        if len(parts) > 1 and role not in SEVERAL and not (role == "cost" and "stages" in given):
            problems.append(Problem(f"--map {role}", f"the role {role!r} takes one column, not {len(parts)}"))
        columns = tuple(name or part for part, name in found)
        chosen[role] = Choice(role, columns, "as you said", given=True, test=test)
    return chosen, off, problems, stageless


def _find(name: str, names: list[str]) -> str | None:
    if name in names:
        return name
    same = [known for known in names if plain(known) == plain(name)]
    return same[0] if len(same) == 1 else None


def _closest(name: str, names: list[str]) -> str:
    by_key = {plain(known): known for known in names}
    close = [by_key[key] for key in difflib.get_close_matches(plain(name), by_key, n=3, cutoff=0.5)]
    return f"closest: {', '.join(map(repr, close))}" if close else f"columns: {_list(names)}"


def _list(names: abc.Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def _matches(columns: dict[str, Column], chosen: dict[str, Choice], off: set[str]) -> dict[str, list[_Match]]:
    """For each role the columns whose name and values suit; a column counts for its best role only."""
    taken = {column for choice in chosen.values() for column in choice.columns}
    result: dict[str, list[_Match]] = {}
    for column in columns.values():
        if column.name in taken:
            continue
        found = [
            m for m in _by_name(column.name) if m.role not in chosen and m.role not in off and suits(column, m.role)
        ]
        if found:
            # a longer name is the more telling one: 'interview score' is a score, not an interview
            best = min(found, key=lambda m: (m.loose, -m.words, m.tier, list(ROLES).index(m.role)))
            if best.role == "selected" and any(m.role == "stage" for m in found):
                result.setdefault("stage", []).append(next(m for m in found if m.role == "stage"))
            result.setdefault(best.role, []).append(best)
    return result


def _by_name(name: str) -> list[_Match]:
    words = plain(name)
    tables = [(role, "", tiers) for role, tiers in NAMES.items()]
    tables += [("group", attribute, tiers) for attribute, tiers in GROUP_NAMES.items()]
    found = []
    for role, attribute, tiers in tables:
        matches = [
            _Match(role, name, words != known, tier, len(known.split()), known, attribute)
            for tier, names in enumerate(tiers)
            for known in names
            if words == known or words.replace(" ", "") == known.replace(" ", "") or _holds(words, known, role)
        ]
        if matches:
            found.append(min(matches, key=lambda m: (m.loose, -m.words, m.tier)))
    return found


def _holds(words: str, known: str, role: str) -> bool:
    if known in EXACT_ONLY or FOREIGN.get(role, frozenset()) & set(words.split()):
        return False
    return f" {known} " in f" {words} "


def suits(column: Column, role: str) -> bool:
    """Whether the values can be what the role means."""
    marked = column.marks == 1 and column.distinct <= 3
    if not column.filled:
        return False
    if role == "candidate":
        return column.distinct > 1 and column.dates < 0.5 and not marked
    if role in ("search", "stage"):
        return column.numbers < 1 or column.whole
    if role == "group":
        return column.distinct <= (12 if column.numbers == 1 else 50) and column.dates < 0.5
    if role == "selected":
        return marked or column.dates >= 0.9 or column.statuses >= 0.5
    if role == "inspected":
        return marked or column.dates >= 0.5 or column.inspections >= 0.5
    if role == "prior":
        return column.numbers >= 0.9 or column.distinct <= 50
    if role == "date":
        return column.dates >= 0.5
    if role in ("capacity", "count"):
        return column.numbers >= 0.9 and column.whole
    if role in ("score", "outcome"):
        return column.numbers >= 0.9 and not marked
    return column.numbers >= 0.5


def _is_event_log(table: pd.DataFrame, chosen: dict[str, Choice], matches: dict[str, list[_Match]]) -> bool:
    """Several rows for an application, told apart by a column named like a stage."""
    stage, person = _best(matches.get("stage", [])), _column_of("candidate", chosen, matches)
    if len(stage) != 1 or person is None:
        return False
    keys = [person, *filter(None, [_column_of("search", chosen, matches)])]
    repeated = len(table) / max(1, len(table.drop_duplicates(keys)))
    within = table.drop_duplicates([*keys, stage[0].column])
    return repeated > 1.2 and len(within) / len(table) > 0.8 and table[stage[0].column].nunique() <= 40


def _column_of(role: str, chosen: dict[str, Choice], matches: dict[str, list[_Match]]) -> str | None:
    if role in chosen:
        return chosen[role].columns[0]
    best = _best(matches.get(role, []))
    return best[0].column if len(best) == 1 else None


def _is_cells(table: pd.DataFrame, matches: dict[str, list[_Match]]) -> bool:
    """One row per combination of the other columns, nobody named: the rows are cells of a table of counts."""
    best = _best(matches.get("count", []))
    if len(best) != 1 or matches.get("candidate") or len(table) > _CELLS_AT_MOST:
        return False
    rest = [name for name in table.columns if name != best[0].column and plain(str(name)) not in ROW_NUMBERS]
    return bool(rest) and not table.duplicated(rest).any() and max(table[name].nunique() for name in rest) < len(table)


def _best(found: list[_Match]) -> list[_Match]:
    top = min((m.rank for m in found), default=None)
    return [m for m in found if m.rank == top]


def _single(role: str, best: list[_Match], columns: dict[str, Column]) -> Choice:
    match = _best(best)[0]
    name = f"its name holds {match.name!r}" if match.loose else "its name says so"
    return Choice(role, (match.column,), f"{name}; values: {columns[match.column].kind}")


def _left_out(role: str, best: list[_Match]) -> Notice:
    names = [m.column for m in best]
    several = f" or, as stages, --map stages={'+'.join(names)}" if role == "inspected" else ""
    flag = f'--map "{role}={names[0]}"' if " " in names[0] else f"--map {role}={names[0]}"
    return Notice(
        "ambiguous-role", f"{role}: {_list(names)} could each be it, so none is used; choose with {flag}{several}"
    )


def _ask(role: str, what: str, likely: list[str]) -> Problem:
    fix = f"say which with --map {role}=COLUMN"
    if likely:
        name = f'"{role}={likely[0]}"' if " " in likely[0] else f"{role}={likely[0]}"
        fix = f"say which, e.g. --map {name}; most likely: {_list(likely)}"
    return Problem(role, what, fix)


def _ask_for_group(
    chosen: dict[str, Choice],
    off: set[str],
    matches: dict[str, list[_Match]],
    columns: dict[str, Column],
    notices: list[Notice],
) -> list[Problem]:
    if "group" in chosen:
        return []
    found = matches.get("group", [])
    kinds = {kind: _best([m for m in found if m.attribute == kind]) for kind in GROUP_NAMES}
    usable = [kinds[kind] for kind in ("sex", "race") if kinds[kind]] or ([kinds["other"]] if kinds["other"] else [])
    if not usable or "group" in off:
        used = {column for choice in chosen.values() for column in choice.columns}
        likely = [
            c.name for c in columns.values() if c.kind == "category" and c.name not in used and 2 <= c.distinct <= 12
        ]
        return [_ask("group", "no column says which group a candidate belongs to (such as sex, gender, race)", likely)]
    if any(len(best) > 1 for best in usable):
        names = [m.column for best in usable for m in best]
        ask = _ask("group", f"several columns could be the group: {_list(names)}", names)
        return [replace(ask, fix=f"{ask.fix}; columns joined by + are crossed")]
    names = [best[0].column for best in usable]
    if len(names) > 1:
        reason = f"sex and race by name, crossed; for one alone: --map group={names[0]}"
        notices.append(Notice("group-crossed", f"groups are {names[0]!r} crossed with {names[1]!r}"))
        chosen["group"] = Choice("group", tuple(names), reason)
    else:
        chosen["group"] = _single("group", usable[0], columns)
    return []


def _selected_needed(chosen: dict[str, Choice]) -> bool:
    return "stages" not in chosen and "stage" not in chosen


def _ask_for_selected(
    chosen: dict[str, Choice],
    off: set[str],
    matches: dict[str, list[_Match]],
    columns: dict[str, Column],
    notices: list[Notice],
) -> list[Problem]:
    if "selected" in chosen or not _selected_needed(chosen):
        return []
    best = _best(matches.get("selected", []))
    if best:
        names = [m.column for m in best]
        return [_ask("selected", f"several columns could say who was selected: {_list(names)}", names)]
    used = {column for choice in chosen.values() for column in choice.columns}
    named = [name for name in columns if name not in used and any(m.role == "selected" for m in _by_name(name))]
    if "inspected" in chosen and ("selected" in off or not named):
        notices.append(Notice("no-selected", "no column says who was selected: the audit is of who was inspected"))
        return []
    if named:
        column = columns[named[0]]
        values = f" (values such as {', '.join(map(repr, column.examples))})" if column.examples else ""
        what = (
            f"{named[0]!r} is named like the column of who was selected, but its values{values} are not known to say so"
        )
        return [Problem("selected", what, f'say which value counts: --map "selected={named[0]}=VALUE"')]
    likely = [c.name for c in columns.values() if c.name not in used and c.kind in ("yes/no", "status")]
    ask = _ask("selected", "no column says who was selected (such as hired, selected, decision, final status)", likely)
    scored = [c.name for c in columns.values() if c.kind == "number" and plain(c.name) not in ROW_NUMBERS]
    if not likely and scored:
        pass_mark = f'--map "selected={scored[-1]}>=MARK" if a pass mark decided'
        ask = replace(ask, fix=f"{ask.fix}, or {pass_mark}; columns: {_list(list(columns))}")
    return [ask]


def suggestions(column: Column) -> tuple[str, ...]:
    """The roles that a column could play, best first; for `init`."""
    found = [m for m in _by_name(column.name) if suits(column, m.role)]
    return tuple(m.role for m in sorted(found, key=lambda m: (m.loose, -m.words, m.tier)))


def cells_of(raw: RawTable, mapping: Mapping, role: str) -> pd.Series[Any] | None:
    """The text cells of a role that has one column."""
    column = mapping.column(role)
    return None if column is None else raw.table[column]
