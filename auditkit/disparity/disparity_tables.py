"""Every attribute at every step: the tables of a report.

`cuts` counts and `page_evidence` tests; a table here says how each group compares with the highest rate (the
four-fifths convention), with the largest group and with everyone else. For each difference found, `segments` says where
it comes from.

The data choose the *reference*, so the interval of a ratio to it is wider than that of a single comparison: by the
factor at which, among groups with equal rates, `alpha` of such intervals would exclude 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from auditkit.disparity.applicants import Applicants
from auditkit.disparity.cuts import Cut, DisparitySettings, Sides, cuts
from auditkit.disparity.design import corrected, largest, stretch, widened
from auditkit.disparity.omnibus import Association
from auditkit.disparity.page_evidence import ATTRIBUTE, CROSSING, PageEvidence, TableTests, page_evidence, within_test
from auditkit.disparity.pair import FlipFlop, Pair, as_float, flip_flop
from auditkit.disparity.power import applicants_needed, detectable_ratio
from auditkit.disparity.results import (
    Caution,
    Comparator,
    DecidedBy,
    Disparities,
    DisparityTable,
    GroupComparison,
    GroupResult,
    GroupStatus,
    Omnibus,
    OmnibusTests,
    Reconciled,
    Repeated,
    SegmentSearch,
    Within,
)
from auditkit.disparity.segment_search import SEARCH, difference
from auditkit.disparity.segments import segment_tables
from auditkit.disparity.stratified import Agreement, agreement

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WEAK = Fraction(1, 2)
"""If not even this ratio could have been shown, there is too little evidence."""
FEWEST_OF_REFERENCE = (30, 10, 1)
"""How large a reference group must be: the most applicants that at least two groups have."""
SEED, DRAWS = 5, 5_000


def disparities(data: Applicants, settings: DisparitySettings | None = None) -> Disparities:
    """Measures every attribute, crossing and step of these applications."""
    settings = settings or DisparitySettings()
    page = list(cuts(data, settings))
    evidence = page_evidence(data, page, settings)
    tables = [TableMaker(data, cut, evidence, settings).table() for cut in page]
    segments = [
        found
        for cut, table in zip(page, tables)
        for row in table.groups
        if row.status.found and table.reference is not None
        for found in segment_tables(data, cut, table, row.group, settings.alpha, settings.threshold)
    ]
    return Disparities(
        tables=tuple(tables),
        segments=tuple(segments),
        search=_search(data, evidence, settings),
        attributes=tuple(data.attributes),
        crossings=tuple(data.crossings),
        steps=tuple(data.steps),
        applicants=int(data.counted.sum()),
        undecided=int((~data.counted).sum()),
        decided_in_part=int((data.counted & ~data.decided).sum()),
        repeated=_repeated(data),
        level=evidence.level[ATTRIBUTE],
        line=float(settings.line),
        alpha=settings.alpha,
        minimum_share=float(settings.minimum_share),
        tests=sum(len(tests.tests) for tests in evidence.tables.values())
        + len(evidence.searched)
        + len(evidence.trends),
        requisitions=0 if data.strata is None else len(np.unique(data.stratum[0][data.counted])),
        favourable=data.favourable,
    )


def _search(data: Applicants, evidence: PageEvidence, settings: DisparitySettings) -> SegmentSearch:
    alpha = settings.alpha
    found = [difference(test, p, alpha) for test, p in evidence.searched if p <= alpha]
    return SegmentSearch(
        tests=len(evidence.searched),
        segments=tuple(dict.fromkeys(test.look.segment for test, _ in evidence.searched)),
        level=evidence.level[SEARCH],
        found=tuple(sorted((one for one in found if one is not None), key=lambda one: (one.p_adjusted, one.p))),
    )


def _repeated(data: Applicants) -> Repeated | None:
    repeat = data.repeat_applicants
    return None if repeat is None else Repeated(len(np.unique(repeat[1])), len(repeat[0]))


@dataclass(frozen=True, eq=False)
class TableMaker:
    """One table from its counts and tests."""

    data: Applicants
    cut: Cut
    evidence: PageEvidence
    settings: DisparitySettings

    @property
    def tests(self) -> TableTests:
        return self.evidence.tables[self.cut.key]

    @property
    def level(self) -> float:
        """The p that a single test of this table needs."""
        return self.evidence.level[CROSSING if self.cut.crossing else ATTRIBUTE]

    @cached_property
    def choice(self) -> float:
        """How much wider intervals are because the data choose the reference."""
        return reference_factor([int(self.cut.totals[0][g]) for g in self.cut.compared], self.settings.alpha)

    def table(self) -> DisparityTable:
        cut, tests, data = self.cut, self.tests, self.data
        n, x = cut.totals
        reference = self.reference()
        listed = [g for g in range(len(n)) if n[g] >= self.settings.threshold or g in cut.taken]
        total = int(n[listed].sum())
        rows = []
        for g in listed:
            selected = int(n[g] - x[g] if cut.adverse else x[g])
            rate, share = (selected / int(n[g]), int(n[g]) / total) if n[g] else (None, None)
            row = GroupResult(
                cut.groups[g], int(n[g]), selected, rate, share, None, None, None, None, GroupStatus.EXCLUDED
            )
            if reference is not None and g in cut.compared:
                row = replace(row, comparisons=self.comparisons(g, reference))
                row = self.referenced(row) if g == reference else self.compared(row)
            rows.append(row)
        unknown = (cut.everyone < 0) & data.decided_at(cut.step)
        if cut.before is not None:
            unknown &= data.reached(cut.before)
        return DisparityTable(
            attribute=cut.attribute,
            step=cut.step,
            kind=cut.kind,
            crossing=cut.crossing,
            reference=None if reference is None else cut.groups[reference],
            groups=tuple(rows),
            applicants=total,
            selected=sum(row.selected for row in rows),
            unknown=int(np.sum(unknown)),
            agreement=_least_agreement(rows),
            trend=self.evidence.trends.get(cut.key),
            open=tests.gate <= self.settings.alpha,
            omnibus=_omnibus(tests, self.settings.alpha),
            reconciled=_of_table(rows, tests, self.settings.alpha),
            shared=cut.strata.shared,
            joined=cut.strata.joined,
        )

    def reference(self) -> int | None:
        """The group with the highest rate; the largest of several."""
        n, x = self.cut.totals
        groups = self.cut.compared
        enough = ([g for g in groups if n[g] >= fewest] for fewest in FEWEST_OF_REFERENCE)
        large = next((some for some in enough if len(some) > 1), groups)
        return max(large, key=lambda g: (Fraction(int(x[g]), int(n[g])), n[g], -g), default=None)

    def comparisons(self, g: int, reference: int) -> tuple[GroupComparison, ...]:
        """With the highest rate, the largest group and everyone else; never with itself."""
        cut, sizes = self.cut, self.cut.totals[0]
        biggest = max(cut.compared, key=lambda other: (sizes[other], -other))
        whom = {Comparator.HIGHEST: (reference,), Comparator.LARGEST: (biggest,), Comparator.OTHERS: cut.rest(g)}
        measured: dict[tuple[int, ...], GroupComparison] = {}
        found = []
        for against, side in whom.items():
            if side != (g,) and any(sizes[other] for other in side):
                if side not in measured:
                    measured[side] = self.comparison(((g,), side))
                found.append(self.addressed(measured[side], against, g, side))
        return tuple(found)

    def addressed(self, found: GroupComparison, against: Comparator, g: int, side: tuple[int, ...]) -> GroupComparison:
        """A comparison, as one with the highest rate, the largest group or everyone else."""
        reference = None if against is Comparator.OTHERS else self.cut.groups[side[0]]
        if against is Comparator.LARGEST and len(self.cut.taken) > 2:
            within = found.within if found.within is None else replace(found.within, p_adjusted=None)
            return replace(found, against=against, reference=reference, p_adjusted=None, within=within)
        if against is Comparator.HIGHEST and self.choice > 1:
            alpha = self.settings.alpha
            wide = widened(alpha, self.choice * stretch(self.tests.designs("pooled"), alpha))
            interval = self.cut.pair(((g,), side)).interval(wide)
            found = replace(found, interval=None if interval is None else replace(interval, confidence=1 - alpha))
        return replace(found, against=against, reference=reference)

    def comparison(self, sides: Sides) -> GroupComparison:
        """Of two sides."""
        cut, alpha = self.cut, self.settings.alpha
        pair = cut.pair(sides)
        designs = self.tests.designs("pooled")
        p_design = corrected(pair.p, pair.z, designs)
        p_adjusted = self.evidence.adjusted(cut, sides, "pooled", p_design)
        wide = widened(alpha, stretch(designs, alpha))
        interval, odds = pair.interval(wide), pair.odds_interval(wide)
        return GroupComparison(
            against=Comparator.OTHERS,
            reference=None,
            applicants=pair.n0,
            selected=pair.selected[1],
            rate=pair.selected[1] / pair.n0 if pair.n0 else None,
            impact_ratio=as_float(pair.impact_ratio),
            interval=None if interval is None else replace(interval, confidence=1 - alpha),
            interval_plain=pair.interval(alpha),
            p=pair.p,
            mid_p=pair.mid_p,
            method=pair.recommended,
            p_design=p_design,
            p_adjusted=p_adjusted,
            sd=pair.sd,
            h=pair.h,
            phi=pair.phi,
            odds_ratio=pair.odds_ratio,
            odds_interval=None if odds is None else replace(odds, confidence=1 - alpha),
            shortfall=pair.shortfall,
            flips=self.flips(pair, p_design, p_adjusted),
            design=largest(designs, alpha, pair.p, pair.z),
            within=self.within(sides),
        )

    def within(self, sides: Sides) -> Within | None:
        n, x = self.cut.counts(sides)
        if len(n) < 2:
            return None
        alpha, designs = self.settings.alpha, self.tests.designs("within")
        found = within_test(n, x, widened(alpha, stretch(designs, alpha)))
        estimates = found.estimates
        if estimates.strata == 0:
            return None
        p_design = None if found.p is None else corrected(found.p, found.z, designs)
        adjusted = None if p_design is None else self.evidence.adjusted(self.cut, sides, "within", p_design)
        odds, risk = estimates.odds_interval, estimates.risk_interval
        return Within(
            strata=estimates.strata,
            odds_ratio=estimates.odds_ratio,
            interval=None if odds is None else replace(odds, confidence=1 - alpha),
            risk_ratio=estimates.risk_ratio,
            risk_interval=None if risk is None else replace(risk, confidence=1 - alpha),
            statistic=estimates.cmh,
            p=found.p,
            mid_p=None if found.exact is None else found.exact.mid_p,
            p_design=p_design,
            method="cmh" if found.exact is None else "exact",
            p_adjusted=adjusted,
            shortfall=estimates.shortfall,
            agreement=agreement(n[:, 0], x[:, 0], n[:, 1], x[:, 1]),
            design=largest(designs, alpha, found.p, found.z),
        )

    def flips(self, pair: Pair, p_design: float, p_adjusted: float) -> FlipFlop:
        """With the design and the correction that the pair has on this page: p needs to be alpha * p / p_adjusted."""
        alpha, designs = self.settings.alpha, self.tests.designs("pooled")
        needed = alpha * p_design / p_adjusted if p_adjusted > 0 else alpha
        return flip_flop(pair, self.settings.line, lambda other: corrected(other.p, other.z, designs) <= needed)

    def referenced(self, row: GroupResult) -> GroupResult:
        return replace(row, status=GroupStatus.REFERENCE, impact_ratio=1.0 if row.selected else None)

    def compared(self, row: GroupResult) -> GroupResult:
        """The row of a group other than the reference."""
        alpha, line = self.settings.alpha, self.settings.line
        first, others = row.against(Comparator.HIGHEST), row.against(Comparator.OTHERS)
        if first is None or others is None:
            return row
        pair = self.cut.pair(((self.cut.groups.index(row.group),), (self.cut.groups.index(str(first.reference)),)))
        above = first.shortfall < 0  # too few to be the reference, and a higher rate
        by = None if above else _decided(first, alpha)
        against = Comparator.HIGHEST if by is not None else None
        if against is None and others.lower:
            by = _decided(others, alpha)
            against = Comparator.OTHERS if by is not None else None
        higher = by is None and not others.lower and _decided(others, alpha) is not None
        higher |= above and _decided(first, alpha) is not None
        effect = stretch(self.tests.designs("pooled"), alpha) ** 2
        detectable = detectable_ratio(
            pair.n1,
            pair.n0,
            pair.selected[1] / pair.n0,
            self.level,
            design_effect=effect,
            adverse=pair.adverse,
        )
        status = GroupStatus.HIGHER_RATE if higher else _status(pair, by is not None, detectable, line)
        return replace(
            row,
            impact_ratio=first.impact_ratio,
            interval=first.interval,
            p=first.p,
            p_adjusted=first.p_adjusted,
            status=status,
            decided_by=by,
            decided_against=against,
            detectable_ratio=detectable,
            more_applicants=_more(pair, self.level, effect) if by is None else None,
            within=first.within,
            shortfall=first.shortfall,
            sd=first.sd,
            p_design=first.p_design,
            design=first.design,
            flip_flop=first.flips,
            reconciled=_reconciled(pair, first, self.level, alpha),
            flags=_cautions(pair, first.within, first.flips, self.settings),
        )


def reference_factor(sizes: Sequence[int], alpha: float) -> float:
    """How much wider the interval of a ratio to the highest of these groups is than that of a single comparison.

    Rates X_g of equal groups are about normal with variance 1/n_g; of T_g = (X_max - X_g) / sqrt(1/n_max + 1/n_g) over
    all other groups g, a share alpha exceeds z times this factor.
    """
    if len(sizes) < 3:
        return 1.0
    n = np.sort(np.array(sizes, dtype=np.float64))
    rates = np.random.default_rng(SEED).standard_normal((DRAWS, len(n))) / np.sqrt(n)
    top = rates.argmax(axis=1)
    distance = (rates.max(axis=1)[:, None] - rates) / np.sqrt(1 / n[top][:, None] + 1 / n)
    others = distance[np.arange(len(n)) != top[:, None]]
    return max(1.0, float(np.quantile(others, 1 - alpha)) / -float(ndtri(alpha / 2)))


def _decided(comparison: GroupComparison, alpha: float) -> DecidedBy | None:
    """Which of the two tests finds a difference."""
    within = comparison.within
    pooled = comparison.p_adjusted is not None and comparison.p_adjusted <= alpha
    inside = within is not None and within.p_adjusted is not None and within.p_adjusted <= alpha
    if pooled and inside:
        return DecidedBy.BOTH
    return DecidedBy.POOLED if pooled else DecidedBy.WITHIN if inside else None


def _reported(test: Association | None, adjusted: float | None) -> Omnibus | None:
    if test is None or adjusted is None:
        return None
    return Omnibus(test.statistic, test.df, test.p, adjusted, test.method, test.design_effect, test.corrected)


def _omnibus(tests: TableTests, alpha: float) -> OmnibusTests:
    pooled, within = (_reported(tests.tests.get(name), tests.adjusted.get(name)) for name in ("pooled", "within"))
    least = min((test.p_adjusted for test in (pooled, within) if test is not None), default=None)
    return OmnibusTests(least, tests.gate <= alpha, pooled, within)


def _least_agreement(rows: Sequence[GroupResult]) -> Agreement | None:
    found = [row.within.agreement for row in rows if row.within is not None and row.within.agreement is not None]
    if not found:
        return None
    least = min(found, key=lambda one: one.p)
    return replace(least, p=min(1.0, len(found) * least.p))


def _of_table(rows: Sequence[GroupResult], tests: TableTests, alpha: float) -> Reconciled:
    """From the group with the strongest evidence; if no pair is found, from the two omnibus tests."""
    opened = tests.adjusted
    if "within" not in opened:
        return Reconciled.NO_STRATA
    codes = {row.reconciled for row in rows}
    for code in (
        Reconciled.REVERSED,
        Reconciled.BOTH,
        Reconciled.WITHIN_ONLY,
        Reconciled.WITHIN_ONLY_OPPOSITE,
        Reconciled.POOLED_EXPLAINED,
        Reconciled.POOLED_WITHIN_UNCLEAR,
    ):
        if code in codes:
            return code
    pooled, within = opened.get("pooled", 1.0) <= alpha, opened["within"] <= alpha
    if pooled and within:
        return Reconciled.BOTH
    return Reconciled.POOLED_WITHIN_UNCLEAR if pooled else Reconciled.WITHIN_ONLY if within else Reconciled.NEITHER


def _more(pair: Pair, level: float, effect: float) -> int | None:
    present = pair.n1 + pair.n0
    needed = applicants_needed(pair.n1, pair.n0, pair.x1 / pair.n1, pair.x0 / pair.n0, level, design_effect=effect)
    return None if needed is None or needed > 100 * present else max(0, needed - present)


def _status(pair: Pair, found: bool, detectable: float | None, line: Fraction) -> GroupStatus:
    below = pair.below(line)
    if found:
        return GroupStatus.DIFFERENCE_BELOW_LINE if below else GroupStatus.DIFFERENCE_NOT_BELOW_LINE
    if detectable is None:
        return GroupStatus.TOO_LITTLE_EVIDENCE
    if below:
        return GroupStatus.BELOW_LINE_NOT_SUFFICIENT
    return GroupStatus.NO_DIFFERENCE if detectable >= WEAK else GroupStatus.TOO_LITTLE_EVIDENCE


def _reconciled(pair: Pair, comparison: GroupComparison, level: float, alpha: float) -> Reconciled:
    """`level` is the p of a pooled test that would be found if applications were independent."""
    within = comparison.within
    if within is None or within.p is None:
        return Reconciled.NO_STRATA
    by = _decided(comparison, alpha)
    same = (within.shortfall > 0) == comparison.lower
    pooled = comparison.p <= level
    if by is DecidedBy.BOTH:
        return Reconciled.BOTH if same else Reconciled.REVERSED
    if by is DecidedBy.WITHIN:
        return Reconciled.WITHIN_ONLY if same else Reconciled.WITHIN_ONLY_OPPOSITE
    odds, reach = pair.odds_ratio, within.interval
    inside = reach is None or reach.upper is None or (odds is not None and reach.lower <= odds <= reach.upper)
    inside |= same and within.p <= alpha  # evidence that doesn't survive the correction explains nothing
    # Not found with the design effect means that who applies where can account for the pooled difference.
    if by is DecidedBy.POOLED or pooled:
        return Reconciled.POOLED_WITHIN_UNCLEAR if inside else Reconciled.POOLED_EXPLAINED
    return Reconciled.NEITHER


def _cautions(pair: Pair, within: Within | None, flips: FlipFlop, settings: DisparitySettings) -> tuple[Caution, ...]:
    agree = within.agreement if within is not None else None
    raised = {
        Caution.SMALL_NUMBERS: pair.recommended == "fisher",
        Caution.MORE_THAN_TWO_SD: pair.sd is not None and abs(pair.sd) > 2,
        Caution.NOT_ROBUST: not flips.robust,
        Caution.WITHIN_BELOW_LINE: within is not None
        and within.risk_ratio is not None
        and pair.below(settings.line) is False
        and within.risk_ratio < settings.line,
        Caution.STRATA_DISAGREE: agree is not None and agree.reliable and agree.p <= settings.alpha,
    }
    return tuple(caution for caution, up in raised.items() if up)
