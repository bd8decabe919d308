"""Responses to findings: what was decided, by whom, by when and why, and how the figure has changed since.

A finding is identified by its subject (attribute, group, step, part of the firm), not by its words: if the same
difference is found next month, it's the same finding. Only subjects, decisions and the user's words are stored, no
person's row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Literal

import sqlalchemy as sa

from auditkit.errors import InputError, Problem, nearest
from auditkit.report.figures import Figures
from auditkit.report.schema import FollowUpModel
from auditkit.scheduled import tables
from auditkit.scheduled.past_report import FindingSubject, RecordedFinding
from auditkit.scheduled.run_history import Run, RunHistory

LONGEST = 4000
"""Characters of a response: it is a decision with its reason, not a file."""


class ResponseDecision(StrEnum):
    """What is done about a finding."""

    INVESTIGATE = "investigate"
    CHANGE = "change"
    KEEP = "keep"
    CLOSE = "close"


MEANING = {
    ResponseDecision.INVESTIGATE: "being looked into",
    ResponseDecision.CHANGE: "the process is being changed",
    ResponseDecision.KEEP: "kept as it is, for the reason given",
    ResponseDecision.CLOSE: "closed",
}
UNDER_WAY = (ResponseDecision.INVESTIGATE, ResponseDecision.CHANGE)


@dataclass(frozen=True)
class Response:
    """One response; later ones on the same subject replace it, and all are kept."""

    run: int
    created: str
    subject: FindingSubject
    finding: str
    decision: ResponseDecision
    owner: str
    due: str | None
    text: str
    impact_ratio: float | None


@dataclass(frozen=True)
class FindingState:
    """A subject, its last response, and the impact ratio then and now. `found` if the last run still has it."""

    subject: FindingSubject
    text: str
    found: bool
    response: Response | None
    now: float | None

    @property
    def open(self) -> bool:
        return self.found and (self.response is None or self.response.decision in UNDER_WAY)

    @property
    def status(self) -> Literal["open", "under way", "answered", "no longer found"]:
        if not self.found:
            return "no longer found"
        if self.response is None:
            return "open"
        return "under way" if self.response.decision in UNDER_WAY else "answered"


def states(
    figures: Figures, findings: Sequence[RecordedFinding], responses: Sequence[Response]
) -> tuple[FindingState, ...]:
    """The findings of a run with their last responses, then those that were answered and are no longer found."""
    last = {one.subject: one for one in responses}
    texts = {subject: one.finding for subject, one in last.items()} | {one.subject: one.text for one in findings}
    found = {one.subject for one in findings}
    order = [*(one.subject for one in findings), *(subject for subject in last if subject not in found)]
    return tuple(
        FindingState(subject, texts[subject], subject in found, last.get(subject), subject.ratio(figures))
        for subject in order
    )


def follow_up(state: FindingState) -> FollowUpModel:
    """A state as the next report shows it."""
    said = state.response
    return FollowUpModel(
        subject=str(state.subject),
        finding=state.text,
        status=state.status,
        decision=None if said is None else said.decision.value,
        owner=None if said is None else said.owner,
        due=None if said is None else said.due,
        response=None if said is None else said.text,
        ratio_then=None if said is None else said.impact_ratio,
        ratio_now=state.now,
    )


def respond(
    history: RunHistory,
    run: Run,
    findings: Sequence[RecordedFinding],
    which: str,
    answer: Mapping[str, str | None],
    now: datetime,
) -> Response:
    """Record a response to a finding, named by its number in the list or by its subject."""
    finding = pick(findings, which)
    problems = []
    decision, owner, text = (str(answer.get(key) or "").strip() for key in ("decision", "owner", "text"))
    if decision not in set(ResponseDecision):
        problems.append(Problem("decision", f"{decision!r} is not a decision", f"one of {', '.join(ResponseDecision)}"))
    if not owner:
        problems.append(Problem("owner", "is missing", "name who is responsible"))
    if not text:
        problems.append(Problem("text", "is missing", "say what was decided and why"))
    if max(len(owner), len(text)) > LONGEST:
        problems.append(Problem("text", f"is longer than {LONGEST:,} characters", "keep it short and name a document"))
    due = str(answer.get("due") or "").strip() or None
    if due is not None:
        try:
            due = date.fromisoformat(due).isoformat()
        except ValueError:
            problems.append(Problem("due", f"{due!r} is not a date", "write it as 2027-01-31"))
    if problems:
        raise InputError(problems)
    made = Response(
        run.id,
        now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        finding.subject,
        finding.text,
        ResponseDecision(decision),
        owner,
        due,
        text,
        finding.subject.ratio(run.figures),
    )
    with history.transaction(write=True) as connection:
        tables.responses.create(connection, checkfirst=True)
        about = asdict(made)
        about |= {"name" if key == "group" else key: value for key, value in about.pop("subject").items()}
        connection.execute(sa.insert(tables.responses).values(audit=run.audit, **about))
    return made


def pick(findings: Sequence[RecordedFinding], which: str) -> RecordedFinding:
    """The finding with this number (from 1) or this subject."""
    if not findings:
        raise InputError(Problem(which, "the last run has no findings that ask for a response"))
    if which.isdecimal() and 1 <= int(which) <= len(findings):
        return findings[int(which) - 1]
    named = [one for one in findings if str(one.subject).casefold() == which.strip().casefold()]
    if not named:
        fix = f"give a number from 1 to {len(findings)}" if which.isdecimal() else None
        raise InputError(
            Problem(which, "there is no such finding", fix or nearest(which, [str(one.subject) for one in findings]))
        )
    return named[0]


def responses_of(history: RunHistory, audit: str) -> tuple[Response, ...]:
    """All responses of an audit, oldest first."""
    with history.transaction() as connection:
        if not sa.inspect(connection).has_table(tables.responses.name):
            return ()
        chosen = sa.select(tables.responses).where(tables.responses.c.audit == audit).order_by(tables.responses.c.id)
        rows = connection.execute(chosen).mappings().all()
    return tuple(
        Response(
            run=row["run"],
            created=row["created"],
            subject=FindingSubject(row["attribute"], row["name"], row["step"], row["segment"], row["value"]),
            finding=row["finding"],
            decision=ResponseDecision(row["decision"]),
            owner=row["owner"],
            due=row["due"],
            text=row["text"],
            impact_ratio=row["impact_ratio"],
        )
        for row in rows
    )
