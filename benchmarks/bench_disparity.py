"""How often a whole report names a difference: where there is none, and where there is one.

    python benchmarks/bench_disparity.py                 all scenarios, 300 data sets each, seeds 0, 1, 2, ...
    python benchmarks/bench_disparity.py 40 null         fewer data sets, one scenario
    python benchmarks/bench_disparity.py 0 cost          processor time at 1,500 to 1,000,000 rows

A report has three attributes (sex; race, three groups and a small one; age, two groups, in the nulls with four bands
and their trend), the crossing of sex and race, four steps and requisitions in five departments. It *names* a difference
where a group has a status of difference found, or a trend is found.

Ways side by side:
    report   `disparity.disparities`: a group of a table, a trend, or a segment that the search names
    tables   a group of a table only
    without  the same report of data without departments, in which nothing is searched
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # one process a core

import numpy as np
from numpy.typing import NDArray

from auditkit.config import ReportSettings
from auditkit.data.attributes import AGE_BANDS
from auditkit.disparity.applicants import Applicants
from auditkit.disparity.cuts import DisparitySettings, cuts
from auditkit.disparity.disparity_tables import disparities
from auditkit.disparity.page_evidence import page_evidence

STEPS = ("screened", "interviewed", "offered", "hired")
SUPPRESSED = ReportSettings().suppress_below
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """Where applications come from. Ratios multiply the chance to pass a step for those concerned."""

    requisitions: int = 60
    size: int = 25
    pass_rates: tuple[float, ...] = (0.6, 0.42, 0.5, 0.64)  # of those who reached the step before
    women_spread: float = 0.0  # how much the share of women differs between requisitions (sd, logit)
    rate_spread: float = 0.0  # how much pass rates differ between requisitions (sd, logit)
    women: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    black: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    department: int | None = None  # the only one in which `women` applies
    capacity: int | None = None  # every requisition interviews and hires exactly so many, at random
    repeats: int = 1  # applications of one person, all with the same luck
    banded: bool = False  # age has four bands, and a trend is tested


def draw(world: World, seed: int) -> Applicants:
    rng = np.random.default_rng([2026, seed])
    K, m = world.requisitions, world.size
    rows = K * m
    stratum = np.repeat(np.arange(K), m)
    department = stratum % 5
    share = 1 / (1 + np.exp(0.13 - world.women_spread * rng.standard_normal(K)))
    person = np.arange(rows) if world.repeats == 1 else rng.permutation(rows) // world.repeats
    draws = rng.random((3, rows))[:, person]
    sex = np.where((rng.random(rows) < share[stratum]) if world.repeats == 1 else draws[0] < 0.47, "Female", "Male")
    race = np.array(["White", "Black", "Asian", "Other"])[np.searchsorted([0.5, 0.73, 0.98], draws[1])]
    age = np.where(draws[2] < 0.3, "40 and over", "under 40")
    band = np.searchsorted([-0.3, -0.12, -0.04], -draws[2])  # 70 % under 40, 18 % to 49, 8 % to 59, 4 % older
    shift = world.rate_spread * rng.standard_normal(K)
    reached = np.ones(rows, dtype=bool)
    steps: dict[str, NDArray[np.bool_]] = {}
    luck = rng.random((len(STEPS), rows))[:, person]
    for s, (step, rate) in enumerate(zip(STEPS, world.pass_rates)):
        chance = 1 / (1 + np.exp(-np.log(rate / (1 - rate)) - shift[stratum]))
        concerned = (sex == "Female") & ((department == world.department) | (world.department is None))
        chance = chance * np.where(concerned, world.women[s], 1.0) * np.where(race == "Black", world.black[s], 1.0)
        if world.capacity is None:
            reached = reached & (luck[s] < chance)
        elif s % 2:  # interviews and hires: the luckiest of each requisition
            order = np.where(reached, luck[s] / chance, np.inf).reshape(K, m).argsort(axis=1).argsort(axis=1).ravel()
            reached = reached & (order < world.capacity * (4 if s == 1 else 1))
        steps[step] = reached
    crossed = np.char.add(np.char.add(sex, "+"), race)
    arrays = {name: column.astype(object) for name, column in (("sex", sex), ("race", race), ("age", age))}
    return Applicants(
        attributes=arrays,
        steps=steps,
        crossings={"sex+race": crossed.astype(object)},
        strata=stratum,
        segments={"department": department.astype(str).astype(object)},
        persons=person if world.repeats > 1 else None,
        ordered={"age": AGE_BANDS} if world.banded else {},
        bands={"age": np.array(AGE_BANDS, dtype=object)[band]} if world.banded else {},
    )


Name = tuple[str, str, str]
Named = dict[str, set[Name]]


def names(world: World, seed: int) -> tuple[Named, bool]:
    """What each way names, as (attribute, group, step); and whether the report names department 0."""
    data = draw(world, seed)
    tables, searched, there = named(data)
    compared = world.women != PLAIN.women or world.black != PLAIN.black  # of power only
    without = named(replace(data, segments={}))[0] if compared else set()
    return {"report": tables | searched, "tables": tables, "without": without}, there


def named(data: Applicants) -> tuple[set[Name], set[Name], bool]:
    """Differences and trends of tables, those of the search, and whether department 0 is among the latter."""
    settings = DisparitySettings(threshold=SUPPRESSED)
    evidence = page_evidence(data, list(cuts(data, settings)), settings)
    adjusted = [tests.gate for tests in evidence.tables.values()] + [p for _, p in evidence.searched]
    adjusted += [trend.p_adjusted or 0.0 for trend in evidence.trends.values()]
    if min(adjusted) > settings.alpha:
        return set(), set(), False
    found = disparities(data, settings)
    tables = {(table.attribute, row.group, table.step) for table, row in found.found()}
    trends = [t for t in found.tables if t.trend is not None and (t.trend.p_adjusted or 0.0) <= settings.alpha]
    tables |= {(table.attribute, "trend", table.step) for table in trends}
    searched = {(one.attribute, one.group, one.step) for one in found.search.found}
    return tables, searched, any((one.segment, one.value) == ("department", "0") for one in found.search.found)


Concern = Callable[[Name], bool]


def of_women(name: Name) -> bool:
    return "Female" in name[1] or "Male" in name[1]


def of_black(name: Name) -> bool:
    return "Black" in name[1] or name[0] == "sex+race"


NULL = World(banded=True)
PLAIN = World()
LOOKED_AT: dict[str, tuple[World, Concern | None]] = {
    "null": (NULL, None),
    "null, requisitions differ in rates and in who applies": (replace(NULL, women_spread=0.8, rate_spread=0.8), None),
    "women interviewed at 0.76": (replace(PLAIN, women=(1, 0.76, 1, 1)), of_women),
}
OTHERS: dict[str, tuple[World, Concern | None]] = {
    "null, 8 requisitions of 20": (replace(NULL, requisitions=8, size=20), None),
    "null, fixed numbers of interviews and hires": (replace(NULL, capacity=2), None),
    "null, 5 requisitions of 300 that differ": (
        replace(NULL, requisitions=5, size=300, women_spread=0.8, rate_spread=0.8),
        None,
    ),
    "null, 20 requisitions of 75 that differ": (
        replace(NULL, requisitions=20, size=75, women_spread=0.8, rate_spread=0.8),
        None,
    ),
    "null, everybody applies three times": (replace(NULL, repeats=3), None),
    "women interviewed at 0.76, requisitions differ": (
        replace(PLAIN, women=(1, 0.76, 1, 1), women_spread=0.8, rate_spread=0.8),
        of_women,
    ),
    "women interviewed at 0.76, four bands of age": (replace(NULL, women=(1, 0.76, 1, 1)), of_women),
    "women offered at 0.65": (replace(PLAIN, women=(1, 1, 0.65, 1)), of_women),
    "women interviewed at 0.4 in one department": (replace(PLAIN, women=(1, 0.4, 1, 1), department=0), of_women),
    "Black applicants pass every step at 0.8": (replace(PLAIN, black=(0.8, 0.8, 0.8, 0.8)), of_black),
}


def main(sets: int, only: str | None) -> None:
    print(f"{sets} data sets each, seeds 0 to {sets - 1}\n")
    print("| scenario | | report | tables | without | named though not there | department named |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with ProcessPoolExecutor(int(os.environ.get("JOBS", os.cpu_count() or 1))) as pool:
        for when, scenarios in (("looked at", LOOKED_AT), ("not looked at", OTHERS)):
            for title, (world, concern) in scenarios.items():
                if only is not None and only != title:
                    continue
                start = time.perf_counter()
                results = list(pool.map(names, [world] * sets, range(sets), chunksize=5))
                right = concern or (lambda name: True)
                share = {way: sum(any(map(right, named[way])) for named, _ in results) / sets for way in results[0][0]}
                wrong = sum(any(not right(name) for name in named["report"]) for named, _ in results) / sets
                there = f"{sum(there for _, there in results) / sets:.3f}" if world.department is not None else ""
                cells = " | ".join(f"{value:.3f}" for value in share.values())
                print(f"| {title} | {when} | {cells} | {wrong:.3f} | {there} |", flush=True)
                print(f"{title}: {time.perf_counter() - start:.0f} s", file=sys.stderr)


def cost() -> None:
    """Processor time of a page, and of its search."""
    print("| rows | seconds |\n| --- | --- |")
    for requisitions in (60, 4_000, 40_000):
        data = draw(replace(NULL, requisitions=requisitions), 0)
        start = time.process_time()
        disparities(data)
        print(f"| {data.rows:,} | {time.process_time() - start:.2f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[2:] == ["cost"]:
        cost()
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 300, sys.argv[2] if len(sys.argv) > 2 else None)
