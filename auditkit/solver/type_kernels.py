"""Compiled kernels that find boxes that are alike, one candidate after another without copies of all states."""

from __future__ import annotations

import numpy as np
from numba import njit

from auditkit.solver.room_kernels import OPTIONS

SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@njit(**OPTIONS)
def stirred(x):
    """The bits of a number, stirred so that near numbers are far apart."""
    x = (x ^ (x >> SHIFTS[0])) * FACTORS[0]
    x = (x ^ (x >> SHIFTS[1])) * FACTORS[1]
    return x ^ (x >> SHIFTS[2])


@njit(**OPTIONS)
def box_keys(ptr, reward, chance, label):
    """A hash of each box: of the bits of its rewards and chances, and of its label."""
    keys = np.empty(len(ptr) - 1, np.uint64)
    for c in range(len(keys)):
        key = stirred(label[c])
        for s in range(ptr[c], ptr[c + 1]):
            key = stirred(stirred(key ^ reward[s]) + chance[s])
        keys[c] = key
    return keys


@njit(**OPTIONS)
def boxes_alike(ptr, reward, chance, label, like):
    """Whether each box has the size, the numbers and the label of the box `like[c]`."""
    for c in range(len(like)):
        first, other = ptr[c], ptr[like[c]]
        size = ptr[c + 1] - first
        if label[c] != label[like[c]] or ptr[like[c] + 1] - other != size:
            return False
        for s in range(size):
            if reward[first + s] != reward[other + s] or chance[first + s] != chance[other + s]:
                return False
    return True
