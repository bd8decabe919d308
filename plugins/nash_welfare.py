"""Nash welfare: the geometric mean of the outcomes is at least a minimum.

    (u_1 u_2 ... u_n)^(1/n) >= minimum,    concave in u

whose slope in u_i is the mean divided by n u_i. The mean is 0 as soon as one outcome is 0: if some u_i is 0 under every
policy, the constraint can't hold, and the conflict names whose it is. An outcome of 0 that could be positive counts as
LEAST; the resulting error is of the same size.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from auditkit import hookimpl
from auditkit.constraints import Description, Measure, Parameter, Row, WelfareConstraint, Words
from auditkit.model.layout import Floats, Layout
from auditkit.text import plain

LEAST = 1e-12
"""Outcomes below this are treated as equal to it, because the slope at 0 would be infinite."""


class NashWelfare(WelfareConstraint):
    type: ClassVar[str] = "nash-welfare"
    # sensible values depend on the data, so a report doesn't guess them
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("minimum", tightens=1, in_reports=False),)
    minimum: float = Field(gt=0, description="least geometric mean of the outcomes")

    def measures(self, layout: Layout) -> list[Measure]:
        label = f"{self.level} Nash welfare >= {self.minimum:g}"
        return self.welfares(layout, label, geometric_mean, geometric_slope, ">=", self.minimum)

    def rows(self, layout: Layout) -> list[Row]:
        return self.impossible(layout, self.minimum)

    def describe(self, words: Words) -> Description:
        mean = self.spoken("geometric mean", words)
        return self.described(f"a {mean} of at least {plain(self.minimum)}", axis="least geometric mean")


def geometric_mean(u: Floats) -> float:
    return float(np.exp(np.log(np.maximum(u, LEAST)).mean()))


def geometric_slope(u: Floats) -> Floats:
    return geometric_mean(u) / (len(u) * np.maximum(u, LEAST))


@hookimpl
def auditkit_constraints() -> list[type[NashWelfare]]:
    return [NashWelfare]
