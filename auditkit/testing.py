"""For authors of constraints: check one on random instances before anybody relies on it.

    from auditkit.testing import check_constraint
    check_constraint(AtLeastOne(group="Y"))

Shipped constraints are checked in just this way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import numpy as np

from auditkit.constraints import Constraint, Measure, Row, bind
from auditkit.errors import InputError
from auditkit.instance import Box, Chain, Instance, Search, State
from auditkit.layout import Floats, Layout
from auditkit.solve import solve
from auditkit.solve.document import document
from auditkit.solve.oracle import Oracle
from auditkit.verify import verify

GROUPS = ("X", "Y")


def random_instances(count: int = 8, seed: int = 0, groups: tuple[str, ...] = GROUPS) -> Iterator[Instance]:
    """Small instances of boxes and of three-stage chains (phone, onsite, offer), in one search or two."""
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        searches = []
        for s in range(1 + i % 2):
            n = int(rng.integers(2, 6))
            make = _box if i % 4 < 2 else _chain
            people = tuple(make(rng, f"c{j}", groups[j % len(groups)]) for j in range(n))
            searches.append(Search(f"s{s}", int(rng.integers(1, n)) if n > 1 else 1, people))
        yield Instance(tuple(searches))


def _box(rng: np.random.Generator, name: str, group: str) -> Box:
    values = np.round(rng.normal(5, 3, 3), 1)
    return Box(name, group, float(rng.uniform(0.2, 1.5)), values, rng.dirichlet(np.ones(3)), attributes={"km": 1.0})


def _chain(rng: np.random.Generator, name: str, group: str) -> Chain:
    high, low = np.round(rng.uniform(5, 12), 1), np.round(rng.uniform(1, 5), 1)
    states = (
        State("phone", -float(rng.uniform(0.1, 0.5)), {"onsite": 0.7, "out": 0.3}, stage="phone"),
        State("onsite", -float(rng.uniform(0.2, 1.0)), {"good": 0.5, "fair": 0.5}, stage="onsite"),
        State("good", -0.1, {"hired-high": 0.9, "out": 0.1}, stage="offer"),
        State("fair", -0.1, {"hired-low": 0.9, "out": 0.1}, stage="offer"),
        State("hired-high", high, terminal=True),
        State("hired-low", low, terminal=True),
        State("out", 0.0),
    )
    return Chain(name, group, "phone", states, attributes={"km": 2.0})


def check_constraint(constraint: Constraint, instances: Iterable[Instance] | None = None) -> int:
    """Raise AssertionError with the reason if a constraint does not keep its promises; returns how many were solved.

    Rows must be well formed and the same every time. A measure's gradient must be that of its value, and its tangents
    must lie on the side that convexity demands. Where an instance has the names that the constraint uses, it is solved:
    the result must meet the constraint with a closed gap and stand up to `auditkit verify`.
    """
    solved = 0
    for instance in instances if instances is not None else random_instances():
        layout = instance.layout
        try:
            rows = bind([constraint], layout)
        except InputError:
            continue  # a stage, group or attribute that this instance does not have
        again = bind([constraint], layout)
        assert len(rows) + len(rows.measures) > 0, f"{constraint.type}: neither rows nor measures"
        for row, other in zip(rows.rows, again.rows, strict=True):
            _check_row(row, layout)
            assert np.array_equal(row.coefficients, other.coefficients), f"{row.label}: changes from call to call"
        points = _some_visits(layout)
        for measure in rows.measures:
            _check_measure(measure, [p[measure.states] for p in points])
        solution = solve(instance, [constraint])
        solved += 1
        if solution.constrained is not None:
            optimum = solution.constrained
            assert optimum.gap <= 1e-6 * (1 + abs(optimum.utility)), (
                f"{constraint.type}: a gap of {optimum.gap} stays open"
            )
        claims = json.loads(json.dumps(document(solution, [constraint], "test")))
        wrong = [check.claim for check in verify(claims, layout, rows, "test") if not check.holds]
        assert not wrong, f"{constraint.type}: verify does not accept {wrong}"
    assert solved, f"{constraint.type}: none of the instances has the names that it uses; pass instances that have"
    return solved


def _check_row(row: Row, layout: Layout) -> None:
    assert isinstance(row, Row), f"rows must be of the class Row, not {type(row).__name__}"
    assert row.label and row.sense in ("<=", "==", ">="), f"{row.label!r}: needs a label and a sense"
    assert len(row.states) == len(row.coefficients), f"{row.label}: as many coefficients as states"
    assert np.isfinite(row.coefficients).all() and np.isfinite(row.bound), f"{row.label}: not finite"
    inside = len(row.states) == 0 or (row.states[0] >= 0 and row.states[-1] < layout.states)
    assert inside and (np.diff(row.states) > 0).all(), f"{row.label}: states must increase and lie in the layout"


def _some_visits(layout: Layout) -> list[Floats]:
    """Points near what policies do, with every state visited a little: where a measure must be smooth."""
    free = Oracle(layout, bind([], layout)).free.visits
    more = np.minimum(1.0, free + 0.3)
    return [0.5 * free + 0.05, 0.2 * free + 0.8 * more, 0.7 * more]


def _check_measure(measure: Measure, points: list[Floats]) -> None:
    for x in points:
        slope = np.asarray(measure.gradient(x), dtype=np.float64)
        assert slope.shape == x.shape, f"{measure.label}: the gradient has shape {slope.shape}, not {x.shape}"
        assert np.isfinite(slope).all() and np.isfinite(measure.value(x)), f"{measure.label}: not finite"
        for y in points:
            step = 1e-5 * (y - x)
            change = (measure.value(x + step) - measure.value(x - step)) / 2e-5
            expected = float(slope @ (y - x))
            size = 1.0 + abs(change) + abs(expected)
            assert abs(change - expected) <= 1e-4 * size, f"{measure.label}: the gradient is not that of the value"
            over = measure.value(x) + expected - measure.value(y)
            side = over if measure.sense == ">=" else -over
            kind = "concave" if measure.sense == ">=" else "convex"
            assert side >= -1e-7 * size, f"{measure.label}: the value is not {kind}, as '{measure.sense}' demands"
