"""Differences in one department, location, level, source or period, whatever the whole shows.

There is one test for each attribute, group against everyone else (one if there are two groups), step at which a
difference can arise (the first; each later one among those who reached the previous step), segment with 2 to 50 values,
and value in which both sides have at least five people. The test is the exact conditional one over requisitions inside
the value, or the normal one if the variance V of the count is over 100. The tests are a separate family in
`page_evidence`, with

    weight  (V/8)^2, at least 1/50 and at most 1: if V is small, hardly any difference could be shown
    u_i     (1[g_i = g] - n1/t)(y_i - m/t)  inside the value, 0 outside;  n1, m, t: of the requisition inside the value
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from auditkit.disparity.applicants import Applicants
from auditkit.disparity.cuts import Cut, DisparitySettings
from auditkit.disparity.design import ClusterDesign, corrected, stretch, widened
from auditkit.disparity.pair import Pair, as_float, stratify
from auditkit.disparity.results import SegmentDifference
from auditkit.disparity.scores import population, repeat_effects
from auditkit.disparity.segments import MOST_VALUES
from auditkit.disparity.small_values import JOINED, join_requisitions, join_small, numbers
from auditkit.disparity.stepdown import PageTest
from auditkit.disparity.stratified import ExactTest, exact_test

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEARCH = "search"
FEWEST_ON_A_SIDE = 5
"""People on either side of a test."""
MOST_VARIANCE = 100.0
"""Of a count whose law is computed exactly; beyond it the normal approximation is as good."""
FULL_WEIGHT, LEAST_WEIGHT = 8.0, 0.02
"""The variance from which on a test has the full weight, and the least weight."""


@dataclass(frozen=True, eq=False)
class SegmentLook:
    """One group against everyone else at one step, in every value of one segment; cells are value by requisition."""

    cut: Cut
    group: int
    segment: str
    values: tuple[str, ...]
    value: Ints
    """Of each cell."""
    cell: Ints
    """Of each row of the data."""
    n: Ints
    """Of the group and of everyone else, by cell."""
    x: Ints
    tested: tuple[int, ...]
    """Values where both sides have enough people."""

    @cached_property
    def sides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (self.group,), self.cut.rest(self.group)

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """Excess of the group's selections over those expected, and its variance, by value."""
        t, m = self.n.sum(axis=1).astype(np.float64), self.x.sum(axis=1)
        whole = np.maximum(t, 1)
        U: Floats = self.x[:, 0] - self.n[:, 0] * m / whole
        V: Floats = self.n[:, 0] * self.n[:, 1] * m * (t - m) / np.maximum(t * t * (t - 1), 1)
        U_v, V_v = (np.bincount(self.value, weights=part, minlength=len(self.values)) for part in (U, V))
        return np.asarray(U_v, dtype=np.float64), np.asarray(V_v, dtype=np.float64)

    def scores(self, data: Applicants, rows: Ints | None = None) -> tuple[Ints, Floats]:
        """Rows, and their scores u inside their value."""
        at, place = population(data, self.cut, self.sides, rows)
        t = np.maximum(self.n.sum(axis=1), 1)
        share, rate = self.n[:, 0] / t, self.x.sum(axis=1) / t
        cell = self.cell[at]
        return at, ((place == 0) - share[cell]) * (data.good(self.cut.step)[at] - rate[cell])

    def counts(self, value: int) -> tuple[Ints, Ints]:
        inside = self.value == value
        return self.n[inside], self.x[inside]


@dataclass(frozen=True, eq=False)
class SearchTest:
    """One value of a look."""

    look: SegmentLook
    value: int
    p: float
    z: float
    variance: float
    exact: ExactTest | None
    design: ClusterDesign | None

    @property
    def p_design(self) -> float:
        return corrected(self.p, self.z, [] if self.design is None else [self.design])

    def on_page(self) -> PageTest:
        attainable = self.exact.attainable if self.exact is not None and self.design is None else None
        weight = min(max((self.variance / FULL_WEIGHT) ** 2, LEAST_WEIGHT), 1.0)
        return PageTest(self.p_design, 1, SEARCH, attainable, weight)


def looks(data: Applicants, page: Sequence[Cut], settings: DisparitySettings) -> Iterator[SegmentLook]:
    """Every attribute, arising step, segment and group."""
    first = next(iter(data.steps))
    arising = [cut for cut in page if not cut.crossing and (cut.before is not None or cut.step == first)]
    for name, (codes, named) in data.segment_codes.items():
        if not 2 <= len(named) <= MOST_VALUES:
            continue
        cells: dict[str, _Cells] = {}
        for cut in arising:
            if len(cut.compared) < 2:
                continue
            if cut.attribute not in cells:
                compared = cut.compared_of(data)
                code, values = join_small(codes, named, compared, settings.threshold, data.decided)
                cells[cut.attribute] = _cells(code, values, cut, compared, settings.threshold, data.decided)
            own = cells[cut.attribute]
            at, place = population(data, cut, cut.each)
            where, G = own.cell[at] * len(cut.taken) + place, len(cut.taken)
            n = np.bincount(where, minlength=own.many * G).reshape(own.many, G)
            x = np.bincount(where[data.good(cut.step)[at]], minlength=own.many * G).reshape(own.many, G)
            for column, group in enumerate(cut.taken[: 1 if G == 2 else G]):
                own_n, own_x = (np.stack([c[:, column], c.sum(axis=1) - c[:, column]], axis=1) for c in (n, x))
                tested = _tested(own_n, own, settings.threshold)
                yield SegmentLook(cut, group, name, own.values, own.value, own.cell, own_n, own_x, tested)


class _Cells(NamedTuple):
    """Values by strata of the table: the value of each cell, and the cell of each row."""

    values: tuple[str, ...]
    value: Ints
    cell: Ints

    @property
    def many(self) -> int:
        return len(self.value)


def _cells(code: Ints, values: tuple[str, ...], cut: Cut, compared: Ints, threshold: int, decided: Bools) -> _Cells:
    """Cells with few applicants of a group are joined with others of the same value."""
    K, G = len(cut.strata.names), len(cut.groups)
    there, cell = np.unique(code * K + cut.strata.of_row, return_inverse=True)
    value = there // K
    n, some = numbers(cell, len(there), compared, G, decided)
    place, cell_of = np.unique(join_requisitions(n, threshold, within=value, there=some), return_inverse=True)
    return _Cells(values, value[place], cell_of[cell])


def _tested(n: Ints, cells: _Cells, threshold: int) -> tuple[int, ...]:
    """Values in which both sides have enough people, and for which the totals don't reveal those outside."""
    many = len(cells.values)
    sums = np.stack([np.bincount(cells.value, weights=side, minlength=many) for side in n.T], axis=1)
    outside = sums.sum(axis=0) - sums
    hidden = ((outside > 0) & (outside < threshold)).any(axis=1)
    named = np.array([value != JOINED for value in cells.values])
    return tuple(np.flatnonzero((sums >= max(FEWEST_ON_A_SIDE, threshold)).all(axis=1) & ~hidden & named).tolist())


def search_tests(data: Applicants, page: Sequence[Cut], settings: DisparitySettings) -> list[SearchTest]:
    """All tests of the search."""
    found = []
    for look in looks(data, page, settings):
        U, V = look.moments
        effects = _repeat_effects(data, look, V)
        for value in look.tested:
            if V[value] <= 1e-12:
                continue
            z = float(U[value] / math.sqrt(V[value]))
            n, x = look.counts(value) if V[value] <= MOST_VARIANCE else (None, None)
            exact = exact_test(n[:, 0], x[:, 0], n[:, 1], x[:, 1]) if n is not None and x is not None else None
            p = 2 * float(ndtr(-abs(z))) if exact is None else exact.p
            design = None if effects is None else ClusterDesign("repeat applicants", float(effects[value]))
            found.append(SearchTest(look, value, p, z, float(V[value]), exact, design))
    return found


def _repeat_effects(data: Applicants, look: SegmentLook, V: Floats) -> Floats | None:
    if data.repeat_applicants is None:
        return None
    at, u = look.scores(data, data.repeat_applicants[0])
    cell = look.cell[at]
    t = look.n.sum(axis=1)[cell]
    return repeat_effects(data, at, u * t / np.maximum(t - 1, 1), look.value[cell], V)


def search_scores(data: Applicants, tests: Sequence[SearchTest], rows: Ints) -> Floats:
    """Scores of all tests below each other, one column for each of the rows."""
    matrix = np.zeros((len(tests), len(rows)))
    begin = 0
    while begin < len(tests):
        look = tests[begin].look
        place = np.full(len(look.values), -1)
        end = begin
        while end < len(tests) and tests[end].look is look:
            place[tests[end].value] = end
            end += 1
        at, u = look.scores(data, rows)
        test = place[look.value[look.cell[at]]]
        keep = test >= 0
        matrix[test[keep], np.searchsorted(rows, at[keep])] = u[keep]
        begin = end
    return matrix


def difference(test: SearchTest, p_adjusted: float, alpha: float) -> SegmentDifference | None:
    """A test that found something, in terms of its groups; None if the group does better than everyone else."""
    look, cut = test.look, test.look.cut
    n, x = look.counts(test.value)
    others = look.n[look.value != test.value], look.x[look.value != test.value]
    names = [cut.groups[look.group], None]
    if len(cut.taken) == 2:
        names[1] = cut.groups[cut.rest(look.group)[0]]
    if test.z > 0:
        if names[1] is None:
            return None
        n, x, others, names = n[:, ::-1], x[:, ::-1], (others[0][:, ::-1], others[1][:, ::-1]), names[::-1]
    reach = widened(alpha, stretch([] if test.design is None else [test.design], alpha))
    pair = Pair(int(n[:, 0].sum()), int(x[:, 0].sum()), int(n[:, 1].sum()), int(x[:, 1].sum()), cut.adverse)
    one, zero = pair.selected
    within = stratify(n[:, 0], x[:, 0], n[:, 1], x[:, 1], reach)
    elsewhere = stratify(others[0][:, 0], others[1][:, 0], others[0][:, 1], others[1][:, 1], reach)
    interval = pair.interval(reach)
    return SegmentDifference(
        attribute=cut.attribute,
        group=str(names[0]),
        against=names[1],
        step=cut.step,
        kind=cut.kind,
        segment=look.segment,
        value=look.values[test.value],
        applicants=pair.n1,
        selected=one,
        others_applicants=pair.n0,
        others_selected=zero,
        rate=one / pair.n1,
        others_rate=zero / pair.n0,
        impact_ratio=as_float(pair.impact_ratio),
        interval=None if interval is None else replace(interval, confidence=1 - alpha),
        strata=within.strata,
        odds_ratio=within.odds_ratio,
        odds_interval=None if within.odds_interval is None else replace(within.odds_interval, confidence=1 - alpha),
        p=test.p,
        p_design=test.p_design,
        p_adjusted=p_adjusted,
        method="normal" if test.exact is None else "exact",
        shortfall=within.shortfall,
        elsewhere_odds_ratio=elsewhere.odds_ratio,
        p_elsewhere=differ(within.odds_ratio, within.log_variance, elsewhere.odds_ratio, elsewhere.log_variance),
    )


def differ(one: float | None, variance: float | None, other: float | None, its_variance: float | None) -> float | None:
    """p of equal odds ratios in two independent sets of strata: (ln a - ln b) / sqrt(var a + var b)."""
    if not one or not other or variance is None or its_variance is None:
        return None
    return float(2 * ndtr(-abs(math.log(one / other)) / math.sqrt(variance + its_variance)))
