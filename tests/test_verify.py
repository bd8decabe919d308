"""`verify` accepts what the solver says and refuses whatever was altered."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.constraints.base import Constraint
from auditkit.constraints.binding import bind
from auditkit.model.documents import FIRST_SOLUTION, FirstSolutionModel, instance_from_document
from auditkit.model.instance import Instance
from auditkit.plugins.floor import Floor
from auditkit.plugins.parity import Parity
from auditkit.plugins.quota import Quota
from auditkit.solver import METHODS, solve
from auditkit.verification import check_solution
from support.constraints import bind_rows
from support.instances import FOUR, THREE, weighted_parity
from support.occupancy import Document, Row
from support.sampling import examples
from support.tiny import box_instances, chain_instances, problems

Doc = dict[str, Any]


def solved(instance: Instance, constraints: list[Constraint], method: str = "column-generation") -> Doc:
    """What a reader of the file sees."""
    found: Doc = json.loads(json.dumps(replace(solve(instance, constraints, method), sha256="hash").to_json()))
    return found


def failures(claimed: Doc, instance: Instance, constraints: list[Constraint]) -> list[str]:
    checks = check_solution(claimed, instance.layout, bind(constraints, instance.layout), "hash")
    assert len(checks) >= 4
    return [check.claim for check in checks if not check.holds]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("instances", [box_instances(), chain_instances()], ids=["boxes", "chains"])
@examples(40)
@given(data=st.data())
def test_every_solution_stands(method: str, instances: Any, data: Any) -> None:
    problem: tuple[Document, list[Row]] = data.draw(problems(instances))
    raw, rows = problem
    instance = instance_from_document(raw)
    constraints: list[Constraint] = [*bind_rows(rows[:1] if method == "rdip" else rows)]
    assert failures(solved(instance, constraints, method), instance, constraints) == []


def tamper(path: str, change: Callable[[Any], Any]) -> Callable[[Doc], None]:
    def apply(doc: Doc) -> None:
        *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        place: Any = doc
        for key in parents:
            place = place[key]
        place[last] = change(place[last])

    return apply


TAMPERED = [
    "constrained.mixture.searches.s.0.1",
    "constrained.randomised",
    "constrained.policies.0.duals.0",
    "constrained.constraints.0.dual",
    "constrained.constraints.0.value",
    "constrained.constraints.0.slack",
    "constrained.constraints.0.bound",
    "constrained.utility",
    "constrained.bound",
    "constrained.gap",
    "constrained.unfilled_capacity",
    "constrained.candidates.1.select",
    "constrained.candidates.1.inspect",
    "constrained.candidates.2.visits.inspected",
    "constrained.candidates.0.select_by_value.1",
    "unconstrained.utility",
    "unconstrained.candidates.3.select",
    "price_of_fairness.loss",
    "price_of_fairness.ratio",
]


@pytest.mark.parametrize("path", TAMPERED)
def test_an_altered_number_is_found(path: str) -> None:
    constraints: list[Constraint] = [Parity(basis="count")]
    honest = solved(FOUR, constraints)
    assert failures(honest, FOUR, constraints) == []
    altered = copy.deepcopy(honest)
    tamper(path, lambda x: x + (1 if isinstance(x, int) else 0.6))(altered)
    assert failures(altered, FOUR, constraints) != []


def test_weights_that_still_sum_to_one_are_found() -> None:
    constraints: list[Constraint] = [Parity(basis="count")]
    altered = solved(FOUR, constraints)
    (lottery,) = altered["constrained"]["mixture"]["searches"].values()
    lottery[0][1] += 0.1
    lottery[1][1] -= 0.1
    assert "selection parity X = Y: holds" in failures(altered, FOUR, constraints)


def test_a_worse_policy_is_found_even_if_all_its_numbers_are_right() -> None:
    """Doing nothing meets parity, and its numbers add up; the bound shows that it is not optimal."""
    constraints: list[Constraint] = [Parity(basis="count")]
    doc = solved(FOUR, constraints)
    for entry in doc["constrained"]["candidates"]:
        entry |= {
            "inspect": 0.0,
            "select": 0.0,
            "visits": {"inspected": 0.0, "selected": 0.0},
            "select_by_value": [0, 0],
        }
    doc["constrained"] |= {"utility": 0.0, "gap": doc["constrained"]["bound"], "unfilled_capacity": 1.0}
    doc["constrained"] |= {"policies": [{"objective": 0.0, "duals": [0.0]}], "mixture": {"default": 0}, "randomised": 0}
    doc["price_of_fairness"] = {"ratio": 0.0, "loss": doc["unconstrained"]["utility"]}
    assert failures(doc, FOUR, constraints) == ["the gap is closed"]


def test_a_mixture_that_makes_no_sense_is_found() -> None:
    constraints: list[Constraint] = [Parity(basis="count")]
    honest = solved(FOUR, constraints)
    wrong: list[Doc] = [
        {},
        {"default": 7},
        {"default": 0, "searches": {"nobody": [[0, 1.0]]}},
        {"firm": [[0, 0.5], [2, 0.5]]},
        {"firm": []},
        {"default": 0, "searches": {FOUR.searches[0].id: []}},
    ]
    for mixture in wrong:
        altered = copy.deepcopy(honest)
        altered["constrained"]["mixture"] = mixture
        assert "every search has a policy" in failures(altered, FOUR, constraints)


def test_solutions_of_the_first_format_are_still_verified() -> None:
    constraints: list[Constraint] = [Parity(basis="count")]
    doc = solved(FOUR, constraints, "rdip")
    draws = doc["constrained"].pop("mixture")["firm"]
    del doc["constrained"]["randomised"]
    for i, weight in draws:
        doc["constrained"]["policies"][i]["weight"] = weight
    doc["format"] = FIRST_SOLUTION
    FirstSolutionModel.model_validate(doc)
    assert failures(doc, FOUR, constraints) == []
    doc["constrained"]["policies"][0]["weight"] += 0.1
    assert failures(doc, FOUR, constraints) != []


def test_another_instance_or_other_constraints_are_found() -> None:
    constraints: list[Constraint] = [Parity(basis="count")]
    doc = solved(FOUR, constraints)
    checks = check_solution(doc, FOUR.layout, bind(constraints, FOUR.layout), "another hash")
    assert [check.holds for check in checks] == [False]
    assert failures(doc, FOUR, [Quota(group="X", share=0.1)]) != []


def test_a_mixture_of_several_constraints_stands_and_its_ties_matter() -> None:
    constraints: list[Constraint] = [weighted_parity("selected"), weighted_parity("inspected")]
    doc = solved(THREE, constraints, "caratheodory")
    assert failures(doc, THREE, constraints) == []
    for policy in doc["constrained"]["policies"]:
        policy.pop("ties", None)
    assert failures(doc, THREE, constraints) != []


def test_infeasibility_is_proved_and_a_false_proof_is_found() -> None:
    constraints: list[Constraint] = [Parity(), Quota(group="X", share=0.9), Floor(minimum=0.2)]
    doc = solved(FOUR, constraints)
    assert doc["status"] == "infeasible"
    assert len(doc["conflict"]) == 2
    assert failures(doc, FOUR, constraints) == []
    altered = copy.deepcopy(doc)
    altered["certificate"][0]["dual"] *= -1
    assert failures(altered, FOUR, constraints) != []
    possible: list[Constraint] = [Parity(), Quota(group="X", share=0.5), Floor(minimum=0.2)]
    assert failures(doc, FOUR, possible) != []
