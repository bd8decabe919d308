"""Policies by what they are optimal for.

An index policy is named by adjusted rewards: it is the optimal policy of the instance in which state s pays
`objective * R(s) - sum_j duals[j] * theta_j(s)`. A `Level` is one such adjustment; a `Policy` is a sequence of them,
each breaking the ties that the ones before it leave (the paper's tie-breaking rules are second levels). What ties
remain go to the earlier candidate. So a policy is a handful of numbers, and anyone can evaluate it again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditkit.constraints import Rows
from auditkit.layout import Floats, Layout


@dataclass(frozen=True)
class Level:
    objective: float
    duals: tuple[float, ...]

    def reward(self, layout: Layout, rows: Rows) -> Floats:
        """R adjusted: objective * R - Theta' duals. Rows beyond the duals were added later and do not matter."""
        reward = self.objective * layout.reward
        for dual, row in zip(self.duals, rows.rows, strict=False):
            if dual != 0.0:  # one product and one difference per entry, in the order of rows: `verify` repeats it
                reward[row.states] -= dual * row.coefficients
        return reward

    def size(self, layout: Layout, rows: Rows) -> float:
        """The largest sum of the terms of an adjusted reward, before they cancel: what rounding is relative to."""
        terms = abs(self.objective) * np.abs(layout.reward)
        for dual, row in zip(self.duals, rows.rows, strict=False):
            if dual != 0.0:
                terms[row.states] += abs(dual) * np.abs(row.coefficients)
        return float(terms.max(initial=0.0))


@dataclass(frozen=True)
class Policy:
    levels: tuple[Level, ...]

    @staticmethod
    def at(duals: Floats | tuple[float, ...], *ties: Level) -> Policy:
        """The policy optimal for the Lagrangian at `duals`."""
        return Policy((Level(1.0, _plain(duals)), *ties))

    @staticmethod
    def towards(direction: Floats | tuple[float, ...]) -> Policy:
        """The most valuable policy among those that minimise `direction` . Theta p."""
        plain = _plain(direction)
        return Policy((Level(0.0, plain), Level(1.0, (0.0,) * len(plain))))

    def rewards(self, layout: Layout, rows: Rows) -> Floats:
        """Adjusted rewards, one column a level, as the kernels take them."""
        return np.column_stack([level.reward(layout, rows) for level in self.levels])


def _plain(numbers: Floats | tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(x) + 0.0 for x in numbers)  # + 0.0 turns -0.0 into 0.0


@dataclass(frozen=True)
class Mixture:
    """Policies with the probabilities with which one of them is drawn before the search begins."""

    weights: tuple[float, ...]
    policies: tuple[Policy, ...]
