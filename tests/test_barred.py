"""Nobody is inspected where nobody can be selected: searches and limits without positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.constraints import bind
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.solver import solve
from auditkit.verification import check_solution
from support.constraints import build
from support.occupancy import Document, occupancy
from support.problems import rows_of
from support.sampling import examples

CHEAP: dict[str, Any] = {"cost": 0.01, "values": [5, 1], "probs": [0.5, 0.5]}
FREE: dict[str, Any] = {"cost": -0.5, "values": [5, 1], "probs": [0.5, 0.5]}


def document(capacity: int, token: dict[str, Any], limits: list[dict[str, Any]] | None = None) -> Document:
    """One search with two dear candidates of each group, and one with two cheap ones and perhaps no position."""
    dear = [
        {"id": f"{group}{i}", "group": group, "cost": 1.0, "values": [high, 1], "probs": [0.5, 0.5]}
        for group, high in (("X", 10), ("Y", 6))
        for i in range(2)
    ]
    cheap = [{"id": f"t{group}", "group": group, **token} for group in ("X", "Y")]
    closed: dict[str, Any] = {"id": "closed", "capacity": capacity, "candidates": cheap}
    if limits is not None:
        closed["limits"] = limits
    return {
        "format": "auditkit-instance/1",
        "searches": [{"id": "open", "capacity": 1, "candidates": dear}, closed],
    }


LIMITED: list[dict[str, Any]] = [{"label": "none of X", "capacity": 0, "candidates": ["tX"]}]


@pytest.mark.parametrize("token", [CHEAP, FREE], ids=["cheap", "paid to look"])
@pytest.mark.parametrize(("capacity", "limits"), [(0, None), (1, LIMITED), (1, None), (0, LIMITED)])
@pytest.mark.parametrize(
    "text",
    ["parity:on=inspection", "parity:on=inspection,basis=count", "parity", "quota:group=Y,share=0.6,on=inspection"],
)
def test_a_search_without_positions_is_no_place_for_token_interviews(
    text: str, capacity: int, limits: list[dict[str, Any]] | None, token: dict[str, Any]
) -> None:
    told = document(capacity, token, limits)
    instance = instance_from_document(told)
    solution = solve(instance, [build(text)])
    truth = occupancy(told, rows_of([build(text)], told))
    assert solution.constrained is not None
    assert solution.unconstrained.utility == pytest.approx(occupancy(told).utility, abs=1e-9)
    assert solution.constrained.utility == pytest.approx(truth.utility, abs=1e-7)
    for outcome in (solution.unconstrained, solution.constrained.outcome):
        assert not outcome.inspected[instance.layout.barred].any()
    checks = check_solution(solution.to_json(), instance.layout, bind([build(text)], instance.layout), "any")
    assert all(check.holds for check in checks)


def test_a_search_of_capacity_0_does_not_cut_the_price_of_parity() -> None:
    alone = instance_from_document({**document(0, CHEAP), "searches": document(0, CHEAP)["searches"][:1]})
    both = instance_from_document(document(0, CHEAP))
    losses = [solve(one, [build("parity:on=inspection,basis=count")]).loss for one in (alone, both)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-12) and losses[0] > 0.1  # type: ignore[operator]


@examples(30)
@given(seed=st.integers(0, 10_000))
def test_barred_candidates_are_never_visited(seed: int) -> None:
    """Chains and boxes, whatever the rewards: also where going on pays."""
    from auditkit.solver.evaluate import visits
    from auditkit.testing import random_instances

    rng = np.random.default_rng(seed)
    (instance,) = list(random_instances(1 + seed % 4, seed))[-1:]
    searches = [type(search)(search.id, int(rng.integers(0, 2)), search.candidates) for search in instance.searches]
    layout = Instance(tuple(searches)).layout
    found = visits(layout, rng.normal(2, 3, layout.states))
    assert not found[layout.spread(layout.barred)].any()
    assert (found >= -1e-12).all()
