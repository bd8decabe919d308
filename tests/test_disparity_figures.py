"""Trends, outside availability, scores and decisions that are bad to be selected for, against independent formulas."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm, ttest_ind
from statsmodels.stats.meta_analysis import effectsize_smd

import auditkit
from auditkit.config import Config
from auditkit.data.attributes import AGE_BANDS
from auditkit.data.availability_file import read_availability
from auditkit.disparity.applicants import Applicants
from auditkit.disparity.availability import PoolCount, availability, generalised_binomial
from auditkit.disparity.cuts import DisparitySettings, cuts
from auditkit.disparity.disparity_tables import disparities
from auditkit.disparity.pair import Pair
from auditkit.disparity.power import detectable_ratio
from auditkit.disparity.results import GroupStatus
from auditkit.disparity.score_differences import score_page
from auditkit.disparity.trend import bands, trend
from auditkit.disparity.trend_tests import trend_tests
from auditkit.errors import InputError
from support.sampling import examples

quick = examples(30)


# Trend ----------------------------------------------------------------------------------------------------------------


@quick
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 40)), min_size=3, max_size=4))
def test_trend_is_the_correlation_of_order_and_outcome(cells: list[tuple[int, int]]) -> None:
    n = np.array([n for n, _ in cells])
    x = np.minimum([x for _, x in cells], n)
    found = trend(AGE_BANDS[: len(n)], n, x)
    if not 0 < x.sum() < n.sum():
        assert found is None
        return
    order = np.repeat(np.arange(len(n)), n)
    y = np.concatenate([np.arange(size) < chosen for size, chosen in zip(n, x)])
    z = math.sqrt(n.sum()) * np.corrcoef(order, y)[0, 1]
    assert found is not None and found.z == pytest.approx(z, abs=1e-10)
    assert found.p == pytest.approx(2 * norm.sf(abs(z)), abs=1e-10) and found.z_within is None


def test_trend_within_requisitions_by_enumeration() -> None:
    """Mean and variance of the sum of orders of those selected, over all ways to select within each requisition."""
    n, x = np.array([[2, 3, 1], [3, 1, 2]]), np.array([[1, 1, 0], [2, 0, 1]])
    mean = variance = 0.0
    for row, chosen in zip(n, x.sum(axis=1)):
        people = np.repeat(np.arange(3), row)
        sums = [sum(people[list(pick)]) for pick in itertools.combinations(range(len(people)), int(chosen))]
        mean, variance = mean + float(np.mean(sums)), variance + float(np.var(sums))
    found = trend(("a", "b", "c"), n, x)
    expected = (float(x.sum(axis=0) @ np.arange(3)) - mean) / math.sqrt(variance)
    assert found is not None and found.z_within == pytest.approx(expected, abs=1e-10)
    assert found.p_within == pytest.approx(2 * norm.sf(abs(expected)), abs=1e-10)


def test_each_band_is_compared_with_the_first() -> None:
    under, over = bands(("a", "b"), np.array([40, 50]), np.array([20, 10]), False, 0.05)
    assert (under.impact_ratio, under.p) == (None, None) and over.interval is not None
    assert (over.rate, over.impact_ratio) == (0.2, 0.4)
    error = math.sqrt(1 / 10 - 1 / 50 + 1 / 20 - 1 / 40)
    assert over.interval.lower == pytest.approx(0.4 * math.exp(-norm.ppf(0.975) * error), abs=1e-10)
    z = (0.2 - 0.5) / math.sqrt(1 / 3 * 2 / 3 * (1 / 40 + 1 / 50))
    assert over.p == pytest.approx(2 * norm.sf(abs(z)), abs=1e-10)


def test_a_trend_is_in_the_error_control_of_the_page() -> None:
    """Its scores add up to the numerator of Z, and its corrected p allows for all tests of the page."""
    rng = np.random.default_rng(4)
    band = rng.integers(0, 4, 900)
    hired = rng.random(900) < 0.4 - 0.08 * band
    for requisitions in (None, rng.integers(0, 9, 900)):
        data = Applicants(
            {"age": np.where(band > 0, "40 and over", "under 40").astype(object)},
            {"hired": hired},
            strata=requisitions,
            ordered={"age": AGE_BANDS},
            bands={"age": np.array(AGE_BANDS, dtype=object)[band]},
        )
        page = list(cuts(data, DisparitySettings()))
        (test,) = trend_tests(data, page, {cut.key: {} for cut in page}, DisparitySettings())
        numerator = variance = 0.0
        for k in (0,) if requisitions is None else np.unique(requisitions):
            here = np.ones(900, dtype=bool) if requisitions is None else requisitions == k
            s, y, t = band[here] - band[here].mean(), hired[here] - hired[here].mean(), int(here.sum())
            numerator += float(s @ y)
            variance += float((s @ s) * (y @ y)) / (t if requisitions is None else t - 1)
        assert test.scores(data, np.arange(900)).sum() == pytest.approx(numerator, abs=1e-10)
        assert test.found.deciding == pytest.approx(numerator / math.sqrt(variance), abs=1e-10)
        found = disparities(data)
        trend_of = found.tables[0].trend
        assert trend_of is not None and trend_of.p_adjusted is not None
        assert trend_of.p_design <= trend_of.p_adjusted <= 0.05
        assert found.tests == sum(test is not None for test in (found.tables[0].pooled, found.tables[0].stratified)) + 1


# Availability ---------------------------------------------------------------------------------------------------------


@quick
@given(st.integers(1, 200), st.floats(0.02, 0.98), st.data())
def test_one_pool_is_the_exact_binomial_test(n: int, share: float, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, n))
    found = availability("sex", "hired", {"F": [PoolCount("all", n, x, share)]})[0]
    assert found.p == pytest.approx(binomtest(x, n, share).pvalue, abs=1e-10)
    assert found.expected == pytest.approx(n * share, rel=1e-10) and found.shortfall == pytest.approx(n * share - x)
    assert found.sd == pytest.approx((x - n * share) / math.sqrt(n * share * (1 - share)), rel=1e-10)


def test_several_pools_by_enumeration() -> None:
    pools = [(4, 0.3), (6, 0.55), (3, 0.1)]
    law: dict[int, float] = {}
    for outcome in itertools.product(*(range(n + 1) for n, _ in pools)):
        p = math.prod(float(binom.pmf(k, n, q)) for k, (n, q) in zip(outcome, pools))
        law[sum(outcome)] = law.get(sum(outcome), 0.0) + p
    for seen in range(14):
        expected = sum(p for p in law.values() if p <= law[seen] * (1 + 1e-7))
        assert generalised_binomial(pools, seen) == pytest.approx(expected, abs=1e-10)
    found = availability("sex", "hired", {"F": [PoolCount(str(n), n, 1, q) for n, q in pools], "M": []})
    assert found[0].expected == pytest.approx(4 * 0.3 + 6 * 0.55 + 3 * 0.1) and found[0].p_adjusted >= found[0].p
    assert found[0].share == pytest.approx(found[0].expected / 13) and found[1].p == 1.0


# Scores ---------------------------------------------------------------------------------------------------------------


def test_scores_by_group() -> None:
    rng = np.random.default_rng(8)
    scores = {"a": rng.normal(50, 10, 300).round(), "b": rng.normal(46, 12, 120).round()}
    selected = {group: values >= 55 for group, values in scores.items()}
    page = score_page("race", "test", scores, selected)
    assert page is not None and page.reference == "a" and page.agree == 1.0
    a, b = page.groups
    assert (a.d, a.scored) == (None, 300) and b.scored == 120
    moments = [m for values in (scores["b"], scores["a"]) for m in (values.mean(), values.std(ddof=1), len(values))]
    pooled = math.sqrt((119 * moments[1] ** 2 + 299 * moments[4] ** 2) / 418)
    assert b.d == pytest.approx((moments[0] - moments[3]) / pooled, abs=1e-10)
    hedges, _ = effectsize_smd(*moments)
    assert hedges == pytest.approx(b.d * (1 - 3 / (4 * 420 - 9)), rel=1e-3)  # its small-sample correction
    spread = math.sqrt(420 / (300 * 120) + b.d**2 / 840)
    assert b.interval is not None
    assert (b.interval.lower, b.interval.upper) == pytest.approx((b.d - 1.959964 * spread, b.d + 1.959964 * spread))
    assert b.p == pytest.approx(ttest_ind(scores["b"], scores["a"], equal_var=False).pvalue, rel=1e-10)
    present = [cut for cut in page.cuts if cut.present]
    assert len(present) == 1 and present[0].score == min(values[values >= 55].min() for values in scores.values())
    for cut in page.cuts:
        above = [int((values >= cut.score).sum()) for values in scores.values()]
        rates = [Fraction(above[0], 300), Fraction(above[1], 120)]
        assert list(cut.above) == above and list(cut.impact_ratios) == [float(rate / max(rates)) for rate in rates]


def test_scores_that_tell_nothing_or_too_much() -> None:
    same = {"a": np.full(9, 5.0), "b": np.full(9, 5.0)}
    none = {group: np.zeros(9, dtype=bool) for group in same}
    assert score_page("race", "test", same, none) is None
    some = {"a": np.arange(40.0), "b": np.arange(4.0)}
    nobody = {group: np.zeros(len(values), dtype=bool) for group, values in some.items()}
    assert score_page("race", "test", some, nobody, threshold=5) is None  # b is too small to be shown
    page = score_page("race", "test", {"a": np.arange(40.0), "b": np.arange(20.0)}, {**nobody, "b": np.zeros(20, bool)})
    hidden = score_page(
        "race", "test", {"a": np.arange(40.0), "b": np.arange(20.0)}, {**nobody, "b": np.zeros(20, bool)}, threshold=5
    )
    assert page is not None and hidden is not None and len(hidden.cuts) < len(page.cuts)
    for lower, higher in pairwise([(40, 20), *(cut.above for cut in hidden.cuts), (0, 0)]):
        assert all(a == b or a - b >= 5 for a, b in zip(lower, higher, strict=True))
    assert [None if q is None else 1 for q in hidden.groups[1].quantiles] == [None, 1, 1, 1, None]  # of 20 people
    assert hidden.groups[1].mean == 10.0 and hidden.groups[1].sd == 6.0 and None not in page.groups[1].quantiles
    assert not any(cut.present for cut in page.cuts) and page.agree is None


# Decisions that are bad to be selected for ----------------------------------------------------------------------------


def layoffs(cells: dict[str, tuple[int, int]], favourable: bool, **more: Any) -> Applicants:
    labels = [name for name, (n, _) in cells.items() for _ in range(n)]
    chosen = np.array([k < x for n, x in cells.values() for k in range(n)])
    return Applicants({"age": np.array(labels, dtype=object)}, {"dismissed": chosen}, favourable=favourable, **more)


CELLS = {"40 and over": (200, 50), "under 40": (400, 60)}


def test_the_lowest_rate_of_dismissal_is_the_reference() -> None:
    table = disparities(layoffs(CELLS, favourable=False)).table("age", "dismissed")
    old = table["40 and over"]
    assert table.reference == "under 40" and old.status is GroupStatus.DIFFERENCE_BELOW_LINE
    assert (old.selected, old.rate) == (50, 1 / 4) and old.impact_ratio == 0.6
    assert table["under 40"].selected == 60 and table.selected == 110
    other = Pair(400, 60, 200, 50)  # the same ratio, the other way round
    assert old.interval == other.interval() and old.p == pytest.approx(other.p, rel=1e-10)
    assert old.shortfall == pytest.approx(50 - 200 * 110 / 600)  # so many fewer would have been dismissed
    good = disparities(layoffs(CELLS, favourable=True)).table("age", "dismissed")
    assert good.reference == "40 and over" and good["under 40"].impact_ratio == 0.6


def test_flips_and_power_of_dismissals() -> None:
    pair = Pair(10, 6, 10, 7, adverse=True)  # 4 and 3 dismissed
    assert pair.impact_ratio == Fraction(3, 4) and pair.below(Fraction(4, 5)) and pair.selected == (4, 3)
    moved = pair.moved(1)
    assert moved is not None and moved.selected == (3, 4) and moved.impact_ratio == Fraction(4, 3)
    ratio = detectable_ratio(200, 400, 0.15, adverse=True)
    assert ratio is not None
    h = 2 * math.asin(math.sqrt(0.15 / ratio)) - 2 * math.asin(math.sqrt(0.15))
    power = norm.sf(norm.isf(0.025) - h / math.sqrt(1 / 200 + 1 / 400))
    assert power == pytest.approx(0.8, abs=1e-10)


# Whole reports --------------------------------------------------------------------------------------------------------


def firm() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "Requisition ID": [f"R{k % 12}" for k in range(600)],
            "Gender": rng.choice(["Female", "Male"], 600),
            "Job Family": rng.choice(["Sales", "Legal"], 600),
            "CV Score": rng.normal(60, 10, 600).round(1),
        }
    )
    frame["Hired"] = np.where(frame["CV Score"] >= 68, "Yes", "No")
    return frame


ROLES = {"search": "Requisition ID", "group": "Gender", "selected": "Hired", "segment": "Job Family"}


def test_a_report_has_scores_and_availability(tmp_path: Path) -> None:
    frame = firm()
    config = Config(
        availability=[
            {"group": "Female", "share": 0.4, "pool": "Sales"},
            {"group": "Female", "share": 0.6, "pool": "Legal"},
        ]
    )  # type: ignore[list-item]
    audit = auditkit.audit(frame, map={**ROLES, "prior": "CV Score"}, config=config)
    found = audit.report.disparity
    assert found is not None
    row = found.availability[0]
    hired = frame[frame["Hired"] == "Yes"]
    pools = [(int((hired["Job Family"] == name).sum()), share) for name, share in (("Sales", 0.4), ("Legal", 0.6))]
    seen = int((hired["Gender"] == "Female").sum())
    assert (row.of_group, row.selected) == (seen, len(hired))
    assert row.p == pytest.approx(generalised_binomial(pools, seen), abs=1e-12)
    page = found.score_pages[0]
    assert (page.attribute, page.score) == ("Gender", "CV Score") and page.agree == 1.0
    assert [cut.score for cut in page.cuts if cut.present] == [frame["CV Score"][frame["CV Score"] >= 68].min()]
    audit.save_html(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "impact ratio at every cut score" in text and "pools outside the firm" in text
    assert all(f">{name}" in text for name in ("p alone", "mid-p", "corrected", "h, phi", "Flips", "Shortfall"))


def test_a_prior_that_is_text_has_no_score_page() -> None:
    frame = firm().assign(
        **{"Found by": lambda table: ["Agency", "Web"] * (len(table) // 2) + ["Web"] * (len(table) % 2)}
    )
    found = auditkit.audit(frame, map={**ROLES, "prior": ["CV Score", "Found by"]}).report.disparity
    assert found is not None and {page.score for page in found.score_pages} == {"CV Score"}


def test_a_file_of_availability(tmp_path: Path) -> None:
    path = tmp_path / "pool.csv"
    path.write_text("group,share\nFemale,47 %\nMale,0.53\n")
    assert [(row["group"], row["share"]) for row in read_availability(path)] == [("Female", 0.47), ("Male", 0.53)]
    path.write_text("pool,group,size\nSales,Female,30\nSales,Male,70\nLegal,Female,5\n")
    assert [row["share"] for row in read_availability(path)] == [0.3, 0.7, 1.0]
    path.write_text("group,share\nFemale,47\n")
    with pytest.raises(InputError, match="row 2, share: '47' is not a share"):
        read_availability(path)
    path.write_text("who,share\nFemale,0.47\n")
    with pytest.raises(InputError, match="has the columns who, share"):
        read_availability(path)
    with pytest.raises(InputError, match=r"'Nobody'.*there is no such group"):
        auditkit.audit(firm(), map=ROLES, config=Config(availability=[{"group": "Nobody", "share": 0.4}]))  # type: ignore[list-item]
