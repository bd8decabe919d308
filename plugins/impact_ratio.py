"""Impact ratio: the rate of each group is at least a given fraction of the reference's rate.

y_g - minimum * y_r >= 0        for every compared group g and the reference r, or every other group as r
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from auditkit import hookimpl
from auditkit.constraints import AuditContext, Description, GroupConstraint, Parameter, RatioAtLeast, Row, Slider, Words
from auditkit.model.layout import Layout
from auditkit.text import plain


class ImpactRatio(GroupConstraint):
    type: ClassVar[str] = "impact-ratio"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("minimum", tightens=1),)
    default_order: ClassVar[int] = 20
    minimum: float = Field(default=0.8, ge=0, le=1, description="least ratio of the rates, 0 to 1")
    groups: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="groups to compare (all large enough)"
    )
    reference: str | None = Field(default=None, description="group to compare with (default: every other group)")

    @classmethod
    def priced_by_default(cls, context: AuditContext) -> ImpactRatio | None:
        return cls() if context.attributes else None

    @classmethod
    def explored_by_default(cls, context: AuditContext) -> ImpactRatio | None:
        return cls.priced_by_default(context)

    @classmethod
    def at_slider(cls, slider: Slider, value: float, attribute: str) -> ImpactRatio | None:
        return cls(minimum=value, by=attribute) if slider == "impact ratio" else None

    def rows(self, layout: Layout) -> list[Row]:
        outcome = self.outcome(layout)
        rows = []
        named = (*(self.groups or ()), *(() if self.reference is None else (self.reference,)))
        for scope in self.scopes(layout, named or None):
            rates = scope.rates(layout, outcome)
            groups = scope.groups(self.groups)
            references = groups if self.reference is None else scope.groups((self.reference,))
            for r, g in ((r, g) for r in references for g in groups if g != r):
                label = f"{self.on} impact ratio {g}/{r} >= {self.minimum:g}{scope.where}"
                meaning = RatioAtLeast(on=self.on, group=g, against=r, minimum=self.minimum, **scope.named)
                rows.append(rates.row(label, {g: 1, r: -self.minimum}, ">=", 0, meaning))
        return rows

    def describe(self, words: Words) -> Description:
        rate = words.rate(self.on)
        other = "another’s" if self.reference is None else f"that of {words.member(self.by, self.reference)}"
        of = f" {words.whom(self.by, self.groups)}" if self.by or self.groups else ""
        phrase = f"no group’s {rate}{of} below {plain(self.minimum)} times {other}{self.ending()}"
        title = f"Utility kept as the lowest ratio of {words.rate(self.on, 's')} rises"
        return self.described(phrase, title, "lowest ratio allowed")


@hookimpl
def auditkit_constraints() -> list[type[ImpactRatio]]:
    return [ImpactRatio]
