"""What one score point is worth, in the unit of costs.

Utility weighs scores against costs, and nothing in the data says how but what the firm did. The **revealed value** is
the one at which the best search inspects, in expectation, as many candidates as the firm did: what the best search
spends on inspections never falls as a point is worth more, so it is found by bisection with exact evaluations. Without
a cost in the data the unit is one interview.

By construction the firm then inspects as many as the best search does: whether it inspected too many or too few cannot
be judged from a revealed value. `at_half` and `at_twice` say what changes if a point is worth half or twice as much.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

import numpy as np

from auditkit.constraints.base import Rows
from auditkit.fitting.fitted import Fitted
from auditkit.model.instance import Instance
from auditkit.model.layout import Layout
from auditkit.model.variants import with_value_scale
from auditkit.solver.block_sums import BlockSums
from auditkit.solver.evaluate import visits
from auditkit.solver.oracle import free_visits
from auditkit.solver.policy import Outcome
from auditkit.text import to_digits

WIDEST = 1e12
"""Values of a point are looked for within this factor of the mean cost over the mean score, on either side."""

NEARLY_ALL = 0.9
"""Where no value makes the best search inspect as many as the firm did: the share of the most that it inspects."""

FEW_BLOCKS = 6
"""Of searches, which say where to look."""

PRECISION = 1e-4
DIGITS_SHOWN = 3


@dataclass(frozen=True)
class AtScale:
    """The best search if a point has some value."""

    value: float
    utility: float
    inspected: float
    selected: float
    unfilled: float


@dataclass(frozen=True, kw_only=True)
class PointValue:
    """What a point is worth, where that comes from, and the best search at it, at half and at twice of it."""

    value: float
    source: Literal["given", "revealed"]
    unit: Literal["cost", "inspection"] = "cost"
    inspected_by_firm: int
    at_value: AtScale
    at_half: AtScale
    at_twice: AtScale


def revealed_scale(instance: Instance, inspected: float) -> float:
    """The value at which the best search inspects as many as the firm did; `instance` has points that are worth 1.

    It is given to three digits: no firm knows it better.
    """
    unit = _unit(instance)
    if unit is None or inspected <= 0:
        return 1.0

    more, few = inspections(instance.layout)
    lowest, steps = math.log(unit / WIDEST), 2 ** math.ceil(math.log2(2 * math.log(WIDEST) / PRECISION))

    def value(step: int) -> float:
        return math.exp(lowest + 2 * math.log(WIDEST) * step / steps)

    most, low, high = more(value(steps)), 0, steps
    wanted, share = min(inspected, NEARLY_ALL * most), few(value(steps)) / most if most > 0 else 1.0
    stride = 1
    while high - low > 1:  # look where a few searches, taken for all of them, say that it is; farther inside each time
        near = low + bisect_left(range(low, high), share * wanted, key=lambda step: few(value(step)))
        away = min(stride, (high - low) // 2)
        tried = min(max(near, low + away), high - away)
        found = more(value(tried))
        share = few(value(tried)) / found if found > 0 else share
        low, high, stride = (tried, high, 2 * stride) if found < wanted else (low, tried, 2 * stride)
    return to_digits(value(high), DIGITS_SHOWN)


def inspections(layout: Layout) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """How many the best search inspects in expectation if a point is worth so much, in all searches and in a few."""
    blocks = BlockSums(layout, Rows((), (), ()))
    if blocks.types is None:

        @cache
        def every(value: float) -> float:
            rewards = np.where(layout.selecting, value, 1.0) * layout.reward
            return float(visits(layout, rewards)[layout.start].sum())

        return every, every
    worth, types = layout.kinds.selecting[blocks.types.alike], blocks.types

    @cache
    def among(step: int, value: float) -> float:
        counts = blocks.of_rewards(np.where(worth, value, 1.0) * types.reward, step).counts
        return float(counts[:, : len(layout.cells)][:, layout.cells.starts].sum())

    return partial(among, 1), partial(among, max(1, blocks.blocks // FEW_BLOCKS))


def _unit(instance: Instance) -> float | None:
    """The mean cost over the mean size of a score; None where nothing costs anything or every score is 0."""
    kinds = instance.layout.kinds
    paid = -kinds.reward[kinds.ptr[:-1]][instance.layout.candidate_kind]
    cost, size = float(abs(paid).mean()), float(abs(kinds.reward[kinds.selecting]).mean())
    return cost / size if cost > 0 and size > 0 else None


def value_of_a_point(fitted: Fitted) -> PointValue:
    """Of a fitted history, from the best search of its instance."""
    value = fitted.settings.value_scale
    half, one, twice = (_at(fitted.instance, factor, value) for factor in (0.5, 1.0, 2.0))
    return PointValue(
        value=value,
        source="revealed" if fitted.settings.value_revealed else "given",
        unit="inspection" if fitted.settings.cost == "inspection" else "cost",
        inspected_by_firm=int(fitted.realised.inspected.sum()),
        at_value=one,
        at_half=half,
        at_twice=twice,
    )


def _at(instance: Instance, factor: float, value: float) -> AtScale:
    layout = (instance if factor == 1.0 else with_value_scale(instance, factor)).layout
    best = Outcome(layout, free_visits(layout))
    selected = float(best.selected.sum())
    return AtScale(factor * value, best.utility, float(best.inspected.sum()), selected, best.unfilled_capacity)
