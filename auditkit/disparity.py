"""Disparity between groups: impact ratios with tests, intervals and how far one selection would move them.

"Selected" stands for any binary outcome: selected, inspected, or scored above the median of the full sample
(a tie with the median is not above it). Counts are persons; rates, ratios and p-values are pure numbers.

Group 1 is compared with group 0, the **reference**: the highest rate x/n *after* exclusions (a tie goes to the
larger group). With n applicants and x selected in each, p = x/n, and of the two together N = n1+n0, S = x1+x0,
F = N-S, P = S/N:

    impact ratio     IR = p1/p0, compared with the line (4/5) as exact fractions
    Z                (p1-p0) / sqrt(P (1-P) (1/n1 + 1/n0))
    SD               (x1 - n1 S/N) / sqrt(n1 n0 S F / (N^2 (N-1)))        (hypergeometric; margins fixed)
    shortfall        n1 P - x1
    p                Fisher's exact test if some n < 30 or an expected count < 5, else the normal test of Z; two-sided
    Katz interval    exp(ln IR -+ z sqrt((1-p1)/x1 + (1-p0)/x0)), or, when one of the four cells is zero,
    score interval   {f : |T(f)| <= z},  T(f) = (p1 - f p0) / sqrt(q1 (1-q1)/n1 + f^2 q0 (1-q0)/n0)   (Koopman 1984)
                     with q the likeliest rates under q1 = f q0:  A q0^2 - B q0 + S = 0,
                     A = N f,  B = (n1 + x0) f + x1 + n0

Over strata (requisitions), with a = x1, b = n1-x1, c = x0, d = n0-x0, t = n1+n0, m = a+c of each stratum:

    odds ratio       sum(ad/t) / sum(bc/t)                 (Mantel-Haenszel; Robins-Breslow-Greenland interval)
    risk ratio       sum(a n0/t) / sum(c n1/t)             (Mantel-Haenszel; Greenland-Robins interval)
    CMH              sum(a - n1 m/t)^2 / sum(n1 n0 m (t-m) / (t^2 (t-1)))     (no continuity correction, 1 degree)

The three numerators have the sign of sum(ad-bc)/t, so "pooling reverses the sign" has one meaning.

A p-value stands beside its Holm and Benjamini-Hochberg adjustments over the groups of one table; a status uses Holm's.
What cannot be computed is None, never NaN. A status reports a measurement against a convention and gives no verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum, StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import chi2, false_discovery_control, fisher_exact, norm
from scipy.stats.contingency import relative_risk

from auditkit.errors import InputError, Problem, nearest

FOUR_FIFTHS = Fraction(4, 5)
UNKNOWN = "unknown"
"""The group value that marks an applicant of unknown category."""


@dataclass(frozen=True)
class Interval:
    lower: float
    upper: float | None
    """None: no upper bound."""
    method: str
    confidence: float


@dataclass(frozen=True)
class Pair:
    """Group 1 against the reference 0; the formulas are those of the module."""

    n1: int
    x1: int
    n0: int
    x0: int

    @property
    def impact_ratio(self) -> Fraction | None:
        return Fraction(self.x1 * self.n0, self.n1 * self.x0) if self.n1 and self.x0 else None

    @property
    def z(self) -> float | None:
        n1, n0, N, S = self.n1, self.n0, self.n1 + self.n0, self.x1 + self.x0
        if not (n1 and n0 and 0 < S < N):
            return None
        P = S / N
        return (self.x1 / n1 - self.x0 / n0) / math.sqrt(P * (1 - P) * (1 / n1 + 1 / n0))

    @property
    def sd(self) -> float | None:
        n1, n0, N, S = self.n1, self.n0, self.n1 + self.n0, self.x1 + self.x0
        if not (n1 and n0 and 0 < S < N):
            return None
        return (self.x1 - n1 * S / N) / math.sqrt(n1 * n0 * S * (N - S) / (N**2 * (N - 1)))

    @property
    def shortfall(self) -> float:
        return self.n1 * (self.x1 + self.x0) / (self.n1 + self.n0) - self.x1

    @property
    def fisher_p(self) -> float:
        table = np.array([[self.x1, self.n1 - self.x1], [self.x0, self.n0 - self.x0]])
        return min(1.0, float(fisher_exact(table).pvalue))

    @property
    def z_p(self) -> float | None:
        z = self.z
        return None if z is None else 2 * float(norm.sf(abs(z)))

    @property
    def recommended(self) -> str:
        N, S, small = self.n1 + self.n0, self.x1 + self.x0, min(self.n1, self.n0)
        return "fisher" if small < 30 or small * min(S, N - S) < 5 * N else "z"

    @property
    def p(self) -> float:
        """Of the recommended test."""
        z_p = self.z_p
        return self.fisher_p if self.recommended == "fisher" or z_p is None else z_p

    def below(self, line: Fraction) -> bool | None:
        """IR < line, exactly; defined also where nobody of the reference is selected but someone of the group is."""
        return self.x1 * self.n0 < line * self.x0 * self.n1 if self.x1 or self.x0 else None

    def moved(self, k: int) -> Pair | None:
        """With k selections moved from the reference to the group, where that is possible."""
        x1, x0 = self.x1 + k, self.x0 - k
        return Pair(self.n1, x1, self.n0, x0) if 0 <= x1 <= self.n1 and 0 <= x0 <= self.n0 else None

    def interval(self, alpha: float = 0.05) -> Interval | None:
        if self.impact_ratio is None:
            return None
        if 0 in (self.x1, self.n1 - self.x1, self.n0 - self.x0):
            return score_interval(self, alpha)
        katz = relative_risk(self.x1, self.n1, self.x0, self.n0).confidence_interval(1 - alpha)
        return Interval(float(katz.low), float(katz.high), "katz", 1 - alpha)


def score_interval(pair: Pair, alpha: float = 0.05) -> Interval:
    """Koopman's interval for the impact ratio; needs at least one selection to say anything."""
    n1, x1, n0, x0 = pair.n1, pair.x1, pair.n0, pair.x0
    z = float(norm.isf(alpha / 2))

    def T(log_f: float) -> float:
        f = math.exp(log_f)
        A, B = (n1 + n0) * f, (n1 + x0) * f + x1 + n0
        q0 = 2 * (x1 + x0) / (B + math.sqrt(max(B * B - 4 * A * (x1 + x0), 0.0)))  # the smaller root, stably
        q1 = f * q0
        variance = q1 * max(1 - q1, 0.0) / n1 + f * f * q0 * max(1 - q0, 0.0) / n0
        return (x1 / n1 - f * x0 / n0) / math.sqrt(max(variance, 1e-300))

    lower = _crossing(T, z) if x1 else 0.0
    upper = _crossing(T, -z) if x0 else None
    return Interval(lower, upper, "score", 1 - alpha)


def _crossing(T: Callable[[float], float], level: float) -> float:
    """f where the decreasing T(ln f) equals `level`."""
    low = high = 0.0
    while T(low) < level:
        low = 2 * low - 1
    while T(high) > level:
        high = 2 * high + 1
    return math.exp(low if low == high else float(brentq(lambda log_f: T(log_f) - level, low, high, xtol=1e-13)))


@dataclass(frozen=True)
class Stratified:
    strata: int
    """Strata that hold both groups."""
    odds_ratio: float | None
    odds_interval: Interval | None
    risk_ratio: float | None
    risk_interval: Interval | None
    cmh: float | None
    p: float | None
    p_holm: float | None
    shortfall: float
    reverses: bool


def stratify(n1: Any, x1: Any, n0: Any, x0: Any, alpha: float = 0.05) -> Stratified:
    """Mantel-Haenszel and CMH over strata, from one array of counts each."""
    pooled = int(np.sum(x1)) * int(np.sum(n0)) - int(np.sum(x0)) * int(np.sum(n1))
    both = (np.asarray(n1) > 0) & (np.asarray(n0) > 0)
    n1, a, n0, c = (np.asarray(counts, dtype=np.float64)[both] for counts in (n1, x1, n0, x0))
    b, d, t, m = n1 - a, n0 - c, n1 + n0, a + c
    R, S = a * d / t, b * c / t
    excess, noise = float(np.sum(R - S)), 1e-12 * float(np.sum(R + S))
    sign = 0.0 if abs(excess) <= noise else math.copysign(1.0, excess)
    variance = float(np.sum(n1 * n0 * m * (t - m) / (t**2 * (t - 1))))
    cmh = excess**2 / variance if variance > 0 else None
    top, bottom = float(np.sum(a * n0 / t)), float(np.sum(c * n1 / t))
    odds = risk = odds_interval = risk_interval = None
    if bottom > 0:
        risk = top / bottom
        if risk > 0:
            spread = float(np.sum((m * n1 * n0 - a * c * t) / t**2)) / (top * bottom)
            risk_interval = _log_interval(risk, spread, "greenland-robins", alpha)
    r, s = float(R.sum()), float(S.sum())
    if s > 0:
        odds = r / s
        if odds > 0:
            h, k = (a + d) / t, (b + c) / t
            spread = float(np.sum(h * R) / r**2 + np.sum(h * S + k * R) / (r * s) + np.sum(k * S) / s**2) / 2
            odds_interval = _log_interval(odds, spread, "robins-breslow-greenland", alpha)
    return Stratified(
        strata=len(t),
        odds_ratio=odds,
        odds_interval=odds_interval,
        risk_ratio=risk,
        risk_interval=risk_interval,
        cmh=cmh,
        p=None if cmh is None else float(chi2.sf(cmh, 1)),
        p_holm=None,
        shortfall=-excess,
        reverses=pooled * sign < 0,
    )


def _log_interval(ratio: float, variance: float, method: str, alpha: float) -> Interval:
    reach = float(norm.isf(alpha / 2)) * math.sqrt(max(variance, 0.0))
    return Interval(ratio * math.exp(-reach), ratio * math.exp(reach), method, 1 - alpha)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment, in the order given."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(np.asarray(p, dtype=np.float64)[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return [float(value) for value in adjusted]


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
class FlipFlop:
    """What one selection, moved between the group and the reference, would change."""

    impact_ratio: Fraction | None
    """After the move that is worst for the measured side of the line."""
    line_holds: bool | None
    test_holds: bool
    sign_reverses: bool
    """One selection moved to the group would give it the higher rate."""
    robust: bool


@dataclass(frozen=True)
class Comparison:
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
    shortfall: float
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
    comparison: Comparison | None


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
class Counts:
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
    def of(*strata: Mapping[str, tuple[int, int]]) -> Counts:
        """One mapping `group -> (applicants, selected)` for each stratum."""
        groups = tuple(sorted({group for stratum in strata for group in stratum}))
        cells = np.array([[stratum.get(group, (0, 0)) for group in groups] for stratum in strata])
        cells = cells.reshape(len(strata), len(groups), 2)
        return Counts(groups, cells[..., 0], cells[..., 1])


def compare(
    counts: Counts,
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
    taken = [g for g in range(len(n)) if n[g] and Fraction(n[g], N) >= least]
    reference = max(taken, key=lambda g: (Fraction(x[g], n[g]), n[g], -g), default=None)
    others = [g for g in taken if g != reference]
    compared: dict[int, Comparison] = {}
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


def _stratified(counts: Counts, g: int, reference: int, alpha: float) -> Stratified | None:
    if len(counts.n) < 2:
        return None
    return stratify(counts.n[:, g], counts.x[:, g], counts.n[:, reference], counts.x[:, reference], alpha)


def _comparisons(
    pairs: Sequence[Pair], strata: Sequence[Stratified | None], line: Fraction, alpha: float
) -> list[Comparison]:
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
            Comparison(
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
                shortfall=pair.shortfall,
                flip_flop=flip_flop(pair, line, significant),
                stratified=None if stratum is None else replace(stratum, p_holm=cmh_holm.get(i)),
            )
        )
    return comparisons


def flip_flop(pair: Pair, line: Fraction, significant: Callable[[Pair], bool]) -> FlipFlop:
    """Moves one selection against each conclusion: to the group against a finding, from it against none."""
    below, found = pair.below(line), significant(pair)
    toward, away = pair.moved(1), pair.moved(-1)
    against_line, against_test = toward if below else away, toward if found else away
    line_holds = None if below is None else against_line is None or against_line.below(line) == below
    test_holds = against_test is None or significant(against_test) == found
    return FlipFlop(
        impact_ratio=None if against_line is None else against_line.impact_ratio,
        line_holds=line_holds,
        test_holds=test_holds,
        sign_reverses=toward is not None and toward.x1 * toward.n0 > toward.x0 * toward.n1,
        robust=line_holds is not False and test_holds,
    )


def _judge(comparison: Comparison, line: Fraction, alpha: float) -> tuple[Status, str]:
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


def _flags(comparison: Comparison) -> tuple[Flag, ...]:
    stratified = comparison.stratified
    raised = {
        Flag.SMALL_NUMBERS: comparison.recommended == "fisher",
        Flag.MORE_THAN_TWO_SD: comparison.sd is not None and abs(comparison.sd) > 2,
        Flag.NOT_ROBUST: not comparison.flip_flop.robust,
        Flag.POOLING_REVERSES: stratified is not None and stratified.reverses,
    }
    return tuple(flag for flag, up in raised.items() if up)


@dataclass(frozen=True, eq=False)
class Outcome:
    """A binary outcome of every row, and which rows count.

    To withdraw or to be undecided (pending) is not to be rejected: such rows enter no rate, whatever their outcome,
    because leaving out only those without it would raise the rate. A score that was given counts in any case.
    """

    name: str
    values: NDArray[np.bool_]
    counted: NDArray[np.bool_]
    withdrawn: int
    pending: int
    not_measured: int
    median: float | None = None

    @staticmethod
    def of_column(
        values: pd.Series[Any],
        withdrawn: pd.Series[Any] | None = None,
        pending: pd.Series[Any] | None = None,
        name: str = "selected",
    ) -> Outcome:
        """From a yes/no column; rows where it is missing are left out."""
        numbers, missing = _numbers(values), values.isna().to_numpy(np.bool_)
        if not np.all(missing | (numbers == 0) | (numbers == 1)):
            raise InputError(Problem(f"column {name!r}", "is not a yes/no column", "the outcome 'score' is for scores"))
        gone = _truth(withdrawn, len(numbers))
        waits = _truth(pending, len(numbers)) & ~gone
        counted = ~(gone | waits | missing)
        return Outcome(name, numbers == 1, counted, *_sizes(gone, waits, missing & ~gone & ~waits))

    @staticmethod
    def above_median(
        scores: pd.Series[Any], withdrawn: pd.Series[Any] | None = None, pending: pd.Series[Any] | None = None
    ) -> Outcome:
        """Score above the median of all rows that have a score, whatever their group; a tie is not above."""
        numbers = _numbers(scores)
        scored = np.isfinite(numbers)
        median = float(np.median(numbers[scored])) if scored.any() else None
        above = scored if median is None else scored & (numbers > median)
        gone = _truth(withdrawn, len(numbers)) & ~scored
        waits = _truth(pending, len(numbers)) & ~scored & ~gone
        sizes = _sizes(gone, waits, ~(scored | gone | waits))
        return Outcome("score above the median", above, scored, *sizes, median)

    @staticmethod
    def of_table(table: pd.DataFrame, outcome: str = "selected") -> Outcome:
        column, withdrawn, pending = _column(table, outcome), table.get("withdrawn"), table.get("pending")
        if outcome == "score":
            return Outcome.above_median(column, withdrawn, pending)
        return Outcome.of_column(column, withdrawn, pending, outcome)


def _sizes(gone: NDArray[np.bool_], waits: NDArray[np.bool_], blank: NDArray[np.bool_]) -> tuple[int, int, int]:
    return int(gone.sum()), int(waits.sum()), int(blank.sum())


def _numbers(column: pd.Series[Any]) -> NDArray[np.float64]:
    """NaN for what is missing or no number."""
    return np.asarray(pd.to_numeric(column, errors="coerce").astype("Float64").to_numpy(np.float64, na_value=np.nan))


def _truth(column: pd.Series[Any] | None, rows: int) -> NDArray[np.bool_]:
    if column is None:
        return np.zeros(rows, dtype=np.bool_)
    return column.astype("boolean").fillna(False).to_numpy(np.bool_)


def _column(table: pd.DataFrame, name: str) -> pd.Series[Any]:
    if name not in table:
        raise InputError(Problem(f"column {name!r}", "is not in the table", nearest(name, map(str, table.columns))))
    return table[name]


def tally(
    group: pd.Series[Any], outcome: Outcome, stratum: pd.Series[Any] | None = None, unknown: str = UNKNOWN
) -> tuple[Counts, int]:
    """Counts of the rows that count, and how many of them are of unknown category."""
    names = group.astype("string").fillna(unknown)
    known = outcome.counted & (names != unknown).to_numpy(np.bool_)
    if not known.any():
        raise InputError(Problem(f"column {str(group.name)!r}", "no row with a known group and outcome is left"))
    codes, groups = pd.factorize(names.to_numpy(object)[known], sort=True)
    stratum_codes, K = np.zeros(len(codes), dtype=np.int64), 1
    if stratum is not None:
        stratum_codes, strata = pd.factorize(stratum.astype("string").fillna(unknown).to_numpy(object)[known])
        K = len(strata)
    cells, size = stratum_codes * len(groups) + codes, K * len(groups)
    n = np.bincount(cells, minlength=size)
    x = np.bincount(cells[outcome.values[known]], minlength=size)
    shape = (K, len(groups))
    counts = Counts(tuple(str(name) for name in groups), n.reshape(shape), x.reshape(shape))
    return counts, int((outcome.counted & ~known).sum())


def measure(
    table: pd.DataFrame,
    outcome: str = "selected",
    group: str = "group",
    minimum_share: float | Fraction = 0.0,
    *,
    stratum: str | None = "search",
    line: float | Fraction = FOUR_FIFTHS,
    alpha: float = 0.05,
) -> Disparity:
    """Disparity in a history table. `outcome` is a yes/no column, or `score` for "above the full sample's median"."""
    seen = Outcome.of_table(table, outcome)
    counts, unknown = tally(_column(table, group), seen, None if stratum is None else _column(table, stratum))
    found = compare(counts, minimum_share=minimum_share, line=line, alpha=alpha, outcome=seen.name)
    return replace(
        found,
        unknown=unknown,
        withdrawn=seen.withdrawn,
        pending=seen.pending,
        not_measured=seen.not_measured,
        median=seen.median,
    )


def hidden(
    applicants: Mapping[str, int],
    threshold: int = 5,
    *,
    last: str | None = None,
    lines: Iterable[Collection[str]] | None = None,
) -> frozenset[str]:
    """Groups not to be shown: the small ones, and as many more as keep them from being had by subtraction.

    In every line of groups whose total is known (default: all of them), what is hidden is at least two groups and
    `threshold` persons together, as far as the line has them. `last` is hidden only when no other group is left.
    """
    out = {group for group, n in applicants.items() if 0 < n < threshold}
    sums = [list(line) for line in lines] if lines is not None else [list(applicants)]
    changed = bool(out)
    while changed:
        changed = False
        for line in sums:
            inside = [group for group in line if group in out]
            rest = sorted((g == last, applicants[g], g) for g in line if g not in out and applicants[g])
            if inside and rest and (len(inside) < 2 or sum(applicants[g] for g in inside) < threshold):
                out.add(rest[0][2])
                changed = True
    return frozenset(out)


def suppress(disparity: Disparity, threshold: int = 5) -> Disparity:
    """The same table without small groups; without comparisons when the reference is among them."""
    applicants = {row.group: row.applicants for row in disparity.groups if row.applicants is not None}
    out = hidden(applicants, threshold, last=disparity.reference)
    blind = disparity.reference in out
    rows = []
    for row in disparity.groups:
        if row.group in out:
            rows.append(_blank(row, threshold))
        elif blind:
            rows.append(
                replace(
                    row,
                    impact_ratio=None,
                    comparison=None,
                    flags=(),
                    reason=f"{row.status.text}; the reference is not shown",
                )
            )
        else:
            rows.append(row)
    return replace(disparity, groups=tuple(rows))


def shown(applicants: int, threshold: int) -> str:
    """What stands in place of the number of a hidden group."""
    return f"<{threshold}" if applicants < threshold else "not shown"


def _blank(row: Group, threshold: int) -> Group:
    return replace(
        row,
        applicants=None,
        shown=shown(row.applicants or 0, threshold),
        selected=None,
        rate=None,
        share=None,
        impact_ratio=None,
        status=Status.SUPPRESSED,
        reason=Status.SUPPRESSED.text,
        flags=(),
        comparison=None,
    )


def plain(value: Any) -> Any:
    """Dataclasses as JSON values: fractions as floats, dates as ISO text, what is not finite as None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.isoformat() if hasattr(value, "isoformat") else value
