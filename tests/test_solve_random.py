"""The solver against the occupancy LP over all policies, on random tiny instances."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from auditkit.solver import METHODS
from support.occupancy import Document, Row
from support.optima import compare
from support.sampling import examples
from support.tiny import box_instances, problems

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
@examples(120)
@given(problem=problems(box_instances()))
@example(problem=ALL_TIED)
def test_boxes_agree_with_the_program_over_all_policies(method: str, problem: tuple[Document, list[Row]]) -> None:
    compare(*problem, method)
