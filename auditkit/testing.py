"""For authors of constraints: check one on random instances before anybody relies on it.

    from auditkit.testing import check_constraint
    check_constraint(AtLeastOne(group="Y"))

Shipped constraints are checked in just this way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import numpy as np

from auditkit.constraints.base import Constraint, Measure, Row, flaw
from auditkit.constraints.binding import bind
from auditkit.constraints.checks import row_flaw, slope_flaw
from auditkit.errors import InputError, PluginError
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Layout
from auditkit.model.search import Box, Chain, Search, State
from auditkit.solver import solve
from auditkit.solver.oracle import free_visits
from auditkit.verification import check_solution

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
    if (wrong := flaw(type(constraint))) is not None:
        raise AssertionError(wrong)
    try:
        return _check(constraint, instances if instances is not None else random_instances())
    except PluginError as error:
        raise AssertionError(str(error)) from error


def _check(constraint: Constraint, instances: Iterable[Instance]) -> int:
    solved = 0
    for instance in instances:
        layout = instance.layout
        try:
            rows = bind([constraint], layout)
        except PluginError:
            raise
        except InputError:
            continue  # a stage, group or attribute that this instance does not have
        again = bind([constraint], layout)
        assert len(rows) + len(rows.measures) > 0, f"{constraint.type}: neither rows nor measures on an instance"
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
        claims = json.loads(json.dumps(solution.to_json()))
        wrong = [check.claim for check in check_solution(claims, layout, rows, "test") if not check.holds]
        assert not wrong, f"{constraint.type}: verify does not accept {wrong}"
    assert solved, f"{constraint.type}: none of the instances has the names that it uses; pass instances that have"
    return solved


def _check_row(row: Row, layout: Layout) -> None:
    wrong = row_flaw(row, layout)
    assert wrong is None, f"{row.label}: {wrong}"


def _some_visits(layout: Layout) -> list[Floats]:
    """Points near what policies do, with every state visited a little: where a measure must be smooth."""
    free = free_visits(layout)
    more = np.minimum(1.0, free + 0.3)
    return [0.5 * free + 0.05, 0.2 * free + 0.8 * more, 0.7 * more]


def _check_measure(measure: Measure, points: list[Floats]) -> None:
    kind = "concave" if measure.sense == ">=" else "convex"
    for x in points:
        wrong = slope_flaw(measure, x)
        assert wrong is None, f"{measure.label}: {wrong}"
        slope, value = np.asarray(measure.gradient(x), dtype=np.float64), measure.value(x)
        assert slope.shape == x.shape, f"{measure.label}: the gradient has shape {slope.shape}, not {x.shape}"
        for y in points:
            over = value + float(slope @ (y - x)) - measure.value(y)
            side = over if measure.sense == ">=" else -over
            size = 1.0 + abs(value) + abs(over)
            assert side >= -1e-7 * size, f"{measure.label}: the value is not {kind}, as '{measure.sense}' demands"
