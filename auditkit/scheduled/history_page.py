"""The history as one static page in the style of the report: trends, runs, and links to their artefacts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from auditkit import __version__
from auditkit.config import Config
from auditkit.disparity.sequential import ALARM, ALPHA
from auditkit.report.html import themed
from auditkit.report.thresholds import Threshold
from auditkit.scheduled import evidence_stream, listing, trends
from auditkit.scheduled.artefacts import SUMS
from auditkit.scheduled.audit_run import CONFIGURATION
from auditkit.scheduled.evidence_stream import EvidenceOverTime
from auditkit.scheduled.run_history import Run

SHORT = {
    "report.html": "HTML",
    "report.pdf": "PDF",
    "report.summary.pdf": "first page",
    "report.json": "JSON",
    CONFIGURATION: "configuration",
    SUMS: "check sums",
}


def render(
    audit: str,
    runs: Sequence[Run],
    folder: Path,
    page: Path,
    created: str,
    lines: Sequence[Threshold],
    config: Config | None = None,
) -> str:
    """The page that will be written to `page`; the artefacts are in `folder`. `lines` as for `trends.draw`.

    `config` has the name of the organisation and the theme.
    """
    config = config or Config()
    here = page.absolute().parent
    names = {
        "audit": audit,
        "document": {
            "version": __version__,
            "created": created,
            "input": {"path": audit, "rows": None},
            "config": config,
        },
        "sections": [],
        "created": created,
        "version": __version__,
        "runs": list(reversed(runs)),
        "charts": trends.draw([run for run in runs if not run.failure], lines),
        "most_series": trends.MOST_SERIES,
        "evidence": _evidence(folder, runs),
        "alarm": ALARM,
        "alpha": ALPHA,
        "line": config.report.line,
        "headline": listing.headline,
        "status": listing.status,
        "links": lambda run: links(run, folder, here),
    }
    return themed("history.html", names, config.report.template_dir)


def _evidence(folder: Path, runs: Sequence[Run]) -> EvidenceOverTime | None:
    """Of the last run that has any."""
    found = evidence_stream.of_runs(folder, runs)
    return found[max(found)] if found else None


def links(run: Run, folder: Path, here: Path) -> list[tuple[str, str]]:
    """What to call each artefact that is there, and its relative address."""
    if run.removed is not None:
        return []
    base = os.path.relpath(folder.absolute() / run.folder, here).replace(os.sep, "/")
    names = [one.name for one in run.artefacts]
    order = [name for name in SHORT if name in names] + [name for name in names if name not in SHORT]
    return [(SHORT.get(name, name), quote(f"./{base}/{name}")) for name in order]
