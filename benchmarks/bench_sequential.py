"""Two years of weekly looks at one decision: how often evidence over time cries wolf, and how soon it finds a ratio.

    python benchmarks/bench_sequential.py [DATA SETS]

One requisition closes a week, 15 women and 15 men, of whom 30 % of the men are selected; or two small ones, which are
counted in sets. Beside the e-process (alarm at 20): the test within requisitions at 5 %, read every week from the
fourth on, and once a year.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from auditkit.config import ReportSettings
from auditkit.disparity.sequential import ALARM, GRID, Closings, StreamName, e_value, summed

WEEKS, YEAR, RATE = 104, 52, 0.3
THRESHOLD = ReportSettings().suppress_below


@dataclass(frozen=True)
class Weeks:
    """What closes in a week. Spreads are of logits, between requisitions; `together` is their correlation."""

    requisitions: int = 1
    size: int | None = None  # on average; None: 15 women and 15 men
    women: float = 0.4
    women_spread: float = 0.0
    rate_spread: float = 0.0
    together: float = 0.0


PLAIN = Weeks()
SMALL = Weeks(2, 12, women_spread=0.8, rate_spread=0.8)
CONFOUNDED = Weeks(2, 12, women_spread=1.5, rate_spread=1.0, together=-0.9)
KINDS = {"": PLAIN, "small requisitions that differ": SMALL, "small, women apply where few are selected": CONFOUNDED}


def looks(rng: np.random.Generator, ratio: float, weeks: Weeks = PLAIN) -> tuple[int | None, int | None, int | None]:
    """The week of the first alarm: of the e-process, of the weekly test, of the yearly test."""
    K = WEEKS * weeks.requisitions
    if weeks.size is None:
        n1 = n0 = np.full(K, 15)
        rate = np.full(K, RATE)
    else:
        a, b = rng.standard_normal((2, K))
        b = weeks.together * a + np.sqrt(1 - weeks.together**2) * b
        t = 2 + rng.poisson(weeks.size - 2, K)
        n1 = rng.binomial(t, _shifted(weeks.women, weeks.women_spread * a))
        n0, rate = t - n1, _shifted(RATE, weeks.rate_spread * b)
    x1, x0 = rng.binomial(n1, rate * ratio), rng.binomial(n0, rate)
    t, m = np.maximum(n1 + n0, 2), x1 + x0
    week = np.arange(1, WEEKS + 1)
    variance, excess = n1 * n0 * m * (t - m) / (t * t * (t - 1)), x1 - n1 * m / t  # Cochran, Mantel and Haenszel
    excess, variance = (np.cumsum(each.reshape(WEEKS, -1).sum(axis=1)) for each in (excess, variance))
    small = 2 * ndtr(-abs(excess) / np.sqrt(np.maximum(variance, 1e-12))) <= 0.05
    counts = np.stack([n1, n0, m, x1], axis=1)
    alarms = (_evidence(counts) >= ALARM, small & (week >= 4), small & (week % YEAR == 0))
    first, weekly, yearly = (int(np.argmax(now)) + 1 if now.any() else None for now in alarms)
    return first, weekly, yearly


def _shifted(share: float, logit: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.log(share / (1 - share)) - logit))


def _evidence(counts: np.ndarray) -> np.ndarray:
    """The e-value of each week, as scheduled audits carry it on."""
    names = tuple(map(str, range(len(counts))))
    closed = Closings((StreamName("sex", "hired", "F"),), names, counts[:, None], {"sex": counts[:, :2]}, THRESHOLD)
    waiting, log, found = [], np.zeros_like(GRID), []
    for week in np.arange(len(counts)).reshape(WEEKS, -1).tolist():
        waiting += week
        sets = closed.sets("sex", waiting)
        log = log + summed(counts, sets)[0]
        found.append(e_value(log))
        counted = {k for members in sets for k in members}
        waiting = [k for k in waiting if k not in counted]
    return np.array(found)


def main(sets: int) -> None:
    print("| | ratio | e-process ever | weekly test ever | yearly test | median weeks: e-process | yearly test |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, kind in KINDS.items():
        for ratio in (1.0, 0.8, 0.7, 0.6):
            rng = np.random.default_rng([26, int(100 * ratio)])
            weeks = [[np.inf if week is None else week for week in looks(rng, ratio, kind)] for _ in range(sets)]
            cells = [f"{share:.3f}" for share in np.isfinite(weeks).mean(axis=0)]
            cells += [f"{m:.0f}" if np.isfinite(m) else "over 104" for m in np.median(weeks, axis=0)[[0, 2]]]
            print(f"| {name} | {ratio} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
