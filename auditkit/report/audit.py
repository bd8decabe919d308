"""A finished audit: the report, what it was made from, and the files that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from auditkit.compare import Comparison
from auditkit.config import Config, Parts
from auditkit.data.firm_history import History
from auditkit.display import Shown
from auditkit.errors import InputError, Problem, nearest, wrong_type
from auditkit.files import write_bytes, write_together
from auditkit.fitting.fitted import Fitted
from auditkit.report import frames, view
from auditkit.report.build import ReportParts, build
from auditkit.report.exporter import Exporter, ReportPages, export
from auditkit.report.figures import figures
from auditkit.report.schema import Report
from auditkit.report.section import Section

if TYPE_CHECKING:
    import pandas as pd
    from pydantic import JsonValue

Progress = Callable[[str], None]

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
    parts: ReportParts | None = None
    """The results, with all digits and what proves them."""

    def to_json(self) -> dict[str, JsonValue]:
        """The document `auditkit-report/3`."""
        return self.report.to_json()

    def exact(self) -> Report | None:
        """The report with all digits, for `verify`: not for publication, and without the sections of plugins."""
        return None if self.parts is None else build(self.parts, self.config, self.report.created)

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

    def to_frame(self, table: str = "policies") -> pd.DataFrame:
        """A table of the report. Empty where the data cannot support it; `auditkit.report.frames.NAMES` has all names.

        `policies`: one row per policy and group, with what a constraint costs (`loss`), the share of the utility that
        is `kept`, and their intervals. `disparity`: one row per attribute, step, kind (of all applicants, or of those
        who reached the step before) and group, with the interval of the impact ratio, the p-values (alone, adjusted
        for all tests of the report, and within searches) and a column for each measure of a plugin. Others have the
        names and the columns of the JSON: `findings`, `funnel`, `segments`, `prices`, `frontier`, `sensitivity`, ...
        """
        if table not in frames.NAMES:
            fix = nearest(str(table), frames.NAMES)
            raise InputError(Problem("to_frame", f"there is no table {table!r}", fix))
        return frames.frame(self.report, table)

    def summary(self) -> str:
        """The findings of the first page, the policies and the impact ratios, as plain text."""
        tables = [table.to_string(index=False, na_rep="", float_format="{:.4g}".format) for table in self._tables()]
        return "\n\n".join([repr(self).strip("<>"), "\n".join(self._facts()), *tables])

    def compare(self, other: Audit) -> pd.DataFrame:
        """The figures of this audit beside those of another: `before` is this one, `after` the other.

        One row per figure that either has: rates and impact ratios of each group at each step, and what each policy
        yields. `change` is empty where one of them does not have the figure.
        """
        import pandas as pd

        if not isinstance(other, Audit):
            raise InputError(wrong_type("other", other, "an Audit"))
        before, after = (figures(one.report).numbers for one in (self, other))
        rows = [(*key, before.get(key), after.get(key)) for key in dict.fromkeys([*before, *after])]
        found = pd.DataFrame(rows, columns=["part", "subject", "figure", "before", "after"])
        numbers = found.astype({"before": "float64", "after": "float64"})
        return numbers.assign(change=numbers["after"] - numbers["before"])

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
