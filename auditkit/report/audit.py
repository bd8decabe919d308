"""A finished audit: the document, what it was made from, and the files that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from auditkit.compare import Comparison
from auditkit.config import Config, Format, Parts
from auditkit.data import History
from auditkit.display import Shown
from auditkit.errors import InputError, Problem
from auditkit.files import write_bytes, write_together
from auditkit.fitting.fitted import Fitted
from auditkit.report import document as documents
from auditkit.report import view
from auditkit.report.section import Section

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str], None]

MOST_FINDINGS = 5
SUMMARY = "summary.pdf"
"""How the file of the first page ends."""

Part = Literal["policies", "disparity"]
PARTS: tuple[str, ...] = get_args(Part)
"""The tables that `Audit.to_frame` makes."""

POLICY_COLUMNS = ["policy", "utility", "loss", "loss_lower", "loss_upper", "kept", "kept_lower", "kept_upper"]
POLICY_COLUMNS += ["attribute", "group", "candidates", "inspected", "selected"]
DISPARITY_COLUMNS = ["attribute", "step", "kind", "group", "applicants", "selected", "rate", "impact_ratio"]
DISPARITY_COLUMNS += ["impact_ratio_lower", "impact_ratio_upper", "p", "p_adjusted", "p_within", "odds_ratio_within"]
DISPARITY_COLUMNS += ["shortfall", "detectable_ratio", "status"]
SHOWN_COLUMNS = ["attribute", "step", "group", "rate", "impact_ratio", "p_adjusted"]
"""Of the disparities of all applicants, in a notebook."""


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
    hints: tuple[str, ...] = ()
    """What would give the report a model, on the command line."""

    def to_json(self) -> dict[str, Any]:
        """The document `auditkit-report/2`."""
        return self.document

    def save_json(self, path: str | Path) -> None:
        """Write the document."""
        write_bytes(Path(path), text_of(self).encode())

    def save_html(self, path: str | Path, parts: Parts | None = None) -> None:
        """Write the report as one self-contained page; `parts` is summary, body or all."""
        write_bytes(Path(path), page_of(self, parts).encode())

    def save_pdf(self, path: str | Path, parts: Parts | None = None) -> None:
        """Write the report as PDF/A; raises `auditkit.report.pdf.PdfUnavailable` where Pango is missing."""
        write_bytes(Path(path), pdf_of(self, page_of(self, parts)))

    def to_frame(self, part: Part = "policies") -> pd.DataFrame:
        """The policies or the measured disparities as a table.

        `policies`: one row per policy and group, with what a constraint costs (`loss`), the share of the utility that
        is `kept`, and their intervals. `disparity`: one row per attribute, step, kind (of all applicants, or of those
        who reached the step before) and group, with the interval of the impact ratio, the p-values (alone, adjusted
        for all tests of the report, and within searches) and a column for each measure of a plugin. Empty where the
        data cannot support the part.
        """
        import pandas as pd

        if part not in PARTS:
            raise InputError(Problem("to_frame", f"there is no table {part!r}", f"tables: {', '.join(PARTS)}"))
        rows = _disparity_rows(self.document) if part == "disparity" else _policy_rows(self.document)
        named = DISPARITY_COLUMNS if part == "disparity" else POLICY_COLUMNS
        others = dict.fromkeys(name for row in rows for name in row if name not in named)
        return pd.DataFrame(rows, columns=[*named, *others])

    def __repr__(self) -> str:
        counts = self.history.counts
        return f"<Audit of {self.document['input']['path']}: {counts.rows_used:,} of {counts.rows_read:,} rows used>"

    def _facts(self) -> list[str]:
        findings = [note["text"] for note in self.document["findings"] if note["kind"] != "notice"]
        return list(dict.fromkeys([*findings[:MOST_FINDINGS], *view.reasons(self.document, "fit")]))

    def _tables(self) -> list[pd.DataFrame]:
        policies = self.to_frame()[["policy", "utility", "loss", "kept"]].drop_duplicates()
        disparity = self.to_frame("disparity")
        return [policies, disparity[disparity["kind"] == "cumulative"][SHOWN_COLUMNS]]


def _priced(policy: view.Document) -> dict[str, float | None]:
    """Utility, and for the best policy under a constraint what that costs and keeps."""
    price = policy.get("price_of_fairness") or {}
    return {"utility": policy["utility"], "loss": price.get("loss"), "kept": price.get("ratio")}


def _policy_rows(document: view.Document) -> list[dict[str, Any]]:
    rows = []
    for policy in view.policies(document):
        interval = view.at(policy.part.get("price_of_fairness"), "interval") or {}
        losses, shares = interval.get("loss") or (None, None), interval.get("ratio") or (None, None)
        price = _priced(policy.part) | dict(zip(["loss_lower", "loss_upper"], losses, strict=True))
        price |= dict(zip(["kept_lower", "kept_upper"], shares, strict=True))
        for attribute, groups in (policy.part["by_group"] or {}).items():
            for group, counts in groups.items():
                rows.append({"policy": policy.name, **price, "attribute": attribute, "group": group, **counts})
    return rows


def _disparity_rows(document: view.Document) -> list[dict[str, Any]]:
    rows = []
    for table in view.disparities(document):
        for group in table["groups"]:
            row = {name: group.get(name) for name in DISPARITY_COLUMNS}
            row |= {name: table[name] for name in ("attribute", "step", "kind")}
            row |= {f"impact_ratio_{end}": view.at(group, "interval", end) for end in ("lower", "upper")}
            row |= {
                "p_within": view.at(group, "within", "p"),
                "odds_ratio_within": view.at(group, "within", "odds_ratio"),
            }
            rows.append(row | dict(group["measures"] or {}))
    return rows


def text_of(audit: Audit) -> str:
    """The document as it is written to a file."""
    return documents.dump(audit.document)


def page_of(audit: Audit, parts: Parts | None = None) -> str:
    """The report as HTML: the parts that the settings ask for, or others."""
    from auditkit.report import html

    settings = audit.config.report
    return html.render(
        audit.document, template_dir=settings.template_dir, sections=audit.sections, parts=parts or settings.parts
    )


def pdf_of(audit: Audit, page: str) -> bytes:
    """The page as PDF, with the document inside."""
    from auditkit.report import pdf

    return pdf.render(page, text_of(audit).encode(), audit.document["created"])


def rendered(
    audit: Audit, formats: Collection[Format], progress: Progress = lambda _: None
) -> tuple[dict[str, bytes], str | None]:
    """The report in these formats by the end of its name, and why there is no PDF if WeasyPrint cannot be used.

    With a PDF of more than the first page comes one of the first page alone, `summary.pdf`.
    """
    made: dict[str, bytes] = {}
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
                if audit.config.report.parts != "summary":
                    made[SUMMARY] = pdf_of(audit, page_of(audit, "summary"))
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
    """Write the report as STEM.html, STEM.json and STEM.pdf (with STEM.summary.pdf), as the settings ask.

    Everything is rendered before the first file is touched, and the files appear together or not at all.
    Where WeasyPrint cannot be used, the other files are written all the same.
    """
    made, no_pdf = rendered(audit, audit.config.report.formats, progress)
    if not made:
        return Written((), no_pdf)
    files = write_together(stem.parent, {f"{stem.name}.{name}": content for name, content in made.items()})
    return Written(tuple(files), no_pdf)
