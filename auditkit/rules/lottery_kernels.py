"""Shortlists with a lottery, exactly: some candidates are on the list, others are drawn for the places left.

Everyone on the list is inspected and the best shown scores are selected. Given that candidate i is on the list and
shows y, i is selected if fewer than k others on the list are ahead of y. Those listed for certain are ahead with their
own chances, independently; of the n of the band, r are drawn at random, one after another: with d drawn of the first j
the next one is drawn with chance (r - d) / (n - j).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from auditkit.fitting.compile_options import OPTIONS


@njit(**OPTIONS)
def drawn_visits(searches, search_ptr, capacity, candidate_ptr, listed, band, places, chance, shown, visits):
    """Visits of all states of boxes; `shown` is the number of each value, `chance` its probability.

    Values are gone through from the highest number down, ties in the order of candidates, so that `ahead` is the chance
    of each candidate to be ahead of the present one.
    """
    for search in searches:
        c0, c1, k = search_ptr[search], search_ptr[search + 1], capacity[search]
        members = 0
        for c in range(c0, c1):
            if band[c]:
                members += 1
        r = min(places[search], members)
        first, last = candidate_ptr[c0], candidate_ptr[c1]
        owner = np.empty(last - first, np.int64)
        values = np.empty(last - first, np.int64)
        count = 0
        for c in range(c0, c1):
            on = 1.0 if listed[c] else (r / members if band[c] and members > 0 else 0.0)
            visits[candidate_ptr[c]] = on
            for v in range(candidate_ptr[c] + 1, candidate_ptr[c + 1]):
                visits[v] = 0.0
                if on > 0.0 and shown[v] > 0.0 and chance[v] > 0.0:
                    owner[count], values[count] = c, v
                    count += 1
        order = np.argsort(-shown[values[:count]], kind="mergesort")
        ahead = np.zeros(c1 - c0)
        sure, law = np.zeros(max(k, 1)), np.zeros((r + 2, max(k, 1)))
        for e in order:
            c, v = owner[e], values[e]
            if k > 0:
                room = _room(c0, c1, c, k, r - band[c], members - band[c], listed, band, ahead, sure, law)
                visits[v] = visits[candidate_ptr[c]] * chance[v] * room
            ahead[c - c0] = min(1.0, ahead[c - c0] + chance[v])


@njit(**OPTIONS)
def _room(c0, c1, own, k, r, n, listed, band, ahead, sure, law):
    """P(fewer than k others on the list are ahead); `r` of the `n` others of the band are drawn.

    `sure` is the law of how many of the listed are ahead, `law` that of how many of the band were drawn and are ahead.
    Those who cannot be ahead yet are drawn last, and make no difference.
    """
    sure[:], law[:] = 0.0, 0.0
    sure[0], law[0, 0] = 1.0, 1.0
    seen, certain = 0, 0
    for c in range(c0, c1):
        p = ahead[c - c0]
        if c == own or p == 0.0:
            continue
        if listed[c]:
            certain += 1
            for z in range(min(certain, k - 1), 0, -1):
                sure[z] = sure[z] * (1.0 - p) + sure[z - 1] * p
            sure[0] *= 1.0 - p
        else:
            for d in range(min(seen, r), -1, -1):
                draw = (r - d) / (n - seen)
                for z in range(min(d, k - 1), -1, -1):
                    mass = law[d, z]
                    law[d, z] = mass * (1.0 - draw)
                    law[d + 1, z] += mass * draw * (1.0 - p)
                    if z + 1 < k:
                        law[d + 1, z + 1] += mass * draw * p
            seen += 1
    room, fewer = 0.0, 0.0
    for z in range(k):  # at most z of the band, and k - 1 - z of the listed
        for d in range(min(seen, r) + 1):
            fewer += law[d, z]
        room += sure[k - 1 - z] * fewer
    return room
