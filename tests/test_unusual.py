"""Unusual problems against the LP over all policies; `make unusual` runs 300 of them, the suite a sample."""

from __future__ import annotations

import json
import os
from collections import Counter

import pytest

from auditkit.constraints import bind, make
from auditkit.model.documents import instance_from_document
from auditkit.solver import solve
from auditkit.verification import check_solution
from support.constraints import KINDS
from support.unusual import KINDS as UNUSUAL
from support.unusual import problem

COUNT = int(os.environ.get("UNUSUAL", "36"))


def compared(seed: int) -> str:
    """Solve a problem both ways; "agrees", or why it says nothing."""
    one = problem(seed)
    truth = one.truth()
    if truth is None:
        return "the LP took too many cuts"
    if 0 < truth.violation < 1e-6:
        return "on the edge of feasibility"
    instance = instance_from_document(one.document)
    constraints = [make(KINDS, spec) for spec in one.specs]
    solution = solve(instance, constraints)
    where = f"{one.kind}, problem({seed}): {one.specs}"
    assert solution.status == truth.status, where
    document = json.loads(json.dumps(solution.to_json()))
    checks = check_solution(document, instance.layout, bind(constraints, instance.layout), "any")
    assert [check.claim for check in checks if not check.holds] == [], where
    if solution.constrained is not None:
        assert solution.constrained.utility == pytest.approx(truth.utility, abs=1e-6), where
        assert solution.constrained.gap <= 1e-6, where
    return "agrees"


@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_problems_agree_with_the_program_over_all_policies(kind: str) -> None:
    seeds = [seed for seed in range(COUNT) if list(UNUSUAL)[seed % len(UNUSUAL)] == kind]
    found = Counter(compared(seed) for seed in seeds)
    assert found["agrees"] >= 0.7 * len(seeds), found
