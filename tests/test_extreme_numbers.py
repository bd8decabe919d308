"""Numbers at the edges of what a machine can hold, and solutions that contradict themselves."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditkit.cli import DEFECT
from auditkit.constraints import make_constraints
from auditkit.constraints.binding import make
from auditkit.model.documents import read_instance
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.plugin_manager import shipped
from auditkit.solver import methods, solve
from auditkit.solver.policy import Outcome
from auditkit.solver.self_check import SelfCheckError, require_sound
from support import ROOT
from support.audit_helpers import HEADER, plugins, rows, save

QUICK = "[fit]\npoints = 10\n[report]\nreplicates = 5\nformats = ['json']\n"


def instance(**changes: Any) -> dict[str, Any]:
    first = {"id": "a", "group": "X", "cost": 1.0, "values": [10, 4], "probs": [0.5, 0.5]}
    second = {"id": "b", "group": "Y", "cost": 1.0, "values": [8, 2], "probs": [0.5, 0.5]}
    search = {"id": "r", "capacity": 1, "candidates": [{**first, **changes}, second]}
    parity = {"type": "parity", "basis": "count"}
    return {"format": "auditkit-instance/1", "searches": [search], "constraints": [parity]}


def lingering(leaving: float) -> str:
    """Asking pays, and is hardly ever over."""
    ask = {"reward": 1.0, "to": {"ask": 1 - leaving, "hired": leaving}}
    document = instance()
    person = {"id": "a", "group": "X", "start": "ask", "states": {"ask": ask, "hired": {"reward": 5, "terminal": True}}}
    document["searches"][0]["candidates"][0] = person
    return json.dumps(document)


DIGITS = "9" * 5000
REFUSED: dict[str, tuple[str, str]] = {
    "true cost": (json.dumps(instance(cost=True)), "cost: is true or false, not a number"),
    "true value": (json.dumps(instance(values=[True, 4])), "values[0]: is true or false, not a number"),
    "cost of 1e308": (json.dumps(instance(cost=1e308)), "1e+308 is not a finite number of at most 1e+100"),
    "values of 1e150": (json.dumps(instance(values=[1e150, 1])), "contains a number that is not a finite number"),
    "400 digits": (json.dumps(instance()).replace("1.0", "9" * 400, 1), "too many digits"),
    "text as a number": (json.dumps(instance(cost="1")), "cost: is text, not a number"),
    "hardly ever ends": (lingering(1e-12), "a'.states.ask: takes more than 1,000,000 steps on average to end"),
    "ends by rounding": (lingering(1e-17), "states.ask"),
    "too many positions": (json.dumps(instance()).replace('"capacity": 1', f'"capacity": {10**18}'), "capacity: 1000"),
    "5,000 digits": (json.dumps(instance()).replace("1.0", DIGITS, 1), "holds a number with too many digits"),
    "NaN": (json.dumps(instance()).replace("1.0", "NaN", 1), "is not a finite number"),
    "infinity": (json.dumps(instance()).replace("1.0", "1e999", 1), "is not a finite number"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_instance_with_impossible_numbers_is_refused(auditkit: Any, tmp_path: Path, name: str) -> None:
    text, reason = REFUSED[name]
    (tmp_path / "instance.json").write_text(text)
    done = auditkit("solve", "instance.json")
    assert done.code == 2
    assert reason in done.err
    assert "Traceback" not in done.err
    assert "at least one search" not in done.err


@pytest.mark.parametrize("settings", ["cost = true", "capacity = true", "value_scale = true", f"cost = {DIGITS}"])
def test_settings_with_impossible_numbers_are_refused(auditkit: Any, tmp_path: Path, settings: str) -> None:
    save(tmp_path / "people.csv", rows(3))
    (tmp_path / "audit.toml").write_text(settings)
    done = auditkit("report", "people.csv", "--config", "audit.toml")
    assert done.code == 2
    assert "true or false" in done.err or "too many digits" in done.err


EXPORTS: dict[str, Callable[[int, dict[str, Any]], dict[str, Any]]] = {
    "each candidate a requisition": lambda i, row: {"Requisition": f"R{i}", "Openings": int(row["Hired"] == "yes")},
    "scores of 1e150": lambda i, row: {"Interview Score": row["Interview Score"] and f"{1 + i % 3}e150"},
    "one score of 1e150": lambda i, row: {"Interview Score": "1e150"} if i == 5 else {},
    "scores of 1e-300": lambda i, row: {"Interview Score": row["Interview Score"] and f"{1 + i % 3}e-300"},
    "scores of 1e99": lambda i, row: {"Interview Score": row["Interview Score"] and f"{1 + i % 3}e99"},
    "costs of 1e308": lambda i, row: {"Interview Cost": "1e308"},
    "one cost of 1e308": lambda i, row: {"Interview Cost": "1e308"} if i == 5 else {},
    "integer of 5,000 digits": lambda i, row: {"Interview Score": DIGITS} if row["Interviewed"] == "yes" else {},
    "openings of 30 digits": lambda i, row: {"Openings": "9" * 30},
    "all scores equal": lambda i, row: {"Interview Score": row["Interview Score"] and 60},
}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_with_extreme_numbers_gives_a_sentence_or_an_answer(auditkit: Any, tmp_path: Path, name: str) -> None:
    table = [{**row, **EXPORTS[name](i, row)} for i, row in enumerate(rows(6, 8))]
    with (tmp_path / "people.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, HEADER, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(table)
    (tmp_path / "quick.toml").write_text(QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        done = auditkit("report", "people.csv", "--config", "quick.toml")
    assert done.code in (0, 2), done.err
    assert done.code == 0 or done.err.startswith("error: ")
    if done.code == 0:
        json.loads((tmp_path / "people.audit.json").read_text(), parse_constant=pytest.fail)


def test_a_solution_that_contradicts_itself_is_no_solution(
    auditkit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(instance()))
    problem, specs, _ = read_instance(path)
    constraints = make_constraints(shipped().constraints, [(f"constraints[{i}]", spec) for i, spec in enumerate(specs)])
    solution = methods.solve(problem, constraints)
    free, best = solution.unconstrained, solution.constrained
    assert best is not None
    require_sound(free, best)
    layout, visits = problem.layout, best.outcome.visits
    double = np.where(layout.selecting, 2.0, 1.0) * visits
    wrong = {
        "exceeds its bound": replace(best, bound=best.bound - 0.01),
        "exceeds": replace(best, outcome=Outcome(layout, 1.5 * visits)),
        "more are selected than there are positions": replace(best, outcome=Outcome(layout, 3 * double)),
        "less than never": replace(best, outcome=Outcome(layout, -visits)),
        "not finite": replace(best, outcome=Outcome(layout, visits * np.nan)),
        "a dual is not finite": replace(best, duals=best.duals * np.inf),
        "chances of a lottery": replace(best, mixture=replace(best.mixture, searches={0: ((0, 0.5), (0, 0.4))})),
        "is missed by": replace(best, outcome=Outcome(layout, np.where(np.arange(layout.states) < 3, visits, 0.0))),
    }
    for reason, one in wrong.items():
        with pytest.raises(SelfCheckError, match=reason):
            require_sound(free, one)

    def false_bound(*arguments: Any, **options: Any) -> Any:
        found = generate(*arguments, **options)
        return replace(found, bound=found.bound - 1 - 0.01 * abs(found.bound))

    generate = methods.METHODS["column-generation"]
    monkeypatch.setitem(methods.METHODS, "column-generation", false_bound)
    done = auditkit("solve", path)
    assert done.code == DEFECT
    assert done.out == ""
    assert "the solution contradicts itself" in done.err
    save(tmp_path / "people.csv", rows(3))
    assert auditkit("report", tmp_path / "people.csv").code == DEFECT
    assert not list(tmp_path.glob("*.audit.*"))


@pytest.mark.parametrize("coefficient", [1e12, -1e16, 9007199254740993])
def test_rows_that_no_double_can_meet_are_refused_in_words(auditkit: Any, tmp_path: Path, coefficient: float) -> None:
    document = json.loads((ROOT / "sample_data" / "three-boxes.json").read_text())
    document["constraints"][0]["terms"][2]["coefficient"] = coefficient
    (tmp_path / "wide.json").write_text(json.dumps(document))
    shown = auditkit("solve", tmp_path / "wide.json")
    assert shown.code == 2 and "too far apart" in shown.err and "selected: X = 2 Y" in shown.err


def test_a_quota_of_everybody_is_met_though_a_policy_breaks_it_with_a_tiny_chance() -> None:
    """HiGHS would take entries of 2e-10 for 0: together they are 8e-6 people."""
    searches = [
        Search(f"s{i}", 1, [Box("m", "M", 0.0, [20.0, 1000.0], [1 - 4e-8, 4e-8]), Box("w", "W", 0.0, [10.0], [1.0])])
        for i in range(200)
    ]
    found = solve(Instance(searches), [make(plugins().constraints, {"type": "quota", "group": "W", "share": 1.0})])
    assert found.constrained is not None
    assert abs(found.constrained.slacks[0]) < 1e-9
    assert found.constrained.utility == pytest.approx(2000.0, rel=1e-12)
