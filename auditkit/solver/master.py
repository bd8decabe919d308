"""The master LP that mixes columns of the whole firm, and what column generation is made of.

    maximise sum_c w_c u_c   s.t.   sum_c w_c a_c  <= | == | >=  b,   sum_c w_c = 1,   w >= 0,

Convex constraints (`convex.py`) mix whole policies by it; affine ones mix block by block (`block_master.py`). While the
columns cannot meet the rows, artificial variables measure by how much, and their duals price policies that help (phase
one). HiGHS is warm-started from round to round, by the primal simplex because a new column leaves the last solution
feasible (with a hundred rows more than twice as fast as the dual one).

A mixture that HiGHS takes to meet the rows may miss them in the 12th digit, and HiGHS may then call the LP infeasible
once the artificial variables are gone. So phase one goes on until the rows are met in full precision, or as well as any
policy can; what is missed then (at most FEASIBILITY) stays allowed. An LP that HiGHS gives up on in every way is solved
by `careful_lp.py`.

What is priced are not the master's duals but others on the way to them (`Pricing`), which halves the rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import highspy
import numpy as np
from scipy.sparse import csc_array, csr_array

from auditkit.constraints.base import Row, Rows
from auditkit.model.layout import Bools, Floats
from auditkit.solver import careful_lp
from auditkit.solver.oracle import FEASIBILITY, Column, Infeasible, Oracle
from auditkit.solver.policy import Policy
from auditkit.solver.rounding import MET

MOST_ROUNDS = 10_000
OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "presolve": "off",
    "primal_feasibility_tolerance": 1e-10,
    "small_matrix_value": 1e-12,  # a policy that breaks a row with a tiny chance does not meet it
    "dual_feasibility_tolerance": 1e-10,
}
WARM: dict[str, Any] = {"presolve": "off", "solver": "choose", "simplex_strategy": 4}  # primal
COLD: tuple[dict[str, Any], ...] = ({"simplex_strategy": 0}, {"presolve": "on"}, {"presolve": "on", "solver": "ipm"})
"""Options of HiGHS: from round to round, and where that fails, or at the end, from nothing in one way after another."""


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


class Master:
    """The restricted master LP with rows scaled to size one. Row 0 of the LP is the convexity row.

    Utilities are paid relative to `base`, which weights that sum to one allow: HiGHS gives up when all are large.
    """

    def __init__(self, rows: Rows, scale: Floats, base: float = 0.0, columns: Iterable[Column] = ()) -> None:
        self.rows = rows
        self.scale = scale
        self.base = base
        self.columns = list(columns)
        self.feasible = False
        self.found: Found | None = None
        self.artificial = [
            (j, sign)
            for j, row in enumerate(rows.rows, 1)
            for sign in (1.0, -1.0)
            if row.sense == "==" or (row.sense == "<=") == (sign < 0)
        ]
        self.most = [highspy.kHighsInf] * len(self.artificial)
        self.lp = self._build(WARM)

    def _build(self, way: dict[str, Any]) -> highspy.Highs:
        """The LP with all that is known so far."""
        lp = highspy.Highs()
        for name, value in (OPTIONS | way).items():
            lp.setOptionValue(name, value)
        lp.changeObjectiveSense(highspy.ObjSense.kMaximize)
        for low, high in [(1.0, 1.0), *(_bounds(row, s) for row, s in zip(self.rows.rows, self.scale, strict=True))]:
            lp.addRow(low, high, 0, np.array([], dtype=np.int32), np.array([]))
        cost = 0.0 if self.feasible else -1.0
        for (j, sign), most in zip(self.artificial, self.most, strict=True):
            lp.addCol(cost, 0.0, most, 1, np.array([j], dtype=np.int32), np.array([sign]))
        for column in self.columns:
            self._add(lp, column)
        return lp

    def _from_nothing(self) -> Found:
        """Rebuild and solve the LP: a solver that failed once may keep failing, whatever is cleared."""
        for way in COLD:
            self.lp = self._build(way)
            if (found := run(self.lp)) is not None:
                break
        else:
            found = run_carefully(self.lp, 1)
        for name, value in WARM.items():
            self.lp.setOptionValue(name, value)
        return found

    def _add(self, lp: highspy.Highs, column: Column) -> None:
        cost = column.utility - self.base if self.feasible else 0.0
        entries = self._entries(column)
        kept = np.flatnonzero(entries)
        lp.addCol(cost, 0.0, highspy.kHighsInf, len(kept), kept.astype(np.int32), entries[kept])

    def _entries(self, column: Column) -> Floats:
        return np.append(1.0, column.values / self.scale)

    def add(self, column: Column) -> bool:
        """Put a column into the LP; False if it is there already."""
        if known(column, self.columns, self.scale):
            return False
        self.columns.append(column)
        self._add(self.lp, column)
        return True

    def add_row(self, rows: Rows, scale: float, columns: Sequence[Column]) -> None:
        """One more row, the last of `rows`, which a mixture of the columns meets; they come with their values of it."""
        self.rows, self.scale, self.columns = rows, np.append(self.scale, scale), list(columns)
        places = np.arange(len(columns), dtype=np.int32) + len(self.artificial)
        values = np.array([column.values[-1] for column in columns]) / scale
        self.lp.addRow(*_bounds(rows.rows[-1], scale), len(places), places, values)

    def begin_phase_two(self) -> None:
        """The rows can be met: forbid the artificial variables and pay the utilities."""
        self.most = allowed(self.missed(), self.artificial)
        self.feasible = True
        for i, most in enumerate(self.most):
            self.lp.changeColBounds(i, 0.0, most)
            self.lp.changeColCost(i, 0.0)
        for i, column in enumerate(self.columns):
            self.lp.changeColCost(len(self.artificial) + i, column.utility - self.base)

    def solve(self) -> tuple[float, Floats]:
        """Value of the master and the duals of the rows in the user's scale."""
        self.found = run(self.lp) or self._from_nothing()
        value = self.found.value
        return value + self.base if self.feasible else value, self.found.duals[1:] / self.scale

    def missed(self) -> Floats:
        """By how much, of its size and signed, the last solution misses each row."""
        if self.found is None:
            return np.zeros(len(self.rows))
        return missed(self.lp, self.found, len(self.artificial))[1:]

    def weights(self) -> Floats:
        """Weights of the columns in the last solution."""
        assert self.found is not None
        return self.found.x[len(self.artificial) :]


def allowed(missed: Floats, artificial: Sequence[tuple[int, float]]) -> list[float]:
    """How large artificial variables may be in phase two: what phase one could not get rid of."""
    rows = len(missed)
    first = min((place for place, _ in artificial), default=0)
    by_row = [missed[place - first] if place - first < rows else 0.0 for place, _ in artificial]
    return [
        2.0 * abs(float(miss)) if abs(miss) > EXACT and miss * sign < 0 else 0.0
        for miss, (_, sign) in zip(by_row, artificial, strict=True)
    ]


def _bounds(row: Row, scale: float) -> tuple[float, float]:
    bound = row.bound / scale
    return -highspy.kHighsInf if row.sense == "<=" else bound, highspy.kHighsInf if row.sense == ">=" else bound


def rounding(value: float, duals: Floats, scale: Floats) -> float:
    """What cannot be told from nothing beside a value and the terms of the duals."""
    return MET * (1e-9 + abs(value) + float(np.abs(duals) @ scale))


class Pricing:
    """Where the next policy is looked for, and the best bound so far.

    The master's duals leap about while it knows few columns. What is priced lies between them and the `centre`, the
    duals whose bound is the best so far: nearer to the centre as long as the bound rises on the way from there to the
    master's duals, farther as long as it falls (smoothing after Wentges; Pessoa, Sadykov, Uchoa and Vanderbeck). Where
    the policy found there would not improve the master, the master's own duals are priced.
    """

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.bound = oracle.free.utility
        self.centre = np.zeros(len(oracle.rows))
        self.step = 0.5

    def next(self, duals: Floats, improves: Callable[[Column], bool]) -> Column:
        """A column that improves a master with these duals, if there is one."""
        self.centre = np.append(self.centre, np.zeros(len(duals) - len(self.centre)))  # rows may have been added
        way = duals - self.centre
        new = self.at(self.centre + self.step * way)
        falls = float(way @ (self.oracle.rows.bounds - new.values)) < 0
        self.step = self.step + 0.2 * (1.0 - self.step) if falls else max(0.02, 0.8 * self.step)
        return new if improves(new) else self.at(duals)

    def at(self, duals: Floats) -> Column:
        """The column that these duals price; they become the centre if their bound is the best so far."""
        duals = self.oracle.proper(duals)
        new = self.oracle.at(duals)
        bound = self.oracle.plane(new, duals)
        if bound < self.bound:
            self.bound, self.centre = bound, duals
        return new


class Restricted(Protocol):
    """What phase one needs of a master."""

    def solve(self) -> tuple[float, Floats]: ...

    def add(self, column: Column) -> bool: ...

    def missed(self) -> Floats: ...


def phase_one(oracle: Oracle, master: Restricted) -> None:
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


def known(new: Column, columns: Sequence[Column], scale: Floats) -> bool:
    """Whether a column equal to rounding is among the columns already, so that another round would repeat this one."""
    values = np.array([column.values for column in columns]) / scale
    utilities = np.array([column.utility for column in columns])
    same = (np.abs(values - new.values / scale) <= 1e-14).all(axis=1)
    return bool((same & (np.abs(utilities - new.utility) <= 1e-14 * (1.0 + abs(new.utility)))).any())
