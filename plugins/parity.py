"""Parity: the groups reach the outcome at the same rate (or, with basis=count, in the same number).

y_g - y_h  = 0            for neighbouring groups g, h, when tolerance is 0
|y_g - y_h| <= tolerance  for every pair otherwise
"""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import ClassVar, Literal

from pydantic import Field

from auditkit import hookimpl
from auditkit.constraints import AuditContext, OutcomeConstraint, Parameter, Row
from auditkit.model.layout import Floats, Layout


class Parity(OutcomeConstraint):
    type: ClassVar[str] = "parity"
    # the frontier of the impact ratio answers the same question, so a report does not ask it twice
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("tolerance", tightens=-1, in_reports=False),)
    default_order: ClassVar[int] = 10
    groups: tuple[str, ...] | None = Field(
        default=None, min_length=2, description="groups to compare (all large enough)"
    )
    basis: Literal["rate", "count"] = Field(default="rate", description="per candidate of the group, or in number")
    tolerance: float = Field(default=0.0, ge=0, description="largest difference allowed")

    @classmethod
    def priced_by_default(cls, context: AuditContext) -> list[Parity]:
        return [cls(by=attribute.by) for attribute in context.attributes]

    def parameter_range(self, name: str, layout: Layout, visits: Floats) -> tuple[float, float]:
        pairs = self.model_copy(update={"tolerance": 1.0}).rows(layout)
        return 0.0, max((abs(row.value(visits)) for row in pairs), default=1.0)

    def rows(self, layout: Layout) -> list[Row]:
        outcome = self.outcome(layout)
        rows = []
        for scope in self.scopes(layout, self.groups):
            rates = scope.rates(layout, outcome, self.basis)
            groups = scope.groups(self.groups)
            label = f"{self.on} parity {{}} {{}} {{}}{scope.where}".format
            if self.tolerance == 0:
                rows += [rates.row(label(g, "=", h), {g: 1, h: -1}, "==", 0) for g, h in pairwise(groups)]
            else:
                pairs = permutations(groups, 2)
                rows += [rates.row(label(g, "-", h), {g: 1, h: -1}, "<=", self.tolerance) for g, h in pairs]
        return rows


@hookimpl
def auditkit_constraints() -> list[type[Parity]]:
    return [Parity]
