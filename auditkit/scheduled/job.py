"""What a scheduled run audits: the source of audit.toml, through the pipeline, as HTML, PDF and JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from auditkit.errors import InputError, Problem
from auditkit.scheduled.run import Job
from auditkit.scheduled.settings import Settings

if TYPE_CHECKING:
    from auditkit.plugin_manager import Plugins

STEM = "report"
FORMATS = ("html", "json", "pdf")


def job(settings: Settings, plugins: Plugins, progress: Callable[[str], None]) -> Job:
    """The job of an audit.toml; every wrong setting is reported before anything runs."""
    from auditkit import config

    chosen = config.read(settings.path)
    source = chosen.source
    if source is None:
        raise InputError(Problem(str(settings.path), "names no data", 'write source = "people.csv" at its top'))

    def produce() -> tuple[Mapping[str, Any], Mapping[str, bytes]]:
        from auditkit import pipeline

        audit = pipeline.audit(source, chosen.over(report__formats=FORMATS), plugins, progress)
        with TemporaryDirectory() as folder:
            written = pipeline.write(replace(audit), Path(folder) / STEM, progress)
            if written.no_pdf:
                progress(written.no_pdf)
            return audit.document, {path.name: path.read_bytes() for path in written.files}

    return Job(lambda: sha256(source), produce)


def sha256(path: Path) -> str:
    """Of a file, as the report has it."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except FileNotFoundError:
        raise InputError(Problem(str(path), "there is no such file", "see source in audit.toml")) from None
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be read: {error.strerror or error}")) from None
    return digest.hexdigest()
