"""Convex constraints against the occupancy LP with its own gradient cuts, and what must be refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from auditkit.constraints.base import Constraint
from auditkit.constraints.binding import bind, make
from auditkit.errors import InputError
from auditkit.model.documents import instance_from_document
from auditkit.solver import convex, solve
from auditkit.solver.oracle import Infeasible, Oracle
from auditkit.verification import check_solution
from support.constraints import KINDS, Own, bind_rows, build
from support.instances import FOUR
from support.occupancy import Document, Key, Occupancy, Row, occupancy
from support.sampling import examples
from support.tiny import box_instances, chain_instances, inspected, random_rows, selected

Values = dict[str, float]


def outcome_terms(document: Document, on: str, level: str) -> list[dict[Key, float]]:
    """For each candidate, or each group, the visits that its outcome is the sum of."""
    found: dict[str, dict[Key, float]] = {}
    for search in document["searches"]:
        for candidate in search["candidates"]:
            states = selected(candidate) if on == "selection" else inspected(candidate)[:1]
            if on == "inspection" and "states" in candidate:
                states = [candidate["start"]]
            name = candidate["group"] if level == "group" else f"{search['id']}/{candidate['id']}"
            found.setdefault(name, {}).update({(search["id"], candidate["id"], state): 1.0 for state in states})
    return list(found.values())


MEASURES: dict[str, tuple[Callable[[np.ndarray], float], Callable[[np.ndarray], np.ndarray], str]] = {
    "nash-welfare": (
        lambda u: float(np.prod(u) ** (1 / len(u))),
        lambda u: np.prod(u) ** (1 / len(u)) / (len(u) * u),
        ">=",
    ),
    "entropy": (lambda u: float((u * np.log(u)).sum()), lambda u: 1 + np.log(u), "<="),
    "holder-mean:q=-1": (
        lambda u: float(len(u) / (1 / u).sum()),
        lambda u: (len(u) / (1 / u).sum()) ** 2 / (len(u) * u**2),
        ">=",
    ),
    "holder-mean:q=2": (
        lambda u: float(np.sqrt((u**2).mean())),
        lambda u: u / (len(u) * np.sqrt((u**2).mean())),
        "<=",
    ),
}


def with_cuts(document: Document, rows: list[Row], name: str, on: str, level: str, bound: float) -> Occupancy | None:
    """The occupancy LP, cut at its own solutions until the measure holds; None if that takes too long."""
    value, slope, sense = MEASURES[name]
    terms = outcome_terms(document, on, level)
    cuts: list[Row] = []
    for _ in range(120):
        truth = occupancy(document, rows + cuts)
        if truth.status == "infeasible":
            return truth
        u = np.array([sum(c * truth.visits.get(key, 0.0) for key, c in t.items()) for t in terms])
        missed = bound - value(np.maximum(u, 1e-300)) if sense == ">=" else value(np.maximum(u, 1e-300)) - bound
        if missed <= 1e-9:
            return truth
        at = np.maximum(u, 1e-3)
        g = slope(at)
        size = np.abs(g).max()  # the program wants rows of moderate size
        cut = {key: c * g[i] / size for i, t in enumerate(terms) for key, c in t.items()}
        cuts.append((cut, sense, (bound - value(at) + float(g @ at)) / size))
    return None


@examples(50)
@given(
    document=st.one_of(
        box_instances(max_candidates=3, max_searches=1), chain_instances(max_candidates=3, max_searches=1)
    ),
    name=st.sampled_from(sorted(MEASURES)),
    on=st.sampled_from(["selection", "inspection"]),
    level=st.sampled_from(["group", "individual"]),
    part=st.floats(0.1, 1.1),
    seed=st.integers(0, 1000),
)
def test_convex_optima_agree_with_the_program_over_all_policies(
    document: Document, name: str, on: str, level: str, part: float, seed: int
) -> None:
    rows = random_rows(np.random.default_rng(seed), document, 1) if seed % 3 == 0 else []
    terms = outcome_terms(document, on, level)
    assume(len(terms) > 1)
    sense = MEASURES[name][2]
    bound = part * 0.4 if sense == ">=" else (part - 0.8 if name == "entropy" else part * 0.6)
    truth = with_cuts(document, rows, name, on, level, bound)
    assume(truth is not None and not 0 < truth.violation < 1e-5)
    assert truth is not None
    kind, _, order = name.partition(":q=")
    keys = {"minimum" if sense == ">=" else "maximum": bound} | ({"q": float(order)} if order else {})
    constraint = make(KINDS, {"type": kind, "on": on, "level": level, **keys})
    instance = instance_from_document(document)
    constraints: list[Constraint] = [*bind_rows(rows), constraint]
    solution = solve(instance, constraints)
    assert solution.status == truth.status
    checked = json.loads(json.dumps(solution.to_json()))
    assert [
        c.claim
        for c in check_solution(checked, instance.layout, bind(constraints, instance.layout), "hash")
        if not c.holds
    ] == []
    if solution.constrained is not None:
        assert solution.constrained.utility == pytest.approx(truth.utility, abs=1e-6)
        assert solution.constrained.gap <= 1e-6
        assert solution.constrained.rows.measures[0].slack(solution.constrained.outcome.visits) >= -1e-7


def test_a_measure_that_a_row_makes_impossible_is_refuted_soon() -> None:
    """The tangents near an outcome of 0 are so steep that the master LP could not tell columns apart."""
    document: Document = {
        "format": "auditkit-instance/1",
        "searches": [
            {
                "id": "q0",
                "capacity": 1,
                "candidates": [
                    {
                        "id": "a",
                        "group": "Y",
                        "start": "s0",
                        "states": {
                            "s0": {"reward": -2.0, "to": {"hired": 0.2829939320776553, "s0": 0.7170060679223447}},
                            "hired": {"reward": 7.0, "terminal": True},
                        },
                    },
                    {"id": "b", "group": "X", "cost": -1.0, "values": [4.0, 0.0], "probs": [1 / 3, 2 / 3]},
                    {"id": "c", "group": "Z", "cost": 1.0, "values": [9.0], "probs": [1.0]},
                ],
            }
        ],
        "constraints": [],
    }
    never = bind_rows([({("q0", "b", "inspected"): 1.0}, "==", 0.0)])
    welfare = build("nash-welfare:on=inspection,level=individual,minimum=0.1267754227031885")
    instance = instance_from_document(document)
    oracle = Oracle(instance.layout, bind([*never, welfare], instance.layout))
    with pytest.raises(Infeasible):
        convex.meet(oracle)
    assert oracle.calls < 100


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("holder-mean:q=2,minimum=0.3", "with q > 1 the mean is convex"),
        ("holder-mean:q=0.5,maximum=0.3", "with q < 1 the mean is concave"),
        ("holder-mean:q=0.5", "give one of"),
        ("holder-mean:q=0.5,minimum=0.1,maximum=0.3", "give one of"),
        ("nash-welfare:minimum=0", "greater than 0"),
        ("entropy:level=company,maximum=1", "'individual' or 'group'"),
    ],
)
def test_what_is_not_convex_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build(text)


def test_value_and_gradient_are_all_that_a_constraint_needs() -> None:
    solution = solve(FOUR, [Own()])
    assert solution.constrained is not None
    u = solution.constrained.outcome.by_group(solution.constrained.outcome.selected)
    assert (u**2).sum() <= 0.55 + 1e-9
    assert solution.constrained.gap <= 1e-8
    assert solution.constrained.utility < solution.unconstrained.utility


@pytest.mark.parametrize(
    ("flaw", "message"), [("convexity", "not concave"), ("gradient", "gradient"), ("nan", "finite")]
)
def test_a_flawed_constraint_is_named(flaw: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        solve(FOUR, [Own(flaw=flaw)])
    assert "own" in str(caught.value)


@pytest.mark.parametrize("method", ["rdip", "caratheodory"])
def test_affine_methods_refuse_convex_constraints_by_name(method: str) -> None:
    with pytest.raises(InputError, match=f"{method} serves affine constraints only.*Nash welfare"):
        solve(FOUR, [build("nash-welfare:minimum=0.2")], method)


def test_conflicts_name_convex_constraints_too() -> None:
    specs = ["parity:basis=count", "nash-welfare:level=individual,minimum=0.3", "floor:minimum=0.1"]
    solution = solve(FOUR, [build(text) for text in specs])
    assert solution.conflict == ("nash-welfare:level=individual,minimum=0.3",)  # a mean of 1/4 is the most there is
    three = ["nash-welfare:level=individual,minimum=0.24", "quota:group=X,share=0.7", "budget:limit=0.9"]
    assert set(solve(FOUR, [build(text) for text in three]).conflict) <= set(three)


def test_looser_measures_never_cost_more() -> None:
    utilities = []
    for minimum in (0.2, 0.4, 0.45, 0.49):
        solution = solve(FOUR, [build(f"nash-welfare:minimum={minimum}")])
        assert solution.constrained is not None
        utilities.append(solution.constrained.utility)
    assert utilities == sorted(utilities, reverse=True)


def test_the_geometric_mean_is_the_hoelder_mean_of_order_zero() -> None:
    one, two = (
        solve(FOUR, [build(text)]).constrained for text in ("nash-welfare:minimum=0.45", "holder-mean:q=0,minimum=0.45")
    )
    assert one is not None and two is not None
    assert one.utility == pytest.approx(two.utility, abs=1e-9)


def test_claims_about_measures_are_verified() -> None:
    constraints: list[Constraint] = [build("nash-welfare:minimum=0.45")]
    rows = bind(constraints, FOUR.layout)
    honest = solve(FOUR, constraints).to_json()

    def failures(change: Callable[[dict[str, Any]], None]) -> list[str]:
        doc = json.loads(json.dumps(honest))
        change(doc)
        return [c.claim for c in check_solution(doc, FOUR.layout, rows, "hash") if not c.holds]

    assert failures(lambda doc: None) == []
    for key in ("value", "slack", "dual", "bound"):
        assert failures(lambda doc, key=key: doc["constrained"]["constraints"][0].update({key: 0.7})) != []
    assert failures(lambda doc: doc["constrained"]["cuts"][-1].update(dual=-9.0)) != []
    assert failures(lambda doc: doc["constrained"]["cuts"][-1].update(measure=3)) != []
    assert failures(lambda doc: doc["constrained"]["cuts"][-1]["at"].pop()) != []
