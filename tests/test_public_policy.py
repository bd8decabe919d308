"""Policies that people can follow: order, indices, thresholds and simulation agree with the solver's exact numbers."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import auditkit
from auditkit.constraints import Parity
from auditkit.errors import InputError
from auditkit.model.documents import instance_from_document
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.solver import solve
from support.constraints import build
from support.instances import FOUR
from support.tiny import add_limits, box_instance, chain_instance


def test_order_and_thresholds_are_those_of_the_indices() -> None:
    """Costs 1; values {10,4},{9,3} in X and {8,2},{7,1} in Y, each 1/2: the index solves E(v - s)+ = 1."""
    solution = solve(FOUR, [build("parity:basis=count")])
    free = solution.policy("s", constrained=False)
    assert free.thresholds() == pytest.approx({"a": 8, "b": 7, "c": 6, "d": 5}) and free.weights == (1.0,)
    assert free.order() == ["a", "b", "c", "d"]
    table = free.indices()
    assert table[(table.candidate == "a") & (table.state == "value")]["index"].tolist() == [10, 4]
    assert solution.constrained is not None
    under = solution.policy("s")
    assert sum(under.weights) == pytest.approx(1)
    drawn = sorted(solution.constrained.mixture.lottery(0), key=lambda draw: -draw[1])
    for draw, (number, _) in enumerate(
        drawn
    ):  # a policy is one at its own duals; all are optimal at those of the optimum
        shift = solution.constrained.mixture.policies[number].levels[0].duals[0]
        moved = under.thresholds(draw)
        assert moved == pytest.approx({"a": 8 - shift, "b": 7 - shift, "c": 6 + shift, "d": 5 + shift}, abs=1e-9)


def test_ties_go_to_the_earlier_candidate_as_in_the_solver() -> None:
    alike = [Box(name, "X", 1.0, [4.0, 0.0], [0.5, 0.5]) for name in ("z", "y", "x")]
    solution = solve(Instance((Search("s", 1, alike),)))
    assert solution.policy("s", constrained=False).order() == ["z", "y", "x"]
    inspected = solution.unconstrained.inspected
    assert inspected[0] == 1 and (np.diff(inspected) < 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_simulation_agrees_with_the_exact_visits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    document = box_instance(rng, candidates=3) if seed % 2 else chain_instance(rng, candidates=3)
    instance = instance_from_document(add_limits(rng, document) if seed > 3 else document)
    solution = solve(instance, [build("budget:limit=0.6,on=inspection")])
    for constrained in (False, True):
        outcome = solution.constrained.outcome if constrained and solution.constrained else solution.unconstrained
        frame = solution.simulate(3000, seed=1, constrained=constrained)
        for seen, exact in ((frame["selected"], outcome.selected), (frame["inspected"], outcome.inspected)):
            assert (np.abs(seen.to_numpy() - exact) <= 0.05 * (1 + exact)).all()
        utility = np.array(frame.attrs["utility"])
        assert abs(utility.mean() - outcome.utility) <= 5 * utility.std() / np.sqrt(3000) + 1e-9
    assert solution.simulate(50, seed=2).equals(solution.simulate(50, seed=2))


def test_what_cannot_be_followed_is_said() -> None:
    solution = solve(FOUR, [build("budget:limit=-1")])
    with pytest.raises(InputError, match="cannot hold together"):
        solution.policy("s")
    assert solution.policy("s", constrained=False).order()
    with pytest.raises(InputError, match="no search 'S'"):
        solution.policy("S")


# The Python interface -------------------------------------------------------------------------------------------------


def people(rows: int = 240, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "Candidate": [f"p{i:04d}" for i in range(rows)],
            "Req": [f"R{i % 12:02d}" for i in range(rows)],
            "Gender": rng.choice(["F", "M"], rows),
            "Test": np.round(rng.normal(50, 10, rows), 1),
        }
    )
    frame["Interviewed"] = rng.random(rows) < 0.6
    frame["Score"] = np.where(frame.Interviewed, np.round(frame.Test + rng.normal(0, 5, rows), 1), np.nan)
    best = frame.sort_values("Score", ascending=False).groupby("Req").head(2).index
    frame["Hired"] = frame.index.isin(best) & frame.Interviewed
    return frame.sample(frac=1.0, random_state=seed).reset_index(drop=True)


ROLES = {
    "candidate": "Candidate",
    "search": "Req",
    "group": "Gender",
    "score": "Score",
    "prior": "Test",
    "inspected": "Interviewed",
    "selected": "Hired",
}


def test_rows_of_a_fit_point_at_the_people_of_a_shuffled_table() -> None:
    frame = people()
    history = auditkit.read(frame, map=ROLES, cost=1)
    fitted = auditkit.fit(history, group_aware=True)
    told = fitted.to_frame()
    own = history.table.iloc[told["at"].to_numpy()]
    assert own["search"].tolist() == told["search"].tolist()
    assert own["group:Gender"].astype(str).tolist() == told["group:Gender"].tolist()
    assert (own["inspected"].to_numpy(dtype=bool) == told["inspected"].to_numpy()).all()
    named = auditkit.solve(fitted, "parity").to_frame(ids=history)
    assert sorted(named["candidate"]) == sorted(frame["Candidate"])
    by_name = frame.set_index("Candidate")
    assert by_name.loc[named["candidate"], "Req"].tolist() == named["search"].tolist()
    with pytest.raises(InputError, match="not of a fitted history"):
        solve(FOUR).to_frame(ids=history)


def test_constraints_can_be_imported_solutions_pickled_and_instances_asked() -> None:
    solution = auditkit.solve(FOUR, Parity(basis="count"))
    same = pickle.loads(pickle.dumps(solution))
    assert same.constrained.utility == solution.constrained.utility  # type: ignore[union-attr]
    assert same.to_json() == solution.to_json()
    assert FOUR["s"].capacity == 1
    assert FOUR.replace(capacities={"s": 2})["s"].capacity == 2
    with pytest.raises(InputError, match="no search 't'"):
        FOUR["t"]
    with pytest.raises(InputError, match="takes an Instance"):
        auditkit.solve(3)  # type: ignore[arg-type]


def test_verify_takes_objects() -> None:
    solution = auditkit.solve(FOUR, Parity(basis="count"))
    assert auditkit.verify(solution, FOUR).holds
    other = FOUR.replace(capacities={"s": 2})
    assert not auditkit.verify(solution, other).holds
    with pytest.raises(InputError, match="Solution"):
        auditkit.verify(FOUR, solution)  # type: ignore[arg-type]


def test_a_sweep_is_the_frontier_of_a_constraint() -> None:
    swept = auditkit.sweep(FOUR, "parity:basis=count", tolerance=[0.0, 0.1, 1.0])
    assert swept["tolerance"].tolist() == [0.0, 0.1, 1.0]
    for value, utility in zip(swept["tolerance"], swept["utility"], strict=True):
        best = solve(FOUR, [build(f"parity:basis=count,tolerance={value}")]).constrained
        assert best is not None and utility == pytest.approx(best.utility, abs=1e-9)
    with pytest.raises(InputError, match="one number"):
        auditkit.sweep(FOUR, "parity")


def test_a_rejection_that_is_marked_as_a_hire_is_warned_of() -> None:
    from auditkit.model.search import Chain, State

    states = [
        State("look", -1.0, {"hired": 0.5, "rejected": 0.5}),
        State("hired", 5.0, selected=True),
        State("rejected", 0.0, selected=True),
    ]
    instance = Instance((Search("s", 1, (Chain("a", "X", "look", states),)),))
    with pytest.warns(UserWarning, match="'rejected' is terminal, which means selected, and pays 0"):
        auditkit.solve(instance)
    states[2] = State("rejected", 0.0)
    assert not Instance((Search("s", 1, (Chain("a", "X", "look", states),)),)).warnings
