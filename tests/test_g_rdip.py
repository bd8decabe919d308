"""The paper's G-RDIP with exact visits: near the certified optimum, and nearer with more rounds."""

from __future__ import annotations

import json

import numpy as np
import pytest

from auditkit.constraints.base import Constraint
from auditkit.constraints.binding import bind
from auditkit.errors import InputError
from auditkit.solver import solve
from auditkit.solver.g_rdip import Settings
from auditkit.verification import check_solution
from support.constraints import build
from support.instances import FOUR


def distance(specs: list[str], settings: Settings) -> tuple[float, float]:
    constraints = [build(text) for text in specs]
    doc = json.loads(json.dumps(solve(FOUR, constraints, "g-rdip", settings=settings).to_json()))
    assert doc["method"] == "g-rdip"
    found = doc["g_rdip"]["distance"]
    return found["utility"], found["violation"]


def test_it_ends_within_its_tolerances() -> None:
    """Tolerances are relative to the unconstrained utility and to the size of a row."""
    for tolerance in (0.3, 0.1):
        utility, violation = distance(["parity:basis=count"], Settings(tolerance, tolerance))
        assert utility <= tolerance * 7.0625
        assert violation <= tolerance


def test_more_rounds_come_nearer() -> None:
    few, many = (distance(["parity:basis=count"], Settings(outer=n)) for n in (100, 10_000))
    assert abs(many[0]) + many[1] < abs(few[0]) + few[1]


def test_several_rows_and_inequalities() -> None:
    specs = ["parity:basis=count,on=inspection", "quota:group=Y,share=0.45", "budget:limit=0.9"]
    utility, violation = distance(specs, Settings(outer=4000))
    assert abs(utility) <= 0.1 and violation <= 0.05


def test_a_convex_constraint() -> None:
    utility, violation = distance(["nash-welfare:minimum=0.45"], Settings(outer=150, inner=8))
    assert abs(utility) <= 0.15 and violation <= 0.03


def test_the_trajectory_is_recorded() -> None:
    solution = solve(FOUR, [build("parity:basis=count")], "g-rdip", settings=Settings(outer=50))
    assert solution.approximate is not None and solution.constrained is not None
    run = solution.approximate.run
    assert run.lagrangian.shape == run.utility.shape == (50,)
    assert run.slacks.shape == run.duals.shape == (50, 1)
    assert run.duals[0] == 0
    certified = solution.approximate.certified
    assert (run.lagrangian >= certified.utility - 1e-9).all()  # every best response bounds the optimum
    np.testing.assert_allclose(run.utility.mean(), solution.constrained.utility)
    assert sum(solution.constrained.mixture.weights) == pytest.approx(1)


def test_its_mixture_can_be_verified_where_it_can_be_listed() -> None:
    constraints: list[Constraint] = [build("parity:basis=count")]
    rows = bind(constraints, FOUR.layout)
    doc = json.loads(json.dumps(solve(FOUR, constraints, "g-rdip", settings=Settings(outer=40)).to_json()))
    assert [c.claim for c in check_solution(doc, FOUR.layout, rows, "h") if not c.holds] == []
    doc["constrained"]["mixture"]["firm"][0][1] += 0.1
    assert [c.claim for c in check_solution(doc, FOUR.layout, rows, "h") if not c.holds] != []
    convex: list[Constraint] = [build("nash-welfare:minimum=0.45")]
    mixed = solve(FOUR, convex, "g-rdip", settings=Settings(outer=3, inner=2))
    with pytest.raises(InputError, match="does not list its policies"):
        check_solution(json.loads(json.dumps(mixed.to_json())), FOUR.layout, bind(convex, FOUR.layout), "h")


def test_infeasible_problems_are_told_apart_before_it_starts() -> None:
    solution = solve(FOUR, [build("floor:minimum=0.3")], "g-rdip")
    assert solution.status == "infeasible" and solution.method == "g-rdip"


@pytest.mark.parametrize(
    "settings", [Settings(epsilon=0), Settings(delta=-1), Settings(0.001, 0.001), Settings(outer=-3)]
)
def test_settings_that_cannot_be_run(settings: Settings) -> None:
    with pytest.raises(InputError, match="g-rdip"):
        solve(FOUR, [build("parity")], "g-rdip", settings=settings)
