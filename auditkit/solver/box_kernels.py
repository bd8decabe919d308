"""Compiled kernels for boxes, the candidates with one inspection: the same numbers as `kernels.py` finds, sooner.

The capped value of a box with values v_j and index sigma is min(v_j, sigma), so no pattern of states is needed: value j
is an event of its own if v_j < sigma, and belongs to the event of the start otherwise. Indices are worked out once for
each *type* of box (`candidate_types.py`); a search then lists the events of its candidates, sorts them, and asks
`room_kernels.room` for each whether there is still room.

Chains and cycles have their own kernels, which are compiled only where there are any.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from auditkit.solver.kernels import compare, snap
from auditkit.solver.room_kernels import OPTIONS, room


class Boxes(NamedTuple):
    """Searches of boxes: `type[c]` is that of candidate c, its states are `type_ptr[t]`..., the start first.

    `prob` has the chance of each value; that of a start is not read.
    """

    search_ptr: np.ndarray
    capacity: np.ndarray
    type: np.ndarray
    type_ptr: np.ndarray
    prob: np.ndarray


class Weights(NamedTuple):
    """What is added up for each block of searches, by the states of types: rewards, counts of cells, further rows.

    `cell[s]` is the cell whose count the visits of s join. Further row i of type t is `row_ptr[t] <= i < row_ptr[t+1]`:
    its number `row[i]` and a coefficient for each state of the type, from `row_first[i]` on. Its sum over block b is
    entry `entry_ptr[row]` + the place of b among `entry_block[entry_ptr[row]:entry_ptr[row + 1]]`.
    """

    reward: np.ndarray
    cell: np.ndarray
    row_ptr: np.ndarray
    row: np.ndarray
    row_first: np.ndarray
    coefficient: np.ndarray
    entry_ptr: np.ndarray
    entry_block: np.ndarray


@njit(**OPTIONS)
def box_indices(first, last, type_ptr, prob, reward, tol, index):
    """Indices of the states of the types first..last-1: `kernels.forward_indices` for a start and its values."""
    levels = reward.shape[1]
    zero, top, y = np.zeros(levels), np.empty(levels), np.empty(levels)
    for t in range(first, last):
        start, end = type_ptr[t], type_ptr[t + 1]
        ascending = np.empty(end - start, np.int64)
        filled = 0
        for s in range(end - 1, start, -1):
            index[s] = reward[s]
            low, high = 0, filled
            if filled and compare(index[ascending[filled - 1]], index[s], tol) <= 0:
                low = filled
            while low < high:
                middle = (low + high) // 2
                if compare(index[ascending[middle]], index[s], tol) <= 0:
                    low = middle + 1
                else:
                    high = middle
            for i in range(filled, low, -1):
                ascending[i] = ascending[i - 1]
            ascending[low] = s
            filled += 1
        top[:] = reward[start]
        sign = compare(top, zero, tol)
        if sign > 0:
            index[start] = np.inf
            continue
        below = 0.0
        for rank in range(filled - 1, -1, -1):
            u = ascending[rank]
            w = prob[u]
            if w == 0.0:
                continue
            if below > 0.0:
                if sign == 0:
                    break
                for d in range(levels):
                    y[d] = top[d] / below
                if compare(index[u], y, tol) <= 0:
                    break
            elif sign == 0:
                y[:] = index[u]
            for d in range(levels):
                top[d] += w * index[u, d]
            below += w
        if below > 0.0:
            for d in range(levels):
                index[start, d] = y[d] if sign == 0 else top[d] / below
        else:
            index[start] = -np.inf


@njit(**OPTIONS)
def box_events(search, boxes, index, tol):
    """Events of a search as `kernels.list_events` lists them, in a numbering of the search's own states.

    Returns first state of each candidate, indices (tied ones made equal), states with an event in order of time, their
    candidates and chances, and the share of every state that needs no capacity.
    """
    c0, c1 = boxes.search_ptr[search], boxes.search_ptr[search + 1]
    n, levels = c1 - c0, index.shape[1]
    first = np.empty(n + 1, np.int64)
    first[0] = 0
    for i in range(n):
        t = boxes.type[c0 + i]
        first[i + 1] = first[i] + boxes.type_ptr[t + 1] - boxes.type_ptr[t]
    size = first[n]
    at = np.empty((size, levels))
    for i in range(n):
        base = boxes.type_ptr[boxes.type[c0 + i]]
        for j in range(first[i + 1] - first[i]):
            for d in range(levels):
                at[first[i] + j, d] = index[base + j, d]
    if levels > 1:
        snap(0, size, tol, at)
    zero = np.zeros(levels)
    share = np.zeros(size)
    states = np.empty(size, np.int64)
    owner = np.empty(size, np.int64)
    kappa = np.empty(size)
    count = 0
    for i in range(n):
        start = first[i]
        if at[start, 0] == -np.inf:
            continue
        base = boxes.type_ptr[boxes.type[c0 + i]] - start
        own = -1
        if at[start, 0] == np.inf:
            share[start] = 1.0
        elif compare(at[start], zero, zero) > 0:
            own = count
            states[count] = start
            owner[count] = i
            kappa[count] = 0.0
            count += 1
        for s in range(start + 1, first[i + 1]):
            p = boxes.prob[base + s]
            if p > 0.0:
                if compare(at[s], at[start], zero) < 0:
                    if compare(at[s], zero, zero) > 0:
                        states[count] = s
                        owner[count] = i
                        kappa[count] = p
                        count += 1
                elif own >= 0:
                    kappa[own] += p
    order = np.argsort(-at[states[:count], levels - 1], kind="mergesort")
    for d in range(levels - 2, -1, -1):
        order = order[np.argsort(-at[states[:count][order], d], kind="mergesort")]
    return first, at, states[:count][order], owner[:count][order], kappa[:count][order], share


@njit(**OPTIONS)
def box_shares(search, boxes, limits, index, tol):
    """First states of the candidates of a search, its indices, and for each state the chance that it may act."""
    first, at, states, owner, kappa, share = box_events(search, boxes, index, tol)
    if boxes.capacity[search] > 0 and len(states) > 0:
        c0 = boxes.search_ptr[search]
        share[states] = room(search, c0, len(first) - 1, boxes.capacity[search], owner, kappa, limits)
    return first, at, share


@njit(**OPTIONS)
def value_visits(start, s, p, at, share, zero):
    """Expected visits of a value."""
    if at[start, 0] == -np.inf:
        return 0.0
    return p * (share[s] if compare(at[s], at[start], zero) < 0 else share[start])


@njit(**OPTIONS)
def box_visits(searches, boxes, limits, index, tol, candidate_ptr, visits):
    """Expected visits of every state of some searches, in the numbering of the layout."""
    zero = np.zeros(index.shape[1])
    for search in searches:
        first, at, share = box_shares(search, boxes, limits, index, tol)
        c0 = boxes.search_ptr[search]
        for i in range(len(first) - 1):
            start = first[i]
            base, out = boxes.type_ptr[boxes.type[c0 + i]] - start, candidate_ptr[c0 + i] - start
            visits[out + start] = share[start]
            for s in range(start + 1, first[i + 1]):
                visits[out + s] = value_visits(start, s, boxes.prob[base + s], at, share, zero)


@njit(**OPTIONS)
def box_sums(first_block, last_block, block_ptr, boxes, limits, index, tol, weights, utility, counts, entries):
    """Sums over the searches of each block, in their order: utility[b], counts[b, cell] and entries of further rows."""
    zero = np.zeros(index.shape[1])
    widest = 0
    for t in range(len(boxes.type_ptr) - 1):
        widest = max(widest, boxes.type_ptr[t + 1] - boxes.type_ptr[t])
    p = np.empty(widest)
    for block in range(first_block, last_block):
        for search in range(block_ptr[block], block_ptr[block + 1]):
            first, at, share = box_shares(search, boxes, limits, index, tol)
            c0 = boxes.search_ptr[search]
            for i in range(len(first) - 1):
                t = boxes.type[c0 + i]
                start, base = first[i], boxes.type_ptr[t]
                size = first[i + 1] - start
                p[0] = share[start]
                for j in range(1, size):
                    p[j] = value_visits(start, start + j, boxes.prob[base + j], at, share, zero)
                for j in range(size):
                    if p[j] > 0.0:
                        utility[block] += weights.reward[base + j] * p[j]
                        counts[block, weights.cell[base + j]] += p[j]
                for r in range(weights.row_ptr[t], weights.row_ptr[t + 1]):
                    total = 0.0
                    for j in range(size):
                        total += weights.coefficient[weights.row_first[r] + j] * p[j]
                    if total != 0.0:
                        low, high = weights.entry_ptr[weights.row[r]], weights.entry_ptr[weights.row[r] + 1]
                        low += np.searchsorted(weights.entry_block[low:high], block)
                        entries[low] += total
