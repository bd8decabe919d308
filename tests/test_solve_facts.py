"""Facts of the paper and of MATH.md section 7 that concern boxes, and laws that every optimum obeys."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.constraints.binding import bind
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats
from auditkit.model.search import Box, Search
from auditkit.plugins.entropy import Entropy
from auditkit.plugins.floor import Floor
from auditkit.plugins.parity import Parity
from auditkit.solver import METHODS, solve
from auditkit.solver.evaluate import visits
from auditkit.solver.master import Master
from auditkit.solver.oracle import Oracle
from auditkit.solver.policy import Level, Outcome, Policy
from support.constraints import bind_rows
from support.instances import FOUR, FREE_PARITY, THREE, weighted_parity
from support.occupancy import Document, Row
from support.optima import check_certificate
from support.sampling import examples
from support.tiny import box_instances, problems


@pytest.mark.parametrize("method", METHODS)
def test_four_boxes(method: str) -> None:
    solution = solve(FOUR, [Parity(basis="count")], method)
    assert solution.unconstrained.utility == pytest.approx(7.0625, abs=1e-12)
    assert solution.constrained is not None
    assert solution.constrained.utility == pytest.approx(6.5625, abs=1e-12)
    assert solution.loss == pytest.approx(0.5, abs=1e-12)
    assert solution.ratio == pytest.approx(6.5625 / 7.0625)
    check_certificate(solution)


def test_randomising_between_whole_groups_is_worse_than_the_optimum() -> None:
    """Searching only X or only Y, each half of the time, meets parity too, at 5.75."""
    candidates = FOUR.searches[0].candidates
    alone = [Instance((Search("s", 1, half),)) for half in (candidates[:2], candidates[2:])]
    assert np.mean([solve(half).unconstrained.utility for half in alone]) == pytest.approx(5.75, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_inspection_parity_can_be_free(method: str) -> None:
    solution = solve(FREE_PARITY, [Parity(basis="count", on="inspection")], method)
    assert solution.unconstrained.utility == pytest.approx(5.75, abs=1e-12)
    assert solution.constrained is not None
    assert solution.constrained.utility == pytest.approx(5.75, abs=1e-12)
    check_certificate(solution)


def outcome_in_order(instance: Instance, order: tuple[int, ...]) -> Outcome:
    """The index policy of an instance whose candidates stand in another order, which is how ties fall.

    The second level of rewards, which says nothing, makes indices equal that differ by rounding only.
    """
    search = instance.searches[0]
    layout = Instance((Search("s", search.capacity, tuple(search.candidates[i] for i in order)),)).layout
    return Outcome(layout, visits(layout, np.column_stack([layout.reward, np.zeros(layout.states)])))


@pytest.mark.parametrize(("order", "slack"), [((2, 1, 0, 3), -1 / 12), ((2, 0, 1, 3), 1 / 6)])
def test_orders_of_tied_candidates_have_the_slacks_of_the_paper(order: tuple[int, ...], slack: float) -> None:
    result = outcome_in_order(FREE_PARITY, order)
    x, y = result.by_group(result.inspected)
    assert y - x == pytest.approx(slack, abs=1e-12)


THREE_SLACKS = {
    "123": (1, 1),
    "213": (1.9, 1),
    "312": (-1.8, -1.4),
    "321": (-1.62, -1.4),
    "132": (1, 1),
    "231": (-0.62, -1.16),
}


@pytest.mark.parametrize("order", THREE_SLACKS)
def test_six_orders_of_three_boxes(order: str) -> None:
    result = outcome_in_order(THREE, tuple(int(c) - 1 for c in order))
    sums = [
        dict(zip(result.layout.groups, result.by_group(n), strict=True)) for n in (result.inspected, result.selected)
    ]
    slacks = [group["X"] - 2 * group["Y"] for group in sums]
    assert slacks == pytest.approx(THREE_SLACKS[order], abs=1e-12)


@pytest.mark.parametrize("method", ["column-generation", "caratheodory"])
def test_two_parities_of_three_boxes_are_free(method: str) -> None:
    solution = solve(THREE, [weighted_parity("selected"), weighted_parity("inspected")], method)
    assert solution.constrained is not None
    assert solution.unconstrained.utility == pytest.approx(4.0, abs=1e-12)
    assert solution.constrained.utility == pytest.approx(4.0, abs=1e-12)
    check_certificate(solution)


def test_corner_rules_cannot_meet_two_parities() -> None:
    """Mixing the policies of (+-epsilon, +-epsilon) only, as if one constraint's method could serve two."""
    layout = THREE.layout
    oracle = Oracle(layout, bind([weighted_parity("inspected"), weighted_parity("selected")], layout))
    corners = {
        tuple(np.round(oracle.column(Policy.at((0.0, 0.0), Level(0.0, signs))).values, 9))
        for signs in itertools.product((-1.0, 1.0), repeat=2)
    }
    assert corners == {(1.9, 1.0), (-1.8, -1.4)}
    (x1, y1), (x2, y2) = corners
    assert abs(x1 * y2 - x2 * y1) > 0.1  # the origin is not on the line through them


@given(problem=problems(box_instances()), data=st.data())
@examples(60)
def test_relabelling_changes_nothing(problem: tuple[Document, list[Row]], data: st.DataObject) -> None:
    document, rows = problem
    searches = [
        search | {"candidates": data.draw(st.permutations(search["candidates"]))} for search in document["searches"]
    ]
    shuffled = document | {"searches": data.draw(st.permutations(searches))}
    one, two = (solve(instance_from_document(d), bind_rows(rows)) for d in (document, shuffled))
    assert one.status == two.status
    assert one.unconstrained.utility == pytest.approx(two.unconstrained.utility, abs=1e-9)
    if one.constrained is not None and two.constrained is not None:
        assert one.constrained.utility == pytest.approx(two.constrained.utility, abs=1e-8)


@given(problem=problems(box_instances()), more=st.floats(0.01, 2))
@examples(60)
def test_loosening_a_bound_never_lowers_the_value(problem: tuple[Document, list[Row]], more: float) -> None:
    document, rows = problem
    instance = instance_from_document(document)
    tight = solve(instance, bind_rows(rows))
    loose_rows = [(terms, s, b + {"<=": more, ">=": -more, "==": 0.0}[s]) for terms, s, b in rows]
    loose = solve(instance, bind_rows(loose_rows))
    if tight.constrained is not None:
        assert loose.constrained is not None
        assert loose.constrained.utility >= tight.constrained.utility - 1e-8
        assert tight.constrained.utility <= tight.unconstrained.utility + 1e-9


def test_a_linear_program_that_fails_is_built_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """HiGHS can give up on a warm start, and stay so; here it loses its model in every third round."""
    rng = np.random.default_rng(7)
    boxes = [Box(str(i), "XY"[i % 2], 1.0, rng.uniform(1, 9, 3), [0.2, 0.3, 0.5]) for i in range(12)]
    instance = Instance((Search("s", 3, tuple(boxes[:6])), Search("t", 2, tuple(boxes[6:]))))
    some = [Floor(minimum=0.05), Parity(on="inspection")]
    whole = solve(instance, some).constrained
    once, rounds = Master.solve, itertools.count()

    def forgetful(master: Master) -> tuple[float, Floats]:
        if next(rounds) % 3 == 2:
            master.lp.clear()
        return once(master)

    monkeypatch.setattr(Master, "solve", forgetful)
    again = solve(instance, some).constrained
    assert whole is not None and again is not None and next(rounds) > 6
    assert again.utility == pytest.approx(whole.utility, abs=1e-9)
    assert max(again.gap, whole.gap) <= 1e-9


def test_many_rows_beside_a_convex_constraint_meet_their_bound() -> None:
    rng = np.random.default_rng(11)
    searches = []
    for s in range(12):
        values = rng.normal(20, 4, (8, 3)) + np.where(np.arange(8) % 2, 0.0, 2.0)[:, None]
        boxes = tuple(Box(str(i), "XY"[i % 2], 1.0 + i / 8, values[i], [0.2, 0.3, 0.5]) for i in range(8))
        searches.append(Search(f"s{s}", 2, boxes))
    rules = [Floor(minimum=0.05), Entropy(level="group", maximum=52.0)]
    best = solve(Instance(tuple(searches)), rules).constrained
    assert best is not None and len(best.rows) == 96 and best.cuts
    assert best.gap <= 1e-7 * best.utility
