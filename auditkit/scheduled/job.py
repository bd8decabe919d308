"""What a scheduled run audits: the source of audit.toml, through the pipeline, as HTML, PDF and JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from auditkit.data.read_query import sha256_of_rows
from auditkit.data.source import locate
from auditkit.data.sql_query import Query
from auditkit.errors import InputError, Problem
from auditkit.files import sha256_of
from auditkit.scheduled.audit_run import Job
from auditkit.scheduled.settings import AuditSettings

if TYPE_CHECKING:
    from auditkit.pipeline import Audit
    from auditkit.plugin_manager import Plugins

Say = Callable[[str], None]


def job(
    settings: AuditSettings, plugins: Plugins, progress: Say, warn: Say, environ: Mapping[str, str] = os.environ
) -> Job:
    """The job of an audit.toml."""
    config = settings.config
    try:
        place = locate(None, config, environ)
    except InputError as error:
        raise InputError([problem.of_file(settings.path) for problem in error.problems]) from None
    if place is None:
        raise InputError(Problem(str(settings.path), "names no data", 'write source = "people.csv" at its top'))

    def produce() -> tuple[Mapping[str, Any], Mapping[str, bytes]]:
        from auditkit import pipeline

        audit = pipeline.audit(place, config, plugins, progress)
        return audit.document, _files(audit, progress, warn)

    def fingerprint() -> str:
        if isinstance(place, Query):
            return sha256_of_rows(place)
        return sha256_of(place, "see source in audit.toml")

    return Job(fingerprint, produce)


def _files(audit: Audit, progress: Say, warn: Say) -> dict[str, bytes]:
    from auditkit.config import FORMATS
    from auditkit.report.audit import rendered

    made, no_pdf = rendered(audit, FORMATS, progress)
    if no_pdf is not None:
        warn(no_pdf)
    return {f"report.{name}": content for name, content in made.items()}
