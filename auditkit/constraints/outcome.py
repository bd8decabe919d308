"""Constraints on an outcome: how often candidates are inspected, reach a stage, or are selected.

`OutcomeConstraint` has the keys shared by most constraints: which outcome is counted (`on`), and above which value or
cost (`min_value`, `min_cost`). `GroupConstraint` adds the attribute whose groups are compared (`by`) and the segment
(`within`); `WelfareConstraint` adds a function of how outcomes are spread over people or groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, Self, TypedDict

import numpy as np
from pydantic import Field, model_validator

from auditkit.constraints.base import UNSTATED, CellRow, Constraint, KindRow, Measure, Row, Sense
from auditkit.constraints.words import Words
from auditkit.errors import InputError, Problem, nearest
from auditkit.model.groups import comparable
from auditkit.model.layout import Bools, Floats, Ints, Layout, Partition
from auditkit.model.row_meaning import Meaning, Other
from auditkit.text import listing, plain

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Named(TypedDict):
    """Where a row holds, as the fields of its meaning."""

    by: str
    within: str | None
    value: str | None


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
        """Weights of the states such that weights . p is the expected number of outcomes that count."""
        return outcome_weights(layout, self.on, self.min_value, self.min_cost)

    def counting(self) -> str:
        """The end of a phrase: which outcomes count, if not all."""
        named = (("scores", self.min_value), ("costs", self.min_cost))
        return "".join(f", counting {what} from {_thresholds(least)}" for what, least in named if least is not None)


def _thresholds(least: float | dict[str, float]) -> str:
    if isinstance(least, dict):
        return listing(f"{plain(value)} for {group}" for group, value in least.items())
    return plain(least)


class GroupConstraint(OutcomeConstraint):
    """A constraint on groups; subclasses must honour `by` and `within`, which `scopes` does for them."""

    by: str | None = Field(
        default=None,
        description="attribute whose groups are meant: Gender, or Gender+Ethnicity crossed (default: each in turn)",
    )
    within: str | None = Field(
        default=None, description="segment, as in Department: the constraint holds within each of its values"
    )

    def ending(self) -> str:
        """The end of a phrase: the segment, and which outcomes count."""
        return (f" within each {self.within}" if self.within else "") + self.counting()

    def scopes(self, layout: Layout, named: Sequence[str] | None = None) -> list[Scope]:
        """The sets of groups that are compared with each other: one for each attribute and value of `within`.

        If the `named` groups belong to one attribute, that attribute is meant.
        """
        parts = list(layout.protected.values())
        if self.by is not None:
            parts = [layout.partition(self.by)]
        if named:
            found = {part.by: part for part in (layout.find(group, self.by, "groups")[0] for group in named)}
            parts = list(found.values())
        if self.min_value is not None and self.on != "selection" and any(part.uncertain for part in parts):
            what = "min_value can only count selections if groups are known by their probability"
            raise InputError(Problem("min_value", what, "remove it, or write on=selection"))
        if self.within is None:
            return [Scope.of(layout, part) for part in parts]
        segment = layout.partition(self.within)
        return [Scope.of(layout, part, segment, value) for value in range(len(segment.names)) for part in parts]

    def places(self, layout: Layout) -> list[Scope]:
        """One scope for each value of `within`, for conditions that don't compare groups."""
        return list({scope.number: scope for scope in self.scopes(layout)}.values())


@dataclass(frozen=True, eq=False)
class Scope:
    """The groups of one attribute, in all searches or within one value of a segment."""

    attribute: Partition
    segment: Partition | None
    number: int | None
    """Of the value, among the names of the segment."""
    sizes: Mapping[str, float]
    """Candidates of each group in the scope; expected numbers if groups are uncertain."""

    @staticmethod
    def of(layout: Layout, attribute: Partition, segment: Partition | None = None, number: int | None = None) -> Scope:
        """The groups of an attribute among all candidates, or among those of one value of a segment."""
        sizes = attribute.sizes if segment is None else layout.sizes_among(attribute, segment.codes == number)
        named = zip(attribute.names, sizes.tolist(), strict=True)
        return Scope(attribute, segment, number, {name: size for name, size in named if size})

    @property
    def value(self) -> str | None:
        return None if self.segment is None or self.number is None else self.segment.names[self.number]

    @property
    def by(self) -> str:
        """The attribute that distinguishes the groups; see `Row.by`."""
        return self.attribute.by if self.segment is None else f"{self.attribute.by}+{self.segment.by}"

    @property
    def where(self) -> str:
        """The end of a label: " in Sales", or nothing."""
        return "" if self.value is None else f" in {self.value}"

    @property
    def named(self) -> Named:
        """The fields of a meaning that say where it holds."""
        within = None if self.segment is None else self.segment.by
        return {"by": self.attribute.by, "within": within, "value": self.value}

    @cached_property
    def codes(self) -> Ints:
        """The group of each candidate, -1 for those of other values of the segment and where it is uncertain."""
        codes = self.attribute.codes
        return codes if self.segment is None else np.where(self.segment.codes == self.number, codes, -1)

    def code(self, group: str) -> int:
        return self.attribute.names.index(group)

    def groups(self, named: Sequence[str] | None = None) -> tuple[str, ...]:
        """The groups to compare: those named, if they're in the scope, or all that are comparable."""
        return comparable(self.sizes) if named is None else tuple(group for group in named if group in self.sizes)

    def members(self, group: str) -> Bools:
        """Per candidate: of this group, within the segment's value; raises InputError where that is uncertain."""
        own = self.attribute.members(self.code(group))
        return own if self.segment is None else own & (self.segment.codes == self.number)

    def share(self, layout: Layout, group: str) -> Floats | Bools:
        """Per state: the chance that a visit belongs to this group, 0 or 1 if groups are known."""
        if self.attribute.uncertain is None:
            return self.members(group)[layout.state_candidate]
        return layout.share(self.attribute, self.code(group)) * self.covers(layout)

    def covers(self, layout: Layout) -> Bools:
        """Per state: of a candidate of the segment's value; without a segment, of anyone."""
        return self.everyone(layout)[layout.state_candidate]

    def everyone(self, layout: Layout) -> Bools:
        """Per candidate: of the segment's value; without a segment, all."""
        if self.segment is None:
            return np.ones(len(layout.candidate_ids), np.bool_)
        return self.segment.codes == self.number

    def rates(self, layout: Layout, outcome: Floats, basis: str = "rate") -> Rates:
        """How often candidates of each group reach an outcome, given as a weight of every state."""
        return Rates(layout, self, outcome, self.sizes if basis == "rate" else dict.fromkeys(self.sizes, 1))


@dataclass(frozen=True, eq=False)
class Rates:
    """Rates (or, with sizes of 1, numbers) of an outcome in the groups of a scope, from which rows are combined."""

    layout: Layout
    scope: Scope
    outcome: Floats
    sizes: Mapping[str, float]

    def weights(self, group: str) -> Floats:
        """Weights of the states whose product with p is the rate of a group."""
        return self.scope.share(self.layout, group) * (self.outcome / self.sizes[group])

    def row(
        self, label: str, groups: Mapping[str, float], sense: Sense, bound: float, meaning: Meaning = UNSTATED
    ) -> Row:
        """A row on a sum of the rates of some groups, each times a factor."""
        told = self.scope.attribute.uncertain
        if (by_meaning := self._by_meaning) is not None and told is not None:
            cells, count = self.layout.cells, len(self.scope.attribute.names)
            shared = np.zeros(cells.shares.shape[1])
            place = cells.first_shared[told.attribute] + count * np.arange(len(by_meaning))
            for group, factor in groups.items():
                shared[place + told.group[self.scope.code(group)]] += factor * (by_meaning / self.sizes[group])
            return KindRow.of_shared(label, self.layout, shared, sense, float(bound), self.scope.by, meaning)
        if self._by_cell is None:
            weights = sum((factor * self.weights(group) for group, factor in groups.items()), np.zeros(()))
            return Row.of(label, weights, sense, bound, self.scope.by, meaning)
        outcome, code = self._by_cell
        weights = np.zeros(len(outcome))
        for group, factor in groups.items():
            weights += np.where(code == self.scope.code(group), factor * (outcome / self.sizes[group]), 0.0)
        return CellRow(label, self.layout.cells, weights, sense, float(bound), self.scope.by, meaning)

    @cached_property
    def _by_meaning(self) -> Floats | None:
        """Of groups that have shared cells: the outcome by what a visit means; None if it tells more apart, or a
        segment does."""
        told, cells = self.scope.attribute.uncertain, self.layout.cells
        if told is None or told.known is not None or self.scope.segment is not None:
            return None
        if told.attribute not in cells.first_shared:
            return None
        return cells.by_meaning(self.outcome)

    @cached_property
    def _by_cell(self) -> tuple[Floats, Ints] | None:
        """The outcome in each cell and its group in the partition; None if states of a cell differ in either."""
        if self.scope.attribute.uncertain is not None:
            return None
        cells, codes, own = self.layout.cells, self.scope.codes, self.layout.candidate_group
        code = np.full(len(self.layout.groups), -1, dtype=np.int64)
        code[own] = codes
        outcome = np.zeros(len(cells))
        outcome[cells.of_state] = self.outcome
        alike = np.array_equal(code[own], codes) and np.array_equal(outcome[cells.of_state], self.outcome)
        return (outcome, code[cells.group]) if alike else None


def group_rates(layout: Layout, outcome: Floats, basis: str = "rate", by: str | None = None) -> dict[str, Floats]:
    """For each group, the weights whose product with p is its rate of the outcome per candidate (or its number)."""
    part = layout.partition(by)
    rates = Scope.of(layout, part).rates(layout, outcome, basis)
    return {name: rates.weights(name) for name in part.names}


def group_members(layout: Layout, group: str, by: str | None = None) -> Floats | Bools:
    """Per state: the chance that a visit belongs to this group, 0 or 1 if groups are known. A factor of weights."""
    return layout.share(*layout.find(group, by))


def outcome_weights(
    layout: Layout,
    on: str,
    min_value: float | dict[str, float] | None = None,
    min_cost: float | dict[str, float] | None = None,
) -> Floats:
    """The outcome `on` as weights of states.

    Selection counts visits of selecting states with a value of at least `min_value`. Inspection counts leaving the
    start, a stage leaving its states; there `min_value` weights a visit by the chance that the value turns out that
    high (`proves`), because it isn't known yet (the paper's E[theta(v)], value-specific constraints).
    """
    return counted(layout, weights_on(layout, on), min_value, min_cost)


def outcomes_of(layout: Layout) -> tuple[str, ...]:
    """Everything that `on` can be."""
    return ("selection", "inspection", *layout.stages)


def weights_on(layout: Layout, on: str) -> Floats:
    """1 for the states whose visits are the outcome `on`."""
    if on == "selection":
        return layout.selecting_weights
    if on == "inspection":
        weights = np.zeros(layout.states)
        weights[layout.start] = 1.0
        return weights
    if on in layout.stages:
        return (layout.state_stage == layout.stages.index(on)).astype(np.float64)
    raise InputError(Problem("on", f"no candidate has a stage {on!r}", nearest(on, outcomes_of(layout))))


def counted(
    layout: Layout,
    weights: Floats,
    min_value: float | dict[str, float] | None,
    min_cost: float | dict[str, float] | None,
) -> Floats:
    """Weights of states, of which only values and costs from these on count; refused where no one has any."""
    if min_value is not None:
        _refuse_above_all("min_value", min_value, layout.reward[layout.selecting])
        least = _per_candidate(layout, "min_value", min_value)[layout.state_candidate]
        good = layout.selecting & (layout.reward >= least)
        weights = weights * np.where(layout.selecting, good, proves(layout, good))
    if min_cost is not None:
        _refuse_above_all("min_cost", min_cost, -layout.reward[layout.start])
        enough = -layout.reward[layout.start] >= _per_candidate(layout, "min_cost", min_cost)
        weights = weights * enough[layout.state_candidate]
    return weights


def _refuse_above_all(key: str, least: float | dict[str, float], numbers: Floats) -> None:
    """Refuse a threshold that nothing reaches: the constraint would hold whatever the policy."""
    if not isinstance(least, dict) and len(numbers) and numbers.max() < least:
        most = plain(float(numbers.max()))
        raise InputError(Problem(key, f"nothing reaches {plain(least)}: the largest is {most}", "give a lower number"))


def proves(layout: Layout, good: Bools) -> Floats:
    """Chance, from every state, that the value turns out to be `good` if the candidate always goes on.

    It has turned out good in a state from which all selecting states that can still be reached are good. Whether the
    candidate then accepts, or is selected, doesn't matter.
    """
    from scipy.sparse import csr_array, diags_array, eye_array
    from scipy.sparse.linalg import spsolve

    shape = (layout.states, layout.states)
    steps = csr_array((layout.edge_prob, layout.edges.items, layout.edges.ptr), shape=shape)
    settled = _reaching(steps, good) & ~_reaching(steps, layout.selecting & ~good)
    open_ = _reaching(steps, settled) & ~settled
    system = eye_array(layout.states) - diags_array(open_.astype(np.float64)) @ steps
    return np.asarray(spsolve(csr_array(system).tocsc(), settled.astype(np.float64)))


def reachable(layout: Layout) -> Bools:
    """The states that some policy visits."""
    from scipy.sparse import csr_array

    shape = (layout.states, layout.states)
    steps = csr_array((layout.edge_prob, layout.edges.items, layout.edges.ptr), shape=shape)
    starts = np.zeros(layout.states, np.bool_)
    starts[layout.start] = ~layout.barred
    return _reaching(csr_array(steps.T), starts)


def _reaching(steps: csr_array, goal: Bools) -> Bools:
    """The states from which the goal can be reached."""
    found = goal.copy()
    while True:
        more = found | (steps @ found.astype(np.float64) > 0)
        if np.array_equal(more, found):
            return found
        found = more


def _per_candidate(layout: Layout, key: str, threshold: float | dict[str, float]) -> Floats:
    if not isinstance(threshold, dict):
        return np.full(len(layout.candidate_ids), float(threshold))
    least = np.full(len(layout.candidate_ids), -np.inf)
    for group, value in threshold.items():
        partition, code = layout.find(group, key=key)
        least[partition.members(code)] = value
    return least


@dataclass(frozen=True, eq=False)
class _Counted:
    """Outcomes u[whose] = sum of weights . visits, each state of one candidate or group."""

    states: Ints
    whose: Ints
    weights: Floats
    count: int

    def of(self, visits: Floats) -> Floats:
        return np.bincount(self.whose, self.weights * visits, minlength=self.count).astype(np.float64)

    def pulled(self, slopes: Floats) -> Floats:
        return self.weights * slopes[self.whose]


@dataclass(frozen=True, eq=False)
class _Shared:
    """Outcomes u = shares . visits, if states belong to several groups with some chance."""

    states: Ints
    shares: Floats

    def of(self, visits: Floats) -> Floats:
        return np.einsum("gs,s->g", self.shares, visits)

    def pulled(self, slopes: Floats) -> Floats:
        return np.einsum("g,gs->s", slopes, self.shares)


@dataclass(frozen=True, eq=False)
class _Curve:
    """A function of outcomes as a function of visits; an object, not closures, so that solutions can be pickled."""

    outcomes: _Counted | _Shared
    value: Callable[[Floats], float]
    slope: Callable[[Floats], Floats]

    def at(self, visits: Floats) -> float:
        return float(self.value(self.outcomes.of(visits)))

    def gradient(self, visits: Floats) -> Floats:
        return self.outcomes.pulled(self.slope(self.outcomes.of(visits)))


class WelfareConstraint(GroupConstraint):
    """A constraint on a function of how the outcomes are spread over candidates, or over groups."""

    level: Literal["individual", "group"] = Field(
        default="group", description="whose outcomes: each candidate's, or each group's"
    )
    basis: Literal["rate", "count"] = Field(
        default="count", description="a group's outcomes in number, or per candidate of the group"
    )

    @model_validator(mode="after")
    def _no_groups_of_individuals(self) -> Self:
        if self.level == "individual" and self.by is not None:
            raise ValueError("'by' compares groups, and level=individual compares candidates: leave out one of the two")
        return self

    def impossible(self, layout: Layout, bound: float) -> list[Row]:
        """For means of order q <= 0, which are 0 as soon as one outcome is: an impossible row for every group or
        candidate that can never reach the outcome, so that the conflict names them.
        """
        rows = []
        for scope in self.each_scope(layout):
            for name, states, _ in self.whose(layout, scope):
                if not len(states):
                    label = f"{self.on} of {name}{scope.where}, impossible under every policy, >= {bound:g}"
                    rows.append(Row(label, states, np.zeros(0), ">=", bound, meaning=self.about(scope, name)))
        return rows

    def all_alike(self, layout: Layout) -> list[Row]:
        """What a measure of inequality asks for if it allows none: its tangents are no use there, these rows are."""
        rows = []
        for scope in self.each_scope(layout):
            weights = []
            for name, states, weight in self.whose(layout, scope):
                each = np.zeros(layout.states)
                each[states] = weight
                weights.append((name, each))
            for (one, a), (other, b) in pairwise(weights):
                label = f"{self.on} of {one} = {other}{scope.where}"
                rows.append(Row.of(label, a - b, "==", 0.0, meaning=self.about(scope, one)))
        return rows

    def each_scope(self, layout: Layout) -> list[Scope]:
        """One for each attribute in turn, or for `by`, in each value of `within`; of individuals once each."""
        return self.places(layout) if self.level == "individual" else self.scopes(layout)

    def whose(self, layout: Layout, scope: Scope) -> Iterator[tuple[str, Ints, Floats]]:
        """The groups or candidates of a scope: name, states where the outcome is possible, and their weights."""
        outcome = np.where(reachable(layout), self.outcome(layout), 0.0)
        if self.level == "group":
            for group in scope.groups():
                weights = scope.share(layout, group) * outcome / (scope.sizes[group] if self.basis == "rate" else 1)
                states = np.flatnonzero(weights)
                yield group, states, weights[states]
            return
        for c in np.flatnonzero(scope.everyone(layout) & ~layout.barred).tolist():
            first, last = layout.candidate_ptr[c : c + 2]
            states = first + np.flatnonzero(outcome[first:last])
            search = f"{layout.search_ids[layout.candidate_search[c]]}/" if len(layout.search_ids) > 1 else ""
            yield f"{search}{layout.candidate_ids[c]}", states, outcome[states]

    def about(self, scope: Scope, group: str | None = None) -> Other:
        """The meaning of a condition of this constraint."""
        where = scope.named
        by, group = (where["by"], group) if self.level == "group" else (None, None)
        return Other(on=self.on, by=by, group=group, within=where["within"], value=where["value"], basis=self.basis)

    def spoken(self, what: str, words: Words) -> str:
        """What is asked for, whose outcomes, and the segment: "geometric mean of the hiring rates by Gender ..."."""
        if self.level == "individual":
            return f"{what} of the chances of single candidates to be {words.outcome(self.on)}{self.ending()}"
        which = words.rate(self.on, "s") if self.basis == "rate" else f"numbers {words.outcome(self.on)}"
        return f"{what} of the {which} {words.whom(self.by, None)}{self.ending()}"

    def welfares(
        self,
        layout: Layout,
        label: str,
        value: Callable[[Floats], float],
        slope: Callable[[Floats], Floats],
        sense: Literal["<=", ">="],
        bound: float,
    ) -> list[Measure]:
        """`welfare` for each attribute in turn, or for `by`, in each value of `within`; of individuals once each."""
        scopes = self.each_scope(layout)
        several = self.by is None and self.level == "group" and len(layout.protected) > 1
        labels = [f"{scope.attribute.by} {label}" if several else label for scope in scopes]
        return [
            self.welfare(layout, name, value, slope, sense, bound, scope)
            for name, scope in zip(labels, scopes, strict=True)
        ]

    def welfare(
        self,
        layout: Layout,
        label: str,
        value: Callable[[Floats], float],
        slope: Callable[[Floats], Floats],
        sense: Literal["<=", ">="],
        bound: float,
        scope: Scope | None = None,
    ) -> Measure:
        """A measure of p from a function of the outcomes u and its gradient.

        u has an entry for each of `scope.groups()` (default: the groups of `by`): the sum over its candidates or, with
        basis=rate, that sum per candidate. With level=individual it has one for each candidate of the scope, except
        those in a search or limit without positions.
        """
        scope = scope or Scope.of(layout, layout.partition(self.by))
        groups = scope.groups()
        by_rate = self.basis == "rate" and self.level == "group"
        sizes = np.array([scope.sizes[group] if by_rate else 1 for group in groups], dtype=np.float64)
        if self.level == "group" and scope.attribute.uncertain is not None:
            outcomes: _Counted | _Shared = self._shared(layout, scope, groups, sizes)
        else:
            outcomes = self._counted(layout, scope, groups, sizes)
        curve = _Curve(outcomes, value, slope)
        return Measure(
            f"{self.on} {label}{scope.where}",
            outcomes.states,
            curve.at,
            curve.gradient,
            sense,
            bound,
            self.about(scope),
        )

    def _shared(self, layout: Layout, scope: Scope, groups: Sequence[str], sizes: Floats) -> _Shared:
        """Outcomes of groups that are known by their probability."""
        each = [scope.share(layout, group) * self.outcome(layout) for group in groups]
        shares: Floats = np.array(each, dtype=np.float64) / sizes[:, None]
        states = np.flatnonzero(shares.any(axis=0))
        shares = shares[:, states]
        return _Shared(states, shares)

    def _counted(self, layout: Layout, scope: Scope, groups: Sequence[str], sizes: Floats) -> _Counted:
        """Outcomes of candidates, or of groups that are known."""
        if self.level == "group":
            places = np.full(len(scope.attribute.names) + 1, -1, dtype=np.int64)  # the last is that of unknown groups
            places[[scope.code(group) for group in groups]] = np.arange(len(groups))
            place, count = places[scope.codes], len(groups)
        else:
            here = scope.everyone(layout) & ~layout.barred
            place, count = np.where(here, np.cumsum(here) - 1, -1), int(here.sum())
        weights = np.where(place[layout.state_candidate] >= 0, self.outcome(layout), 0.0)
        states = np.flatnonzero(weights)
        whose = place[layout.state_candidate[states]]
        w = weights[states] / sizes[whose] if self.level == "group" else weights[states]
        return _Counted(states, whose, w, count)
