"""The history that an audit.toml names, for the commands `history`, `respond` and `record` and for the page."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from auditkit.errors import InputError, Problem
from auditkit.scheduled import chain, difference, history_page, settings
from auditkit.scheduled.difference import Difference
from auditkit.scheduled.evidence import Evidence, evidence
from auditkit.scheduled.past_report import RecordedFinding, asked_about
from auditkit.scheduled.responses import FindingState, Response, respond, responses_of, states
from auditkit.scheduled.run_history import Run, RunHistory, opened
from auditkit.scheduled.settings import AuditSettings


@dataclass(frozen=True)
class PastAudits:
    """The runs of an audit and its findings, as they are now."""

    audit: str
    runs: tuple[Run, ...]
    findings: tuple[FindingState, ...]
    line: float
    """The line that impact ratios are compared with."""

    @property
    def open_findings(self) -> int:
        return sum(one.open for one in self.findings)


@dataclass(frozen=True)
class AuditHistory:
    """The history that an audit.toml names. Looking at it creates nothing."""

    path: Path

    @contextmanager
    def _opened(self) -> Iterator[tuple[AuditSettings, RunHistory]]:
        """The settings and the open history; raises InputError if there is none yet."""
        chosen = settings.read(self.path)
        with opened(chosen.database(os.environ), create=False) as history:
            yield chosen, history

    def look(self) -> PastAudits:
        """The runs that didn't fail, and the state of every finding."""
        with self._opened() as (chosen, history):
            last, findings = _last(history, chosen)
            shown = () if last is None else states(last.figures, findings, responses_of(history, chosen.name))
            return PastAudits(chosen.name, tuple(history.runs(chosen.name)), shown, chosen.config.report.line)

    def recorded(self, known: str | None = None) -> tuple[AuditSettings, list[Run], tuple[list[str], str]]:
        """The settings, all runs, where their chain is broken, and its last link; `known` is a link kept earlier."""
        with self._opened() as (chosen, history):
            kept = chain.kept(chosen.folder) | ({known: "the run of the link that you kept"} if known else {})
            return chosen, history.runs(chosen.name, failed=True), history.breaks(kept)

    def trends(self, page: Path | None = None, runs: Sequence[Run] | None = None) -> str:
        """The page of trends, its links relative to `page` (default: in the folder of the artefacts)."""
        with self._opened() as (chosen, history):
            shown = history.runs(chosen.name) if runs is None else runs
        created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        place = page or chosen.folder / "trends.html"
        return history_page.render(chosen.name, shown, chosen.folder, place, created, chosen.thresholds, chosen.config)

    def compare(self, first: str, second: str) -> Difference:
        """What differs between two runs, each named as in `difference.find`."""
        with self._opened() as (chosen, history):
            runs = history.runs(chosen.name)
        return difference.compare(difference.find(runs, first), difference.find(runs, second), chosen.folder)

    def respond(self, which: str, answer: Mapping[str, str | None]) -> Response:
        """Record a response to a finding of the last run."""
        with self._opened() as (chosen, history):
            last, findings = _last(history, chosen)
            if last is None:
                raise self.no_runs(chosen.name)
            return respond(history, last, findings, which, answer, datetime.now(UTC))

    def no_runs(self, audit: str) -> InputError:
        return InputError(Problem(audit, "there are no runs yet", f"auditkit run {self.path} makes one"))

    def evidence(self, begin: tuple[str, str], end: tuple[str, str]) -> tuple[Evidence, AuditSettings]:
        """The evidence of a period; each end is its name for messages, and the day as 2026-01-31."""
        days = [_day(*begin), _day(*end)]
        with self._opened() as (chosen, history):
            runs, said = history.runs(chosen.name), responses_of(history, chosen.name)
        return evidence(chosen, runs, said, days[0], days[1], datetime.now(UTC)), chosen

    def artefact(self, folder: str, name: str) -> Path | None:
        """A file that a run recorded; None for anything else."""
        with self._opened() as (chosen, history):
            runs = history.runs(chosen.name)
        known = any(run.folder == folder and any(one.name == name for one in run.artefacts) for run in runs)
        path = chosen.folder / folder / name
        return path if known and path.is_file() else None


def _last(history: RunHistory, chosen: AuditSettings) -> tuple[Run | None, tuple[RecordedFinding, ...]]:
    """The last run that computed something, and its findings that ask for a response."""
    last = history.latest(chosen.name)
    return last, () if last is None else asked_about(last, chosen.folder)


def _day(place: str, text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(Problem(place, f"{text!r} is not a date", "write it as 2026-01-31")) from None
