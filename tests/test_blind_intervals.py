"""Intervals of prices without the group: the lottery that bounds them, the draws, and the ends, each by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import stdtrit

import auditkit
from auditkit.compare import NoInterval, PriceInterval, compare
from auditkit.compare.blind_intervals import BlindPrices, _positions, _visits, centred, error_of_laws, lottery
from auditkit.constraints.binding import bind, make
from auditkit.fitting.fitted import Fitted
from auditkit.fitting.group_chances import GroupChances, logit_errors, multinomial_logit
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.plugin_manager import load
from auditkit.report.findings import _prices
from auditkit.report.words.phrases import Phrases
from auditkit.solver.near_optimum import NearOptimum
from auditkit.solver.oracle import free_visits

PLUGINS = load()
PARITY = [make(PLUGINS.constraints, {"type": "parity"})]


def people(seed: int = 3, gap: float = 6.0, groups: str = "FM", staged: bool = False) -> pd.DataFrame:
    """Twelve requisitions of ten people; the first group has lower CVs."""
    rng = np.random.default_rng(seed)
    n = 120
    group = rng.choice(list(groups), n)
    cv = np.round(50 - gap * (group == "F") + 10 * rng.standard_normal(n))
    score = 50 + 0.5 * (cv - 50) + 6 * rng.standard_normal(n)
    search = np.repeat(np.arange(12), 10)
    table = pd.DataFrame({"Candidate": [f"p{i}" for i in range(n)], "Search": [f"s{s}" for s in search], "sex": group})
    seen = pd.Series(cv).groupby(search).rank(ascending=False, method="first").to_numpy() <= 6
    hired = pd.Series(np.where(seen, score, -1)).groupby(search).rank(ascending=False, method="first").to_numpy() <= 2
    table = table.assign(Openings=2, CV=cv, Score=np.where(seen, score, np.nan), Hired=np.where(hired, "yes", "no"))
    if staged:
        table["Screen"] = np.where(seen, "passed", "failed")
        table["Interview"] = np.where(seen, np.where(hired, "passed", "failed"), "")
        return table
    return table.assign(Interviewed=np.where(seen, "yes", "no"))


def fitted_to(table: pd.DataFrame, *, group_aware: bool = False) -> Fitted:
    roles = {"candidate": "Candidate", "search": "Search", "capacity": "Openings", "group": "sex", "prior": "CV"}
    roles |= {"score": "Score", "selected": "Hired"}
    steps = {"stages": ["Screen", "Interview"]} if "Screen" in table else {"inspected": "Interviewed"}
    return auditkit.fit(table, map=roles | steps, cost=1.0, group_aware=group_aware, value_scale=1.0)


def random_instance(rng: np.random.Generator) -> Instance:
    """Requisitions of one size with the same positions; membership of any kind."""
    size, capacity = int(rng.integers(2, 5)), int(rng.integers(1, 3))

    def box(name: str) -> Box:
        values, probs = np.sort(rng.normal(20, 6, 3)), rng.dirichlet(np.ones(3))
        given = rng.random(3)
        first = {"before": float(probs @ given), "given": given}
        second = {"before": 1 - first["before"], "given": 1 - given}
        return Box(name, {}, 1.0, values, probs, membership={"sex": {"F": first, "M": second}})

    return Instance(
        [Search(f"s{s}", capacity, [box(f"c{s}-{i}") for i in range(size)]) for s in range(int(rng.integers(2, 5)))]
    )


@pytest.mark.parametrize("seed", range(8))
def test_no_price_of_parity_is_above_that_of_a_lottery(seed: int) -> None:
    instance = random_instance(np.random.default_rng(seed))
    layout = instance.layout
    rows = bind(PARITY, layout)
    visits = lottery(layout, rows)
    assert visits is not None
    assert rows.values(visits) == pytest.approx(rows.bounds, abs=1e-9)
    solution = auditkit.solve(instance, ["parity"])
    assert solution.constrained is not None
    assert solution.constrained.utility >= layout.reward @ visits - 1e-9


def test_the_lottery_is_everybodys_even_chance_where_that_meets_the_rows() -> None:
    """Of two requisitions alike: two of four, whoever they are."""
    half = {
        "sex": {
            "F": {"before": 0.5, "given": np.array([0.5, 0.5])},
            "M": {"before": 0.5, "given": np.array([0.5, 0.5])},
        }
    }
    values, probs = np.array([10.0, 20.0]), np.array([0.25, 0.75])
    boxes = [[Box(f"c{s}-{i}", {}, 3.0, values, probs, membership=half) for i in range(4)] for s in range(2)]
    layout = Instance([Search(f"s{s}", 2, own) for s, own in enumerate(boxes)]).layout
    visits = lottery(layout, bind(PARITY, layout))
    assert visits is not None
    assert layout.reward @ visits == pytest.approx(4 * (17.5 - 3.0), abs=1e-10)


def test_people_in_stages_go_on_until_they_fail() -> None:
    fitted = fitted_to(people(staged=True))
    layout = fitted.instance.layout
    visits = _visits(layout, _positions(layout))
    assert visits[layout.start] == pytest.approx(0.2)  # two positions for ten
    selected = np.bincount(layout.state_candidate, visits * layout.selecting)
    assert fitted.refit is not None
    assert fitted.refit.passed is not None
    passing = fitted.refit.passed.chances[fitted.refit.rows]
    assert selected == pytest.approx(0.2 * passing.prod(axis=1), abs=1e-12)


def test_errors_of_the_logit_are_newtons_step_from_other_weights() -> None:
    rng = np.random.default_rng(1)
    n, classes = 60, 3
    x = np.column_stack([np.ones(n), rng.normal(size=n)])
    told, penalty, times = np.eye(classes)[rng.integers(0, classes, n)], np.array([1e-2, 1.0]), np.ones(n)
    draws = rng.normal(size=(2, n))
    found = logit_errors(x, told, penalty, times, draws)
    b = multinomial_logit(x, told, penalty, None, times)
    chance = np.exp(x @ b)
    chance /= chance.sum(axis=1, keepdims=True)
    curvature = np.diag(np.repeat(penalty, classes))
    for row, p in zip(x, chance, strict=True):
        curvature += np.kron(np.outer(row, row), np.diag(p) - np.outer(p, p))
    for draw, move in zip(draws, found, strict=True):
        slope = sum(w * np.kron(row, t - p) for w, row, t, p in zip(draw, x, told, chance, strict=True))
        assert move.ravel() == pytest.approx(np.linalg.solve(curvature, slope), abs=1e-10)
        step = 1e-3
        ends = [multinomial_logit(x, told, penalty, b, times + sign * step * draw) for sign in (1, -1)]
        assert move == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=0.05 * np.abs(move).max())


@pytest.mark.parametrize("imputed", [False, True])
def test_errors_of_effects_are_the_derivative_of_means(imputed: bool) -> None:
    rng = np.random.default_rng(2)
    n = 50
    code = rng.integers(0, 2, n)
    told = np.column_stack([p := rng.random(n), 1 - p]) if imputed else np.eye(2)[code]
    chances = GroupChances(("a", "b"), code, np.full((n, 2), 0.5), told if imputed else None)
    residual, weights, draw = rng.normal(size=n), rng.random(n) + 0.5, rng.normal(size=n)
    residual[:5] = np.nan
    known = ~np.isnan(residual)

    def effects(more: float) -> np.ndarray:
        w = (weights * (1 + more * draw))[known]
        own, t = residual[known], told[known]
        return np.linalg.solve(t.T @ (t * w[:, None]), t.T @ (w * own)) - w @ own / w.sum()

    found = chances.effect_errors(residual, weights, draw[None, :])[0]
    step = 1e-3  # Richardson: without the terms of second to fourth degree
    near, far = ((effects(h) - effects(-h)) / (2 * h) for h in (step, 2 * step))
    assert found == pytest.approx((4 * near - far) / 3, abs=1e-10)


def test_draws_add_up_to_nothing_and_keep_their_variance() -> None:
    draws = centred(4_000, 6, np.random.default_rng(0))
    assert np.abs(draws.sum(axis=0)).max() < 1e-12
    assert np.mean(draws**2) == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("staged", [False, True])
def test_a_draw_of_nothing_is_the_fit_without_shrinkage(staged: bool) -> None:
    fitted = fitted_to(people(staged=staged))
    refit, count = fitted.refit, len(fitted.instance.searches)
    assert refit is not None
    searches = np.arange(count)
    (drawn,) = refit.drawn(fitted.instance, searches, np.zeros((1, refit.searches)))
    whole = refit.instance(fitted.instance, np.ones(refit.searches, dtype=np.int64), searches)
    losses = [auditkit.solve(each, ["parity"]).loss for each in (drawn, whole)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)
    draws = centred(refit.searches, 3, np.random.default_rng(1))
    moved = [auditkit.solve(each, ["parity"]).loss for each in refit.drawn(fitted.instance, searches, draws)]
    assert len({round(loss or 0.0, 6) for loss in [*moved, losses[0]]}) == 4


def test_the_error_of_laws_is_the_sum_over_searches_of_what_each_changes() -> None:
    fitted = fitted_to(people())
    refit, layout = fitted.refit, fitted.instance.layout
    assert refit is not None
    assert refit.laws is not None
    more = np.random.default_rng(4).normal(size=layout.states)
    means, scores = refit.laws.means, refit.training.scores
    known = np.flatnonzero(~np.isnan(scores))
    centre = means[known].mean()
    line = np.polyfit(means[known] - centre, scores[known] - means[known], 1)
    left = scores - means - np.polyval(line, means - centre)
    variance = np.mean(left[known] ** 2)
    selecting = layout.selecting
    own = fitted.expected[layout.state_candidate][selecting]
    value, more_of = layout.reward[selecting], more[selecting]
    total, count = 0.0, 0
    for s in np.unique(refit.search[known]):
        rows = known[refit.search[known] == s]
        a = left[rows].sum() / len(known)
        b = left[rows] @ (means[rows] - centre) / np.sum((means[known] - centre) ** 2)
        c = np.sum(left[rows] ** 2 - variance) / (2 * variance * len(known))
        total += float(np.sum(more_of * (a + b * (own - centre) + c * (value - own)))) ** 2
        count += 1
    assert error_of_laws(fitted, more) == pytest.approx(np.sqrt(count / (count - 1) * total), rel=1e-10)


def near(loss: float, excess: float) -> NearOptimum:
    return NearOptimum(1000.0, 1000.0 - loss, 1000.0 - loss, np.zeros(1), np.array([excess]))


ERRORS = np.array([-0.02, -0.01, 0.0, 0.01, 0.02])
PRICES = BlindPrices(
    reported=near(40.0, 0.2),
    centre=near(40.0, 0.2),
    draws=[near(1000 * (0.2 + e) ** 2, 0.2 + e) for e in ERRORS],
    equal=np.array([True]),
    share=1.0,
    error=0.0,
    bound=np.inf,
    error_of_bound=0.0,
)
"""The same lever in each draw: the price is 1000 times the square of the excess."""


def test_ends_of_one_lever_are_those_of_the_excess() -> None:
    t, spread = stdtrit(4, 0.975), np.sqrt(np.mean(ERRORS**2))
    wanted = [1000 * (0.2 + sign * t * spread) ** 2 for sign in (-1, 1)]
    assert PRICES.ends(0.95) == pytest.approx(wanted, rel=1e-6)
    assert replace(PRICES, share=0.5, reported=near(80.0, 0.2)).ends(0.95) == pytest.approx(
        2 * np.array(wanted), rel=1e-6
    )


def test_ends_of_a_lever_that_is_not_known_reach_the_bound() -> None:
    levers = [0.2, 0.4, 1.0, 2.0, 2.5]
    unsure = replace(PRICES, draws=[near(40 / h, 0.2 + e) for h, e in zip(levers, 0.1 * ERRORS, strict=True)])
    low, high = replace(unsure, bound=300.0, error_of_bound=10.0).ends(0.95)
    assert 0 < low < 40
    assert high == pytest.approx(300.0 + 10.0 * stdtrit(4, 0.975))
    assert PRICES.ends(0.95)[1] < 300  # where it is known, the bound is not reached


def test_an_excess_that_may_be_chance_begins_at_nothing() -> None:
    slight = replace(PRICES, draws=[near(1000 * (0.2 + e) ** 2, 0.2 + e) for e in 10 * ERRORS])
    assert not slight.surely_missed(0.95)
    assert slight.ends(0.95)[0] == 0
    assert PRICES.surely_missed(0.95)


def test_the_error_of_the_price_widens_both_ends() -> None:
    low, high = PRICES.ends(0.95)
    wider = replace(PRICES, error=4.0).ends(0.95)
    reach = stdtrit(4, 0.975) * 4.0
    assert wider[0] == pytest.approx(40 - np.hypot(40 - low, reach))
    assert wider[1] == pytest.approx(40 + np.hypot(high - 40, reach * high / 40))


@pytest.mark.parametrize(("gap", "said"), [(0.0, "could not be measured"), (12.0, "measured ")])
def test_a_report_says_a_price_only_where_groups_are_told_apart(gap: float, said: str) -> None:
    """Planted: the same people with and without lower CVs of women."""
    fitted = fitted_to(people(gap=gap))
    compared = compare(fitted, PARITY, PLUGINS.constraints, aware=fitted_to(people(gap=gap), group_aware=True))
    (price,) = _prices(compared.constrained, Phrases(), (), compared.alike)
    assert said in price.text
    assert ("could not be measured" in price.text) == (gap == 0)
    assert ("lottery" in price.text) == (gap == 0)
    without = [replace(entry, interval=NoInterval("few-searches", "few")) for entry in compared.constrained]
    (price,) = (found for found in _prices(without, Phrases(), (), compared.alike) if found.code == "price-of-fairness")
    assert ("could not be measured" in price.text) == (gap == 0)
    assert "would cost 0" not in price.text and "lottery" not in price.text


@pytest.mark.parametrize("gap", [0.0, 12.0])
def test_an_interval_holds_the_price_and_ends_at_the_lottery(gap: float) -> None:
    fitted = fitted_to(people(gap=gap))
    (entry,) = compare(fitted, PARITY, PLUGINS.constraints).constrained
    assert isinstance(entry.interval, PriceInterval)
    assert entry.loss is not None
    assert entry.optimum is not None
    assert entry.interval.loss[0] <= entry.loss <= entry.interval.loss[1]
    layout = fitted.instance.layout
    visits = lottery(layout, entry.optimum.rows)
    assert visits is not None
    most = layout.reward @ (free_visits(layout) - visits)
    error = error_of_laws(fitted, free_visits(layout) - visits)
    assert entry.interval.loss[1] <= max(most + stdtrit(11, 0.975) * error, entry.loss) + 1e-9
    if gap == 0:
        assert fitted.alike == ("sex",)
        assert entry.interval.loss[0] == 0 == round(entry.loss, 9)
        assert entry.interval.loss[1] == pytest.approx(most + stdtrit(11, 0.975) * error)
