"""Kernels for laws of numbers selected: those of many searches, and of their sums.

Like all kernels they take arrays, hold no lock and write to parts of their outputs that no other thread writes to.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from auditkit.fitting.compile_options import INLINED, INNER, OPTIONS
from auditkit.solver.box_kernels import box_events
from auditkit.solver.kernels import list_events, selection_law
from auditkit.solver.room_kernels import FEW_POSITIONS, NEGLIGIBLE, advance, begin, nobody_left


@njit(**OPTIONS)
def box_laws(first, last, searches, boxes, events, group, groups, ptr, laws):
    """`selection_law` of searches[first:last], where all candidates are boxes, into laws[ptr[i]:ptr[i + 1]]."""
    for i in range(first, last):
        search = searches[i]
        c0, c1 = boxes.search_ptr[search], boxes.search_ptr[search + 1]
        _, owner, kappa = box_events(search, boxes, events)
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


@njit(**INLINED)
def box_masses(search, boxes, events, theta, begins):
    """Events of a search of boxes: states, candidates, and the chance of each to be realised by a member of each set.

    `theta` is the chance of each set for every state, those of candidate c from `begins[c]` on. Values that are worth
    at least the index are realised in the event of the index.
    """
    number, owner, kappa = box_events(search, boxes, events)
    states, masses = np.empty(len(number), np.int64), np.zeros((len(number), theta.shape[1]))
    for e in range(len(number)):
        c, own = boxes.search_ptr[search] + owner[e], events.state[number[e]]
        start, base = begins[c], boxes.type_ptr[boxes.type[c]]
        states[e] = start + own
        if own > 0:
            for g in range(theta.shape[1]):
                masses[e, g] = kappa[e] * theta[start + own, g]
            continue
        for v in range(1, boxes.type_ptr[boxes.type[c] + 1] - base):
            if events.of_state[base + v] == number[e]:
                for g in range(theta.shape[1]):
                    masses[e, g] += boxes.prob[base + v] * theta[start + v, g]
    return states, owner, masses


@njit(**INLINED)
def chain_masses(search, chains, index, mass, share, theta):
    """The same for chains."""
    states, owner, _ = list_events(search, chains, index, mass, share)
    first = chains.candidate_ptr[chains.search_ptr[search]]
    last = chains.candidate_ptr[chains.search_ptr[search + 1]]
    by_state = np.zeros((last - first, theta.shape[1]))
    for s in range(first, last):
        if chains.terminal[s] or chains.stop[s]:
            for i in range(chains.mass_ptr[s], chains.mass_ptr[s + 1]):
                for g in range(theta.shape[1]):
                    by_state[chains.mass_items[i] - first, g] += mass[i] * theta[s, g]
    return states, owner, by_state[states - first]


@njit(**OPTIONS)
def box_member_laws(first, last, searches, boxes, events, begins, met, theta, inspections, many, ptr, laws):
    """`member_law` of searches[first:last], where all candidates are boxes, into laws[ptr[i]:ptr[i + 1]].

    `many` is None, and what it needs not compiled, if they have few positions each and selections are counted.
    """
    for i in range(first, last):
        search = searches[i]
        c0, c1 = boxes.search_ptr[search], boxes.search_ptr[search + 1]
        states, owner, masses = box_masses(search, boxes, events, theta, begins)
        k = boxes.capacity[search]
        if many is None or (k <= FEW_POSITIONS and not inspections):
            one = member_law_of_few(c1 - c0, k, owner, masses)
        else:
            one = member_law(k, owner, masses, inspections, states, begins[c0:c1], met[c0:c1], theta)
        for j in range(len(one)):
            laws[ptr[i] + j] = one[j]


@njit(**OPTIONS)
def chain_member_laws(first, last, searches, chains, index, mass, share, met, theta, inspections, many, ptr, laws):
    """The same for chains."""
    for i in range(first, last):
        search = searches[i]
        c0, c1 = chains.search_ptr[search], chains.search_ptr[search + 1]
        states, owner, masses = chain_masses(search, chains, index, mass, share, theta)
        begins = chains.candidate_ptr[c0:c1]
        k = chains.capacity[search]
        if many is None or (k <= FEW_POSITIONS and not inspections):
            one = member_law_of_few(c1 - c0, k, owner, masses)
        else:
            one = member_law(k, owner, masses, inspections, states, begins, met[c0:c1], theta)
        for j in range(len(one)):
            laws[ptr[i] + j] = one[j]


@njit(**INNER)
def times_member(law, idle, ahead, factors):
    """law[t, a, b] times the factor of one candidate, in place and truncated: `idle` if not ahead, `ahead` if so, each
    by whether it adds to a, to b, or to neither. With this factor there are so many `factors`; where it is 0, who is
    counted is ahead, so that a + b is at most t."""
    if idle[2] == 1.0:
        return
    for t in range(law.shape[0] - 1, -1, -1):
        top = t if factors == 0 else factors
        for a in range(top, -1, -1):
            for b in range(top - a, -1, -1):
                found = idle[2] * law[t, a, b]
                if a > 0:
                    found += idle[0] * law[t, a - 1, b]
                if b > 0:
                    found += idle[1] * law[t, a, b - 1]
                if t > 0:
                    found += ahead[2] * law[t - 1, a, b]
                    if a > 0:
                        found += ahead[0] * law[t - 1, a - 1, b]
                    if b > 0:
                        found += ahead[1] * law[t - 1, a, b - 1]
                law[t, a, b] = found


@njit(**INLINED)
def member_law(k, owner, masses, inspections, states, begins, met, theta):
    """Joint law of the numbers selected from two sets of groups that are known by their probability, flat.

    `masses[e]` is the chance that event e is realised by a member of the first set, of the second, of neither. With
    the k-th best at event e every other candidate is ahead or not, independently, and each is counted in a set with its
    chance given that: who is selected is ahead. Of `inspections` everyone counts who was met (`met` from the beginning,
    others from the event of the state in which they begin), if not ahead with the chances `theta` of that state less
    those of being ahead. The factors are multiplied in the recursion over time of `chances`; where nothing is left of
    fewer than k being ahead, its ranges are not entered.
    """
    n = len(begins)
    most = n if inspections else k
    table = np.zeros((most + 1, most + 1))
    idle, ahead = np.zeros((n, 3)), np.zeros((n, 3))
    for c in range(n):
        idle[c, 2] = 1.0
        if inspections and met[c]:
            for g in range(3):
                idle[c, g] = theta[begins[c], g]
    if k > 0 and len(owner) > 0:
        ends = np.arange(len(owner) + 1)
        spans, stay, active, stamp = begin(n, owner, ends)
        laws = np.zeros((len(spans), k, most + 1, most + 1))
        laws[1, 0, 0, 0] = 1.0
        for j in range(stay[1], n):
            times_member(laws[1], idle[active[1, j]], ahead[active[1, j]], (j - stay[1] + 1) * inspections)
        depth = min(1, len(owner))
        while depth > 0:
            lo, hi = spans[depth, 0], spans[depth, 1]
            here, left = laws[depth], 1.0
            if depth > 1:
                left = 0.0
                for t in range(k):
                    before, now = (n - stay[depth - 1], n - stay[depth]) if inspections else (t, t)
                    for a in range(now + 1):
                        for b in range(now - a + 1):
                            chance = laws[depth - 1, t, a, b] if a + b <= before else 0.0
                            here[t, a, b] = chance
                            left += chance
                if left > NEGLIGIBLE:
                    for j in range(stay[depth], stay[depth - 1]):
                        c = active[depth, j]
                        times_member(here, idle[c], ahead[c], (n - stay[depth - 1] + j - stay[depth] + 1) * inspections)
            if hi - lo == 1 or left <= NEGLIGIBLE:
                for e in range(lo, hi):
                    c = owner[e]
                    if left > NEGLIGIBLE:
                        top = n - 1 if inspections else k - 1
                        for a in range(top + 1):
                            for b in range(top - a + 1):
                                chance = here[k - 1, a, b]
                                if chance > 0.0:
                                    table[a + 1, b] += chance * masses[e, 0]
                                    table[a, b + 1] += chance * masses[e, 1]
                                    table[a, b] += chance * masses[e, 2]
                    if inspections and states[e] == begins[c]:
                        for g in range(3):
                            idle[c, g] = theta[begins[c], g]
                    for g in range(3):
                        ahead[c, g] += masses[e, g]
                        if inspections:
                            idle[c, g] = max(0.0, idle[c, g] - masses[e, g])
                    if not inspections:
                        idle[c, 2] = max(0.0, 1.0 - (ahead[c, 0] + ahead[c, 1] + ahead[c, 2]))
                spans[depth, 2] = 2
            depth = advance(depth, spans, stay, owner, ends, active, stamp)
    final = np.zeros((max(k, 1), most + 1, most + 1))
    final[0, 0, 0] = 1.0
    for c in range(n):
        times_member(final, idle[c], ahead[c], (c + 1) * inspections)
    for t in range(len(final)):  # number by number: numba compiles a sum over an axis for seconds
        for a in range(most + 1):
            for b in range(most + 1):
                table[a, b] += final[t, a, b]
    return table.ravel()


def _entries() -> np.ndarray:
    """place[t, a, b]: the number of an entry of `member_law_of_few`, those of fewer people ahead first."""
    place, entries = np.full((FEW_POSITIONS,) * 3, -1), 0
    for t in range(FEW_POSITIONS):
        for a in range(t + 1):
            for b in range(t - a + 1):
                place[t, a, b] = entries
                entries += 1
    return place


def _products() -> np.ndarray:
    """Of two entries (left, right) the one that their product is part of, (products, 3), of few people ahead first."""
    named = [(int(i), t, a, b) for (t, a, b), i in np.ndenumerate(PLACE) if i >= 0]
    found = [
        (t + s, i, j, int(PLACE[t + s, a + c, b + d]))
        for i, t, a, b in named
        for j, s, c, d in named
        if t + s < FEW_POSITIONS
    ]
    return np.array([row[1:] for row in sorted(found, key=lambda row: row[0])])


PLACE = _entries()
PRODUCTS = _products()


@njit(**INLINED)
def member_law_of_few(n, k, owner, masses):
    """`member_law` of selections for few positions, by a tree over the candidates as in `room_kernels.chances_of_few`.

    A node has the chance that t < k of the candidates below it are ahead, a of them of the first set and b of the
    second: entry `PLACE[t, a, b]`. The product of two nodes is the sum of `PRODUCTS` of entries.
    """
    entries, terms, law = k * (k + 1) * (k + 2) // 6, 0, np.zeros((k + 1) * (k + 1))
    if k == 0:
        law[0] = 1.0
        return law
    while terms < len(PRODUCTS) and PRODUCTS[terms, 2] < entries:
        terms += 1
    wide = k + 1
    node = np.zeros((2 * n + 2, entries))  # the last two: of everybody else, on the way to the root
    for v in range(2 * n):
        node[v, 0] = 1.0
    ahead, of_sets, scratch = np.zeros(n), np.zeros((n, 3)), np.empty(k + 1)
    for e in range(len(owner)):
        if e % 64 == 63 and nobody_left(n, k, ahead, scratch):
            break
        c, v, now = owner[e], n + owner[e], 2 * n
        for g in range(3):
            of_sets[c, g] += masses[e, g]
        whole = of_sets[c, 0] + of_sets[c, 1] + of_sets[c, 2]
        ahead[c] = min(1.0, whole)
        node[v, 0] = max(0.0, 1.0 - whole)
        if k > 1:
            for g in range(3):
                node[v, 3 - g] = of_sets[c, g]  # PLACE[1, 1, 0], PLACE[1, 0, 1] and PLACE[1, 0, 0]
        for i in range(entries):
            node[now, i] = 0.0
        node[now, 0] = 1.0
        while v > 1:
            up, then = v >> 1, 4 * n + 1 - now
            for i in range(entries):
                node[then, i] = node[up, i] = 0.0
            for i in range(terms):
                left, into = PRODUCTS[i, 0], PRODUCTS[i, 2]
                factor = node[v ^ 1, PRODUCTS[i, 1]]
                node[then, into] += node[now, left] * factor
                node[up, into] += node[v, left] * factor
            v, now = up, then
        for a in range(k):
            for b in range(k - a):
                chance, at = node[now, PLACE[k - 1, a, b]], wide * a + b
                law[at + wide] += chance * masses[e, 0]
                law[at + 1] += chance * masses[e, 1]
                law[at] += chance * masses[e, 2]
    for t in range(k):
        for a in range(t + 1):
            for b in range(t - a + 1):
                law[wide * a + b] += node[1, PLACE[t, a, b]]
    return law


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
