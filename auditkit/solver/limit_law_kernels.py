"""Compiled kernel for the ex-post law of a search with limits: what is selected, or inspected, of whom.

For every set (see `room_kernels.py`) a table holds the law of its *outcome* by the present time: how many are selected
and, by group, whatever is counted. As long as the set is not full, its candidates and inner sets are independent, and
its outcome is a convolution over them. At the event that fills it, its outcome is frozen; those tables only grow.

An outcome is a flat number, so that independent outcomes add; `total[x]` is how many are selected in outcome x.

Every candidate counts in one of some classes, by a probability: a group that is known is one with chance 1.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from auditkit.fitting.compile_options import OPTIONS


@njit(**OPTIONS)
def convolve(one, two, total, most):
    """The law of the sum of independent outcomes, as far as at most `most` are selected."""
    result = np.zeros_like(one)
    few = np.flatnonzero(two)
    for x in np.flatnonzero(one):
        for y in few:
            if total[x] + total[y] <= most:
                result[x + y] += one[x] * two[y]
    return result


@njit(**OPTIONS)
def times(law, idle, ahead, meets, selects, total, most):
    """The law of the sum with one candidate, who by class is not ahead (`idle`) or is, with these chances."""
    result = np.zeros_like(law)
    for x in np.flatnonzero(law):
        for g in range(len(idle)):
            result[x + meets[g]] += idle[g] * law[x]
            if ahead[g] > 0.0 and total[x] < most:
                result[x + selects[g]] += ahead[g] * law[x]
    return result


@njit(**OPTIONS)
def own_law(j, without, idle, ahead, place, selects, meets, total, most):
    """Of the candidates whose innermost set is j, one left out: at most `most` selected."""
    law = np.zeros(len(total))
    if most >= 0:
        law[0] = 1.0
        for c in range(len(place)):
            if place[c] == j and c != without and (ahead[c].sum() > 0.0 or (idle[c] * meets).sum() > 0.0):
                law = times(law, idle[c], ahead[c], meets, selects, total, most)
    return law


@njit(**OPTIONS)
def nested_law(owner, masses, met, theta, idle, place, parent, capacity, selects, meets, total):
    """The law of the outcome of a search after its last event.

    `masses[e]` is the chance that event e is realised by a member of each class. Somebody of class g adds `selects[g]`
    to an outcome if selected and `meets[g]` otherwise, which counts those met: `idle` are the chances of each candidate
    to be of a class at first, and from an event that is `met` on those of `theta`, less what is ahead.
    """
    m, size = len(parent), len(total)
    frozen, law = np.zeros((m, size)), np.zeros((m, size))
    idle, ahead = idle.copy(), np.zeros(idle.shape)
    for j in range(m - 1, -1, -1):
        if capacity[j] == 0:
            frozen[j, 0] = 1.0
        law[j] = own_law(j, -1, idle, ahead, place, selects, meets, total, capacity[j] - 1)
        for u in range(j + 1, m):
            if parent[u] == j:
                law[j] = convolve(law[j], law[u], total, capacity[j] - 1)
        law[j] += frozen[j]
    for e in range(len(owner)):
        i, j = owner[e], place[owner[e]]
        if met[e]:
            idle[i] = theta[i]
        for g in range(len(selects)):
            ahead[i, g] += masses[e, g]
            idle[i, g] = max(0.0, idle[i, g] - masses[e, g])
        inner, room = -1, np.zeros(0)
        while j >= 0:
            most = capacity[j] - 1
            rest = own_law(j, i if inner < 0 else -1, idle, ahead, place, selects, meets, total, most)
            for u in range(j + 1, m):
                if parent[u] == j and u != inner:
                    rest = convolve(rest, law[u], total, most)
            found = rest if inner < 0 else convolve(rest, room, total, most)
            for x in np.flatnonzero(found):
                if total[x] == most:
                    for g in range(len(selects)):
                        if masses[e, g] > 0.0:
                            frozen[j, x + selects[g]] += masses[e, g] * found[x]
            if inner < 0:
                law[j] = times(rest, idle[i], ahead[i], meets, selects, total, most)
            else:
                law[j] = convolve(rest, law[inner], total, most)
            law[j] += frozen[j]
            inner, room = j, found
            j = parent[j]
    return law[0]
