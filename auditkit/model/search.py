"""Instances of sequential search: what can be inspected, at what cost, and what may come of it.

A **candidate** is a finite Markov chain. A state pays its reward when it is *left* (a cost is a negative
reward); a *terminal* state pays when it is *entered*, and entering it means that the candidate is selected.
`Box` is the smallest chain, Pandora's box: pay the cost, learn the value, select or not. `Chain` is any other.
A **search** has a capacity and candidates; an **instance** is one search or many independent ones.

Rewards, costs and values are in one unit, the user's; probabilities are pure numbers.

The solver sees only their `layout`: all states of all candidates of all searches in flat arrays, built once
(`layout.py`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditkit.errors import InputError, Problem, wrong_type
from auditkit.model.groups import Groups, groups_of
from auditkit.model.limits import Limit, Nest
from auditkit.model.membership import Share, Shares, box_problems, chain_problems, shares
from auditkit.text import exact

SUM_TOLERANCE = 1e-9
"""How far the probabilities of a state may be from summing to 1 before they are refused."""

MOST_STEPS = 1_000_000
"""Average steps of a chain; if a chain hardly ever ends, rounding errors swamp its law."""


def _read_only(name: str, values: Any) -> NDArray[np.float64]:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(wrong_type(name, values, "a list of numbers")) from None
    array.setflags(write=False)
    return array


def entries(place: str, given: Any, types: tuple[type, ...], expected: str) -> tuple[Any, ...]:
    """The entries of a list, all of the classes meant; raises InputError with the places of others."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(wrong_type(place, given, f"a list of {expected}"))
    found = tuple(given)
    if wrong := [
        wrong_type(f"{place}[{i}]", one, expected) for i, one in enumerate(found) if not isinstance(one, types)
    ]:
        raise InputError(wrong)
    return found


def _name_problems(**names: object) -> list[Problem]:
    return [wrong_type(place, name, "text") for place, name in names.items() if not isinstance(name, str)]


def _is(value: object, *types: type) -> bool:
    """Whether a value is of these classes, which the annotations promise and a caller may not keep to."""
    return isinstance(value, types) and not isinstance(value, bool)


LARGEST = 1e100
"""The largest score, cost, rating or coefficient: sums, squares and products of larger numbers overflow."""
_A_NUMBER = f"a finite number of at most {LARGEST:g}"


def _usable(number: float) -> bool:
    """Whether sums and products with a number stay finite."""
    return math.isfinite(number) and abs(number) <= LARGEST


@dataclass(frozen=True, eq=False)
class Box:
    """A one-stage candidate: inspection costs `cost` and shows one of `values`.

    `membership` replaces `group` for attributes whose groups are known only by their probability (`membership.py`).
    """

    id: str
    group: Groups
    cost: float
    values: NDArray[np.float64]
    probs: NDArray[np.float64]
    true_values: NDArray[np.float64] | None = None
    attributes: Mapping[str, float | str] = field(default_factory=dict)
    membership: Shares = field(default_factory=dict)
    checked: InitVar[bool] = field(default=False, kw_only=True)
    """Take the arrays as they are: their maker has checked them, all at once, and they are read-only."""

    if TYPE_CHECKING:  # what it takes is wider than what it holds

        def __init__(
            self,
            id: str,
            group: Groups,
            cost: float,
            values: ArrayLike,
            probs: ArrayLike,
            true_values: ArrayLike | None = None,
            attributes: Mapping[str, float | str] = ...,
            membership: Mapping[str, Mapping[str, Share | Mapping[str, object]]] = ...,
            *,
            checked: bool = False,
        ) -> None: ...

    def __post_init__(self, checked: bool) -> None:
        if checked:
            return
        values, probs = _read_only("values", self.values), _read_only("probs", self.probs)
        true = None if self.true_values is None else _read_only("true_values", self.true_values)
        problems = _name_problems(id=self.id)
        if not _is(self.cost, Real):
            problems.append(wrong_type("cost", self.cost, "a number"))
        elif not _usable(self.cost):
            problems.append(Problem("cost", f"{self.cost} is not {_A_NUMBER}"))
        if values.ndim != 1 or not len(values):
            problems.append(Problem("values", "there must be at least one value"))
        for name, array in (("values", values), ("true_values", true)):
            if array is not None and not (np.abs(array) <= LARGEST).all():
                problems.append(Problem(name, f"contains a number that is not {_A_NUMBER}"))
        if len(probs) != len(values):
            problems.append(Problem("probs", f"has {len(probs)} numbers for {len(values)} values"))
        if true is not None and len(true) != len(values):
            problems.append(Problem("true_values", f"has {len(true)} numbers for {len(values)} values"))
        problems += _distribution_problems("probs", probs.tolist())
        problems += _group_problems(self.group, bool(self.membership))
        membership = shares(self.membership)
        if membership and not problems:
            problems += box_problems(membership, groups_of(self.group), probs)
        if problems:
            raise InputError(problems)
        object.__setattr__(self, "membership", membership)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "probs", _read_only("probs", probs / probs.sum()))
        object.__setattr__(self, "true_values", true)


@dataclass(frozen=True)
class State:
    """A state of a chain: `reward` is paid on leaving it, or on entering it if it means being selected.

    A candidate is rejected in a state that isn't `selected` and that nothing follows. Files say `terminal`.
    """

    name: str
    reward: float
    to: Mapping[str, float] = field(default_factory=dict)
    selected: bool = False
    stage: str | None = None
    true_reward: float | None = None
    membership: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Attribute -> group -> its chance given the path to this state."""


@dataclass(frozen=True, eq=False)
class Chain:
    """A candidate who passes through stages; `states` may come in any order."""

    id: str
    group: Groups
    start: str
    states: tuple[State, ...]
    attributes: Mapping[str, float | str] = field(default_factory=dict)
    checked: InitVar[bool] = field(default=False, kw_only=True)
    """Take the states as they are: a chain with the same states was checked."""

    if TYPE_CHECKING:

        def __init__(
            self,
            id: str,
            group: Groups,
            start: str,
            states: Iterable[State],
            attributes: Mapping[str, float | str] = ...,
            *,
            checked: bool = False,
        ) -> None: ...

    def __post_init__(self, checked: bool) -> None:
        if checked:
            return
        object.__setattr__(self, "states", entries("states", self.states, (State,), "State"))
        if wrong := _name_problems(id=self.id, start=self.start):
            raise InputError(wrong)
        uncertain = any(state.membership for state in self.states)
        problems = [*_group_problems(self.group, uncertain), *_state_problems(self.states), *self._reference_problems()]
        if not problems:
            problems = self._endless_problems()
        if uncertain and not problems:
            problems = chain_problems(self.states, groups_of(self.group))
        if problems:
            raise InputError(problems)

    @property
    def worthless_selections(self) -> tuple[str, ...]:
        """States that mean being selected and pay 0 while others pay: perhaps rejections marked as hires."""
        paying = [state for state in self.states if state.selected and state.reward != 0]
        return tuple(state.name for state in self.states if paying and state.selected and state.reward == 0)

    @cached_property
    def by_name(self) -> dict[str, State]:
        return {state.name: state for state in self.states}

    def _reference_problems(self) -> list[Problem]:
        names = self.by_name
        problems = []
        if self.start not in names:
            problems.append(Problem("start", f"there is no state {self.start!r}", f"states: {', '.join(names)}"))
        elif names[self.start].selected:
            problems.append(
                Problem("start", f"{self.start!r} means being selected: nobody is, before the search begins")
            )
        for state in self.states:
            for target in state.to:
                if target not in names:
                    problems.append(Problem(f"states.{state.name}.to", f"there is no state {target!r}"))
        return problems

    def _endless_problems(self) -> list[Problem]:
        """States that never reach a terminal state or a dead end, or only after a very long time."""
        cyclic = self._cyclic()
        ends = {state.name for state in self.states if state.name not in cyclic}
        grew = bool(cyclic)
        while grew:
            more = {name for name in cyclic if name not in ends and any(t in ends for t in cyclic[name])}
            ends |= more
            grew = bool(more)
        if endless := [name for name in cyclic if name not in ends]:
            what = "never ends: no terminal state and no dead end can be reached from it"
            return [Problem(f"states.{name}", what) for name in endless]
        return [
            Problem(f"states.{name}", f"takes more than {MOST_STEPS:,} steps on average to end, which is not supported")
            for name, steps in _expected_steps(cyclic).items()
            if not 0 < steps <= MOST_STEPS
        ]

    def _cyclic(self) -> dict[str, dict[str, float]]:
        """States from which some path returns, with the chances of what follows."""
        follow = {state.name: {t: p for t, p in state.to.items() if p > 0} for state in self.states}
        before: dict[str, list[str]] = {name: [] for name in follow}
        for name, to in follow.items():
            for target in to:
                before[target].append(name)
        left = {name: len(to) for name, to in follow.items()}
        todo = [state.name for state in self.states if not state.to]
        settled = set(todo)
        while todo:
            for name in before[todo.pop()]:
                left[name] -= 1
                if left[name] == 0:
                    settled.add(name)
                    todo.append(name)
        return {name: to for name, to in follow.items() if name not in settled}


def _expected_steps(cyclic: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Steps from each of these states until one outside is entered: n = 1 + A n."""
    place = {name: i for i, name in enumerate(cyclic)}
    matrix = np.eye(len(place))
    for name, to in cyclic.items():
        for target in to.keys() & place.keys():
            matrix[place[name], place[target]] -= to[target]
    try:
        steps = np.linalg.solve(matrix, np.ones(len(place)))
    except np.linalg.LinAlgError:
        steps = np.full(len(place), np.inf)
    return dict(zip(place, map(float, steps), strict=True))


def _group_problems(group: Groups, uncertain: bool) -> list[Problem]:
    if isinstance(group, str):
        return []
    if not _is(group, Mapping):
        return [wrong_type("group", group, "text, or a table of attribute: group")]
    found = (
        []
        if group or uncertain
        else [Problem("group", "names no attribute", 'write {"attribute": "label"} or one label')]
    )
    what = "the name of an attribute must not be empty or contain +, which crosses attributes"
    return found + [Problem(f"group.{name}", what) for name in group if not name or "+" in name]


def _state_problems(states: Sequence[State]) -> list[Problem]:
    problems, seen = [], set()
    for state in states:
        place = f"states.{state.name}"
        if state.name in seen:
            problems.append(Problem(place, "is defined twice"))
        seen.add(state.name)
        for name, number in (("reward", state.reward), ("true_reward", state.true_reward)):
            if number is not None and not _is(number, Real):
                problems.append(wrong_type(f"{place}.{name}", number, "a number"))
            elif number is not None and not _usable(number):
                problems.append(Problem(f"{place}.{name}", f"{number} is not {_A_NUMBER}"))
        if state.selected and state.to:
            problems.append(
                Problem(f"{place}.to", "is terminal, so nothing can follow it", "remove 'to' or 'terminal'")
            )
        if state.to:
            problems += _distribution_problems(f"{place}.to", state.to.values())
    return problems


def _distribution_problems(place: str, probs: Collection[float]) -> list[Problem]:
    if not all(map(math.isfinite, probs)):
        return [Problem(place, "contains a probability that is not finite")]
    if any(p < 0 or p > 1 + SUM_TOLERANCE for p in probs):
        return [Problem(place, "contains a probability outside 0 to 1")]
    total = math.fsum(probs)
    if abs(total - 1) > SUM_TOLERANCE:
        return [Problem(place, f"the probabilities sum to {exact(total)}, not to 1")]
    return []


Candidate = Box | Chain


def uncertain_attributes(candidate: Candidate) -> Collection[str]:
    """Protected attributes whose group is known only by its probability."""
    if isinstance(candidate, Box):
        return candidate.membership.keys()
    return dict.fromkeys(name for state in candidate.states for name in state.membership)


@dataclass(frozen=True, eq=False)
class Search:
    """One requisition: at most `capacity` of its candidates can be selected, of limited sets at most their capacity."""

    id: str
    capacity: int
    candidates: tuple[Candidate, ...]
    limits: tuple[Limit, ...] = ()
    nest: Nest | None = field(init=False, default=None)
    """How the limits are nested."""

    if TYPE_CHECKING:

        def __init__(
            self, id: str, capacity: int, candidates: Iterable[Candidate], limits: Iterable[Limit] = ()
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", entries("candidates", self.candidates, (Box, Chain), "Box or Chain"))
        object.__setattr__(self, "limits", entries("limits", self.limits, (Limit,), "Limit"))
        problems, n = _name_problems(id=self.id), len(self.candidates)
        if not _is(self.capacity, Integral):
            problems.append(wrong_type("capacity", self.capacity, "a whole number"))
        elif not 0 <= self.capacity <= n:
            problems.append(Problem("capacity", f"{self.capacity} is not between 0 and the {n} candidates"))
        seen: set[str] = set()
        for i, candidate in enumerate(self.candidates):
            if candidate.id in seen:
                problems.append(Problem(f"candidates[{i}].id", f"{candidate.id!r} occurs twice in this search"))
            seen.add(candidate.id)
        if not problems:
            try:
                object.__setattr__(self, "nest", Nest.of(self.limits, self.candidates) if self.limits else None)
            except InputError as error:
                problems += error.problems
        if problems:
            raise InputError(problems)
