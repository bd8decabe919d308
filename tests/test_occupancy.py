"""The occupancy program itself, against facts worked out by hand and against dynamic programs written differently."""

from __future__ import annotations

import copy
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from support.occupancy import Document, Occupancy, Row, occupancy
from support.sampling import examples
from support.tiny import box_instances, chain_instances, inspected, parity, problems, selected, terms

EXACT = 1e-9


def one_search(*candidates: Document, capacity: int = 1) -> Document:
    people = [{"id": name, "group": "X"} | candidate for name, candidate in zip("abcdef", candidates, strict=False)]
    return {"format": "auditkit-instance/1", "searches": [{"id": "q", "capacity": capacity, "candidates": people}]}


def box(group: str, cost: float, values: list[float], probs: list[float]) -> Document:
    return {"group": group, "cost": cost, "values": values, "probs": probs}


def total(found: Occupancy, row: Row) -> float:
    return sum(coefficient * found.visits[key] for key, coefficient in row[0].items())


HALF = [0.5, 0.5]
FOUR = (box("X", 1, [10, 4], HALF), box("X", 1, [9, 3], HALF), box("Y", 1, [8, 2], HALF), box("Y", 1, [7, 1], HALF))


def test_four_boxes_unconstrained() -> None:
    """Open a; 10 is taken. Else open b; 9 is taken. Else c; 8 is taken; at 2, d is worth opening: 7, or back to 4."""
    found = occupancy(one_search(*FOUR))
    assert found.status == "optimal"
    assert found.utility == pytest.approx(7.0625, abs=EXACT)
    inspections = [found.visits["q", name, "inspected"] for name in "abcd"]
    assert inspections == pytest.approx([1, 1 / 2, 1 / 4, 1 / 8], abs=EXACT)
    assert found.visits["q", "a", ("value", 0)] == pytest.approx(1 / 2, abs=EXACT)
    assert found.visits["q", "d", ("value", 1)] == pytest.approx(0, abs=EXACT)


def test_four_boxes_selection_parity() -> None:
    document = one_search(*FOUR)
    found = occupancy(document, [parity(document, selected)])
    assert found.utility == pytest.approx(6.5625, abs=EXACT)
    assert found.row_values == pytest.approx((0,), abs=EXACT)


def test_four_boxes_one_group_at_a_time() -> None:
    """A fair coin between the best policy for X alone and the best for Y alone."""
    alone = [occupancy(one_search(*pair)).utility for pair in (FOUR[:2], FOUR[2:])]
    assert np.mean(alone) == pytest.approx(5.75, abs=EXACT)


def test_inspection_parity_can_be_free() -> None:
    """Boxes 1, 2, 3 tie: every order is optimal. Y minus X is -1/12 for 3>2>1, 1/6 for 3>1>2 and least for 2>1>3."""
    document = one_search(
        box("X", 1, [7.5, 4], [2 / 3, 1 / 3]),
        box("X", 1, [9, 4], [1 / 3, 2 / 3]),
        box("Y", 1, [10, 4], [1 / 4, 3 / 4]),
        box("Y", 1, [7, 4], HALF),
    )
    y_minus_x = terms(document, inspected, lambda c: 1.0 if c["group"] == "Y" else -1.0)
    assert occupancy(document).utility == pytest.approx(5.75, abs=EXACT)
    for slack, free in ((0, True), (-1 / 12, True), (1 / 6, True), (0.17, False), (-23 / 18, True), (-1.28, False)):
        found = occupancy(document, [(y_minus_x, "==", slack)])
        assert (found.utility > 5.75 - EXACT) is free
        assert found.utility < 5.75 + EXACT


def test_two_parities_at_once() -> None:
    document = one_search(box("X", 2, [6], [1.0]), box("X", 1, [14, 2], [0.1, 0.9]), box("Y", 4, [9, 3], [0.8, 0.2]))
    rows = [parity(document, selected, 2.0), parity(document, inspected, 2.0)]
    assert occupancy(document).utility == pytest.approx(4.0, abs=EXACT)
    assert occupancy(document, rows).utility == pytest.approx(4.0, abs=EXACT)


def loop(stay: float, reward: float, end: Document) -> Document:
    return {"start": "s", "states": {"s": {"reward": reward, "to": {"s": stay, "end": 1 - stay}}, "end": end}}


def test_self_loops_are_paid_at_every_exit() -> None:
    """A geometric number of exits: 1 / (1 - stay) on average."""
    found = occupancy(one_search(loop(0.5, -1.0, {"reward": 5, "terminal": True})))
    assert found.utility == pytest.approx(5 - 2, abs=EXACT)
    assert found.visits == pytest.approx({("q", "a", "s"): 2.0, ("q", "a", "end"): 1.0}, abs=EXACT)
    lunch = occupancy(one_search(loop(0.75, 1.0, {"reward": 3, "to": {}})))
    assert lunch.utility == pytest.approx(4, abs=EXACT)
    assert lunch.visits == pytest.approx({("q", "a", "s"): 4.0, ("q", "a", "end"): 0.0}, abs=EXACT)


def test_capacity_limits_steps_that_may_select() -> None:
    """Both want their free steps, but once one is selected the other may not risk a second selection."""
    risky = loop(0.5, 1.0, {"reward": 0, "terminal": True})
    assert occupancy(one_search(risky, risky)).utility == pytest.approx(2, abs=EXACT)
    assert occupancy(one_search(risky, risky, capacity=2)).utility == pytest.approx(4, abs=EXACT)
    harmless = loop(0.5, 1.0, {"reward": 0, "to": {}})
    assert occupancy(one_search(risky, harmless, harmless)).utility == pytest.approx(6, abs=EXACT)


def test_rows_span_the_searches() -> None:
    """Two certain boxes worth 5 and 8, one and a half selections in all: half of the worse one is given up."""
    first, second = one_search(box("X", 1, [6], [1.0])), one_search(box("Y", 1, [9], [1.0]))
    second["searches"][0]["id"] = "r"
    document = first | {"searches": first["searches"] + second["searches"]}
    assert occupancy(document).utility == pytest.approx(13, abs=EXACT)
    limited = occupancy(document, [(terms(document, selected, lambda c: 1.0), "<=", 1.5)])
    assert limited.utility == pytest.approx(10.5, abs=EXACT)
    assert limited.duals == pytest.approx((5,), abs=EXACT)
    rows: list[Row] = [
        ({("q", "a", "inspected"): 1.0}, "==", 0.5),
        ({("r", "a", "inspected"): 1.0}, ">=", 0.5),
        ({("r", "a", "inspected"): 1.0, ("r", "a", ("value", 0)): -1.0}, ">=", 0.25),
    ]
    three = occupancy(document, rows)
    assert three.utility == pytest.approx(2.5 + 0.75 * 9 - 1, abs=EXACT)
    assert three.duals == pytest.approx((5, 0, -9), abs=EXACT)


def test_infeasible_rows_are_reported() -> None:
    document = one_search(*FOUR)
    everyone = terms(document, selected, lambda c: 1.0)
    for row, violation in (((everyone, ">=", 1.5), 0.5), ((everyone, "==", -0.25), 0.25)):
        found = occupancy(document, [row])
        assert found.status == "infeasible"
        assert np.isnan(found.utility)
        assert found.violation == pytest.approx(violation, abs=EXACT)
    together: list[Row] = [({("q", "a", "inspected"): 1.0}, "<=", 0.25), ({("q", "a", ("value", 0)): 1.0}, ">=", 0.25)]
    assert [occupancy(document, rows).status for rows in (together[:1], together[1:], together)] == [
        "optimal",
        "optimal",
        "infeasible",
    ]


def test_mistyped_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="no state"):
        occupancy(one_search(*FOUR), [({("q", "a", "inspect"): 1.0}, "<=", 0.0)])
    with pytest.raises(ValueError, match="unknown sense"):
        occupancy(one_search(*FOUR), [({}, "=", 0.0)])


def boxes_by_recursion(document: Document) -> float:
    """Bellman's equation on (what is known of each box or that it is gone, selections left), from the end backwards."""

    def value(search: Document) -> float:
        people = search["candidates"]

        @cache
        def best(known: tuple[int | str, ...], left: int) -> float:
            options = [0.0]
            for i, state in enumerate(known):
                if state == "closed":
                    after = [best((*known[:i], j, *known[i + 1 :]), left) for j in range(len(people[i]["values"]))]
                    options.append(-people[i]["cost"] + float(np.dot(people[i]["probs"], after)))
                elif state != "gone" and left > 0:
                    rest = best((*known[:i], "gone", *known[i + 1 :]), left - 1)
                    options.append(people[i]["values"][state] + rest)
            return max(options)

        return best(("closed",) * len(people), search["capacity"])

    return sum(value(search) for search in document["searches"])


def by_value_iteration(document: Document) -> float:
    """The same for chains with cycles: improve on stopping everywhere until nothing moves, over the full product."""

    def as_chain(candidate: Document) -> Document:
        if "states" in candidate:
            return candidate
        to = {f"know{j}": p for j, p in enumerate(candidate["probs"])}
        states: dict[str, Document] = {"closed": {"reward": -candidate["cost"], "to": to}}
        for j, v in enumerate(candidate["values"]):
            states |= {f"know{j}": {"reward": 0, "to": {f"take{j}": 1.0}}, f"take{j}": {"reward": v, "terminal": True}}
        return {"start": "closed", "states": states}

    def value(search: Document) -> float:
        people = [as_chain(candidate) for candidate in search["candidates"]]
        everything = list(product(*(person["states"] for person in people)))
        number = {joint: row for row, joint in enumerate(everything)}
        actions = []
        for joint in everything:
            used = sum(bool(person["states"][s].get("terminal")) for person, s in zip(people, joint, strict=True))
            for i, (person, s) in enumerate(zip(people, joint, strict=True)):
                to = person["states"][s].get("to", {})
                ends = {child for child in to if person["states"][child].get("terminal")}
                if to and not (ends and used >= search["capacity"]):
                    gain = person["states"][s]["reward"] + sum(to[c] * person["states"][c]["reward"] for c in ends)
                    children = [(number[(*joint[:i], child, *joint[i + 1 :])], p) for child, p in to.items()]
                    actions.append((number[joint], gain, children))
        worth = [0.0] * len(everything)
        for _ in range(20_000):
            change = 0.0
            for joint_number, gain, children in reversed(actions):
                better = gain + sum(p * worth[child] for child, p in children)
                if better > worth[joint_number]:
                    change = max(change, better - worth[joint_number])
                    worth[joint_number] = better
            if change < 1e-12:
                break
        return worth[number[tuple(person["start"] for person in people)]]

    return sum(value(search) for search in document["searches"])


def priced(document: Document, rows: list[Row], duals: tuple[float, ...]) -> Document:
    """The instance with the rewards R - sum_j dual_j theta_j."""
    copied = copy.deepcopy(document)
    people = {(search["id"], c["id"]): c for search in copied["searches"] for c in search["candidates"]}
    for (coefficients, _, _), dual in zip(rows, duals, strict=True):
        for (search, who, state), coefficient in coefficients.items():
            person = people[search, who]
            if "states" in person:
                person["states"][state]["reward"] -= dual * coefficient
            elif state == "inspected":
                person["cost"] += dual * coefficient
            else:
                person["values"][state[1]] -= dual * coefficient
    return copied


@examples(60)
@given(box_instances())
def test_unconstrained_boxes_equal_the_recursion(document: Document) -> None:
    assert occupancy(document).utility == pytest.approx(boxes_by_recursion(document), abs=1e-8)


@examples(40)
@given(chain_instances(max_candidates=2))
def test_unconstrained_chains_equal_value_iteration(document: Document) -> None:
    assert occupancy(document).utility == pytest.approx(by_value_iteration(document), abs=1e-7)


def check_certificate(document: Document, rows: list[Row], best: float, found: Occupancy) -> None:
    """Rows hold, duals have their signs, and the priced instance's optimum meets the utility (strong duality)."""
    assert min(found.visits.values()) >= -EXACT
    bound = best
    for row, value, dual in zip(rows, found.row_values, found.duals, strict=True):
        _, sense, side = row
        assert value == pytest.approx(total(found, row), abs=EXACT)
        assert sense == ">=" or value <= side + 1e-8
        assert sense == "<=" or value >= side - 1e-8
        assert sense == "==" or dual * (1 if sense == "<=" else -1) >= -1e-8
        bound += dual * side
    assert found.utility == pytest.approx(bound, abs=1e-6)


@examples(60)
@given(problems(box_instances(max_candidates=3)))
def test_constrained_boxes_meet_their_lagrangian(problem: tuple[Document, list[Row]]) -> None:
    document, rows = problem
    found = occupancy(document, rows)
    if found.status == "infeasible":
        assert found.violation > 1e-9
    else:
        check_certificate(document, rows, boxes_by_recursion(priced(document, rows, found.duals)), found)


@examples(40)
@given(problems(chain_instances(max_candidates=2)))
def test_constrained_chains_meet_their_lagrangian(problem: tuple[Document, list[Row]]) -> None:
    document, rows = problem
    found = occupancy(document, rows)
    if found.status == "infeasible":
        assert found.violation > 1e-9
    else:
        check_certificate(document, rows, by_value_iteration(priced(document, rows, found.duals)), found)
