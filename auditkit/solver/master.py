"""The master LP that mixes policies, and what column generation is made of.

    maximise sum_b,c w_bc u_bc   s.t.   sum_b,c w_bc a_bc  <= | == | >=  bound,   sum_c w_bc = 1 for all b,   w >= 0,

where u_bc and a_bc are what policy c yields in unit b: a block of searches (`block_master.py`), a search, or for convex
constraints the whole firm (`convex.py`). While the columns cannot meet the rows, artificial variables measure by how
much, and their duals price policies that help (phase one). HiGHS is warm-started from round to round, by the primal
simplex because a new column leaves the last solution feasible (with a hundred rows more than twice as fast as the dual
one). Rows and utilities are scaled to size one; the last basis is solved once more in full precision, weights and
duals, because the LP's tolerance would let the value exceed the bound.

A mixture that HiGHS takes to meet the rows may miss them in the 12th digit, and HiGHS may then call the LP infeasible
once the artificial variables are gone. So phase one goes on until the rows are met in full precision, or as well as any
policy can; what is missed then (at most FEASIBILITY) stays allowed. An LP that HiGHS gives up on in every way is solved
by `careful_lp.py`.

What is priced are not the master's duals but others on the way to them (`Pricing`), which halves the rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from auditkit.constraints.base import Row, Rows
from auditkit.model.layout import Bools, Floats, Ints
from auditkit.solver import careful_lp
from auditkit.solver.oracle import FEASIBILITY, Column, Infeasible, Oracle
from auditkit.solver.policy import Lottery, Policy
from auditkit.solver.rounding import MET

MOST_ROUNDS = 10_000
Options = dict[str, str | int | float | bool]
OPTIONS: Options = {
    "output_flag": False,
    "threads": 1,
    "presolve": "off",
    "primal_feasibility_tolerance": 1e-10,
    "small_matrix_value": 1e-12,  # a policy that breaks a row with a tiny chance does not meet it
    "dual_feasibility_tolerance": 1e-10,
}
WARM: Options = {"presolve": "off", "solver": "choose", "simplex_strategy": 4}  # primal
COLD: tuple[Options, ...] = ({"simplex_strategy": 0}, {"presolve": "on"}, {"presolve": "on", "solver": "ipm"})
"""Options of HiGHS: from round to round, and where that fails, or at the end, from nothing in one way after another."""

LOOSE = {"primal_feasibility_tolerance": 1e-8, "dual_feasibility_tolerance": 1e-8}
"""Tolerances with which HiGHS ends where it does not with tighter ones: the basis is polished anyway."""

WAYS: tuple[Options, ...] = ({"simplex_strategy": 4}, *COLD, *({**LOOSE, **way} for way in COLD))
"""Options of HiGHS for an LP that is solved from nothing, tried in turn."""

ALIKE = 14
"""Digits, of the size of rows and utility, to which yields must differ: nearly equal columns make singular bases."""

LEAST_WEIGHT = 1e-13
"""A smaller weight is rounding."""

LEAST_PROMISED = 0.05
"""Of the open gap: what a parabola has to promise."""

EXACT = 1e-12
"""Of the size of a row: one that is missed by less is met."""

HELPINGS = 5
"""How often phase one looks for a better column when the rows are met as well as HiGHS can tell."""


@dataclass(frozen=True, eq=False)
class Found:
    """The solution of a master LP: variables (not negative), duals of its rows, and its basis."""

    x: Floats
    duals: Floats
    value: float
    basic: Bools
    tight: Bools


def run(lp: highspy.Highs) -> Found | None:
    """Solve an LP; None if HiGHS does not end with an optimum."""
    lp.run()
    if lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = lp.getSolution()
    x, duals = np.maximum(solution.col_value, 0.0), np.array(solution.row_dual)
    return Found(x, duals, float(lp.getInfo().objective_function_value), *_basis(lp, len(x), len(duals)))


def _basis(lp: highspy.Highs, columns: int, rows: int) -> tuple[Bools, Bools]:
    """Which columns are basic, and which rows are tight."""
    status, basic = lp.getBasicVariables()  # type: ignore[attr-defined]
    chosen, tight = np.zeros(columns, dtype=np.bool_), np.ones(rows, dtype=np.bool_)
    if status == highspy.HighsStatus.kOk:  # rows are numbered -1, -2, ...
        at = np.asarray(basic)
        chosen[at[at >= 0]] = True
        tight[-1 - at[at < 0]] = False
        return chosen, tight
    basis, is_basic = lp.getBasis(), highspy.HighsBasisStatus.kBasic
    chosen[:] = [one == is_basic for one in basis.col_status]
    tight[:] = [one != is_basic for one in basis.row_status]
    return chosen, tight


def run_carefully(lp: highspy.Highs, fixed: int) -> Found:
    """Solve an LP that HiGHS could not; rows after the first `fixed` may be missed by as little as it takes."""
    model, matrix = lp.getLp(), _matrix(lp)
    low, high, most = (np.array(side) for side in (model.row_lower_, model.row_upper_, model.col_upper_))
    for room in (0.0, 1e-12, 1e-11, 1e-10, FEASIBILITY):
        wider = np.where(np.arange(len(low)) < fixed, 0.0, room)
        found = careful_lp.maximise(np.array(model.col_cost_), matrix.toarray(), low - wider, high + wider, most)
        if found is not None:
            return Found(found.x, found.duals, found.value, found.basic, found.tight)
    raise ArithmeticError(f"a master LP ends as {lp.getModelStatus()}, though it has a solution")


def missed(lp: highspy.Highs, found: Found, artificial: int) -> Floats:
    """How far each row lies above (or, negative, below) its sides without the artificial variables."""
    own = _matrix(lp)[:, artificial:] @ found.x[artificial:]
    model = lp.getLp()
    return np.maximum(own - model.row_upper_, 0.0) - np.maximum(model.row_lower_ - own, 0.0)


def _matrix(lp: highspy.Highs) -> csc_array:
    model = lp.getLp()
    a = model.a_matrix_
    if a.format_ == highspy.MatrixFormat.kRowwise:
        return csr_array((a.value_, a.index_, a.start_), shape=(model.num_row_, model.num_col_)).tocsc()
    return csc_array((a.value_, a.index_, a.start_), shape=(model.num_row_, model.num_col_))


@dataclass(frozen=True, eq=False)
class Entries:
    """Which row and which unit (a block, or a search) each value of a column belongs to, sorted by unit."""

    units: int
    row: Ints
    start: Ints

    @staticmethod
    def dense(units: int, rows: int) -> Entries:
        """Every unit has a value in every row."""
        return Entries(units, np.tile(np.arange(rows), units), rows * np.arange(units + 1))


@dataclass(frozen=True, eq=False)
class Yields:
    """What a policy yields in each unit."""

    utility: Floats
    values: Floats

    @staticmethod
    def of(column: Column) -> Yields:
        """By block, or where convex measures take part of the whole firm."""
        if column.sums is None or column.by_block is None:
            return Yields(np.array([column.utility]), column.values)
        return Yields(column.sums.utility, column.by_block)


class Master:
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

    def _empty(self, way: Options, artificial: bool = True) -> highspy.Highs:
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

    @staticmethod
    def whole(rows: Rows, scale: Floats, columns: Iterable[Column]) -> Master:
        """One unit that mixes these columns."""
        master = Master(rows, rows.bounds, scale, Entries.dense(1, len(rows)))
        for column in columns:
            master.add_yields(Yields.of(column), column, known=True)
        return master

    def add(self, column: Column) -> bool:
        """Let the units follow the policy of a column; False if none of them finds anything new in it."""
        return self.add_yields(Yields.of(column), column)

    def add_yields(self, yields: Yields, column: Column, known: bool = False) -> bool:
        """As `add`; `known` ones are added though they may be alike."""
        number, fresh = len(self.columns), []
        for unit, (key, seen) in enumerate(zip(self._keys(yields), self._seen, strict=True)):
            if known or key not in seen:
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

    def _keys(self, yields: Yields) -> list[bytes]:
        """Of each unit: equal where yields are alike."""
        first = self.yields[0] if self.yields else yields
        size = float(np.abs(first.utility).sum()) or 1.0
        utility = np.round(yields.utility / size, ALIKE) + 0.0
        values = np.round(yields.values / self.scale[self.entries.row], ALIKE) + 0.0
        paid, held, ends = utility.tobytes(), values.tobytes(), (8 * self.entries.start).tolist()
        return [paid[8 * u : 8 * u + 8] + held[ends[u] : ends[u + 1]] for u in range(self.entries.units)]

    def add_row(self, rows: Rows, scale: float, columns: Sequence[Column]) -> None:
        """One more row, the last of `rows`, which a mixture of the columns of the one unit meets; they come with their
        values of it."""
        self.rows, self.columns, self.yields = rows, list(columns), [Yields.of(column) for column in columns]
        self.scale, self.bounds = np.append(self.scale, scale), np.append(self.bounds, rows.bounds[-1] / scale)
        self.entries = Entries.dense(1, len(rows))
        self._seen = [{key for yields in self.yields for key in self._keys(yields)}]
        places = np.arange(len(columns), dtype=np.int32) + len(self.artificial)
        values = np.array([column.values[-1] for column in columns]) / scale
        self.lp.addRow(*_sides(rows.rows[-1], float(self.bounds[-1])), len(places), places, values)

    def weights(self) -> Floats:
        """Of the columns of the one unit in the last solution."""
        assert self.found is not None
        return self.found.x[len(self.artificial) :]

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
        return self.gains(Yields.of(column), least)

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


def allowed(missed: Floats, artificial: Sequence[tuple[int, float]]) -> list[float]:
    """How large artificial variables may be in phase two: what phase one could not get rid of."""
    rows = len(missed)
    first = min((place for place, _ in artificial), default=0)
    by_row = [missed[place - first] if place - first < rows else 0.0 for place, _ in artificial]
    return [
        2.0 * abs(float(miss)) if abs(miss) > EXACT and miss * sign < 0 else 0.0
        for miss, (_, sign) in zip(by_row, artificial, strict=True)
    ]


def _sides(row: Row, bound: float) -> tuple[float, float]:
    return -highspy.kHighsInf if row.sense == "<=" else bound, highspy.kHighsInf if row.sense == ">=" else bound


def rounding(value: float, duals: Floats, scale: Floats) -> float:
    """What cannot be told from nothing beside a value and the terms of the duals."""
    return MET * (abs(value) + float(np.abs(duals) @ scale))


class Pricing:
    """Where the next policy is looked for, and the best bound so far.

    The master's duals leap about while it knows few columns. What is priced lies between them and the `centre`, the
    duals whose bound is the best so far: nearer to the centre as long as the bound rises on the way from there to the
    master's duals, farther as long as it falls (smoothing after Wentges; Pessoa, Sadykov, Uchoa and Vanderbeck). Where
    the policy found there would not improve the master, the master's own duals are priced.

    Over many candidates G is nearly smooth. What is priced first is then the minimum of a parabola with the slopes of
    G at the duals priced so far (Newton's method with the approximation of Broyden, Fletcher, Goldfarb and Shanno),
    as long as it promises a share of the gap that is open and the last one kept its promise.
    """

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.bound = oracle.free.utility
        self.centre = np.zeros(len(oracle.rows))
        self.step = 0.5
        self.slopes: list[tuple[Floats, Floats]] = []
        """Duals that were priced, and the slope of G there."""
        self.trusted = True
        for column in oracle.known:  # the policy of some duals proves the bound there
            (level, *ties), duals = column.policy.levels, np.array(column.policy.levels[0].duals)
            whose = column.policy.rows is None and not ties and level.objective == 1.0
            if whose and len(duals) == len(oracle.rows) and np.array_equal(duals, oracle.proper(duals)):
                self._proved(column, duals)

    def next(self, duals: Floats, improves: Callable[[Column], bool], value: float | None = None) -> Column:
        """A column that improves a master with these duals (and this value, if its rows stay as they are)."""
        if value is not None and (lowest := self._lowest(duals, LEAST_PROMISED * (self.bound - value))) is not None:
            before = self.bound
            new = self.at(lowest)
            self.trusted = self.bound < before
            if improves(new):
                return new
        self.trusted = True
        self.centre = np.append(self.centre, np.zeros(len(duals) - len(self.centre)))  # rows may have been added
        way = duals - self.centre
        new = self.at(self.centre + self.step * way)
        falls = float(way @ (self.oracle.rows.bounds - new.values)) < 0
        self.step = self.step + 0.2 * (1.0 - self.step) if falls else max(0.02, 0.8 * self.step)
        return new if improves(new) else self.at(duals)

    def _lowest(self, duals: Floats, least: float) -> Floats | None:
        """Where a parabola that fits the slopes near the centre is lowest, no farther from there than the master's
        duals; None if that lowers it by less than the least. Duals that are 0 in the master do not move."""
        moving = np.flatnonzero(duals)
        unit = 1.0 / self.oracle.scale[moving]
        centre, slope = self.centre[moving] / unit, None
        free = np.zeros(len(duals)), self.oracle.rows.bounds - self.oracle.free.values
        others: list[tuple[Floats, Floats]] = []
        for at, found in (free, *self.slopes):
            away, own = at - self.centre, found[moving] * unit
            if not away.any():
                slope = own
            elif not np.delete(away, moving).any():
                others.append((away[moving] / unit, own))
        if slope is None or not self.trusted:
            return None
        others.sort(key=lambda pair: -float(np.linalg.norm(pair[0])))
        bends = [(way, own - slope) for way, own in others[-2 * len(moving) - 1 :]]  # the nearest last
        bends = [(s, y) for s, y in bends if s @ y > 1e-12 * np.linalg.norm(s) * np.linalg.norm(y)]
        if not bends:
            return None
        inverse = np.eye(len(moving)) * (bends[-1][0] @ bends[-1][0] / (bends[-1][0] @ bends[-1][1]))
        for s, y in bends:
            left = np.eye(len(moving)) - np.outer(s, y) / (s @ y)
            inverse = left @ inverse @ left.T + np.outer(s, s) / (s @ y)
        way = -inverse @ slope
        far, farthest = float(np.linalg.norm(way)), float(np.linalg.norm(duals[moving] / unit - centre))
        way *= farthest / far if far > farthest else 1.0
        if -float(way @ slope) / 2 < least:
            return None
        found = self.centre.copy()
        found[moving] += way * unit
        return found

    def at(self, duals: Floats) -> Column:
        """The column that these duals price; they become the centre if their bound is the best so far."""
        duals = self.oracle.proper(duals)
        new = self.oracle.at(duals)
        self._proved(new, duals)
        return new

    def _proved(self, column: Column, duals: Floats) -> None:
        bound = self.oracle.plane(column, duals)
        self.slopes.append((duals, self.oracle.rows.bounds - column.values))
        if bound < self.bound:
            self.bound, self.centre = bound, duals


def phase_one(oracle: Oracle, master: Master) -> None:
    """Generate columns until a mixture of them meets every row, or prove that none does.

    What helps need not be extreme: a policy that also looks at utility is the better column of phase two. Only where it
    does not help enough, those that look at the rows alone are asked.
    """
    push, helpings = 0.125, 0
    for _ in range(MOST_ROUNDS):
        value, duals = master.solve()
        if -value <= FEASIBILITY:
            helpings += 1
            miss = np.where(np.abs(master.missed()) > EXACT, np.sign(master.missed()), 0.0)
            better = oracle.proper(miss / oracle.scale[: len(miss)])
            if helpings > HELPINGS or not better.any() or not master.add(oracle.column(Policy.towards(better))):
                return
            continue
        duals = oracle.proper(duals)
        push *= 4.0
        new = _pushed(oracle, duals, push)
        if float(duals @ (oracle.rows.bounds - new.values)) > value + FEASIBILITY and master.add(new):
            continue
        new = oracle.column(Policy.towards(duals))
        # max over policies of duals.(b - Theta p): below zero, no policy has all rows right
        reach = float(duals @ (oracle.rows.bounds - new.values))
        if reach < -FEASIBILITY or not master.add(new):
            raise Infeasible(duals)


def _pushed(oracle: Oracle, direction: Floats, push: float) -> Column:
    """The best policy when a step in this direction is worth `push` times the largest reward."""
    steepest = float((np.abs(direction) * oracle.rows.largest[: len(direction)]).max(initial=0.0))
    largest = oracle.layout.largest_reward or 1.0
    return oracle.at(direction * (push * largest / steepest if steepest > 0 else 1.0))
