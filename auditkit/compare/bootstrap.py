"""Intervals for the price of fairness: a bootstrap over searches.

A replicate draws as many searches as there are, with replacement; omega_s says how often search s was drawn. Every
policy c that the solver evaluated is known by its contributions per search, utility u[c, s] and parts phi[c, f, s]
(`parts`), so nothing is evaluated again. The replicate's optimum is a re-weighted master LP over these policies,

    maximise sum_c w_c sum_s omega_s u[c, s]
    s.t.     sum_c w_c sum_f M*[j, f] sum_s omega_s phi[c, f, s]  <= | == | >=  b_j,   sum_c w_c = 1,   w >= 0,

where M* is M with the replicate's sizes of groups in rows on rates. The unconstrained optimum is optimal in each search
by itself, so its re-weighted utility is exact; that of the constrained one is attained, and short of the replicate's
own optimum only by what policies not evaluated could add.

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
from auditkit.layout import Bools, Floats, Layout
from auditkit.solve.oracle import Column

REPLICATES = 500
LEVEL = 0.95
FEWEST_SEARCHES = 8
MOST_LOST = 0.05
"""Share of the replicates that may have no solution before there is no interval."""

SEED = 20_260_229


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


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each policy adds in each search: `utility` (policies, searches), `parts` (policies, parts, searches)."""

    utility: Floats
    parts: Floats

    @staticmethod
    def of(columns: Sequence[Column], parts: Parts) -> Contributions:
        layout = parts.layout
        return Contributions(
            np.array([layout.sum_by_search(layout.reward * column.visits) for column in columns]),
            np.array([parts.by_search(column.visits) for column in columns]),
        )


def intervals(
    columns: Sequence[Column],
    rows: Rows,
    parts: Parts | None,
    *,
    replicates: int = REPLICATES,
    level: float = LEVEL,
    seed: int = SEED,
) -> Interval | NoInterval:
    """Intervals of the price of fairness; the first column must be the unconstrained optimum."""
    if parts is None or parts.rate is None:
        return NoInterval("too-many-rows", "its rows cannot be re-weighted by search")
    layout = parts.layout
    searches = len(layout.search_ids)
    if searches < FEWEST_SEARCHES:
        reason = f"an interval resamples searches and needs at least {FEWEST_SEARCHES} of them; there are {searches}"
        return NoInterval("few-searches", reason)
    known = Contributions.of(columns, parts)
    sizes = _sizes(layout)
    member = [layout.groups.index(part.group) for part in parts.parts]
    master = _Master(rows, len(columns))
    drawn = np.random.default_rng(seed).multinomial(searches, np.full(searches, 1 / searches), size=replicates)
    free, best = np.full(replicates, np.nan), np.full(replicates, np.nan)
    for r, omega in enumerate(drawn.astype(np.float64)):
        now = sizes @ omega
        matrix = resized(parts.matrix, parts.rate, sizes.sum(axis=1)[member], now[member])
        if matrix is None:
            continue
        utility = known.utility @ omega
        free[r] = utility[0]
        best[r] = master.solve(utility, (known.parts @ omega) @ matrix.T)
    solved = np.isfinite(best)
    if replicates - int(solved.sum()) > MOST_LOST * replicates:
        lost = replicates - int(solved.sum())
        reason = f"in {lost} of {replicates} resampled sets of searches the known policies do not meet the constraint"
        return NoInterval("resampling-fails", reason)
    free, best = free[solved], best[solved]
    positive = bool((free > 0).all())
    return Interval(level, _middle(best / free, level) if positive else None, _middle(free - best, level))


def resized(matrix: Floats, rate: Bools, before: Floats, now: Floats) -> Floats | None:
    """M with other sizes of the parts' groups; None if a group of a rate is empty."""
    if (rate.any(axis=0) & (now <= 0)).any():
        return None
    factor = np.where(now > 0, before / np.where(now > 0, now, 1.0), 1.0)
    return np.where(rate, matrix * factor, matrix)


def _sizes(layout: Layout) -> Floats:
    """Candidates of each group in each search."""
    table = np.zeros((len(layout.groups), len(layout.search_ids)))
    np.add.at(table, (layout.candidate_group, layout.candidate_search), 1.0)
    return table


def _middle(values: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


class _Master:
    """The master LP over a fixed number of columns, passed to HiGHS anew for each replicate and started warm."""

    def __init__(self, rows: Rows, columns: int) -> None:
        self.rows = rows
        self.columns = columns
        self.highs = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("presolve", "off")
        self.highs.setOptionValue("threads", 1)
        self.basis: highspy.HighsBasis | None = None

    def solve(self, utility: Floats, values: Floats) -> float:
        """The optimum, NaN if no mixture meets the rows; `values` is (columns, rows)."""
        m, base = len(self.rows), float(utility[0])
        scale = np.maximum(np.abs(values).max(axis=0, initial=0.0), np.abs(self.rows.bounds))
        scale = np.where(scale > 0, scale, 1.0)
        unit = float(np.abs(utility - base).max()) or 1.0
        bounds = self.rows.bounds / scale
        inf = highspy.kHighsInf
        senses = [row.sense for row in self.rows.rows]
        low = np.array([-inf if sense == "<=" else b for sense, b in zip(senses, bounds, strict=True)])
        high = np.array([inf if sense == ">=" else b for sense, b in zip(senses, bounds, strict=True)])
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self.columns, m + 1
        lp.sense_ = highspy.ObjSense.kMaximize
        lp.col_cost_ = (utility - base) / unit
        lp.col_lower_, lp.col_upper_ = np.zeros(self.columns), np.full(self.columns, inf)
        lp.row_lower_, lp.row_upper_ = np.append(low, 1.0), np.append(high, 1.0)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.arange(self.columns + 1) * (m + 1)
        lp.a_matrix_.index_ = np.tile(np.arange(m + 1), self.columns)
        lp.a_matrix_.value_ = np.column_stack([values / scale, np.ones(self.columns)]).ravel()
        self.highs.passModel(lp)
        if self.basis is not None:
            self.highs.setBasis(self.basis)
        self.highs.run()
        if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self.highs.clearSolver()
            self.highs.run()
        if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self.basis = None
            return float("nan")
        self.basis = self.highs.getBasis()
        return float(self.highs.getInfo().objective_function_value) * unit + base
