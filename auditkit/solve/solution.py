"""A solved problem and its certificate: everything needed to check it without trusting who found it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from auditkit.constraints import Row, Rows
from auditkit.layout import Floats
from auditkit.outcome import Outcome
from auditkit.policy import Mixture

if TYPE_CHECKING:
    from auditkit.solve.g_rdip import Run
    from auditkit.solve.oracle import Column


ROUNDING = 1e-11
"""Of the utility: differences smaller than this are not told apart from rounding."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """The constrained optimum: `utility` is attained by `mixture`, `bound` is proved by `duals`."""

    rows: Rows
    mixture: Mixture
    outcome: Outcome
    duals: Floats
    """d utility / d bound of each row."""
    bound: float
    evaluations: int
    """How many policies were evaluated to find it."""
    columns: tuple[Column, ...] = ()
    """Those policies: a neighbouring problem or a bootstrap replicate starts from them."""
    cuts: tuple[tuple[int, Row], ...] = ()
    """Tangents of measures that the policies or the bound refer to, each with the number of its measure."""
    cut_duals: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def utility(self) -> float:
        return self.outcome.utility

    @property
    def gap(self) -> float:
        return max(0.0, self.bound - self.utility)

    @cached_property
    def values(self) -> Floats:
        return self.rows.values(self.outcome.visits)

    @property
    def slacks(self) -> Floats:
        """How far each row is from its bound: >= 0 on the right side, 0 for a row met with equality."""
        return self.rows.signs * (self.rows.bounds - self.values) + 0.0

    @property
    def measure_duals(self) -> Floats:
        """d utility / d bound of each measure: its cuts' duals together."""
        whose = np.array([k for k, _ in self.cuts], dtype=np.int64)
        return np.bincount(whose, self.cut_duals, minlength=len(self.rows.measures)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Proof:
    """That rows conflict: `duals` . (Theta p - b) > 0 for every policy, with the signs that the senses demand."""

    rows: Rows
    """Affine rows, and cuts of measures after them."""
    duals: Floats

    @property
    def constraints(self) -> frozenset[int]:
        """Which constraints take part."""
        return frozenset(self.rows.owner) | frozenset(self.rows.measured_by)


@dataclass(frozen=True, eq=False)
class Approximation:
    """How a near-optimal, near-feasible mixture was found, and the certified optimum that it is measured against."""

    run: Run
    certified: Optimum


@dataclass(frozen=True, eq=False)
class Solution:
    """The unconstrained and the constrained optimum of one instance; `constrained` is None if there is none."""

    method: str
    unconstrained: Outcome
    constrained: Optimum | None
    proof: Proof | None = None
    approximate: Approximation | None = None

    @property
    def conflict(self) -> tuple[str, ...]:
        """Constraints, as SPECs, that cannot hold together, as few as possible."""
        if self.proof is None:
            return ()
        return tuple(self.proof.rows.constraints[i].describe() for i in sorted(self.proof.constraints))

    @property
    def status(self) -> str:
        return "infeasible" if self.constrained is None else "optimal"

    @property
    def loss(self) -> float | None:
        """What the constraints cost, in the instance's unit; a gain that is mere rounding is none."""
        if self.constrained is None:
            return None
        free = self.unconstrained.utility
        loss = free - self.constrained.utility
        return 0.0 if -ROUNDING * (1.0 + abs(free)) <= loss < 0 else loss

    @property
    def ratio(self) -> float | None:
        """Utility kept; None where a ratio means nothing because the unconstrained utility is not positive."""
        if self.loss is None or not self.unconstrained.utility > 0:
            return None
        return 1.0 - self.loss / self.unconstrained.utility


def mix(weights: Floats, visits: list[Floats]) -> Floats:
    """Expected visits when one policy is drawn."""
    total = np.zeros_like(visits[0])
    for weight, p in zip(weights, visits, strict=True):
        total += weight * p
    return total
