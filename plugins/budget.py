"""Budget: the expected expense on outcomes, of one group or of all, stays within a limit.

sum_i expense_i * y_i <= limit
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from auditkit import hookimpl
from auditkit.constraints import AuditContext, OutcomeConstraint, Parameter, Row, group_members
from auditkit.errors import InputError, Problem, nearest
from auditkit.model.layout import Floats, Layout


class Budget(OutcomeConstraint):
    type: ClassVar[str] = "budget"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("limit", tightens=-1, resource=True),)
    limit: float = Field(description="the most that may be spent on average, in all searches together")
    group: str | None = Field(default=None, description="count only this group (default: everyone)")
    expense: float | str = Field(
        default=1.0, description="expense of one outcome: a number, or an attribute of candidates"
    )

    @classmethod
    def explored_by_default(cls, context: AuditContext) -> Budget | None:
        return None if context.inspected is None else cls(on="inspection", limit=context.inspected)

    def parameter_range(self, name: str, layout: Layout, visits: Floats) -> tuple[float, float]:
        return 0.0, max(abs(row.value(visits)) for row in self.rows(layout))

    def rows(self, layout: Layout) -> list[Row]:
        weights = self.outcome(layout) * self._expenses(layout)[layout.state_candidate]
        if self.group is not None:
            weights *= group_members(layout, self.group, self.by)
        who = f" {self.group}" if self.group is not None else ""
        return [Row.of(f"{self.on} budget{who} <= {self.limit:g}", weights, "<=", self.limit)]

    def _expenses(self, layout: Layout) -> Floats:
        if not isinstance(self.expense, str):
            return np.full(len(layout.candidate_ids), self.expense)
        if self.expense not in layout.attributes:
            fix = nearest(self.expense, layout.attributes)
            raise InputError(Problem("expense", f"no candidate has an attribute {self.expense!r}", fix))
        column = layout.attributes[self.expense]
        if np.isnan(column).any():
            who = layout.candidate_ids[int(np.flatnonzero(np.isnan(column))[0])]
            raise InputError(Problem("expense", f"candidate {who!r} has no attribute {self.expense!r}"))
        return column


@hookimpl
def auditkit_constraints() -> list[type[Budget]]:
    return [Budget]
