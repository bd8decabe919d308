"""Ex-post laws against the enumeration of everything that can happen in tiny instances."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from auditkit.compare.convolution import Grid, sum_of
from auditkit.compare.expost import ExPost, histogram
from auditkit.compare.parts import Parts
from auditkit.constraints.base import Row, Rows
from auditkit.constraints.binding import make
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Layout
from auditkit.model.row_meaning import RateGap, RatioAtLeast, ShareAtLeast
from auditkit.solver import law_kernels, solve
from auditkit.solver.policy import Mixture, Policy
from support.audit_helpers import plugins, random_instance
from support.instances import hidden_groups
from support.sampling import sampled

KINDS = plugins().constraints


@cache
def index(cost: float, values: tuple[float, ...], chances: tuple[float, ...]) -> float:
    """sigma with E(v - sigma)+ = cost, by bisection; infinite for who pays to be inspected."""
    if cost < 0:
        return np.inf
    low, high = min(values) - cost - 1, max(values)
    for _ in range(200):
        middle = (low + high) / 2
        hoped = sum(max(v - middle, 0.0) * p for v, p in zip(values, chances, strict=True))
        low, high = (middle, high) if hoped > cost else (low, middle)
    return low


def play(
    layout: Layout, rewards: Floats, search: int, drawn: tuple[int, ...], full: frozenset[int] = frozenset()
) -> tuple[list[int], list[int]]:
    """Who is selected and who is inspected in one search when candidate i shows its value number drawn[i].

    Of the candidates `full` at most one can be selected.
    """
    who = range(layout.search_ptr[search], layout.search_ptr[search + 1])
    number = {}
    for c in who:
        first, last = layout.candidate_ptr[c], layout.candidate_ptr[c + 1]
        chances = layout.edge_prob[layout.edges.ptr[first] : layout.edges.ptr[first + 1]]
        sigma = index(-float(rewards[first]), tuple(rewards[first + 1 : last].tolist()), tuple(chances.tolist()))
        number[c] = round(sigma, 9)  # ties are ties here
    selected: list[int] = []
    inspected: list[int] = []
    while len(selected) < layout.capacity[search]:
        room = [c for c in who if c not in selected and not (c in full and full & set(selected)) and number[c] > 0]
        if not room:
            break
        c = max(room, key=lambda c: (number[c], -c))
        if c in inspected:
            selected.append(c)
        else:
            inspected.append(c)
            value = round(float(rewards[layout.candidate_ptr[c] + 1 + drawn[c - who[0]]]), 9)
            number[c] = min(number[c], value) if number[c] < np.inf else value
    return selected, inspected


def everything(instance: Instance, rows: Rows, mixture: Mixture) -> list[tuple[float, Floats, int]]:
    """(chance, number of visits of each state, positions left open) for every course of events in all searches."""
    layout = instance.layout
    rewards = [policy.rewards(layout, rows)[:, 0] for policy in mixture.policies]
    assert mixture.firm is None
    searches = []
    for s in range(len(layout.search_ids)):
        who = range(layout.search_ptr[s], layout.search_ptr[s + 1])
        sizes = [range(layout.candidate_ptr[c + 1] - layout.candidate_ptr[c] - 1) for c in who]
        courses = []
        for (policy, weight), drawn in product(mixture.lottery(s), product(*sizes)):
            chance, visits = weight, np.zeros(layout.states)
            for c, number in zip(who, drawn, strict=True):
                chance *= layout.edge_prob[layout.edges.ptr[layout.candidate_ptr[c]] + number]
            selected, inspected = play(layout, rewards[policy], s, drawn)
            for c, number in zip(who, drawn, strict=True):
                visits[layout.candidate_ptr[c]] = c in inspected
                visits[layout.candidate_ptr[c] + 1 + number] = c in selected
            courses.append((chance, visits, int(layout.capacity[s]) - len(selected)))
        searches.append(courses)
    found = []
    for together in product(*searches):
        chances, every, unfilled = zip(*together, strict=True)
        found.append((float(np.prod(chances)), np.sum(every, axis=0), sum(unfilled)))
    return found


def slack_of(row: Row, visits: Floats) -> float:
    value = row.value(visits)
    return value - row.bound if row.sense == ">=" else row.bound - value


CASES: list[tuple[list[dict[str, Any]], str]] = [
    ([{"type": "parity"}], "XY"),
    ([{"type": "parity"}], "XYZ"),
    ([{"type": "parity", "basis": "count", "on": "inspection"}], "XY"),
    ([{"type": "impact-ratio", "minimum": 0.9}, {"type": "quota", "group": "Y", "share": 0.45}], "XY"),
    ([{"type": "budget", "limit": 1.2, "group": "X"}, {"type": "budget", "limit": 3, "on": "inspection"}], "XYZ"),
]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("keys", "groups"), CASES)
def test_laws_are_those_of_everything_that_can_happen(keys: list[dict[str, Any]], groups: str, seed: int) -> None:
    for number in range(seed, 100, 4):  # `play` does not know policies with tie-breaking levels: the next instance then
        instance = random_instance(number, searches=2, candidates=3, capacity=1 + seed % 2, groups=groups)
        optimum = solve(instance, [make(KINDS, k) for k in keys]).constrained
        if optimum is not None and all(len(policy.levels) == 1 for policy in optimum.mixture.policies):
            break
    assert optimum is not None
    layout = instance.layout
    chance = ExPost(layout, optimum.rows, optimum.mixture, Parts.of(optimum.rows, layout))
    courses = everything(instance, optimum.rows, optimum.mixture)
    assert sum(p for p, _, _ in courses) == pytest.approx(1)
    for j, row in enumerate(optimum.rows.rows):
        law = chance.slack(j)
        assert law is not None
        slack = np.array([slack_of(row, visits) for _, visits, _ in courses])
        p = np.array([p for p, _, _ in courses])
        mean = float(slack @ p)
        assert law.label == row.label
        assert law.mean == pytest.approx(mean, abs=1e-10)
        assert law.mean == pytest.approx(float(optimum.slacks[j]), abs=1e-9)
        assert law.sd == pytest.approx(float(np.sqrt((slack - mean) ** 2 @ p)), abs=1e-8)
        missed = np.abs(slack) > 1e-9 if row.sense == "==" else slack < -1e-9
        assert law.outside == pytest.approx(float(p[missed].sum()), abs=1e-10)
        sizes = np.array([row.size(visits) + abs(row.bound) for _, visits, _ in courses])
        share = np.divide(slack, sizes, out=np.zeros_like(slack), where=sizes > 0)
        assert law.normalised.mean == pytest.approx(float(share @ p), abs=1e-10)
        assert law.normalised.sd == pytest.approx(float(np.sqrt((share - share @ p) ** 2 @ p)), abs=1e-8)
        assert law.normalised.near == pytest.approx(float(p[np.abs(share) <= 0.2 + 1e-9].sum()), abs=1e-10)
        assert law.probabilities.sum() == pytest.approx(1)
        assert len(law.probabilities) == len(law.edges) - 1 <= 43
        inner = law.edges[1:-1]  # the outer bins hold the tails too
        below = np.array([p[slack < edge - 1e-9].sum() for edge in inner])
        np.testing.assert_allclose(np.cumsum(law.probabilities)[:-1], below, atol=1e-10)
    unfilled = chance.unfilled()
    for n, q in zip(unfilled.counts, unfilled.probabilities, strict=True):
        assert q == pytest.approx(sum(p for p, _, u in courses if u == n), abs=1e-10)
    assert unfilled.mean == pytest.approx(optimum.outcome.unfilled_capacity, abs=1e-9)


def test_searches_with_too_many_outcomes_have_no_law_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = random_instance(3, searches=4, candidates=5, capacity=2, groups="XYZ")
    optimum = solve(instance, [make(KINDS, {"type": "parity"})]).constrained
    assert optimum is not None
    chance = ExPost(instance.layout, optimum.rows, optimum.mixture, Parts.of(optimum.rows, instance.layout))
    assert all(chance.reason(j) is None for j in range(len(optimum.rows)))
    monkeypatch.setattr("auditkit.compare.expost.MOST_JOINT", 0)
    monkeypatch.setattr("auditkit.compare.expost.MOST_CELLS", 0)
    for j in range(len(optimum.rows)):
        assert chance.slack(j) is None
        assert "too many joint outcomes" in str(chance.reason(j))


def test_a_large_capacity_is_no_obstacle() -> None:
    instance = random_instance(5, searches=1, candidates=150, values=4, capacity=70, groups="XYZ")
    optimum = solve(
        instance, [make(KINDS, {"type": "parity"}), make(KINDS, {"type": "quota", "group": "X", "share": 0.3})]
    )
    found = optimum.constrained
    assert found is not None
    chance = ExPost(instance.layout, found.rows, found.mixture, Parts.of(found.rows, instance.layout))
    for j, slack in enumerate(found.slacks):
        law = chance.slack(j)
        assert law is None or law.mean == pytest.approx(float(slack), abs=1e-9)
    assert chance.slack(2) is not None
    assert chance.unfilled().mean == pytest.approx(found.outcome.unfilled_capacity, abs=1e-9)
    huge = random_instance(6, searches=1, candidates=700, values=2, capacity=600, groups="XYZ")
    answer = solve(huge, [make(KINDS, {"type": "parity", "groups": ["X", "Y"]})]).constrained
    assert answer is not None
    chance = ExPost(huge.layout, answer.rows, answer.mixture, Parts.of(answer.rows, huge.layout))
    assert chance.slack(0) is None  # said to be too much, not attempted
    assert chance.unfilled().mean == pytest.approx(answer.outcome.unfilled_capacity, abs=1e-8)


def test_rows_on_values_or_several_outcomes_have_no_law() -> None:
    instance = random_instance(1, searches=2, candidates=4)
    keys: list[dict[str, Any]] = [
        {"type": "parity", "min_value": 5.0},
        {
            "type": "affine",
            "sense": "<=",
            "bound": 1,
            "terms": [{"search": "s0", "candidate": "c0", "state": "selected"}],
        },
    ]
    optimum = solve(instance, [make(KINDS, k) for k in keys]).constrained
    assert optimum is not None
    parts = Parts.of(optimum.rows, instance.layout)
    chance = ExPost(instance.layout, optimum.rows, optimum.mixture, parts)
    assert [chance.slack(j) for j in range(2)] == [None, None]
    assert chance.unfilled().probabilities.sum() == pytest.approx(1)
    alone = ExPost(instance.layout, optimum.rows, optimum.mixture, None)
    np.testing.assert_allclose(alone.unfilled().probabilities, chance.unfilled().probabilities, atol=1e-14)


def test_a_grid_is_a_convolution() -> None:
    rng = np.random.default_rng(0)
    one, two = rng.dirichlet(np.ones(6)).reshape(2, 3), rng.dirichlet(np.ones(4)).reshape(2, 2)
    grid = Grid(0, 0, one).plus(Grid(0, 0, two))
    expected = np.zeros((3, 4))
    for (i, j), (a, b) in product(np.ndindex(2, 3), np.ndindex(2, 2)):
        expected[i + a, j + b] += one[i, j] * two[a, b]
    np.testing.assert_allclose(grid.chance, expected, atol=1e-15)
    sure = Grid(0, 0, np.ones((1, 1))).plus(Grid(0, 0, np.array([[0.0, 0.0], [0.0, 1.0]])))
    assert (sure.first, sure.second, sure.chance.shape) == (1, 1, (1, 1))


def test_no_bin_mixes_a_miss_with_a_hit() -> None:
    values, chances = np.array([-0.3, -1e-3, 0.0, 0.2, 0.7]), np.array([0.1, 0.2, 0.3, 0.3, 0.1])
    edges, heights = histogram(values, chances)
    zero = int(np.flatnonzero(np.abs(edges) < 1e-12)[0])
    assert heights[:zero].sum() == pytest.approx(0.3)
    assert heights[zero] == pytest.approx(0.3)
    edges, heights = histogram(np.array([2.0]), np.ones(1))
    assert heights.sum() == 1
    assert edges[0] <= 2.0 < edges[-1]


def test_the_unconstrained_policy_has_laws_too() -> None:
    instance = random_instance(2, searches=2, candidates=3)
    nothing = Rows((), (), ())
    free = solve(instance).constrained
    assert free is not None
    assert free.mixture.policies == (Policy.at(np.zeros(0)),)
    chance = ExPost(instance.layout, nothing, free.mixture, None)
    assert chance.unfilled().mean == pytest.approx(free.outcome.unfilled_capacity, abs=1e-12)


def test_a_firm_wide_lottery_mixes_the_laws_of_its_policies() -> None:
    instance = random_instance(3, searches=3, candidates=4, groups="XY")
    optimum = solve(instance, [make(KINDS, {"type": "parity"})], "rdip").constrained
    assert optimum is not None and optimum.mixture.firm is not None
    parts = Parts.of(optimum.rows, instance.layout)
    mixed = ExPost(instance.layout, optimum.rows, optimum.mixture, parts)
    law, mean, second = mixed.slack(0), 0.0, 0.0
    for policy, weight in optimum.mixture.firm:
        alone = Mixture((optimum.mixture.policies[policy],), optimum.mixture.count)
        own = ExPost(instance.layout, optimum.rows, alone, parts).slack(0)
        assert own is not None
        mean += weight * own.mean
        second += weight * (own.sd**2 + own.mean**2)
    assert law is not None
    assert law.mean == pytest.approx(mean, abs=1e-12)
    assert law.sd**2 == pytest.approx(second - mean**2, abs=1e-12)


def test_large_tables_are_put_on_fewer_counts_with_the_same_mean_and_deviation(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = random_instance(8, searches=40, candidates=5, capacity=3, groups="XY")
    optimum = solve(instance, [make(KINDS, {"type": "parity"})]).constrained
    assert optimum is not None
    parts = Parts.of(optimum.rows, instance.layout)
    exact = ExPost(instance.layout, optimum.rows, optimum.mixture, parts).slack(0)
    monkeypatch.setattr("auditkit.compare.convolution.MOST_GRID", 200)
    coarse = ExPost(instance.layout, optimum.rows, optimum.mixture, parts).slack(0)
    assert exact is not None and coarse is not None
    assert exact.error == 0 < coarse.error < 0.3 * exact.sd
    assert coarse.mean == pytest.approx(exact.mean, abs=1e-10)
    assert coarse.sd == pytest.approx(exact.sd, rel=1e-10)


@pytest.mark.parametrize("products", [0, 10**9])
def test_convolutions_agree_however_they_are_formed(products: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    tables = [rng.dirichlet(np.ones(12)).reshape(3, 4) for _ in range(9)]
    expected = sum_of(tables)
    monkeypatch.setattr("auditkit.compare.convolution.SMALL", 0)
    monkeypatch.setattr("auditkit.compare.convolution.FEW", 0)
    monkeypatch.setattr("auditkit.compare.convolution.MOST_PRODUCTS", products)
    found = sum_of(tables)
    assert (found.first, found.second) == (expected.first, expected.second)
    np.testing.assert_allclose(found.chance, expected.chance, atol=1e-15)


# Groups that are known by their probability --------------------------------------------------------------------------


MEMBER_SPECS = [
    {"type": "parity"},
    {"type": "parity", "on": "inspection"},
    {"type": "impact-ratio", "minimum": 0.9},
    {"type": "quota", "group": "F", "share": 0.45},
    {"type": "quota", "group": "F", "share": 0.45, "on": "inspection"},
]


def realised(
    document: dict[str, Any], layout: Layout, rows: Rows, mixture: Mixture, on: str, full: frozenset[int]
) -> dict[Any, float]:
    """The law of (number of F, number of M, of anyone) selected or inspected, by enumeration of groups and values."""
    rewards = [policy.rewards(layout, rows)[:, 0] for policy in mixture.policies]
    total = {(0, 0, 0): 1.0}
    for s, search in enumerate(document["searches"]):
        one: dict[Any, float] = {}
        first = int(layout.search_ptr[s])
        kinds = []
        for who in search["candidates"]:
            told = who["membership"]["Gender"]
            share = [[told["F"]["given"][v], told["M"]["given"][v]] for v in range(2)]
            kinds.append(
                [
                    (v, g, who["probs"][v] * (share[v][g] if g < 2 else 1 - sum(share[v])))
                    for v, g in product(range(2), range(3))
                ]
            )
        for (policy, weight), drawn in product(mixture.lottery(s), product(*kinds)):
            chance = weight * float(np.prod([p for _, _, p in drawn]))
            selected, inspected = play(layout, rewards[policy], s, tuple(v for v, _, _ in drawn), full)
            groups = [drawn[c - first][1] for c in (selected if on == "selection" else inspected)]
            counts = (groups.count(0), groups.count(1), len(groups))
            one[counts] = one.get(counts, 0.0) + chance
        both: dict[Any, float] = {}
        for (a, p), (b, q) in product(total.items(), one.items()):
            key = tuple(x + y for x, y in zip(a, b, strict=True))
            both[key] = both.get(key, 0.0) + p * q
        total = both
    return total


@pytest.mark.parametrize("keys", MEMBER_SPECS, ids=lambda k: f"{k['type']} {k.get('on', '')}")
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.sampled
@pytest.mark.parametrize("seed", sampled(range(5), 2))
def test_laws_with_uncertain_groups_are_those_of_all_groups_and_values(
    seed: int, limited: bool, keys: dict[str, Any]
) -> None:
    full = frozenset({0, 2}) if limited else frozenset()
    for number in range(seed, 100, 5):  # `play` does not know policies with tie-breaking levels: the next instance then
        document = hidden_groups(number)
        if limited:
            document["searches"][0]["capacity"] = 2
            document["searches"][0]["limits"] = [{"label": "both", "capacity": 1, "candidates": ["c0", "c2"]}]
        instance = instance_from_document(document)
        optimum = solve(instance, [make(KINDS, keys)]).constrained
        if optimum is not None and all(len(policy.levels) == 1 for policy in optimum.mixture.policies):
            break
    assert optimum is not None
    layout, on = instance.layout, keys.get("on", "selection")
    chance = ExPost(layout, optimum.rows, optimum.mixture, Parts.of(optimum.rows, layout))
    counts = realised(document, layout, optimum.rows, optimum.mixture, on, full)
    size = dict(zip(layout.protected["Gender"].names, layout.protected["Gender"].sizes, strict=True))
    p = np.array(list(counts.values()))
    for j, row in enumerate(optimum.rows.rows):
        meaning, law = row.meaning, chance.slack(j)
        assert chance.reason(j) is None and law is not None
        value = np.empty(len(p))
        compared = np.empty(len(p))
        for i, (f, m, all_) in enumerate(counts):
            each = {"F": f, "M": m}
            if isinstance(meaning, ShareAtLeast):
                value[i] = each[meaning.group] - meaning.minimum * all_
                compared[i] = (1 - meaning.minimum) * f + meaning.minimum * (all_ - f)
            else:
                assert isinstance(meaning, RateGap | RatioAtLeast)
                least = 1.0 if isinstance(meaning, RateGap) else meaning.minimum
                one = each[meaning.group] / size[meaning.group]
                two = least * each[meaning.against] / size[meaning.against]
                value[i], compared[i] = one - two, one + two
        slack = value - row.bound if row.sense == ">=" else row.bound - value
        assert p.sum() == pytest.approx(1)
        assert law.mean == pytest.approx(float(slack @ p), abs=1e-10)
        assert law.mean == pytest.approx(float(optimum.slacks[j]), abs=1e-9)
        assert law.sd == pytest.approx(float(np.sqrt((slack - slack @ p) ** 2 @ p)), abs=1e-8)
        missed = np.abs(slack) > 1e-9 if row.sense == "==" else slack < -1e-9
        assert law.outside == pytest.approx(float(p[missed].sum()), abs=1e-10)
        below = np.array([p[slack < edge - 1e-9].sum() for edge in law.edges[1:-1]])
        np.testing.assert_allclose(np.cumsum(law.probabilities)[:-1], below, atol=1e-10)
        compared += abs(row.bound)
        share = np.divide(slack, compared, out=np.zeros_like(slack), where=compared > 0)
        assert law.normalised.mean == pytest.approx(float(share @ p), abs=1e-10)


@pytest.mark.parametrize("keys", MEMBER_SPECS[:4], ids=lambda k: f"{k['type']} {k.get('on', '')}")
def test_laws_of_chains_with_uncertain_groups_are_those_of_the_same_boxes(keys: dict[str, Any]) -> None:
    for seed in (1, 4):
        found = []
        for as_chains in (False, True):
            instance = instance_from_document(hidden_groups(seed, as_chains))
            optimum = solve(instance, [make(KINDS, keys)]).constrained
            assert optimum is not None
            chance = ExPost(instance.layout, optimum.rows, optimum.mixture, Parts.of(optimum.rows, instance.layout))
            law = chance.slack(0)
            assert law is not None and law.mean == pytest.approx(float(optimum.slacks[0]), abs=1e-9)
            found.append((law.sd, law.outside, law.normalised.sd))
        assert found[0] == pytest.approx(found[1], abs=1e-7)


def test_uncertain_groups_beside_values_have_no_law_and_say_so() -> None:
    instance = instance_from_document(hidden_groups(1))
    optimum = solve(instance, [make(KINDS, {"type": "parity", "min_value": 3.0})]).constrained
    assert optimum is not None
    chance = ExPost(instance.layout, optimum.rows, optimum.mixture, Parts.of(optimum.rows, instance.layout))
    assert chance.slack(0) is None and "two groups" in str(chance.reason(0))


@pytest.mark.parametrize("seed", range(8))
def test_few_positions_have_the_law_of_many(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 30)), seed % 5
    owner = rng.permutation(np.repeat(np.arange(n), rng.integers(1, 12, n)))
    chance = rng.dirichlet(np.ones(3), len(owner)) * rng.random((len(owner), 1))
    whole = np.bincount(owner, chance.sum(axis=1)) / np.where(rng.random(n) < 0.5, 1.0, rng.uniform(0.2, 1.0, n))
    masses = chance / whole[owner][:, None]  # half of the candidates are ahead for certain in the end
    start, nobody = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    states = np.arange(1, len(owner) + 1)
    many = law_kernels.member_law(k, owner, masses, False, states, start, nobody, np.zeros((1, 3)))
    few = law_kernels.member_law_of_few(n, k, owner, masses)
    assert few == pytest.approx(many, abs=1e-13)
    assert few.sum() == pytest.approx(1.0)
