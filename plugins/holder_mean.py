"""Hölder mean: the generalised mean of the outcomes is bounded from below (q < 1) or from above (q > 1).

    ((u_1^q + ... + u_n^q) / n)^(1/q),    concave in u for q <= 1, convex for q >= 1

q = 0 is the geometric mean, q = 1 the average; q = -inf is the minimum (the outcome of the worst-off) and q = inf the
maximum, which have one row each. A bound on the other side wouldn't be convex, so it's refused. The slope in
u_i is (u_i / mean)^(q-1) / n. With q <= 0 the mean is 0 as soon as one outcome is; see `nash_welfare.py`.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from auditkit import hookimpl
from auditkit.constraints import Description, Measure, Parameter, Row, WelfareConstraint, Words
from auditkit.constraints.base import Sense
from auditkit.model.layout import Floats, Layout
from auditkit.plugins.nash_welfare import LEAST, geometric_mean, geometric_slope
from auditkit.text import plain


class HolderMean(WelfareConstraint):
    type: ClassVar[str] = "holder-mean"
    # sensible values depend on the data, so a report doesn't guess them
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("minimum", tightens=1, in_reports=False),
        Parameter("maximum", tightens=-1, in_reports=False),
    )
    q: float | Literal["-inf", "inf"] = Field(
        description="order of the mean, or -inf or inf: below 1 with minimum, above 1 with maximum"
    )
    minimum: float | None = Field(default=None, gt=0, description="least mean, for q < 1")
    maximum: float | None = Field(default=None, gt=0, description="largest mean, for q > 1")

    @model_validator(mode="after")
    def _convex(self) -> HolderMean:
        if (self.minimum is None) == (self.maximum is None):
            raise ValueError("give one of 'minimum' (with q < 1) and 'maximum' (with q > 1)")
        if self.minimum is not None and self.order > 1:
            raise ValueError(
                "with q > 1 the mean is convex, so that a minimum is not a convex constraint: give a maximum"
            )
        if self.maximum is not None and self.order < 1:
            raise ValueError(
                "with q < 1 the mean is concave, so that a maximum is not a convex constraint: give a minimum"
            )
        return self

    @field_validator("q", mode="before")
    @classmethod
    def _spelled(cls, q: Any) -> Any:
        return str(q) if isinstance(q, float) and math.isinf(q) else q  # JSON has no infinity

    @property
    def order(self) -> float:
        return float(self.q)

    def rows(self, layout: Layout) -> list[Row]:
        if not math.isinf(self.order):
            return self.impossible(layout, self.minimum) if self.minimum is not None and self.order <= 0 else []
        sense: Sense = ">=" if self.minimum is not None else "<="
        bound = self.minimum if self.minimum is not None else self.maximum
        assert bound is not None
        rows = []
        for scope in self.each_scope(layout):
            for name, states, weights in self.whose(layout, scope):
                label = f"{self.on} of {name} {sense} {bound:g}{scope.where}"
                rows.append(Row(label, states, weights, sense, bound, meaning=self.about(scope, name)))
        return rows

    def measures(self, layout: Layout) -> list[Measure]:
        if math.isinf(self.order):
            return []
        if self.minimum is not None:
            label = f"{self.level} Hölder mean ({self.order:g}) >= {self.minimum:g}"
            return self.welfares(layout, label, self.mean, self.slope, ">=", self.minimum)
        assert self.maximum is not None
        label = f"{self.level} Hölder mean ({self.order:g}) <= {self.maximum:g}"
        return self.welfares(layout, label, self.mean, self.slope, "<=", self.maximum)

    def describe(self, words: Words) -> Description:
        named = {-math.inf: "least", math.inf: "largest"}
        mean = self.spoken(named.get(self.order, f"Hölder mean of order {plain(self.order)}"), words)
        if self.minimum is not None:
            return self.described(f"a {mean} of at least {plain(self.minimum)}", axis="least mean")
        return self.described(f"a {mean} of at most {plain(self.maximum)}", axis="largest mean")

    def mean(self, u: Floats) -> float:
        if self.order == 0:
            return geometric_mean(u)
        u = np.maximum(u, LEAST)
        top = u.max() if self.order > 0 else u.min()  # factored out so that no power overflows
        return float(top * np.mean((u / top) ** self.order) ** (1.0 / self.order))

    def slope(self, u: Floats) -> Floats:
        if self.order == 0:
            return geometric_slope(u)
        return (np.maximum(u, LEAST) / self.mean(u)) ** (self.order - 1.0) / len(u)


@hookimpl
def auditkit_constraints() -> list[type[HolderMean]]:
    return [HolderMean]
