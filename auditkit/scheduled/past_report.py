"""What the history needs from a report that was written earlier, perhaps by an older auditkit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from auditkit.errors import InputError
from auditkit.files import parse_json, read_file
from auditkit.report.figures import Figures
from auditkit.report.load_report import load
from auditkit.report.schema import Report
from auditkit.scheduled.run_history import Run

REPORT = "report.json"
ANSWERABLE = ("disparity", "segment")
"""Kinds of findings that ask for a response; the others inform."""
NOT_SUPPORTED = ("no-fit", "too-little-evidence", "no-groups", "no-selection", "left-out")
"""Codes of notices that say what could not be examined."""


@dataclass(frozen=True)
class FindingSubject:
    """What a finding is about."""

    attribute: str
    group: str | None = None
    step: str | None = None
    segment: str | None = None
    value: str | None = None

    def __str__(self) -> str:
        return " · ".join(part for part in (self.attribute, self.group, self.step, self.segment, self.value) if part)

    def ratio(self, figures: Figures) -> float | None:
        """Its impact ratio in a run: the group's, or the lowest if it names none. The history has none of segments."""
        if self.segment is not None or not figures.steps:
            return None
        step = self.step or figures.steps[-1]
        rows = [row for row in figures.groups if (row.attribute, row.step) == (self.attribute, step)]
        known = [row.impact_ratio for row in rows if self.group in (None, row.group) and row.impact_ratio is not None]
        return min(known, default=None)


@dataclass(frozen=True)
class RecordedFinding:
    """A finding of a run that asks for a response."""

    subject: FindingSubject
    text: str


def past_report(run: Run, folder: Path) -> Report | None:
    """The report of a run; None if it is removed or cannot be read."""
    path = folder / run.folder / REPORT
    if run.removed is not None or not path.is_file():
        return None
    try:
        return load(parse_json(read_file(path), str(path)), str(path))
    except InputError:
        return None


def answerable(report: Report | None) -> tuple[RecordedFinding, ...]:
    """Findings that ask for a response, the first of each subject."""
    found: dict[FindingSubject, RecordedFinding] = {}
    for one in () if report is None else report.findings:
        if one.kind in ANSWERABLE and one.attribute is not None:
            subject = FindingSubject(one.attribute, one.group, one.step, one.segment, one.value)
            found.setdefault(subject, RecordedFinding(subject, one.text))
    return tuple(found.values())


def not_supported(report: Report) -> tuple[str, ...]:
    """What the report says that it could not examine."""
    return tuple(one.text for one in report.findings if one.code in NOT_SUPPORTED)
