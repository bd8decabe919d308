"""One affine constraint: the exact minimiser of the piecewise-linear convex dual function G.

Two columns are known, one with slack b - a below zero and one above. Their planes, now lines in lambda, cross; G is
evaluated there. If it meets the crossing, both columns are optimal at this lambda and mixing them to slack zero is
the optimum (the paper's RDIP without its tie-breaking rules). Otherwise the new column replaces the one on its side.
Every step finds a new piece of G, so that it ends; no tolerance on ties is needed. With many candidates the last digits
of the gap may stay open (`Oracle.enough`). Columns that are known already, from a neighbouring problem, give the two to
start from: the pair that mixes best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditkit.model.layout import Floats
from auditkit.solver.oracle import FEASIBILITY, Column, Infeasible, Oracle
from auditkit.solver.policy import Lottery, Policy
from auditkit.solver.rounding import MET


@dataclass(frozen=True, eq=False)
class DualOptimum:
    """Columns and weights of the optimal mixture, the dual at which all of them are optimal, and the bound there.

    Weights are those of a lottery for all searches together, or in `lotteries` one for each search.
    """

    columns: tuple[Column, ...]
    weights: Floats
    duals: Floats
    bound: float
    lotteries: tuple[Lottery, ...] | None = None


def search(oracle: Oracle) -> DualOptimum:
    """The optimum of a problem with one row."""
    row = oracle.rows.rows[0]

    def slack(column: Column) -> float:
        return row.bound - float(column.values[0])

    free = oracle.free
    if oracle.is_met_by(free):
        return alone(free)
    tolerance = FEASIBILITY * float(oracle.scale[0])
    s = slack(free)
    known = [free, *oracle.known]
    lows, highs = [c for c in known if slack(c) < 0], [c for c in known if slack(c) >= 0]
    if not lows or not highs:
        towards = np.array([1.0 if s < 0 else -1.0])  # the sign of the dual that closes the slack
        other = oracle.column(Policy.towards(towards))
        tolerance = max(tolerance, FEASIBILITY * abs(float(other.values[0])))
        if slack(other) * towards[0] < -tolerance:
            raise Infeasible(towards)
        (highs if s < 0 else lows).append(other)
    low, high = _best_pair(lows, highs, row.bound)
    while True:
        s_low, s_high = min(slack(low), 0.0), max(slack(high), 0.0)
        duals = oracle.proper(np.array([(low.utility - high.utility) / (s_high - s_low)]))
        crossing = max(oracle.plane(low, duals), oracle.plane(high, duals))
        new = oracle.at(duals)
        bound = oracle.plane(new, duals)
        size = abs(new.utility) + abs(float(duals[0])) * (abs(float(new.values[0])) + abs(row.bound)) + 1e-300
        if bound - crossing <= max(MET * size, oracle.enough * abs(crossing)):
            weights = np.array([s_high, -s_low]) / (s_high - s_low)
            keep = weights > 0
            columns = tuple(c for c, k in zip((low, high), keep, strict=True) if k)
            return DualOptimum(columns, weights[keep], duals, max(bound, crossing))
        s = slack(new)
        if s == 0:
            return DualOptimum((new,), np.ones(1), duals, bound)
        if s < 0:
            low = new
        else:
            high = new


def _best_pair(lows: list[Column], highs: list[Column], bound: float) -> tuple[Column, Column]:
    """One column on each side, such that mixing them to slack zero yields most."""
    u, v = (np.array([c.utility for c in side]) for side in (lows, highs))
    below = -np.minimum([bound - float(c.values[0]) for c in lows], 0.0)[:, None]
    above = np.maximum([bound - float(c.values[0]) for c in highs], 0.0)[None, :]
    width = below + above
    mixed = np.where(width > 0, above * u[:, None] + below * v[None, :], -np.inf) / np.where(width > 0, width, 1.0)
    i, j = divmod(int(np.argmax(mixed)), len(highs))
    return lows[i], highs[j]


def alone(free: Column) -> DualOptimum:
    """The unconstrained optimum, where it is the answer: all duals are zero."""
    return DualOptimum((free,), np.ones(1), np.zeros(len(free.values)), free.utility)
