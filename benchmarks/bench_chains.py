"""Multi-stage searches: the exact optimum against G-RDIP with simulated visits, and growth. `make bench` runs it.

The set-up is the paper's two-stage search: phone (passed by 80 %), onsite (shows the value), offer (accepted by 90 %),
60 candidates in two groups, k = 20, parity of phone interviews, onsite interviews and offers together.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.stats import norm
from timing import best_of

from auditkit.constraints.binding import bind
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats
from auditkit.model.search import Chain, Search, State
from auditkit.plugins.parity import Parity
from auditkit.solver import evaluate, g_rdip, solve
from auditkit.solver.oracle import Oracle

DRAWS = 10_000
PARITIES = [Parity(basis="count", on=stage) for stage in ("phone", "onsite", "offer")]


def two_stage(n: int = 60, k: int = 20, rho: float = 0.7, points: int = 40, seed: int = 0) -> Instance:
    rng = np.random.default_rng(seed)
    quantiles = norm.ppf((np.arange(points) + 0.5) / points)

    def candidate(i: int) -> Chain:
        bias = 1.0 if i % 2 == 0 else rho
        values = (10 * rng.lognormal() + 20 + 10 * quantiles) * bias
        states = [
            State("phone", -rng.uniform(1, 2), {"onsite": 0.8, "out": 0.2}, stage="phone"),
            State("onsite", -rng.uniform(2, 4), {f"offer-{j}": 1 / points for j in range(points)}, stage="onsite"),
            State("out", 0.0),
        ]
        for j, v in enumerate(values):
            states.append(State(f"offer-{j}", -3.0, {f"hired-{j}": 0.9, "out": 0.1}, stage="offer"))
            states.append(State(f"hired-{j}", float(v), terminal=True))
        return Chain(f"c{i}", "XY"[i % 2], "phone", tuple(states))

    return Instance((Search("s", k, tuple(candidate(i) for i in range(n))),))


class Simulation:
    """Visits of an index policy from draws of everyone's path; indices are computed exactly and for free."""

    def __init__(self, instance: Instance, draws: int, seed: int = 0) -> None:
        self.layout, self.draws = instance.layout, draws
        self.k = instance.searches[0].capacity
        self.rng = np.random.default_rng(seed)
        names = [names or () for names in self.layout.state_names]
        self.place = [{name: self.layout.candidate_ptr[c] + s for s, name in enumerate(n)} for c, n in enumerate(names)]
        self.points = sum(name.startswith("offer") for name in names[0])

    def __call__(self, rewards: Floats) -> Floats:
        layout, n = self.layout, len(self.layout.candidate_ids)
        index = evaluate.Prepared.of(layout, rewards).index[:, 0]
        at = {name: np.array([place[name] for place in self.place]) for name in self.place[0]}
        offers = np.stack([at[f"offer-{j}"] for j in range(self.points)], axis=1)
        hires = np.stack([at[f"hired-{j}"] for j in range(self.points)], axis=1)
        passed = self.rng.random((self.draws, n)) < 0.8
        accepted = self.rng.random((self.draws, n)) < 0.9
        drawn = self.rng.integers(0, self.points, (self.draws, n))
        offer, hire = offers[np.arange(n), drawn], hires[np.arange(n), drawn]
        y1 = np.broadcast_to(index[at["phone"]], drawn.shape)
        y2 = np.minimum(y1, index[at["onsite"]])
        y3 = np.minimum(y2, index[offer])
        kappa = np.where(passed & accepted, y3, -np.inf)
        line = np.maximum(np.partition(kappa, n - self.k, axis=1)[:, n - self.k], 0.0)[:, None]
        visits = np.zeros(layout.states)
        visits[at["phone"]] = (y1 >= line).mean(axis=0)
        visits[at["onsite"]] = (passed & (y2 >= line)).mean(axis=0)
        made = passed & (y3 >= line)
        np.add.at(visits, offer[made], 1 / self.draws)
        np.add.at(visits, hire[made & accepted], 1 / self.draws)
        return visits


def against_simulation() -> bool:
    instance = two_stage()
    layout = instance.layout
    rows = bind(PARITIES, layout)
    solution = solve(instance, PARITIES)
    assert solution.constrained is not None
    exact = best_of(3, lambda: solve(instance, PARITIES))
    timings = {}
    for name, visits_of, rounds in (("exact", None, 100), ("simulated", Simulation(instance, DRAWS), 10)):
        oracle = Oracle(layout, rows)
        oracle.free  # noqa: B018 - both start from the unconstrained optimum
        settings = g_rdip.Settings(outer=rounds)
        timings[name] = best_of(3, lambda o=oracle, s=settings, v=visits_of: g_rdip.run(o, s, v)) / rounds
    truth = evaluate.visits(layout, layout.reward)
    noise = float(np.abs(Simulation(instance, DRAWS)(layout.reward) - truth).max())
    print("## Two-stage search, 60 candidates, three parities, k = 20\n")
    print(
        f"exact optimum: {exact:.3f} s, gap {solution.constrained.gap:.1e}, {solution.constrained.evaluations} policies"
    )
    print(
        f"ten rounds of G-RDIP with {DRAWS:,} draws: {10 * timings['simulated']:.3f} s (error of a visit {noise:.0e})"
    )
    ratio = timings["simulated"] / timings["exact"]
    print(f"a round of G-RDIP with exact visits: {timings['exact'] * 1e3:.2f} ms, {ratio:.0f} times faster\n")
    return exact < 10 * timings["simulated"] and ratio >= 20


def layered(n: int, layers: int = 10, width: int = 10, seed: int = 0) -> Instance:
    """Candidates of 100 states: layers that only move forward, a terminal state or a way out at the end."""
    rng = np.random.default_rng(seed)

    def candidate(i: int) -> Chain:
        states = [State("start", -0.1, {f"0-{j}": 1 / width for j in range(width)})]
        for layer in range(layers - 2):
            for j in range(width):
                to = rng.choice(width, 3, replace=False)
                states.append(State(f"{layer}-{j}", -rng.uniform(0, 0.3), {f"{layer + 1}-{t}": 1 / 3 for t in to}))
        for j in range(width):
            states.append(State(f"{layers - 2}-{j}", -0.1, {f"hired-{j}": 0.8, "out": 0.2}))
            states.append(State(f"hired-{j}", rng.uniform(0, 10), terminal=True))
        states.append(State("out", 0.0))
        return Chain(f"c{i}", "XY"[i % 2], "start", tuple(states))

    return Instance((Search("s", n // 10, tuple(candidate(i) for i in range(n))),))


def growth() -> None:
    print("## Growth with the number of candidates of about 100 states each (k = n / 10)\n")
    print("| candidates | states | one evaluation | each candidate |")
    print("| --- | --- | --- | --- |")
    for n in (125, 250, 500, 1_000):
        layout = layered(n).layout
        evaluate.visits(layout, layout.reward)
        t = best_of(3, lambda layout=layout: evaluate.visits(layout, layout.reward))
        print(f"| {n:,} | {layout.states:,} | {t * 1e3:.1f} ms | {t / n * 1e6:.0f} us |", flush=True)


if __name__ == "__main__":
    met = against_simulation()
    growth()
    if not met:
        sys.exit("a target of this benchmark is missed")
