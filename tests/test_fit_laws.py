"""Laws, strata, regressions and folds: each by itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from auditkit.errors import InputError
from auditkit.fitting.fitter import Fitter, Laws, quantise
from auditkit.fitting.folds import deal
from auditkit.fitting.long_term import TrueValue, true_values
from auditkit.fitting.propensity import propensity_weights, terciles
from auditkit.fitting.regression import Design, least_squares, log_variance, logistic
from auditkit.fitting.strata import Strata, credibility, effective_size, pseudo_count
from auditkit.model.layout import Floats
from auditkit.plugins.normal import normal_points
from support.histories import FITTERS
from support.sampling import examples

SAMPLES = npst.arrays(np.float64, st.integers(1, 200), elements=st.floats(-1e6, 1e6).map(lambda x: round(x, 3)))


@given(SAMPLES, st.integers(2, 50), st.integers(0, 2**32 - 1))
@examples(60)
def test_quantising_keeps_the_mean(values: Floats, points: int, seed: int) -> None:
    weights = np.random.default_rng(seed).uniform(0.1, 3, len(values))
    support, probs = quantise(values, weights, points)
    assert len(support) <= points and (np.diff(support) >= 0).all()
    assert probs.sum() == pytest.approx(1, abs=1e-12) and (probs > 0).all()
    size = max(1.0, float(np.abs(values).max()))
    assert support @ probs == pytest.approx(np.average(values, weights=weights), abs=1e-11 * size)
    assert values.min() - 1e-9 * size <= support[0] and support[-1] <= values.max() + 1e-9 * size


def test_few_different_values_stay_as_they_are() -> None:
    support, probs = quantise(np.array([3.0, 1, 3, 2, 3, 1]), np.ones(6), 40)
    assert support.tolist() == [1, 2, 3] and probs == pytest.approx([2 / 6, 1 / 6, 3 / 6])
    support, _ = quantise(np.repeat([0.1, 0.2, 0.7], [1, 50, 3]), np.ones(54), 2)
    assert support[1] != 0.2 and support @ [0.5, 0.5] == pytest.approx((0.1 + 10 + 2.1) / 54)


def test_normal_points_are_the_means_of_slices() -> None:
    z = normal_points(40)
    assert z.sum() == pytest.approx(0, abs=1e-13) and (np.diff(z) > 0).all()
    draws = np.sort(np.random.default_rng(0).normal(size=400_000)).reshape(40, -1).mean(axis=1)
    assert z == pytest.approx(draws, abs=0.02)


@pytest.mark.parametrize(
    ("values", "probs", "which", "message"),
    [
        ([[1.0, 2.0]], [[0.5, 0.6]], [0], "sum to 1"),
        ([[2.0, 1.0]], [[0.5, 0.5]], [0], "must not decrease"),
        ([[1.0, np.nan]], [[0.5, 0.5]], [0], "not finite"),
        ([[1.0, 2.0]], [[0.5, 0.5]], [1], "does not exist"),
        ([[1.0, 2.0]], [[1.0]], [0], "do not match"),
    ],
)
def test_wrong_laws_of_a_plugin_are_refused(values: list, probs: list, which: list, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Laws(np.array(values), np.array(probs), np.array(which))


def table(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.random.Generator]:
    rng = np.random.default_rng(seed)
    features = {
        "group": rng.choice(["A", "B"], n),
        "x": rng.normal(size=n),
        "kind": pd.Categorical(rng.choice(list("uvw"), n)),
    }
    return pd.DataFrame(features), rng


# Shrinkage ------------------------------------------------------------------------------------------------------------


def test_strata_that_do_not_differ_have_their_parents_law() -> None:
    features, rng = table(2000)
    model = Strata(features, rng.normal(size=2000), np.ones(2000), 40)
    assert not model.partition.splits or min(model.pseudo) > 100
    assert model.laws(features).means.std() < 0.1


def test_strata_that_differ_keep_their_own_law() -> None:
    features, rng = table(3000)
    level = features["kind"].map({"u": 0.0, "v": 10.0, "w": 20.0}).astype(float) + np.where(
        features["group"] == "A", 0, 3
    )
    scores = level.to_numpy() + rng.normal(size=3000)
    model = Strata(features, scores, np.ones(3000), 40)
    means = model.laws(features).means
    for _, rows in features.groupby(["kind", "group"], observed=True).groups.items():
        assert means[rows].mean() == pytest.approx(scores[rows].mean(), abs=0.1)
    assert min(model.group_credibility.values()) > 0.99


def test_pseudo_count_is_the_ratio_of_variances() -> None:
    rng = np.random.default_rng(3)
    strata = np.repeat(np.arange(400), 25)
    for ratio in (0.5, 2.0, 10.0):
        effects = rng.normal(size=400) / np.sqrt(ratio)
        y = effects[strata] + rng.normal(size=len(strata))
        assert pseudo_count(y[:, None], strata, np.zeros_like(strata), np.ones(len(strata))) == pytest.approx(
            ratio, rel=0.3
        )
    noise = rng.normal(size=(len(strata), 1))
    assert pseudo_count(noise, strata, np.zeros_like(strata), np.ones(len(strata))) > 100
    alone = pseudo_count(noise, np.zeros_like(strata), np.zeros_like(strata), np.ones(len(strata)))
    assert alone == float("inf") and credibility(10, alone) == 0 and credibility(10, 0) == 1


def test_a_small_group_and_one_never_seen_have_the_laws_of_everybody() -> None:
    features, rng = table(1000)
    features["group"] = ["A"] * 497 + ["B"] * 500 + ["C"] * 3
    scores = features["x"].to_numpy() + np.where(features["group"] == "B", 0.4, 0) + 0.5 * rng.normal(size=1000)
    model = Strata(features, scores, np.ones(1000), 40)
    assert model.group_credibility["C"] < 0.55 < 0.9 < model.group_credibility["A"]
    ask = pd.DataFrame({"group": ["A", "B", "C", "D"], "x": 0.2, "kind": pd.Categorical(["u"] * 4)})
    a, b, c, d = model.laws(ask).means
    assert a < d < b and abs(c - d) < 0.4
    odd = pd.DataFrame({"group": ["A"], "x": [np.nan], "kind": pd.Categorical(["never seen"])})
    assert np.isfinite(model.laws(odd).means).all()


def test_groups_that_differ_in_spread_alone_keep_it() -> None:
    features, rng = table(2000)
    scores = rng.normal(size=2000) * np.where(features["group"] == "A", 1.0, 2.0)
    laws = Strata(features, scores, np.ones(2000), 40).laws(features)
    spread = np.sqrt((laws.probs * laws.values**2).sum(axis=1) - (laws.probs * laws.values).sum(axis=1) ** 2)[
        laws.which
    ]
    assert spread[features["group"] == "A"].mean() == pytest.approx(1, abs=0.15)
    assert spread[features["group"] == "B"].mean() == pytest.approx(2, abs=0.15)


def test_ratings_stay_ratings() -> None:
    features, rng = table(1500)
    scores = np.clip(np.round(3 + 0.8 * features["x"].to_numpy() + rng.normal(size=1500)), 1, 5)
    laws = Strata(features, scores, np.ones(1500), 40).laws(features)
    assert set(np.unique(laws.values[laws.probs > 0])) <= {1.0, 2.0, 3.0, 4.0, 5.0}


@pytest.mark.parametrize("name", ["empirical", "normal"])
@pytest.mark.parametrize("scores", [np.zeros(30), np.arange(30) % 2.0, 1e9 + np.arange(30.0), np.r_[np.zeros(29), 1e6]])
def test_odd_scores_yield_laws(name: str, scores: Floats) -> None:
    features, _ = table(30)
    features.loc[3:9, "x"] = np.nan
    laws = FITTERS[name](points=10).train(features, scores, np.ones(30)).laws(features)
    assert len(laws) == 30 and np.isfinite(laws.means).all()


@pytest.mark.parametrize("name", ["empirical", "normal"])
def test_equal_features_share_a_law_and_the_training_mean_is_kept(name: str) -> None:
    features, rng = table(400)
    features["x"] = features["x"].round()
    scores = features["x"].to_numpy() * 2 + rng.normal(size=400)
    laws = FITTERS[name]().train(features, scores, np.ones(400)).laws(features)
    distinct = len(features.drop_duplicates())
    assert len(laws.values) <= distinct < 100
    assert laws.means.mean() == pytest.approx(scores.mean(), abs=0.05)


def test_a_fitter_is_a_frozen_model_that_refuses_unknown_settings() -> None:
    for kind in FITTERS.values():
        assert issubclass(kind, Fitter) and kind(points=7).points == 7
        with pytest.raises(ValueError, match="Extra inputs"):
            kind(pionts=7)  # type: ignore[call-arg]
        with pytest.raises(ValueError, match="greater than or equal to 2"):
            kind(points=1)


def test_the_hook_offers_both_fitters() -> None:
    from auditkit.plugin_manager import load

    plugins = load()
    assert FITTERS.items() <= plugins.fitters.items(), plugins.warnings


# Regressions ----------------------------------------------------------------------------------------------------------


def test_regressions_find_what_made_the_data() -> None:
    features, rng = table(4000)
    design = Design.of(features)
    x = design.matrix(features)
    truth = rng.normal(size=x.shape[1])
    sigma = np.exp((0.3 + 0.5 * features["x"].to_numpy()) / 2)
    y = x @ truth + sigma * rng.normal(size=4000)
    fit = x @ least_squares(x, y, np.ones(4000), design.penalty)
    assert np.abs(fit - x @ truth).mean() < 0.1
    eta = x @ log_variance(x, (y - fit) ** 2, np.ones(4000), np.full(x.shape[1], 1e-3))
    assert np.abs(eta - 2 * np.log(sigma)).mean() < 0.1
    chance = 1 / (1 + np.exp(-x @ truth))
    b = logistic(x, (rng.random(4000) < chance).astype(float), np.full(x.shape[1], 1e-3))
    assert np.abs(1 / (1 + np.exp(-x @ b)) - chance).mean() < 0.03


def test_propensity_weights_make_the_inspected_stand_for_all() -> None:
    features, rng = table(5000)
    x = features["x"].to_numpy()
    scored = rng.random(5000) < 1 / (1 + np.exp(-x))
    weights = propensity_weights(features, scored)
    assert (weights[~scored] == 0).all() and weights[scored].mean() == pytest.approx(1)
    assert x[scored].mean() > 0.3 and abs(np.average(x, weights=weights)) < 0.05
    assert 0.5 * scored.sum() < effective_size(weights[scored]) < scored.sum()
    assert propensity_weights(features, np.ones(5000, dtype=bool)).tolist() == [1.0] * 5000


def test_terciles_keep_equal_values_together() -> None:
    assert terciles(np.array([1.0, 2, 3, 4, 5, 6])).tolist() == [0, 0, 1, 1, 2, 2]
    assert len(set(terciles(np.ones(9)).tolist())) == 1


# Folds ----------------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 30), st.booleans()), min_size=12, max_size=80),
    st.integers(2, 6),
)
@examples(50)
def test_nobody_learns_from_themselves(rows: list[tuple[int, int, bool]], count: int) -> None:
    search, person = (np.array([f"{kind}{row[i]}" for row in rows]) for i, kind in enumerate("rp"))
    scored = np.array([row[2] for row in rows])
    if len(set(person[scored])) < 2:
        return
    folds = deal(search, person, scored, count)
    assert 2 <= folds.count <= count and folds.fold.min() >= 0 and folds.fold.max() < folds.count
    for f in range(folds.count):
        training = folds.training(f, scored)
        assert training.any() and scored[training].all()
        assert not set(person[training]) & set(person[folds.fold == f])
        if folds.unit == "search":
            assert not set(search[training]) & set(search[folds.fold == f])
    shuffled = np.random.default_rng(0).permutation(len(rows))
    again = deal(search[shuffled], person[shuffled], scored[shuffled], count)
    assert (again.fold == folds.fold[shuffled]).all()


def test_folds_are_of_candidates_when_there_is_one_search() -> None:
    scored = np.ones(50, dtype=bool)
    people = [f"p{i}" for i in range(50)]
    assert deal(["all"] * 50, people, scored, 5).unit == "candidate"
    folds = deal([f"r{i // 5}" for i in range(50)], people, scored, 5)
    assert folds.unit == "search" and np.bincount(folds.fold).tolist() == [10] * 5


# Outcomes -------------------------------------------------------------------------------------------------------------


def test_true_values_find_the_slope_and_the_groups() -> None:
    rng = np.random.default_rng(5)
    scores, group = rng.normal(7, 1, 600), rng.choice(["A", "B"], 600)
    outcomes = 1 + 0.8 * scores + np.where(group == "B", 1.0, 0.0) + 0.3 * rng.normal(size=600)
    found = true_values(scores, outcomes, group, "given")
    assert isinstance(found, TrueValue)
    assert found.slope == pytest.approx(0.8, abs=0.05)
    assert found.effects["B"] - found.effects["A"] == pytest.approx(1, abs=0.1)
    assert found.of(np.array([7.0]), "A")[0] == pytest.approx(6.6, abs=0.1)
    matched = true_values(scores, 20 * outcomes - 5, group, "match")
    assert isinstance(matched, TrueValue) and matched.scale == "match"
    expected = np.concatenate([matched.of(scores[group == g], g) for g in ("A", "B")])
    assert expected.mean() == pytest.approx(scores.mean(), abs=0.02)


def test_outcomes_that_say_nothing_leave_the_score_right() -> None:
    rng = np.random.default_rng(6)
    slopes, effects, raw = [], [], []
    for _ in range(40):
        scores, noise = rng.normal(7, 1, 40), 3 * rng.normal(size=40)
        found = true_values(scores, scores + noise, np.array(["A", "B"] * 20), "given")
        assert isinstance(found, TrueValue)
        slopes.append(abs(found.slope - 1))
        effects.append(abs(found.effects["A"]))
        raw.append(abs(noise[::2].mean() - noise.mean()))
    assert np.median(slopes) < 0.1 and np.median(effects) < 0.1 < 0.2 < np.median(raw)
    few = true_values(scores[:5], scores[:5], np.array(["A"] * 5), "match")
    assert isinstance(few, str) and "5 hired" in few
    same = true_values(np.ones(30), np.arange(30.0), np.array(["A"] * 30), "match")
    assert isinstance(same, str)


@pytest.mark.parametrize("step", [None, 5.0])
def test_people_below_all_who_were_inspected_follow_the_trend(step: float | None) -> None:
    rng = np.random.default_rng(5)
    cv = rng.normal(50, 10, size=4000)
    scores = 50 + 0.5 * (cv - 50) + 6 * rng.normal(size=4000)
    if step is not None:
        scores = step * np.round(scores / step)
    seen = cv > 52
    model = Strata(pd.DataFrame({"CV": cv[seen]}), scores[seen], np.ones(int(seen.sum())), 40)
    ask = np.array([30.0, 40.0, 48.0, 55.0, 60.0])
    assert model.laws(pd.DataFrame({"CV": ask})).means == pytest.approx(50 + 0.5 * (ask - 50), abs=1.5)
    far = model.laws(pd.DataFrame({"CV": [-1e6, 1e6]}))
    lowest, highest = scores[seen].min(), scores[seen].max()
    assert lowest - 1 <= far.means[0] < far.means[1] <= highest + 1  # a typing error has no law of its own


def test_a_score_of_two_values_is_not_moved_beyond_those_seen() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=2000)
    passed = (rng.random(2000) < 1 / (1 + np.exp(-x))).astype(float)
    model = Strata(pd.DataFrame({"x": x}), passed, np.ones(2000), 2)
    ask = model.laws(pd.DataFrame({"x": [x.max(), 50.0]})).means
    assert ask[0] == ask[1]
