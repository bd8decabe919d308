"""Whether the interval of a price holds the price under the true laws: of the same searches, and of the population."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import pandas as pd
from known_firms import BOTH, FOUR, SIX, KnownFirm, Scenario, population

import auditkit
from auditkit.compare import Constrained, PriceInterval, compare, intervals
from auditkit.compare.parts import Parts
from auditkit.compare.revealed import needed_shifts
from auditkit.compare.shadow_prices import total_shifts
from auditkit.constraints import make_constraints
from auditkit.constraints.spec import parse
from auditkit.fitting.fitter import Fitter, Laws, ScoreModel, quantise
from auditkit.fitting.priors import fit
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats
from auditkit.plugin_manager import load
from auditkit.solver import Solution

NAME = "coverage"
AIM, ENOUGH = 0.92, 20
"""Coverage that is aimed at, and data sets from which on falling short of it is said."""
FIRST, COUNTS = 7000, (10, 40)
"""The seed of the first data set: those below 7000 were seen while methods were chosen. Data sets of each scenario."""
MANY = 2000
"""Searches of a population: they give its price to a few percent."""
POPULATIONS = Path(__file__).resolve().parents[2] / "build" / "validity" / "populations"

SMALL = {"race": {"X": 0.6, "Y": 0.34, "Z": 0.06}}
DRAWN, MOST_DRAWN = ", 60 drawn", 900
"""Replicates of these draw 60 searches, which hold so many candidates, as if all searches were more than they may."""
FOUR_GAP = {"X": -1.5, "Y": -3.0, "Z": -3.0}
_six = {"V": -1.0, "W": -1.0, "X": -2.0, "Y": -3.0, "Z": -4.0}
_both = {"F": -3.0, "X": -1.0, "Y": -3.0}
_by_both = ("parity:by=sex", "parity:by=race")
_scenarios = [
    Scenario("gap", shifts={"F": -3.0}, looked_at=True),
    Scenario("mild", shifts={"F": -1.5}, looked_at=True),
    Scenario("null", looked_at=True),
    Scenario("four groups, gap", FOUR, FOUR_GAP, looked_at=True),
    Scenario("four groups, null", FOUR, looked_at=True),
    Scenario("few scores, gap", shifts={"F": -2.0}, slope=0.3, spread=8.0, inspects=4, looked_at=True),
    Scenario("few scores, null", slope=0.3, spread=8.0, inspects=4, looked_at=True),
    Scenario("six groups, gap", SIX, _six, searches=60),
    Scenario("six groups, null", SIX, searches=60),
    Scenario("two attributes, gap", BOTH, _both, searches=60, constraints=_by_both),
    Scenario("two attributes, null", BOTH, searches=60, constraints=_by_both),
    Scenario("20 searches, gap", shifts={"F": -3.0}, searches=20, looked_at=True),
    Scenario("20 searches, null", searches=20),
    Scenario("200 searches, gap", shifts={"F": -3.0}, searches=200),
    Scenario("200 searches, mild", shifts={"F": -1.5}, searches=200),
    Scenario("200 searches, null", searches=200),
    Scenario("stages, gap", shifts={"F": -3.0}, staged=True, inspects=10, looked_at=True),
    Scenario("stages, null", staged=True, inspects=10, looked_at=True),
    Scenario("ratings, gap", shifts={"F": -3.0}, rating=4.0),
    Scenario("normal laws, gap", shifts={"F": -3.0}, fitter="normal", looked_at=True),
    Scenario("biased firm, gap", shifts={"F": -3.0}, bias={"F": -3.0}),
    Scenario("impact ratio, gap", shifts={"F": -3.0}, constraints=("impact-ratio",)),
    Scenario("fitter of a plugin, gap", shifts={"F": -3.0}, fitter="least squares"),
    Scenario("fitter of a plugin, null", fitter="least squares"),
    Scenario("a small group, gap", SMALL, {"Y": -1.0, "Z": -4.0}, searches=40),
    Scenario("dear inspections, large searches", shifts={"F": -2.0}, searches=15, size=40, capacity=4, cost=3.0),
    Scenario(f"200 searches, gap{DRAWN}", shifts={"F": -3.0}, searches=200),
    Scenario(f"200 searches, mild{DRAWN}", shifts={"F": -1.5}, searches=200),
    Scenario(f"four groups, 150 searches, null{DRAWN}", FOUR, searches=150),
]
SCENARIOS = [replace(scenario, stream=number) for number, scenario in enumerate(_scenarios, 1)]
QUICK = ("gap", "mild", "null", "four groups, gap", "two attributes, gap", "200 searches, mild", "stages, gap")


def price_of_population(scenario: Scenario) -> list[float]:
    """Loss per search of each constraint, and of all together where there are several; worked out once and kept."""
    path = POPULATIONS / f"{scenario.name}-{MANY}.json"
    if not path.exists():
        losses = [each.loss or 0.0 for each in solved(population(scenario, searches=MANY), scenario.constraints)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([loss / MANY for loss in losses]), encoding="utf-8")
    found: list[float] = json.loads(path.read_text(encoding="utf-8"))
    return found


def solved(truth: Instance, constraints: tuple[str, ...]) -> list[Solution]:
    several = [*constraints] + ([constraints] if len(constraints) > 1 else [])
    return [auditkit.solve(truth, each) for each in several]


def needed(solution: Solution, references: Mapping[str, str]) -> dict[str, float]:
    """Group -> the shift that an exact optimum needs."""
    optimum = solution.constrained
    assert optimum is not None
    shifts = total_shifts(Parts.of(optimum.rows, optimum.outcome.layout), optimum.duals)
    return {row.group: row.shift for row in needed_shifts([("", optimum.rows, shifts, ())], references, 1.0, 0.95)}


class LeastSquares(Fitter):
    """As somebody's plugin might fit: a straight line in the numbers, a level for each group, one law of residuals."""

    name: ClassVar[str] = "least squares"

    def train(self, features: pd.DataFrame, scores: Floats, weights: Floats) -> ScoreModel:
        numbers, texts = features.select_dtypes("number"), features.select_dtypes(exclude="number")
        dummies = pd.get_dummies(texts.astype("str"), dtype=float).columns
        x = np.column_stack([np.ones(len(features)), numbers, _dummies(texts, dummies)])
        root = np.sqrt(weights)
        slopes = np.linalg.lstsq(x * root[:, None], scores * root, rcond=None)[0]
        return _Line(slopes, list(numbers), dummies, quantise(scores - x @ slopes, weights, self.points))


class _Line(ScoreModel):
    def __init__(self, slopes: Floats, numbers: list[str], dummies: pd.Index[str], residuals: Any) -> None:
        self.slopes, self.numbers, self.dummies, self.residuals = slopes, numbers, dummies, residuals

    def laws(self, features: pd.DataFrame) -> Laws:
        texts = features.drop(columns=self.numbers)
        x = np.column_stack([np.ones(len(features)), features[self.numbers], _dummies(texts, self.dummies)])
        values, probs = self.residuals
        return Laws.of([(values + mean, probs) for mean in x @ self.slopes], np.arange(len(features)))


def _dummies(texts: pd.DataFrame, columns: pd.Index[str]) -> Floats:
    return pd.get_dummies(texts.astype("str"), dtype=float).reindex(columns=columns, fill_value=0.0).to_numpy()


def measure(firm: KnownFirm) -> dict[str, Any]:
    scenario, plugins = firm.scenario, load([])
    history = auditkit.read(firm.table, map=firm.roles, cost=firm.cost)
    fitters = plugins.fitters | {LeastSquares.name: LeastSquares}
    fitted = fit(history, fitters=fitters, fitter=scenario.fitter, cost=firm.cost, group_aware=not scenario.blind)
    made = make_constraints(plugins.constraints, [("", parse(text)) for text in scenario.constraints])
    begin = time.process_time()
    with mock.patch.object(intervals, "MOST", MOST_DRAWN if scenario.name.endswith(DRAWN) else intervals.MOST):
        compared = compare(fitted, made, plugins.constraints)
    seconds = time.process_time() - begin
    references = {name: str(firm.table[name].value_counts().index[0]) for name in scenario.shares}
    entries = []
    for entry, truth in zip(compared.constrained, solved(firm.truth, scenario.constraints), strict=True):
        found = entry.interval
        interval = list(found.loss) if isinstance(found, PriceInterval) else None
        entries.append(
            {
                "label": entry.label,
                "loss": entry.loss,
                "interval": interval,
                "one_sided": isinstance(found, PriceInterval) and found.one_sided,
                "instance": truth.loss or 0.0,
                "needed": _needed(entry, needed(truth, references), references),
            }
        )
    return {"seed": firm.seed, "seconds": seconds, "entries": entries}


def _needed(entry: Constrained, true: dict[str, float], references: Mapping[str, str]) -> list[dict[str, Any]]:
    assert entry.optimum is not None
    priced = [(entry.label, entry.optimum.rows, entry.shifts, entry.replicated_shifts)]
    return [
        {"group": row.group, "true": true.get(row.group, 0.0), "shift": row.shift, "interval": row.interval}
        for row in needed_shifts(priced, references, 1.0, 0.95)
    ]


HEAD = """
Loss in score points. *Held*: the share of data sets in which the 95 % interval holds the price of the same searches
under the true laws, and that of the population they come from (the price per search of 2,000 other searches, known to
a few percent). *Two-sided*: the share with a lower end above 0; where nothing differs, a false alarm.
"""

FOOT = r"""
\* looked at while a method was chosen, with other seeds. Replicates without shrinkage were chosen with the seeds 100 to
109 of `gap`, `mild`, `null`, `20 searches, gap`, `normal laws, gap`, `four groups` (both) and `stages, gap`, and
because of misses among the seeds 0 to 59 of these. The table has the seeds 7000, 7001, ... of each scenario, with
candidates of its own; they were run once, and the method was not changed afterwards. Three scenarios have 90 data sets
because they held 27 of the first 30. `a small group` (6 % of them),
`dear inspections, large searches` and those with `60 drawn` are new, and were seen for the first time in this table. In
the latter, replicates draw and price 60 of the searches, as those of large firms do.
"""


WHY = """
A share of 0.92 among 90 has a standard error of 0.03. In `normal laws, gap` all that missed the population's price
among the first 30 were too high: data sets whose scores show a larger difference than the true one. With replicates
that shrink the share was 0.90 of 60 there (seeds 0 to 59): this fitter hardly shrinks, so that little was to be gained.
"""

SHIFTS = """

### Shifts that the constraints need

Groups against the largest one, in score points; the interval is to hold the shift of the exact optimum of the same
searches under the true laws. Like those of duals, these intervals include the error of the priors and not the choice of
searches.

| scenario | data sets | shifts | true, mean | reported, mean | root mean square error | held | width |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def section(results: dict[str, list[dict[str, Any]]]) -> str:
    lines = [
        "## Intervals of the price",
        "",
        *HEAD.strip().splitlines(),
        "",
        "| scenario | data sets | true loss | reported: mean, median | held: instance | population | two-sided "
        "| width |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    whole: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    below: list[str] = []
    for scenario in SCENARIOS:
        found = results.get(scenario.name, [])
        every = price_of_population(scenario) if found else []
        for number in range(len(found[0]["entries"]) if found else 0):
            price = every[number] * scenario.searches
            rows = [{**each["entries"][number], "population": price} for each in found]
            whole[scenario.looked_at] += rows
            label = scenario.name + (f", {rows[0]['label']}" if len(found[0]["entries"]) > 1 else "")
            lines.append(line_of(label + ("*" if scenario.looked_at else ""), rows))
            held = _held(rows)
            if len(rows) >= ENOUGH and min(held) < AIM:
                below.append(f"{label} ({held[0]:.2f} and {held[1]:.2f} of {len(rows)})")
    for looked_at, rows in whole.items():
        if rows:
            lines.append(line_of("all that were looked at" if looked_at else "all others", rows))
    if below:
        lines += [
            "",
            f"**Less than {AIM:.2f} was held**, of the instance or of the population, in: {'; '.join(below)}.",
        ]
        lines += WHY.strip().splitlines()
    lines += ["", *FOOT.strip().splitlines(), *shifts_section(results)]
    return "\n".join(lines)


def shifts_section(results: dict[str, list[dict[str, Any]]]) -> list[str]:
    """The shifts that constraints need, where they were measured."""
    lines = []
    for scenario in SCENARIOS:
        known = [each["entries"] for each in results.get(scenario.name, []) if "needed" in each["entries"][0]]
        for number in range(len(known[0]) if known else 0):
            rows = [row for each in known for row in each[number]["needed"] if row["interval"]]
            if not rows:
                continue
            true, shift = (np.array([row[key] for row in rows]) for key in ("true", "shift"))
            sign = np.where(true < 0, -1.0, 1.0)  # the reference is the larger group, whichever that happens to be
            true, shift = sign * true, sign * shift
            held = np.mean([_inside(row["true"], row["interval"]) for row in rows])
            width = np.median([row["interval"][1] - row["interval"][0] for row in rows])
            label = scenario.name + (f", {known[0][number]['label']}" if len(known[0]) > 1 else "")
            lines.append(
                f"| {label} | {len(known)} | {len(rows)} | {true.mean():.2f} | {shift.mean():.2f} "
                f"| {np.sqrt(((shift - true) ** 2).mean()):.2f} | {held:.2f} | {width:.1f} |"
            )
    return SHIFTS.rstrip().splitlines() + lines if lines else []


def line_of(label: str, rows: list[dict[str, Any]]) -> str:
    known = [row for row in rows if row["interval"] is not None]
    loss, true = (np.array([row[key] for row in rows]) for key in ("loss", "instance"))
    held = _held(rows)
    two_sided = np.mean([row["interval"][0] > 0 for row in known])
    width = np.median([row["interval"][1] - row["interval"][0] for row in known])
    without = f" ({len(rows) - len(known)} without)" if len(known) < len(rows) else ""
    numbers = f"{true.mean():.2f} | {loss.mean():.2f}, {np.median(loss):.2f}"
    shares = f"{held[0]:.2f} | {held[1]:.2f} | {two_sided:.2f}"
    return f"| {label} | {len(rows)}{without} | {numbers} | {shares} | {width:.1f} |"


def _held(rows: list[dict[str, Any]]) -> list[float]:
    """The shares of data sets whose interval holds the price of the instance, and of the population."""
    known = [row for row in rows if row["interval"] is not None]
    return [float(np.mean([_inside(row[key], row["interval"]) for row in known])) for key in ("instance", "population")]


def _inside(value: float, interval: list[float]) -> bool:
    return interval[0] - 1e-6 <= value <= interval[1] + 1e-6
