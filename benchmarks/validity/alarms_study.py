"""Alarms of revealed shifts and of the test of hidden information, on seeds with which no method was chosen.

Cheap, because nothing is solved: only the standing, the conditional logit of the first step and the test are computed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from known_firms import BOTH, FOUR, SIX, TWO, KnownFirm, Scenario

import auditkit
from auditkit.compare.firm_decisions import standings_of
from auditkit.compare.revealed import revealed
from auditkit.data.privacy import protect
from auditkit.fitting.hidden_information import hidden_information

NAME = "alarms"
FIRST = 5000
"""The seed of the first data set. Seeds below 1400 were used while methods were chosen."""
COUNTS = (60, 300)
"""Data sets of each scenario: without --full, and with it."""

COMMON, UNEVEN = "scores of a search move together", "unequal spread"
_gap = {"V": -1.0, "X": -2.0, "Z": -4.0}
_scenarios = [
    Scenario("two groups", looked_at=True),
    Scenario("two groups, 20 searches", searches=20, looked_at=True),
    Scenario("two groups, 133 searches", searches=133, looked_at=True),
    Scenario("four groups", FOUR, searches=60, looked_at=True),
    Scenario("six groups, gap", SIX, _gap, searches=60, looked_at=True),
    Scenario("two groups, gap", shifts={"F": -3.0}, searches=50),
    Scenario("six groups", SIX, searches=60),
    Scenario("six groups, 150 searches", SIX, _gap, searches=150),
    Scenario("two attributes", BOTH, searches=60),
    Scenario("ratings", shifts={"F": -3.0}, rating=4.0, searches=40),
    Scenario(f"two groups, {COMMON}", TWO, searches=40),
    Scenario(f"six groups, {COMMON}", SIX, searches=60),
    Scenario(f"six groups, {UNEVEN}", SIX, searches=60),
    Scenario("large searches", searches=25, size=40, capacity=3, inspects=12),
    Scenario("stages", shifts={"F": -3.0}, staged=True, inspects=10, searches=60),
    Scenario("bias -2", bias={"F": -2.0}, looked_at=True),
    Scenario("bias -4, gap", shifts={"F": -3.0}, bias={"F": -4.0}, looked_at=True),
    Scenario("noisy firm, bias -3", bias={"F": -3.0}, noise=6.0, looked_at=True),
    Scenario("six groups, bias", SIX, _gap, bias={"V": -2.0, "Y": -3.0}, searches=60),
    Scenario("two attributes, bias", BOTH, bias={"F": -3.0, "Y": -2.0}, searches=60, looked_at=True),
    Scenario("stages, bias -3", bias={"F": -3.0}, staged=True, inspects=10, searches=60, looked_at=True),
    Scenario("hidden signal of F, 30 searches", hidden={"F": 4.0}, looked_at=True),
    Scenario("hidden signal of F, 133 searches", hidden={"F": 4.0}, searches=133, looked_at=True),
    Scenario("hidden signal of one of six", SIX, hidden={"V": 4.0}, searches=133),
    Scenario("weak hidden signal of F, 133 searches", hidden={"F": 2.0}, searches=133),
]
SCENARIOS = [replace(scenario, stream=100 + number) for number, scenario in enumerate(_scenarios)]
QUICK = ("two groups", "six groups, gap", "six groups", "bias -2", "hidden signal of F, 30 searches")


def measure(firm: KnownFirm) -> dict[str, Any]:
    table = firm.table.copy()
    rng = np.random.default_rng([FIRST, firm.seed])
    if COMMON in firm.scenario.name:
        table["Score"] += 3.0 * rng.standard_normal(firm.scenario.searches).repeat(firm.scenario.size)
    if UNEVEN in firm.scenario.name:
        middle = firm.people["expected"]
        table["Score"] = middle + (table["Score"] - middle) * np.where(table["race"].isin(["U", "Y"]), 1.0, 0.5)
    history = protect(auditkit.read(table, map=firm.roles, cost=firm.cost), 5).history
    known = standings_of(history)
    assert known is not None
    groups = {name: history.table[f"group:{name}"].astype("str").to_numpy() for name in history.attributes}
    tests = hidden_information(known, groups, history.table["score"].to_numpy(dtype=np.float64))
    bias, shifts = firm.scenario.bias, []
    for step in revealed(history, known, (), 1.0).steps[:1]:
        for row in step.shifts:
            true = bias.get(row.group, 0.0) - bias.get(row.reference, 0.0)
            sign = -1.0 if true > 0 else 1.0  # the reference is the larger group, whichever that happens to be
            interval = sorted(sign * end for end in row.interval)
            shifts.append({"true": sign * true, "shift": sign * row.shift, "interval": interval})
    return {
        "seed": firm.seed,
        "shifts": shifts,
        "tests": [{"verdict": test.verdict, "p": test.p} for test in tests],
    }


HEAD = f"""
The seeds {FIRST}, {FIRST + 1}, ... of each scenario, with candidates of its own. *Error* is the root mean
square, *held* the share of intervals that hold the true shift. *Alarms* of a shift are intervals
without 0, where the true shift is 0 they are false. *Found* is the test of hidden information at 0.05 (all
tests of a data set together where there are several attributes), a false alarm in scenarios without a hidden signal.
"""

FOOT = rf"""
\* The scenario was used, with seeds below 1400, while a method was chosen. With 300 data sets a share of 0.05 has a
standard error of 0.013, with 130 one of 0.019. Six scenarios with two and six groups, in which every alarm is false,
were taken to 300 after 128 data sets of *two groups, {COMMON}* had found 0.086.
Until the last change the test took F with as many degrees of freedom as there are searches, and with six groups it
found 0.083 (seeds 1000 to 1399, which is where the reason was looked for): a group that occurs in few searches leaves
far fewer, about 24 of 60. It now has those of Pustejovsky and Tipton's approximate
Hotelling test, which was not adjusted to any scenario. In *{COMMON}* all scores of a search share an
effect with a spread of 3; in *{UNEVEN}* four of six groups have half the spread. Of stages, shifts are those of the
first step. Where the firm has a hidden signal of one group, its standings spread more widely in that group, and a shift
is not the whole description of its decisions: alarms there are not counted as false.
"""


def section(results: dict[str, list[dict[str, Any]]]) -> str:
    lines = [
        "## Alarms and recovery on fresh seeds",
        "",
        *HEAD.strip().splitlines(),
        "",
        "| scenario | sets, shifts | true | mean | error | held | alarms | found | cannot tell |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for scenario in SCENARIOS:
        found = results.get(scenario.name, [])
        if not found:
            continue
        verdicts = [[test["verdict"] for test in each["tests"]] for each in found]
        seen = [np.mean([verdict in each for each in verdicts]) for verdict in ("found", "cannot-tell")]
        name = scenario.name + ("*" if scenario.looked_at else "")
        rows = [shift for each in found for shift in each["shifts"]]
        for true in sorted({row["true"] for row in rows}, reverse=True):
            own = [row for row in rows if row["true"] == true]
            shift = np.array([row["shift"] for row in own])
            held, out = (np.mean([row["interval"][0] <= at <= row["interval"][1] for row in own]) for at in (true, 0.0))
            error = np.sqrt(((shift - true) ** 2).mean())
            lines.append(
                f"| {name} | {len(found)}, {len(own)} | {true:g} | {shift.mean():.2f} | {error:.2f} "
                f"| {held:.3f} | {1 - out:.3f} | {seen[0]:.3f} | {seen[1]:.2f} |"
            )
    return "\n".join([*lines, "", *FOOT.strip().splitlines()])
