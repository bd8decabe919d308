"""One affine constraint: the exact minimiser of the piecewise-linear convex dual function G.

Two columns are known, one with slack b - a below zero and one above. Their planes, now lines in lambda, cross; G is
evaluated there. If it meets the crossing, both columns are optimal at this lambda and mixing them to slack zero is
the optimum (the paper's RDIP without its tie-breaking rules). Otherwise the new column replaces the one on its side.
Every step finds a new piece of G, so that it ends; no tolerance on ties is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditkit.layout import Floats
from auditkit.policy import Policy
from auditkit.solve.oracle import FEASIBILITY, Column, Infeasible, Oracle

ROUNDING = 1e-14
"""Of the terms of G: what is closer than this has met."""


@dataclass(frozen=True, eq=False)
class Meeting:
    """Columns and weights of the optimal mixture, the dual at which all of them are optimal, and the bound there."""

    columns: tuple[Column, ...]
    weights: Floats
    duals: Floats
    bound: float
    rounds: int


def search(oracle: Oracle) -> Meeting:
    """The optimum of a problem with one row."""
    row = oracle.rows.rows[0]

    def slack(column: Column) -> float:
        return row.bound - float(column.values[0])

    free = oracle.free
    tolerance = FEASIBILITY * float(oracle.scale(free)[0])
    s = slack(free)
    if s == 0 or (row.sense == "<=" and s >= 0) or (row.sense == ">=" and s <= 0):
        return alone(free)
    towards = np.array([1.0 if s < 0 else -1.0])  # the sign of the dual that mends the slack
    other = oracle.column(Policy.towards(towards))
    tolerance = max(tolerance, FEASIBILITY * float(oracle.scale(other)[0]))
    if slack(other) * towards[0] < -tolerance:
        raise Infeasible(towards)
    low, high = (free, other) if s < 0 else (other, free)
    while True:
        s_low, s_high = min(slack(low), 0.0), max(slack(high), 0.0)
        duals = oracle.proper(np.array([(low.utility - high.utility) / (s_high - s_low)]))
        meeting = max(oracle.plane(low, duals), oracle.plane(high, duals))
        new = oracle.at(duals)
        bound = oracle.plane(new, duals)
        size = abs(new.utility) + abs(float(duals[0])) * (abs(float(new.values[0])) + abs(row.bound)) + 1e-300
        if bound - meeting <= ROUNDING * size:
            weights = np.array([s_high, -s_low]) / (s_high - s_low)
            keep = weights > 0
            columns = tuple(c for c, k in zip((low, high), keep, strict=True) if k)
            return Meeting(columns, weights[keep], duals, max(bound, meeting), oracle.calls)
        s = slack(new)
        if s == 0:
            return Meeting((new,), np.ones(1), duals, bound, oracle.calls)
        if s < 0:
            low = new
        else:
            high = new


def alone(free: Column) -> Meeting:
    """The unconstrained optimum, where it is the answer: all duals are zero."""
    return Meeting((free,), np.ones(1), np.zeros(len(free.values)), free.utility, 1)
