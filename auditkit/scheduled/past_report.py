"""Reads what the history needs from an earlier report, perhaps written by an older auditkit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from auditkit.errors import InputError
from auditkit.files import parse_json, read_file
from auditkit.report.figures import Figures
from auditkit.report.load_report import load
from auditkit.report.schema import Report
from auditkit.report.thresholds import Crossing, ratio_subject
from auditkit.scheduled.run_history import Run

REPORT = "report.json"
ANSWERABLE = ("disparity", "segment")
"""Kinds of findings that ask for a response; the others inform."""
NO_DIFFERENCE = "same-everywhere"
"""The code of findings that a difference is alike in all parts of the firm: there is nothing to answer."""
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


def asked_about(run: Run, folder: Path) -> tuple[RecordedFinding, ...]:
    """What a run asks for a response to."""
    return answerable(past_report(run, folder), run.figures, run.crossings)


def answerable(
    report: Report | None, figures: Figures, crossings: Iterable[Crossing] = ()
) -> tuple[RecordedFinding, ...]:
    """Findings that ask for a response, the first of each subject; then impact ratios beyond a threshold."""
    found: dict[FindingSubject, RecordedFinding] = {}
    for one in () if report is None else report.findings:
        if one.kind in ANSWERABLE and one.code != NO_DIFFERENCE and one.attribute is not None:
            subject = FindingSubject(one.attribute, one.group, one.step, one.segment, one.value)
            found.setdefault(subject, RecordedFinding(subject, one.text))
    ratios = {ratio_subject(row): FindingSubject(row.attribute, row.group, row.step) for row in figures.groups}
    for crossing in crossings:
        if (watched := ratios.get(crossing.subject)) is not None:
            found.setdefault(watched, RecordedFinding(watched, crossing.words))
    return tuple(found.values())


def not_supported(report: Report) -> tuple[str, ...]:
    """What the report says that it could not examine."""
    return tuple(one.text for one in report.findings if one.code in NOT_SUPPORTED)
