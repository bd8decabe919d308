"""How a file was read, in the page's words: its columns, who is counted, and the funnel of each attribute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from auditkit.data.columns import ColumnProfile
from auditkit.data.firm_history import History
from auditkit.data.privacy import protect
from auditkit.data.raw_table import RawTable
from auditkit.errors import Problem
from auditkit.model.groups import UNKNOWN
from auditkit.page.reading_view import (
    NOT_USED,
    ColumnView,
    Funnel,
    GroupReached,
    MenuOption,
    ReadingView,
    StepReached,
    ValueCount,
)
from auditkit.text import count, day, indefinite, plural, sentence

FEW = 12
"""Columns with at most this many different values have them listed, and offered as favourable outcomes."""
LISTED = 6


def described(
    raw: RawTable,
    profiles: tuple[ColumnProfile, ...],
    history: History | None,
    errors: tuple[Problem, ...],
    before: Mapping[str, str],
    threshold: int,
) -> ReadingView:
    """The reading as the page shows it; `before` has the roles of the columns in case it failed."""
    columns = _columns(raw, profiles, history, before)
    roles = {column.name: column.role for column in columns}
    favourable, chosen = _favourable(raw, profiles, roles, history)
    facts = _facts(raw, history, threshold) if history is not None else ((), (), ())
    counted, funnels, notes = facts
    problems = () if history is None else tuple(p for p in history.problems.lines() if p not in errors)
    return ReadingView(
        rows=len(raw.table),
        columns=columns,
        favourable=favourable,
        chosen_favourable=chosen,
        summary=_summary(history),
        counted=counted,
        funnels=funnels,
        problems=problems,
        errors=errors,
        notes=notes,
        attributes=() if history is None else history.attributes,
        has_score=history is not None and history.has("score"),
        has_cost=history is not None and history.has("cost"),
    )


def _columns(
    raw: RawTable, profiles: tuple[ColumnProfile, ...], history: History | None, before: Mapping[str, str]
) -> tuple[ColumnView, ...]:
    roles: dict[str, tuple[str, str]] = {}
    if history is not None:
        for choice in history.mapping.choices:
            roles |= dict.fromkeys(choice.columns, (choice.role, choice.reason))
    else:
        roles = {name: (role, "") for name, role in before.items()}
    reading = None if history is None else history.reading
    looks = {} if reading is None else {one.column: one.looks_like for one in reading.unused if one.looks_like}
    return tuple(
        replace(
            _column(raw, profile, *roles.get(profile.name, (NOT_USED, ""))), note=_hint(looks.get(profile.name, ""))
        )
        for profile in profiles
    )


def _summary(history: History | None) -> str:
    """How the file is read, in one sentence."""
    if history is None or history.reading is None:
        return ""
    good = history.reading.favourable
    return f"One row per {history.reading.row}; favourable: {good.text}, {count(good.count)} of {count(good.of)}."


def _hint(looks_like: str) -> str:
    if not looks_like:
        return ""
    proxy = " It may stand in for a group." if looks_like == "postal code" else ""
    return f"looks like {indefinite(looks_like)} and is not used.{proxy}"


def _column(raw: RawTable, profile: ColumnProfile, role: str, reason: str) -> ColumnView:
    values: tuple[ValueCount, ...] = ()
    if profile.distinct <= FEW:
        counted = raw.table[profile.name].value_counts()
        values = tuple(ValueCount(str(text) or "empty", int(rows)) for text, rows in counted.items())[:LISTED]
    between = ""
    if profile.content == "number" and profile.distinct > FEW:
        between = f"{profile.low:g} to {profile.high:g}"
    return ColumnView(profile.name, role, reason, profile.content, profile.filled, profile.distinct, values, between)


def _favourable(
    raw: RawTable,
    profiles: tuple[ColumnProfile, ...],
    roles: Mapping[str, str],
    history: History | None,
) -> tuple[tuple[MenuOption, ...], str]:
    """The outcomes that may count as favourable: the one that was read, or a value of a column."""
    options = []
    chosen = ""
    selected = None if history is None else history.mapping.choice("selected")
    if selected is not None and selected.test is not None:
        chosen = f"{selected.columns[0]}{selected.test.sign}{selected.test.value}"
    elif history is not None and history.reading is not None:
        good = history.reading.favourable
        options.append(MenuOption("", f"{sentence(good.text)}, as read ({count(good.count)} of {count(good.of)})"))
    else:
        options.append(MenuOption("", "choose"))
    for profile in profiles:
        role = roles.get(profile.name, NOT_USED)
        few = 2 <= profile.distinct <= FEW and profile.content in ("yes/no", "status", "category")
        if few and role in (NOT_USED, "selected", "inspected", "stage", "stages", "outcome"):
            for text, rows in raw.table[profile.name].value_counts().items():
                if text:
                    shown = f"{profile.name} = {text} ({count(int(rows))})"
                    options.append(MenuOption(f"{profile.name}={text}", shown))
    if chosen and all(option.value != chosen for option in options):
        options.insert(0, MenuOption(chosen, chosen))
    return tuple(options), chosen


def _facts(
    raw: RawTable, history: History, threshold: int
) -> tuple[tuple[str, ...], tuple[Funnel, ...], tuple[str, ...]]:
    """Who is counted, the funnel of each attribute, and the notes worth knowing."""
    shown = protect(history, threshold).history
    counted_rows = shown.counted
    table = shown.table
    searches = history.table["search"].nunique()
    counted = [f"{plural(len(history.table), 'application')} in {plural(len(raw.table), 'row')}"]
    if searches > 1:
        counted.append(plural(searches, "requisition"))
    if history.has("date") and history.table["date"].notna().any():
        dates = history.table["date"].dropna()
        counted.append(f"{day(dates.min().isoformat())} to {day(dates.max().isoformat())}")
    if undecided := int((~history.decided).sum()):
        counted.append(f"{count(undecided)} withdrawn or still pending, not counted after the steps they reached")
    counted += [
        f"{plural(number, 'row')} left out ({code.replace('-', ' ')})"
        for code, number in history.counts.left.items()
        if number
    ]
    funnels = []
    for attribute in history.attributes:
        groups = table[f"group:{attribute}"]
        known = counted_rows & (groups != UNKNOWN)
        names = list(groups[known].value_counts().index)
        steps = [StepReached("Applied", tuple(_reached(groups[known], name, known[known]) for name in names))]
        for step in history.steps:
            here = known & shown.decided_at(step)
            reached = shown.reached(step)[here]
            steps.append(StepReached(step, tuple(_reached(groups[here], name, reached) for name in names)))
        funnels.append(Funnel(attribute, tuple(steps), int(history.counted.sum()) - int(known.sum())))
    assumed = () if history.reading is None else history.reading.assumptions
    notes = dict.fromkeys([*assumed, *(notice.text for notice in history.notices)])
    return tuple(counted), tuple(funnels), tuple(notes)


def _reached(groups: pd.Series[str], name: str, reached: pd.Series[bool]) -> GroupReached:
    members = groups == name
    return GroupReached(name, int((members & reached).sum()), int(members.sum()))
