"""Every group against the reference: what is measured, what it is called, and how sure it is.

A p-value stands beside its Holm and Benjamini-Hochberg adjustments over the groups of one table; a status uses Holm's.
A status reports a measurement against a convention and gives no verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from auditkit.disparity.pair import FlipFlop, Interval, Pair, Stratified, flip_flop, holm, stratify
from auditkit.disparity.plain import plain
from auditkit.errors import InputError, Problem
from auditkit.model.groups import comparable

FOUR_FIFTHS = Fraction(4, 5)


class Status(StrEnum):
    """What was measured for one group; every member has a text for the reader."""

    REFERENCE = "reference"
    BELOW_LINE = "below_line"
    DIFFERENCE_FOUND = "difference_found"
    NOT_BELOW_LINE = "not_below_line"
    TOO_LITTLE_EVIDENCE = "too_little_evidence"
    EXCLUDED = "excluded"
    SUPPRESSED = "suppressed"

    @property
    def text(self) -> str:
        return _STATUS_TEXT[self]


class Flag(StrEnum):
    """A caution that stands beside a status."""

    SMALL_NUMBERS = "small_numbers"
    MORE_THAN_TWO_SD = "more_than_two_sd"
    NOT_ROBUST = "not_robust"
    POOLING_REVERSES = "pooling_reverses"

    @property
    def text(self) -> str:
        return _FLAG_TEXT[self]


_STATUS_TEXT = {
    Status.REFERENCE: "highest rate; the other groups are compared with it",
    Status.BELOW_LINE: "impact ratio below the convention's line, and a difference larger than chance usually makes",
    Status.DIFFERENCE_FOUND: "impact ratio not below the line, yet a difference larger than chance usually makes",
    Status.NOT_BELOW_LINE: "no disparity found beyond the convention's line, for the impact ratio and its interval",
    Status.TOO_LITTLE_EVIDENCE: "too little evidence to place the group on either side of the convention's line",
    Status.EXCLUDED: "left out of the comparison",
    Status.SUPPRESSED: "not shown, so that no person can be recognised",
}
_FLAG_TEXT = {
    Flag.SMALL_NUMBERS: "a group under 30 or an expected count under 5: Fisher's exact test is the one to read",
    Flag.MORE_THAN_TWO_SD: "more than two standard deviations from the expected number of selections",
    Flag.NOT_ROBUST: "not robust: one moved selection changes the side of the line or the outcome of the test",
    Flag.POOLING_REVERSES: "within requisitions the difference points the other way than in the pooled counts",
}


@dataclass(frozen=True)
class ReferenceComparison:
    """One group against the reference."""

    impact_ratio: Fraction | None
    below_line: bool | None
    interval: Interval | None
    z: float | None
    z_p: float | None
    sd: float | None
    fisher_p: float
    recommended: str
    p: float
    p_holm: float
    p_bh: float
    flip_flop: FlipFlop
    stratified: Stratified | None


@dataclass(frozen=True)
class Group:
    """One line of a disparity table. `applicants` is None only where it is suppressed; `shown` is what to print."""

    group: str
    applicants: int | None
    shown: str
    selected: int | None
    rate: Fraction | None
    share: Fraction | None
    impact_ratio: Fraction | None
    status: Status
    reason: str
    flags: tuple[Flag, ...]
    comparison: ReferenceComparison | None
    measures: Mapping[str, float | None] = field(default_factory=dict)
    """What plugins measure, by name."""


@dataclass(frozen=True)
class Disparity:
    """The groups of one table. Rows read = applicants + unknown + withdrawn + pending + not_measured."""

    outcome: str
    reference: str | None
    groups: tuple[Group, ...]
    applicants: int
    selected: int
    line: Fraction
    alpha: float
    minimum_share: Fraction
    notes: tuple[str, ...]
    unknown: int = 0
    withdrawn: int = 0
    pending: int = 0
    not_measured: int = 0
    median: float | None = None

    def __getitem__(self, group: str) -> Group:
        return next(row for row in self.groups if row.group == group)

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = plain(self)
        return document


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """Applicants `n` and selected `x`, strata by groups."""

    groups: tuple[str, ...]
    n: NDArray[np.int64]
    x: NDArray[np.int64]

    def __post_init__(self) -> None:
        if len(set(self.groups)) < len(self.groups) or not self.groups:
            raise InputError(Problem("groups", "there must be at least one group, each named once"))
        n, x = (np.array(counts, dtype=np.float64).reshape(-1, len(self.groups)) for counts in (self.n, self.x))
        good = (x >= 0) & (x <= n) & (x % 1 == 0) & (n % 1 == 0)
        what = "not whole numbers with 0 <= selected <= applicants"
        if not good.all():
            raise InputError(Problem(f"counts of {self.groups[g]!r}", what) for g in np.flatnonzero(~good.all(axis=0)))
        for name, counts in (("n", n.astype(np.int64)), ("x", x.astype(np.int64))):
            counts.setflags(write=False)
            object.__setattr__(self, name, counts)

    @staticmethod
    def of(*strata: Mapping[str, tuple[int, int]]) -> GroupCounts:
        """One mapping `group -> (applicants, selected)` for each stratum."""
        groups = tuple(sorted({group for stratum in strata for group in stratum}))
        cells = np.array([[stratum.get(group, (0, 0)) for group in groups] for stratum in strata])
        cells = cells.reshape(len(strata), len(groups), 2)
        return GroupCounts(groups, cells[..., 0], cells[..., 1])


def compare(
    counts: GroupCounts,
    *,
    minimum_share: float | Fraction = 0,
    line: float | Fraction = FOUR_FIFTHS,
    alpha: float = 0.05,
    outcome: str = "selected",
) -> Disparity:
    """Every group against the reference; groups under `minimum_share` of the applicants are left out first."""
    least, line = Fraction(str(minimum_share)), Fraction(str(line))  # 0.8 means 4/5, not the nearest binary number
    limits = {"minimum_share": 0 <= least <= 1, "line": 0 < line <= 1, "alpha": 0 < alpha < 1}
    if not all(limits.values()):
        raise InputError(Problem(name, "must lie between 0 and 1") for name, good in limits.items() if not good)
    n, x = ([int(value) for value in cells.sum(axis=0)] for cells in (counts.n, counts.x))
    N, S = sum(n), sum(x)
    taken = [counts.groups.index(group) for group in comparable(dict(zip(counts.groups, n)), least)]
    reference = max(taken, key=lambda g: (Fraction(x[g], n[g]), n[g], -g), default=None)
    others = [g for g in taken if g != reference]
    compared: dict[int, ReferenceComparison] = {}
    if reference is not None:
        pairs = [Pair(n[g], x[g], n[reference], x[reference]) for g in others]
        strata = [_stratified(counts, g, reference, alpha) for g in others]
        compared = dict(zip(others, _comparisons(pairs, strata, line, alpha)))
    rows = []
    for g, group in enumerate(counts.groups):
        comparison, ratio = compared.get(g), None
        flags: tuple[Flag, ...] = ()
        if comparison is not None:
            status, reason = _judge(comparison, line, alpha)
            flags, ratio = _flags(comparison), comparison.impact_ratio
        elif g == reference:
            status, reason, ratio = Status.REFERENCE, Status.REFERENCE.text, Fraction(1) if x[g] else None
        else:
            few = f"under {float(100 * least):g} % of the applicants: left out of the ratio"
            status, reason = Status.EXCLUDED, few if n[g] else "no applicants"
        rate, share = (Fraction(x[g], n[g]), Fraction(n[g], N)) if n[g] else (None, None)
        rows.append(Group(group, n[g], str(n[g]), x[g], rate, share, ratio, status, reason, flags, comparison))
    notes = {
        "no group is left to be the reference: nothing is compared": reference is None,
        "only one group is left: there is nothing to compare it with": len(taken) == 1,
        "nobody has the outcome: impact ratios are not defined": N > 0 and S == 0,
        "every applicant has the outcome": N > 0 and S == N,
    }
    return Disparity(
        outcome=outcome,
        reference=None if reference is None else counts.groups[reference],
        groups=tuple(rows),
        applicants=N,
        selected=S,
        line=line,
        alpha=alpha,
        minimum_share=least,
        notes=tuple(note for note, holds in notes.items() if holds),
    )


def _stratified(counts: GroupCounts, g: int, reference: int, alpha: float) -> Stratified | None:
    if len(counts.n) < 2:
        return None
    return stratify(counts.n[:, g], counts.x[:, g], counts.n[:, reference], counts.x[:, reference], alpha)


def _comparisons(
    pairs: Sequence[Pair], strata: Sequence[Stratified | None], line: Fraction, alpha: float
) -> list[ReferenceComparison]:
    if not pairs:
        return []
    p = [pair.p for pair in pairs]
    p_holm = holm(p)
    p_bh = false_discovery_control(p, method="bh")
    cmh = {i: stratum.p for i, stratum in enumerate(strata) if stratum is not None and stratum.p is not None}
    cmh_holm = dict(zip(cmh, holm(list(cmh.values()))))
    comparisons = []
    for i, pair in enumerate(pairs):
        stratum = strata[i]

        def significant(other: Pair, i: int = i) -> bool:
            return holm([*p[:i], other.p, *p[i + 1 :]])[i] <= alpha

        comparisons.append(
            ReferenceComparison(
                impact_ratio=pair.impact_ratio,
                below_line=pair.below(line),
                interval=pair.interval(alpha),
                z=pair.z,
                z_p=pair.z_p,
                sd=pair.sd,
                fisher_p=pair.fisher_p,
                recommended=pair.recommended,
                p=p[i],
                p_holm=p_holm[i],
                p_bh=float(p_bh[i]),
                flip_flop=flip_flop(pair, line, significant),
                stratified=None if stratum is None else replace(stratum, p_holm=cmh_holm.get(i)),
            )
        )
    return comparisons


def _judge(comparison: ReferenceComparison, line: Fraction, alpha: float) -> tuple[Status, str]:
    ratio, interval, found = comparison.impact_ratio, comparison.interval, comparison.p_holm <= alpha
    if ratio is None or interval is None:
        status, why = Status.TOO_LITTLE_EVIDENCE, "nobody of the reference has the outcome"
    elif comparison.below_line:
        status = Status.BELOW_LINE if found else Status.TOO_LITTLE_EVIDENCE
        why = "" if found else f"impact ratio below {line}, but a difference that chance can make"
    elif found:
        status, why = Status.DIFFERENCE_FOUND, ""
    else:
        clear = interval.lower >= line
        status = Status.NOT_BELOW_LINE if clear else Status.TOO_LITTLE_EVIDENCE
        why = "" if clear else f"impact ratio not below {line}, but its interval reaches below it"
    return status, f"{status.text}: {why}" if why else status.text


def _flags(comparison: ReferenceComparison) -> tuple[Flag, ...]:
    stratified = comparison.stratified
    raised = {
        Flag.SMALL_NUMBERS: comparison.recommended == "fisher",
        Flag.MORE_THAN_TWO_SD: comparison.sd is not None and abs(comparison.sd) > 2,
        Flag.NOT_ROBUST: not comparison.flip_flop.robust,
        Flag.POOLING_REVERSES: stratified is not None and stratified.reverses,
    }
    return tuple(flag for flag, up in raised.items() if up)
