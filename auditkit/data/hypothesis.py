"""How an auditor looks at a file: what a row is, who is counted, which steps there were, what was good for a person.

A reading is one hypothesis about the whole table. The questions are asked in the order in which a person would ask
them, each in a file of its own:

1. `who_is_counted`: which columns say who somebody is (groups, ids, requisitions)?
2. `what_a_row_is`: is a row an application, or one event of several?
3. `which_outcome`: which columns could say how it ended, and is their yes good or bad?
4. `which_steps`: which columns are steps on the way there?
5. `what_became_of_each`: who was selected, rejected, withdrew or is undecided?
6. `remaining_roles`: what else is known (scores, dates, parts of the firm), and what do the other columns look like?

The answers are kept in a `TableLook`. The result is an `Interpretation`: what `clean` needs, and what a `Reading` says
about it; `whole_readings` weighs it as a whole against other readings of the same file.
"""

from __future__ import annotations

from collections import abc
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.columns import best_of
from auditkit.data.event_log import pivot
from auditkit.data.personal import names_people
from auditkit.data.problems import Collector, Notice
from auditkit.data.raw_table import RawTable
from auditkit.data.remaining_roles import find_other_roles, known_before, looks_like, passed_by_all
from auditkit.data.roles import Choice, Given, Mapping, listed, replace_choice
from auditkit.data.shapes import in_columns
from auditkit.data.stages import Stages
from auditkit.data.statuses import Words, decide, settled, step_codes, with_reasons
from auditkit.data.steps import StepsInOneColumn, labels_of
from auditkit.data.table_look import Decision, StepColumn, TableLook
from auditkit.data.vocabulary import ROLES, plain, spoken
from auditkit.data.what_a_row_is import (
    are_cells,
    ask_about_an_unnamed_id,
    ask_about_several_rows,
    day_of_events,
    find_events,
    find_result,
    parts_of_applications,
    stages_of_parts,
    status_of_events,
)
from auditkit.data.what_became_of_each import name_of_outcome, offers_are_a_step, status_of_each
from auditkit.data.which_outcome import (
    ask_about_a_later_decision,
    ask_about_an_end,
    ask_about_an_implausible_rate,
    ask_about_loose_words,
    ask_about_words_at_the_end,
    ask_what_for,
    ask_who_was_selected,
    find_decision,
    find_reasons,
    find_what_came_last,
    settle_words,
)
from auditkit.data.which_steps import ask_about_skipped_steps, find_steps, say_contradicting_dates
from auditkit.data.who_is_counted import find_candidate, find_groups, find_search
from auditkit.errors import InputError, Problem


@dataclass(frozen=True, eq=False)
class Interpretation:
    """A table as it was understood: one row of `cells` for each application, with what happened to each."""

    raw: RawTable
    cells: pd.DataFrame
    mapping: Mapping
    roles: Mapping
    row: str
    stages: Stages | None
    status: pd.Series[Any] | None
    inspected: pd.Series[Any] | None
    selected_name: str
    score_stage: str | None
    notices: tuple[Notice, ...]
    assumptions: tuple[str, ...]
    doubts: tuple[str, ...]
    """Why the reading is not certain."""
    alternatives: tuple[dict[str, str], ...]
    """Mappings that would answer "who was selected" differently, the likeliest first, this reading's own before them
    where it is ambiguous."""
    ambiguous: str
    """The question that only a person can answer, "" if there is none."""
    looks: abc.Mapping[str, str] = field(default_factory=dict)
    """What columns that are not used look like."""
    given: frozenset[str] = frozenset()
    """Roles of which somebody said which columns they are."""
    passed: abc.Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns that are not used, of which everybody selected has one of some words, against all chance: these."""
    outcomes: abc.Mapping[str, Decision] = field(default_factory=dict)
    """Each answer to "who was selected", by what `--map selected=` takes; this reading's first."""
    offers: bool = False
    """A step says who had an offer; the last step is who accepted it."""

    def only(self, kept: np.ndarray[Any, np.dtype[np.bool_]]) -> Interpretation:
        """The plan for some of the rows of its cells."""
        stages = None
        if self.stages is not None:
            stages = Stages(self.stages.names, tuple(codes[kept] for codes in self.stages.codes))
        return replace(
            self,
            cells=self.cells[kept],
            stages=stages,
            status=None if self.status is None else self.status[kept],
            inspected=None if self.inspected is None else self.inspected[kept],
        )


class Unanswered(InputError):
    """Something that must be asked, with mappings that may be the answer."""

    def __init__(self, problems: abc.Sequence[Problem], alternatives: abc.Sequence[dict[str, str]] = ()) -> None:
        super().__init__(list(problems))
        self.alternatives = tuple(alternatives)


def look(
    raw: RawTable,
    given: Given | None = None,
    words: Words | None = None,
    collector: Collector | None = None,
    assumptions: abc.Sequence[str] = (),
) -> Interpretation:
    """Understand a table, or one InputError with every role that must be asked for."""
    return _plan(TableLook(raw, given or {}, words or {}, collector or Collector(), assumptions))


def _plan(state: TableLook) -> Interpretation:
    if state.problems:  # what is said of the columns does not fit the file
        raise InputError(state.problems)
    find_groups(state)
    ask_about_an_unnamed_id(state, state.matches())
    matches = state.matches()
    person, search = state.likely("candidate", matches), state.likely("search", matches)
    events = None
    if "stage" not in state.chosen and "stage" not in state.off:
        events = find_events(state, person, search, matches.get("stage", []))
    if events is not None:
        state.chosen["stage"] = events
    matches = state.matches()
    if "count" not in state.chosen:
        applied = spoken().words("values", "applied")  # `Headcount` may be a number of people, or of positions
        numbers = matches.get("count") or [m for m in matches.get("capacity", []) if plain(m.column) in applied]
        if person or not are_cells(state, numbers):
            state.off.add("count")
        else:
            state.choose("count", best_of(numbers)[0])
    find_search(state, matches)
    find_candidate(state, matches)
    if "stage" in state.chosen:
        stage = state.chosen["stage"].columns[0]
        if names_people(stage, state.table[stage]):
            what = "its values may say who somebody is, so they cannot be stages"
            raise InputError(Problem(f"stage: column {stage!r}", what, "name another column, or --map stage=none"))
        result = find_result(state)
        return _plan_of_events(state) if result is None else _plan_of_results(state, result)
    once = parts_of_applications(state)
    return _plan_of_applications(state) if once is None else _plan_of_parts(state, once)


def _plan_of_parts(state: TableLook, once: pd.DataFrame) -> Interpretation:
    """Several rows for an application that agree on its group and outcome: one application each."""
    left = [name for name in state.columns if name not in once]
    keys: dict[str, abc.Sequence[str]] = {
        role: state.columns_of(role) for role in ("candidate", "search") if role in state.chosen
    }
    given: Given = {**keys, **state.given, "stage": "none"}
    inner = look(replace(state.raw, table=once), given, state.words, state.collector, state.assumptions)
    text = f"rows with the same {listed(state.keys())} agree on group and outcome: they count as one application"
    events = stages_of_parts(state, left)
    if events and "stage" not in state.off and not inner.ambiguous:
        inner = replace(inner, ambiguous=text, alternatives=({"stage": "none"}, *({"stage": name} for name in events)))
    unused = (*inner.mapping.unused, *left)
    notice = Notice("parts-of-applications", f"{text}; {listed(left)} differ within them and are not used")
    return replace(
        inner,
        raw=state.raw,
        row="part of an application",
        mapping=replace(inner.mapping, unused=unused),
        notices=(*state.notices, *inner.notices, notice),
        assumptions=(*inner.assumptions, text),
    )


def _plan_of_applications(state: TableLook) -> Interpretation:
    decision = find_decision(state)
    find_reasons(state, decision)
    steps, found, inspected = find_steps(state, decision)
    every = steps if inspected is None else [inspected]
    decision = decision or find_what_came_last(state, every if state.raw.count is not None else steps)
    settle_words(state, decision, _last_reached(steps, found))
    ask_what_for(state, decision)
    ask_about_a_later_decision(state, decision)
    ask_about_loose_words(state, decision, found)
    if found is None or not (found.final == "selected").any():
        ask_about_words_at_the_end(state, decision, _last_reached(every, found))
    ask_about_several_rows(state, decision)
    find_other_roles(state)
    known_before(state)
    say_contradicting_dates(state)
    ask_who_was_selected(state, decision, steps, found, inspected)
    state.problems += state.stageless
    if state.problems:
        raise Unanswered(state.problems, state.alternatives)
    status, name = status_of_each(state, decision, steps, found)
    ask_about_an_end(state, decision, found, status)
    ask_about_an_implausible_rate(state, decision, status)
    stages: Stages | None = None
    if found is not None:
        codes = tuple(_yes(found.reached[step]) for step in found.names)
        stages = Stages(found.names, codes)
        if found.unplaced:
            text = f"the place of {listed(found.unplaced)} among the steps is assumed, as the words are not known"
            state.assume("unplaced-stage", text, "--map stages=COLUMN+COLUMN, in order")
    elif len(steps) > 1 or (steps and "stages" in state.chosen):
        names = labels_of([step.column for step in steps])
        stages = Stages(names, tuple(step.codes.replace({"?": ""}) for step in steps))
    seen = None
    if stages is None and inspected is not None:
        seen = inspected.codes
    mapping = _mapping(state)
    row = "counts" if "count" in state.chosen or state.raw.separate else "application"
    return _finish(state, mapping, mapping, state.table, row, stages, status, seen, name, None)


def _last_reached(steps: abc.Sequence[StepColumn], found: StepsInOneColumn | None) -> pd.Series[Any] | None:
    """Who reached the last step before the decision."""
    if found is not None and found.names:
        return found.reached[found.names[-1]]
    return steps[-1].reached if steps else None


def _plan_of_events(state: TableLook) -> Interpretation:
    if "candidate" not in state.chosen:
        state.ask("candidate", "an event log must say whose event each row is", list(state.columns))
        raise InputError(state.problems)
    for role in ("selected", "reason"):
        status_of_events(state, role)
    if not state.matches().get("date") and (day := day_of_events(state)):
        state.chosen["date"] = Choice("date", (day,), "its dates differ between the events of an application")
    find_other_roles(state)
    if state.problems:
        raise InputError(state.problems)
    mapping = _mapping(state)
    apps = pivot(state.table, mapping, dict(state.words), state.collector, state.notices)
    if not mapping.columns("stages"):
        own = Choice("stages", apps.stages, "values of the stage column, in order")
        mapping = replace_choice(mapping, "stages", own)
    codes = tuple(step_codes(apps.table[name], name).replace({"": "no"}) for name in apps.columns)
    stages = Stages(apps.stages, codes)
    final = apps.mapping.choice("selected")
    if final is None:
        status = stages.status()
        name = stages.names[-1]
        state.say("selected-from-stages", f"selected are those who reached the last stage, {name!r}")
    else:
        cells = apps.table[final.columns[0]]
        column = final.columns[0] if final.columns[0] in state.table else ""
        # what a word means depends on the others of its column, of which some only ever came first
        said = {} if not column else decide(state.table[column], column, state.words).meanings
        words = {plain(word): code for word, code in said.items() if code != "?"}
        decided = decide(cells, column, words | dict(state.words))
        status = settled(decided, cells, final.columns[0], state.collector)
        name = apps.selected or name_of_outcome(state, cells, decided, status, final.columns[0])
    reasons = apps.table[[c for c in apps.mapping.columns("reason") if c in apps.table]]
    status = with_reasons(status, reasons)
    ask_about_skipped_steps(state, stages, status)
    return _finish(state, mapping, apps.mapping, apps.table, "event", stages, status, None, name, apps.score_stage)


def _plan_of_results(state: TableLook, result: str) -> Interpretation:
    """One row for each person and stage, with the result: the same as a column of results for each stage."""
    stage = state.chosen["stage"].columns[0]
    keys = [name for role in ("candidate", "search") for name in state.columns_of(role)]
    wide, names = in_columns(state.table, keys, stage, result, day_of_events(state))
    given: dict[str, str | list[str]] = {
        role: [*choice.columns, *("+".join(each) for each in choice.crossings)]
        for role, choice in state.chosen.items()
        if choice.given and role not in ("stage", "result", "stages")
    }
    given |= dict.fromkeys(state.off - {"count"}, "none")
    ordered = [name for name in state.columns_of("stages") if name in names] or list(names)
    given["stages"] = ordered
    inner = look(replace(state.raw, table=wide), given, state.words, state.collector, state.assumptions)
    if inner.stages is not None and inner.status is not None and not inner.ambiguous:
        ask_about_skipped_steps(state, inner.stages, inner.status)
        if state.ambiguous:
            inner = replace(inner, ambiguous=state.ambiguous, alternatives=tuple(state.alternatives))
    own = [
        Choice("stage", (stage,), "one row for each person and step"),
        Choice("result", (result,), "its values say who passed the step"),
    ]
    if "stages" not in state.chosen:
        own.append(Choice("stages", tuple(ordered), "values of the stage column, in order"))
    listed_roles = {choice.role: choice for choice in (*inner.mapping.choices, *own)}
    choices = tuple(listed_roles[role] for role in ROLES if role in listed_roles)
    mapping = replace(inner.mapping, choices=choices)
    text = f"one row for each person and step: a step is passed where {result!r} says so"
    notices = (*state.notices, *inner.notices, Notice("step-results", text))
    return replace(inner, raw=state.raw, row="event with result", mapping=mapping, notices=notices)


def _finish(
    state: TableLook,
    mapping: Mapping,
    roles: Mapping,
    cells: pd.DataFrame,
    row: str,
    stages: Stages | None,
    status: pd.Series[Any] | None,
    inspected: pd.Series[Any] | None,
    name: str,
    score_stage: str | None,
) -> Interpretation:
    offers = status is not None and offers_are_a_step(state, status, stages, name)
    return Interpretation(
        state.raw,
        cells,
        mapping,
        roles,
        row,
        stages,
        status,
        inspected,
        name,
        score_stage,
        tuple(state.notices),
        tuple(state.assumptions),
        tuple(state.doubts),
        tuple(state.alternatives),
        state.ambiguous,
        {column: looks_like(state, column) for column in mapping.unused},
        frozenset(role for role, choice in state.chosen.items() if choice.given) | state.off,
        {column: words for column in mapping.unused if (words := passed_by_all(state, column))},
        {each.spec: each for each in state.decisions if each.selected.any() and not each.selected.all()},
        offers,
    )


def _mapping(state: TableLook) -> Mapping:
    choices = tuple(state.chosen[role] for role in ROLES if role in state.chosen)
    used = state.used()
    return Mapping(choices, tuple(name for name in state.columns if name not in used), tuple(state.notices))


def _yes(flags: pd.Series[Any]) -> pd.Series[Any]:
    return pd.Series(np.where(flags, "yes", "no"), index=flags.index, dtype="str")
