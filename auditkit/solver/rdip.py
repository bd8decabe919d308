"""The paper's RDIP for one affine constraint, value-specific ones included.

At the optimal multiplier lambda* the two *extreme tie-breaking rules* are the index policies of lambda* + epsilon and
lambda* - epsilon for an infinitesimal epsilon. Their closed-form scores are the slopes of the indices in epsilon,

    max over l of  E[theta_S | E_l] + E[theta_I] / P(E_l),

which is what the kernels compute when a second level of rewards, -theta or +theta, breaks the ties of the first
(Definitions "Extreme Tie-Breaking Rules" and "Refined Extreme Tie-Breaking Rule"). Their slacks lie on both sides of
zero; mixing to zero is optimal ("Optimal Policy for Constrained Problem").
"""

from __future__ import annotations

import numpy as np

from auditkit.errors import InputError
from auditkit.solver import dual_search
from auditkit.solver.dual_search import DualOptimum
from auditkit.solver.oracle import Oracle
from auditkit.solver.policy import Level, Policy


def mix_extremes(oracle: Oracle) -> DualOptimum:
    if len(oracle.rows) != 1:
        names = ", ".join(row.label for row in oracle.rows.rows)
        raise InputError(
            f"rdip serves one affine row and this problem has {len(oracle.rows)} ({names}): "
            "use --method column-generation or caratheodory"
        )
    found = dual_search.search(oracle)
    if found.duals[0] == 0 and len(found.columns) == 1:
        return found  # the unconstrained optimum meets the constraint (Remark "Equality vs. Inequality Constraint")
    low, high = (oracle.column(Policy.at(found.duals, Level(0.0, (sign,)))) for sign in (-1.0, 1.0))
    s_low, s_high = (oracle.rows.bounds[0] - float(c.values[0]) for c in (low, high))
    s_low, s_high = min(s_low, 0.0), max(s_high, 0.0)
    weights = np.array([1.0, 0.0]) if s_high == s_low else np.array([s_high, -s_low]) / (s_high - s_low)
    columns = tuple(c for c, w in zip((low, high), weights, strict=True) if w > 0)
    return DualOptimum(columns, weights[weights > 0], found.duals, found.bound)
