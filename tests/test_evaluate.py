"""Exact evaluation: the kernels against products written out, and against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.constraints.binding import bind
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.solver import evaluate, room_kernels
from auditkit.solver.oracle import Oracle
from auditkit.solver.policy import Outcome
from support import direct
from support.occupancy import Document
from support.sampling import examples
from support.tiny import box_instances, chain_instances

GROUPS = "XYZ"


def random_search(seed: int, n: int, support: int, k: int, *, ties: bool = False) -> Search:
    rng = np.random.default_rng(seed)

    def box(i: int) -> Box:
        values = rng.integers(-3, 9, support) if ties else rng.normal(4, 4, support)
        probs = rng.dirichlet(np.ones(support))
        return Box(f"c{i}", GROUPS[i % 3], float(rng.choice([-1.0, 0.0, 0.5, 1.0, 2.0])), values, probs)

    return Search("s", k, tuple(box(i) for i in range(n)))


def outcome(search: Search) -> Outcome:
    layout = Instance((search,)).layout
    return Outcome(layout, evaluate.visits(layout, layout.reward))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("n", "support", "k"), [(1, 1, 1), (1, 4, 0), (5, 3, 5), (9, 4, 2), (30, 7, 11), (40, 5, 1)])
def test_visits_equal_the_products_written_out(n: int, support: int, k: int, ties: bool) -> None:
    search = random_search(n * support + k, n, support, k, ties=ties)
    inspect, select = direct.visits(search)
    found = outcome(search)
    np.testing.assert_allclose(found.inspected, inspect, atol=1e-13)
    for i, expected in enumerate(select):
        np.testing.assert_allclose(found.selected_by_value(i), expected, atol=1e-13)


@pytest.mark.parametrize("ties", [False, True])
def test_events_after_which_nobody_finds_room_are_not_looked_at(ties: bool) -> None:
    search = random_search(3, 400, 3, 12, ties=ties)
    assert room_kernels.enough.py_func(12) < 200
    inspect, select = direct.visits(search)
    found = outcome(search)
    np.testing.assert_allclose(found.inspected, inspect, rtol=0, atol=1e-13)
    for i, expected in enumerate(select):
        np.testing.assert_allclose(found.selected_by_value(i), expected, rtol=0, atol=1e-13)
    layout = Instance((search,)).layout
    added_up = Oracle(layout, bind([], layout)).free
    assert added_up.utility == pytest.approx(found.utility, rel=1e-12)


def test_four_hundred_identical_candidates_keep_full_precision() -> None:
    box = [Box(f"c{i}", "X", 0.3, [1.0, 2.0, 3.0], [0.2, 0.5, 0.3]) for i in range(400)]
    search = Search("s", 37, tuple(box))
    inspect, _ = direct.visits(search)
    found = outcome(search)
    np.testing.assert_allclose(found.inspected, inspect, atol=1e-14)
    assert found.selected.sum() == pytest.approx(37, abs=1e-11)


@given(document=box_instances(max_candidates=4, max_searches=1), groups=st.integers(1, 3))
@examples(60)
def test_the_law_of_selections_is_that_of_all_combinations(document: Document, groups: int) -> None:
    instance = instance_from_document(document)
    search, layout = instance.searches[0], instance.layout
    group = [i % groups for i in range(len(search.candidates))]
    law = evaluate.Prepared.of(layout, layout.reward).selection_law(0, np.array(group), groups)
    np.testing.assert_allclose(law, direct.selection_law(search, group, groups), atol=1e-13)


@given(document=box_instances(max_candidates=4, max_searches=1), groups=st.integers(1, 3))
@examples(60)
def test_the_law_of_inspections_is_that_of_all_combinations(document: Document, groups: int) -> None:
    instance = instance_from_document(document)
    search, layout = instance.searches[0], instance.layout
    group = [i % groups for i in range(len(search.candidates))]
    counts, chances = evaluate.Prepared.of(layout, layout.reward).inspection_law(0, np.array(group), groups)
    found = {tuple(map(int, c)): p for c, p in zip(counts, chances, strict=True) if p > 1e-12}
    expected = {c: p for c, p in direct.inspection_law(search, group, groups).items() if p > 1e-12}
    assert found == pytest.approx(expected, abs=1e-12)


@given(document=chain_instances())
@examples(60)
def test_the_law_of_selections_agrees_with_the_visits_of_chains(document: Document) -> None:
    """Mean selections per group by the law equal those by expected visits, whatever the chains look like."""
    layout = instance_from_document(document).layout
    prepared = evaluate.Prepared.of(layout, layout.reward)
    result = Outcome(layout, prepared.visits())
    groups = len(layout.groups)
    means, inspected = np.zeros(groups), np.zeros(groups)
    for search in range(len(layout.search_ids)):
        numbers, chances = prepared.inspection_law(search, layout.candidate_group, groups)
        inspected += chances @ numbers
        law = prepared.selection_law(search, layout.candidate_group, groups)
        assert law.sum() == pytest.approx(1, abs=1e-12)
        counts = np.indices(law.shape)
        means += [(counts[g] * law).sum() for g in range(groups)]
    np.testing.assert_allclose(means, result.by_group(result.selected), atol=1e-11)
    if not np.isin(layout.start, layout.edges.items).any():  # else a start is left more than once
        np.testing.assert_allclose(inspected, result.by_group(result.inspected), atol=1e-11)


def test_many_searches_at_once_are_each_search_by_itself() -> None:
    searches = [random_search(seed, 3 + seed % 5, 3, 1 + seed % 2) for seed in range(200)]
    whole = Instance(tuple(Search(f"s{i}", s.capacity, s.candidates) for i, s in enumerate(searches))).layout
    visits = evaluate.visits(whole, whole.reward)
    parts = [outcome(search).visits for search in searches]
    np.testing.assert_array_equal(visits, np.concatenate(parts))


def test_threads_do_not_change_a_single_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = tuple(Search(f"s{i}", 3, random_search(i, 12, 5, 3, ties=True).candidates) for i in range(60))
    layout = Instance(searches).layout
    alone = evaluate.visits(layout, layout.reward)
    monkeypatch.setattr(evaluate, "WORTH_THREADS", 0)
    monkeypatch.setattr(evaluate, "STATES_PER_PIECE", 50)
    np.testing.assert_array_equal(alone, evaluate.visits(layout, layout.reward))


def test_true_values_give_the_long_term_utility() -> None:
    box = Box("a", "X", 1.0, [10.0, 4.0], [0.5, 0.5], true_values=[12.0, 8.0])
    found = outcome(Search("s", 1, (box,)))
    assert found.utility == pytest.approx(6.0)
    assert found.long_term_utility == pytest.approx(9.0)
    assert outcome(random_search(1, 3, 2, 1)).long_term_utility is None


@pytest.mark.parametrize("cost", [-1.0, 0.0, 0.4, 30.0])
def test_indices_without_ties_to_break_are_those_that_levels_find(cost: float) -> None:
    rng = np.random.default_rng(7)
    boxes = [Box(str(i), "A", cost, rng.integers(-3, 9, 5), [0.3, 0.0, 0.2, 0.4, 0.1]) for i in range(20)]
    layout = Instance([Search("s", 2, boxes)]).layout
    for rewards in (layout.reward, np.where(layout.selecting, rng.permutation(layout.reward), -cost)):
        plain = evaluate.Prepared.of(layout, rewards).indices
        levels = evaluate.Prepared.of(layout, np.column_stack([rewards, np.zeros(layout.states)])).indices
        np.testing.assert_allclose(plain, levels, rtol=1e-13)


def test_what_no_joint_table_can_hold_is_refused() -> None:
    layout = Instance((random_search(0, 60, 2, 30),)).layout
    prepared = evaluate.Prepared.of(layout, layout.reward)
    with pytest.raises(ValueError, match="merge some groups"):
        prepared.selection_law(0, np.arange(60) % 5, 5)


@pytest.mark.parametrize(
    ("n", "k"), [*((n, k) for n in (1, 2, 3, 7, 30) for k in range(1, 9)), (260, 20), (260, 120), (260, 250)]
)
def test_who_finds_room_is_what_a_product_over_all_others_says(n: int, k: int) -> None:
    rng = np.random.default_rng(n * 10 + k)
    owner = rng.permutation(np.repeat(np.arange(n), 9))
    kappa = (rng.dirichlet(np.ones(9), n) * rng.choice([1.0, 0.3], (n, 1)))[owner, 0]
    wanted, ahead = np.empty(len(owner)), np.zeros(n)
    for e, own in enumerate(owner):
        law = np.eye(1, k)[0]
        for p in np.delete(ahead, own):
            law = law * (1 - p) + np.append(0.0, law[:-1]) * p
        wanted[e] = law.sum()
        ahead[own] = min(1.0, ahead[own] + kappa[e])
    ways = (room_kernels.chances_of_few, room_kernels.chances_of_many)
    for way in ways if k <= room_kernels.FEW_POSITIONS else ways[1:]:
        found = way(n, k, owner, kappa)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-15)
        assert found.min() >= 0 and found.max() <= 1
