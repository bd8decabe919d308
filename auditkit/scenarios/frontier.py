"""What a constraint costs for every value of its parameter: the price-of-fairness frontier.

    U(t) = max { R.p : p meets the constraint with parameter t, and all other constraints }

for any of the constraint's `parameters`, such as a quota's share or a budget's limit, or another of its numbers. It
also says how many positions stay unfilled, who is selected, and the value of t from which the constraint costs
anything. That value is where the best policies without the constraint stop meeting it. There may be many such policies:
candidates whom the data can't tell apart are tied, and ties can be broken in favour of the constraint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from auditkit.constraints.base import Constraint, Rows
from auditkit.constraints.binding import bind
from auditkit.errors import InputError, Problem, blaming, nearest, validated
from auditkit.model.instance import Instance
from auditkit.model.layout import Bools, Floats, Layout
from auditkit.scenarios.breakpoints import pieces
from auditkit.scenarios.neighbours import Neighbours, precision
from auditkit.solver import Optimum, Solution, solve_once
from auditkit.solver.block_sums import Sums
from auditkit.solver.oracle import Oracle
from auditkit.solver.policy import Level, Outcome, Policy

if TYPE_CHECKING:
    import pandas as pd

FREE = 1e-9
"""Relative to the utility: a smaller loss counts as none."""

HELD = ("value", "selected")
"""What a table of points does not repeat: its first column, and numbers by group."""

STEPS = 10
HALVINGS = 8
MOST_TIES = 5
"""How many ways of breaking ties are carried from value to value before each value looks for its own."""


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
    selected: dict[str, dict[str, float]] | None
    """Attribute -> group -> expected selections."""

    @property
    def given_up(self) -> float | None:
        """The share of the utility that it costs."""
        return None if self.ratio is None else 1 - self.ratio


@dataclass(frozen=True)
class Frontier:
    """`starts` is the value from which the constraint costs something; None if no value tried does."""

    label: str
    constraint: Constraint
    """Which describes itself: `constraint.frontier_words(words, parameter)`."""
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
    left_out: tuple[float, ...] = ()
    """Values that can only just be met, at which the optimum is not proved."""
    apart: float | None = None
    """With exact breakpoints: the curve is straight between the points, or lies at most this much above."""

    def to_frame(self) -> pd.DataFrame:
        """One row per value, without those in `frame.attrs["left_out"]`.

        Exact breakpoints also get the slope up to the next one, and `frame.attrs["apart"]`.
        """
        import pandas as pd

        rows = [{self.parameter: p.value} | {k: v for k, v in asdict(p).items() if k not in HELD} for p in self.points]
        frame = pd.DataFrame(rows)
        frame.attrs["left_out"] = list(self.left_out)
        if self.apart is not None:
            frame["slope"] = -frame["utility"].diff(-1) / -frame[self.parameter].diff(-1)
            frame.attrs["apart"] = self.apart
        return frame


def frontier(
    instance: Instance,
    constraint: Constraint,
    others: Sequence[Constraint] = (),
    *,
    parameter: str | None = None,
    values: Sequence[float] | None = None,
    tightens: int | None = None,
    steps: int = STEPS,
    exact: bool = False,
) -> Frontier:
    """Solve the instance for each of `values` (default: this many steps from nothing to the most that makes sense).

    `exact` covers every value between the smallest and the largest: the points are those at which the slope changes,
    for parameters that move only bounds (`breakpoints.py`).
    """
    parameter = parameter or main_parameter(constraint)
    tightens = tightens or next((p.tightens for p in constraint.parameters if p.name == parameter), 1)
    base = solve_once(instance, others)
    if base.constrained is None:
        raise InputError(f"even without {constraint.to_spec()}, {', '.join(base.conflict)} cannot hold")
    free = base.constrained.outcome
    grid = sorted(set(values if values is not None else default_values(constraint, parameter, free, steps)))
    present = getattr(constraint, parameter, None)
    made = partial(
        Frontier,
        label=_label(constraint, parameter),
        constraint=constraint,
        parameter=parameter,
        tightens=tightens,
        present=float(present) if isinstance(present, int | float) else None,
        unconstrained=free.utility,
        positions=int(instance.layout.capacity.sum()),
    )
    if exact:
        if not grid:
            raise InputError(Problem(parameter, "there is no value to start from", "give the smallest and the largest"))
        least, most = (float(value) for value in (grid[0], grid[-1]))
        found = pieces(free.layout, lambda t: [changed(constraint, parameter, t), *others], least, most)
        points = tuple(_point(end.value, end.optimum, free) for end in found.ends)
        return made(points=points, starts=_bend(points, tightens, free), apart=found.apart)
    line = Neighbours()

    def at(value: float) -> Solution:
        if (_slacks(constraint, parameter, value, free.layout, free.visits) >= 0).all():
            return base  # the optimum without the constraint meets it
        return line.solve(instance, [changed(constraint, parameter, value), *others])

    order = sorted(grid, reverse=tightens < 0)  # from the mildest on, so that a neighbour is always at hand
    found_at = {value: at(value) for value in order}
    solved = {v: _point(v, found.constrained, free) for v, found in found_at.items() if found.status != "unproved"}
    starts = _Start(constraint, parameter, base, free, not others, at).find(list(solved.values()))
    points = tuple(solved[value] for value in grid if value in solved)
    return made(points=points, starts=starts, left_out=tuple(value for value in grid if value not in solved))


def _bend(points: Sequence[FrontierPoint], tightens: int, free: Outcome) -> float | None:
    """The strictest of the breakpoints without a loss; the mildest if all have one, None if none has."""
    order = points[::tightens]
    costly = [point.loss is None or point.loss > FREE * max(1.0, abs(free.utility)) for point in order]
    if not any(costly):
        return None
    return order[max(costly.index(True) - 1, 0)].value


def main_parameter(constraint: Constraint) -> str:
    """The name of the number that a constraint wants varied."""
    if constraint.parameter is None:
        raise InputError(Problem("parameter", f"{constraint.type!r} declares none in `parameters`", "name one"))
    return constraint.parameter.name


def changed(constraint: Constraint, parameter: str, value: float) -> Constraint:
    """The constraint with another value, checked as if a user had written it."""
    if parameter not in type(constraint).model_fields:
        fix = nearest(parameter, type(constraint).model_fields)
        raise InputError(Problem("parameter", f"{constraint.type!r} has no key {parameter!r}", fix))
    keys = {**constraint.model_dump(exclude_unset=True), parameter: value}
    return validated(type(constraint), keys, constraint.type)


def default_values(constraint: Constraint, parameter: str, free: Outcome, steps: int = STEPS) -> list[float]:
    """Values at even steps over the constraint's `parameter_range`.

    Those that the constraint does not allow are left out, such as a geometric mean of at least 0.
    """
    with blaming(constraint, f"parameter_range of the constraint {constraint.type!r}"):
        least, most = map(float, constraint.parameter_range(parameter, free.layout, free.visits))
        if not (np.isfinite([least, most]).all() and least <= most):
            raise ValueError(f"{least:g} to {most:g} is not a range of finite numbers")
    return [float(x) for x in np.linspace(least, most, steps + 1) if _allowed(constraint, parameter, float(x))]


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


def _point(value: float, optimum: Optimum | None, free: Outcome) -> FrontierPoint:
    if optimum is None:
        return FrontierPoint(value, *[None] * 7)
    outcome = optimum.outcome
    loss = max(0.0, free.gain_over(outcome))
    return FrontierPoint(
        value=value,
        utility=optimum.utility,
        loss=loss,
        ratio=1.0 - loss / free.utility if free.utility > 0 else None,
        gap=optimum.gap,
        long_term_utility=outcome.long_term_utility,
        unfilled_capacity=outcome.unfilled_capacity,
        selected=outcome.selected_by_attribute,
    )


def _slacks(constraint: Constraint, parameter: str, value: float, layout: Layout, visits: Floats) -> Floats:
    """By how much visits meet each row and measure of the constraint at this value, below 0 where they do not."""
    rows = bind([changed(constraint, parameter, value)], layout)
    return _met_by(rows, rows.values(visits), visits)


def _met_by(rows: Rows, values: Floats, visits: Floats) -> Floats:
    """The same for bound rows, and their values."""
    room = rows.bounds - values if len(rows) else np.zeros(0)
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
    tied: list[Sums] = field(default_factory=list)
    """What other best policies yield that were evaluated along the way."""

    @property
    def much(self) -> float:
        return max(FREE, 2 * precision(self.free.layout)) * max(1.0, abs(self.free.utility))

    def find(self, points: Sequence[FrontierPoint]) -> float | None:
        """`points` go from the mildest to the strictest; None if none of them has a loss."""
        lossy = [i for i, p in enumerate(points) if p.loss is None or p.loss > self.much]
        if not lossy:
            return None
        if lossy[0] == 0:
            return points[0].value
        low, high = points[lossy[0] - 1].value, points[lossy[0]].value
        mild, low, strict = low, *self.narrowed(low, high, self.met_by_known)
        for attempt in range(MOST_TIES + 1):  # ties can be broken in favour of the constraint
            if not self.met_for_nothing(strict):
                break
            few = self.tied and attempt < MOST_TIES
            low, strict = self.narrowed(mild, high, self.met_by_known if few else self.met_for_nothing)
        if self.costs(self.at(low + 1e-3 * (high - low))):
            return low
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.costs(self.at(middle)) else (middle, high)
        return low

    @staticmethod
    def narrowed(low: float, high: float, met: Callable[[float], bool]) -> tuple[float, float]:
        """Two values close together, such that the lower one is met and the higher one is not."""
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (middle, high) if met(middle) else (low, middle)
        return low, high

    def met_by_known(self, value: float) -> bool:
        """Like `met_for_nothing`, using the policies already evaluated."""
        return self._met(value, fresh=False)

    def met_for_nothing(self, value: float) -> bool:
        """Whether the free optimum meets the constraint, or a mixture of it with another best policy does.

        The other policy breaks the ties of the free optimum in favour of the row that it misses most. With one row
        nothing is overlooked; with several, something may be.
        """
        return self._met(value, fresh=True)

    def _met(self, value: float, fresh: bool) -> bool:
        layout, visits = self.free.layout, self.free.visits
        rows = bind([changed(self.constraint, self.parameter, value)], layout)
        values = rows.values(visits)
        slacks = _met_by(rows, values, visits)
        if (slacks >= 0).all():
            return True
        if not fresh and not self.tied:
            return False
        if rows.measures or not self.alone:
            return False
        oracle = Oracle(layout, rows)
        if fresh:
            j = int(np.argmin(slacks))
            row = rows.rows[j]
            towards = np.zeros(len(rows))
            towards[j] = -1.0 if row.sense == ">=" or (row.sense == "==" and values[j] < row.bound) else 1.0
            others = [oracle.column(Policy.at(np.zeros(len(rows)), Level(0.0, tuple(towards))))]
            self.tied.extend(other.sums for other in others if other.sums is not None and not oracle.blocks.further)
        else:
            others = [oracle.summed(Policy.at(np.zeros(len(rows))), sums) for sums in self.tied]
        free = rows.signs * (rows.bounds - values)
        return any(_mixed(free, rows.signs * (rows.bounds - each.values), rows.is_equality) for each in others)

    def costs(self, solution: Solution) -> bool:
        """By the duals: near the start a loss may be too small to tell from rounding, but its slope isn't."""
        best = solution.constrained
        if solution is self.base:
            return False
        if best is None or best.rows.measures:
            return best is None or self.free.utility - best.utility > self.much
        own = [j for j, owner in enumerate(best.rows.owner) if owner == 0]
        return bool((np.abs(best.duals[own]) * best.rows.largest[own] > self.much).any())


def _mixed(free: Floats, other: Floats, equality: Bools) -> bool:
    """Whether some mixture of two policies has no slack below 0, and slack 0 for equalities."""
    least, most = 0.0, 1.0  # weights of the other policy with which every row is met
    for x, y, equal in zip(free, other, equality, strict=True):
        bounds = ((x, y), (-x, -y)) if equal else ((x, y),)
        for from_, to in bounds:
            if from_ < 0:
                least = max(least, -from_ / (to - from_) if to > from_ else 2.0)
            elif to < 0:
                most = min(most, from_ / (from_ - to))
    return least <= most
