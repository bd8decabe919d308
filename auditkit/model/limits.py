"""Capacities within a search's capacity: at most five of a department, of these at most two of a team.

The limited sets of candidates are nested or disjoint (a *laminar* family, the one of the paper's matroids that firms
have), so they form a forest under the search itself. `Limits` numbers them within each search from 1, every set after
those that contain it; 0 is the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator

from auditkit.errors import InputError, Problem, nearest
from auditkit.model.groups import Groups, groups_of

Ints = NDArray[np.int64]


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int | float, BeforeValidator(_whole)]
"""Recorded numbers are whole, expected ones needn't be; a report writes 3, not 3.0."""


class Member(Protocol):
    """What a limit asks of a candidate."""

    @property
    def id(self) -> str: ...

    @property
    def group(self) -> Groups: ...

    @property
    def attributes(self) -> Mapping[str, float | str]: ...


@dataclass(frozen=True)
class Limit:
    """At most `capacity` of the candidates whose attribute `by` is `value`, or of those named, can be selected."""

    label: str
    capacity: int
    by: str | None = None
    value: str | float | None = None
    candidates: tuple[str, ...] | None = None

    if TYPE_CHECKING:  # it accepts wider types than it stores

        def __init__(
            self,
            label: str,
            capacity: int,
            by: str | None = None,
            value: str | float | None = None,
            candidates: Iterable[str] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.candidates is not None:
            object.__setattr__(self, "candidates", tuple(self.candidates))
        problems = []
        if self.capacity < 0:
            problems.append(Problem("capacity", f"{self.capacity} is not a number of positions", "give 0 or more"))
        if (self.candidates is None) == (self.by is None) or (self.by is None) != (self.value is None):
            what = "must say whom it limits, either by an attribute or by a list"
            problems.append(Problem("", what, "give `by` and `value`, or `candidates`"))
        if problems:
            raise InputError(problems)

    def members(self, candidates: Sequence[Member]) -> list[int]:
        """Positions of the limited candidates; raises InputError if there are none."""
        if self.candidates is not None:
            place = {candidate.id: i for i, candidate in enumerate(candidates)}
            unknown = [name for name in self.candidates if name not in place]
            if unknown:
                fix = nearest(unknown[0], list(place))
                raise InputError(Problem("candidates", f"the search has no candidate {unknown[0]!r}", fix))
            found = sorted({place[name] for name in self.candidates})
        else:
            assert self.by is not None and self.value is not None
            carried = [{**groups_of(c.group), **c.attributes}.get(self.by) for c in candidates]
            found = [i for i, attribute in enumerate(carried) if _is(attribute, self.value)]
            if not found:
                known = sorted({x if isinstance(x, str) else f"{x:g}" for x in carried if x is not None})
                fix = nearest(str(self.value), known) if known else f"no candidate has an attribute {self.by!r}"
                raise InputError(Problem("value", f"no candidate of the search has {self.by} {self.value!r}", fix))
        if not found:
            raise InputError(Problem("candidates", "names no candidate"))
        return found


def _is(attribute: float | str | None, value: float | str) -> bool:
    """Whether a candidate's attribute is the value of a limit; a number may be written as text."""
    if attribute is None or isinstance(attribute, str):
        return attribute == value
    try:
        return attribute == float(value)
    except ValueError:
        return False


@dataclass(frozen=True)
class UnitNumbers:
    """The limits with one label in all searches; numbers are expected or counted."""

    label: str
    searches: int
    positions: int
    selected: Whole
    unfilled: Whole
    exceeded: int
    """Searches in which more were selected."""


@dataclass(frozen=True, eq=False)
class Nest:
    """The limits of one search: capacity and parent of sets 1, 2, ..., and the innermost set of every candidate."""

    label: tuple[str, ...]
    capacity: tuple[int, ...]
    parent: tuple[int, ...]
    innermost: Ints

    @staticmethod
    def of(limits: Sequence[Limit], candidates: Sequence[Member]) -> Nest:
        """Larger sets first; raises an InputError that names two sets that cross."""
        problems, sets = [], []
        for i, limit in enumerate(limits):
            try:
                sets.append((limit, limit.members(candidates)))
            except InputError as error:
                problems += [problem.at(f"limits[{i}] {limit.label!r}") for problem in error.problems]
        sets.sort(key=lambda pair: -len(pair[1]))
        innermost = np.zeros(len(candidates), dtype=np.int64)
        parent: list[int] = []
        for number, (limit, members) in enumerate(sets, start=1):
            around = np.unique(innermost[members])
            if len(around) > 1:
                other = sets[int(around[-1]) - 1][0]  # the latest is the smallest, and not all members are in it
                what = f"{limit.label!r} and {other.label!r} share candidates, and neither contains the other"
                problems.append(Problem("limits", what, "limited sets must be nested or disjoint"))
                break
            parent.append(int(around[0]))
            innermost[members] = number
        if problems:
            raise InputError(problems)
        capacity = [min(limit.capacity, len(members)) for limit, members in sets]
        return Nest(tuple(limit.label for limit, _ in sets), tuple(capacity), tuple(parent), innermost)


@dataclass(frozen=True, eq=False)
class Limits:
    """Those of all searches: the sets of search s are `ptr[s]`..., and their parents are numbered within the search."""

    labels: tuple[str, ...]
    ptr: Ints
    capacity: Ints
    parent: Ints
    innermost: Ints
    """Of each candidate, numbered within its search; 0 where only the search's own capacity holds."""

    @staticmethod
    def of(nests: Sequence[Nest | None], sizes: Sequence[int]) -> Limits | None:
        """None where no search has any."""
        if not any(nest and nest.capacity for nest in nests):
            return None
        counts = [len(nest.capacity) if nest else 0 for nest in nests]
        inner = [nest.innermost if nest else np.zeros(n, np.int64) for nest, n in zip(nests, sizes, strict=True)]
        return Limits(
            tuple(label for nest in nests if nest for label in nest.label),
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.array([k for nest in nests if nest for k in nest.capacity], dtype=np.int64),
            np.array([p for nest in nests if nest for p in nest.parent], dtype=np.int64),
            np.concatenate(inner),
        )

    def part(self, searches: slice, candidates: slice) -> Limits:
        """Those of a range of searches with these candidates."""
        ptr = self.ptr[searches.start : searches.stop + 1]
        own = slice(int(ptr[0]), int(ptr[-1]))
        return Limits(self.labels[own], ptr - ptr[0], self.capacity[own], self.parent[own], self.innermost[candidates])

    def among(self, searches: Ints, candidates: Ints) -> Limits | None:
        """Those of some searches, with these candidates; None where they have none."""
        counts = np.diff(self.ptr)[searches]
        ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        if not ptr[-1]:
            return None
        own = np.repeat(self.ptr[searches] - ptr[:-1], counts) + np.arange(ptr[-1])
        labels = tuple(self.labels[i] for i in own.tolist())
        return Limits(labels, ptr, self.capacity[own], self.parent[own], self.innermost[candidates])

    def members(self, search_ptr: Ints) -> list[Ints]:
        """For each set the candidates in it, all searches' candidates numbered together."""
        found: list[Ints] = []
        for search in np.flatnonzero(np.diff(self.ptr)):
            first, last = self.ptr[search], self.ptr[search + 1]
            inner = self.innermost[search_ptr[search] : search_ptr[search + 1]]
            inside = np.zeros((last - first + 1, len(inner)), dtype=np.bool_)
            inside[inner, np.arange(len(inner))] = True
            for j in range(last - first, 0, -1):
                inside[self.parent[first + j - 1]] |= inside[j]
            found += [search_ptr[search] + np.flatnonzero(row) for row in inside[1:]]
        return found
