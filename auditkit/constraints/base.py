"""Constraints that hold on average: what a plugin provides and what the solver receives.

A plugin is a pydantic model: its fields are the keys that users write; its `rows` or `measures` bind it to an instance.
A `Row` is one affine condition on the expected visits p of the states: `coefficients . p  <= | == | >=  bound`. A
`Measure` is one smooth condition, `value(p) <= bound` with a convex value or `value(p) >= bound` with a concave one.

Constraints on who is inspected or selected start from the classes of `outcome.py`; `binding.py` makes constraints from
settings and binds them to an instance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, TypeAdapter, model_validator
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from auditkit.constraints import spec
from auditkit.constraints.words import Description, Words
from auditkit.errors import OFFER_NAME, made_from
from auditkit.model.layout import Bools, Floats, Ints, Layout, dot
from auditkit.model.row_meaning import Meaning, Other
from auditkit.model.session import kept
from auditkit.model.state_cells import StateCells

Sense = Literal["<=", "==", ">="]

UNSTATED = Other()

FEW_ROWS = 100
"""More rows than this aren't copied into a matrix: they may be long."""


@dataclass(frozen=True, eq=False)
class Row:
    """coefficients . p[states] compared with bound; `states` are strictly increasing."""

    label: str
    states: Ints
    coefficients: Floats
    sense: Sense
    bound: float
    by: str | None = None
    """The attribute (or crossed attributes) whose groups it weights alike; None if all groups may differ."""
    tangent_at: Floats | None = None
    """For a cut: the visits at which it touches its measure."""
    weights: int | None = None
    """For a row made by `of`: the number of weights, which must be that of the states."""
    meaning: Meaning = UNSTATED
    """What it asks for; programs read this and never the label."""

    @staticmethod
    def of(
        label: str, weights: Floats, sense: Sense, bound: float, by: str | None = None, meaning: Meaning = UNSTATED
    ) -> Row:
        """A row from a weight for every state of the layout; `w[layout.state_candidate]` spreads one per candidate."""
        weights = np.asarray(weights, dtype=np.float64)
        if weights.ndim != 1:
            raise ValueError(f"row {label!r}: the weights must be one number for every state, not {weights.shape}")
        states = np.flatnonzero(weights)
        return Row(label, states, weights[states], sense, float(bound), by, weights=len(weights), meaning=meaning)

    def with_bound(self, bound: float) -> Row:
        return replace(self, bound=bound)

    def value(self, visits: Floats) -> float:
        return dot(self.coefficients, visits[self.states])

    def size(self, visits: Floats) -> float:
        """The absolute terms of the value added up."""
        return dot(np.abs(self.coefficients), np.abs(visits[self.states]))

    @property
    def largest(self) -> float:
        """The size of the largest coefficient."""
        return float(np.abs(self.coefficients).max(initial=0.0))

    def at(self, states: Ints) -> Floats:
        """The coefficients of some states, 0 where they have none."""
        if not len(self.states):
            return np.zeros(len(states))
        place = np.minimum(np.searchsorted(self.states, states), len(self.states) - 1)
        return np.where(self.states[place] == states, self.coefficients[place], 0.0)

    def reduce(self, rewards: Floats, dual: float) -> None:
        """Subtract dual times the coefficients from the rewards: one product and one difference per entry."""
        rewards[self.states] -= dual * self.coefficients


class _WithoutStates(Row):
    """A row that computes its states and coefficients on every access; subclasses decide what to keep instead."""

    def __init__(self, label: str, sense: Sense, bound: float, by: str | None, meaning: Meaning, **own: object) -> None:
        own = {"label": label, "sense": sense, "bound": bound, "by": by, "meaning": meaning, **own}
        for name, value in own.items():
            object.__setattr__(self, name, value)


class CellRow(_WithoutStates):
    """A row that weights the states of each cell alike. It keeps little, however many states there are."""

    cells: StateCells
    cell_weights: Floats

    def __init__(
        self,
        label: str,
        cells: StateCells,
        cell_weights: Floats,
        sense: Sense,
        bound: float,
        by: str | None = None,
        meaning: Meaning = UNSTATED,
    ) -> None:
        super().__init__(label, sense, bound, by, meaning, cells=cells, cell_weights=cell_weights)

    def with_bound(self, bound: float) -> CellRow:
        return CellRow(self.label, self.cells, self.cell_weights, self.sense, bound, self.by, self.meaning)

    @staticmethod
    def like(row: Row, cells: StateCells) -> CellRow | None:
        """The same row by cells; None if it weights states of a cell differently."""
        if isinstance(row, CellRow) or row.tangent_at is not None or isinstance(row, KindRow):
            return row if isinstance(row, CellRow) else None
        cell = cells.of_state[row.states]
        entries = np.bincount(cell, minlength=len(cells))
        weights = np.zeros(len(cells))
        weights[cell] = row.coefficients
        if ((entries == 0) | (entries == cells.sizes)).all() and np.array_equal(weights[cell], row.coefficients):
            return CellRow(row.label, cells, weights, row.sense, row.bound, row.by, row.meaning)
        return None

    @property
    def states(self) -> Ints:
        return np.flatnonzero((self.cell_weights != 0.0)[self.cells.of_state])

    @property
    def coefficients(self) -> Floats:
        weights = self.cell_weights[self.cells.of_state]
        return weights[weights != 0.0]

    def value(self, visits: Floats) -> float:
        return dot(self.cell_weights, self.cells.counts(visits))

    def size(self, visits: Floats) -> float:
        return dot(np.abs(self.cell_weights), self.cells.counts(np.abs(visits)))

    @property
    def largest(self) -> float:
        return float(np.abs(self.cell_weights[self.cells.sizes > 0]).max(initial=0.0))

    def at(self, states: Ints) -> Floats:
        return self.cell_weights[self.cells.of_state[states]]

    def reduce(self, rewards: Floats, dual: float) -> None:
        rewards -= (dual * self.cell_weights)[self.cells.of_state]


class KindRow(_WithoutStates):
    """A row that weights candidates of a kind alike; what it keeps grows with the kinds.

    `shared` are the weights of shared cells (`StateCells`), if these are enough.
    """

    layout: Layout
    shared: Floats | None
    _weights: Floats | None

    def __init__(
        self,
        label: str,
        layout: Layout,
        kind_weights: Floats | None,
        sense: Sense,
        bound: float,
        by: str | None = None,
        meaning: Meaning = UNSTATED,
        shared: Floats | None = None,
    ) -> None:
        own = {"layout": layout, "_weights": kind_weights, "shared": shared}
        super().__init__(label, sense, bound, by, meaning, **own)

    @property
    def kind_weights(self) -> Floats:
        """Of the states of kinds; of shared cells computed on every access."""
        if self.shared is not None:
            return np.asarray(np.einsum("sc,c->s", self.layout.cells.shares, self.shared))
        assert self._weights is not None
        return self._weights

    @property
    def numbers(self) -> Floats:
        """All that tells its coefficients: those of shared cells, or of the states of kinds."""
        return self.kind_weights if self.shared is None else self.shared

    @staticmethod
    def of_shared(
        label: str, layout: Layout, shared: Floats, sense: Sense, bound: float, by: str | None, meaning: Meaning
    ) -> KindRow:
        return KindRow(label, layout, None, sense, bound, by, meaning, shared)

    @staticmethod
    def like(row: Row, layout: Layout) -> KindRow:
        """The same row, known to weight candidates of a kind alike."""
        weights = row.at(layout.states_of_kinds)
        return KindRow(row.label, layout, weights, row.sense, row.bound, row.by, row.meaning)

    def with_bound(self, bound: float) -> KindRow:
        own = self.label, self.layout, self._weights, self.sense, bound, self.by, self.meaning
        return KindRow(*own, self.shared)

    @property
    def everywhere(self) -> Floats:
        """The weight of every state, computed on every access."""
        return self.layout.of_states(self.kind_weights)

    @property
    def states(self) -> Ints:
        return np.flatnonzero(self.everywhere)

    @property
    def coefficients(self) -> Floats:
        weights = self.everywhere
        return weights[weights != 0.0]

    def value(self, visits: Floats) -> float:
        if self.shared is not None:
            return dot(self.shared, self.layout.shared_counts(visits))
        return dot(self.everywhere, visits)

    def size(self, visits: Floats) -> float:
        if self.shared is not None:
            return dot(np.abs(self.shared), self.layout.shared_counts(np.abs(visits)))
        return dot(np.abs(self.everywhere), np.abs(visits))

    @property
    def largest(self) -> float:
        return float(np.abs(self.numbers).max(initial=0.0))

    def at(self, states: Ints) -> Floats:
        if len(states) > len(self.layout.candidate_ids):
            return self.everywhere[states]
        place = self.layout.places_in_kinds(states)
        if self.shared is not None:
            return np.asarray(np.einsum("sc,c->s", self.layout.cells.shares[place], self.shared))
        return self.kind_weights[place]

    def reduce(self, rewards: Floats, dual: float) -> None:
        rewards -= dual * self.everywhere


class DenseRow(_WithoutStates):
    """A row as one coefficient per state, even if that is 0."""

    dense: Floats

    def __init__(
        self, label: str, dense: Floats, sense: Sense, bound: float, by: str | None, meaning: Meaning = UNSTATED
    ) -> None:
        super().__init__(label, sense, bound, by, meaning, dense=dense)

    def with_bound(self, bound: float) -> DenseRow:
        return DenseRow(self.label, self.dense, self.sense, bound, self.by, self.meaning)

    @property
    def states(self) -> Ints:
        return np.flatnonzero(self.dense)

    @property
    def coefficients(self) -> Floats:
        return self.dense[self.dense != 0.0]

    def value(self, visits: Floats) -> float:
        return dot(self.dense, visits)

    def size(self, visits: Floats) -> float:
        return dot(np.abs(self.dense), np.abs(visits))

    @property
    def largest(self) -> float:
        return float(np.abs(self.dense).max(initial=0.0))

    def at(self, states: Ints) -> Floats:
        return self.dense[states]

    def reduce(self, rewards: Floats, dual: float) -> None:
        rewards -= dual * self.dense


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
    meaning: Meaning = UNSTATED

    def tangent(self, at: Floats) -> Row:
        """The row that the measure implies by its tangent at visits `at` of its states: a cut."""
        slope = np.asarray(self.gradient(at), dtype=np.float64)
        bound = self.bound - self.value(at) + dot(slope, at)
        return Row(self.label, self.states, slope, self.sense, bound, tangent_at=at, meaning=self.meaning)

    def slack(self, visits: Floats) -> float:
        """How far the measure is from its bound; >= 0 if it's met."""
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
    _kept: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)
    """The matrix of the rows that aren't by cells, once it's needed."""

    def __len__(self) -> int:
        return len(self.rows)

    def values(self, visits: Floats) -> Floats:
        return self._products(visits, absolute=False)

    def sizes(self, visits: Floats) -> Floats:
        """The sum of the absolute terms of each row, bound included: what rounding is relative to."""
        return self._products(np.abs(visits), absolute=True) + np.abs(self.bounds)

    def _products(self, visits: Floats, *, absolute: bool) -> Floats:
        """Theta p, or |Theta| p: rows by cells from one count of all cells, others one by one or as a matrix."""
        found = np.zeros(len(self.rows))
        by_cell = [(j, row) for j, row in enumerate(self.rows) if isinstance(row, CellRow)]
        if by_cell:
            weights = np.array([row.cell_weights for _, row in by_cell])
            counts = by_cell[0][1].cells.counts(visits)
            found[[j for j, _ in by_cell]] = np.einsum("jc,c->j", np.abs(weights) if absolute else weights, counts)
        shared = {j: row for j, row in enumerate(self.rows) if isinstance(row, KindRow) and row.shared is not None}
        if shared:
            weights = np.array([row.shared for row in shared.values()])
            counts = next(iter(shared.values())).layout.shared_counts(visits)
            found[list(shared)] = np.einsum("jc,c->j", np.abs(weights) if absolute else weights, counts)
        told = {j for j, _ in by_cell} | shared.keys()
        others = np.array([j for j in range(len(self.rows)) if j not in told], dtype=np.int64)
        if len(others) > FEW_ROWS:
            matrix = self._matrix(others, len(visits))
            found[others] = (abs(matrix) if absolute else matrix) @ visits
        else:
            found[others] = [self.rows[j].size(visits) if absolute else self.rows[j].value(visits) for j in others]
        return found

    def _matrix(self, which: Ints, states: int) -> Any:
        """Theta of some rows, sparse: with many rows one product is many times faster than one dot product for each."""
        if not self._kept:
            from scipy.sparse import csr_array

            rows = [self.rows[j] for j in which]
            ends = np.cumsum([0, *(len(row.states) for row in rows)])
            entries = np.concatenate([row.coefficients for row in rows])
            columns = np.concatenate([row.states for row in rows])
            self._kept.append(csr_array((entries, columns, ends), shape=(len(rows), states)))
        return self._kept[0]

    @cached_property
    def largest(self) -> Floats:
        """The size of the largest coefficient of each row."""
        return np.array([row.largest for row in self.rows], dtype=np.float64)

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

    def proper(self, duals: Floats) -> Floats:
        """Duals with the signs that make them prove a bound: those with the wrong sign are set to zero."""
        return np.where(~self.is_equality & (duals * self.signs < 0), 0.0, duals)

    def only(self, constraints: Iterable[int]) -> Rows:
        """The rows of some of the constraints."""
        kept = set(constraints)
        rows = [(row, i) for row, i in zip(self.rows, self.owner, strict=True) if i in kept]
        measures = [(m, i) for m, i in zip(self.measures, self.measured_by, strict=True) if i in kept]
        return Rows(*unzip(rows), self.constraints, *unzip(measures))

    def with_bounds(self, bounds: Floats) -> Rows:
        """The same with other bounds."""
        return replace(
            self, rows=tuple(row.with_bound(bound) for row, bound in zip(self.rows, bounds.tolist(), strict=True))
        )

    def with_cuts(self, cuts: Iterable[tuple[int, Row]]) -> Rows:
        """These rows and tangents of the measures, each with the number of its measure."""
        added = [(row, self.measured_by[k]) for k, row in cuts]
        rows, owner = unzip(added)
        return replace(self, rows=self.rows + rows, owner=self.owner + owner)


def unzip(pairs: list[tuple[Any, int]]) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    return tuple(item for item, _ in pairs), tuple(i for _, i in pairs)


@dataclass(frozen=True)
class Parameter:
    """A number of a constraint that you could change to make it stricter or milder."""

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
    """The group to ask about: by default the one selected least, relative to the others of its attribute."""
    by: str | None = None
    """Its attribute, None if there is only one."""
    share: float = 0.0
    """Its share of the candidates, in thousandths rounded down."""
    inspected: float | None = None
    """How many candidates the firm inspected, if that is known."""


Slider = Literal["impact ratio", "interviews"]
"""Of the page: the least ratio of the groups' rates, and the most interviews."""


class Constraint(BaseModel):
    """Base of all constraints. Subclasses set `type` and declare their keys as fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, coerce_numbers_to_str=True)

    type: ClassVar[str]

    parameters: ClassVar[tuple[Parameter, ...]] = ()
    """The numbers that what-if questions vary; the first that is set is the main one."""

    default_order: ClassVar[int] = 100
    """The place of this constraint among the defaults, smallest first."""

    @model_validator(mode="wrap")
    @classmethod
    def _checked(cls, keys: Any, make: ModelWrapValidatorHandler[Self]) -> Self:
        """Report wrong keys of a constraint made as an object like those of a SPEC."""
        return made_from(cls, keys, lambda: make(keys), getattr(cls, "type", ""))

    @classmethod
    def priced_by_default(cls, context: AuditContext) -> Constraint | Sequence[Constraint] | None:
        """The constraints of this type that a report prices when the user names none; None for most types."""
        return None

    @classmethod
    def explored_by_default(cls, context: AuditContext) -> Constraint | Sequence[Constraint] | None:
        """The constraints of this type whose frontier is drawn even if the user names none; None for most."""
        return None

    @classmethod
    def at_slider(cls, slider: Slider, value: float, attribute: str) -> Constraint | None:
        """What a slider of the page asks for, if that is a constraint of this type; None for most types."""
        return None

    @property
    def parameter(self) -> Parameter | None:
        """The main one of `parameters`."""
        return next((p for p in self.parameters if getattr(self, p.name) is not None), None)

    def parameter_range(self, name: str, layout: Layout, visits: Floats) -> tuple[float, float]:
        """The values of a parameter that a frontier covers; `visits` are those of the best policy without this."""
        return 0.0, 1.0

    def rows(self, layout: Layout) -> Sequence[Row]:
        """This constraint on this instance; raise InputError for a name that the instance doesn't have."""
        return ()

    def measures(self, layout: Layout) -> Sequence[Measure]:
        """The convex, non-affine part of this constraint, if there is one."""
        return ()

    def keys(self) -> dict[str, object]:
        """The keys that make this constraint: its type, then those that differ from their defaults."""
        return {"type": self.type, **self.model_dump(exclude_defaults=True, mode="json")}

    def to_spec(self) -> str:
        """The SPEC that makes this constraint."""
        return spec.render(self.keys())

    @property
    def short_name(self) -> str:
        """A name for tables: `parity`, `inspection parity by Gender`, `quota F`."""
        keys = self.keys()
        on = f"{keys['on']} " if "on" in keys else ""
        who = f" {keys['group']}" if isinstance(keys.get("group"), str) else ""
        by = f" by {keys['by']}" if isinstance(keys.get("by"), str) and not who else ""
        within = f" within {keys['within']}" if isinstance(keys.get("within"), str) else ""
        named = keys.get("label")
        return str(named) if isinstance(named, str) else f"{on}{self.type}{who}{by}{within}"

    def describe(self, words: Words) -> Description:
        """This constraint in words; override it to have your own phrase, frontier title and axis in reports."""
        return self.described(self.short_name)

    def described(self, phrase: str, title: str | None = None, axis: str | None = None) -> Description:
        """A description, with the usual title and axis unless they are given."""
        name = "" if self.parameter is None else self.parameter.name
        return Description(phrase, title or f"Utility kept under {phrase}", axis or name)

    def frontier_words(self, words: Words, parameter: str) -> tuple[str, str]:
        """Title and axis of the frontier over any of its numbers."""
        own = self.describe(words)
        main = self.parameter is not None and self.parameter.name == parameter
        return (own.title, own.axis) if main else (f"Utility kept under {own.phrase}", parameter)


@kept()
def defect(constraint: type[Constraint]) -> str | None:
    """What's wrong with the class of a constraint, if anything."""
    called = None if "type" in constraint.model_fields else getattr(constraint, "type", None)
    if not isinstance(called, str) or not OFFER_NAME.fullmatch(called):
        wrong = "has no type" if called is None else f"has the type {called!r}"
        fix = "write type: ClassVar[str] = ..., with letters, digits, hyphens and underscores"
        return f"{constraint.__name__} {wrong}: {fix}"
    name = f"the constraint {called!r}"
    if constraint.rows is Constraint.rows and constraint.measures is Constraint.measures:
        return f"{name} has neither rows nor measures: define rows(layout) or measures(layout)"
    for key in constraint.model_fields:
        if hasattr(Constraint, key):
            return f"{name} has the key {key!r}, which hides an attribute of Constraint: call it something else"
        for base in constraint.__mro__[1:]:
            declared = getattr(base, "model_fields", {}).get(key)
            if declared is not None and not _narrows(constraint.model_fields[key], declared):
                meaning = f" ({declared.description})" if declared.description else ""
                return f"{name} has the key {key!r} with another meaning than in {base.__name__}{meaning}: rename it"
    for parameter in constraint.parameters:
        if not isinstance(parameter, Parameter) or parameter.name not in constraint.model_fields:
            return f"{name}: {parameter!r} in `parameters` is not a Parameter that names one of its keys"
    return None


def _narrows(own: FieldInfo, declared: FieldInfo) -> bool:
    """Whether a redeclared key holds JSON values of the same types as before, or fewer of them."""
    allowed = _json_types(declared)
    return not allowed or _json_types(own) <= allowed


def _json_types(field: FieldInfo) -> set[str]:
    """Empty if the types can't be determined."""
    declared: Any = field.annotation
    try:
        schema = TypeAdapter(declared).json_schema()
    except PydanticUserError:
        return set()
    types = {part["type"] for part in (schema, *schema.get("anyOf", ())) if isinstance(part.get("type"), str)}
    return types | ({"integer"} if "number" in types else set())
