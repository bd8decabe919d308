"""Who is counted: protected attributes, the key of an application, the person behind it, the requisition."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd

from auditkit.data.attributes import is_coded
from auditkit.data.columns import LOOKED_AT, ColumnProfile, Match, best_of, by_name, characteristic_of, named
from auditkit.data.personal import is_personal
from auditkit.data.problems import Notice
from auditkit.data.roles import Choice, listed
from auditkit.data.table_look import TableLook
from auditkit.data.vocabulary import plain, spoken
from auditkit.data.which_outcome import is_outcome

_NAME = re.compile(r"[^\W\d_]+(?:[ ,.'’-]+[^\W\d_]+)+\.?")
"""Two words or more, without a digit."""
_RACE_LETTERS = frozenset({"w", "b", "h", "a", "i", "p", "n", "o", "m", "t", "2", "x", "u"})
"""White, Black, Hispanic, Asian, Indian, Pacific, Native, other, mixed, two or more, as applicant logs abbreviate."""


def find_groups(state: TableLook) -> None:
    """Every protected column is an attribute; of two columns that say the same, the first."""
    if "group" in state.chosen:
        given = state.chosen["group"]
        state.chosen["group"] = replace(
            given, characteristics={name: _characteristic(state, name) for name in given.columns}
        )
        return
    vocabulary = spoken()
    found = state.matches().get("group", [])
    names: list[str] = []
    characteristics: dict[str, str] = {}
    for characteristic in vocabulary.groups:
        own = sorted((match for match in found if match.characteristic == characteristic), key=lambda match: match.rank)
        for match in own:
            _add_group(state, match.column, characteristic, names, characteristics)
    for column in state.columns.values():
        told = (
            column.name in characteristics
            or by_name(column.name)
            or vocabulary.has("names", "foreign_group", column.name)
        )
        by_values = "" if told else characteristic_by_values(state, column)  # `Interviewer gender` is of somebody else
        if by_values:
            _add_group(state, column.name, by_values, names, characteristics)
            state.assume("group-by-values", f"{column.name!r} is read as {by_values} because of its values")
    if len(names) > 1 and (loose := [name for name in names if plain(name) in vocabulary.words("names", "any_group")]):
        names = [name for name in names if name not in loose] or names
        characteristics = {name: characteristics[name] for name in names}
    if not names:
        free = [c for c in state.columns.values() if c.content == "category" and c.name not in state.used()]
        roles = ("search", "candidate", "selected", "stage", "reason")
        likely = [
            column.name
            for column in free
            if 2 <= column.distinct <= 12
            and not is_outcome(state, column)
            and not any(named(column.name, role) for role in roles)
        ]
        state.ask("group", "no column says which group a candidate belongs to (such as sex, gender, race)", likely)
        return
    reason = f"{'a protected attribute' if len(names) == 1 else 'protected attributes'} by name and values"
    state.chosen["group"] = Choice("group", tuple(names), reason, characteristics=characteristics)
    coded = [
        name
        for name in names
        if characteristics[name] in ("sex", "race") and is_coded(name, map(str, pd.unique(state.table[name])))
    ]
    if coded:
        rest = [name for name in names if name not in coded]
        state.ambiguous = f"{listed(coded)}: the groups are numbers, and nothing in the file says what they mean"
        state.alternatives = [{"group": ",".join(each)} for each in (names, rest) if each]


def _add_group(
    state: TableLook, column: str, characteristic: str, names: list[str], characteristics: dict[str, str]
) -> None:
    same = next(
        (name for name in names if characteristics[name] == characteristic and _same_values(state, name, column)), None
    )
    if same is not None:
        text = f"{column!r} says the same as {same!r} and is not used as an attribute of its own"
        state.notices.append(Notice("same-attribute", text))
        return
    names.append(column)
    characteristics[column] = characteristic


def _characteristic(state: TableLook, column: str) -> str:
    by_the_name = characteristic_of(column)
    return (
        by_the_name
        if by_the_name != "other"
        else characteristic_by_values(state, state.columns[column]) or "other"
        if (column in state.columns)
        else by_the_name
    )


def characteristic_by_values(state: TableLook, column: ColumnProfile) -> str:
    """`sex` or `race` where most cells hold words for them, whatever the column is called."""
    if not 2 <= column.distinct <= 15 or column.content in ("yes/no", "number", "date"):
        return ""
    vocabulary = spoken()
    often = state.table[column.name].value_counts()
    often = often[[not vocabulary.is_unknown(str(word)) for word in often.index]]
    if often.empty:
        return ""
    sexes = {str(word): vocabulary.sex(str(word)) for word in often.index}
    if {"female", "male"} <= set(sexes.values()):
        known = sum(int(n) for word, n in often.items() if sexes[str(word)])
        if known >= 0.8 * often.sum():
            return "sex"
    letters = {plain(str(word)) for word in often.index}
    if {"w", "b"} <= letters <= _RACE_LETTERS and len(letters) >= 3:
        return "race"
    races = vocabulary.pattern("values", "races")
    whole = {str(word): races.match(plain(str(word))) is not None for word in often.index}
    known = sum(int(n) for word, n in often.items() if whole[str(word)])
    return "race" if sum(whole.values()) >= 2 and known >= 0.6 * often.sum() else ""


def _same_values(state: TableLook, one: str, other: str) -> bool:
    """Whether each value of one column goes with one value of the other, and the other way round."""
    pairs = state.table[[one, other]].drop_duplicates()
    return len(pairs) > 1 and bool(pairs[one].is_unique and pairs[other].is_unique)


def find_search(state: TableLook, matches: dict[str, list[Match]]) -> None:
    if "search" in state.chosen or "search" in state.off:
        return
    best = best_of(matches.get("search", []))
    if best:
        # of two names for the same requisitions (a number and a title) the finer one is the key
        best.sort(key=lambda match: -state.columns[match.column].distinct)
        state.choose("search", best[0])
        return
    for name in spoken().phrases("names", "wide_searches"):
        wide = [c for c in state.columns.values() if plain(c.name) == name and c.filled and c.name not in state.used()]
        if len(wide) == 1:
            state.chosen["search"] = Choice("search", (wide[0].name,), "nothing finer says which job it was")
            text = f"no column of requisitions: each value of {wide[0].name!r} is one search"
            state.notices.append(Notice("wide-search", text, "--map search=COLUMN"))
            return


def _not_by_name(state: TableLook) -> None:
    """Two people may have one name: names that occur again are not ids, where rows are applications."""
    column = state.chosen["candidate"].columns[0]
    cells = state.table[column]
    if "stage" in state.chosen or not state.table.duplicated([column, *state.columns_of("search")]).any():
        return
    words = pd.Series(pd.unique(cells)[:LOOKED_AT], dtype="str")
    if words.str.fullmatch(_NAME).mean() < 0.8:
        return
    del state.chosen["candidate"]
    ids = [c for c in state.columns.values() if c.content == "id" and c.name not in (column, *state.used())]
    unique = [c.name for c in ids if c.distinct == c.rows and not is_personal(c.name, "")]
    text = f"{column!r} holds names that occur again"
    if unique:
        state.chosen["candidate"] = Choice("candidate", (unique[0],), f"it differs in every row; {text}")
    else:
        state.off.add("candidate")
        state.say("names-repeat", f"{text}, so each row counts as another candidate", "--map candidate=COLUMN")


def find_candidate(state: TableLook, matches: dict[str, list[Match]]) -> None:
    """The key of an application; where it repeats and another id does not, it is the person."""
    found = sorted(matches.get("candidate", []), key=lambda match: match.rank)
    given = state.chosen.get("candidate")
    if given is None and "candidate" not in state.off and found:
        numbers = {match.column: state.columns[match.column].distinct for match in found}
        first = found[0]
        most = max(found, key=lambda match: numbers[match.column])
        full = state.columns[most.column].filled == state.columns[most.column].rows
        key = most if full and numbers[most.column] > numbers[first.column] else first
        state.choose("candidate", key)
        _not_by_name(state)
    if "person" in state.chosen or "person" in state.off or "candidate" not in state.chosen:
        return
    key_column = state.chosen["candidate"].columns[0]
    others = [match for match in found if match.column != key_column and match.tier == 0]
    others = [match for match in others if state.columns[match.column].statuses < 0.5]  # `Candidate response`
    person = others[0].column if others else key_column
    search = state.chosen.get("search")
    rows = state.table.drop_duplicates([key_column, *(search.columns if search else ())])
    filled = rows[person][rows[person] != ""]
    if filled.duplicated().any() and (person != key_column or search is not None):
        reason = f"{filled.nunique():,} people made {len(filled):,} applications"
        state.chosen["person"] = Choice("person", (person,), reason)
