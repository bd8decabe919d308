"""Disparity measures on random counts: symmetries, brute force by enumeration, and an independent score statistic."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import xlogy

from auditkit.disparity.pair import Pair, holm, score_interval, stratify
from support.sampling import examples

quick = examples(60)  # a first call may have to import, a busy machine to wait

Z = 1.959963984540054


@st.composite
def cells(draw: st.DrawFn, largest: int = 60, least: int = 1) -> tuple[int, int]:
    n = draw(st.integers(least, largest))
    return n, draw(st.integers(0, n))


@st.composite
def pairs(draw: st.DrawFn, largest: int = 60) -> Pair:
    return Pair(*draw(cells(largest)), *draw(cells(largest)))


def swapped(pair: Pair) -> Pair:
    return Pair(pair.n0, pair.x0, pair.n1, pair.x1)


def law(n1: int, n0: int, m: int) -> dict[int, Fraction]:
    """The hypergeometric law of the group's selections, margins fixed."""
    total = math.comb(n1 + n0, m)
    return {a: Fraction(math.comb(n1, a) * math.comb(n0, m - a), total) for a in range(max(0, m - n0), min(n1, m) + 1)}


@quick
@given(pairs(25))
def test_fisher_and_sd_by_enumeration(pair: Pair) -> None:
    probs = law(pair.n1, pair.n0, pair.x1 + pair.x0)
    tail = sum(p for p in probs.values() if p <= probs[pair.x1])
    assert pair.fisher_p == pytest.approx(float(tail), abs=1e-9)
    mean = sum(a * p for a, p in probs.items())
    variance = sum((a - mean) ** 2 * p for a, p in probs.items())
    assert pair.shortfall == pytest.approx(float(mean - pair.x1), abs=1e-10)
    if variance:
        assert pair.sd == pytest.approx(float(pair.x1 - mean) / math.sqrt(variance), abs=1e-9)
    else:
        assert pair.sd is None and pair.z is None


@quick
@given(st.lists(pairs(12), min_size=1, max_size=6))
def test_stratified_by_enumeration(strata: list[Pair]) -> None:
    found = stratify([s.n1 for s in strata], [s.x1 for s in strata], [s.n0 for s in strata], [s.x0 for s in strata])
    excess, variance, direction = Fraction(0), Fraction(0), Fraction(0)
    ad = bc = top = bottom = Fraction(0)
    for s in strata:
        probs = law(s.n1, s.n0, s.x1 + s.x0)
        mean = sum(a * p for a, p in probs.items())
        variance += sum(((a - mean) ** 2 * p for a, p in probs.items()), Fraction(0))
        excess += s.x1 - mean
        t = s.n1 + s.n0
        ad += Fraction(s.x1 * (s.n0 - s.x0), t)
        bc += Fraction((s.n1 - s.x1) * s.x0, t)
        top += Fraction(s.x1 * s.n0, t)
        bottom += Fraction(s.x0 * s.n1, t)
    n1, x1, n0, x0 = (sum(getattr(pair, name) for pair in strata) for name in ("n1", "x1", "n0", "x0"))
    direction = Fraction(x1, n1) - Fraction(x0, n0)
    assert found.cmh == (pytest.approx(float(excess**2 / variance), abs=1e-9) if variance else None)
    assert found.odds_ratio == (pytest.approx(float(ad / bc)) if bc else None)
    assert found.risk_ratio == (pytest.approx(float(top / bottom)) if bottom else None)
    assert found.reverses == (direction * excess < 0)
    assert found.shortfall == pytest.approx(float(-excess), abs=1e-10)
    for ratio, interval in (
        (found.odds_ratio, found.odds_interval),
        (found.risk_ratio, found.risk_interval),
    ):
        if interval is not None:
            assert interval.upper is not None and ratio is not None
            assert interval.lower <= ratio <= interval.upper


@quick
@given(pairs())
def test_one_stratum_is_the_pooled_table(pair: Pair) -> None:
    found = stratify([pair.n1], [pair.x1], [pair.n0], [pair.x0])
    assert found.cmh == (None if pair.sd is None else pytest.approx(pair.sd**2))
    assert found.risk_ratio == (None if pair.impact_ratio is None else pytest.approx(float(pair.impact_ratio)))
    assert not found.reverses
    katz = pair.interval()
    if katz is not None and katz.method == "katz" and found.risk_interval is not None:
        assert (found.risk_interval.lower, found.risk_interval.upper) == pytest.approx((katz.lower, katz.upper))


def test_strata_with_one_group_tell_nothing() -> None:
    assert stratify([3, 5, 0], [1, 2, 0], [4, 0, 7], [3, 0, 1]).cmh == stratify([3], [1], [4], [3]).cmh
    assert stratify([3, 0], [1, 0], [0, 4], [0, 2]).strata == 0


@quick
@given(pairs())
def test_swapping_the_groups(pair: Pair) -> None:
    other = swapped(pair)
    assert pair.fisher_p == pytest.approx(other.fisher_p)
    assert (pair.z is None) == (other.z is None)
    if pair.z is not None and other.z is not None and pair.sd is not None and other.sd is not None:
        assert pair.z == pytest.approx(-other.z, abs=1e-12) and pair.sd == pytest.approx(-other.sd, abs=1e-12)
    assert pair.shortfall == pytest.approx(-other.shortfall, abs=1e-9)
    assert pair.recommended == other.recommended
    if pair.impact_ratio and other.impact_ratio:
        assert pair.impact_ratio * other.impact_ratio == 1
        mine, theirs = score_interval(pair), score_interval(other)
        assert mine.upper is not None and theirs.upper is not None
        assert (mine.lower, mine.upper) == pytest.approx((1 / theirs.upper, 1 / theirs.lower), rel=1e-6)


@quick
@given(pairs(30), st.integers(2, 20))
def test_scaling_keeps_the_ratio_and_sharpens_the_rest(pair: Pair, k: int) -> None:
    large = Pair(k * pair.n1, k * pair.x1, k * pair.n0, k * pair.x0)
    assert large.impact_ratio == pair.impact_ratio
    if pair.z is not None:
        assert large.z == pytest.approx(math.sqrt(k) * pair.z, abs=1e-9)
    wide, narrow = pair.interval(), large.interval()
    if wide is not None and narrow is not None:
        assert wide.upper is not None and narrow.upper is not None
        assert wide.lower <= narrow.lower + 1e-9 and narrow.upper <= wide.upper + 1e-9


@quick
@given(pairs(200))
def test_intervals_hold_the_point_and_agree_with_the_test(pair: Pair) -> None:
    if not pair.x1 + pair.x0:
        return
    score = score_interval(pair)
    for interval in (pair.interval(), score):
        if interval is not None and pair.impact_ratio is not None:
            assert interval.upper is not None
            assert 0 <= interval.lower <= float(pair.impact_ratio) * (1 + 1e-9)
            assert float(pair.impact_ratio) <= interval.upper * (1 + 1e-9)
    if pair.z is not None and abs(abs(pair.z) - Z) > 1e-6:  # at 1 the score statistic is Z
        inside = score.lower <= 1 and (score.upper is None or score.upper >= 1)
        assert inside == (abs(pair.z) < Z)


def score_statistic(pair: Pair, f: float) -> float:
    """T(f) with the likeliest rates found by search instead of by formula."""
    n1, x1, n0, x0 = pair.n1, pair.x1, pair.n0, pair.x0

    def loss(q0: float) -> float:
        q1 = min(f * q0, 1.0)
        return -float(xlogy(x1, q1) + xlogy(n1 - x1, 1 - q1) + xlogy(x0, q0) + xlogy(n0 - x0, 1 - q0))

    q0 = minimize_scalar(loss, bounds=(0, min(1, 1 / f)), method="bounded", options={"xatol": 1e-12}).x
    q1 = f * q0
    return float((x1 / n1 - f * x0 / n0) / math.sqrt(q1 * (1 - q1) / n1 + f * f * q0 * (1 - q0) / n0))


@quick
@given(pairs(40))
def test_score_interval_ends_where_the_statistic_is_z(pair: Pair) -> None:
    if not pair.x1 + pair.x0:
        return
    interval = score_interval(pair)
    if pair.x1 == 0:
        assert interval.lower == 0
    else:
        assert score_statistic(pair, interval.lower) == pytest.approx(Z, abs=1e-3)
    if pair.x0 == 0:
        assert interval.upper is None
    else:
        assert interval.upper is not None
        assert score_statistic(pair, interval.upper) == pytest.approx(-Z, abs=1e-3)


@quick
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_by_definition(p: list[float]) -> None:
    adjusted = holm(p)
    assert all(raw <= new <= 1 for raw, new in zip(p, adjusted))
    ranks = sorted(range(len(p)), key=lambda i: p[i])
    for k, i in enumerate(ranks):
        expected = max(min(1.0, (len(p) - j) * p[ranks[j]]) for j in range(k + 1))
        assert adjusted[i] == pytest.approx(expected)
