"""Does the optimum have to randomise, and would it with continuous values too?

With finitely many values the slack of the index policy jumps at every lambda at which two thresholds of different
groups change places, and between the jumps it is almost surely nowhere zero: a mixture of two policies is needed. With
the continuous values of the paper ties of values have probability zero and vanish; what remains are the lambda at which
two *indices* sigma_i, sigma_j (i in X, j in Y) change places, and with them the order of inspection. There the slack
jumps by a finite amount however fine the values are. Randomisation is then needed exactly if lambda* is such a point,
which the indices at lambda* show. The share of instances where it is converges as the number of levels grows.
"""

from __future__ import annotations

import numpy as np

from auditkit.solver import Optimum
from auditkit.solver.evaluate import Prepared
from auditkit.solver.policy import Policy

NEEDS = ("mixed", "order", "jump")
"""1 if two policies are mixed; 1 if they differ in the order of two inspections; slack between them, per position."""

TIED = 1e-9


def need(optimum: Optimum) -> tuple[float, float, float]:
    layout, rows = optimum.outcome.layout, optimum.rows
    if len(optimum.mixture.weights) < 2:
        return 0.0, 0.0, 0.0
    index = Prepared.of_policy(layout, rows, Policy.at(optimum.duals)).index[layout.start, 0]
    x, y = (np.sort(index[layout.candidate_group == g]) for g in (0, 1))
    nearest = np.abs(x[:, None] - y[None, :])
    swapped = bool((nearest <= TIED * np.abs(index).max()).any())
    slacks = [rows.values(Prepared.of_policy(layout, rows, policy).visits())[0] for policy in optimum.mixture.policies]
    return 1.0, float(swapped), float(np.ptp(slacks) / layout.capacity.sum())
