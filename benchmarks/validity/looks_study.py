"""Two years of weekly looks: how often evidence over time cries wolf, and how soon it finds (`bench_sequential`)."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bench_sequential as bench

NAME = "looks"
FIRST = 20_000
COUNTS = (200, 1000)


@dataclass(frozen=True)
class LooksScenario:
    name: str
    ratio: float
    weeks: bench.Weeks


@dataclass(frozen=True)
class Drawn:
    scenario: LooksScenario
    seed: int


SCENARIOS = [
    LooksScenario(f"ratio {ratio:g}{', ' if kind else ''}{kind}", ratio, weeks)
    for kind, weeks in bench.KINDS.items()
    for ratio in (1.0, 0.8, 0.7, 0.6)
]
QUICK = tuple(scenario.name for scenario in SCENARIOS if scenario.ratio in (1.0, 0.7))
draw = Drawn


def measure(drawn: Drawn) -> dict[str, Any]:
    rng = np.random.default_rng([26, int(100 * drawn.scenario.ratio), drawn.seed])
    return dict(
        zip(("evidence", "weekly", "yearly"), bench.looks(rng, drawn.scenario.ratio, drawn.scenario.weeks), strict=True)
    )


HEAD = """
One requisition closes a week for two years, with 15 women and 15 men, of whom 30 % of the men are selected; or two of
about 12 people, 40 % women on average, which are counted in sets because fewer than 5 of a sex applied. Shares of women
and rates of such requisitions differ (spread of the logits 0.8 each), or go together (1.5 and 1.0, correlation -0.9).
The e-process alarms at 20. Beside it the test within single requisitions at 5 %, read every week from the fourth on,
and once a year. Where the ratio is 1, an alarm is false. Counting a set as if it were one requisition, as evidence over
time did until November 2026, cried wolf in 0.97 of 100 firms of the last kind.
"""


def section(results: dict[str, list[dict[str, Any]]]) -> str:
    lines = ["## Weekly looks", "", *HEAD.strip().splitlines(), ""]
    lines += [
        "| scenario | data sets | evidence over time | weekly test | yearly test | median weeks: evidence | yearly |"
    ]
    lines += ["| --- " * 7 + "|"]
    for name, found in results.items():
        weeks = np.array(
            [[np.inf if one[key] is None else one[key] for key in ("evidence", "weekly", "yearly")] for one in found]
        )
        ever = " | ".join(f"{share:.3f}" for share in np.isfinite(weeks).mean(axis=0))
        first, _, last = (f"{m:.0f}" if np.isfinite(m) else "over 104" for m in np.median(weeks, axis=0))
        lines.append(f"| {name} | {len(found)} | {ever} | {first} | {last} |")
    return "\n".join(lines)
