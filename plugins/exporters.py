"""The exporters `html`, `pdf`, `json` and `xlsx`: the report as a page, as an archival document, for programs and as a
workbook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from auditkit import Exporter, ReportPages, hookimpl

if TYPE_CHECKING:
    from auditkit import Report


class HtmlExporter(Exporter):
    """One self-contained page."""

    format: ClassVar[str] = "html"
    suffix: ClassVar[str] = "html"
    progress: ClassVar[str] = "drawing the report"

    def write(self, report: Report, pages: ReportPages) -> bytes:
        return pages.html().encode()


class PdfExporter(Exporter):
    """PDF/A with the JSON inside; if it has more than the first page, that page also gets its own file."""

    format: ClassVar[str] = "pdf"
    suffix: ClassVar[str] = "pdf"
    progress: ClassVar[str] = "setting the PDF"

    def write(self, report: Report, pages: ReportPages) -> bytes:
        return self._set(report, pages.html())

    def files(self, report: Report, pages: ReportPages) -> Mapping[str, bytes]:
        made = {self.suffix: self.write(report, pages)}
        if pages.parts != "summary":
            made[f"summary.{self.suffix}"] = self._set(report, pages.html("summary"))
        return made

    def _set(self, report: Report, page: str) -> bytes:
        from auditkit.report import pdf

        return pdf.render(page, report.text().encode(), report.created)


class JsonExporter(Exporter):
    """The report as `auditkit-report/3`."""

    format: ClassVar[str] = "json"
    suffix: ClassVar[str] = "json"

    def write(self, report: Report, pages: ReportPages) -> bytes:
        return report.text().encode()


class WorkbookExporter(Exporter):
    """The workbook as a format of reports."""

    format: ClassVar[str] = "xlsx"
    suffix: ClassVar[str] = "xlsx"
    progress: ClassVar[str] = "filling the workbook"

    def write(self, report: Report, pages: ReportPages) -> bytes:
        from auditkit.plugins.workbook import workbook_of

        return workbook_of(report)


@hookimpl
def auditkit_exporters() -> list[type[Exporter]]:
    return [HtmlExporter, JsonExporter, PdfExporter, WorkbookExporter]
