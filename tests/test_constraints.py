"""Shipped constraints: that their rows say what the contract says, in names that users can get wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auditkit.constraints import spec
from auditkit.constraints.binding import bind
from auditkit.errors import InputError
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.model.layout import Layout
from auditkit.solver.policy import Outcome
from support.constraints import build
from support.instances import DOCUMENT


@pytest.fixture(scope="module")
def instance() -> Instance:
    return instance_from_document(DOCUMENT)


@pytest.fixture(scope="module")
def visits(instance: Instance) -> np.ndarray:
    """Visits that are all different, so that a row that picks the wrong state shows."""
    return np.arange(1, instance.layout.states + 1) / 37


def seen(layout: Layout, visits: np.ndarray) -> dict[str, Any]:
    """Expected numbers by name, written out by hand: candidates a, b (boxes, values sorted down) and c (chain)."""
    a, b = visits[0:3], visits[3:6]
    names = layout.state_names[2]
    assert names is not None
    c = dict(zip(names, visits[6:], strict=True))
    return {
        "select": {"a": a[1] + a[2], "b": b[1] + b[2], "c": c["hired-9"] + c["hired-4"]},
        "inspect": {"a": a[0], "b": b[0], "c": c["phone"]},
        "a10": a[1],
        "b9": b[1],
        "c9": c["hired-9"],
        "onsite": c["onsite"],
        "phone": c["phone"],
    }


def values(text: str, instance: Instance, visits: np.ndarray) -> list[tuple[float, str, float]]:
    return [(row.value(visits), row.sense, row.bound) for row in build(text).rows(instance.layout)]


def test_every_row_is_what_the_contract_says(instance: Instance, visits: np.ndarray) -> None:
    p = seen(instance.layout, visits)
    s, i = p["select"], p["inspect"]
    expected = {
        "parity": [(s["a"] / 1 - (s["b"] + s["c"]) / 2, "==", 0)],
        "parity:basis=count": [(s["a"] - s["b"] - s["c"], "==", 0)],
        "parity:on=inspection,basis=count": [(i["a"] - i["b"] - i["c"], "==", 0)],
        "parity:basis=count,tolerance=0.5": [
            (s["a"] - s["b"] - s["c"], "<=", 0.5),
            (s["b"] + s["c"] - s["a"], "<=", 0.5),
        ],
        "parity:basis=count,min_value=9": [(p["a10"] - p["b9"] - p["c9"], "==", 0)],
        'parity:basis=count,min_value={"X": 5}': [(p["a10"] - s["b"] - s["c"], "==", 0)],
        "parity:basis=count,min_cost=1.5": [(0 - s["b"] - s["c"], "==", 0)],
        "parity:basis=count,on=inspection,min_value=9": [
            (0.25 * i["a"] - 0.5 * i["b"] - 0.4 * i["c"], "==", 0),
        ],
        "quota:group=Y,share=0.4": [(s["b"] + s["c"] - 0.4 * sum(s.values()), ">=", 0)],
        "quota:group=Y,share=0.4,on=inspection": [(i["b"] + i["c"] - 0.4 * sum(i.values()), ">=", 0)],
        "impact-ratio": [
            ((s["b"] + s["c"]) / 2 - 0.8 * s["a"], ">=", 0),
            (s["a"] - 0.8 * (s["b"] + s["c"]) / 2, ">=", 0),
        ],
        "impact-ratio:reference=X,minimum=0.5": [((s["b"] + s["c"]) / 2 - 0.5 * s["a"], ">=", 0)],
        "budget:limit=1.5": [(sum(s.values()), "<=", 1.5)],
        "budget:limit=3,group=Y,expense=2,on=inspection": [(2 * (i["b"] + i["c"]), "<=", 3)],
        "budget:limit=4,expense=km": [(3 * s["a"] + 5 * s["b"] + 7 * s["c"], "<=", 4)],
        "budget:limit=1,on=onsite": [(p["onsite"], "<=", 1)],
        "floor:minimum=0.1": [(s["a"], ">=", 0.1), (s["b"], ">=", 0.1), (s["c"], ">=", 0.1)],
        "floor:minimum=0.1,on=phone": [(0, ">=", 0.1), (0, ">=", 0.1), (p["phone"], ">=", 0.1)],
        'affine:terms=[{"candidate":"a","state":"inspected","coefficient":2},'
        '{"search":"q","candidate":"c","state":"onsite","coefficient":-1}],sense=<=,bound=3': [
            (2 * i["a"] - p["onsite"], "<=", 3),
        ],
        'affine:terms=[{"candidate":"b","state":"selected"}],sense=>=,bound=0.5': [(s["b"], ">=", 0.5)],
    }
    for text, rows in expected.items():
        found = values(text, instance, visits)
        assert [r[1:] for r in found] == [tuple(r[1:]) for r in rows], text
        assert [r[0] for r in found] == pytest.approx([r[0] for r in rows], abs=1e-12), text


def test_three_groups_are_compared_with_their_neighbours() -> None:
    boxes = [{"id": g, "group": g, "cost": 1, "values": [3], "probs": [1]} for g in "XYZ"]
    document = DOCUMENT | {"searches": [{"id": "q", "capacity": 1, "candidates": boxes}]}
    layout = instance_from_document(document).layout
    assert len(build("parity").rows(layout)) == 2
    assert len(build("parity:tolerance=0.1").rows(layout)) == 6
    assert len(build('parity:groups=["X","Z"]').rows(layout)) == 1
    assert len(build("impact-ratio").rows(layout)) == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("partiy", "did you mean 'parity'"),
        ("quota:group=Y", "needs the key 'share'"),
        ("quota:group=Y,shrae=0.4", "did you mean 'share'"),
        ("quota:group=Y,share=1.4", "less than or equal to 1"),
        ("quota:group=Y,share=lots", "valid number"),
        ("parity:basis=percent", "'rate' or 'count'"),
        ("parity:tolerance=-1", "greater than or equal to 0"),
        ("budget:limit=NaN", "finite"),
    ],
)
def test_wrong_keys_are_named_with_a_remedy(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("quota:group=W,share=0.4", "no candidate is in group 'W'"),
        ('parity:groups=["X","W"]', "no candidate is in group 'W'"),
        ("impact-ratio:reference=W", "no candidate is in group 'W'"),
        ("parity:on=onsight", "did you mean 'onsite'"),
        ('parity:min_value={"W": 3}', "no candidate is in group 'W'"),
        ("budget:limit=1,expense=miles", "no candidate has an attribute 'miles'"),
        ('affine:terms=[{"candidate":"z","state":"selected"}],sense=<=,bound=1', "there is no candidate 'z'"),
        ('affine:terms=[{"candidate":"c","state":"hird-9"}],sense=<=,bound=1', "did you mean 'hired-9'"),
        ('affine:terms=[{"search":"p","candidate":"c","state":"out"}],sense=<=,bound=1', "there is no search 'p'"),
    ],
)
def test_unknown_names_of_the_instance_are_refused(text: str, message: str, instance: Instance) -> None:
    with pytest.raises(InputError, match=message):
        bind([build(text)], instance.layout)


def test_all_unknown_names_are_reported_at_once(instance: Instance) -> None:
    with pytest.raises(InputError) as caught:
        bind([build("quota:group=W,share=0.4"), build("parity"), build("parity:on=nowhere")], instance.layout)
    assert [problem.where.split(" ")[0] for problem in caught.value.problems] == ["constraints[0]", "constraints[2]"]


@pytest.mark.parametrize("text", ["quota:group", "quota:=3", "quota:share=1,share=2"])
def test_specs_that_cannot_be_read(text: str) -> None:
    with pytest.raises(InputError):
        spec.parse(text)


def test_a_constraint_describes_itself_as_a_spec_that_makes_it() -> None:
    for text in ("parity", "quota:group=Y,share=0.4", "impact-ratio:minimum=0.9", 'parity:groups=["X","Y"]'):
        constraint = build(text)
        assert build(constraint.to_spec()) == constraint


def test_outcome_counts_what_visits_say(instance: Instance, visits: np.ndarray) -> None:
    outcome = Outcome(instance.layout, visits)
    p = seen(instance.layout, visits)
    assert list(outcome.selected) == pytest.approx(list(p["select"].values()))
    assert list(outcome.inspected) == pytest.approx(list(p["inspect"].values()))
    assert outcome.unfilled_capacity == pytest.approx(2 - sum(p["select"].values()))
