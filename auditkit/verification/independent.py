"""A second evaluation of index policies, with different algorithms from the solver's, in plain Python and numpy.

| what | how |
| --- | --- |
| indices | state elimination, largest index first (docs/method.md), for every kind of chain |
| running minimum | passed on along the transitions, by linear solves on the states that don't lower it |
| who is ahead | the law of the number of others ahead, built up candidate by candidate for all thresholds of a search
at once; a set with a limit counts as one more candidate in the set around it |

Sums follow the order of the formulas, so that two indices that the solver finds equal are equal here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from auditkit.constraints.base import Rows
from auditkit.model.layout import Floats, Ints, Layout

TIE_TOLERANCE = 1e-9
"""Part of what a policy with ties means: of the size of a level's rewards, closer indices are tied."""

AT_ONCE = 1_000_000
"""Chances of being ahead, one for each threshold and candidate, that are held at a time."""

Vector = tuple[float, ...]
Index = dict[int, Vector]
Path = dict[tuple[int, int], float]
"""(state, state with the smallest index so far) -> expected visits."""


@dataclass(frozen=True, eq=False)
class NumberedChain:
    """One candidate, its states numbered from 0."""

    size: int
    terminal: list[bool]
    stop: list[bool]
    steps: list[list[tuple[int, float]]]

    @staticmethod
    def of(layout: Layout, candidate: int) -> NumberedChain:
        first, last = int(layout.candidate_ptr[candidate]), int(layout.candidate_ptr[candidate + 1])
        ptr, items, prob = layout.edges.ptr, layout.edges.items, layout.edge_prob
        steps = [
            [(int(items[e]) - first, float(prob[e])) for e in range(ptr[s], ptr[s + 1])] for s in range(first, last)
        ]
        return NumberedChain(
            last - first, layout.terminal[first:last].tolist(), layout.stop[first:last].tolist(), steps
        )


Searched = tuple[NumberedChain, Index, Path]


class Multipliers(NamedTuple):
    """Multipliers under which a policy is optimal; ties are broken by further levels."""

    duals: Sequence[float] = ()
    objective: float = 1.0


def adjusted(layout: Layout, rows: Rows, levels: Sequence[Multipliers]) -> tuple[list[Floats], Vector]:
    """Rewards of each level, objective * R - sum_j dual_j * theta_j, and the size of their terms."""
    rewards, sizes = [], []
    for level in levels:
        reward = level.objective * layout.reward
        terms = np.abs(reward)
        for dual, row in zip(level.duals, rows.rows, strict=False):
            if dual != 0.0:
                states, shift = row.states, dual * row.coefficients
                reward[states] -= shift
                terms[states] += np.abs(shift)
        rewards.append(reward)
        sizes.append(float(terms.max(initial=0.0)))
    return rewards, tuple(sizes)


def evaluate(layout: Layout, levels: tuple[list[Floats], Vector], searches: Iterable[int] | None = None) -> Floats:
    """Expected visits of every state under the index policy for some rewards, with one array and one size per level.

    Candidates with the same law and rewards have the same indices and paths, which are found once. If `searches` are
    given, visits outside them are 0.
    """
    rewards, sizes = levels
    tol = tuple(TIE_TOLERANCE * size if len(rewards) > 1 else 0.0 for size in sizes)
    table = np.column_stack(rewards)
    visits = np.zeros(layout.states)
    known: dict[tuple[bytes, ...], tuple[NumberedChain, Index, Path]] = {}
    for search in range(len(layout.search_ids)) if searches is None else searches:
        candidates = range(layout.search_ptr[search], layout.search_ptr[search + 1])
        numbers: list[tuple[NumberedChain, Index, Path]] = []
        for c in candidates:
            key = _alike(layout, c, table)
            if key not in known:
                chain = NumberedChain.of(layout, c)
                first, last = layout.candidate_ptr[c], layout.candidate_ptr[c + 1]
                index = indices(chain, [tuple(map(float, row)) for row in table[first:last]], tol)
                known[key] = chain, index, running_minimum(chain, index) if len(tol) == 1 else {}
            numbers.append(known[key])
        if len(tol) > 1:
            snapped = _snapped([index for _, index, _ in numbers], tol)
            numbers = [(chain, y, running_minimum(chain, y)) for (chain, _, _), y in zip(numbers, snapped, strict=True)]
        found = _visits(numbers, _Sets(layout, search))
        for c, own in zip(candidates, found, strict=True):
            visits[layout.candidate_ptr[c] : layout.candidate_ptr[c + 1]] = own
    return visits


def _alike(layout: Layout, candidate: int, table: Floats) -> tuple[bytes, ...]:
    first, last = layout.candidate_ptr[candidate], layout.candidate_ptr[candidate + 1]
    low, high = layout.edges.ptr[first], layout.edges.ptr[last]
    return (
        table[first:last].tobytes(),
        layout.edge_prob[low:high].tobytes(),
        (layout.edges.items[low:high] - first).tobytes(),
        (layout.edges.ptr[first : last + 1] - low).tobytes(),
        layout.terminal[first:last].tobytes(),
        layout.stop[first:last].tobytes(),
    )


def _sign(x: Vector, y: Vector, tol: Vector) -> int:
    """Lexicographic comparison with a tolerance for each level."""
    for a, b, t in zip(x, y, tol, strict=True):
        if a != b and abs(a - b) > t:
            return 1 if a > b else -1
    return 0


def indices(chain: NumberedChain, reward: list[Vector], tol: Vector) -> Index:
    """Index of every non-terminal state by elimination, largest first.

    For a state s not yet eliminated, gain(s) is what is collected, and stop(s) the chance of selection, from s until a
    state not yet eliminated is reached; the best ratio gain / stop is the next index, and its state is eliminated.
    """
    zero = (0.0,) * len(tol)
    gain: dict[int, Vector] = {}
    stop: dict[int, float] = {}
    step: dict[int, dict[int, float]] = {}
    parents: dict[int, set[int]] = {s: set() for s in range(chain.size)}
    for s in range(chain.size):
        if chain.terminal[s]:
            continue
        gain[s], stop[s], step[s] = reward[s], 1.0 if chain.stop[s] else 0.0, {}
        for t, a in chain.steps[s]:
            if chain.terminal[t]:
                gain[s] = tuple(g + a * r for g, r in zip(gain[s], reward[t], strict=True))
                stop[s] += a
            else:
                step[s][t] = step[s].get(t, 0.0) + a
                parents[t].add(s)
    index: dict[int, Vector] = {}
    left = set(gain)
    ratio = {s: _ratio(gain[s], stop[s], zero, tol) for s in left}
    while left:
        if tol == (0.0,):
            best = max(left, key=lambda s: (ratio[s], -s))
        else:
            best = min(left)
            for s in sorted(left):
                if _sign(ratio[s], ratio[best], tol) > 0:
                    best = s
        index[best] = ratio[best]
        left.remove(best)
        if index[best][0] == -math.inf:
            continue
        loop = step[best].pop(best, 0.0)
        for q in parents[best] & left:
            free = stop[q] == 0.0 and _sign(gain[q], zero, tol) == 0  # costs nothing: worth what it leads to, exactly
            through = step[q].pop(best) / (1.0 - loop)
            gain[q] = tuple(g + through * h for g, h in zip(gain[q], gain[best], strict=True))
            stop[q] += through * stop[best]
            for t, a in step[best].items():
                step[q][t] = step[q].get(t, 0.0) + through * a
                parents[t].add(q)
            ratio[q] = index[best] if free and stop[q] > 0.0 else _ratio(gain[q], stop[q], zero, tol)
    return index


def _ratio(gain: Vector, stop: float, zero: Vector, tol: Vector) -> Vector:
    if stop > 0.0:
        return tuple(g / stop for g in gain)
    return (math.inf,) * len(gain) if _sign(gain, zero, tol) > 0 else (-math.inf,) * len(gain)


def _snapped(index: list[Index], tol: Vector) -> list[Index]:
    """Make the indices of a search that are tied at a level equal, and zero if they're tied with zero."""
    moves = []
    for d, t in enumerate(tol):
        values = sorted({y[d] for own in index for y in own.values() if math.isfinite(y[d])} | {0.0})
        groups: list[list[float]] = []
        for value in values:
            if groups and value - groups[-1][-1] <= t:
                groups[-1].append(value)
            else:
                groups.append([value])
        moves.append({value: 0.0 if 0.0 in group else group[0] for group in groups for value in group})
    return [{s: tuple(to.get(x, x) for to, x in zip(moves, y, strict=True)) for s, y in own.items()} for own in index]


def running_minimum(chain: NumberedChain, index: Index) -> Path:
    """Expected visits of each state by where the smallest index so far was met, if the candidate always goes on."""
    mass: Path = {}
    entered = {0: 1.0}  # states that become the smallest index, and how often
    while entered:
        u = max(entered, key=lambda s: (index[s], -s))  # from the largest index down: none is entered twice
        share = entered.pop(u)
        if index[u][0] == -math.inf:
            mass[u, u] = share
            continue
        inside = {s for s in range(chain.size) if chain.terminal[s] or index[s] >= index[u]}
        for s, expected in _stay(chain, u, inside).items():
            mass[s, u] = mass.get((s, u), 0.0) + share * expected
            if not chain.terminal[s]:
                for t, a in chain.steps[s]:
                    if not chain.terminal[t] and index[t] < index[u]:
                        entered[t] = entered.get(t, 0.0) + share * expected * a
    return mass


def _stay(chain: NumberedChain, start: int, inside: set[int]) -> dict[int, float]:
    """Expected visits, from `start`, of the states `inside` until one outside is entered."""
    reached, todo = {start}, [start]
    edges: list[tuple[int, int, float]] = []
    while todo:
        s = todo.pop()
        for t, a in chain.steps[s]:
            if t in inside:
                edges.append((s, t, a))
                if t not in reached:
                    reached.add(t)
                    todo.append(t)
    if all(s == start for s, _, _ in edges) and all(t != start for _, t, _ in edges):  # one step and no way back
        return {start: 1.0, **{t: a for _, t, a in edges}}
    place = {s: i for i, s in enumerate(sorted(reached))}
    matrix = np.eye(len(place))
    for s, t, a in edges:
        matrix[place[t], place[s]] -= a
    target = np.zeros(len(place))
    target[place[start]] = 1.0
    solved = np.linalg.solve(matrix, target)
    return {s: max(0.0, float(solved[i])) for s, i in place.items()}


def index_visits(layout: Layout, search: int, numbers: list[Searched]) -> list[list[float]]:
    """Visits of every state of every candidate of a search, whatever their indices are."""
    return _visits(numbers, _Sets(layout, search))


def rooms_of(
    layout: Layout, search: int, who: list[int], mass: list[float]
) -> tuple[list[float], Callable[[int], bool]]:
    """For events in order of time, the chance that there's room for their candidate; and who can be selected at all."""
    sets = _Sets(layout, search)
    return sets.rooms(who, mass), sets.open_to


def _visits(numbers: list[Searched], sets: _Sets) -> list[list[float]]:
    """Visits of every state of every candidate of a search."""
    events = []
    for c, (chain, index, path) in enumerate(numbers):
        capped: dict[int, float] = {}
        for (s, u), mass in path.items():
            capped.setdefault(u, 0.0)
            if chain.terminal[s] or chain.stop[s]:
                capped[u] += mass
        events += [(index[u], -c, -u, mass) for u, mass in capped.items()]
    events.sort(reverse=True)  # no two have the same candidate and state
    zero = (0.0,) * len(events[0][0]) if events else ()
    chance: list[dict[int, float]] = [{} for _ in numbers]
    between = []
    for y, minus_c, minus_u, mass in events:
        c, u = -minus_c, -minus_u
        chance[c][u] = 1.0 if y[0] == math.inf and sets.open_to(c) else 0.0
        if zero < y and y[0] != math.inf:
            between.append((c, u, mass))
    rooms = sets.rooms([c for c, _, _ in between], [mass for _, _, mass in between])
    for (c, u, _), room in zip(between, rooms, strict=True):
        chance[c][u] = room
    visits = [[0.0] * chain.size for chain, _, _ in numbers]
    for own, shares, (_, _, path) in zip(visits, chance, numbers, strict=True):
        for (s, u), mass in path.items():
            own[s] += mass * shares[u]
    return visits


class _Sets:
    """The search (set 0) and the limited sets inside it, which are nested or disjoint."""

    def __init__(self, layout: Layout, search: int) -> None:
        c0, c1 = int(layout.search_ptr[search]), int(layout.search_ptr[search + 1])
        self.capacity, self.around, innermost = [int(layout.capacity[search])], [-1], np.zeros(c1 - c0, dtype=np.int64)
        if layout.limits is not None:
            first, last = layout.limits.ptr[search], layout.limits.ptr[search + 1]
            self.capacity += layout.limits.capacity[first:last].tolist()
            self.around += layout.limits.parent[first:last].tolist()
            innermost = layout.limits.innermost[c0:c1]
        sets = range(len(self.capacity))
        self.members = [np.flatnonzero(innermost == j).tolist() for j in sets]
        self.inner = [[i for i in sets if self.around[i] == j] for j in sets]
        outward = [self._outward(j) for j in sets]
        self.inside_out = sorted(sets, key=lambda j: -len(outward[j]))
        self.within = np.array([[j in outward[i] for i in innermost] for j in sets])
        """Of each set: which candidates are in it."""

    def open_to(self, c: int) -> bool:
        """Whether a candidate can be selected at all: if not, they aren't inspected."""
        return all(self.capacity[j] > 0 for j in range(len(self.capacity)) if self.within[j][c])

    def _outward(self, j: int) -> list[int]:
        return [] if j < 0 else [j, *self._outward(self.around[j])]

    def rooms(self, who: list[int], mass: list[float]) -> list[float]:
        """P(in every set around c, fewer than its capacity of the others are ahead), at each of some events.

        Event e belongs to candidate who[e], whose chance of being ahead rises by mass[e].
        """
        candidates, found = self.within.shape[1], []
        ahead = np.zeros(candidates)
        step = max(1, AT_ONCE // max(1, candidates))
        for first in range(0, len(who), step):
            own = np.array(who[first : first + step])
            each = np.arange(len(own))
            chances = np.zeros((len(own) + 1, candidates))
            chances[0], chances[each + 1, own] = ahead, mass[first : first + step]
            chances = np.minimum(np.cumsum(chances, axis=0), 1.0)
            ahead, chances = chances[-1], chances[:-1].copy()
            chances[each, own] = 0.0
            found += self._room(own, chances).tolist()
        return found

    def _room(self, own: Ints, chances: Floats) -> Floats:
        """The same, from every candidate's chance of being ahead at each event; a candidate's own isn't counted."""
        laws: dict[int, Floats] = {}
        for j in self.inside_out:
            k = self.capacity[j]
            below = np.zeros((len(own), k))
            below[:, :1] = 1.0
            for c in self.members[j]:
                p, before = chances[:, c, None], below
                if not p.any():
                    continue
                below = before * (1.0 - p)
                below[:, 1:] += before[:, :-1] * p
            for i in self.inner[j]:
                before, below = below, np.zeros((len(own), k))
                for count, p in enumerate(laws[i].T[:k]):
                    below[:, count:] += before[:, : k - count] * p[:, None]
            full = np.where(self.within[j, own], 0.0, np.maximum(0.0, 1.0 - below.sum(axis=1)))
            laws[j] = np.column_stack([below, full])
        return np.asarray(laws[0][:, :-1].sum(axis=1))
