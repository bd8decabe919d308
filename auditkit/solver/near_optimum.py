"""An optimum to within a few percent of its price, for intervals: what is solved many times need not be exact.

The same column generation as `block_master`, begun at duals that are known to be near, and ended as soon as bound and
value leave little of the price open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from auditkit.model.layout import Floats
from auditkit.solver.block_master import begin
from auditkit.solver.master import Pricing, phase_one, rounding
from auditkit.solver.oracle import Infeasible, Oracle

MOST_ROUNDS = 25
POOLED = 6


@dataclass(frozen=True, eq=False)
class NearOptimum:
    """The optimum lies between `value`, which a mixture attains, and `bound`, that of `duals`."""

    free: float
    value: float
    bound: float
    duals: Floats
    excess: Floats
    """By how much the unconstrained optimum misses each row, negative where it meets it with room to spare."""

    @property
    def loss(self) -> float:
        """The price, in the middle of what it may be."""
        return max(self.free - (self.value + self.bound) / 2, 0.0)


def near_optimum(oracle: Oracle, near: Sequence[Floats], share: float, least: float) -> NearOptimum | None:
    """The optimum to within `share` of its price, or to within `least` of the unconstrained utility.

    `near` are duals to begin with. None if the rows cannot hold.
    """
    free = oracle.free
    least = least * abs(free.utility)
    slack = oracle.rows.signs * (oracle.rows.bounds - free.values)
    if np.where(oracle.rows.is_equality, slack == 0, slack >= 0).all():
        return NearOptimum(free.utility, free.utility, free.utility, np.zeros(len(oracle.rows)), -slack)
    pooled = oracle.pooled(near[0], POOLED) if near else ()
    pricing = Pricing(oracle)
    pricing.step = 0.9
    master = begin(oracle, (free, *pooled, *(pricing.at(duals) for duals in near)))
    try:
        phase_one(oracle, master)
    except Infeasible:
        return None
    master.begin_phase_two()
    for _ in range(MOST_ROUNDS):
        value, duals = master.solve()
        if pricing.bound - value <= max(share * (free.utility - pricing.bound), least):
            break
        duals = oracle.proper(duals)
        improves = partial(master.improves, least=rounding(value, duals, oracle.scale))
        if not master.add(pricing.next(duals, improves, value)):
            break
    return NearOptimum(free.utility, min(value, pricing.bound), pricing.bound, pricing.centre, -slack)
