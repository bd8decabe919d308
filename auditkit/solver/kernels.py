"""Compiled kernels: indices, capped values and exact visits of an index policy (docs/method.md).

Rewards come in D >= 1 *levels*, an array (states, D): level 0 is the adjusted reward, level d breaks the ties that
the levels before it leave, as if it were multiplied by an infinitesimal to the power d. Every formula below is
linear in the rewards once an order is fixed, so it is applied level by level, and orders are lexicographic. With
D = 1 nothing is ever rounded into a tie; with D > 1 numbers closer than `tol[d]` are equal at level d.

Shapes: S states, flat over all searches. `index[s]` is +inf where going on costs nothing and needs no capacity, -inf
where going on can gain nothing. All kernels take ranges of candidates or searches and write to disjoint parts of
their outputs, so that threads can share the arrays. `box_kernels.py` has those for boxes, `room_kernels.py` who
finds room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from auditkit.fitting.compile_options import INLINED, INNER, OPTIONS
from auditkit.solver.room_kernels import advance, barred, begin, room

MOST_MOVES = 8
"""For each key, of an insertion into its bucket, before keys are merged instead."""


class Chains(NamedTuple):
    """The structure of `Layout` as numba sees it."""

    search_ptr: np.ndarray
    capacity: np.ndarray
    candidate_ptr: np.ndarray
    cyclic: np.ndarray
    terminal: np.ndarray
    stop: np.ndarray
    edge_ptr: np.ndarray
    edge_to: np.ndarray
    edge_prob: np.ndarray
    law_ptr: np.ndarray
    law_items: np.ndarray
    mass_ptr: np.ndarray
    mass_items: np.ndarray


# ------------------------------------------------------------------------------------------ indices of one candidate


@njit(**INNER)
def compare(x, y, tol):
    """Lexicographic sign of x - y; equal within `tol[d]` counts as a tie at level d."""
    for d in range(len(x)):
        if x[d] == y[d]:  # also when both are infinite
            continue
        if x[d] > y[d] + tol[d]:
            return 1
        if x[d] < y[d] - tol[d]:
            return -1
    return 0


@njit(**OPTIONS)
def forward_indices(c, chains, reward, tol, index):
    """Indices of a candidate whose chain has no cycle: one backward pass over the states.

    For a state s with terminal children t and others s', C = R(s) + sum A(s,t) R(t) + sum A(s,s') a(s') and
    P = sum A(s,t), the index y solves C - P y + sum A(s,s') E(kappa_s' - y)+ = 0. On the sorted atoms of kappa it is
    y = (C + sum w kappa) / (P + sum w) over the atoms above y. No root (P = 0, C > 0): y = +inf and a(s) = C. Many
    roots (P = C = 0): the smallest, which is the top of kappa itself, without rounding, so that ties stay ties.
    """
    first, last = chains.candidate_ptr[c], chains.candidate_ptr[c + 1]
    size, levels = last - first, reward.shape[1]
    zero = np.zeros(levels)
    sunk = np.zeros((size, levels))
    weight = np.zeros(size)  # law of kappa over the states that realise it, while one state is worked on
    law = np.zeros(chains.law_ptr[last] - chains.law_ptr[first])
    law_base = chains.law_ptr[first]
    ascending = np.empty(size, np.int64)  # states with a finite index, sorted by it
    filled = 0
    top = np.empty(levels)
    y = np.empty(levels)
    for s in range(last - 1, first - 1, -1):
        if chains.terminal[s]:
            index[s] = np.inf
            continue
        below = 0.0
        for d in range(levels):
            top[d] = reward[s, d]
        if chains.stop[s]:
            below = 1.0
        for e in range(chains.edge_ptr[s], chains.edge_ptr[s + 1]):
            t, a = chains.edge_to[e], chains.edge_prob[e]
            if chains.terminal[t]:
                below += a
                for d in range(levels):
                    top[d] += a * reward[t, d]
            else:
                for d in range(levels):
                    top[d] += a * sunk[t - first, d]
                for i in range(chains.law_ptr[t], chains.law_ptr[t + 1]):
                    weight[chains.law_items[i] - first] += a * law[i - law_base]
        own = below
        sign = compare(top, zero, tol) if below == 0.0 else -1
        if sign > 0:
            index[s] = np.inf
            for d in range(levels):
                sunk[s - first, d] = top[d]
        else:
            for rank in range(filled - 1, -1, -1):
                u = ascending[rank]
                w = weight[u]
                if w == 0.0:
                    continue
                if below > 0.0:
                    if sign == 0:
                        break
                    for d in range(levels):
                        y[d] = top[d] / below
                    if compare(index[u + first], y, tol) <= 0:
                        break
                elif sign == 0:
                    for d in range(levels):
                        y[d] = index[u + first, d]
                for d in range(levels):
                    top[d] += w * index[u + first, d]
                below += w
                weight[u] = 0.0
                own += w
            if below > 0.0:
                for d in range(levels):
                    index[s, d] = y[d] if sign == 0 else top[d] / below
                low, high = 0, filled
                if filled and compare(index[ascending[filled - 1] + first], index[s], tol) <= 0:
                    low = filled
                while low < high:
                    middle = (low + high) // 2
                    if compare(index[ascending[middle] + first], index[s], tol) <= 0:
                        low = middle + 1
                    else:
                        high = middle
                for i in range(filled, low, -1):
                    ascending[i] = ascending[i - 1]
                ascending[low] = s - first
                filled += 1
                weight[s - first] = own
            else:
                index[s] = -np.inf
        for i in range(chains.law_ptr[s], chains.law_ptr[s + 1]):
            u = chains.law_items[i] - first
            law[i - law_base] = weight[u]
            weight[u] = 0.0


@njit(**OPTIONS)
def forward_mass(c, chains, index, mass):
    """Expected visits of each state by the state that holds the smallest index so far, without a cycle."""
    first, last = chains.candidate_ptr[c], chains.candidate_ptr[c + 1]
    place = np.empty(last - first, np.int64)
    exact = np.zeros(index.shape[1])
    for i in range(chains.mass_ptr[first], chains.mass_ptr[last]):
        mass[i] = 0.0
    mass[chains.mass_ptr[first]] = 1.0  # the row of the start is the start alone
    for s in range(first, last):
        if index[s, 0] == -np.inf:
            continue
        for e in range(chains.edge_ptr[s], chains.edge_ptr[s + 1]):
            t, a = chains.edge_to[e], chains.edge_prob[e]
            for i in range(chains.mass_ptr[t], chains.mass_ptr[t + 1]):
                place[chains.mass_items[i] - first] = i
            for i in range(chains.mass_ptr[s], chains.mass_ptr[s + 1]):
                if mass[i] > 0.0:
                    u = chains.mass_items[i]
                    if not chains.terminal[t] and compare(index[t], index[u], exact) < 0:
                        u = t
                    mass[place[u - first]] += a * mass[i]


@njit(**OPTIONS)
def step_matrix(c, chains):
    """Transition probabilities of a candidate, dense."""
    first, last = chains.candidate_ptr[c], chains.candidate_ptr[c + 1]
    step = np.zeros((last - first, last - first))
    for s in range(first, last):
        for e in range(chains.edge_ptr[s], chains.edge_ptr[s + 1]):
            step[s - first, chains.edge_to[e] - first] += chains.edge_prob[e]
    return step


@njit(**OPTIONS)
def cyclic_indices(c, chains, reward, tol, index):
    """Indices of a candidate whose chain has cycles: state elimination, largest index first.

    For a state s that is left, gain(s) and chance(s) are what is collected and the probability of selection from s
    until a state that is left is met. The best ratio gain / chance is the next index. Eliminating its state u passes
    A(s,u) / (1 - A(u,u)) of its gain, chance and transitions on to every s: the paper's collapsing of free-lunch
    states (chance 0, gain > 0: index +inf) with the factor A(s,u) that it omits.
    """
    first, last = chains.candidate_ptr[c], chains.candidate_ptr[c + 1]
    size, levels = last - first, reward.shape[1]
    zero = np.zeros(levels)
    step = step_matrix(c, chains)
    gain = reward[first:last].copy()
    chance = np.zeros(size)
    left = np.zeros(size, np.bool_)
    for s in range(size):
        left[s] = not chains.terminal[first + s]
        for t in range(size):
            if chains.terminal[first + t] and step[s, t] > 0.0:
                chance[s] += step[s, t]
                for d in range(levels):
                    gain[s, d] += step[s, t] * reward[first + t, d]
                step[s, t] = 0.0
        index[first + s] = np.inf
    while True:
        best = -1
        for s in range(size):
            if left[s]:
                if chance[s] > 0.0:
                    index[first + s] = gain[s] / chance[s]
                elif compare(gain[s], zero, tol) > 0:
                    index[first + s] = np.inf
                else:
                    index[first + s] = -np.inf
                if best < 0 or compare(index[first + s], index[first + best], tol) > 0:
                    best = s
        if best < 0 or index[first + best, 0] == -np.inf:
            return
        left[best] = False
        stay = 1.0 - step[best, best]
        for s in range(size):
            through = step[s, best] / stay
            if left[s] and through > 0.0:
                step[s, best] = 0.0
                chance[s] += through * chance[best]
                for d in range(levels):
                    gain[s, d] += through * gain[best, d]
                for t in range(size):
                    if t != best:
                        step[s, t] += through * step[best, t]


@njit(**OPTIONS)
def cyclic_mass(c, chains, index, mass):
    """As `forward_mass`, for a chain with cycles.

    States join C in order of decreasing index; `stay` = (I - A_CC)^-1 holds expected visits inside C and grows by one
    row and column a time. From the state u that holds the smallest index, visits are the row of u in `stay` when
    all indices >= that of u have joined; whatever is entered outside C holds the smallest index next.
    """
    first, last = chains.candidate_ptr[c], chains.candidate_ptr[c + 1]
    size, levels = last - first, index.shape[1]
    exact = np.zeros(levels)
    step = step_matrix(c, chains)
    place = np.zeros(size, np.int64)  # of a state in the rows of the mass pattern, which are all alike
    for i in range(chains.mass_ptr[first], chains.mass_ptr[first + 1]):
        place[chains.mass_items[i] - first] = i - chains.mass_ptr[first]
    for i in range(chains.mass_ptr[first], chains.mass_ptr[last]):
        mass[i] = 0.0
    alive = np.empty(size, np.int64)
    count = 0
    for s in range(size):  # insertion sort by decreasing index
        if not chains.terminal[first + s]:
            i = count
            while i > 0 and compare(index[first + alive[i - 1]], index[first + s], exact) < 0:
                alive[i] = alive[i - 1]
                i -= 1
            alive[i] = s
            count += 1
    entered = np.zeros(size)
    entered[0] = 1.0
    stay = np.zeros((count, count))
    column, row = np.zeros(count), np.zeros(count)
    begin_tie = 0
    while begin_tie < count and index[first + alive[begin_tie], 0] > -np.inf:
        end_tie = begin_tie
        while end_tie < count and compare(index[first + alive[end_tie]], index[first + alive[begin_tie]], exact) == 0:
            x = alive[end_tie]
            pivot = 1.0 - step[x, x]
            for i in range(end_tie):
                column[i] = 0.0
                row[i] = 0.0
                for j in range(end_tie):
                    column[i] += stay[i, j] * step[alive[j], x]
                    row[i] += step[x, alive[j]] * stay[j, i]
            for j in range(end_tie):
                pivot -= step[x, alive[j]] * column[j]
            for i in range(end_tie):
                for j in range(end_tie):
                    stay[i, j] += column[i] * row[j] / pivot
                stay[i, end_tie] = column[i] / pivot
                stay[end_tie, i] = row[i] / pivot
            stay[end_tie, end_tie] = 1.0 / pivot
            end_tie += 1
        for i in range(begin_tie, end_tie):
            u = alive[i]
            if entered[u] == 0.0:
                continue
            for j in range(end_tie):
                s = alive[j]
                visits = entered[u] * stay[i, j]
                mass[chains.mass_ptr[first + s] + place[u]] += visits
                for t in range(size):
                    if step[s, t] > 0.0:
                        if chains.terminal[first + t]:
                            mass[chains.mass_ptr[first + t] + place[u]] += visits * step[s, t]
                        elif compare(index[first + t], index[first + u], exact) < 0:
                            entered[t] += visits * step[s, t]
        begin_tie = end_tie


@njit(**OPTIONS)
def falling(keys):
    """The stable order of falling keys: twice as many buckets of equal width as there are keys, each sorted by
    insertion; merged where most keys fall into a few of these."""
    n = len(keys)
    order, begin, found = np.arange(n), np.zeros(2 * n + 1, np.int32), np.empty(n)
    bucket = np.empty(n, np.int32)
    high = low = keys[0] if n else 0.0
    for key in keys:
        high, low = max(high, key), min(low, key)
    if high == low:
        return order
    scale = (2 * n - 1) / (high - low)
    if not 0.0 < scale < 1e300:  # infinite, or too near to each other
        return merged(keys)
    for i in range(n):
        bucket[i] = int((high - keys[i]) * scale)
        begin[bucket[i] + 1] += 1
    for b in range(2 * n):
        begin[b + 1] += begin[b]
    for i in range(n):
        place = begin[bucket[i]]
        order[place], found[place] = i, keys[i]
        begin[bucket[i]] = place + 1
    moves = 0
    for i in range(1, n):
        own, key, place = order[i], found[i], i
        while place > 0 and found[place - 1] < key:
            order[place], found[place] = order[place - 1], found[place - 1]
            place -= 1
        order[place], found[place] = own, key
        moves += i - place
        if moves > MOST_MOVES * n:
            return merged(keys)
    return order


@njit(**INNER)
def merged(keys):
    """The stable order of falling keys: runs that fall already are merged two by two."""
    n = len(keys)
    ends, runs = np.empty(n + 1, np.int64), 0
    for i in range(1, n + 1):
        if i == n or keys[i] > keys[i - 1]:
            ends[runs] = i
            runs += 1
    order, other = np.arange(n), np.empty(n, np.int64)
    while runs > 1:
        made, low = 0, 0
        for r in range(0, runs, 2):
            middle = ends[r]
            high = ends[r + 1] if r + 1 < runs else middle
            i, j = low, middle
            for place in range(low, high):
                if j >= high or (i < middle and keys[order[i]] >= keys[order[j]]):
                    other[place] = order[i]
                    i += 1
                else:
                    other[place] = order[j]
                    j += 1
            ends[made] = high
            made += 1
            low = high
        order, other = other, order
        runs = made
    return order


@njit(**INLINED)
def snap(first, last, tol, index):
    """Make indices of the states first..last-1 that are equal within the tolerance of their level equal indeed."""
    states = last - first
    values, keys = np.empty(states + 1), np.empty(states + 1)
    for d in range(index.shape[1]):
        for i in range(states + 1):
            values[i] = index[first + i, d] if i < states else 0.0
            keys[i] = -values[i]
        order = falling(keys)
        start = 0
        while start <= states:
            stop = start + 1
            while stop <= states and values[order[stop]] - values[order[stop - 1]] <= tol[d]:
                stop += 1
            representative = values[order[start]]
            for i in range(start, stop):
                if order[i] == states:
                    representative = 0.0
            for i in range(start, stop):
                if order[i] < states and np.isfinite(values[order[i]]):
                    index[first + order[i], d] = representative
            start = stop


@njit(**OPTIONS)
def prepare(searches, chains, reward, tol, index, mass):
    """Indices and running-minimum masses of all candidates of some searches."""
    for search in searches:
        c0, c1 = chains.search_ptr[search], chains.search_ptr[search + 1]
        for c in range(c0, c1):
            if chains.cyclic[c]:
                cyclic_indices(c, chains, reward, tol, index)
            else:
                forward_indices(c, chains, reward, tol, index)
        if reward.shape[1] > 1:
            snap(chains.candidate_ptr[c0], chains.candidate_ptr[c1], tol, index)
        for c in range(c0, c1):
            if chains.cyclic[c]:
                cyclic_mass(c, chains, index, mass)
            else:
                forward_mass(c, chains, index, mass)


@njit(**OPTIONS)
def masses(searches, chains, index, mass):
    """Running-minimum masses of all candidates of some searches under indices that are given."""
    for search in searches:
        for c in range(chains.search_ptr[search], chains.search_ptr[search + 1]):
            if chains.cyclic[c]:
                cyclic_mass(c, chains, index, mass)
            else:
                forward_mass(c, chains, index, mass)


# ---------------------------------------------------------------------------- one search: who is ahead of whom, when


@njit(**OPTIONS)
def list_events(search, chains, index, mass, share):
    """Events (candidate, state u): the candidate's smallest index so far is that of u, finite and positive.

    Returns states sorted by decreasing index, ties in the order of candidates, with their candidate (numbered in
    the search) and the chance that the capped value is realised there. `share[u]` becomes 1 where capacity is not
    needed (index +inf), 0 where going on is not worth it.
    """
    c0, c1 = chains.search_ptr[search], chains.search_ptr[search + 1]
    first, last = chains.candidate_ptr[c0], chains.candidate_ptr[c1]
    levels = index.shape[1]
    zero = np.zeros(levels)
    kappa = np.zeros(last - first)
    reached = np.zeros(last - first, np.bool_)
    for s in range(first, last):
        for i in range(chains.mass_ptr[s], chains.mass_ptr[s + 1]):
            if mass[i] > 0.0:
                u = chains.mass_items[i]
                if u == s:
                    reached[u - first] = True
                if chains.terminal[s] or chains.stop[s]:
                    kappa[u - first] += mass[i]
    states = np.empty(last - first, np.int64)
    owner = np.empty(last - first, np.int64)
    count = 0
    for c in range(c0, c1):
        for u in range(chains.candidate_ptr[c], chains.candidate_ptr[c + 1]):
            share[u] = 0.0
            if chains.terminal[u] or not reached[u - first]:
                continue
            if index[u, 0] == np.inf:
                share[u] = 1.0
            elif compare(index[u], zero, zero) > 0:
                states[count] = u
                owner[count] = c - c0
                count += 1
    states = states[:count]
    order = falling(index[states, levels - 1])
    for d in range(levels - 2, -1, -1):
        order = order[falling(index[states[order], d])]
    states = states[order]
    return states, owner[:count][order], kappa[states - first]


@njit(**OPTIONS)
def evaluate(searches, chains, limits, index, mass, share, visits):
    """Expected visits of every state of some searches, given `prepare`."""
    for search in searches:
        c0, c1 = chains.search_ptr[search], chains.search_ptr[search + 1]
        states, owner, kappa = list_events(search, chains, index, mass, share)
        if chains.capacity[search] > 0 and len(states) > 0:
            chance = room(search, c0, c1 - c0, chains.capacity[search], owner, kappa, limits)
            for e in range(len(states)):
                share[states[e]] = chance[e]
        for c in range(c0, c1):  # nobody is inspected where nobody can be selected, even for nothing
            if barred(search, c, chains.capacity[search], limits):
                for s in range(chains.candidate_ptr[c], chains.candidate_ptr[c + 1]):
                    share[s] = 0.0
        for s in range(chains.candidate_ptr[c0], chains.candidate_ptr[c1]):
            total = 0.0
            for i in range(chains.mass_ptr[s], chains.mass_ptr[s + 1]):
                total += mass[i] * share[chains.mass_items[i]]
            visits[s] = total


# ------------------------------------------------------------------------------------- the ex-post law of one search


@njit(**OPTIONS)
def add_compositions(total, weight, counts, width, extra, table):
    """table[a + extra] += weight * prod_g counts[g, a_g] over all a with sum `total`; the last group comes first."""
    groups = counts.shape[0]
    stride = np.empty(groups, np.int64)
    stride[groups - 1] = 1
    for g in range(groups - 2, -1, -1):
        stride[g] = stride[g + 1] * width
    a = np.zeros(groups, np.int64)
    a[groups - 1] = total
    while True:
        product, place = weight, 0
        for g in range(groups):
            product *= counts[g, a[g]]
            place += a[g] * stride[g]
        if product > 0.0:
            table[place + (stride[extra] if extra >= 0 else 0)] += product
        g = groups - 2  # next composition: move one unit from the last group forward, like an odometer
        while g >= 0 and a[groups - 1] == 0:
            a[groups - 1] += a[g]
            a[g] = 0
            g -= 1
        if g < 0:
            return
        a[g] += 1
        a[groups - 1] -= 1


@njit(**INLINED)
def multiply(law, p):
    """law <- law * (1 - p + p z), in place and truncated."""
    if p > 0.0:
        q = 1.0 - p
        for i in range(len(law) - 1, 0, -1):
            law[i] = q * law[i] + p * law[i - 1]
        law[0] *= q


@njit(**INLINED)
def selection_law(n, k, owner, kappa, group, groups):
    """Joint law of the numbers selected from each group, flat with width k + 1 for every group.

    The recursion of `chances`, with the law of the number ahead kept for each group: given that the k-th best is
    event e, those ahead of it are independent between groups. Otherwise everyone with a positive capped value is in.
    """
    table = np.zeros((k + 1) ** groups)
    ahead = np.zeros(n)
    if k > 0 and len(owner) > 0:
        ends = np.arange(len(owner) + 1)
        spans, stay, active, stamp = begin(n, owner, ends)
        counts = np.zeros((len(spans), groups, k))
        counts[:, :, 0] = 1.0
        depth = min(1, len(owner))
        while depth > 0:
            if depth > 1:
                for g in range(groups):
                    for i in range(k):
                        counts[depth, g, i] = counts[depth - 1, g, i]
                for j in range(stay[depth], stay[depth - 1]):
                    c = active[depth, j]
                    multiply(counts[depth, group[c]], ahead[c])
            lo, hi = spans[depth, 0], spans[depth, 1]
            if hi - lo == 1:
                if kappa[lo] > 0.0:
                    add_compositions(k - 1, kappa[lo], counts[depth], k + 1, group[owner[lo]], table)
                ahead[owner[lo]] = min(1.0, ahead[owner[lo]] + kappa[lo])
                spans[depth, 2] = 2
            depth = advance(depth, spans, stay, owner, ends, active, stamp)
    final = np.zeros((groups, max(k, 1)))
    final[:, 0] = 1.0
    for c in range(n):
        multiply(final[group[c]], ahead[c])
    for total in range(max(k, 1)):
        add_compositions(total, 1.0, final, k + 1, np.int64(-1), table)
    return table
