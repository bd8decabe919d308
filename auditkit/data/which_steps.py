"""Which steps there were before the decision.

Who reached a later step reached the earlier ones: a column that breaks this is not a step, whatever its name; one that
keeps it, against all chance, is one.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from auditkit.data.columns import ColumnProfile, by_name, is_protected, named
from auditkit.data.dates import to_dates
from auditkit.data.numbers import to_numbers
from auditkit.data.personal import is_personal, listed_cells
from auditkit.data.problems import Collector
from auditkit.data.roles import Choice, flag
from auditkit.data.stages import Stages
from auditkit.data.statuses import Test, is_bad, is_empty, settled, step_codes, with_reasons
from auditkit.data.steps import (
    StepsInOneColumn,
    from_dispositions,
    from_last_stage,
    from_paths,
    is_last_stage,
    is_path,
    label_of,
    names_steps,
)
from auditkit.data.table_look import CHANCE, FEW, Decision, StepColumn, TableLook
from auditkit.data.vocabulary import HIRED, plain, spoken
from auditkit.data.what_a_row_is import said_beside_every_event

_NAMED_NESTED = 0.9
"""The same for a column that is named like a step, as steps are skipped now and then."""
_PLAIN_NESTED = 0.5
"""The same for a column that is called just so: `Interviewed`."""
_MOST_PASSED = 0.9
"""Share of the people above which a column without a telling name is no step: consent, work authorization."""
_FEW_WORDS = 12
"""Different words of a column that may be the results of a step."""
_RARE = 0.02
"""Share of the people that words without a step may have without a question."""
_EARLY = 0.1
"""Share of the people whose step may be before their application: dates are entered late."""
_MANY = 10
"""Fewer people than this who have no event of a step before their last one are exceptions."""


def find_steps(
    state: TableLook, decision: Decision | None
) -> tuple[list[StepColumn], StepsInOneColumn | None, StepColumn | None]:
    """Steps as columns, or in one column; and the one inspection, where there is no more than that."""
    given, seen = state.chosen.get("stages"), state.chosen.get("inspected")
    if given is not None and not state.stageless:
        if len(given.columns) == 1 and given.columns[0] not in given.tests:
            found = _in_one_column(state, given.columns[0], None)
            if found is not None:
                return [], found, None
        steps = [state.step(name, given.tests.get(name)) for name in given.columns]
        for step in steps:
            _unknown_cells(state, step, "stages")
        return steps, None, None
    if seen is not None:
        step = state.step(seen.columns[0], seen.test)
        _unknown_cells(state, step, "inspected")
        return [], None, step
    if {"stages", "inspected"} & state.off:
        return [], None, None
    paths = [
        c.name
        for c in state.free()
        if c.filled and c.content in ("category", "text", "status", "id") and is_path(state.table[c.name])
    ]
    if paths:
        state.chosen["stages"] = Choice("stages", (paths[0],), "each cell is the path of an application")
        return [], from_paths(state.table[paths[0]]), None
    steps = _step_columns(state, decision)
    told = _find_last_stage(state, decision) if len(steps) < 2 else None
    if told is not None and all(_has_step(*told, step) for step in steps):
        choice, found = told
        state.chosen["stages"] = choice
        _say_silent(state, choice.columns[0], found)
        return [], found, None
    for step in steps:
        if step.test is not None:
            text = f"{step.column!r} is read as a step that {listed_cells(step.column, [step.test.value])} passed"
            how = flag("stages", f"{step.column}={step.test.value}")
            state.assume("step-by-people", f"{text}, as everybody selected has that value", how)
    if len(steps) > 1 or any((step.codes == "failed").any() for step in steps):
        names = tuple(step.column for step in steps)
        state.chosen["stages"] = Choice("stages", names, "who got further reached them before")
        return steps, None, None
    if steps:
        state.chosen["inspected"] = Choice("inspected", (steps[0].column,), "who was selected reached it before")
        return [], None, steps[0]
    return [], None, None


def _unknown_cells(state: TableLook, step: StepColumn, role: str) -> None:
    state.collector.add(
        "unknown-word", step.codes == "?", step.column, state.table[step.column], role=role,
        meaning="that it took place or not", more="",
    )  # fmt: skip


def _step_columns(state: TableLook, decision: Decision | None) -> list[StepColumn]:
    """Columns that those who got further reached before: by name, or because chance cannot explain it."""
    selected = None if decision is None else decision.selected
    found: list[StepColumn] = []
    for column in state.free():
        step = _may_be_step(state, column, decision)
        if step is None and decision is not None and column.name != decision.column:
            step = _passed_by_those_selected(state, column, decision.selected)
        if step is None:
            continue
        reached = step.reached
        if not 0 < reached.sum() < len(reached):
            if reached.all() and step.rank is not None and step.rank > 0 and selected is not None:
                text = f"{column.name!r} is true of everybody: it says nothing about who was inspected"
                state.say("no-inspection", text)
            continue
        if selected is not None and _same(reached, selected):
            if step.rank is not None and decision is not None:
                text = f"{column.name!r} is the same as {decision.column!r}: it says nothing about who was inspected"
                state.say("no-inspection", text)
            continue
        if any(_same(reached, other.reached) for other in found):
            continue
        if selected is not None and not _leads_to(state, step, selected):
            continue
        found.append(step)
    return _chain(state, found, selected)


def _may_be_step(state: TableLook, column: ColumnProfile, decision: Decision | None) -> StepColumn | None:
    """A flag, a date, a result, or the days spent in a step."""
    name = column.name
    if decision is not None and name == decision.column:
        return None
    vocabulary = spoken()
    rank = vocabulary.step_rank(label_of(name))
    timed = vocabulary.has("values", "days", plain(name))
    if is_bad(name) or vocabulary.has("within", "withdrawn", name):
        return None
    if vocabulary.has("favourable", "not_decision", plain(name)) and rank is None:
        return None
    step = state.step(name)
    flags = step.codes
    known = float((flags[flags != ""] != "?").mean()) if (flags != "").any() else 0.0
    if column.content == "yes/no" or (column.content == "date" and rank is not None):
        return step
    if column.content == "date":
        dated = named(name, "selected") is not None or _is_date_of_application(state, column)
        return None if dated or spoken().has("favourable", "not_decision", plain(name)) else step
    if column.content == "number":
        blank = (state.table[name] == "").any()
        if timed and rank is not None and blank:
            return StepColumn(name, flags.replace({"no": "yes"}), rank)
        return _place_on_a_list(state, column, rank)
    foreign = spoken().words("names", "foreign_inspected")
    if not column.is_words or known < 0.9 or set(plain(name).split()) & foreign:
        return None
    last = column.steps >= 0.5 and column.distinct > 3
    return None if last else step


def _is_date_of_application(state: TableLook, column: ColumnProfile) -> bool:
    """Whether a name is that of when people applied, which everybody did: dates that some lack, beside one that all
    have, are of something else (`Submission Date` beside `Date Added`)."""
    if named(column.name, "date") is None:
        return False
    every = [c for c in state.columns.values() if c.content == "date" and c.filled == c.rows and named(c.name, "date")]
    return column.filled > (1 - FEW) * column.rows or not every


def _place_on_a_list(state: TableLook, column: ColumnProfile, rank: float | None) -> StepColumn | None:
    """Places 1, 2, 3, ... of some: to be on the list is a step; `Not ranked` and an empty cell say who is not on it."""
    cells = state.table[column.name]
    numbers = to_numbers(cells)
    places = numbers.values.dropna()
    others = [str(word) for word in pd.unique(cells[numbers.bad])]
    on_it = places.is_unique and places.min() == 1 and places.max() == len(places)
    if by_name(column.name) or not on_it or len(places) > _MOST_PASSED * len(cells):
        return None
    if not all(spoken().negated_start(word) for word in others):
        return None
    codes = pd.Series("no", index=cells.index, dtype="str").mask(numbers.values.notna(), "yes").mask(cells == "", "")
    return StepColumn(column.name, codes, rank)


def _passed_by_those_selected(state: TableLook, column: ColumnProfile, selected: pd.Series[Any]) -> StepColumn | None:
    """A step whose words are not all known: everybody selected has one word, and no other word is ever theirs."""
    held = words_of_those_selected(state, column, selected)
    if len(held) != 1:
        return None
    word = held[0]
    codes = step_codes(state.table[column.name], column.name)
    if not _sounds_like_a_step(column, codes) or is_last_stage(state.table[column.name]):
        return None
    other = "failed" if (codes == "failed").any() else "no"  # beside a fail, another result is a fail too
    codes = codes.where(~codes.isin(["?", "selected", "pending"]), other).mask(
        state.table[column.name] == word, "passed"
    )
    return StepColumn(column.name, codes, spoken().step_rank(label_of(column.name)), Test("=", word))


def _sounds_like_a_step(column: ColumnProfile, codes: pd.Series[Any]) -> bool:
    """Whether the name, or some of the words, are those of steps and their results."""
    name, vocabulary = plain(column.name), spoken()
    told = vocabulary.has("names", "outcome_words", name) or vocabulary.has("names", "stage_words", name)
    known = codes[codes != ""].isin(["passed", "failed", "yes", "no"])
    return told or vocabulary.step_rank(label_of(column.name)) is not None or bool(known.mean() >= 0.2)


def words_of_those_selected(state: TableLook, column: ColumnProfile, selected: pd.Series[Any]) -> tuple[str, ...]:
    """The values of those selected, where chance cannot explain that no other value is ever theirs."""
    if not (column.is_words or column.content == "yes/no") or column.distinct > _FEW_WORDS or not selected.any():
        return ()
    cells = state.table[column.name]
    held = tuple(map(str, pd.unique(cells[selected])))
    bad = any(is_empty(word) or spoken().meaning(word) in ("rejected", "withdrawn") for word in held)
    if bad or any(is_personal(column.name, word) for word in held):
        return ()
    share = float(cells.isin(held).mean())
    if len(held) == 1:
        return held if share ** int(selected.sum()) < CHANCE and share < _MOST_PASSED else ()
    told = _sounds_like_a_step(column, step_codes(cells, column.name))
    if not told or any(mark in word for word in held for mark in "+,|"):
        return ()
    # which of several words are theirs is learnt from the same people, so each other word must be against chance
    others = cells[~cells.isin(held)].value_counts()
    missed = (1 - float(selected.mean())) ** others * column.distinct < CHANCE
    return held if len(others) and missed.all() and share < _MOST_PASSED else ()


def _leads_to(state: TableLook, step: StepColumn, selected: pd.Series[Any]) -> bool:
    """Whether those selected had reached the step, more than chance would have it."""
    before = float(step.reached[selected].mean()) if selected.any() else 0.0
    match = named(step.column, "inspected")
    if match is not None and not match.loose and match.tier < 2:
        return before >= _PLAIN_NESTED or int((selected & ~step.reached).sum()) <= 2
    share = float(step.reached.mean())
    if step.rank is not None and 0 <= step.rank < HIRED:
        # a consent to a background check is no more theirs than others'
        return before >= _NAMED_NESTED and 2 * (1 - before) <= 1 - share
    rare = state.raw.count is not None or share ** int(selected.sum()) < CHANCE  # a row of counts is many people
    return before >= 0.99 and rare and share < _MOST_PASSED


def _chain(state: TableLook, found: list[StepColumn], selected: pd.Series[Any] | None) -> list[StepColumn]:
    """Steps in order, each reached by those who reached the next; what does not fit is left out and said."""
    if selected is None:
        found = [step for step in found if step.rank is not None and step.rank > 0]
    order = sorted(found, key=lambda step: -int(step.reached.sum()))
    dates = {step.column: to_dates(state.table[step.column]).values for step in order}
    if order and all(dates[step.column].notna().any() for step in order):
        order.sort(key=lambda step: sum(_before(dates[other.column], dates[step.column]) for other in order))
    kept: list[StepColumn] = []
    for step in order:
        misfits = [other for other in kept if float(other.reached[step.reached].mean()) < _NAMED_NESTED]
        if not misfits:
            kept.append(step)
            continue
        weaker = [other for other in misfits if other.rank is None and step.rank is not None]
        if len(weaker) == len(misfits):
            kept = [other for other in kept if other not in weaker] + [step]
    if selected is not None and kept and kept[-1].rank == 7:
        state.assume("check-as-step", f"{kept[-1].column!r} is read as a step before the decision")
    return kept


def _has_step(choice: Choice, found: StepsInOneColumn, step: StepColumn) -> bool:
    """Whether steps in one column say as much as the one that has a column: more steps, or the same."""
    return (
        step.column in choice.columns
        or len(found.names) > 1
        or any(_same(found.reached[name], step.reached) for name in found.names)
    )


def _say_silent(state: TableLook, column: str, found: StepsInOneColumn) -> None:
    silent = [word for word in found.silent if spoken().meaning(word) == "rejected"]
    said = [word for word in silent if not spoken().has("within", "gate_failed", plain(word))]
    if said and state.table[column].isin(said).mean() > _RARE:
        how = "names no step and counts" if len(said) == 1 else "name no step and count"
        state.assume("silent-disposition", f"{column!r}: {listed_cells(column, said)} {how} as the first")


def _find_last_stage(state: TableLook, decision: Decision | None) -> tuple[Choice, StepsInOneColumn] | None:
    """A column with the last stage that was reached, or dispositions that name a step."""
    own = None if decision is None else decision.column
    over = None
    if decision is not None:
        status = with_reasons(
            settled(decision.decided, state.table[decision.column], "", Collector()), state.reason_cells()
        )
        over = status == "rejected"
    candidates = [c for c in state.columns.values() if c.name == own or c.name not in state.used()]
    candidates.sort(key=lambda c: (c.name == own, _stage_tier(state, c.name)))
    for column in candidates:
        private = is_personal(column.name, "") and column.steps < 0.8  # but `Current Step Name` holds steps
        if not column.is_words or is_protected(column.name) or private:
            continue
        mine = column.name == own
        is_named = mine or _stage_tier(state, column.name) < 9
        telling = over is not None and over.any()
        if not (is_named or telling) or (mine and "reason" not in state.chosen and not _all_stages(state, column)):
            continue
        if is_last_stage(state.table[column.name], None if mine else over):
            found = from_last_stage(state.table[column.name], None if decision is None else decision.selected)
            if mine or decision is None or _got_to_the_end(found, decision.selected):
                return Choice("stages", (column.name,), "its values are the last stage reached"), found
    if own is None or decision is None or (decision.test is not None and decision.test.sign != "="):
        return None
    explaining = [own, *(c.name for c in state.columns.values() if c.name != own and c.is_words)]
    for name in explaining:
        if is_protected(name) or is_personal(name, "") or not names_steps(state.table[name]):
            continue
        found = from_dispositions(state.table[name])
        if name != own and not (found.final[decision.selected].isin(["selected", "declined", ""])).all():
            continue  # it is about something else
        return Choice("stages", (name,), "its words say at which step applications ended"), found
    return None


def say_contradicting_dates(state: TableLook) -> None:
    """Steps, or the decision, on days before the application: dates are not what they seem."""
    first = next(iter(state.columns_of("date")), None)
    names = [name for role in ("stages", "inspected", "selected") for name in state.columns_of(role)]
    dated = [name for name in names if name in state.columns and state.columns[name].content == "date"]
    if first is None or first in names or not dated:
        return
    applied = to_dates(state.table[first]).values
    for name in dict.fromkeys(dated):
        days = to_dates(state.table[name]).values
        both = days.notna() & applied.notna()
        early = int((days[both] < applied[both].dt.normalize()).sum())
        if early > max(_MANY, _EARLY * int(both.sum())):
            text = f"{name!r} is before {first!r} for {early:,} of {int(both.sum()):,} people"
            state.assume("contradicting-dates", f"{text}: check what these dates are")


def ask_about_skipped_steps(state: TableLook, stages: Stages, status: pd.Series[Any]) -> None:
    """Events of which many who got further have none: not a step of everybody, or something else decides."""
    given = state.chosen.get("stages")
    if state.ambiguous or (given is not None and given.given):
        return
    counts = {name: (int(without.sum()), int(all_.sum())) for name, (without, all_) in stages.skipped(status).items()}
    lost = [name for name, (n, of) in counts.items() if n >= _MANY and n > (1 - _NAMED_NESTED) * of]
    if not lost:
        return
    n, of = counts[lost[0]]
    text = f"{n:,} of {of:,} people who got further than {lost[0]!r} have no event of it"
    outcome = state.columns_of("selected")
    if outcome and said_beside_every_event(state, outcome[0]):  # so only the steps are in doubt
        state.assume("steps-skipped", f"{text}: counted as reached")
        return
    state.ambiguous = text
    rest = [name for name in stages.names if name not in lost]
    state.alternatives = [{"stages": "+".join(names)} for names in (rest, stages.names) if names]
    if (choice := state.chosen.get("selected")) is not None and not choice.given:
        state.alternatives.insert(0, {"selected": "none"})


def _got_to_the_end(found: StepsInOneColumn, selected: pd.Series[Any]) -> bool:
    """Whether most of those selected are at the last stage; else a column that sounds like stages is not of stages."""
    if not found.names or not selected.any():
        return bool(found.names)
    last = found.reached[found.names[-1]] | (found.final != "") | ~found.reached.any(axis=1)
    return bool(last[selected].mean() >= 0.5)


def _all_stages(state: TableLook, column: ColumnProfile) -> bool:
    """Whether only those selected have an end in the column: all others are at the stage they reached."""
    words = spoken()
    codes = {words.meaning(str(word)) for word in pd.unique(state.table[column.name])}
    return not codes & {"rejected", "withdrawn"}


def _stage_tier(state: TableLook, name: str) -> int:
    match = named(name, "stage")
    selected = named(name, "selected")
    if match is not None:
        return match.tier + 3 * match.loose
    if spoken().has("names", "stage_words", plain(name)):
        return 6
    return 4 if selected is not None and selected.tier == 4 else 9


def _in_one_column(state: TableLook, column: str, over: pd.Series[Any] | None) -> StepsInOneColumn | None:
    cells = state.table[column]
    if is_path(cells):
        return from_paths(cells)
    if is_last_stage(cells, over):
        return from_last_stage(cells)
    return from_dispositions(cells) if names_steps(cells) else None


def _same(one: pd.Series[Any], other: pd.Series[Any]) -> bool:
    return bool((one.to_numpy() == other.to_numpy()).all())


def _before(one: pd.Series[Any], other: pd.Series[Any]) -> bool:
    return bool((one < other).sum() > (one > other).sum())
