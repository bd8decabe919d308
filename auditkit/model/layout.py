"""The flat form of an instance: every state of every candidate of every search, numbered one after another.

Candidates with the same law, cost and groups are one *kind*. A firm has few kinds, and what their states pay and how
they follow one another is stored once per kind. Arrays of all states (`reward`, say) are made on demand and, if there
are many states, not kept: memory grows with the kinds. Loops should ask for them once.

States of a candidate are contiguous, its start state first and, when its chain has no cycle, every state after
those that lead to it. Candidates of a search are contiguous. A *selecting* state is one whose visit means that
the candidate is selected: a terminal state (paid on entry), or a `stop` state, the known value of a box (paid when
it is left, because the firm may also leave it alone). A box with m values therefore has m + 1 states.

The structure alone fixes two sparse patterns, which each evaluation fills with numbers (docs/method.md):

    law[s]    states whose index can be the smallest met from s on the way to selection
    mass[s]   states whose index can be the smallest met on the way from the start to s
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from auditkit.errors import InputError, Problem, nearest
from auditkit.model.groups import UNKNOWN, Groups, comparable, groups_of
from auditkit.model.limits import Limits, UnitNumbers
from auditkit.model.membership import uncertain_problem
from auditkit.model.search import Box, Candidate, Chain, Search, uncertain_attributes
from auditkit.model.session import current, kept
from auditkit.model.state_cells import StateCells

FEW_STATES = 1_000_000
"""Of a layout that keeps its arrays of all states."""

SPREAD = 10_000
"""Candidates whose states are made out of those of their kinds at once."""

EXCEEDS = 1e-9
"""Of a capacity: expected numbers that exceed it by less do not exceed it."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
T = TypeVar("T")


def dot(x: Floats, y: Floats) -> float:
    """Their product, summed in one order on one core: BLAS would start threads, which cost more than the sum, disturb
    the kernels' threads, and whose number affects the last digits."""
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
class Uncertain:
    """Groups known by their probability: those of one attribute, perhaps crossed with others that are known.

    Name c of the partition is group `group[c]` of the attribute, among candidates whose `known` class is `within[c]`.
    """

    attribute: str
    group: Ints
    known: Ints | None = None
    within: Ints | None = None


@dataclass(frozen=True, eq=False)
class Partition:
    """Candidates by the groups of one attribute (or of several, crossed): `codes` is -1 where the group is unknown.

    If membership is uncertain, `sizes` are expected numbers and `Layout.share` says what a group counts.
    """

    by: str
    names: tuple[str, ...]
    codes: Ints
    sizes: Ints | Floats
    uncertain: Uncertain | None = None

    @staticmethod
    def of(by: str, labels: ByKind[str]) -> Partition:
        names = tuple(sorted(set(labels.items) - {UNKNOWN}))
        code = {name: i for i, name in enumerate(names)} | {UNKNOWN: -1}
        codes = np.array([code[label] for label in labels.items], dtype=np.int64)
        return Partition.coded(by, names, codes[labels.kind])

    @staticmethod
    def coded(by: str, names: tuple[str, ...], codes: Ints) -> Partition:
        return Partition(by, names, codes, np.bincount(codes[codes >= 0], minlength=len(names)))

    @property
    def comparable(self) -> tuple[str, ...]:
        """The groups that constraints compare unless they name others."""
        return comparable(dict(zip(self.names, self.sizes.tolist(), strict=True)))

    def members(self, code: int) -> Bools:
        """The candidates of a group; raises InputError if that is uncertain."""
        if self.uncertain is not None:
            raise uncertain_problem(self.by, "they don't say who is in which group")
        return self.codes == code

    def among(self, who: Ints) -> Partition:
        """For some of the candidates, if groups are known: the groups that occur among them."""
        present, codes = np.unique(self.codes[who], return_inverse=True)
        named = present[present >= 0]
        codes = codes - (len(present) - len(named))  # unknown, -1, comes first
        return Partition.coded(self.by, tuple(self.names[g] for g in named.tolist()), codes)

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
    """The structure of a candidate's chain, apart from its rewards and probabilities."""

    edges: Pattern
    law: Pattern
    mass: Pattern
    terminal: Bools
    stop: Bools
    cyclic: bool


@dataclass(frozen=True, eq=False)
class CandidateKinds:
    """Candidates that are alike: states of kind t are `ptr[t]`..`ptr[t + 1]`, its transitions `edge_ptr[t]`.. ."""

    ptr: Ints
    edge_ptr: Ints
    group: Ints
    """The group of each kind, among `layout.groups`."""
    shapes: tuple[Shape, ...]
    names: tuple[tuple[str, ...] | None, ...]
    """Names of its states in order, None for a box."""
    value_order: tuple[Ints | None, ...]
    """Of a box: position in the user's list of the value of each of its states after the first."""
    reward: Floats
    true_reward: Floats
    edge_prob: Floats
    stage: NDArray[np.int16]
    terminal: Bools
    stop: Bools
    membership: Mapping[str, Floats] = field(default_factory=dict)
    """Of attributes whose groups are uncertain: (states, groups), the chance of each group in each state."""

    @property
    def selecting(self) -> Bools:
        return self.terminal | self.stop

    @property
    def owner(self) -> Ints:
        """The kind that each of the states belongs to."""
        return np.repeat(np.arange(len(self.shapes)), np.diff(self.ptr))

    def take(self, which: Ints) -> CandidateKinds:
        """Some of the kinds, possibly repeated."""
        ptr, edge_ptr = (_offsets(np.diff(every)[which]) for every in (self.ptr, self.edge_ptr))
        of_states = {name: getattr(self, name) for name in ("reward", "true_reward", "stage", "terminal", "stop")}
        return CandidateKinds(
            ptr=ptr,
            edge_ptr=edge_ptr,
            group=self.group[which],
            shapes=tuple(self.shapes[t] for t in which),
            names=tuple(self.names[t] for t in which),
            value_order=tuple(self.value_order[t] for t in which),
            edge_prob=_spread(self.edge_prob, self.edge_ptr, which, edge_ptr),
            membership={
                name: np.stack([_spread(column, self.ptr, which, ptr) for column in shares.T]).T
                for name, shares in self.membership.items()
            },
            **{name: _spread(values, self.ptr, which, ptr) for name, values in of_states.items()},
        )

    @cached_property
    def chance(self) -> Floats:
        """Where all are boxes: the chance of each value, 1 for starts."""
        chance = np.ones(len(self.reward))
        chance[self.stop] = self.edge_prob
        return chance

    @cached_property
    def edges(self) -> Pattern:
        return _stack([shape.edges for shape in self.shapes], np.diff(self.ptr))


class ByKind(Sequence[T]):
    """One item per candidate, stored once per kind."""

    def __init__(self, items: Sequence[T], kind: Ints) -> None:
        self.items, self.kind = items, kind

    def __len__(self) -> int:
        return len(self.kind)

    @overload
    def __getitem__(self, candidate: int) -> T: ...
    @overload
    def __getitem__(self, candidate: slice | Ints) -> tuple[T, ...]: ...
    def __getitem__(self, candidate: int | slice | Ints) -> T | tuple[T, ...]:
        if isinstance(candidate, slice | np.ndarray):
            return tuple(self.items[t] for t in self.kind[candidate])
        return self.items[self.kind[candidate]]


class Structure:
    """The shapes of all candidates one after another, put together on first use: boxes don't need them."""

    def __init__(self, shapes: tuple[Shape, ...], kind: Ints, sizes: Ints) -> None:
        self.shapes, self.kind, self.sizes = shapes, kind, sizes

    @property
    def _each(self) -> Sequence[Shape]:
        return ByKind(self.shapes, self.kind)

    @cached_property
    def edges(self) -> Pattern:
        return _stack([shape.edges for shape in self._each], self.sizes)

    @cached_property
    def law(self) -> Pattern:
        return _stack([shape.law for shape in self._each], self.sizes)

    @cached_property
    def mass(self) -> Pattern:
        return _stack([shape.mass for shape in self._each], self.sizes)

    @cached_property
    def terminal(self) -> Bools:
        return _join([shape.terminal for shape in self._each], np.bool_)

    @cached_property
    def stop(self) -> Bools:
        return _join([shape.stop for shape in self._each], np.bool_)

    @cached_property
    def cyclic(self) -> Bools:
        """Per candidate."""
        return np.array([shape.cyclic for shape in self._each], dtype=np.bool_)


@dataclass(frozen=True)
class Numbered(Sequence[str]):
    """Names that consist of a prefix and a number."""

    prefix: str
    numbers: range

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Numbered: ...
    def __getitem__(self, place: int | slice) -> str | Numbered:
        found = self.numbers[place]
        return f"{self.prefix}{found}" if isinstance(found, int) else Numbered(self.prefix, found)


@dataclass(frozen=True, eq=False)
class Layout:
    """Read `search` as an index of searches, `candidate` of candidates, and so on; `*_ptr` arrays hold offsets."""

    search_ids: tuple[str, ...]
    candidate_ids: Sequence[str]
    groups: tuple[str, ...]
    stages: tuple[str, ...]
    capacity: Ints
    search_ptr: Ints
    candidate_ptr: Ints
    candidate_search: Ints
    candidate_group: Ints
    candidate_kind: Ints
    kinds: CandidateKinds
    structure: Structure
    attributes: dict[str, Floats]
    """Numbers that candidates carry, by name: one for each candidate, NaN where absent."""
    protected: dict[str, Partition]
    """Candidates by each protected attribute. `groups` and `candidate_group` are all of these crossed."""
    texts: dict[str, Partition]
    """Candidates by each text that they carry (department, location)."""
    has_true_rewards: bool
    limits: Limits | None = None
    """Capacities within those of the searches; None where there are none."""
    _kept: dict[str, NDArray[Any]] = field(default_factory=dict, init=False, repr=False, compare=False)
    like: InitVar[Layout | None] = None
    """A layout that differs only in capacities and rewards: whatever doesn't depend on them is taken over."""

    def __post_init__(self, like: Layout | None) -> None:
        for name in ("cells", "only_boxes", "edge_prob") if like is not None else ():
            if name in vars(like):
                object.__setattr__(self, name, vars(like)[name])

    @property
    def states(self) -> int:
        return int(self.candidate_ptr[-1])

    def of_states(self, of_kinds: NDArray[Any]) -> NDArray[Any]:
        """What is known of the states of each kind, for every state."""
        return _spread(of_kinds, self.kinds.ptr, self.candidate_kind, self.candidate_ptr)

    def of_candidates(self, of_kinds: NDArray[Any], first: int, last: int) -> NDArray[Any]:
        """The same for the states of candidates first..last-1; `of_kinds` may have several columns."""
        ptr = self.candidate_ptr[first : last + 1]
        begin = self.kinds.ptr[self.candidate_kind[first:last]] - ptr[:-1]
        return np.ascontiguousarray(of_kinds[np.repeat(begin, np.diff(ptr)) + np.arange(ptr[0], ptr[-1])])

    def to_kinds(self, of_states: Floats) -> Floats:
        """An array of all states, added up for the states of each kind; kept for the last read-only array, because many
        sums over all states follow from it."""
        if of_states.flags.writeable:
            return self._to_kinds(of_states)
        whose, found = current().latest(of_states, "of kinds", lambda: (self.kinds, self._to_kinds(of_states)))
        return found if whose is self.kinds else self._to_kinds(of_states)

    def _to_kinds(self, of_states: Floats) -> Floats:
        found = np.zeros(len(self.kinds.reward))
        for states, place in self._in_kinds():
            found += np.bincount(place, of_states[states], minlength=len(found))
        return found

    def total(self, of_kinds: NDArray[Any], of_states: Floats) -> float:
        """An array of the kinds' states times one of all states, added up."""
        return dot(np.asarray(of_kinds, dtype=np.float64), self.to_kinds(of_states))

    def by_candidate(self, of_kinds: NDArray[Any], of_states: Floats) -> Floats:
        """The same for each candidate."""
        found, low = np.empty(len(self.candidate_kind)), 0
        for product in self.products(of_kinds, of_states):
            begin = self.candidate_ptr[low : low + SPREAD + 1]
            found[low : low + len(begin) - 1] = np.add.reduceat(product, begin[:-1] - begin[0])
            low += SPREAD
        return found

    def products(self, of_kinds: NDArray[Any], of_states: Floats) -> Iterator[Floats]:
        """An array of the kinds' states times one of all states, for some candidates at a time."""
        for states, place in self._in_kinds():
            yield of_kinds[place] * of_states[states]

    def shared_counts(self, visits: Floats) -> Floats:
        """Visits of the states of each shared cell, added up."""
        return np.asarray(np.einsum("s,sc->c", self.to_kinds(visits), self.cells.shares))

    def _in_kinds(self) -> Iterator[tuple[slice, Ints]]:
        """The states of some candidates at a time, and which of the states of kinds they are."""
        found = _places(self.kinds.ptr, self.candidate_kind, self.candidate_ptr)
        if not 0 < len(self.candidate_kind) <= SPREAD:
            return found
        return iter([(slice(0, self.states), self._made("in_kinds", lambda: next(found)[1]))])

    def _made(self, name: str, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """An array of all states, kept if there are few."""
        if name in self._kept:
            return self._kept[name]
        made = make()
        if self.states <= FEW_STATES:
            made.flags.writeable = False
            self._kept[name] = made
        return made

    @property
    def reward(self) -> Floats:
        return self._made("reward", lambda: self.of_states(self.kinds.reward))

    @property
    def true_reward(self) -> Floats:
        return self._made("true_reward", lambda: self.of_states(self.kinds.true_reward))

    @property
    def state_stage(self) -> NDArray[np.int16]:
        return self._made("state_stage", lambda: self.of_states(self.kinds.stage))

    @property
    def selecting(self) -> Bools:
        return self._made("selecting", lambda: self.of_states(self.kinds.selecting))

    @property
    def selecting_weights(self) -> Floats:
        """1 where a visit selects, else 0."""
        return self._made("selecting_weights", lambda: self.of_states(self.kinds.selecting.astype(np.float64)))

    @property
    def value_chance(self) -> Floats:
        """If every candidate is a box: the chance of each value, 1 for starts."""
        return self._made("value_chance", lambda: self.of_states(self.kinds.chance))

    @property
    def state_candidate(self) -> NDArray[np.int32]:
        one_each = np.arange(len(self.candidate_kind), dtype=np.int32)
        return self._made("state_candidate", lambda: self.spread(one_each))

    @cached_property
    def barred(self) -> Bools:
        """Candidates who can never be selected, because their search or a limit around them has no positions."""
        found = (self.capacity == 0)[self.candidate_search]
        if self.limits is not None:
            for capacity, members in zip(self.limits.capacity, self.limits.members(self.search_ptr), strict=True):
                found[members] |= capacity == 0
        return found

    @property
    def states_of_kinds(self) -> Ints:
        """Of each state of each kind: the same state of the first candidate of the kind."""
        first = np.empty(len(self.kinds.group), dtype=np.int64)
        first[self.candidate_kind[::-1]] = np.arange(len(self.candidate_kind) - 1, -1, -1)
        sizes = np.diff(self.kinds.ptr)
        return np.repeat(self.start[first] - self.kinds.ptr[:-1], sizes) + np.arange(self.kinds.ptr[-1])

    def owners(self, states: Ints) -> Ints:
        """The candidates that some states belong to."""
        return np.searchsorted(self.candidate_ptr, states, side="right") - 1

    def places_in_kinds(self, states: Ints) -> Ints:
        """The positions of some states among the states of kinds."""
        owner = self.owners(states)
        return np.asarray(states - self.candidate_ptr[owner] + self.kinds.ptr[self.candidate_kind[owner]])

    @property
    def largest_reward(self) -> float:
        """In size."""
        return float(np.abs(self.kinds.reward).max(initial=0.0))

    @property
    def state_names(self) -> Sequence[tuple[str, ...] | None]:
        """Per candidate: names of its states in layout order, None for a box."""
        return ByKind(self.kinds.names, self.candidate_kind)

    @property
    def value_order(self) -> Sequence[Ints | None]:
        """Per box: position in the user's list of the value of each of its states after the first."""
        return ByKind(self.kinds.value_order, self.candidate_kind)

    @property
    def terminal(self) -> Bools:
        return self.structure.terminal

    @property
    def stop(self) -> Bools:
        return self.structure.stop

    @property
    def cyclic(self) -> Bools:
        return self.structure.cyclic

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
    def edge_prob(self) -> Floats:
        edge_ptr = _offsets(np.diff(self.kinds.edge_ptr)[self.candidate_kind])
        return _spread(self.kinds.edge_prob, self.kinds.edge_ptr, self.candidate_kind, edge_ptr)

    @cached_property
    def only_boxes(self) -> bool:
        """Whether every candidate is a box: every state is a start or a known value."""
        return int(self.kinds.stop.sum()) + len(self.kinds.shapes) == len(self.kinds.reward)

    @cached_property
    def cells(self) -> StateCells:
        """States by group and by what a visit means."""
        return StateCells.of(self)

    @property
    def start(self) -> Ints:
        """The start state of every candidate."""
        return self.candidate_ptr[:-1]

    def part(self, first: int, last: int) -> Layout:
        """The searches first..last-1 alone, as far as policies see them."""
        own = slice(int(self.search_ptr[first]), int(self.search_ptr[last]))
        ptr, kind = self.candidate_ptr[own.start : own.stop + 1], self.candidate_kind[own]
        return replace(
            self,
            search_ids=self.search_ids[first:last],
            candidate_ids=self.candidate_ids[own],
            capacity=self.capacity[first:last],
            search_ptr=self.search_ptr[first : last + 1] - own.start,
            candidate_ptr=ptr - ptr[0],
            candidate_search=self.candidate_search[own] - first,
            candidate_group=self.candidate_group[own],
            candidate_kind=kind,
            structure=Structure(self.kinds.shapes, kind, np.diff(ptr)),
            attributes={},
            protected={},
            texts={},
            limits=None if self.limits is None else self.limits.part(slice(first, last), own),
        )

    def among(self, searches: Ints) -> Layout:
        """Some of the searches, as if there were no others: groups and texts of other candidates don't exist."""
        counts = np.diff(self.search_ptr)[searches]
        search_ptr = _offsets(counts)
        who = runs(self.search_ptr[searches], counts)
        used, kind = np.unique(self.candidate_kind[who], return_inverse=True)
        kinds = self.kinds.take(used)
        crossed = Partition("", self.groups, self.candidate_group, np.zeros(0)).among(who)
        kinds = replace(kinds, group=np.searchsorted(np.unique(self.candidate_group[who]), kinds.group))
        protected = {name: part.among(who) for name, part in self.protected.items() if part.uncertain is None}
        made = replace(
            self,
            search_ids=tuple(self.search_ids[s] for s in searches.tolist()),
            candidate_ids=tuple(self.candidate_ids[c] for c in who.tolist()),
            groups=crossed.names,
            capacity=self.capacity[searches],
            search_ptr=search_ptr,
            candidate_ptr=_offsets(np.diff(kinds.ptr)[kind]),
            candidate_search=np.repeat(np.arange(len(searches)), counts),
            candidate_group=crossed.codes,
            candidate_kind=kind,
            kinds=kinds,
            structure=Structure(kinds.shapes, kind, np.diff(kinds.ptr)[kind]),
            attributes={name: own[who] for name, own in self.attributes.items() if not np.isnan(own[who]).all()},
            protected={name: protected.get(name, part) for name, part in self.protected.items()},
            texts={name: own for name, part in self.texts.items() if (own := part.among(who)).names},
            limits=None if self.limits is None else self.limits.among(searches, who),
        )
        return replace(
            made, protected=_uncertain(made, {name: self.protected[name].names for name in kinds.membership})
        )

    @property
    def group_sizes(self) -> Ints:
        return np.bincount(self.candidate_group, minlength=len(self.groups))

    def partition(self, by: str | None = None, key: str = "by") -> Partition:
        """Candidates by one attribute or text, by several crossed ("Gender+Ethnicity"), or by all protected ones."""
        if by is None:
            return self._everything
        found: Partition | None = None
        for name in by.split("+"):
            part = self.protected.get(name) or self.texts.get(name)
            if part is None:
                known = [*self.protected, *self.texts]
                raise InputError(Problem(key, f"no candidate has an attribute {name!r}", nearest(name, known)))
            found = part if found is None else self._crossed(found, part)
        assert found is not None
        return found

    def _crossed(self, one: Partition, two: Partition) -> Partition:
        """Every combination of two partitions; at most one of them may be uncertain."""
        if one.uncertain is None and two.uncertain is None:
            return one.crossed(two)
        by = f"{one.by}+{two.by}"
        first = one.uncertain is not None
        unsure, sure = (one, two) if first else (two, one)
        if sure.uncertain is not None or unsure.uncertain is None or unsure.uncertain.known is not None:
            raise uncertain_problem(by, "how they occur together isn't known")
        pairs = [(g, h) for g in range(len(unsure.names)) for h in range(len(sure.names))]
        names = tuple("+".join((unsure.names[g], sure.names[h])[:: 1 if first else -1]) for g, h in pairs)
        within = np.array([h for _, h in pairs], dtype=np.int64)
        told = Uncertain(unsure.uncertain.attribute, np.array([g for g, _ in pairs]), sure.codes, within)
        before = self.before(unsure.uncertain.attribute)
        sizes = np.array([before[sure.codes == h, g].sum() for g, h in pairs])
        codes = np.full(len(sure.codes), -1, dtype=np.int64)
        return Partition(by, names, codes, sizes, told)

    def before(self, attribute: str) -> Floats:
        """The chance of each group of an uncertain attribute before anything is inspected, (candidates, groups)."""
        of_kinds = self.kinds.membership[attribute][self.kinds.ptr[:-1]]
        return np.asarray(of_kinds[self.candidate_kind])

    def share(self, partition: Partition, code: int) -> Floats | Bools:
        """For every state, the chance that a visit belongs to a group, which is 0 or 1 if groups are known."""
        told = partition.uncertain
        if told is None:
            return np.asarray((partition.codes == code)[self.state_candidate])
        found: Floats = self.of_states(self.kinds.membership[told.attribute][:, told.group[code]])
        if told.known is not None and told.within is not None:
            found *= self.spread(told.known == told.within[code])
        return found

    def sizes_among(self, partition: Partition, who: Bools) -> Ints | Floats:
        """The number of each group among some candidates, expected if groups are uncertain."""
        told = partition.uncertain
        if told is None:
            return np.bincount(partition.codes[who & (partition.codes >= 0)], minlength=len(partition.names))
        before = self.before(told.attribute)[:, told.group]
        if told.known is not None and told.within is not None:
            before = before * (told.known[:, None] == told.within[None, :])
        return np.asarray(before[who].sum(axis=0))

    @property
    def uncertain(self) -> bool:
        """Whether the groups of some attribute are known only by their probability."""
        return bool(self.kinds.membership)

    @property
    def _everything(self) -> Partition:
        if len(self.protected) == 1:
            return next(iter(self.protected.values()))
        if self.uncertain:
            return self.partition("+".join(self.protected))
        names = tuple(name for name in self.groups if UNKNOWN not in name.split("+"))
        place = np.array([names.index(name) if name in names else -1 for name in self.groups], dtype=np.int64)
        return Partition.coded("+".join(self.protected), names, place[self.candidate_group])

    def find(self, group: str, by: str | None = None, key: str = "group") -> tuple[Partition, int]:
        """The partition and number of a group; its name alone will do if only one attribute has it."""
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
        """Sum over the candidates of each group of each protected attribute; uncertain groups by what is known before.

        What is known at selection says more about their groups: see `visits_by_attribute`.
        """
        found = {}
        for name, part in self.protected.items():
            if part.uncertain is not None:
                of_kinds = np.bincount(self.candidate_kind, per_candidate, minlength=len(self.kinds.group))
                sums = np.einsum("i,ig->g", of_kinds, self.kinds.membership[name][self.kinds.ptr[:-1]])
            else:
                known = part.codes >= 0
                sums = np.bincount(part.codes[known], per_candidate[known], minlength=len(part.names))
            found[name] = dict(zip(part.names, map(float, sums), strict=True))
        return found

    def visits_by_attribute(
        self, per_state: Floats, counted: NDArray[Any] | None = None
    ) -> dict[str, dict[str, float]]:
        """Visits of some states, the others being 0, summed over each group of each protected attribute; those states
        that are `counted`, as far as kinds say which."""
        counted = np.ones(len(self.kinds.reward)) if counted is None else counted
        found = (
            {}
            if len(self.kinds.membership) == len(self.protected)
            else self.by_attribute(self.by_candidate(counted, per_state))
        )
        of_kinds = counted * self.to_kinds(per_state) if self.kinds.membership else np.zeros(0)
        for name, shares in self.kinds.membership.items():
            sums = np.einsum("s,sg->g", of_kinds, shares)
            found[name] = dict(zip(self.protected[name].names, sums.tolist(), strict=True))
        return {name: found[name] for name in self.protected}

    def units(self, selected: NDArray[Any]) -> tuple[UnitNumbers, ...]:
        """How a policy fills the limits inside searches, by their labels; `selected` is per candidate."""
        if self.limits is None:
            return ()
        capacity = self.limits.capacity.astype(np.float64)
        filled = np.array([selected[members].sum() for members in self.limits.members(self.search_ptr)])
        over = filled > capacity + EXCEEDS * np.maximum(capacity, 1.0)
        labels, code = np.unique(np.array(self.limits.labels), return_inverse=True)
        sums = [np.bincount(code, x) for x in (capacity, filled, np.maximum(capacity - filled, 0.0), over)]
        return tuple(
            UnitNumbers(str(label), int(n), int(k), float(chosen), float(left), int(wrong))
            for label, n, k, chosen, left, wrong in zip(labels, np.bincount(code), *sums, strict=True)
        )

    def spread(self, per_candidate: NDArray[Any]) -> NDArray[Any]:
        """For every state what is known of its candidate."""
        return np.repeat(per_candidate, np.diff(self.candidate_ptr))

    def sum_by_candidate(self, per_state: Floats) -> Floats:
        return np.add.reduceat(per_state, self.candidate_ptr[:-1])

    def sum_by_search(self, per_state: Floats) -> Floats:
        found = self.sum_by_candidate(per_state)
        return np.bincount(self.candidate_search, found, minlength=len(self.search_ids)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Piece:
    """One candidate, laid out alone."""

    shape: Shape
    reward: Floats
    true_reward: Floats
    edge_prob: Floats
    names: tuple[str, ...] | None
    stages: tuple[str | None, ...]
    value_order: Ints | None
    membership: Mapping[str, Mapping[str, Floats]]
    """Attribute -> group -> its chance in each state."""


def lay_out(searches: Sequence[Search]) -> Layout:
    """Flatten the searches of an instance. Identical candidates are laid out once, so many candidates are quick."""
    candidates = tuple(c for search in searches for c in search.candidates)
    each, counts = np.arange(len(candidates)), [len(search.candidates) for search in searches]
    return lay_out_alike(
        [search.id for search in searches],
        [search.capacity for search in searches],
        counts,
        tuple(c.id for c in candidates),
        ByKind(candidates, each),
        ByKind(tuple(c.attributes for c in candidates), each),
        Limits.of([search.nest for search in searches], counts),
    )


@dataclass(frozen=True, eq=False)
class BoxKinds:
    """Boxes, one of each kind, as arrays: the values of kind t, in rising order, are `ptr[t]`..`ptr[t + 1]`."""

    ptr: Ints
    cost: Floats
    values: Floats
    probs: Floats
    true_values: Floats | None
    groups: Sequence[Groups]
    given: Mapping[str, tuple[tuple[str, ...], Floats]]
    """Of attributes whose groups are uncertain: their groups, and the chance of each given each value."""

    @property
    def labels(self) -> dict[str, list[str]]:
        """The label of every kind for each protected attribute."""
        return _labels(self.groups, [tuple(self.given)])

    def laid_out(self, group: Ints) -> CandidateKinds:
        """Their states: the start, then the values as they fall."""
        sizes, count = np.diff(self.ptr), len(self.cost)
        ptr, owner = self.ptr + np.arange(count + 1), np.repeat(np.arange(count), sizes)
        place = np.repeat(ptr[1:] - 1 + self.ptr[:-1], sizes) - np.arange(len(owner))
        reward, stop = np.empty(ptr[-1]), np.ones(ptr[-1], dtype=np.bool_)
        reward[ptr[:-1]], reward[place], stop[ptr[:-1]] = -self.cost, self.values, False
        true_reward, edge_prob = reward.copy(), np.empty(len(owner))
        edge_prob[place - owner - 1] = self.probs
        if self.true_values is not None:
            true_reward[place] = self.true_values
        shapes = {m: _box_shape(m) for m in set(sizes.tolist())}
        orders = {m: _backwards(m) for m in shapes}
        membership = {}
        for name, (names, given) in self.given.items():
            chances = np.empty((len(reward), len(names)), order="F")
            chances[ptr[:-1]], chances[place] = np.add.reduceat(self.probs[:, None] * given, self.ptr[:-1]), given
            membership[name] = chances
        return CandidateKinds(
            ptr=ptr,
            edge_ptr=self.ptr,
            group=group,
            shapes=tuple(shapes[m] for m in sizes.tolist()),
            names=(None,) * count,
            value_order=tuple(orders[m] for m in sizes.tolist()),
            reward=reward,
            true_reward=true_reward,
            edge_prob=edge_prob,
            stage=np.full(len(reward), -1, dtype=np.int16),
            terminal=np.zeros(len(reward), dtype=np.bool_),
            stop=stop,
            membership=membership,
        )


def lay_out_boxes(
    search_ids: Sequence[str],
    capacity: Sequence[int] | Ints,
    counts: Sequence[int] | Ints,
    candidate_ids: Sequence[str],
    boxes: BoxKinds,
    kind: Ints,
    attributes: ByKind[Mapping[str, float | str]],
) -> Layout:
    """The layout of searches with so many candidates each, `kind` of each among the boxes."""
    protected = boxes.labels
    groups, group = _crossed_labels(protected)
    made = _laid_out(
        boxes.laid_out(group),
        boxes.true_values is not None,
        (search_ids, capacity, counts, candidate_ids),
        kind,
        groups,
        {name: ByKind(tuple(own), kind) for name, own in protected.items()},
        attributes,
    )
    return replace(made, protected=_uncertain(made, {name: names for name, (names, _) in boxes.given.items()}))


def lay_out_alike(
    search_ids: Sequence[str],
    capacity: Sequence[int] | Ints,
    counts: Sequence[int] | Ints,
    candidate_ids: Sequence[str],
    alike: ByKind[Candidate],
    attributes: ByKind[Mapping[str, float | str]],
    limits: Limits | None = None,
) -> Layout:
    """The layout of searches with so many candidates each, of whom those that are alike but for their ids and
    attributes are given once."""
    pieces, piece = _pieces(alike.items)
    protected = _labels([c.group for c in alike.items], [uncertain_attributes(c) for c in alike.items])
    groups, group = _crossed_labels(protected)
    stages = tuple(dict.fromkeys(s for p in pieces if p.names is not None for s in p.stages if s is not None))
    several = max(len(groups), 1)
    different, first, number = np.unique(piece * several + group, return_index=True, return_inverse=True)
    kinds, has_true = _kinds([pieces[i] for i in different // several], different % several, stages)
    if any(p.membership for p in pieces):
        labels = {name: [own[i] for i in first] for name, own in protected.items()}
        kinds = replace(kinds, membership=_membership([pieces[i] for i in different // several], labels))
    made = _laid_out(
        kinds,
        has_true,
        (search_ids, capacity, counts, candidate_ids),
        number[alike.kind],
        groups,
        {name: ByKind(tuple(own), alike.kind) for name, own in protected.items()},
        attributes,
        stages,
        limits,
    )
    names = {name: _group_names(pieces, name, made.protected[name].names) for name in kinds.membership}
    return replace(made, protected=_uncertain(made, names)) if names else made


def _laid_out(
    kinds: CandidateKinds,
    has_true: bool,
    searches: tuple[Sequence[str], Sequence[int] | Ints, Sequence[int] | Ints, Sequence[str]],
    kind: Ints,
    groups: tuple[str, ...],
    protected: Mapping[str, ByKind[str]],
    attributes: ByKind[Mapping[str, float | str]],
    stages: tuple[str, ...] = (),
    limits: Limits | None = None,
) -> Layout:
    """The layout of candidates of these kinds; `searches` are ids, capacities, numbers and ids of candidates."""
    search_ids, capacity, counts, candidate_ids = searches
    counts, sizes = np.asarray(counts, dtype=np.int64), np.diff(kinds.ptr)[kind]
    return Layout(
        search_ids=tuple(search_ids),
        candidate_ids=candidate_ids,
        groups=groups,
        stages=stages,
        capacity=np.array(capacity, dtype=np.int64),
        search_ptr=_offsets(counts),
        candidate_ptr=_offsets(sizes),
        candidate_search=np.repeat(np.arange(len(counts)), counts),
        candidate_group=kinds.group[kind],
        candidate_kind=kind,
        kinds=kinds,
        structure=Structure(kinds.shapes, kind, sizes),
        attributes={name: numbers[attributes.kind] for name, numbers in _attributes(attributes.items).items()},
        protected={name: Partition.of(name, own) for name, own in protected.items()},
        texts={name: Partition.of(name, ByKind(own, attributes.kind)) for name, own in _texts(attributes.items)},
        has_true_rewards=has_true,
        limits=limits,
    )


def _crossed_labels(protected: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], Ints]:
    """All attributes crossed: the groups that occur, and the number of each one's."""
    cells = ["+".join(labels) for labels in zip(*protected.values(), strict=True)] if protected else []
    groups = tuple(sorted(set(cells)))
    code = {name: i for i, name in enumerate(groups)}
    return groups, np.array([code[cell] for cell in cells], dtype=np.int64)


def _uncertain(layout: Layout, names_of: Mapping[str, tuple[str, ...]]) -> dict[str, Partition]:
    """The partitions of a layout, those of attributes with membership by its expected numbers."""
    found = dict(layout.protected)
    for name, names in names_of.items():
        codes = np.full(len(layout.candidate_kind), -1, dtype=np.int64)
        told = Uncertain(name, np.arange(len(names)))
        found[name] = Partition(name, names, codes, layout.before(name).sum(axis=0), told)
    return found


def _group_names(pieces: Iterable[_Piece], attribute: str, known: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*known, *(group for p in pieces for group in p.membership.get(attribute, ()))} - {UNKNOWN}))


def _membership(pieces: list[_Piece], labels: Mapping[str, Sequence[str]]) -> dict[str, Floats]:
    """The membership of the states of kinds, from their pieces and, for groups that are known, their labels."""
    found = {}
    for name in dict.fromkeys(name for p in pieces for name in p.membership):
        names = _group_names(pieces, name, labels[name])
        rows = []
        for p, label in zip(pieces, labels[name], strict=True):
            own = np.zeros((len(p.reward), len(names)))
            for group, chances in p.membership.get(name, {}).items():
                own[:, names.index(group)] = chances
            if label != UNKNOWN:
                own[:, names.index(label)] = 1.0
            rows.append(own)
        found[name] = np.asfortranarray(np.concatenate(rows))
    return found


def _kinds(pieces: list[_Piece], group: Ints, stages: tuple[str, ...]) -> tuple[CandidateKinds, bool]:
    """The kinds of these pieces and groups, and whether any has true rewards."""
    stage_code: dict[str | None, int] = {name: i for i, name in enumerate(stages)} | {None: -1}
    reward, true = _join([p.reward for p in pieces]), _join([p.true_reward for p in pieces])
    known = ~np.isnan(true)
    kinds = CandidateKinds(
        ptr=_offsets(np.array([len(p.reward) for p in pieces], dtype=np.int64)),
        edge_ptr=_offsets(np.array([len(p.edge_prob) for p in pieces], dtype=np.int64)),
        group=group,
        shapes=tuple(p.shape for p in pieces),
        names=tuple(p.names for p in pieces),
        value_order=tuple(p.value_order for p in pieces),
        reward=reward,
        true_reward=np.where(known, true, reward),
        edge_prob=_join([p.edge_prob for p in pieces]),
        stage=np.array([stage_code[stage] for p in pieces for stage in p.stages], dtype=np.int16),
        terminal=_join([p.shape.terminal for p in pieces], np.bool_),
        stop=_join([p.shape.stop for p in pieces], np.bool_),
    )
    return kinds, bool(known.any())


def _spread(values: NDArray[Any], ptr: Ints, which: Ints, into: Ints) -> NDArray[Any]:
    """Parts `which` of `values`, which begin at `ptr`, one after another, part c from `into[c]` on; bit by bit, so that
    their places need no room."""
    sizes = np.diff(ptr)
    if len(sizes) and (sizes == sizes[0]).all():
        return values.reshape(len(sizes), -1)[which].ravel()
    found = np.empty(into[-1], values.dtype)
    for states, place in _places(ptr, which, into):
        found[states] = values[place]
    return found


def _places(ptr: Ints, which: Ints, into: Ints) -> Iterator[tuple[slice, Ints]]:
    """Where parts `which` go, some at a time, and where in what begins at `ptr` they come from."""
    for low in range(0, len(which), SPREAD):
        own = slice(low, min(low + SPREAD, len(which)))
        begin = into[own.start : own.stop + 1]
        place = np.repeat(ptr[which[own]] - begin[:-1], np.diff(begin)) + np.arange(begin[0], begin[-1])
        yield slice(begin[0], begin[-1]), place


def runs(first: Ints, sizes: Ints) -> Ints:
    """This many numbers from first[0] on, then from first[1] on, and so on."""
    begin = _offsets(sizes)
    return np.asarray(np.repeat(first - begin[:-1], sizes) + np.arange(begin[-1]))


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


def _attributes(carried: Sequence[Mapping[str, float | str]]) -> dict[str, Floats]:
    columns: dict[str, Floats] = defaultdict(lambda: np.full(len(carried), np.nan))
    for i, attributes in enumerate(carried):
        for name, value in attributes.items():
            if not isinstance(value, str):
                columns[name][i] = value
    return dict(columns)


def _texts(carried: Sequence[Mapping[str, float | str]]) -> list[tuple[str, tuple[str, ...]]]:
    names = dict.fromkeys(n for attributes in carried for n, value in attributes.items() if isinstance(value, str))
    return [(name, tuple(_text(attributes.get(name)) for attributes in carried)) for name in names]


def _text(value: float | str | None) -> str:
    return value if isinstance(value, str) else UNKNOWN


def _labels(groups: Sequence[Groups], uncertain: Iterable[Iterable[str]]) -> dict[str, list[str]]:
    """The label of each for every protected attribute that any of them has, `uncertain` ones included."""
    each = [groups_of(own) for own in groups]
    names = dict.fromkeys(name for own in each for name in own)
    names |= dict.fromkeys(name for own in uncertain for name in own)
    return {name: [own.get(name, UNKNOWN) for own in each] for name in names}


@kept()
def _backwards(m: int) -> Ints:
    return np.arange(m)[::-1]


@kept()
def _box_shape(m: int) -> Shape:
    values = list(range(1, m + 1))
    return Shape(
        edges=Pattern.of([values] + [[] for _ in values]),
        law=Pattern.of([[*values, 0]] + [[j] for j in values]),
        mass=Pattern.of([[0]] + [[0, j] for j in values]),
        terminal=np.zeros(m + 1, np.bool_),
        stop=np.arange(m + 1) > 0,
        cyclic=False,
    )


def _pieces(candidates: Sequence[Candidate]) -> tuple[list[_Piece], Ints]:
    """Boxes with the same law and cost, and chains that share their states, laid out once; and which is whose."""
    pieces: list[_Piece] = []
    number: dict[tuple[object, ...], int] = {}
    which = np.empty(len(candidates), dtype=np.int64)
    for i, candidate in enumerate(candidates):
        key = _numbers(candidate)
        if key not in number:
            number[key] = len(pieces)
            pieces.append(_chain_piece(candidate) if isinstance(candidate, Chain) else _box_piece(candidate))
        which[i] = number[key]
    return pieces, which


def _numbers(candidate: Candidate) -> tuple[object, ...]:
    if isinstance(candidate, Chain):
        return (id(candidate.states), candidate.start)
    true = None if candidate.true_values is None else candidate.true_values.tobytes()
    numbers = (candidate.cost, candidate.values.tobytes(), candidate.probs.tobytes(), true)
    if not candidate.membership:
        return numbers
    shares = [
        (n, g, own.before, own.given.tobytes()) for n, of in candidate.membership.items() for g, own in of.items()
    ]
    return (*numbers, *sorted(shares))


def _box_piece(box: Box) -> _Piece:
    order = np.argsort(-box.values, kind="stable")
    m = len(order)
    true = np.full(m, np.nan) if box.true_values is None else box.true_values[order]
    return _Piece(
        shape=_box_shape(m),
        reward=np.concatenate([[-box.cost], box.values[order]]),
        true_reward=np.concatenate([[np.nan], true]),
        edge_prob=box.probs[order],
        names=None,
        stages=(None,) * (m + 1),
        value_order=order,
        membership={
            name: {group: np.concatenate([[share.before], share.given[order]]) for group, share in groups.items()}
            for name, groups in box.membership.items()
        },
    )


def _chain_piece(chain: Chain) -> _Piece:
    reachable, cyclic = _order(chain)
    names = tuple(dict.fromkeys([*reachable, *chain.by_name]))  # unreachable ones come last, cut off
    position = {name: i for i, name in enumerate(names)}
    states = [chain.by_name[name] for name in names]
    live = states[: len(reachable)]
    targets: list[list[tuple[int, float]]] = [[(position[t], p) for t, p in s.to.items() if p > 0] for s in live]
    targets += [[] for _ in states[len(reachable) :]]
    children = tuple(tuple(t for t, _ in row) for row in targets)
    return _Piece(
        shape=_chain_shape(children, tuple(state.selected for state in states), cyclic),
        reward=np.array([state.reward for state in states], dtype=np.float64),
        true_reward=np.array([np.nan if s.true_reward is None else s.true_reward for s in states], dtype=np.float64),
        edge_prob=_join([np.array([p for _, p in row]) / sum(p for _, p in row) for row in targets if row]),
        names=names,
        stages=tuple(state.stage for state in states),
        value_order=None,
        membership={
            name: {
                group: np.array([state.membership.get(name, {}).get(group, 0.0) for state in states])
                for group in dict.fromkeys(g for state in states for g in state.membership.get(name, ()))
            }
            for name in uncertain_attributes(chain)
        },
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


@kept(most=100)
def _chain_shape(children: tuple[tuple[int, ...], ...], terminal: tuple[bool, ...], cyclic: bool) -> Shape:
    size = len(children)
    ends = np.array(terminal, dtype=np.bool_), np.zeros(size, np.bool_)
    alive = [s for s in range(size) if not terminal[s]]
    if cyclic:
        rows = [list(alive) for _ in range(size)]
        return Shape(Pattern.of(children), Pattern.of(rows), Pattern.of(rows), *ends, True)
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
        *ends,
        False,
    )
