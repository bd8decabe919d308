"""The best policy of a tiny search, by brute force: a linear program over *all* policies of the joint chain.

It shares no code and no idea with auditkit's solver (no index, no capped value, no duality): it is what the tests
compare the solver with. It reads only plain documents in the format `auditkit-instance/1`.

A joint state sigma holds the current state of every candidate and the capacity that is left. The action i leaves
candidate i's state s: it pays R(s) and moves to s' with probability A(s, s'); entering a terminal state pays its reward
and uses one unit of capacity, so where A(s, .) reaches a terminal state the action needs capacity left. Where a search
has limits, what is left of each of them is part of the joint state, and one unit of every one that holds the candidate
is used. Stopping is always allowed. Nobody is inspected where nobody can be selected: candidates of a search, or of a
limit, without positions never move. With x(sigma, i) the expected number of times that action is taken,

    maximise   R·p                         over x >= 0
    such that  sum_i x(sigma, i) - sum_{sigma', i} P(sigma | sigma', i) x(sigma', i) <= 1[sigma is the start]
               theta_j·p  (<=, >=, ==)  b_j

where p, linear in x, counts the exits of non-terminal states and the entries to terminal ones. The slack of the first
inequality is the probability of stopping in sigma. Several searches make it block-diagonal; the rows span the blocks.

A box is the chain closed -> value j known -> selected with value j. Its keys are "inspected" (exits of closed) and
("value", j) for the j-th entry of `values`. A chain's keys are the names of its states; a dead end is never left, so
its visits are 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_array, csr_array, eye_array, hstack, vstack

Document: TypeAlias = dict[str, Any]
StateKey: TypeAlias = str | tuple[str, int]
Key: TypeAlias = tuple[str, str, StateKey]
Left: TypeAlias = tuple[int, ...]
Row: TypeAlias = tuple[dict[Key, float], str, float]

_TOLERANCE = 1e-10  # the tightest HiGHS accepts


@dataclass(frozen=True)
class Occupancy:
    """The optimum over all policies; `utility` is nan and the rest empty when no policy satisfies the rows.

    `duals` are d utility / d bound: >= 0 for "<=" rows, <= 0 for ">=" rows, so that the utility equals
    max_p (R - sum_j dual_j theta_j)·p + sum_j dual_j b_j. `violation` is the least sum of the rows' violations that any
    policy reaches: 0 when optimal, and when infeasible how clearly so (below 1e-7 let the comparison skip the example).
    """

    status: Literal["optimal", "infeasible"]
    utility: float
    visits: dict[Key, float]
    row_values: tuple[float, ...]
    duals: tuple[float, ...]
    violation: float


@dataclass(frozen=True)
class _Chain:
    start: StateKey
    moves: dict[StateKey, tuple[tuple[StateKey, float], ...]]  # of the states that can be left
    rewards: dict[StateKey, float]
    terminal: frozenset[StateKey]


def _box(candidate: Document) -> _Chain:
    support = range(len(candidate["values"]))
    moves: dict[StateKey, tuple[tuple[StateKey, float], ...]] = {
        "inspected": tuple((("known", j), float(candidate["probs"][j])) for j in support if candidate["probs"][j] > 0)
    }
    rewards: dict[StateKey, float] = {"inspected": -float(candidate["cost"])}
    for j in support:
        moves["known", j] = ((("value", j), 1.0),)
        rewards["value", j] = float(candidate["values"][j])
    return _Chain("inspected", moves, rewards, frozenset(("value", j) for j in support))


def _chain(candidate: Document) -> _Chain:
    if "values" in candidate:
        return _box(candidate)
    states: dict[str, Document] = candidate["states"]
    terminal = frozenset(name for name, state in states.items() if state.get("terminal", False))
    if candidate["start"] in terminal:
        raise ValueError(f"candidate {candidate['id']}: the start state is terminal")
    moves: dict[StateKey, tuple[tuple[StateKey, float], ...]] = {}
    for name, state in states.items():
        to = tuple((child, float(probability)) for child, probability in state.get("to", {}).items() if probability > 0)
        if to and name not in terminal:
            moves[name] = to
    rewards: dict[StateKey, float] = {name: float(state.get("reward", 0.0)) for name, state in states.items()}
    return _Chain(candidate["start"], moves, rewards, terminal)


@dataclass(frozen=True)
class _Block:
    """One search: `flow` is (joint states x actions), `visits` is (keys x actions); joint state 0 is the start."""

    flow: csc_array
    visits: csr_array
    keys: list[tuple[str, StateKey]]
    rewards: list[float]


def _block(search: Document) -> _Block:
    """Enumerates the joint states reachable from the start.

    A candidate that can never move again is None: it is selected, or in a dead end, or no capacity is left and its next
    step might be a selection. What it was has no effect on the future.
    """
    chains = [_chain(candidate) for candidate in search["candidates"]]
    selects = [{s for s, to in c.moves.items() if any(child in c.terminal for child, _ in to)} for c in chains]
    keys = [
        (str(candidate["id"]), s) for candidate, c in zip(search["candidates"], chains, strict=True) for s in c.rewards
    ]
    position = {key: row for row, key in enumerate(keys)}
    if len(position) != len(keys):
        raise ValueError(f"search {search['id']}: two candidates have the same id")

    capacities, sets = _sets(search)

    def settle(states: Sequence[StateKey | None], used: Sequence[int]) -> tuple[tuple[StateKey | None, ...], Left]:
        left = tuple(k - u for k, u in zip(capacities, used, strict=True))
        full = [any(left[j] == 0 for j in own) for own in sets]
        movable = [
            c.moves.keys() - sel if f else c.moves.keys() for c, sel, f in zip(chains, selects, full, strict=True)
        ]
        return tuple(s if s in can else None for s, can in zip(states, movable, strict=True)), left

    closed = [any(capacities[j] == 0 for j in own) for own in sets]
    start = settle([None if no else c.start for c, no in zip(chains, closed, strict=True)], [0] * len(capacities))
    number = {start: 0}
    queue = [start]
    flow: list[tuple[int, int, float]] = []
    visits: list[tuple[int, int, float]] = []
    actions = 0
    for states, left in queue:  # grows while it is read
        here = number[states, left]
        for i, s in enumerate(states):
            if s is None:
                continue
            who = str(search["candidates"][i]["id"])
            flow.append((here, actions, 1.0))
            if (who, s) in position:
                visits.append((position[who, s], actions, 1.0))
            for child, probability in chains[i].moves[s]:
                entered = child in chains[i].terminal
                if entered:
                    visits.append((position[who, child], actions, probability))
                used = [
                    k - x + (entered and j in sets[i]) for j, (k, x) in enumerate(zip(capacities, left, strict=True))
                ]
                following = settle([*states[:i], child, *states[i + 1 :]], used)
                if following not in number:
                    number[following] = len(queue)
                    queue.append(following)
                flow.append((number[following], actions, -probability))
            actions += 1
    rewards = [c.rewards[s] for c in chains for s in c.rewards]
    return _Block(
        csc_array(_sparse(flow, (len(queue), actions))), csr_array(_sparse(visits, (len(keys), actions))), keys, rewards
    )


def _sets(search: Document) -> tuple[list[int], list[set[int]]]:
    """Capacity of the search and of each limit; for each candidate, which of them hold it."""
    capacities = [int(search["capacity"])]
    sets = [{0} for _ in search["candidates"]]
    for j, limit in enumerate(search.get("limits", []), start=1):
        capacities.append(int(limit["capacity"]))
        for own, candidate in zip(sets, search["candidates"], strict=True):
            if "candidates" in limit:
                inside = candidate["id"] in limit["candidates"]
            else:
                inside = candidate.get("attributes", {}).get(limit["by"]) == limit["value"]
            if inside:
                own.add(j)
    return capacities, sets


def _sparse(entries: list[tuple[int, int, float]], shape: tuple[int, int]) -> csr_array:
    """Entries with the same place add up, as a joint self-loop's 1 - P must."""
    rows = np.array([row for row, _, _ in entries], dtype=int)
    columns = np.array([column for _, column, _ in entries], dtype=int)
    return csr_array((np.array([number for _, _, number in entries], dtype=float), (rows, columns)), shape=shape)


def _block_diagonal(parts: Sequence[Any]) -> csr_array:
    entries: list[tuple[int, int, float]] = []
    top = left = 0
    for part in parts:
        coo = part.tocoo()
        entries += [(top + r, left + c, v) for r, c, v in zip(*coo.coords, coo.data, strict=True)]
        top, left = top + part.shape[0], left + part.shape[1]
    return _sparse(entries, (top, left))


def _minimise(cost: Any, upper: Any, bound: Any, equal: Any, target: Any) -> Any:
    """HiGHS at its tightest tolerances; None when infeasible. Presolve off is the second try where it cannot decide."""
    for presolve in (True, False):
        found = linprog(
            cost,
            A_ub=upper,
            b_ub=bound,
            A_eq=equal if equal.shape[0] else None,
            b_eq=target if equal.shape[0] else None,
            bounds=(0, None),
            method="highs",
            options={
                "presolve": presolve,
                "primal_feasibility_tolerance": _TOLERANCE,
                "dual_feasibility_tolerance": _TOLERANCE,
            },
        )
        if found.status == 0:
            return found
        if found.status == 2:
            return None
    raise RuntimeError(f"HiGHS could not decide the program: {found.message}")


def occupancy(document: Document, rows: Sequence[Row] = ()) -> Occupancy:
    """Solves the program of this module's docstring for an instance document and rows (coefficients, sense, bound)."""
    blocks = [_block(search) for search in document["searches"]]
    keys = [
        (str(search["id"]), who, s)
        for search, block in zip(document["searches"], blocks, strict=True)
        for who, s in block.keys
    ]
    position = {key: row for row, key in enumerate(keys)}
    if len(position) != len(keys):
        raise ValueError("two searches have the same id")
    visits = _block_diagonal([block.visits for block in blocks])
    flow = _block_diagonal([block.flow for block in blocks])
    if not visits.shape[1]:  # nothing can be done, say where nobody may be selected: one variable that does nothing
        visits, flow = _sparse([], (visits.shape[0], 1)), _sparse([], (flow.shape[0], 1))
    initial = np.concatenate([np.eye(1, block.flow.shape[0]).ravel() for block in blocks])
    rewards = np.array([reward for block in blocks for reward in block.rewards])

    terms: list[tuple[int, int, float]] = []
    for j, (coefficients, sense, _) in enumerate(rows):
        if sense not in ("<=", ">=", "=="):
            raise ValueError(f"row {j}: unknown sense {sense!r}")
        for key, coefficient in coefficients.items():
            if key not in position:
                raise ValueError(f"row {j}: no state {key!r}")
            terms.append((j, position[key], float(coefficient)))
    theta = _sparse(terms, (len(rows), len(keys)))
    bounds = np.array([bound for _, _, bound in rows], dtype=float)
    equal = np.array([sense == "==" for _, sense, _ in rows], dtype=bool)
    sign = np.array([-1.0 if sense == ">=" else 1.0 for _, sense, _ in rows])  # ">=" is "<=" of the negative
    seen = csr_array((theta @ visits).multiply(sign[:, None]))
    sides = sign * bounds

    upper, upper_bound = vstack([flow, seen[~equal]], format="csc"), np.concatenate([initial, sides[~equal]])
    found = _minimise(-(rewards @ visits), upper, upper_bound, seen[equal], sides[equal])
    if found is None:
        violation = _least_violation(flow, initial, seen, sides, equal)
        return Occupancy("infeasible", float("nan"), {}, (), (), violation)

    p = visits @ found.x
    duals = np.zeros(len(rows))
    duals[~equal] = -found.ineqlin.marginals[len(initial) :]
    if equal.any():
        duals[equal] = -found.eqlin.marginals
    return Occupancy(
        "optimal",
        float(rewards @ p),
        {key: float(p[row]) for key, row in position.items()},
        tuple(float(value) for value in theta @ p),
        tuple(float(dual) for dual in sign * duals),
        0.0,
    )


def _least_violation(flow: Any, initial: Any, seen: Any, sides: Any, equal: Any) -> float:
    """Phase one: the least sum of |excess| (of shortfall too where the row is an equality) over all policies."""
    m, n = seen.shape
    relief = eye_array(m, format="csr")
    upper = vstack(
        [
            hstack([flow, csr_array((flow.shape[0], m))]),
            hstack([seen, -relief]),
            hstack([-seen[equal], -relief[equal]]),
        ],
        format="csc",
    )
    cost = np.concatenate([np.zeros(n), np.ones(m)])
    found = _minimise(cost, upper, np.concatenate([initial, sides, -sides[equal]]), csr_array((0, n + m)), np.zeros(0))
    if found is None:
        raise RuntimeError("phase one is always feasible: stop at once and pay the violation")
    return float(found.fun)
