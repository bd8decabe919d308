"""Compiled kernel for the ex-post law of a search with limits: what is selected, or inspected, of whom.

For every set (see `room_kernels.py`) a table holds the law of its *outcome* by the present time: how many are selected
and, by group, whatever is counted. As long as the set is not full, its candidates and inner sets are independent, and
its outcome is a convolution over them. At the event that fills it, its outcome is frozen; those tables only grow.

An outcome is a flat number, so that independent outcomes add; `total[x]` is how many are selected in outcome x.
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
def times(law, p, step, total, most):
    """The law of the sum with an outcome that is `step` with chance p and nothing otherwise."""
    result = np.zeros_like(law)
    for x in np.flatnonzero(law):
        result[x] += (1.0 - p) * law[x]
        if p > 0.0 and total[x] < most:
            result[x + step] += p * law[x]
    return result


@njit(**OPTIONS)
def own_law(j, without, ahead, place, selects, shift, total, most):
    """Of the candidates whose innermost set is j, one left out: at most `most` selected, moved by what was met."""
    law = np.zeros(len(total))
    if most >= 0:
        law[shift[j]] = 1.0
        for c in range(len(place)):
            if place[c] == j and c != without and ahead[c] > 0.0:
                law = times(law, ahead[c], selects[c], total, most)
    return law


@njit(**OPTIONS)
def nested_law(owner, kappa, place, parent, capacity, selects, meets, total):
    """The law of the outcome of a search after its last event.

    `selects[c]` is what the selection of candidate c adds to an outcome, `meets[e]` what event e adds as long as its
    owner's set is not full, whether or not the owner is selected.
    """
    m, size = len(parent), len(total)
    frozen = np.zeros((m, size))
    law = np.zeros((m, size))  # of every set but the search
    law[:, 0] = 1.0
    for j in range(m):
        if capacity[j] == 0:
            frozen[j, 0] = 1.0
    shift = np.zeros(m, np.int64)
    ahead = np.zeros(len(place))
    for e in range(len(owner)):
        i, j = owner[e], place[owner[e]]
        shift[j] += meets[e]
        ahead[i] = min(1.0, ahead[i] + kappa[e])
        inner, room = -1, np.zeros(0)
        while j >= 0:
            most = capacity[j] - 1
            rest = own_law(j, i, ahead, place, selects, shift, total, most)
            for u in range(j + 1, m):
                if parent[u] == j and u != inner:
                    rest = convolve(rest, law[u], total, most)
            found = rest if inner < 0 else convolve(rest, room, total, most)
            for x in np.flatnonzero(found):
                if total[x] == most:
                    frozen[j, x + selects[i]] += kappa[e] * found[x]
            if inner < 0:
                law[j] = times(rest, ahead[i], selects[i], total, most)
            else:
                law[j] = convolve(rest, law[inner], total, most)
            law[j] += frozen[j]
            inner, room = j, found
            j = parent[j]
    return law[0]
