"""What if the scores of a group were biased: what is worth v is seen as rho * v, or as v minus some points.

For each factor rho the firm searches by what it would see (`variants.with_scores`), without and with the constraints;
short-term utility is measured by what it sees, long-term utility by what candidates are worth. The answers are:

    wins_at      the largest rho at which the constrained policy is worth at least as much in the long term
    unfilled_at  the largest rho at which the constrained policy leaves more capacity empty than it does at rho = 1

Between two solved factors, both are found by linear interpolation; `*_between` names the two factors.

A bias in points takes the same from everyone. To be comparable with the factors, each shift is what a factor takes from
the mean value of the group's members whom the best search selects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auditkit.constraints.base import Constraint
from auditkit.errors import InputError
from auditkit.model.instance import Instance
from auditkit.model.variants import with_scores
from auditkit.scenarios.neighbours import Neighbours
from auditkit.solver.policy import Outcome
from auditkit.solver.rounding import without_noise

FACTORS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)

NOTICED = 0.005
"""Share of the positions: if this much more is left empty, it's called unfilled."""


@dataclass(frozen=True)
class Yield:
    """What a policy yields: utility as seen and as it turns out, and expected positions left empty."""

    utility: float
    long_term_utility: float
    unfilled_capacity: float

    @staticmethod
    def of(outcome: Outcome) -> Yield:
        long = outcome.long_term_utility
        return Yield(outcome.utility, outcome.utility if long is None else long, outcome.unfilled_capacity)


@dataclass(frozen=True)
class SensitivityPoint:
    """`constrained`, and everything that follows from it, is None if the constraints can't hold together here."""

    factor: float
    unconstrained: Yield
    constrained: Yield | None
    ratio: float | None
    long_term_ratio: float | None
    gap: float | None
    shift: float = 0.0
    """Points, in the unit of value, that are added to what is seen."""


@dataclass(frozen=True)
class Sensitivity:
    """`shifts` are biases in points, for the factors that were also asked about as points."""

    group: str
    constraints: tuple[str, ...]
    positions: int
    points: tuple[SensitivityPoint, ...]
    wins_at: float | None
    wins_between: tuple[float, float] | None
    unfilled_at: float | None
    unfilled_between: tuple[float, float] | None
    shifts: tuple[SensitivityPoint, ...] = ()


def sensitivity(
    instance: Instance,
    constraints: Sequence[Constraint],
    group: str,
    factors: Sequence[float] = FACTORS,
    by: str | None = None,
    shifted: Sequence[float] = (),
) -> Sensitivity:
    """Solve the instance with the scores of `group` multiplied by each factor, and shifted as some factors would."""
    if not constraints:
        raise InputError("sensitivity compares policies with and without constraints: name at least one")
    line = Neighbours()

    def solved_at(factor: float, shift: float = 0.0) -> tuple[SensitivityPoint, Outcome]:
        as_it_is = factor == 1.0 and not shift
        seen = instance if as_it_is else with_scores(instance, group, factor, by, points=shift)
        solution = line.solve(seen, constraints)
        free, optimum = Yield.of(solution.unconstrained), solution.constrained
        best = None if optimum is None else Yield.of(optimum.outcome)
        point = SensitivityPoint(
            factor=factor,
            unconstrained=free,
            constrained=best,
            ratio=solution.ratio,
            long_term_ratio=_ratio(best, free),
            gap=None if optimum is None else optimum.gap,
            shift=shift,
        )
        return point, solution.unconstrained

    points = [solved_at(factor)[0] for factor in sorted(set(factors), reverse=True)]
    shifts: list[SensitivityPoint] = []
    if shifted:
        level = mean_selected(solved_at(1.0)[1], group, by)
        shifts = [solved_at(1.0, -(1 - f) * level)[0] for f in sorted(set(shifted), reverse=True) if level]
    positions = int(instance.layout.capacity.sum())
    solved = [(p.factor, p.unconstrained, p.constrained) for p in points if p.constrained is not None]
    gains = [(f, _long_term_gain(best, free)) for f, free, best in solved]
    now = solved[0][2].unfilled_capacity if solved else 0.0
    empty = [(f, best.unfilled_capacity - now - NOTICED * positions) for f, _, best in solved]
    wins_at, wins_between = _first(gains, strict=True)
    unfilled_at, unfilled_between = _first(empty)
    return Sensitivity(
        group=group,
        constraints=tuple(constraint.to_spec() for constraint in constraints),
        positions=positions,
        points=tuple(points),
        wins_at=wins_at,
        wins_between=wins_between,
        unfilled_at=unfilled_at,
        unfilled_between=unfilled_between,
        shifts=tuple(shifts),
    )


def mean_selected(outcome: Outcome, group: str, by: str | None = None) -> float:
    """The mean value of those of a group who are selected; 0 if no one is."""
    layout = outcome.layout
    part, code = layout.find(group, by)
    chosen = outcome.visits * (layout.selecting & part.members(code)[layout.state_candidate])
    return float(layout.reward @ chosen / chosen.sum()) if chosen.sum() > 0 else 0.0


def _ratio(best: Yield | None, free: Yield) -> float | None:
    if best is None or not free.long_term_utility > 0:
        return None
    return 1.0 + _long_term_gain(best, free) / free.long_term_utility


def _long_term_gain(best: Yield, free: Yield) -> float:
    new, old = best.long_term_utility, free.long_term_utility
    return without_noise(new - old, abs(new) + abs(old))


def _first(
    line: Sequence[tuple[float, float]], strict: bool = False
) -> tuple[float | None, tuple[float, float] | None]:
    """Going down the factors: where the line first exceeds 0 (`strict`) or reaches it, and the factors around it."""
    before: tuple[float, float] | None = None
    for factor, y in line:
        if y > 0 if strict else y >= 0:
            if before is None:
                return factor, (factor, factor)
            x0, y0 = before
            return factor + (x0 - factor) * y / (y - y0), (factor, x0)
        before = factor, y
    return None, None
