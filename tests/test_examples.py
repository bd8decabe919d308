"""The third-party package of docs/examples: held against brute force, and what the guides show of it."""

from __future__ import annotations

import json
import re
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
from support.audit_helpers import rows
from support.occupancy import Document, Row, occupancy
from support.plugin_helpers import install
from support.tiny import box_instance, chain_instance, inspected, selected, terms

EXAMPLE = ROOT / "docs" / "examples" / "hiring-rules"
QUICK = "[fit]\npoints = 10\ngroup_aware = true\n[report]\nreplicates = 0\nwhat_if = false\nalternatives = false\n"


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
