"""Constraints that hold on average: what a plugin provides and what the solver receives.

A plugin is a pydantic model: its fields are the keys that users write, its `rows` bind it to an instance. A `Row` is
one affine condition on the expected visits p of the states: `coefficients . p  <= | == | >=  bound`.

`OutcomeConstraint` has the keys shared by most: which outcome is counted (`on`), per candidate or in number
(`basis`), and from which value or cost on (`min_value`, `min_cost`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from auditkit import spec
from auditkit.errors import InputError, Problem, nearest
from auditkit.layout import Bools, Floats, Ints, Layout

Sense = Literal["<=", "==", ">="]


@dataclass(frozen=True, eq=False)
class Row:
    """coefficients . p[states] compared with bound; `states` are strictly increasing."""

    label: str
    states: Ints
    coefficients: Floats
    sense: Sense
    bound: float

    @staticmethod
    def of(label: str, weights: Floats, sense: Sense, bound: float) -> Row:
        """A row from a weight for every state of the layout."""
        states = np.flatnonzero(weights)
        return Row(label, states, weights[states], sense, float(bound))

    def value(self, visits: Floats) -> float:
        return float(self.coefficients @ visits[self.states])


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows of a problem; `owner[j]` is the constraint from which row j comes."""

    rows: tuple[Row, ...]
    owner: tuple[int, ...]
    constraints: tuple[Constraint, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def values(self, visits: Floats) -> Floats:
        return np.array([row.value(visits) for row in self.rows])

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
        pairs = [(row, i) for row, i in zip(self.rows, self.owner, strict=True) if i in kept]
        return Rows(tuple(row for row, _ in pairs), tuple(i for _, i in pairs), self.constraints)


class Constraint(BaseModel, ABC):
    """Base of all constraints. Subclasses set `type` and declare their keys as fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, coerce_numbers_to_str=True)

    type: ClassVar[str]

    @abstractmethod
    def rows(self, layout: Layout) -> Sequence[Row]:
        """This constraint on this instance; raise InputError for a name that the instance does not have."""

    def describe(self) -> str:
        """The SPEC that makes this constraint: its type and the keys that differ from their defaults."""
        return spec.write(self.type, self.model_dump(exclude_defaults=True, mode="json"))


class OutcomeConstraint(Constraint):
    """A constraint on how often candidates reach an outcome."""

    on: str = Field("selection", description="'selection', 'inspection', or the name of a stage")
    min_value: float | dict[str, float] | None = Field(
        None, description="count only outcomes at or above this value (one number, or one per group)"
    )
    min_cost: float | dict[str, float] | None = Field(
        None, description="count only candidates whose cost is at least this (one number, or one per group)"
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
    """Rows of all constraints on one instance, every unknown name reported at once."""
    rows, owner, problems = [], [], []
    for i, constraint in enumerate(constraints):
        try:
            for row in constraint.rows(layout):
                rows.append(row)
                owner.append(i)
        except InputError as error:
            problems += [p.at(f"constraints[{i}] ({constraint.type})") for p in error.problems]
    if problems:
        raise InputError(problems)
    return Rows(tuple(rows), tuple(owner), tuple(constraints))


def make(kinds: dict[str, type[Constraint]], keys: dict[str, Any]) -> Constraint:
    """A constraint from its keys, `type` among them; raises InputError that names every key that is wrong."""
    keys = dict(keys)
    name = keys.pop("type", None)
    if not isinstance(name, str):
        raise InputError(Problem("type", "a constraint needs a type", f"one of: {', '.join(sorted(kinds))}"))
    if name not in kinds:
        raise InputError(Problem("type", f"there is no constraint {name!r}", nearest(name, kinds)))
    kind = kinds[name]
    try:
        return kind.model_validate(keys)
    except ValidationError as error:
        raise InputError([_explain(name, kind, item) for item in error.errors()]) from None


def _explain(name: str, kind: type[Constraint], item: Any) -> Problem:
    place = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return Problem(place, f"{name!r} has no key {place!r}", nearest(place, kind.model_fields))
    if item["type"] == "missing":
        return Problem(place, f"{name!r} needs the key {place!r}", kind.model_fields[place].description or "")
    return Problem(place, f"{item['msg']}, not {item['input']!r}")
