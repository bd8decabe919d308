"""One-stage candidates: pay the cost, see the score, select or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import overload

import numpy as np
import pandas as pd

from auditkit.fitting.fitter import Laws
from auditkit.fitting.group_chances import CellShares
from auditkit.fitting.long_term import TrueValue
from auditkit.fitting.searches import People
from auditkit.model.instance import Instance, LaidOut
from auditkit.model.layout import BoxKinds, ByKind, Floats, Ints, Numbered, lay_out_boxes
from auditkit.model.membership import Shares
from auditkit.model.search import Box, Search

NONE: Shares = MappingProxyType({})
"""Of boxes whose groups are known."""

SharedArrays = tuple[Floats, Floats, Floats | None, Shares]
"""Values, probabilities, true values and membership."""


def boxes(
    laws: Laws,
    groups: Sequence[People],
    costs: Floats,
    attributes: Sequence[Mapping[str, float | str]],
    value_scale: float,
    true_value: TrueValue | None,
    names: Sequence[str] | None = None,
    members: CellShares | None = None,
) -> list[Box]:
    """A box for each candidate, named c0, c1, ... if not otherwise; those of one law and group share their arrays."""
    return _boxes(laws, laws.which, groups, costs, attributes, value_scale, true_value, names, {}, members)


def _boxes(
    laws: Laws,
    which: Ints,
    groups: Sequence[People],
    costs: Floats,
    attributes: Sequence[Mapping[str, float | str]],
    value_scale: float,
    true_value: TrueValue | None,
    names: Sequence[str] | None,
    shared: dict[tuple[int, str], SharedArrays],
    members: CellShares | None,
) -> list[Box]:
    """Boxes of the laws `which`, with arrays by law and group that are `shared`."""
    result = []
    for i, (number, who) in enumerate(zip(which.tolist(), groups)):
        key = number, who.cell
        if key not in shared:
            scores, probs = laws.law(number)
            values = value_scale * scores
            true = None if true_value is None else value_scale * true_value.of(scores, who.cell)
            for array in (values, probs, true):
                if array is not None:
                    array.setflags(write=False)
            own = NONE if members is None or who.shares is None else members.shares(who.shares, scores, probs)
            shared[key] = values, probs, true, own
        name = f"c{i}" if names is None else names[i]
        values, probs, true, own = shared[key]
        # the constructor would check and copy them: with 100,000 candidates most of the time and memory of a fit
        box = Box(name, who.group, float(costs[i]), values, probs, true, attributes[i], own, checked=True)
        result.append(box)
    return result


@dataclass(frozen=True, eq=False)
class BoxSearches(Sequence[Search]):
    """Searches of boxes, each made when it is asked for: a million boxes are 0.3 GB, and nearly all that an audit asks
    is in their layout."""

    names: Sequence[str]
    capacity: Ints
    ptr: Ints
    """Where the candidates of each search begin."""
    laws: Laws
    people: ByKind[People]
    costs: Floats
    attributes: ByKind[Mapping[str, float | str]]
    value_scale: float
    true_value: TrueValue | None
    members: CellShares | None = None
    ids: Sequence[str] | None = None
    """Of candidates; c0, c1, ... if not given."""
    shared: dict[tuple[int, str], SharedArrays] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, number: int) -> Search: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Search, ...]: ...
    def __getitem__(self, number: int | slice) -> Search | tuple[Search, ...]:
        if isinstance(number, slice):
            return tuple(self[i] for i in range(*number.indices(len(self))))
        place = range(len(self))[number]
        own = range(int(self.ptr[place]), int(self.ptr[place + 1]))
        some = slice(own.start, own.stop)
        terms = self.laws, self.laws.which[some], self.people[some], self.costs[some], self.attributes[some]
        names, scale = self._ids[some], self.value_scale
        boxes = _boxes(*terms, scale, self.true_value, names, self.shared, self.members)
        return Search(self.names[place], int(self.capacity[place]), boxes)

    @property
    def _ids(self) -> Sequence[str]:
        return Numbered("c", range(int(self.ptr[-1]))) if self.ids is None else self.ids

    def instance(self) -> Instance:
        """All of them, known by their layout: one box for each law, cost and group."""
        cost = pd.factorize(self.costs)[0] * len(self.people.items) + self.people.kind
        alike, different = pd.factorize(cost * len(self.laws.values) + self.laws.which)  # numbered as they first occur
        first = np.empty(len(different), dtype=np.int64)
        first[alike[::-1]] = np.arange(len(alike) - 1, -1, -1)
        kinds = self._kinds(first)
        sizes, kind = np.diff(self.ptr), alike.astype(np.int64)
        layout = lay_out_boxes(self.names, self.capacity, sizes, self._ids, kinds, kind, self.attributes)
        return LaidOut(self, layout)

    def _kinds(self, which: Ints) -> BoxKinds:
        """The boxes of some candidates."""
        begin, support, chances = self.laws.flat
        law, people = self.laws.which[which], self.people[which]
        sizes = np.diff(begin)[law]
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        place = np.repeat(begin[law] - ptr[:-1], sizes) + np.arange(ptr[-1])
        scores, probs, true = support[place], chances[place], None
        if (model := self.true_value) is not None:
            effects = np.array([model.effects.get(who.cell, 0.0) for who in people])
            true = self.value_scale * (model.intercept + model.slope * scores + np.repeat(effects, sizes))
        cells = [who.shares for who in people if who.shares is not None]
        given = {} if self.members is None else self.members.given(np.repeat(cells, sizes), scores)
        groups = [who.group for who in people]
        return BoxKinds(ptr, self.costs[which], self.value_scale * scores, probs, true, groups, given)
