"""Exact breakpoints of frontiers, against the linear program over all policies."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import auditkit
from auditkit import scenarios
from auditkit.errors import InputError
from auditkit.model.documents import instance_from_document
from auditkit.report.words import sentences as say
from auditkit.report.words.phrases import Phrases
from auditkit.scenarios import breakpoints
from auditkit.scenarios.frontier import Frontier, changed
from auditkit.solver import solve
from support.constraints import build
from support.instances import FOUR, boxes
from support.occupancy import Document, Row, occupancy
from support.tiny import box_instance, chain_instance
from support.unusual import less, outcome

PLAIN = Phrases()


def _rows(document: Document, text: str, t: float) -> list[Row]:
    """The constraint with parameter t, stated for the program over all policies."""
    x, y = (outcome(document, lambda one, g=g: one["group"] == g, "selection") for g in ("X", "Y"))  # type: ignore[misc]
    if text.startswith("budget"):
        return [(outcome(document, lambda one: True, "inspection"), "<=", t)]
    return [(less(x, y), "<=", t), (less(y, x), "<=", t)]


def _drawn(found: Frontier, value: float) -> float:
    return float(np.interp(value, [p.value for p in found.points], [p.utility or 0.0 for p in found.points]))


@pytest.mark.parametrize("text", ["budget:on=inspection,limit=1", "parity:basis=count"])
@pytest.mark.parametrize("seed", range(8))
def test_breakpoints_are_those_of_the_program_over_all_policies(text: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    draws = ((chain_instance if seed % 2 else box_instance)(rng) for _ in range(100))
    document = next(one for one in draws if max(len(search["candidates"]) for search in one["searches"]) > 1)
    for search in document["searches"]:
        for place, one in enumerate(search["candidates"]):
            one["group"] = "XY"[place % 2]
    found = scenarios.frontier(instance_from_document(document), build(text), values=[0.0, 1.0], exact=True)
    assert found.apart == 0 and found.points[0].value == 0 and found.points[-1].value == 1
    values = [p.value for p in found.points]
    middles = [(a + b) / 2 for a, b in pairwise(values)]
    for value in (*values, *middles, *np.random.default_rng(seed).random(5)):
        truth = occupancy(document, _rows(document, text, value)).utility
        assert _drawn(found, value) == pytest.approx(truth, abs=1e-7)
    slopes = found.to_frame()["slope"].dropna().to_numpy()
    assert (np.diff(slopes) < -1e-9).all(), "the slope changes at every point, and always downwards"


@pytest.mark.parametrize("text", ["parity", "floor:minimum=0.1", "budget:group=A,limit=2", "parity:on=inspection"])
def test_straight_pieces_of_larger_problems_are_what_single_solves_find(text: str) -> None:
    instance = boxes(np.random.default_rng(0), 2, 6, 2, "ABC" if text == "parity" else "AB")
    constraint = build(text)
    found, grid = scenarios.frontier(instance, constraint, exact=True), scenarios.frontier(instance, constraint)
    assert found.apart == 0
    assert found.starts == pytest.approx(grid.starts, abs=1e-6)
    for point in grid.points:
        if point.utility is not None:
            assert _drawn(found, point.value) == pytest.approx(point.utility, rel=1e-9)


def test_a_frontier_ends_where_it_can_no_longer_be_met() -> None:
    """Two positions of six candidates: every one of them has a chance of a third, and no larger one."""
    found = scenarios.frontier(
        boxes(np.random.default_rng(1), 2, 6, 2), build("floor:minimum=0.1"), values=[0, 1], exact=True
    )
    assert found.points[-1].value == pytest.approx(1 / 3, abs=1e-9)
    assert solve(FOUR, [build("floor:minimum=0.251")]).status == "infeasible"
    four = scenarios.frontier(FOUR, build("floor:minimum=0.1"), values=[0, 1], exact=True)
    assert four.points[-1].value == pytest.approx(0.25, abs=1e-9)
    nowhere = scenarios.frontier(FOUR, build("floor:minimum=0.1"), values=[0.3, 1], exact=True)
    assert nowhere.points == () and "none of the values tried can be met" in say.frontier(PLAIN, nowhere)


def test_what_is_left_open_after_the_last_solve_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    instance, constraint = boxes(np.random.default_rng(0), 2, 6, 2), build("budget:group=A,limit=2")
    whole = scenarios.frontier(instance, constraint, exact=True)
    assert "exact: 32 straight pieces" in say.frontier(PLAIN, whole)
    monkeypatch.setattr(breakpoints, "MOST_SOLVES", 8)
    few = scenarios.frontier(instance, constraint, exact=True)
    assert few.apart is not None and few.apart > 0 and len(few.points) <= 8
    above = [_drawn(whole, v) - _drawn(few, v) for v in np.linspace(0, whole.points[-1].value, 200)]
    assert min(above) >= -1e-9 and max(above) <= few.apart + 1e-9, "the curve lies where it was said to lie"
    assert "above" in say.frontier(PLAIN, few) and "exact:" not in say.frontier(PLAIN, few)


def test_curves_without_straight_pieces_are_refused_with_the_reason() -> None:
    with pytest.raises(InputError, match="changes the weights of a row"):
        scenarios.frontier(FOUR, build("quota:group=Y,share=0.4"), exact=True)
    with pytest.raises(InputError, match="welfare measure"):
        scenarios.frontier(FOUR, build("nash-welfare:minimum=0.1"), exact=True)
    found = scenarios.ask(FOUR, [build("quota:group=Y,share=0.4"), build("budget:limit=1")], {}, exact=True)
    assert [curve.apart for curve in found.frontiers] == [None, 0.0]
    assert any("even steps" in notice for notice in found.notices)


def test_sweep_has_the_slope_of_every_piece() -> None:
    frame = auditkit.sweep(FOUR, "parity:basis=count", tolerance=[0, 1], exact=True)
    assert frame.attrs["apart"] == 0
    for row, after in pairwise(frame.itertuples()):
        middle = (row.tolerance + after.tolerance) / 2
        best = solve(FOUR, [changed(build("parity:basis=count"), "tolerance", middle)]).constrained
        assert best is not None
        assert best.utility == pytest.approx(row.utility + row.slope * (middle - row.tolerance), abs=1e-9)
        assert abs(best.duals).sum() == pytest.approx(row.slope, abs=1e-9)
