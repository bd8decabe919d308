"""Constraints that hold on average: what a plugin provides and what the solver receives.

A plugin is a pydantic model: its fields are the keys that users write; its `rows` or `measures` bind it to an instance.
A `Row` is one affine condition on the expected visits p of the states: `coefficients . p  <= | == | >=  bound`. A
`Measure` is one smooth condition, `value(p) <= bound` with a convex value or `value(p) >= bound` with a concave one.

`OutcomeConstraint` has the keys shared by most: which outcome is counted (`on`), per candidate or in number
(`basis`), and from which value or cost on (`min_value`, `min_cost`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from auditkit import spec
from auditkit.errors import InputError, Problem, nearest
from auditkit.faults import PluginError, blaming, shipped
from auditkit.layout import Bools, Floats, Ints, Layout, dot

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
        return Rows(*_unzip(rows), self.constraints, *_unzip(measures))

    def with_cuts(self, cuts: Iterable[tuple[int, Row]]) -> Rows:
        """These rows and tangents of the measures, each with the number of its measure."""
        added = [(row, self.measured_by[k]) for k, row in cuts]
        rows, owner = _unzip(added)
        return replace(self, rows=self.rows + rows, owner=self.owner + owner)


def _unzip(pairs: list[tuple[Any, int]]) -> tuple[tuple[Any, ...], tuple[int, ...]]:
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

    def describe(self) -> str:
        """The SPEC that makes this constraint: its type and the keys that differ from their defaults."""
        return spec.render({"type": self.type, **self.model_dump(exclude_defaults=True, mode="json")})


class OutcomeConstraint(Constraint):
    """A constraint on how often candidates reach an outcome."""

    on: str = Field(default="selection", description="'selection', 'inspection', or the name of a stage")
    min_value: float | dict[str, float] | None = Field(
        default=None, description="count only outcomes at or above this value (one number, or one per group)"
    )
    min_cost: float | dict[str, float] | None = Field(
        default=None, description="count only candidates whose cost is at least this (one number, or one per group)"
    )

    def outcome(self, layout: Layout) -> Floats:
        """Weight of every state such that weights . p is the expected number of outcomes that count."""
        return outcome_weights(layout, self.on, self.min_value, self.min_cost)


def group_rates(layout: Layout, outcome: Floats, basis: str = "rate") -> dict[str, Floats]:
    """For each group the weights whose product with p is its rate of the outcome per candidate (or its number)."""
    group = layout.candidate_group[layout.state_candidate]
    scale = 1.0 / layout.group_sizes if basis == "rate" else np.ones(len(layout.groups))
    return {name: np.where(group == g, outcome * scale[g], 0.0) for g, name in enumerate(layout.groups)}


def group_code(layout: Layout, group: str) -> int:
    if group not in layout.groups:
        raise InputError(Problem("group", f"no candidate is in group {group!r}", nearest(group, layout.groups)))
    return layout.groups.index(group)


def outcome_weights(
    layout: Layout,
    on: str,
    min_value: float | dict[str, float] | None = None,
    min_cost: float | dict[str, float] | None = None,
) -> Floats:
    """The outcome `on` as weights of states.

    Selection counts visits of selecting states with a value of at least `min_value`. Inspection counts leaving the
    start, a stage leaving its states; there `min_value` weighs a visit by the chance that the value would prove to be
    that high, because nothing is known of it yet (the paper's E[theta(v)], value-specific constraints).
    """
    if on == "selection":
        weights = layout.selecting.astype(np.float64)
    elif on == "inspection":
        weights = np.zeros(layout.states)
        weights[layout.start] = 1.0
    elif on in layout.stages:
        weights = (layout.state_stage == layout.stages.index(on)).astype(np.float64)
    else:
        raise InputError(
            Problem("on", f"no candidate has a stage {on!r}", nearest(on, ["selection", "inspection", *layout.stages]))
        )
    if min_value is not None:
        least = _per_candidate(layout, "min_value", min_value)[layout.state_candidate]
        good = layout.selecting & (layout.reward >= least)
        weights *= np.where(layout.selecting, good, chance_of(layout, good))
    if min_cost is not None:
        enough = -layout.reward[layout.start] >= _per_candidate(layout, "min_cost", min_cost)
        weights *= enough[layout.state_candidate]
    return weights


def chance_of(layout: Layout, good: Bools) -> Floats:
    """Chance from every state to visit one of the (selecting) `good` states if one always goes on."""
    from scipy.sparse import csr_array, eye_array
    from scipy.sparse.linalg import spsolve

    shape = (layout.states, layout.states)
    steps = csr_array((layout.edge_prob, layout.edges.items, layout.edges.ptr), shape=shape)
    system = csr_array(eye_array(layout.states) - steps)
    return np.asarray(spsolve(system.tocsc(), good.astype(np.float64)))


def _per_candidate(layout: Layout, key: str, threshold: float | dict[str, float]) -> Floats:
    if not isinstance(threshold, dict):
        return np.full(len(layout.candidate_ids), float(threshold))
    for group in threshold:
        if group not in layout.groups:
            raise InputError(Problem(key, f"no candidate is in group {group!r}", nearest(group, layout.groups)))
    return np.array([threshold.get(group, -np.inf) for group in layout.groups])[layout.candidate_group]


def bind(constraints: Sequence[Constraint], layout: Layout) -> Rows:
    """Rows and measures of all constraints on one instance, every unknown name reported at once."""
    rows: list[tuple[Row, int]] = []
    measures: list[tuple[Measure, int]] = []
    problems: list[Problem] = []
    for i, constraint in enumerate(constraints):
        try:
            own, curved = _bound(constraint, layout)
            rows += [(row, i) for row in own]
            measures += [(measure, i) for measure in curved]
        except PluginError:
            raise
        except InputError as error:
            problems += [p.at(f"constraints[{i}] ({constraint.type})") for p in error.problems]
    if problems:
        raise InputError(problems)
    return Rows(*_unzip(rows), tuple(constraints), *_unzip(measures))


def _bound(constraint: Constraint, layout: Layout) -> tuple[Iterable[Row], Iterable[Measure]]:
    with blaming(constraint, f"binding the constraint {constraint.type!r}"):
        rows, measures = list(constraint.rows(layout)), list(constraint.measures(layout))
    if shipped(constraint):
        return rows, measures
    from auditkit import sound

    return sound.checked_rows(constraint, rows, layout), sound.checked_measures(constraint, measures, layout)


def make(kinds: dict[str, type[Constraint]], keys: dict[str, Any]) -> Constraint:
    """A constraint from its keys, `type` among them; raises InputError that names every key that is wrong."""
    keys = dict(keys)
    name = keys.pop("type", None)
    if not isinstance(name, str):
        raise InputError(Problem("type", "a constraint needs a type", f"one of: {', '.join(sorted(kinds))}"))
    if name not in kinds:
        raise InputError(Problem("type", f"there is no constraint {name!r}", nearest(name, kinds)))
    kind = kinds[name]
    with blaming(kind, f"making the constraint {name!r}"):
        try:
            made = kind.model_validate(keys)
        except ValidationError as error:
            raise InputError([_explain(name, kind, item) for item in error.errors()]) from None
        made.describe()  # keys that cannot be written as a SPEC would be found out only in the report
        return made


def _explain(name: str, kind: type[Constraint], item: Any) -> Problem:
    place = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return Problem(place, f"{name!r} has no key {place!r}", nearest(place, kind.model_fields))
    if item["type"] == "missing":
        field = kind.model_fields.get(place)
        return Problem(place, f"{name!r} needs the key {place!r}", (field.description or "") if field else "")
    return Problem(place, f"{item['msg']}, not {item['input']!r}")


class WelfareConstraint(OutcomeConstraint):
    """A constraint on a function of how the outcomes are spread over candidates, or over groups."""

    level: Literal["individual", "group"] = Field(
        default="group", description="whose outcomes: each candidate's, or each group's"
    )

    def welfare(
        self,
        layout: Layout,
        label: str,
        value: Callable[[Floats], float],
        slope: Callable[[Floats], Floats],
        sense: Literal["<=", ">="],
        bound: float,
    ) -> Measure:
        """A measure of p from a function of the outcomes u and its gradient; a group's outcome is its members' sum."""
        weights = self.outcome(layout)
        states = np.flatnonzero(weights)
        whose = layout.state_candidate[states]
        count = len(layout.candidate_ids)
        if self.level == "group":
            whose, count = layout.candidate_group[whose], len(layout.groups)
        w = weights[states]

        def outcomes(visits: Floats) -> Floats:
            return np.bincount(whose, w * visits, minlength=count).astype(np.float64)

        return Measure(
            f"{self.on} {label}",
            states,
            lambda visits: float(value(outcomes(visits))),
            lambda visits: w * slope(outcomes(visits))[whose],
            sense,
            bound,
        )
