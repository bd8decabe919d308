"""Rate spread: the groups' rates lie close together, measured by their standard deviation.

    sum_g w_g (r_g - r)^2 <= maximum^2,    w_g = n_g / n,  r = sum_g w_g r_g

r_g is the rate of the n_g candidates of group g. It is convex in the rates, with slope 2 w_g (r_g - r).
Unlike parity with a tolerance it weighs groups by their size: a tiny group does not decide the price by itself.
"""

from typing import ClassVar, Literal

import numpy as np
from auditkit import Floats, Layout, Measure, Scope, WelfareConstraint, hookimpl
from pydantic import Field


class RateSpread(WelfareConstraint):
    type: ClassVar[str] = "rate-spread"
    level: Literal["group"] = "group"
    basis: Literal["rate"] = "rate"
    maximum: float = Field(gt=0, description="largest standard deviation of the rates: 0.02 is two percentage points")

    def measures(self, layout: Layout) -> list[Measure]:
        return [self._spread(layout, scope) for scope in self.scopes(layout)]

    def _spread(self, layout: Layout, scope: Scope) -> Measure:
        size = np.array([scope.sizes[group] for group in scope.groups()], dtype=np.float64)
        w: Floats = size / size.sum()

        def apart(r: Floats) -> Floats:
            return r - float(w @ r)

        def variance(r: Floats) -> float:
            return float(w @ apart(r) ** 2)

        def slope(r: Floats) -> Floats:
            return 2.0 * apart(r) * w

        label = f"variance of the rates by {scope.attribute.by} <= {self.maximum:g}^2"
        return self.welfare(layout, label, variance, slope, "<=", self.maximum**2, scope)


@hookimpl
def auditkit_constraints() -> list[type[RateSpread]]:
    return [RateSpread]
