"""Constraints on an outcome: how often candidates are inspected, reach a stage, or are selected.

`OutcomeConstraint` has the keys shared by most constraints: which outcome is counted (`on`), from which value or cost
on (`min_value`, `min_cost`), whose groups are compared (`by`) and within which segment (`within`). `WelfareConstraint`
adds a function of how outcomes are spread over people or groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from pydantic import Field

from auditkit.constraints.base import CellRow, Constraint, Measure, Row, Sense
from auditkit.errors import InputError, Problem, nearest
from auditkit.model.groups import comparable
from auditkit.model.layout import Bools, Floats, Ints, Layout, Partition


class OutcomeConstraint(Constraint):
    """A constraint on how often candidates reach an outcome."""

    on: str = Field(default="selection", description="'selection', 'inspection', or the name of a stage")
    by: str | None = Field(
        default=None,
        description="attribute whose groups are meant: Gender, or Gender+Ethnicity crossed (default: each in turn)",
    )
    within: str | None = Field(
        default=None, description="segment, as in Department: the constraint holds within each of its values"
    )
    min_value: float | dict[str, float] | None = Field(
        default=None, description="count only outcomes at or above this value (one number, or one per group)"
    )
    min_cost: float | dict[str, float] | None = Field(
        default=None, description="count only candidates whose cost is at least this (one number, or one per group)"
    )

    def outcome(self, layout: Layout) -> Floats:
        """Weight of every state such that weights . p is the expected number of outcomes that count."""
        return outcome_weights(layout, self.on, self.min_value, self.min_cost)

    def scopes(self, layout: Layout, named: Sequence[str] | None = None) -> list[Scope]:
        """The sets of groups that are compared with each other: one for each attribute and value of `within`.

        Where `named` groups belong to one attribute, that attribute is meant.
        """
        parts = list(layout.protected.values())
        if self.by is not None:
            parts = [layout.partition(self.by)]
        if named:
            found = {part.by: part for part in (layout.find(group, self.by, "groups")[0] for group in named)}
            parts = list(found.values())
        if self.within is None:
            return [Scope(part, {name: code for code, name in enumerate(part.names)}) for part in parts]
        scopes = []
        for value in layout.partition(self.within).names:
            for crossed in (layout.partition(f"{part.by}+{self.within}") for part in parts):
                ends = f"+{value}"
                cells = {n.removesuffix(ends): code for code, n in enumerate(crossed.names) if n.endswith(ends)}
                scopes.append(Scope(crossed, cells, value))
        return scopes


@dataclass(frozen=True, eq=False)
class Scope:
    """The groups of one attribute, in all searches or within one value of a segment.

    `cells` has the number of each group in the partition, which crosses the attribute with the segment if there is one.
    """

    partition: Partition
    cells: Mapping[str, int]
    value: str | None = None

    @property
    def by(self) -> str:
        """What tells the groups apart; see `Row.by`."""
        return self.partition.by

    @property
    def where(self) -> str:
        """The end of a label: " in Sales", or nothing."""
        return "" if self.value is None else f" in {self.value}"

    @property
    def sizes(self) -> dict[str, int]:
        """Candidates of each group here."""
        return {name: int(self.partition.sizes[code]) for name, code in self.cells.items()}

    def groups(self, named: Sequence[str] | None = None) -> tuple[str, ...]:
        """The groups to compare: those named, as far as they are here, or all that are comparable."""
        return comparable(self.sizes) if named is None else tuple(group for group in named if group in self.cells)

    def member(self, layout: Layout, group: str) -> Bools:
        """Per state: of a candidate of this group."""
        return (self.partition.codes == self.cells[group])[layout.state_candidate]

    def covers(self, layout: Layout) -> Bools:
        """Per state: of a candidate of the segment's value; without a segment, of anyone."""
        if self.value is None:
            return np.ones(layout.states, np.bool_)
        return np.isin(self.partition.codes, list(self.cells.values()))[layout.state_candidate]

    def rates(self, layout: Layout, outcome: Floats, basis: str = "rate") -> Rates:
        """How often candidates of each group reach an outcome, given as a weight of every state."""
        return Rates(layout, self, outcome, self.sizes if basis == "rate" else dict.fromkeys(self.cells, 1))


@dataclass(frozen=True, eq=False)
class Rates:
    """Rates (or, with sizes of 1, numbers) of an outcome in the groups of a scope, from which rows are combined."""

    layout: Layout
    scope: Scope
    outcome: Floats
    sizes: Mapping[str, int]

    def weights(self, group: str) -> Floats:
        """For every state the weight whose product with p is the rate of a group."""
        return np.where(self.scope.member(self.layout, group), self.outcome / self.sizes[group], 0.0)

    def row(self, label: str, groups: Mapping[str, float], sense: Sense, bound: float) -> Row:
        """A row on a sum of the rates of some groups, each times a factor."""
        if self._by_cell is None:
            weights = sum((factor * self.weights(group) for group, factor in groups.items()), np.zeros(()))
            return Row.of(label, weights, sense, bound, self.scope.by)
        outcome, code = self._by_cell
        weights = np.zeros(len(outcome))
        for group, factor in groups.items():
            weights += np.where(code == self.scope.cells[group], factor * (outcome / self.sizes[group]), 0.0)
        return CellRow(label, self.layout.cells, weights, sense, float(bound), self.scope.by)

    @cached_property
    def _by_cell(self) -> tuple[Floats, Ints] | None:
        """The outcome in each cell and its group in the partition; None if states of a cell differ in either."""
        cells, codes, own = self.layout.cells, self.scope.partition.codes, self.layout.candidate_group
        code = np.full(len(self.layout.groups), -1, dtype=np.int64)
        code[own] = codes
        outcome = np.zeros(len(cells))
        outcome[cells.of_state] = self.outcome
        alike = np.array_equal(code[own], codes) and np.array_equal(outcome[cells.of_state], self.outcome)
        return (outcome, code[cells.group]) if alike else None


def group_rates(layout: Layout, outcome: Floats, basis: str = "rate", by: str | None = None) -> dict[str, Floats]:
    """For each group the weights whose product with p is its rate of the outcome per candidate (or its number)."""
    part = layout.partition(by)
    rates = Scope(part, {name: code for code, name in enumerate(part.names)}).rates(layout, outcome, basis)
    return {name: rates.weights(name) for name in part.names}


def group_code(layout: Layout, group: str) -> int:
    """The number of a group among `layout.groups`."""
    if group not in layout.groups:
        raise InputError(Problem("group", f"no candidate is in group {group!r}", nearest(group, layout.groups)))
    return layout.groups.index(group)


def group_members(layout: Layout, group: str, by: str | None = None) -> Bools:
    """Per state: whether it is of a candidate of this group."""
    partition, code = layout.find(group, by)
    return (partition.codes == code)[layout.state_candidate]


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
    least = np.full(len(layout.candidate_ids), -np.inf)
    for group, value in threshold.items():
        partition, code = layout.find(group, key=key)
        least[partition.codes == code] = value
    return least


class WelfareConstraint(OutcomeConstraint):
    """A constraint on a function of how the outcomes are spread over candidates, or over groups."""

    level: Literal["individual", "group"] = Field(
        default="group", description="whose outcomes: each candidate's, or each group's"
    )

    def welfares(
        self,
        layout: Layout,
        label: str,
        value: Callable[[Floats], float],
        slope: Callable[[Floats], Floats],
        sense: Literal["<=", ">="],
        bound: float,
    ) -> list[Measure]:
        """`welfare` for each protected attribute in turn, or for `by`; once where it is about individuals."""
        if self.level == "individual" or self.by is not None or len(layout.protected) == 1:
            return [self.welfare(layout, label, value, slope, sense, bound)]
        return [
            self.model_copy(update={"by": by}).welfare(layout, f"{by} {label}", value, slope, sense, bound)
            for by in layout.protected
        ]

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
        whose: Ints = layout.state_candidate[states].astype(np.int64)
        count = len(layout.candidate_ids)
        if self.level == "group":
            partition = layout.partition(self.by)
            known = partition.codes[whose] >= 0
            states, whose, count = states[known], partition.codes[whose[known]], len(partition.names)
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
