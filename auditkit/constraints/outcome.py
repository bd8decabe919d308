"""Constraints on an outcome: how often candidates are inspected, reach a stage, or are selected.

`OutcomeConstraint` has the keys shared by most constraints: which outcome is counted (`on`), and from which value or
cost on (`min_value`, `min_cost`). `WelfareConstraint` adds a function of how outcomes are spread over people or groups.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from pydantic import Field

from auditkit.constraints.base import Constraint, Measure
from auditkit.errors import InputError, Problem, nearest
from auditkit.model.layout import Bools, Floats, Layout


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
