"""Past audits on the page: the history of an audit.toml, through the functions of `auditkit history`, `respond` and
`record`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from auditkit.errors import InputError, Problem
from auditkit.scheduled import difference, evidence_page, history_page, settings
from auditkit.scheduled.difference import Difference
from auditkit.scheduled.evidence import evidence
from auditkit.scheduled.past_report import RecordedFinding, asked_about
from auditkit.scheduled.responses import FindingState, respond, responses_of, states
from auditkit.scheduled.run_history import Run, RunHistory, opened
from auditkit.scheduled.settings import AuditSettings


@dataclass(frozen=True)
class PastAudits:
    """The runs of an audit and its findings, as they are now."""

    audit: str
    runs: tuple[Run, ...]
    findings: tuple[FindingState, ...]
    line: float
    """With which impact ratios are compared."""

    @property
    def open_findings(self) -> int:
        return sum(one.open for one in self.findings)


@dataclass(frozen=True)
class AuditHistory:
    """The history that an audit.toml names. Nothing is created by looking at it."""

    path: Path

    @property
    def settings(self) -> AuditSettings:
        return settings.read(self.path)

    def look(self) -> PastAudits:
        """Everything that the page shows; InputError if there is no history yet."""
        chosen = self.settings
        with opened(chosen.database(os.environ), create=False) as history:
            runs, last, findings = _last(history, chosen)
            shown = () if last is None else states(last.figures, findings, responses_of(history, chosen.name))
        return PastAudits(chosen.name, tuple(runs), shown, chosen.config.report.line)

    def trends(self) -> str:
        """The page of `auditkit history --html`, its links relative to the folder of the artefacts."""
        chosen = self.settings
        with opened(chosen.database(os.environ), create=False) as history:
            runs = history.runs(chosen.name)
        created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        place = chosen.folder / "trends.html"
        return history_page.render(chosen.name, runs, chosen.folder, place, created, chosen.thresholds, chosen.config)

    def compare(self, first: str, second: str) -> Difference:
        chosen = self.settings
        with opened(chosen.database(os.environ), create=False) as history:
            runs = history.runs(chosen.name)
        return difference.compare(difference.find(runs, first), difference.find(runs, second), chosen.folder)

    def respond(self, which: str, answer: Mapping[str, str | None]) -> None:
        """Record a response to a finding of the last run."""
        chosen = self.settings
        with opened(chosen.database(os.environ), create=False) as history:
            _, last, findings = _last(history, chosen)
            if last is None:
                raise InputError(Problem(chosen.name, "there are no runs yet", "auditkit run AUDIT.toml makes one"))
            respond(history, last, findings, which, answer, datetime.now(UTC))

    def record(self, begin: str, end: str) -> bytes:
        """The evidence file of a period, as a page."""
        days = []
        for place, text in (("From", begin), ("To", end)):
            try:
                days.append(date.fromisoformat(text))
            except ValueError:
                raise InputError(Problem(place, f"{text!r} is not a date", "write it as 2026-01-31")) from None
        chosen = self.settings
        with opened(chosen.database(os.environ), create=False) as history:
            runs, said = history.runs(chosen.name), responses_of(history, chosen.name)
        found = evidence(chosen, runs, said, days[0], days[1], datetime.now(UTC))
        return evidence_page.rendered(found, ("html",), chosen.config)["html"]

    def artefact(self, folder: str, name: str) -> Path | None:
        """A file that a run recorded; None for anything else."""
        chosen = self.settings
        with opened(chosen.database(os.environ), create=False) as history:
            runs = history.runs(chosen.name)
        known = any(run.folder == folder and any(one.name == name for one in run.artefacts) for run in runs)
        path = chosen.folder / folder / name
        return path if known and path.is_file() else None


def _last(history: RunHistory, chosen: AuditSettings) -> tuple[list[Run], Run | None, tuple[RecordedFinding, ...]]:
    last = history.latest(chosen.name)
    return history.runs(chosen.name), last, () if last is None else asked_about(last, chosen.folder)
