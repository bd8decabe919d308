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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import highspy
import numpy as np

from auditkit.compare.parts import Parts
from auditkit.constraints import Rows
from auditkit.layout import Floats, Ints, Layout
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

PENALTY = 1e5
"""Of the largest gain: price of missing a row by its own size, so high that it is only paid where it must be."""

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


@dataclass(frozen=True, eq=False)
class _Answer:
    """A replicate's optimum; None where no policy known meets the rows. `shifts` are the duals, by part."""

    value: float | None
    shifts: Floats | None


class _Problem:
    """The master LP of some rows, whose columns (block, policy) grow from replicate to replicate."""

    def __init__(self, boot: Bootstrap, which: Ints, precision: float) -> None:
        self.boot, self.which, self.precision = boot, which, precision
        self.senses = [boot.rows.rows[j].sense for j in which]
        self.bounds = boot.rows.bounds[which]
        searches = boot.drawn.shape[1]
        self.blocks = min(searches, MOST_BLOCKS)
        self.block = np.arange(searches) % self.blocks
        self.pairs: dict[tuple[int, int], None] = {(b, 0): None for b in range(self.blocks)}
        self.highs = highspy.Highs()
        for option, value in (("output_flag", False), ("presolve", "off"), ("threads", 1)):
            self.highs.setOptionValue(option, value)
        self.basis: highspy.HighsBasis | None = None

    def near(self, duals: Floats) -> None:
        """Begin with the columns that are among the best of their search at the duals of the whole."""
        utility, counts = self._in_blocks(np.ones(self.boot.drawn.shape[1]))
        worth = utility - np.einsum("cfb,f->cb", counts, self.boot.matrix[self.which].T @ duals)
        for place in np.argsort(-worth, axis=0)[:3]:
            self.pairs.update(((b, int(c)), None) for b, c in enumerate(place))

    def solve(self, omega: Floats) -> _Answer:
        matrix = self.boot.weigh(omega)
        if matrix is None:
            return _Answer(None, None)
        matrix = matrix[self.which]
        utility, counts = self._in_blocks(omega)
        whole = counts.sum(axis=2) @ matrix.T
        scale = np.maximum(np.abs(whole).max(axis=0, initial=0.0), np.abs(self.bounds))
        scale = np.where(scale > 0, scale, 1.0)
        gain = utility - utility[0]
        unit = float(np.abs(gain).sum(axis=1).max()) or 1.0
        while True:
            value, miss, duals, worth = self._lp(gain / unit, counts, matrix / scale[:, None], self.bounds / scale)
            shifts = matrix.T @ (duals * unit / scale)
            reduced = gain - np.einsum("cfb,f->cb", counts, shifts)
            best = reduced.argmax(axis=0)
            missed = reduced[best, np.arange(self.blocks)] - worth * unit
            more = [(b, int(best[b])) for b in np.flatnonzero(missed > max(self.precision, 1e-9 * unit) / self.blocks)]
            if all(pair in self.pairs for pair in more):
                break
            self.pairs.update((pair, None) for pair in more)
        return _Answer(None if miss > 1e-7 else float(utility[0].sum()) + value * unit, shifts)

    def _in_blocks(self, omega: Floats) -> tuple[Floats, Floats]:
        utility, counts = self.boot.utility * omega, self.boot.counts * omega
        if self.blocks == len(omega):
            return utility, counts
        into = (self.block[:, None] == np.arange(self.blocks)).astype(np.float64)
        return utility @ into, counts @ into

    def _lp(
        self, gain: Floats, counts: Floats, matrix: Floats, bounds: Floats
    ) -> tuple[float, float, Floats, Floats]:
        """Value without the penalty, by how much the rows are missed, duals of the rows and of the blocks."""
        m, inf = len(bounds), highspy.kHighsInf
        helpers = [
            (j, sign)
            for j, sense in enumerate(self.senses)
            for sign in (1.0, -1.0)
            if sense == "==" or (sense == "<=") == (sign < 0)
        ]
        b, c = np.array(list(self.pairs), dtype=np.int64).T
        n = len(helpers) + len(b)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_, lp.sense_ = n, m + self.blocks, highspy.ObjSense.kMaximize
        lp.col_cost_ = np.concatenate([np.full(len(helpers), -PENALTY), gain[c, b]])
        lp.col_lower_, lp.col_upper_ = np.zeros(n), np.full(n, inf)
        low = [-inf if sense == "<=" else x for sense, x in zip(self.senses, bounds, strict=True)]
        high = [inf if sense == ">=" else x for sense, x in zip(self.senses, bounds, strict=True)]
        lp.row_lower_ = np.concatenate([low, np.ones(self.blocks)])
        lp.row_upper_ = np.concatenate([high, np.ones(self.blocks)])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        index = np.column_stack([np.tile(np.arange(m), (len(b), 1)), m + b])
        entries = np.column_stack([counts[c, :, b] @ matrix.T, np.ones(len(b))])
        lengths = np.concatenate([np.ones(len(helpers), dtype=np.int64), np.full(len(b), m + 1)])
        lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum(lengths)])
        lp.a_matrix_.index_ = np.concatenate([np.array([j for j, _ in helpers], dtype=np.int64), index.ravel()])
        lp.a_matrix_.value_ = np.concatenate([np.array([sign for _, sign in helpers]), entries.ravel()])
        self.highs.passModel(lp)
        if self.basis is not None:
            status = list(self.basis.col_status)
            self.basis.col_status = status + [highspy.HighsBasisStatus.kLower] * (n - len(status))
            self.highs.setBasis(self.basis)
        self.highs.run()
        if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self.highs.clearSolver()
            self.highs.run()
        solution = self.highs.getSolution()
        self.basis = self.highs.getBasis()
        weights, duals = np.array(solution.col_value), np.array(solution.row_dual)
        value = float(lp.col_cost_[len(helpers) :] @ weights[len(helpers) :])
        return value, float(weights[: len(helpers)].sum()), duals[:m], duals[m:]


def sizes_by_search(layout: Layout) -> Floats:
    """Candidates of each group in each search."""
    table = np.zeros((len(layout.groups), len(layout.search_ids)))
    np.add.at(table, (layout.candidate_group, layout.candidate_search), 1.0)
    return table


def _middle(values: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
