"""The edges of the solver: budgets of 0, rows that can barely be met, LPs that HiGHS gives up on, no one to select."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from auditkit.constraints import bind
from auditkit.constraints.base import Parameter
from auditkit.errors import InputError, nearest
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Chain, Search, State
from auditkit.model.variants import with_scores
from auditkit.plugin_manager import shipped
from auditkit.plugins.nash_welfare import NashWelfare
from auditkit.plugins.study.point import budget
from auditkit.plugins.study.population import BASIC
from auditkit.scenarios.answers import ask
from auditkit.scenarios.frontier import frontier
from auditkit.solver import master, solve
from auditkit.solver.careful_lp import maximise
from auditkit.solver.g_rdip import Settings, most_visits
from auditkit.testing import random_instances
from auditkit.verification import check_solution
from support.constraints import bind_rows, build
from support.instances import FOUR
from support.occupancy import occupancy
from support.sampling import examples
from support.tiny import box_instance, random_rows, selected, terms

# Budgets of 0, and rows that can barely be met ------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "rho", "k"), [(4, 0.7, 20), (0, 1.0, 1), (2, 0.7, 10)])
def test_a_budget_of_0_is_solved_as_if_the_group_did_not_apply(number: int, rho: float, k: int) -> None:
    instance = BASIC.draw(1, number).instance(rho, k)
    best = solve(instance, [budget(0)]).constrained
    others = tuple(c for c in instance.searches[0].candidates if c.group == "X")
    alone = solve(Instance((Search("s", k, others),)))
    assert best is not None
    assert best.utility == pytest.approx(alone.unconstrained.utility, abs=1e-7)
    for method in ("rdip", "caratheodory"):
        other = solve(instance, [budget(0)], method).constrained
        assert other is not None  # their tolerance on the row, 1e-7, times a dual of 70
        assert other.utility == pytest.approx(best.utility, abs=1e-5)


@pytest.mark.parametrize("digits", [6, 8, 9, 10, 11, 12, 14])
@pytest.mark.parametrize("side", [-1, 1])
def test_two_rows_at_the_edge_of_feasibility_are_decided(digits: int, side: int) -> None:
    """Most of X is selected, and of Y as many as then remain possible, both to some digits."""
    instance = next(random_instances(1, 3))
    groups = {g: [c.id for c in instance.searches[0].candidates if c.group == g] for g in ("X", "Y")}

    def at_least(group: str, bound: float) -> Any:
        terms = [{"candidate": name, "state": "selected"} for name in groups[group]]
        return build("affine:terms=" + str(terms).replace("'", '"') + f",sense=>=,bound={bound!r}")

    most = min(len(groups["X"]), int(instance.searches[0].capacity))
    rows = [at_least("X", most * (1 + side * 10.0**-digits)), at_least("Y", 0.0)]
    solution = solve(instance, rows)
    if digits <= 8:
        assert solution.status == ("infeasible" if side > 0 else "optimal")
    checks = check_solution(solution.to_json(), instance.layout, bind(rows, instance.layout), "any")
    assert all(check.holds for check in checks)


# LPs that HiGHS gives up on -------------------------------------------------------------------------------------------


@examples(60)
@given(seed=st.integers(0, 100_000))
def test_the_careful_simplex_agrees_with_highs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 12)), int(rng.integers(1, 5))
    matrix = np.vstack([np.ones(n), np.round(rng.normal(size=(m, n)), 1)])
    low, high = np.append(1.0, np.full(m, -np.inf)), np.append(1.0, np.full(m, np.inf))
    for i in range(1, m + 1):
        kind, bound = int(rng.integers(3)), round(float(rng.normal(scale=0.3)), 2)
        low[i], high[i] = (bound if kind else -np.inf), (bound if kind != 1 else np.inf)
    most, cost = np.where(rng.random(n) < 0.2, rng.random(n), np.inf), rng.normal(size=n)
    equal = low == high
    above, below = ~equal & np.isfinite(high), ~equal & np.isfinite(low)
    truth = linprog(
        -cost,
        np.vstack([matrix[above], -matrix[below], np.zeros((1, n))]),
        np.concatenate([high[above], -low[below], [0.0]]),
        matrix[equal],
        low[equal],
        [(0, None if np.isinf(u) else u) for u in most],
    )
    found = maximise(cost, matrix, low, high, most)
    if truth.status == 2:
        assert found is None
        return
    assert found is not None and found.value == pytest.approx(-truth.fun, abs=1e-8)
    reduced = cost - found.duals @ matrix  # complementary slackness and the value of the dual prove the optimum
    assert (reduced[np.isinf(most)] < 1e-9).all()
    paid = sum(d * (high[i] if d > 0 else low[i]) for i, d in enumerate(found.duals) if abs(d) > 1e-12)
    capped = np.isfinite(most)
    assert paid + float(np.maximum(reduced[capped], 0) @ most[capped]) == pytest.approx(found.value, abs=1e-8)


@pytest.mark.parametrize(
    "specs", [["parity:basis=count"], ["budget:limit=0,group=Y", "parity:on=inspection"], ["nash-welfare:minimum=0.4"]]
)
def test_the_answer_is_the_same_where_highs_never_ends(monkeypatch: pytest.MonkeyPatch, specs: list[str]) -> None:
    constraints = [build(text) for text in specs]
    before = solve(FOUR, constraints).constrained
    monkeypatch.setattr(master, "run", lambda lp: None)
    after = solve(FOUR, constraints).constrained
    assert before is not None and after is not None
    assert after.utility == pytest.approx(before.utility, abs=1e-8) and after.gap <= 1e-8


# No one to select -----------------------------------------------------------------------------------------------------


def test_constraints_that_only_an_empty_search_meets_are_said_to() -> None:
    solution = solve(FOUR, [build("quota:group=X,share=0.9"), build("quota:group=Y,share=0.9")])
    assert solution.constrained is not None and solution.constrained.utility == pytest.approx(0, abs=1e-12)
    assert solution.selects_nobody and "selects no one" in repr(solution._facts())
    one = solve(FOUR, [build("quota:group=X,share=0.9")])
    assert not one.selects_nobody and "selects no one" not in repr(one._facts())


def with_one_who_cannot_be_selected() -> Instance:
    never = Chain("never", "Y", "look", (State("look", -1.0, {"out": 1.0}), State("out", 0.0)))
    return Instance((Search("s", 1, (*FOUR.searches[0].candidates, never)),))


@pytest.mark.parametrize(
    "text",
    [
        "nash-welfare:level=individual,minimum=0.03",
        "holder-mean:q=0,level=individual,minimum=0.03",
        "holder-mean:q=-3,level=individual,minimum=0.03",
        "holder-mean:q=-inf,level=individual,minimum=0.03",
    ],
)
def test_a_mean_that_one_candidate_makes_0_is_infeasible_and_names_them(text: str) -> None:
    instance = with_one_who_cannot_be_selected()
    solution = solve(instance, [build(text)])
    assert solution.status == "infeasible" and len(solution.impossible) == 1 and "never" in solution.impossible[0]
    checks = check_solution(solution.to_json(), instance.layout, bind([build(text)], instance.layout), "any")
    assert all(check.holds for check in checks)
    assert solve(FOUR, [build(text)]).status == "optimal"


def test_means_of_order_above_0_do_not_need_everyone() -> None:
    solution = solve(with_one_who_cannot_be_selected(), [build("holder-mean:q=0.5,level=individual,minimum=0.03")])
    assert solution.status == "optimal" and not solution.impossible


# Costs, and cycles ----------------------------------------------------------------------------------------------------


@examples(25)
@given(seed=st.integers(0, 10_000))
def test_a_budget_on_costs_agrees_with_the_program_over_all_policies(seed: int) -> None:
    document = box_instance(np.random.default_rng(seed))
    costs = {
        (search["id"], one["id"], "inspected"): one["cost"]
        for search in document["searches"]
        for one in search["candidates"]
    }
    truth = occupancy(document, [(costs, "<=", 0.5)])
    for on in ("inspection", "total"):
        found = solve(instance_from_document(document), [build(f"budget:limit=0.5,expense=cost,on={on}")])
        assert found.status == truth.status
        if found.constrained is not None:
            assert found.constrained.utility == pytest.approx(truth.utility, abs=1e-7)


def test_a_bias_in_points_is_what_is_seen_and_not_what_is_true() -> None:
    seen = with_scores(FOUR, "Y", points=-2.0)
    by_hand = Instance(
        (
            Search(
                "s",
                1,
                tuple(
                    Box(c.id, c.group, c.cost, c.values - 2.0 * (c.group == "Y"), c.probs, true_values=c.values)
                    for c in FOUR.searches[0].candidates
                    if isinstance(c, Box)
                ),
            ),
        )
    )
    for one, other in zip(seen.searches[0].candidates, by_hand.searches[0].candidates, strict=True):
        assert isinstance(one, Box) and isinstance(other, Box) and one.true_values is not None
        assert (one.values == other.values).all() and (one.true_values == other.true_values).all()  # type: ignore[union-attr]
    a, b = (solve(instance, [build("parity:basis=count")]).constrained for instance in (seen, by_hand))
    assert a is not None and b is not None
    assert (a.utility, a.outcome.long_term_utility) == pytest.approx((b.utility, b.outcome.long_term_utility))
    truth = occupancy(by_hand.to_json() | {"constraints": []})
    assert solve(seen).unconstrained.utility == pytest.approx(truth.utility, abs=1e-8)


def test_g_rdip_knows_that_cycles_are_visited_more_than_once() -> None:
    """Retaken tests: the first stage is left four times on average, so that a mean of 2 visits can be asked for."""
    again = (State("test", -0.1, {"test": 0.75, "hired": 0.25}, stage="test"), State("hired", 3.0, selected=True))
    instance = Instance((Search("s", 2, (Chain("a", "X", "test", again), Box("b", "Y", 1.0, [4.0], [1.0]))),))
    assert most_visits(instance.layout)[0] == pytest.approx(4.0)
    welfare = build("holder-mean:q=2,on=test,level=individual,maximum=2.0")
    found = solve(instance, [welfare], "g-rdip", settings=Settings(outer=60, inner=6))
    assert found.approximate is not None
    certified = found.approximate.certified
    truth = occupancy(instance.to_json() | {"constraints": []}, [({("s", "a", "test"): 1.0}, "<=", 2 * np.sqrt(2))])
    assert certified.utility == pytest.approx(truth.utility, abs=1e-7)  # b is never tested: sqrt(u^2 / 2) <= 2
    assert found.constrained is not None and max(found.constrained.outcome.visits) > 2
    assert found.constrained.utility == pytest.approx(truth.utility, abs=0.03)
    assert min(found.constrained.measure_slacks) > -0.03


# At the edge of what can be met ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("divergence:maximum=0", "parity"),
        ("atkinson:maximum=0", "parity:basis=count"),
        ("atkinson:maximum=0,basis=rate", "parity"),
        ("atkinson:maximum=0,level=individual", "floor:minimum=0.25"),
    ],
)
def test_no_inequality_at_all_is_equality(text: str, same: str) -> None:
    """The tangents of a measure of inequality say nothing where there is none: it was 'optimal' with a gap of 6 %."""
    found, other = (solve(FOUR, [build(one)]).constrained for one in (text, same))
    assert found is not None and other is not None and found.gap <= 1e-9
    assert found.utility == pytest.approx(other.utility, abs=1e-9)
    with pytest.raises(InputError, match="must be 0, or at least 1e-08"):
        build(text.replace("maximum=0", "maximum=1e-12"))


@pytest.mark.parametrize(
    ("text", "milder"),
    [
        ("nash-welfare:minimum=0.5", "nash-welfare:minimum=0.4999"),
        ("holder-mean:q=-1,minimum=0.5", "holder-mean:q=-1,minimum=0.4999"),
        ("entropy:maximum=-0.7357588823", "entropy:maximum=-0.7356"),
    ],
)
def test_an_optimum_that_can_only_just_be_met_is_called_unproved_and_bounded(text: str, milder: str) -> None:
    """The truth is that of the only outcomes that meet the measure: half a position each, or exp(-1) each."""
    solution = solve(FOUR, [build(text)])
    each = 0.5 if "entropy" not in text else np.exp(-1.0)
    document = FOUR.to_json() | {"constraints": []}
    counted = [terms(document, selected, lambda one, group=g: float(one["group"] == group)) for g in ("X", "Y")]
    truth = occupancy(document, [(one, "==", each) for one in counted])
    best = solution.constrained
    assert solution.status == "unproved" and best is not None and not best.proved
    assert best.utility < truth.utility + 1e-7 and truth.utility < best.bound
    assert "can only just be met: it lies between" in repr(solution._facts())
    bound = bind([build(text)], FOUR.layout)
    assert all(check.holds for check in check_solution(solution.to_json(), FOUR.layout, bound, "any"))
    forged = check_solution(solution.to_json() | {"status": "optimal"}, FOUR.layout, bound, "any")
    assert [check.claim for check in forged if not check.holds] == ["the gap is closed"]
    mild = solve(FOUR, [build(milder)])
    assert mild.status == "optimal" and mild.constrained is not None and mild.constrained.gap <= 1e-7
    assert "can only just" not in repr(mild._facts())


def test_a_frontier_leaves_out_a_value_without_a_proof_and_says_so() -> None:
    curve = frontier(FOUR, build("nash-welfare:minimum=0.4"), values=[0.3, 0.4, 0.5, 0.6])
    assert [point.value for point in curve.points] == [0.3, 0.4, 0.6] and curve.left_out == (0.5,)
    assert curve.points[-1].utility is None and curve.to_frame().attrs["left_out"] == [0.5]
    kinds = shipped().constraints
    drawn = type("Drawn", (NashWelfare,), {"type": "drawn", "parameters": (Parameter("minimum", tightens=1),)})
    asked = ask(FOUR, [drawn(minimum=0.5)], kinds)
    said = [text for text in asked.notices if "only just be met" in text]
    assert len(said) == 2 and "leaves out minimum 0.5:" in said[0] and "nothing was asked about more" in said[1]
    assert asked.positions is None and asked.sensitivity is None
    usual = ask(FOUR, [build("nash-welfare:minimum=0.4")], kinds)
    assert usual.positions is not None and not any("only just" in text for text in usual.notices)


@pytest.mark.parametrize("text", ["parity", "quota:group=Y,share=0.5", "impact-ratio", "floor:minimum=0.1"])
def test_a_threshold_above_all_values_is_a_mistake(text: str) -> None:
    """Nothing would count, so that the constraint would cost nothing."""
    joined = "," if ":" in text else ":"
    for key, most in (("min_value", "10"), ("min_cost", "1")):
        with pytest.raises(InputError, match=f"{key}: nothing reaches 1,?000: the largest is {most}"):
            solve(FOUR, [build(f"{text}{joined}{key}=1000")])
    assert solve(FOUR, [build("quota:group=Y,share=0.5,min_value=10")]).status == "optimal"


@pytest.mark.parametrize("scale", [1e-99, 1e-30, 1e-9, 1e9, 1e30, 1e99])
@pytest.mark.parametrize(
    "specs",
    [
        ["parity:basis=count"],
        ["parity:basis=count", "parity:on=inspection"],
        ["nash-welfare:minimum=0.4", "parity:on=inspection"],
        ["quota:group=Y,share=0.6", "budget:limit=1"],
    ],
)
def test_the_unit_of_rewards_does_not_matter(scale: float, specs: list[str]) -> None:
    made = [
        Box(one.id, one.group, scale * one.cost, scale * one.values, one.probs)
        for one in FOUR.searches[0].candidates
        if isinstance(one, Box)
    ]
    constraints = [build(text) for text in specs]
    best, usual = (solve(one, constraints).constrained for one in (Instance((Search("s", 1, tuple(made)),)), FOUR))
    assert best is not None and usual is not None
    assert best.utility / scale == pytest.approx(usual.utility, rel=1e-9) and best.gap <= 1e-9 * scale


@pytest.mark.parametrize("scale", [1e-30, 1e12])
@pytest.mark.parametrize(
    "odd",
    [
        Box("z", "Y", 1e12, [1.0], [1.0]),
        Box("z", "Y", 1.0, [1e12, 0.0], [1e-13, 1 - 1e-13]),
        Box("z", "Y", 1.0, [1e-6], [1.0]),
    ],
    ids=["cost of 1e12", "1e12 with chance 1e-13", "1e-6"],
)
@examples(10)
@given(seed=st.integers(0, 10_000))
def test_rewards_of_very_different_sizes_side_by_side(scale: float, odd: Box, seed: int) -> None:
    """A candidate who is worth nothing beside the others changes nothing, whatever the size of their numbers.

    Duals were judged beside the largest reward of all, so they and the bound became 0 while the gap was called 0.
    """
    rng = np.random.default_rng(seed)
    document = box_instance(rng)
    rows = random_rows(rng, document, 2)
    truth = occupancy(document, rows)
    instance = instance_from_document(document)
    made = tuple(
        replace(
            search,
            candidates=tuple(
                Box(one.id, one.group, scale * one.cost, scale * one.values, one.probs)
                for one in (*search.candidates, *([odd] if search is instance.searches[0] else []))
                if isinstance(one, Box)
            ),
        )
        for search in instance.searches
    )

    solution = solve(Instance(made), bind_rows(rows))
    assert solution.status == truth.status
    if solution.constrained is not None:
        assert solution.constrained.utility / scale == pytest.approx(truth.utility, abs=1e-6)
        checks = check_solution(solution.to_json(), solution.unconstrained.layout, solution.constrained.rows, "any")
        assert all(check.holds for check in checks)
        low = solution.to_json()
        low["constrained"] |= {"bound": 0.9 * low["constrained"]["bound"] - 0.1 * scale}
        failed = check_solution(low, solution.unconstrained.layout, solution.constrained.rows, "any")
        assert "bound from the duals" in [check.claim for check in failed if not check.holds]


def test_a_message_does_not_list_thousands_of_names() -> None:
    said = nearest("?", [f"{i:04}" for i in range(2000)])
    assert said.startswith("known: 0000, 0001") and said.endswith("0029, 1,970 more")
    assert nearest("?", ["a", "b"]) == "known: a, b"
