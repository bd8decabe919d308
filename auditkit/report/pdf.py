"""The HTML page as an archival PDF (PDF/A-3a, named PDF/UA-1 too): tagged, with bookmarks, the JSON attached.

Nothing is fetched, and the same page gives the same bytes: every date in the file is the report's own `created`.
WeasyPrint draws with Pango, a system library; where either is missing, `PdfUnavailable` says which packages to install.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from auditkit.memory import uncollected
from auditkit.report.exporter import CannotExport
from auditkit.report.svg import lit

VARIANT = "pdf/a-3a"
ATTACHMENT = "report.json"
PACKAGES = ("libpango-1.0-0", "libpangoft2-1.0-0", "libharfbuzz-subset0")
EPOCH = "SOURCE_DATE_EPOCH"

UA = b"""\
<rdf:Description xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/" rdf:about="" pdfuaid:part="1" />
<rdf:Description xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
 xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#"
 xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#" rdf:about="">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>PDF/UA identification</pdfaSchema:schema>
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">
<pdfaProperty:name>part</pdfaProperty:name><pdfaProperty:valueType>Integer</pdfaProperty:valueType>
<pdfaProperty:category>internal</pdfaProperty:category>
<pdfaProperty:description>Part of PDF/UA</pdfaProperty:description>
</rdf:li></rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>
"""
"""The tags are those that WeasyPrint writes for PDF/UA-1; this names it, described as PDF/A asks of such a name."""

_environment = threading.Lock()


class PdfUnavailable(CannotExport):
    """No PDF can be written on this machine; HTML and JSON can."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"no PDF: WeasyPrint cannot be used here ({reason}). It needs the system library Pango; on Debian and "
            f"Ubuntu: apt-get install {' '.join(PACKAGES)}"
        )


def render(html: str, document_json: bytes, created: str | datetime) -> bytes:
    """The PDF of a page, with the document it was made from inside."""
    weasyprint = _weasyprint()
    when = _moment(created)
    source = weasyprint.Attachment(
        string=document_json,
        name=ATTACHMENT,
        description="The document that this report was made from (auditkit-report/3)",
        created=when,
        modified=when,
        relationship="Source",
    )
    nothing = weasyprint.urls.URLFetcher(allowed_protocols={"data"})  # a theme may embed images; nothing is fetched
    page = weasyprint.HTML(string=lit(html), url_fetcher=nothing, media_type="print")
    with _dated(when), _quiet(), uncollected():  # boxes of all pages: a sixth of the time
        written: bytes = page.write_pdf(finisher=_accessible, pdf_variant=VARIANT, attachments=[source])
    return written


def _accessible(_: Any, made: Any) -> None:
    """Name PDF/UA in the metadata, beside PDF/A."""
    place = int(made.catalog["Metadata"].split()[0])
    metadata = made.objects[place]
    metadata.stream = [part.replace(b"</rdf:RDF>", UA + b"</rdf:RDF>") for part in metadata.stream]


def _weasyprint() -> Any:
    try:
        import weasyprint
    except (ImportError, OSError) as error:  # OSError: the package is there, a library of the system is not
        raise PdfUnavailable(str(error).partition("\n")[0]) from error
    return weasyprint


def _moment(created: str | datetime) -> datetime:
    when = created if isinstance(created, datetime) else datetime.fromisoformat(created)
    return when if when.tzinfo else when.replace(tzinfo=UTC)


@contextmanager
def _dated(when: datetime) -> Iterator[None]:
    """Embedded fonts carry a date, which fontTools takes from the environment."""
    with _environment:
        before = os.environ.get(EPOCH)
        os.environ[EPOCH] = str(int(when.timestamp()))
        try:
            yield
        finally:
            if before is None:
                del os.environ[EPOCH]
            else:
                os.environ[EPOCH] = before


@contextmanager
def _quiet() -> Iterator[None]:
    """WeasyPrint warns of every rule meant for browsers; fontTools tells of every table it drops."""
    loggers = [logging.getLogger(name) for name in ("weasyprint", "fontTools")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)
