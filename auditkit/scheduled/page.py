"""The history as one static page: trends, runs, and links to their artefacts. No script, every text escaped."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from auditkit import __version__
from auditkit.report.html import environment
from auditkit.scheduled import listing, trends
from auditkit.scheduled.history import Run


def render(audit: str, runs: Sequence[Run], folder: Path, page: Path, created: str, line: float | None = None) -> str:
    """The page that will stand at `page`; the artefacts are in `folder`."""
    here = page.absolute().parent
    names = {
        "audit": audit,
        "created": created,
        "version": __version__,
        "runs": list(reversed(runs)),
        "charts": trends.draw(runs, line),
        "most_series": trends.MOST_SERIES,
        "headline": listing.headline,
        "status": listing.status,
        "links": lambda run: links(run, folder, here),
    }
    return environment().get_template("history.html").render(names)


def links(run: Run, folder: Path, here: Path) -> list[tuple[str, str]]:
    """Name and relative address of each artefact that is there."""
    if run.removed is not None:
        return []
    base = os.path.relpath(folder.absolute() / run.folder, here).replace(os.sep, "/")
    return [(one.name, quote(f"./{base}/{one.name}")) for one in run.artefacts]
