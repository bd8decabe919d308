"""How strict a constraint should be, given how biased the scores of a group are: the paper's adjustable quotas.

For each factor rho at which the group's scores are seen, and each value theta of the constraint's parameter (the share
of a quota), the table gives the share of the unconstrained utility that is kept, in the short term (by what is seen)
and in the long term (by what candidates are worth). `best` is the value that yields most in the long term at each
factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from auditkit.constraints.base import Constraint
from auditkit.model.instance import Instance
from auditkit.scenarios.frontier import changed, default_values, main_parameter
from auditkit.scenarios.sensitivity import sensitivity
from auditkit.solver import solve_once

FACTORS = (1.0, 0.9, 0.7, 0.5, 0.3)
STEPS = 5


@dataclass(frozen=True)
class BiasCell:
    """One value of the parameter at one factor; None where the constraint cannot be met."""

    value: float
    factor: float
    ratio: float | None
    long_term_ratio: float | None
    unfilled_capacity: float | None
    gap: float | None


@dataclass(frozen=True)
class BiasTable:
    """`cells` go through the factors for each value, mildest value first."""

    label: str
    parameter: str
    group: str
    cells: tuple[BiasCell, ...]

    @property
    def factors(self) -> tuple[float, ...]:
        return tuple(dict.fromkeys(cell.factor for cell in self.cells))

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(dict.fromkeys(cell.value for cell in self.cells))

    def best(self, factor: float) -> BiasCell | None:
        """The value that yields most in the long term at a factor; the mildest of several."""
        found = [cell for cell in self.cells if cell.factor == factor and cell.long_term_ratio is not None]
        return max(found, key=lambda cell: round(cell.long_term_ratio or 0.0, 9), default=None)


def bias_table(
    instance: Instance,
    constraint: Constraint,
    group: str,
    *,
    values: Sequence[float] | None = None,
    factors: Sequence[float] = FACTORS,
    by: str | None = None,
) -> BiasTable:
    """Solve the instance for each value (default: even steps over its range) and each factor."""
    parameter = main_parameter(constraint)
    if values is None:
        values = default_values(constraint, parameter, solve_once(instance).unconstrained, STEPS)
    cells = []
    for value in values:
        found = sensitivity(instance, [changed(constraint, parameter, value)], group, factors, by)
        cells += [
            BiasCell(
                value=value,
                factor=point.factor,
                ratio=point.ratio,
                long_term_ratio=point.long_term_ratio,
                unfilled_capacity=None if point.constrained is None else point.constrained.unfilled_capacity,
                gap=point.gap,
            )
            for point in found.points
        ]
    return BiasTable(constraint.short_name, parameter, group, tuple(cells))
