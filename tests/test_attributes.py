"""Protected attributes in the model: each by itself, crossed, and within a segment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auditkit import Box, InputError, Instance, Search
from auditkit.constraints import Constraint, bind, make
from auditkit.constraints.spec import parse
from auditkit.model.documents import instance_from_document
from auditkit.plugin_manager import shipped
from auditkit.solver import solve

KINDS = shipped().constraints


def build(text: str) -> Constraint:
    return make(KINDS, parse(text))


def people(seed: int, searches: int = 3, size: int = 8, unknown: float = 0.0) -> Instance:
    """Random boxes with two protected attributes and a department."""
    rng = np.random.default_rng(seed)
    made = []
    for s in range(searches):
        candidates = []
        for i in range(size):
            sex: str | None = "FM"[rng.integers(2)]
            race: str | None = ["Asian", "Black", "White"][rng.integers(3)]
            if rng.random() < unknown:
                sex = None
            values = np.round(rng.normal(6 - (sex == "F") - (race == "Black"), 3, 4), 2)
            group = {"Gender": sex, "Ethnicity": race}
            where = {"Department": ["Sales", "Legal"][s % 2], "miles": float(i)}
            candidates.append(Box(f"c{i}", group, 0.5, values, np.full(4, 0.25), None, where))
        made.append(Search(f"s{s}", 2, tuple(candidates)))
    return Instance(tuple(made))


def labels(instance: Instance, attribute: str) -> np.ndarray:
    return np.array([dict(c.group)[attribute] for s in instance.searches for c in s.candidates], dtype=object)  # type: ignore[call-overload]


def rates(instance: Instance, selected: np.ndarray, attribute: str) -> dict[str, float]:
    own = labels(instance, attribute)
    return {g: float(selected[own == g].mean()) for g in sorted(set(own) - {None})}


@pytest.mark.parametrize("seed", range(5))
def test_parity_holds_for_each_attribute_at_once(seed: int) -> None:
    instance = people(seed)
    solution = solve(instance, [build("parity")])
    assert solution.constrained is not None
    selected = solution.constrained.outcome.selected
    for attribute in ("Gender", "Ethnicity"):
        found = rates(instance, selected, attribute)
        assert max(found.values()) - min(found.values()) < 1e-9
    together = solve(instance, [build("parity:by=Gender"), build("parity:by=Ethnicity")])
    assert together.constrained is not None
    assert together.constrained.utility == pytest.approx(solution.constrained.utility, abs=1e-8)
    crossed = solve(instance, [build("parity:by=Gender+Ethnicity")])
    if crossed.constrained is not None:  # asks for more: every cell alike
        assert crossed.constrained.utility <= solution.constrained.utility + 1e-9


def test_within_a_segment_each_value_has_its_own_rows() -> None:
    instance = people(3, searches=4)
    rows = bind([build("parity:by=Gender,within=Department")], instance.layout)
    assert [row.label for row in rows.rows] == [
        "selection parity F = M in Legal",
        "selection parity F = M in Sales",
    ]
    solution = solve(instance, [build("parity:by=Gender,within=Department")])
    assert solution.constrained is not None
    selected, sex = solution.constrained.outcome.selected, labels(instance, "Gender")
    where = np.array([c.attributes["Department"] for s in instance.searches for c in s.candidates])
    for department in ("Sales", "Legal"):
        f, m = (selected[(sex == g) & (where == department)].mean() for g in "FM")
        assert f == pytest.approx(m, abs=1e-9)


def test_unknown_and_tiny_groups_are_compared_nowhere() -> None:
    instance = people(1, unknown=0.3)
    assert {row.label for row in bind([build("parity:by=Gender")], instance.layout).rows} == {"selection parity F = M"}
    many = [Box(f"c{i}", "A" if i % 2 else "B", 1.0, [3.0, 1.0], [0.5, 0.5]) for i in range(98)]
    tiny = [Box("t", "T", 1.0, [3.0, 1.0], [0.5, 0.5])]
    layout = Instance((Search("s", 5, (*many, *tiny)),)).layout
    assert [row.label for row in bind([build("parity")], layout).rows] == ["selection parity A = B"]
    named = bind([build('parity:groups=["A","T"]')], layout)  # who is named is compared
    assert [row.label for row in named.rows] == ["selection parity A = T"]


def test_the_name_of_a_group_will_do_where_one_attribute_has_it() -> None:
    instance = people(2)
    by_name = bind([build("quota:group=F,share=0.4")], instance.layout).rows[0]
    by_both = bind([build("quota:group=F,share=0.4,by=Gender")], instance.layout).rows[0]
    assert np.array_equal(by_name.coefficients, by_both.coefficients)
    twice = Instance((Search("s", 1, tuple(Box(str(i), {"a": "x", "b": "x"}, 1.0, [2.0], [1.0]) for i in range(3))),))
    with pytest.raises(InputError, match=r"several attributes have a group 'x' \(add by=a or by=b\)"):
        bind([build("quota:group=x,share=0.4")], twice.layout)
    with pytest.raises(InputError, match="no candidate has an attribute 'Sex'"):
        bind([build("parity:by=Sex")], instance.layout)
    with pytest.raises(InputError, match="no candidate is in group 'Q'"):
        bind([build("budget:group=Q,limit=1")], instance.layout)


def test_one_attribute_is_the_old_problem() -> None:
    """A string and an object of one attribute are the same instance."""

    def document(group: Any) -> dict[str, Any]:
        rows = [("X", 10, 4), ("X", 9, 3), ("Y", 8, 2), ("Y", 7, 1)]
        boxes = [
            {"id": f"c{i}", "group": group(g), "cost": 1, "values": [a, b], "probs": [0.5, 0.5]}
            for i, (g, a, b) in enumerate(rows)
        ]
        search = {"id": "s", "capacity": 1, "candidates": boxes}
        return {"format": "auditkit-instance/1", "searches": [search]}

    for shape in (lambda g: g, lambda g: {"Team": g}):
        instance = instance_from_document(document(shape))
        solution = solve(instance, [build("parity")])
        assert solution.constrained is not None
        assert solution.constrained.utility == pytest.approx(6.5625, abs=1e-12)
        assert instance_from_document(instance.to_json()).to_json() == instance.to_json()
