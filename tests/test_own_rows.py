"""Rows of single searches: solved search by search, they give what one master for all rows gives."""

from __future__ import annotations

import numpy as np
import pytest

from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.solver import Optimum, Solution, own_rows, solve
from auditkit.verification import check_solution
from support.constraints import build

SPECS = (
    ["floor:minimum=0.05"],
    ["floor:minimum=0.1,on=inspection"],
    ["floor:minimum=0.03", "parity"],
    ["floor:minimum=0.03", "impact-ratio:minimum=0.9", "budget:limit=25"],
)


def firm(seed: int, searches: int) -> Instance:
    """Six candidates of three groups and five laws in every search, and at least one position."""
    rng = np.random.default_rng(seed)
    laws = [(np.round(rng.uniform(-2, 9, 4), 1), rng.dirichlet(np.ones(4))) for _ in range(5)]
    costs = rng.uniform(-0.2, 1.5, 5)

    def box(number: int) -> Box:
        kind, group = rng.integers(5), "XXYYZ"[rng.integers(5)]
        values, probs = laws[kind]
        return Box(str(number), group, float(costs[kind]), values + (group == "X"), probs)

    return Instance(Search(f"s{i}", int(rng.integers(1, 4)), tuple(box(j) for j in range(6))) for i in range(searches))


def both(instance: Instance, specs: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[Solution, Solution]:
    constraints = [build(spec) for spec in specs]
    monkeypatch.setattr(own_rows, "LEAST_ROWS", 10**9)
    together = solve(instance, constraints)
    monkeypatch.setattr(own_rows, "worthwhile", lambda oracle: True)
    return together, solve(instance, constraints)


def optimum(solution: Solution) -> Optimum:
    assert solution.constrained is not None
    return solution.constrained


@pytest.mark.parametrize("specs", SPECS, ids=" ".join)
@pytest.mark.parametrize("seed", range(3))
def test_searches_by_themselves_reach_the_optimum_of_all_rows(
    seed: int, specs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = firm(seed, 5)
    together, apart = both(instance, specs, monkeypatch)
    if together.constrained is None:
        assert apart.constrained is None
        assert apart.conflict == together.conflict
        return
    one, other = optimum(together), optimum(apart)
    assert other.utility == pytest.approx(one.utility, abs=1e-9)
    assert other.bound == pytest.approx(one.bound, abs=1e-9)
    assert other.slacks.min() > -1e-9
    for search in range(5):
        assert sum(w for _, w in other.mixture.lottery(search)) == pytest.approx(1.0, abs=1e-12)
    failed = [c for c in check_solution(apart.to_json(), instance.layout, other.rows, "") if not c.holds]
    assert not failed


def test_policies_of_searches_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many policies as one search needs, however many searches there are."""
    instance = firm(3, 12)
    _, apart = both(instance, ["floor:minimum=0.05"], monkeypatch)
    mixture = optimum(apart).mixture
    longest = max(len(mixture.lottery(search)) for search in range(12))
    kinds = len({tuple(level.objective for level in policy.levels) for policy in mixture.policies})
    assert len(mixture.policies) <= longest * kinds


def test_a_floor_that_cannot_be_met_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = firm(1, 4)
    monkeypatch.setattr(own_rows, "worthwhile", lambda oracle: True)
    found = solve(instance, [build("floor:minimum=0.9"), build("parity")])
    assert found.status == "infeasible"
    assert found.conflict == ("floor:minimum=0.9",)


def test_rows_know_their_search() -> None:
    from auditkit.constraints.binding import bind
    from auditkit.solver.oracle import Oracle

    layout = firm(2, 3).layout
    oracle = Oracle(layout, bind([build("floor:minimum=0.01"), build("parity")], layout))
    owner = own_rows.searches_of(oracle)
    np.testing.assert_array_equal(owner[: len(layout.candidate_ids)], layout.candidate_search)
    assert (owner[len(layout.candidate_ids) :] == -1).all()
    assert not own_rows.worthwhile(oracle)
