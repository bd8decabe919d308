"""The search over segments and the three comparisons, against enumeration, plain formulas and planted differences."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import hypergeom, norm

from auditkit.disparity.applicants import Applicants
from auditkit.disparity.cuts import DisparitySettings, cuts
from auditkit.disparity.disparity_tables import disparities, reference_factor
from auditkit.disparity.pair import Pair, stratify
from auditkit.disparity.results import Comparator, GroupStatus
from auditkit.disparity.segment_search import FEWEST_ON_A_SIDE, differ, search_scores, search_tests

DEPARTMENTS = ("Ads", "Bio", "Ops", "Web")


def firm(seed: int, effect: float = 1.0, where: str = "Bio", **more: Any) -> Applicants:
    """Requisitions of four departments; women of one of them (or of all) pass the screening at `effect` of the rate."""
    rng = np.random.default_rng(seed)
    requisition = np.repeat(np.arange(40), 25)
    department = np.array(DEPARTMENTS, dtype=object)[requisition % 4]
    sex = rng.choice(np.array(["F", "M"], dtype=object), 1000)
    concerned = (sex == "F") & ((department == where) | (where == "all"))
    screened = rng.random(1000) < np.where(concerned, 0.55 * effect, 0.55)
    hired = screened & (rng.random(1000) < 0.3)
    return Applicants(
        attributes={"sex": sex},
        steps={"screened": screened, "hired": hired},
        strata=requisition,
        segments={"department": department, "nothing": np.full(1000, "same", dtype=object)},
        **more,
    )


def test_a_planted_department_is_named_and_the_others_are_not() -> None:
    found = disparities(firm(1, 0.25)).search
    assert found.segments == ("department",)  # a segment of one value tells nothing
    assert [(one.segment, one.value, one.step, one.group) for one in found.found] == [
        ("department", "Bio", "screened", "F")
    ]
    one = found.found[0]
    assert one.against == "M" and one.p <= one.p_design <= one.p_adjusted <= 0.05
    assert one.odds_ratio is not None and one.odds_ratio < 0.5 and one.shortfall > 0
    assert one.p_elsewhere is not None and one.p_elsewhere < 0.01
    assert found.level < 0.05 / 4


def test_a_difference_everywhere_does_not_set_a_department_apart() -> None:
    page = disparities(firm(2, 0.5, "all"))
    assert page.table("sex", "screened")["F"].status.found
    for one in page.search.found:
        assert one.p_elsewhere is not None and one.p_elsewhere > 0.01


def test_nothing_is_named_without_a_difference() -> None:
    for seed in range(5):
        assert not disparities(firm(seed)).search.found


def test_each_test_is_the_exact_one_of_its_value() -> None:
    """p by a convolution of scipy's hypergeometric laws over the requisitions of the department."""
    data = firm(3)
    settings = DisparitySettings()
    tests = search_tests(data, list(cuts(data, settings)), settings)
    sex, requisition = np.asarray(data.attributes["sex"]), np.asarray(data.strata)
    department = np.asarray(data.segments["department"])
    screened, hired = (np.asarray(data.steps[step]) for step in ("screened", "hired"))
    assert {(test.look.cut.step, test.look.cut.kind) for test in tests} == {
        ("screened", "cumulative"),
        ("hired", "conditional"),
    }
    for test in tests:
        y, among = (screened, np.ones(1000, bool)) if test.look.cut.step == "screened" else (hired, screened)
        inside = among & (department == test.look.values[test.value])
        law, seen = {0: 1.0}, 0
        for r in np.unique(requisition[inside]):
            rows = inside & (requisition == r)
            women, chosen = int((rows & (sex == "F")).sum()), int((rows & y).sum())
            seen += int((rows & y & (sex == "F")).sum())
            pmf = hypergeom(int(rows.sum()), women, chosen).pmf(np.arange(chosen + 1))
            both = [(a + b, p * q) for (a, p), (b, q) in itertools.product(law.items(), enumerate(pmf))]
            law = {total: sum(p for key, p in both if key == total) for total in {key for key, _ in both}}
        expected = sum(p for p in law.values() if p <= law[seen] * (1 + 1e-7))
        assert test.exact is not None and test.p == pytest.approx(expected, abs=1e-10)
        assert np.abs(test.exact.attainable - expected).min() < 1e-10


def test_scores_have_the_variance_of_the_counts() -> None:
    data = firm(4)
    settings = DisparitySettings()
    tests = search_tests(data, list(cuts(data, settings)), settings)
    scores = search_scores(data, tests, np.arange(data.rows))
    for test, row in zip(tests, scores):
        U, V = test.look.moments
        n, x = test.look.counts(test.value)
        t, m = n.sum(axis=1), x.sum(axis=1)
        assert row.sum() == pytest.approx(U[test.value], abs=1e-10)
        assert np.flatnonzero(row).size <= t.sum()
        assert V[test.value] == pytest.approx(
            float(np.sum(n[:, 0] * n[:, 1] * m * (t - m) / np.maximum(t**2 * (t - 1), 1))), rel=1e-10
        )


def test_few_people_are_neither_tested_nor_shown() -> None:
    data = firm(5)
    department = np.asarray(data.segments["department"]).copy()
    women = np.flatnonzero(np.asarray(data.attributes["sex"]) == "F")
    department[women[: FEWEST_ON_A_SIDE - 1]] = "Tiny"
    department[np.flatnonzero(np.asarray(data.attributes["sex"]) == "M")[:30]] = "Tiny"
    tiny = Applicants(data.attributes, data.steps, strata=data.strata, segments={"department": department})
    for threshold in (0, 10):
        settings = DisparitySettings(threshold=threshold)
        tests = search_tests(tiny, list(cuts(tiny, settings)), settings)
        assert tests and all(test.look.values[test.value] != "Tiny" for test in tests)


def test_repeat_applicants_widen_the_search_too() -> None:
    once = firm(6, 0.3)
    rows = np.repeat(np.arange(1000), 2)

    def twice(column: Any) -> Any:
        return np.asarray(column)[rows]

    def page(persons: Any) -> Any:
        return disparities(
            Applicants(
                {"sex": twice(once.attributes["sex"])},
                {name: twice(column) for name, column in once.steps.items()},
                strata=twice(once.strata),
                segments={"department": twice(once.segments["department"])},
                persons=persons,
            )
        )

    naive, counted = page(None).search.found, page(rows).search.found
    assert naive and counted and (naive[0].value, counted[0].value) == ("Bio", "Bio")
    assert naive[0].p == pytest.approx(counted[0].p) and counted[0].p_design > 100 * naive[0].p_design
    z = norm.isf(counted[0].p_design / 2)
    assert z == pytest.approx(abs(stratified_z(once)), rel=0.1)  # that of the same people, each counted once


def stratified_z(data: Applicants) -> float:
    inside = np.asarray(data.segments["department"]) == "Bio"
    sex, r, y = (np.asarray(c)[inside] for c in (data.attributes["sex"], data.strata, data.steps["screened"]))
    counts = [
        [int(np.sum((r == k) & (sex == g) & (y | (what == "n")))) for k in np.unique(r)]
        for g, what in (("F", "n"), ("F", "x"), ("M", "n"), ("M", "x"))
    ]
    return math.sqrt(stratify(*counts).cmh or 0.0)


def test_difference_of_two_odds_ratios_by_hand() -> None:
    z = (math.log(0.4) - math.log(0.9)) / math.sqrt(0.05 + 0.02)
    assert differ(0.4, 0.05, 0.9, 0.02) == pytest.approx(2 * norm.sf(abs(z)), rel=1e-10)
    assert differ(None, 0.05, 0.9, 0.02) is None and differ(0.0, None, 0.9, 0.02) is None


# Comparisons ----------------------------------------------------------------------------------------------------------


def groups(cells: dict[str, tuple[int, int]]) -> Applicants:
    labels = [name for name, (n, _) in cells.items() for _ in range(n)]
    chosen = [k < x for n, x in cells.values() for k in range(n)]
    return Applicants({"race": np.array(labels, dtype=object)}, {"hired": np.array(chosen)})


BEHIND = {"White": (754, 111), "Black": (271, 16), "Asian": (47, 9), "Other": (60, 8)}


def test_a_small_group_with_the_highest_rate_hides_nothing() -> None:
    table = disparities(groups(BEHIND)).table("race", "hired")
    assert table.reference == "Asian" and table.open
    black = table["Black"]
    assert black.status is GroupStatus.DIFFERENCE_BELOW_LINE
    others = black.against(Comparator.OTHERS)
    largest = black.against(Comparator.LARGEST)
    highest = black.against(Comparator.HIGHEST)
    assert others is not None and largest is not None and highest is not None
    assert (largest.reference, highest.reference, others.reference) == ("White", "Asian", None)
    assert (others.applicants, others.selected) == (754 + 47 + 60, 111 + 9 + 8)
    pair = Pair(271, 16, 861, 128)
    assert (others.p, others.mid_p, others.sd) == (pair.p, pair.mid_p, pair.sd)
    assert others.impact_ratio == 16 * 861 / (271 * 128) and others.interval == others.interval_plain
    assert others.p_adjusted is not None and others.p < others.p_adjusted < 0.05
    assert largest.p == pytest.approx(Pair(271, 16, 754, 111).p) and largest.p_adjusted is None
    assert highest.interval is not None and highest.interval_plain is not None
    assert highest.interval.lower < highest.interval_plain.lower  # the reference is chosen by the data


def test_two_groups_have_one_comparison_three_times() -> None:
    row = disparities(groups({"a": (200, 60), "b": (300, 150)})).table("race", "hired")["a"]
    assert [c.against for c in row.comparisons] == list(Comparator)
    assert len({(c.p, c.p_adjusted, c.impact_ratio, c.interval) for c in row.comparisons}) == 1
    other = disparities(groups({"a": (200, 60), "b": (300, 150)})).table("race", "hired")["b"]
    assert other.status is GroupStatus.REFERENCE and [c.against for c in other.comparisons] == [Comparator.OTHERS]


def test_a_group_ahead_of_everybody_is_not_told_as_behind() -> None:
    """Two large groups and a third, too small to be the reference, with far the highest rate."""
    table = disparities(groups({"a": (500, 100), "b": (500, 105), "c": (29, 25)})).table("race", "hired")
    assert table.reference == "b" and table["c"].status is GroupStatus.HIGHER_RATE
    assert not table["c"].status.found and (table["c"].impact_ratio or 0) > 1


@pytest.mark.parametrize("many", [2, 3, 6, 20])
def test_intervals_of_equal_groups_exclude_one_in_a_twentieth(many: int) -> None:
    """Katz intervals with the group of the highest rate, 4,000 tables of equal groups."""
    rng = np.random.default_rng(many)
    n, factor = 400, reference_factor([400] * many, 0.05)
    x = rng.binomial(n, 0.3, (4000, many))
    top = x.max(axis=1)
    spread = np.sqrt((1 - x / n) / x + (1 - top / n)[:, None] / top[:, None])
    excluded = np.log(top[:, None] / x) > norm.isf(0.025) * factor * spread
    others = np.arange(many) != x.argmax(axis=1)[:, None]
    assert excluded[others].mean() == pytest.approx(0.05, abs=0.012)
    assert (factor == 1.0) == (many == 2)
