"""A whole frontier instead of a grid: exactly where its slope changes.

If the parameter t moves only the bounds of rows, b(t) = b0 + t b1, the optimum U(t) is concave and made of straight
pieces. The duals at t give a line that touches U there and lies above it everywhere,

    U(s) <= U(t) + (s - t) duals(t).b1.

Two such lines cross between their points. If U meets the crossing, the slope changes there and nowhere else in between;
otherwise the line found there cuts the interval in two. So every solve either finds a point of a new piece or proves
that a piece is straight. Columns don't depend on bounds and serve every t.

If a value can't be met, the proof of that is a line too: the next value tried is the nearest that it doesn't exclude,
and so on until one can be met.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from auditkit.constraints.base import Constraint, Rows
from auditkit.constraints.binding import bind
from auditkit.errors import InputError, Problem
from auditkit.model.layout import Floats, Layout
from auditkit.solver import Optimum
from auditkit.solver.methods import optimum
from auditkit.solver.oracle import Column, Infeasible, Oracle
from auditkit.solver.policy import Policy

MOST_SOLVES = 100
MOST_KNOWN = 48
"""Columns that a solve starts from."""

ON_THE_LINE = 1e-10
"""Relative to the optimum: a point closer to a line than this is on it."""


class NotStraight(InputError):
    """A frontier without straight pieces; `why` says what bends it."""

    def __init__(self, why: str) -> None:
        super().__init__(Problem("exact", f"this frontier is not made of straight pieces: {why}", "give values"))
        self.why = why


@dataclass(frozen=True, eq=False)
class Touch:
    """The optimum at one value, and the slope of the line that touches the frontier there."""

    value: float
    optimum: Optimum
    slope: float

    @property
    def utility(self) -> float:
        return self.optimum.utility

    def line(self, value: float) -> float:
        return self.utility + self.slope * (value - self.value)


@dataclass(frozen=True, eq=False)
class Pieces:
    """`ends` of straight pieces in order of their values; `apart` is how far U can lie above the pieces at most."""

    ends: tuple[Touch, ...]
    apart: float


def pieces(layout: Layout, make: Callable[[float], Sequence[Constraint]], low: float, high: float) -> Pieces:
    """All pieces between two values, or as many as MOST_SOLVES find; none if no value can be met."""
    return _Search(layout, *_moving(layout, make, low, high)).find(low, high)


def _moving(
    layout: Layout, make: Callable[[float], Sequence[Constraint]], low: float, high: float
) -> tuple[Rows, Floats, Floats]:
    """The rows at some value, b0 and b1. The ends may have a different form: tolerance 0 is an equality."""
    at = [low + share * (high - low) for share in (0.25, 0.5, 0.75)]
    first, middle, last = (bind(make(value), layout) for value in at)
    if first.measures:
        raise NotStraight("a welfare measure bends it everywhere")
    if not _alike(first, middle) or not _alike(first, last):
        raise NotStraight("this number changes the weights of a row, not only its bound")
    if not np.allclose(middle.bounds, (first.bounds + last.bounds) / 2, rtol=1e-12, atol=1e-300):
        raise NotStraight("a bound doesn't move in proportion to this number")
    slope = (last.bounds - first.bounds) / (at[2] - at[0]) if high > low else np.zeros(len(first))
    return first, first.bounds - at[0] * slope, slope


def _alike(one: Rows, other: Rows) -> bool:
    return len(one) == len(other) and all(
        a.sense == b.sense and np.array_equal(a.states, b.states) and np.array_equal(a.coefficients, b.coefficients)
        for a, b in zip(one.rows, other.rows, strict=True)
    )


class _Search:
    def __init__(self, layout: Layout, rows: Rows, base: Floats, slope: Floats) -> None:
        self.layout, self.rows, self.base, self.slope = layout, rows, base, slope
        self.columns: dict[int, Column] = {}
        self.duals = np.zeros(len(rows))
        self.solves = 0

    def at(self, value: float) -> Touch:
        """Raises `Infeasible` where the value cannot be met."""
        bounds = self.base + value * self.slope
        self.solves += 1
        best = optimum(self.layout, self.rows.with_bounds(bounds), known=self._near(bounds))
        self.columns |= {id(column): column for column in best.columns}
        self.duals = best.duals
        return Touch(value, best, float(best.duals @ self.slope))

    def _near(self, bounds: Floats) -> list[Column]:
        """The columns that come nearest to the bound at the last duals."""
        planes = {i: c.utility + float(self.duals @ (bounds - c.values)) for i, c in self.columns.items()}
        return [self.columns[i] for i in sorted(planes, key=lambda i: -planes[i])[:MOST_KNOWN]]

    def edge(self, value: float, towards: float) -> Touch | None:
        """The optimum at a value, or at the nearest one in a direction that can be met; None if there is none."""
        for _ in range(MOST_SOLVES):
            try:
                return self.at(value)
            except Infeasible as proof:
                # duals.(b(t) - a) < 0 for every policy at this t: on to the t at which the best of them reaches 0
                rate = float(proof.duals @ self.slope)
                best = Oracle(self.layout, self.rows).column(Policy.towards(proof.duals))
                new = float(proof.duals @ (best.values - self.base)) / rate if rate else np.inf
                if not 0 < (new - value) * np.sign(towards - value) <= abs(towards - value):
                    return None
                value = new
        return None

    def find(self, low: float, high: float) -> Pieces:
        first = self.edge(low, high)
        last = self.edge(high, low) if first is not None and high > low else first
        if first is None or last is None:
            return Pieces((), 0.0)
        found = {first.value: first, last.value: last}
        open_: list[tuple[float, float, float, float]] = []
        self._push(open_, first, last)
        while open_ and self.solves < MOST_SOLVES:
            _, left, right, crossing = heapq.heappop(open_)
            a, b, new = found[left], found[right], self.at(crossing)
            found[crossing] = new
            if a.line(crossing) - new.utility > self.least(new):
                self._push(open_, a, new)
                self._push(open_, new, b)
        ends = [found[value] for value in sorted(found)]
        return Pieces(tuple(_bends(ends, self.least)), max((-height for height, *_ in open_), default=0.0))

    @staticmethod
    def least(touch: Touch) -> float:
        return ON_THE_LINE * touch.optimum.size

    def _push(self, open_: list[tuple[float, float, float, float]], a: Touch, b: Touch) -> None:
        """Queue an interval by how far U may lie above its chord, unless it's straight."""
        steep = a.slope - b.slope
        if b.value <= a.value or steep <= 0:
            return
        crossing = a.value + (b.line(a.value) - a.utility) / steep
        if not a.value < crossing < b.value:
            return
        share = (crossing - a.value) / (b.value - a.value)
        height = a.line(crossing) - (a.utility + share * (b.utility - a.utility))
        if height > max(self.least(a), self.least(b)):
            heapq.heappush(open_, (-height, a.value, b.value, crossing))


def _bends(ends: list[Touch], least: Callable[[Touch], float]) -> list[Touch]:
    """Drop the points inside a straight piece."""
    kept = ends[:1]
    for here, after in pairwise(ends[1:] + ends[-1:]):
        last = kept[-1]
        if here is after:
            kept.append(here)
        elif after.value > last.value:
            share = (here.value - last.value) / (after.value - last.value)
            if here.utility - (last.utility + share * (after.utility - last.utility)) > least(here):
                kept.append(here)
    return kept
