"""What is wrong with the data: one table of codes with their stated treatment, and counts that add up.

Treatments: **refuse** (no audit until it is fixed), **warn** (the audit goes on; the message says what was assumed),
**unknown** (the cell counts as unknown, the row stays).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from auditkit.data.personal import HIDDEN, is_shown
from auditkit.errors import InputError, Problem

SHOWN = 60
"""Longest piece of a cell that a message repeats."""

_FIRST = 3
"""Rows and values that one line names."""


Treatment = Literal["refuse", "warn", "unknown"]


class ProblemCode(NamedTuple):
    """How a problem is treated, what it says and how to fix it (`{value}` and the like are filled in)."""

    treatment: Treatment
    what: str
    fix: str


CODES: dict[str, ProblemCode] = {
    "not-a-number": ProblemCode("refuse", "{value} is not a number", "write a number or leave the cell empty"),
    "bad-capacity": ProblemCode("refuse", "{value} is not a whole number of positions", "write 0, 1, 2, ..."),
    "bad-count": ProblemCode("refuse", "{value} is not a whole number of applications", "write 0, 1, 2, ..."),
    "inconsistent-capacity": ProblemCode(
        "refuse", "capacity {value} differs from the {other} of the same search above", "give a search one capacity"
    ),
    "inconsistent-unit-capacity": ProblemCode(
        "refuse", "capacity {value} differs from the {other} of the same unit above", "give a unit one capacity"
    ),
    "duplicate-candidate": ProblemCode(
        "refuse",
        "candidate {value} occurs again in the same search, with other cells",
        "keep one row, map the requisition with --map search=COLUMN, or, if each row is an event, --map stage=COLUMN"
        "{instead}",
    ),
    "ambiguous-date": ProblemCode(
        "refuse",
        "{value} may be day/month or month/day, and the other dates of the column do not settle it",
        "write dates as 2024-03-25, or leave the column out with --map {role}=none",
    ),
    "unknown-word": ProblemCode(
        "refuse",
        "{value} is not known to mean {meaning}",
        'use one of the known words, or say which one means {role}: --map "{role}={column}=VALUE"{more}',
    ),
    "conflicting-value": ProblemCode(
        "refuse",
        "{value} differs from the same application's earlier {other}",
        "give all events of an application one value",
    ),
    "repeated-row": ProblemCode(
        "warn", "candidate {value}: the row repeats another one cell by cell and is left out", "remove it"
    ),
    "repeated-header": ProblemCode("warn", "the header is repeated here; the row is left out", "remove the row"),
    "total-row": ProblemCode("warn", "{value}: a row of totals or notes is left out", "remove the row"),
    "heading-row": ProblemCode("warn", "{value}: a heading above other rows is left out", "remove the row"),
    "not-a-person": ProblemCode("warn", "the row is not about an applicant and is left out", "remove the row"),
    "ambiguous-number": ProblemCode(
        "warn",
        "{value} was read with {value_mark} as the decimal mark, but the file does not settle which it is",
        "write numbers without thousands separators",
    ),
    "selected-not-inspected": ProblemCode(
        "warn", "selected but not inspected ({value}): counted as inspected", "check the column of inspections"
    ),
    "score-without-inspection": ProblemCode(
        "warn",
        "score {value} without an inspection: the score is not used",
        "if it was known before the interview, map it with --map prior={column}",
    ),
    "inspected-without-score": ProblemCode(
        "warn", "inspected, but there is no score", "fill in the score if there is one"
    ),
    "more-selected-than-capacity": ProblemCode(
        "warn",
        "{value} selected in a search with {other} positions: its capacity is taken as {value}",
        "correct the capacity",
    ),
    "negative-cost": ProblemCode("warn", "cost {value} is negative: taken as a gain", "check the sign"),
    "missing-cost": ProblemCode(
        "warn", "{value} rows have no cost", "fill it in, or give one for all such rows with --cost"
    ),
    "missing-candidate": ProblemCode("warn", "there is no candidate id: the row number serves", "fill in the id"),
    "mixed-dates": ProblemCode("warn", "dates are written in {value} styles: {other}", "write all dates as 2024-03-25"),
    "group-spelling": ProblemCode("warn", "{value} is taken as the same group as {other}", "spell it in one way"),
    "stage-skipped": ProblemCode(
        "warn", "a later stage was reached, but not {other}: counted as reached", "check the stage columns"
    ),
    "unreadable-date": ProblemCode("unknown", "{value} is not a date: counted as no date", "write dates as 2024-03-25"),
    "unknown-group": ProblemCode("unknown", "the group is unknown ({value})", "fill it in if it is known"),
    "missing-search": ProblemCode(
        "unknown", "there is no search: counted in the search 'unknown'", "fill in the requisition"
    ),
    "missing-status": ProblemCode(
        "unknown", "nothing says whether the candidate was selected: counted as undecided", "fill it in"
    ),
    "missing-stage": ProblemCode(
        "unknown", "the event has no stage: it only says that somebody applied", "fill in the stage"
    ),
    "prior-not-number": ProblemCode(
        "unknown", "{value} is not a number, as most of the column is: counted as missing", "write a number"
    ),
}
"""Every code, with its one treatment."""

OF_OUTCOMES = (
    *("selected-not-inspected", "score-without-inspection", "inspected-without-score"),
    *("missing-status", "missing-stage", "stage-skipped"),
)
"""Codes of problems that depend on what became of a candidate."""

OF_CANDIDATES = ("duplicate-candidate", "repeated-row")
"""Codes of problems whose value is the id of a candidate."""

LEAVING = ("repeated-row", "repeated-header", "total-row", "part-of-a-total", "heading-row", "not-a-person")
"""The only ways in which a row that was read does not take part."""


class Notice(NamedTuple):
    """Something about the data that is worth saying but is not a problem."""

    code: str
    text: str
    fix: str = ""
    """What changes it, on the command line; a report leaves it out."""


@dataclass(frozen=True)
class DataProblem:
    """One thing that is wrong with one cell, row or column (`row` is None when it is about the column)."""

    code: str
    row: int | None
    column: str
    value: str
    what: str
    fix: str
    treatment: str

    def as_problem(self) -> Problem:
        """The same for an `InputError`."""
        place = [f"row {self.row}"] if self.row is not None else []
        place += [f"column {self.column!r}"] if self.column else []
        return Problem(", ".join(place), self.what, self.fix)


def shown(value: object) -> str:
    """A cell as a message may repeat it: quoted, short, and without control characters."""
    if not isinstance(value, str):
        return str(value)
    text = "".join(c if c.isprintable() else "�" for c in value)
    return f"'{text[: SHOWN - 1]}…'" if len(text) > SHOWN else f"'{text}'"


@dataclass(frozen=True, eq=False)
class Finding:
    """All problems of one code in one column; rows and values side by side, so that a million cost no time."""

    code: str
    column: str
    rows: tuple[Any, ...]
    values: tuple[Any, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    others: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def of_rows(self, keep: Sequence[bool]) -> Finding:
        """Only some of them."""
        rows, values, others = (tuple(itertools.compress(each, keep)) for each in (self.rows, self.values, self.others))
        return replace(self, rows=rows, values=values, others=others)

    def hides(self, value: object) -> bool:
        """Whether messages leave a value out, because it may say who somebody is."""
        return not is_shown(self.column, value, self.code in OF_CANDIDATES)

    def shown(self, value: object) -> str:
        """A value as a message may repeat it."""
        return HIDDEN if self.hides(value) else shown(value)

    def __iter__(self) -> Iterator[DataProblem]:
        code = CODES[self.code]
        for i, (row, value) in enumerate(zip(self.rows, self.values, strict=True)):
            words = {"value": self.shown(value), "column": self.column, **self.facts}
            if self.others:
                words["other"] = self.shown(self.others[i])
            yield DataProblem(
                self.code,
                None if row is None else int(row),
                self.column,
                "" if self.hides(value) else str(value),
                code.what.format(**words),
                code.fix.format(**words),
                code.treatment,
            )


def _line(findings: list[Finding]) -> Problem:
    first = next(iter(findings[0]))
    number = sum(map(len, findings))
    if number == 1:
        return first.as_problem()
    rows = [row for finding in findings for row in finding.rows[: _FIRST + 1] if row is not None]
    values = dict.fromkeys(value for finding in findings for value in finding.values[:1000])
    seen = [value for value in list(values)[1:_FIRST] if "{value}" in CODES[first.code].what and value != ""]
    others = [shown(value) for value in seen if not findings[0].hides(value)]
    listed = ", ".join(str(row) for row in rows[:_FIRST]) + (", ..." if number > _FIRST else "")
    place = f"{number:,} rows ({listed})" if rows else f"{number:,} values"
    column = f", column {first.column!r}" if first.column else ""
    also = f"; also {', '.join(others)}" if others else ""
    return Problem(place + column, first.what + also, first.fix)


@dataclass(frozen=True)
class Problems:
    """Everything that was found in one pass: refusals first, then warnings, then what counts as unknown."""

    findings: tuple[Finding, ...] = ()

    def __len__(self) -> int:
        return sum(len(finding) for finding in self.findings)

    def __iter__(self) -> Iterator[DataProblem]:
        order = ("refuse", "warn", "unknown")
        for finding in sorted(self.findings, key=lambda f: order.index(CODES[f.code].treatment)):
            yield from finding

    def counts(self) -> dict[str, int]:
        """How many of each code."""
        totals: dict[str, int] = {}
        for finding in self.findings:
            totals[finding.code] = totals.get(finding.code, 0) + len(finding)
        return totals

    def lines(self) -> tuple[Problem, ...]:
        """One line for each code and column: how many rows, the first of them, the first values."""
        order = ("refuse", "warn", "unknown")
        groups: dict[tuple[str, str], list[Finding]] = {}
        for finding in sorted(self.findings, key=lambda f: order.index(CODES[f.code].treatment)):
            groups.setdefault((finding.code, finding.column), []).append(finding)
        return tuple(_line(findings) for findings in groups.values())

    def without_rows(self, rows: Collection[int], codes: Collection[str]) -> Problems:
        """Without the problems of these codes in these rows of the file."""
        kept = []
        for finding in self.findings:
            keep = [finding.code not in codes or row not in rows for row in finding.rows]
            if all(keep):
                kept.append(finding)
            elif any(keep):
                kept.append(finding.of_rows(keep))
        return Problems(tuple(kept))

    def of(self, treatment: str) -> Problems:
        """Only those with this treatment."""
        return Problems(tuple(f for f in self.findings if CODES[f.code].treatment == treatment))

    def raise_refused(self) -> None:
        """One InputError with every refusal, if there is one."""
        if refused := self.of("refuse").lines():
            raise InputError(refused)


class Collector:
    """Gathers findings while a table is cleaned."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []

    def add(
        self, code: str, where: pd.Series[Any], column: str, values: pd.Series[Any] | None = None, **facts: str
    ) -> None:
        """One problem for each True of `where`, whose index holds the row numbers of the file."""
        flags = where.to_numpy(dtype=bool)
        if not flags.any():
            return
        rows = where.index[flags].to_numpy()
        cells = np.full(len(rows), "") if values is None else values.to_numpy()[flags]
        self._findings.append(Finding(code, column, tuple(rows.tolist()), tuple(cells.tolist()), facts))

    def add_pairs(self, code: str, column: str, rows: Any, values: Any, others: Any) -> None:
        """Problems that compare a value with another one."""
        if len(rows):
            self._findings.append(Finding(code, column, tuple(rows), tuple(values), {}, tuple(others)))

    def add_column(self, code: str, column: str, value: object, **facts: str) -> None:
        """One problem of a whole column."""
        self._findings.append(Finding(code, column, (None,), (value,), facts))

    def problems(self) -> Problems:
        return Problems(tuple(self._findings))


@dataclass(frozen=True)
class RowCounts:
    """Where the rows went. Both sums are checked whenever one is made.

    rows read = rows used + each way of leaving; applications = selected + rejected + withdrawn + pending.
    `applications` differs from `rows_used` only where a row stands for several (counts) or is one event of several.
    """

    rows_read: int
    rows_used: int
    left: Mapping[str, int]
    applications: int
    outcomes: Mapping[str, int]
    groups: Mapping[str, int]

    def __post_init__(self) -> None:
        assert self.rows_read == self.rows_used + sum(self.left.values()), self
        assert self.applications == sum(self.outcomes.values()), self
        assert self.applications == sum(self.groups.values()), self
