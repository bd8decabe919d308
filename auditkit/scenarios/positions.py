"""More positions, and more budget.

**A few more positions.** The smallest number of additional positions with which the constrained optimum is worth as
much as the unconstrained one is now, in short-term and in long-term utility. In an instance of many searches a position
goes where it is worth most: with the duals fixed the Lagrangian is a sum over searches, and the worth of one more
position in a search falls with their number. So giving positions one by one to the search with the largest gain is best
at these duals (of the current constrained optimum). The sum of these gains bounds what this many more positions are
worth: the first number whose bound reaches the target is the smallest that can be enough, and is solved first. The
number found is enough, and one less along the same path isn't; both are solved.

**Budget or position.** With U(k, b) the optimum with capacity k and a budget's limit b: U(k, b + unit) - U(k, b)
against U(k + 1, b) - U(k, b), with the position where it is worth most; and the dual, the worth of the first bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from auditkit.constraints.base import Constraint
from auditkit.constraints.binding import bind
from auditkit.errors import InputError
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Ints, Layout
from auditkit.model.row_meaning import Meaning
from auditkit.model.session import Session
from auditkit.model.variants import with_capacities
from auditkit.scenarios.frontier import changed
from auditkit.scenarios.neighbours import Neighbours
from auditkit.solver import Optimum, solve_once
from auditkit.solver.evaluate import Prepared
from auditkit.solver.policy import Outcome, Policy

LAYERS = 12
"""Positions beyond this many in one search are not ranked but given out evenly."""


@dataclass(frozen=True)
class Extra:
    """`positions` more make `reached` at least `target`; None if no number of them does."""

    target: float
    now: float
    positions: int | None
    reached: float | None
    one_less: float | None
    """What one position less yields; None if none is needed."""


@dataclass(frozen=True)
class MorePositions:
    """How many more positions make up for the constraints."""

    constraints: tuple[str, ...]
    positions: int
    """Those there are."""
    short_term: Extra
    long_term: Extra | None
    """None if the instance has no true values beside those that the firm sees."""


def more_positions(instance: Instance, constraints: Sequence[Constraint]) -> MorePositions:
    """How many more positions make the constrained optimum worth as much as the unconstrained one is now."""
    solution = solve_once(instance, constraints)
    if solution.constrained is None:
        raise InputError(f"{', '.join(solution.conflict)} cannot hold together, however many positions there are")
    free, optimum = solution.unconstrained, solution.constrained
    missing, target = free.utility - optimum.utility, free.long_term_utility or 0.0
    order = _ranked(instance.layout, optimum, max(missing, target - (optimum.outcome.long_term_utility or 0.0)))
    line = Neighbours()
    line.last = optimum
    worth = {0: _worth(optimum.outcome)}

    def at(extra: int) -> tuple[float, float]:
        if extra not in worth:
            with Session():  # nothing else uses these capacities
                found = line.solve(with_capacities(instance, order.capacities(extra)), constraints).constrained
                if found is None:
                    raise ArithmeticError("constraints that held with fewer positions do not hold with more")
                worth[extra] = _worth(found.outcome)
        return worth[extra]

    short = _smallest(lambda e: at(e)[0], free.utility, order.room, order.promising(missing))
    long = None
    if instance.layout.has_true_rewards:
        first, extra = order.promising(target - worth[0][1]), max(worth)
        gained = worth[extra][1] - worth[0][1]
        if gained > 0:  # a solved gain is better evidence than a promised one
            first = math.ceil(extra * (target - worth[0][1]) / gained)
        long = _smallest(lambda e: at(e)[1], target, order.room, first)
    specs = tuple(constraint.to_spec() for constraint in constraints)
    return MorePositions(specs, int(instance.layout.capacity.sum()), short, long)


def _worth(outcome: Outcome) -> tuple[float, float]:
    """In the short and in the long term."""
    return outcome.utility, outcome.long_term_utility or 0.0


def _smallest(worth: Callable[[int], float], target: float, most: int, first: int) -> Extra:
    """The smallest number that reaches the target: searched for around `first`, and along the line between a number
    known to be too few and one known to be enough."""
    enough = target - 1e-9 * max(1.0, abs(target))
    now = worth(0)
    if now >= enough:
        return Extra(target, now, 0, now, None)
    low, high, tried = 0, most + 1, min(max(first, 1), most)
    while high - low > 1:
        low, high = (low, tried) if worth(tried) >= enough else (tried, high)
        missing = enough - worth(low)
        if high > most:  # none was enough yet: as many more as it takes at this pace, at most twice as many
            pace = (worth(low) - now) / low
            tried = min(low + (max(int(np.ceil(min(missing / pace, low))), 1) if pace > 0 else low), most)
        else:
            share = missing / (worth(high) - worth(low))
            tried = min(max(low + int(np.ceil(share * (high - low))), low + 1), high - 1)
    if high > most:
        return Extra(target, now, None, None, None)
    return Extra(target, now, high, worth(high), worth(low))


@dataclass(frozen=True, eq=False)
class _Order:
    """Searches in the order in which they get further positions."""

    capacity: Ints
    searches: Ints
    promised: Floats
    """The most that so many of the first positions can be worth, as far as they are ranked."""

    def promising(self, gain: float) -> int:
        """The least number of positions that may be worth a gain."""
        return 1 + int(np.searchsorted(self.promised, gain - 1e-9 * abs(gain)))

    @property
    def room(self) -> int:
        return len(self.searches)

    def capacities(self, extra: int) -> list[int]:
        more = np.bincount(self.searches[:extra], minlength=len(self.capacity))
        return [int(k) for k in self.capacity + more]


def _ranked(layout: Layout, optimum: Optimum, gain: float) -> _Order:
    """Gains of the 1st, 2nd, ... further position of every search at the optimum's duals, largest first.

    Only twice as many positions as promise the `gain` are ranked; any others are given out evenly.
    """
    room = np.diff(layout.search_ptr) - layout.capacity
    layers = int(min(LAYERS, room.max(initial=0))) if len(layout.search_ids) > 1 else 0
    rows = optimum.rows.with_cuts(optimum.cuts)
    policy = Policy.at(np.append(optimum.duals, optimum.cut_duals))
    rewards = policy.rewards(layout, rows)[:, 0]

    def lagrangian(capacity: Ints, some: Ints) -> Floats:
        """Adjusted rewards of some searches under the policy that is best for them, 0 of the others."""
        with Session():
            visits = Prepared.of_policy(replace(layout, capacity=capacity), rows, policy, some).visits(some)
        return layout.sum_by_search(rewards * visits)

    some = np.arange(len(room))
    last = lagrangian(layout.capacity, some)
    gains: list[tuple[float, int, int]] = []
    promised = np.zeros(0)
    for layer in range(1, layers + 1):
        some = some[room[some] >= layer]
        worth = lagrangian(layout.capacity + np.minimum(layer, room), some)
        own = [(-float(worth[i] - last[i]), layer, int(i)) for i in some]
        gains, last = sorted([*gains, *own]), worth
        promised = np.cumsum([-lost for lost, _, _ in gains])
        wanted = 2 * (1 + int(np.searchsorted(promised, gain)))
        if wanted < len(gains):  # gains fall from layer to layer: smaller ones aren't pursued
            gains, promised = gains[: wanted + 1], promised[: wanted + 1]
            some = np.array([i for lost, _, i in own if lost < gains[wanted][0]], dtype=np.int64)
            if not len(some):
                break
    ranked = [i for _, _, i in gains]
    left = room - np.bincount(np.array(ranked, dtype=np.int64), minlength=len(room))
    beyond = [int(i) for layer in range(int(left.max(initial=0))) for i in np.flatnonzero(left > layer)]
    return _Order(layout.capacity, np.array(ranked + beyond, dtype=np.int64), promised)


@dataclass(frozen=True)
class BudgetOrPosition:
    """All in the unit of utility; `position` is None if every candidate has one already."""

    label: str
    meaning: Meaning
    limit: float
    unit: float
    utility: float
    dual: float
    """Worth of the first bit of budget, per unit of it."""
    budget: float
    position: float | None
    search: str | None
    """Where the position went."""


def budget_or_position(
    instance: Instance, budget: Constraint, others: Sequence[Constraint] = (), unit: float = 1.0
) -> BudgetOrPosition:
    """What one more unit of a budget's limit, or of another resource, is worth compared with one more position."""
    resource = budget.parameter
    if resource is None or not resource.resource:
        raise InputError(f"{budget.to_spec()} has no limit to raise")
    limit = float(getattr(budget, resource.name))
    line = Neighbours()

    def best(problem: Instance, bound: float) -> Optimum:
        solution = line.solve(problem, [changed(budget, resource.name, bound), *others])
        if solution.constrained is None:
            raise InputError(f"{', '.join(solution.conflict)} cannot hold together")
        return solution.constrained

    now, more = best(instance, limit), best(instance, limit + unit)
    order = _ranked(instance.layout, now, 0.0)
    filled = best(with_capacities(instance, order.capacities(1)), limit) if order.room else None
    row = bind([budget], instance.layout).rows[0]
    return BudgetOrPosition(
        label=row.label,
        meaning=row.meaning,
        limit=limit,
        unit=unit,
        utility=now.utility,
        dual=float(now.duals[0]),
        budget=_gain(more, now),
        position=None if filled is None else _gain(filled, now),
        search=instance.layout.search_ids[int(order.searches[0])] if order.room else None,
    )


def _gain(more: Optimum, now: Optimum) -> float:
    """How much more one optimum is worth than another; 0 if their gaps leave that open."""
    gain = more.outcome.gain_over(now.outcome)
    return gain if abs(gain) > more.gap + now.gap else 0.0
