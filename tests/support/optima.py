"""What must hold of every optimum."""

from __future__ import annotations

import numpy as np
import pytest

from auditkit.model.documents import instance_from_document
from auditkit.solver import Solution, solve
from support.constraints import bind_rows
from support.occupancy import Document, Row, occupancy

TOLERANCE = 1e-7


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
