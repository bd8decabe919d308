"""Two years of weekly looks at one decision: how often evidence over time cries wolf, and how soon it finds a ratio.

    python benchmarks/bench_sequential.py [DATA SETS]

One requisition closes a week, 15 women and 15 men, of whom 30 % of the men are selected. Beside the e-process (alarm at
20): the test within requisitions at 5 %, read every week from the fourth on, and once a year.
"""

from __future__ import annotations

import sys

import numpy as np

from auditkit.disparity import stratify
from auditkit.disparity.sequential import ALARM, GRID, e_value, log_evidence

WEEKS, YEAR, PEOPLE, RATE = 104, 52, 15, 0.3


def looks(rng: np.random.Generator, ratio: float) -> tuple[int | None, int | None, int | None]:
    """The week of the first alarm: of the e-process, of the weekly test, of the yearly test."""
    log, seen = np.zeros_like(GRID), []
    first: list[int | None] = [None, None, None]
    for week in range(1, WEEKS + 1):
        x1, x0 = int(rng.binomial(PEOPLE, RATE * ratio)), int(rng.binomial(PEOPLE, RATE))
        seen.append((PEOPLE, x1, PEOPLE, x0))
        log = log + log_evidence(PEOPLE, PEOPLE, x1 + x0, x1)
        p = stratify(*np.array(seen).T).p
        small = p is not None and p <= 0.05
        alarms = (e_value(log) >= ALARM, small and week >= 4, small and week % YEAR == 0)
        first = [week if now and then is None else then for then, now in zip(first, alarms)]
    return first[0], first[1], first[2]


def main(sets: int) -> None:
    print("| ratio | e-process ever | weekly test ever | yearly test | median weeks: e-process | yearly test |")
    print("| --- | --- | --- | --- | --- | --- |")
    for ratio in (1.0, 0.8, 0.7, 0.6):
        rng = np.random.default_rng([26, int(100 * ratio)])
        weeks = [[np.inf if week is None else week for week in looks(rng, ratio)] for _ in range(sets)]
        found = np.isfinite(weeks).mean(axis=0)
        middle = [f"{m:.0f}" if np.isfinite(m) else "over 104" for m in np.median(weeks, axis=0)]
        print(f"| {ratio} | {found[0]:.3f} | {found[1]:.3f} | {found[2]:.3f} | {middle[0]} | {middle[2]} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
