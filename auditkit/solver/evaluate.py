"""Exact evaluation of index policies: expected visits of every state, and the ex-post law of selections.

The work is done by `kernels.py`, over all searches at once; here it is cut into pieces for threads (the kernels hold
no lock) and the pieces' results lie in disjoint parts of the same arrays, so that the answer does not depend on how
it was cut.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from auditkit.constraints.base import CellRow, KindRow, Rows
from auditkit.model.layout import Bools, Floats, Ints, Layout, runs
from auditkit.model.session import kept
from auditkit.solver import box_kernels, kernels, law_kernels, room_kernels
from auditkit.solver.box_kernels import Boxes, Events
from auditkit.solver.candidate_types import Types
from auditkit.solver.policy import Mixture, Policy
from auditkit.solver.room_kernels import FEW_POSITIONS, Nested

TIE_TOLERANCE = 1e-9
"""Of the size of a level's rewards: closer indices are tied when a policy has further levels to break ties."""

FEW_SEARCHES = 1000
"""Up to so many are prepared one by one, without those between them."""

WORTH_THREADS, STATES_PER_PIECE = 80_000, 20_000
"""Fewer states than the first are not worth threads; pieces of the second keep all of them busy to the end."""

STATES_AT_ONCE = 250_000
"""Of boxes that are evaluated each by itself."""

CHECKED = 32
"""Candidates after which the law of a number is looked at: it may be settled."""

MOST_OUTCOMES = 4_000_000
"""Largest table of joint counts that is laid out in memory."""


def _chains(layout: Layout) -> kernels.Chains:
    return kernels.Chains(
        layout.search_ptr,
        layout.capacity,
        layout.candidate_ptr,
        layout.cyclic,
        layout.terminal,
        layout.stop,
        layout.edges.ptr,
        layout.edges.items,
        layout.edge_prob,
        layout.law.ptr,
        layout.law.items,
        layout.mass.ptr,
        layout.mass.items,
    )


def _each(layout: Layout) -> Boxes:
    """Every box as a type of its own, for rewards that are given for every state."""
    one_each = np.arange(len(layout.candidate_ids))
    return Boxes(layout.search_ptr, layout.capacity, one_each, layout.candidate_ptr, layout.value_chance)


def nested(layout: Layout) -> Nested | None:
    """The limits of a layout for the kernels."""
    limits = layout.limits
    return None if limits is None else Nested(limits.ptr, limits.capacity, limits.parent, limits.innermost)


def pieces(first_state: Ints) -> list[tuple[int, int]]:
    """Ranges of searches, or of blocks of them, with about equal numbers of states; they begin at `first_state`."""
    count, states = len(first_state) - 1, int(first_state[-1])
    if count == 1 or states < WORTH_THREADS:
        return [(0, count)]
    wanted = min(count, max(1, states // STATES_PER_PIECE), 8 * (os.cpu_count() or 1))
    cuts = np.searchsorted(first_state, np.linspace(0, states, wanted + 1)[1:-1])
    return [(int(a), int(b)) for a, b in pairwise([0, *cuts, count]) if b > a]


def fixed(array: Floats) -> Floats:
    """The same numbers, read-only: numba compiles a kernel a second time for an array that differs in that."""
    found = array.view()
    found.flags.writeable = False
    return found


def in_order(index: Floats, tol: Floats) -> Floats:
    """One number for each state, as its indices compare level by level: positive, negative or 0 as they are.

    Indices within the tolerance of their level are tied, also through others between them, and with 0.
    """
    if index.shape[1] == 1:
        return index.ravel()
    place = np.zeros(len(index) + 1, dtype=np.int64)
    for values, least in zip(np.vstack([index, np.zeros(index.shape[1])]).T, tol, strict=True):
        order = np.argsort(values)
        with np.errstate(invalid="ignore"):  # two that are infinite are tied
            apart = np.diff(values[order]) > least
        level = np.empty_like(place)
        level[order] = np.concatenate([[0], np.cumsum(apart)])
        place = np.unique(place * len(place) + level, return_inverse=True)[1].ravel() if place.any() else level
    infinite = np.isinf(index[:, 0])
    return np.where(infinite, index[:, 0], (place[:-1] - place[-1]).astype(np.float64))


def in_threads(ranges: list[tuple[int, int]], work: Callable[[int, int], None]) -> None:
    """The work on every range; ranges write to disjoint parts of their outputs, so their order does not matter."""
    if len(ranges) == 1:
        work(*ranges[0])
    else:
        list(_threads(os.getpid()).map(lambda piece: work(*piece), ranges))


def _over_searches(layout: Layout, searches: Ints | None, work: Callable[[Ints], None]) -> None:
    chosen = np.arange(len(layout.search_ids)) if searches is None else searches
    if not len(chosen):
        return
    if layout.states < WORTH_THREADS:
        work(chosen)
        return
    sizes = np.diff(layout.candidate_ptr[layout.search_ptr])[chosen]
    in_threads(pieces(np.concatenate([[0], np.cumsum(sizes)])), lambda a, b: work(chosen[a:b]))


@kept()
def _threads(_: int) -> ThreadPoolExecutor:
    """Started once for each process: a forked one has none of its parent's."""
    return ThreadPoolExecutor(os.cpu_count(), "auditkit")


@dataclass(frozen=True, eq=False)
class Prepared:
    """Indices of all states under some rewards, and how candidates move while the smallest index falls."""

    layout: Layout
    index: Floats
    """Of all states; where all candidates are boxes, of those of `boxes`."""
    mass: Floats
    """Empty where all candidates are boxes, which need no more than their indices."""
    tol: Floats
    boxes: Boxes | None = None
    reward: Floats | None = None
    """What is paid in the states of `boxes`, whatever the policy looks at."""

    @staticmethod
    def of_policy(layout: Layout, rows: Rows, policy: Policy, searches: Ints | None = None) -> Prepared:
        used = (policy.rows or rows).rows[: max(len(level.duals) for level in policy.levels)]
        if not layout.only_boxes or not all(isinstance(row, CellRow | KindRow) for row in used):
            return Prepared.of(layout, policy.rewards(layout, rows), policy.sizes(layout, rows), searches)
        types = Types.of_boxes(layout)  # what is asked of a type is known of all who are of it
        typed = types.restrict(replace(rows, rows=used))
        alike = Policy(policy.levels, typed)
        rewards = np.ascontiguousarray(alike.rewards(types, typed))
        boxes = Boxes(layout.search_ptr, layout.capacity, types.of, types.ptr, types.chance)
        tol = tolerance(rewards, alike.sizes(types, typed))
        return Prepared._of_boxes(layout, boxes, types.reward, rewards, tol, [(0, len(types.ptr) - 1)])

    @staticmethod
    def _of_boxes(
        layout: Layout,
        boxes: Boxes,
        reward: Floats,
        rewards: Floats,
        tol: Floats,
        ranges: list[tuple[int, int]],
    ) -> Prepared:
        index, given = np.full(rewards.shape, np.nan), fixed(rewards)  # of nobody outside the ranges
        for first, last in ranges:
            box_kernels.box_indices(first, last, boxes.type_ptr, boxes.prob, given, tol, index)
        return Prepared(layout, index, np.empty(0), tol, boxes, reward)

    @staticmethod
    def of_kinds(layout: Layout, rewards: Floats) -> Prepared:
        """Of boxes, by rewards of the states of their kinds."""
        kinds = layout.kinds
        boxes = Boxes(layout.search_ptr, layout.capacity, layout.candidate_kind, kinds.ptr, fixed(kinds.chance))
        ranges = [(0, len(kinds.ptr) - 1)]
        return Prepared._of_boxes(layout, boxes, fixed(kinds.reward), rewards.reshape(-1, 1), np.zeros(1), ranges)

    @staticmethod
    def of(
        layout: Layout, rewards: Floats, sizes: Sequence[float] | None = None, searches: Ints | None = None
    ) -> Prepared:
        """`rewards` has one row per state and one column per level; `sizes` are those of their terms, if known."""
        rewards = np.ascontiguousarray(rewards.reshape(layout.states, -1))
        tol = tolerance(rewards, sizes)
        if layout.only_boxes:
            ranges = [(0, len(layout.candidate_ids))]
            if searches is not None and len(searches) <= FEW_SEARCHES:
                ranges = [(int(layout.search_ptr[s]), int(layout.search_ptr[s + 1])) for s in searches]
            return Prepared._of_boxes(layout, _each(layout), layout.reward, rewards, tol, ranges)
        index = np.empty_like(rewards)
        mass = np.empty(len(layout.mass.items))
        chains = _chains(layout)
        _over_searches(layout, searches, lambda some: kernels.prepare(some, chains, rewards, tol, index, mass))
        return Prepared(layout, index, mass, tol)

    @staticmethod
    def of_indices(layout: Layout, index: Floats) -> Prepared:
        """Any indices, one for each state, optimal or not: "advance the highest number shown" needs no optimality."""
        index = np.ascontiguousarray(index.reshape(layout.states, 1))
        tol = np.zeros(1)
        if layout.only_boxes:
            return Prepared(layout, index, np.empty(0), tol, _each(layout), layout.reward)
        mass, chains = np.empty(len(layout.mass.items)), _chains(layout)
        _over_searches(layout, None, lambda some: kernels.masses(some, chains, index, mass))
        return Prepared(layout, index, mass, tol)

    def visits(self, searches: Ints | None = None, into: Floats | None = None) -> Floats:
        """Expected visits p of every state: exits, or entries of terminal states.

        Where `searches` are given, only theirs; others stay as they are `into` an array that is given, or 0.
        """
        layout, visits = self.layout, into
        if visits is None:
            visits = np.empty(layout.states) if searches is None else np.zeros(layout.states)
        if self.boxes is not None:
            self._visits_of_boxes(self.boxes, searches, visits)
            return visits
        share, chains, limits = np.empty(layout.states), _chains(layout), nested(layout)
        _over_searches(
            layout,
            searches,
            lambda some: kernels.evaluate(some, chains, limits, self.index, self.mass, share, visits),
        )
        return visits

    def _visits_of_boxes(self, boxes: Boxes, searches: Ints | None, visits: Floats) -> None:
        layout = self.layout
        limits, start = nested(layout), layout.candidate_ptr
        events = self._events_of_types(boxes, searches)
        _over_searches(
            layout, searches, lambda some: box_kernels.plain_visits(some, boxes, limits, events, start, visits)
        )

    def _events_of_types(self, boxes: Boxes, searches: Ints | None) -> Events:
        """The events of all types, or of those in a few searches."""
        assert self.reward is not None
        every = searches is None or len(searches) > FEW_SEARCHES
        wanted = np.full(len(boxes.type_ptr) - 1, every)
        for search in () if searches is None or every else searches:
            wanted[boxes.type[self.layout.search_ptr[search] : self.layout.search_ptr[search + 1]]] = True
        order = fixed(self._order)
        return Events(*box_kernels.type_events(boxes.type_ptr, boxes.prob, order, self.reward, wanted))

    @cached_property
    def _order(self) -> Floats:
        return in_order(self.index, self.tol)

    @property
    def indices(self) -> Floats:
        """The index of every state of the layout at the first level."""
        return self.levels[:, 0]

    @property
    def levels(self) -> Floats:
        """The index of every state of the layout, one column a level."""
        return self.index if self.boxes is None else self.levels_of(np.arange(len(self.layout.candidate_ids)))

    def levels_of(self, candidates: Ints) -> Floats:
        """The same of the states of some candidates, one after another."""
        first, sizes = self.layout.candidate_ptr[candidates], np.diff(self.layout.candidate_ptr)[candidates]
        if self.boxes is not None:
            first = self.boxes.type_ptr[self.boxes.type[candidates]]
        return self.index[runs(first, sizes)]

    def _events(self, search: int) -> tuple[Ints, Ints, Floats]:
        """States in whose event a candidate may be selected, in order of time; candidates; chances."""
        layout = self.layout
        if self.boxes is not None:
            events = self._events_of_types(self.boxes, np.array([search]))
            types = self.boxes.type[layout.search_ptr[search] : layout.search_ptr[search + 1]]
            sizes = np.diff(events.ptr)[types]
            number, owner = runs(events.ptr[types], sizes), np.repeat(np.arange(len(types)), sizes)
            order = np.argsort(-events.key[number], kind="stable")
            number, owner = number[order], owner[order]
            return layout.start[layout.search_ptr[search] + owner] + events.state[number], owner, events.kappa[number]
        share = np.empty(layout.states)
        states, owner, kappa = kernels.list_events(search, _chains(layout), self.index, self.mass, share)
        return states, owner, kappa

    def selection_law(self, search: int, group: Ints, groups: int) -> Floats:
        """P(a_0 selected from group 0, a_1 from group 1, ...) in one search, an array of shape (k + 1,) * groups.

        `group` gives the group of every candidate of the layout, 0..groups-1; merge groups to keep this small.
        """
        k = int(self.layout.capacity[search])
        if (k + 1) ** groups > MOST_OUTCOMES:
            raise ValueError(f"{groups} groups and capacity {k} have too many joint outcomes: merge some groups")
        own = np.ascontiguousarray(group[self.layout.search_ptr[search] : self.layout.search_ptr[search + 1]])
        _, owner, kappa = self._events(search)
        shape = (k + 1,) * groups
        if self._sets(search) is None:
            return np.asarray(kernels.selection_law(len(own), k, owner, kappa, own, groups)).reshape(shape)
        known, nothing = np.eye(groups)[own], np.zeros(groups, dtype=np.int64)
        masses, met = kappa[:, None] * known[owner], np.zeros(len(owner), dtype=np.bool_)
        steps = _strides(shape), nothing, np.indices(shape).sum(axis=0).ravel()
        return self._nested_law(search, (owner, masses, met), known, known, steps).reshape(shape)

    def selection_laws(self, searches: Ints, group: Ints, groups: int) -> list[Floats]:
        """`selection_law` of several searches."""
        layout = self.layout
        if layout.limits is not None:
            return [self.selection_law(int(search), group, groups) for search in searches]
        if groups == 1 and self.boxes is not None:
            return self._laws_of_numbers(self.boxes, searches)
        width = layout.capacity[searches] + 1
        ptr = np.concatenate([[0], np.cumsum(width**groups)]).astype(np.int64)
        laws, ranges = np.empty(ptr[-1]), pieces(ptr)
        if self.boxes is not None:
            boxes = self.boxes, self._events_of_types(self.boxes, searches)
            in_threads(ranges, lambda a, b: law_kernels.box_laws(a, b, searches, *boxes, group, groups, ptr, laws))
        else:
            chains, law = _chains(layout), (group, groups, ptr, laws)
            share = np.empty(layout.states)
            in_threads(
                ranges,
                lambda a, b: law_kernels.chain_laws(a, b, searches, chains, self.index, self.mass, share, *law),
            )
        shapes = [(int(k),) * groups for k in width]
        return [flat.reshape(shape) for flat, shape in zip(np.split(laws, ptr[1:-1]), shapes, strict=True)]

    def _laws_of_numbers(self, boxes: Boxes, searches: Ints) -> list[Floats]:
        """The number selected in each search: of those who are worth it, independently, as many as find a position."""
        events = self._events_of_types(boxes, searches)
        owner = np.repeat(np.arange(len(events.ptr) - 1), np.diff(events.ptr))
        worth = np.minimum(1.0, np.bincount(owner, events.kappa, minlength=len(events.ptr) - 1))[boxes.type]
        first, sizes, capacity = (
            boxes.search_ptr[searches],
            np.diff(boxes.search_ptr)[searches],
            boxes.capacity[searches],
        )
        laws = [np.ones(1)] * len(searches)
        for k in np.unique(capacity[capacity > 0]).tolist():
            own = np.flatnonzero(capacity == k)
            law = np.eye(1, k + 1).repeat(len(own), axis=0)
            open_ = np.ones(len(own), dtype=np.bool_)
            for i in range(int(sizes[own].max(initial=0))):
                if i % CHECKED == 0:  # where all positions are filled already, nothing changes any more
                    open_ = law[:, :k].sum(axis=1) > room_kernels.NEGLIGIBLE
                more = np.flatnonzero((sizes[own] > i) & open_)
                if not len(more):
                    break
                p, before = worth[first[own[more]] + i, None], law[more]
                after = (1.0 - p) * before
                after[:, 1:] += p * before[:, :-1]
                after[:, k] += p[:, 0] * before[:, k]  # there is no further position
                law[more] = after
            for place, found in zip(own.tolist(), law, strict=True):
                laws[place] = found
        return laws

    def _sets(self, search: int) -> tuple[Ints, Ints, Ints] | None:
        """Innermost set of every candidate, parents and capacities of the sets; None where there are no limits."""
        layout, limits = self.layout, nested(self.layout)
        if limits is None or limits.ptr[search] == limits.ptr[search + 1]:
            return None
        first, last = limits.ptr[search], limits.ptr[search + 1]
        capacity, parent = room_kernels.sets(first, last, layout.capacity[search], limits)
        return limits.innermost[layout.search_ptr[search] : layout.search_ptr[search + 1]], parent, capacity

    def _nested_law(
        self,
        search: int,
        events: tuple[Ints, Floats, Bools],
        theta: Floats,
        idle: Floats,
        steps: tuple[Ints, Ints, Ints],
    ) -> Floats:
        from auditkit.solver.limit_law_kernels import nested_law

        sets = self._sets(search)
        assert sets is not None
        return np.asarray(nested_law(*events, theta, idle, *sets, *steps))

    def member_laws(self, searches: Ints, theta: Floats, inspections: bool, begins: Ints | None = None) -> list[Floats]:
        """Joint laws of the numbers selected (or inspected) from two sets of groups, known by their probability only.

        `theta` has the chances of the first set, of the second, and of neither: for every state of the layout; or of
        boxes without limits for some states, those of candidate c from `begins[c]` on.
        """
        layout = self.layout
        if (nested := np.array([self._sets(int(search)) is not None for search in searches], dtype=np.bool_)).any():
            others = iter(self.member_laws(searches[~nested], theta, inspections) if not nested.all() else [])
            return [
                self._nested_members(int(search), theta, inspections) if limited else next(others)
                for search, limited in zip(searches, nested, strict=True)
            ]
        width = (np.diff(layout.search_ptr) if inspections else layout.capacity)[searches] + 1
        ptr = np.concatenate([[0], np.cumsum(width**2)]).astype(np.int64)
        many = True if inspections or layout.capacity[searches].max(initial=0) > FEW_POSITIONS else None
        laws, ranges, counted = np.empty(ptr[-1]), pieces(ptr), (theta, inspections, many, ptr)
        met = self._free(0, len(layout.start))
        if self.boxes is not None:
            begins = layout.start if begins is None else begins
            boxes = (self.boxes, self._events_of_types(self.boxes, searches), begins, met)
            in_threads(ranges, lambda a, b: law_kernels.box_member_laws(a, b, searches, *boxes, *counted, laws))
        else:
            chains = (_chains(layout), self.index, self.mass, np.empty(layout.states), met)
            in_threads(ranges, lambda a, b: law_kernels.chain_member_laws(a, b, searches, *chains, *counted, laws))
        return [flat.reshape(-1, int(k)) for flat, k in zip(np.split(laws, ptr[1:-1]), width, strict=True)]

    def _nested_members(self, search: int, theta: Floats, inspections: bool) -> Floats:
        """The same in a search with limits: the number selected comes first in an outcome."""
        layout, c0, c1 = self.layout, *self.layout.search_ptr[search : search + 2]
        start, k = layout.start[c0:c1], int(layout.capacity[search])
        if self.boxes is not None:
            events = self._events_of_types(self.boxes, np.array([search]))
            states, owner, masses = law_kernels.box_masses(search, self.boxes, events, theta, layout.start)
        else:
            chains = _chains(layout), self.index, self.mass, np.empty(layout.states)
            states, owner, masses = law_kernels.chain_masses(search, *chains, theta)
        before, wide = theta[start], (c1 - c0 if inspections else k) + 1
        strides = _strides((k + 1, wide, wide))
        meets = np.append(strides[1:] * inspections, 0)
        idle, met = before, np.zeros(len(owner), dtype=np.bool_)
        if inspections:
            idle, met = np.where(self._free(c0, c1)[:, None], before, [0.0, 0.0, 1.0]), states == start[owner]
        steps = strides[0] + np.append(strides[1:], 0), meets, np.repeat(np.arange(k + 1), strides[0])
        law = self._nested_law(search, (owner, masses, met), before, idle, steps)
        return np.asarray(law.reshape(k + 1, wide, wide).sum(axis=0))

    def _free(self, c0: int, c1: int) -> Bools:
        """Which of some candidates are inspected whatever happens to the others."""
        layout = self.layout
        at = layout.start[c0:c1] if self.boxes is None else self.boxes.type_ptr[self.boxes.type[c0:c1]]
        return np.asarray(np.isposinf(self.index[at, 0]) & ~layout.barred[c0:c1])

    def inspection_law(self, search: int, group: Ints, groups: int) -> tuple[Ints, Floats]:
        """Joint law of the numbers inspected (first stage left) from each group in one search: counts and chances.

        Given that the k-th best capped value is at event e, exactly those are inspected whose start comes no later than
        e: the counts follow from e. Later stages have no such law, because who reaches them is random even then.
        """
        layout = self.layout
        c0, c1, k = layout.search_ptr[search], layout.search_ptr[search + 1], int(layout.capacity[search])
        start = layout.start[c0:c1]
        states, owner, kappa = self._events(search)
        own = np.asarray(group[c0:c1])
        free = self._free(c0, c1)
        always = np.bincount(own[free], minlength=groups)
        first = np.isin(states, start)
        counts = np.cumsum(np.eye(groups, dtype=np.int64)[own[owner]] * first[:, None], axis=0) + always
        if not k or not len(states):
            return always[None, :], np.ones(1)
        if self._sets(search) is not None:
            return self._nested_inspections(search, np.eye(groups + 1)[own], free, (owner, kappa, first))
        fewer = [room_kernels.chances(c1 - c0, j, owner, kappa) if j else np.zeros(len(states)) for j in (k, k - 1)]
        chance = np.maximum(kappa * (fewer[0] - fewer[1]), 0.0)
        everyone = np.append(chance, max(0.0, 1.0 - float(chance.sum())))  # fewer than k are worth selecting
        found, which = np.unique(np.vstack([counts, counts[-1:]]), axis=0, return_inverse=True)
        return found, np.bincount(which.ravel(), everyone).astype(np.float64)

    def _nested_inspections(
        self, search: int, known: Floats, free: Bools, events: tuple[Ints, Floats, Bools]
    ) -> tuple[Ints, Floats]:
        """`inspection_law` where limits fill at different times: the number selected comes first in an outcome.

        `known` has the group of each candidate, with a last one for those who are not met yet.
        """
        owner, kappa, first = events
        shape = (int(self.layout.capacity[search]) + 1, *(known[:, :-1].sum(axis=0).astype(np.int64) + 1).tolist())
        strides = _strides(shape)
        meets, nobody = np.append(strides[1:], 0), np.eye(known.shape[1])[-1]
        steps = strides[0] + meets, meets, np.repeat(np.arange(shape[0]), strides[0])
        idle = np.where(free[:, None], known, nobody)
        law = self._nested_law(search, (owner, kappa[:, None] * known[owner], first), known, idle, steps)
        chance = law.reshape(shape).sum(axis=0)
        happen = np.nonzero(chance)
        return np.column_stack(happen).astype(np.int64), chance[happen]


def mixture_visits(layout: Layout, rows: Rows, mixture: Mixture) -> Floats:
    """Expected visits when searches follow a mixture: each policy is evaluated on the searches that may follow it."""
    visits, first = np.zeros(layout.states), layout.candidate_ptr[layout.search_ptr]
    for i, policy in enumerate(mixture.policies):
        who, chance = mixture.followers(i)
        if not len(who):
            continue
        prepared = Prepared.of_policy(layout, rows, policy, None if len(who) == mixture.count else who)
        prepared.visits(who[chance == 1.0], visits)
        if (drawn := chance < 1.0).any():
            found = prepared.visits(who[drawn])
            for search, share in zip(who[drawn], chance[drawn], strict=True):
                own = slice(first[search], first[search + 1])
                visits[own] += share * found[own]
    return visits


def _strides(shape: tuple[int, ...]) -> Ints:
    """How far apart neighbours in each dimension of a table are, flat."""
    return np.cumprod([1, *shape[:0:-1]])[::-1].astype(np.int64)


def tolerance(rewards: Floats, sizes: Sequence[float] | None) -> Floats:
    """Of each level: with nothing left to break ties, none is made."""
    if rewards.shape[1] == 1:
        return np.zeros(1)
    return TIE_TOLERANCE * np.array(np.abs(rewards).max(axis=0, initial=0.0) if sizes is None else sizes)


def visits(layout: Layout, rewards: Floats) -> Floats:
    """Expected visits of every state under the policy that is optimal for `rewards` (states, levels).

    Every candidate is a type of its own here, so boxes are taken some searches at a time.
    """
    rewards = rewards.reshape(layout.states, -1)
    first = layout.candidate_ptr[layout.search_ptr]
    if not layout.only_boxes or layout.states <= STATES_AT_ONCE:
        return Prepared.of(layout, rewards).visits()
    cuts = np.searchsorted(first, np.arange(STATES_AT_ONCE, layout.states, STATES_AT_ONCE))
    sizes = np.abs(rewards).max(axis=0).tolist()
    found = np.empty(layout.states)
    for a, b in pairwise(np.unique([0, *cuts, len(first) - 1]).tolist()):
        own = slice(int(first[a]), int(first[b]))
        found[own] = Prepared.of(layout.part(a, b), rewards[own], sizes).visits()
    return found
