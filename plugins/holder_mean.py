"""Hölder mean: the generalised mean of the outcomes is bounded from below (q < 1) or from above (q > 1).

    ((u_1^q + ... + u_n^q) / n)^(1/q),    concave in u for q <= 1, convex for q >= 1

q = 0 is the geometric mean, q = 1 the average, q = -inf the minimum and q = inf the maximum in the limit. A bound on
the other side would not be convex, so it is refused. The slope in u_i is (u_i / mean)^(q-1) / n.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field, model_validator

from auditkit import hookimpl
from auditkit.constraints import Measure, Parameter, WelfareConstraint
from auditkit.model.layout import Floats, Layout
from auditkit.plugins.nash_welfare import LEAST, geometric_mean, geometric_slope


class HolderMean(WelfareConstraint):
    type: ClassVar[str] = "holder-mean"
    # the values that make sense depend on the data, so a report does not guess them
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("minimum", tightens=1, in_reports=False),
        Parameter("maximum", tightens=-1, in_reports=False),
    )
    q: float = Field(description="order of the mean: below 1 it rewards equality, above 1 it punishes inequality")
    minimum: float | None = Field(default=None, gt=0, description="least mean, for q < 1")
    maximum: float | None = Field(default=None, gt=0, description="largest mean, for q > 1")

    @model_validator(mode="after")
    def _convex(self) -> HolderMean:
        if (self.minimum is None) == (self.maximum is None):
            raise ValueError("give one of 'minimum' (with q < 1) and 'maximum' (with q > 1)")
        if self.minimum is not None and self.q > 1:
            raise ValueError(
                "with q > 1 the mean is convex, so that a minimum is not a convex constraint: give a maximum"
            )
        if self.maximum is not None and self.q < 1:
            raise ValueError(
                "with q < 1 the mean is concave, so that a maximum is not a convex constraint: give a minimum"
            )
        return self

    def measures(self, layout: Layout) -> list[Measure]:
        if self.minimum is not None:
            label = f"{self.level} Hölder mean ({self.q:g}) >= {self.minimum:g}"
            return self.welfares(layout, label, self._mean, self._slope, ">=", self.minimum)
        assert self.maximum is not None
        label = f"{self.level} Hölder mean ({self.q:g}) <= {self.maximum:g}"
        return self.welfares(layout, label, self._mean, self._slope, "<=", self.maximum)

    def _mean(self, u: Floats) -> float:
        if self.q == 0:
            return geometric_mean(u)
        u = np.maximum(u, LEAST)
        top = u.max() if self.q > 0 else u.min()  # factored out so that no power overflows
        return float(top * np.mean((u / top) ** self.q) ** (1.0 / self.q))

    def _slope(self, u: Floats) -> Floats:
        if self.q == 0:
            return geometric_slope(u)
        return (np.maximum(u, LEAST) / self._mean(u)) ** (self.q - 1.0) / len(u)


@hookimpl
def auditkit_constraints() -> list[type[HolderMean]]:
    return [HolderMean]
