"""`auditkit verify`: find out what kind of file it is, and check it. Nothing is written anywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from auditkit.constraints import bind
from auditkit.data.source import Files, Place
from auditkit.data.sql_query import Query
from auditkit.errors import InputError, Problem
from auditkit.files import parse_json, read_file
from auditkit.model.documents import read_instance, read_solution
from auditkit.pipeline import constraints_of, silent
from auditkit.report.load_report import load
from auditkit.verification.check_pages import check_page, check_pdf
from auditkit.verification.check_solution import check_claims
from auditkit.verification.claims import Verified
from auditkit.verification.pdf_file import read_pdf
from auditkit.verification.verify_report import verify_report

if TYPE_CHECKING:
    from auditkit.plugin_manager import Plugins

Progress = Callable[[str], None]
Kind = Literal["json", "html", "pdf"]
ENDINGS: dict[str, Kind] = {".json": "json", ".html": "html", ".htm": "html", ".pdf": "pdf"}


def verify_files(
    claimed: Path,
    subject: Place,
    plugins: Plugins,
    progress: Progress = silent,
    *,
    theme: Path | None = None,
    slow: bool = False,
) -> Verified:
    """A solution against its instance, or a report (JSON, the PDF that holds it, the page with it) against its data.

    `theme` is the folder of templates that made the pages; `slow` allows settings that make it run for a long time.
    """
    content = read_file(claimed)
    kind = kind_of(claimed, content)
    pdf = read_pdf(content, str(claimed)) if kind == "pdf" else None
    document = parse_json(
        pdf.document if pdf is not None else _written_with(claimed) if kind == "html" else content, str(claimed)
    )
    if isinstance(document, dict) and str(document.get("format")).startswith("auditkit-report/"):
        found = verify_report(document, subject, plugins, progress, slow=slow)
        if kind == "json":
            return found
        if not found.holds:
            return found.and_also([], ["the pages: the document does not hold"])
        progress("rendering the pages again")
        if pdf is not None:
            return found.and_also(*check_pdf(content, pdf, load(document), plugins, theme))
        return found.and_also(*check_page(content, load(document), plugins, theme))
    if kind != "json":
        raise InputError(Problem(str(claimed), "there is no report inside", "name a file that auditkit report wrote"))
    if isinstance(subject, Query):
        what = "is a database: a solution is checked against its instance file"
        raise InputError(Problem(subject.shown, what, "auditkit verify SOLUTION.json INSTANCE.json"))
    if isinstance(subject, Files):
        what = "are several files: a solution is checked against its instance file"
        raise InputError(Problem(subject.name, what, "auditkit verify SOLUTION.json INSTANCE.json"))
    solution = read_solution(claimed)
    instance, _, sha256 = read_instance(subject)
    rows = bind(constraints_of([one.model_dump() for one in solution.specs], plugins) or [], instance.layout)
    progress("re-evaluating the policies")
    return Verified(tuple(check_claims(solution, instance.layout, rows, sha256)))


def kind_of(path: Path, content: bytes) -> Kind:
    """The kind of a file. Its name must agree: a browser goes by the name, and would run what was checked as data."""
    kind: Kind = "json"
    if content.startswith(b"%PDF"):
        kind = "pdf"
    elif content[:15].lower() == b"<!doctype html>":
        kind = "html"
    elif content.lstrip()[:1] != b"{":
        return kind  # parsing it will say what's wrong
    if ENDINGS.get(path.suffix.lower()) != kind:
        what = f"holds {kind.upper()}, and its name does not end in .{kind}"
        raise InputError(Problem(str(path), what, f"rename it to {path.stem}.{kind}"))
    return kind


def _written_with(page: Path) -> bytes:
    """The document written along with a page; nothing can be derived from the text of a page alone."""
    beside = page.with_suffix(".json")
    if not beside.is_file():
        what = "is a page, which can only be checked with the JSON that was written with it"
        raise InputError(Problem(str(page), what, f"put {beside.name} beside it, or verify the PDF"))
    return read_file(beside)
