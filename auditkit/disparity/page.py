"""Every attribute at every step: the tables of a report, with errors controlled for the whole page.

1. One omnibus test for each attribute (and crossing), step and kind, pooled and within requisitions; all of them are
   adjusted together (`stepdown`). A table is open if one of its two tests is found.
2. In open tables every pair of groups is tested, pooled and within requisitions, because the reference is chosen by
   the data; the pairs of all open tables are adjusted together, and no pair has a smaller p than its table.
3. For each difference found, segments, periods and requisitions show where it comes from (`segments`), corrected among
   themselves.

So on data without any difference about `alpha` of *reports* name one. Kinds: `cumulative`, of all applicants;
`conditional`, of those who reached the step before (at the first step both are the same and only the first is made).
The pooled test has a design effect: persons who apply more than once and, with 20 requisitions or more, requisitions
are clusters, so that groups that by chance apply where rates are high do not look different.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from auditkit.disparity import omnibus
from auditkit.disparity.applicants import Applicants, group_codes
from auditkit.disparity.omnibus import Association
from auditkit.disparity.pair import FlipFlop, Interval, Pair, flip_flop, stratify
from auditkit.disparity.power import applicants_needed, detectable_ratio
from auditkit.disparity.results import (
    Caution,
    DecidedBy,
    Disparities,
    DisparityTable,
    GroupResult,
    GroupStatus,
    Kind,
    Omnibus,
    Reconciled,
    Repeated,
    Within,
)
from auditkit.disparity.segments import segment_tables
from auditkit.disparity.stepdown import step_down
from auditkit.disparity.stratified import Agreement, agreement, exact_p, sparse
from auditkit.errors import InputError, Problem
from auditkit.model.groups import MINIMUM_SHARE, comparable

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Key = tuple[str, str, Kind]
"""Attribute, step and kind: what names a table."""

FEW_CLUSTERS = 20
"""With fewer requisitions their variance says too little to be used."""
MOST_SCORES = 4_000_000
"""Entries of the matrix that the dependence of tests is estimated from; of more rows, some requisitions are taken."""
WEAK = Fraction(1, 2)
"""Where not even this ratio could have been shown, there is too little evidence."""


@dataclass(frozen=True)
class DisparitySettings:
    line: Fraction = Fraction(4, 5)
    alpha: float = 0.05
    minimum_share: Fraction = MINIMUM_SHARE
    threshold: int = 0
    """Groups with fewer applicants are neither compared nor listed."""

    def __post_init__(self) -> None:
        for name in ("line", "minimum_share"):
            object.__setattr__(self, name, Fraction(str(getattr(self, name))))  # 0.8 means 4/5
        limits = {
            "line": 0 < self.line <= 1,
            "alpha": 0 < self.alpha < 1,
            "minimum_share": 0 <= self.minimum_share <= 1,
        }
        if not all(limits.values()):
            raise InputError(Problem(name, "must lie between 0 and 1") for name, good in limits.items() if not good)


@dataclass(frozen=True, eq=False)
class Cut:
    """Counts of one table: strata by groups; `taken` are the columns that are compared."""

    attribute: str
    crossing: bool
    step: str
    before: str | None
    """The step that those counted have reached; None: all applicants."""
    groups: tuple[str, ...]
    codes: Ints
    n: Ints
    x: Ints
    taken: tuple[int, ...]

    @property
    def kind(self) -> Kind:
        return "cumulative" if self.before is None else "conditional"

    @property
    def key(self) -> Key:
        return self.attribute, self.step, self.kind

    def counts(self, *groups: int) -> tuple[Ints, Ints]:
        return self.n[:, groups], self.x[:, groups]

    def pair(self, one: int, zero: int) -> Pair:
        n, x = self.n.sum(axis=0), self.x.sum(axis=0)
        return Pair(int(n[one]), int(x[one]), int(n[zero]), int(x[zero]))


def cuts(data: Applicants, settings: DisparitySettings) -> Iterator[Cut]:
    """The tables of a page, attributes before crossings."""
    stratum, K = data.stratum[0], len(data.stratum[1])
    reached = {step: data.reached(step) for step in data.steps}
    for crossing, columns in ((False, data.attributes), (True, data.crossings)):
        for attribute, labels in columns.items():
            code, groups = group_codes(labels)
            code = np.where(data.decided, code, -1)
            G, known = len(groups), code >= 0
            cell = stratum[known] * G + code[known]

            def count(rows: Bools, cell: Ints = cell, G: int = G, known: Bools = known) -> Ints:
                return np.bincount(cell[rows[known]], minlength=K * G).reshape(K, G)

            everybody = np.bincount(cell, minlength=K * G).reshape(K, G)
            sizes = dict(zip(groups, everybody.sum(axis=0).tolist()))
            names = comparable(sizes, settings.minimum_share, settings.threshold)
            taken = tuple(groups.index(name) for name in names)
            before: str | None = None
            at: Ints | None = None
            for step, here in reached.items():
                x = count(here)
                yield Cut(attribute, crossing, step, None, groups, code, everybody, x, taken)
                if before is not None and at is not None:
                    both = x if not np.any(here & ~reached[before]) else count(here & reached[before])
                    yield Cut(attribute, crossing, step, before, groups, code, at, both, taken)
                before, at = step, x


def disparities(data: Applicants, settings: DisparitySettings | None = None) -> Disparities:
    """Measures every attribute, crossing and step of these applications."""
    settings = settings or DisparitySettings()
    page = list(cuts(data, settings))
    tests = [_omnibus(data, cut) for cut in page]
    first = [(cut, cut.taken, way, test) for cut, ways in zip(page, tests) for way, test in ways.items()]
    adjusted, level = _adjusted(
        data, [(cut, groups, way, test.corrected) for cut, groups, way, test in first], settings
    )
    opened: dict[Key, dict[str, float]] = {}
    for (cut, *_, way, _test), p in zip(first, adjusted):
        opened.setdefault(cut.key, {})[way] = p
    wide = [cut for cut in page if len(cut.taken) > 2 and _opens(opened.get(cut.key, {}), settings.alpha)]
    pairs = _pair_evidence(data, wide, {cut.key: test for cut, test in zip(page, tests)}, settings)
    tables = [
        _table(data, cut, test, opened.get(cut.key, {}), pairs, level, settings) for cut, test in zip(page, tests)
    ]
    segments = [
        found
        for cut, table in zip(page, tables)
        for row in table.groups
        if row.status.found and table.reference is not None
        for found in segment_tables(
            data,
            table,
            row.group,
            cut.codes,
            (cut.groups.index(row.group), cut.groups.index(table.reference)),
            settings.alpha,
            settings.threshold,
        )
    ]
    return Disparities(
        tables=tuple(tables),
        segments=tuple(segments),
        attributes=tuple(data.attributes),
        crossings=tuple(data.crossings),
        steps=tuple(data.steps),
        applicants=int(data.decided.sum()),
        undecided=int((~data.decided).sum()),
        repeated=_repeated(data),
        level=level,
        line=settings.line,
        alpha=settings.alpha,
        minimum_share=settings.minimum_share,
    )


def _opens(adjusted: dict[str, float], alpha: float) -> bool:
    return min(adjusted.values(), default=1.0) <= alpha


def _repeated(data: Applicants) -> Repeated | None:
    return None if data.again is None else Repeated(len(np.unique(data.again[1])), len(data.again[0]))


# Tests ----------------------------------------------------------------------------------------------------------------


def _omnibus(data: Applicants, cut: Cut) -> dict[str, Association]:
    """The two tests of a table, as far as they are defined: `pooled` and `within`."""
    n, x = cut.counts(*cut.taken)
    total, chosen = n.sum(axis=0), x.sum(axis=0)
    if np.sum(total > 0) < 2:
        return {}
    strata = int(np.sum(n.sum(axis=1) > 0))
    robust = [omnibus.clustered(n, x)] if strata >= FEW_CLUSTERS else []
    if data.again is not None:
        robust.append(omnibus.pooled_variance(total, chosen) + _by_person(data, cut, "pooled"))
    pooled = omnibus.pooled(total, chosen, robust)
    found = {} if pooled is None else {"pooled": pooled}
    if strata > 1:
        robust = []
        if data.again is not None:
            robust.append(omnibus.stratified_variance(n, x) + _by_person(data, cut, "within"))
        within = omnibus.stratified(n, x, robust)
        if within is not None:
            found["within"] = within
    return found


def _population(data: Applicants, cut: Cut, groups: Sequence[int], rows: Ints | None = None) -> tuple[Ints, Ints]:
    """Rows of a table that belong to these groups, and their places among them."""
    place = np.full(len(cut.groups) + 1, -1)
    place[list(groups)] = np.arange(len(groups))
    inside = place[cut.codes if rows is None else cut.codes[rows]]
    keep = inside >= 0
    if cut.before is not None:
        reached = data.reached(cut.before)
        keep &= reached if rows is None else reached[rows]
    at = np.flatnonzero(keep)
    return (at if rows is None else rows[at]), inside[at]


def _scores(data: Applicants, cut: Cut, groups: Sequence[int], way: str, rows: Ints | None) -> tuple[Ints, Floats]:
    """Rows, and their scores u = (1[g] - share)(y - rate) for all groups but the last."""
    at, place = _population(data, cut, groups, rows)
    n, x = cut.counts(*groups)
    y = data.reached(cut.step)[at].astype(np.float64)
    if way == "pooled":
        share = np.broadcast_to(n.sum(axis=0) / n.sum(), (len(at), len(groups)))
        rate = np.full(len(at), x.sum() / n.sum())
    else:
        t = np.maximum(n.sum(axis=1), 1)
        k = data.stratum[0][at]
        share, rate = (n / t[:, None])[k], (x.sum(axis=1) / t)[k]
    indicator = place[:, None] == np.arange(len(groups) - 1)
    return at, (indicator - share[:, :-1]) * (y - rate)[:, None]


def _by_person(data: Applicants, cut: Cut, way: str) -> Floats:
    """What applications of the same person add to the variance of the scores: products of two different ones."""
    rows, person = data.again or (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    at, scores = _scores(data, cut, cut.taken, way, rows)
    scores = np.column_stack([scores, -scores.sum(axis=1)])
    who = person[np.searchsorted(rows, at)]
    sums = np.stack([np.bincount(who, weights=column) for column in scores.T], axis=1)
    return np.asarray(sums.T @ sums - scores.T @ scores)


def _adjusted(
    data: Applicants, tests: Sequence[tuple[Cut, tuple[int, ...], str, float]], settings: DisparitySettings
) -> tuple[list[float], float]:
    """Adjusted p of these tests, and the p that a single one of them needs."""
    width = sum(len(groups) - 1 for _, groups, _, _ in tests)
    rows = _sample(data, MOST_SCORES // max(width, 1))
    matrix = np.zeros((width, len(rows)))
    begin = 0
    for cut, groups, way, _ in tests:
        at, scores = _scores(data, cut, groups, way, rows)
        matrix[begin : begin + len(groups) - 1, np.searchsorted(rows, at)] = scores.T
        begin += len(groups) - 1
    return step_down([p for *_, p in tests], matrix.T, [len(groups) - 1 for _, groups, _, _ in tests], settings.alpha)


def _sample(data: Applicants, most: int) -> Ints:
    """Decided rows; if there are more than `most`, those of requisitions spread evenly over all."""
    rows = np.flatnonzero(data.decided)
    if len(rows) <= most:
        return rows
    stratum, names = data.stratum
    if len(names) <= FEW_CLUSTERS:
        return rows[:: -(-len(rows) // most)]
    sizes = np.bincount(stratum[rows], minlength=len(names))
    every = -(-len(rows) // most)
    taken = np.arange(len(names)) % every == 0
    taken &= np.cumsum(np.where(taken, sizes, 0)) <= 2 * most
    return rows[taken[stratum[rows]]]


Evidence = dict[tuple[Key, frozenset[int]], dict[str, tuple[float, str, float]]]
"""Of a table and a pair of groups: pooled and within, each raw p, method and adjusted p."""


def _within_p(n: Ints, x: Ints) -> tuple[float, str] | None:
    """CMH of two groups, or the exact test where strata are sparse."""
    found = stratify(n[:, 0], x[:, 0], n[:, 1], x[:, 1])
    if found.p is None:
        return None
    exact = exact_p(n[:, 0], x[:, 0], n[:, 1], x[:, 1]) if sparse(n[:, 0], x[:, 0], n[:, 1], x[:, 1]) else None
    return (found.p, "cmh") if exact is None else (exact, "exact")


def _with_effect(p: float, effect: float) -> float:
    """p of a normal test after a design effect."""
    return p if effect == 1.0 or p <= 0 else float(2 * ndtr(float(ndtri(p / 2)) / effect**0.5))


def _pair_evidence(
    data: Applicants, wide: Sequence[Cut], tests: dict[Key, dict[str, Association]], settings: DisparitySettings
) -> Evidence:
    """All pairs of the open tables with more than two groups, adjusted together."""
    family: list[tuple[Cut, tuple[int, ...], str, float]] = []
    raw: list[tuple[float, str]] = []
    for cut in wide:
        effect = {way: test.design_effect for way, test in tests[cut.key].items()}
        for pair in itertools.combinations(cut.taken, 2):
            both = cut.pair(pair[0], pair[1])
            found = {"pooled": (both.p, both.recommended)} if both.z is not None else {}
            within = _within_p(*cut.counts(*pair)) if "within" in effect else None
            if within is not None:
                found["within"] = within
            for way, (p, method) in found.items():
                family.append((cut, pair, way, _with_effect(p, effect.get(way, 1.0))))
                raw.append((p, method))
    adjusted, _ = _adjusted(data, family, settings) if family else ([], 0.0)
    evidence: Evidence = {}
    for (cut, groups, way, _), (p, method), p_adjusted in zip(family, raw, adjusted):
        evidence.setdefault((cut.key, frozenset(groups)), {})[way] = (p, method, p_adjusted)
    return evidence


# Tables ---------------------------------------------------------------------------------------------------------------


def _table(
    data: Applicants,
    cut: Cut,
    tests: dict[str, Association],
    opened: dict[str, float],
    pairs: Evidence,
    level: float,
    settings: DisparitySettings,
) -> DisparityTable:
    n, x = cut.n.sum(axis=0), cut.x.sum(axis=0)
    compared = [g for g in cut.taken if n[g]]
    reference = max(compared, key=lambda g: (Fraction(int(x[g]), int(n[g])), n[g], -g), default=None)
    listed = [g for g in range(len(n)) if cut.n[:, g].sum() >= settings.threshold or g in cut.taken]
    total = int(n[listed].sum())
    is_open = _opens(opened, settings.alpha)
    rows = []
    for g in listed:
        rate, share = (Fraction(int(x[g]), int(n[g])), Fraction(int(n[g]), total)) if n[g] else (None, None)
        row = GroupResult(
            cut.groups[g], int(n[g]), int(x[g]), rate, share, None, None, None, None, GroupStatus.EXCLUDED
        )
        if g == reference:
            row = replace(row, status=GroupStatus.REFERENCE, impact_ratio=Fraction(1) if x[g] else None)
        elif reference is not None and g in compared:
            row = _compared(cut, g, reference, row, tests, opened, pairs, level, settings)
        rows.append(row)
    known = cut.codes >= 0
    eligible = data.decided if cut.before is None else data.decided & data.reached(cut.before)
    return DisparityTable(
        attribute=cut.attribute,
        step=cut.step,
        kind=cut.kind,
        crossing=cut.crossing,
        reference=None if reference is None else cut.groups[reference],
        groups=tuple(rows),
        applicants=total,
        selected=int(x[listed].sum()),
        unknown=int(np.sum(eligible & ~known)),
        pooled=_reported(tests.get("pooled"), opened.get("pooled")),
        stratified=_reported(tests.get("within"), opened.get("within")),
        agreement=_least_agreement(rows),
        open=is_open,
        reconciled=_of_table(rows, opened, settings.alpha),
    )


def _reported(test: Association | None, adjusted: float | None) -> Omnibus | None:
    if test is None or adjusted is None:
        return None
    return Omnibus(test.statistic, test.df, test.p, adjusted, test.method, test.design_effect)


def _least_agreement(rows: Sequence[GroupResult]) -> Agreement | None:
    found = [row.within.agreement for row in rows if row.within is not None and row.within.agreement is not None]
    if not found:
        return None
    least = min(found, key=lambda one: one.p)
    return replace(least, p=min(1.0, len(found) * least.p))


def _of_table(rows: Sequence[GroupResult], opened: dict[str, float], alpha: float) -> Reconciled:
    """From the group that tells most; if no pair does, from the two omnibus tests."""
    if "within" not in opened:
        return Reconciled.NO_STRATA
    codes = {row.reconciled for row in rows if row.status.found}
    for code in (
        Reconciled.REVERSED,
        Reconciled.BOTH,
        Reconciled.WITHIN_ONLY,
        Reconciled.POOLED_EXPLAINED,
        Reconciled.POOLED_WITHIN_UNCLEAR,
    ):
        if code in codes:
            return code
    pooled, within = opened.get("pooled", 1.0) <= alpha, opened["within"] <= alpha
    if pooled and within:
        return Reconciled.BOTH
    return Reconciled.POOLED_WITHIN_UNCLEAR if pooled else Reconciled.WITHIN_ONLY if within else Reconciled.NEITHER


def _compared(
    cut: Cut,
    g: int,
    reference: int,
    row: GroupResult,
    tests: dict[str, Association],
    opened: dict[str, float],
    pairs: Evidence,
    level: float,
    settings: DisparitySettings,
) -> GroupResult:
    alpha, pair = settings.alpha, cut.pair(g, reference)
    effect = tests["pooled"].design_effect if "pooled" in tests else 1.0
    gate = min(opened.values(), default=1.0)
    evidence = pairs.get((cut.key, frozenset((g, reference))), {})
    many = len(cut.taken) * (len(cut.taken) - 1) // 2

    def adjust(way: str, p: float) -> float:
        if len(cut.taken) == 2:
            return opened.get(way, 1.0)
        return max(gate, evidence[way][2] if way in evidence else min(1.0, many * p))

    p_adjusted = adjust("pooled", pair.p)
    within = _within(cut, g, reference, alpha)
    if within is not None and within.p is not None:
        within = replace(within, p_adjusted=adjust("within", within.p))
    found = p_adjusted <= alpha
    found_within = within is not None and within.p_adjusted is not None and within.p_adjusted <= alpha
    detectable = detectable_ratio(pair.n1, pair.n0, pair.x0 / pair.n0, level, design_effect=effect)
    flips = _flips(pair, p_adjusted, settings)
    decided = DecidedBy.BOTH if found and found_within else DecidedBy.POOLED if found else DecidedBy.WITHIN
    return replace(
        row,
        impact_ratio=pair.impact_ratio,
        interval=_widened(pair, alpha, effect),
        p=pair.p,
        p_adjusted=p_adjusted,
        status=_status(pair, found or found_within, detectable, settings.line),
        decided_by=decided if found or found_within else None,
        detectable_ratio=detectable,
        more_applicants=_more(pair, level, effect) if not (found or found_within) else None,
        within=within,
        shortfall=pair.shortfall,
        sd=pair.sd,
        flip_flop=flips,
        reconciled=_reconciled(pair, within, found, found_within),
        flags=_cautions(pair, within, flips, settings),
    )


def _within(cut: Cut, g: int, reference: int, alpha: float) -> Within | None:
    n, x = cut.counts(g, reference)
    if len(n) < 2:
        return None
    found = stratify(n[:, 0], x[:, 0], n[:, 1], x[:, 1], alpha)
    if found.strata == 0:
        return None
    tested = _within_p(n, x)
    return Within(
        strata=found.strata,
        odds_ratio=found.odds_ratio,
        interval=found.odds_interval,
        risk_ratio=found.risk_ratio,
        risk_interval=found.risk_interval,
        statistic=found.cmh,
        p=None if tested is None else tested[0],
        method="cmh" if tested is None else tested[1],
        p_adjusted=None,
        shortfall=found.shortfall,
        agreement=agreement(n[:, 0], x[:, 0], n[:, 1], x[:, 1]),
    )


def _widened(pair: Pair, alpha: float, effect: float) -> Interval | None:
    """The interval of the impact ratio with its reach stretched by the root of the design effect."""
    found = pair.interval(alpha if effect == 1.0 else float(2 * ndtr(float(ndtri(alpha / 2)) * effect**0.5)))
    return None if found is None else replace(found, confidence=1 - alpha)


def _more(pair: Pair, level: float, effect: float) -> int | None:
    present = pair.n1 + pair.n0
    needed = applicants_needed(pair.n1, pair.n0, pair.x1 / pair.n1, pair.x0 / pair.n0, level, design_effect=effect)
    return None if needed is None or needed > 100 * present else max(0, needed - present)


def _flips(pair: Pair, p_adjusted: float, settings: DisparitySettings) -> FlipFlop:
    """With the correction that the pair has on this page: p needs to be `settings.alpha` * p / p_adjusted."""
    needed = settings.alpha * pair.p / p_adjusted if p_adjusted > 0 else settings.alpha
    return flip_flop(pair, settings.line, lambda other: other.p <= needed)


def _status(pair: Pair, found: bool, detectable: float | None, line: Fraction) -> GroupStatus:
    below = pair.below(line)
    if found:
        return GroupStatus.DIFFERENCE_BELOW_LINE if below else GroupStatus.DIFFERENCE_NOT_BELOW_LINE
    if detectable is None:
        return GroupStatus.TOO_LITTLE_EVIDENCE
    if below:
        return GroupStatus.BELOW_LINE_NOT_SUFFICIENT
    return GroupStatus.NO_DIFFERENCE if detectable >= WEAK else GroupStatus.TOO_LITTLE_EVIDENCE


def _reconciled(pair: Pair, within: Within | None, found: bool, found_within: bool) -> Reconciled:
    if within is None or within.p is None:
        return Reconciled.NO_STRATA
    if found and found_within:
        lower = pair.x1 * pair.n0 < pair.x0 * pair.n1
        return Reconciled.BOTH if (within.shortfall > 0) == lower else Reconciled.REVERSED
    if found_within:
        return Reconciled.WITHIN_ONLY
    if not found:
        return Reconciled.NEITHER
    b, d = pair.n1 - pair.x1, pair.n0 - pair.x0
    odds = pair.x1 * d / (b * pair.x0) if b and pair.x0 else None
    reach = within.interval
    inside = reach is None or reach.upper is None or (odds is not None and reach.lower <= odds <= reach.upper)
    return Reconciled.POOLED_WITHIN_UNCLEAR if inside else Reconciled.POOLED_EXPLAINED


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
