"""Types, boxes and blocks: however a problem is cut up, its numbers are the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from auditkit.constraints.base import Row, Rows
from auditkit.constraints.binding import bind
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Layout
from auditkit.model.limits import Limit
from auditkit.model.search import Box, Search
from auditkit.solver import evaluate, solve
from auditkit.solver.block_sums import BlockSums
from auditkit.solver.candidate_types import Types
from auditkit.solver.evaluate import Prepared
from auditkit.solver.policy import Level, Outcome, Policy
from support.constraints import build


def firm(seed: int, searches: int, size: int = 6, kinds: int = 5) -> Instance:
    """Searches whose candidates are of a few kinds in three groups."""
    rng = np.random.default_rng(seed)
    laws = [(np.round(rng.uniform(-2, 9, 4), 1), rng.dirichlet(np.ones(4))) for _ in range(kinds)]
    costs = rng.uniform(-0.2, 1.5, kinds)

    def box(number: int) -> Box:
        kind, group = rng.integers(kinds), "XXYYZ"[rng.integers(5)]
        values, probs = laws[kind]
        return Box(str(number), group, float(costs[kind]), values + (group == "X"), probs)

    return Instance(
        tuple(Search(f"s{i}", int(rng.integers(0, 4)), tuple(box(j) for j in range(size))) for i in range(searches))
    )


def as_chains(layout: Layout) -> Layout:
    """The same layout, evaluated by the kernels for chains."""
    other = replace(layout)
    other.__dict__["only_boxes"] = False
    return other


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_boxes_are_evaluated_as_chains_are(seed: int, levels: int) -> None:
    layout = firm(seed, 7).layout
    rng = np.random.default_rng(seed)
    rewards = np.column_stack([layout.reward, *rng.integers(-1, 2, (levels - 1, layout.states))])[:, :levels]
    one, other = Prepared.of(layout, rewards), Prepared.of(as_chains(layout), rewards)
    np.testing.assert_allclose(
        one.index, other.index, atol=0 if levels == 1 else 1e-12
    )  # ties are made later for boxes
    np.testing.assert_array_equal(one.visits(), other.visits())
    some = np.array([1, 4])
    inside = np.isin(layout.candidate_search[layout.state_candidate], some)
    np.testing.assert_array_equal(one.visits(some), np.where(inside, one.visits(), 0.0))
    group = layout.candidate_group
    together = [prepared.selection_laws(np.arange(7), group, 3) for prepared in (one, other)]
    for search in range(7):
        law = one.selection_law(search, group, 3)
        for same in (other.selection_law(search, group, 3), together[0][search], together[1][search]):
            np.testing.assert_array_equal(law, same)
        for a, b in zip(one.inspection_law(search, group, 3), other.inspection_law(search, group, 3), strict=True):
            np.testing.assert_array_equal(a, b)


def test_candidates_of_one_law_cost_and_group_are_one_type() -> None:
    layout = firm(1, 50).layout
    types = Types.of_boxes(layout)
    assert len(types.ptr) - 1 <= 15
    same = types.of[:, None] == types.of[None, :]
    numbers = np.column_stack(
        [layout.candidate_group, layout.reward.reshape(-1, 5), layout.value_chance.reshape(-1, 5)]
    )
    np.testing.assert_array_equal(same, (numbers[:, None] == numbers[None, :]).all(axis=2))
    row = Row("one of them", np.array([3, 4]), np.array([1.0, 2.0]), "<=", 1.0)
    split = Types.of_boxes(layout, [row])
    assert (split.of == split.of[0]).sum() == 1
    assert len(split.ptr) == len(types.ptr) + ((types.of == types.of[0]).sum() > 1)


def test_states_are_held_once_for_each_kind_and_made_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("reward", "true_reward", "selecting", "state_stage", "state_candidate", "value_chance")
    small = firm(3, 40)
    kept = {name: getattr(small.layout, name) for name in names}
    monkeypatch.setattr("auditkit.model.layout.FEW_STATES", 0)
    monkeypatch.setattr("auditkit.model.layout.SPREAD", 7)
    layout = Instance(small.searches).layout
    candidates = [c for search in small.searches for c in search.candidates]
    boxes = [c for c in candidates if isinstance(c, Box)]
    paid = [x for box in boxes for x in (-box.cost, *sorted(box.values, reverse=True))]
    np.testing.assert_array_equal(layout.reward, paid)
    assert len(layout.kinds.shapes) <= 15 < len(boxes)
    for name, array in kept.items():
        np.testing.assert_array_equal(getattr(layout, name), array)
        assert name in small.layout._kept and name not in layout._kept
    np.testing.assert_array_equal(layout.owners(np.arange(layout.states)), layout.state_candidate)
    one, other = (solve(i, [build("parity")]) for i in (small, Instance(small.searches)))
    assert one.constrained is not None and other.constrained is not None
    np.testing.assert_array_equal(one.constrained.outcome.visits, other.constrained.outcome.visits)


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("levels", [1, 2])
def test_some_searches_at_a_time_are_evaluated_as_all(
    limited: bool, levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = firm(4, 30)
    if limited:
        limits = [Limit("first", 1, candidates=["0", "1"])]
        instance = Instance(tuple(replace(s, limits=limits if i % 3 else ()) for i, s in enumerate(instance.searches)))
    layout = instance.layout
    rewards = np.random.default_rng(4).integers(-3, 4, (layout.states, levels)).astype(np.float64)
    together = evaluate.visits(layout, rewards)
    monkeypatch.setattr("auditkit.solver.evaluate.STATES_AT_ONCE", 100)
    np.testing.assert_array_equal(evaluate.visits(layout, rewards), together)


def test_outcomes_make_their_visits_again_once_others_were_asked_for() -> None:
    layout, made = firm(5, 4).layout, [0, 0]

    def making(i: int) -> Outcome:
        def make() -> Floats:
            made[i] += 1
            return Prepared.of(layout, layout.reward).visits()

        return Outcome(layout, make)

    one, other = making(0), making(1)
    assert one.utility == one.utility and one.selected.sum() > 0 and made == [1, 0]
    assert other.utility == one.utility and other.unfilled_capacity == other.unfilled_capacity and made == [1, 1]
    np.testing.assert_array_equal(one.visits, other.visits)
    assert made == [2, 2]


SPECS = [
    "parity",
    "quota:group=Y,share=0.4",
    "budget:limit=9,on=inspection",
    "parity:min_value=3",
    "floor:minimum=0.01",
]


def by_search(layout: Layout, per_state: Floats) -> Floats:
    return np.bincount(layout.candidate_search[layout.state_candidate], per_state, minlength=len(layout.search_ids))


@pytest.mark.parametrize("blocks", [3, 200])
@pytest.mark.parametrize("chains", [False, True])
def test_sums_by_block_are_those_of_the_visits(blocks: int, chains: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditkit.solver.block_sums.MOST_BLOCKS", blocks)
    layout = firm(2, 9).layout
    layout = as_chains(layout) if chains else layout
    rows = bind([build(text) for text in SPECS], layout)
    duals = tuple(np.random.default_rng(5).normal(0, 0.5, len(rows)))
    sums = BlockSums(layout, rows)
    assert sums.blocks == min(blocks, 9)
    for policy in (Policy.at(duals), Policy.at(np.zeros(len(rows)), Level(0.0, duals)), Policy.towards(duals)):
        visits = Prepared.of_policy(layout, rows, policy).visits()
        found = sums.of_policy(policy)
        into = sums.block_of[np.arange(9)][:, None] == np.arange(sums.blocks)
        np.testing.assert_allclose(found.utility, by_search(layout, layout.reward * visits) @ into, atol=1e-12)
        values = sums.values(found)
        np.testing.assert_allclose(sums.totals(values), rows.values(visits), atol=1e-12)
        for j, row in enumerate(rows.rows):
            weights = np.zeros(layout.states)
            weights[row.states] = row.coefficients
            expected = by_search(layout, weights * visits) @ into
            own = sums.row == j
            np.testing.assert_allclose(values[own], expected[sums.block[own]], atol=1e-12)
        np.testing.assert_allclose(sums.values(sums.of_visits(visits)), values, atol=1e-12)


@pytest.mark.parametrize(
    "specs",
    [
        ["parity"],
        ["impact-ratio:minimum=0.95"],
        ["parity", "budget:limit=20,on=inspection"],
        ["quota:group=Z,share=0.5"],
    ],
)
def test_the_optimum_does_not_depend_on_the_blocks(specs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    instance = firm(3, 24)
    constraints = [build(text) for text in specs]
    whole = solve(instance, constraints).constrained
    firm_wide = solve(instance, constraints, "caratheodory").constrained
    assert whole is not None and firm_wide is not None
    assert whole.utility == pytest.approx(firm_wide.utility, abs=1e-9)
    assert firm_wide.mixture.firm is not None
    for blocks in (1, 2, 7):
        monkeypatch.setattr("auditkit.solver.block_sums.MOST_BLOCKS", blocks)
        other = solve(Instance(instance.searches), constraints).constrained
        assert other is not None
        assert other.utility == pytest.approx(whole.utility, abs=1e-9)
        assert other.utility <= other.bound + 1e-11 * abs(other.bound)
        assert other.gap <= 1e-9
        assert other.mixture.count == 24 and other.mixture.firm is None
        assert other.mixture.randomised <= (other.duals != 0).sum()
        assert (other.slacks >= -1e-9).all()


def test_a_policy_of_other_rows_keeps_its_meaning() -> None:
    layout = firm(4, 5).layout
    one, other = (bind([build(text)], layout) for text in ("parity", "quota:group=Y,share=0.4"))
    policy = Policy.at((0.7, -0.2)).of(one)
    alone = Prepared.of_policy(layout, one, Policy.at((0.7, -0.2))).visits()
    np.testing.assert_array_equal(Prepared.of_policy(layout, other, policy).visits(), alone)
    found = BlockSums(layout, other).of_policy(policy)
    np.testing.assert_allclose(found.utility.sum(), layout.reward @ alone, atol=1e-12)
    assert isinstance(other, Rows)


def test_types_tell_apart_whatever_rows_do() -> None:
    """Candidates of one law who differ only in a protected attribute, a text or a number that a row weighs."""
    rng = np.random.default_rng(8)

    def box(number: int) -> Box:
        groups = {"Gender": "FM"[rng.integers(2)], "Race": "PQ"[rng.integers(2)]}
        own = {"Department": "ab"[rng.integers(2)], "km": float(rng.integers(1, 4))}
        return Box(str(number), groups, 0.3, [0.0, 2.0, 5.0], [0.3, 0.4, 0.3], attributes=own)

    searches = (Search(f"s{i}", 2, tuple(box(j) for j in range(8))) for i in range(5))
    instance = Instance(tuple(searches))
    layout = instance.layout
    assert len(np.unique(Types.of_boxes(layout).of)) == 4
    constraints = [build("parity:by=Gender,within=Department"), build("budget:limit=12,expense=km")]
    constraints += [build("quota:by=Race,group=P,share=0.5")]
    rows = bind(constraints, layout)
    sums = BlockSums(layout, rows)
    assert sums.types is not None
    table = np.column_stack([layout.texts["Department"].codes, layout.attributes["km"], layout.candidate_group])
    assert len(np.unique(sums.types.of)) == len(np.unique(table, axis=0)) > 4
    policy = Policy.at(tuple(rng.normal(0, 0.5, len(rows))))
    visits = Prepared.of_policy(layout, rows, policy).visits()
    np.testing.assert_allclose(sums.totals(sums.values(sums.of_policy(policy))), rows.values(visits), atol=1e-12)
    by_types = solve(instance, constraints).constrained
    by_columns = solve(instance, constraints, "caratheodory").constrained
    assert by_types is not None and by_columns is not None
    assert by_types.utility == pytest.approx(by_columns.utility, abs=1e-8)
