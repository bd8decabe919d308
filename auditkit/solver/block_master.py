"""Many affine constraints: column generation in which every block of searches mixes for itself.

Searches are independent and rows add up over them, so the master LP mixes policies block by block,

    maximise sum_b,c w_bc u_bc   s.t.   sum_b,c w_bc a_bc  <= | == | >=  bound,   sum_c w_bc = 1 for all b,   w >= 0,

where u_bc and a_bc are what policy c yields in block b (`block_sums.py`). Its duals price the next policy for all
blocks at once, and G at these duals bounds the optimum. When bound and value meet, a basic solution is the optimum; it
has at most blocks + m positive weights, so that **all but at most m blocks follow one policy without a coin**. Blocks
that mix are then taken apart: each of their searches chooses among the policies that the block mixes, which again
leaves at most m searches that toss a coin.

The rows are scaled to size one; the last basis is solved once more in full precision, weights and duals, because the
LP's tolerance would let the value exceed the bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from auditkit.constraints.base import Row, Rows
from auditkit.model.layout import Floats, Ints
from auditkit.solver.dual_search import DualOptimum, alone
from auditkit.solver.evaluate import Prepared
from auditkit.solver.master import (
    COLD,
    MOST_ROUNDS,
    OPTIONS,
    WARM,
    Found,
    Pricing,
    allowed,
    missed,
    phase_one,
    rounding,
    run,
    run_carefully,
)
from auditkit.solver.oracle import Column, Oracle
from auditkit.solver.policy import Lottery

LOOSE = {"primal_feasibility_tolerance": 1e-8, "dual_feasibility_tolerance": 1e-8}
"""Tolerances with which HiGHS ends where it does not with tighter ones: the basis is polished anyway."""

WAYS: tuple[dict[str, Any], ...] = ({"simplex_strategy": 4}, *COLD, *({**LOOSE, **way} for way in COLD))
"""Options of HiGHS for an LP that is solved from nothing, tried in turn."""

ALIKE = 14
"""Digits, of the size of rows and utility, to which yields must differ: nearly equal columns make singular bases."""

LEAST_WEIGHT = 1e-13
"""A smaller weight is rounding."""


@dataclass(frozen=True, eq=False)
class Entries:
    """Which row and which unit (a block, or a search) each value of a column belongs to, sorted by unit."""

    units: int
    row: Ints
    start: Ints


@dataclass(frozen=True, eq=False)
class Yields:
    """What a policy yields in each unit."""

    utility: Floats
    values: Floats


class BlockMaster:
    """The restricted master LP. Its first rows are the convexity rows of the units.

    Utilities are paid relative to those of the first policy, unit by unit, which weights that sum to one allow.
    """

    def __init__(self, rows: Rows, bounds: Floats, scale: Floats, entries: Entries) -> None:
        self.rows, self.bounds, self.scale, self.entries = rows, bounds / scale, scale, entries
        self.yields: list[Yields] = []
        self.columns: list[Column] = []
        self.feasible = False
        self.unit = 1.0
        self.pairs: list[tuple[int, int]] = []
        """(unit, policy) of each variable after the artificial ones."""
        self._seen: list[set[bytes]] = [set() for _ in range(entries.units)]
        self.artificial = [
            (entries.units + j, sign)
            for j, row in enumerate(rows.rows)
            for sign in (1.0, -1.0)
            if row.sense == "==" or (row.sense == "<=") == (sign < 0)
        ]
        self.most = [highspy.kHighsInf] * len(self.artificial)
        self.found: Found | None = None
        self.lp = self._empty(WARM)

    def _empty(self, way: dict[str, Any], artificial: bool = True) -> highspy.Highs:
        lp, units = highspy.Highs(), self.entries.units
        for name, value in (OPTIONS | way).items():
            lp.setOptionValue(name, value)
        lp.changeObjectiveSense(highspy.ObjSense.kMaximize)
        sides = [_sides(row, bound) for row, bound in zip(self.rows.rows, self.bounds, strict=True)]
        low = np.array([1.0] * units + [a for a, _ in sides])
        high = np.array([1.0] * units + [b for _, b in sides])
        nothing = np.zeros(0, dtype=np.int32)
        lp.addRows(len(low), low, high, 0, np.zeros(len(low), dtype=np.int32), nothing, np.zeros(0))
        cost = 0.0 if self.feasible else -1.0
        for (place, sign), most in zip(self.artificial, self.most, strict=True) if artificial else ():
            lp.addCol(cost, 0.0, most, 1, np.array([place], dtype=np.int32), np.array([sign]))
        return lp

    def add(self, column: Column) -> bool:
        """Let the units follow the policy of a column; False if none of them finds anything new in it."""
        assert column.sums is not None and column.by_block is not None
        return self.add_yields(Yields(column.sums.utility, column.by_block), column)

    def add_yields(self, yields: Yields, column: Column) -> bool:
        number, fresh = len(self.columns), []
        first = self.yields[0] if self.yields else yields
        size = float(np.abs(first.utility).sum()) or 1.0
        utility = np.round(yields.utility / size, ALIKE) + 0.0
        values = np.round(yields.values / self.scale[self.entries.row], ALIKE) + 0.0
        paid, held, ends = utility.tobytes(), values.tobytes(), (8 * self.entries.start).tolist()
        for unit, seen in enumerate(self._seen):
            key = paid[8 * unit : 8 * unit + 8] + held[ends[unit] : ends[unit + 1]]
            if key not in seen:
                seen.add(key)
                fresh.append(unit)
        if not fresh:
            return False
        self.yields.append(yields)
        self.columns.append(column)
        new = [(unit, number) for unit in fresh]
        self.pairs += new
        self._put(self.lp, new)
        return True

    def _put(self, lp: highspy.Highs, pairs: list[tuple[int, int]]) -> None:
        units, chosen = np.array(pairs, dtype=np.int64).T
        cost = self._gains(units, chosen) if self.feasible else np.zeros(len(pairs))
        starts, index, values = self._variables(units, chosen)
        inf = np.full(len(pairs), highspy.kHighsInf)
        lp.addCols(len(pairs), cost, np.zeros(len(pairs)), inf, len(index), starts[:-1].astype(np.int32), index, values)

    def _gains(self, units: Ints, chosen: Ints) -> Floats:
        """What the units gain by the chosen policies over the first."""
        used = np.unique(chosen)
        utility = np.array([self.yields[c].utility for c in used])[np.searchsorted(used, chosen), units]
        return np.asarray(utility - self.yields[0].utility[units]) / self.unit

    def _variables(self, units: Ints, chosen: Ints) -> tuple[Ints, NDArray[np.int32], Floats]:
        """Variables as sparse columns: where each begins (and the end of the last), rows of the LP, numbers."""
        used = np.unique(chosen)
        table = np.array([self.yields[c].values for c in used])
        sizes = np.diff(self.entries.start)[units]
        variable = np.repeat(np.arange(len(units)), sizes)
        begin = np.cumsum(sizes) - sizes
        entry = np.arange(len(variable)) + (self.entries.start[units] - begin)[variable]
        values = table[np.searchsorted(used, chosen)[variable], entry]
        kept = np.flatnonzero(values)
        variable, row = variable[kept], self.entries.row[entry[kept]]
        starts = np.concatenate([[0], np.cumsum(1 + np.bincount(variable, minlength=len(units)))]).astype(np.int64)
        place = np.arange(len(kept)) + variable + 1  # the convexity row of every variable comes first
        index, numbers = np.empty(starts[-1], dtype=np.int32), np.ones(starts[-1])
        index[starts[:-1]] = units
        index[place] = self.entries.units + row
        numbers[place] = values[kept] / self.scale[row]
        return starts, index, numbers

    def begin_phase_two(self) -> None:
        """The rows can be met: forbid the artificial variables and pay the utilities."""
        self.most = allowed(self.missed(), self.artificial)
        self.feasible = True
        units, chosen = np.array(self.pairs, dtype=np.int64).reshape(-1, 2).T
        self.unit = 1.0
        gains = self._gains(units, chosen) if self.pairs else np.zeros(0)
        self.unit = float(np.abs(gains).max(initial=0.0)) or 1.0
        for i, most in enumerate(self.most):
            self.lp.changeColBounds(i, 0.0, most)
            self.lp.changeColCost(i, 0.0)
        places = len(self.artificial) + np.arange(len(gains), dtype=np.int32)
        self.lp.changeColsCost(len(gains), places, gains / self.unit)

    def solve(self) -> tuple[float, Floats]:
        """Value of the master and the duals of the rows in the user's scale."""
        self.found = run(self.lp)
        if self.found is None:
            self.found, self.lp = self._from_nothing()
            for name, option in WARM.items():
                self.lp.setOptionValue(name, option)
        self._duals = self.found.duals * self.unit
        value = self.found.value * self.unit
        base = float(self.yields[0].utility.sum())
        return value + base if self.feasible else value, self._duals[self.entries.units :] / self.scale

    def missed(self) -> Floats:
        """By how much, of its size and signed, the last solution misses each row."""
        if self.found is None:
            return np.zeros(len(self.rows))
        return missed(self.lp, self.found, len(self.artificial))[self.entries.units :]

    def improves(self, column: Column, least: float) -> bool:
        """Whether some block would gain by the policy of a column at the duals of the last solution."""
        assert column.sums is not None and column.by_block is not None
        return self.gains(Yields(column.sums.utility, column.by_block), least)

    def gains(self, yields: Yields, least: float) -> bool:
        """Whether some unit would gain by a policy with these yields at the duals of the last solution."""
        units = self.entries.units
        duals = self._duals[units:] / self.scale
        unit = np.repeat(np.arange(units), np.diff(self.entries.start))
        spent = np.bincount(unit, yields.values * duals[self.entries.row], minlength=units)
        gain = yields.utility - self.yields[0].utility - spent - self._duals[:units]
        return bool(np.maximum(gain, 0.0).sum() > least)

    def _from_nothing(self, artificial: bool = True) -> tuple[Found, highspy.Highs]:
        for way in WAYS:
            lp = self._empty(way, artificial)
            self._put(lp, self.pairs)
            if (found := run(lp)) is not None:
                return found, lp
        return run_carefully(lp, self.entries.units), lp

    def mixture(self) -> tuple[list[Lottery], Floats, float]:
        """The lottery of each unit, the duals of the rows and the value, from the last basis in full precision."""
        last, helpers = self.found, len(self.artificial)
        if not any(self.most):
            last, helpers = self._from_nothing(artificial=False)[0], 0
        assert last is not None
        weights, duals = self._polished(last, helpers) or (last.x[helpers:], last.duals)
        found: list[dict[int, float]] = [{} for _ in range(self.entries.units)]
        for i in np.flatnonzero(weights > LEAST_WEIGHT):
            unit, c = self.pairs[i]
            found[unit][c] = float(weights[i])
        lotteries = [tuple((c, w / sum(each.values())) for c, w in each.items()) for each in found]
        mixed = [w * float(self.yields[c].utility[unit]) for unit, lot in enumerate(lotteries) for c, w in lot]
        return lotteries, duals[self.entries.units :] * self.unit / self.scale, math.fsum(mixed)

    def _polished(self, last: Found, artificial: int) -> tuple[Floats, Floats] | None:
        """Weights of all variables and duals of all rows of a basis; None if it cannot be inverted."""
        chosen, tight = np.flatnonzero(last.basic).tolist(), np.flatnonzero(last.tight).tolist()
        if len(chosen) != len(tight) or not chosen:
            return None
        place = np.full(self.entries.units + len(self.rows), -1)
        place[tight] = np.arange(len(tight))
        helpers = [i for i in chosen if i < artificial]
        units, policies = np.array([self.pairs[i - artificial] for i in chosen[len(helpers) :]]).reshape(-1, 2).T
        starts, index, values = self._variables(units, policies)
        column = len(helpers) + np.repeat(np.arange(len(units)), np.diff(starts))
        rows = np.concatenate([[self.artificial[i][0] for i in helpers], index]).astype(np.int64)
        columns = np.concatenate([np.arange(len(helpers)), column])
        numbers = np.concatenate([[self.artificial[i][1] for i in helpers], values])
        gains = np.concatenate([np.zeros(len(helpers)), self._gains(units, policies)])
        inside = place[rows] >= 0
        matrix = csc_array((numbers[inside], (place[rows[inside]], columns[inside])), shape=(len(tight), len(chosen)))
        target = np.concatenate([np.ones(self.entries.units), self.bounds])[tight]
        try:
            factors, transposed = splu(matrix), splu(csc_array(matrix.T))
        except RuntimeError:  # singular
            return None
        solved = factors.solve(target)
        solved += factors.solve(target - matrix @ solved)
        prices = transposed.solve(gains)
        prices += transposed.solve(gains - matrix.T @ prices)
        if not (np.isfinite(solved).all() and np.isfinite(prices).all() and (solved > -1e-9).all()):
            return None
        if (solved[: len(helpers)] > 1e-9).any():
            return None
        weights = np.zeros(len(self.pairs))
        weights[np.array(chosen[len(helpers) :], dtype=np.int64) - artificial] = solved[len(helpers) :]
        duals = np.zeros(self.entries.units + len(self.rows))
        duals[tight] = prices
        return weights, duals


def _sides(row: Row, bound: float) -> tuple[float, float]:
    return -highspy.kHighsInf if row.sense == "<=" else bound, highspy.kHighsInf if row.sense == ">=" else bound


def generate(oracle: Oracle) -> DualOptimum:
    """The optimum of a problem with affine rows; raises `Infeasible` with a proof."""
    free, scale, blocks = oracle.free, oracle.scale, oracle.blocks
    slack = oracle.rows.signs * (oracle.rows.bounds - free.values)
    if np.where(oracle.rows.is_equality, slack == 0, slack >= 0).all():
        return alone(free)
    master = begin(oracle, (free, *oracle.known))
    phase_one(oracle, master)
    master.begin_phase_two()
    pricing = Pricing(oracle)
    if oracle.known:
        pricing.step = 0.95  # the duals of a master that knows many columns do not leap about
    for _ in range(MOST_ROUNDS):
        value, duals = master.solve()
        duals = oracle.proper(duals)
        new = pricing.next(duals, partial(master.improves, least=rounding(value, duals, scale)))
        if pricing.bound - value > rounding(value, pricing.centre, scale) and master.add(new):
            continue
        # the LP's own value is only as good as its tolerances: its basis in full precision decides
        lotteries, duals, value = master.mixture()
        new = pricing.at(duals)
        if pricing.bound - value <= rounding(value, pricing.centre, scale) or not master.add(new):
            break
    if len(oracle.layout.search_ids) > blocks.blocks:
        lotteries = _search_by_search(oracle, master, lotteries)
    return DualOptimum(tuple(master.columns), np.zeros(0), pricing.centre, pricing.bound, lotteries=tuple(lotteries))


def begin(oracle: Oracle, columns: Iterable[Column]) -> BlockMaster:
    """The master of a problem, with some columns."""
    blocks = oracle.blocks
    master = BlockMaster(
        oracle.rows, oracle.rows.bounds, oracle.scale, Entries(blocks.blocks, blocks.row, blocks.start)
    )
    for column in columns:
        master.add(column)
    return master


def _search_by_search(oracle: Oracle, master: BlockMaster, lotteries: list[Lottery]) -> list[Lottery]:
    """Lotteries of searches from those of blocks: where a block mixes, its searches choose one by one."""
    layout, rows, ptr = oracle.layout, oracle.rows, oracle.blocks.ptr
    mixing = [b for b, lottery in enumerate(lotteries) if len(lottery) > 1]
    found = [lottery for b, lottery in enumerate(lotteries) for _ in range(ptr[b], ptr[b + 1])]
    if not mixing:
        return found
    searches = np.concatenate([np.arange(ptr[b], ptr[b + 1]) for b in mixing])
    fixed = np.zeros(len(rows))
    for b, lottery in enumerate(lotteries):
        if len(lottery) == 1:
            own = slice(oracle.blocks.start[b], oracle.blocks.start[b + 1])
            np.add.at(fixed, oracle.blocks.row[own], master.yields[lottery[0][0]].values[own])
    count, m = len(searches), len(rows)
    entries = Entries(count, np.tile(np.arange(m), count), m * np.arange(count + 1))
    finer = BlockMaster(rows, rows.bounds - fixed, oracle.scale, entries)
    used = sorted({c for b in mixing for c, _ in lotteries[b]})
    for c in used:
        column = master.columns[c]
        visits = Prepared.of_policy(layout, rows, column.policy, searches).visits(searches)
        parts = [_by_search(oracle, visits, int(ptr[b]), int(ptr[b + 1])) for b in mixing]
        utility = np.concatenate([u for u, _ in parts])
        finer.add_yields(Yields(utility, np.concatenate([a for _, a in parts], axis=1).T.ravel()), column)
    finer.begin_phase_two()
    finer.solve()
    number = {id(column): c for c, column in enumerate(master.columns)}
    again, _, _ = finer.mixture()
    for search, lottery in zip(searches, again, strict=True):
        found[search] = tuple((number[id(finer.columns[c])], w) for c, w in lottery)
    return found


def _by_search(oracle: Oracle, visits: Floats, first: int, last: int) -> tuple[Floats, Floats]:
    """Utility and rows (rows, searches) of the searches first..last-1."""
    layout = oracle.layout
    low, high = (int(layout.candidate_ptr[layout.search_ptr[s]]) for s in (first, last))
    states = np.arange(low, high)
    search = layout.candidate_search[layout.state_candidate[low:high]] - first
    utility = np.bincount(search, layout.reward[low:high] * visits[low:high], minlength=last - first)
    values = np.zeros((len(oracle.rows), last - first))
    for j, row in enumerate(oracle.rows.rows):
        values[j] = np.bincount(search, row.at(states) * visits[low:high], minlength=last - first)
    return utility.astype(np.float64), values
