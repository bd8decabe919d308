"""Parity: the groups reach the outcome at the same rate (or, with basis=count, in the same number).

y_g - y_h  = 0            for neighbouring groups g, h, when tolerance is 0
|y_g - y_h| <= tolerance  for every pair otherwise
"""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import ClassVar, Literal

from pydantic import Field

from auditkit import hookimpl
from auditkit.constraints import AuditContext, OutcomeConstraint, Parameter, Row, group_code, group_rates
from auditkit.model.layout import Floats, Layout


class Parity(OutcomeConstraint):
    type: ClassVar[str] = "parity"
    # the frontier of the impact ratio answers the same question, so a report does not ask it twice
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("tolerance", tightens=-1, in_reports=False),)
    default_order: ClassVar[int] = 10
    groups: tuple[str, ...] | None = Field(default=None, min_length=2, description="groups to compare (default: all)")
    basis: Literal["rate", "count"] = Field(default="rate", description="per candidate of the group, or in number")
    tolerance: float = Field(default=0.0, ge=0, description="largest difference allowed")

    @classmethod
    def priced_by_default(cls, context: AuditContext) -> Parity | None:
        return cls(groups=context.named_groups) if len(context.groups) > 1 else None

    def parameter_range(self, name: str, layout: Layout, visits: Floats) -> tuple[float, float]:
        pairs = self.model_copy(update={"tolerance": 1.0}).rows(layout)
        return 0.0, max((abs(row.value(visits)) for row in pairs), default=1.0)

    def rows(self, layout: Layout) -> list[Row]:
        for group in self.groups or ():
            group_code(layout, group)  # an unknown group is refused by name
        rates = group_rates(layout, self.outcome(layout), self.basis)
        y = {group: rates[group] for group in self.groups or layout.groups}
        if self.tolerance == 0:
            return [Row.of(f"{self.on} parity {g} = {h}", y[g] - y[h], "==", 0) for g, h in pairwise(y)]
        return [Row.of(f"{self.on} parity {g} - {h}", y[g] - y[h], "<=", self.tolerance) for g, h in permutations(y, 2)]


@hookimpl
def auditkit_constraints() -> list[type[Parity]]:
    return [Parity]
