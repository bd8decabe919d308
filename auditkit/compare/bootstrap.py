"""Intervals for the price of fairness: a bootstrap over searches.

A replicate draws as many searches as there are, with replacement; omega_s says how often search s was drawn. Every
policy c that the solver evaluated, under whatever constraint, is known by its contributions per search, utility u[c, s]
and parts phi[c, f, s] (`parts`). The replicate's optimum is a re-weighted master LP over them in which each search
mixes for itself, because searches are independent,

    maximise sum_s omega_s sum_c w[c, s] u[c, s]          s.t.  sum_c w[c, s] = 1,   w >= 0,
             sum_s omega_s sum_c w[c, s] sum_f M*[j, f] phi[c, f, s]   <= | == | >=   b_j,

where M* is M with the replicate's sizes of groups in rows on rates. Columns enter when they are missed: at the duals
lambda of the LP so far, search s could have max_c u[c, s] - lambda.(M* phi[c, ., s]). The policies that are best at the
duals of the first replicates are evaluated exactly and added, so that columns lie where the replicates need them.

The unconstrained optimum is optimal in each search by itself, so its re-weighted utility is exact. That of the
constrained one is attained and short of the replicate's own optimum only by what further policies could add: losses err
on the high side, if at all. Beyond `MOST_BLOCKS` searches, some share their weights.

**This is the one place where random numbers are used**, because resampling is what a bootstrap is. They are seeded: the
same data give the same intervals. Everything else in auditkit is computed exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import highspy
import numpy as np

from auditkit.compare.parts import Parts
from auditkit.constraints import Rows
from auditkit.layout import Bools, Floats, Ints, Layout
from auditkit.solve.evaluate import visits
from auditkit.solve.oracle import Column

REPLICATES = 500
LEVEL = 0.95
SEED = 20_260_229
FEWEST_SEARCHES = 8
PILOTS = 16
"""Replicates whose best policies are evaluated exactly."""

MOST_BLOCKS = 60
MOST_LOST = 0.05
"""Share of the replicates that may have no solution before there is no interval."""

PRECISION = 1e-3
"""Of the loss: what columns left out of an LP may add to its value."""


@dataclass(frozen=True)
class Interval:
    """Percentile intervals of the ratio (None where the unconstrained utility is not always positive) and the loss."""

    level: float
    ratio: tuple[float, float] | None
    loss: tuple[float, float]


@dataclass(frozen=True)
class NoInterval:
    """Why there is none."""

    code: str
    reason: str


@dataclass(frozen=True)
class Options:
    replicates: int = REPLICATES
    level: float = LEVEL
    seed: int = SEED


class Bootstrap:
    """All replicates of one instance; intervals of several constraints share them and the policies known."""

    def __init__(self, rows: Rows, parts: Parts | None, columns: Sequence[Column], options: Options) -> None:
        """`columns` are of any problem on this layout; the first is the unconstrained optimum."""
        self.rows, self.options = rows, options
        self.refusal: NoInterval | None = None
        if parts is None or parts.rate is None:
            self.refusal = NoInterval("not-by-search", "its rows cannot be re-weighted by search")
            return
        layout = self.layout = parts.layout
        searches = len(layout.search_ids)
        if searches < FEWEST_SEARCHES:
            reason = f"an interval resamples searches and needs at least {FEWEST_SEARCHES} of them, not {searches}"
            self.refusal = NoInterval("few-searches", reason)
            return
        self.parts, self.matrix, self.rate = parts, parts.matrix, parts.rate
        self.sizes = sizes_by_search(layout)
        self.member = np.array([layout.groups.index(part.group) for part in parts.parts], dtype=np.int64)
        self.utility = np.array([layout.sum_by_search(layout.reward * column.visits) for column in columns])
        self.counts = np.array([parts.by_search(column.visits) for column in columns])
        generator = np.random.default_rng(options.seed)
        drawn = generator.multinomial(searches, np.full(searches, 1 / searches), size=options.replicates)
        self.drawn = drawn.astype(np.float64)

    def interval(self, which: Sequence[int], duals: Floats, loss: float) -> Interval | NoInterval:
        """Of the problem with the rows `which`, whose optimum has these duals and this loss."""
        if self.refusal is not None:
            return self.refusal
        problem = _Problem(self, np.array(which, dtype=np.int64), PRECISION * max(loss, 0.0))
        problem.near(duals)
        self._evaluate(problem.solve(omega).shifts for omega in self.drawn[:PILOTS])
        found = [problem.solve(omega) for omega in self.drawn]
        solved = [i for i, answer in enumerate(found) if answer.value is not None]
        lost = len(found) - len(solved)
        if lost > MOST_LOST * len(found):
            reason = f"in {lost} of {len(found)} resampled sets of searches no policy known meets the constraint"
            return NoInterval("resampling-fails", reason)
        free = self.drawn[solved] @ self.utility[0]
        best = np.array([found[i].value for i in solved], dtype=np.float64)
        ratio = _middle(best / free, self.options.level) if (free > 0).all() else None
        return Interval(self.options.level, ratio, _middle(free - best, self.options.level))

    def weigh(self, omega: Floats) -> Floats | None:
        """M*: M with the replicate's sizes; None if a group of a rate is not drawn."""
        now, before = (self.sizes @ omega)[self.member], self.sizes.sum(axis=1)[self.member]
        if (self.rate.any(axis=0) & (now <= 0)).any():
            return None
        return np.where(self.rate, self.matrix * (before / np.where(now > 0, now, 1.0)), self.matrix)

    def _evaluate(self, many: Iterable[Floats | None]) -> None:
        """Add the policies that are best when part f costs shifts[f] an outcome."""
        layout, utility, counts = self.layout, [], []
        for shifts in [one for one in many if one is not None]:
            reward = layout.reward.copy()
            for shift, part in zip(shifts, self.parts.parts, strict=True):
                reward[part.states] -= shift * part.weights
            p = visits(layout, reward)
            utility.append(layout.sum_by_search(layout.reward * p))
            counts.append(self.parts.by_search(p))
        if utility:
            self.utility = np.concatenate([self.utility, np.array(utility)])
            self.counts = np.concatenate([self.counts, np.array(counts)])
