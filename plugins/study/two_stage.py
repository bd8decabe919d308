"""The paper's second model: a phone interview, an onsite interview and an offer, with parity at all three.

    sum over X of (exits of the stage)  =  sum over Y        for phone, onsite and offer, all at once

The optimum is exact (column generation). G-RDIP runs beside it for the paper's trajectories: ROUNDS outer rounds, no
inner ones because nothing is convex. The paper states neither its steps nor its bound on the duals; here the step is
bound / sqrt(ROUNDS) and the bound is U / delta in units in which every row has size one (U the unconstrained utility),
for each delta of DELTAS: it is delta that decides how soon the trajectories settle.
"""

from __future__ import annotations

import numpy as np

from auditkit.constraints.binding import bind
from auditkit.model.layout import Floats
from auditkit.plugins.study.point import long_term, parity
from auditkit.plugins.study.population import OFFER, ONSITE, PHONE, TWO_STAGE, resized
from auditkit.solver import Optimum, Solution, solve
from auditkit.solver.g_rdip import Settings, run
from auditkit.solver.oracle import Oracle
from auditkit.solver.policy import Outcome

STAGES = (PHONE, ONSITE, OFFER)
PARITIES = tuple(parity(stage) for stage in STAGES)
RHOS, CAPACITIES = tuple(i / 10 for i in range(1, 11)), (8, 15, 20)

KEYS = ("rho", "k")
NUMBERS = (
    *("free", "free_long", "best", "best_long", "slack_phone", "slack_onsite", "slack_offer"),
    *("free_unfilled", "unfilled", "policies", "evaluations", "gap"),
)
"""Slacks are those of the unconstrained optimum: (X - Y) / k."""
POINTS = len(RHOS) * len(CAPACITIES)

ROUNDS = 100
DELTAS = (0.3, 1.0, 3.0)
STEP_RHOS, STEP_CAPACITY = (0.3, 0.7, 0.9), 20
STEP_KEYS = ("delta", "rho", "step")
STEPS = (
    *("lagrangian", "mean_lagrangian", "mean_utility"),
    *(f"mean_slack_{stage}" for stage in STAGES),
    *(f"dual_{stage}" for stage in STAGES),
)
"""Lagrangian and utility over the certified optimum; means are over the rounds so far; slacks per position."""
STEP_POINTS = len(DELTAS) * len(STEP_RHOS) * ROUNDS


def certified(solution: Solution) -> Optimum:
    if solution.constrained is None:
        raise ArithmeticError("parity was found infeasible, though selecting nobody satisfies it")
    return solution.constrained


def rows(seed: int, number: int) -> list[tuple[float, ...]]:
    population = TWO_STAGE.draw(seed, number)
    found = []
    for rho in RHOS:
        base = population.instance(rho, max(CAPACITIES))
        for k in CAPACITIES:
            instance = resized(base, k)
            solution = solve(instance, PARITIES)
            free, optimum = solution.unconstrained, certified(solution)
            found.append(
                (
                    *(rho, k, free.utility, long_term(free), optimum.utility, long_term(optimum.outcome)),
                    *(optimum.rows.values(free.visits) / k),
                    *(_unfilled(free), _unfilled(optimum.outcome), len(optimum.mixture.weights)),
                    *(optimum.evaluations, optimum.gap / max(1.0, abs(optimum.utility))),
                )
            )
    return found


def _unfilled(outcome: Outcome) -> float:
    return max(0.0, outcome.unfilled_capacity) / float(outcome.layout.capacity.sum())


def trajectories(seed: int, number: int) -> list[tuple[float, ...]]:
    population = TWO_STAGE.draw(seed, number)
    found = []
    for rho in STEP_RHOS:
        layout = population.instance(rho, STEP_CAPACITY).layout
        oracle = Oracle(layout, bind(PARITIES, layout))
        best = certified(solve(population.instance(rho, STEP_CAPACITY), PARITIES)).utility
        sizes = oracle.scale / STEP_CAPACITY
        for delta in DELTAS:
            done = run(oracle, Settings(delta=delta, outer=ROUNDS))
            totals = np.column_stack([done.lagrangian, _so_far(done.lagrangian), _so_far(done.utility)]) / best
            numbers = np.column_stack([totals, _so_far(done.slacks) * sizes, done.duals])
            found += [(delta, rho, step, *map(float, row)) for step, row in enumerate(numbers, 1)]
    return found


def _so_far(values: Floats) -> Floats:
    """Mean of each entry and all before it."""
    rounds = np.arange(1, len(values) + 1)
    return np.cumsum(values, axis=0) / rounds.reshape(-1, *[1] * (values.ndim - 1))
