"""What a scheduled run audits: the source of audit.toml, through the pipeline, as HTML, PDF and JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditkit.errors import InputError, Problem
from auditkit.scheduled.run import Job
from auditkit.scheduled.settings import Settings

if TYPE_CHECKING:
    from auditkit.pipeline import Audit
    from auditkit.plugin_manager import Plugins

Say = Callable[[str], None]


def job(settings: Settings, plugins: Plugins, progress: Say, warn: Say) -> Job:
    """The job of an audit.toml."""
    config = settings.config
    source = config.source
    if source is None:
        raise InputError(Problem(str(settings.path), "names no data", 'write source = "people.csv" at its top'))

    def produce() -> tuple[Mapping[str, Any], Mapping[str, bytes]]:
        from auditkit import pipeline

        audit = pipeline.audit(source, config, plugins, progress)
        return audit.document, _files(audit, progress, warn)

    return Job(lambda: sha256(source), produce)


def _files(audit: Audit, progress: Say, warn: Say) -> dict[str, bytes]:
    from auditkit.config import FORMATS
    from auditkit.report.audit import rendered

    made, no_pdf = rendered(audit, FORMATS, progress)
    if no_pdf is not None:
        warn(no_pdf)
    return {f"report.{name}": content for name, content in made.items()}


def sha256(path: Path) -> str:
    """Of a file, as the report has it."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise InputError(Problem(str(path), "there is no such file", "see source in audit.toml")) from None
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be read: {error.strerror or error}")) from None
