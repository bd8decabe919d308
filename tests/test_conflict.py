"""Constraints that cannot hold together: the fewest are named."""

from __future__ import annotations

import itertools

from hypothesis import assume, given

from auditkit.model.documents import instance_from_document
from auditkit.plugins.budget import Budget
from auditkit.plugins.floor import Floor
from auditkit.plugins.parity import Parity
from auditkit.plugins.quota import Quota
from auditkit.solver import solve
from support.constraints import bind_rows
from support.instances import FOUR
from support.occupancy import Document, Row, occupancy
from support.sampling import examples
from support.tiny import box_instances, problems


def test_only_those_that_conflict_are_named() -> None:
    solution = solve(FOUR, [Parity(basis="count"), Budget(limit=0.5), Quota(group="X", share=0.9), Floor(minimum=0.01)])
    assert solution.status == "infeasible"
    assert solution.conflict == (
        "parity:basis=count",
        "quota:group=X,share=0.9",
        "floor:minimum=0.01",
    )  # without the floor nobody need be selected at all


def test_one_impossible_constraint_is_named_alone() -> None:
    solution = solve(FOUR, [Parity(basis="count"), Floor(minimum=0.3)])  # four times 0.3 is more than one position
    assert solution.conflict == ("floor:minimum=0.3",)


@given(problem=problems(box_instances()))
@examples(60)
def test_the_conflict_is_the_smallest_there_is(problem: tuple[Document, list[Row]]) -> None:
    document, rows = problem
    truth = occupancy(document, rows)
    assume(truth.violation > 1e-6)
    solution = solve(instance_from_document(document), bind_rows(rows))
    assert solution.status == "infeasible"
    assert solution.proof is not None
    named = sorted({int(row.label.split()[1]) for row in solution.proof.rows.rows})
    assert occupancy(document, [rows[i] for i in named]).status == "infeasible"
    for fewer in range(1, len(named)):
        for some in itertools.combinations(rows, fewer):
            assert occupancy(document, list(some)).violation <= 1e-6
