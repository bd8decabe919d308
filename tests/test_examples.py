"""The third-party package of docs/examples: built, installed, tested, run, and held against brute force."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditkit import cli, plugin_manager
from auditkit.constraints.binding import make
from auditkit.model.documents import instance_from_document
from auditkit.scheduled import alert
from auditkit.solver import solve
from support import ROOT
from support.audit_helpers import rows, save
from support.occupancy import Document, Row, occupancy
from support.plugin_helpers import install
from support.throwaway import environment, run
from support.tiny import box_instance, chain_instance, inspected, selected, terms

EXAMPLE = ROOT / "docs" / "examples" / "hiring-rules"
QUICK = "[fit]\npoints = 10\ngroup_aware = true\n[report]\nreplicates = 0\nwhat_if = false\nalternatives = false\n"
SPECS = ("-c", "at-least-one:group=Female,number=2", "-c", "rate-spread:maximum=0.005")


def test_it_is_installed_and_prices_both(tmp_path: Path) -> None:
    folder = tmp_path / "hiring-rules"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build", ".*"))
    python = environment(tmp_path / "env", folder)
    assert "10 passed" in run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=folder)

    listed = json.loads(run(python, "-m", "auditkit", "plugins", "--json", cwd=tmp_path))
    assert listed["warnings"] == []
    theirs = {entry["name"]: entry for entry in listed["plugins"] if entry["distribution"] == "hiring-rules"}
    assert set(theirs) == {"at-least-one", "rate-spread"}
    assert all(entry["kind"] == "constraint" and entry["version"] == "1.0" for entry in theirs.values())

    save(tmp_path / "people.csv", rows(searches=4, each=7))
    (tmp_path / "quick.toml").write_text(QUICK)
    command = ("report", "people.csv", "--config", "quick.toml", "--format", "json", "-q", *SPECS)
    run(python, "-m", "auditkit", *command, cwd=tmp_path)
    document = json.loads((tmp_path / "people.audit.json").read_text())
    free = document["unconstrained"]
    one, spread, both = document["constrained"]
    assert [entry["label"] for entry in (one, spread)] == ["at-least-one Female", "rate-spread"]
    for entry in (one, spread, both):
        assert entry["status"] == "optimal" and entry["gap"] <= 1e-6
        digits = 0.005 * (free["utility"] + entry["utility"])  # a report has three of each
        assert entry["price_of_fairness"]["loss"] == pytest.approx(free["utility"] - entry["utility"], abs=digits)
    slacks = [row["slack"] for row in one["duals"]]
    assert len(slacks) == 4 and min(slacks) == pytest.approx(0.0, abs=1e-9) and one["price_of_fairness"]["loss"] > 0.1
    assert spread_of(free["by_group"]["Gender"]) > 0.0055
    assert spread_of(spread["by_group"]["Gender"]) == pytest.approx(0.005, abs=5e-4)  # of three digits
    assert spread_of(both["by_group"]["Gender"]) <= 0.005 + 5e-4
    assert both["utility"] <= min(one["utility"], spread["utility"]) + 1e-6


def spread_of(by_group: dict[str, Any]) -> float:
    """The standard deviation of the selection rates, each group weighing as much as it has candidates."""
    size = np.array([row["candidates"] for row in by_group.values()])
    rate = np.array([row["selected"] for row in by_group.values()]) / size
    return float(np.sqrt(np.average((rate - np.average(rate, weights=size)) ** 2, weights=size)))


# Against a linear program over all policies ---------------------------------------------------------------------------

KINDS = plugin_manager.load([EXAMPLE / "src" / "hiring_rules"]).constraints


def drawn(seed: int) -> Document:
    """A small instance in which both groups are."""
    rng = np.random.default_rng([7, seed])
    while True:
        document = (box_instance if seed % 2 else chain_instance)(rng, searches=2, candidates=3)
        if {c["group"] for search in document["searches"] for c in search["candidates"]} == {"X", "Y"}:
            return document


def priced(document: Document, **keys: Any) -> float | None:
    solution = solve(instance_from_document(document), [make(KINDS, keys)])
    return None if solution.constrained is None else solution.constrained.utility


def brute_force(document: Document, conditions: list[Row]) -> float | None:
    found = occupancy(document, conditions)
    return found.utility if found.status == "optimal" else None


@pytest.mark.parametrize("seed", range(12))
def test_at_least_one_is_exact(seed: int) -> None:
    document, number = drawn(seed), (0.5, 1.0, 1.5)[seed % 3]
    conditions: list[Row] = []
    for search in document["searches"]:
        people = [c for c in search["candidates"] if c["group"] == "Y"]
        start = {(search["id"], c["id"], "inspected" if "values" in c else c["start"]): 1.0 for c in people}
        conditions += [(start, ">=", min(number, len(people)))] if people else []
    expected = brute_force(document, conditions)
    assert priced(document, type="at-least-one", group="Y", number=number) == (
        None if expected is None else pytest.approx(expected, abs=1e-7)
    )


@pytest.mark.parametrize("on", ["selection", "inspection"])
@pytest.mark.parametrize("seed", range(1, 12, 2))
def test_rate_spread_of_two_groups_is_a_difference(seed: int, on: str) -> None:
    """Of two groups the variance is w_X w_Y (r_X - r_Y)^2: two affine rows say the same."""
    document, maximum = drawn(seed), 0.04
    people = [c for search in document["searches"] for c in search["candidates"]]
    size = {group: sum(c["group"] == group for c in people) for group in "XY"}
    difference = maximum * len(people) / np.sqrt(size["X"] * size["Y"])
    keys = selected if on == "selection" else inspected
    row = terms(document, keys, lambda c: (1 if c["group"] == "X" else -1) / size[c["group"]])
    expected = brute_force(document, [(row, "<=", difference), (row, ">=", -difference)])
    assert expected is not None
    assert priced(document, type="rate-spread", maximum=maximum, on=on) == pytest.approx(expected, abs=1e-6)


# What the guides show -------------------------------------------------------------------------------------------------


def blocks(page: str, language: str) -> list[str]:
    """The code of a page of the documentation, in order."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


PYTHON = blocks("plugins.md", "python")


COMMAND = next(block for block in PYTHON if "def auditkit_commands(" in block)
OTHERS = [block for block in PYTHON[3:] if block != COMMAND]


@pytest.fixture
def theirs(tmp_path: Path) -> plugin_manager.Plugins:
    """The examples of hooks in a folder for --plugins-dir."""
    folder = tmp_path / "shown"
    folder.mkdir()
    for i, block in enumerate(OTHERS):
        (folder / f"example_{i}.py").write_text(block)
    (folder / "openings.html").write_text(blocks("plugins.md", "html[+]jinja")[0])
    loaded = plugin_manager.load([folder])
    assert loaded.warnings == ()
    return loaded


def test_the_guide_shows_the_example_package_and_a_test() -> None:
    source = EXAMPLE / "src" / "hiring_rules"
    assert PYTHON[0] == (source / "at_least_one.py").read_text()
    assert PYTHON[1] == (source / "rate_spread.py").read_text()
    exec(compile(PYTHON[2], "plugins.md", "exec"), {})


def test_every_hook_has_an_example_that_is_loaded(theirs: plugin_manager.Plugins) -> None:
    added = {kind for (kind, _), origin in theirs.origins.items() if origin.distribution == "--plugins-dir"}
    assert added == {kind.name for kind in plugin_manager.KINDS} - {"constraint", "command"}


def test_the_fitter_of_the_guide(theirs: plugin_manager.Plugins) -> None:
    model = theirs.fitters["pooled"]().train(pd.DataFrame({"group": ["X", "Y"]}), np.array([1.0, 3.0]), np.ones(2))
    laws = model.laws(pd.DataFrame({"group": ["X", "Y", "Y"]}))
    assert len(laws) == 3 and laws.values.tolist() == [[1.0, 3.0]] and laws.probs.tolist() == [[0.5, 0.5]]


def test_the_alert_of_the_guide(theirs: plugin_manager.Plugins, tmp_path: Path) -> None:
    channel = alert.make(theirs.alerts, {"type": "log-file", "path": str(tmp_path / "log")})
    channel.send(alert.Alert("1", "crossed", "weekly", "2026-11-16T06:00:00Z", "a line was crossed", ""), {})
    assert (tmp_path / "log").read_text() == "2026-11-16T06:00:00Z a line was crossed\n"


def test_the_command_of_the_guide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    install(tmp_path, monkeypatch, COMMAND)
    assert cli.invoke(["groups", str(ROOT / "sample_data" / "four-boxes.json")]) == 0
    assert capfd.readouterr().out == "X, Y\n"


def test_the_reader_measure_and_section_of_the_guide(theirs: plugin_manager.Plugins, tmp_path: Path) -> None:
    pd.DataFrame(rows(searches=3, each=6)).astype(str).rename(columns=lambda name: name.replace(" ", "_")).to_stata(
        tmp_path / "people.dta", write_index=False
    )
    (tmp_path / "quick.toml").write_text(QUICK)
    options = ("--config", tmp_path / "quick.toml", "--plugins-dir", tmp_path / "shown", "-c", "parity", "-q")
    assert cli.invoke(["report", str(tmp_path / "people.dta"), *map(str, options)]) == 0
    page = (tmp_path / "people.audit.html").read_text(encoding="utf-8")
    assert re.search(r"The best policy without constraints leaves [\d.]+ positions open in people\.dta\.", page)
    document = json.loads((tmp_path / "people.audit.json").read_text())
    tables = document["disparity"]["tables"]
    measured = [group["measures"]["rate-difference"] for table in tables for group in table["groups"]]
    assert min(number for number in measured if number is not None) < 0
