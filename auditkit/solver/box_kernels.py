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

from auditkit.fitting.compile_options import INLINED, INNER, OPTIONS
from auditkit.solver.kernels import compare, falling
from auditkit.solver.room_kernels import barred, enough, room


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
    which are counted after the others: only those of starts to the cells `opening`. Further row i of type t is
    `row_ptr[t] <= i < row_ptr[t+1]`: its number `row[i]` and a coefficient for each state of the type, from
    `row_first[i]` on. Its sum over block b is entry `entry_ptr[row]` + the place of b among
    `entry_block[entry_ptr[row]:entry_ptr[row + 1]]`.
    """

    reward: np.ndarray
    cell: np.ndarray
    share: np.ndarray
    opening: np.ndarray
    later: np.ndarray
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


@njit(**INLINED)
def index_of_falling(start, end, prob, reward, index):
    """`box_indices` of one type with one level, whose values fall from state to state as fitted ones do; False if they
    do not. Nothing has to be sorted then, or compared level by level."""
    for s in range(start + 1, end):
        index[s, 0] = reward[s, 0]
        if s > start + 1 and reward[s, 0] > reward[s - 1, 0]:
            return False
    top, below, y = reward[start, 0], 0.0, 0.0
    free = top == 0.0
    if top > 0.0:
        index[start, 0] = np.inf
        return True
    for s in range(start + 1, end):
        if prob[s] > 0.0:
            if below > 0.0 and (free or reward[s, 0] <= top / below):
                break
            if free:
                y = reward[s, 0]
            top += prob[s] * reward[s, 0]
            below += prob[s]
    if below > 0.0:
        index[start, 0] = y if free else top / below
    else:
        index[start, 0] = -np.inf
    return True


@njit(**OPTIONS)
def box_indices(first, last, type_ptr, prob, reward, tol, index):
    """Indices of the states of the types first..last-1: `kernels.forward_indices` for a start and its values.

    Rows are copied number by number: numba compiles the assignment of a slice for seconds.
    """
    levels = reward.shape[1]
    zero, top, y = np.zeros(levels), np.empty(levels), np.empty(levels)
    for t in range(first, last):
        start, end = type_ptr[t], type_ptr[t + 1]
        if levels == 1 and index_of_falling(start, end, prob, reward, index):
            continue
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


@njit(**INLINED)
def least_key(types, events, k, limits):
    """The key below which no event of a search finds room, because enough candidates are ahead; -inf if there is none
    such, or none is looked for."""
    wanted, least, count = enough(k), -np.inf, 0
    if limits is None and k > 0 and len(types) > wanted:
        high, low = -np.inf, np.inf
        for t in types:
            if events.ptr[t] < events.ptr[t + 1]:
                high, low = max(high, events.key[events.ptr[t]]), min(low, events.key[events.ptr[t + 1] - 1])
                count += 1
        width = (high - low) / (4 * count)
        if count > 0 and width > 0.0:
            mean = np.zeros(4 * count + 1)
            for t in types:
                for e in range(events.ptr[t], events.ptr[t + 1]):
                    mean[int((high - events.key[e]) / width)] += events.kappa[e]
            ahead = 0.0
            for b in range(4 * count):
                ahead += mean[b]
                if ahead > wanted:
                    least = high - (b + 1) * width
                    break
    return least


@njit(**INLINED)
def listed(t, events, least):
    """The end of the events of a type that are not below the least key."""
    end = events.ptr[t + 1]
    while end > events.ptr[t] and events.key[end - 1] < least:
        end -= 1
    return end


@njit(**INLINED)
def list_events(types, events, least, key, owner, kappa):
    """The events of the candidates of a search, one candidate after another: how many there are."""
    count = 0
    for i in range(len(types)):
        for e in range(events.ptr[types[i]], listed(types[i], events, least)):
            key[count], owner[count], kappa[count] = events.key[e], i, events.kappa[e]
            count += 1
    return count


@njit(**INLINED)
def box_room(search, c0, n, k, count, limits, key, owner, kappa, found):
    """The room that each of the events listed finds."""
    if k == 0 or count == 0:
        for e in range(count):
            found[e] = 0.0
        return
    order = falling(key[:count])
    owners, kappas = np.empty(count, np.int64), np.empty(count)
    for e in range(count):
        owners[e], kappas[e] = owner[order[e]], kappa[order[e]]
    chance = room(search, c0, n, k, owners, kappas, limits)
    for e in range(count):
        found[order[e]] = chance[e]


@njit(**INNER)
def most_events(first_search, last_search, search_ptr, type, ptr):
    """The largest number of events in a search."""
    most = 0
    for search in range(first_search, last_search):
        size = 0
        for c in range(search_ptr[search], search_ptr[search + 1]):
            size += ptr[type[c] + 1] - ptr[type[c]]
        most = max(most, size)
    return most


@njit(**INLINED)
def box_events(search, boxes, events):
    """Events of a search in order of time: numbers among those of types, candidates within the search, and chances."""
    types = boxes.type[boxes.search_ptr[search] : boxes.search_ptr[search + 1]]
    most = most_events(search, search + 1, boxes.search_ptr, boxes.type, events.ptr)
    key, owner, kappa = np.empty(most), np.empty(most, np.int64), np.empty(most)
    list_events(types, events, -np.inf, key, owner, kappa)
    number, filled = np.empty(most, np.int64), 0
    for i in range(len(types)):
        for e in range(events.ptr[types[i]], events.ptr[types[i] + 1]):
            number[filled] = e
            filled += 1
    order = falling(key)
    return number[order], owner[order], kappa[order]


@njit(**OPTIONS)
def box_sums(first, last, block_ptr, boxes, limits, events, weights, yields, shares, utility, counts, entries):
    """Sums over the searches of the blocks first..last-1, in their order: utility[b], counts[b, cell] and entries of
    further rows; `yields` (`event_yields`) is None where there are none of those, which are then not compiled."""
    shared = len(weights.opening) + len(weights.later)
    plain = counts.shape[1] - shared
    most = most_events(block_ptr[first], block_ptr[last], boxes.search_ptr, boxes.type, events.ptr)
    key, owner, kappa, chance = np.empty(most), np.empty(most, np.int64), np.empty(most), np.empty(most)
    rows, later = len(weights.entry_ptr) - 1, np.empty(len(weights.later))
    further, seen, touched = np.zeros(rows), np.full(rows, -1), np.empty(rows, np.int64)
    for block in range(first, last):
        total, met = 0.0, 0
        for c in range(len(later)):
            later[c] = 0.0
        for search in range(block_ptr[block], block_ptr[block + 1]):
            k, c0 = boxes.capacity[search], boxes.search_ptr[search]
            types = boxes.type[c0 : boxes.search_ptr[search + 1]]
            least = least_key(types, events, k, limits)
            count = list_events(types, events, least, key, owner, kappa)
            box_room(search, c0, len(types), k, count, limits, key, owner, kappa, chance)
            place = 0
            for i in range(len(types)):
                t, opened, selected = types[i], 0.0, 0.0
                start, begin, end = boxes.type_ptr[t], events.ptr[t], listed(t, events, least)
                always = events.always[t] and not barred(search, c0 + i, k, limits)
                if always:
                    opened = 1.0
                    total += weights.reward[start]
                    for c in range(len(later)):
                        later[c] += weights.share[start, weights.later[c]]
                elif end > begin and events.of_state[start] == begin:
                    opened = chance[place]
                counts[block, weights.cell[start]] += opened
                for c in weights.opening:
                    counts[block, plain + c] += opened * weights.share[start, c]
                if yields is not None:
                    for r in range(weights.row_ptr[t], weights.row_ptr[t + 1]):
                        row = weights.row[r]
                        if seen[row] != block:
                            seen[row], further[row], touched[met] = block, 0.0, row
                            met += 1
                        if always:
                            further[row] += weights.coefficient[weights.row_first[r]]
                        for e in range(end - begin):
                            further[row] += yields[weights.row_first[r] + e] * chance[place + e]
                for event in range(begin, end):
                    x = chance[place]
                    if x > 0.0:
                        total += events.gain[event] * x
                        selected += kappa[place] * x
                        for c in range(len(later)):
                            later[c] += shares[event, c] * x
                    place += 1
                if selected > 0.0:
                    counts[block, weights.cell[start + 1]] += selected
        utility[block] = total
        for c in range(len(later)):
            counts[block, plain + weights.later[c]] += later[c]
        if yields is not None:
            for i in range(met):
                entries[entry_of(weights, touched[i], block)] = further[touched[i]]


@njit(**OPTIONS)
def plain_visits(searches, boxes, limits, events, candidate_ptr, visits):
    """Expected visits of every state of some searches, in the numbering of the layout."""
    most = 0
    for search in searches:
        most = max(most, most_events(search, search + 1, boxes.search_ptr, boxes.type, events.ptr))
    key, owner, kappa, chance = np.empty(most), np.empty(most, np.int64), np.empty(most), np.empty(most)
    for search in searches:
        c0, k = boxes.search_ptr[search], boxes.capacity[search]
        types = boxes.type[c0 : boxes.search_ptr[search + 1]]
        least = least_key(types, events, k, limits)
        count = list_events(types, events, least, key, owner, kappa)
        box_room(search, c0, len(types), k, count, limits, key, owner, kappa, chance)
        place = 0
        for i in range(len(types)):
            t, out = types[i], candidate_ptr[c0 + i]
            base, begin, end = boxes.type_ptr[t], events.ptr[t], listed(t, events, least)
            for j in range(boxes.type_ptr[t + 1] - base):
                e, visits[out + j] = events.of_state[base + j], 0.0
                if 0 <= e < end:
                    visits[out + j] = chance[place + e - begin] * (boxes.prob[base + j] if j else 1.0)
            if events.always[t] and not barred(search, c0 + i, k, limits):
                visits[out] = 1.0
            place += end - begin


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
def event_shares(type_ptr, prob, events, share, later):
    """What each event adds to the shared cells `later` if there is room."""
    cells = len(later)
    found = np.zeros((len(events.key), cells))
    for t in range(len(type_ptr) - 1 if cells else 0):
        for s in range(type_ptr[t], type_ptr[t + 1]):
            e = events.of_state[s]
            if e >= 0:
                chance = prob[s] if s > type_ptr[t] else 1.0
                for c in range(cells):
                    found[e, c] += chance * share[s, later[c]]
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
