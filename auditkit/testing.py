"""For authors of constraints: check a constraint on random instances before anyone relies on it.

    from auditkit.testing import check_constraint
    check_constraint(AtLeastOne(group="Y"))

Shipped constraints are checked in just this way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import get_args

import numpy as np
from pydantic import ValidationError

from auditkit.constraints.base import Constraint, Measure, Row, Rows, defect
from auditkit.constraints.binding import bind
from auditkit.constraints.checks import row_flaw, slope_flaw
from auditkit.constraints.words import Description, PlainWords
from auditkit.errors import InputError, PluginError
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Layout
from auditkit.model.row_meaning import Meaning
from auditkit.model.search import Box, Chain, Search, State
from auditkit.solver import solve
from auditkit.solver.oracle import free_visits
from auditkit.verification import check_solution

GROUPS = ("X", "Y")
SEGMENT = "office"
OFFICES = ("North", "South", "North+South")


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
    cost, probs = float(rng.uniform(0.2, 1.5)), rng.dirichlet(np.ones(3))
    return Box(name, group, cost, values, probs, attributes={"km": 1.0, SEGMENT: _office(name)})


def _office(name: str) -> str:
    return OFFICES[int(name[1:]) % len(OFFICES)]


def _chain(rng: np.random.Generator, name: str, group: str) -> Chain:
    high, low = np.round(rng.uniform(5, 12), 1), np.round(rng.uniform(1, 5), 1)
    states = (
        State("phone", -float(rng.uniform(0.1, 0.5)), {"onsite": 0.7, "out": 0.3}, stage="phone"),
        State("onsite", -float(rng.uniform(0.2, 1.0)), {"good": 0.5, "fair": 0.5}, stage="onsite"),
        State("good", -0.1, {"hired-high": 0.9, "out": 0.1}, stage="offer"),
        State("fair", -0.1, {"hired-low": 0.9, "out": 0.1}, stage="offer"),
        State("hired-high", high, selected=True),
        State("hired-low", low, selected=True),
        State("out", 0.0),
    )
    return Chain(name, group, "phone", states, attributes={"km": 2.0, SEGMENT: _office(name)})


def with_attributes(instance: Instance) -> Instance:
    """The same candidates with a second attribute, and in each search one more whose first is unknown."""
    searches = []
    for search in instance.searches:
        people = [
            replace(one, group={"group": str(one.group), "age": ("old", "young")[i % 2]})
            for i, one in enumerate(search.candidates)
        ]
        unknown = replace(people[0], id="unknown", group={"group": None, "age": "old"})
        searches.append(replace(search, candidates=(*people, unknown)))
    return Instance(tuple(searches))


def check_constraint(constraint: Constraint, instances: Iterable[Instance] | None = None) -> int:
    """Raise AssertionError with the reason if a constraint breaks its promises; returns how many instances were solved.

    Rows must be well formed and the same every time, mean what they say (`Row.meaning`), and have words for reports. A
    measure's gradient must be that of its value, and its tangents must lie on the side that convexity demands. Where an
    instance has the names that the constraint uses, it is solved: the result must meet the constraint with a closed gap
    and pass `auditkit verify`. The same is tried with two attributes and unknown groups, and with `by` and `within`.
    """
    if (wrong := defect(type(constraint))) is not None:
        raise AssertionError(wrong)
    given = list(instances if instances is not None else random_instances())
    try:
        solved = [instance for instance in given if _check(constraint, instance)]
        assert solved, f"{constraint.type}: none of the instances has the names that it uses; pass instances that have"
        _check_words(constraint)
        for instance in solved[:2]:
            _check_unusual(constraint, instance)
        return len(solved)
    except PluginError as error:
        raise AssertionError(str(error)) from error


def _check(constraint: Constraint, instance: Instance) -> bool:
    """Check all promises of a constraint; returns False if the instance lacks a name that it uses."""
    layout = instance.layout
    try:
        rows = bind([constraint], layout)
    except PluginError:
        raise
    except InputError:
        return False  # a stage, group or attribute that this instance doesn't have
    second = bind([constraint], layout)
    assert len(rows) + len(rows.measures) > 0, f"{constraint.type}: neither rows nor measures on an instance"
    for row, other in zip(rows.rows, second.rows, strict=True):
        _check_row(row, layout)
        assert np.array_equal(row.coefficients, other.coefficients), f"{row.label}: changes from call to call"
    _check_meanings(constraint, instance, rows)
    points = _some_visits(layout)
    for measure in rows.measures:
        _check_measure(measure, [p[measure.states] for p in points])
    _check_solved(constraint, instance, rows)
    return True


def _check_solved(constraint: Constraint, instance: Instance, rows: Rows) -> None:
    solution = solve(instance, [constraint])
    if solution.constrained is not None:
        optimum = solution.constrained
        assert optimum.gap <= 1e-6 * (1 + abs(optimum.utility)), f"{constraint.type}: a gap of {optimum.gap} stays open"
    claims = json.loads(json.dumps(solution.to_json()))
    wrong = [check.claim for check in check_solution(claims, instance.layout, rows, "test") if not check.holds]
    assert not wrong, f"{constraint.type}: verify does not accept {wrong}"


def _check_words(constraint: Constraint) -> None:
    said = constraint.describe(PlainWords())
    assert isinstance(said, Description), f"{constraint.type}: describe(words) must return a Description"
    for name, text in asdict(said).items():
        good = isinstance(text, str) and text == text.strip() and "\n" not in text
        assert good and (text or name == "axis"), f"{constraint.type}: the {name} of its description is {text!r}"


def _check_meanings(constraint: Constraint, instance: Instance, rows: Rows) -> None:
    """A row's meaning names groups and segments of the instance, and its basis says how coefficients scale."""
    layout = instance.layout
    parts: tuple[Row | Measure, ...] = (*rows.rows, *rows.measures)
    for part in parts:
        meaning = part.meaning
        assert isinstance(meaning, get_args(Meaning)[0]), f"{part.label}: its meaning is {meaning!r}"
        names = [name for name in (meaning.group, getattr(meaning, "against", None)) if name is not None]
        if meaning.by is not None:
            unknown = set(names) - set(layout.partition(meaning.by).names)
            assert not unknown, f"{part.label}: no candidate is in {unknown}, which its meaning names"
        if meaning.within is not None:
            values = layout.partition(meaning.within).names
            assert meaning.value in values, f"{part.label}: {meaning.within} has no value {meaning.value!r}"
    twice = Instance(tuple(replace(s, id=f"{s.id}{mark}") for mark in ("", "'") for s in instance.searches))
    try:
        doubled = {row.label: row for row in bind([constraint], twice.layout).rows}
    except InputError:
        return  # it names a candidate or search, of whom there are now two
    for row in rows.rows:
        other = doubled.get(row.label)
        if other is None or row.meaning.basis is None or len(other.states) != 2 * len(row.states):
            continue
        factor = 2.0 if row.meaning.basis == "rate" else 1.0
        same = np.allclose(np.tile(row.coefficients, 2), factor * other.coefficients, rtol=1e-9)
        assert same, f"{row.label}: with twice the candidates its coefficients are not those of a {row.meaning.basis}"


def _check_unusual(constraint: Constraint, instance: Instance) -> None:
    mixed = with_attributes(instance) if all(isinstance(g, str) for g in _groups(instance)) else instance
    try:
        rows = bind([constraint], mixed.layout)
    except PluginError:
        raise
    except InputError as error:
        raise AssertionError(f"{constraint.type}: with two attributes and unknown groups: {error}") from error
    _check_meanings(constraint, mixed, rows)
    _check_solved(constraint, mixed, rows)
    if SEGMENT in instance.layout.texts and "within" in type(constraint).model_fields:
        asked = _changed(constraint, "within", SEGMENT)
        if asked is not None:
            _check_solved(asked, instance, bind([asked], instance.layout))


def _changed(constraint: Constraint, key: str, value: str) -> Constraint | None:
    """The constraint with one key changed; None if that is refused."""
    try:
        return type(constraint)(**{**constraint.model_dump(exclude_unset=True), key: value})
    except ValidationError:
        return None


def _groups(instance: Instance) -> list[object]:
    return [one.group for search in instance.searches for one in search.candidates]


def _check_row(row: Row, layout: Layout) -> None:
    wrong = row_flaw(row, layout)
    assert wrong is None, f"{row.label}: {wrong}"


def _some_visits(layout: Layout) -> list[Floats]:
    """Points near policies' visits, with every state visited a little: a measure must be smooth there."""
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
