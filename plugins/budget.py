"""Budget: the expected expense on outcomes, of one group or of all, stays within a limit.

sum_i expense_i * y_i <= limit

`expense` is a number, an attribute of candidates, or `cost`: the model's own cost of leaving a state, for the states
that `on` names, or for all of them with `on=total`.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field, model_validator

from auditkit import hookimpl
from auditkit.constraints import AmountAtMost, AuditContext, Description, GroupConstraint, Parameter, Row, Slider, Words
from auditkit.constraints.outcome import counted
from auditkit.errors import InputError, Problem, nearest
from auditkit.model.layout import Floats, Layout
from auditkit.text import plain

COST, TOTAL = "cost", "total"


class Budget(GroupConstraint):
    type: ClassVar[str] = "budget"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("limit", tightens=-1, resource=True),)
    limit: float = Field(description="the most that may be spent on average, in all searches together")
    group: str | None = Field(default=None, description="count only this group (default: everyone)")
    expense: float | str = Field(
        default=1.0, description="expense of one outcome: a number, an attribute of candidates, or cost (of the model)"
    )

    @model_validator(mode="after")
    def _by_is_of_the_group(self) -> Budget:
        if self.by is not None and self.group is None:
            raise ValueError("'by' says which attribute the group belongs to: give 'group' too, or leave out 'by'")
        if self.on == TOTAL and self.expense != COST:
            raise ValueError(f"on={TOTAL} adds up costs: write expense={COST} too, or name a stage")
        if self.on == "selection" and self.expense == COST:
            raise ValueError(f"being selected has no cost of its own: write on=inspection, a stage, or on={TOTAL}")
        return self

    @classmethod
    def explored_by_default(cls, context: AuditContext) -> Budget | None:
        return None if context.inspected is None else cls(on="inspection", limit=context.inspected)

    @classmethod
    def at_slider(cls, slider: Slider, value: float, attribute: str) -> Budget | None:
        return cls(on="inspection", limit=value) if slider == "interviews" else None

    def parameter_range(self, name: str, layout: Layout, visits: Floats) -> tuple[float, float]:
        return 0.0, max(abs(row.value(visits)) for row in self.rows(layout))

    def rows(self, layout: Layout) -> list[Row]:
        weights = self._weights(layout)
        who = "" if self.group is None else f" {self.group}"
        of, each = (self.expense, 1.0) if isinstance(self.expense, str) else (None, self.expense)
        rows = []
        for scope in self.places(layout) if self.group is None else self.scopes(layout, (self.group,)):
            member = scope.covers(layout) if self.group is None else scope.share(layout, self.group)
            meaning = AmountAtMost(
                on=self.on,
                maximum=self.limit,
                of=of,
                each=each,
                by=None if self.group is None else scope.named["by"],
                group=self.group,
                within=scope.named["within"],
                value=scope.named["value"],
            )
            label = f"{self.on} budget{who} <= {self.limit:g}{scope.where}"
            rows.append(Row.of(label, member * weights, "<=", self.limit, meaning=meaning))
        return rows

    def describe(self, words: Words) -> Description:
        who = "candidates" if self.group is None else words.member(self.by, self.group)
        if self.expense == 1.0 and self.on == "inspection":
            of = "" if self.group is None else f" of {who}"
            what, title = f"{words.inspection}s{of}", f"Utility kept as the number of {words.inspection}s{of} changes"
            return self.described(f"at most {plain(self.limit)} {what}{self.ending()}", title, f"most {what}")
        what = f"{who} {words.done(self.on)}" if self.on != TOTAL else who
        if isinstance(self.expense, str):
            what = f"of {self.expense} for {what}"
        elif self.expense != 1.0:
            what = f"for {what}, at {plain(self.expense)} each"
        title = f"Utility kept as the most {what} changes"
        return self.described(f"at most {plain(self.limit)} {what}{self.ending()}", title, f"most {what}")

    def _weights(self, layout: Layout) -> Floats:
        if self.expense != COST or COST in layout.attributes:
            return self.outcome(layout) * self._expenses(layout)[layout.state_candidate]
        costs = np.where(layout.selecting, 0.0, -layout.reward)
        if self.on == TOTAL:
            return counted(layout, costs, self.min_value, self.min_cost)
        return self.outcome(layout) * costs

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
