"""Constraints that hold on average: what a plugin provides and what the solver receives.

A plugin is a pydantic model: its fields are the keys that users write; its `rows` or `measures` bind it to an instance.
A `Row` is one affine condition on the expected visits p of the states: `coefficients . p  <= | == | >=  bound`. A
`Measure` is one smooth condition, `value(p) <= bound` with a convex value or `value(p) >= bound` with a concave one.

Constraints on who is inspected or selected start from the classes of `outcome.py`; `binding.py` makes constraints from
settings and binds them to an instance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from auditkit.constraints import spec
from auditkit.model.layout import Bools, Floats, Ints, Layout, dot

Sense = Literal["<=", "==", ">="]


@dataclass(frozen=True, eq=False)
class Row:
    """coefficients . p[states] compared with bound; `states` are strictly increasing."""

    label: str
    states: Ints
    coefficients: Floats
    sense: Sense
    bound: float
    tangent_at: Floats | None = None
    """For a cut: the visits at which it touches its measure."""

    @staticmethod
    def of(label: str, weights: Floats, sense: Sense, bound: float) -> Row:
        """A row from a weight for every state of the layout."""
        states = np.flatnonzero(weights)
        return Row(label, states, weights[states], sense, float(bound))

    def value(self, visits: Floats) -> float:
        return dot(self.coefficients, visits[self.states])


@dataclass(frozen=True, eq=False)
class Measure:
    """value(p[states]) compared with bound; `gradient` has one entry for each of the states.

    The value must be convex where sense is "<=" and concave where it is ">=": then its tangents are valid rows.
    """

    label: str
    states: Ints
    value: Callable[[Floats], float]
    gradient: Callable[[Floats], Floats]
    sense: Literal["<=", ">="]
    bound: float

    def tangent(self, at: Floats) -> Row:
        """The row that the measure implies by its tangent at visits `at` of its states: a cut."""
        slope = np.asarray(self.gradient(at), dtype=np.float64)
        return Row(self.label, self.states, slope, self.sense, self.bound - self.value(at) + dot(slope, at), at)

    def slack(self, visits: Floats) -> float:
        """How far the measure is from its bound, >= 0 on the right side."""
        value = self.value(visits[self.states])
        return value - self.bound if self.sense == ">=" else self.bound - value

    def size(self, visits: Floats) -> float:
        """The terms of the slack added up: what rounding is relative to."""
        return abs(self.value(visits[self.states])) + abs(self.bound)


@dataclass(frozen=True, eq=False)
class Rows:
    """All conditions of a problem; `owner[j]` is the constraint from which row j comes, `measured_by` for measures."""

    rows: tuple[Row, ...]
    owner: tuple[int, ...]
    constraints: tuple[Constraint, ...]
    measures: tuple[Measure, ...] = ()
    measured_by: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def values(self, visits: Floats) -> Floats:
        return np.asarray(self._matrix(len(visits)) @ visits)

    def sizes(self, visits: Floats) -> Floats:
        """The sum of the absolute terms of each row, bound included: what rounding is relative to."""
        return np.asarray(abs(self._matrix(len(visits))) @ np.abs(visits)) + np.abs(self.bounds)

    def _matrix(self, states: int) -> Any:
        """Theta, sparse: one product is many times faster than one dot product for each row."""
        if "matrix" not in self.__dict__:
            from scipy.sparse import csr_array

            ends = np.cumsum([0, *(len(row.states) for row in self.rows)])
            entries = [
                np.concatenate([part, *parts])
                for part, parts in (
                    (np.zeros(0), [row.coefficients for row in self.rows]),
                    (np.zeros(0, dtype=np.int64), [row.states for row in self.rows]),
                )
            ]
            self.__dict__["matrix"] = csr_array((entries[0], entries[1], ends), shape=(len(self.rows), states))
        return self.__dict__["matrix"]

    @cached_property
    def bounds(self) -> Floats:
        return np.array([row.bound for row in self.rows])

    @cached_property
    def is_equality(self) -> Bools:
        return np.array([row.sense == "==" for row in self.rows], dtype=np.bool_)

    @cached_property
    def signs(self) -> Floats:
        """-1 for ">=" rows, else 1: sign * (bound - value) is the slack, sign * dual >= 0 for inequalities."""
        return np.array([-1.0 if row.sense == ">=" else 1.0 for row in self.rows])

    def only(self, constraints: Iterable[int]) -> Rows:
        """The rows of some of the constraints."""
        kept = set(constraints)
        rows = [(row, i) for row, i in zip(self.rows, self.owner, strict=True) if i in kept]
        measures = [(m, i) for m, i in zip(self.measures, self.measured_by, strict=True) if i in kept]
        return Rows(*unzip(rows), self.constraints, *unzip(measures))

    def with_cuts(self, cuts: Iterable[tuple[int, Row]]) -> Rows:
        """These rows and tangents of the measures, each with the number of its measure."""
        added = [(row, self.measured_by[k]) for k, row in cuts]
        rows, owner = unzip(added)
        return replace(self, rows=self.rows + rows, owner=self.owner + owner)


def unzip(pairs: list[tuple[Any, int]]) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    return tuple(item for item, _ in pairs), tuple(i for _, i in pairs)


class Constraint(BaseModel):
    """Base of all constraints. Subclasses set `type` and declare their keys as fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, coerce_numbers_to_str=True)

    type: ClassVar[str]

    def rows(self, layout: Layout) -> Sequence[Row]:
        """This constraint on this instance; raise InputError for a name that the instance does not have."""
        return ()

    def measures(self, layout: Layout) -> Sequence[Measure]:
        """The part of this constraint that is not affine but convex, if there is one."""
        return ()

    def keys(self) -> dict[str, Any]:
        """The keys that make this constraint: its type, then those that differ from their defaults."""
        return {"type": self.type, **self.model_dump(exclude_defaults=True, mode="json")}

    def describe(self) -> str:
        """The SPEC that makes this constraint."""
        return spec.render(self.keys())
