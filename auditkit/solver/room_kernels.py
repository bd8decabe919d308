"""Compiled kernels: who still finds room when it is their turn (docs/method.md).

Events of a search, sorted by time, are the moments at which a candidate may be selected; `owner[e]` and `kappa[e]` are
its candidate and the chance that the candidate's capped value is realised there. An event finds room if fewer than k
others are ahead of it.

**Limits.** The limited sets of a search are numbered from 0, the search itself; `parent[j] < j` is the smallest set
around set j, and `place[c]` the smallest set around candidate c. Of those ahead, set j counts at most `capacity[j]` in
whatever contains it: the number that counts in the search is a tree of sums cut off at the limits. A candidate finds
room if every set around it counts fewer than its capacity without it. The kernels for limits are compiled only where
there are any: `limits` is None elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from auditkit.fitting.compile_options import INLINED, INNER, OPTIONS

NEGLIGIBLE = 1e-17
"""A bracket on a probability narrower than this is closed: it is below the rounding of a double near 1."""

UNLIKELY = 40.0
"""Chances below exp of less this are negligible too."""

CERTAIN = 1.0 - 1e-15
"""What chances that sum to one come to in spite of rounding."""

FEW_POSITIONS = 4
"""Up to so many a tree over the candidates takes less time than the recursion over time."""

LONGEST_RUN = 8
"""Of events that the recursion over time does not divide further: half of all its time would be spent on them."""


class Nested(NamedTuple):
    """The limits of a layout as numba sees them."""

    ptr: np.ndarray
    capacity: np.ndarray
    parent: np.ndarray
    innermost: np.ndarray


@njit(**INLINED)
def barred(search, candidate, k, limits):
    """Whether a candidate can never be selected, because the search or a limit around them has no position."""
    if k == 0:
        return True
    if limits is not None:
        first, j = limits.ptr[search], limits.innermost[candidate]
        while j > 0:
            if limits.capacity[first + j - 1] == 0:
                return True
            j = limits.parent[first + j - 1]
    return False


@njit(**INLINED)
def room(search, c0, n, k, owner, kappa, limits):
    """P(event e finds room) for every event e of a search, whose first candidate is c0."""
    if limits is None:
        return chances(n, k, owner, kappa)
    first, last = limits.ptr[search], limits.ptr[search + 1]
    if first == last:
        return chances(n, k, owner, kappa)
    capacity, parent = sets(first, last, k, limits)
    return nested_chances(n, owner, kappa, limits.innermost[c0 : c0 + n], parent, capacity)


# --------------------------------------------------------------------------------------------- the recursion over time


@njit(**INLINED)
def split(lo, hi, depth, count, owner, active, stamp):
    """Candidates active above that have an event in lo..hi-1 go to active[depth]; the others follow them there.

    Returns how many stay active; the rest of the list, up to `count`, is settled over the whole range.
    """
    mark = stamp[0] + 1
    stamp[0] = mark
    for e in range(lo, hi):
        stamp[owner[e] + 1] = mark
    stay, gone = 0, count
    for i in range(count):
        c = active[depth - 1, i]
        if stamp[c + 1] == mark:
            active[depth, stay] = c
            stay += 1
        else:
            gone -= 1
            active[depth, gone] = c
    return stay


@njit(**INNER)
def begin(n, owner, ends):
    """The recursion over time as arrays by depth, standing at its root, depth 1 (numba cannot cache recursion).

    It divides runs of events, the i-th of which is ends[i]..ends[i + 1]-1.
    """
    depth, runs = 2, len(ends) - 1
    while runs > 1:
        runs = (runs + 1) // 2
        depth += 1
    spans = np.zeros((depth, 3), np.int64)  # first run, last run + 1, halves visited
    stay = np.zeros(depth, np.int64)
    active = np.empty((depth, n), np.int64)
    stamp = np.zeros(n + 1, np.int64)
    for c in range(n):
        active[0, c] = c
    spans[1, 1] = len(ends) - 1
    stay[1] = split(ends[0], ends[-1], 1, n, owner, active, stamp)
    return spans, stay, active, stamp


@njit(**INNER)
def advance(depth, spans, stay, owner, ends, active, stamp):
    """The next range in order of time: its depth, or 0 at the end. A range marked as visited is not entered."""
    while depth > 0:
        lo, hi, visited = spans[depth]
        if visited < 2 and hi - lo > 1:
            middle = (lo + hi) // 2
            left, right = (lo, middle) if visited == 0 else (middle, hi)
            spans[depth, 2] += 1
            depth += 1
            stay[depth] = split(ends[left], ends[right], depth, stay[depth - 1], owner, active, stamp)
            spans[depth, 0], spans[depth, 1], spans[depth, 2] = left, right, 0
            return depth
        depth -= 1
    return 0


@njit(**INLINED)
def chances(n, k, owner, kappa):
    """P(fewer than k others are ahead of event e) for every event e."""
    if k <= FEW_POSITIONS:
        return chances_of_few(n, k, owner, kappa)
    return chances_of_many(n, k, owner, kappa)


@njit(**INLINED)
def different(n, owner):
    """Ends of runs of at most `LONGEST_RUN` events, in each of which nobody has two."""
    ends, last = np.zeros(len(owner) + 1, np.int64), np.full(n, -1)
    count, start = 0, 0
    for e in range(len(owner)):
        if last[owner[e]] >= start or e - start == LONGEST_RUN:
            count, start = count + 1, e
            ends[count] = e
        last[owner[e]] = e
    ends[count + 1] = len(owner)
    return ends[: count + 2]


@njit(**INLINED)
def enough(k):
    """If so many are expected to be ahead, more than k surely are: Chernoff's bound for independent numbers 0 or 1."""
    return k + UNLIKELY + np.sqrt(UNLIKELY * (UNLIKELY + 2.0 * k))


@njit(**INLINED)
def in_doubt(k, kappa):
    """The first event at which k may be ahead, by Bernstein's bound, and the first at which more than k surely are."""
    third = UNLIKELY / 1.5
    few, many = k + third - np.sqrt(third**2 + 2.0 * UNLIKELY * k), enough(k)
    first, end, mean = 0, 0, 0.0
    while end < len(kappa) and mean < many:
        first += mean < few
        mean += kappa[end]
        end += 1
    return first, end


@njit(**OPTIONS)
def chances_of_many(n, k, owner, kappa):
    """`chances` by offline deletion.

    `tail[depth, i]` is P(at most k - 1 - i of the settled candidates are ahead), settled meaning: no event of theirs
    in this range. Only as many entries are kept as there are candidates still to settle, and none is ever divided
    out. `ahead[c]` is the chance that candidate c is ahead of the present time; events are met in order of time.

    In a run nobody has two events: whoever has one after event e is ahead of it as before the run, whoever has had
    theirs as after it. `later[j]` is the tail with the former, `law` the law of how many of the latter are ahead.

    Only the events `in_doubt` are divided: those before them are sure of room, and those after them find none.
    """
    first, end = in_doubt(k, kappa)
    chance, ahead = np.zeros(len(owner)), np.zeros(n)
    for e in range(first):
        chance[e] = 1.0
        ahead[owner[e]] = min(1.0, ahead[owner[e]] + kappa[e])
    if first == end:
        return chance
    ends = different(n, owner[first:end])
    ends += first
    spans, stay, active, stamp = begin(n, owner, ends)
    tail = np.ones((len(spans), k + 1))
    stay[0] = n
    later, law = np.empty((LONGEST_RUN, LONGEST_RUN)), np.empty(LONGEST_RUN + 1)
    depth = 1
    while depth > 0:
        here, now = tail[depth], stay[depth]
        before = stay[depth - 1]
        for i in range(min(k, before + 1)):
            here[i] = tail[depth - 1, i]
        here[k] = 0.0
        for j in range(now, before):
            p = ahead[active[depth, j]]
            if p > 0.0:
                q = 1.0 - p
                for i in range(min(k, now + before - j)):
                    here[i] = q * here[i] + p * here[i + 1]
        lo, hi = ends[spans[depth, 0]], ends[spans[depth, 1]]
        bracket = here[0] - here[now] if now < k else here[0]  # what the candidates still active can change
        if bracket <= NEGLIGIBLE:
            for e in range(lo, hi):
                chance[e] = here[0]
                ahead[owner[e]] = min(1.0, ahead[owner[e]] + kappa[e])
            spans[depth, 2] = 2
        elif spans[depth, 1] - spans[depth, 0] == 1:
            last = hi - lo - 1
            for i in range(last + 1):
                later[last, i] = here[i] if i < k else 0.0
            for j in range(last - 1, -1, -1):
                p = ahead[owner[lo + j + 1]]
                q = 1.0 - p
                for i in range(j + 1):
                    later[j, i] = q * later[j + 1, i] + p * later[j + 1, i + 1]
            law[0] = 1.0
            for j in range(last + 1):
                e, total = lo + j, 0.0
                for i in range(j + 1):
                    total += law[i] * later[j, i]
                chance[e] = min(1.0, total)
                p = min(1.0, ahead[owner[e]] + kappa[e])
                q, ahead[owner[e]] = 1.0 - p, p
                law[j + 1] = 0.0
                for i in range(j + 1, 0, -1):
                    law[i] = q * law[i] + p * law[i - 1]
                law[0] *= q
            spans[depth, 2] = 2
        depth = advance(depth, spans, stay, owner, ends, active, stamp)
    return chance


@njit(**INLINED)
def nobody_left(n, k, ahead, law):
    """Whether more than k of all candidates are ahead, so that whoever is left out k others are; `law` is scratch."""
    for a in range(k + 1):
        law[a] = 0.0
    law[0] = 1.0
    for c in range(n):
        p = ahead[c]
        if p > 0.0:
            q = 1.0 - p
            for a in range(k, 0, -1):
                law[a] = q * law[a] + p * law[a - 1]
            law[0] *= q
    total = 0.0
    for a in range(k + 1):
        total += law[a]
    return total <= NEGLIGIBLE


@njit(**OPTIONS)
def chances_of_few(n, k, owner, kappa):
    """As `chances`, by a tree over the candidates: for up to `FEW_POSITIONS`.

    `node[v, a]` is the chance that a < k of the candidates below v are ahead; leaf n + c is candidate c, the children
    of v are 2v and 2v + 1. An event changes its leaf: on the way to the root the nodes are multiplied again, and the
    product of all siblings met is the law of the others. Nothing is divided out here either.
    """
    chance = np.ones(len(owner))
    if n <= k:
        return chance
    ahead, law = np.zeros(n), np.empty(k + 1)
    node = np.zeros((2 * n, k))
    for v in range(2 * n):
        node[v, 0] = 1.0
    for e in range(len(owner)):
        if e % 64 == 63 and nobody_left(n, k, ahead, law):
            for later in range(e, len(owner)):
                chance[later] = 0.0
            break
        c = owner[e]
        p = ahead[c] + kappa[e]
        if p > CERTAIN:
            p = 1.0
        ahead[c] = p
        v = n + c
        node[v, 0] = 1.0 - p
        if k == 1:
            room = 1.0
            while v > 1:
                room *= node[v ^ 1, 0]
                node[v >> 1, 0] = node[v, 0] * node[v ^ 1, 0]
                v >>= 1
        elif k == 2:  # written out, because two thirds of all searches have one or two positions
            node[v, 1] = p
            x, y, r, s = 1.0 - p, p, 1.0, 0.0
            while v > 1:
                a, b = node[v ^ 1, 0], node[v ^ 1, 1]
                r, s = r * a, r * b + s * a
                x, y = x * a, x * b + y * a
                v >>= 1
                node[v, 0], node[v, 1] = x, y
            room = r + s
        elif k == 3:
            node[v, 1] = p
            x, y, z, r, s, t = 1.0 - p, p, 0.0, 1.0, 0.0, 0.0
            while v > 1:
                a, b, d = node[v ^ 1, 0], node[v ^ 1, 1], node[v ^ 1, 2]
                r, s, t = r * a, r * b + s * a, r * d + s * b + t * a
                x, y, z = x * a, x * b + y * a, x * d + y * b + z * a
                v >>= 1
                node[v, 0], node[v, 1], node[v, 2] = x, y, z
            room = r + s + t
        else:
            node[v, 1] = p
            w, x, y, z, r, s, t, u = 1.0 - p, p, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
            while v > 1:
                a, b, d, f = node[v ^ 1, 0], node[v ^ 1, 1], node[v ^ 1, 2], node[v ^ 1, 3]
                r, s, t, u = r * a, r * b + s * a, r * d + s * b + t * a, r * f + s * d + t * b + u * a
                w, x, y, z = w * a, w * b + x * a, w * d + x * b + y * a, w * f + x * d + y * b + z * a
                v >>= 1
                node[v, 0], node[v, 1], node[v, 2], node[v, 3] = w, x, y, z
            room = r + s + t + u
        chance[e] = min(1.0, room)
    return chance


# -------------------------------------------------------------------------------- capacities within capacities


@njit(**OPTIONS)
def sets(first, last, k, limits):
    """Capacities and parents of the sets of a search; none counts more than what is around it."""
    count = last - first + 1
    capacity, parent = np.empty(count, np.int64), np.empty(count, np.int64)
    capacity[0], parent[0] = k, -1
    for j in range(1, count):
        parent[j] = limits.parent[first + j - 1]
        capacity[j] = min(limits.capacity[first + j - 1], capacity[parent[j]])
    return capacity, parent


@njit(**OPTIONS)
def multiply_cut(law, p):
    """law <- law * (1 - p + p z), in place; what exceeds the last entry stays in it."""
    top = len(law) - 1
    if p > 0.0 and top > 0:
        q = 1.0 - p
        law[top] += p * law[top - 1]
        for i in range(top - 1, 0, -1):
            law[i] = q * law[i] + p * law[i - 1]
        law[0] *= q


@njit(**OPTIONS)
def add_cut(law, other, buffer):
    """law <- law of the sum with an independent number, in place; what exceeds the last entry stays in it."""
    top = len(law) - 1
    buffer[: top + 1] = 0.0
    for a in range(len(other)):
        if other[a] > 0.0:
            for i in range(top + 1):
                buffer[min(i + a, top)] += other[a] * law[i]
    law[:] = buffer[: top + 1]


@njit(**OPTIONS)
def nested_chances(n, owner, kappa, place, parent, capacity):
    """P(event e finds room) for every event e, by the recursion over time of `chances`.

    A candidate without an event in the present range is settled: its factor joins the law of its set. A set whose
    candidates are all settled is closed: its law joins that of the set around it. What is left open at one event is
    its owner alone, and the sets around the owner. For the search itself `tail[depth, i]` is P(closed parts count at
    most capacity - 1 - i), of which only as many entries are kept as open parts can count (`reach`).
    """
    m, k = len(parent), capacity[0]
    chance = np.zeros(len(owner))
    if k == 0 or len(owner) == 0:
        return chance
    start = np.zeros(m + 1, np.int64)  # of the law of each set in the arrays below
    for j in range(m):
        start[j + 1] = start[j] + capacity[j] + 1
    ends = np.arange(len(owner) + 1)
    spans, stay, active, stamp = begin(n, owner, ends)
    depths = len(spans)
    law = np.zeros((depths, start[m]))
    tail = np.zeros((depths, k + 1))
    alive = np.zeros((depths, m), np.int64)
    opened = np.zeros((depths, m), np.int64)
    open_count = np.zeros(depths, np.int64)
    reach = np.zeros(depths, np.int64)
    ahead = np.zeros(n)
    buffer, path = np.empty(k + 1), np.empty(k + 1)
    tail[0, :k] = 1.0
    for c in range(n):
        j = place[c]
        reach[0] += j == 0
        while j >= 0:
            alive[0, j] += 1
            j = parent[j]
    for j in range(1, m):
        law[0, start[j]] = 1.0
        opened[0, j - 1] = j
        reach[0] += capacity[j] if parent[j] == 0 else 0
    open_count[0] = m - 1
    depth = min(1, len(owner))
    while depth > 0:
        here, before = law[depth], depth - 1
        left = reach[before]
        tail[depth, : min(k, left) + 1] = tail[before, : min(k, left) + 1]
        tail[depth, k] = 0.0
        for x in range(open_count[before]):
            j = opened[before, x]
            alive[depth, j] = alive[before, j]
            here[start[j] : start[j + 1]] = law[before, start[j] : start[j + 1]]
        for x in range(stay[depth], stay[before] if depth > 1 else n):
            c = active[depth, x]
            p, j = ahead[c], place[c]
            if j == 0:
                left -= 1
                if p > 0.0:
                    for i in range(min(k, left + 1)):
                        tail[depth, i] = (1.0 - p) * tail[depth, i] + p * tail[depth, i + 1]
            else:
                multiply_cut(here[start[j] : start[j + 1]], p)
            while j > 0:
                alive[depth, j] -= 1
                j = parent[j]
        count = open_count[before]
        for x in range(count - 1, -1, -1):  # inner sets come after those around them
            j = opened[before, x]
            if alive[depth, j] == 0:
                own, around = here[start[j] : start[j + 1]], parent[j]
                if around > 0:
                    add_cut(here[start[around] : start[around + 1]], own, buffer)
                else:
                    left -= capacity[j]
                    for i in range(min(k, left + 1)):
                        total = 0.0
                        for a in range(min(capacity[j] + 1, k - i)):
                            total += own[a] * tail[depth, i + a]
                        tail[depth, i] = total
        still = 0
        for x in range(count):
            j = opened[before, x]
            if alive[depth, j] > 0:
                opened[depth, still] = j
                still += 1
        open_count[depth] = still
        reach[depth] = left
        lo, hi = spans[depth, 0], spans[depth, 1]
        if hi - lo == 1 or tail[depth, 0] <= NEGLIGIBLE:
            if hi - lo == 1:
                chance[lo] = with_room(place[owner[lo]], parent, capacity, start, here, tail[depth], path, buffer)
            for e in range(lo, hi):
                ahead[owner[e]] = min(1.0, ahead[owner[e]] + kappa[e])
            spans[depth, 2] = 2
        depth = advance(depth, spans, stay, owner, ends, active, stamp)
    return chance


@njit(**OPTIONS)
def with_room(j, parent, capacity, start, law, tail, path, buffer):
    """P(set j and all sets around it count fewer than their capacities), from laws of what they count by themselves."""
    size = 1
    path[0] = 1.0
    while j > 0:
        wide = capacity[j]
        buffer[:wide] = 0.0
        for a in range(size):
            for i in range(wide - a):
                buffer[a + i] += path[a] * law[start[j] + i]
        path[:wide] = buffer[:wide]
        size = wide
        j = parent[j]
    total = 0.0
    for a in range(size):
        total += path[a] * tail[a]
    return total
