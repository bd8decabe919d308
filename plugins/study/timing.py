"""Processor seconds that the solver takes for one problem, from nothing: no columns known, kernels compiled before.

unconstrained   index policy and its exact evaluation
constrained     the certified optimum, the unconstrained one included
g_rdip          the paper's G-RDIP with as many rounds as its trajectories need
"""

from __future__ import annotations

import time
from collections.abc import Callable

from auditkit.constraints.binding import bind
from auditkit.plugins.study.point import PARITY
from auditkit.plugins.study.population import BASIC, TWO_STAGE, resized
from auditkit.plugins.study.two_stage import PARITIES, ROUNDS
from auditkit.solver import solve
from auditkit.solver.g_rdip import Settings, run
from auditkit.solver.oracle import Oracle

RHOS = (0.3, 0.7, 1.0)
CAPACITIES = tuple(range(1, 21))
CHAIN_CAPACITIES = (1, 5, 10, 15, 20)
KEYS = ("rho", "k")
NUMBERS = ("unconstrained", "constrained")
CHAIN_NUMBERS = ("unconstrained", "constrained", "g_rdip")
POINTS = len(RHOS) * len(CAPACITIES)
CHAIN_POINTS = len(RHOS) * len(CHAIN_CAPACITIES)


def seconds(work: Callable[..., object], *arguments: object) -> float:
    start = time.process_time()
    work(*arguments)
    return time.process_time() - start


def rows(seed: int, number: int) -> list[tuple[float, ...]]:
    population = BASIC.draw(seed, number)
    solve(population.instance(1.0, 1), [PARITY])  # compile
    found: list[tuple[float, ...]] = []
    for rho in RHOS:
        base = population.instance(rho, max(CAPACITIES))
        for k in CAPACITIES:
            instance = resized(base, k)
            oracle = Oracle(instance.layout, bind([PARITY], instance.layout))
            alone = seconds(getattr, oracle, "free")
            both = seconds(solve, instance, [PARITY])
            found.append((rho, k, alone, both))
    return found


def two_stage_rows(seed: int, number: int) -> list[tuple[float, ...]]:
    population = TWO_STAGE.draw(seed, number)
    solve(population.instance(1.0, 1), PARITIES)  # compile
    found: list[tuple[float, ...]] = []
    for rho in RHOS:
        base = population.instance(rho, max(CHAIN_CAPACITIES))
        for k in CHAIN_CAPACITIES:
            instance = resized(base, k)
            rows = bind(PARITIES, instance.layout)
            oracle, again = Oracle(instance.layout, rows), Oracle(instance.layout, rows)
            alone = seconds(getattr, oracle, "free")
            exact = seconds(solve, instance, PARITIES)
            paper = seconds(run, again, Settings(delta=1.0, outer=ROUNDS))
            found.append((rho, k, alone, exact, paper))
    return found
