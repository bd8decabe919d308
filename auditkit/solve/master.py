"""Many affine constraints: column generation.

The master LP mixes the columns known so far,

    maximise sum_c w_c u_c   s.t.   sum_c w_c a_c  <= | == | >=  b,   sum_c w_c = 1,   w >= 0,

its duals price the next policy, and G at these duals bounds the optimum. When bound and value meet, a basic solution
of the master is the optimum, a mixture of at most m + 1 policies (exact Caratheodory for free). While the columns
cannot meet the rows, artificial variables measure by how much, and their duals price policies that help (phase one).
HiGHS is warm-started from round to round, by the primal simplex because a new column leaves the last solution feasible
(with a hundred rows more than twice as fast as the dual one); the last LP is solved again from nothing.

The duals priced are first those halfway to the best known bound's, which saves a third of the rounds when G is smooth
(Wentges smoothing); where the policy found there does not improve the master, the master's own duals are priced.
"""

from __future__ import annotations

import highspy
import numpy as np

from auditkit.constraints import Rows
from auditkit.layout import Floats
from auditkit.policy import Policy
from auditkit.solve.dual_search import Meeting
from auditkit.solve.oracle import FEASIBILITY, Column, Infeasible, Oracle

ROUNDING = 1e-12
"""Of the size of the utility: value and bound closer than this have met."""

MOST_ROUNDS = 10_000
CHOOSE, PRIMAL = 0, 4
"""Simplex strategies of HiGHS."""


class Master:
    """The restricted master LP with rows scaled to size one. Row m is the convexity row.

    Utilities are paid relative to `base`, which weights that sum to one allow: HiGHS gives up when all are large.
    """

    def __init__(self, rows: Rows, scale: Floats, base: float = 0.0) -> None:
        self.rows = rows
        self.scale = scale
        self.base = base
        self.m = len(self.rows)
        self.columns: list[Column] = []
        self.feasible = False
        self.lp = self._empty()
        self.lp.setOptionValue("simplex_strategy", PRIMAL)
        self._artificial = self._add_artificial(self.lp)

    def _empty(self) -> highspy.Highs:
        lp = highspy.Highs()
        lp.setOptionValue("output_flag", False)
        lp.setOptionValue("presolve", "off")
        lp.setOptionValue("threads", 1)
        lp.setOptionValue("primal_feasibility_tolerance", 1e-10)
        lp.setOptionValue("dual_feasibility_tolerance", 1e-10)
        lp.changeObjectiveSense(highspy.ObjSense.kMaximize)
        for row, scale in zip(self.rows.rows, self.scale, strict=True):
            low = -highspy.kHighsInf if row.sense == "<=" else row.bound / scale
            high = highspy.kHighsInf if row.sense == ">=" else row.bound / scale
            lp.addRow(low, high, 0, np.array([], dtype=np.int32), np.array([]))
        lp.addRow(1.0, 1.0, 0, np.array([], dtype=np.int32), np.array([]))
        return lp

    def _add_artificial(self, lp: highspy.Highs) -> int:
        count = 0
        for j, row in enumerate(self.rows.rows):
            for sign in (1.0, -1.0):
                if row.sense == "==" or (row.sense == "<=") == (sign < 0):
                    lp.addCol(-1.0, 0.0, highspy.kHighsInf, 1, np.array([j], dtype=np.int32), np.array([sign]))
                    count += 1
        return count

    def _add(self, lp: highspy.Highs, column: Column, cost: float) -> None:
        entries = np.append(column.values / self.scale, 1.0)
        kept = np.flatnonzero(entries)
        lp.addCol(cost, 0.0, highspy.kHighsInf, len(kept), kept.astype(np.int32), entries[kept])

    def add(self, column: Column) -> None:
        self.columns.append(column)
        self._add(self.lp, column, column.utility - self.base if self.feasible else 0.0)

    def begin_phase_two(self) -> None:
        """The rows can be met: forbid the artificial variables and pay the utilities."""
        self.feasible = True
        for i in range(self._artificial):
            self.lp.changeColBounds(i, 0.0, 0.0)
            self.lp.changeColCost(i, 0.0)
        for i, column in enumerate(self.columns):
            self.lp.changeColCost(self._artificial + i, column.utility - self.base)

    def solve(self) -> tuple[float, Floats]:
        """Value of the master and the duals of the rows in the user's scale."""
        self.lp.run()
        if self.lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self.lp.clearSolver()  # a warm start gone wrong: once more from nothing, the way HiGHS likes best
            self.lp.setOptionValue("simplex_strategy", CHOOSE)
            self.lp.run()
            self.lp.setOptionValue("simplex_strategy", PRIMAL)
        duals = np.array(self.lp.getSolution().row_dual)
        value = float(self.lp.getInfo().objective_function_value)
        return value + self.base if self.feasible else value, duals[: self.m] / self.scale

    def weights(self) -> Floats:
        """Weights of the columns in the last solution."""
        return np.maximum(np.array(self.lp.getSolution().col_value)[self._artificial :], 0.0)

    def mixture(self) -> tuple[tuple[Column, ...], Floats, Floats]:
        """Columns, weights and duals of the master solved from nothing, its basis once more in full precision."""
        lp = self._empty()
        for column in self.columns:
            self._add(lp, column, column.utility - self.base)
        lp.run()
        if lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise ArithmeticError(f"the last master LP ends as {lp.getModelStatus()}, though it was solved before")
        solution, basis = lp.getSolution(), lp.getBasis()
        basic = highspy.HighsBasisStatus.kBasic
        columns = [i for i, status in enumerate(basis.col_status) if status == basic]
        tight = [j for j, status in enumerate(basis.row_status) if status != basic]
        weights = np.array(solution.col_value)
        matrix = np.array([np.append(c.values / self.scale, 1.0) for c in self.columns]).T
        target = np.append(self.rows.bounds / self.scale, 1.0)
        if len(columns) == len(tight):
            try:
                polished = np.linalg.solve(matrix[np.ix_(tight, columns)], target[tight])
            except np.linalg.LinAlgError:
                polished = np.full(len(columns), -1.0)
            if (polished > -1e-9).all():
                weights = np.zeros(len(self.columns))
                weights[columns] = polished
        weights = np.maximum(weights, 0.0)
        kept = np.flatnonzero(weights)
        duals = np.array(solution.row_dual)[: self.m] / self.scale
        return tuple(self.columns[i] for i in kept), weights[kept] / weights.sum(), duals


def generate(oracle: Oracle) -> Meeting:
    """The optimum of a problem with any number of rows; raises `Infeasible` with a proof."""
    free = oracle.free
    scale = oracle.scale(free)
    master = Master(oracle.rows, scale, free.utility)
    for column in (free, *oracle.known):
        master.add(column)
    phase_one(oracle, master)
    master.begin_phase_two()
    proof = (free.utility, np.zeros(len(oracle.rows)))  # the lowest bound so far, and the duals that prove it
    for _ in range(MOST_ROUNDS):
        value, duals = master.solve()
        duals = oracle.proper(duals)
        for priced in ((duals + proof[1]) / 2, duals):
            new, proof = price(oracle, priced, proof)
            size = 1e-9 + abs(value) + float(np.abs(proof[1]) @ scale)
            met = proof[0] - value <= ROUNDING * size
            if met or oracle.plane(new, duals) - value > ROUNDING * size:
                break
        if met or _known(new, master, scale):
            break
        master.add(new)
    columns, weights, duals = master.mixture()
    _, (bound, duals) = price(oracle, duals, proof)
    return Meeting(columns, weights, duals, bound, oracle.calls)


def price(oracle: Oracle, duals: Floats, proof: tuple[float, Floats]) -> tuple[Column, tuple[float, Floats]]:
    """The column that these duals price, and the better of two bounds."""
    duals = oracle.proper(duals)
    new = oracle.at(duals)
    bound = oracle.plane(new, duals)
    return new, (bound, duals) if bound < proof[0] else proof


def phase_one(oracle: Oracle, master: Master) -> None:
    """Generate columns until a mixture of them meets every row, or prove that none does."""
    for _ in range(MOST_ROUNDS):
        value, duals = master.solve()
        if -value <= FEASIBILITY:
            return
        duals = oracle.proper(duals)
        new = oracle.column(Policy.towards(duals))
        # max over policies of duals.(b - Theta p): below zero, no policy has all rows right
        reach = float(duals @ (oracle.rows.bounds - new.values))
        if reach < -FEASIBILITY or _known(new, master, master.scale):
            raise Infeasible(duals)
        master.add(new)


def _known(new: Column, master: Master, scale: Floats) -> bool:
    """Whether a column equal to rounding is in the master already, so that another round would repeat this one."""
    values = np.array([column.values for column in master.columns]) / scale
    utilities = np.array([column.utility for column in master.columns])
    same = (np.abs(values - new.values / scale) <= 1e-14).all(axis=1)
    return bool((same & (np.abs(utilities - new.utility) <= 1e-14 * (1.0 + abs(new.utility)))).any())
