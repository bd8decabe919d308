"""The exporter `docx`: the first page and the results as an editable document."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
from docx import Document

from auditkit.plugins.word import WordExporter
from auditkit.report import view
from auditkit.report.exporter import CannotExport, ReportPages
from auditkit.report.load_report import load
from auditkit.report.schema import Report
from support import report_example

REPORT = load(report_example.document())


def written(report: Report) -> bytes:
    return WordExporter().write(report, ReportPages(report))


def texts(content: bytes) -> list[str]:
    document: Any = Document(io.BytesIO(content))
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return [*(paragraph.text for paragraph in document.paragraphs), *cells]


def test_findings_notices_and_numbers_are_those_of_the_report_and_bytes_repeat() -> None:
    content = written(REPORT)
    said = texts(content)
    assert [one.text for one in view.leading(REPORT)] == said[said.index("Findings") + 1 :][: len(view.leading(REPORT))]
    assert all(one.text in said for one in REPORT.findings)
    assert any(REPORT.input.sha256 in text for text in said)
    row = next(row for table in REPORT.tables if not table.crossing for row in table.groups if row.applicants)
    assert row.group in said and f"{row.applicants:,}" in said
    assert written(REPORT) == content


def test_a_marking_is_in_the_header_and_nowhere_without_one() -> None:
    document = report_example.document()
    document["config"]["statement"]["marking"] = "Confidential. Prepared at the direction of counsel."
    for given, expected in ((load(document), "Confidential. Prepared at the direction of counsel."), (REPORT, "")):
        made: Any = Document(io.BytesIO(written(given)))
        assert {section.header.paragraphs[0].text for section in made.sections} == {expected}


def test_text_that_xml_cannot_hold_is_replaced() -> None:
    document = report_example.document()
    document["findings"][0]["text"] = "bell \x07 and <b>bold</b> & more"
    assert "bell \ufffd and <b>bold</b> & more" in texts(written(load(document)))


def test_without_python_docx_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(CannotExport, match=r"pip install 'auditkit\[word\]'"):
        written(REPORT)
