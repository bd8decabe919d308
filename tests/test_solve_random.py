"""The solver against the occupancy LP over all policies, on random tiny instances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from occupancy import Document, Key, Row, occupancy
from tiny import box_instances, problems

from auditkit.constraints.base import Constraint
from auditkit.constraints.base import Row as BoundRow
from auditkit.model.documents import instance_from_document
from auditkit.model.layout import Layout
from auditkit.solver import METHODS, Solution, solve

TOLERANCE = 1e-7


class Given(Constraint):
    """A constraint from a plain row of the independent program."""

    type = "given"
    index: int
    terms: list[tuple[str, str, str | tuple[str, int], float]]
    sense: str
    bound: float

    def rows(self, layout: Layout) -> list[BoundRow]:
        weights = np.zeros(layout.states)
        for search, candidate, state, coefficient in self.terms:
            weights[state_of(layout, (search, candidate, state))] += coefficient
        return [BoundRow.of(f"row {self.index}", weights, self.sense, self.bound)]  # type: ignore[arg-type]


def state_of(layout: Layout, key: Key) -> int:
    search, candidate, state = key
    s = layout.search_ids.index(search)
    c = next(c for c in range(layout.search_ptr[s], layout.search_ptr[s + 1]) if layout.candidate_ids[c] == candidate)
    first = int(layout.candidate_ptr[c])
    if isinstance(state, tuple):
        order = layout.value_order[c]
        assert order is not None
        return first + 1 + int(np.flatnonzero(order == state[1])[0])
    names = layout.state_names[c]
    return first + (names.index(state) if names else 0)


def bind_rows(rows: list[Row]) -> list[Given]:
    return [
        Given(index=i, terms=[(*key, c) for key, c in terms.items()], sense=sense, bound=bound)
        for i, (terms, sense, bound) in enumerate(rows)
    ]


def check_certificate(solution: Solution) -> None:
    """What must hold of any optimum, whoever found it."""
    optimum = solution.constrained
    assert optimum is not None
    weights = np.array(optimum.mixture.weights)
    assert (weights > 0).all() and weights.sum() == pytest.approx(1, abs=1e-12)
    mixture = optimum.mixture
    coins = [len(mixture.lottery(search)) - 1 for search in range(1 if mixture.firm else mixture.count)]
    assert sum(coins) <= len(optimum.rows)  # so that all but as many searches as rows follow one policy
    assert optimum.gap >= 0
    equal = optimum.rows.is_equality
    assert np.abs(optimum.slacks[equal]).max(initial=0) <= 1e-9
    assert optimum.slacks.min(initial=0) >= -1e-9
    signed = optimum.duals * optimum.rows.signs
    assert (signed[~equal] >= 0).all()
    scale = 1 + abs(optimum.utility)
    assert np.abs(optimum.duals * optimum.slacks).max(initial=0) <= 1e-7 * scale  # complementary slackness


def compare(document: Document, rows: list[Row], method: str) -> None:
    instance = instance_from_document(document)
    truth = occupancy(document, rows)
    if 0 < truth.violation < 1e-7:
        return
    if method == "rdip":
        rows = rows[:1]
        truth = occupancy(document, rows)
    solution = solve(instance, bind_rows(rows), method)
    assert solution.unconstrained.utility == pytest.approx(occupancy(document).utility, abs=TOLERANCE)
    assert solution.status == truth.status
    if solution.constrained is not None:
        assert solution.constrained.utility == pytest.approx(truth.utility, abs=TOLERANCE)
        assert solution.constrained.gap <= TOLERANCE
        default = solve(instance, bind_rows(rows)).constrained
        assert default is not None
        assert solution.constrained.utility == pytest.approx(default.utility, abs=1e-8)
        check_certificate(solution)


ALL_TIED: tuple[Document, list[Row]] = (
    {
        "format": "auditkit-instance/1",
        "searches": [
            {
                "id": "q",
                "capacity": 1,
                "candidates": [{"id": "a", "group": "Y", "cost": 0.0, "values": [4.0, 3.0], "probs": [0.46, 0.54]}],
            }
        ],
    },
    [
        ({("q", "a", "inspected"): 1.0}, "==", 0.5),
        ({("q", "a", ("value", 0)): -1.0, ("q", "a", ("value", 1)): -1.0}, ">=", -0.25),
        ({("q", "a", ("value", 0)): -2.0, ("q", "a", ("value", 1)): 1.0}, ">=", 0.0),
    ],
)
"""At the optimal duals every adjusted reward cancels to zero: ties are relative to the terms, not to what is left."""


@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None, max_examples=250)
@given(problem=problems(box_instances()))
@example(problem=ALL_TIED)
def test_boxes_agree_with_the_program_over_all_policies(method: str, problem: tuple[Document, list[Row]]) -> None:
    compare(*problem, method)
