"""How often a whole report names a difference, where there is none and where there is one (`bench_disparity`)."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench_disparity as bench

NAME = "reports"
FIRST = 9000
"""The seed of the first data set; smaller ones were seen while weights and shares were chosen."""
COUNTS = (20, 300)
KEYS = ("report", "tables", "without", "wrong", "department")


@dataclass(frozen=True)
class ReportScenario:
    name: str
    world: bench.World
    concern: bench.Concern | None


@dataclass(frozen=True)
class Drawn:
    scenario: ReportScenario
    seed: int


SCENARIOS = [ReportScenario(name, *each) for name, each in (bench.LOOKED_AT | bench.OTHERS).items()]
QUICK = ("null", "women interviewed at 0.76", "women interviewed at 0.4 in one department")
draw = Drawn


def measure(drawn: Drawn) -> dict[str, Any]:
    scenario = drawn.scenario
    named, there = bench.names(scenario.world, drawn.seed)
    right = scenario.concern or (lambda name: True)
    return {
        "report": any(map(right, named["report"])),
        "tables": any(map(right, named["tables"])),
        "without": any(map(right, named["without"])),
        "wrong": any(not right(name) for name in named["report"]),
        "department": there if scenario.world.department is not None else None,
    }


HEAD = """
Share of reports that name at least one difference: in a table, in a segment, or as a trend over bands of age. Where
there is none, this is the error of the whole report, at 5 %. A report has three attributes, a crossing, four steps and
five departments; about 1,500 applications; where nothing differs, ages are in four bands. *Without a search*: the same
data without departments. *Wrong*: a difference of other groups than those that differ. *Department*: the report names
the one department in which women are interviewed less often.
"""


def section(results: dict[str, list[dict[str, Any]]]) -> str:
    lines = ["## How often a report names a difference", "", *HEAD.strip().splitlines(), ""]
    lines += ["| scenario | data sets | named | standard error | in a table | without a search | wrong | department |"]
    lines += ["| --- " * 8 + "|"]
    for name, found in results.items():
        n = len(found)
        share = {key: sum(bool(one[key]) for one in found) / n for key in KEYS}
        there = "" if found[0]["department"] is None else f"{share['department']:.3f}"
        error = math.sqrt(share["report"] * (1 - share["report"]) / n)
        wrong = "" if name.startswith("null") else f"{share['wrong']:.3f}"
        without = "" if name.startswith("null") else f"{share['without']:.3f}"
        cells = f"{share['report']:.3f} | {error:.3f} | {share['tables']:.3f} | {without}"
        lines.append(f"| {name} | {n} | {cells} | {wrong} | {there} |")
    return "\n".join(lines)
