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
from functools import cache, cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from auditkit.constraints import spec
from auditkit.errors import OFFER_NAME
from auditkit.model.layout import Bools, Floats, Ints, Layout, dot

Sense = Literal["<=", "==", ">="]

FEW_ROWS = 100
"""So many are not copied into a matrix: they may be long."""


@dataclass(frozen=True, eq=False)
class Row:
    """coefficients . p[states] compared with bound; `states` are strictly increasing."""

    label: str
    states: Ints
    coefficients: Floats
    sense: Sense
    bound: float
    by: str | None = None
    """The attribute (or attributes, crossed) whose groups it weighs alike; None: it may tell all groups apart."""
    tangent_at: Floats | None = None
    """For a cut: the visits at which it touches its measure."""
    weights: int | None = None
    """For a row made by `of`: the number of weights, which must be that of the states."""

    @staticmethod
    def of(label: str, weights: Floats, sense: Sense, bound: float, by: str | None = None) -> Row:
        """A row from a weight for every state of the layout; `w[layout.state_candidate]` spreads one per candidate."""
        weights = np.asarray(weights, dtype=np.float64)
        if weights.ndim != 1:
            raise ValueError(f"row {label!r}: the weights must be one number for every state, not {weights.shape}")
        states = np.flatnonzero(weights)
        return Row(label, states, weights[states], sense, float(bound), by, weights=len(weights))

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
        bound = self.bound - self.value(at) + dot(slope, at)
        return Row(self.label, self.states, slope, self.sense, bound, tangent_at=at)

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
        if len(self.rows) <= FEW_ROWS:
            return np.array([row.value(visits) for row in self.rows], dtype=np.float64)
        return np.asarray(self._matrix(len(visits)) @ visits)

    def sizes(self, visits: Floats) -> Floats:
        """The sum of the absolute terms of each row, bound included: what rounding is relative to."""
        visits = np.abs(visits)
        if len(self.rows) <= FEW_ROWS:
            terms = [dot(np.abs(row.coefficients), visits[row.states]) for row in self.rows]
            return np.array(terms, dtype=np.float64) + np.abs(self.bounds)
        return np.asarray(abs(self._matrix(len(visits))) @ visits) + np.abs(self.bounds)

    def _matrix(self, states: int) -> Any:
        """Theta, sparse: with many rows one product is many times faster than one dot product for each."""
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


@dataclass(frozen=True)
class Parameter:
    """A number of a constraint that one would turn to make it stricter or milder."""

    name: str
    """The field that holds it."""
    tightens: Literal[1, -1]
    """+1 if larger values demand more, -1 if smaller ones do."""
    in_reports: bool = True
    """Whether a report draws its frontier for a constraint that the user names."""
    resource: bool = False
    """Whether it is an amount to spend, so that one more unit can be compared with one more position."""


@dataclass(frozen=True)
class Compared:
    """The groups of one attribute that are compared: known and large enough."""

    by: str | None
    """The attribute, None if there is only one."""
    groups: tuple[str, ...]


@dataclass(frozen=True)
class AuditContext:
    """What is known of an audit when a constraint chooses its defaults."""

    attributes: tuple[Compared, ...]
    """Attributes with at least two groups to compare."""
    group: str | None = None
    """The group that is asked about: by default the one selected least, relative to others of its attribute."""
    by: str | None = None
    """Its attribute, None if there is only one."""
    share: float = 0.0
    """Its share of the candidates, in thousandths rounded down."""
    inspected: float | None = None
    """How many candidates the firm inspected, if that is known."""


class Constraint(BaseModel):
    """Base of all constraints. Subclasses set `type` and declare their keys as fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, coerce_numbers_to_str=True)

    type: ClassVar[str]

    parameters: ClassVar[tuple[Parameter, ...]] = ()
    """The numbers that what-if questions turn; the first that is set is the main one."""

    default_order: ClassVar[int] = 100
    """The place of this constraint among the defaults, smallest first."""

    @classmethod
    def priced_by_default(cls, context: AuditContext) -> Constraint | Sequence[Constraint] | None:
        """The constraints of this type that a report prices when the user names none; None for most types."""
        return None

    @classmethod
    def explored_by_default(cls, context: AuditContext) -> Constraint | Sequence[Constraint] | None:
        """The constraints of this type whose frontier is drawn even if the user names none; None for most."""
        return None

    @property
    def parameter(self) -> Parameter | None:
        """The main one of `parameters`."""
        return next((p for p in self.parameters if getattr(self, p.name) is not None), None)

    def parameter_range(self, name: str, layout: Layout, visits: Floats) -> tuple[float, float]:
        """The values of a parameter that a frontier covers; `visits` are those of the best policy without this."""
        return 0.0, 1.0

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


@cache
def flaw(kind: type[Constraint]) -> str | None:
    """What is wrong with the class of a constraint, if anything is."""
    called = None if "type" in kind.model_fields else getattr(kind, "type", None)
    if not isinstance(called, str) or not OFFER_NAME.fullmatch(called):
        wrong = "has no type" if called is None else f"has the type {called!r}"
        return (
            f"{kind.__name__} {wrong}: write type: ClassVar[str] = ..., with letters, digits, hyphens and underscores"
        )
    name = f"the constraint {called!r}"
    if kind.rows is Constraint.rows and kind.measures is Constraint.measures:
        return f"{name} has neither rows nor measures: define rows(layout) or measures(layout)"
    for key in kind.model_fields:
        if hasattr(Constraint, key):
            return f"{name} has the key {key!r}, which hides an attribute of Constraint: call it something else"
        for base in kind.__mro__[1:]:
            declared = getattr(base, "model_fields", {}).get(key)
            if declared is not None and not _narrows(kind.model_fields[key], declared):
                meaning = f" ({declared.description})" if declared.description else ""
                return f"{name} has the key {key!r} with another meaning than in {base.__name__}{meaning}: rename it"
    for parameter in kind.parameters:
        if not isinstance(parameter, Parameter) or parameter.name not in kind.model_fields:
            return f"{name}: {parameter!r} in `parameters` is not a Parameter that names one of its keys"
    return None


def _narrows(own: FieldInfo, declared: FieldInfo) -> bool:
    """Whether a key that is declared again holds JSON values of the same types as before, or fewer of them."""
    allowed = _json_types(declared)
    return not allowed or _json_types(own) <= allowed


def _json_types(field: FieldInfo) -> set[str]:
    """Empty where the types cannot be told."""
    declared: Any = field.annotation
    try:
        schema = TypeAdapter(declared).json_schema()
    except PydanticUserError:
        return set()
    types = {part["type"] for part in (schema, *schema.get("anyOf", ())) if isinstance(part.get("type"), str)}
    return types | ({"integer"} if "number" in types else set())
