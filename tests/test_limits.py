"""Capacities within capacities: against the program over all policies, brute force, and what must not change."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from auditkit.errors import InputError
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.model.limits import Limit
from auditkit.model.search import Box, Search
from auditkit.solver import METHODS, evaluate, room_kernels, solve
from auditkit.verification import independent
from support.direct import reservation
from support.instances import boxes
from support.occupancy import Document, Row, occupancy
from support.optima import compare
from support.tiny import add_limits, box_instances, chain_instances, limited, problems


@settings(deadline=None, max_examples=200)
@given(document=limited(box_instances(max_candidates=4)))
def test_boxes_agree_with_the_program_over_all_policies(document: Document) -> None:
    found = solve(instance_from_document(document)).unconstrained
    assert found.utility == pytest.approx(occupancy(document).utility, abs=1e-7)


@settings(deadline=None, max_examples=120)
@given(document=limited(chain_instances()))
def test_chains_agree_with_the_program_over_all_policies(document: Document) -> None:
    found = solve(instance_from_document(document)).unconstrained
    assert found.utility == pytest.approx(occupancy(document).utility, abs=1e-7)


@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None, max_examples=60)
@given(problem=problems(limited(box_instances())))
def test_every_method_agrees_with_the_program(method: str, problem: tuple[Document, list[Row]]) -> None:
    compare(*problem, method)


@settings(deadline=None, max_examples=60)
@given(problem=problems(limited(chain_instances())))
def test_chains_with_constraints_agree_with_the_program(problem: tuple[Document, list[Row]]) -> None:
    compare(*problem, "column-generation")


def _nested(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random sets: parents, capacities, and the innermost set of every candidate."""
    m = int(rng.integers(1, 8))
    parent = np.array([-1, *(int(rng.integers(0, j)) for j in range(1, m))])
    return parent, rng.integers(0, 5, m), rng.integers(0, m, n)


@pytest.mark.parametrize("seed", range(60))
def test_room_is_that_of_all_outcomes(seed: int) -> None:
    """Who is ahead of an event, one outcome after another."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    parent, capacity, place = _nested(rng, n)
    events = int(rng.integers(1, 14))
    owner = rng.integers(0, n, events)
    kappa = np.zeros(events)
    for c in range(n):
        own = np.flatnonzero(owner == c)
        kappa[own] = rng.dirichlet(np.ones(len(own) + 1))[:-1] if len(own) else 0.0
    for j in range(1, len(parent)):
        capacity[j] = min(capacity[j], capacity[parent[j]])
    found = room_kernels.nested_chances(n, owner, kappa, place, parent, capacity)
    for e in range(events):
        others = [c for c in range(n) if c != owner[e]]
        ahead = [float(kappa[:e][owner[:e] == c].sum()) for c in others]
        total = 0.0
        for outcome in itertools.product((0, 1), repeat=len(others)):
            chance = np.prod([p if x else 1 - p for x, p in zip(outcome, ahead, strict=True)])
            total += float(chance) * _has_room(
                place[owner[e]], [c for c, x in zip(others, outcome) if x], parent, capacity, place
            )
        assert found[e] == pytest.approx(total, abs=1e-13)


def _has_room(j: int, ahead: list[int], parent: np.ndarray, capacity: np.ndarray, place: np.ndarray) -> bool:
    counts = np.bincount(place[ahead], minlength=len(parent)) if ahead else np.zeros(len(parent), dtype=int)
    for k in range(len(parent) - 1, 0, -1):
        counts[k] = min(counts[k], capacity[k])
        counts[parent[k]] += counts[k]
    while j >= 0:
        if counts[j] >= capacity[j]:
            return False
        j = parent[j]
    return True


@settings(deadline=None, max_examples=60)
@given(document=limited(box_instances(max_candidates=8)) | limited(chain_instances(max_candidates=6)))
def test_verification_finds_the_same_visits(document: Document) -> None:
    layout = instance_from_document(document).layout
    expected = independent.evaluate(layout, ([layout.reward], (1.0,)))
    np.testing.assert_allclose(evaluate.visits(layout, layout.reward), expected, atol=1e-13)


def _with_limits(instance: Instance, limits: Any) -> Instance:
    return Instance([Search(s.id, s.capacity, s.candidates, limits(s)) for s in instance.searches])


@pytest.mark.parametrize("seed", range(10))
def test_limits_that_never_bind_change_nothing(seed: int) -> None:
    plain = boxes(np.random.default_rng(seed), 3, 12, 4)

    def limits(search: Search) -> list[Limit]:
        ids = [c.id for c in search.candidates]
        return [
            Limit("some", 9, candidates=ids[:9]),
            Limit("few", 4, candidates=ids[2:6]),
            Limit("all", 4, candidates=ids),
        ]

    free = evaluate.visits(plain.layout, plain.layout.reward)
    np.testing.assert_allclose(
        evaluate.visits(_with_limits(plain, limits).layout, plain.layout.reward), free, atol=1e-12, rtol=0
    )


@pytest.mark.parametrize("capacity", [0, 1, 3])
def test_one_set_with_the_capacity_of_the_search_is_the_old_problem(capacity: int) -> None:
    plain = boxes(np.random.default_rng(capacity), 2, 10, capacity)
    wide = Instance(
        [
            Search(s.id, 8, s.candidates, [Limit("all", capacity, candidates=[c.id for c in s.candidates])])
            for s in plain.searches
        ]
    )
    free = evaluate.visits(plain.layout, plain.layout.reward)
    np.testing.assert_allclose(evaluate.visits(wide.layout, plain.layout.reward), free, atol=1e-12, rtol=0)


def test_limits_by_attribute_and_by_list_are_the_same() -> None:
    document = add_limits(np.random.default_rng(0), {"searches": []})
    people = [
        {"id": name, "group": "X", "cost": 1, "values": [9, 2], "probs": [0.5, 0.5], "attributes": {"Team": team}}
        for name, team in (("a", "red"), ("b", "red"), ("c", "blue"))
    ]
    search: Document = {"id": "s", "capacity": 2, "candidates": people}
    document = {"format": "auditkit-instance/1", "searches": [search]}
    search["limits"] = [{"label": "red", "capacity": 1, "by": "Team", "value": "red"}]
    by = instance_from_document(document)
    assert by.to_json()["searches"][0]["limits"] == search["limits"]
    search["limits"] = [{"label": "red", "capacity": 1, "candidates": ["a", "b"]}]
    assert solve(by).unconstrained.utility == solve(instance_from_document(document)).unconstrained.utility


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ([Limit("left", 1, candidates="ab"), Limit("right", 1, candidates="bc")], ["'left'", "'right'", "nested"]),
        ([Limit("x", 1, candidates=["a", "nobody"])], ["'nobody'", "'x'"]),
        ([Limit("x", 1, by="Team", value="red")], ["Team", "'red'"]),
        ([Limit("x", 1, candidates=[])], ["nobody"]),
    ],
)
def test_what_is_no_limit_is_refused_with_its_place(limits: list[Limit], words: list[str]) -> None:
    with pytest.raises(InputError) as error:
        Search("s", 1, [Box(name, "X", 1.0, [3.0], [1.0]) for name in "abc"], limits)
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize("keys", [{}, {"by": "Team"}, {"by": "Team", "value": "x", "candidates": ["a"]}])
def test_a_limit_says_whom_it_limits(keys: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="candidates"):
        Limit("x", 1, **keys)
    with pytest.raises(InputError, match="capacity"):
        Limit("x", -1, candidates=["a"])


def _outcomes(search: Search) -> list[tuple[float, list[int], list[int]]]:
    """Chance, selected and inspected of every combination of values, by following the policy step by step."""
    people = [c for c in search.candidates if isinstance(c, Box)]
    sigma = [reservation(box) for box in people]
    sets = [(search.capacity, set(range(len(people))))]
    sets += [(limit.capacity, set(limit.members(search.candidates))) for limit in search.limits]
    found = []
    for outcome in itertools.product(*(range(len(box.values)) for box in people)):
        chance = float(np.prod([box.probs[j] for box, j in zip(people, outcome, strict=True)]))
        selected: list[int] = []
        inspected = [i for i, s in enumerate(sigma) if s == np.inf]
        while True:
            best, who = 0.0, -1
            for i, box in enumerate(people):
                if i in selected or any(i in own and len(own & set(selected)) >= k for k, own in sets):
                    continue
                y = float(box.values[outcome[i]]) if i in inspected else sigma[i]
                if y > best:
                    best, who = y, i
            if who < 0:
                break
            (selected if who in inspected else inspected).append(who)
        found.append((chance, selected, inspected))
    return found


@settings(deadline=None, max_examples=80)
@given(document=limited(box_instances(max_candidates=6, max_searches=1)))
def test_laws_of_selections_and_inspections_are_those_of_all_outcomes(document: Document) -> None:
    rng = np.random.default_rng(1)
    for candidate in document["searches"][0]["candidates"]:  # no ties, which other rules may break otherwise
        candidate["cost"] += float(rng.uniform(0.01, 0.1))
        candidate["values"] = [value + float(rng.uniform(0, 0.1)) for value in candidate["values"]]
    instance = instance_from_document(document)
    search, layout = instance.searches[0], instance.layout
    group = np.arange(len(search.candidates)) % 2
    prepared = evaluate.Prepared.of(layout, layout.reward)
    law = prepared.selection_law(0, group, 2)
    counts, chances = prepared.inspection_law(0, group, 2)
    selections, inspections = np.zeros_like(law), np.zeros((len(group) + 1,) * 2)
    for chance, selected, inspected in _outcomes(search):
        selections[tuple(np.bincount(group[selected], minlength=2) if selected else (0, 0))] += chance
        inspections[tuple(np.bincount(group[inspected], minlength=2) if inspected else (0, 0))] += chance
    np.testing.assert_allclose(law, selections, atol=1e-12)
    table = np.zeros_like(inspections)
    np.add.at(table, (counts[:, 0], counts[:, 1]), chances)
    np.testing.assert_allclose(table, inspections, atol=1e-12)
