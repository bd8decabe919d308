"""What is measured for every attribute and step: the tables of a report as frozen values, and their words.

Practical size (ratio, shortfall) and evidence (adjusted p, interval) stand apart; a status joins them and gives no
verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any, Literal

from auditkit.disparity.measure import MeasureColumn
from auditkit.disparity.pair import FlipFlop, Interval
from auditkit.disparity.plain import plain
from auditkit.disparity.stratified import Agreement

Kind = Literal["cumulative", "conditional"]


class GroupStatus(StrEnum):
    """What the table says of one group."""

    REFERENCE = "reference"
    DIFFERENCE_BELOW_LINE = "difference_below_line"
    DIFFERENCE_NOT_BELOW_LINE = "difference_not_below_line"
    BELOW_LINE_NOT_SUFFICIENT = "below_line_evidence_not_sufficient"
    NO_DIFFERENCE = "no_difference_found"
    TOO_LITTLE_EVIDENCE = "too_little_evidence"
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
    """How the pooled result and the one within requisitions go together."""

    NO_STRATA = "no_strata"
    NEITHER = "neither"
    BOTH = "both"
    POOLED_EXPLAINED = "pooled_explained"
    POOLED_WITHIN_UNCLEAR = "pooled_within_unclear"
    WITHIN_ONLY = "within_only"
    REVERSED = "reversed"


class Caution(StrEnum):
    """What a reader should know beside a status."""

    SMALL_NUMBERS = "small_numbers"
    MORE_THAN_TWO_SD = "more_than_two_sd"
    NOT_ROBUST = "not_robust"
    WITHIN_BELOW_LINE = "within_below_line"
    STRATA_DISAGREE = "strata_disagree"


@dataclass(frozen=True)
class Within:
    """A group against the reference within requisitions (Mantel-Haenszel and CMH, or the exact conditional test)."""

    strata: int
    """Requisitions that hold both groups."""
    odds_ratio: float | None
    interval: Interval | None
    risk_ratio: float | None
    risk_interval: Interval | None
    statistic: float | None
    p: float | None
    method: str
    p_adjusted: float | None
    shortfall: float
    """How many more of the group would have the outcome at the common rate of each requisition."""
    agreement: Agreement | None


@dataclass(frozen=True)
class GroupResult:
    """One group of a table. Comparisons are None for the reference and for groups that are not compared."""

    group: str
    applicants: int
    selected: int
    rate: Fraction | None
    share: Fraction | None
    impact_ratio: Fraction | None
    interval: Interval | None
    p: float | None
    """Fisher's exact test or the normal test of Z, without any correction."""
    p_adjusted: float | None
    """Corrected for the whole page, for repeated applicants and for the reference being chosen by the data."""
    status: GroupStatus
    decided_by: DecidedBy | None = None
    detectable_ratio: float | None = None
    """The largest ratio below 1 that these numbers would have shown with 80 % power, at the level of the page."""
    more_applicants: int | None = None
    """How many more of the group and the reference would show the observed ratio with 80 % power; None if it is found
    already, or if it would take over a hundred times as many."""
    within: Within | None = None
    shortfall: float | None = None
    sd: float | None = None
    flip_flop: FlipFlop | None = None
    reconciled: Reconciled | None = None
    flags: tuple[Caution, ...] = ()
    measures: Mapping[str, float | None] = field(default_factory=dict)
    """What plugins measure, by name."""


@dataclass(frozen=True)
class Omnibus:
    """One test of equal rates in all compared groups of a table."""

    statistic: float
    df: int
    p: float
    p_adjusted: float
    """Over all tables of the page, and for the design effect."""
    method: str
    design_effect: float


@dataclass(frozen=True)
class DisparityTable:
    """All groups of one attribute at one step, of all applicants or of those who reached the step before."""

    attribute: str
    step: str
    kind: Kind
    crossing: bool
    reference: str | None
    groups: tuple[GroupResult, ...]
    applicants: int
    selected: int
    unknown: int
    """Decided applicants of unknown category, who are in no group."""
    pooled: Omnibus | None
    stratified: Omnibus | None
    agreement: Agreement | None
    """Of two groups; of more, the least agreement with the reference, p corrected for the number of groups."""
    open: bool
    """The omnibus test, pooled or stratified, finds a difference; only then pairs are tested."""
    reconciled: Reconciled

    @property
    def p_adjusted(self) -> float | None:
        """The smaller of the two omnibus tests, which opens the table."""
        return min((test.p_adjusted for test in (self.pooled, self.stratified) if test is not None), default=None)

    def __getitem__(self, group: str) -> GroupResult:
        return next(row for row in self.groups if row.group == group)

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = plain(self)
        omnibus = {"pooled": document.pop("pooled"), "stratified": document.pop("stratified")}
        return document | {"omnibus": {"p_adjusted": self.p_adjusted, "open": self.open, **omnibus}}


@dataclass(frozen=True)
class SegmentPart:
    """One value of a segment: the group against the reference there, and its part of the shortfall."""

    value: str
    applicants: int
    selected: int
    reference_applicants: int
    reference_selected: int
    rate: Fraction | None
    reference_rate: Fraction | None
    impact_ratio: Fraction | None
    interval: Interval | None
    p: float | None
    p_adjusted: float | None
    found: bool
    shortfall: float


@dataclass(frozen=True)
class SegmentTable:
    """Where the shortfall of a group comes from: shortfall = sum of the parts + others + composition."""

    attribute: str
    step: str
    kind: Kind
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
    values: int
    """How many values there are, listed or not; p is corrected for all that hold both groups."""
    agreement: Agreement | None

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = plain(self)
        return document


@dataclass(frozen=True)
class Repeated:
    """Applications of persons who applied more than once; variances are clustered by person."""

    persons: int
    applications: int


@dataclass(frozen=True)
class Disparities:
    """All tables of a report."""

    tables: tuple[DisparityTable, ...]
    segments: tuple[SegmentTable, ...]
    attributes: tuple[str, ...]
    crossings: tuple[str, ...]
    steps: tuple[str, ...]
    applicants: int
    undecided: int
    repeated: Repeated | None
    level: float
    """The p below which a single test opens its table: alpha after correction for all tests of the page."""
    line: Fraction
    alpha: float
    minimum_share: Fraction
    measures: tuple[MeasureColumn, ...] = ()
    """What plugins measure: columns of every table."""

    def table(self, attribute: str, step: str, kind: Kind = "cumulative") -> DisparityTable:
        return next(t for t in self.tables if (t.attribute, t.step, t.kind) == (attribute, step, kind))

    def found(self) -> Iterator[tuple[DisparityTable, GroupResult]]:
        """Differences in order of importance: attributes before crossings, then by evidence."""
        rows = [(t, row) for t in self.tables for row in t.groups if row.status.found]

        def evidence(item: tuple[DisparityTable, GroupResult]) -> tuple[bool, float, float]:
            table, row = item
            within = row.within.p if row.within is not None else None
            raw = [p for p in (row.p, within) if p is not None]
            return table.crossing, table.p_adjusted or 0.0, min(raw, default=1.0)

        yield from sorted(rows, key=evidence)

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = plain(self)
        return document | {
            "tables": [table.to_json() for table in self.tables],
            "segments": [segment.to_json() for segment in self.segments],
        }
