"""Rate spread: the groups' rates lie close together, measured by their standard deviation.

    sum_g w_g (r_g - r)^2 <= maximum^2,    w_g = n_g / n,  r_g = u_g / n_g,  r = sum_g u_g / n

u_g are the expected outcomes of the n_g candidates of group g. It is convex in u, with slope 2 (r_g - r) / n.
Unlike parity with a tolerance it weighs groups by their size: a tiny group does not decide the price by itself.
"""

from typing import ClassVar, Literal

import numpy as np
from auditkit import Floats, Layout, Measure, WelfareConstraint, hookimpl
from pydantic import Field


class RateSpread(WelfareConstraint):
    type: ClassVar[str] = "rate-spread"
    level: Literal["group"] = "group"
    maximum: float = Field(gt=0, description="largest standard deviation of the rates: 0.02 is two percentage points")

    def measures(self, layout: Layout) -> list[Measure]:
        size = layout.group_sizes.astype(np.float64)
        n = float(size.sum())

        def apart(u: Floats) -> Floats:
            return u / size - float(u.sum()) / n

        def variance(u: Floats) -> float:
            return float(size @ apart(u) ** 2 / n)

        def slope(u: Floats) -> Floats:
            return 2.0 * apart(u) / n

        label = f"variance of the rates <= {self.maximum:g}^2"
        return [self.welfare(layout, label, variance, slope, "<=", self.maximum**2)]


@hookimpl
def auditkit_constraints() -> list[type[RateSpread]]:
    return [RateSpread]
