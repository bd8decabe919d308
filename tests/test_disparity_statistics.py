"""Every statistic of the page against scipy, statsmodels or enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency, f, fisher_exact, hypergeom, multivariate_normal, norm, t
from statsmodels.stats.contingency_tables import StratifiedTable, Table2x2
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_effectsize

from auditkit.disparity import omnibus
from auditkit.disparity.design import ClusterDesign, corrected, stretch, widened
from auditkit.disparity.pair import Pair, holm, stratify
from auditkit.disparity.power import applicants_needed, detectable_ratio
from auditkit.disparity.stepdown import PageTest, step_down
from auditkit.disparity.stratified import agreement, exact_p, exact_test, sparse
from auditkit.model.groups import comparable
from support.sampling import examples

quick = examples(50)


@st.composite
def cells(draw: st.DrawFn, largest: int = 60, least: int = 1) -> tuple[int, int]:
    n = draw(st.integers(least, largest))
    return n, draw(st.integers(0, n))


def law(n: tuple[int, ...], m: int) -> dict[tuple[int, ...], Fraction]:
    """The multivariate hypergeometric law of the selections of each group, margins fixed."""
    total = math.comb(sum(n), m)
    ranges = [range(min(size, m) + 1) for size in n]
    return {
        x: Fraction(math.prod(math.comb(size, k) for size, k in zip(n, x)), total)
        for x in itertools.product(*ranges)
        if sum(x) == m
    }


# One test for all groups ----------------------------------------------------------------------------------------------


@quick
@given(st.lists(cells(5000, 400), min_size=2, max_size=6))
def test_pooled_is_pearsons_chi_square(groups: list[tuple[int, int]]) -> None:
    n, x = (np.array(column) for column in zip(*groups))
    found = omnibus.pooled(n, x)
    if not 0 < x.sum() < n.sum():
        assert found is None
        return
    theirs = chi2_contingency(np.stack([x, n - x]), correction=False)
    assert found is not None and found.df == theirs.dof
    assert found.statistic == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-9)
    if found.method in ("chi-square", "z"):
        assert found.p == pytest.approx(theirs.pvalue, rel=1e-9)


@quick
@given(st.lists(cells(9), min_size=3, max_size=4))
def test_small_pooled_tables_are_exact(groups: list[tuple[int, int]]) -> None:
    n, x = zip(*groups)
    found = omnibus.pooled(np.array(n), np.array(x))
    if not 0 < sum(x) < sum(n):
        assert found is None
        return
    assert found is not None and found.method == "exact"

    def score(counts: tuple[int, ...]) -> Fraction:
        return sum((Fraction(k * k, size) for k, size in zip(counts, n)), Fraction(0))

    tail = sum(p for counts, p in law(n, sum(x)).items() if score(counts) >= score(x))
    assert found.p == pytest.approx(float(tail), abs=1e-9)


def test_a_large_exact_table_is_drawn_and_close_to_the_chi_square() -> None:
    n, x = np.array([29, 400, 400, 400]), np.array([12, 100, 130, 140])
    found = omnibus.pooled(n, x)
    assert found is not None and found.method == "exact, drawn"
    assert found.p == pytest.approx(chi2.sf(found.statistic, 3), rel=0.2)


@quick
@given(st.lists(st.lists(cells(6, 0), min_size=3, max_size=3), min_size=1, max_size=4))
def test_stratified_by_enumeration(strata: list[list[tuple[int, int]]]) -> None:
    """Mean and covariance of the selections, from the law of each stratum."""
    U, V = np.zeros(3), np.zeros((3, 3))
    for stratum in strata:
        n, x = zip(*stratum)
        probs = law(n, sum(x))
        outcomes, weights = np.array(list(probs), dtype=float), np.array([float(p) for p in probs.values()])
        mean = weights @ outcomes
        U += x - mean
        V += (outcomes - mean).T @ ((outcomes - mean) * weights[:, None])
    n, x = (np.array([[cell[i] for cell in stratum] for stratum in strata]) for i in (0, 1))
    found = omnibus.stratified(n, x)
    if np.abs(V).max() < 1e-12:
        assert found is None
    else:
        assert found is not None and found.df == np.linalg.matrix_rank(V, tol=1e-9)
        assert found.statistic == pytest.approx(float(U @ np.linalg.pinv(V, rcond=1e-9) @ U), abs=1e-7)


@st.composite
def two_by_two(draw: st.DrawFn, largest: int = 40) -> tuple[np.ndarray, np.ndarray]:
    strata = draw(st.lists(st.tuples(cells(largest), cells(largest)), min_size=2, max_size=6))
    return tuple(np.array([[cell[i] for cell in stratum] for stratum in strata]) for i in (0, 1))  # type: ignore[return-value]


def theirs(n: np.ndarray, x: np.ndarray) -> StratifiedTable:
    return StratifiedTable([np.array([[a, m - a], [c, k - c]]) for (m, k), (a, c) in zip(n, x)])


@quick
@given(two_by_two(200))
def test_two_groups_within_strata_as_statsmodels(counts: tuple[np.ndarray, np.ndarray]) -> None:
    n, x = counts
    found = omnibus.stratified(n, x)
    if found is not None and found.method == "cmh":
        reference = theirs(n, x).test_null_odds(correction=False)
        assert (found.statistic, found.p) == pytest.approx((reference.statistic, reference.pvalue), rel=1e-9, abs=1e-12)
        pair = stratify(n[:, 0], x[:, 0], n[:, 1], x[:, 1])
        assert found.statistic == pytest.approx(pair.cmh)


@quick
@given(two_by_two())
def test_agreement_as_statsmodels(counts: tuple[np.ndarray, np.ndarray]) -> None:
    n, x = counts
    m = x.sum(axis=1)
    inside = (m > 0) & (m < n.sum(axis=1))
    found = agreement(n[:, 0], x[:, 0], n[:, 1], x[:, 1])
    odds = stratify(n[:, 0], x[:, 0], n[:, 1], x[:, 1]).odds_ratio
    if inside.sum() < 2 or not odds:
        assert found is None
        return
    assert found is not None and found.df == inside.sum() - 1
    if abs(odds - 1) < 1e-6:  # statsmodels divides by 1 - odds ratio
        return
    reference = theirs(n[inside], x[inside]).test_equal_odds(adjust=True)
    assert found.statistic == pytest.approx(reference.statistic, rel=1e-5, abs=1e-6)
    assert found.p == pytest.approx(chi2.sf(found.statistic, found.df))


@quick
@given(st.lists(st.tuples(cells(7), cells(7)), min_size=1, max_size=4))
def test_exact_conditional_p_by_enumeration(strata: list[tuple[tuple[int, int], tuple[int, int]]]) -> None:
    total = {0: Fraction(1)}
    for (n1, x1), (n0, x0) in strata:
        one = {a: p for (a, _), p in law((n1, n0), x1 + x0).items()}
        total_next: dict[int, Fraction] = {}
        for (a, p), (b, q) in itertools.product(total.items(), one.items()):
            total_next[a + b] = total_next.get(a + b, Fraction(0)) + p * q
        total = total_next
    seen = total[sum(x1 for (_, x1), _ in strata)]
    columns = [[pair[g][i] for pair in strata] for g in (0, 1) for i in (0, 1)]
    assert exact_p(*columns) == pytest.approx(float(sum(p for p in total.values() if p <= seen)), abs=1e-9)


@quick
@given(cells(300), cells(300))
def test_fisher_and_mid_p_as_scipy(one: tuple[int, int], zero: tuple[int, int]) -> None:
    (n1, x1), (n0, x0) = one, zero
    pair = Pair(n1, x1, n0, x0)
    fisher = fisher_exact([[x1, n1 - x1], [x0, n0 - x0]]).pvalue
    seen = hypergeom.pmf(x1, n1 + n0, n1, x1 + x0)
    assert pair.fisher_p == pytest.approx(fisher, abs=1e-12)
    assert pair.mid_p == pytest.approx(fisher - seen / 2, abs=1e-12)
    stratified = exact_test([n1], [x1], [n0], [x0])
    assert stratified is not None and stratified.p == pytest.approx(fisher, abs=1e-12)
    assert stratified.mid_p == pytest.approx(pair.mid_p, abs=1e-12)
    assert np.abs(stratified.attainable - stratified.p).min() < 1e-12 and stratified.attainable[-1] == pytest.approx(1)


@quick
@given(cells(3000), cells(3000))
def test_sizes_of_a_difference(one: tuple[int, int], zero: tuple[int, int]) -> None:
    (n1, x1), (n0, x0) = one, zero
    pair = Pair(n1, x1, n0, x0)
    assert pair.h == pytest.approx(proportion_effectsize(x1 / n1, x0 / n0), abs=1e-10)
    table = np.array([[x1, n1 - x1], [x0, n0 - x0]])
    if 0 in table.sum(axis=0):
        assert pair.phi is None
    else:
        assert pair.phi == pytest.approx(np.corrcoef(*expanded(table))[0, 1], abs=1e-10)
    if 0 not in table:
        theirs = Table2x2(table)
        interval = pair.odds_interval()
        assert pair.odds_ratio == pytest.approx(theirs.oddsratio, rel=1e-10) and interval is not None
        assert (interval.lower, interval.upper) == pytest.approx(theirs.oddsratio_confint(), rel=1e-10)
    else:
        assert pair.odds_interval() is None


def expanded(table: np.ndarray) -> np.ndarray:
    """Group and outcome of every person, as two rows of 0 and 1."""
    rows = [[g == 0, o == 0] for g in (0, 1) for o in (0, 1) for _ in range(table[g, o])]
    return np.array(rows, dtype=float).T


def test_one_stratum_is_fishers_test_and_huge_ones_are_refused() -> None:
    assert exact_p([27], [9], [68], [41]) == pytest.approx(Pair(27, 9, 68, 41).fisher_p)
    assert exact_p([90_000], [40_000], [90_000], [40_000]) is None
    assert sparse([20], [2], [20], [3]) and not sparse([200], [50], [200], [60])


def test_sparse_strata_take_the_exact_test() -> None:
    n, x = np.array([[4, 5], [3, 6]]), np.array([[0, 3], [1, 2]])
    found = omnibus.stratified(n, x)
    assert found is not None and found.method == "exact"
    assert found.p == exact_p(n[:, 0], x[:, 0], n[:, 1], x[:, 1])
    three = omnibus.stratified(np.array([[4, 5, 5], [3, 6, 4]]), np.array([[0, 3, 1], [1, 2, 2]]))
    assert three is not None and three.method.startswith("exact, each group")


# Design effects -------------------------------------------------------------------------------------------------------


def test_clustered_variance_by_hand() -> None:
    rng = np.random.default_rng(3)
    g, y, c = rng.integers(0, 3, 200), rng.integers(0, 2, 200), rng.integers(0, 30, 200)
    n, x = (np.zeros((30, 3), dtype=int) for _ in range(2))
    np.add.at(n, (c, g), 1)
    np.add.at(x, (c, g), y)
    scores = (np.eye(3)[g] - np.bincount(g) / 200) * (y - y.mean())[:, None]
    by_cluster = np.array([scores[c == k].sum(axis=0) for k in range(30)])
    found = omnibus.clustered(n, x)
    assert found.variance == pytest.approx(30 * np.cov(by_cluster.T))
    assert (found.cause, found.clusters) == ("requisitions", 30)


def test_a_design_effect_divides_the_statistic() -> None:
    n, x = np.array([500, 600]), np.array([100, 170])
    plain = omnibus.pooled(n, x)
    P = x.sum() / n.sum()
    V = P * (1 - P) * (np.diag(n) - np.outer(n, n) / n.sum())
    people = [omnibus.Robust("repeat applicants", factor * V) for factor in (2, 0.5)]
    doubled = omnibus.pooled(n, x, people)
    assert plain is not None and doubled is not None and plain.corrected == plain.p == doubled.p
    assert doubled.design_effect == pytest.approx(2)
    assert doubled.corrected == pytest.approx(chi2.sf(plain.statistic / 2, 1), rel=1e-10)
    few = omnibus.pooled(n, x, [omnibus.Robust("requisitions", 2 * V, 6)])
    assert few is not None and few.corrected == pytest.approx(f.sf(plain.statistic / 2, 1, 5), rel=1e-10)


@quick
@given(st.floats(0, 6), st.floats(0.3, 8), st.sampled_from([2.0, 3.0, 8.0, 40.0, math.inf]))
def test_p_and_interval_have_one_basis(z: float, effect: float, clusters: float) -> None:
    """An interval excludes the null exactly where p is at most its level, whatever the design."""
    for alpha in (0.05, 0.01):
        own = ClusterDesign("requisitions", effect, clusters)
        p = corrected(2 * norm.sf(z), z, [own])
        assert p >= 2 * norm.sf(z)
        assert p == pytest.approx(max(2 * norm.sf(z), 2 * t.sf(z / math.sqrt(effect), clusters - 1)), rel=1e-10)
        reach = norm.isf(alpha / 2) * stretch([own], alpha)
        if abs(z - reach) > 1e-9:
            assert (p < alpha) == (z > reach)
        assert norm.isf(widened(alpha, stretch([own], alpha)) / 2) == pytest.approx(min(reach, 37.06), rel=1e-3)


# Many tests -----------------------------------------------------------------------------------------------------------


def plain(*p: float) -> list[PageTest]:
    return [PageTest(one) for one in p]


def test_step_down_of_independent_tests_is_sidaks() -> None:
    adjusted = step_down(plain(0.012, 0.2, 0.004, 0.6), np.eye(4))
    sidak = [1 - (1 - 0.012) ** 3, 1 - (1 - 0.2) ** 2, 1 - (1 - 0.004) ** 4, 0.6]
    assert adjusted.p == pytest.approx(sidak, abs=0.015)
    assert adjusted.p[0] == pytest.approx(sidak[0], abs=5e-4) and adjusted.p[2] == pytest.approx(sidak[2], abs=5e-4)
    assert adjusted.level[""] == pytest.approx(1 - 0.95**0.25, rel=0.1)


def test_step_down_of_one_test_said_many_times_costs_nothing() -> None:
    adjusted = step_down(plain(0.03, 0.03, 0.03), np.ones((3, 3)))
    assert adjusted.p == pytest.approx([0.03] * 3, abs=5e-4) and adjusted.level[""] == pytest.approx(0.05, rel=0.1)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, -0.4])
def test_p_near_the_threshold_is_that_of_the_bivariate_law(correlation: float) -> None:
    """Two tests: P(at least one of them is beyond z) by numerical integration."""
    C = np.array([[1.0, correlation], [correlation, 1.0]])
    for p in (0.02, 0.0255, 0.03):
        z = norm.isf(p / 2)
        both = multivariate_normal([0, 0], C).cdf([z, z], lower_limit=[-z, -z])
        assert step_down(plain(p, p), C).p[0] == pytest.approx(1 - both, abs=5e-4)


def test_a_discrete_test_costs_others_only_what_it_can_attain() -> None:
    never = PageTest(1.0, attainable=np.array([0.4, 1.0]))
    assert step_down([*plain(0.03), never], np.eye(2)).p[0] == pytest.approx(0.03, abs=5e-4)
    sometimes = PageTest(1.0, attainable=np.array([0.01, 0.4, 1.0]))
    assert step_down([*plain(0.03), sometimes], np.eye(2)).p[0] == pytest.approx(1 - 0.97 * 0.99, abs=5e-4)


def test_a_family_uses_its_share() -> None:
    """Independent families of shares 3 to 1: weights in that proportion, and both kinds of error within alpha."""
    tests = [PageTest(0.03, family="a"), PageTest(0.011, family="b")]
    found = step_down(tests, np.eye(2), 0.05, {"a": 0.75, "b": 0.25})
    assert found.p[0] == pytest.approx(1 - 0.97 * 0.99, rel=0.1)
    assert found.level["a"] == pytest.approx(3 * found.level["b"], rel=0.1)
    assert found.p[1] >= found.p[0] > 0.03


@quick
@given(st.lists(st.floats(1e-12, 1), min_size=1, max_size=6), st.integers(0, 5))
def test_step_down_lies_between_p_and_holm(p: list[float], seed: int) -> None:
    scores = np.random.default_rng(seed).standard_normal((40, 2 * len(p)))
    found = step_down([PageTest(one, 2) for one in p], scores.T @ scores)
    for value, raw, bound in zip(found.p, p, holm(p)):
        assert raw <= value <= bound * (1 + 1e-8)
    assert [found.p[i] for i in np.argsort(p)] == sorted(found.p)
    assert 0 < found.level[""] <= 0.05


@quick
@given(st.integers(0, 10_000))
def test_draws_do_not_depend_on_signs_and_order_of_eigenvectors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((60, 6))
    tests = [PageTest(float(p), df) for p, df in zip(rng.random(3) * 0.05, (1, 2, 3))]
    one = step_down(tests, scores.T @ scores)
    other = step_down(tests, scores[::-1].T @ scores[::-1] * (1 + 1e-15))
    assert one.p == pytest.approx(other.p, abs=1e-6)


# What could have been shown -------------------------------------------------------------------------------------------


def test_the_samples_black_women_could_have_shown_a_third() -> None:
    assert detectable_ratio(168, 422, 39 / 422) == pytest.approx(0.35, abs=0.005)  # VALIDITY 4d


@quick
@given(st.integers(20, 3000), st.integers(20, 3000), st.floats(0.02, 0.98), st.sampled_from([0.05, 0.003]))
def test_detectable_ratio_as_statsmodels(n1: int, n0: int, rate: float, alpha: float) -> None:
    ratio = detectable_ratio(n1, n0, rate, alpha)
    if ratio is None:
        none = proportion_effectsize(rate, 0.0)
        assert NormalIndPower().power(none, n1, alpha / 2, n0 / n1, alternative="larger") < 0.8 + 1e-6
        return
    effect = proportion_effectsize(rate, ratio * rate)
    power = NormalIndPower().power(effect, n1, alpha / 2, n0 / n1, alternative="larger")
    assert power == pytest.approx(0.8, abs=1e-6)


def test_applicants_needed_as_statsmodels() -> None:
    needed = applicants_needed(168, 422, 0.06, 0.09)
    effect = proportion_effectsize(0.09, 0.06)
    n1 = NormalIndPower().solve_power(effect, None, 0.05, 0.8, 422 / 168, "two-sided")
    assert needed == pytest.approx(n1 * (168 + 422) / 168, abs=1.5)
    assert applicants_needed(168, 422, 0.1, 0.1) is None
    assert applicants_needed(168, 422, 0.06, 0.09, design_effect=2) == pytest.approx(2 * (needed or 0), abs=2)
    assert detectable_ratio(3, 4, 0.2) is None and detectable_ratio(30, 40, 0.0) is None


# Who is compared ------------------------------------------------------------------------------------------------------


def test_comparable_groups() -> None:
    sizes = {"a": 490, "b": 490, "tiny": 20, "unknown": 400, "none": 0}
    assert comparable(sizes) == ("a", "b", "tiny")  # exactly 2 % of the known is not under 2 %
    assert comparable(sizes, 0.021) == ("a", "b")
    assert comparable(sizes, 0, threshold=30) == ("a", "b")
    assert comparable({"unknown": 5}) == ()
