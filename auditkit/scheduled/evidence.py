"""The evidence file of a period, `auditkit-record/1`: what was tested, when, how well, with which results, and what
was done about them.

Its headings are those under which anti-bias testing counts as evidence in California (since October 2025) and
Connecticut (PA 26-15): quality, efficacy, recency, scope, results and the response to them. Everything comes from the
history and the artefacts of its runs; the file names what is no longer there. It contains no person's row, and no
judgement of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from auditkit import __version__
from auditkit.errors import InputError, Problem
from auditkit.report.figures import CUMULATIVE, GroupFigure
from auditkit.report.schema import Report
from auditkit.scheduled import artefacts, difference
from auditkit.scheduled.audit_run import CONFIGURATION
from auditkit.scheduled.past_report import NOT_SUPPORTED, answerable, not_supported, past_report
from auditkit.scheduled.responses import Response, states
from auditkit.scheduled.run_history import Artefact, Run
from auditkit.scheduled.settings import AuditSettings

FORMAT: Literal["auditkit-record/1"] = "auditkit-record/1"
NOTHING_FOUND = ("no-difference-found", "two-standard-deviations")
"""Codes of notices that are results."""
USUALLY_EXAMINED = {
    "sex": "sex or gender",
    "race": "race or ethnicity",
    "age": "age",
    "disability": "disability",
    "veteran": "veteran status",
    "religion": "religion",
    "nationality": "national origin",
    "orientation": "sexual orientation",
}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EvidenceRun(_Part):
    """One run of the period."""

    run: int
    created: str
    status: str
    version: str
    data: str | None
    data_sha256: str | None
    config_sha256: str
    rows: int | None
    problems: int | None
    largest_gap: float | None
    same_as: int | None
    """The run whose data and settings this one found unchanged: nothing was computed."""
    findings: tuple[str, ...]
    crossings: tuple[str, ...]
    artefacts: tuple[Artefact, ...]
    state: Literal["intact", "removed", "altered or missing"]
    removed: str | None


class EvidenceScope(_Part):
    """What was examined."""

    attributes: tuple[str, ...]
    steps: tuple[str, ...]
    constraints: tuple[str, ...]
    applications: int | None
    data_from: str | None
    data_to: str | None


class Efficacy(_Part):
    """The smallest difference that the last run would have found, as a ratio; None if it couldn't have found any."""

    attribute: str
    step: str
    group: str
    applicants: int | None
    detectable_ratio: float | None


class Recency(_Part):
    """When it was tested: number of runs, first and last, and the longest time without one within the period."""

    runs: int
    first: str | None
    last: str | None
    longest_gap_days: int


class EvidenceResult(_Part):
    """A group at a step, in the first and in the last run of the period, and the lowest of all."""

    attribute: str
    step: str
    group: str
    first: float | None
    last: float | None
    lowest: float | None
    status: str | None


class EvidenceResponse(_Part):
    """A response, and the figure then and now."""

    run: int
    created: str
    subject: str
    finding: str
    decision: str
    owner: str
    due: str | None
    text: str
    ratio_then: float | None
    ratio_now: float | None


class SettingsChange(_Part):
    """Lines of the settings that differ between two runs."""

    first: int
    second: int
    lines: tuple[str, ...]


class Evidence(_Part):
    """The evidence file. `open_findings` are those of the last run without a response that settles them."""

    format: Literal["auditkit-record/1"] = FORMAT
    version: str
    created: str
    audit: str
    organisation: str
    begin: str
    end: str
    scope: EvidenceScope
    efficacy: tuple[Efficacy, ...]
    recency: Recency
    results: tuple[EvidenceResult, ...]
    runs: tuple[EvidenceRun, ...]
    responses: tuple[EvidenceResponse, ...]
    open_findings: tuple[str, ...]
    settings_changes: tuple[SettingsChange, ...]
    not_examined: tuple[str, ...]
    profile: str | None
    """The rules that the last report names, and how long they require records to be kept."""
    retention: str | None

    @property
    def priced(self) -> bool:
        """Whether any run priced a constraint."""
        return any(run.largest_gap is not None for run in self.runs)


def evidence(
    settings: AuditSettings, runs: Sequence[Run], responses: Sequence[Response], begin: date, end: date, now: datetime
) -> Evidence:
    """The evidence of the runs from `begin` to `end`, both included; raises InputError if there are none."""
    if end < begin:
        raise InputError(Problem("--to", f"{end} is before {begin}", "name the earlier day with --from"))
    within = [run for run in runs if begin.isoformat() <= run.created[:10] <= end.isoformat()]
    if not within:
        known = f"runs from {runs[0].created[:10]} to {runs[-1].created[:10]}" if runs else "the history has no runs"
        raise InputError(Problem(settings.name, f"has no run from {begin} to {end}", known))
    folder, last = settings.folder, within[-1]
    reports = {run.id: past_report(run, folder) for run in within}
    report = next((found for run in reversed(within) if (found := reports[run.id]) is not None), None)
    said = [one for one in responses if begin.isoformat() <= one.created[:10] <= end.isoformat()]
    so_far = [one for one in responses if one.created[:10] <= end.isoformat()]
    shown = states(last.figures, answerable(reports[last.id], last.figures, last.crossings), so_far)
    return Evidence(
        version=__version__,
        created=now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        audit=settings.name,
        organisation=settings.config.organisation,
        begin=begin.isoformat(),
        end=end.isoformat(),
        scope=_scope(within, report),
        efficacy=_efficacy(report),
        recency=_recency(within, begin, min(end, now.date())),
        results=_results(within),
        runs=tuple(_run(run, folder, reports[run.id]) for run in within),
        responses=tuple(_response(one, last) for one in said),
        open_findings=tuple(f"{one.subject}: {one.text}" for one in shown if one.open),
        settings_changes=_changes(within, folder),
        not_examined=_not_examined(within, report, reports),
        profile=_of_the_profile(report, "profile"),
        retention=_of_the_profile(report, "retention"),
    )


def _scope(runs: Sequence[Run], report: Report | None) -> EvidenceScope:
    figures = [run.figures for run in runs]
    period = None if report is None or report.scope is None else report.scope.period
    return EvidenceScope(
        attributes=tuple(dict.fromkeys(name for one in figures for name in one.attributes)),
        steps=tuple(dict.fromkeys(name for one in figures for name in one.steps)),
        constraints=tuple(dict.fromkeys(policy.label for one in figures for policy in one.constraints)),
        applications=None if report is None or report.scope is None else report.scope.applications,
        data_from=None if period is None else period.first,
        data_to=None if period is None else period.last,
    )


def _efficacy(report: Report | None) -> tuple[Efficacy, ...]:
    return tuple(
        Efficacy(
            attribute=table.attribute,
            step=table.step,
            group=row.group,
            applicants=row.applicants,
            detectable_ratio=row.detectable_ratio,
        )
        for table in (() if report is None else report.tables)
        for row in table.groups
        if table.kind == CUMULATIVE and row.group != table.reference and not table.crossing
    )


def _recency(runs: Sequence[Run], begin: date, end: date) -> Recency:
    days = [date.fromisoformat(run.created[:10]) for run in runs]
    stops = [begin, *days, max(end, days[-1])]
    return Recency(
        runs=len(runs),
        first=runs[0].created,
        last=runs[-1].created,
        longest_gap_days=max((later - earlier).days for earlier, later in pairwise(stops)),
    )


def _results(runs: Sequence[Run]) -> tuple[EvidenceResult, ...]:
    rows: dict[tuple[str, str, str], list[GroupFigure]] = {}
    for run in runs:
        for row in run.figures.groups:
            if row.group != row.reference and row.impact_ratio is not None:
                rows.setdefault((row.attribute, row.step, row.group), []).append(row)
    return tuple(
        EvidenceResult(
            attribute=attribute,
            step=step,
            group=group,
            first=found[0].impact_ratio,
            last=found[-1].impact_ratio,
            lowest=min(one.impact_ratio for one in found if one.impact_ratio is not None),
            status=found[-1].status,
        )
        for (attribute, step, group), found in rows.items()
    )


def _run(run: Run, folder: Path, report: Report | None) -> EvidenceRun:
    gaps = [policy.gap for policy in run.figures.constraints if policy.gap is not None]
    there = artefacts.intact(folder, run.folder, run.artefacts)
    return EvidenceRun(
        run=run.id,
        created=run.created,
        status=run.status,
        version=run.figures.version,
        data=run.figures.data_path,
        data_sha256=run.data_sha256,
        config_sha256=run.config_sha256,
        rows=run.figures.rows,
        problems=run.figures.problems,
        largest_gap=max(gaps, default=None),
        same_as=run.same_as,
        findings=() if report is None or run.same_as is not None else _told(report),
        crossings=tuple(crossing.words for crossing in run.crossings),
        artefacts=run.artefacts,
        state="removed" if run.removed is not None else "intact" if there else "altered or missing",
        removed=None if run.removed is None else f"{run.removed[:10]}, {run.removed_why}",
    )


def _told(report: Report) -> tuple[str, ...]:
    """The findings of a report; says so if it found no difference."""
    return tuple(
        one.text
        for one in report.findings
        if (one.kind != "notice" and one.code not in NOT_SUPPORTED) or one.code in NOTHING_FOUND
    )


def _of_the_profile(report: Report | None, key: str) -> str | None:
    section = None if report is None else report.sections.get("profile")
    said = None if section is None else section.data.get(key)
    return str(said) if said else None


def _response(one: Response, last: Run) -> EvidenceResponse:
    return EvidenceResponse(
        run=one.run,
        created=one.created,
        subject=str(one.subject),
        finding=one.finding,
        decision=one.decision.value,
        owner=one.owner,
        due=one.due,
        text=one.text,
        ratio_then=one.impact_ratio,
        ratio_now=one.subject.ratio(last.figures),
    )


def _changes(runs: Sequence[Run], folder: Path) -> tuple[SettingsChange, ...]:
    found = []
    for first, second in pairwise(runs):
        if first.config_sha256 != second.config_sha256:
            compared = difference.compare(first, second, folder).configuration
            lines = tuple(line for line in compared if line[:1] in "+-" and line[:3] not in ("+++", "---"))
            unknown = (f"{CONFIGURATION} differs; the file of one of the runs is no longer there",)
            found.append(SettingsChange(first=first.id, second=second.id, lines=lines or unknown))
    return tuple(found)


def _not_examined(runs: Sequence[Run], report: Report | None, reports: dict[int, Report | None]) -> tuple[str, ...]:
    """What the period does not show, each in one sentence."""
    said = []
    if report is not None:
        kinds = {one.kind for one in report.attributes}
        absent = [name for kind, name in USUALLY_EXAMINED.items() if kind not in kinds]
        if absent:
            said.append(f"The data have no column for {', '.join(absent)}, so differences by these were not examined.")
        unknown = {} if report.scope is None else report.scope.unknown
        said += [
            f"{number:,} applications without a stated {name} are in no comparison."
            for name, number in unknown.items()
            if number
        ]
        said += not_supported(report)
    gone = [str(run.id) for run in runs if reports[run.id] is None]
    if gone:
        said.append(f"The reports of runs {', '.join(gone)} are gone: only their figures are left.")
    if not any(policy.kind == "constrained" for run in runs for policy in run.figures.policies):
        said.append("No run priced a constraint: the data did not support a model, or none was asked for.")
    return tuple(said)
