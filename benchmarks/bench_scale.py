"""Firm-wide constraints at 10,000, 100,000 and 1,000,000 candidates: processor time and memory, in one run.

Instances are made here, without a file: requisitions of about 25 candidates whose priors are fitted by stratum, so that
there are a few thousand types of candidates however many there are. Each size runs in a process of its own, because
memory is measured by its peak. `make bench-scale` runs it; other sizes can be named on the command line.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from unittest import mock

import numpy as np
from opponents import Boxes, monte_carlo
from timing import best_of

from auditkit.compare.expost import ExPost
from auditkit.constraints.binding import bind
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.plugins.impact_ratio import ImpactRatio
from auditkit.plugins.parity import Parity
from auditkit.solver import block_sums, solve, start_engine
from auditkit.solver.block_sums import Cells
from auditkit.solver.oracle import Oracle

SIZES = (10_000, 100_000, 1_000_000)
DASK_SIZE = 200_000
PER_SEARCH, STRATA, VALUES = 25, 400, 10
GENDERS, ORIGINS = ("F", "M"), ("A", "B", "C", "D")
TIMED = (
    "make",
    "layout",
    "types",
    "evaluation",
    "parity",
    "two parities and impact ratios",
    "law of unfilled positions",
)
COUNTED = ("evaluations, parity", "rows of all", "evaluations, all", "lotteries, all", "megabytes")
DRAWS, SIMULATED = 100_000, 20
"""Simulated are a few searches, and the time is scaled to all of them."""


def firm(candidates: int, seed: int = 1) -> Instance:
    rng = np.random.default_rng(seed)
    laws = [
        (np.sort(rng.normal(rng.uniform(40, 60), 10, VALUES))[::-1], rng.dirichlet(np.ones(VALUES) * 4))
        for _ in range(STRATA)
    ]
    costs = rng.uniform(1, 4, STRATA)
    searches = []
    for number in range(candidates // PER_SEARCH):
        stratum, gender = rng.integers(STRATA, size=PER_SEARCH), rng.integers(2, size=PER_SEARCH)
        origin = rng.choice(4, PER_SEARCH, p=(0.5, 0.25, 0.15, 0.1))
        boxes = tuple(
            Box(str(i), {"Gender": GENDERS[g], "Origin": ORIGINS[o]}, costs[s], *laws[s])
            for i, (s, g, o) in enumerate(zip(stratum, gender, origin, strict=True))
        )
        searches.append(Search(str(number), int(rng.integers(1, 4)), boxes))
    return Instance(tuple(searches))


def measure(candidates: int) -> list[float]:
    found = []

    def spent() -> float:
        now = time.process_time()
        took = now - spent.last  # type: ignore[attr-defined]
        spent.last = now  # type: ignore[attr-defined]
        return took

    every = [Parity(), ImpactRatio(minimum=0.95), ImpactRatio(minimum=0.95, on="inspection")]
    spent.last = time.process_time()  # type: ignore[attr-defined]
    solve(firm(500), every)  # compiles the kernels
    spent()
    instance = firm(candidates)
    found.append(spent())
    layout = instance.layout
    found.append(spent())
    Cells.of(layout)
    found.append(spent())
    oracle = Oracle(layout, bind([Parity(by="Gender")], layout))
    oracle.at(np.zeros(len(oracle.rows)))
    spent()
    oracle.at(np.full(len(oracle.rows), 0.01))
    found.append(spent())
    del oracle
    parity = solve(instance, [Parity(by="Gender")]).constrained
    found.append(spent())
    both = solve(instance, every).constrained
    found.append(spent())
    assert parity is not None and both is not None
    ExPost(layout, parity.rows, parity.mixture, None).unfilled()
    found.append(spent())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    spent()
    for number in range(SIMULATED):
        monte_carlo(Boxes.of(Instance((instance.searches[number],))), DRAWS)
    simulated = spent() * len(instance.searches) / SIMULATED
    counts = (parity.evaluations, len(both.rows), both.evaluations, both.mixture.randomised, memory, simulated)
    return [*found, *map(float, counts)]


def on_dask(candidates: int) -> list[float]:
    """Seconds by the clock of an evaluation: in one thread of one process, in its threads, and on dask workers."""
    layout = firm(candidates).layout
    oracle = Oracle(layout, bind([Parity()], layout))
    points = [np.full(len(oracle.rows), 0.01 * i) for i in range(6)]

    def seconds() -> float:
        return best_of(3, lambda: [oracle.at(duals) for duals in points]) / len(points)

    oracle.at(points[0])
    with mock.patch.object(block_sums, "pieces", lambda first: [(0, len(first) - 1)]):
        found = [seconds()]
    found.append(seconds())
    begin = time.perf_counter()
    with start_engine.running("dask"):
        oracle.at(points[0])
        found += [time.perf_counter() - begin, seconds()]
    return found


def in_own_process(candidates: int) -> list[float]:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, " ".join(map(repr, measure(candidates))).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        numbers = [float(x) for x in answer.read().split()]
    os.waitpid(child, 0)
    return numbers


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or list(SIZES)
    print("seconds of processor time; in brackets the growth per candidate since the size before (1 is linear)")
    before: list[float] = []
    for n, size in enumerate(sizes):
        numbers = in_own_process(size)
        print(f"\n{size:,} candidates in {size // PER_SEARCH:,} searches")
        for i, name in enumerate(TIMED):
            growth = f"  ({numbers[i] / before[i] * sizes[n - 1] / size:.2f})" if before and before[i] else ""
            print(f"  {name:32} {numbers[i]:10,.2f}{growth}")
        for i, name in enumerate(COUNTED, len(TIMED)):
            print(f"  {name:32} {numbers[i]:10,.0f}")
        for i in (4, 5):
            print(f"  {TIMED[i]} in the time of {numbers[i] / max(numbers[3], 1e-9):.0f} evaluations")
        print(
            f"  an evaluation by {DRAWS:,} draws: {numbers[-1]:,.0f} s ({numbers[-1] / numbers[3]:,.0f} times as long)"
        )
        before = numbers
    size = min(sizes[-1], DASK_SIZE)
    one, threads, start, dask = on_dask(size)
    print(f"\nan evaluation of {size:,} candidates by the clock, on {os.cpu_count()} cores")
    print(f"  one thread     {one:10.3f}")
    print(f"  threads        {threads:10.3f}  ({threads / one:.2f} of one thread)")
    print(f"  dask workers   {dask:10.3f}  ({dask / one:.2f} of one thread, {start:.1f} s to start and send)")


if __name__ == "__main__":
    main()
