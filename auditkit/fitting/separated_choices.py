"""Choices that follow the standing and the group without exception: the shifts that describe them fill a polytope.

Where within every search all who were taken rank higher, shifts included, than all who were not,

    standing_i + m_i . d  >=  standing_j + m_j . d        i taken, j left, of one search, m the dummies of their groups,

the likelihood of a logit has no maximum (`conditional_logit`). What is known of the shift d_g is then its range over
all d that meet these conditions, the least and the greatest value of a linear program. Only the lowest taken and the
highest left of each search and combination of groups matter. The duals of the program say how an end moves with the
standing of each row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditkit.model.layout import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class End:
    """One end of the range of a shift, and its slope on the standing of each row."""

    value: float
    slope: Floats


def ranges(standing: Floats, member: Floats, taken: Bools, search: Ints) -> list[tuple[End, End] | None] | None:
    """The range of the shift of each column of `member`, None where it has no end; None if there are exceptions."""
    from scipy.optimize import linprog

    first, second = _pairs(standing, member, taken, search)
    differ, gap = member[first] - member[second], standing[second] - standing[first]
    alike = ~differ.any(axis=1)
    if (gap[alike] > 0).any():
        return None
    differ, gap, first, second = differ[~alike], gap[~alike], first[~alike], second[~alike]

    def end(column: int, sign: float) -> End | str | None:
        cost = np.zeros(member.shape[1])
        cost[column] = sign
        found = linprog(cost, A_ub=-differ, b_ub=-gap, bounds=(None, None), method="highs")
        if found.status == 2:
            return "exceptions"
        if found.status != 0:
            return None
        weight = -sign * found.ineqlin.marginals
        slope = np.zeros(len(standing))
        np.add.at(slope, second, weight)
        np.add.at(slope, first, -weight)
        return End(float(np.asarray(found.x)[column]), slope)

    ends = [(end(column, 1.0), end(column, -1.0)) for column in range(member.shape[1])]
    if any(isinstance(each, str) for both in ends for each in both):
        return None
    return [(low, high) if isinstance(low, End) and isinstance(high, End) else None for low, high in ends]


def _pairs(standing: Floats, member: Floats, taken: Bools, search: Ints) -> tuple[Ints, Ints]:
    """The lowest taken and the highest left of each search and combination of groups, each of the former with each of
    the latter."""
    kinds, kind = np.unique(member, axis=0, return_inverse=True)

    def foremost(rows: Ints, sign: float) -> Ints:
        order = rows[np.lexsort((sign * standing[rows], kind[rows], search[rows]))]
        return order[np.unique(search[order] * len(kinds) + kind[order], return_index=True)[1]]

    lowest, highest = foremost(np.flatnonzero(taken), 1.0), foremost(np.flatnonzero(~taken), -1.0)
    start, stop = (np.searchsorted(search[highest], search[lowest], side) for side in ("left", "right"))
    count = stop - start
    own = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(lowest, count), highest[np.repeat(start, count) + own]
