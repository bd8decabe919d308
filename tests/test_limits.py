"""Capacities within capacities: against the program over all policies, brute force, and what must not change."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from auditkit import audit, fit
from auditkit.constraints.binding import bind
from auditkit.data.load import load
from auditkit.errors import InputError
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.model.limits import Limit
from auditkit.model.search import Box, Search
from auditkit.plugins.parity import Parity
from auditkit.scenarios import more_places
from auditkit.solver import METHODS, evaluate, room_kernels, solve
from auditkit.verification import check_solution, independent
from support.direct import reservation
from support.instances import boxes
from support.occupancy import Document, Row, occupancy
from support.optima import compare
from support.sampling import examples
from support.tiny import add_limits, box_instances, chain_instances, limited, problems


@examples(100)
@given(document=limited(box_instances(max_candidates=4)))
def test_boxes_agree_with_the_program_over_all_policies(document: Document) -> None:
    found = solve(instance_from_document(document)).unconstrained
    assert found.utility == pytest.approx(occupancy(document).utility, abs=1e-7)


@examples(60)
@given(document=limited(chain_instances()))
def test_chains_agree_with_the_program_over_all_policies(document: Document) -> None:
    found = solve(instance_from_document(document)).unconstrained
    assert found.utility == pytest.approx(occupancy(document).utility, abs=1e-7)


@pytest.mark.parametrize("method", METHODS)
@examples(30)
@given(problem=problems(limited(box_instances())))
def test_every_method_agrees_with_the_program(method: str, problem: tuple[Document, list[Row]]) -> None:
    compare(*problem, method)


@examples(30)
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


@examples(30)
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


@pytest.mark.parametrize("value", [3, 3.0, "3", "3.0"])
def test_an_attribute_that_is_a_number_can_be_limited(value: float | str) -> None:
    people = [
        Box(name, "X", 1.0, [9.0], [1.0], attributes={"Floor": floor}) for name, floor in zip("abc", (3.0, 4.0, 3.0))
    ]
    found = Search("s", 2, people, [Limit("third floor", 1, by="Floor", value=value)])
    assert found.limits[0].members(people) == [0, 2]
    with pytest.raises(InputError, match="known: 3, 4"):
        Search("s", 2, people, [Limit("attic", 1, by="Floor", value="attic")])


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ([Limit("left", 1, candidates="ab"), Limit("right", 1, candidates="bc")], ["'left'", "'right'", "nested"]),
        ([Limit("x", 1, candidates=["a", "nobody"])], ["'nobody'", "'x'"]),
        ([Limit("x", 1, by="Team", value="red")], ["Team", "'red'"]),
        ([Limit("x", 1, candidates=[])], ["names no candidate"]),
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
        closed = set().union(*(own for k, own in sets if k == 0))  # nobody is inspected where nobody can be selected
        inspected = [i for i, s in enumerate(sigma) if s == np.inf and i not in closed]
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


@examples(40)
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


@pytest.mark.parametrize("seed", range(8))
def test_one_more_place_is_worth_what_the_wider_problem_yields(seed: int) -> None:
    plain = boxes(np.random.default_rng(seed), 4, 8, 3)

    def limits(search: Search) -> list[Limit]:
        ids = [c.id for c in search.candidates]
        return [Limit("left", 1, candidates=ids[:4]), Limit("right", 2, candidates=ids[4:])]

    instance = _with_limits(plain, limits)
    parity = [Parity()]
    found = more_places(instance, parity)
    assert found is not None and found.limits == 8
    now = solve(instance, parity).constrained
    assert now is not None
    best = {}
    for label in ("left", "right"):  # every place, one after another
        worth = []
        for number in range(4):
            wider = list(instance.searches)
            search = wider[number]
            more = [replace(x, capacity=x.capacity + (x.label == label)) for x in search.limits]
            wider[number] = Search(search.id, search.capacity, search.candidates, more)
            optimum = solve(Instance(wider), parity).constrained
            assert optimum is not None
            worth.append(optimum.utility - now.utility)
        best[label] = max(worth)
    assert found.places
    for place in found.places:
        assert 0 < place.worth <= best[place.label] + 1e-8
    assert found.places[0].worth >= 0.5 * max(best.values())


def test_a_solution_of_a_limited_instance_verifies_and_a_changed_one_does_not() -> None:
    plain = boxes(np.random.default_rng(3), 3, 8, 3)
    instance = _with_limits(plain, lambda s: [Limit("left", 1, candidates=[c.id for c in s.candidates][:4])])
    solution = solve(instance, [Parity()]).to_json()
    assert solution["unconstrained"]["units"][0]["positions"] == 3
    layout = instance_from_document(instance.to_json()).layout
    rows = bind([Parity()], layout)
    assert all(check.holds for check in check_solution(solution, layout, rows, ""))
    solution["constrained"]["units"][0]["unfilled"] += 0.01
    wrong = [check.claim for check in check_solution(solution, layout, rows, "") if not check.holds]
    assert wrong == ["constrained: left, unfilled"]


def _people(rng: np.random.Generator, searches: int = 20, each: int = 12) -> pd.DataFrame:
    """Fellowships with departments and teams; the firm interviews by the CV and takes the best, at most 2 a team."""
    rows = []
    for s in range(searches):
        people = []
        for i in range(each):
            cv = rng.normal(50, 10)
            people.append(
                {
                    "Candidate ID": f"{s}-{i}",
                    "Requisition": f"F-{s}",
                    "Gender": "FM"[i % 2],
                    "Faculty": "Science" if i % 3 else "Arts",
                    "Team": "AB"[i // 6],
                    "Places of team": 2,
                    "CV score": round(cv, 1),
                    "Interview score": round(cv + rng.normal(0, 8), 1),
                    "Interview cost": 1,
                    "Openings": 4,
                }
            )
        seen = sorted(people, key=lambda p: -p["CV score"])[:7]
        taken: dict[tuple[str, str], int] = {}
        for p in people:
            p["Interviewed"] = "yes" if p in seen else "no"
        for p in sorted(seen, key=lambda p: -p["Interview score"]):
            team = p["Faculty"], p["Team"]
            hired = sum(taken.values()) < 4 and taken.get(team, 0) < 2
            p["Hired"] = "yes" if hired else "no"
            taken[team] = taken.get(team, 0) + hired
        for p in people:
            if p not in seen:
                p["Interview score"], p["Hired"] = "", "no"
        rows += people
    return pd.DataFrame(rows)


ROLES = {"unit": ["Faculty", "Team"], "unit_capacity": "Places of team"}


def test_limits_come_from_the_data(tmp_path: Path) -> None:
    people = _people(np.random.default_rng(1))
    people.to_csv(tmp_path / "people.csv", index=False)
    fitted = fit(tmp_path / "people.csv", map=ROLES)
    teams = {limit.label for search in fitted.instance.searches for limit in search.limits}
    assert teams == {f"Faculty: {f} / Team: {t}" for f in ("Arts", "Science") for t in "AB"}
    units = {unit.label: unit for unit in fitted.instance.layout.units(fitted.realised.selected)}
    hired = people[people["Hired"] == "yes"].groupby(["Faculty", "Team"]).size()
    for (faculty, team), n in hired.items():
        assert units[f"Faculty: {faculty} / Team: {team}"].selected == n
        assert units[f"Faculty: {faculty} / Team: {team}"].exceeded == 0


def test_limits_of_the_settings_reach_the_report(auditkit: Any, tmp_path: Path) -> None:
    people = _people(np.random.default_rng(2)).drop(columns="Places of team")
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "audit.toml").write_text(
        "[fit]\npoints = 8\n[report]\nreplicates = 4\nalternatives = false\n[limits]\nFaculty = {Arts = 1}\n"
    )
    run = auditkit("report", tmp_path / "people.csv", "--config", tmp_path / "audit.toml")
    assert run.code == 0, run.err
    report = json.loads((tmp_path / "people.audit.json").read_text())
    arts = people[(people["Faculty"] == "Arts") & (people["Hired"] == "yes")].groupby("Requisition").size()
    (firm,) = report["firm"]["units"]
    assert (firm["label"], firm["selected"], firm["exceeded"]) == ("Faculty: Arts", arts.sum(), (arts > 1).sum())
    assert firm["exceeded"] > 0
    for part in (report["unconstrained"], *report["constrained"]):
        assert part["units"][0]["exceeded"] == 0 and part["units"][0]["selected"] <= 20
    assert report["frontier"]["places"]["places"][0]["label"] == "Faculty: Arts"
    (said,) = [
        finding["text"] for finding in report["findings"] if finding["kind"] == "firm" and "limits" in finding["text"]
    ]
    assert f"Faculty: Arts in {firm['exceeded']} requisitions" in said
    page = (tmp_path / "people.audit.html").read_text()
    assert "Faculty: Arts" in page
    assert auditkit("verify", tmp_path / "people.audit.json", tmp_path / "people.csv").code == 0


@pytest.mark.parametrize("constraint", ["parity", "parity:within=Faculty"])
def test_prices_under_limits_have_intervals(tmp_path: Path, constraint: str) -> None:
    """Priors are fitted again to resampled searches, whose candidates must be found by their units and segments."""
    _people(np.random.default_rng(4)).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "audit.toml").write_text(
        "[fit]\npoints = 6\n[report]\nreplicates = 2\nwhat_if = false\nalternatives = false\n"
        "[limits]\nFaculty = {Arts = 1}\n"
    )
    found = audit(tmp_path / "people.csv", constraints=[constraint], config=tmp_path / "audit.toml")
    assert found.to_json()["constrained"][0]["price_of_fairness"]["interval"] is not None


@pytest.mark.parametrize(
    ("mapping", "limits", "words"),
    [
        ({"unit_capacity": "Places of team"}, None, "unit"),
        (
            {"unit": ["Faculty", "Team", "CV score"], "unit_capacity": ["Openings", "Places of team"]},
            None,
            "columns",
        ),
        ({}, {"Facultty": 1}, "Faculty"),
        ({**ROLES, "unit_capacity": "CV score"}, None, "whole number"),
    ],
)
def test_wrong_limits_of_data_are_refused(tmp_path: Path, mapping: Any, limits: Any, words: str) -> None:
    _people(np.random.default_rng(1), 3).to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(InputError, match=words):
        load(tmp_path / "people.csv", mapping, limits=limits)
