"""The evidence file as HTML, PDF and JSON."""

from __future__ import annotations

from collections.abc import Collection

from auditkit import __version__
from auditkit.config import Config
from auditkit.errors import InputError, Problem
from auditkit.report.html import themed
from auditkit.scheduled.evidence import Evidence, EvidenceRun
from auditkit.scheduled.responses import MEANING


def rendered(evidence: Evidence, formats: Collection[str], config: Config) -> dict[str, bytes]:
    """The evidence file in these formats, by extension; InputError where there can be no PDF."""
    text = evidence.model_dump_json(indent=1).encode() + b"\n"
    made = {"json": text} if "json" in formats else {}
    if "html" in formats or "pdf" in formats:
        page = html_of(evidence, config)
        if "html" in formats:
            made["html"] = page.encode()
        if "pdf" in formats:
            from auditkit.report import pdf

            try:
                made["pdf"] = pdf.render(page, text, evidence.created)
            except pdf.PdfUnavailable as error:
                raise InputError(Problem("--format pdf", str(error))) from None
    return made


def html_of(evidence: Evidence, config: Config) -> str:
    """The evidence file in the style of the report: a theme for the report reaches it too."""
    names = {
        "evidence": evidence,
        "examined": [name.replace("+", " crossed with ") for name in evidence.scope.attributes],
        "caption": "Data of each run and its certificates" if evidence.priced else "Data of each run",
        "without_findings": without_findings,
        "line": config.report.line,
        "meaning": {decision.value: words for decision, words in MEANING.items()},
        "document": {
            "version": __version__,
            "created": evidence.created,
            "input": {"path": evidence.audit, "rows": None},
            "config": config,
        },
        "sections": [],
    }
    return themed("record.html", names, config.report.template_dir)


def without_findings(run: EvidenceRun) -> str:
    """Why a run lists no findings; "" if it does."""
    if run.same_as is not None:
        return f"Data and settings were those of run {run.same_as}: nothing was computed, and its results hold."
    if run.findings or run.crossings:
        return ""
    return "Its report has no findings." if run.state == "intact" else "Its report is gone."
