"""Limits on units inside a search: one evaluation, as a multiple of that of the same search without limits.

A search of n candidates, 50 values each, at most K in all and at most 1.5 K / units in each unit, so that units fill
before the search does. `make bench` runs it; issue and README promise at most three times the number of units.
"""

from __future__ import annotations

import numpy as np
from timing import best_of

from auditkit.model.instance import Instance
from auditkit.model.limits import Limit
from auditkit.model.search import Box, Search
from auditkit.solver import evaluate

SIZES = ((60, 3, 10), (500, 10, 50), (2_000, 20, 100))


def search(n: int, units: int, k: int, support: int = 50, seed: int = 0) -> Search:
    rng = np.random.default_rng(seed)
    people = [
        Box(
            f"{i}",
            "X",
            float(rng.uniform(0.5, 3)),
            rng.normal(rng.normal(20, 3), 5, support),
            np.full(support, 1 / support),
        )
        for i in range(n)
    ]
    capacity = max(1, round(1.5 * k / units))
    limits = [Limit(f"unit {u}", capacity, candidates=[f"{i}" for i in range(u, n, units)]) for u in range(units)]
    return Search("s", k, people, limits)


def main() -> None:
    print("| n, units, K | without limits | with limits | ratio | 3 x units |\n| --- | --- | --- | --- | --- |")
    for n, units, k in SIZES:
        limited = Instance([search(n, units, k)])
        plain = Instance([Search("s", k, limited.searches[0].candidates)])
        times = []
        for layout in (plain.layout, limited.layout):
            prepared = evaluate.Prepared.of(layout, layout.reward)
            prepared.visits()
            times.append(best_of(5, prepared.visits))
        shown = " | ".join(f"{1e3 * seconds:.2f} ms" for seconds in times)
        print(f"| {n:,}, {units}, {k} | {shown} | {times[1] / times[0]:.1f} | {3 * units} |")


if __name__ == "__main__":
    main()
