"""The same instance with one thing changed: other capacities, or scores of a group multiplied by a factor or shifted.

What-if questions use these variants. The flat form of an instance is changed rather than rebuilt, because a sweep
needs it many times.

**Biased signals** (the paper's bias factor rho): a candidate whose value is v is seen as rho * v, or some points higher
or lower. The firm searches by what it sees; in the long term it lives with v. So the values before the change, or the
true values if the instance has them, are the true values of the variant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import overload

import numpy as np

from auditkit.errors import InputError, Problem
from auditkit.model.instance import Instance, LaidOut
from auditkit.model.layout import Bools, CandidateKinds, Floats, Ints, Layout
from auditkit.model.search import Box, Candidate, Chain, Search


def with_capacities(instance: Instance, capacities: Sequence[int]) -> Instance:
    """One capacity for each search, in order."""

    def searches() -> Iterator[Search]:
        for search, capacity in zip(instance.searches, capacities, strict=True):
            yield Search(search.id, int(capacity), search.candidates, search.limits)

    layout = replace(instance.layout, capacity=np.array(capacities, dtype=np.int64), like=instance.layout)
    return LaidOut(Later(searches), layout)


def with_place(instance: Instance, limit: int) -> Instance:
    """One more place in a limit, numbered as in the layout."""
    layout = instance.layout
    assert layout.limits is not None
    number = int(np.searchsorted(layout.limits.ptr, limit, side="right")) - 1
    label = layout.limits.labels[limit]

    def searches() -> Iterator[Search]:
        for i, search in enumerate(instance.searches):
            more = tuple(replace(one, capacity=one.capacity + (one.label == label)) for one in search.limits)
            yield Search(search.id, search.capacity, search.candidates, more) if i == number else search

    capacity = layout.limits.capacity.copy()
    capacity[limit] += 1
    changed = replace(layout, limits=replace(layout.limits, capacity=capacity), like=layout)
    return LaidOut(Later(searches), changed)


def with_scores(
    instance: Instance, group: str, factor: float = 1.0, by: str | None = None, *, points: float = 0.0
) -> Instance:
    """The instance in which values v of a group are seen as `factor` * v + `points`; see **Biased signals**.

    `points` are in the unit of the values: -2 is a bias of two points against the group.
    """
    layout = instance.layout
    partition, code = layout.find(group, by)
    scaled = partition.members(code)
    if not factor > 0:
        raise InputError(Problem("factor", f"{factor:g} is not positive"))
    of, kinds, paid = _paid(layout, scaled)
    seen = replace(kinds, reward=np.where(paid, factor * kinds.reward + points, kinds.reward))
    changed = replace(layout, candidate_kind=of, kinds=seen, has_true_rewards=True, like=layout)
    return LaidOut(Later(lambda: _changed(instance, scaled, lambda c: _seen(c, factor, points), _kept)), changed)


def with_shift(instance: Instance, group: str, shift: float, by: str | None = None) -> Instance:
    """The instance in which every value of a group is higher by `shift`, true values included."""
    layout = instance.layout
    partition, code = layout.find(group, by)
    moved = partition.members(code)
    of, kinds, paid = _paid(layout, moved)
    reward = np.where(paid, kinds.reward + shift, kinds.reward)
    true = np.where(paid, kinds.true_reward + shift, kinds.true_reward)
    kinds = replace(kinds, reward=reward, true_reward=true)
    changed = replace(layout, candidate_kind=of, kinds=kinds, like=layout)
    return LaidOut(Later(lambda: _changed(instance, moved, lambda c: _moved(c, shift), lambda c: c)), changed)


def moved_by_group(layout: Layout, shifts: Floats) -> Layout:
    """The layout in which every value of group g of `layout.groups` is higher by shifts[g]."""
    kinds = layout.kinds
    reward = kinds.reward + np.where(kinds.selecting, shifts[kinds.group[kinds.owner]], 0.0)
    return replace(layout, kinds=replace(kinds, reward=reward), like=layout)


def with_value_scale(instance: Instance, factor: float) -> Instance:
    """The instance in which every value is `factor` times as large, true values included; costs stay."""
    layout = instance.layout
    kinds = layout.kinds
    reward, true = (np.where(kinds.selecting, factor * r, r) for r in (kinds.reward, kinds.true_reward))
    everyone = np.ones(len(layout.candidate_kind), dtype=np.bool_)
    changed = replace(layout, kinds=replace(kinds, reward=reward, true_reward=true), like=layout)
    return LaidOut(Later(lambda: _changed(instance, everyone, lambda c: _scaled(c, factor), lambda c: c)), changed)


def _scaled(candidate: Candidate, factor: float) -> Candidate:
    if isinstance(candidate, Box):
        true = None if candidate.true_values is None else factor * candidate.true_values
        return replace(candidate, values=factor * candidate.values, true_values=true)
    states = tuple(
        replace(s, reward=factor * s.reward, true_reward=None if s.true_reward is None else factor * s.true_reward)
        if s.selected
        else s
        for s in candidate.states
    )
    return replace(candidate, states=states)


def _paid(layout: Layout, who: Bools) -> tuple[Ints, CandidateKinds, Bools]:
    """The kind of every candidate, the kinds, and their states in which one of `who` is selected.

    Kinds that include both these and others, as departments do, are split.
    """
    of, kinds = layout.candidate_kind, layout.kinds
    meant = np.bincount(of[who], minlength=len(kinds.group)) > 0
    if not np.array_equal(meant[of], who):
        split, of = np.unique(2 * of + who, return_inverse=True)
        kinds, meant = kinds.take(split // 2), split % 2 == 1
    return of, kinds, meant[kinds.owner] & kinds.selecting


class Later(Sequence[Search]):
    """The searches of a variant, made when the first of them is needed, which is seldom."""

    def __init__(self, make: Callable[[], Iterable[Search]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> tuple[Search, ...]:
        return tuple(self._make())

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, place: int) -> Search: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Search, ...]: ...
    def __getitem__(self, place: int | slice) -> Search | tuple[Search, ...]:
        return self._made[place]


def _changed(
    instance: Instance,
    which: Bools,
    change: Callable[[Candidate], Candidate],
    keep: Callable[[Candidate], Candidate],
) -> Iterator[Search]:
    """The searches with some of the candidates changed."""
    for search, (a, b) in zip(instance.searches, pairwise(instance.layout.search_ptr.tolist()), strict=True):
        members = zip(search.candidates, which[a:b], strict=True)
        yield replace(search, candidates=tuple(change(c) if meant else keep(c) for c, meant in members))


def _moved(candidate: Candidate, shift: float) -> Candidate:
    if isinstance(candidate, Box):
        true = None if candidate.true_values is None else candidate.true_values + shift
        return replace(candidate, values=candidate.values + shift, true_values=true)
    states = tuple(
        replace(s, reward=s.reward + shift, true_reward=None if s.true_reward is None else s.true_reward + shift)
        if s.selected
        else s
        for s in candidate.states
    )
    return replace(candidate, states=states)


def _seen(candidate: Candidate, factor: float, points: float) -> Candidate:
    candidate = _kept(candidate)
    if isinstance(candidate, Box):
        return replace(candidate, values=factor * candidate.values + points)
    states = tuple(replace(s, reward=factor * s.reward + points) if s.selected else s for s in candidate.states)
    return replace(candidate, states=states)


def _kept(candidate: Candidate) -> Candidate:
    """The candidate with its true values written out."""
    if isinstance(candidate, Box):
        return candidate if candidate.true_values is not None else replace(candidate, true_values=candidate.values)
    states = tuple(
        replace(s, true_reward=s.reward) if s.selected and s.true_reward is None else s for s in candidate.states
    )
    return Chain(candidate.id, candidate.group, candidate.start, states, candidate.attributes)
