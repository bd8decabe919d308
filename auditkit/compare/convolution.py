"""Laws of sums of independent pairs of counts.

Only non-negative numbers are added and multiplied, or large tables by FFT, whose errors are below 1e-15. Margins with
less than `NEGLIGIBLE` of the mass are cut off, which is less than the rounding of what remains. A table of more than
`MOST_GRID` counts is put on every second one of them: what lies between is shared by its neighbours so that means
stay, and what this adds to the variance is counted (`Grid.spread`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auditkit.model.layout import Floats

NEGLIGIBLE = 1e-18

MOST_GRID = 2_000_000
"""Joint counts that are told apart; beyond, only every second one is."""

SMALL = 600
"""Tables up to this size are convolved one product after another, many pairs at a time."""

FEW, MOST_PRODUCTS, FFT_ROUNDING = 32, 2_000_000, 1e-15
"""Outcomes that are shifted one by one; products up to which tables are convolved directly; what FFTs err by."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Joint law of two counts: chance of (first + step[0] i, second + step[1] j); `spread` is variance due to steps."""

    first: int
    second: int
    chance: Floats
    step: tuple[int, int] = (1, 1)
    spread: tuple[float, float] = (0.0, 0.0)

    def plus(self, other: Grid) -> Grid:
        """The law of the sum with independent counts."""
        one, two = self, other
        for axis in (0, 1):
            while one.step[axis] < two.step[axis]:
                one = one.coarser(axis)
            while two.step[axis] < one.step[axis]:
                two = two.coarser(axis)
        spread = (one.spread[0] + two.spread[0], one.spread[1] + two.spread[1])
        chance, negligible = _convolution(one.chance, two.chance)
        total = Grid(one.first + two.first, one.second + two.second, chance, one.step, spread).trimmed(negligible)
        while total.chance.size > MOST_GRID:
            total = total.coarser(int(total.chance.shape[1] > total.chance.shape[0]))
        return total

    def mirrored(self) -> Grid:
        """The law of the same counts, the second first."""
        return Grid(self.second, self.first, self.chance.T, self.step[::-1], self.spread[::-1])

    def trimmed(self, negligible: float = NEGLIGIBLE) -> Grid:
        a, b = _inside(self.chance.sum(axis=1), negligible), _inside(self.chance.sum(axis=0), negligible)
        first, second = self.first + self.step[0] * a.start, self.second + self.step[1] * b.start
        return Grid(first, second, self.chance[a, b], self.step, self.spread)

    def coarser(self, axis: int) -> Grid:
        """The law on every second count of one axis; the others go half and half to their neighbours."""
        chance = self.chance if axis == 0 else self.chance.T
        even, odd = chance[0::2].copy(), chance[1::2]
        if len(even) == len(odd):
            even = np.vstack([even, np.zeros((1, even.shape[1]))])
        even[: len(odd)] += odd / 2
        even[1 : len(odd) + 1] += odd / 2
        added = self.step[axis] ** 2 * float(odd.sum())
        step, spread = list(self.step), list(self.spread)
        step[axis] *= 2
        spread[axis] += added
        result = even if axis == 0 else np.ascontiguousarray(even.T)
        return Grid(self.first, self.second, result, (step[0], step[1]), (spread[0], spread[1]))


def _convolution(one: Floats, two: Floats) -> tuple[Floats, float]:
    """Their convolution, and how much of the mass is rounding."""
    small, large = sorted((one, two), key=lambda table: int(np.count_nonzero(table)))
    if np.count_nonzero(small) <= FEW:
        rows, columns = large.shape
        total = np.zeros((rows + small.shape[0] - 1, columns + small.shape[1] - 1))
        for i, j in zip(*np.nonzero(small), strict=True):
            total[i : i + rows, j : j + columns] += small[i, j] * large
        return total, NEGLIGIBLE
    rows, columns = (m + n - 1 for m, n in zip(one.shape, two.shape, strict=True))
    if small.size * large.size <= MOST_PRODUCTS:  # one after another, the rows of both are so far apart that none meet
        first, second = (np.pad(t, ((0, 0), (0, columns - t.shape[1]))).ravel() for t in (small, large))
        return np.convolve(first, second)[: rows * columns].reshape(rows, columns), NEGLIGIBLE
    from scipy.fft import irfft2, next_fast_len, rfft2

    fast = next_fast_len(rows, real=True), next_fast_len(columns, real=True)
    product = irfft2(rfft2(small, fast) * rfft2(large, fast), fast)
    return np.maximum(product[:rows, :columns], 0.0), FFT_ROUNDING


def _inside(margin: Floats, negligible: float) -> slice:
    kept = np.flatnonzero(margin > negligible)
    return slice(int(kept[0]), int(kept[-1]) + 1)


def sum_of(tables: Sequence[Floats]) -> Grid:
    """The law of the sum of independent pairs of counts whose laws start at (0, 0): pairs, then pairs of pairs."""
    small = [table for table in tables if table.size <= SMALL]
    grids = [Grid(0, 0, table).trimmed() for table in tables if table.size > SMALL]
    grids += [Grid(0, 0, table).trimmed() for table in _while_small(small)]
    while len(grids) > 1:
        paired = [one.plus(two) for one, two in zip(grids[::2], grids[1::2], strict=False)]
        grids = paired + grids[2 * len(paired) :]
    return grids[0] if grids else Grid(0, 0, np.ones((1, 1)))


def _while_small(tables: list[Floats]) -> list[Floats]:
    """The same tables, convolved in pairs as long as they are small, all pairs at once."""
    if len(tables) < 2:
        return tables
    from auditkit.solver.law_kernels import paired

    rows, columns = np.array([table.shape for table in tables], dtype=np.int64).T
    flat = np.concatenate([table.ravel() for table in tables])
    while len(rows) > 1 and (rows * columns).max() <= SMALL:
        flat, rows, columns = paired(flat, np.ascontiguousarray(rows), np.ascontiguousarray(columns))
    ends = np.cumsum(rows * columns)[:-1]
    return [part.reshape(r, c) for part, r, c in zip(np.split(flat, ends), rows, columns, strict=True)]
