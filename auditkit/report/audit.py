"""A finished audit: the document, what it was made from, and the files that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from auditkit.compare import Comparison
from auditkit.config import Config, Format
from auditkit.data import History
from auditkit.display import Shown
from auditkit.files import write_bytes
from auditkit.fitting.fitted import Fitted
from auditkit.report import document as documents
from auditkit.report import view
from auditkit.report.section import Section

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str], None]

MOST_FINDINGS = 5


@dataclass(frozen=True, eq=False)
class Audit(Shown):
    """A finished audit: the document, and what it was made from.

    What it shows of itself is what the document holds: numbers of groups, never a person's row.
    """

    document: dict[str, Any]
    config: Config
    history: History
    fitted: Fitted | None
    comparison: Comparison | None
    sections: Mapping[str, type[Section]] = field(default_factory=dict)
    """Of plugins: what shows the data that stand under `sections` in the document."""

    def to_json(self) -> dict[str, Any]:
        """The document `auditkit-report/1`."""
        return self.document

    def save_json(self, path: str | Path) -> None:
        """Write the document."""
        write_bytes(Path(path), text_of(self).encode())

    def save_html(self, path: str | Path) -> None:
        """Write the report as one self-contained page."""
        write_bytes(Path(path), page_of(self).encode())

    def save_pdf(self, path: str | Path) -> None:
        """Write the report as PDF/A; raises `auditkit.report.pdf.PdfUnavailable` where Pango is missing."""
        write_bytes(Path(path), pdf_of(self, page_of(self)))

    def to_frame(self, part: Literal["policies", "disparity"] = "policies") -> pd.DataFrame:
        """What the firm and the best policies do, by group; or the measured disparities, by outcome and group.

        No rows where the data cannot support the part; no numbers for groups that the report hides.
        """
        import pandas as pd

        if part == "disparity":
            columns = ["group", "applicants", "selected", "rate", "impact_ratio", "status"]
            rows = [
                [outcome, *(row[name] for name in columns)]
                for outcome, table in view.disparities(self.document)
                for row in table["groups"]
            ]
            return pd.DataFrame(rows, columns=["outcome", *columns])
        numbers = ["candidates", "inspected", "selected"]
        rows = [
            [policy.name, *_price(policy.part), group, *((row or {}).get(name) for name in numbers)]
            for policy in view.policies(self.document)
            for group, row in (policy.part["by_group"] or {}).items()
        ]
        return pd.DataFrame(rows, columns=["policy", "utility", "loss", "kept", "group", *numbers])

    def __repr__(self) -> str:
        counts = self.history.counts
        return f"<Audit of {self.document['input']['path']}: {counts.rows_used:,} of {counts.rows_read:,} rows used>"

    def _facts(self) -> list[str]:
        findings = [note["text"] for note in self.document["findings"] if note["kind"] == "finding"]
        return [*findings[:MOST_FINDINGS], *view.reasons(self.document, "fit")]

    def _tables(self) -> list[pd.DataFrame]:
        policies = self.to_frame()[["policy", "utility", "loss", "kept"]].drop_duplicates()
        return [policies, self.to_frame("disparity").drop(columns="status")]


def _price(policy: view.Document) -> tuple[float | None, float | None, float | None]:
    """Utility, and for the best policy under a constraint what that costs and keeps."""
    price = policy.get("price_of_fairness") or {}
    return policy["utility"], price.get("loss"), price.get("ratio")


def text_of(audit: Audit) -> str:
    """The document as it is written to a file."""
    return documents.dump(audit.document)


def page_of(audit: Audit) -> str:
    """The report as HTML."""
    from auditkit.report import html

    return html.render(audit.document, template_dir=audit.config.report.template_dir, sections=audit.sections)


def pdf_of(audit: Audit, page: str) -> bytes:
    """The page as PDF, with the document inside."""
    from auditkit.report import pdf

    return pdf.render(page, text_of(audit).encode(), audit.document["created"])


def rendered(
    audit: Audit, formats: Collection[Format], progress: Progress = lambda _: None
) -> tuple[dict[Format, bytes], str | None]:
    """The report in these formats, and why there is no PDF if WeasyPrint cannot be used."""
    made: dict[Format, bytes] = {}
    no_pdf = None
    if "html" in formats or "pdf" in formats:
        progress("drawing the report")
        page = page_of(audit)
        if "html" in formats:
            made["html"] = page.encode()
        if "pdf" in formats:
            progress("setting the PDF")
            from auditkit.report.pdf import PdfUnavailable

            try:
                made["pdf"] = pdf_of(audit, page)
            except PdfUnavailable as error:
                no_pdf = str(error)
    if "json" in formats:
        made["json"] = text_of(audit).encode()
    return made, no_pdf


@dataclass(frozen=True)
class Written:
    """The files of a report, and why there is no PDF if one was asked for."""

    files: tuple[Path, ...]
    no_pdf: str | None = None


def write(audit: Audit, stem: Path, progress: Progress = lambda _: None) -> Written:
    """Write the report as STEM.html, STEM.json and STEM.pdf, whichever the settings ask for.

    Everything is rendered before the first file is touched, and each is written under a temporary name and renamed.
    Where WeasyPrint cannot be used, the other files are written all the same.
    """
    made, no_pdf = rendered(audit, audit.config.report.formats, progress)
    files = []
    for name, content in made.items():
        path = stem.with_name(f"{stem.name}.{name}")
        write_bytes(path, content)
        files.append(path)
    return Written(tuple(files), no_pdf)
