"""The exporter `docx`: summary and findings as a Word document that people can edit and paste from.

It has the first page of the report, the results for every attribute, the notices and where the numbers come from; the
rest is in the HTML. `pip install 'auditkit[word]'` installs python-docx. The same report gives the same bytes.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from auditkit import CannotExport, Exporter, ReportPages, hookimpl
from auditkit.text import count, day, moment, percent, plural, ratio

if TYPE_CHECKING:
    from auditkit import Report

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The date of every part of the file: zip has no earlier dates."""
UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class WordExporter(Exporter):
    """Summary and findings as a document for Word and LibreOffice."""

    format: ClassVar[str] = "docx"
    suffix: ClassVar[str] = "docx"
    progress: ClassVar[str] = "writing the Word document"

    def write(self, report: Report, pages: ReportPages) -> bytes:
        try:
            from docx import Document
        except ImportError:
            raise CannotExport("no Word document: python-docx is missing (pip install 'auditkit[word]')") from None
        document = Document()
        about = document.core_properties
        about.title, about.author = "Disparity audit", f"auditkit {report.version}"
        about.created = about.modified = datetime.fromisoformat(report.created).replace(tzinfo=None)
        _fill(document, report)
        file = io.BytesIO()
        document.save(file)
        return _undated(file.getvalue())


def _fill(document: Any, report: Report) -> None:
    from auditkit.report import view

    statement, scope = report.config.statement, report.scope
    for section in document.sections:
        if statement.marking:
            section.header.paragraphs[0].text = _written(statement.marking)
        section.footer.paragraphs[0].text = "Measurements against named conventions; not legal advice."
    document.add_heading(_written(f"Disparity audit of {report.input.path}"), 0)
    facts = [
        report.config.organisation or scope.organisation,
        f"Prepared for {statement.prepared_for}" if statement.prepared_for else "",
        f"{plural(scope.applications, 'application')} to {plural(scope.searches, 'requisition')}",
        "" if scope.period is None else f"{day(scope.period.first)} to {day(scope.period.last)}",
        f"written {moment(report.created)}",
    ]
    document.add_paragraph(_written(" · ".join(filter(None, facts))))
    first = view.leading(report)
    _list(document, "Findings", [one.text for one in first], "List Number")
    if nothing := view.nothing_found(report):
        document.add_paragraph(" ".join(nothing))
    _list(document, "More findings", [one.text for one in view.told(report) if one not in first], "List Bullet")
    answers = [f"{one.subject}: {one.status}. {one.response or ''}".strip() for one in report.follow_ups]
    _list(document, "Earlier findings", answers, "List Bullet")
    if statement.comments:
        _list(document, "Comments", statement.comments.split("\n\n"), "Normal")
    _results(document, report)
    _list(document, "Notices", [one.text for one in report.findings if one.kind == "notice"], "List Bullet")
    sources = [
        f"File: {report.input.path}, {plural(report.input.rows, 'row')}, SHA-256 {report.input.sha256}",
        f"auditkit {report.version}; method and certificates are in the HTML and JSON beside this file.",
        *(f"{one.name}: {one.text} (read on {day(one.read_on)})" for one in report.provenance.conventions),
    ]
    _list(document, "Where the numbers come from", sources, "List Bullet")


def _list(document: Any, title: str, texts: Sequence[str], style: str) -> None:
    if texts:
        document.add_heading(title, 1)
        for text in texts:
            document.add_paragraph(_written(text), style=style)


def _results(document: Any, report: Report) -> None:
    """One table for each attribute: who reached each step, of all applicants."""
    from auditkit.report.figures import CUMULATIVE
    from auditkit.report.words.labels import STATUSES

    tables = [table for table in report.tables if table.kind == CUMULATIVE and not table.crossing]
    for attribute in dict.fromkeys(table.attribute for table in tables):
        document.add_heading(_written(f"By {attribute}"), 1)
        head = ("Step", "Group", "Applicants", "Reached it", "Rate", "Impact ratio", "Result")
        made = document.add_table(rows=1, cols=len(head), style="Light Grid Accent 1")
        _row(made.rows[0], head)
        for table in (one for one in tables if one.attribute == attribute):
            for row in table.groups:
                rate = "" if row.rate is None else percent(row.rate)
                against = "" if row.impact_ratio is None else ratio(row.impact_ratio, 0.8)
                status = "reference" if row.group == table.reference else STATUSES.get(row.status or "", "")
                counts = ["" if number is None else count(number) for number in (row.applicants, row.selected)]
                _row(made.add_row(), (table.step, row.group, *counts, rate, against, status))


def _row(row: Any, texts: Sequence[str]) -> None:
    for cell, text in zip(row.cells, texts, strict=True):
        cell.text = _written(text)


def _written(text: str) -> str:
    """Text that XML can hold: other characters become replacement characters."""
    return UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _undated(content: bytes) -> bytes:
    """The same file, with one date for all its parts."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as given, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name in given.namelist():
            made.writestr(zipfile.ZipInfo(name, EARLIEST), given.read(name), zipfile.ZIP_DEFLATED)
    return file.getvalue()


@hookimpl
def auditkit_exporters() -> list[type[Exporter]]:
    return [WordExporter]
