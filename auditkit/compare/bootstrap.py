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

PRECISION = 1e-2
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
        self._evaluate([problem.solve(omega).shifts for omega in self.drawn[:PILOTS]])
        problem.near(duals)
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
    """The master LP of some rows. Its columns (block, policy) grow from replicate to replicate; HiGHS is started warm.

    With w for omega w, and y_f for the firm-wide number that part f counts, a replicate changes only the right sides
    omega and, where rows are on rates, M*:

        sum_cb phi[c, f, b] w[c, b] - y_f = 0,    M* y + helpers  <= | == | >=  b,    sum_c w[c, b] = omega_b
    """

    def __init__(self, boot: Bootstrap, which: Ints, precision: float) -> None:
        self.boot, self.which, self.precision = boot, which, precision
        self.bounds = boot.rows.bounds[which]
        self.block = np.arange(boot.drawn.shape[1]) % MOST_BLOCKS
        self.blocks = int(self.block.max()) + 1
        whole = np.abs(boot.counts.sum(axis=2) @ boot.matrix[which].T).max(axis=0, initial=0.0)
        self.scale = np.maximum(whole, np.abs(self.bounds))
        self.scale[self.scale == 0] = 1.0
        self.unit = float(np.abs(boot.utility - boot.utility[0]).sum(axis=1).max()) or 1.0
        self.pairs: dict[tuple[int, int], None] = {}
        self.highs = self._empty([boot.rows.rows[j].sense for j in which])
        self._in_blocks()
        self._add([(b, 0) for b in range(self.blocks)])

    def _in_blocks(self) -> None:
        """Contributions of all policies known by now; searches of one block are mixed alike."""
        into = (self.block[:, None] == np.arange(self.blocks)).astype(np.float64)
        self.gain = (self.boot.utility - self.boot.utility[0]) @ into
        self.counts = self.boot.counts @ into

    def near(self, duals: Floats) -> None:
        """Begin with the columns that are among the best of their block at the duals of the whole."""
        self._in_blocks()
        worth = self.gain - np.einsum("cfb,f->cb", self.counts, self.boot.matrix[self.which].T @ duals)
        self._add([(b, int(c)) for best in np.argsort(-worth, axis=0)[:3] for b, c in enumerate(best)])

    def solve(self, omega: Floats) -> _Answer:
        matrix = self.boot.weigh(omega)
        if matrix is None:
            return _Answer(None, None)
        matrix = matrix[self.which]
        drawn = np.bincount(self.block, omega, minlength=self.blocks)
        F, m = matrix.shape[1], len(self.which)
        for j, f in zip(*np.nonzero(matrix), strict=True):
            self.highs.changeCoeff(int(F + j), int(f), float(matrix[j, f] / self.scale[j]))
        for b, times in enumerate(drawn):
            self.highs.changeRowBounds(F + m + b, float(times), float(times))
        while True:
            self.highs.run()
            if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                self.highs.clearSolver()
                self.highs.run()
            solution = self.highs.getSolution()
            duals = np.array(solution.row_dual) * self.unit
            shifts = duals[:F]
            reduced = self.gain - np.einsum("cfb,f->cb", self.counts, shifts)
            best = reduced.argmax(axis=0)
            missed = drawn * (reduced[best, np.arange(self.blocks)] - duals[F + m :])
            if missed.sum() <= self.precision:
                break
            more = [(b, int(best[b])) for b in np.flatnonzero(missed > self.precision / (2 * self.blocks))]
            if not self._add(more):
                break
        weights = np.array(solution.col_value)
        if weights[F : F + self.helpers].sum() > 1e-7:
            return _Answer(None, shifts)
        gains = self.unit * float(self.cost @ weights[F + self.helpers :])
        return _Answer(float(self.boot.utility[0] @ omega) + gains, shifts)

    @property
    def cost(self) -> Floats:
        b, c = np.array(list(self.pairs), dtype=np.int64).T
        return np.asarray(self.gain[c, b] / self.unit)

    def _add(self, pairs: Sequence[tuple[int, int]]) -> bool:
        """Put further columns into the LP; False if all were there."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.pairs]
        F, m = self.counts.shape[1], len(self.which)
        place = np.append(np.arange(F), 0).astype(np.int32)
        for b, c in new:
            place[-1] = F + m + b
            entries = np.append(self.counts[c, :, b], 1.0)
            self.highs.addCol(float(self.gain[c, b] / self.unit), 0.0, highspy.kHighsInf, F + 1, place, entries)
        self.pairs.update((pair, None) for pair in new)
        return bool(new)

    def _empty(self, senses: Sequence[str]) -> highspy.Highs:
        highs, inf = highspy.Highs(), highspy.kHighsInf
        for option, value in (("output_flag", False), ("presolve", "off"), ("threads", 1)):
            highs.setOptionValue(option, value)
        highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        F, m = len(self.boot.parts.parts), len(senses)
        nothing = np.array([], dtype=np.int32), np.array([])
        for _ in range(F):
            highs.addRow(0.0, 0.0, 0, *nothing)
        for sense, bound in zip(senses, self.bounds / self.scale, strict=True):
            highs.addRow(-inf if sense == "<=" else bound, inf if sense == ">=" else bound, 0, *nothing)
        for _ in range(self.blocks):
            highs.addRow(1.0, 1.0, 0, *nothing)
        for f in range(F):
            used = [j for j in range(m) if self.boot.matrix[self.which[j], f]]
            place = np.array([f, *(F + j for j in used)], dtype=np.int32)
            entries = [-1.0, *(self.boot.matrix[self.which[j], f] / self.scale[j] for j in used)]
            highs.addCol(0.0, -inf, inf, len(place), place, np.array(entries))
        self.helpers = 0
        for j, sense in enumerate(senses):
            for sign in (1.0, -1.0):
                if sense == "==" or (sense == "<=") == (sign < 0):
                    highs.addCol(-PENALTY, 0.0, inf, 1, np.array([F + j], dtype=np.int32), np.array([sign]))
                    self.helpers += 1
        return highs


def sizes_by_search(layout: Layout) -> Floats:
    """Candidates of each group in each search."""
    table = np.zeros((len(layout.groups), len(layout.search_ids)))
    np.add.at(table, (layout.candidate_group, layout.candidate_search), 1.0)
    return table


def _middle(values: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
