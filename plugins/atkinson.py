"""Atkinson: outcomes are even, whatever their level. Hiring fewer people doesn't satisfy it.

    M_q(u) - (1 - maximum) mean(u) >= 0,    concave in u

M_q is the Hölder mean of order q = 1 - aversion; 1 - M_q / mean is Atkinson's index of inequality. Its slope in u_i is
(u_i / M_q)^(q-1) / n - (1 - maximum) / n.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, field_validator

from auditkit import hookimpl
from auditkit.constraints import Description, Measure, Parameter, Row, WelfareConstraint, Words
from auditkit.model.layout import Floats, Layout
from auditkit.plugins.divergence import none_or_some
from auditkit.plugins.holder_mean import HolderMean
from auditkit.text import plain


class Atkinson(WelfareConstraint):
    type: ClassVar[str] = "atkinson"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("maximum", tightens=-1, in_reports=False),)
    maximum: float = Field(ge=0, le=1, description="largest inequality: 0 means all alike, 1 anything")
    aversion: float = Field(default=1.0, gt=0, description="how much low outcomes count: 1 is the geometric mean")

    @field_validator("maximum")
    @classmethod
    def _none_or_some(cls, maximum: float) -> float:
        return none_or_some(maximum)

    def rows(self, layout: Layout) -> list[Row]:
        return [] if self.maximum else self.all_alike(layout)

    def measures(self, layout: Layout) -> list[Measure]:
        if not self.maximum:
            return []
        label = f"{self.level} Atkinson index ({self.aversion:g}) <= {self.maximum:g}"
        return self.welfares(layout, label, self._value, self._slope, ">=", 0.0)

    def describe(self, words: Words) -> Description:
        index = self.spoken(f"Atkinson index of inequality (aversion {plain(self.aversion)})", words)
        return self.described(f"an {index} of at most {plain(self.maximum)}", axis="largest Atkinson index")

    @property
    def _mean(self) -> HolderMean:
        return HolderMean(q=1.0 - self.aversion, minimum=1.0)

    def _value(self, u: Floats) -> float:
        return self._mean.mean(u) - (1.0 - self.maximum) * float(u.mean())

    def _slope(self, u: Floats) -> Floats:
        return self._mean.slope(u) - (1.0 - self.maximum) / len(u)


@hookimpl
def auditkit_constraints() -> list[type[Atkinson]]:
    return [Atkinson]
