"""Entropy: the negative entropy of the outcomes is at most a maximum.

    sum_i u_i log u_i <= maximum,    convex in u

whose slope in u_i is 1 + log u_i.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from auditkit import hookimpl
from auditkit.constraints import Description, Measure, Parameter, WelfareConstraint, Words
from auditkit.model.layout import Floats, Layout
from auditkit.plugins.nash_welfare import LEAST
from auditkit.text import plain


class Entropy(WelfareConstraint):
    type: ClassVar[str] = "entropy"
    # sensible values depend on the data, so a report doesn't guess them
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("maximum", tightens=-1, in_reports=False),)
    maximum: float = Field(description="the most that the sum of u log u may be")

    def measures(self, layout: Layout) -> list[Measure]:
        label = f"{self.level} entropy <= {self.maximum:g}"
        return self.welfares(layout, label, _negative_entropy, _slope, "<=", self.maximum)

    def describe(self, words: Words) -> Description:
        entropy = self.spoken("negative entropy", words)
        return self.described(f"a {entropy} of at most {plain(self.maximum)}", axis="largest negative entropy")


def _negative_entropy(u: Floats) -> float:
    u = np.maximum(u, LEAST)
    return float((u * np.log(u)).sum())


def _slope(u: Floats) -> Floats:
    return 1.0 + np.log(np.maximum(u, LEAST))


@hookimpl
def auditkit_constraints() -> list[type[Entropy]]:
    return [Entropy]
