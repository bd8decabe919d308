"""The best policy that does not see groups, by a linear program over all of them: groups and values are drawn first.

Nature draws for every candidate a group and a path through its states. A policy sees which states it has revealed and
in which order, nothing else. In sequence form x(h, i) is the chance that the policy itself contributes to the history h
followed by a move of candidate i, so that a policy is any x >= 0 with

    sum_i x(h, i) <= x(the move that led to h),     1 at the beginning

and every expectation is a sum over all draws w of P(w) times the x of the moves that happen under w. Nothing of the
theorem on membership is used: outcomes of a group are counted where w says that the candidate is in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import linprog

Path = tuple[str, ...]
Move = tuple[int, str, str]
"""Candidate, the state that it leaves, the state that it enters."""


@dataclass(frozen=True)
class Hidden:
    """A candidate: chance of each (group, path), and what leaving or entering a state pays."""

    draws: Mapping[tuple[str, Path], float]
    reward: Mapping[str, float]
    terminal: frozenset[str]


@dataclass(frozen=True)
class BlindProgram:
    """Rows are functions of (group, event, weight): see `count`."""

    moves: list[tuple[tuple[Move, ...], int]]
    parents: list[int | None]
    value: np.ndarray[Any, np.dtype[np.float64]]
    counts: dict[tuple[int, str, str], np.ndarray[Any, np.dtype[np.float64]]]
    """(candidate, group, state) -> expected visits (exits, or entries of terminal states) per unit of each x."""

    def best(
        self, rows: list[tuple[np.ndarray[Any, np.dtype[np.float64]], str, float]]
    ) -> tuple[Literal["optimal", "infeasible"], float]:
        size = len(self.moves)
        flow: dict[tuple[tuple[Move, ...], int | None], list[int]] = {}
        for number, (history, _) in enumerate(self.moves):
            flow.setdefault((history, self.parents[number]), []).append(number)
        upper, bound, equal, target = [], [], [], []
        for (_, parent), own in flow.items():
            line = np.zeros(size)
            line[own] = 1.0
            if parent is not None:
                line[parent] -= 1.0
            upper.append(line)
            bound.append(1.0 if parent is None else 0.0)
        for weights, sense, limit in rows:
            if sense == "==":
                equal.append(weights)
                target.append(limit)
            else:
                sign = -1.0 if sense == ">=" else 1.0
                upper.append(sign * weights)
                bound.append(sign * limit)
        found = linprog(
            -self.value,
            A_ub=np.array(upper),
            b_ub=bound,
            A_eq=np.array(equal) if equal else None,
            b_eq=target or None,
            method="highs",
        )
        return ("optimal", -float(found.fun)) if found.status == 0 else ("infeasible", float("nan"))

    def count(self, group: str | None, counted: Callable[[int, str], float]) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Expected visits of a group (or of everybody), each times counted(candidate, state)."""
        total = np.zeros(len(self.moves))
        for (candidate, own, state), visits in self.counts.items():
            if group in (None, own):
                total += counted(candidate, state) * visits
        return total


def blind_program(candidates: list[Hidden], capacities: list[int], sets: list[set[int]]) -> BlindProgram:
    """One search; `capacities[0]` is its own, and `sets[i]` has the numbers of those that hold candidate i."""
    draws = list(itertools.product(*(c.draws.items() for c in candidates)))
    moves: list[tuple[tuple[Move, ...], int]] = []
    parents: list[int | None] = []
    value: list[float] = []
    counts: dict[tuple[int, str, str], dict[int, float]] = {}

    def visit(
        history: tuple[Move, ...], parent: int | None, possible: list[Any], at: list[int], left: list[int]
    ) -> None:
        for i, candidate in enumerate(candidates):
            paths = {path[: at[i] + 2] for draw in possible for (_, path) in [draw[i][0]]}
            following = {path[-1] for path in paths if len(path) == at[i] + 2}
            here = next(iter(paths))[at[i]]
            full = any(left[j] == 0 for j in sets[i])
            if not following or (full and following & candidate.terminal):
                continue
            number = len(moves)
            moves.append((history, i))
            parents.append(parent)
            value.append(0.0)
            for draw in possible:  # each draw counts what happens under it
                chance = float(np.prod([p for _, p in draw]))
                (group, path), _ = draw[i]
                entered = path[at[i] + 1]
                for state in [here, *([entered] if entered in candidate.terminal else [])]:
                    value[number] += chance * candidate.reward[state]
                    own = counts.setdefault((i, group, state), {})
                    own[number] = own.get(number, 0.0) + chance
            for entered in sorted(following):
                kept = [draw for draw in possible if draw[i][0][1][at[i] + 1] == entered]
                used = entered in candidate.terminal
                rest = [k - (used and j in sets[i]) for j, k in enumerate(left)]
                then = [a + (j == i) for j, a in enumerate(at)]
                visit((*history, (i, here, entered)), number, kept, then, rest)

    visit((), None, draws, [0] * len(candidates), list(capacities))
    columns = {key: np.zeros(len(moves)) for key in counts}
    for key, entries in counts.items():
        for number, chance in entries.items():
            columns[key][number] = chance
    return BlindProgram(moves, parents, np.array(value), columns)


def hidden_box(
    pi: Mapping[str, float], laws: Mapping[str, list[float]], values: list[float], cost: float
) -> tuple[Hidden, dict[str, Any]]:
    """A box whose group draws its value from its own law; and the candidate of an instance that it makes."""
    draws = {(g, ("closed", f"known {j}", f"value {j}")): pi[g] * p for g in pi for j, p in enumerate(laws[g]) if p > 0}
    reward = {"closed": -cost} | {f"known {j}": 0.0 for j in range(len(values))}
    reward |= {f"value {j}": v for j, v in enumerate(values)}
    probs = np.array([sum(pi[g] * laws[g][j] for g in pi) for j in range(len(values))])
    membership = {
        g: {
            "before": pi[g],
            "given": [pi[g] * laws[g][j] / probs[j] if probs[j] > 0 else 0.0 for j in range(len(values))],
        }
        for g in pi
    }
    document = {"cost": cost, "values": values, "probs": probs.tolist(), "membership": {"Gender": membership}}
    return Hidden(draws, reward, frozenset(f"value {j}" for j in range(len(values)))), document


def hidden_chain(
    pi: Mapping[str, float], tree: Mapping[str, Mapping[str, Mapping[str, float]]], reward: Mapping[str, float]
) -> tuple[Hidden, dict[str, Any]]:
    """A tree of states: tree[state][group][child]; children that are in no `tree` are terminal, or `out`."""
    draws: dict[tuple[str, Path], float] = {}
    mass: dict[str, dict[str, float]] = {}

    def walk(group: str, path: Path, chance: float) -> None:
        mass.setdefault(path[-1], {})[group] = mass.get(path[-1], {}).get(group, 0.0) + chance
        if path[-1] not in tree:
            draws[group, path] = chance
            return
        for child, p in tree[path[-1]][group].items():
            if p > 0:
                walk(group, (*path, child), chance * p)

    for group, chance in pi.items():
        walk(group, ("start",), chance)
    terminal = frozenset(state for state in mass if state not in tree and not state.startswith("out"))
    states: dict[str, Any] = {}
    for state, by_group in mass.items():
        total = sum(by_group.values())
        own: dict[str, Any] = {"reward": reward.get(state, 0.0), "stage": None if state in terminal else state[:1]}
        own["membership"] = {"Gender": {g: by_group.get(g, 0.0) / total for g in pi}}
        if state in terminal:
            own["terminal"] = True
        elif state in tree:
            to = {
                child: sum(mass[child].values()) / total
                for child in dict.fromkeys(c for g in pi for c in tree[state][g])
            }
            own["to"] = to
        states[state] = own
    return Hidden(draws, {s: reward.get(s, 0.0) for s in mass}, terminal), {"start": "start", "states": states}
