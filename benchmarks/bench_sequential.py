"""Two years of weekly looks at one decision: how often evidence over time cries wolf, and how soon it finds a ratio.

    python benchmarks/bench_sequential.py [DATA SETS]

One requisition closes a week, 15 women and 15 men, of whom 30 % of the men are selected. Beside the e-process (alarm at
20): the test within requisitions at 5 %, read every week from the fourth on, and once a year.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from auditkit.disparity.sequential import ALARM, e_value, log_evidence

WEEKS, YEAR, PEOPLE, RATE = 104, 52, 15, 0.3


def looks(rng: np.random.Generator, ratio: float) -> tuple[int | None, int | None, int | None]:
    """The week of the first alarm: of the e-process, of the weekly test, of the yearly test."""
    x1, x0 = rng.binomial(PEOPLE, RATE * ratio, WEEKS), rng.binomial(PEOPLE, RATE, WEEKS)
    e = np.array([e_value(log) for log in np.cumsum([_log(int(m), int(x)) for m, x in zip(x1 + x0, x1)], axis=0)])
    t, m = 2 * PEOPLE, x1 + x0
    variance = np.cumsum(PEOPLE**2 * m * (t - m) / (t * t * (t - 1)))
    z = np.cumsum(x1 - m / 2) / np.sqrt(np.maximum(variance, 1e-12))  # Cochran, Mantel and Haenszel
    small, week = 2 * ndtr(-abs(z)) <= 0.05, np.arange(1, WEEKS + 1)
    alarms = (e >= ALARM, small & (week >= 4), small & (week % YEAR == 0))
    first, weekly, yearly = (int(np.argmax(now)) + 1 if now.any() else None for now in alarms)
    return first, weekly, yearly


@cache
def _log(m: int, x: int) -> NDArray[np.float64]:
    return log_evidence(PEOPLE, PEOPLE, m, x)


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
