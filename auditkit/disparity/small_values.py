"""Values of a segment, and requisitions, in which a group has few applicants are joined before anything is counted.

A number computed over hidden cells gives them away: a sum by subtraction, a statistic by trying what fits. So no table
and no test sees them. The same cells are joined for all steps, kinds of tables and pairs of groups of an attribute,
because two tables with different cells could be subtracted. It depends only on the numbers of applicants: a cell is
small if some of its people are counted at a step, and too few have a final decision, which makes them count at every
step.

Small values of a segment become one value. Small requisitions are joined with those in which the group has the most
similar share s of the applicants, because that costs least: with equal shares the excess of the group is the same,

    sum_k (x1_k - n1_k m_k / t_k)  =  sum_k x1_k - s m_k  =  x1 - n1 m / t,

and its variance differs little if requisitions select at the same rate, and is larger if they don't.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

JOINED = "(values with few applicants, together)"


def join_small(
    code: Ints, values: tuple[str, ...], groups: Ints, threshold: int, decided: Bools | None = None
) -> tuple[Ints, tuple[str, ...]]:
    """Codes and names of the values, with the small ones joined at the end under the name `JOINED`.

    `groups` are the codes of the groups that are compared, negative for all other rows. A value is small if it holds
    some applicants of a group, but fewer than `threshold`; the smallest of the others are joined with them until that
    is no longer true of any group in the joined value either.
    """
    n, there = numbers(code, len(values), groups, int(groups.max(initial=-1)) + 1, decided)
    small = np.asarray((there & (n < threshold)).any(axis=1))
    rest = np.flatnonzero(small)
    if not len(rest):
        return code, values
    total = n.sum(axis=1)
    large = [v for v in np.argsort(total, kind="stable").tolist() if total[v] and not small[v]]
    while large and (there[rest].any(axis=0) & (n[rest].sum(axis=0) < threshold)).any():
        rest = np.append(rest, large.pop(0))
    kept = np.setdiff1d(np.arange(len(values)), rest)
    place = np.full(len(values), len(kept), dtype=np.int64)
    place[kept] = np.arange(len(kept))
    return place[code], (*(values[v] for v in kept), JOINED)


def numbers(cell: Ints, cells: int, groups: Ints, width: int, decided: Bools | None) -> tuple[Ints, Bools]:
    """For each cell and group: how many have a final decision, and whether anyone is counted at any step.

    `groups` has a code for each row that is counted, negative for all other rows; `decided` None means all of them.
    """

    def count(rows: Bools) -> Ints:
        return np.bincount(cell[rows] * width + groups[rows], minlength=cells * width).reshape(cells, width)

    there = count(groups >= 0)
    return there if decided is None else count((groups >= 0) & decided), there > 0


def join_requisitions(
    n: Ints, threshold: int, start: Ints | None = None, within: Ints | None = None, there: Bools | None = None
) -> Ints:
    """The stratum of each requisition, from its numbers of applicants by group: no group has few in any of them.

    Rare groups first: requisitions with few of the group, in the order of its share, are joined until there are
    enough; any left over go to the last of them, or to the most similar requisition that has enough by itself.
    Requisitions of one stratum of `start` stay together, and only requisitions of one value of `within` are joined.
    `there` says where a group is counted at some step; by default, where it has applicants.
    """
    place = np.arange(len(n), dtype=np.int64) if start is None else start
    if threshold < 2 or n.ndim < 2:
        return place
    block = np.zeros(len(n), dtype=np.int64) if within is None else within
    there = n > 0 if there is None else there
    for group in np.argsort(n.sum(axis=0), kind="stable").tolist():
        sums = np.stack([np.bincount(place, weights=column, minlength=len(n)) for column in n.T], axis=1)
        share = sums[:, group] / np.maximum(sums.sum(axis=1), 1)
        here_at_all = np.bincount(place, weights=there[:, group], minlength=len(n)) > 0
        few = np.flatnonzero(here_at_all & (sums[:, group] < threshold))
        enough = np.flatnonzero(sums[:, group] >= threshold)
        target = np.arange(len(n), dtype=np.int64)
        for one in np.unique(block[few]).tolist():
            here = few[block[few] == one]
            sets: list[list[int]] = []
            gathered = float(threshold)
            for k in here[np.lexsort((here, share[here]))].tolist():
                if gathered >= threshold:
                    sets.append([])
                    gathered = 0.0
                sets[-1].append(k)
                gathered += sums[k, group]
            if gathered < threshold:
                rest = sets.pop()
                if sets:
                    sets[-1] += rest
                else:
                    others = enough[block[enough] == one]
                    nearest = others[np.argmin(np.abs(share[others] - share[rest].mean()))] if len(others) else rest[0]
                    target[rest] = nearest
            for joined in sets:
                target[joined] = joined[0]
        place = target[place]
    return place


def common(one: Ints, other: Ints) -> Ints:
    """The finest strata that contain the strata of both whole."""
    place = np.arange(len(one), dtype=np.int64)
    while True:
        before = place
        for strata in (one, other):
            least = np.full(len(place), len(place), dtype=np.int64)
            np.minimum.at(least, strata, place)
            place = least[strata]
        if np.array_equal(place, before):
            return place
