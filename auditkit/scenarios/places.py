"""Which limits inside searches bind, and what one more place there is worth.

With the duals of the optimum fixed, the Lagrangian is a sum over searches, and its gain from one more place in a limit
is the most that the place can be worth. The most promising places, one per label, are then solved exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from auditkit.constraints.base import Constraint
from auditkit.model.instance import Instance
from auditkit.model.variants import with_place
from auditkit.scenarios.neighbours import Neighbours
from auditkit.solver import solve_once
from auditkit.solver.evaluate import visits
from auditkit.solver.policy import Policy

MOST_SOLVED = 5
"""Places that are solved exactly; the others are bounded."""

WORTHLESS = 1e-9
"""Relative to the utility: a place worth less counts as worth nothing."""


@dataclass(frozen=True)
class Place:
    """One more place of a limit, in the search where it promises most."""

    label: str
    search: str
    capacity: int
    worth: float


@dataclass(frozen=True)
class MorePlaces:
    """What limits cost: places in order of their worth, and of the labels that bind those that were not solved."""

    constraints: tuple[str, ...]
    limits: int
    places: tuple[Place, ...]
    unsolved: int


def more_places(instance: Instance, constraints: Sequence[Constraint]) -> MorePlaces | None:
    """The worth of one more place; None if no search has limits, or the constraints can't hold."""
    layout = instance.layout
    limits = layout.limits
    solution = solve_once(instance, constraints)
    if limits is None or (constraints and solution.constrained is None):
        return None
    optimum, rewards = solution.constrained, layout.reward[:, None]
    if optimum is not None and len(optimum.rows):
        rows = optimum.rows.with_cuts(optimum.cuts)
        rewards = Policy.at(np.append(optimum.duals, optimum.cut_duals)).rewards(layout, rows)
    now = layout.sum_by_search(rewards[:, 0] * visits(layout, rewards))
    sizes = np.array([len(members) for members in limits.members(layout.search_ptr)])
    search_of = np.repeat(np.arange(len(layout.search_ids)), np.diff(limits.ptr))
    gain = np.zeros(len(sizes))
    for level in range(int(np.diff(limits.ptr).max())):  # one limit of every search at a time
        one = (limits.ptr[:-1] + level)[np.diff(limits.ptr) > level]
        one = one[limits.capacity[one] < sizes[one]]
        more = limits.capacity.copy()
        more[one] += 1
        wider = replace(layout, limits=replace(limits, capacity=more))
        found = layout.sum_by_search(rewards[:, 0] * visits(wider, rewards))
        gain[one] = (found - now)[search_of[one]]
    utility = solution.unconstrained.utility if optimum is None else optimum.utility
    promising: dict[str, int] = {}
    for i in np.argsort(-gain, kind="stable"):
        if gain[i] > WORTHLESS * max(1.0, abs(utility)):
            promising.setdefault(limits.labels[i], int(i))
    line = Neighbours()
    line.last = optimum
    places = []
    for label, i in list(promising.items())[:MOST_SOLVED]:
        found_with = line.solve(with_place(instance, i), constraints)
        best = found_with.unconstrained if found_with.constrained is None else found_with.constrained
        name = layout.search_ids[search_of[i]]
        places.append(Place(label, name, int(limits.capacity[i]), max(0.0, best.utility - utility)))
    places = sorted((p for p in places if p.worth > WORTHLESS * max(1.0, abs(utility))), key=lambda p: -p.worth)
    specs = tuple(constraint.to_spec() for constraint in constraints)
    return MorePlaces(specs, len(sizes), tuple(places), max(0, len(promising) - MOST_SOLVED))
