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
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import InputError, Problem, nearest
from auditkit.model.groups import UNKNOWN, comparable, groups_of
from auditkit.model.limits import Limits, UnitNumbers
from auditkit.model.search import Box, Candidate, Chain, Search
from auditkit.model.state_cells import StateCells

ROUNDING = 1e-9
"""Of a capacity: expected numbers that exceed it by less do not exceed it."""

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
    def of(rows: Sequence[Sequence[int]]) -> Pattern:
        lengths = np.fromiter((len(row) for row in rows), np.int64, len(rows))
        items = np.fromiter((item for row in rows for item in row), np.int64, int(lengths.sum()))
        return Pattern(np.concatenate([[0], np.cumsum(lengths)]), items)


@dataclass(frozen=True, eq=False)
class Partition:
    """Candidates by the groups of one attribute (or of several, crossed): `codes` is -1 where the group is unknown."""

    by: str
    names: tuple[str, ...]
    codes: Ints
    sizes: Ints

    @staticmethod
    def of(by: str, labels: Sequence[str]) -> Partition:
        names = tuple(sorted(set(labels) - {UNKNOWN}))
        code = {name: i for i, name in enumerate(names)} | {UNKNOWN: -1}
        return Partition.coded(by, names, np.array([code[label] for label in labels], dtype=np.int64))

    @staticmethod
    def coded(by: str, names: tuple[str, ...], codes: Ints) -> Partition:
        return Partition(by, names, codes, np.bincount(codes[codes >= 0], minlength=len(names)))

    @property
    def comparable(self) -> tuple[str, ...]:
        """The groups that constraints compare unless they name others."""
        return comparable(dict(zip(self.names, map(int, self.sizes), strict=True)))

    def crossed(self, other: Partition) -> Partition:
        """Every combination that occurs; unknown where either is."""
        known = (self.codes >= 0) & (other.codes >= 0)
        pairs, inverse = np.unique(
            np.stack([self.codes[known], other.codes[known]], axis=1), axis=0, return_inverse=True
        )
        codes = np.full(len(self.codes), -1, dtype=np.int64)
        codes[known] = inverse.ravel()
        names = tuple(f"{self.names[a]}+{other.names[b]}" for a, b in pairs.tolist())
        return Partition.coded(f"{self.by}+{other.by}", names, codes)


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
    state_candidate: NDArray[np.int32]
    state_stage: NDArray[np.int16]
    reward: Floats
    true_reward: Floats
    terminal: Bools
    stop: Bools
    cyclic: Bools
    structure: Structure
    edge_prob: Floats
    attributes: dict[str, Floats]
    """Numbers that candidates carry, by name: one for each candidate, NaN where absent."""
    protected: dict[str, Partition]
    """Candidates by each protected attribute. `groups` and `candidate_group` are all of these crossed."""
    texts: dict[str, Partition]
    """Candidates by each text that they carry (department, location)."""
    has_true_rewards: bool
    limits: Limits | None = None
    """Capacities within those of the searches; None where there are none."""

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

    @cached_property
    def cells(self) -> StateCells:
        """States by group and by what a visit means."""
        return StateCells.of(self)

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

    def partition(self, by: str | None = None) -> Partition:
        """Candidates by one attribute or text, by several crossed ("Gender+Ethnicity"), or by all protected ones."""
        if by is None:
            return self._everything
        found: Partition | None = None
        for name in by.split("+"):
            part = self.protected.get(name) or self.texts.get(name)
            if part is None:
                known = [*self.protected, *self.texts]
                raise InputError(Problem("by", f"no candidate has an attribute {name!r}", nearest(name, known)))
            found = part if found is None else found.crossed(part)
        assert found is not None
        return found

    @property
    def _everything(self) -> Partition:
        if len(self.protected) == 1:
            return next(iter(self.protected.values()))
        names = tuple(name for name in self.groups if UNKNOWN not in name.split("+"))
        place = np.array([names.index(name) if name in names else -1 for name in self.groups], dtype=np.int64)
        return Partition.coded("+".join(self.protected), names, place[self.candidate_group])

    def find(self, group: str, by: str | None = None, key: str = "group") -> tuple[Partition, int]:
        """The partition and number of a group; its name alone will do where only one attribute has it."""
        if by is not None:
            choices = [self.partition(by)]
        else:
            choices = [part for part in self.protected.values() if group in part.names]
            if not choices and "+" in group:
                choices = [self._everything]
        if len(choices) > 1:
            names = " or ".join(f"by={part.by}" for part in choices)
            raise InputError(Problem(key, f"several attributes have a group {group!r}", f"add {names}"))
        if not choices or group not in choices[0].names:
            known = choices[0].names if choices else [n for part in self.protected.values() for n in part.names]
            raise InputError(Problem(key, f"no candidate is in group {group!r}", nearest(group, known)))
        return choices[0], choices[0].names.index(group)

    def by_attribute(self, per_candidate: NDArray[Any]) -> dict[str, dict[str, float]]:
        """Sum over the candidates of each group of each protected attribute."""
        found = {}
        for name, part in self.protected.items():
            known = part.codes >= 0
            sums = np.bincount(part.codes[known], per_candidate[known], minlength=len(part.names))
            found[name] = dict(zip(part.names, map(float, sums), strict=True))
        return found

    def units(self, selected: NDArray[Any]) -> tuple[UnitNumbers, ...]:
        """What a policy makes of the limits inside searches, by their labels; `selected` is per candidate."""
        if self.limits is None:
            return ()
        capacity = self.limits.capacity.astype(np.float64)
        filled = np.array([selected[members].sum() for members in self.limits.members(self.search_ptr)])
        over = filled > capacity + ROUNDING * np.maximum(capacity, 1.0)
        labels, code = np.unique(np.array(self.limits.labels), return_inverse=True)
        sums = [np.bincount(code, x) for x in (capacity, filled, np.maximum(capacity - filled, 0.0), over)]
        return tuple(
            UnitNumbers(str(label), int(n), int(k), float(chosen), float(left), int(wrong))
            for label, n, k, chosen, left, wrong in zip(labels, np.bincount(code), *sums, strict=True)
        )

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
    """Flatten the searches of an instance. What is alike is laid out once, so many candidates are quick."""
    candidates = [c for search in searches for c in search.candidates]
    alike: dict[tuple[object, ...], _Piece] = {}
    pieces = [_shared_piece(c, alike) for c in candidates]
    sizes = np.array([len(p.reward) for p in pieces], dtype=np.int64)
    counts = np.array([len(search.candidates) for search in searches], dtype=np.int64)
    protected = _protected(candidates)
    cells = ["+".join(labels) for labels in zip(*protected.values(), strict=True)] if protected else []
    groups = tuple(sorted(set(cells)))
    stages = tuple(dict.fromkeys(s for p in pieces if p.names is not None for s in p.stages if s is not None))
    stage_code: dict[str | None, int] = {name: i for i, name in enumerate(stages)} | {None: -1}
    group_code = {name: i for i, name in enumerate(groups)}
    reward = _join([p.reward for p in pieces])
    true = _join([p.true_reward for p in pieces])
    known = ~np.isnan(true)
    has_true = bool(known.any())
    true = np.where(known, true, reward) if has_true else reward
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
        candidate_group=np.array([group_code[cell] for cell in cells], dtype=np.int64),
        state_candidate=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        state_stage=_codes(pieces, stage_code),
        reward=reward,
        true_reward=true,
        terminal=_join([p.terminal for p in pieces], np.bool_),
        stop=_join([p.stop for p in pieces], np.bool_),
        cyclic=np.array([p.shape.cyclic for p in pieces], dtype=np.bool_),
        structure=Structure([p.shape for p in pieces], sizes),
        edge_prob=_join([p.edge_prob for p in pieces]),
        attributes=_attributes(candidates),
        protected={name: Partition.of(name, labels) for name, labels in protected.items()},
        texts=_texts(candidates),
        has_true_rewards=has_true,
        limits=Limits.of([search.nest for search in searches], counts.tolist()),
    )


def _codes(pieces: list[_Piece], code: dict[str | None, int]) -> NDArray[np.int16]:
    """The stage of every state."""
    known: dict[int, NDArray[np.int16]] = {}
    for piece in pieces:
        if id(piece) not in known:
            known[id(piece)] = np.array([code[stage] for stage in piece.stages], dtype=np.int16)
    return np.asarray(_join([known[id(piece)] for piece in pieces], np.int16))


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
            if not isinstance(value, str):
                columns[name][i] = value
    return dict(columns)


def _texts(candidates: list[Candidate]) -> dict[str, Partition]:
    names = dict.fromkeys(n for c in candidates for n, value in c.attributes.items() if isinstance(value, str))
    return {name: Partition.of(name, [_text(c.attributes.get(name)) for c in candidates]) for name in names}


def _text(value: float | str | None) -> str:
    return value if isinstance(value, str) else UNKNOWN


def _protected(candidates: list[Candidate]) -> dict[str, list[str]]:
    """The label of every candidate for each protected attribute that any of them has."""
    each = [groups_of(c.group) for c in candidates]
    names = dict.fromkeys(name for groups in each for name in groups)
    return {name: [groups.get(name, UNKNOWN) for groups in each] for name in names}


@cache
def _box_shape(m: int) -> Shape:
    values = list(range(1, m + 1))
    return Shape(
        edges=Pattern.of([values] + [[] for _ in values]),
        law=Pattern.of([[*values, 0]] + [[j] for j in values]),
        mass=Pattern.of([[0]] + [[0, j] for j in values]),
        cyclic=False,
    )


def _shared_piece(candidate: Candidate, alike: dict[tuple[object, ...], _Piece]) -> _Piece:
    """Boxes of the same law and cost, and chains that share their states, are laid out once."""
    key: tuple[object, ...]
    if isinstance(candidate, Chain):
        key = (id(candidate.states), candidate.start)
    else:
        true = None if candidate.true_values is None else candidate.true_values.tobytes()
        key = (candidate.cost, candidate.values.tobytes(), candidate.probs.tobytes(), true)
    if key not in alike:
        alike[key] = _chain_piece(candidate) if isinstance(candidate, Chain) else _box_piece(candidate)
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
    children = tuple(tuple(t for t, _ in row) for row in targets)
    return _Piece(
        shape=_chain_shape(children, tuple(state.terminal for state in states), cyclic),
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


@lru_cache(maxsize=100)
def _chain_shape(children: tuple[tuple[int, ...], ...], terminal: tuple[bool, ...], cyclic: bool) -> Shape:
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
