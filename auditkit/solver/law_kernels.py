"""Kernels for laws of numbers selected: those of many searches, and of their sums.

Like all kernels they take arrays, hold no lock and write to parts of their outputs that nobody else writes to.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from auditkit.fitting.compile_options import OPTIONS
from auditkit.solver.box_kernels import box_events
from auditkit.solver.kernels import list_events, selection_law


@njit(**OPTIONS)
def box_laws(first, last, searches, boxes, index, tol, group, groups, ptr, laws):
    """`selection_law` of searches[first:last], where all candidates are boxes, into laws[ptr[i]:ptr[i + 1]]."""
    for i in range(first, last):
        search = searches[i]
        c0, c1 = boxes.search_ptr[search], boxes.search_ptr[search + 1]
        _, _, _, owner, kappa, _ = box_events(search, boxes, index, tol)
        law = selection_law(c1 - c0, boxes.capacity[search], owner, kappa, group[c0:c1], groups)
        for j in range(len(law)):  # number by number: numba compiles the assignment of a slice for seconds
            laws[ptr[i] + j] = law[j]


@njit(**OPTIONS)
def chain_laws(first, last, searches, chains, index, mass, share, group, groups, ptr, laws):
    """The same for chains."""
    for i in range(first, last):
        search = searches[i]
        c0, c1 = chains.search_ptr[search], chains.search_ptr[search + 1]
        _, owner, kappa = list_events(search, chains, index, mass, share)
        law = selection_law(c1 - c0, chains.capacity[search], owner, kappa, group[c0:c1], groups)
        for j in range(len(law)):
            laws[ptr[i] + j] = law[j]


@njit(**OPTIONS)
def paired(flat, rows, columns):
    """Tables one after another, convolved in pairs: the first with the second, and so on; an odd one is left."""
    count = len(rows)
    half = (count + 1) // 2
    own, wide = np.empty(half, np.int64), np.empty(half, np.int64)
    size = 0
    for i in range(half):
        own[i], wide[i] = rows[2 * i], columns[2 * i]
        if 2 * i + 1 < count:
            own[i] += rows[2 * i + 1] - 1
            wide[i] += columns[2 * i + 1] - 1
        size += own[i] * wide[i]
    found = np.zeros(size)
    at, to = 0, 0
    for i in range(half):
        second = at + rows[2 * i] * columns[2 * i]
        end = second
        for a in range(rows[2 * i]):
            for b in range(columns[2 * i]):
                chance = flat[at + a * columns[2 * i] + b]
                base = to + a * wide[i] + b
                if 2 * i + 1 == count:
                    found[base] = chance
                elif chance > 0.0:
                    place = second
                    for c in range(rows[2 * i + 1]):
                        for d in range(columns[2 * i + 1]):
                            found[base + c * wide[i] + d] += chance * flat[place]
                            place += 1
        if 2 * i + 1 < count:
            end += rows[2 * i + 1] * columns[2 * i + 1]
        at = end
        to += own[i] * wide[i]
    return found, own, wide
