"""The report as a workbook for Excel and LibreOffice: every table on a sheet of its own, with live formulas.

Rates, impact ratios, shortfalls and numbers of standard deviations are formulas over the counts beside them, so that a
reader can change a count and see what follows; the value that the report has is stored with each. With applicants n
and selected x of a group, m and y of the reference, N = n + m and S = x + y:

    rate      x / n
    ratio     (x / n) / (y / m)
    shortfall n S / N - x
    sd        (x - n S / N) / sqrt(n m S (N - S) / (N^2 (N - 1)))
    odds      x (m - y) / (y (n - x))
    h         2 asin(sqrt(x / n)) - 2 asin(sqrt(y / m))

Text from the data is always written as text, also where it begins with `=`, `+`, `-` or `@`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from auditkit import Exporter, ReportPages, hookimpl
from auditkit.text import day, moment, percent, plural, sentence, spaced

if TYPE_CHECKING:
    from auditkit import Report
    from auditkit.report.schema import AlternativeModel, DisparityTableModel

WIDEST = 60
LINE = 15
"""Points that a line of text takes."""
LONGEST_NAME = 31
"""Of a sheet, by Excel's rule."""
PLAIN = {
    "follow_ups": ("Responses", "What became of earlier findings"),
    "omnibus": ("Tests of attributes", "Whether any group of an attribute differs at a step"),
    "bands": ("Age bands", "Rates along bands of age, where there is a trend"),
    "pools": ("Pools", "External availability, pool by pool"),
    "score_validity": ("Validity of scores", "Whether the score predicts later performance, and alike for each group"),
    "score_validity_adjusted": ("Validity corrected", "The same p-values, corrected for the number of tests"),
    "constraints": ("Rows of constraints", "What each constraint demands, its slack and its dual"),
    "ex_post": ("Ex-post slack", "How far a single period may be from the constraint"),
    "units": ("Units", "Positions inside searches"),
    "gain_by_step": ("Gain by step", "What the best search would have gained at each step"),
    "budgets": ("Budgets", "What more inspections would be worth, beside more positions"),
    "places": ("Places", "What one more place would be worth"),
    "bias_tables": ("Biased scores", "Quotas where the scores of a group are seen lower than they are worth"),
    "sensitivity": ("Sensitivity", "Prices where the scores of a group are seen lower than they are worth"),
    "sensitivity_points": ("Sensitivity in points", "The same in points of the score"),
    "revealed": ("Decisions", "What decisions at each step look like, in points of the score"),
    "needed": ("Inspections needed", "How many more inspections would explain the decisions"),
    "score_meaning": ("Equal information", "Scores of groups at equal prior information"),
    "inspected_by_group": ("Inspected by group", "Who has a score"),
    "inspected_by_tercile": ("Inspected by tercile", "Who has a score, by what was known before"),
    "hidden_information": ("Hidden information", "Tests for information that the data do not hold"),
    "hidden_prices": ("Prices if hidden", "Prices over a range of hidden information"),
}
"""Tables of `Audit.to_frame` that are written as they are: the sheet's name, and what it is about."""
ELSEWHERE = {
    *("findings", "mapping", "unused_columns", "problems", "left_out", "attributes", "groups"),
    *("comparisons", "segments", "segment_values", "segment_search", "availability", "scores", "cut_scores"),
    *("prices", "frontier", "blind", "aware", "rules", "fit_by_group", "fit_by_stratum", "coverage"),
}
"""Tables that the other sheets have."""
OURS = (
    *("contents", "findings", "reading", "matrix", "comparisons", "segments", "segment search", "availability"),
    *("scores", "cut scores", "policies", "prices", "alternatives", "what if", "fit", "sources"),
    *(name.lower() for name, _ in PLAIN.values()),
)
"""Names that no attribute's sheet may have."""


@dataclass(frozen=True)
class Formula:
    """A formula, and the value that it has in the report."""

    text: str
    value: float


Cell = str | int | float | None | Formula


@dataclass(frozen=True)
class Heading:
    """A column of a sheet: its title and how its numbers are written."""

    title: str
    form: str = ""


COLOURS = ("#005B96", "#7B8794", "#9C2F00")
"""Of the lines of a chart, in order."""
PERCENT, RATIO, COUNT, AMOUNT, P = "0.0%", "0.000", "#,##0", "#,##0.00", "0.0000"


@dataclass(frozen=True)
class SheetTable:
    """A sheet: what it is about, its columns and rows, and charts of them."""

    name: str
    about: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    charts: tuple[BarChart | LineChart, ...] = ()
    status: int | None = None
    """The column whose words are coloured."""


@dataclass(frozen=True)
class BarChart:
    """Bars of one column by the labels of another, over some rows (both ends included)."""

    title: str
    labels: int
    values: int
    first: int
    last: int


@dataclass(frozen=True)
class LineChart:
    """Lines through two columns of numbers, each over some rows (both ends included); one row is a dot."""

    title: str
    x: int
    y: int
    lines: tuple[tuple[str, int, int], ...]


HEAD = 2
"""Rows above the header: the title, and what the sheet is about. The header follows, then the rows."""
FIRST = HEAD + 1


def workbook_of(report: Report) -> bytes:
    """The workbook, the same bytes for the same report."""
    import xlsxwriter

    buffer = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    book = xlsxwriter.Workbook(buffer, options)
    book.set_properties(
        {
            "title": f"Disparity audit of {report.input.path}",
            "author": f"auditkit {report.version}",
            "created": datetime.fromisoformat(report.created.replace("Z", "+00:00")).replace(tzinfo=None),
        }
    )
    marking = report.config.statement.marking[:200].replace("&", "&&")
    _Writer(book, marking).write(report, list(sheets(report)))
    book.close()
    return buffer.getvalue()


def sheets(report: Report) -> Iterator[SheetTable]:
    """Every table of a report that it has, in order."""
    yield _findings(report)
    yield _reading(report)
    if report.tables:
        yield _matrix(report)
    for name in dict.fromkeys(table.attribute for table in report.tables):
        yield _attribute(report, name)
    if any(row.comparisons for table in report.tables for row in table.groups):
        yield _comparisons(report)
    if report.segments:
        yield _segments(report)
    found = report.disparity
    if found is not None and found.search is not None and found.search.found:
        yield _segment_search(report)
    if found is not None and found.availability:
        yield _availability(report)
    if found is not None and found.score_pages:
        yield _scores(report)
        yield _cut_scores(report)
    if report.firm is not None or report.unconstrained is not None:
        yield _policies(report)
    if report.entries:
        yield _prices(report)
    if report.alternatives:
        yield _alternatives(report)
    if report.frontier is not None and report.frontier.curves:
        yield _frontiers(report)
    if report.fit is not None:
        yield _fit(report)
    yield from _plain(report)
    yield _sources(report)


def _plain(report: Report) -> Iterator[SheetTable]:
    from auditkit.report.frames import TABLES

    for table, (name, about) in PLAIN.items():
        rows = TABLES[table].rows(report)
        columns = list(dict.fromkeys(column for row in rows for column in row))
        cells = tuple(tuple(_plain_cell(row.get(column)) for column in columns) for row in rows)
        if rows:
            forms = [_plain_form([row[at] for row in cells]) for at in range(len(columns))]
            headings = tuple(Heading(sentence(spaced(name)), form) for name, form in zip(columns, forms, strict=True))
            yield SheetTable(name, about, headings, cells)


def _plain_form(column: Sequence[Cell]) -> str:
    """How the numbers of a column are written whose meaning is not known: by their size."""
    numbers = [cell for cell in column if isinstance(cell, float)]
    return "" if not numbers else AMOUNT if max(map(abs, numbers)) >= 100 else P


def _plain_cell(value: Any) -> Cell:
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        return str(value)
    return value


def _findings(report: Report) -> SheetTable:
    headings = tuple(map(Heading, ("Kind", "Finding", "Attribute", "Group", "Step", "Segment")))
    rows = tuple((f.kind, f.text, f.attribute, f.group, f.step, f.segment) for f in report.findings)
    return SheetTable("Findings", "What the report says, in order of importance; notices come last", headings, rows)


def _reading(report: Report) -> SheetTable:
    rows: list[tuple[Cell, ...]] = []
    if (reading := report.reading) is not None:
        good = reading.favourable
        rows.append(("favourable", "", "", f"{good.text}; one row per {reading.row}; of {good.of:,}", good.count))
        rows += [("assumed", "", "", text, None) for text in reading.assumptions]
    rows += [("column", role.column, role.role, role.reason, None) for role in report.mapping]
    for one in reading.unused if reading is not None else ():
        rows.append(("not used", one.column, "", f"looks like: {one.looks_like}" if one.looks_like else "", None))
    rows += [("problem", one.code, one.treatment, one.what, one.count) for one in report.problems.by_code]
    rows += [("left out", "", "", one.reason, one.rows) for one in report.scope.left_out]
    rows += [("unknown", name, "", "no stated answer", number) for name, number in report.scope.unknown.items()]
    headings = (*map(Heading, ("What", "Column", "Read as", "Reason")), Heading("Rows", COUNT))
    return SheetTable("Reading", "Which column is what, and which cells are in no table", headings, tuple(rows))


def _matrix(report: Report) -> SheetTable:
    """Impact ratios of all groups at all steps, each a reference to the sheet of its attribute."""
    tables = [table for table in report.tables if not table.crossing]
    steps = list(dict.fromkeys((table.step, table.kind) for table in tables))
    rows: list[tuple[Cell, ...]] = []
    for attribute in dict.fromkeys(table.attribute for table in tables):
        mine = {(table.step, table.kind): table for table in tables if table.attribute == attribute}
        groups = dict.fromkeys(row.group for table in mine.values() for row in table.groups)
        for group in groups:
            cells: list[Cell] = [attribute, group]
            cells += [_matrix_cell(report, mine.get(key), group) for key in steps]
            rows.append(tuple(cells))
    named = [Heading(f"{step}, of {'all' if kind == 'cumulative' else 'those before'}", RATIO) for step, kind in steps]
    about = "Impact ratios by group and step, of all applicants and of those who reached the step before"
    return SheetTable("Matrix", about, (Heading("Attribute"), Heading("Group"), *named), tuple(rows))


def _matrix_cell(report: Report, table: DisparityTableModel | None, group: str) -> Cell:
    if table is None or group == table.reference:
        return None if table is None else "reference"
    value = next((row.impact_ratio for row in table.groups if row.group == group), None)
    place = _place(report, table, group)
    return None if place is None or value is None else Formula(place, value)


ATTRIBUTE = (
    *map(Heading, ("Step", "Of", "Group")),
    *(Heading(title, COUNT) for title in ("Applicants", "Selected")),
    Heading("Rate", PERCENT),
    *(Heading(title, COUNT) for title in ("Reference applicants", "Reference selected")),
    *(Heading(title, RATIO) for title in ("Impact ratio", "From", "To")),
    Heading("Shortfall", "0.0"),
    Heading("Standard deviations", "0.00"),
    *(Heading(title, P) for title in ("p", "p, corrected")),
    Heading("Status"),
    Heading("Detectable ratio", RATIO),
    *(Heading(title, RATIO) for title in ("Odds ratio within requisitions", "p within requisitions")),
)
RATIO_COLUMN = chr(ord("A") + [heading.title for heading in ATTRIBUTE].index("Impact ratio"))


def attribute_sheets(report: Report) -> dict[str, str]:
    """The sheet of each attribute: no two alike as Excel compares them, and none like a sheet of ours."""
    taken = set(OURS)
    found = {}
    for attribute in dict.fromkeys(table.attribute for table in report.tables):
        name, number = sheet_name(attribute), 1
        while name.lower() in taken:
            number += 1
            name = f"{sheet_name(attribute)[: LONGEST_NAME - 5]} ({number})"
        taken.add(name.lower())
        found[attribute] = name
    return found


def _attribute(report: Report, name: str) -> SheetTable:
    rows: list[tuple[Cell, ...]] = []
    charts = []
    for table in (table for table in report.tables if table.attribute == name):
        first = len(rows)
        rows += _group_rows(table, FIRST + first, report.disparity is None or report.disparity.favourable)
        if table.kind == "cumulative":
            charts.append(BarChart(f"Rate at {table.step}", 2, 5, first, len(rows) - 1))
    about = f"{name}: change a count (D, E, G, H) and the rates, ratios, shortfalls and deviations follow"
    status = [heading.title for heading in ATTRIBUTE].index("Status")
    return SheetTable(attribute_sheets(report)[name], about, ATTRIBUTE, tuple(rows), tuple(charts), status)


def _group_rows(table: DisparityTableModel, first: int, live: bool) -> Iterator[tuple[Cell, ...]]:
    """The rows of a table from row `first` of the sheet on (counted from 0)."""
    reference = next((row for row in table.groups if row.group == table.reference), None)
    for at, row in enumerate(table.groups, first + 1):  # as Excel counts
        f = _Counts(at, "D", "E", "G", "H", live)
        compared = reference is not None and row.group != table.reference
        yield (
            table.step,
            _of(table),
            row.group,
            row.applicants,
            row.selected,
            _Counts(at, "D", "E", "G", "H").rate(row.rate),
            reference.applicants if reference is not None and compared else None,
            reference.selected if reference is not None and compared else None,
            f.ratio(row.impact_ratio) if compared else None,
            *_bounds(row.interval),
            f.shortfall(row.shortfall) if compared else None,
            f.sd(row.sd) if compared else None,
            row.p,
            row.p_adjusted,
            str(row.status.value).replace("_", " "),
            row.detectable_ratio,
            None if row.within is None else row.within.odds_ratio,
            None if row.within is None else row.within.p,
        )


def _place(report: Report, wanted: DisparityTableModel, group: str) -> str | None:
    """Where the impact ratio of a group is on the sheet of its attribute, as a formula."""
    at = FIRST
    for table in (table for table in report.tables if table.attribute == wanted.attribute):
        for row in table.groups:
            if table is wanted and row.group == group:
                name = attribute_sheets(report)[wanted.attribute].replace("'", "''")
                return f"='{name}'!{RATIO_COLUMN}{at + 1}"
            at += 1
    return None


def _segments(report: Report) -> SheetTable:
    headings = (
        *map(Heading, ("Attribute", "Step", "Group", "Reference", "Segment", "Value")),
        *(Heading(t, COUNT) for t in ("Applicants", "Selected", "Reference applicants", "Reference selected")),
        *(Heading(title, PERCENT) for title in ("Rate", "Reference rate")),
        Heading("Impact ratio", RATIO),
        *(Heading(title, P) for title in ("p", "p, corrected")),
        Heading("Found"),
        Heading("Shortfall", "0.0"),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in report.segments or ():
        for part in one.parts:
            at = FIRST + len(rows) + 1
            rates = (
                Formula(f'=IFERROR(H{at}/G{at},"")', part.rate or 0),
                Formula(f'=IFERROR(J{at}/I{at},"")', part.reference_rate or 0),
            )
            ratio = None if part.impact_ratio is None else Formula(f'=IFERROR(K{at}/L{at},"")', part.impact_ratio)
            rows.append(
                (
                    *(one.attribute, one.step, one.group, one.reference, one.segment, part.value),
                    *(part.applicants, part.selected, part.reference_applicants, part.reference_selected),
                    *(
                        None if part.rate is None else rates[0],
                        None if part.reference_rate is None else rates[1],
                        ratio,
                    ),
                    *(part.p, part.p_adjusted, "yes" if part.found else "no", part.shortfall),
                )
            )
    return SheetTable("Segments", "Where differences come from: parts of the firm", headings, tuple(rows))


def _comparisons(report: Report) -> SheetTable:
    """Each group against the highest rate, the largest group and everybody else, with the figures that experts give."""
    headings = (
        *map(Heading, ("Attribute", "Step", "Of", "Group", "Against")),
        *(Heading(title, COUNT) for title in ("Applicants", "Selected", "Others' applicants", "Others' selected")),
        *(Heading(title, PERCENT) for title in ("Rate", "Others' rate")),
        *(Heading(title, RATIO) for title in ("Impact ratio", "From", "To", "Odds ratio", "Odds from", "Odds to")),
        Heading("Shortfall", "0.0"),
        Heading("Standard deviations", "0.00"),
        *(Heading(title, RATIO) for title in ("Cohen's h", "Phi")),
        *(Heading(title, P) for title in ("p", "mid-p", "p by requisitions and people", "p, corrected")),
        Heading("Selections that change a conclusion"),
    )
    live = report.disparity is None or report.disparity.favourable
    rows: list[tuple[Cell, ...]] = []
    for table in report.tables:
        for row in table.groups:
            for one in row.comparisons:
                f = _Counts(FIRST + len(rows) + 1, "F", "G", "H", "I", live)
                against = one.reference or "everybody else"
                rows.append(
                    (
                        *(table.attribute, table.step, _of(table), row.group),
                        against + (" (largest group)" if one.against == "largest_group" else ""),
                        *(row.applicants, row.selected, one.applicants, one.selected),
                        *(f.rate(row.rate), f.other_rate(one.rate), f.ratio(one.impact_ratio)),
                        *_bounds(one.interval),
                        f.odds(one.odds_ratio),
                        *_bounds(one.odds_interval),
                        *(f.shortfall(one.shortfall), f.sd(one.sd), f.h(one.h), one.phi),
                        *(one.p, one.mid_p, one.p_design, one.p_adjusted),
                        "more than 2" if one.flips.needed is None else str(one.flips.needed),
                    )
                )
    about = "Each group against others: change a count (F to I) and rates, ratios, odds and deviations follow"
    return SheetTable("Comparisons", about, headings, tuple(rows))


def _segment_search(report: Report) -> SheetTable:
    headings = (
        *map(Heading, ("Attribute", "Step", "Group", "Against", "Segment", "Value")),
        *(Heading(title, COUNT) for title in ("Applicants", "Selected", "Others' applicants", "Others' selected")),
        *(Heading(title, PERCENT) for title in ("Rate", "Others' rate")),
        *(Heading(title, RATIO) for title in ("Impact ratio", "From", "To", "Odds ratio within requisitions")),
        *(Heading(title, P) for title in ("p", "p, corrected")),
        Heading("Shortfall", "0.0"),
        Heading("Odds ratio elsewhere", RATIO),
        Heading("p of no difference from elsewhere", P),
    )
    assert report.disparity is not None and report.disparity.search is not None
    search, live = report.disparity.search, report.disparity.favourable
    rows: list[tuple[Cell, ...]] = []
    for one in search.found:
        f = _Counts(FIRST + len(rows) + 1, "G", "H", "I", "J", live)
        rows.append(
            (
                *(one.attribute, one.step, one.group, one.against or "everybody else", one.segment, one.value),
                *(one.applicants, one.selected, one.others_applicants, one.others_selected),
                *(f.rate(one.rate), f.other_rate(one.others_rate), f.ratio(one.impact_ratio), *_bounds(one.interval)),
                *(one.odds_ratio, one.p, one.p_adjusted, one.shortfall, one.elsewhere_odds_ratio, one.p_elsewhere),
            )
        )
    about = f"Differences in parts of the firm, found among {plural(search.tests, 'test')} of all segments"
    return SheetTable("Segment search", about, headings, tuple(rows))


def _availability(report: Report) -> SheetTable:
    headings = (
        *map(Heading, ("Attribute", "Step", "Group", "Pool")),
        *(Heading(title, COUNT) for title in ("Selected", "Of the group")),
        *(Heading(title, PERCENT) for title in ("Share of the pool", "Share of those selected")),
        *(Heading(title, "0.0") for title in ("Expected", "Shortfall")),
        Heading("Standard deviations", "0.00"),
        *(Heading(title, P) for title in ("p", "p, corrected")),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in report.disparity.availability if report.disparity is not None else ():
        for pool in one.pools:
            at = FIRST + len(rows) + 1
            expected, alone = pool.selected * pool.share, len(one.pools) == 1
            rows.append(
                (
                    *(one.attribute, one.step, one.group, pool.pool, pool.selected, pool.of_group, pool.share),
                    Formula(f'=IFERROR(F{at}/E{at},"")', pool.of_group / pool.selected) if pool.selected else None,
                    Formula(f"=E{at}*G{at}", expected),
                    Formula(f"=I{at}-F{at}", expected - pool.of_group),
                    *((one.sd, one.p, one.p_adjusted) if alone else (None, None, None)),
                )
            )
        if len(one.pools) > 1:
            last = FIRST + len(rows)
            span = f"{last - len(one.pools) + 1}:{{0}}{last}"
            sums = [Formula(f"=SUM({c}{span.format(c)})", v) for c, v in (("E", one.selected), ("F", one.of_group))]
            expected = sum(pool.selected * pool.share for pool in one.pools)
            at = last + 1
            rows.append(
                (
                    *(one.attribute, one.step, one.group, "all pools", *sums, None),
                    Formula(f'=IFERROR(F{at}/E{at},"")', one.of_group / one.selected) if one.selected else None,
                    Formula(f"=SUM(I{span.format('I')})", expected),
                    Formula(f"=I{at}-F{at}", expected - one.of_group),
                    *(one.sd, one.p, one.p_adjusted),
                )
            )
    about = "Those selected against the shares of pools outside the firm"
    return SheetTable("Availability", about, headings, tuple(rows))


def _scores(report: Report) -> SheetTable:
    headings = (
        *map(Heading, ("Attribute", "Score", "Group")),
        Heading("Scored", COUNT),
        *(Heading(t, AMOUNT) for t in ("Mean", "Standard deviation", "10 %", "25 %", "Median", "75 %", "90 %")),
        *(Heading(title, "0.00") for title in ("d", "d from", "d to")),
        Heading("p", P),
    )
    rows: list[tuple[Cell, ...]] = []
    for page in report.disparity.score_pages if report.disparity is not None else ():
        for one in page.groups:
            quantiles = (*one.quantiles, *[None] * 5)[:5]
            group = one.group + (" (reference)" if one.group == page.reference else "")
            rows.append(
                (
                    *(page.attribute, page.score, group, one.scored, one.mean, one.sd, *quantiles),
                    *(one.d, *_bounds(one.interval), one.p),
                )
            )
    about = "Scores by group; d is the distance of the means from that of the largest group in standard deviations"
    return SheetTable("Scores", about, headings, tuple(rows))


def _cut_scores(report: Report) -> SheetTable:
    headings = (
        *map(Heading, ("Attribute", "Score")),
        Heading("Cut", "General"),
        Heading("Group"),
        *(Heading(title, COUNT) for title in ("Scored", "At or above")),
        Heading("Share", PERCENT),
        Heading("Impact ratio", RATIO),
        Heading("Admits as many as were selected"),
    )
    rows: list[tuple[Cell, ...]] = []
    for page in report.disparity.score_pages if report.disparity is not None else ():
        for cut in page.cuts:
            first = FIRST + len(rows) + 1
            span = f"G{first}:G{first + len(page.groups) - 1}"
            present = "yes" if cut.present else None
            for one, above, ratio in zip(page.groups, cut.above, cut.impact_ratios, strict=True):
                at = FIRST + len(rows) + 1
                share = Formula(f'=IFERROR(F{at}/E{at},"")', above / one.scored) if one.scored else None
                live = None if ratio is None else Formula(f'=IFERROR(G{at}/MAX({span}),"")', ratio)
                cells = (page.attribute, page.score, cut.score, one.group, one.scored, above, share, live, present)
                rows.append(cells)
    about = "Who would pass if the score alone decided: those at or above a cut, and the share over the highest share"
    return SheetTable("Cut scores", about, headings, tuple(rows))


def _alternatives(report: Report) -> SheetTable:
    """The two frontiers, the firm's own rule and the simple rules of each attribute, with the value each keeps."""
    headings = (
        *map(Heading, ("Attribute", "Group", "Against", "Policy", "Rule")),
        *(Heading(title, RATIO) for title in ("Ratio asked for", "Ratio")),
        Heading("Value", AMOUNT),
        Heading("Kept of the best", PERCENT),
        Heading("Value at most", AMOUNT),
        Heading("Gap", "0.0E+00"),
        *(Heading(title, "#,##0.0") for title in ("Interviews", "Filled")),
        *(Heading(title, RATIO) for title in ("Gain in the ratio", "Gain from", "Gain to")),
        Heading("Gain found on other requisitions"),
    )
    rows: list[tuple[Cell, ...]] = []
    charts = []
    for one in report.alternatives or ():
        more, lines = _alternative(one, len(rows))
        rows += more
        charts.append(LineChart(f"{one.attribute}: value kept by impact ratio", 6, 8, lines))
    about = (
        "Policies that do not look at the group, with the bound for one that does; a model, not the people who applied"
    )
    return SheetTable("Alternatives", about, headings, tuple(rows), tuple(charts))


def _alternative(one: AlternativeModel, start: int) -> tuple[list[tuple[Cell, ...]], tuple[tuple[str, int, int], ...]]:
    """The rows of one attribute from row `start` of the table on, and which of them are lines of the chart."""
    best = one.blind[0].utility if one.blind else None
    rows: list[tuple[Cell, ...]] = []
    lines: list[tuple[str, int, int]] = []

    def add(policy: str, text: str, asked: float | None, reached: float | None, value: float, *more: Cell) -> None:
        at, first = FIRST + start + len(rows) + 1, FIRST + start + 1
        kept = Formula(f'=IFERROR(H{at}/H${first},"")', value / best) if best else None
        cells: tuple[Cell, ...] = (
            one.attribute,
            one.group,
            one.against,
            policy,
            text,
            asked,
            reached,
            value,
            kept,
            *more,
        )
        rows.append((*cells, *[None] * (17 - len(cells))))

    for policy, points in (
        ("best without looking at the group", one.blind),
        ("bound if the group could be used", one.aware),
    ):
        first = len(rows)
        for point in points:
            if point.utility is not None:
                more = (point.bound, point.gap, None, point.filled)
                add(policy, "", point.ratio, point.reached, point.utility, *more)
        if len(rows) > first:
            lines.append((policy, start + first, start + len(rows) - 1))
    lines.append(("the firm's own rule", start + len(rows), start + len(rows)))  # a dot
    firm = one.firm
    add("the firm's own rule", "", None, firm.ratio, firm.utility, None, None, firm.interviews, firm.filled)
    for rule in one.rules:
        gain: tuple[Cell, ...] = ()
        if rule.gain is not None:
            gain = (rule.gain.ratio, *rule.gain.interval, "yes" if rule.gain.found else "no")
        amounts = (None, None, rule.interviews, rule.filled)
        add(rule.name, rule.text, rule.target, rule.ratio, rule.utility, *amounts, *gain)
    return rows, tuple(lines)


def _of(table: DisparityTableModel) -> str:
    return "all applicants" if table.kind == "cumulative" else "those who reached the step before"


def _bounds(interval: Any) -> tuple[Cell, Cell]:
    return (None, None) if interval is None else (interval.lower, interval.upper)


@dataclass(frozen=True)
class _Counts:
    """The formulas of a row, as Excel counts, over the columns of n, x, m, y; `live` only if x is the good outcome."""

    at: int
    n: str
    x: str
    m: str
    y: str
    live: bool = True

    def _formula(self, text: str, value: float | None) -> Cell:
        if value is None or not self.live:
            return value
        names = {name: f"{getattr(self, name)}{self.at}" for name in "nxmy"}
        return Formula(f'=IFERROR({text.format(**names)},"")', value)

    def rate(self, value: float | None) -> Cell:
        return self._formula("{x}/{n}", value)

    def other_rate(self, value: float | None) -> Cell:
        return self._formula("{y}/{m}", value)

    def ratio(self, value: float | None) -> Cell:
        return self._formula("({x}/{n})/({y}/{m})", value)

    def odds(self, value: float | None) -> Cell:
        return self._formula("{x}*({m}-{y})/({y}*({n}-{x}))", value)

    def shortfall(self, value: float | None) -> Cell:
        return self._formula("{n}*({x}+{y})/({n}+{m})-{x}", value)

    def sd(self, value: float | None) -> Cell:
        spread = "SQRT({n}*{m}*({x}+{y})*({n}+{m}-{x}-{y})/(({n}+{m})^2*({n}+{m}-1)))"
        return self._formula(f"({{x}}-{{n}}*({{x}}+{{y}})/({{n}}+{{m}}))/{spread}", value)

    def h(self, value: float | None) -> Cell:
        return self._formula("2*ASIN(SQRT({x}/{n}))-2*ASIN(SQRT({y}/{m}))", value)


def _policies(report: Report) -> SheetTable:
    headings = (
        *map(Heading, ("Policy", "Attribute", "Group")),
        Heading("Candidates", COUNT),
        *(Heading(title, AMOUNT) for title in ("Interviewed", "Selected")),
        *(Heading(title, PERCENT) for title in ("Interviewed of candidates", "Selected of candidates")),
        Heading("Utility of the policy", AMOUNT),
    )
    parts = [("the firm", report.firm), ("best without constraints", report.unconstrained)]
    parts += [(one.phrase or one.label, one) for one in report.entries]  # type: ignore[misc]
    rows: list[tuple[Cell, ...]] = []
    for name, part in parts:
        for attribute, groups in ((part.by_group if part is not None else None) or {}).items():
            for group, numbers in groups.items():
                at = FIRST + len(rows) + 1
                n = numbers.candidates
                rates = [
                    Formula(f'=IFERROR({column}{at}/D{at},"")', value / n) if n else None
                    for column, value in (("E", numbers.inspected), ("F", numbers.selected))
                ]
                utility = None if part is None else part.utility
                rows.append((name, attribute, group, n, numbers.inspected, numbers.selected, *rates, utility))
    return SheetTable("Policies", "Who is interviewed and selected under each policy", headings, tuple(rows))


def _prices(report: Report) -> SheetTable:
    """Losses are numbers and no formulas: a report rounds each to its own interval, not to that of the utilities."""
    headings = (
        *map(Heading, ("Constraint", "Status")),
        *(Heading(t, AMOUNT) for t in ("Without it", "Under it", "Loss", "Loss from", "Loss to")),
        Heading("Kept", PERCENT),
        Heading("Gap", "0.0E+00"),
    )
    best = None if report.unconstrained is None else report.unconstrained.utility
    rows: list[tuple[Cell, ...]] = []
    for one in report.entries:
        price = one.price_of_fairness
        span = None if price is None or price.interval is None else price.interval.loss
        loss, kept = (None, None) if price is None else (price.loss, price.ratio)
        low, high = span or (None, None)
        rows.append((one.phrase or one.label, one.status, best, one.utility, loss, low, high, kept, one.gap))
    return SheetTable(
        "Prices", "What each constraint costs the best policy, in the unit of value", headings, tuple(rows)
    )


def _frontiers(report: Report) -> SheetTable:
    headings = (
        *map(Heading, ("Constraint", "Parameter")),
        Heading("Value", RATIO),
        *(Heading(title, AMOUNT) for title in ("Utility", "Loss")),
        Heading("Kept", PERCENT),
        Heading("Gap", "0.0E+00"),
    )
    rows: list[tuple[Cell, ...]] = []
    charts = []
    for curve in report.frontier.curves if report.frontier is not None else ():
        first = len(rows)
        for point in curve.points:
            name = curve.title or curve.label
            told = (point.value, point.utility, point.loss, point.ratio, point.gap)
            rows.append((name, curve.axis or curve.parameter, *told))
        title = curve.title or curve.label
        charts.append(LineChart(title, 2, 5, ((title, first, len(rows) - 1),)))
    about = "What stricter and looser constraints would cost"
    return SheetTable("What if", about, headings, tuple(rows), tuple(charts))


def _fit(report: Report) -> SheetTable:
    fit = report.fit
    assert fit is not None
    rows: list[tuple[Cell, ...]] = [
        ("coverage", f"intervals of {percent(one.nominal, 0)}", None, one.nominal, one.actual, None)
        for one in fit.coverage
    ]
    rows += [("group", one.group, one.n, None, one.coverage, one.mean_error) for one in fit.by_group]
    rows += [("expected score", one.name, one.scores, None, one.coverage, one.mean_error) for one in fit.by_stratum]
    headings = (
        *map(Heading, ("What", "Of")),
        Heading("Scores", COUNT),
        *(Heading(title, PERCENT) for title in ("Nominal", "Actual")),
        Heading("Mean error", AMOUNT),
    )
    return SheetTable("Fit", "How well the priors fit scores that they have not seen", headings, tuple(rows))


def _sources(report: Report) -> SheetTable:
    facts = [
        ("File", report.input.path),
        ("SHA-256 of the file", report.input.sha256),
        ("Report made", moment(report.created)),
        ("auditkit", report.version),
        ("Python", report.provenance.python),
        ("Platform", report.provenance.platform),
        *report.provenance.packages.items(),
        *((one.name, f"{one.text} (read on {day(one.read_on)})") for one in report.provenance.conventions),
    ]
    rows = tuple((name, str(text)) for name, text in facts)
    return SheetTable("Sources", "Where the numbers come from", (Heading("What"), Heading("Value")), rows)


def sheet_name(text: str) -> str:
    """A name that Excel allows: at most 31 characters, none of []:*?/\\, no apostrophe at the ends.

    >>> sheet_name("Hispanic/Latino [2022]"), sheet_name("'quoted'"), sheet_name("history")
    ('Hispanic-Latino -2022-', 'quoted', 'history_')
    """
    clean = re.sub(r"[\[\]:*?/\\\x00-\x1f]", "-", text).strip("' ")[:LONGEST_NAME].rstrip("' ") or "sheet"
    return f"{clean}_" if clean.lower() == "history" else clean


@dataclass
class _Writer:
    """Writes sheets into a workbook; formats are made once."""

    book: Any
    marking: str = ""
    """On every page, as Excel writes it."""
    formats: dict[str, Any] = field(default_factory=dict)

    def write(self, report: Report, tables: Sequence[SheetTable]) -> None:
        contents = self.book.add_worksheet("Contents")
        made = [(table, self.book.add_worksheet(table.name)) for table in tables]
        contents.hide_gridlines(2)
        contents.set_landscape()
        contents.fit_to_pages(1, 0)
        contents.set_column(0, 0, 24)
        contents.set_column(1, 1, 90)
        if self.marking:
            contents.set_header(f"&C{self.marking}")
            contents.write_string(4, 0, report.config.statement.marking, self._format(bold=True, font_color="#9C2F00"))
        contents.write_string(0, 0, f"Disparity audit of {report.input.path}", self._format(bold=True, font_size=14))
        scope = f"{plural(report.scope.applications, 'application')}, {plural(report.scope.searches, 'requisition')}"
        contents.write_string(1, 0, f"{report.config.organisation or report.scope.organisation}".strip() or scope)
        contents.write_string(2, 0, f"{moment(report.created)} · auditkit {report.version} · {scope}")
        note = "Measurements, not legal advice. White cells with formulas follow the counts beside them."
        contents.write_string(3, 0, note, self._format(font_color="#55606D"))
        link = self._format(underline=1, font_color="#005B96")
        for at, (table, _) in enumerate(made, 6):
            quoted = table.name.replace("'", "''")
            contents.write_url(at, 0, f"internal:'{quoted}'!A1", link, table.name)
            contents.write_string(at, 1, table.about)
        for table, sheet in made:
            self._sheet(table, sheet)
        contents.activate()

    def _format(self, **keys: Any) -> Any:
        key = repr(sorted(keys.items()))
        if key not in self.formats:
            self.formats[key] = self.book.add_format(keys)
        return self.formats[key]

    def _sheet(self, table: SheetTable, sheet: Any) -> None:
        sheet.write_string(0, 0, table.name, self._format(bold=True, font_size=13))
        sheet.write_string(1, 0, table.about, self._format(font_color="#55606D"))
        head = self._format(bold=True, bg_color="#E6EBF0", bottom=1, text_wrap=True, valign="top")
        wrapped = self._format(text_wrap=True, valign="top")
        widths = [max(map(len, heading.title.split())) for heading in table.headings]  # titles wrap
        for column, heading in enumerate(table.headings):
            sheet.write_string(HEAD, column, heading.title, head)
            form = self._format(num_format=heading.form, valign="top") if heading.form else wrapped
            for at, row in enumerate(table.rows, FIRST):
                cell = row[column]
                if isinstance(cell, str):
                    sheet.write_string(at, column, cell[:32_767], wrapped)
                    widths[column] = max(widths[column], min(WIDEST, len(cell)))
                elif isinstance(cell, Formula):
                    sheet.write_formula(at, column, cell.text, form, cell.value)
                elif cell is not None:
                    sheet.write_number(at, column, cell, form)
        widths = [max(9, width + 2) for width in widths]
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width)
        sheet.set_row(HEAD, LINE * _lines([heading.title for heading in table.headings], widths))
        for at, row in enumerate(table.rows, FIRST):  # not every program finds the height of wrapped text by itself
            if (lines := _lines(row, widths)) > 1:
                sheet.set_row(at, LINE * lines)
        last = FIRST + max(1, len(table.rows)) - 1
        sheet.autofilter(HEAD, 0, last, len(table.headings) - 1)
        sheet.freeze_panes(FIRST, 1)
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)
        sheet.set_margins(left=0.4, right=0.4)
        sheet.repeat_rows(HEAD)
        sheet.set_footer("&L&A&RPage &P of &N")
        if self.marking:
            sheet.set_header(f"&C{self.marking}")
        if table.status is not None:
            self._colour(table, sheet, last)
        for number, chart in enumerate(table.charts):
            self._chart(chart, sheet, table, last + 2 + 16 * number)

    def _colour(self, table: SheetTable, sheet: Any, last: int) -> None:
        """Words and a border carry the status too: a black and white print shows it."""
        marks = {
            "difference below line": {"bold": True, "font_color": "#9C2F00", "bg_color": "#FDF1EA", "border": 1},
            "below line": {"italic": True, "font_color": "#6B4A00", "bg_color": "#FFF8E5"},
            "difference": {"bold": True, "font_color": "#003F69", "bg_color": "#E8F2FA"},
        }
        for words, keys in marks.items():
            rule = {"type": "cell", "criteria": "==", "value": f'"{words}"', "format": self._format(**keys)}
            sheet.conditional_format(FIRST, table.status, last, table.status, rule)

    def _chart(self, chart: BarChart | LineChart, sheet: Any, table: SheetTable, row: int) -> None:
        name = table.name
        if isinstance(chart, BarChart):
            made = self.book.add_chart({"type": "bar"})
            lines: tuple[tuple[str, int, int], ...] = ((chart.title, chart.first, chart.last),)
            labels, values = chart.labels, chart.values
            made.set_x_axis({"num_format": "0%", "min": 0})
        else:
            made = self.book.add_chart({"type": "scatter", "subtype": "straight_with_markers"})
            labels, values, lines = chart.x, chart.y, chart.lines
            made.set_x_axis({"name": table.headings[chart.x].title})
            made.set_y_axis({"name": table.headings[chart.y].title, "num_format": "0.0%"})
        for (title, start, end), colour in zip(lines, COLOURS, strict=False):
            first, last = FIRST + start, FIRST + end
            made.add_series(
                {
                    "name": title,
                    "categories": [name, first, labels, last, labels],
                    "values": [name, first, values, last, values],
                    "fill": {"color": colour},
                    "line": {"color": colour},
                    "marker": {"type": "automatic", "size": 6, "fill": {"color": colour}, "border": {"color": colour}},
                }
            )
        made.set_title({"name": chart.title, "name_font": {"size": 11}, "overlay": False})
        if len(lines) > 1:
            made.set_legend({"position": "bottom"})
        else:
            made.set_legend({"none": True})
        made.set_size({"width": 560, "height": 300})
        sheet.insert_chart(row, 0, made, {"description": chart.title})


def _lines(cells: Sequence[Cell], widths: Sequence[float]) -> int:
    """How many lines a row needs."""
    texts = ((cell, width) for cell, width in zip(cells, widths, strict=True) if isinstance(cell, str))
    return max((-(-len(text) // int(width - 1)) for text, width in texts), default=1) or 1


class WorkbookExporter(Exporter):
    """The workbook as a format of reports."""

    format: ClassVar[str] = "xlsx"
    suffix: ClassVar[str] = "xlsx"
    progress: ClassVar[str] = "filling the workbook"

    def write(self, report: Report, pages: ReportPages) -> bytes:
        return workbook_of(report)


@hookimpl
def auditkit_exporters() -> list[type[Exporter]]:
    return [WorkbookExporter]
