"""What a constraint costs for every value of its parameter: the price-of-fairness frontier.

    U(t) = max { R.p : p meets the constraint with parameter t, and all other constraints }

for a quota's share, an impact ratio's minimum, a budget's limit, or any other number that a constraint has. Beside it:
how many positions stay unfilled, who is selected, and the value of t from which the constraint costs anything. That
value is where the best policies without the constraint stop meeting it. There may be many of them: candidates whom the
data cannot tell apart are tied, and ties can be broken in favour of the constraint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from auditkit.constraints.base import Constraint
from auditkit.constraints.binding import bind
from auditkit.errors import InputError, Problem, nearest
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Layout
from auditkit.scenarios.neighbours import Neighbours
from auditkit.scenarios.sensitivity import open_positions
from auditkit.solver import Solution, solve_once
from auditkit.solver.oracle import Oracle
from auditkit.solver.policy import Level, Outcome, Policy

FREE = 1e-9
"""Of the utility: a loss below this is none."""

STEPS = 10
HALVINGS = 8

TIGHTENS = {"share": 1, "minimum": 1, "limit": -1, "tolerance": -1, "maximum": -1}
"""Parameters of the shipped constraints: +1 if larger ones demand more, -1 if smaller ones do."""


@dataclass(frozen=True)
class FrontierPoint:
    """The optimum at one value; without numbers if the constraints cannot hold together there."""

    value: float
    utility: float | None
    loss: float | None
    ratio: float | None
    gap: float | None
    long_term_utility: float | None
    unfilled_capacity: float | None
    selected: dict[str, float] | None
    """Expected selections of each group."""


@dataclass(frozen=True)
class Frontier:
    """`starts` is the value from which the constraint costs something, None if no value tried does."""

    label: str
    parameter: str
    tightens: int
    """+1 if larger values demand more, -1 if smaller ones do."""
    present: float | None
    """The parameter as the constraint has it."""
    unconstrained: float
    """Utility without this constraint."""
    positions: int
    points: tuple[FrontierPoint, ...]
    starts: float | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"points": [asdict(point) for point in self.points], "sentence": self.sentence}

    @property
    def sentence(self) -> str:
        solved = [p for p in self.points if p.loss is not None]
        if not solved:
            return f"No value of {self.parameter} that was tried can be met."
        strict = max(solved, key=lambda p: self.tightens * p.value)
        if self.starts is None:
            return f"{self.label}: no {self.parameter} from {solved[0].value:g} to {solved[-1].value:g} costs anything."
        side = "up to" if self.tightens > 0 else "down to"
        told = f"{self.label}: a {self.parameter} {side} {self.starts:.3g} is free; {strict.value:g} costs "
        told += f"{strict.loss:.3g}" if strict.ratio is None else f"{_percent(1 - strict.ratio)} of the utility"
        if strict.unfilled_capacity is not None and strict.unfilled_capacity > 0.005 * self.positions:
            told += f" and leaves {strict.unfilled_capacity:.3g} of {self.positions:,} positions unfilled"
        lost = [p for p in self.points if p.loss is None]
        return told + (f"; {len(lost)} of the values tried cannot be met." if lost else ".")


def _percent(x: float) -> str:
    return f"{x:.1%}" if x >= 0.001 else f"{x:.2%}" if x >= 0.0001 else "less than 0.01%"


def frontier(
    instance: Instance,
    constraint: Constraint,
    others: Sequence[Constraint] = (),
    *,
    parameter: str | None = None,
    values: Sequence[float] | None = None,
    tightens: int | None = None,
    steps: int = STEPS,
) -> Frontier:
    """Solve the instance for each of `values` (default: so many steps from nothing to the most that makes sense)."""
    parameter = parameter or main_parameter(constraint)
    tightens = tightens or TIGHTENS.get(parameter, 1)
    base = solve_once(instance, others)
    if base.constrained is None:
        raise InputError(f"without {constraint.describe()} already, {', '.join(base.conflict)} cannot hold")
    free = base.constrained.outcome
    grid = sorted(set(values if values is not None else default_values(constraint, parameter, free, steps)))
    line = Neighbours()

    def at(value: float) -> Solution:
        if (_slacks(constraint, parameter, value, free.layout, free.visits) >= 0).all():
            return base  # the optimum without the constraint meets it
        return line.solve(instance, [changed(constraint, parameter, value), *others])

    order = sorted(grid, reverse=tightens < 0)  # from the mildest on, so that a neighbour is always at hand
    found = {value: _point(value, at(value), free.utility) for value in order}
    starts = _Start(constraint, parameter, base, free, not others, at).find([found[value] for value in order])
    present = getattr(constraint, parameter, None)
    return Frontier(
        label=_label(constraint, parameter),
        parameter=parameter,
        tightens=tightens,
        present=float(present) if isinstance(present, int | float) else None,
        unconstrained=free.utility,
        positions=int(instance.layout.capacity.sum()),
        points=tuple(found[value] for value in grid),
        starts=starts,
    )


def main_parameter(constraint: Constraint) -> str:
    """The number of a constraint that one would turn."""
    numbers = [name for name in TIGHTENS if name in type(constraint).model_fields]
    if not numbers:
        raise InputError(Problem("parameter", f"{constraint.type!r} has no parameter that is known: name one"))
    return numbers[0]


def changed(constraint: Constraint, parameter: str, value: float) -> Constraint:
    """The constraint with another value, checked as if a user had written it."""
    if parameter not in type(constraint).model_fields:
        fix = nearest(parameter, type(constraint).model_fields)
        raise InputError(Problem("parameter", f"{constraint.type!r} has no key {parameter!r}", fix))
    try:
        return type(constraint).model_validate({**constraint.model_dump(exclude_unset=True), parameter: value})
    except ValidationError as error:
        raise InputError(Problem(parameter, f"{value:g}: {error.errors()[0]['msg']}")) from None


def default_values(constraint: Constraint, parameter: str, free: Outcome, steps: int = STEPS) -> list[float]:
    """Values at even steps: 0 to 1 for shares and ratios, to what the free optimum has for limits and tolerances.

    Those that the constraint does not allow are left out, such as a geometric mean of at least 0.
    """
    if parameter in ("limit", "tolerance"):
        rows = bind([changed(constraint, parameter, 1e-9 if parameter == "tolerance" else 0.0)], free.layout).rows
        top = max((abs(row.value(free.visits)) for row in rows), default=1.0)
    elif constraint.type == "floor":
        top = float(free.layout.capacity.sum()) / len(free.layout.candidate_ids)
    else:
        top = 1.0
    return [float(x) for x in np.linspace(0.0, top, steps + 1) if _allowed(constraint, parameter, float(x))]


def _allowed(constraint: Constraint, parameter: str, value: float) -> bool:
    try:
        changed(constraint, parameter, value)
    except InputError:
        return False
    return True


def _label(constraint: Constraint, parameter: str) -> str:
    keys = constraint.model_dump(exclude_defaults=True, mode="json")
    told = [f"{name} {', '.join(value) if isinstance(value, list) else value}" for name, value in keys.items()]
    told = [text for name, text in zip(keys, told, strict=True) if name != parameter]
    return constraint.type + (f" ({', '.join(told)})" if told else "")


def _point(value: float, solution: Solution, free: float) -> FrontierPoint:
    optimum = solution.constrained
    if optimum is None:
        return FrontierPoint(value, *[None] * 7)
    outcome = optimum.outcome
    selected = outcome.by_group(outcome.selected)
    return FrontierPoint(
        value=value,
        utility=optimum.utility,
        loss=max(0.0, free - optimum.utility),
        ratio=optimum.utility / free if free > 0 else None,
        gap=optimum.gap,
        long_term_utility=outcome.long_term_utility,
        unfilled_capacity=open_positions(outcome),
        selected={name: float(x) for name, x in zip(outcome.layout.groups, selected, strict=True)},
    )


def _slacks(constraint: Constraint, parameter: str, value: float, layout: Layout, visits: Floats) -> Floats:
    """By how much visits meet each row and measure of the constraint at this value, below 0 where they do not."""
    rows = bind([changed(constraint, parameter, value)], layout)
    room = rows.bounds - rows.values(visits) if len(rows) else np.zeros(0)
    room = np.where(rows.is_equality, -np.abs(room), rows.signs * room) if len(rows) else room
    return np.append(room, [measure.slack(visits) for measure in rows.measures])


@dataclass(frozen=True, eq=False)
class _Start:
    """Looks for the last value without a loss. `base` is the optimum without the constraint, `free` its outcome."""

    constraint: Constraint
    parameter: str
    base: Solution
    free: Outcome
    alone: bool
    """There are no other constraints."""
    at: Callable[[float], Solution]

    @property
    def much(self) -> float:
        return FREE * max(1.0, abs(self.free.utility))

    def find(self, points: Sequence[FrontierPoint]) -> float | None:
        """`points` go from the mildest to the strictest; None if none of them has a loss."""
        lossy = [i for i, p in enumerate(points) if p.loss is None or p.loss > self.much]
        if not lossy:
            return None
        if lossy[0] == 0:
            return points[0].value
        low, high = points[lossy[0] - 1].value, points[lossy[0]].value
        strict = high
        for _ in range(20):
            middle = (low + strict) / 2
            low, strict = (middle, strict) if self.met_for_nothing(middle) else (low, middle)
        if self.costs(self.at(low + 1e-3 * (high - low))):
            return low
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.costs(self.at(middle)) else (middle, high)
        return low

    def met_for_nothing(self, value: float) -> bool:
        """Whether the free optimum meets the constraint, or a mixture of it with another best policy does.

        That other one breaks the ties of the free optimum in favour of the row that it misses most. With one row
        nothing is overlooked; with several something may be.
        """
        layout, visits = self.free.layout, self.free.visits
        slacks = _slacks(self.constraint, self.parameter, value, layout, visits)
        if (slacks >= 0).all():
            return True
        rows = bind([changed(self.constraint, self.parameter, value)], layout)
        if rows.measures or not self.alone:
            return False
        j = int(np.argmin(slacks))
        row = rows.rows[j]
        towards = np.zeros(len(rows))
        towards[j] = -1.0 if row.sense == ">=" or (row.sense == "==" and row.value(visits) < row.bound) else 1.0
        best = Policy.at(np.zeros(len(rows)), Level(0.0, tuple(towards)))
        other = Oracle(layout, rows).column(best).values
        a, b = (rows.signs * (rows.bounds - values) for values in (rows.values(visits), other))
        least, most = 0.0, 1.0  # weights of the other policy with which every row is met
        for x, y, equal in zip(a, b, rows.is_equality, strict=True):
            bounds = ((x, y), (-x, -y)) if equal else ((x, y),)
            for from_, to in bounds:
                if from_ < 0:
                    least = max(least, -from_ / (to - from_) if to > from_ else 2.0)
                elif to < 0:
                    most = min(most, from_ / (from_ - to))
        return least <= most

    def costs(self, solution: Solution) -> bool:
        """By the duals: near the start a loss may be too small to be told from rounding, its slope is not."""
        best = solution.constrained
        if solution is self.base:
            return False
        if best is None or best.rows.measures:
            return best is None or self.free.utility - best.utility > self.much
        own = [j for j, owner in enumerate(best.rows.owner) if owner == 0]
        sizes = [float(np.abs(best.rows.rows[j].coefficients).max(initial=0.0)) for j in own]
        return bool((np.abs(best.duals[own]) * sizes > self.much).any())
