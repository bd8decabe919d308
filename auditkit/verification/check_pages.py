"""Checks that a report's pages match its document: they are rendered a second time and compared.

An HTML page must match to the byte. A PDF made here has the same bytes too if WeasyPrint, Pango and the fonts are the
same. If they differ, the words on the pages are compared, and the drawings count as not checked.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from auditkit.config import Parts
from auditkit.report.schema import Report
from auditkit.verification.claims import Check
from auditkit.verification.pdf_file import PdfFile, read_pdf

if TYPE_CHECKING:
    from auditkit.plugin_manager import Plugins

Found = tuple[list[Check], list[str]]
"""What was checked, and what could not be."""


def check_page(shown: bytes, report: Report, plugins: Plugins, theme: Path | None) -> Found:
    """An HTML page against the document of its report."""
    name = "the text of the page"
    if (why := _without_theme(report, theme)) is not None:
        return [], [f"{name}: {why}"]
    wanted = _pages(report, plugins, theme)[0].encode()
    lines, found = wanted.splitlines(), shown.splitlines()
    other = next((i for i, (a, b) in enumerate(zip(lines, found, strict=False), 1) if a != b), len(lines) + 1)
    return [Check(f"{name} is that of the document", wanted == shown, f"differs at line {other}")], []


def check_pdf(shown: bytes, file: PdfFile, report: Report, plugins: Plugins, theme: Path | None) -> Found:
    """The pages of a PDF against the document inside it."""
    from auditkit.report import pdf

    checks = [Check("nothing was added to the PDF", not file.added, ", ".join(file.added[:5]))]
    name = "the pages of the PDF"
    if (why := _without_theme(report, theme)) is not None:
        return checks, [f"{name}: {why}"]
    try:
        made = [pdf.render(page, file.document, report.created) for page in _pages(report, plugins, theme)]
    except pdf.PdfUnavailable:
        return checks, [f"{name}: no PDF can be made here; only the document inside was checked"]
    claim = f"{name} are those of the document"
    if shown in made:
        return [*checks, Check(claim, True)], []
    here = [read_pdf(content, "the PDF made here") for content in made]
    if any(file.pages == one.pages for one in here):
        return checks, [f"{name}: the words are those of the document; the drawings have other bytes when set here"]
    alike = [one for one in here if file.producer == one.producer and file.fonts <= one.fonts]
    if not alike:
        why = f"made by {file.producer or 'an unnamed program'} with other fonts than here"
        return checks, [f"{name}: {why}; only the document inside was checked"]
    return [*checks, Check(claim, False, _difference(file, alike))], []


def _pages(report: Report, plugins: Plugins, theme: Path | None) -> list[str]:
    """The page of the report, and its first page alone, which has its own PDF."""
    from auditkit.report import html

    parts: tuple[Parts, ...] = (report.config.report.parts, "summary")
    return [
        html.render(report, template_dir=theme, sections=plugins.sections, parts=part) for part in dict.fromkeys(parts)
    ]


def _without_theme(report: Report, theme: Path | None) -> str | None:
    """Why the pages can't be made here, if a theme made them."""
    if report.config.report.template_dir is None or theme is not None:
        return None
    return "a theme made it, and only the document was checked (name the theme with --template-dir)"


def _difference(file: PdfFile, alike: list[PdfFile]) -> str:
    """Where a PDF differs from the one of ours that shares most pages with it."""
    best = max(alike, key=lambda one: sum(a == b for a, b in zip(one.pages, file.pages, strict=False)))
    pairs = enumerate(zip(best.pages, file.pages, strict=False), 1)
    page = next((number for number, (a, b) in pairs if a != b), min(len(best.pages), len(file.pages)) + 1)
    return f"{len(file.pages)} pages instead of {len(best.pages)}, different from page {page}"
