"""Draw the pictures of concepts.md from the candidates of four-boxes.json: python docs/draw_concepts.py"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import auditkit
from auditkit.compare.expost import ExPost
from auditkit.compare.parts import Parts
from auditkit.files import write_text
from auditkit.model.documents import read_instance
from auditkit.model.variants import with_shift
from auditkit.plugins.study.figure import draw
from auditkit.plugins.study.paper_claims import Line, Panel

HERE = Path(__file__).resolve().parent
FOUR = HERE.parent / "sample_data" / "four-boxes.json"
PARITY = "parity:basis=count"


def index() -> Panel:
    """What looking at a candidate adds to a sure value, against its cost: they meet at the index."""
    sure = np.linspace(0, 11, 111)
    lines = []
    for candidate in read_instance(FOUR)[0].searches[0].candidates[::3]:
        assert isinstance(candidate, auditkit.Box)
        gain = np.maximum(candidate.values[:, None] - sure, 0).T @ candidate.probs
        lines.append(Line(f"candidate {candidate.id}", sure, gain))
    return Panel(
        "looking costs 1 (grey)", "a value that is already sure", "expected gain from looking", tuple(lines), 1.0
    )


def bound() -> Panel:
    """The best utility if selecting X costs the dual and selecting Y earns it: never below the constrained one."""
    instance = read_instance(FOUR)[0]
    duals = np.linspace(-1, 4, 101)
    moved = [with_shift(with_shift(instance, "X", -dual), "Y", dual) for dual in duals.tolist()]
    bounds = np.array([auditkit.solve(one).unconstrained.utility for one in moved])
    best = auditkit.solve(instance, PARITY).constrained
    assert best is not None
    line = Line("bound", duals, bounds)
    return Panel(f"the best under parity: {best.utility:g} (grey)", "dual of parity", "bound", (line,), best.utility)


def price() -> Panel:
    """What each tolerance of parity costs."""
    found = auditkit.sweep(read_instance(FOUR)[0], PARITY, tolerance=np.linspace(0, 1, 21).tolist())
    line = Line("loss", found["tolerance"].to_numpy(), found["loss"].to_numpy())
    return Panel("price of parity", "tolerance: X less Y, at most", "utility given up", (line,))


def one_round() -> Panel:
    """Twenty such searches at once: how far apart the numbers selected are in one round."""
    search = read_instance(FOUR)[0].searches[0]
    instance = auditkit.Instance([replace(search, id=f"s{i}") for i in range(20)])
    best = auditkit.solve(instance, PARITY).constrained
    assert best is not None
    law = ExPost(instance.layout, best.rows, best.mixture, Parts.of(best.rows, instance.layout)).slack(0)
    assert law is not None
    middle = (law.edges[1:] + law.edges[:-1]) / 2
    return Panel(
        "20 searches, parity on average",
        "X less Y in one round",
        "chance",
        (Line("", middle, law.probabilities, style="steps"),),
    )


if __name__ == "__main__":
    for name, panel in {"index": index(), "bound": bound(), "price": price(), "one-round": one_round()}.items():
        write_text(HERE / "concepts" / f"{name}.svg", draw([panel]))
