"""Intervals for the price of fairness: a bootstrap over searches.

A replicate draws as many searches as there are, with replacement; omega_s says how often search s was drawn. Every
policy c that the solver evaluated, under whatever constraint, is known by its contributions per search, utility u[c, s]
and parts phi[c, f, s] (`parts`). The replicate's optimum is a re-weighted master LP over them in which each search
mixes for itself, because searches are independent,

    maximise sum_s sum_c w[c, s] u[c, s]     s.t.   sum_c w[c, s] = omega_s,   w >= 0,
             y_f = sum_s sum_c w[c, s] phi[c, f, s],     sum_f M*[j, f] y_f   <= | == | >=   b_j,

where M* is M with the replicate's sizes of groups in rows on rates; so a replicate changes omega and M*, and HiGHS goes
on from the last one. Columns enter when they are missed: at the duals tau of the y, search s could have
max_c u[c, s] - tau.phi[c, ., s]. The policies that are best at the duals of the first replicates are evaluated exactly
and join the columns, so that these lie where replicates need them.

The unconstrained optimum is optimal in each search by itself, so its re-weighted utility is exact. That of the
constrained one is attained, and short of the replicate's own optimum by what further policies could add: losses err on
the high side. On the sample data, 12 replicates that were no pilots were solved anew for each of parity and impact
ratio: losses were 9 % too high on average, in the worst replicate 17 % (parity) and 36 % (impact ratio, a loss of 0.6).
With more than `MOST_BLOCKS` searches, sets of the solver's blocks of them are drawn in place of single ones.

**This is the one place where random numbers are used**, because resampling is what a bootstrap is. They are seeded: the
same data give the same intervals. Everything else in auditkit is computed exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import highspy
import numpy as np

from auditkit.compare.parts import Parts
from auditkit.constraints.base import Row, Rows
from auditkit.model.layout import Floats, Ints
from auditkit.solver.block_sums import BlockSums, Sums
from auditkit.solver.evaluate import Prepared
from auditkit.solver.oracle import Column
from auditkit.solver.policy import Policy

REPLICATES = 200
LEVEL = 0.95
SEED = 20_260_229
FEWEST_SEARCHES = 8
MOST_BLOCKS = 60
PILOTS = 24
"""Replicates whose best policies are evaluated exactly."""

MOST_LOST = 0.05
"""Share of the replicates in which the constraint may be out of reach before there is no interval."""

PRECISION = 0.05
"""Of the loss: what columns left out of an LP may add to its value."""

PENALTY = 1e5
"""Of the largest gain: price of missing a row by its own size, so high that it is only paid where it must be."""


@dataclass(frozen=True)
class IntervalOptions:
    replicates: int = REPLICATES
    level: float = LEVEL
    seed: int = SEED


@dataclass(frozen=True)
class PriceInterval:
    """Percentile intervals of the ratio (None where the unconstrained utility is not always positive) and the loss."""

    level: float
    ratio: tuple[float, float] | None
    loss: tuple[float, float]


@dataclass(frozen=True)
class NoInterval:
    """Why there is none."""

    code: str
    reason: str


class Bootstrap:
    """All replicates of one instance; intervals of several constraints share them and the policies known."""

    def __init__(self, rows: Rows, parts: Parts | None, columns: Sequence[Column], options: IntervalOptions) -> None:
        """`columns` are of any problem on this layout; the first is the unconstrained optimum."""
        self.rows, self.options = rows, options
        self.refusal: NoInterval | None = None
        if parts is None or parts.rate is None:
            self.refusal = NoInterval("not-by-search", "its rows cannot be re-weighted by search")
            return
        if not options.replicates:
            self.refusal = NoInterval("no-replicates", "no resampling was asked for (replicates = 0)")
            return
        layout = parts.layout
        searches = len(layout.search_ids)
        if searches < FEWEST_SEARCHES:
            reason = f"an interval resamples searches and needs at least {FEWEST_SEARCHES} of them, not {searches}"
            self.refusal = NoInterval("few-searches", reason)
            return
        self.parts, self.matrix, self.rate = parts, parts.matrix, parts.rate
        counted = tuple(Row(parts.names[part.group], part.states, part.weights, "==", 0.0) for part in parts.parts)
        self.sums = BlockSums(layout, Rows(counted, (0,) * len(counted), ()))
        generator = np.random.default_rng(options.seed)
        ranges = self.sums.blocks
        size = -(-ranges // MOST_BLOCKS)
        block = generator.permutation(ranges) // size if size > 1 else np.arange(ranges)
        self.blocks = int(block.max()) + 1
        self.into = (block[:, None] == np.arange(self.blocks)).astype(np.float64)
        self.sizes = parts.groups.astype(np.float64) @ _sizes(parts, self.sums.block_of) @ self.into
        contributions = [self._contribution(self._summed(column, rows)) for column in columns]
        self.utility = np.array([u for u, _ in contributions])
        self.counts = np.array([phi for _, phi in contributions])
        drawn = generator.multinomial(self.blocks, np.full(self.blocks, 1 / self.blocks), size=options.replicates)
        self.drawn = drawn.astype(np.float64)

    def _summed(self, column: Column, rows: Rows) -> Sums:
        if column.visits is not None:
            return self.sums.of_visits(column.visits)
        if column.sums is None or self.sums.further:
            return self.sums.of_visits(Prepared.of_policy(self.sums.layout, rows, column.policy).visits())
        return column.sums

    def _contribution(self, sums: Sums) -> tuple[Floats, Floats]:
        phi = np.zeros((len(self.parts.parts), self.sums.blocks))
        phi[self.sums.row, self.sums.block] = self.sums.values(sums)
        return sums.utility @ self.into, phi @ self.into

    def interval(self, which: Sequence[int], duals: Floats, loss: float) -> PriceInterval | NoInterval:
        """Of the problem with the rows `which`, whose optimum has these duals and this loss."""
        if self.refusal is not None:
            return self.refusal
        problem = Resampled(self, which, PRECISION * max(loss, 0.0))
        problem.near(duals)
        self.evaluate([problem.solve(omega).shifts for omega in self.drawn[:PILOTS]])
        problem.near(duals)
        values: list[tuple[float, float]] = []
        lost = 0
        for omega in self.drawn:
            whole, value = float(omega @ self.utility[0]), problem.solve(omega).value
            # selecting nobody meets most constraints: where little else does, there is no price worth the name
            if value is None or value < whole - abs(whole) / 2:
                lost += 1
            else:
                values.append((whole, min(value, whole)))
            if lost > MOST_LOST * len(self.drawn):
                reason = f"in {lost} of the first {lost + len(values)} resampled sets of searches it can hardly be met"
                return NoInterval("resampling-fails", reason)
        free, best = np.array(values).T
        ratio = _middle(best / free, self.options.level) if (free > 0).all() else None
        return PriceInterval(self.options.level, ratio, _middle(free - best, self.options.level))

    def weigh(self, omega: Floats) -> Floats | None:
        """M*: M with the replicate's sizes; None if a group of a rate is not drawn."""
        now, before = (np.append(n, 1.0)[self.parts.group_of] for n in (self.sizes @ omega, self.sizes.sum(axis=1)))
        if (self.rate & (now <= 0)).any():
            return None
        return np.where(self.rate, self.matrix * (before / np.where(now > 0, now, 1.0)), self.matrix)

    def evaluate(self, many: Sequence[Floats | None]) -> None:
        """Add the policies that are best when each outcome of part f costs shifts[f]."""
        utility, counts = [self.utility], [self.counts]
        for shifts in many:
            if shifts is not None:
                u, phi = self._contribution(self.sums.of_policy(Policy.at(shifts)))
                utility.append(u[None])
                counts.append(phi[None])
        self.utility, self.counts = np.concatenate(utility), np.concatenate(counts)


@dataclass(frozen=True, eq=False)
class Answer:
    """A replicate's optimum; None where no policy known meets the rows. `shifts` are the duals of its y."""

    value: float | None
    shifts: Floats | None


class Resampled:
    """The LP of some rows: first the y, then helpers that may miss a row at a price, then pairs (block, policy)."""

    def __init__(self, boot: Bootstrap, which: Sequence[int], precision: float) -> None:
        self.boot, self.precision = boot, precision
        self.which: Ints = np.array(which, dtype=np.int64)
        self.F, self.m = boot.matrix.shape[1], len(which)
        bounds = boot.rows.bounds[self.which]
        whole = np.abs(boot.counts.sum(axis=2) @ boot.matrix[self.which].T).max(axis=0, initial=0.0)
        self.scale = np.maximum(whole, np.abs(bounds))
        self.scale[self.scale == 0] = 1.0
        self.unit = float(np.abs(boot.utility - boot.utility[0]).sum(axis=1).max()) or 1.0
        self.helpers = 0
        self.pairs: dict[tuple[int, int], None] = {}
        self.highs = self._empty([boot.rows.rows[j].sense for j in self.which], bounds / self.scale)
        self._add([(b, 0) for b in range(boot.blocks)])

    def near(self, duals: Floats) -> None:
        """Take the columns that are among the best of their block at the duals of the whole."""
        worth = self._worth(self.boot.matrix[self.which].T @ duals)
        self._add([(b, int(c)) for best in np.argsort(-worth, axis=0)[:3] for b, c in enumerate(best)])

    def _worth(self, shifts: Floats) -> Floats:
        gain = self.boot.utility - self.boot.utility[0]
        return gain - np.einsum("cfb,f->cb", self.boot.counts, shifts)

    def solve(self, omega: Floats) -> Answer:
        """The optimum of one replicate."""
        weighed = self.boot.weigh(omega)
        if weighed is None:
            return Answer(None, None)
        matrix = weighed[self.which] / self.scale[:, None]
        for j, f in zip(*np.nonzero(matrix), strict=True):
            self.highs.changeCoeff(int(self.F + j), int(f), float(matrix[j, f]))
        for b, times in enumerate(omega):
            self.highs.changeRowBounds(self.F + self.m + b, float(times), float(times))
        while True:
            self.highs.run()
            if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                self.highs.clearSolver()  # a warm start gone wrong: once more from nothing
                self.highs.run()
            solution = self.highs.getSolution()
            duals = np.array(solution.row_dual) * self.unit
            shifts = duals[: self.F]
            worth = self._worth(shifts)
            best = worth.argmax(axis=0)
            missed = omega * (worth.max(axis=0) - duals[self.F + self.m :])
            least = self.precision / (2 * len(omega))
            more = [(int(b), int(best[b])) for b in np.flatnonzero(missed > least)]
            if missed.sum() <= self.precision or not self._add(more):
                break
        weights = np.array(solution.col_value)
        if weights[self.F : self.F + self.helpers].sum() > 1e-7:
            return Answer(None, shifts)
        b, c = np.array(list(self.pairs), dtype=np.int64).T
        return Answer(float(self.boot.utility[c, b] @ weights[self.F + self.helpers :]), shifts)

    def _add(self, pairs: Sequence[tuple[int, int]]) -> bool:
        """Put further columns into the LP; False if all were there."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.pairs]
        place = np.arange(self.F + 1, dtype=np.int32)
        for b, c in new:
            place[-1] = self.F + self.m + b
            entries = np.append(self.boot.counts[c, :, b], 1.0)
            gain = float(self.boot.utility[c, b] - self.boot.utility[0, b]) / self.unit
            self.highs.addCol(gain, 0.0, highspy.kHighsInf, self.F + 1, place, entries)
        self.pairs.update((pair, None) for pair in new)
        return bool(new)

    def _empty(self, senses: Sequence[str], bounds: Floats) -> highspy.Highs:
        highs, inf = highspy.Highs(), highspy.kHighsInf
        for option, value in (("output_flag", False), ("presolve", "off"), ("threads", 1)):
            highs.setOptionValue(option, value)
        highs.setOptionValue("simplex_strategy", 4)  # primal, without scaling: half the time of the default here
        highs.setOptionValue("simplex_scale_strategy", 0)
        highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        nothing = np.array([], dtype=np.int32), np.array([])
        for _ in range(self.F):
            highs.addRow(0.0, 0.0, 0, *nothing)
        for sense, bound in zip(senses, bounds, strict=True):
            highs.addRow(-inf if sense == "<=" else bound, inf if sense == ">=" else bound, 0, *nothing)
        for _ in range(self.boot.blocks):
            highs.addRow(1.0, 1.0, 0, *nothing)
        matrix = self.boot.matrix[self.which] / self.scale[:, None]
        for f in range(self.F):
            used = np.flatnonzero(matrix[:, f])
            place = np.concatenate([[f], self.F + used]).astype(np.int32)
            highs.addCol(0.0, -inf, inf, len(place), place, np.concatenate([[-1.0], matrix[used, f]]))
        for j, sense in enumerate(senses):
            for sign in (1.0, -1.0):
                if sense == "==" or (sense == "<=") == (sign < 0):
                    highs.addCol(-PENALTY, 0.0, inf, 1, np.array([self.F + j], dtype=np.int32), np.array([sign]))
                    self.helpers += 1
        return highs


def _sizes(parts: Parts, block_of: Ints) -> Floats:
    """Candidates of each class in each block."""
    table = np.zeros((len(parts.names), int(block_of.max(initial=0)) + 1))
    np.add.at(table, (parts.classes, block_of[parts.layout.candidate_search]), 1.0)
    return table


def _middle(values: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
