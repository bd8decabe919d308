"""What equal rates cost policies that do not see the group, beside the truth.

Run it with `python -m benchmarks.validity.blind_prices 24`: 24 firms of each kind of `gains_study`. The truth is the
price of the same searches under the true laws.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

import auditkit
from auditkit.model.instance import Instance
from auditkit.model.search import Search
from benchmarks.validity.gains_study import ROLES, SCENARIOS, KnownApplicants, Scenario, draw, true_boxes

FIRST = 22000
KINDS = [s for s in SCENARIOS if not s.rating and s.searches <= 100]
WEAK = Scenario("CV gap of a quarter", cv_gap=1.5)


def price(instance: Instance) -> float:
    """The share of the utility that equal rates cost."""
    ratio = auditkit.solve(instance, ["parity"]).ratio
    assert ratio is not None
    return 1 - ratio


def truth(firm: KnownApplicants) -> Instance:
    table, boxes = firm.table, true_boxes(firm.scenario, np.unique(firm.table["CV"]), 1.0)
    return Instance(
        Search(str(name), firm.scenario.capacity, [replace(boxes[cv], id=f"c{i}") for i, cv in own["CV"].items()])
        for name, own in table.groupby("Search", sort=False)
    )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    print("| firms | number | true price | reported: mean, median | groups not told apart |")
    print("| --- | --- | --- | --- | --- |")
    for scenario in [*KINDS, WEAK]:
        rows = []
        for seed in range(FIRST, FIRST + count):
            firm = draw(scenario, seed)
            fitted = auditkit.fit(firm.table, map=ROLES, cost=1.0, group_aware=False, value_scale=1.0)
            rows.append((price(truth(firm)), price(fitted.instance), bool(fitted.alike)))
        true, found, alike = np.array(rows, dtype=np.float64).T
        middle = f"{true.mean():.3f} | {found.mean():.3f}, {np.median(found):.3f} | {alike.mean():.2f}"
        print(f"| {scenario.name} | {count} | {middle} |", flush=True)


if __name__ == "__main__":
    main()
