"""Fit quality: right fits look right, wrong ones do not, and the numbers are what their names say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.fitting.fitted import Fitted
from auditkit.fitting.fitter import Laws
from auditkit.fitting.priors import fit
from auditkit.fitting.quality import crps, pit_intervals, spread_over
from auditkit.model.layout import Floats
from support.histories import FITTERS, history, known_world
from support.sampling import examples


def quality(scores: Floats, prior: Floats, fitter: str) -> Fitted:
    columns = {"search": [f"r{i // 20}" for i in range(len(scores))], "prior:cv": prior, "score": scores}
    return fit(history(columns), fitters=FITTERS, fitter=fitter, cost=1.0)


@pytest.mark.parametrize("fitter", ["empirical", "normal"])
def test_a_right_fit_has_an_even_pit_and_covers(fitter: str) -> None:
    data, _ = known_world(1500, 1)
    found = fit(data, fitters=FITTERS, fitter=fitter, cost=1.0).quality
    assert found.pit_p > 0.05 and found.pit == pytest.approx([0.1] * 10, abs=0.03)
    assert sum(found.pit) == pytest.approx(1)
    for level, share in found.coverage:
        assert share == pytest.approx(level, abs=0.03)
    assert found.skill is not None and found.skill > 0.2
    for error in (found.overall, *found.by_group, *found.by_stratum):
        assert error.mean_error is not None and error.standard_error is not None
        assert abs(error.mean_error) < 4 * error.standard_error
    assert found.warnings == ()


def test_a_wrong_fit_is_pointed_out() -> None:
    rng = np.random.default_rng(2)
    prior = rng.normal(size=1500)
    skewed = 5 + prior + 2 * rng.exponential(size=1500)
    wrong, right = (quality(skewed, prior, name).quality for name in ("normal", "empirical"))
    assert wrong.pit_p < 1e-6 and any("PIT" in warning for warning in wrong.warnings)
    assert right.pit_p > 0.01 and right.overall.crps < wrong.overall.crps  # type: ignore[operator]
    curved = 5 + 2 * prior**2 + rng.normal(size=1500)
    straight = quality(curved, prior, "normal").quality
    assert any("than expected" in warning for warning in straight.warnings)


def test_ratings_have_an_even_pit_too() -> None:
    rng = np.random.default_rng(3)
    prior = rng.normal(size=1500)
    ratings = np.clip(np.round(3 + 0.7 * prior + rng.normal(size=1500)), 1, 5)
    assert quality(ratings, prior, "empirical").quality.pit_p > 0.05


def test_small_groups_are_named_without_their_number() -> None:
    data, _ = known_world(600, 1)
    data.table.loc[:6, "group:Group"] = "rare"
    warnings = fit(data, fitters=FITTERS, cost=1.0).quality.warnings
    assert any("fewer than 30 scores" in w and "rare" in w for w in warnings)


def test_selection_into_inspection_is_reported() -> None:
    data, _ = known_world(2000, 3)
    table = data.table
    keep = np.random.default_rng(0).random(2000) < 1 / (1 + np.exp(-2 * table["prior:cv"] + (table["group"] == "F")))
    table["score"] = table["score"].where(keep)
    table["inspected"] = table["score"].notna()
    table["selected"] &= table["inspected"]
    found = fit(data, fitters=FITTERS, cost=1.0).quality.selection
    by_group = {rate.name: rate for rate in found.by_group}
    assert by_group["F"].inspected / by_group["F"].candidates < by_group["M"].inspected / by_group["M"].candidates
    rates = [rate.inspected / rate.candidates for rate in found.by_tercile]
    assert rates[0] < rates[1] < rates[2]
    assert sum(rate.candidates for rate in found.by_group) == sum(r.candidates for r in found.by_tercile) == 2000
    assert found.effective_sample_size < 0.9 * found.scored == 0.9 * int(table["score"].notna().sum())


LAWS = st.integers(0, 10_000).map(lambda seed: _random_law(seed))


def _random_law(seed: int) -> tuple[Laws, Floats]:
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 8)), 20
    values = np.sort(rng.integers(-3, 4, (3, m)) * 1.0, axis=1)
    probs = rng.random((3, m)) + 0.01
    laws = Laws(values, probs / probs.sum(axis=1, keepdims=True), rng.integers(0, 3, n))
    return laws, rng.choice([-4.0, -1.5, 0, 1, 2.2, 5], n)


@given(LAWS)
@examples(25)
def test_crps_and_pit_agree_with_their_definitions(drawn: tuple[Laws, Floats]) -> None:
    laws, y = drawn
    low, high = pit_intervals(laws, y)
    assert (low >= -1e-12).all() and (high <= 1 + 1e-12).all() and (low <= high).all()
    grid = np.linspace(-6, 7, 2601)
    for i in range(len(y)):
        v, p = laws.values[laws.which[i]], laws.probs[laws.which[i]]
        cdf = (p * (v <= grid[:, None])).sum(axis=1)
        integral = np.trapezoid((cdf - (grid >= y[i])) ** 2, grid)
        assert crps(laws, y)[i] == pytest.approx(integral, abs=0.01)
        below, upto = p[v < y[i]].sum(), p[v <= y[i]].sum()
        if upto > below:
            assert (low[i], high[i]) == pytest.approx((below, upto))
        else:
            assert low[i] - 1e-12 <= below <= high[i] + 1e-12
    shares = np.diff(spread_over(low, high, np.linspace(0, 1, 11)), axis=1)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(y)), abs=1e-6)


def test_the_pit_of_draws_from_a_law_is_uniform_without_randomising() -> None:
    rng = np.random.default_rng(1)
    values, probs = np.array([1.0, 2, 3, 7]), np.array([0.1, 0.45, 0.25, 0.2])
    laws = Laws.of([(values, probs)], np.zeros(20_000, dtype=np.int64))
    low, high = pit_intervals(laws, rng.choice(values, 20_000, p=probs))
    shares = np.diff(spread_over(low, high, np.linspace(0, 1, 11)).mean(axis=0))
    assert shares == pytest.approx([0.1] * 10, abs=0.006)
