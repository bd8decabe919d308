"""A finished audit: the report, what it was made from, and the files that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from auditkit.compare import Comparison
from auditkit.config import Config, Parts
from auditkit.data import History
from auditkit.display import Shown
from auditkit.errors import InputError, Problem
from auditkit.files import write_bytes, write_together
from auditkit.fitting.fitted import Fitted
from auditkit.report import view
from auditkit.report.exporter import Exporter, ReportPages, export
from auditkit.report.schema import ConstrainedModel, Report
from auditkit.report.section import Section

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str], None]

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
    """A finished audit: the report, and what it was made from.

    What it shows of itself is what the report holds: numbers of groups, never a person's row.
    """

    report: Report
    config: Config
    history: History
    fitted: Fitted | None
    comparison: Comparison | None
    sections: Mapping[str, type[Section]] = field(default_factory=dict)
    """Of plugins: what shows the data under `sections` of the report."""
    exporters: Mapping[str, type[Exporter]] = field(default_factory=dict)
    """What writes the report, by format."""
    hints: tuple[str, ...] = ()
    """What would give the report a model, on the command line."""

    def to_json(self) -> dict[str, Any]:
        """The document `auditkit-report/3`."""
        return self.report.to_json()

    def save_json(self, path: str | Path) -> None:
        """Write the document."""
        write_bytes(Path(path), self.report.text().encode())

    def save_html(self, path: str | Path, parts: Parts | None = None) -> None:
        """Write the report as one self-contained page; `parts` is summary, body or all."""
        write_bytes(Path(path), self.pages(parts).html().encode())

    def save_pdf(self, path: str | Path, parts: Parts | None = None) -> None:
        """Write the report as PDF/A; raises `auditkit.report.pdf.PdfUnavailable` where Pango is missing."""
        from auditkit.report import pdf

        page = self.pages(parts).html()
        write_bytes(Path(path), pdf.render(page, self.report.text().encode(), self.report.created))

    def pages(self, parts: Parts | None = None) -> ReportPages:
        """The report as pages: the parts that the settings ask for, or others."""
        settings = self.config.report
        return ReportPages(self.report, parts or settings.parts, settings.template_dir, self.sections)

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
        rows = _disparity_rows(self.report) if part == "disparity" else _policy_rows(self.report)
        named = DISPARITY_COLUMNS if part == "disparity" else POLICY_COLUMNS
        others = dict.fromkeys(name for row in rows for name in row if name not in named)
        return pd.DataFrame(rows, columns=[*named, *others])

    def __repr__(self) -> str:
        counts = self.history.counts
        return f"<Audit of {self.report.input.path}: {counts.rows_used:,} of {counts.rows_read:,} rows used>"

    def _facts(self) -> list[str]:
        findings = [finding.text for finding in view.leading(self.report)]
        return list(dict.fromkeys([*findings, *view.reasons(self.report, "fit")]))

    def _tables(self) -> list[pd.DataFrame]:
        policies = self.to_frame()[["policy", "utility", "loss", "kept"]].drop_duplicates()
        disparity = self.to_frame("disparity")
        return [policies, disparity[disparity["kind"] == "cumulative"][SHOWN_COLUMNS]]


def _policy_rows(report: Report) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for policy in view.policies(report):
        price = policy.part.price_of_fairness if isinstance(policy.part, ConstrainedModel) else None
        numbers: dict[str, object] = {"policy": policy.name, "utility": policy.part.utility}
        if price is not None:
            numbers |= {"loss": price.loss, "kept": price.ratio}
            kept = None if price.interval is None else price.interval.ratio
            numbers |= dict(zip(["loss_lower", "loss_upper"], price.loss_span or (None, None), strict=True))
            numbers |= dict(zip(["kept_lower", "kept_upper"], kept or (None, None), strict=True))
        for attribute, groups in (policy.part.by_group or {}).items():
            rows += [numbers | {"attribute": attribute, "group": name, **vars(row)} for name, row in groups.items()]
    return rows


def _disparity_rows(report: Report) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for table in report.tables:
        for row in table.groups:
            numbers = {name: value for name, value in row if name in DISPARITY_COLUMNS}
            numbers |= {
                "attribute": table.attribute,
                "step": table.step,
                "kind": table.kind,
                "status": row.status.value,
            }
            if row.interval is not None:
                numbers |= {"impact_ratio_lower": row.interval.lower, "impact_ratio_upper": row.interval.upper}
            if row.within is not None:
                numbers |= {"p_within": row.within.p, "odds_ratio_within": row.within.odds_ratio}
            rows.append(numbers | row.measures)
    return rows


@dataclass(frozen=True)
class Written:
    """The files of a report, and why a format that was asked for is not among them."""

    files: tuple[Path, ...]
    not_written: tuple[str, ...] = ()


def write(audit: Audit, stem: Path, progress: Progress = lambda _: None) -> Written:
    """Write the report as STEM.html, STEM.json and so on, in the formats that the settings name.

    Everything is rendered before the first file is touched, and the files appear together or not at all.
    Where a format cannot be written on this machine, the others are written all the same.
    """
    made, missing = export(audit.config.report.formats, audit.exporters, audit.pages(), progress)
    if not made:
        return Written((), missing)
    files = write_together(stem.parent, {f"{stem.name}.{name}": content for name, content in made.items()})
    return Written(tuple(files), missing)
