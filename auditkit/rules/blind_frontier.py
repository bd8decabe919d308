"""The most that any policy can earn at a ratio, with and without seeing the group, each point with its bound.

    U(r) = max { R . p : rate of the group >= r times the rate of the other }

On an instance with membership the maximum is over all policies that see what is known before and the scores they
reveal, and never the group: a certificate against all of them. The largest ratio within reach is found by bisection
on r, with the positions filled, or with a floor on utility; both are one more row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from auditkit.constraints.base import Constraint, KindRow, Row
from auditkit.constraints.outcome import Scope, outcome_weights
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Layout
from auditkit.rules.play import GroupPair, rate_weights
from auditkit.scenarios.neighbours import Neighbours
from auditkit.solver import solve_once

RATIOS = (0.8, 0.85, 0.9, 0.95, 1.0)
HALVINGS, SOLVES = 4, 4
"""At most so many problems are solved for the largest ratio with the positions filled, and at a utility."""

BELOW = 2e-3
"""Largest ratios are known up to this."""


@dataclass(frozen=True)
class FrontierOptimum:
    """The best policy at a ratio; `ratio` is None for the one that is asked for none. Nothing if it is out of reach."""

    ratio: float | None
    utility: float | None
    bound: float | None
    gap: float | None
    filled: float | None
    reached: float | None
    """The ratio that it has."""
    dual: float = 0.0
    """What the optimum gains per unit by which the difference of the rates may miss the ratio; at most 0."""


class RatioOfPair(Constraint):
    """Rate of one group >= minimum x rate of another."""

    type: ClassVar[str] = "ratio-of-pair"
    attribute: str
    group: str
    against: str
    on: str = "selection"
    minimum: float

    def rows(self, layout: Layout) -> list[Row]:
        rates = Scope.of(layout, layout.protected[self.attribute]).rates(layout, outcome_weights(layout, self.on))
        label = f"{self.on} rate of {self.group} at least {self.minimum:g} of that of {self.against}"
        return [rates.row(label, {self.group: 1.0, self.against: -self.minimum}, ">=", 0.0)]


class AtLeast(Constraint):
    """Expected utility, or expected selections, of at least so much."""

    type: ClassVar[str] = "at-least"
    utility: float | None = None
    filled: float | None = None

    def rows(self, layout: Layout) -> list[Row]:
        found = []
        if self.utility is not None:
            row = Row.of(f"utility at least {self.utility:g}", layout.reward, ">=", self.utility)
            found.append(KindRow.like(row, layout) if layout.uncertain else row)
        if self.filled is not None:
            counted = layout.selecting.astype(np.float64)
            found.append(Row.of(f"positions filled at least {self.filled:g}", counted, ">=", self.filled))
        return found


def frontier_points(
    instance: Instance, pair: GroupPair, ratios: Sequence[float] = RATIOS, line: Neighbours | None = None
) -> list[FrontierOptimum]:
    """The best policy for no ratio and for each of some, mildest first; `line` has what was solved on the way."""
    line = line or Neighbours()
    found = [optimum_at(instance, pair, None, line)]
    for ratio in sorted(ratios):
        reached = found[0].reached
        if reached is not None and reached >= ratio and found[0].utility is not None:
            free = found[0]
            found.append(FrontierOptimum(ratio, free.utility, free.bound, free.gap, free.filled, free.reached))
        else:
            found.append(optimum_at(instance, pair, ratio, line))
    return found


def optimum_at(
    instance: Instance, pair: GroupPair, ratio: float | None, line: Neighbours, others: Sequence[Constraint] = ()
) -> FrontierOptimum:
    layout = instance.layout
    if ratio is None:
        outcome = solve_once(instance).unconstrained
        reached = _ratio(outcome.visits, layout, pair)
        filled = float(outcome.selected.sum())
        return FrontierOptimum(None, outcome.utility, outcome.utility, 0.0, filled, reached)
    optimum = line.solve(instance, [ratio_of(pair, ratio), *others]).constrained
    if optimum is None:
        return FrontierOptimum(ratio, None, None, None, None, None)
    reached = _ratio(optimum.outcome.visits, layout, pair)
    filled = float(optimum.outcome.selected.sum())
    dual, bound = float(optimum.duals[0]), optimum.utility + optimum.gap
    return FrontierOptimum(ratio, optimum.utility, bound, optimum.gap, filled, reached, dual)


def ratio_of(pair: GroupPair, minimum: float) -> RatioOfPair:
    return RatioOfPair(attribute=pair.attribute, group=pair.group, against=pair.against, on=pair.on, minimum=minimum)


def largest_ratio(
    instance: Instance,
    pair: GroupPair,
    known: Sequence[FrontierOptimum],
    *,
    utility: float | None = None,
    filled: float | None = None,
    line: Neighbours | None = None,
) -> float | None:
    """The largest ratio up to 1 of any policy with this utility, or with so many positions filled; None if no policy
    has these. `known` are points of the frontier, which say where to look, `line` what was solved on the way.

    A policy with the ratio that is returned was found; it is at most about `BELOW` less than the largest.
    """
    line, free, last = line or Neighbours(), known[0], known[-1]
    if filled is not None:
        if last.ratio == 1.0 and last.filled is not None and last.filled >= filled:
            return 1.0
        floor = AtLeast(filled=filled)
        return _halved(lambda r: line.solve(instance, [ratio_of(pair, r), floor]).constrained is not None, free)
    assert utility is not None
    if free.utility is None or free.utility < utility:
        return None
    earned = {p.ratio: p.utility for p in known if p.ratio is not None and p.utility is not None}
    if 1.0 not in earned and (at_one := optimum_at(instance, pair, 1.0, line).utility) is not None:
        earned[1.0] = at_one
    low = min(1.0, free.reached or 0.0)
    earned[low] = free.utility
    short = 1e-9 * abs(utility)
    for _ in range(SOLVES):
        low = max(r for r, u in earned.items() if u >= utility - short)
        high = min((r for r in earned if r > low), default=1.0)
        if low >= 1.0 or high - low <= BELOW:
            break
        crossing = _crossing(earned, utility, low, high) if high in earned else (low + high) / 2
        if crossing - low <= BELOW:
            break
        guess = max(crossing - BELOW / 2, low)
        solved = optimum_at(instance, pair, guess, line).utility
        earned[guess] = -np.inf if solved is None else solved
    return max(r for r, u in earned.items() if u >= utility - short)


def _crossing(earned: Mapping[float, float], utility: float, low: float, high: float) -> float:
    """Where U(r) falls to a utility, by inverse interpolation through the two points beside it and the next."""
    beside = sorted(earned, key=lambda r: (r not in (low, high), abs(r - (low + high) / 2)))
    points = [(earned[r], r) for r in beside[:3] if np.isfinite(earned[r])]
    if len({u for u, _ in points}) < len(points) or len(points) < 2:
        return (low + high) / 2
    guess = sum(r * float(np.prod([(utility - v) / (u - v) for v, _ in points if v != u])) for u, r in points)
    return min(max(guess, low), high - 0.05 * (high - low))


def _halved(possible: Callable[[float], bool], free: FrontierOptimum) -> float:
    low, high = min(1.0, free.reached or 0.0), 1.0
    if possible(1.0):
        return 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if possible(middle) else (low, middle)
    return low


def _ratio(visits: Floats, layout: Layout, pair: GroupPair) -> float | None:
    one, two = (float(weights @ visits) for weights in rate_weights(layout, pair))
    return one / two if two > 0 else None
