"""The job of a scheduled run: the source of audit.toml, through the pipeline, as HTML, PDF and JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from auditkit.data.read_query import sha256_of_rows
from auditkit.data.source import Files, locate
from auditkit.data.sql_query import Query
from auditkit.errors import InputError, Problem
from auditkit.files import sha256_of
from auditkit.scheduled.audit_run import Job
from auditkit.scheduled.finished_months import Roll
from auditkit.scheduled.settings import AuditSettings

if TYPE_CHECKING:
    from auditkit.disparity.sequential import Closings
    from auditkit.pipeline import Audit
    from auditkit.plugin_manager import Plugins
    from auditkit.report.schema import Report

Say = Callable[[str], None]

ALWAYS = ("html", "json", "pdf")
"""Formats of every run; those of the settings are written too."""


def job(settings: AuditSettings, plugins: Plugins, progress: Say, warn: Say) -> Job:
    """The job of an audit.toml."""
    config = settings.config
    try:
        place = locate(None, config)
    except InputError as error:
        raise InputError([problem.of_file(settings.path) for problem in error.problems]) from None
    if place is None:
        raise InputError(Problem(str(settings.path), "names no data", 'write source = "people.csv" at its top'))

    made: list[Audit] = []

    def produce() -> tuple[Report, Mapping[str, bytes]]:
        from auditkit import pipeline

        audit = pipeline.audit(place, config, plugins, progress)
        made[:] = [replace(audit, report=with_follow_ups(audit.report, settings))]
        return made[0].report, _files(made[0], progress, warn)

    def closings() -> Closings | None:
        from auditkit import pipeline

        return pipeline.closings(made[0].history, config) if made and made[0].history is not None else None

    def roll() -> Roll | None:
        return Roll.of(made[0].history) if made and made[0].history is not None else None

    def fingerprint() -> str:
        if isinstance(place, Query):
            return sha256_of_rows(place)
        if isinstance(place, Files):
            return place.sha256("see source and also in audit.toml")
        return sha256_of(place, "see source in audit.toml")

    return Job(fingerprint, produce, closings, roll)


def with_follow_ups(report: Report, settings: AuditSettings) -> Report:
    """The report with the status of earlier findings that asked for a response or got one."""
    from auditkit.report.figures import figures
    from auditkit.report.thresholds import evaluate
    from auditkit.scheduled.past_report import answerable, asked_about
    from auditkit.scheduled.responses import follow_up, responses_of, states
    from auditkit.scheduled.run_history import opened

    with opened(settings.database(os.environ)) as history:
        said, last = responses_of(history, settings.name), history.latest(settings.name)
    if not said and (last is None or not asked_about(last, settings.folder)):
        return report
    now = figures(report)
    crossings = evaluate(settings.thresholds, now, None if last is None else last.figures).crossings
    shown = states(now, answerable(report, now, crossings), said)
    return report.model_copy(update={"follow_ups": tuple(map(follow_up, shown))})


def _files(audit: Audit, progress: Say, warn: Say) -> dict[str, bytes]:
    from auditkit.report.exporter import export

    formats = (*ALWAYS, *audit.config.report.formats)
    made, missing = export(formats, audit.exporters, audit.pages(), progress)
    for reason in missing:
        warn(reason)
    return {f"report.{name}": content for name, content in made.items()}
