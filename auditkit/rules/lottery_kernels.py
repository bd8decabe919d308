"""Shortlists with a lottery, exactly: some candidates are on the list, others are drawn for the places left.

Everyone on the list is inspected and the best shown scores are selected. Given that candidate i is on the list and
shows y, i is selected if fewer than k others on the list are ahead of y. Everyone is ahead with their own chance,
independently. Of the n of the band r are drawn: with A of them ahead, Z of those drawn are, where

    P(Z = z | A) = C(A, z) C(n - A, r - z) / C(n, r).

So two laws of numbers ahead are kept, of those listed for certain and of the whole band, and the present candidate is
divided out of theirs: from the end where errors shrink. They are multiplied afresh every `AFRESH` events.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from auditkit.fitting.compile_options import INLINED, INNER, OPTIONS
from auditkit.solver.kernels import falling

AFRESH = 16


@njit(**OPTIONS)
def drawn_visits(searches, search_ptr, capacity, candidate_ptr, listed, band, places, chance, shown, visits):
    """Visits of all states of boxes; `shown` is the number of each value, `chance` its probability.

    Values are gone through from the highest number down, ties in the order of candidates, so that `ahead` is the chance
    of each candidate to be ahead of the present one.
    """
    for search in searches:
        c0, c1, k = search_ptr[search], search_ptr[search + 1], capacity[search]
        size = np.zeros(2, np.int64)  # of those listed, and of the band
        for c in range(c0, c1):
            size[0] += listed[c]
            size[1] += band[c]
        r = min(places[search], size[1])
        states = candidate_ptr[c1] - candidate_ptr[c0]
        owner, values, keys = np.empty(states, np.int64), np.empty(states, np.int64), np.empty(states)
        count = 0
        for c in range(c0, c1):
            on = 1.0 if listed[c] else (r / size[1] if band[c] else 0.0)
            visits[candidate_ptr[c]] = on
            for v in range(candidate_ptr[c] + 1, candidate_ptr[c + 1]):
                visits[v] = 0.0
                if on > 0.0 and shown[v] > 0.0 and chance[v] > 0.0:
                    owner[count], values[count], keys[count] = c, v, shown[v]
                    count += 1
        if k == 0 or count == 0:
            continue
        order = falling(keys[:count])
        every, others = drawn_ahead(size[1], r, k), drawn_ahead(size[1] - 1, r - 1, k)
        ahead, rest = np.zeros(c1 - c0), np.empty(c1 - c0 + 1)
        law = np.empty((2, c1 - c0 + 1))
        for i in range(count):
            c, v = owner[order[i]], values[order[i]]
            if i == 0 or i % AFRESH == AFRESH - 1:
                for a in range(c1 - c0 + 1):
                    law[0, a] = law[1, a] = 0.0
                law[0, 0] = law[1, 0] = 1.0
                for other in range(c0, c1):
                    put_in(law[1 if band[other] else 0], c1 - c0, ahead[other - c0])
            mine = 1 if band[c] else 0
            take_out(law[mine], size[mine], ahead[c - c0], rest)
            room = 0.0
            for z in range(k):  # z of the band, and fewer than k - z of those listed
                drawn, fewer = 0.0, 0.0
                for a in range(z, size[1] + 1 - mine):
                    drawn += rest[a] * others[a, z] if mine else law[1, a] * every[a, z]
                for a in range(min(k - z, size[0] + mine)):
                    fewer += law[0, a] if mine else rest[a]
                room += drawn * fewer
            visits[v] = visits[candidate_ptr[c]] * chance[v] * room
            ahead[c - c0] = min(1.0, ahead[c - c0] + chance[v])
            for a in range(size[mine]):
                law[mine, a] = rest[a]
            law[mine, size[mine]] = 0.0
            put_in(law[mine], size[mine], ahead[c - c0])


@njit(**INNER)
def drawn_ahead(n, r, k):
    """P(Z = z | A = a) for every a up to n and z below k."""
    logs = np.zeros(max(n, 0) + 1)  # of factorials
    for i in range(1, n + 1):
        logs[i] = logs[i - 1] + np.log(float(i))
    found = np.zeros((max(n, 0) + 1, k))
    for a in range(n + 1):
        for z in range(max(0, r - n + a), min(k, a + 1, r + 1)):
            ways = logs[a] - logs[z] - logs[a - z] + logs[n - a] - logs[r - z] - logs[n - a - r + z]
            found[a, z] = np.exp(ways - logs[n] + logs[r] + logs[n - r])
    return found


@njit(**INNER)
def put_in(law, top, p):
    """law <- law * (1 - p + p z), in place, up to the power `top`."""
    if p > 0.0:
        for i in range(top, 0, -1):
            law[i] = (1.0 - p) * law[i] + p * law[i - 1]
        law[0] *= 1.0 - p


@njit(**INLINED)
def take_out(law, top, p, rest):
    """rest <- law / (1 - p + p z), of the power top - 1."""
    q = 1.0 - p
    if p <= 0.5:  # one division: each number waits for the one before
        unit, share = 1.0 / q, p / q
        rest[0] = law[0] * unit
        for i in range(1, top):
            rest[i] = law[i] * unit - share * rest[i - 1]
    else:
        unit, share = 1.0 / p, q / p
        rest[top - 1] = law[top] * unit
        for i in range(top - 1, 0, -1):
            rest[i - 1] = law[i] * unit - share * rest[i]
