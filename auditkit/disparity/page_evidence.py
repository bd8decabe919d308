"""The tests of a page and their adjusted p-values.

1. One omnibus test for each attribute (and crossing), step and kind, pooled and within requisitions. All of them are
   adjusted together (`stepdown`), with the search over segments and the trends over ordered groups. A table is open if
   one of its two tests is found.
2. In open tables with more than two groups, each group is tested against everyone else, and against every other group,
   because the data choose the reference; pooled and within requisitions. All of these are adjusted together, and none
   has a smaller p than its table.

So on data without any difference, about `alpha` of *reports* name one. All adjusted p-values have the basis of
`design`: clusters are requisitions and repeat applicants in pooled tests, and repeat applicants in tests within.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from auditkit.disparity import omnibus
from auditkit.disparity.applicants import Applicants
from auditkit.disparity.cuts import Cut, DisparitySettings, Key, Sides
from auditkit.disparity.design import ClusterDesign, corrected
from auditkit.disparity.omnibus import Association
from auditkit.disparity.pair import Stratified, stratify
from auditkit.disparity.scores import Way, covariance, repeat_variance, sample, score_matrix
from auditkit.disparity.segment_search import SEARCH, SearchTest, search_scores, search_tests
from auditkit.disparity.stepdown import PageTest, step_down
from auditkit.disparity.stratified import ExactTest, exact_test, sparse
from auditkit.disparity.trend import Trend
from auditkit.disparity.trend_tests import TREND, trend_tests

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ATTRIBUTE, CROSSING = "attribute", "crossing"
SHARES = {ATTRIBUTE: 0.75, CROSSING: 0.08, SEARCH: 0.17, TREND: 0.1}
"""The share of a page's error that each family of tests may use."""


@dataclass(frozen=True)
class TableTests:
    """The two omnibus tests of a table, as far as they're defined, and their adjusted p."""

    tests: dict[Way, Association]
    adjusted: dict[Way, float] = field(default_factory=dict)

    @property
    def gate(self) -> float:
        return min(self.adjusted.values(), default=1.0)

    def designs(self, way: Way) -> tuple[ClusterDesign, ...]:
        return self.tests[way].designs if way in self.tests else ()


SidesKey = frozenset[tuple[int, ...]]
Pairwise = dict[tuple[Key, SidesKey, Way], float]
"""Adjusted p of two sides of a table."""


@dataclass(frozen=True)
class PageEvidence:
    tables: dict[Key, TableTests]
    level: dict[str, float]
    """The p that a single test of each family needs."""
    pairs: Pairwise
    searched: tuple[tuple[SearchTest, float], ...]
    """The tests of the search and their adjusted p."""
    trends: dict[Key, Trend]

    def adjusted(self, cut: Cut, sides: Sides, way: Way, p: float) -> float:
        """Adjusted p of two sides of a table, of which p is the p on the basis of the design."""
        tests = self.tables[cut.key]
        if len(cut.taken) == 2:
            return max(p, tests.adjusted.get(way, 1.0))
        many = len(cut.taken) * (len(cut.taken) + 1) // 2
        return max(p, tests.gate, self.pairs.get((cut.key, frozenset(sides), way), min(1.0, many * p)))


def page_evidence(data: Applicants, page: Sequence[Cut], settings: DisparitySettings) -> PageEvidence:
    """Tests every table of a page, then the pairs of those that are open."""
    tests = {cut.key: _omnibus(data, cut) for cut in page}
    contrasts = [(cut, cut.each, way) for cut in page for way in tests[cut.key]]
    first = [
        PageTest(test.corrected, len(cut.taken) - 1, CROSSING if cut.crossing else ATTRIBUTE)
        for cut in page
        for test in tests[cut.key].values()
    ]
    searched = search_tests(data, page, settings)
    designs = {key: {way: test.designs for way, test in found.items()} for key, found in tests.items()}
    trends = trend_tests(data, page, designs, settings)
    rows = sample(data, sum(test.df for test in first) + len(searched) + len(trends))
    parts = [score_matrix(data, contrasts, rows), search_scores(data, searched, rows)]
    matrix = np.vstack([*parts, *(test.scores(data, rows) for test in trends)])
    tests_of_page = [*first, *(test.on_page() for test in searched), *(test.on_page() for test in trends)]
    found = step_down(tests_of_page, covariance(data, matrix, rows), settings.alpha, SHARES)
    adjusted: dict[Key, dict[Way, float]] = {cut.key: {} for cut in page}
    for (cut, _, way), p in zip(contrasts, found.p):
        adjusted[cut.key][way] = p
    tables = {key: TableTests(tests[key], adjusted[key]) for key in tests}
    wide = [cut for cut in page if len(cut.taken) > 2 and tables[cut.key].gate <= settings.alpha]
    search = tuple(zip(searched, found.p[len(first) :]))  # as many as were searched
    last = found.p[len(first) + len(searched) :]
    along = {test.cut.key: replace(test.found, p_adjusted=p) for test, p in zip(trends, last, strict=True)}
    return PageEvidence(tables, found.level, _pairs(data, wide, tables, settings), search, along)


def _omnibus(data: Applicants, cut: Cut) -> dict[Way, Association]:
    n, x = cut.counts(cut.each) if cut.taken else (cut.n[:, :0], cut.x[:, :0])
    if np.sum(n.sum(axis=0) > 0) < 2:
        return {}
    strata = int(np.sum(n.sum(axis=1) > 0))
    persons = repeat_variance(data, cut, cut.each, "pooled")
    robust = ([omnibus.clustered(n, x)] if strata > 1 else []) + ([] if persons is None else [persons])
    pooled = omnibus.pooled(n.sum(axis=0), x.sum(axis=0), robust)
    found: dict[Way, Association] = {} if pooled is None else {"pooled": pooled}
    if strata > 1:
        persons = repeat_variance(data, cut, cut.each, "within")
        within = omnibus.stratified(n, x, [] if persons is None else [persons])
        if within is not None:
            found["within"] = within
    return found


@dataclass(frozen=True, eq=False)
class WithinTest:
    """Two sides within requisitions: Mantel and Haenszel's estimates, and the exact test if strata are sparse."""

    estimates: Stratified
    exact: ExactTest | None

    @property
    def p(self) -> float | None:
        return self.exact.p if self.exact is not None else self.estimates.p

    @property
    def z(self) -> float | None:
        return None if self.estimates.cmh is None else float(self.estimates.cmh**0.5)


def within_test(n: Ints, x: Ints, alpha: float = 0.05) -> WithinTest:
    """Of counts by stratum and side."""
    counts = (n[:, 0], x[:, 0], n[:, 1], x[:, 1])
    found = stratify(*counts, alpha)
    return WithinTest(found, exact_test(*counts) if found.p is not None and sparse(*counts) else None)


def _pairs(
    data: Applicants, wide: Iterable[Cut], tables: dict[Key, TableTests], settings: DisparitySettings
) -> Pairwise:
    """Each group of the open tables against everyone else and against every other group, adjusted together."""
    family: list[tuple[Cut, Sides, Way]] = []
    tests: list[PageTest] = []
    for cut in wide:
        groups = cut.compared
        everybody_else = [((g,), cut.rest(g)) for g in groups]
        pairs = [((g,), (other,)) for g, other in itertools.combinations(groups, 2)]
        for sides in [*everybody_else, *pairs]:
            both = cut.pair(sides)
            designs = tables[cut.key].designs("pooled")
            if both.z is not None:
                family.append((cut, sides, "pooled"))
                tests.append(PageTest(corrected(both.p, both.z, designs)))
            if "within" in tables[cut.key].tests:
                within = within_test(*cut.counts(sides))
                if within.p is not None:
                    family.append((cut, sides, "within"))
                    p = corrected(within.p, within.z, tables[cut.key].designs("within"))
                    tests.append(PageTest(p, attainable=_attainable(within, tables[cut.key])))
    rows = sample(data, len(tests))
    adjusted = step_down(tests, covariance(data, score_matrix(data, family, rows), rows), settings.alpha)
    return {(cut.key, frozenset(sides), way): p for (cut, sides, way), p in zip(family, adjusted.p)}


def _attainable(within: WithinTest, table: TableTests) -> Floats | None:
    """The values that p can take, where it is exact and no design changes it."""
    return within.exact.attainable if within.exact is not None and not table.designs("within") else None
