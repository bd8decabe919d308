"""What a row is: an application, one event of several, an event with its result, or a category with a count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from auditkit.data.columns import Match, best_of, is_protected, named
from auditkit.data.personal import is_personal, names_people
from auditkit.data.roles import Choice, flag
from auditkit.data.shapes import order_of_events
from auditkit.data.statuses import decide, is_empty, is_onward
from auditkit.data.table_look import CHANCE, CONTENTS, ENOUGH, FEW, Decision, TableLook
from auditkit.data.vocabulary import plain, spoken
from auditkit.data.which_outcome import weigh

_MOST_CELLS = 5000


def find_events(state: TableLook, person: str | None, search: str | None, stages: list[Match]) -> Choice | None:
    """Several rows for an application, told apart by a column of stages."""
    if person is None:
        return None
    keys = [person, search] if search is not None and search != person else [person]
    repeated = len(state.table) / len(state.table.drop_duplicates(keys))
    if repeated <= 1.2:
        return None
    by_values = [
        Match("stage", column.name, True, 9, 0, "stage", "")
        for column in state.columns.values()
        if column.is_words and column.steps >= 0.5 and not is_protected(column.name)
    ]
    dated = any(column.content == "date" for column in state.columns.values())
    clear = 0.5 if dated else 0.8
    people = len(state.table.drop_duplicates(keys))
    best = best_of(stages) if len(best_of(stages)) == 1 else best_of([*stages, *by_values])
    telling = [
        match
        for match in best
        if (told := len(state.table.drop_duplicates([*keys, match.column]))) > clear * len(state.table)
        and told > 1.2 * people
        and 2 <= state.table[match.column].nunique() <= 40
        and any(not _ends(str(word)) for word in pd.unique(state.table[match.column]))
        and not names_people(match.column, state.table[match.column])
    ]
    if not _of_one_person(state, keys):
        return None
    # beside the steps there may be the status at each of them: the steps have more words between start and end
    between = {
        m.column: sum(not _ends(str(word)) for word in pd.unique(state.table[m.column]))
        for m in telling
        if not any(_is_the_one_before(state, keys, m.column, other.column) for other in telling)
    }
    if not between:
        return None
    most = [name for name, n in between.items() if n == max(between.values())]
    if len(most) != 1:
        return None
    content = state.columns[most[0]].content
    return Choice("stage", (most[0],), f"one row for each event; its values are {CONTENTS[content]}")


def events_of_people(
    table: pd.DataFrame, groups: Sequence[str], known: Sequence[str], stages: Sequence[str]
) -> tuple[str, str] | None:
    """A column whose rows are always of one group, and one of `stages` that tells these rows apart.

    Then the first is an id and the rows are events, whatever the columns are called: among people who apply several
    times, the same stage occurs again.
    """
    groups = [name for name in groups if name in table]
    stages = [name for name in dict.fromkeys(stages) if name in table and _may_be_stages(table, name)]
    for column in (str(name) for name in table if name not in (*groups, *known, *stages)):
        distinct = table[column].nunique()
        if distinct < 20 or not 1.2 <= len(table) / distinct <= 30 or (table[column] == "").any():
            continue
        if not groups or not all(is_constant_within(table, [column], name) for name in groups):
            continue
        apart = [name for name in stages if _tells_apart(table, [column], name)]
        if apart:
            return column, max(apart, key=lambda name: table[name].nunique())
    return None


def _may_be_stages(table: pd.DataFrame, column: str) -> bool:
    return 2 <= table[column].nunique() <= 40 and not names_people(column, table[column])


def _tells_apart(table: pd.DataFrame, keys: Sequence[str], column: str) -> bool:
    """Whether the rows of a key (nearly) never have the same value."""
    return not table.duplicated([*keys, column]).mean() > 0.02


def ask_about_an_unnamed_id(state: TableLook, matches: dict[str, list[Match]]) -> None:
    """No column is named like an id, but the rows of one are events: read so, and ask."""
    if {"candidate", "stage"} & (state.chosen.keys() | state.off) or matches.get("candidate"):
        return
    stages = [c.name for c in state.columns.values() if c.is_words and c.steps >= 0.4 and not is_protected(c.name)]
    found = events_of_people(state.table, state.columns_of("group"), (), stages)
    if found is not None:
        for role, column in zip(("candidate", "stage"), found, strict=True):
            state.chosen[role] = Choice(role, (column,), "its rows are always of one group, and of different steps")
        state.ambiguous = f"rows with the same {found[0]!r} may be events of one application"
        state.alternatives = [{"candidate": found[0], "stage": found[1]}, {"candidate": "none"}]


def _of_one_person(state: TableLook, keys: list[str]) -> bool:
    """Whether the rows of a key have one sex, one race and so on; else a name that several people have is no key."""
    groups = [name for name in state.columns_of("group") if state.columns[name].content != "date"]
    told = state.table[groups].where(~state.table[groups].map(spoken().is_unknown))
    differ = told.groupby([state.table[key] for key in keys]).nunique() > 1
    return bool((differ.mean() <= FEW).all())


def _is_the_one_before(state: TableLook, keys: list[str], column: str, other: str) -> bool:
    """Whether a column has what another had in the row before: `Status before`, `Status after`."""
    if column == other:
        return False
    last = state.table.groupby(keys, sort=False)[other].shift()
    return bool(last.notna().any() and (state.table[column] == last)[last.notna()].mean() >= 0.8)


def are_cells(state: TableLook, counts: list[Match]) -> bool:
    """One row per combination of the other columns: the rows are cells of a table of counts."""
    best = best_of(counts)
    if len(best) != 1 or len(state.table) > _MOST_CELLS:
        return False
    numbers = spoken().words("names", "row_numbers")
    rest = [name for name in state.table.columns if name != best[0].column and plain(str(name)) not in numbers]
    return (
        bool(rest)
        and not state.table.duplicated(rest).any()
        and max(state.table[name].nunique() for name in rest) < len(state.table)
    )


def find_result(state: TableLook) -> str | None:
    """The column with the result of each event: those who go on to another event passed the one before.

    Where its words are not known, the one that those who go on have is a pass, and all others are fails.
    """
    if "result" in state.chosen:
        return state.chosen["result"].columns[0]
    if "result" in state.off or "candidate" not in state.chosen:
        return None
    going_on = _going_on(state)
    if not going_on.any() or not _stages_only(state):
        return None
    passes: dict[str, float] = {}
    for column in state.free():
        if column.name in state.used() or not (column.is_words or column.content == "yes/no"):
            continue
        if said_beside_every_event(state, column.name):
            continue  # it is about the application: nobody passed one step and failed another
        cells = state.table[column.name]
        onward = cells.map({word: is_onward(str(word)) for word in pd.unique(cells)}).astype(bool)
        codes = decide(cells, column.name, state.words).codes.mask(onward, "selected")
        known = {"selected", "rejected"} <= set(codes.unique()) and (codes == "?").mean() <= FEW
        passed = codes == "selected"
        if known and passed[going_on].mean() >= 0.8:
            passes[column.name] = float(passed[going_on].mean() - passed[~going_on].mean())
    if passes:
        return max(passes, key=lambda name: passes[name])
    for column in state.free():
        if column.name in state.used() or not (column.is_words or column.content == "yes/no"):
            continue
        cells = state.table[column.name]
        codes = decide(cells, column.name, state.words).codes
        if column.distinct <= 12 and (word := _word_of_those_who_go_on(column.name, cells, codes, going_on)):
            said = {other: "failed" for other in pd.unique(cells) if codes[cells == other].iloc[0] == "?"}
            state.table = state.table.assign(**{column.name: cells.replace({**said, word: "passed"})})
            state.raw = replace(state.raw, table=state.table)
            text = f"{column.name!r}: {word!r} is read as a pass, as those who went on to another step have it"
            state.assume("result-by-people", f"{text}; other words as fails", "[words] in audit.toml")
            return column.name
    return None


def day_of_events(state: TableLook) -> str | None:
    """The date of each event: one that differs within applications, and of several of these one that is named so."""
    if "date" in state.chosen or "date" in state.off:
        return next(iter(state.columns_of("date")), None)
    days = [
        column.name for column in state.columns.values() if column.content == "date" and not is_protected(column.name)
    ]
    return min(days, key=lambda name: (said_beside_every_event(state, name), named(name, "date") is None), default=None)


def said_beside_every_event(state: TableLook, column: str) -> bool:
    """Whether all events of an application have the same value."""
    return is_constant_within(state.table, state.keys(), column)


def is_constant_within(table: pd.DataFrame, keys: Sequence[str], column: str) -> bool:
    """Whether all rows of a key have the same value in a column."""
    return not table[[*keys, column]].drop_duplicates().duplicated([*keys]).any()


def parts_of_applications(state: TableLook) -> pd.DataFrame | None:
    """One row for each application, where its rows agree on its group and its outcome: rows are parts of it.

    Such as the scorecards, documents or languages of an application; what differs between them is left out.
    """
    keys = state.keys()
    if "candidate" not in state.chosen or "count" in state.chosen or not state.columns_of("group"):
        return None
    people = len(state.table.drop_duplicates(keys))
    if len(state.table.drop_duplicates()) <= 1.2 * people or (state.table[keys] == "").any(axis=None):
        return None
    same = [name for name in state.columns if name in keys or is_constant_within(state.table, keys, name)]
    found = [weigh(state, column) for column in state.free() if column.name in same]
    ends = [each.column for each in found if each is not None and each.weight >= ENOUGH and _tells(state, each.column)]
    ends += [name for name in state.columns_of("selected") if name in same]
    return state.table.drop_duplicates(keys)[same] if ends and state.used() <= set(same) else None


def stages_of_parts(state: TableLook, parts: Sequence[str]) -> list[str]:
    """Columns by which the rows of an application differ, as events do."""
    told = [name for name in parts if state.columns[name].is_words and _may_be_stages(state.table, name)]
    return [name for name in told if _tells_apart(state.table, state.keys(), name)]


def _going_on(state: TableLook) -> pd.Series[bool]:
    """Which events are followed by another of the same application."""
    table, keys = state.table, state.keys()
    table = table.iloc[order_of_events(table, state.chosen["stage"].columns[0], day_of_events(state))]
    app = table.groupby(keys, sort=False)
    return (app.cumcount(ascending=False) > 0).reindex(state.table.index)


def _word_of_those_who_go_on(
    column: str, cells: pd.Series[Any], codes: pd.Series[Any], going_on: pd.Series[bool]
) -> str | None:
    """The one word of nearly all who go on, which chance cannot explain and which is not known to be a fail."""
    if is_personal(column, "") or not (codes == "?").any():
        return None
    word = str(cells[going_on].mode().iloc[0])
    here, before = cells == word, float((cells[going_on] == word).mean())
    if before < 0.95 or is_empty(word) or spoken().meaning(word) not in (None, "selected"):
        return None
    after = float(here[~going_on].mean())
    told = is_onward(word) or after > 0.02  # a word that nobody ends with may say just that there are more rows
    return word if told and after < 0.9 and after ** int(going_on.sum()) < CHANCE else None


def _stages_only(state: TableLook) -> bool:
    """Whether the stage column has no word for the end of an application, nor both its start and its success."""
    words = spoken()
    found = [str(word) for word in pd.unique(state.table[state.chosen["stage"].columns[0]])]
    meanings = {words.meaning(word) for word in found}
    if meanings & {"rejected", "withdrawn", "declined"}:
        return False
    starts = {plain(word) for word in found} & set(words.words("cells", "start"))
    return not (starts and "selected" in meanings)


def status_of_events(state: TableLook, role: str) -> None:
    """Columns beside the stage that say how an application ended."""
    if role in state.chosen or role in state.off:
        return
    if role == "selected":
        found = [each for column in state.free() if (each := weigh(state, column)) is not None]
        telling = [each for each in found if _tells(state, each.column) and each.weight >= ENOUGH]
        if telling:
            best_decision = max(telling, key=lambda each: each.weight)
            state.chosen[role] = Choice(role, (best_decision.column,), best_decision.why)
            if day_of_events(state) is None and not said_beside_every_event(state, best_decision.column):
                text = f"{best_decision.column!r} differs between the rows of an application, which have no dates"
                state.assume("undated-status", f"{text}: the last row counts", flag(role, "none"))
        return
    best = best_of(state.matches().get(role, []))
    if best:
        state.choose(role, best[0])


def _tells(state: TableLook, column: str) -> bool:
    yes = decide(state.table[column], column, state.words).selected
    return bool(yes.any() and not yes.all())


def ask_about_several_rows(state: TableLook, decision: Decision | None) -> None:
    """An id with several rows whose group and outcome never differ: rows are parts of people, so ask."""
    given = state.chosen.get("candidate")
    if state.ambiguous or "count" in state.chosen or decision is None or (given is not None and given.given):
        return
    constant = [*state.columns_of("group"), decision.column]
    for column in state.columns.values():
        rows = len(state.table) / max(1, column.distinct)
        known = state.columns_of("candidate") + state.columns_of("search")
        if column.name in (*constant, *known) or not 1.3 <= rows <= 30 or column.distinct < 20:
            continue
        if column.filled < column.rows or column.content == "date" or is_personal(column.name, ""):
            continue
        if all(is_constant_within(state.table, [column.name], name) for name in constant):
            state.ambiguous = (
                f"{column.name!r} has {column.distinct:,} values in {len(state.table):,} rows, "
                "and group and outcome never differ within one: "
                "a row may be a part of an application"
            )
            state.alternatives = [{"candidate": column.name}]
            return


def _ends(word: str) -> bool:
    """Whether a word ends an application, begins it or says nothing: not a stage in between."""
    words = spoken()
    start = plain(word) in words.words("cells", "start") or words.is_missing(word)
    return start or words.meaning(word) in ("selected", "rejected", "withdrawn", "declined")
