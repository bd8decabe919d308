"""Exact evaluation and solving against simulation and direct programs, as ratios in one run. `make bench` runs it."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
from opponents import Boxes, direct, direct_compiled, monte_carlo, random_instance, thresholds
from timing import best_of

from auditkit.plugins.parity import Parity
from auditkit.solver import evaluate, solve
from auditkit.solver.policy import Outcome

SIZES = [(60, 100, 20), (500, 50, 50), (2_000, 50, 100), (10_000, 20, 200)]
WANTED = {
    (60, 100, 20): ("simulation", 100),
    (10_000, 20, 200): ("simulation", 500),
    (2_000, 50, 100): ("compiled", 30),
}
DRAWS = 100_000


def evaluation() -> bool:
    print("## One exact evaluation\n")
    print(
        "Opponents are given reservation values for free. The direct program is run on a sample of the thresholds and"
    )
    print("scaled to all of them; its error is that of auditkit on the sample.\n")
    print(
        "| n, support, k | auditkit | simulation, 1e5 draws | direct numpy | direct compiled | error | of simulation |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    met = True
    for size in SIZES:
        n, support, k = size
        instance = random_instance(n, support, k)
        layout = instance.layout
        visits = evaluate.visits(layout, layout.reward)
        ours = best_of(7, lambda layout=layout: evaluate.visits(layout, layout.reward))
        boxes = Boxes.of(instance)
        result = Outcome(layout, visits)
        owner, _, probs = thresholds(boxes)
        events = len(owner)
        every = max(1, int(events * n * k // 3_000_000_000))
        direct_compiled(owner[:2], probs[:2], n, k, 1)
        start = time.perf_counter()
        truth = direct_compiled(owner, probs, n, k, every)
        compiled = (time.perf_counter() - start) * events / len(truth)
        sparse = every * max(1, len(truth) * n // 100_000)
        start = time.perf_counter()
        few, _ = direct(boxes, sparse)
        plain = (time.perf_counter() - start) * events / len(few)
        flat = np.argsort(-boxes.kappa.ravel(), kind="stable")[::every]
        exact = visits.reshape(n, -1)[:, 1:].ravel()[flat]  # P(select i with value v) = P(v) * P(fewer than k ahead)
        error = float(np.abs(probs[::every] * truth * (boxes.kappa.ravel()[flat] > 0) - exact).max())
        start = time.perf_counter()
        simulated = monte_carlo(boxes, DRAWS)
        simulation = time.perf_counter() - start
        noise = float(np.abs(simulated - result.inspected).max())
        cells = [f"{t:.3g} s ({t / ours:,.0f} x)" for t in (simulation, plain, compiled)]
        print(
            f"| {n:,}, {support}, {k} | {ours * 1e3:.2f} ms | {' | '.join(cells)} | {error:.0e} | {noise:.0e} |",
            flush=True,
        )
        met &= error < 1e-12
        if size in WANTED:
            opponent, ratio = WANTED[size]
            met &= {"simulation": simulation, "compiled": compiled}[opponent] / ours >= ratio
    return met


def parity_solve() -> bool:
    instance = random_instance(60, 100, 20)
    layout = instance.layout
    one = best_of(20, lambda: evaluate.visits(layout, layout.reward))
    solution = solve(instance, [Parity(basis="count")])
    whole = best_of(7, lambda: solve(instance, [Parity(basis="count")]))
    assert solution.constrained is not None
    print("\n## A parity solve at 60, 100, 20\n")
    print(
        f"{whole * 1e3:.1f} ms, the time of {whole / one:.1f} evaluations; {solution.constrained.evaluations} policies"
    )
    print(f"were evaluated; gap {solution.constrained.gap:.1e}.")
    return whole / one <= 40


def growth() -> None:
    print("\n## Growth with the number of candidates (support 20, k = 200)\n")
    print("| n | time | N k (1 + log(n/k)) in ns each |")
    print("| --- | --- | --- |")
    for n in (300, 1_000, 3_000, 10_000, 30_000, 100_000):
        layout = random_instance(n, 20, 200).layout
        evaluate.visits(layout, layout.reward)
        t = best_of(3, lambda layout=layout: evaluate.visits(layout, layout.reward))
        work = n * 21 * 200 * (1 + np.log(n / 200))
        print(f"| {n:,} | {t * 1e3:.1f} ms | {t / work * 1e9:.4f} |", flush=True)


def many_searches() -> None:
    from auditkit.model.instance import Instance
    from auditkit.model.search import Search

    print("\n## Many searches at once (12 candidates, support 20, k = 2)\n")
    print("| searches | one evaluation | parity over all of them |")
    print("| --- | --- | --- |")
    for count in (100, 1_000, 5_000):
        one = random_instance(12 * count, 20, 2).searches[0].candidates
        searches = tuple(Search(str(i), 2, one[12 * i : 12 * i + 12]) for i in range(count))
        instance = Instance(searches)
        layout = instance.layout
        evaluate.visits(layout, layout.reward)
        t = best_of(3, lambda layout=layout: evaluate.visits(layout, layout.reward))
        whole = best_of(1, lambda instance=instance: solve(instance, [Parity()]))
        print(f"| {count:,} | {t * 1e3:.1f} ms | {whole:.2f} s |", flush=True)


def help_time() -> bool:
    t = best_of(
        5, lambda: subprocess.run([sys.executable, "-m", "auditkit", "--help"], check=True, capture_output=True)
    )
    print(f"\n`auditkit --help`: {t:.2f} s")
    return t < 0.3


if __name__ == "__main__":
    results = [evaluation(), parity_solve(), help_time()]
    growth()
    many_searches()
    if not all(results):
        sys.exit("a target of this benchmark is missed")
