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
    from auditkit import pipeline
    from auditkit.report import pdf
    from auditkit.report.audit import page_of

    progress("drawing the report")
    text = pipeline.text_of(audit).encode()
    page = page_of(audit)
    files = {"report.html": page.encode(), "report.json": text}
    progress("setting the PDF")
    try:
        files["report.pdf"] = pdf.render(page, text, audit.document["created"])
    except pdf.PdfUnavailable as error:
        warn(str(error))
    return files


def sha256(path: Path) -> str:
    """Of a file, as the report has it."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise InputError(Problem(str(path), "there is no such file", "see source in audit.toml")) from None
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be read: {error.strerror or error}")) from None
