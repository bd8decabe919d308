"""Parity: the groups reach the outcome at the same rate (or, with basis=count, in the same number).

y_g - y_h  = 0            for neighbouring groups g, h, when tolerance is 0
|y_g - y_h| <= tolerance  for every pair otherwise
"""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import ClassVar, Literal

from pydantic import Field

from auditkit import hookimpl
from auditkit.constraints import AuditContext, Description, GroupConstraint, Parameter, RateGap, Row, Words
from auditkit.constraints.base import Sense
from auditkit.model.layout import Floats, Layout
from auditkit.text import plain

SIGNS: dict[bool, tuple[str, Sense]] = {True: ("=", "=="), False: ("-", "<=")}
"""In labels and of rows, by whether the groups must be equal."""


class Parity(GroupConstraint):
    type: ClassVar[str] = "parity"
    # the frontier of the impact ratio answers the same question, so a report doesn't ask it twice
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
            sign, sense = SIGNS[self.tolerance == 0]
            for g, h in pairwise(groups) if self.tolerance == 0 else permutations(groups, 2):
                meaning = RateGap(
                    on=self.on, group=g, against=h, maximum=self.tolerance, basis=self.basis, **scope.named
                )
                label = f"{self.on} parity {g} {sign} {h}{scope.where}"
                rows.append(rates.row(label, {g: 1, h: -1}, sense, self.tolerance, meaning))
        return rows

    def describe(self, words: Words) -> Description:
        what = f"numbers {words.outcome(self.on)}" if self.basis == "count" else words.rate(self.on, "s")
        who = words.whom(self.by, self.groups)
        near = f"{what} {who} within {plain(self.tolerance)} of each other"
        phrase = (near if self.tolerance else f"equal {what} {who}") + self.ending()
        return self.described(phrase, f"Utility kept as {what} come closer", "largest difference allowed")


@hookimpl
def auditkit_constraints() -> list[type[Parity]]:
    return [Parity]
