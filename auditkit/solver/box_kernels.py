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

from auditkit.fitting.compile_options import INLINED, OPTIONS
from auditkit.solver.kernels import compare
from auditkit.solver.room_kernels import barred, room


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

    `cell[s]` is the cell whose count the visits of s join, and `share[s]` what they add to each of the shared cells,
    which are counted after the others. Further row i of type t is `row_ptr[t] <= i < row_ptr[t+1]`:
    its number `row[i]` and a coefficient for each state of the type, from `row_first[i]` on. Its sum over block b is
    entry `entry_ptr[row]` + the place of b among `entry_block[entry_ptr[row]:entry_ptr[row + 1]]`.
    """

    reward: np.ndarray
    cell: np.ndarray
    share: np.ndarray
    row_ptr: np.ndarray
    row: np.ndarray
    row_first: np.ndarray
    coefficient: np.ndarray
    entry_ptr: np.ndarray
    entry_block: np.ndarray


class Events(NamedTuple):
    """Events of each type under a policy, those of type t from `ptr[t]` on, in order of time.

    `gain` is the utility that an event yields if there is room. Visits of state s are its chance times the room at
    event `of_state[s]`, none where that is -1; but boxes of a type with `always` are opened whatever happens.
    """

    ptr: np.ndarray
    key: np.ndarray
    kappa: np.ndarray
    gain: np.ndarray
    of_state: np.ndarray
    state: np.ndarray
    """Of each event, counted within its type."""
    always: np.ndarray


@njit(**OPTIONS)
def box_indices(first, last, type_ptr, prob, reward, tol, index):
    """Indices of the states of the types first..last-1: `kernels.forward_indices` for a start and its values.

    Rows are copied number by number: numba compiles the assignment of a slice for seconds.
    """
    levels = reward.shape[1]
    zero, top, y = np.zeros(levels), np.empty(levels), np.empty(levels)
    for t in range(first, last):
        start, end = type_ptr[t], type_ptr[t + 1]
        ascending = np.empty(end - start, np.int64)
        filled = 0
        for s in range(end - 1, start, -1):
            for d in range(levels):
                index[s, d] = reward[s, d]
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
        for d in range(levels):
            top[d] = reward[start, d]
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
                for d in range(levels):
                    y[d] = index[u, d]
            for d in range(levels):
                top[d] += w * index[u, d]
            below += w
        if below > 0.0:
            for d in range(levels):
                index[start, d] = y[d] if sign == 0 else top[d] / below
        else:
            index[start] = -np.inf


@njit(**OPTIONS)
def type_events(type_ptr, prob, index, reward, wanted):
    """The events of wanted types, from one number for each state; `reward` is what is paid, whatever the policy looks
    at."""
    types, size = len(type_ptr) - 1, type_ptr[-1]
    ptr = np.zeros(types + 1, np.int64)
    key, kappa, gain = np.empty(size), np.empty(size), np.empty(size)
    state, of_state = np.empty(size, np.int64), np.full(size, -1)
    always = np.zeros(types, np.bool_)
    count = 0
    for t in range(types):
        if not wanted[t]:
            ptr[t + 1] = count
            continue
        first, top = type_ptr[t], index[type_ptr[t]]
        if top == np.inf:
            always[t] = True
        own = count
        if 0.0 < top < np.inf:
            key[count], kappa[count], gain[count], state[count] = top, 0.0, reward[first], first
            count += 1
        if top > -np.inf:
            begin = count
            for s in range(first + 1, type_ptr[t + 1]):
                p, y = prob[s], index[s]
                if p > 0.0 and y < top:
                    if y > 0.0:
                        place = count
                        while place > begin and key[place - 1] < y:
                            key[place], state[place] = key[place - 1], state[place - 1]
                            place -= 1
                        key[place], state[place] = y, s
                        count += 1
                elif p > 0.0 and own < begin:
                    kappa[own] += p
                    gain[own] += p * reward[s]
                    of_state[s] = own
            for e in range(begin, count):
                kappa[e], gain[e] = prob[state[e]], prob[state[e]] * reward[state[e]]
        ptr[t + 1] = count
    for t in range(types):
        for e in range(ptr[t], ptr[t + 1]):
            of_state[state[e]] = e
            state[e] -= type_ptr[t]
    return Events(ptr, key[:count], kappa[:count], gain[:count], of_state, state[:count], always)


@njit(**OPTIONS)
def merge_events(types, events, key, order, other_key, other, ends):
    """Events of the candidates of a search in order of time, ties to the earlier candidate: how many there are, and
    whether the answer is in `other`.

    The events of a candidate fall already, so runs are merged two by two; each ends with a key below all others.
    """
    filled = 0
    for i in range(len(types)):
        for e in range(events.ptr[types[i]], events.ptr[types[i] + 1]):
            key[filled], order[filled] = events.key[e], (e << 32) + i
            filled += 1
        key[filled], order[filled] = -1.0, -1
        filled += 1
        ends[i] = filled
    runs, swapped = len(types), False
    while runs > 1:
        made, low, place = 0, 0, 0
        for r in range(0, runs - 1, 2):
            i, j, high = low, ends[r], ends[r + 1]
            for _ in range(high - low - 2):
                left = np.int64(key[i] >= key[j])
                first = j + left * (i - j)  # without a branch, of which every second would be mispredicted
                other_key[place], other[place] = key[first], order[first]
                i += left
                j += 1 - left
                place += 1
            other_key[place], other[place] = -1.0, -1
            place += 1
            ends[made] = place
            made += 1
            low = high
        if runs % 2:
            for i in range(low, ends[runs - 1]):
                other_key[place], other[place] = key[i], order[i]
                place += 1
            ends[made] = place
            made += 1
        key, other_key, order, other = other_key, key, other, order
        swapped = not swapped
        runs = made
    return filled - len(types), swapped


@njit(**OPTIONS)
def most_events(first_search, last_search, search_ptr, type, ptr):
    """The largest numbers of candidates and of events (one more for each candidate) in a search."""
    candidates, most = 0, 0
    for search in range(first_search, last_search):
        size = 0
        for c in range(search_ptr[search], search_ptr[search + 1]):
            size += ptr[type[c] + 1] - ptr[type[c]] + 1
        most = max(most, size)
        candidates = max(candidates, search_ptr[search + 1] - search_ptr[search])
    return candidates, most


@njit(**OPTIONS)
def box_events(search, boxes, events):
    """Events of a search in order of time: numbers among those of types, candidates within the search, and chances."""
    types = boxes.type[boxes.search_ptr[search] : boxes.search_ptr[search + 1]]
    n, most = most_events(search, search + 1, boxes.search_ptr, boxes.type, events.ptr)
    order, other = np.empty(most, np.int64), np.empty(most, np.int64)
    key, other_key, ends = np.empty(most), np.empty(most), np.empty(n, np.int64)
    count, swapped = merge_events(types, events, key, order, other_key, other, ends)
    merged = other if swapped else order
    number, owner, kappa = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
    for e in range(count):
        number[e], owner[e], kappa[e] = merged[e] >> 32, merged[e] & 0xFFFFFFFF, events.kappa[merged[e] >> 32]
    return number, owner, kappa


@njit(**OPTIONS)
def box_sums(first, last, block_ptr, boxes, limits, events, weights, yields, shares, utility, counts, entries):
    """Sums over the searches of the blocks first..last-1, in their order: utility[b], counts[b, cell] and entries of
    further rows; `yields` (`event_yields`) is None where there are none of those, which are then not compiled."""
    shared = shares.shape[1]
    plain = counts.shape[1] - shared
    n, most = most_events(block_ptr[first], block_ptr[last], boxes.search_ptr, boxes.type, events.ptr)
    key, other_key = np.empty(most), np.empty(most)
    order, other = np.empty(most, np.int64), np.empty(most, np.int64)
    owner, kappa, ends = np.empty(most, np.int64), np.empty(most), np.empty(n, np.int64)
    rows = len(weights.entry_ptr) - 1
    further, seen, touched = np.zeros(rows), np.full(rows, -1), np.empty(rows, np.int64)
    for block in range(first, last):
        total, met = 0.0, 0
        for search in range(block_ptr[block], block_ptr[block + 1]):
            k, c0 = boxes.capacity[search], boxes.search_ptr[search]
            types = boxes.type[c0 : boxes.search_ptr[search + 1]]
            for i in range(len(types)):
                t = types[i]
                if events.always[t] and not barred(search, c0 + i, k, limits):
                    total += weights.reward[boxes.type_ptr[t]]
                    counts[block, weights.cell[boxes.type_ptr[t]]] += 1.0
                    for c in range(shared):
                        counts[block, plain + c] += weights.share[boxes.type_ptr[t], c]
                if yields is not None:
                    for r in range(weights.row_ptr[t], weights.row_ptr[t + 1]):
                        row = weights.row[r]
                        if seen[row] != block:
                            seen[row], further[row], touched[met] = block, 0.0, row
                            met += 1
                        if events.always[t] and not barred(search, c0 + i, k, limits):
                            further[row] += weights.coefficient[weights.row_first[r]]
            count, swapped = merge_events(types, events, key, order, other_key, other, ends)
            merged = other if swapped else order
            for e in range(count):
                owner[e], kappa[e] = merged[e] & 0xFFFFFFFF, events.kappa[merged[e] >> 32]
            if k > 0 and count > 0:
                chance = room(search, c0, len(types), k, owner[:count], kappa[:count], limits)
            else:
                chance = np.zeros(count)
            for e in range(count):
                x, event = chance[e], merged[e] >> 32
                if x > 0.0:
                    t = types[owner[e]]
                    start = boxes.type_ptr[t]
                    total += events.gain[event] * x
                    if events.of_state[start] == event:
                        counts[block, weights.cell[start]] += x
                    counts[block, weights.cell[start + 1]] += kappa[e] * x
                    for c in range(shared):
                        counts[block, plain + c] += shares[event, c] * x
                    if yields is not None:
                        for r in range(weights.row_ptr[t], weights.row_ptr[t + 1]):
                            further[weights.row[r]] += yields[weights.row_first[r] + event - events.ptr[t]] * x
        utility[block] = total
        if yields is not None:
            for i in range(met):
                entries[entry_of(weights, touched[i], block)] = further[touched[i]]


@njit(**OPTIONS)
def plain_visits(searches, boxes, limits, events, candidate_ptr, visits):
    """Expected visits of every state of some searches, in the numbering of the layout."""
    n, most = 0, 0
    for search in searches:
        sizes = most_events(search, search + 1, boxes.search_ptr, boxes.type, events.ptr)
        n, most = max(n, sizes[0]), max(most, sizes[1])
    key, other_key = np.empty(most), np.empty(most)
    order, other = np.empty(most, np.int64), np.empty(most, np.int64)
    owner, kappa, ends = np.empty(most, np.int64), np.empty(most), np.empty(n, np.int64)
    for search in searches:
        c0, k = boxes.search_ptr[search], boxes.capacity[search]
        types = boxes.type[c0 : boxes.search_ptr[search + 1]]
        for i in range(len(types)):
            for s in range(candidate_ptr[c0 + i], candidate_ptr[c0 + i + 1]):
                visits[s] = 0.0
        count, swapped = merge_events(types, events, key, order, other_key, other, ends)
        merged = other if swapped else order
        for e in range(count):
            owner[e], kappa[e] = merged[e] & 0xFFFFFFFF, events.kappa[merged[e] >> 32]
        if k > 0 and count > 0:
            chance = room(search, c0, len(types), k, owner[:count], kappa[:count], limits)
            for e in range(count):  # at the state of each event first: the room that it finds
                visits[candidate_ptr[c0 + owner[e]] + events.state[merged[e] >> 32]] = chance[e]
        for i in range(len(types)):
            base, out = boxes.type_ptr[types[i]], candidate_ptr[c0 + i]
            start = visits[out]
            for j in range(1, boxes.type_ptr[types[i] + 1] - base):
                e = events.of_state[base + j]
                if e >= 0:
                    visits[out + j] = boxes.prob[base + j] * (visits[out + j] if events.state[e] == j else start)
            if events.always[types[i]] and not barred(search, c0 + i, k, limits):
                visits[out] = 1.0


@njit(**INLINED)
def entry_of(weights, row, block):
    """Where the sum of a further row over a block is kept (numpy's search would take seconds to compile)."""
    low, high = weights.entry_ptr[row], weights.entry_ptr[row + 1]
    while low < high:
        middle = (low + high) // 2
        if weights.entry_block[middle] < block:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**OPTIONS)
def event_shares(type_ptr, prob, events, share):
    """What each event adds to the shared cells if there is room."""
    cells = share.shape[1]
    found = np.zeros((len(events.key), cells))
    for t in range(len(type_ptr) - 1 if cells else 0):
        for s in range(type_ptr[t], type_ptr[t + 1]):
            e = events.of_state[s]
            if e >= 0:
                chance = prob[s] if s > type_ptr[t] else 1.0
                for c in range(cells):
                    found[e, c] += chance * share[s, c]
    return found


@njit(**OPTIONS)
def event_yields(type_ptr, prob, events, weights):
    """What each event of a type adds to the further rows of the type if there is room: in the places of their
    coefficients, the first event of the type first."""
    yields = np.zeros(len(weights.coefficient))
    for t in range(len(type_ptr) - 1):
        base = type_ptr[t]
        for r in range(weights.row_ptr[t], weights.row_ptr[t + 1]):
            first = weights.row_first[r]
            for s in range(base, type_ptr[t + 1]):
                e = events.of_state[s]
                if e >= 0:
                    chance = prob[s] if s > base else 1.0
                    yields[first + e - events.ptr[t]] += chance * weights.coefficient[first + s - base]
    return yields
