"""Rounding noise is exactly zero, by one rule, in results, documents and tables alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import auditkit
from auditkit.plugins.parity import Parity
from auditkit.plugins.quota import Quota
from auditkit.scenarios.frontier import frontier
from auditkit.solver import solve
from auditkit.solver.rounding import ROUNDING, without_noise
from support.audit_helpers import random_instance
from support.sampling import examples

FOUR = Path(__file__).resolve().parents[1] / "sample_data" / "four-boxes.json"


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_only_what_is_small_beside_its_terms_is_zero(x: float, size: float) -> None:
    assert without_noise(x, size) == (0.0 if abs(x) <= ROUNDING * size else x)
    assert without_noise(np.array([x, -x]), size).tolist() == [without_noise(x, size), without_noise(-x, size)]


def test_zero_has_no_sign() -> None:
    assert str(without_noise(-2e-18, 1.0)) == "0.0"
    assert str(without_noise(np.array([-0.0]), 1.0)[0]) == "0.0"


def noise(document: Any, place: str = "") -> Iterator[str]:
    """Numbers that are nearly zero, but for chances and visits, which may be small."""
    if isinstance(document, dict):
        for key, value in document.items():
            if key not in ("visits", "select_by_value", "inspect", "select", "weight", "duals", "ties"):
                yield from noise(value, f"{place}.{key}")
    elif isinstance(document, list | tuple):
        for i, value in enumerate(document):
            yield from noise(value, f"{place}[{i}]")
    elif isinstance(document, float) and 0 < abs(document) < 1e-12:
        yield f"{place}: {document}"


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 1 / 3, 0.5]))
@examples(30)
def test_solutions_and_frontiers_have_no_noise(seed: int, share: float) -> None:
    instance = random_instance(seed, searches=3, candidates=4, values=3)
    group = instance.layout.groups[0]
    solution = solve(instance, [Quota(group=group, share=share), Parity()])
    assert not list(noise(solution.to_json()))
    curve = frontier(instance, Quota(group=group, share=0.5), steps=3)
    assert len(curve.points) >= 3 and not list(noise(asdict(curve)))
    if solution.loss == 0:
        assert solution.ratio in (None, 1.0)


@pytest.mark.parametrize("method", ["column-generation", "rdip", "caratheodory"])
def test_an_optimal_solution_still_verifies(method: str, tmp_path: Path) -> None:
    solution = auditkit.solve(FOUR, method=method)
    (tmp_path / "solution.json").write_text(json.dumps(solution.to_json()))
    assert auditkit.verify(tmp_path / "solution.json", FOUR).holds
    assert solution.constrained is not None and solution.constrained.gap == 0.0
    assert not list(noise(solution.to_json()))
