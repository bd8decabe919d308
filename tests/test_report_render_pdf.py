"""The report as PDF/A-3a: tags, attachment, bookmarks, text, the same bytes twice, nothing fetched."""

from __future__ import annotations

import builtins
import io
import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pypdf
import pytest

from auditkit import plugin_manager
from auditkit.config import Config
from auditkit.errors import InputError
from auditkit.report import html, pdf
from auditkit.report.audit import Audit
from auditkit.report.exporter import export
from auditkit.report.svg import lit
from support import report_example
from support.sampling import everything

CREATED = "2026-11-16T06:00:00Z"


@pytest.fixture(scope="module")
def source() -> bytes:
    return json.dumps(report_example.document()).encode()


@pytest.fixture(scope="module")
def written(page: str, source: bytes) -> bytes:
    return pdf.render(page, source, CREATED)


@pytest.fixture(scope="module")
def first(source: bytes) -> bytes:
    """The first page as a file of its own."""
    return pdf.render(html.render(report_example.report(), parts="summary"), source, CREATED)


@pytest.fixture(scope="module")
def reader(written: bytes) -> pypdf.PdfReader:
    return pypdf.PdfReader(io.BytesIO(written))


@pytest.fixture(scope="module")
def texts(reader: pypdf.PdfReader) -> list[str]:
    """What is read on each page."""
    return [page.extract_text() for page in reader.pages]


def test_it_is_tagged_and_archival(reader: pypdf.PdfReader, written: bytes) -> None:
    root: Any = reader.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    assert root["/OutputIntents"]
    about = root["/Metadata"].get_object().get_data().decode()
    assert 'pdfaid:part="3" pdfaid:conformance="A"' in about
    assert "CreateDate>2026-11-16T06:00:00Z<" in about
    parsed = ElementTree.fromstring(about[about.index("<x:xmpmeta") : about.index("<?xpacket end")])
    ua = "{http://www.aiim.org/pdfua/ns/id/}part"
    assert [element.get(ua) for element in parsed.iter() if element.get(ua)] == ["1"]
    assert root["/ViewerPreferences"]["/DisplayDocTitle"] == True  # noqa: E712 (a BooleanObject)
    assert written.startswith(b"%PDF-1.7")


def elements(node: Any) -> list[Any]:
    """The structure tree, flat."""
    found, todo = [], [node]
    while todo:
        one = todo.pop()
        one = one.get_object() if hasattr(one, "get_object") else one
        if isinstance(one, list):
            todo += one
        elif isinstance(one, dict):
            if "/S" in one:
                found.append(one)
            if "/K" in one:
                todo.append(one["/K"])
    return found


def test_tags_and_alternative_texts(reader: pypdf.PdfReader) -> None:
    tree: Any = reader.trailer["/Root"]
    found = elements(tree["/StructTreeRoot"])
    kinds = {element["/S"] for element in found}
    assert {"/H1", "/H2", "/H3", "/Table", "/TH", "/TD", "/L", "/Figure"} <= kinds
    figures = [element for element in found if element["/S"] == "/Figure"]
    texts = [str(figure.get("/Alt", "")) for figure in figures]
    assert len(figures) == 21 and all(texts)
    assert "Applicants by step and Gender" in texts


def test_the_document_is_attached(reader: pypdf.PdfReader, source: bytes) -> None:
    assert reader.attachments == {"report.json": [source]}
    names: Any = reader.trailer["/Root"]
    (specification,) = {id(f.get_object()): f.get_object() for f in names["/AF"]}.values()
    assert specification["/AFRelationship"] == "/Source"
    assert json.loads(source)["format"] == "auditkit-report/3"


def test_bookmarks_lead_to_the_sections(reader: pypdf.PdfReader) -> None:
    top = [entry.title for entry in reader.outline if not isinstance(entry, list)]
    assert top[0] == "Findings" and top[-1] == "Glossary" and len(top) == 17
    assert "New York City Local Law 144" in top
    deeper = [entry.title for part in reader.outline if isinstance(part, list) for entry in part]
    assert deeper and not set(deeper) & set(top)


def test_pages_and_text(texts: list[str]) -> None:
    assert 15 <= len(texts) <= 28
    whole = " ".join(" ".join(texts).split())
    for words in (
        "Disparity audit of hiring.csv",
        "Findings",
        "0.76",
        "Price of fairness",
        "not legal advice",
        "Certificate",
    ):
        assert words in whole, words
    for number, text in enumerate(texts, 1):
        assert f"{number} / {len(texts)}" in text, "the page number"


def test_the_summary_is_one_page_and_the_body_about_eight(texts: list[str], first: bytes) -> None:
    assert len(pypdf.PdfReader(io.BytesIO(first)).pages) == 1
    annex = next(i for i, text in enumerate(texts) if "Annex" in text.split("\n")[:2])
    assert 5 <= annex <= 10, "the pages of summary and body"
    assert "Contents" in texts[1] and "Contents" not in texts[0]


@pytest.mark.parametrize(
    ("parts", "names"), [("all", {"pdf", "summary.pdf"}), ("body", {"pdf", "summary.pdf"}), ("summary", {"pdf"})]
)
def test_the_first_page_is_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch, parts: str, names: set[str]) -> None:
    monkeypatch.setattr(pdf, "render", lambda page, document, created: page.encode())
    nothing: Any = None
    audit = Audit(report_example.report(), Config().over(report__parts=parts), nothing, nothing, nothing)
    made, missing = export(("pdf",), plugin_manager.shipped().exporters, audit.pages())
    assert set(made) == names and missing == ()
    assert (b'id="annex"' in made["pdf"]) == (parts == "all")
    assert all(b'id="annex"' not in made[name] and b'id="findings"' in made[name] for name in names - {"pdf"})


def test_parts_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InputError, match="parts"):
        Config().over(report__parts="appendix")


@pytest.mark.sampled
def test_the_same_bytes_twice(page: str, source: bytes, written: bytes, first: bytes) -> None:
    """The first page; the whole of it with `make fuzz`."""
    before = os.environ.get(pdf.EPOCH)
    assert pdf.render(html.render(report_example.report(), parts="summary"), source, CREATED) == first
    assert not everything() or pdf.render(page, source, CREATED) == written
    assert os.environ.get(pdf.EPOCH) == before


def test_nothing_is_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.css"
    secret.write_text("body::before { content: 'fetched' }")
    page = (
        f"<html lang='en'><head><title>t</title><link rel='stylesheet' href='{secret.as_uri()}'>"
        f"<link rel='attachment' href='{secret.as_uri()}'></head>"
        "<body><p>text</p><img src='http://127.0.0.1:9/x.png' alt=''><p style='background: url(http://127.0.0.1:9/y)'>"
        "<img alt='' src='data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'></body>"
    )
    reader = pypdf.PdfReader(io.BytesIO(pdf.render(page, b"{}", CREATED)))
    assert "fetched" not in reader.pages[0].extract_text()
    assert list(reader.attachments) == ["report.json"]
    assert len(reader.pages[0].images) == 1, "an image in the page itself"


def test_charts_are_lit() -> None:
    page = '<p style="color:var(--ink,#123456)"><svg><path style="fill:var(--chart-1,#0068a8);stroke:none"/></svg></p>'
    assert lit(page) == '<p style="color:var(--ink,#123456)"><svg><path style="fill:#0068a8;stroke:none"/></svg></p>'


@pytest.mark.parametrize(
    "error", [OSError("cannot load library 'libpango-1.0-0'\nlong story"), ImportError("no weasyprint")]
)
def test_without_pango_the_packages_are_named(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "weasyprint":
            raise error
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(pdf.PdfUnavailable) as raised:
        pdf.render("<p>", b"{}", CREATED)
    message = str(raised.value)
    assert "\n" not in message
    for package in ("libpango-1.0-0", "libpangoft2-1.0-0", "libharfbuzz-subset0"):
        assert package in message
