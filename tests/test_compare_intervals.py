"""Intervals of the price: replicates against solving from nothing, the spread over searches against other searches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import auditkit
from auditkit.compare import IntervalOptions, NoInterval, PriceInterval, compare
from auditkit.compare.comparison import no_less_than_each
from auditkit.compare.group_errors import GroupErrors
from auditkit.compare.intervals import MOST, Resampling, contributions, refitted
from auditkit.compare.parts import Parts
from auditkit.compare.revealed import needed_shifts
from auditkit.constraints.binding import bind, make
from auditkit.fitting.fitted import Fitted
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Ints
from auditkit.model.variants import moved_by_group, with_shift
from auditkit.report.words.duals import NOT_BINDING
from auditkit.report.words.duals import dual as dual_in_words
from auditkit.solver import Optimum, solve
from auditkit.solver.near_optimum import near_optimum
from auditkit.solver.oracle import Oracle
from support import ROOT
from support.audit_helpers import fitted, plugins, random_instance, rows

KINDS = plugins().constraints
INSTANCE = random_instance(21, searches=10, candidates=7, values=4, capacity=2, groups="XYZ")
CASES: list[dict[str, Any]] = [
    {"type": "parity"},
    {"type": "impact-ratio", "minimum": 0.9},
    {"type": "quota", "group": "Z", "share": 0.4},
    {"type": "parity", "on": "inspection", "groups": ["X", "Z"]},
    {"type": "parity", "basis": "count", "groups": ["X", "Y"]},
]
IDS = [f"{keys['type']}-{keys.get('on', keys.get('basis', 'selection'))}" for keys in CASES]


EVERYBODY = (
    "import auditkit\nimport numpy as np\n"
    "from auditkit.fitting.fitter import Fitter, Laws, ScoreModel, quantise\n"
    "class Flat(ScoreModel):\n"
    "    def __init__(self, law):\n        self.law = law\n"
    "    def laws(self, features):\n        return Laws.of([self.law], np.zeros(len(features), dtype=int))\n"
    "class Everybody(Fitter):\n    name = 'everybody'\n"
    "    def train(self, features, scores, weights):\n"
    "        return Flat(quantise(scores, weights, self.points))\n"
    "@auditkit.hookimpl\ndef auditkit_fitters():\n    return [Everybody]\n"
)
"""A fitter that knows no groups and no priors."""


def people(seed: int = 5, gap: float = 8.0) -> pd.DataFrame:
    """An export whose women score lower, so that parity has a price."""
    table = pd.DataFrame(rows(searches=12, each=9, seed=seed)).replace("", np.nan)
    table.loc[table["Gender"] == "Female", "Interview Score"] -= gap
    return table


def fit_of(table: pd.DataFrame, **options: Any) -> Fitted:
    """Policies that see the group, a point worth 1: a price is a matter of shifts of groups."""
    return auditkit.fit(table, **({"group_aware": True, "value_scale": 1.0} | options))


def interval_of(some: Fitted, keys: dict[str, Any], **options: Any) -> PriceInterval | NoInterval | None:
    found = compare(some, [make(KINDS, keys)], KINDS, options=IntervalOptions(**options))
    return found.constrained[-1].interval


def psi_of(optimum: Optimum) -> Floats:
    parts = Parts.of(optimum.rows, optimum.outcome.layout)
    assert parts is not None
    return contributions(optimum, parts)


def repeated(instance: Instance, times: Ints) -> Instance:
    return Instance(
        tuple(
            replace(search, id=f"{search.id}-{i}")
            for search, n in zip(instance.searches, times.tolist(), strict=True)
            for i in range(n)
        )
    )


@pytest.mark.parametrize("keys", CASES, ids=IDS)
@pytest.mark.parametrize("seed", range(3))
def test_a_near_optimum_is_near_the_optimum(keys: dict[str, Any], seed: int) -> None:
    instance = random_instance(seed, searches=9, candidates=6, values=5, capacity=2, groups="XYZ")
    constraint = make(KINDS, keys)
    exact = solve(instance, [constraint])
    oracle = Oracle(instance.layout, bind([constraint], instance.layout))
    start = [np.zeros(len(oracle.rows))] if seed == 1 else []
    near = near_optimum(oracle, start, 0.05, 1e-5)
    assert near is not None and exact.constrained is not None and exact.loss is not None
    slight = 1e-9 * near.free
    assert near.value - slight <= exact.constrained.utility <= near.bound + slight
    assert near.loss == pytest.approx(exact.loss, rel=0.03, abs=1e-5 * near.free)


def test_a_near_optimum_says_what_cannot_hold() -> None:
    shares = [make(KINDS, {"type": "quota", "group": g, "share": 0.6}) for g in "XY"]
    layout = INSTANCE.layout
    found = near_optimum(Oracle(layout, bind(shares, layout)), [], 0.05, 1e-5)
    exact = solve(INSTANCE, shares).constrained
    assert (found is None) == (exact is None)
    if found is not None and exact is not None:  # only by selecting nobody
        assert found.value == pytest.approx(exact.utility, abs=1e-6)


def hidden_instance() -> Instance:
    """Ten searches whose candidates belong to three groups by some probability."""
    rng = np.random.default_rng(3)
    searches = []
    for s in range(10):
        candidates = []
        for i in range(4):
            probs, given = rng.dirichlet(np.ones(3)), dict(zip("XYZ", rng.dirichlet(np.ones(3), 3).T, strict=True))
            told = {g: {"before": float(probs @ own), "given": own.tolist()} for g, own in given.items()}
            values = np.sort(rng.uniform(0, 10, 3)).tolist()
            box = {"id": f"c{i}", "cost": 0.5, "values": values, "probs": probs.tolist()}
            candidates.append(box | {"membership": {"Gender": told}})
        searches.append({"id": f"s{s}", "capacity": 1, "candidates": candidates})
    return instance_from_document({"format": "auditkit-instance/2", "searches": searches})


@pytest.mark.parametrize("hidden", [False, True], ids=["known", "uncertain"])
@pytest.mark.parametrize("keys", [CASES[0], CASES[3]], ids=["selection", "inspection"])
def test_contributions_of_searches_are_how_the_price_grows_with_each(keys: dict[str, Any], hidden: bool) -> None:
    constraint, instance = make(KINDS, keys), hidden_instance() if hidden else INSTANCE
    optimum = solve(instance, [constraint]).constrained
    assert optimum is not None
    psi = psi_of(optimum)
    loss = solve(instance, [constraint]).loss
    assert loss is not None and loss > 0
    # parity of rates has bounds 0: the price of twice the searches is twice the price
    assert psi.sum() == pytest.approx(loss, rel=1e-6)
    each = 30
    base = solve(repeated(instance, np.full(10, each)), [constraint]).loss
    assert base == pytest.approx(each * loss, rel=1e-6)
    for s in (0, 4, 9):
        times = np.full(10, each)
        times[s] += 1
        more = solve(repeated(instance, times), [constraint]).loss
        assert more is not None and base is not None
        assert more - base == pytest.approx(psi[s], abs=0.1 * float(np.abs(psi).max()))


def test_bounds_on_rates_are_told_from_bounds_on_numbers_whether_or_not_groups_are_known() -> None:
    for instance in (INSTANCE, hidden_instance()):
        rows = bind(
            [
                make(KINDS, {"type": "parity", "tolerance": 0.1, "groups": ["X", "Y"]}),
                make(KINDS, {"type": "parity", "tolerance": 0.1, "groups": ["X", "Y"], "basis": "count"}),
            ],
            instance.layout,
        )
        parts = Parts.of(rows, instance.layout)
        assert parts is not None and parts.of_rates.tolist() == [True, True, False, False]


def test_a_resample_of_every_search_once_is_the_history_itself() -> None:
    for some in (fit_of(people()), staged()):
        assert some.refit is not None
        times, all_ = np.ones(some.refit.searches, dtype=np.int64), np.arange(len(some.instance.searches))
        same = refitted(some, times, all_, moved=False).layout
        layout = some.instance.layout
        np.testing.assert_array_equal(same.reward, layout.reward)
        np.testing.assert_array_equal(same.candidate_search, layout.candidate_search)


def staged() -> Fitted:
    return auditkit.fit(ROOT / "sample_data" / "hiring-stages.csv", map={"group": "Gender"})


def test_a_search_that_was_not_drawn_teaches_nothing() -> None:
    table = people()
    some = fit_of(table)
    assert some.refit is not None
    names = np.unique(table["Requisition"])
    times = np.ones(len(names), dtype=np.int64)
    times[3] = 0
    other = table.copy()
    other.loc[table["Requisition"] == names[3], "Interview Score"] += 50.0
    there = (other["Requisition"] != names[3]).to_numpy()[some.rows]

    def means(of: Fitted) -> Any:
        layout = refitted(of, times, np.arange(len(of.instance.searches))).layout
        weighed = np.where(layout.selecting, layout.reward * layout.value_chance, 0.0)
        return np.bincount(layout.state_candidate, weighed)

    changed = fit_of(other)
    np.testing.assert_allclose(means(some)[there], means(changed)[there], rtol=1e-12)


@pytest.mark.parametrize("fitter", ["empirical", "normal"])
def test_an_interval_holds_the_price_and_is_the_same_each_time(fitter: str) -> None:
    some = fit_of(people(), fitter=fitter)
    first = interval_of(some, CASES[0])
    assert isinstance(first, PriceInterval)
    assert first == interval_of(fit_of(people(), fitter=fitter), CASES[0])
    assert first != interval_of(some, CASES[0], seed=7)
    loss = solve(some.instance, [make(KINDS, CASES[0])]).loss
    assert loss is not None and first.ratio is not None
    assert 0 <= first.loss[0] <= loss <= first.loss[1]
    assert first.one_sided == (first.loss[0] == 0)
    assert first.ratio[0] < first.ratio[1] <= 1
    assert first.replicates == 12
    assert all(low < high for low, high in first.duals)
    wider = interval_of(some, CASES[0], level=0.99)
    assert isinstance(wider, PriceInterval) and wider.loss[1] > first.loss[1]


def test_the_order_of_rows_does_not_matter() -> None:
    table = people()
    first, other = (interval_of(fit_of(each), CASES[0]) for each in (table, table.sample(frac=1.0, random_state=3)))
    assert isinstance(first, PriceInterval) and isinstance(other, PriceInterval)
    # replicates are solved to within a few percent, on the way that the order of searches suggests
    assert other.loss == pytest.approx(first.loss, rel=0.05)


def test_replicates_are_the_prices_of_refitted_instances() -> None:
    """The interval once more, from exact solutions of the refitted instances."""
    some, constraint = fit_of(people()), make(KINDS, CASES[0])
    found = interval_of(some, CASES[0])
    optimum = solve(some.instance, [constraint])
    assert isinstance(found, PriceInterval) and some.refit is not None and optimum.loss is not None
    assert optimum.constrained is not None
    drawn = Resampling.of(some, IntervalOptions(), MOST)
    losses = [solve(refitted(some, times, drawn.searches), [constraint]).loss or 0.0 for times in drawn.times]
    psi = psi_of(optimum.constrained)
    spread = np.sqrt(len(psi) * psi.var(ddof=1))
    normal = np.random.default_rng(1).standard_normal(400_000)
    root = np.sqrt(optimum.loss)
    over_searches = ((np.sqrt(np.maximum(optimum.loss + spread * normal, 0)) - root) ** 2).mean()
    reach = 2.1788 * np.sqrt(((np.sqrt(losses) - root) ** 2).mean() + over_searches)
    assert found.loss[1] == pytest.approx((root + reach) ** 2, rel=0.05)


@pytest.mark.parametrize(
    "keys",
    [CASES[0], {"type": "parity", "on": "inspection"}, {"type": "quota", "group": "Female", "share": 0.5}],
    ids=["selection", "inspection", "limit"],
)
def test_the_shift_that_a_constraint_needs_has_the_interval_of_its_dual(keys: dict[str, Any]) -> None:
    """With two groups and one row the shift is a multiple of the dual."""
    (entry,) = compare(fit_of(people()), [make(KINDS, keys)], KINDS).constrained
    assert entry.optimum is not None and isinstance(entry.interval, PriceInterval)
    (dual,), (span,) = entry.optimum.duals, entry.interval.duals
    assert span is not None and len(entry.replicated_shifts) == entry.interval.replicates > 1
    priced = [("it", entry.optimum.rows, entry.shifts, entry.replicated_shifts)]
    (needed,) = needed_shifts(priced, {"Gender": "Male"}, 1.0, 0.95)
    assert needed.group == "Female" and needed.shift != 0 and needed.interval is not None
    assert needed.interval == pytest.approx(sorted(end * needed.shift / dual for end in span))
    without = [("it", entry.optimum.rows, entry.shifts, ())]
    assert needed_shifts(without, {"Gender": "Male"}, 1.0, 0.95) == (replace(needed, interval=None),)
    (points,) = needed_shifts(priced, {"Gender": "Male"}, 2.0, 0.95)  # a value of 2 for each point
    assert points.shift == (needed.shift / 2 if "on" not in keys else needed.shift)


def test_stages_and_a_fitter_of_ones_own(tmp_path: Path) -> None:
    found = interval_of(staged(), {"type": "parity"}, replicates=4)
    assert isinstance(found, PriceInterval) and found.replicates == 4
    (tmp_path / "own.py").write_text(EVERYBODY, encoding="utf-8")
    own = auditkit.fit(people(), fitter="everybody", plugins_dir=tmp_path)
    found = interval_of(own, CASES[0], replicates=4)
    assert isinstance(found, PriceInterval)


@pytest.mark.parametrize("make_it", [lambda: fit_of(people()), lambda: staged()], ids=["boxes", "stages"])
def test_some_searches_are_fitted_as_they_are_among_all(make_it: Any) -> None:
    some = make_it()
    drawn = Resampling.of(some, IntervalOptions(replicates=3), 60)
    layout, all_ = some.instance.layout, np.arange(len(some.instance.searches))
    held = np.diff(layout.search_ptr)[drawn.searches].sum()
    assert len(drawn.searches) < len(all_) and held >= 60
    assert (drawn.times.sum(axis=1) == len(drawn.searches)).all()
    for times in drawn.times:
        part, whole = refitted(some, times, drawn.searches), refitted(some, times, all_)
        for s, search in zip(drawn.searches, part.searches, strict=True):
            other = whole.searches[s]
            assert [c.id for c in search.candidates] == [c.id for c in other.candidates]
            a, b = (Instance((each,)).layout for each in (search, other))
            np.testing.assert_allclose(a.reward, b.reward, rtol=1e-12)
            np.testing.assert_allclose(a.edge_prob, b.edge_prob, rtol=1e-9, atol=1e-12)


def test_a_replicate_learns_from_the_searches_drawn_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    some, seen = fit_of(people()), []
    assert some.refit is not None
    fitter = type(some.refit.training.fitter)
    train = fitter.train

    def watched(self: Any, features: pd.DataFrame, scores: Floats, weights: Floats) -> Any:
        seen.append(set(features.index))
        return train(self, features, scores, weights)

    monkeypatch.setattr(fitter, "train", watched)
    drawn = Resampling.of(some, IntervalOptions(replicates=1), 60)
    refitted(some, drawn.times[0], drawn.searches)
    taught = set(some.refit.training.features.index[drawn.times[0][some.refit.search] > 0])
    assert seen and all(rows <= taught for rows in seen)


def test_what_shrinkage_left_out_is_put_back(tmp_path: Path) -> None:
    """A fitter that knows no groups at all: the moved laws differ by what the scores differ by."""
    (tmp_path / "own.py").write_text(EVERYBODY, encoding="utf-8")
    some = fit_of(people(gap=40.0), fitter="everybody", plugins_dir=tmp_path)
    assert some.refit is not None
    times, all_ = np.ones(some.refit.searches, dtype=np.int64), np.arange(len(some.instance.searches))
    means = {}
    for moved in (False, True):
        frame = refitted(some, times, all_, moved=moved).to_frame()
        mean = frame.groupby("group:Gender")["mean_value"].mean()
        means[moved] = mean["Female"] - mean["Male"]
    scores = people(gap=40.0).groupby("Gender")["Interview Score"].mean()
    assert abs(means[False]) < 1
    assert means[True] == pytest.approx(scores["Female"] - scores["Male"], abs=2)


@pytest.mark.parametrize(
    "keys",
    [CASES[0], {"type": "budget", "on": "inspection", "limit": 60.0}, {"type": "parity", "tolerance": 0.02}],
    ids=["rates", "numbers", "tolerance"],
)
def test_few_of_many_searches_say_what_all_of_them_say(keys: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Replicates of a third of the searches give an interval of all of them, and of their duals."""
    table = pd.DataFrame(rows(searches=60, each=9, seed=3)).replace("", np.nan)
    table.loc[table["Gender"] == "Female", "Interview Score"] -= 8.0
    some = fit_of(table)
    whole = interval_of(some, keys, replicates=30)
    monkeypatch.setattr("auditkit.compare.intervals.MOST", 180)
    part = interval_of(some, keys, replicates=30)
    assert isinstance(whole, PriceInterval) and isinstance(part, PriceInterval) and part != whole
    assert np.sqrt(part.loss[1]) == pytest.approx(np.sqrt(whole.loss[1]), rel=0.25)
    own, other = (max(np.diff(each.duals).ravel()) for each in (whole, part))
    assert 0.4 < other / own < 3


def test_more_searches_are_drawn_until_all_groups_are_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    table = people()
    table.loc[table["Requisition"].isin(["REQ-1", "REQ-2"]), "Gender"] = "Divers"
    monkeypatch.setattr("auditkit.compare.intervals.MOST", 9)
    found = compare(fit_of(table), [make(KINDS, CASES[0])], KINDS).constrained[-1]
    assert found.optimum is not None and len(found.optimum.rows) == 2
    assert isinstance(found.interval, PriceInterval) and len(found.interval.duals) == 2


@pytest.mark.parametrize("keys", [{"type": "parity", "within": "Site"}, {"type": "budget", "expense": "Travel"}])
def test_constraints_on_other_columns_have_intervals(keys: dict[str, Any]) -> None:
    table = people()
    table["Site"], table["Travel"] = np.where(np.arange(len(table)) % 2, "A", "B"), 1.0 + np.arange(len(table)) % 3
    some = auditkit.fit(table, map={"segment": ["Site"], "expense": ["Travel"]})
    limit = {"limit": 15.0} if keys["type"] == "budget" else {}
    assert isinstance(interval_of(some, keys | limit, replicates=3), PriceInterval)


def test_why_there_is_no_interval() -> None:
    def reason(instance: Instance, *keys: dict[str, Any], replicates: int = 10) -> str:
        made = [make(KINDS, k) for k in keys]
        entry = compare(fitted(instance), made, KINDS, options=IntervalOptions(replicates=replicates)).constrained[-1]
        assert isinstance(entry.interval, NoInterval), entry.interval
        return entry.interval.code

    small = random_instance(1, searches=4, candidates=4)
    assert reason(small, CASES[0] | {"groups": ["X", "Y"]}) == "few-searches"
    assert reason(INSTANCE, CASES[0], replicates=0) == "no-replicates"
    assert reason(INSTANCE, CASES[0]) == "not-learnt"
    assert reason(INSTANCE, {"type": "nash-welfare", "minimum": 0.5}) == "not-affine"


def test_too_many_rows_are_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditkit.compare.parts.MOST_ROWS", 3)
    found = compare(fit_of(people()), [make(KINDS, {"type": "floor", "minimum": 0.01})], KINDS)
    (entry,) = found.constrained
    assert isinstance(entry.interval, NoInterval)
    assert entry.interval.code == "not-by-search"
    assert set(entry.slack_laws) == {None}
    assert entry.unfilled is not None
    assert {dual_in_words(dual, 1.0, entry.classes) for dual in entry.duals} <= {None, NOT_BINDING}


# Errors of groups in place of resamples -------------------------------------------------------------------------------


def test_points_have_the_jackknife_covariance_of_group_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out one search at a time, regress anew: the spread of the points is that of the differences."""
    monkeypatch.setattr("auditkit.compare.group_errors.FEWEST_SCORES", 10)
    table = people(gap=8.0)
    some = fit_of(table)
    errors = GroupErrors.of(some)
    assert errors is not None and some.refit is not None
    t, layout = some.refit.training, some.instance.layout
    known = np.flatnonzero(~np.isnan(t.scores))
    numbers = t.features.select_dtypes("number").to_numpy()[known]
    texts = pd.get_dummies(t.features.select_dtypes(exclude="number").astype("str")).to_numpy(dtype=float)[known]
    x = np.column_stack([np.ones(len(known)), np.nan_to_num(numbers), np.isnan(numbers), texts])
    groups = np.full(len(t.scores), -1)
    groups[some.refit.rows] = layout.candidate_group

    def effects(rows: Ints) -> Floats:
        """Mean fitted score of each group at the same prior knowledge, up to a constant."""
        b = np.linalg.lstsq(x[rows], t.scores[known][rows], rcond=None)[0]
        own = [x[groups[known] == g][:1, -texts.shape[1] :] @ b[-texts.shape[1] :] for g in range(len(layout.groups))]
        return np.concatenate(own)

    search = some.refit.search[known]
    whole = effects(np.arange(len(known)))
    left = [effects(np.flatnonzero(search != s)) - whole for s in np.unique(search)]
    share = errors.sizes / errors.sizes.sum()
    centred = np.array([each - share @ each for each in left])
    expected = (len(left) - 1) / len(left) * centred.T @ centred
    optimum = solve(some.instance, [make(KINDS, CASES[0])]).constrained
    assert optimum is not None
    parts = Parts.of(optimum.rows, layout)
    assert parts is not None
    points = errors.points(parts, np.random.default_rng(0)) - errors.missed
    np.testing.assert_allclose(points.T @ points / len(points), expected, atol=1e-10 * expected.max())


def test_a_layout_moved_by_group_is_the_instance_with_shifts() -> None:
    shifts = np.array([0.5, -1.0, 0.25])
    moved = INSTANCE
    for group, shift in zip(INSTANCE.layout.groups, shifts.tolist(), strict=True):
        moved = with_shift(moved, group, shift)
    np.testing.assert_allclose(moved_by_group(INSTANCE.layout, shifts).reward, moved.layout.reward, atol=1e-12)


@pytest.mark.parametrize(("keys", "by_group"), [(CASES[0], True), ({"type": "budget", "limit": 9.0}, False)])
def test_errors_of_groups_serve_the_price_and_refits_its_duals(
    keys: dict[str, Any], by_group: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    some, found = fit_of(people(gap=8.0)), {}
    for fewest in (10, 10**6):
        monkeypatch.setattr("auditkit.compare.group_errors.FEWEST_SCORES", fewest)
        found[fewest] = interval_of(some, keys, replicates=5)
    groups, refits = found[10], found[10**6]
    assert isinstance(groups, PriceInterval) and isinstance(refits, PriceInterval)
    assert groups.duals == refits.duals and groups.replicates == refits.replicates == 5
    assert (groups.loss != refits.loss) == by_group


def test_all_constraints_together_cost_no_less_than_any_one_of_them() -> None:
    def span(low: float, high: float) -> PriceInterval:
        return PriceInterval(0.95, (1 - high / 100, 1 - low / 100), (low, high), low == 0, (), 12, ())

    together = no_less_than_each(span(3, 19), [span(0, 41), span(1, 18)])
    assert together.loss == (3, 41) and together.ratio == pytest.approx((0.59, 0.97)) and not together.one_sided
    alone = no_less_than_each(span(3, 50), [span(0, 41)])
    assert alone == span(3, 50)
    assert no_less_than_each(span(0, 5), [span(2, 4)]) == replace(span(2, 5), one_sided=False)
