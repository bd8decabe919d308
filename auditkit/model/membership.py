"""Membership: groups that a policy does not see, as the chance of each group given what is known.

Given what is known before the inspection, group and value of a candidate are independent of those of the others. A
policy that sees neither the group nor anything about it beyond the value then has group outcomes that are affine in
its visits p, with theta_g the *membership* of a state:

    E[outcomes of group g] = sum_s theta_g(s) p(s)         theta_g(start) = P(g | x),  theta_g(v) = P(g | x, v)

In a chain theta_g(s) = P(g | the path to s), which must not depend on the path. That is so exactly where

    theta_g(s) = sum_t A(s, t) theta_g(t)

for every state s that has successors t: dividing by theta_g(s) gives the transitions of the group's own chain. A dead
end is never left, so its membership never counts and may be omitted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditkit.errors import InputError, Problem
from auditkit.model.groups import UNKNOWN
from auditkit.text import exact

if TYPE_CHECKING:
    from auditkit.model.search import State

TOLERANCE = 1e-9
"""How inconsistent memberships may be before they are refused."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Share:
    """The chance of one group: `before` the inspection, and `given` each of the values."""

    before: float
    given: Floats

    if TYPE_CHECKING:  # it accepts wider types than it stores

        def __init__(self, before: float, given: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        given = np.array(self.given, dtype=np.float64)
        given.setflags(write=False)
        object.__setattr__(self, "given", given)


Shares = Mapping[str, Mapping[str, Share]]
"""Attribute -> group -> its share, of a box."""


def shares(raw: Mapping[str, Mapping[str, Share | Mapping[str, Any]]]) -> dict[str, dict[str, Share]]:
    """From objects or from documents."""
    return {
        name: {group: own if isinstance(own, Share) else Share(**own) for group, own in groups.items()}
        for name, groups in raw.items()
    }


def box_problems(membership: Shares, given_groups: Iterable[str], probs: Floats) -> list[Problem]:
    """Inconsistencies in the membership of a box; `given_groups` are the attributes whose group is known."""
    found = _name_problems(membership, given_groups)
    for name, groups in membership.items():
        place, wrong = f"membership.{name}", len(found)
        for group, share in groups.items():
            numbers = [share.before, *share.given.tolist()]
            if share.given.shape != probs.shape:
                what = f"has {share.given.size} numbers for {len(probs)} values"
                found.append(Problem(f"{place}.{group}.given", what))
            elif not all(0 <= x <= 1 for x in numbers):
                found.append(Problem(f"{place}.{group}", "contains a probability outside 0 to 1"))
            elif abs(mean := float(probs @ share.given) - share.before) > TOLERANCE:
                what = f"probs . given is {exact(share.before + mean)}, but before is {exact(share.before)}"
                found.append(Problem(f"{place}.{group}", what, "the mean of `given` over the values must be `before`"))
        if len(found) == wrong:
            total = np.sum([[share.before, *share.given] for share in groups.values()], axis=0)
            if (total > 1 + TOLERANCE).any():
                found.append(Problem(place, f"the groups sum to {exact(float(total.max()))}, more than 1"))
    return found


def chain_problems(states: Sequence[State], given_groups: Iterable[str]) -> list[Problem]:
    """Inconsistencies in the membership of the states of a chain."""
    names = dict.fromkeys(name for state in states for name in state.membership)
    found = _name_problems(
        {name: {g: 0 for s in states for g in s.membership.get(name, ())} for name in names}, given_groups
    )
    if found:
        return found
    by_name = {state.name: state for state in states}
    for name in names:
        groups = dict.fromkeys(group for state in states for group in state.membership.get(name, ()))
        for state in states:
            place = f"states.{state.name}.membership.{name}"
            own = state.membership.get(name)
            if own is None:
                if state.to or state.selected:
                    found.append(Problem(place, "is missing", "every state but dead ends needs it"))
            elif not all(math.isfinite(x) and 0 <= x <= 1 for x in own.values()):
                found.append(Problem(place, "contains a probability outside 0 to 1"))
            elif math.fsum(own.values()) > 1 + TOLERANCE:
                found.append(Problem(place, f"the groups sum to {exact(math.fsum(own.values()))}, more than 1"))
        if not found:
            found += [p for state in states if state.to for p in _step_problems(state, by_name, name, groups)]
    return found


def _step_problems(state: State, by_name: Mapping[str, State], name: str, groups: Iterable[str]) -> list[Problem]:
    """theta_g(s) compared with what follows; states without membership may make up the rest."""
    known = {t: p for t, p in state.to.items() if name in by_name[t].membership}
    open_rest = max(0.0, 1.0 - math.fsum(known.values()))
    for group in groups:
        after = math.fsum(p * by_name[t].membership[name].get(group, 0.0) for t, p in known.items())
        here = state.membership[name].get(group, 0.0)
        if not -TOLERANCE <= here - after <= open_rest + TOLERANCE:
            what = f"is {exact(here)}, but {exact(after)} in the states that follow, on average"
            fix = "on average, P(group) must not change by moving on; states that are reached by paths of different "
            return [Problem(f"states.{state.name}.membership.{name}.{group}", what, f"{fix}membership must be split")]
    return []


def _name_problems(membership: Mapping[str, Mapping[str, object]], given_groups: Iterable[str]) -> list[Problem]:
    found, known = [], set(given_groups)
    for name, groups in membership.items():
        if not name or "+" in name:
            what = "the name of an attribute must not be empty or contain +, which crosses attributes"
            found.append(Problem(f"membership.{name}", what))
        if name in known:
            found.append(Problem(f"membership.{name}", "is also in `group`", "give one of the two"))
        if UNKNOWN in groups or "" in groups:
            what = "a group needs a name, and what is left of 1 is unknown already"
            found.append(Problem(f"membership.{name}", what))
        if not groups:
            found.append(Problem(f"membership.{name}", "names no group"))
    return found


def uncertain_problem(by: str, what: str) -> InputError:
    """The problem of a question that needs to know who is in which group."""
    fix = "it needs policies that see the group: --group-aware, or `group` instead of `membership` in an instance"
    return InputError(Problem("by", f"the groups of {by} are known only by their probability: {what}", fix))
