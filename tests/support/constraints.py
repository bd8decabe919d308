"""Constraints from a SPEC, from rows of the occupancy LP, and from a user."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from auditkit.constraints import spec
from auditkit.constraints.base import Constraint, Measure
from auditkit.constraints.base import Row as BoundRow
from auditkit.constraints.binding import make
from auditkit.constraints.outcome import WelfareConstraint
from auditkit.model.layout import Floats, Layout
from auditkit.plugin_manager import load
from support.occupancy import Key, Row

KINDS = load().constraints


def build(text: str) -> Constraint:
    return make(KINDS, spec.parse(text))


class Given(Constraint):
    """A constraint from a plain row of the independent program."""

    type = "given"
    index: int
    terms: list[tuple[str, str, str | tuple[str, int], float]]
    sense: str
    bound: float

    def rows(self, layout: Layout) -> list[BoundRow]:
        weights = np.zeros(layout.states)
        for search, candidate, state, coefficient in self.terms:
            weights[state_of(layout, (search, candidate, state))] += coefficient
        return [BoundRow.of(f"row {self.index}", weights, self.sense, self.bound)]  # type: ignore[arg-type]


def state_of(layout: Layout, key: Key) -> int:
    search, candidate, state = key
    s = layout.search_ids.index(search)
    c = next(c for c in range(layout.search_ptr[s], layout.search_ptr[s + 1]) if layout.candidate_ids[c] == candidate)
    first = int(layout.candidate_ptr[c])
    if isinstance(state, tuple):
        order = layout.value_order[c]
        assert order is not None
        return first + 1 + int(np.flatnonzero(order == state[1])[0])
    names = layout.state_names[c]
    return first + (names.index(state) if names else 0)


def bind_rows(rows: list[Row]) -> list[Given]:
    return [
        Given(index=i, terms=[(*key, c) for key, c in terms.items()], sense=sense, bound=bound)
        for i, (terms, sense, bound) in enumerate(rows)
    ]


class Own(WelfareConstraint):
    """A user's own constraint: nothing but a value and a gradient."""

    type: ClassVar[str] = "own"
    flaw: str = "none"

    def measures(self, layout: Layout) -> list[Measure]:
        def value(u: Floats) -> float:
            return float(-(u**2).sum()) if self.flaw != "convexity" else float((u**2).sum())

        def slope(u: Floats) -> Floats:
            return {"none": -2 * u, "convexity": 2 * u, "gradient": -2 * u + 5, "nan": u * np.nan}[self.flaw]

        bound = 0.9 if self.flaw == "convexity" else -0.55
        return [self.welfare(layout, "own", value, slope, ">=", bound)]
