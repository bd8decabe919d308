"""What a rule yields, computed a second time in plain Python and numpy, with different algorithms from `rules.play`.

A rule gives every state a number. For a box, the capped number is min(number of the value, number of the candidate);
sorted by it, an event acts if fewer than k of the others are ahead (`independent`, candidate by candidate). Of the n in
the band of a lottery, r are drawn: all sets of r, as elementary symmetric functions of (1 - p_j + p_j z), over C(n, r).
Chains are followed by their running minimum.
"""

from __future__ import annotations

from math import comb

import numpy as np

from auditkit.model.layout import Floats, Layout
from auditkit.rules.rule import Draw, Ranking
from auditkit.verification.independent import Index, NumberedChain, Searched, index_visits, rooms_of, running_minimum


def box_numbers(layout: Layout, rewards: Floats) -> Floats:
    """The number of every state of boxes in the best search for some rewards: of a candidate sigma with
    E(v - sigma)+ = cost, found on the segment between two values where it changes sign."""
    numbers = rewards.copy()
    for first, last in zip(layout.candidate_ptr[:-1].tolist(), layout.candidate_ptr[1:].tolist(), strict=True):
        cost, values = -rewards[first], rewards[first + 1 : last]
        chance = layout.value_chance[first + 1 : last]
        if cost < 0:
            numbers[first] = np.inf
            continue
        order = np.argsort(-values, kind="stable")
        v, p = values[order], np.cumsum(chance[order])
        worth = np.cumsum(chance[order] * v)
        sigma = (worth - cost) / np.maximum(p, 1e-300)  # if exactly the values down to this one are at least sigma
        numbers[first] = sigma.max() if cost > 0 or len(v) else -np.inf
    return numbers


def play(layout: Layout, ranking: Ranking) -> Floats:
    """Expected visits of every state under a rule."""
    visits = np.zeros(layout.states)
    for search in range(len(layout.search_ids)):
        c0, c1 = int(layout.search_ptr[search]), int(layout.search_ptr[search + 1])
        own = slice(int(layout.candidate_ptr[c0]), int(layout.candidate_ptr[c1]))
        if ranking.draw is not None:
            visits[own] = _drawn(layout, search, ranking.index, ranking.draw)
        elif layout.only_boxes:
            visits[own] = _boxes(layout, search, ranking.index)
        else:
            visits[own] = _chains(layout, search, ranking.index)
    return visits


def _chains(layout: Layout, search: int, numbers: Floats) -> Floats:
    made: list[Searched] = []
    for c in range(layout.search_ptr[search], layout.search_ptr[search + 1]):
        chain = NumberedChain.of(layout, c)
        first = int(layout.candidate_ptr[c])
        index: Index = {s: (float(numbers[first + s]),) for s in range(chain.size) if not chain.terminal[s]}
        made.append((chain, index, running_minimum(chain, index)))
    return np.concatenate([np.array(own) for own in index_visits(layout, search, made)])


def _boxes(layout: Layout, search: int, numbers: Floats) -> Floats:
    c0, c1 = int(layout.search_ptr[search]), int(layout.search_ptr[search + 1])
    base = int(layout.candidate_ptr[c0])
    events: list[tuple[float, int, int, float]] = []
    found = np.zeros(int(layout.candidate_ptr[c1]) - base)
    for c in range(c0, c1):
        first, last = int(layout.candidate_ptr[c]), int(layout.candidate_ptr[c + 1])
        sigma, p = float(numbers[first]), layout.value_chance[first + 1 : last]
        reached = numbers[first + 1 : last] >= sigma
        if 0 < sigma < np.inf:
            events.append((-sigma, c - c0, first, float(p[reached].sum())))
        if sigma > 0:
            for v in np.flatnonzero(~reached & (p > 0)).tolist():
                if numbers[first + 1 + v] > 0:
                    events.append((-float(numbers[first + 1 + v]), c - c0, first + 1 + v, float(p[v])))
    events.sort()
    rooms, open_to = rooms_of(layout, search, [c for _, c, _, _ in events], [mass for *_, mass in events])
    at = {state: room for (_, _, state, _), room in zip(events, rooms, strict=True)}
    for c in range(c0, c1):
        first, last = int(layout.candidate_ptr[c]), int(layout.candidate_ptr[c + 1])
        sigma = float(numbers[first])
        start = float(open_to(c - c0)) if sigma == np.inf else at.get(first, 0.0)
        found[first - base] = start
        for v in range(first + 1, last):
            room = start if numbers[v] >= sigma and sigma < np.inf else at.get(v, 0.0)
            found[v - base] = layout.value_chance[v] * room
    return found


def _drawn(layout: Layout, search: int, numbers: Floats, draw: Draw) -> Floats:
    """A shortlist with a lottery: everyone on the list is inspected, then the highest numbers are selected."""
    c0, c1 = int(layout.search_ptr[search]), int(layout.search_ptr[search + 1])
    base, k = int(layout.candidate_ptr[c0]), int(layout.capacity[search])
    band = np.flatnonzero(draw.band[c0:c1]).tolist()
    sure = [c for c in range(c1 - c0) if not draw.band[c0 + c] and np.isposinf(numbers[layout.start[c0 + c]])]
    r = min(int(draw.places[search]), len(band))
    found = np.zeros(int(layout.candidate_ptr[c1]) - base)
    events = []
    for c in [*sure, *(band if r else [])]:
        first, last = int(layout.candidate_ptr[c0 + c]), int(layout.candidate_ptr[c0 + c + 1])
        found[first - base] = 1.0 if c in sure else r / len(band)
        chance = layout.value_chance
        events += [(-float(numbers[v]), c, v) for v in range(first + 1, last) if numbers[v] > 0 and chance[v] > 0]
    events.sort()
    if not events or k == 0:
        return found
    who = np.array([c for _, c, _ in events])
    ahead = np.zeros((len(events) + 1, c1 - c0))
    ahead[np.arange(len(events)) + 1, who] = [layout.value_chance[v] for *_, v in events]
    ahead = np.minimum(np.cumsum(ahead, axis=0)[:-1], 1.0)
    for own in np.unique(who).tolist():
        at = np.flatnonzero(who == own)
        others, places = [c for c in band if c != own], r - (own in band)
        law = np.zeros((len(at), places + 1, k))
        law[:, 0, 0] = 1.0
        for c in [c for c in sure if c != own]:
            law = _shifted(law, ahead[at, c])
        for c in others:
            law[:, 1:] += _shifted(law, ahead[at, c])[:, :-1]
        room = law[:, places].sum(axis=1) / comb(len(others), places)
        for e, chance in zip(at.tolist(), room.tolist(), strict=True):
            c, v = events[e][1:]
            first = int(layout.candidate_ptr[c0 + c]) - base
            found[v - base] = found[first] * layout.value_chance[v] * chance
    return found


def _shifted(law: Floats, p: Floats) -> Floats:
    """law * (1 - p + p z), cut off."""
    moved = law * (1.0 - p)[:, None, None]
    moved[:, :, 1:] += law[:, :, :-1] * p[:, None, None]
    return moved
