"""The report as a workbook for Excel and LibreOffice: every table on its own sheet, with live formulas.

Rates, impact ratios, shortfalls and numbers of standard deviations are formulas over the counts beside them, so that a
reader can change a count and see the effect; each is stored with the report's value. With applicants n and selected x
of a group, m and y of the reference, N = n + m and S = x + y:

    rate      x / n
    ratio     (x / n) / (y / m)
    shortfall n S / N - x
    sd        (x - n S / N) / sqrt(n m S (N - S) / (N^2 (N - 1)))
    odds      x (m - y) / (y (n - x))
    h         2 asin(sqrt(x / n)) - 2 asin(sqrt(y / m))

Text from the data is always written as text, even if it begins with `=`, `+`, `-` or `@`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from auditkit.disparity.results import GroupStatus
from auditkit.report import view
from auditkit.report.frames import TABLES, cells
from auditkit.text import day, moment, percent, plural, sentence, spaced

if TYPE_CHECKING:
    from auditkit import Report
    from auditkit.disparity.results import DisparityTable
    from auditkit.report.schema import AlternativePart

WIDEST = 60
LINE = 15
"""Points that a line of text takes."""
LONGEST_NAME = 31
"""Of a sheet, by Excel's rule."""
PLAIN = {
    "follow_ups": ("Responses", "Earlier findings and the responses to them"),
    "omnibus": ("Tests of attributes", "Whether any group of an attribute differs at a step"),
    "bands": ("Age bands", "Rates along bands of age, where there is a trend"),
    "pools": ("Pools", "External availability, pool by pool"),
    "score_validity": (
        "Validity of scores",
        "Whether the score predicts later performance, and equally for all",
    ),
    "score_validity_adjusted": ("Validity corrected", "The same p-values, corrected for the number of tests"),
    "constraints": ("Rows of constraints", "What each constraint asks for, its slack and its dual"),
    "ex_post": ("Ex-post slack", "How far a single period may be from the constraint"),
    "units": ("Units", "Positions inside searches"),
    "gain_by_step": ("Gain by step", "What the best search would have gained at each step"),
    "budgets": ("Budgets", "What more inspections would be worth, compared with more positions"),
    "places": ("Places", "What one more place would be worth"),
    "bias_tables": ("Biased scores", "Quotas if the scores of a group understate its worth"),
    "sensitivity": ("Sensitivity", "Prices if the scores of a group understate its worth"),
    "sensitivity_points": ("Sensitivity in points", "The same in points of the score"),
    "revealed": ("Decisions", "What decisions at each step look like, in points of the score"),
    "needed": ("Inspections needed", "How many more inspections would explain the decisions"),
    "score_meaning": ("Equal information", "Scores of groups at equal prior information"),
    "inspected_by_group": ("Inspected by group", "Who has a score"),
    "inspected_by_tercile": ("Inspected by tercile", "Who has a score, by what was known before"),
    "hidden_information": ("Hidden information", "Tests for information that is not in the data"),
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
"""Names that an attribute's sheet must not have."""


@dataclass(frozen=True)
class Formula:
    """A formula over other cells in its row, by the keys of their columns, and its value in the report.

    `{selected}` is the cell, `{selected.column}` the letter of its column; `{first}` and `{last}` are the rows that the
    entry names under these keys.
    """

    text: str
    value: float


Cell = str | int | float | None | Formula
Row = Mapping[str, Any]


@dataclass(frozen=True)
class SheetColumn:
    """A column of a sheet: the key of its cells, its title, how numbers are written, and a formula that has them."""

    key: str
    title: str
    form: str = ""
    formula: str = ""


def columns(form: str, *names: str) -> Iterator[SheetColumn]:
    """Columns of numbers of one form: `key`, or `key=Title` if the title isn't the key in words."""
    for key, _, title in (name.partition("=") for name in names):
        yield SheetColumn(key, title or (sentence(spaced(key)) if key[1:] else key), form)


def texts(*names: str) -> Iterator[SheetColumn]:
    return columns("", *names)


COLOURS = ("#005B96", "#7B8794", "#9C2F00")
"""Of the lines of a chart, in order."""
MARKS = {
    GroupStatus.DIFFERENCE_BELOW_LINE: {"bold": True, "font_color": "#9C2F00", "bg_color": "#FDF1EA", "border": 1},
    GroupStatus.BELOW_LINE_NOT_SUFFICIENT: {"italic": True, "font_color": "#6B4A00", "bg_color": "#FFF8E5"},
    GroupStatus.DIFFERENCE_NOT_BELOW_LINE: {"bold": True, "font_color": "#003F69", "bg_color": "#E8F2FA"},
}
PERCENT, RATIO, COUNT, AMOUNT, P, GAP = "0.0%", "0.000", "#,##0", "#,##0.00", "0.0000", "0.0E+00"


@dataclass(frozen=True)
class SheetChart:
    """Bars of one column by another, or lines through both; each covers some rows (inclusive), one dot per row."""

    title: str
    x: str
    y: str
    lines: tuple[tuple[str, int, int], ...]
    bars: bool = False


@dataclass(frozen=True)
class SheetTable:
    """A sheet: what it is about, its columns and rows, and charts of them."""

    name: str
    about: str
    columns: tuple[SheetColumn, ...]
    rows: Sequence[Row]
    charts: tuple[SheetChart, ...] = ()
    coloured: str = ""
    """The key of the column whose words are coloured."""

    def place(self, key: str) -> int:
        return next(at for at, column in enumerate(self.columns) if column.key == key)

    def cells(self) -> Iterator[list[Cell]]:
        """The rows as written, with formulas pointing to their cells."""
        for at, row in enumerate(self.rows, FIRST + 1):  # as Excel counts
            places = {column.key: CellPlace(letter(i), at) for i, column in enumerate(self.columns)}
            ends = {name: FIRST + 1 + row[name] for name in ("first", "last") if name in row}
            yield [_cell(row.get(column.key), column.formula, {**places, **ends}) for column in self.columns]


@dataclass(frozen=True)
class CellPlace:
    """Where a cell is."""

    column: str
    row: int

    def __str__(self) -> str:
        return f"{self.column}{self.row}"


def letter(place: int) -> str:
    """Of a column: A, B, ..., Z, AA, ..."""
    return (letter(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)


def _cell(value: Any, formula: str, places: Mapping[str, Any]) -> Cell:
    if formula and isinstance(value, int | float):
        value = Formula(formula, value)
    if isinstance(value, Formula):
        text = value.text.format(**places)
        return Formula(f"={text}" if text.startswith("'") else f'=IFERROR({text},"")', value.value)
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        return str(value)
    return value


HEAD = 2
"""Rows above the header: the title, and what the sheet is about. The header follows, then the rows."""
FIRST = HEAD + 1


def workbook_of(report: Report) -> bytes:
    """The workbook; the same report gives the same bytes."""
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
    own = {name: _attribute(report, name, sheet) for name, sheet in attribute_sheets(report).items()}
    yield _findings(report)
    yield _reading(report)
    rest = [_matrix(report, own), *own.values()]
    rest += [make(report) for make in MADE]
    rest += [_plain(name, about, TABLES[table].rows(report)) for table, (name, about) in PLAIN.items()]
    yield from (table for table in rest if table.rows)
    yield _sources(report)


def _plain(name: str, about: str, rows: Sequence[Row]) -> SheetTable:
    keys = dict.fromkeys(key for row in rows for key in row)
    made = (SheetColumn(key, sentence(spaced(key)), _plain_form(row.get(key) for row in rows)) for key in keys)
    return SheetTable(name, about, tuple(made), rows)


def _plain_form(column: Iterable[Any]) -> str:
    """The form of a column of unknown meaning, by the size of its numbers."""
    numbers = [cell for cell in column if isinstance(cell, float)]
    return "" if not numbers else AMOUNT if max(map(abs, numbers)) >= 100 else P


def _findings(report: Report) -> SheetTable:
    about = "What the report says, in order of importance; notices come last"
    shown = tuple(texts("kind", "text=Finding", "attribute", "group", "step", "segment"))
    return SheetTable("Findings", about, shown, TABLES["findings"].rows(report))


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
    shown = (*texts("what", "column", "read_as", "reason"), *columns(COUNT, "rows"))
    return _listed("Reading", "Which column is what, and which cells no table counts", shown, rows)


def _listed(name: str, about: str, shown: tuple[SheetColumn, ...], rows: Iterable[Sequence[Cell]]) -> SheetTable:
    """A sheet whose rows are in the order of its columns."""
    keys = [column.key for column in shown]
    return SheetTable(name, about, shown, [dict(zip(keys, row, strict=True)) for row in rows])


def _matrix(report: Report, sheets: Mapping[str, SheetTable]) -> SheetTable:
    """Impact ratios of all groups at all steps, each a reference to the sheet of its attribute."""
    tables = [table for table in report.tables if not table.crossing]
    rows: dict[tuple[str, str], dict[str, Cell]] = {}
    for table in tables:
        for row in table.groups:
            cell: Cell = "reference"
            if row.group != table.reference:
                place = _place(sheets[table.attribute], table, row.group)
                cell = None if row.impact_ratio is None else Formula(place, row.impact_ratio)
            key = table.attribute, row.group
            rows.setdefault(key, {"attribute": key[0], "group": key[1]})[f"{table.step}, {table.kind}"] = cell
    of = {"cumulative": "all", "conditional": "those before"}
    steps = [SheetColumn(f"{t.step}, {t.kind}", f"{t.step}, of {of[t.kind]}", RATIO) for t in tables]
    about = "Impact ratios by group and step, of all applicants and of those who reached the previous step"
    return SheetTable("Matrix", about, (*texts("attribute", "group"), *dict.fromkeys(steps)), list(rows.values()))


def _place(sheet: SheetTable, table: DisparityTable, group: str) -> str:
    """Where the impact ratio of a group is on the sheet of its attribute, as a formula."""
    wanted = (table.step, _of(table), group)
    at = next(i for i, row in enumerate(sheet.rows) if (row["step"], row["of"], row["group"]) == wanted)
    name = sheet.name.replace("'", "''").replace("{", "{{").replace("}", "}}")
    return f"'{name}'!{letter(sheet.place('impact_ratio'))}{FIRST + at + 1}"


LIVE = {
    "impact_ratio": "({x}/{n})/({y}/{m})",
    "odds_ratio": "{x}*({m}-{y})/({y}*({n}-{x}))",
    "shortfall": "{n}*({x}+{y})/({n}+{m})-{x}",
    "sd": "({x}-{n}*({x}+{y})/({n}+{m}))/SQRT({n}*{m}*({x}+{y})*({n}+{m}-{x}-{y})/(({n}+{m})^2*({n}+{m}-1)))",
    "h": "2*ASIN(SQRT({x}/{n}))-2*ASIN(SQRT({y}/{m}))",
}
"""Formulas of what compares two sides, if it is good to be selected."""
COMPARED = ("impact_ratio", "shortfall", "sd")


def over(report: Report, others: str, *shown: SheetColumn) -> tuple[SheetColumn, ...]:
    """Columns with formulas over `applicants` and `selected` of a group and of the `others`, and both rates."""
    sides = {"n": "{applicants}", "x": "{selected}", "m": f"{{{others}_applicants}}", "y": f"{{{others}_selected}}"}
    known = {"rate": "{selected}/{applicants}", f"{others}_rate": f"{sides['y']}/{sides['m']}"}
    if report.disparity is None or report.disparity.favourable:
        known |= {key: text.format(**sides) for key, text in LIVE.items()}
    return tuple(SheetColumn(one.key, one.title, one.form, known.get(one.key, "")) for one in shown)


def attribute_sheets(report: Report) -> dict[str, str]:
    """The name of each attribute's sheet: no two equal as Excel compares them, and none equal to ours."""
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


def _attribute(report: Report, name: str, sheet: str) -> SheetTable:
    rows: list[Row] = []
    charts = []
    for table in (table for table in report.tables if table.attribute == name):
        first = len(rows)
        rows += _group_rows(table)
        if table.kind == "cumulative":
            title = f"Rate at {table.step}"
            charts.append(SheetChart(title, "group", "rate", ((title, first, len(rows) - 1),), bars=True))
    shown = over(
        report,
        "reference",
        *texts("step", "of", "group"),
        *columns(COUNT, "applicants", "selected"),
        *columns(PERCENT, "rate"),
        *columns(COUNT, "reference_applicants", "reference_selected"),
        *columns(RATIO, "impact_ratio", "interval_lower=From", "interval_upper=To"),
        *columns("0.0", "shortfall"),
        *columns("0.00", "sd=Standard deviations"),
        *columns(P, "p", "p_adjusted=p, corrected"),
        *texts("status"),
        *columns(RATIO, "detectable_ratio", "within_odds_ratio=Odds ratio within requisitions"),
        *columns(RATIO, "within_p=p within requisitions"),
    )
    about = f"{name}: change a count (D, E, G, H) and the rates, ratios, shortfalls and deviations follow"
    return SheetTable(sheet, about, shown, rows, tuple(charts), "status")


def _group_rows(table: DisparityTable) -> Iterator[Row]:
    reference = next((row for row in table.groups if row.group == table.reference), None)
    for row in table.groups:
        found = {**cells(row), "step": table.step, "of": _of(table), "status": spaced(row.status.value)}
        if reference is None or row.group == table.reference:
            yield {**found, **dict.fromkeys(COMPARED)}
        else:
            sizes = {"reference_applicants": reference.applicants, "reference_selected": reference.selected}
            yield {**found, **sizes}


def _of(table: DisparityTable) -> str:
    return "all applicants" if table.kind == "cumulative" else "those who reached the previous step"


def _segments(report: Report) -> SheetTable:
    rows = [{**row, "found": "yes" if row["found"] else "no"} for row in TABLES["segment_values"].rows(report)]
    shown = (
        *texts("attribute", "step", "group", "reference", "segment", "value"),
        *columns(COUNT, "applicants", "selected", "reference_applicants", "reference_selected"),
        SheetColumn("rate", "Rate", PERCENT, "{selected}/{applicants}"),
        SheetColumn("reference_rate", "Reference rate", PERCENT, "{reference_selected}/{reference_applicants}"),
        SheetColumn("impact_ratio", "Impact ratio", RATIO, "{rate}/{reference_rate}"),
        *columns(P, "p", "p_adjusted=p, corrected"),
        *texts("found"),
        *columns("0.0", "shortfall"),
    )
    return SheetTable("Segments", "Where differences come from: parts of the firm", shown, rows)


def _comparisons(report: Report) -> SheetTable:
    """Each group against the highest rate, the largest group and everyone else, with the figures that experts use."""
    shown = over(
        report,
        "others",
        *texts("attribute", "step", "of", "group", "against"),
        *columns(COUNT, "applicants", "selected", "others_applicants=Others' applicants"),
        *columns(COUNT, "others_selected=Others' selected"),
        *columns(PERCENT, "rate", "others_rate=Others' rate"),
        *columns(RATIO, "impact_ratio", "interval_lower=From", "interval_upper=To", "odds_ratio"),
        *columns(RATIO, "odds_interval_lower=Odds from", "odds_interval_upper=Odds to"),
        *columns("0.0", "shortfall"),
        *columns("0.00", "sd=Standard deviations"),
        *columns(RATIO, "h=Cohen's h", "phi"),
        *columns(P, "p", "mid_p=mid-p", "p_design=p by requisitions and people", "p_adjusted=p, corrected"),
        *texts("needed=Selections that change a conclusion"),
    )
    rows = []
    for table in report.tables:
        for row in table.groups:
            own = {**cells(row), "attribute": table.attribute, "step": table.step, "of": _of(table)}
            own = {key: own[key] for key in ("attribute", "step", "of", "group", "applicants", "selected", "rate")}
            for one in row.comparisons:
                whom = (one.reference or "everybody else") + (
                    " (largest group)" if one.against == "largest_group" else ""
                )
                sides = {"others_applicants": one.applicants, "others_selected": one.selected, "others_rate": one.rate}
                needed = "more than 2" if one.flips.needed is None else str(one.flips.needed)
                rows.append({**cells(one), **own, **sides, "against": whom, "needed": needed})
    about = "Each group against others: change a count (F to I) and rates, ratios, odds and deviations follow"
    return SheetTable("Comparisons", about, shown, rows)


def _segment_search(report: Report) -> SheetTable:
    shown = over(
        report,
        "others",
        *texts("attribute", "step", "group", "against", "segment", "value"),
        *columns(COUNT, "applicants", "selected", "others_applicants=Others' applicants"),
        *columns(COUNT, "others_selected=Others' selected"),
        *columns(PERCENT, "rate", "others_rate=Others' rate"),
        *columns(RATIO, "impact_ratio", "interval_lower=From", "interval_upper=To"),
        *columns(RATIO, "odds_within=Odds ratio within requisitions"),
        *columns(P, "p", "p_adjusted=p, corrected"),
        *columns("0.0", "shortfall_within=Shortfall"),
        *columns(RATIO, "elsewhere_odds_ratio=Odds ratio elsewhere"),
        *columns(P, "p_elsewhere=p of no difference from elsewhere"),
    )
    rows = [
        {
            **row,
            "against": row["against"] or "everybody else",
            "odds_within": row["odds_ratio"],
            "shortfall_within": row["shortfall"],
        }
        for row in TABLES["segment_search"].rows(report)
    ]
    search = None if report.disparity is None else report.disparity.search
    tests = plural(0 if search is None else search.tests, "test")
    return SheetTable(
        "Segment search", f"Differences in parts of the firm, found among {tests} of all segments", shown, rows
    )


def _availability(report: Report) -> SheetTable:
    shown = (
        *texts("attribute", "step", "group", "pool"),
        *columns(COUNT, "selected", "of_group=Of the group"),
        *columns(PERCENT, "share=Share of the pool"),
        SheetColumn("share_selected", "Share of those selected", PERCENT, "{of_group}/{selected}"),
        SheetColumn("expected", "Expected", "0.0", "{selected}*{share}"),
        SheetColumn("shortfall", "Shortfall", "0.0", "{expected}-{of_group}"),
        *columns("0.00", "sd=Standard deviations"),
        *columns(P, "p", "p_adjusted=p, corrected"),
    )
    rows: list[Row] = []
    for one in report.disparity.availability if report.disparity is not None else ():
        about = {"attribute": one.attribute, "step": one.step, "group": one.group}
        tests = {"sd": one.sd, "p": one.p, "p_adjusted": one.p_adjusted}
        first = len(rows)
        for pool in one.pools:
            counts = _selected(pool.selected, pool.of_group, pool.selected * pool.share)
            rows.append({**about, "pool": pool.pool, "share": pool.share, **counts})
        if len(one.pools) == 1:
            rows[-1] = {**rows[-1], **tests}
        else:
            counts = _selected(one.selected, one.of_group, sum(pool.selected * pool.share for pool in one.pools))
            for key in ("selected", "of_group", "expected"):
                span = f"SUM({{{key}.column}}{{first}}:{{{key}.column}}{{last}})"
                counts[key] = Formula(span, counts[key])  # type: ignore[arg-type]
            rows.append({**about, "pool": "all pools", **counts, **tests, "first": first, "last": len(rows) - 1})
    return SheetTable("Availability", "Those selected against the shares of pools outside the firm", shown, rows)


def _selected(selected: int, of_group: int, expected: float) -> dict[str, Cell]:
    share = of_group / selected if selected else None
    found: dict[str, Cell] = {"selected": selected, "of_group": of_group, "share_selected": share}
    return found | {"expected": expected, "shortfall": expected - of_group}


def _scores(report: Report) -> SheetTable:
    shown = (
        *texts("attribute", "score", "group"),
        *columns(COUNT, "scored"),
        *columns(AMOUNT, "mean", "sd=Standard deviation", "q0=10 %", "q1=25 %", "q2=Median", "q3=75 %", "q4=90 %"),
        *columns("0.00", "d", "interval_lower=d from", "interval_upper=d to"),
        *columns(P, "p"),
    )
    rows = [
        {
            **row,
            **{f"q{i}": value for i, value in enumerate(cast("tuple[float, ...]", row["quantiles"]))},
            "group": f"{row['group']} (reference)" if row["group"] == row["reference"] else row["group"],
        }
        for row in TABLES["scores"].rows(report)
    ]
    about = "Scores by group; d is the distance of the means from that of the largest group in standard deviations"
    return SheetTable("Scores", about, shown, rows)


def _cut_scores(report: Report) -> SheetTable:
    shown = (
        *texts("attribute", "score"),
        *columns("General", "cut"),
        *texts("group"),
        *columns(COUNT, "scored", "above=At or above"),
        SheetColumn("share", "Share", PERCENT, "{above}/{scored}"),
        SheetColumn("ratio", "Impact ratio", RATIO, "{share}/MAX({share.column}{first}:{share.column}{last})"),
        *texts("present=Admits as many as were selected"),
    )
    rows: list[Row] = []
    for page in report.disparity.score_pages if report.disparity is not None else ():
        for cut in page.cuts:
            own: Row = {
                **{"attribute": page.attribute, "score": page.score, "cut": cut.score},
                **{"first": len(rows), "last": len(rows) + len(page.groups) - 1},
                "present": "yes" if cut.present else None,
            }
            for one, above, ratio in zip(page.groups, cut.above, cut.impact_ratios, strict=True):
                share = above / one.scored if one.scored else None
                counts = {"group": one.group, "scored": one.scored, "above": above, "share": share, "ratio": ratio}
                rows.append({**own, **counts})
    about = "Who would pass if the score alone decided: those at or above a cut, and the share over the highest share"
    return SheetTable("Cut scores", about, shown, rows)


def _policies(report: Report) -> SheetTable:
    shown = (
        *texts("policy", "attribute", "group"),
        *columns(COUNT, "candidates"),
        *columns(AMOUNT, "inspected=Interviewed", "selected"),
        SheetColumn("inspected_rate", "Interviewed of candidates", PERCENT, "{inspected}/{candidates}"),
        SheetColumn("selected_rate", "Selected of candidates", PERCENT, "{selected}/{candidates}"),
        *columns(AMOUNT, "utility=Utility of the policy"),
    )
    rows = [
        {
            **{"policy": policy.title, "attribute": attribute, "group": group, **cells(numbers)},
            **{"inspected_rate": numbers.rate("inspected"), "selected_rate": numbers.rate("selected")},
            "utility": policy.part.utility,
        }
        for policy in view.policies(report)
        for attribute, groups in (policy.part.by_group or {}).items()
        for group, numbers in groups.items()
    ]
    return SheetTable("Policies", "Who is interviewed and selected under each policy", shown, rows)


def _prices(report: Report) -> SheetTable:
    """Losses are numbers, not formulas: a report rounds each to its own interval, not to that of the utilities."""
    best = None if report.unconstrained is None else report.unconstrained.utility
    found = TABLES["prices"].rows(report)
    rows = [{**row, "phrase": row["phrase"] or row["label"], "best": best} for row in found]
    price = "price_of_fairness"
    shown = (
        *texts("phrase=Constraint", "status"),
        *columns(AMOUNT, "best=Without it", "utility=Under it", f"{price}_loss=Loss"),
        *columns(AMOUNT, f"{price}_interval_loss_lower=Loss from", f"{price}_interval_loss_upper=Loss to"),
        *columns(PERCENT, f"{price}_ratio=Kept"),
        *columns(GAP, "gap"),
    )
    return SheetTable("Prices", "What each constraint costs the best policy, in the unit of value", shown, rows)


def _alternatives(report: Report) -> SheetTable:
    """The two frontiers, the firm's own rule and the simple rules of each attribute, with the value each keeps."""
    shown = (
        *texts("attribute", "group", "against", "step", "policy", "text=Rule"),
        *columns(RATIO, "asked=Ratio asked for", "reached=Ratio"),
        *columns(AMOUNT, "utility=Value"),
        SheetColumn("kept", "Kept of the best", PERCENT, "{utility}/{utility.column}${first}"),
        *columns(AMOUNT, "bound=Value at most"),
        *columns(GAP, "gap"),
        *columns("#,##0.0", "interviews", "filled"),
        *columns(RATIO, "gain_ratio=Gain in the ratio", "gain_interval_lower=Gain from", "gain_interval_upper=Gain to"),
        *texts("found=Gain found on other requisitions"),
    )
    rows: list[Row] = []
    charts = []
    for one in report.alternatives or ():
        first, best = len(rows), one.blind[0].utility if one.blind else None
        own = {name: getattr(one, name) for name in ("attribute", "group", "against", "step")} | {"first": first}
        lines: dict[str, tuple[str, int, int]] = {}
        for policy, row in _rules(one):
            if policy not in [rule.name for rule in one.rules]:
                lines[policy] = (policy, lines.get(policy, (policy, len(rows)))[1], len(rows))
            kept = row["utility"] / best if best else None
            rows.append({**own, "text": "", **row, "policy": policy, "kept": kept})
        charts.append(
            SheetChart(
                f"{one.attribute}: value kept by ratio of the {one.rates}", "reached", "kept", tuple(lines.values())
            )
        )
    about = (
        "Policies that do not look at the group, with the bound for one that does; a model, not the people who applied"
    )
    return SheetTable("Alternatives", about, shown, rows, tuple(charts))


def _rules(one: AlternativePart) -> Iterator[tuple[str, Row]]:
    """Every policy for an attribute: the frontiers, the firm's own rule, and the simple ones."""
    for policy, points in (
        ("best without looking at the group", one.blind),
        ("bound if the group could be used", one.aware),
    ):
        yield from ((policy, {**cells(p), "asked": p.ratio}) for p in points if p.utility is not None)
    yield "the firm's own rule", {**cells(one.firm), "reached": one.firm.ratio}
    for rule in one.rules:
        found = None if rule.gain is None else "yes" if rule.gain.found else "no"
        yield rule.name, {**cells(rule), "asked": rule.target, "reached": rule.ratio, "found": found}


def _frontiers(report: Report) -> SheetTable:
    shown = (
        *texts("name=Constraint", "axis=Parameter"),
        *columns(RATIO, "value"),
        *columns(AMOUNT, "utility", "loss"),
        *columns(PERCENT, "ratio=Kept"),
        *columns(GAP, "gap"),
    )
    rows: list[Row] = []
    charts = []
    for curve in report.frontier.curves if report.frontier is not None else ():
        name, first = curve.title or curve.label, len(rows)
        rows += [{**cells(point), "name": name, "axis": curve.axis or curve.parameter} for point in curve.points]
        charts.append(SheetChart(name, "value", "ratio", ((name, first, len(rows) - 1),)))
    return SheetTable("What if", "What stricter and looser constraints would cost", shown, rows, tuple(charts))


def _fit(report: Report) -> SheetTable:
    rows: list[tuple[Cell, ...]] = []
    if (fit := report.fit) is not None:
        rows += (
            ("coverage", f"intervals of {percent(one.nominal, 0)}", None, one.nominal, one.actual, None)
            for one in fit.coverage
        )
        rows += (("group", one.group, one.n, None, one.coverage, one.mean_error) for one in fit.by_group)
        rows += (("expected score", one.name, one.scores, None, one.coverage, one.mean_error) for one in fit.by_stratum)
    shown = (
        *texts("what", "of"),
        *columns(COUNT, "scores"),
        *columns(PERCENT, "nominal", "actual"),
        *columns(AMOUNT, "mean_error"),
    )
    return _listed("Fit", "How well the priors fit held-out scores", shown, rows)


MADE: tuple[Callable[[Report], SheetTable], ...] = (
    *(_comparisons, _segments, _segment_search, _availability, _scores, _cut_scores, _policies, _prices),
    *(_alternatives, _frontiers, _fit),
)
"""Sheets with formulas or charts, in order."""


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
    rows = [(name, str(text)) for name, text in facts]
    return _listed("Sources", "Where the numbers come from", tuple(texts("what", "value")), rows)


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
    """Text for every page, in Excel's notation."""
    formats: dict[str, object] = field(default_factory=dict)

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
        titles, rows = [column.title for column in table.columns], list(table.cells())
        widths = [max(map(len, title.split())) for title in titles]  # titles wrap
        for place, column in enumerate(table.columns):
            sheet.write_string(HEAD, place, column.title, head)
            form = self._format(num_format=column.form, valign="top") if column.form else wrapped
            for at, row in enumerate(rows, FIRST):
                cell = row[place]
                if isinstance(cell, str):
                    sheet.write_string(at, place, cell[:32_767], wrapped)
                    widths[place] = max(widths[place], min(WIDEST, len(cell)))
                elif isinstance(cell, Formula):
                    sheet.write_formula(at, place, cell.text, form, cell.value)
                elif cell is not None:
                    sheet.write_number(at, place, cell, form)
        widths = [max(9, width + 2) for width in widths]
        for place, width in enumerate(widths):
            sheet.set_column(place, place, width)
        sheet.set_row(HEAD, LINE * _lines(titles, widths))
        for at, row in enumerate(rows, FIRST):  # not every program computes the height of wrapped text itself
            if (lines := _lines(row, widths)) > 1:
                sheet.set_row(at, LINE * lines)
        last = FIRST + max(1, len(table.rows)) - 1
        sheet.autofilter(HEAD, 0, last, len(table.columns) - 1)
        sheet.freeze_panes(FIRST, 1)
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)
        sheet.set_margins(left=0.4, right=0.4)
        sheet.repeat_rows(HEAD)
        sheet.set_footer("&L&A&RPage &P of &N")
        if self.marking:
            sheet.set_header(f"&C{self.marking}")
        if table.coloured:
            self._colour(sheet, last, table.place(table.coloured))
        for number, chart in enumerate(table.charts):
            self._chart(chart, sheet, table, last + 2 + 16 * number)

    def _colour(self, sheet: Any, last: int, place: int) -> None:
        """Words and a border also carry the status, so that it shows in black and white print."""
        for status, keys in MARKS.items():
            rule = {"type": "cell", "criteria": "==", "value": f'"{spaced(status)}"', "format": self._format(**keys)}
            sheet.conditional_format(FIRST, place, last, place, rule)

    def _chart(self, chart: SheetChart, sheet: Any, table: SheetTable, row: int) -> None:
        name, lines, labels, values = table.name, chart.lines, table.place(chart.x), table.place(chart.y)
        if chart.bars:
            made = self.book.add_chart({"type": "bar"})
            made.set_x_axis({"num_format": "0%", "min": 0})
        else:
            made = self.book.add_chart({"type": "scatter", "subtype": "straight_with_markers"})
            made.set_x_axis({"name": table.columns[labels].title})
            made.set_y_axis({"name": table.columns[values].title, "num_format": "0.0%"})
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
