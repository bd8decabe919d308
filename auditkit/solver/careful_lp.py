"""A linear program solved slowly and safely, for the few that HiGHS gives up on.

    maximise c.x   s.t.   low <= A x <= high,   0 <= x <= most

Two phases of the primal simplex on a full tableau in extended precision (80 bits on x86: 19 digits), with Bland's rule,
so that it ends. Rows at the edge of feasibility, where columns differ in the 12th digit, are told apart. It is meant
for hundreds of variables and some tens of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditkit.model.layout import Bools, Floats

LEAST = 1e-15
"""Of numbers scaled to size one: smaller ones are rounding."""

MOST_STEPS = 20_000


@dataclass(frozen=True, eq=False)
class Vertex:
    """`x`, the duals of the rows, and the value; which variables are basic, and which rows are tight."""

    x: Floats
    duals: Floats
    value: float
    basic: Bools
    tight: Bools


def maximise(cost: Floats, matrix: Floats, low: Floats, high: Floats, most: Floats) -> Vertex | None:
    """The optimum, or None if there is none."""
    upper = np.flatnonzero(np.isfinite(most))
    a = np.vstack([matrix, np.eye(len(cost))[upper]])
    low, high = np.append(low, np.full(len(upper), -np.inf)), np.append(high, most[upper])
    equal = low == high
    above, below = np.flatnonzero(~equal & np.isfinite(high)), np.flatnonzero(~equal & np.isfinite(low))
    rows = [(i, 1.0, high[i]) for i in (*np.flatnonzero(equal), *above)] + [(i, -1.0, -low[i]) for i in below]
    which = np.array([i for i, _, _ in rows], dtype=np.int64)
    sign = np.array([s for _, s, _ in rows])
    bound = np.array([b for _, _, b in rows])
    slack = np.eye(len(rows))[:, int(equal.sum()) :]
    table = np.hstack([a[which] * sign[:, None], slack])
    flip = np.where(bound < 0, -1.0, 1.0)
    n, m = table.shape[1], len(rows)
    tableau = np.zeros((m, n + m + 1), dtype=np.longdouble)
    tableau[:, :n], tableau[:, n : n + m], tableau[:, -1] = table * flip[:, None], np.eye(m), bound * flip
    basis = np.arange(n, n + m)
    phase = np.concatenate([np.zeros(n), -np.ones(m)])
    if not _simplex(tableau, basis, phase, n + m):
        return None
    if float(tableau[basis >= n, -1].sum()) > LEAST:
        return None
    _leave_artificial(tableau, basis, n)
    gains = np.concatenate([cost, np.zeros(n - len(cost) + m)])
    if not _simplex(tableau, basis, gains, n):
        return None
    x = np.zeros(n + m)
    x[basis] = np.maximum(tableau[:, -1], 0.0).astype(np.float64)
    priced = gains[basis] @ tableau[:, n : n + m]
    each = np.asarray(priced, dtype=np.float64) * flip * sign
    duals = np.bincount(which, each, minlength=len(low)).astype(np.float64)
    tight = np.zeros(len(low), np.bool_)
    tight[which[_nonbasic(basis, equal, n, len(cost), m)]] = True
    basic = np.zeros(len(cost), np.bool_)
    basic[basis[basis < len(cost)]] = True
    value = float(cost @ x[: len(cost)])
    return Vertex(x[: len(cost)], duals[: len(matrix)], value, basic, tight[: len(matrix)])


def _nonbasic(basis: NDArray[np.int64], equal: Bools, n: int, variables: int, m: int) -> Bools:
    """Rows without a slack in the basis."""
    found = np.ones(m, np.bool_)
    first = int(equal.sum())
    inside = basis[(basis >= variables) & (basis < n)] - variables
    found[first + inside] = False
    return found


def _simplex(tableau: NDArray[np.longdouble], basis: NDArray[np.int64], gains: Floats, allowed: int) -> bool:
    """Pivot until no column among the first `allowed` improves; whether that was reached."""
    for _ in range(MOST_STEPS):
        reduced = gains[:allowed] - gains[basis] @ tableau[:, :allowed]
        size = 1.0 + float(np.abs(gains).max(initial=0.0))
        entering = np.flatnonzero(reduced > LEAST * size)
        entering = entering[~np.isin(entering, basis)]
        if not len(entering):
            return True
        column = int(entering[0])
        up = tableau[:, column] > LEAST
        if not up.any():
            return False
        ratio = np.where(up, tableau[:, -1] / np.where(up, tableau[:, column], 1.0), np.inf)
        least = ratio.min()
        ties = np.flatnonzero(ratio <= least + LEAST)
        _pivot(tableau, basis, int(ties[np.argmin(basis[ties])]), column)
    return False


def _pivot(tableau: NDArray[np.longdouble], basis: NDArray[np.int64], row: int, column: int) -> None:
    tableau[row] /= tableau[row, column]
    others = tableau[:, column].copy()
    others[row] = 0.0
    tableau -= np.outer(others, tableau[row])
    basis[row] = column


def _leave_artificial(tableau: NDArray[np.longdouble], basis: NDArray[np.int64], n: int) -> None:
    """Replace artificial variables at level zero by others where a row has any."""
    for row in np.flatnonzero(basis >= n):
        tableau[row, -1] = 0.0
        place = np.flatnonzero(np.abs(tableau[row, :n]) > 1e-12)
        place = place[~np.isin(place, basis)]
        if len(place):
            _pivot(tableau, basis, int(row), int(place[0]))
