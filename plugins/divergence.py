"""Divergence: the groups' shares of the outcomes are close to their shares of the candidates.

Hiring fewer people doesn't satisfy it.

    sum_g s_g log(s_g / a_g) <= maximum,    s_g = u_g / U,  U = sum_g u_g,  a_g = n_g / n

Times U it is convex in u: sum_g u_g log(u_g / (a_g U)) - maximum U <= 0, with slope log(u_g / (a_g U)) - maximum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from auditkit import hookimpl
from auditkit.constraints import Description, Measure, Parameter, Row, Scope, WelfareConstraint, Words
from auditkit.model.layout import Floats, Layout
from auditkit.plugins.nash_welfare import LEAST
from auditkit.text import plain

FAINTEST = 1e-8


def none_or_some(maximum: float) -> float:
    """A measure of inequality at most: its tangents cannot tell less than FAINTEST from nothing."""
    if 0 < maximum < FAINTEST:
        raise ValueError(f"must be 0, or at least {FAINTEST:g}: smaller numbers cannot be told from 0")
    return maximum


class Divergence(WelfareConstraint):
    type: ClassVar[str] = "divergence"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("maximum", tightens=-1, in_reports=False),)
    level: Literal["group"] = "group"
    basis: Literal["count"] = "count"
    maximum: float = Field(ge=0, description="largest Kullback-Leibler divergence from the shares of the candidates")

    @field_validator("maximum")
    @classmethod
    def _none_or_some(cls, maximum: float) -> float:
        return none_or_some(maximum)

    def rows(self, layout: Layout) -> list[Row]:
        return [] if self.maximum else self.model_copy(update={"basis": "rate"}).all_alike(layout)

    def measures(self, layout: Layout) -> list[Measure]:
        return [] if not self.maximum else [self._measure(layout, scope) for scope in self.scopes(layout)]

    def _measure(self, layout: Layout, scope: Scope) -> Measure:
        size = np.array([scope.sizes[group] for group in scope.groups()], dtype=np.float64)
        curve = _Divergence(size / size.sum(), self.maximum)
        label = f"{scope.attribute.by} divergence <= {self.maximum:g}"
        return self.welfare(layout, label, curve.value, curve.slope, "<=", 0.0, scope)

    def describe(self, words: Words) -> Description:
        shares = f"shares of those {words.done(self.on)} {words.whom(self.by, None)}"
        phrase = f"{shares} within a divergence of {plain(self.maximum)} from those of the candidates{self.ending()}"
        return self.described(phrase, axis="largest divergence")


@dataclass(frozen=True, eq=False)
class _Divergence:
    shares: Floats
    maximum: float

    def value(self, u: Floats) -> float:
        u = np.maximum(u, LEAST)
        return float(u @ self.slope(u))

    def slope(self, u: Floats) -> Floats:
        u = np.maximum(u, LEAST)
        return np.log(u / (self.shares * u.sum())) - self.maximum


@hookimpl
def auditkit_constraints() -> list[type[Divergence]]:
    return [Divergence]
