"""The parts of a report document that describe the data: its scope, its problems, who is in it, and how far they got.

Applications that were withdrawn, or are pending, count at the steps that they reached; about whom no step decided is in
no rate and in no funnel. Nothing here names a cell, and all numbers are of the people whom the report may show
(`data.privacy`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from auditkit.data.problems import CODES
from auditkit.model.groups import UNKNOWN
from auditkit.report import schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from auditkit.data.firm_history import History
    from auditkit.data.privacy import Protected

_WORDS = {
    "more-selected-than-capacity": "more were selected than there are positions: the number selected serves",
    "group-spelling": "a spelling is taken as the same group as another",
    "mixed-dates": "dates are written in several styles",
    "ambiguous-number": "a number was read with a decimal mark that the file does not settle",
    "stage-skipped": "a later stage was reached, but not an earlier one: counted as reached",
    "rest-of-a-record": "a row that is the rest of the one above",
}
"""Kinds of problems whose own words are about one cell."""

APPLIED = "applied"


def in_general(text: str) -> str:
    """The words of a kind of problem without the cells that a single one names."""
    text = re.sub(r" \(\{\w+\}\)|\{\w+\}: |candidate \{value\}: ", "", text)
    text = re.sub(r"(score|cost|capacity) \{value\}", r"a \1", text)
    text = text.replace("{column}", "COLUMN").replace("{role}", "ROLE").replace("{raw}", "VALUE")
    return re.sub(r"\{\w+\}", "a value", text)


def problems(history: History) -> schema.ProblemsModel:
    counts = history.problems.counts()
    return schema.ProblemsModel(
        total=sum(counts.values()),
        by_code=tuple(
            schema.ProblemModel(
                code=code,
                treatment=CODES[code].treatment,
                count=n,
                what=_WORDS.get(code) or in_general(CODES[code].what),
                fix=in_general(CODES[code].fix),
            )
            for code, n in sorted(counts.items())
        ),
        counts=schema.CountsModel(
            read=history.counts.rows_read, used=history.counts.rows_used, left=dict(history.counts.left)
        ),
    )


def scope(history: History, shown: Protected, organisation: str) -> schema.ScopeModel:
    """What the report covers; the rows of the file add up: read = left out + applications.

    Where rows are counts of applications, those read less the first of `left_out` represent `stand_for` of them, which
    are the others left out and `applications`.
    """
    table = shown.history.table
    counted = shown.history.counted
    left = list(history.counts.left.items())
    events = history.counts.rows_used - len(history.table)
    if events > 0:
        left.append(("further-events-of-an-application", events))
    unfinished = {name: int((table[name] & ~counted).sum()) for name in ("withdrawn", "pending")}
    left += [(name, number) for name, number in unfinished.items() if number]
    if shown.left_out:
        left.append(("category-too-small-to-show", shown.left_out))
    dates = table["date"].dropna() if shown.history.has("date") else None
    period = None
    if dates is not None and not dates.empty:
        period = schema.PeriodModel(first=dates.min().date().isoformat(), last=dates.max().date().isoformat())
    return schema.ScopeModel(
        organisation=organisation,
        period=period,
        searches=int(table["search"].nunique()),
        rows=history.counts.rows_read,
        stand_for=len(history.table) if events < 0 else None,
        applications=int(counted.sum()),
        reached={step: int(shown.history.reached(step).sum()) for step in history.steps},
        decided={step: int(shown.history.decided_at(step).sum()) for step in history.steps},
        left_out=tuple(schema.LeftOutModel(reason=reason, rows=n) for reason, n in left),
        repeated_applicants=shown.history.repeated_applicants,
        unknown={name: int((table[f"group:{name}"] == UNKNOWN)[counted].sum()) for name in history.attributes},
        merged={name: tuple(joined) for name, joined in shown.merged.items()},
    )


def attributes(shown: Protected) -> tuple[schema.AttributeModel, ...]:
    """The protected attributes and their crossings, with the groups that the report shows."""
    history, counted = shown.history, shown.history.counted
    columns = {name: history.table[f"group:{name}"].astype("str") for name in history.attributes}
    return tuple(
        schema.AttributeModel(
            name=name,
            kind=history.characteristics.get(name, "crossing"),
            crossing=name in shown.crossings,
            groups=tuple(sorted(str(group) for group in labels[counted].unique() if group != UNKNOWN)),
        )
        for name, labels in {**columns, **shown.crossings}.items()
    )


def groups(shown: Protected) -> tuple[schema.GroupModel, ...]:
    """Every group of every attribute: how many applied, reached each step, and about how many each step decided."""
    history = shown.history
    decided = _numbers(shown, {step: history.decided_at(step) for step in history.steps})
    return tuple(
        schema.GroupModel(
            attribute=attribute, name=name, applicants=numbers[APPLIED], steps=numbers, decided=decided[attribute][name]
        )
        for attribute, of in _reached(shown).items()
        for name, numbers in of.items()
    )


def funnel(shown: Protected) -> tuple[schema.FunnelModel, ...]:
    """How many of each group reached each step, those who applied first."""
    reached = _reached(shown)
    return tuple(
        schema.FunnelModel(
            step=step,
            by_group={
                attribute: {name: numbers[step] for name, numbers in of.items()} for attribute, of in reached.items()
            },
        )
        for step in (APPLIED, *shown.history.steps)
    )


def _reached(shown: Protected) -> dict[str, dict[str, dict[str, int]]]:
    history = shown.history
    steps = {step: history.reached(step) for step in history.steps}
    return _numbers(shown, {APPLIED: history.counted, **steps})


def _numbers(shown: Protected, rows: Mapping[str, pd.Series[bool]]) -> dict[str, dict[str, dict[str, int]]]:
    """Attribute -> group -> name of the rows -> number of them, of the counted applications of known group."""
    history = shown.history
    columns = {name: history.table[f"group:{name}"].astype("str") for name in history.attributes}
    found: dict[str, dict[str, dict[str, int]]] = {}
    for attribute, labels in {**columns, **shown.crossings}.items():
        known = history.counted & (labels != UNKNOWN)
        counts = {name: labels[known & here].value_counts() for name, here in rows.items()}
        found[attribute] = {
            str(group): {name: int(number.get(group, 0)) for name, number in counts.items()}
            for group in sorted(labels[known].unique())
        }
    return found
