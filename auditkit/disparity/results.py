"""The measurements for every attribute and step: the tables of a report as frozen values, and their words.

Practical size (ratio, shortfall) and evidence (adjusted p, interval) are kept apart; a status combines them without
giving a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from auditkit.disparity.availability import Availability
from auditkit.disparity.design import ClusterDesign
from auditkit.disparity.measure import MeasureColumn
from auditkit.disparity.pair import FlipFlop, Interval
from auditkit.disparity.score_differences import ScorePage
from auditkit.disparity.score_validity import ScoreValidity
from auditkit.disparity.stratified import Agreement
from auditkit.disparity.trend import Trend

TableKind = Literal["cumulative", "conditional"]


class GroupStatus(StrEnum):
    """What the table says about one group."""

    REFERENCE = "reference"
    DIFFERENCE_BELOW_LINE = "difference_below_line"
    DIFFERENCE_NOT_BELOW_LINE = "difference_not_below_line"
    BELOW_LINE_NOT_SUFFICIENT = "below_line_evidence_not_sufficient"
    NO_DIFFERENCE = "no_difference_found"
    TOO_LITTLE_EVIDENCE = "too_little_evidence"
    HIGHER_RATE = "higher_rate_found"
    """Selected more often than everyone else, and not the reference."""
    EXCLUDED = "excluded"

    @property
    def found(self) -> bool:
        return self in (GroupStatus.DIFFERENCE_BELOW_LINE, GroupStatus.DIFFERENCE_NOT_BELOW_LINE)


class DecidedBy(StrEnum):
    """Which result found a difference."""

    POOLED = "pooled"
    WITHIN = "within_requisitions"
    BOTH = "both"


class Reconciled(StrEnum):
    """How the pooled result and the one within requisitions fit together."""

    NO_STRATA = "no_strata"
    NEITHER = "neither"
    BOTH = "both"
    POOLED_EXPLAINED = "pooled_explained"
    POOLED_WITHIN_UNCLEAR = "pooled_within_unclear"
    WITHIN_ONLY = "within_only"
    REVERSED = "reversed"
    WITHIN_ONLY_OPPOSITE = "within_only_opposite"
    """Found only within requisitions, where the group does better; pooled, it does worse."""


class Comparator(StrEnum):
    """Whom a group is compared with."""

    HIGHEST = "highest_rate"
    LARGEST = "largest_group"
    OTHERS = "everybody_else"


class Caution(StrEnum):
    """What a reader should know in addition to a status."""

    SMALL_NUMBERS = "small_numbers"
    MORE_THAN_TWO_SD = "more_than_two_sd"
    NOT_ROBUST = "not_robust"
    WITHIN_BELOW_LINE = "within_below_line"
    STRATA_DISAGREE = "strata_disagree"


@dataclass(frozen=True, kw_only=True)
class Within:
    """A group against others within requisitions (Mantel-Haenszel and CMH, or the exact conditional test)."""

    strata: int
    """Requisitions that contain both groups; joined ones count as one."""
    odds_ratio: float | None
    interval: Interval | None
    """On the basis of the design, like `p_design`."""
    risk_ratio: float | None
    risk_interval: Interval | None = None
    statistic: float | None = None
    p: float | None
    """Without any correction."""
    mid_p: float | None = None
    """Of the exact test; None where CMH's approximation is used."""
    p_design: float | None = None
    """With repeat applicants counted once: the basis of the intervals."""
    method: str
    p_adjusted: float | None
    shortfall: float
    """How many more of the group would have the outcome at the common rate of each requisition."""
    agreement: Agreement | None = None
    design: ClusterDesign | None = None
    """What widens the intervals; None if nothing does."""


@dataclass(frozen=True)
class GroupComparison:
    """A group compared with one other group, or with everyone else together.

    There are three layers of evidence: `p`, `mid_p` and `interval_plain` are those of this table by itself;
    `p_design` and `interval` allow for requisitions and repeat applicants; `p_adjusted` also for all tests of the page.
    """

    against: Comparator
    reference: str | None
    """The other group; None for everyone else."""
    applicants: int
    selected: int
    """Of the other side."""
    rate: float | None
    impact_ratio: float | None
    interval: Interval | None
    interval_plain: Interval | None
    p: float
    """Fisher's exact test or the normal test of Z."""
    mid_p: float
    method: str
    p_design: float
    p_adjusted: float | None
    """None if this comparison isn't tested: with the largest group, or in a table whose omnibus test is closed."""
    sd: float | None
    """Number of standard deviations between the selections of the group and those expected; negative: fewer."""
    h: float | None
    phi: float | None
    odds_ratio: float | None
    odds_interval: Interval | None
    shortfall: float
    flips: FlipFlop
    design: ClusterDesign | None
    within: Within | None

    @property
    def lower(self) -> bool:
        """The group has the lower rate."""
        return self.shortfall > 0


@dataclass(frozen=True)
class GroupResult:
    """One group of a table. Comparisons are None for the reference and for groups that aren't compared.

    The reference is the group with the highest rate, by the four-fifths convention; `comparisons` has all three.
    """

    group: str
    applicants: int
    selected: int
    rate: float | None
    share: float | None
    impact_ratio: float | None
    interval: Interval | None
    """On the basis of the design, like `p_design`, and allowing for the data choosing the reference."""
    p: float | None
    """Fisher's exact test or the normal test of Z, without any correction."""
    p_adjusted: float | None
    """Corrected for the whole page, for the design and for the data choosing the reference."""
    status: GroupStatus
    decided_by: DecidedBy | None = None
    decided_against: Comparator | None = None
    """The comparison in which the difference is found."""
    detectable_ratio: float | None = None
    """The largest ratio below 1 that these numbers would have shown with 80 % power, at the level of the page."""
    more_applicants: int | None = None
    """How many more of the group and the reference would show the observed ratio with 80 % power; None if it's already
    found, or if it would take over a hundred times as many."""
    within: Within | None = None
    shortfall: float | None = None
    sd: float | None = None
    p_design: float | None = None
    design: ClusterDesign | None = None
    flip_flop: FlipFlop | None = None
    reconciled: Reconciled | None = None
    flags: tuple[Caution, ...] = ()
    measures: Mapping[str, float | None] = field(default_factory=dict)
    """Plugins' measures, by name."""
    comparisons: tuple[GroupComparison, ...] = ()

    @property
    def compared(self) -> bool:
        return self.status not in (GroupStatus.REFERENCE, GroupStatus.EXCLUDED)

    def against(self, whom: Comparator) -> GroupComparison | None:
        return next((comparison for comparison in self.comparisons if comparison.against is whom), None)


@dataclass(frozen=True)
class Omnibus:
    """One test of equal rates in all compared groups of a table."""

    statistic: float
    df: int
    p: float
    p_adjusted: float
    """Over all tables of the page, and for the design effect."""
    method: str
    design_effect: float | None = None
    p_design: float | None = None
    """With the design effect, before the correction for the page."""


@dataclass(frozen=True)
class OmnibusTests:
    """The tests of a whole table; if one of them finds a difference, the table is open, and pairs are tested."""

    p_adjusted: float | None
    """The smaller of the two tests."""
    open: bool
    pooled: Omnibus | None
    stratified: Omnibus | None


@dataclass(frozen=True, kw_only=True)
class DisparityTable:
    """All groups of one attribute at one step, of all applicants or of those who reached the step before."""

    attribute: str
    step: str
    kind: TableKind
    crossing: bool
    reference: str | None
    groups: tuple[GroupResult, ...]
    applicants: int
    selected: int
    unknown: int
    """Decided applicants of unknown category, who aren't in any group."""
    agreement: Agreement | None = None
    """For two groups; with more, the least agreement with the reference, with p corrected for the number of groups."""
    trend: Trend | None = None
    """Over groups that have an order, such as bands of age."""
    open: bool = False
    """The omnibus test, pooled or stratified, finds a difference; only then are pairs tested."""
    reconciled: Reconciled | None = None
    shared: int = 0
    """Requisitions with applicants of two groups that are compared."""
    joined: int = 0
    """Requisitions with few applicants of a group, which are compared within sets of similar ones."""
    omnibus: OmnibusTests

    @property
    def pooled(self) -> Omnibus | None:
        return self.omnibus.pooled

    @property
    def stratified(self) -> Omnibus | None:
        return self.omnibus.stratified

    def __getitem__(self, group: str) -> GroupResult:
        return next(row for row in self.groups if row.group == group)


@dataclass(frozen=True, kw_only=True)
class SegmentPart:
    """One value of a segment: the group against the reference there, and its share of the shortfall."""

    value: str
    applicants: int
    selected: int
    reference_applicants: int
    reference_selected: int
    rate: float | None
    reference_rate: float | None
    impact_ratio: float | None
    interval: Interval | None = None
    p: float | None
    p_adjusted: float | None
    found: bool
    shortfall: float


@dataclass(frozen=True)
class SegmentTable:
    """Where the shortfall of a group comes from: shortfall = sum of the parts + others + composition."""

    attribute: str
    step: str
    kind: TableKind
    segment: str
    group: str
    reference: str
    shortfall: float
    within: float
    """Of the parts and others: what arises inside the values of the segment."""
    composition: float
    """What arises because the group applies to values with other rates than the reference does."""
    parts: tuple[SegmentPart, ...]
    others: float
    """Parts of the values that are not listed."""
    values: int = 0
    """How many values there are, listed or not; p is corrected for all that contain both groups."""
    agreement: Agreement | None = None

    @property
    def unlisted(self) -> int:
        """Values that are not among the parts."""
        return self.values - len(self.parts)


@dataclass(frozen=True)
class SegmentDifference:
    """A difference in one value of a segment, found by the search over all of them.

    Rates and the impact ratio are of all applicants of the value; odds ratio, p and shortfall within its requisitions.
    """

    attribute: str
    group: str
    against: str | None
    """The other group; None means everyone else."""
    step: str
    kind: TableKind
    segment: str
    value: str
    applicants: int
    selected: int
    others_applicants: int
    others_selected: int
    rate: float
    others_rate: float
    impact_ratio: float | None
    interval: Interval | None
    strata: int
    odds_ratio: float | None
    odds_interval: Interval | None
    p: float
    p_design: float
    p_adjusted: float
    method: str
    shortfall: float
    elsewhere_odds_ratio: float | None
    """In all other values together."""
    p_elsewhere: float | None
    """Tests for the same odds ratio here and elsewhere: only if it's small does this value differ from the others."""


@dataclass(frozen=True)
class SegmentSearch:
    """The search over segments: how many tests, over which segments, and the differences it found."""

    tests: int
    segments: tuple[str, ...]
    level: float
    """The p that one of these tests needs."""
    found: tuple[SegmentDifference, ...]


@dataclass(frozen=True)
class Repeated:
    """Applications of persons who applied more than once; variances are clustered by person."""

    persons: int
    applications: int


@dataclass(frozen=True, kw_only=True)
class Disparities:
    """Impact ratios with tests and intervals, of every attribute at every step."""

    tables: tuple[DisparityTable, ...]
    segments: Annotated[tuple[SegmentTable, ...], Field(exclude=True), SkipJsonSchema()] = ()
    """A part of the report of their own."""
    attributes: tuple[str, ...]
    crossings: tuple[str, ...]
    steps: tuple[str, ...]
    applicants: int
    undecided: int
    """Applications that no step decided, so not in any rate."""
    decided_in_part: int = 0
    """Applicants who withdrew, or are waiting, after a step: only in the rates of the steps they reached."""
    repeated: Repeated | None = None
    level: float
    """The p below which a single test opens its table: alpha, corrected for all tests of the page."""
    line: float
    alpha: float
    minimum_share: float
    tests: int = 0
    """How many tests p is corrected for."""
    requisitions: int = 0
    """With applicants; 0 if the data have none."""
    favourable: bool = True
    """Whether it is good to be selected."""
    search: SegmentSearch | None = None
    availability: tuple[Availability, ...] = ()
    """Those selected, compared with pools outside the firm."""
    score_pages: tuple[ScorePage, ...] = ()
    """Scores by group, and the impact ratio at every cut score."""
    validity: ScoreValidity | None = None
    """Whether the score predicts the outcome of those hired; None without outcomes."""
    measures: tuple[MeasureColumn, ...] = ()
    """What plugins measure: columns of every table."""

    @property
    def further_measures(self) -> tuple[MeasureColumn, ...]:
        """Plugins' measures with their own column; the shortfall has one already."""
        return tuple(column for column in self.measures if column.name != "shortfall")

    def table(self, attribute: str, step: str, kind: TableKind = "cumulative") -> DisparityTable:
        return next(t for t in self.tables if (t.attribute, t.step, t.kind) == (attribute, step, kind))

    def found(self) -> Iterator[tuple[DisparityTable, GroupResult]]:
        """Differences in order of importance: attributes before crossings, then by evidence."""
        rows = [(t, row) for t in self.tables for row in t.groups if row.status.found]

        def evidence(item: tuple[DisparityTable, GroupResult]) -> tuple[bool, float, float]:
            table, row = item
            within = row.within.p if row.within is not None else None
            raw = [p for p in (row.p, within) if p is not None]
            return table.crossing, table.omnibus.p_adjusted or 0.0, min(raw, default=1.0)

        yield from sorted(rows, key=evidence)
