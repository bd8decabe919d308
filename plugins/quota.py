"""Quota: the expected outcomes of a group are at least a share of all.

y_group - share * sum_g y_g >= 0        (y in number)
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from auditkit import hookimpl
from auditkit.constraints import AuditContext, OutcomeConstraint, Parameter, Row
from auditkit.model.layout import Layout


class Quota(OutcomeConstraint):
    type: ClassVar[str] = "quota"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("share", tightens=1),)
    default_order: ClassVar[int] = 30
    group: str = Field(description="the group that the quota is for")
    share: float = Field(ge=0, le=1, description="its least share of the outcomes, 0 to 1")

    @classmethod
    def priced_by_default(cls, context: AuditContext) -> Quota | None:
        return None if context.group is None else cls(group=context.group, by=context.by, share=context.share)

    @classmethod
    def explored_by_default(cls, context: AuditContext) -> Quota | None:
        return None if context.group is None else cls(group=context.group, by=context.by, share=0.0)

    def rows(self, layout: Layout) -> list[Row]:
        outcome = self.outcome(layout)
        rows = []
        for scope in self.scopes(layout, (self.group,)):
            label = f"{self.on} quota {self.group} >= {self.share:g}{scope.where}"
            weights = outcome * (np.where(scope.member(layout, self.group), 1.0, 0.0) - self.share)
            rows.append(Row.of(label, np.where(scope.covers(layout), weights, 0.0), ">=", 0, scope.by))
        return rows


@hookimpl
def auditkit_constraints() -> list[type[Quota]]:
    return [Quota]
