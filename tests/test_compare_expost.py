"""Ex-post laws against the enumeration of everything that can happen in tiny instances."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from auditkit.compare.convolution import Grid, sum_of
from auditkit.compare.expost import ExPost, histogram
from auditkit.compare.parts import Parts
from auditkit.constraints.base import Row, Rows
from auditkit.constraints.binding import make
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Layout
from auditkit.solver import solve
from auditkit.solver.policy import Mixture, Policy
from support.audit_helpers import plugins, random_instance

KINDS = plugins().constraints


def index(cost: float, values: Floats, chances: Floats) -> float:
    """sigma with E(v - sigma)+ = cost, by bisection; infinite for who pays to be inspected."""
    if cost < 0:
        return np.inf
    low, high = float(values.min()) - cost - 1, float(values.max())
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if float(np.maximum(values - middle, 0) @ chances) > cost else (low, middle)
    return low


def play(layout: Layout, rewards: Floats, search: int, drawn: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Who is selected and who is inspected in one search when candidate i shows its value number drawn[i]."""
    who = range(layout.search_ptr[search], layout.search_ptr[search + 1])
    sigma, kappa = {}, {}
    for c, number in zip(who, drawn, strict=True):
        first, last = layout.candidate_ptr[c], layout.candidate_ptr[c + 1]
        values = rewards[first + 1 : last]
        sigma[c] = index(
            -rewards[first], values, layout.edge_prob[layout.edges.ptr[first] : layout.edges.ptr[first + 1]]
        )
        sigma[c] = round(sigma[c], 9)  # what is tied in exact numbers is tied here
        kappa[c] = min(sigma[c], round(float(values[number]), 9))
    k = int(layout.capacity[search])
    selected = sorted((c for c in who if kappa[c] > 0), key=lambda c: (-kappa[c], c))[:k]
    inspected = []
    for c in who:
        ahead = sum((kappa[d], -d) > (sigma[c], -c) for d in who if d != c)
        if sigma[c] > 0 and ahead < k:
            inspected.append(c)
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
