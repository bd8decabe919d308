"""Numbers as a report publishes them: with the digits that are known of them, and no more.

Digits beyond the sampling error mean nothing to a reader, but two exact sums over people, of data one row apart, give
that person away. So everything that comes from scores is rounded before a sentence or a table is made of it:

    with an interval          to the unit in which the interval is 10 to 99 wide; so are its ends
    with a standard error s   the same, as if the interval were 4 s wide
    people and positions      to one decimal, or three significant digits where that is more
    a share that is kept      as the share that is given up: 0.99949, not 0.999, which would double the price
    any other number          to three significant digits

Utilities that are compared with each other (alternatives) keep their proportions: the largest has three digits, and the
others are scaled with it. At least one significant digit remains, and rounding never moves a number onto a line that it
is not on: 1, the line of impact ratios, the significance level. Counts, settings and parameters of rules stay as they
are, and so do impact ratios and rates, which follow from the counts beside them. All constraints together cost no less
than one of them, also where their number has fewer digits. `auditkit solve` writes exact solutions.

An interval belongs to the number of its name (`slope`, `slope_interval`), or to the first number of its result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from auditkit.compare import Comparison, Constrained, PriceInterval
from auditkit.compare.comparison import TOGETHER, AwarePrice
from auditkit.compare.firm_gain import FirmSearch
from auditkit.compare.hidden_prices import HiddenPrice
from auditkit.compare.revealed import Revealed
from auditkit.compare.value_of_point import AtScale, PointValue
from auditkit.disparity.pair import Interval
from auditkit.rules.blind_frontier import FrontierOptimum
from auditkit.rules.find import Alternative, RuleResult
from auditkit.rules.play import RuleYield
from auditkit.scenarios import BiasCell, Frontier, FrontierPoint, SensitivityPoint
from auditkit.scenarios.positions import BudgetOrPosition

R = TypeVar("R")
Bounds = tuple[float, float]
Round = Callable[..., float]

DIGITS = 3
MOST_DIGITS = 6
NUDGE = 1e-9
"""Relative. Halves are common, and noise in their last digit must not decide how they are rounded."""

GIVEN: Mapping[type, frozenset[str]] = {
    Alternative: frozenset({"recorded_ratio"}),
    AtScale: frozenset({"value"}),
    BiasCell: frozenset({"value", "factor"}),
    BudgetOrPosition: frozenset({"limit", "unit"}),
    Comparison: frozenset({"value_scale"}),
    Constrained: frozenset({"optimum", "replicated_shifts"}),
    FirmSearch: frozenset({"level"}),
    Frontier: frozenset({"present", "left_out"}),
    FrontierOptimum: frozenset({"ratio", "utility", "bound"}),
    FrontierPoint: frozenset({"value"}),
    HiddenPrice: frozenset({"correlation"}),
    Interval: frozenset({"confidence"}),
    PointValue: frozenset({"value"}),
    PriceInterval: frozenset({"level", "duals", "replicated_duals"}),
    Revealed: frozenset({"level"}),
    RuleResult: frozenset({"target", "parameters", "utility"}),
    RuleYield: frozenset({"utility"}),
    SensitivityPoint: frozenset({"factor", "shift"}),
}
"""What was asked for, counted or scaled (`to_scale`), or is not published."""

KEPT: Mapping[type, str] = {
    AwarePrice: "ratio",
    BiasCell: "ratio",
    Constrained: "ratio",
    FrontierPoint: "ratio",
    HiddenPrice: "ratio",
    SensitivityPoint: "ratio",
}
"""Shares of a utility that are kept. What is read off them is the share given up."""

PEOPLE = frozenset(("candidates", "filled", "inspected", "interviews", "selected", "unfilled", "unfilled_capacity"))
"""Numbers of people and positions, expected or counted."""


def published(result: R, lines: Sequence[float]) -> R:
    """A result with its numbers rounded; `lines` are those that no number is moved onto."""
    found: R = _rounded(result, partial(rounded, lines=(1.0, *lines)))
    return found


def _ordered(found: Comparison) -> Comparison:
    """All constraints together cost at least what the dearest of them does; rounding to fewer digits may hide that."""
    each = [entry for entry in found.constrained if entry.label != TOGETHER]
    losses = [entry.loss for entry in each if entry.loss is not None]
    ratios = [entry.ratio for entry in each if entry.ratio is not None]
    ordered = tuple(
        entry
        if entry.label != TOGETHER
        else replace(
            entry,
            loss=None if entry.loss is None else max(entry.loss, *losses),
            ratio=None if entry.ratio is None else min(entry.ratio, *ratios),
        )
        for entry in found.constrained
    )
    return replace(found, constrained=ordered)


def rounded(x: float, bounds: Bounds | None = None, lines: Sequence[float] = (), digits: int = DIGITS) -> float:
    """A number with the digits that its interval leaves it, or with three.

    >>> rounded(495.58, (0.0, 2609.7)), rounded(54.2, (0.0, 2609.7)), rounded(0.97113), rounded(0.99984, lines=[1.0])
    (500.0, 50.0, 0.971, 0.9998)
    """
    if x == 0 or not math.isfinite(x):
        return x
    size = math.floor(math.log10(abs(x)))
    width = 0.0 if bounds is None else bounds[1] - bounds[0]
    known = math.floor(math.log10(width)) - 1 if 0 < width < math.inf else size - digits + 1
    for power in range(min(size, known), min(known, size - MOST_DIGITS) - 1, -1):
        found = round(x + NUDGE * abs(x), -power)
        if found not in lines or abs(found - x) <= NUDGE * abs(x):
            return found
    return x


def of_people(x: float) -> float:
    """A number of people to one decimal, of few people to three digits.

    >>> of_people(1527.0), of_people(704.00000056), of_people(223.929), of_people(0.54144)
    (1527.0, 704.0, 223.9, 0.541)
    """
    return rounded(x, digits=max(DIGITS, 2 + math.floor(math.log10(abs(x))))) if x else x


def of_kept_share(x: float, how: Round, bounds: Bounds | None = None) -> float:
    """A share that is kept, with the digits that are known of the share given up.

    >>> of_kept_share(0.999494, rounded), of_kept_share(0.9995, rounded, (0.7, 1.0)), of_kept_share(1.0, rounded)
    (0.999494, 0.9995, 1.0)
    """
    turned = None if bounds is None else (1 - bounds[1], 1 - bounds[0])
    return round(1 - how(1 - x, bounds=turned), 12)


def to_scale(each: Alternative) -> Alternative:
    """An alternative whose largest utility without the group has three digits, the others in proportion to it.

    So what a ratio costs can be read off to a hundredth of a per cent, but not what the search is worth. Policies that
    use the group have laws of their own, so their utilities are put in proportion to the largest of theirs.
    """
    free = each.blind[0].utility or 0.0
    seen = (each.aware[0].utility if each.aware else None) or 0.0

    def scaled(x: float | None, largest: float = free) -> float | None:
        if x is None or free <= 0 or largest <= 0:
            return None if x is None else rounded(x)
        return round(rounded(free) / largest * x, 4 - math.floor(math.log10(free)))

    def utility(x: float) -> float:
        return scaled(x) or 0.0

    def points(some: Sequence[FrontierOptimum], own: float) -> tuple[FrontierOptimum, ...]:
        return tuple(
            replace(point, utility=scaled(point.utility, own), bound=scaled(point.bound, own)) for point in some
        )

    return replace(
        each,
        blind=points(each.blind, free),
        aware=points(each.aware, seen),
        firm=replace(each.firm, utility=utility(each.firm.utility)),
        rules=tuple(
            replace(
                rule, utility=utility(rule.utility), people=replace(rule.people, utility=utility(rule.people.utility))
            )
            for rule in each.rules
        ),
    )


def _rounded(value: Any, how: Round) -> Any:
    if isinstance(value, float):
        return how(value)
    if isinstance(value, tuple):
        return tuple(_rounded(each, how) for each in value)
    if isinstance(value, Mapping):
        return {key: _rounded(each, how) for key, each in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
        power = math.floor(math.log10(np.ptp(value) or 1.0))
        return np.round(value, 3 - power) + 0.0
    if is_dataclass(value) and not isinstance(value, type):
        return _result(value, how)
    return value


def _result(result: Any, how: Round) -> Any:
    """A result with each of its numbers rounded in the way that its interval, or its kind, asks for."""
    if isinstance(result, Alternative):
        result = to_scale(result)
    given = GIVEN.get(type(result), frozenset())
    names = [each.name for each in fields(result) if each.init and each.name not in given and each.name != "meaning"]
    values = {name: getattr(result, name) for name in names}
    first = next((name for name, value in values.items() if isinstance(value, float)), None)
    if isinstance(result, Interval):
        how = partial(how, bounds=_ends(result))
    changed = {}
    for name, value in values.items():
        bounds = _bounds(values, name, first)
        people = name in PEOPLE or (name == "positions" and isinstance(result, FirmSearch))
        own = of_people if people else how if bounds is None else partial(how, bounds=bounds)
        if KEPT.get(type(result)) == name:
            own = partial(of_kept_share, how=how, bounds=bounds)
        rounded_value = _rounded(value, own)
        if rounded_value is not value:
            changed[name] = rounded_value
    found = replace(result, **changed) if changed else result
    return _ordered(found) if isinstance(found, Comparison) else found


def _bounds(values: Mapping[str, object], name: str, first: str | None) -> Bounds | None:
    """The interval of a number of a result, or of the ends of an interval."""
    own = _ends(values[name]) or _ends(values.get(f"{name}_interval"))
    if own is not None:
        return own
    interval = values.get("interval")
    if isinstance(interval, PriceInterval):
        return {"ratio": interval.ratio, "loss": interval.loss}.get(name)
    if name not in (first, "standard_error", "parts"):
        return None
    error = values.get("standard_error")
    return _ends(interval) or ((-2 * error, 2 * error) if isinstance(error, float) and error else None)


def _ends(interval: Any) -> Bounds | None:
    if isinstance(interval, Interval):
        return None if interval.upper is None else (interval.lower, interval.upper)
    pair = isinstance(interval, tuple) and len(interval) == 2 and all(isinstance(x, float) for x in interval)
    return interval if pair else None
