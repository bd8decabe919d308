"""What pages and charts take from a `Report`, in the order in which they show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from auditkit.compare.comparison import TOGETHER, GroupNumbers
from auditkit.compare.firm_gain import FirmGain, GroupChange
from auditkit.disparity.availability import Availability
from auditkit.disparity.results import (
    Comparator,
    DisparityTable,
    GroupComparison,
    GroupResult,
    GroupStatus,
    SegmentTable,
    TableKind,
)
from auditkit.disparity.score_differences import ScorePage
from auditkit.disparity.segments import REQUISITION
from auditkit.fitting.quality import Error
from auditkit.model.limits import UnitNumbers
from auditkit.report.schema import (
    ConstrainedModel,
    FindingModel,
    FollowUpModel,
    GainModel,
    GroupErrorModel,
    GroupModel,
    LawModel,
    LeftOutModel,
    Outcome,
    Report,
    StandingModel,
)
from auditkit.report.words import labels
from auditkit.report.words.phrases import Phrases

FIRM, BEST = "The firm, as recorded", "Best without constraints"
"""The policies that every report has."""


def joined(attribute: str) -> str:
    """A crossing as people say it: Gender+Ethnicity is Gender and Ethnicity."""
    return attribute.replace("+", " and ")


def phrases(report: Report) -> Phrases:
    """The words for steps, people and constraints of this report."""
    own = report.reading
    return Phrases.of(report.attributes, report.steps, *(() if own is None else (own.people, own.verb)))


def group_names(report: Report, attribute: str) -> list[str]:
    """Groups of an attribute, largest first: the order that gives each its colour in all charts."""
    groups = [g for g in report.groups if g.attribute == attribute]
    return [g.name for g in sorted(groups, key=lambda g: -g.applicants)]


def groups_by_attribute(report: Report) -> dict[str, list[GroupModel]]:
    """The groups of each attribute, in the order of the report."""
    found: dict[str, list[GroupModel]] = {}
    for group in report.groups:
        found.setdefault(group.attribute, []).append(group)
    return found


def step_numbers(report: Report, attribute: str) -> list[tuple[str, dict[str, int]]]:
    """Every step of the funnel with the number of each group that reached it; those who applied first."""
    return [(stage.step, stage.by_group[attribute]) for stage in report.funnel if stage.by_group.get(attribute)]


# Policies -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PolicyView:
    """One of the policies that are laid side by side: its name in tables, and in words its title."""

    name: str
    title: str
    part: StandingModel | ConstrainedModel

    @property
    def constrained(self) -> bool:
        return isinstance(self.part, ConstrainedModel)

    @property
    def infeasible(self) -> bool:
        return isinstance(self.part, ConstrainedModel) and not self.part.met

    @property
    def conflict(self) -> tuple[str, ...]:
        return self.part.conflict if isinstance(self.part, ConstrainedModel) else ()

    @property
    def order_kept(self) -> bool | None:
        return self.part.order_kept if isinstance(self.part, ConstrainedModel) else None

    @property
    def all_filled(self) -> float | None:
        """The chance that no position is left open."""
        law = self.part.unfilled if isinstance(self.part, ConstrainedModel) else None
        return None if law is None else law.none

    def groups(self, attribute: str) -> Mapping[str, GroupNumbers]:
        """The numbers of each group of an attribute."""
        return (self.part.by_group or {}).get(attribute, {})

    def rate(self, attribute: str, group: str, outcome: Outcome) -> float | None:
        """Expected outcomes per candidate of the group."""
        row = self.groups(attribute).get(group)
        return None if row is None else row.rate(outcome)


def policies(report: Report) -> Iterator[PolicyView]:
    """The firm's, the best without constraints, and the best under each constraint."""
    if report.firm is not None:
        yield PolicyView(FIRM, FIRM, report.firm)
    if report.unconstrained is not None:
        yield PolicyView(BEST, BEST, report.unconstrained)
    words = phrases(report)
    for entry in report.benchmarks:
        label = "all constraints" if entry.label == TOGETHER else entry.label
        yield PolicyView(f"Best under {label}", f"Best with {words.constraint(entry)}", entry)


def has_long_term(report: Report) -> bool:
    """Whether any policy has a long-term utility."""
    return any(policy.part.long_term_utility is not None for policy in policies(report))


def most_groups(report: Report) -> int:
    """The number of groups of the attribute that has most, among those by which policies are counted."""
    groups = groups_by_attribute(report)
    return max((len(groups.get(name, ())) for name in policy_attributes(report)), default=0)


class UnitRow(NamedTuple):
    """A unit with places of its own, and how full it is under each policy."""

    label: str
    positions: int
    results: Sequence[UnitNumbers]


def units(report: Report) -> list[UnitRow]:
    """The units inside searches, under the policies that can be followed."""
    open_to = [policy.part.units or () for policy in policies(report) if not policy.infeasible]
    return [
        UnitRow(unit.label, unit.positions, [own for found in open_to for own in found if own.label == unit.label])
        for unit in (open_to[0] if open_to else ())
    ]


def price_span(entry: ConstrainedModel, share: bool = True) -> tuple[float, float] | None:
    """The interval of what a constraint gives up: as a share of the utility, or as a loss."""
    price = entry.price_of_fairness
    return None if price is None else price.given_up_span if share else price.loss_span


def price_level(report: Report) -> float | None:
    """The level of the intervals of prices, if there are any."""
    prices = [entry.price_of_fairness for entry in report.entries if entry.price_of_fairness is not None]
    return next((price.interval.level for price in prices if price.interval is not None), None)


def phrase_of_label(report: Report, label: str) -> str:
    """What the constraint of this label asks for."""
    words = phrases(report)
    return next((words.constraint(entry) for entry in report.entries if entry.label == label), label)


def loss_span_of_label(report: Report, label: str) -> tuple[float, float] | None:
    """The interval of the loss under the constraint of this label."""
    return next((price_span(entry, share=False) for entry in report.entries if entry.label == label), None)


class GainView(NamedTuple):
    """What each policy would gain over the firm's own search; `own` is what that is worth."""

    own: float
    rows: list[tuple[str, GainModel | FirmGain]]
    by_group: Mapping[str, Mapping[str, GroupChange]]
    judged: bool
    """Whether the number of inspections can be judged."""
    headings: list[str]
    legend: str


def gain(report: Report) -> GainView | None:
    """None where nothing is known of the firm's own search."""
    found = None if report.firm is None else report.firm.gain
    if found is None:
        return None
    words, judged = phrases(report), found.parts.cost is not None
    others = [
        (f"Best with {words.constraint(e)}", e.against_firm) for e in report.benchmarks if e.against_firm is not None
    ]
    steps = [(step.step, step.gain) for step in found.steps]
    return GainView(
        found.expected_utility,
        [(BEST, found), *others],
        found.by_group,
        judged,
        labels.gain_headings(words, judged),
        labels.gain_legend(words, judged, found.level, steps),
    )


def policy_attributes(report: Report) -> list[str]:
    """The attributes by which the policies are counted."""
    return list(dict.fromkeys(name for policy in policies(report) for name in policy.part.by_group or {}))


def policy_rows(report: Report, attribute: str) -> list[tuple[str, Mapping[str, GroupNumbers]]]:
    """The numbers of the groups of an attribute under each policy that has some."""
    found = [(policy.title, policy.groups(attribute)) for policy in policies(report)]
    return [(title, groups) for title, groups in found if groups]


class LawView(NamedTuple):
    """How one row of a constraint comes out in single rounds."""

    name: str
    law: LawModel
    equality: bool
    """Never met exactly, so that only its spread is of interest."""
    people: bool
    """The slack is a number of people, not a share."""

    @property
    def two_sd(self) -> float:
        return 2 * self.law.sd

    @property
    def two_normalised_sd(self) -> float | None:
        return None if self.law.normalised is None else 2 * self.law.normalised.sd


def laws(entry: ConstrainedModel, words: Phrases) -> list[LawView]:
    """Ex-post slacks of an entry."""
    senses = {dual.label: dual.sense for dual in entry.duals or ()}
    return [
        LawView(
            words.row(law.label, law.meaning),
            law,
            senses.get(law.label) == "==",
            law.meaning is not None and law.meaning.kind == "share",
        )
        for law in entry.ex_post_slack or ()
    ]


# Fit ------------------------------------------------------------------------------------------------------------------


class ErrorRow(NamedTuple):
    """Errors of the predictions of a group, or of a tercile of the expected score."""

    name: str
    scores: int | None
    error: GroupErrorModel | Error


class ErrorTable(NamedTuple):
    """Errors of the predictions, by `name`."""

    name: str
    rows: list[ErrorRow]

    @property
    def has_standard_error(self) -> bool:
        return any(row.error.standard_error is not None for row in self.rows)

    @property
    def has_coverage(self) -> bool:
        return any(row.error.coverage is not None for row in self.rows)


def errors(report: Report) -> list[ErrorTable]:
    """The errors by group and by expected score, where there are any."""
    if report.fit is None:
        return []
    found = [
        ErrorTable("group", [ErrorRow(row.group, row.n, row) for row in report.fit.by_group]),
        ErrorTable("expected score", [ErrorRow(row.name, row.scores, row) for row in report.fit.by_stratum]),
    ]
    return [table for table in found if table.rows]


# Disparity ------------------------------------------------------------------------------------------------------------


MARKS = {
    GroupStatus.DIFFERENCE_BELOW_LINE: "●",
    GroupStatus.DIFFERENCE_NOT_BELOW_LINE: "◍",
    GroupStatus.BELOW_LINE_NOT_SUFFICIENT: "◐",
    GroupStatus.NO_DIFFERENCE: "○",
    GroupStatus.HIGHER_RATE: "△",
    GroupStatus.TOO_LITTLE_EVIDENCE: "·",
    GroupStatus.EXCLUDED: "·",
    GroupStatus.REFERENCE: "",
}
"""Shapes that differ without colour, the most serious first."""

_ORDER = list(MARKS)
CROSSED = frozenset(_ORDER[: _ORDER.index(GroupStatus.NO_DIFFERENCE)])
"""Statuses of a difference that was found, or of a ratio below the line."""

Severity = tuple[int, float, float]


def severity(row: GroupResult) -> Severity:
    """Sorts groups and tables: differences found first, then those below the line, each by evidence and by size."""
    p, ratio = row.p_adjusted, row.impact_ratio
    return _ORDER.index(row.status), 1.0 if p is None else p, 1.0 if ratio is None else ratio


MOST_ON_FIRST_PAGE, FEW_ON_FIRST_PAGE = 7, 5
"""Groups of an attribute that are all on the first page, and how many are there of more."""


class AttributeView(NamedTuple):
    """An attribute or crossing with its tables, in the order of the steps."""

    name: str
    crossing: bool
    tables: Sequence[DisparityTable]

    @property
    def title(self) -> str:
        return joined(self.name)

    @property
    def steps(self) -> list[tuple[str, list[DisparityTable]]]:
        """The tables of each step: of all applicants, then of those who reached the step before."""
        found: dict[str, list[DisparityTable]] = {}
        for table in self.tables:
            found.setdefault(table.step, []).append(table)
        return [(step, sorted(tables, key=lambda t: t.kind == "conditional")) for step, tables in found.items()]

    @property
    def groups(self) -> list[str]:
        """Those that fare worst first; the ones that are not compared are left out."""
        worst: dict[str, Severity] = {}
        for row in _rows(self.tables):
            worst[row.group] = min(worst.get(row.group, severity(row)), severity(row))
        return sorted((name for name in worst if name not in self.excluded), key=lambda name: worst[name])

    @property
    def on_first_page(self) -> list[str]:
        """The groups that fare worst, so few of many that the findings begin on the same page."""
        return self.groups if len(self.groups) <= MOST_ON_FIRST_PAGE else self.groups[:FEW_ON_FIRST_PAGE]

    @property
    def excluded(self) -> list[str]:
        """Groups that are compared nowhere."""
        compared = {row.group for row in _rows(self.tables) if row.status != GroupStatus.EXCLUDED}
        return list(dict.fromkeys(row.group for row in _rows(self.tables) if row.group not in compared))

    @property
    def trends(self) -> list[DisparityTable]:
        return [table for _, tables in self.steps for table in tables if table.trend is not None]

    def applicants(self, group: str) -> int | None:
        return next((row.applicants for row in _rows(self.tables[:1]) if row.group == group), None)

    def segments(self, report: Report) -> list[SegmentTable]:
        """Where the gaps come from; single requisitions only where one shows a difference."""
        own = [cut for cut in report.segments or () if cut.attribute == self.name]
        return [cut for cut in own if cut.segment != REQUISITION or any(part.found for part in cut.parts)]

    def segment_tables(self, report: Report) -> list[tuple[str, str, list[SegmentTable]]]:
        """The same by group and step: one table for each of both."""
        found: dict[tuple[str, str], list[SegmentTable]] = {}
        for group in dict.fromkeys(cut.group for cut in self.segments(report)):
            for cut in self.segments(report):
                if cut.group == group:
                    found.setdefault((group, cut.step), []).append(cut)
        return [(group, step, cuts) for (group, step), cuts in found.items()]

    def availability(self, report: Report) -> list[Availability]:
        pools = () if report.disparity is None else report.disparity.availability
        return [pool for pool in pools if pool.attribute == self.name]

    def score_pages(self, report: Report) -> list[ScorePage]:
        pages = () if report.disparity is None else report.disparity.score_pages
        return [page for page in pages if page.attribute == self.name]


_ROLES = {Comparator.HIGHEST: "the highest rate", Comparator.LARGEST: "the largest group"}


class ComparedWith(NamedTuple):
    """A group against one other side, and in words who that is."""

    whom: str
    figures: GroupComparison | GroupResult


def comparisons(table: DisparityTable, row: GroupResult) -> list[ComparedWith]:
    """Every comparison of a group once. Of two groups, and of crossings, there is the one with the highest rate; a
    report without comparisons has those of rows."""
    compared = [each for each in table.groups if each.status != GroupStatus.EXCLUDED and each.applicants]
    if not row.comparisons or len(compared) == 2 or table.crossing:
        figures: GroupComparison | GroupResult = row.comparisons[0] if row.comparisons else row
        return [ComparedWith(table.reference or "the highest rate", figures)] if row.compared else []
    roles: dict[str, list[str]] = {}
    for one in row.comparisons:
        if one.reference is not None:
            roles.setdefault(one.reference, []).append(_ROLES[one.against])
    found = []
    for one in row.comparisons:
        if one.reference is None:
            found.append(ComparedWith("everyone else", one))
        elif said := roles.pop(one.reference, None):
            found.append(ComparedWith(f"{one.reference}, {' and '.join(said)}", one))
    return found


def _rows(tables: Sequence[DisparityTable]) -> Iterator[GroupResult]:
    for table in tables:
        yield from table.groups


def attributes(report: Report) -> list[AttributeView]:
    """Attributes with tables, the one that fares worst first; crossings behind them."""
    found: dict[str, list[DisparityTable]] = {}
    for table in report.tables:
        found.setdefault(table.attribute, []).append(table)
    views = [AttributeView(name, tables[0].crossing, tables) for name, tables in found.items()]
    nothing: Severity = (len(_ORDER), 1.0, 1.0)
    return sorted(views, key=lambda view: (view.crossing, min(map(severity, _rows(view.tables)), default=nothing)))


def crossed_line(report: Report) -> bool:
    """Whether any measurement found a difference or lies below the line, crossed groups included."""
    return any(row.status in CROSSED for row in _rows(report.tables))


class MatrixColumn(NamedTuple):
    """A column of the first page: a step, of whom."""

    step: str
    kind: TableKind
    of: str


def columns(report: Report) -> list[MatrixColumn]:
    """All steps of all applicants, then the later ones of those who reached the step before."""
    words = phrases(report)
    steps = list(dict.fromkeys(table.step for table in report.tables))
    found = [MatrixColumn(step, "cumulative", "of all applicants") for step in steps]
    for before, step in pairwise(steps):
        found.append(MatrixColumn(step, "conditional", f"of those {words.reached(before)}"))
    return found


MOST_COLUMNS_IN_ONE = 5
"""More columns of the first page make two tables."""


def matrices(report: Report) -> list[tuple[str, list[MatrixColumn]]]:
    """The tables of the first page: their captions and columns."""
    every, caption = columns(report), "Impact ratios at each step"
    if len(every) <= MOST_COLUMNS_IN_ONE:
        return [(caption, every)]
    halves = {"cumulative": "of all applicants", "conditional": "of those who reached the step before"}
    found = [(f"{caption}, {of}", [one for one in every if one.kind == kind]) for kind, of in halves.items()]
    return [(title, half) for title, half in found if half]


def cell(view: AttributeView, column: MatrixColumn, group: str | None = None) -> GroupResult | None:
    """The result of a group in a column; without a group, the one that fares worst."""
    tables = [table for table in view.tables if (table.step, table.kind) == (column.step, column.kind)]
    return min((row for row in _rows(tables) if group in (None, row.group)), key=severity, default=None)


# Findings -------------------------------------------------------------------------------------------------------------

MOST_FINDINGS = 7
"""On the first page, on the terminal and in notebooks."""


def told(report: Report) -> list[FindingModel]:
    """The findings that are more than notices."""
    return [finding for finding in report.findings if finding.kind != "notice"]


def notices(report: Report) -> list[FindingModel]:
    return [finding for finding in report.findings if finding.kind == "notice"]


MOST_PENDING = 4
"""Earlier findings without an answer that the findings list."""


class FollowUps(NamedTuple):
    """What became of earlier findings."""

    open: int
    answered: int
    gone: int
    pending: list[FollowUpModel]


def follow_ups(report: Report) -> FollowUps | None:
    """Earlier findings counted by what became of them; None where there are none."""
    number = Counter(one.status for one in report.follow_ups)
    pending = [one for one in report.follow_ups if one.status != "answered"][:MOST_PENDING]
    found = FollowUps(number["open"] + number["under way"], number["answered"], number["no longer found"], pending)
    return found if report.follow_ups else None


class LeftOut(NamedTuple):
    """Rows that are left out before they are counted as applications, and applications that are left out later."""

    rows: list[LeftOutModel]
    applications: list[LeftOutModel]


def left_out(report: Report) -> LeftOut:
    of_rows = report.problems.counts.left
    rows = [left for left in report.scope.left_out if left.reason in of_rows]
    return LeftOut(rows, [left for left in report.scope.left_out if left.reason not in of_rows])


def leading(report: Report) -> list[FindingModel]:
    """The findings of the first page: in their order, at most seven, and neither kinds nor attributes crowded out."""
    found = told(report)
    kinds = list(dict.fromkeys(finding.kind for finding in found))
    kept: list[int] = []
    for i, kind in enumerate(kinds):
        own = _attributes_first([k for k, finding in enumerate(found) if finding.kind == kind], found)
        later = len(kinds) - i - 1
        kept += own[: max(1, MOST_FINDINGS - len(kept) - later)]
    return [found[k] for k in sorted(kept)[:MOST_FINDINGS]]


def nothing_found(report: Report) -> list[str]:
    """What to say before the findings where none is about a difference between groups."""
    return [one.text for one in report.findings if one.code in ("no-difference-found", "nothing-to-compare")]


def _attributes_first(places: list[int], found: Sequence[FindingModel]) -> list[int]:
    """The first finding on each attribute (crossings apart) before the others."""
    first: dict[str, int] = {}
    for k in places:
        attribute = found[k].attribute
        if attribute is not None and "+" not in attribute:
            first.setdefault(attribute, k)
    return [*first.values(), *(k for k in places if k not in first.values())]


def further(report: Report) -> list[FindingModel]:
    """Findings that the first page has no room for."""
    first = leading(report)
    return [finding for finding in told(report) if not any(finding is one for one in first)]


def comments(report: Report) -> list[str]:
    """The auditor's own words, in paragraphs."""
    text = report.config.statement.comments.replace("\r", "")
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def reasons(report: Report, *parts: str) -> list[str]:
    """Why a part is missing: the notices whose code names it (`no-fit`, `fit-not-...`)."""
    names = [part.replace("_", "-") for part in parts]
    exact = {code for name in names for code in (f"no-{name}", f"{name}-missing")}
    begins = tuple(f"{name}-not-" for name in names)
    return [note.text for note in report.findings if note.code in exact or note.code.startswith(begins)]
