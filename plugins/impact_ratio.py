"""Impact ratio: the rate of each group is at least a part of the rate of the reference.

y_g - minimum * y_r >= 0        for every group g compared and the reference r, or every other of them as r
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from auditkit import hookimpl
from auditkit.constraints import AuditContext, OutcomeConstraint, Parameter, Row, group_code, group_rates
from auditkit.model.layout import Layout


class ImpactRatio(OutcomeConstraint):
    type: ClassVar[str] = "impact-ratio"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("minimum", tightens=1),)
    default_order: ClassVar[int] = 20
    minimum: float = Field(default=0.8, ge=0, le=1, description="least ratio of the rates, 0 to 1")
    groups: tuple[str, ...] | None = Field(default=None, min_length=1, description="groups to compare (default: all)")
    reference: str | None = Field(default=None, description="group to compare with (default: every other group)")

    @classmethod
    def priced_by_default(cls, context: AuditContext) -> ImpactRatio | None:
        return cls(groups=context.named_groups) if len(context.groups) > 1 else None

    @classmethod
    def explored_by_default(cls, context: AuditContext) -> ImpactRatio | None:
        return cls.priced_by_default(context)

    def rows(self, layout: Layout) -> list[Row]:
        y = group_rates(layout, self.outcome(layout))
        for name in (*(self.groups or ()), *(() if self.reference is None else (self.reference,))):
            group_code(layout, name)  # an unknown group is refused by name
        groups = self.groups or layout.groups
        references = groups if self.reference is None else (self.reference,)
        return [
            Row.of(f"{self.on} impact ratio {g}/{r} >= {self.minimum:g}", y[g] - self.minimum * y[r], ">=", 0)
            for r in references
            for g in groups
            if g != r
        ]


@hookimpl
def auditkit_constraints() -> list[type[ImpactRatio]]:
    return [ImpactRatio]
