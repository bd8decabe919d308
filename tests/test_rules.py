"""Rules that never look at the group: exact evaluation against literal play, and what is refused."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from auditkit.errors import PluginError
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Layout, Partition
from auditkit.model.limits import Limit
from auditkit.model.search import Box, Search
from auditkit.plugin_manager import load
from auditkit.plugins.interviews import HiringBar, Lottery, MoreInterviews, Shortlist
from auditkit.plugins.score_weights import InterviewOrder, ScoreWeights, WithoutFeature
from auditkit.rules.best_rules import Target, Trials, design_of
from auditkit.rules.blind_frontier import frontier_points, largest_ratio
from auditkit.rules.known_before import expected_scores, firm_order, firm_ranking
from auditkit.rules.play import GroupPair, Played, ThoseWhoApplied, defect, played, ranked, visits_of
from auditkit.rules.rule import Dimension, Draw, KnownBefore, Ranking, Rule
from auditkit.solver.evaluate import Prepared
from auditkit.verification.played_rules import play

PAIR = GroupPair("Gender", "F", "M")


def random_box(rng: np.random.Generator, i: int, share: float | None = None) -> Box:
    size = int(rng.integers(2, 4))
    values, probs = np.round(rng.uniform(1, 12, size), 2), rng.dirichlet(np.ones(size))
    given = rng.uniform(0.05, 0.95, size)
    before = float(probs @ given)
    shares = {"F": {"before": before, "given": given}, "M": {"before": 1 - before, "given": 1 - given}}
    return Box(f"c{i}", {}, float(rng.uniform(0.1, 1.5)), values, probs, membership={"Gender": shares})


def random_instance(seed: int, searches: int = 1, size: int = 4, capacity: int = 2, limited: bool = False) -> Instance:
    rng = np.random.default_rng(seed)
    limits = [Limit("both", 1, candidates=["c0", "c1"])] if limited else []
    return Instance(
        Search(f"s{s}", capacity, [random_box(rng, i) for i in range(size)], limits) for s in range(searches)
    )


def known_of_instance(instance: Instance, seed: int = 0) -> KnownBefore:
    layout, rng = instance.layout, np.random.default_rng(seed)
    n = len(layout.candidate_ids)
    features = {"cv": rng.normal(50, 10, n), "years": rng.uniform(0, 10, n)}
    interviews = np.minimum(3, np.diff(layout.search_ptr)).astype(np.int64)
    expected = expected_scores(layout, 1.0)
    return KnownBefore(layout, features, expected, 1.0, interviews, features["cv"], {"cv": lambda: expected + 0.5})


def literally(layout: Layout, index: Floats, listed: Any = None) -> Floats:
    """Visits by playing the rule out for every combination of values: advance the highest number, while positive."""
    visits = np.zeros(layout.states)
    for search in range(len(layout.search_ids)):
        people = range(layout.search_ptr[search], layout.search_ptr[search + 1])
        first = {c: int(layout.candidate_ptr[c]) for c in people}
        values = [range(first[c] + 1, int(layout.candidate_ptr[c + 1])) for c in people]
        sets = [(set(people), int(layout.capacity[search]))]
        if layout.limits is not None and layout.limits.ptr[search] < layout.limits.ptr[search + 1]:
            for number, members in enumerate(layout.limits.members(layout.search_ptr)):
                sets.append((set(np.asarray(members).tolist()), int(layout.limits.capacity[number])))
        for draw in itertools.product(*values):
            shown = dict(zip(people, draw, strict=True))
            chance = math.prod(float(layout.value_chance[v]) for v in draw)
            at, chosen = dict(first), set()
            for c in people:  # who is inspected in any case
                if np.isposinf(index[first[c]]):
                    visits[first[c]] += chance
                    at[c] = shown[c]
            while True:
                free = [
                    c
                    for c in people
                    if c not in chosen and all(c not in s or len(chosen & s) < k for s, k in sets) and index[at[c]] > 0
                ]
                if not free:
                    break
                best = max(free, key=lambda c: (index[at[c]], -c))
                visits[at[best]] += chance
                if at[best] == first[best]:
                    at[best] = shown[best]
                else:
                    chosen.add(best)
    return visits


@pytest.mark.parametrize("limited", [False, True])
def test_any_indices_and_shown_scores_are_evaluated_as_they_are_played(limited: bool) -> None:
    for seed in range(40):
        instance = random_instance(seed, limited=limited)
        layout, rng = instance.layout, np.random.default_rng(1000 + seed)
        index = rng.uniform(-1, 10, layout.states)
        for c in range(len(layout.candidate_ids)):
            own = slice(layout.candidate_ptr[c] + 1, layout.candidate_ptr[c + 1])
            index[own] = np.sort(index[own])[::-1]
        index[layout.start[0]] = [np.inf, -np.inf, 5.0][seed % 3]
        ranking = Ranking(index)
        assert defect(known_of_instance(instance), ranking) is None
        assert visits_of(layout, ranking) == pytest.approx(literally(layout, index), abs=1e-12)
        assert play(layout, ranking) == pytest.approx(literally(layout, index), abs=1e-12)


def random_chain(rng: np.random.Generator, i: int) -> dict[str, Any]:
    phone, low = float(rng.uniform(0.3, 0.9)), float(rng.uniform(0.2, 0.8))
    states = {
        "phone": {"stage": "phone", "reward": -0.5, "to": {"onsite": phone, "out": 1 - phone}},
        "onsite": {"stage": "onsite", "reward": -1.0, "to": {"low": low, "high": 1 - low}},
        "low": {"stage": "offer", "reward": 0, "to": {"hired-low": 0.9, "out": 0.1}},
        "high": {"stage": "offer", "reward": 0, "to": {"hired-high": 0.8, "out": 0.2}},
        "hired-low": {"reward": 4, "terminal": True},
        "hired-high": {"reward": 9, "terminal": True},
        "out": {"reward": 0, "to": {}},
    }
    return {"id": f"c{i}", "group": "F", "start": "phone", "states": states}


def literally_in_chains(layout: Layout, index: Floats) -> Floats:
    """The same for one search of chains: advance the highest number, wherever its candidate is."""
    visits = np.zeros(layout.states)
    k = int(layout.capacity[0])

    def go(at: tuple[int, ...], hired: int, chance: float) -> None:
        free = [c for c, s in enumerate(at) if s >= 0 and index[s] > 0]
        if hired == k or not free:
            return
        best = max(free, key=lambda c: (index[at[c]], -c))
        state = at[best]
        visits[state] += chance
        first, last = layout.edges.ptr[state], layout.edges.ptr[state + 1]
        for edge in range(first, last):
            to, p = int(layout.edges.items[edge]), chance * float(layout.edge_prob[edge])
            done = bool(layout.terminal[to])
            if done:
                visits[to] += p
            go((*at[:best], -1 if done else to, *at[best + 1 :]), hired + done, p)
        if first == last:
            go((*at[:best], -1, *at[best + 1 :]), hired, chance)

    go(tuple(layout.start.tolist()), 0, 1.0)
    return visits


def test_any_indices_of_chains_are_evaluated_as_they_are_played() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        search = {"id": "s", "capacity": 1 + seed % 2, "candidates": [random_chain(rng, i) for i in range(3)]}
        layout = instance_from_document({"format": "auditkit-instance/1", "searches": [search]}).layout
        index = rng.uniform(-1, 10, layout.states)
        index[[s for s in range(layout.states) if layout.edges.ptr[s] == layout.edges.ptr[s + 1]]] = -np.inf
        wanted = literally_in_chains(layout, index)
        assert visits_of(layout, Ranking(index)) == pytest.approx(wanted, abs=1e-12)
        assert play(layout, Ranking(index)) == pytest.approx(wanted, abs=1e-12)


def test_lotteries_are_the_mean_over_who_is_drawn() -> None:
    for seed in range(25):
        layout = random_instance(seed, size=5).layout
        rng = np.random.default_rng(seed)
        band = rng.random(5) < 0.6
        places = int(rng.integers(0, band.sum() + 1))
        sure = ~band & (rng.random(5) < 0.5)
        index = layout.reward.copy()
        index[layout.start] = np.where(sure, np.inf, -np.inf)
        drawn = list(itertools.combinations(np.flatnonzero(band).tolist(), places))
        total = np.zeros(layout.states)
        for some in drawn:
            own = index.copy()
            own[layout.start[list(some)]] = np.inf
            total += literally(layout, own) / len(drawn)
        found = visits_of(layout, Ranking(index, Draw(band, np.array([places]))))
        assert found == pytest.approx(total, abs=1e-12)
        assert play(layout, Ranking(index, Draw(band, np.array([places])))) == pytest.approx(total, abs=1e-12)


def rules(known: KnownBefore) -> list[Rule]:
    return [
        ScoreWeights(weights={"cv": -0.05, "years": 0.2}),
        InterviewOrder(weights={"cv": 0.1, "years": -0.1}),
        WithoutFeature(feature="cv"),
        MoreInterviews(cost_share=0.3),
        Shortlist(per_opening=1.5),
        Lottery(width=2.0),
        HiringBar(bar=3.0),
    ]


def test_shipped_rules_do_what_their_sentences_say() -> None:
    known = known_of_instance(random_instance(3, searches=3))
    layout = known.layout
    for rule in rules(known):
        ranking = ranked(rule, known)
        visits = visits_of(layout, ranking)
        if ranking.draw is None:
            assert visits == pytest.approx(literally(layout, ranking.index), abs=1e-12)
        assert rule.sentence(known) and "group" not in rule.sentence(known)
    short = visits_of(layout, ranked(Shortlist(per_opening=1.5), known))
    assert np.add.reduceat(short[layout.start], layout.search_ptr[:-1]) == pytest.approx([3.0, 3.0, 3.0])
    drawn = visits_of(layout, ranked(Lottery(width=2.0), known))
    assert "by lot among those within 1 points" in Lottery(width=2.0).sentence(known)
    assert Lottery(width=0.0).sentence(known).endswith("by expected score, without a lottery")
    assert np.add.reduceat(drawn[layout.start], layout.search_ptr[:-1]) == pytest.approx(known.interviews)
    bar = visits_of(layout, ranked(HiringBar(bar=3.0), known))
    assert bar[layout.selecting & (layout.reward <= 3.0)].sum() == 0
    lowest = float(layout.reward[layout.selecting].min()) / known.value_scale
    assert "no hire below" in HiringBar(bar=lowest + 0.01).sentence(known)
    assert "no hire below" not in HiringBar(bar=lowest - 0.01).sentence(known)
    more, fewer = (visits_of(layout, ranked(MoreInterviews(cost_share=x), known))[layout.start].sum() for x in (0.1, 1))
    assert more >= fewer
    plain = ScoreWeights(weights={"cv": 0.0})
    assert "per unit" not in plain.sentence(known)
    assert "− 0.05 per unit of cv + 0.2 per unit of years" in rules(known)[0].sentence(known)


@pytest.mark.parametrize("seed", range(4))
def test_the_index_with_a_bonus_is_that_of_boxes_with_other_values(seed: int) -> None:
    known = known_of_instance(random_instance(seed, searches=3), seed)
    layout, bonus, bar = known.layout, known.bonus({"cv": 0.3, "years": -0.8}), 2.5
    for costs in (1.0, 0.25):
        own = layout.spread(bonus - bar)
        rewards = np.where(layout.selecting, layout.reward + own, costs * layout.reward)
        expected = Prepared.of(layout, rewards).indices
        assert np.allclose(known.index(bonus, costs, bar), expected, rtol=1e-12, atol=1e-12)


def test_a_rule_that_is_not_monotone_in_the_score_is_refused() -> None:
    class Crooked(HiringBar):
        name = "crooked"

        def rank(self, known: KnownBefore) -> Ranking:
            index = known.index().copy()
            first = int(known.layout.start[0])
            index[first + 1], index[first + 2] = 1.0, 2.0  # values fall: the worse one is shown as the better
            return Ranking(index)

    known = known_of_instance(random_instance(3))
    with pytest.raises(PluginError, match="not monotone in the score"):
        ranked(Crooked(bar=0.0), known)
    assert defect(known, Ranking(np.full(known.layout.states, np.nan))) is not None
    assert defect(known, Ranking(np.zeros(3))) is not None


def test_in_stages_too_a_higher_score_must_not_count_less() -> None:
    search = {"id": "s", "capacity": 1, "candidates": [random_chain(np.random.default_rng(i), i) for i in range(2)]}
    known = known_of_instance(instance_from_document({"format": "auditkit-instance/1", "searches": [search]}))
    assert defect(known, Ranking(known.index())) is None
    index, names = known.index().copy(), known.layout.kinds.names[0]
    assert names is not None
    low, high = (int(known.layout.start[0]) + names.index(name) for name in ("low", "high"))
    index[low], index[high] = 2.0, 1.0
    assert "not monotone" in str(defect(known, Ranking(index)))


def test_ratios_in_the_model_and_for_those_who_applied() -> None:
    layout = random_instance(5, searches=2).layout
    visits = visits_of(layout, Ranking(layout.reward + 0.5))
    part = layout.protected["Gender"]
    share = [np.asarray(layout.share(part, g)) for g in (0, 1)]
    chosen = np.where(layout.selecting, visits, 0.0)
    rates = [float(s @ chosen) / size for s, size in zip(share, part.sizes, strict=True)]
    found = Played.of(layout, visits).for_pair(PAIR)
    assert found.ratio == pytest.approx(rates[0] / rates[1])
    assert found.utility == pytest.approx(float(layout.reward @ visits))
    codes = np.array([0, 1] * 4)
    actual = Partition.coded("Gender", ("F", "M"), codes)
    people = ThoseWhoApplied.of(layout, PAIR, actual).yields(visits)
    each = []
    for c in range(8):
        own = slice(layout.candidate_ptr[c], layout.candidate_ptr[c + 1])
        law = share[codes[c]][own] / share[codes[c]][own][0]
        each.append(float((law * chosen[own]).sum()))
    wanted = np.mean([x for x, g in zip(each, codes, strict=True) if g == 0]) / np.mean(
        [x for x, g in zip(each, codes, strict=True) if g == 1]
    )
    assert people.ratio == pytest.approx(float(wanted))


def test_a_rule_is_evaluated_once_whatever_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    known, other = (known_of_instance(random_instance(5, searches=2)) for _ in range(2))
    evaluated: list[Layout] = []

    def counted(layout: Layout, ranking: Ranking) -> Floats:
        evaluated.append(layout)
        return visits_of(layout, ranking)

    monkeypatch.setattr("auditkit.rules.play.visits_of", counted)
    for bar in (1.0, 2.0, 1.0):
        assert played(known, HiringBar(bar=bar)) is not None
    assert evaluated == [known.layout] * 2
    found, elsewhere = (played(where, HiringBar(bar=1.0)) for where in (known, other))
    assert found is not None and elsewhere == found
    assert evaluated[2:] == [other.layout]
    assert found.rates["inspection"] != found.rates["selection"]
    one, two = found.for_pair(PAIR).ratio, found.for_pair(GroupPair("Gender", "M", "F")).ratio
    assert one is not None and two is not None and one * two == pytest.approx(1.0)


def test_no_rule_beats_the_certified_bound_and_weights_come_near_it() -> None:
    instance = random_instance(8, searches=12, size=5)
    known = known_of_instance(instance)
    points = frontier_points(instance, PAIR, (0.9, 1.0))
    free = points[0]
    assert free.utility is not None and free.filled is not None
    for point in points[1:]:
        assert point.utility is not None and point.ratio is not None and point.bound is not None
        target = Target(point.ratio, free.utility, free.filled, float(instance.layout.capacity.sum()))
        for kind in (ScoreWeights, InterviewOrder, MoreInterviews, Lottery):
            trials = Trials(kind, known, PAIR)
            trials.design()
            assert trials.refined([target])
            best = trials.best(target)
            assert best is not None
            for tried in trials.tried.values():
                if tried.found.ratio is not None and tried.found.ratio >= point.ratio:
                    assert tried.found.utility <= point.bound + 1e-7
            if kind is ScoreWeights:
                assert target.met(best.found) and best.found.utility >= 0.9 * point.utility


def test_the_largest_ratio_is_where_the_frontier_says() -> None:
    instance = random_instance(11, searches=10, size=5)
    points = frontier_points(instance, PAIR, (0.9, 0.95, 1.0))
    least = points[-1]
    assert least.utility is not None
    assert largest_ratio(instance, PAIR, points, utility=least.utility - 1e-6) == 1.0
    free = points[0]
    assert free.utility is not None
    assert largest_ratio(instance, PAIR, points, utility=free.utility + 1) is None
    middle = (free.utility + least.utility) / 2
    found = largest_ratio(instance, PAIR, points, utility=middle)
    assert found is not None and found <= 1.0
    beside = frontier_points(instance, PAIR, (found, min(1.0, found + 0.01)))
    assert beside[1].utility is not None and beside[1].utility >= middle - 1e-6
    assert beside[2].utility is not None and (beside[2].utility <= middle + 1e-6 or found == 1.0)


def test_the_design_covers_the_box_and_all_whole_numbers() -> None:
    points = np.array(design_of([Dimension("a", 0, 1), Dimension("b", -1, 1)], 16))
    assert points.shape[1] == 2 and len(points) >= 15
    assert points.min() >= 0 and points.max() < 1 and (points[0] == 0.5).all()
    assert [p.tolist() for p in design_of([Dimension("n", 2, 4, whole=True)])] == [[0.0], [0.5], [1.0]]


def test_the_firms_order_is_learnt_from_whom_it_inspected() -> None:
    rng = np.random.default_rng(2)
    search = np.repeat(np.arange(50), 8)
    cv, noise = rng.normal(size=400), rng.normal(size=400)
    inspected = (cv + 0.3 * rng.normal(size=400) > 0).astype(float)
    order = firm_order({"cv": cv, "noise": noise}, search, inspected)
    assert np.corrcoef(order, cv)[0, 1] > 0.95
    assert not firm_order({}, search, inspected).any()


def test_the_firms_rule_inspects_as_many_as_the_firm_did() -> None:
    known = known_of_instance(random_instance(4, searches=3, size=5))
    visits = visits_of(known.layout, firm_ranking(known))
    inspected = np.add.reduceat(visits[known.layout.start], known.layout.search_ptr[:-1])
    assert inspected == pytest.approx(known.interviews)


def test_rules_ship_through_the_hook_from_safest_to_most_exposed() -> None:
    shipped = load().rules
    assert {"more-interviews", "shortlist", "lottery", "bar", "without", "interview-order", "weights"} == set(shipped)
    order = sorted(shipped.values(), key=lambda kind: kind.exposure)
    assert order[0] is MoreInterviews and order[-1] is ScoreWeights


OWN = """
from auditkit import Ranking, hookimpl
from auditkit.plugins.interviews import MoreInterviews


class Curious(MoreInterviews):
    name = "curious"

    def rank(self, known):
        return Ranking(known.index(costs=self.cost_share / 2))


@hookimpl
def auditkit_rules():
    return [Curious]
"""


def test_a_rule_of_somebody_else_is_evaluated_like_the_others(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    kind = load([tmp_path]).rules["curious"]
    known = known_of_instance(random_instance(3, searches=2))
    own = visits_of(known.layout, ranked(kind.of({"cost_share": 1.0}, known), known))
    same = visits_of(known.layout, ranked(MoreInterviews(cost_share=0.5), known))
    assert own == pytest.approx(same)


def test_weights_of_several_tests_are_a_special_case() -> None:
    """One stage, no cost, scores that are known: any chances of k in all can be had, so the optimum is a small program.

    Inputs of the example of De Corte, Lievens and Sackett (2007), as in docs/notebooks/pareto-weights.ipynb.
    """
    between = np.array([[1, 0.24, 0, 0.19], [0.24, 1, 0.12, 0.16], [0, 0.12, 1, 0.51], [0.19, 0.16, 0.51, 1]])
    validity, apart = np.array([0.30, 0.30, 0.18, 0.28]), np.array([1.00, 0.23, 0.09, 0.33])
    rng, n, k, minority = np.random.default_rng(7), 300, 30, 0.25
    scores = rng.multivariate_normal(np.zeros(4), between, n) - np.where(rng.random((n, 1)) < minority, apart, 0.0)
    performance = scores @ np.linalg.solve(between, validity)
    toward = np.linalg.solve(between, apart)
    odds = minority / (1 - minority) * np.exp(-scores @ toward - apart @ toward / 2)
    chance = odds / (1 + odds)
    boxes = []
    for i, p in enumerate(chance.tolist()):
        member = {"F": {"before": p, "given": [p]}, "M": {"before": 1 - p, "given": [1 - p]}}
        boxes.append(Box(f"c{i}", {}, 0.0, [10 + performance[i]], [1.0], membership={"Gender": member}))
    points = frontier_points(Instance([Search("s", k, boxes)]), PAIR, (0.4, 0.6, 0.8, 1.0))
    assert points[0].utility == pytest.approx(10 * k + np.sort(performance)[-k:].sum())
    rates = chance / chance.sum(), (1 - chance) / (1 - chance).sum()
    earned = []
    for own in np.random.default_rng(1).dirichlet(np.full(4, 0.6), 1500):
        chosen = np.argsort(-(scores @ own))[:k]
        earned.append((rates[0][chosen].sum() / rates[1][chosen].sum(), 10 * k + performance[chosen].sum()))
    for point in points[1:]:
        assert point.ratio is not None and point.utility is not None
        row = point.ratio * rates[1] - rates[0]
        program = linprog(-(10 + performance), A_ub=[row, np.ones(n)], b_ub=[0.0, k], bounds=(0, 1))
        assert point.utility == pytest.approx(-program.fun, abs=1e-6)
        within = [utility for ratio, utility in earned if ratio >= point.ratio]
        assert max(within, default=0.0) <= point.utility + 1e-9
