"""The flat form of an instance: every state of every candidate of every search, in arrays.

States of a candidate stand together, its start state first and, when its chain has no cycle, every state after
those that lead to it. Candidates of a search stand together. A *selecting* state is one whose visit means that
the candidate is selected: a terminal state (paid on entry), or a `stop` state, the known value of a box (paid when
it is left, because the firm may also leave it alone). A box with m values therefore has m + 1 states.

Two sparse patterns are fixed by the structure alone and filled with numbers by each evaluation (MATH section 3):

    law[s]    states whose index can be the smallest met from s on the way to selection
    mass[s]   states whose index can be the smallest met on the way from the start to s
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditkit.model.search import Box, Candidate, Chain, Search

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def dot(x: Floats, y: Floats) -> float:
    """Their product, summed in one order on one core: BLAS starts threads, which cost more than the sum, disturb those
    of the kernels, and whose number shows in the last digits."""
    return float(np.einsum("i,i->", x, y))


@dataclass(frozen=True, eq=False)
class Pattern:
    """A ragged array of integers: row s is `items[ptr[s]:ptr[s + 1]]`."""

    ptr: Ints
    items: Ints

    @staticmethod
    def of(rows: list[list[int]]) -> Pattern:
        lengths = np.fromiter((len(row) for row in rows), np.int64, len(rows))
        items = np.fromiter((item for row in rows for item in row), np.int64, int(lengths.sum()))
        return Pattern(np.concatenate([[0], np.cumsum(lengths)]), items)


@dataclass(frozen=True, eq=False)
class Shape:
    """What a candidate's chain looks like, apart from its rewards and probabilities."""

    edges: Pattern
    law: Pattern
    mass: Pattern
    cyclic: bool


class Structure:
    """The patterns of all candidates one after another, put together when they are first asked for: boxes need none."""

    def __init__(self, shapes: list[Shape], sizes: Ints) -> None:
        self.shapes, self.sizes = shapes, sizes

    @cached_property
    def edges(self) -> Pattern:
        return _stack([shape.edges for shape in self.shapes], self.sizes)

    @cached_property
    def law(self) -> Pattern:
        return _stack([shape.law for shape in self.shapes], self.sizes)

    @cached_property
    def mass(self) -> Pattern:
        return _stack([shape.mass for shape in self.shapes], self.sizes)


@dataclass(frozen=True, eq=False)
class Layout:
    """Read `search` as an index of searches, `candidate` of candidates, and so on; `*_ptr` arrays hold offsets."""

    search_ids: tuple[str, ...]
    candidate_ids: tuple[str, ...]
    groups: tuple[str, ...]
    stages: tuple[str, ...]
    state_names: tuple[tuple[str, ...] | None, ...]
    """Per candidate: names of its states in layout order, None for a box."""
    value_order: tuple[Ints | None, ...]
    """Per box: position in the user's list of the value of each of its states after the first."""
    capacity: Ints
    search_ptr: Ints
    candidate_ptr: Ints
    candidate_search: Ints
    candidate_group: Ints
    state_candidate: Ints
    state_stage: Ints
    reward: Floats
    true_reward: Floats
    terminal: Bools
    stop: Bools
    cyclic: Bools
    structure: Structure
    edge_prob: Floats
    attributes: dict[str, Floats]
    """Per attribute of candidates: its value for each, NaN where absent."""
    has_true_rewards: bool

    @property
    def states(self) -> int:
        return len(self.reward)

    @property
    def edges(self) -> Pattern:
        return self.structure.edges

    @property
    def law(self) -> Pattern:
        return self.structure.law

    @property
    def mass(self) -> Pattern:
        return self.structure.mass

    @cached_property
    def only_boxes(self) -> bool:
        """Whether every candidate is a box: every state is a start or a known value."""
        return int(self.stop.sum()) + len(self.candidate_ids) == self.states

    @cached_property
    def value_chance(self) -> Floats:
        """Where every candidate is a box: the chance of each value, 1 for starts."""
        chance = np.ones(self.states)
        chance[self.stop] = self.edge_prob
        return chance

    @property
    def start(self) -> Ints:
        """The start state of every candidate."""
        return self.candidate_ptr[:-1]

    @property
    def selecting(self) -> Bools:
        return self.terminal | self.stop

    @property
    def group_sizes(self) -> Ints:
        return np.bincount(self.candidate_group, minlength=len(self.groups))

    def sum_by_candidate(self, per_state: Floats) -> Floats:
        return np.add.reduceat(per_state, self.candidate_ptr[:-1])

    def sum_by_search(self, per_state: Floats) -> Floats:
        searches = self.candidate_search[self.state_candidate]
        return np.bincount(searches, per_state, minlength=len(self.search_ids)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Piece:
    """One candidate, laid out by itself."""

    shape: Shape
    reward: Floats
    true_reward: Floats
    terminal: Bools
    stop: Bools
    edge_prob: Floats
    names: tuple[str, ...] | None
    stages: tuple[str | None, ...]
    value_order: Ints | None


def lay_out(searches: Sequence[Search]) -> Layout:
    """Flatten the searches of an instance. Boxes of the same size share their structure, so many are quick."""
    candidates = [c for search in searches for c in search.candidates]
    alike: dict[tuple[float, bytes, bytes, bytes | None], _Piece] = {}
    pieces = [_shared_piece(c, alike) if isinstance(c, Box) else _chain_piece(c) for c in candidates]
    sizes = np.array([len(p.reward) for p in pieces], dtype=np.int64)
    counts = np.array([len(search.candidates) for search in searches], dtype=np.int64)
    groups = tuple(sorted({c.group for c in candidates}))
    stages = tuple(dict.fromkeys(s for p in pieces if p.names is not None for s in p.stages if s is not None))
    stage_code: dict[str | None, int] = {name: i for i, name in enumerate(stages)} | {None: -1}
    group_code = {name: i for i, name in enumerate(groups)}
    true = _join([p.true_reward for p in pieces])
    reward = _join([p.reward for p in pieces])
    return Layout(
        search_ids=tuple(search.id for search in searches),
        candidate_ids=tuple(c.id for c in candidates),
        groups=groups,
        stages=stages,
        state_names=tuple(p.names for p in pieces),
        value_order=tuple(p.value_order for p in pieces),
        capacity=np.array([search.capacity for search in searches], dtype=np.int64),
        search_ptr=_offsets(counts),
        candidate_ptr=_offsets(sizes),
        candidate_search=np.repeat(np.arange(len(counts)), counts),
        candidate_group=np.array([group_code[c.group] for c in candidates], dtype=np.int64),
        state_candidate=np.repeat(np.arange(len(sizes)), sizes),
        state_stage=_codes(pieces, stage_code),
        reward=reward,
        true_reward=np.where(np.isnan(true), reward, true),
        terminal=_join([p.terminal for p in pieces], np.bool_),
        stop=_join([p.stop for p in pieces], np.bool_),
        cyclic=np.array([p.shape.cyclic for p in pieces], dtype=np.bool_),
        structure=Structure([p.shape for p in pieces], sizes),
        edge_prob=_join([p.edge_prob for p in pieces]),
        attributes=_attributes(candidates),
        has_true_rewards=bool((~np.isnan(true)).any()),
    )


def _codes(pieces: list[_Piece], code: dict[str | None, int]) -> Ints:
    """The stage of every state."""
    known: dict[int, Ints] = {}
    for piece in pieces:
        if id(piece) not in known:
            known[id(piece)] = np.array([code[stage] for stage in piece.stages], dtype=np.int64)
    return np.asarray(_join([known[id(piece)] for piece in pieces], np.int64))


def _offsets(lengths: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _join(arrays: list[NDArray[Any]], dtype: type = np.float64) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype)


def _stack(patterns: list[Pattern], sizes: Ints) -> Pattern:
    """Rows of all patterns one after another, their items moved to the global numbering of states."""
    first_state = _offsets(sizes)[:-1]
    first_item = _offsets(np.array([len(p.items) for p in patterns], dtype=np.int64))
    items = _join([p.items for p in patterns], np.int64) + np.repeat(first_state, np.diff(first_item))
    ptr = [p.ptr[:-1] + offset for p, offset in zip(patterns, first_item[:-1], strict=True)]
    return Pattern(np.concatenate([*ptr, first_item[-1:]]).astype(np.int64), items)


def _attributes(candidates: list[Candidate]) -> dict[str, Floats]:
    columns: dict[str, Floats] = defaultdict(lambda: np.full(len(candidates), np.nan))
    for i, candidate in enumerate(candidates):
        for name, value in candidate.attributes.items():
            columns[name][i] = value
    return dict(columns)


@cache
def _box_shape(m: int) -> Shape:
    values = list(range(1, m + 1))
    return Shape(
        edges=Pattern.of([values] + [[] for _ in values]),
        law=Pattern.of([[*values, 0]] + [[j] for j in values]),
        mass=Pattern.of([[0]] + [[0, j] for j in values]),
        cyclic=False,
    )


def _shared_piece(box: Box, alike: dict[tuple[float, bytes, bytes, bytes | None], _Piece]) -> _Piece:
    """Boxes of the same law and cost are laid out once."""
    true = None if box.true_values is None else box.true_values.tobytes()
    key = (box.cost, box.values.tobytes(), box.probs.tobytes(), true)
    if key not in alike:
        alike[key] = _box_piece(box)
    return alike[key]


def _box_piece(box: Box) -> _Piece:
    order = np.argsort(-box.values, kind="stable")
    m = len(order)
    true = np.full(m, np.nan) if box.true_values is None else box.true_values[order]
    return _Piece(
        shape=_box_shape(m),
        reward=np.concatenate([[-box.cost], box.values[order]]),
        true_reward=np.concatenate([[np.nan], true]),
        terminal=np.zeros(m + 1, np.bool_),
        stop=np.arange(m + 1) > 0,
        edge_prob=box.probs[order],
        names=None,
        stages=(None,) * (m + 1),
        value_order=order,
    )


def _chain_piece(chain: Chain) -> _Piece:
    reachable, cyclic = _order(chain)
    names = tuple(dict.fromkeys([*reachable, *chain.by_name]))  # those never reached stand last, cut off
    position = {name: i for i, name in enumerate(names)}
    states = [chain.by_name[name] for name in names]
    live = states[: len(reachable)]
    targets: list[list[tuple[int, float]]] = [[(position[t], p) for t, p in s.to.items() if p > 0] for s in live]
    targets += [[] for _ in states[len(reachable) :]]
    children = [[t for t, _ in row] for row in targets]
    return _Piece(
        shape=_chain_shape(children, [state.terminal for state in states], cyclic),
        reward=np.array([state.reward for state in states], dtype=np.float64),
        true_reward=np.array([np.nan if s.true_reward is None else s.true_reward for s in states]),
        terminal=np.array([state.terminal for state in states]),
        stop=np.zeros(len(states), np.bool_),
        edge_prob=_join([np.array([p for _, p in row]) / sum(p for _, p in row) for row in targets if row]),
        names=names,
        stages=tuple(state.stage for state in states),
        value_order=None,
    )


def _order(chain: Chain) -> tuple[list[str], bool]:
    """Reachable states, each after those that lead to it, start first; and whether a cycle makes that impossible."""
    finished: dict[str, None] = {}
    open_states = {chain.start}
    stack = [(chain.start, iter(chain.by_name[chain.start].to.items()))]
    cyclic = False
    while stack:
        name, targets = stack[-1]
        for target, p in targets:
            if p > 0 and target in open_states:
                cyclic = True
            elif p > 0 and target not in finished:
                stack.append((target, iter(chain.by_name[target].to.items())))
                open_states.add(target)
                break
        else:
            stack.pop()
            open_states.remove(name)
            finished[name] = None
    return list(finished)[::-1], cyclic


def _chain_shape(children: list[list[int]], terminal: list[bool], cyclic: bool) -> Shape:
    size = len(children)
    alive = [s for s in range(size) if not terminal[s]]
    if cyclic:
        rows = [list(alive) for _ in range(size)]
        return Shape(Pattern.of(children), Pattern.of(rows), Pattern.of(rows), True)
    law: list[set[int]] = [set() for _ in range(size)]
    for s in reversed(range(size)):
        if not terminal[s]:
            law[s] = {s}.union(*(law[t] for t in children[s]))
    mass: list[set[int]] = [{s} if not terminal[s] else set() for s in range(size)]
    for s in range(size):
        for t in children[s]:
            mass[t] |= mass[s]
    return Shape(
        Pattern.of(children),
        Pattern.of([sorted(r, reverse=True) for r in law]),
        Pattern.of([sorted(r) for r in mass]),
        False,
    )
