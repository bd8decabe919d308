"""Evaluation of index policies, written again by other algorithms than the solver's, in plain Python and numpy.

| what | how |
| --- | --- |
| indices | state elimination, largest index first (MATH section 2), for every kind of chain |
| running minimum | passed on along the transitions, by linear solves on the states that do not lower it |
| who is ahead | a segment tree of truncated polynomials over the candidates, one leaf left out at a time |

Sums are formed in the order in which they are written in the formulas, so that two indices which the solver finds
equal are equal here too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from auditkit.constraints.base import Rows
from auditkit.model.layout import Floats, Layout

TIE_TOLERANCE = 1e-9
"""Part of what a policy with ties means: of the size of a level's rewards, closer indices are tied."""

Vector = tuple[float, ...]


def adjusted(layout: Layout, rows: Rows, levels: list[dict[str, Any]]) -> tuple[list[Floats], Vector]:
    """Rewards of each level, objective * R - sum_j dual_j * theta_j, and the size of their terms."""
    rewards, sizes = [], []
    for level in levels:
        reward = level.get("objective", 1.0) * layout.reward
        terms = np.abs(reward)
        for dual, row in zip(level["duals"], rows.rows, strict=False):
            if dual != 0.0:
                reward[row.states] -= dual * row.coefficients
                terms[row.states] += np.abs(dual * row.coefficients)
        rewards.append(reward)
        sizes.append(float(terms.max(initial=0.0)))
    return rewards, tuple(sizes)


def evaluate(layout: Layout, levels: tuple[list[Floats], Vector]) -> Floats:
    """Expected visits of every state under the index policy of some rewards, one array and one size a level."""
    rewards, sizes = levels
    tol = tuple(TIE_TOLERANCE * size if len(rewards) > 1 else 0.0 for size in sizes)
    reward = [tuple(map(float, level)) for level in np.column_stack(rewards)]
    visits = np.zeros(layout.states)
    for search in range(len(layout.search_ids)):
        candidates = range(layout.search_ptr[search], layout.search_ptr[search + 1])
        index = {s: y for c in candidates for s, y in indices(layout, c, reward, tol).items()}
        if len(tol) > 1:
            index = _snapped(index, tol)
        paths = [running_minimum(layout, c, index) for c in candidates]
        for s, value in _visits(layout, index, paths, int(layout.capacity[search])).items():
            visits[s] = value
    return visits


def _sign(x: Vector, y: Vector, tol: Vector) -> int:
    """Lexicographic comparison with a tolerance for each level."""
    for a, b, t in zip(x, y, tol, strict=True):
        if a != b and abs(a - b) > t:
            return 1 if a > b else -1
    return 0


def indices(layout: Layout, candidate: int, reward: list[Vector], tol: Vector) -> dict[int, Vector]:
    """Index of every non-terminal state by elimination, largest first.

    For a state s not yet eliminated, gain(s) and stop(s) are what is collected and the chance of selection from s until
    a state not eliminated is met; the best ratio gain / stop is the next index, and its state is eliminated.
    """
    states = list(range(layout.candidate_ptr[candidate], layout.candidate_ptr[candidate + 1]))
    zero = (0.0,) * len(tol)
    gain: dict[int, Vector] = {}
    stop: dict[int, float] = {}
    step: dict[int, dict[int, float]] = {}
    parents: dict[int, set[int]] = {s: set() for s in states}
    for s in states:
        if layout.terminal[s]:
            continue
        gain[s], stop[s], step[s] = reward[s], 1.0 if layout.stop[s] else 0.0, {}
        for e in range(layout.edges.ptr[s], layout.edges.ptr[s + 1]):
            t, a = int(layout.edges.items[e]), float(layout.edge_prob[e])
            if layout.terminal[t]:
                gain[s] = tuple(g + a * r for g, r in zip(gain[s], reward[t], strict=True))
                stop[s] += a
            else:
                step[s][t] = step[s].get(t, 0.0) + a
                parents[t].add(s)
    index: dict[int, Vector] = {}
    left = set(gain)
    ratio = {s: _ratio(gain[s], stop[s], zero, tol) for s in left}
    while left:
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


def _snapped(index: dict[int, Vector], tol: Vector) -> dict[int, Vector]:
    """Indices that are tied at a level made equal there, to zero if they are tied with zero."""
    columns = []
    for d, t in enumerate(tol):
        values = sorted({y[d] for y in index.values() if math.isfinite(y[d])} | {0.0})
        groups: list[list[float]] = []
        for value in values:
            if groups and value - groups[-1][-1] <= t:
                groups[-1].append(value)
            else:
                groups.append([value])
        to = {value: 0.0 if 0.0 in group else group[0] for group in groups for value in group}
        columns.append({s: to.get(y[d], y[d]) for s, y in index.items()})
    return {s: tuple(column[s] for column in columns) for s in index}


Path = dict[tuple[int, int], float]
"""(state, state with the smallest index so far) -> expected visits."""


def running_minimum(layout: Layout, candidate: int, index: dict[int, Vector]) -> Path:
    """Expected visits of each state by where the smallest index so far was met, while one always goes on."""
    first, last = int(layout.candidate_ptr[candidate]), int(layout.candidate_ptr[candidate + 1])
    mass: Path = {}
    entered = {first: 1.0}  # states that become the smallest index, and how often
    while entered:
        u = max(entered, key=lambda s: (index[s], -s))  # from the largest index down: none is entered again
        share = entered.pop(u)
        if index[u][0] == -math.inf:
            mass[u, u] = share
            continue
        inside = [s for s in range(first, last) if layout.terminal[s] or index[s] >= index[u]]
        for s, expected in _stay(layout, u, inside).items():
            mass[s, u] = mass.get((s, u), 0.0) + share * expected
            if not layout.terminal[s]:
                for e in range(layout.edges.ptr[s], layout.edges.ptr[s + 1]):
                    t = int(layout.edges.items[e])
                    if not layout.terminal[t] and index[t] < index[u]:
                        entered[t] = entered.get(t, 0.0) + share * expected * float(layout.edge_prob[e])
    return mass


def _stay(layout: Layout, start: int, inside: list[int]) -> dict[int, float]:
    """Expected visits, from `start`, of the states `inside` until one outside is entered."""
    allowed = set(inside)
    reached, todo = {start}, [start]
    edges: list[tuple[int, int, float]] = []
    while todo:
        s = todo.pop()
        for e in range(layout.edges.ptr[s], layout.edges.ptr[s + 1]):
            t = int(layout.edges.items[e])
            if t in allowed:
                edges.append((s, t, float(layout.edge_prob[e])))
                if t not in reached:
                    reached.add(t)
                    todo.append(t)
    place = {s: i for i, s in enumerate(sorted(reached))}
    matrix = np.eye(len(place))
    for s, t, a in edges:
        matrix[place[t], place[s]] -= a
    target = np.zeros(len(place))
    target[place[start]] = 1.0
    solved = np.linalg.solve(matrix, target)
    return {s: max(0.0, float(solved[i])) for s, i in place.items()}


def _visits(layout: Layout, index: dict[int, Vector], paths: list[Path], k: int) -> dict[int, float]:
    events = []
    for c, path in enumerate(paths):
        capped: dict[int, float] = {}
        for (s, u), mass in path.items():
            capped.setdefault(u, 0.0)
            if layout.selecting[s]:
                capped[u] += mass
        events += [(index[u], -c, u, mass) for u, mass in capped.items()]
    events.sort(key=lambda event: (event[0], event[1], -event[2]), reverse=True)
    zero = (0.0,) * len(events[0][0]) if events else ()
    tree = _Tree(len(paths), k)
    chance: dict[int, float] = {}
    ahead = [0.0] * len(paths)
    for y, minus_c, u, mass in events:
        if y <= zero:
            chance[u] = 0.0
        elif y[0] == math.inf:
            chance[u] = 1.0
        else:
            chance[u] = tree.fewer_without(-minus_c)
            ahead[-minus_c] = min(1.0, ahead[-minus_c] + mass)
            tree.set(-minus_c, ahead[-minus_c])
    visits: dict[int, float] = {}
    for path in paths:
        for (s, u), mass in path.items():
            visits[s] = visits.get(s, 0.0) + mass * chance[u]
    return visits


class _Tree:
    """Products of the factors (1 - p_c + p_c z), truncated at z^(k-1), of all candidates but one."""

    def __init__(self, n: int, k: int) -> None:
        self.k = k
        self.width = 1 << max(0, (n - 1).bit_length())
        self.nodes = [np.ones(1) for _ in range(2 * self.width)]

    def _product(self, a: Floats, b: Floats) -> Floats:
        return np.convolve(a, b)[: max(self.k, 1)]

    def set(self, c: int, p: float) -> None:
        i = self.width + c
        self.nodes[i] = np.array([1.0 - p, p])[: max(self.k, 1)]
        while i > 1:
            i //= 2
            self.nodes[i] = self._product(self.nodes[2 * i], self.nodes[2 * i + 1])

    def fewer_without(self, c: int) -> float:
        """P(fewer than k of the others are ahead)."""
        if self.k == 0:
            return 0.0
        law, i = np.ones(1), self.width + c
        while i > 1:
            law = self._product(law, self.nodes[i ^ 1])
            i //= 2
        return float(law[: self.k].sum())
