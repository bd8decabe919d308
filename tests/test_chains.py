"""Chains: the general model against the program over all policies, and boxes as the smallest of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from auditkit.errors import InputError
from auditkit.model.documents import instance_from_document
from auditkit.solver import METHODS, solve
from auditkit.solver.evaluate import Prepared, visits
from auditkit.solver.policy import Outcome
from support.constraints import build
from support.occupancy import Document, Row, occupancy
from support.optima import compare
from support.sampling import examples
from support.tiny import box_instances, chain_instances, problems


@pytest.mark.parametrize("method", METHODS)
@examples(100)
@given(problem=problems(chain_instances(), max_rows=3))
def test_chains_agree_with_the_program_over_all_policies(method: str, problem: tuple[Document, list[Row]]) -> None:
    compare(*problem, method)


def one_search(*candidates: dict[str, Any], capacity: int = 1) -> Document:
    return {
        "format": "auditkit-instance/1",
        "searches": [{"id": "s", "capacity": capacity, "candidates": list(candidates)}],
    }


def as_chain(box: dict[str, Any]) -> dict[str, Any]:
    """A box written out: closed, value known, selected."""
    states: dict[str, Any] = {
        "closed": {"reward": -box["cost"], "to": {f"known-{j}": p for j, p in enumerate(box["probs"])}}
    }
    for j, value in enumerate(box["values"]):
        states[f"known-{j}"] = {"reward": 0, "to": {f"selected-{j}": 1.0}}
        states[f"selected-{j}"] = {"reward": value, "terminal": True}
    return {"id": box["id"], "group": box["group"], "start": "closed", "states": states}


@examples(50)
@given(document=box_instances())
def test_a_box_is_the_smallest_chain(document: Document) -> None:
    chains = document | {
        "searches": [s | {"candidates": [as_chain(c) for c in s["candidates"]]} for s in document["searches"]]
    }
    one, two = (instance_from_document(d).layout for d in (document, chains))
    first, second = (Outcome(layout, visits(layout, layout.reward)) for layout in (one, two))
    np.testing.assert_allclose(first.inspected, second.inspected, atol=1e-13)
    np.testing.assert_allclose(first.selected, second.selected, atol=1e-13)
    assert first.utility == pytest.approx(second.utility, abs=1e-12)


def test_a_self_loop_is_left_until_it_ends() -> None:
    """Leaving costs 1 and succeeds half of the time: two exits on average, hired for 5."""
    states = {
        "try": {"reward": -1, "to": {"try": 0.5, "hired": 0.5}},
        "hired": {"reward": 5, "terminal": True},
    }
    document = one_search({"id": "a", "group": "X", "start": "try", "states": states})
    solution = solve(instance_from_document(document)).unconstrained
    assert solution.utility == pytest.approx(3.0)
    assert list(solution.visits) == pytest.approx([2.0, 1.0])


def test_positive_rewards_on_the_way_and_dead_ends() -> None:
    states = {
        "start": {"reward": -2, "to": {"gift": 0.5, "out": 0.5}},
        "gift": {"reward": 3, "to": {"offer": 0.9, "out": 0.1}},
        "offer": {"reward": -1, "to": {"hired": 1.0}},
        "hired": {"reward": 2.5, "terminal": True},
        "out": {"reward": 0},
    }
    document = one_search({"id": "a", "group": "X", "start": "start", "states": states})
    expected = -2 + 0.5 * (3 + 0.9 * (-1 + 2.5))
    assert solve(instance_from_document(document)).unconstrained.utility == pytest.approx(max(0.0, expected))
    assert occupancy(document).utility == pytest.approx(max(0.0, expected))


def test_the_printed_collapsing_rule_is_wrong() -> None:
    """Erratum: collapsing a free-lunch state s into its parent q must add A(q,s) R(s) / (1 - A(s,s)) to R(q).

    The paper omits A(q,s). Here the gift of 5 is met once in ten times and costs 1 to look for: as printed, the parent
    would be worth -1 + 5 > 0 and be left at once, at an expected loss of one half. It must not be left.
    """
    reach, cost, gift = 0.1, 1.0, 5.0
    states = {
        "look": {"reward": -cost, "to": {"gift": reach, "out": 1 - reach}},
        "gift": {"reward": gift, "to": {"out": 1.0}},
        "out": {"reward": 0},
    }
    document = one_search({"id": "a", "group": "X", "start": "look", "states": states})
    as_printed, corrected = -cost + gift, -cost + reach * gift
    assert as_printed > 0 > corrected  # a rule that sees a free lunch, and the truth
    utility_as_printed = -cost + reach * gift  # what leaving the state yields
    truth = occupancy(document).utility
    assert utility_as_printed < truth == pytest.approx(0.0)
    assert solve(instance_from_document(document)).unconstrained.utility == pytest.approx(truth)


def test_collapsing_repeats_and_a_start_that_collapses_is_left_at_once() -> None:
    """The gift pays for the way to it: the parent becomes a free lunch by it, and so does the start."""
    states = {
        "start": {"reward": -0.1, "to": {"look": 1.0}},
        "look": {"reward": -1, "to": {"gift": 0.5, "out": 0.5}},
        "gift": {"reward": 5, "to": {"out": 1.0}},
        "out": {"reward": 0},
    }
    full = {"id": "b", "group": "Y", "cost": 0.0, "values": [100], "probs": [1.0]}
    document = one_search({"id": "a", "group": "X", "start": "start", "states": states}, full)
    layout = instance_from_document(document).layout
    assert Prepared.of(layout, layout.reward).index[0, 0] == np.inf
    assert solve(instance_from_document(document)).unconstrained.utility == pytest.approx(1.4 + 100)


STAGED = {
    "phone": {"stage": "phone", "reward": -1.5, "to": {"onsite": 0.8, "out": 0.2}},
    "onsite": {"stage": "onsite", "reward": -3.0, "to": {"offer-9": 0.5, "offer-4": 0.5}},
    "offer-9": {"stage": "offer", "reward": -3.0, "to": {"hired-9": 0.9, "out": 0.1}},
    "offer-4": {"stage": "offer", "reward": -3.0, "to": {"hired-4": 0.9, "out": 0.1}},
    "hired-9": {"reward": 19, "terminal": True},
    "hired-4": {"reward": 14, "terminal": True},
    "out": {"reward": 0, "to": {}},
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "text",
    [
        "quota:group=Y,share=0.5,on=offer",
        "budget:limit=0.7,on=onsite",
        "floor:minimum=0.4,on=phone",
        "parity:on=onsite",
    ],
)
def test_constraints_on_any_stage(text: str, method: str) -> None:
    weaker = {
        name: state | {"reward": state["reward"] - 2 * name.startswith("hired")} for name, state in STAGED.items()
    }
    document = one_search(
        {"id": "a", "group": "X", "start": "phone", "states": STAGED},
        {"id": "b", "group": "Y", "start": "phone", "states": weaker},
    )
    instance, constraint = instance_from_document(document), build(text)
    if method == "rdip" and text.startswith("floor"):  # one row for each candidate
        with pytest.raises(InputError, match="rdip serves one affine row"):
            solve(instance, [constraint], method)
        return
    solution = solve(instance, [constraint], method)
    layout = instance.layout
    rows: list[Row] = []
    for row in constraint.rows(layout):
        keys = {}
        for s, coefficient in zip(row.states, row.coefficients, strict=True):
            c = layout.state_candidate[s]
            names = layout.state_names[c]
            assert names is not None
            keys["s", layout.candidate_ids[c], names[s - layout.candidate_ptr[c]]] = float(coefficient)
        rows.append((keys, row.sense, row.bound))
    assert solution.constrained is not None
    assert solution.constrained.utility == pytest.approx(occupancy(document, rows).utility, abs=1e-8)
    assert solution.constrained.utility < solution.unconstrained.utility
