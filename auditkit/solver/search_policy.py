"""A policy that a person can follow: whom to look at next, and when to stop.

An index policy acts on the candidate with the largest index, as long as it is positive and a position is left: it
leaves the state that the candidate is in, which costs or pays, or selects them. An index of +inf needs no position.
Ties are broken by the further levels of the policy and then by the order of candidates, as the solver breaks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from auditkit.constraints.base import Rows
from auditkit.model.layout import Floats, Ints, Layout
from auditkit.solver import kernels
from auditkit.solver.evaluate import Prepared
from auditkit.solver.policy import Mixture, Policy
from auditkit.text import brief

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class IndexPolicy:
    """One policy on one search. `index` has a row for each state of its candidates and a column for each level."""

    layout: Layout
    search: int
    index: Floats

    @staticmethod
    def of(layout: Layout, rows: Rows, policy: Policy, search: int) -> IndexPolicy:
        prepared = Prepared.of_policy(layout, rows, policy, np.array([search]))
        first, last = layout.candidate_ptr[layout.search_ptr[[search, search + 1]]]
        index = prepared.levels[first:last].copy()
        if index.shape[1] > 1:
            kernels.snap(0, last - first, prepared.tol, index)
        return IndexPolicy(layout, search, index)

    @property
    def candidates(self) -> range:
        return range(*self.layout.search_ptr[[self.search, self.search + 1]].tolist())

    def _states(self, candidate: int) -> range:
        return range(*self.layout.candidate_ptr[[candidate, candidate + 1]].tolist())

    def _key(self, state: int) -> tuple[float, ...]:
        first = int(self.layout.candidate_ptr[self.layout.search_ptr[self.search]])
        return tuple(self.index[state - first].tolist())

    def order(self) -> list[str]:
        """The candidates worth a look, in the order in which they come up if nobody who was seen is good enough."""
        zero = (0.0,) * self.index.shape[1]
        starts = [(self._key(int(self.layout.start[c])), -c) for c in self.candidates if not self.layout.barred[c]]
        return [self.layout.candidate_ids[-c] for key, c in sorted(starts, reverse=True) if key > zero]

    def indices(self) -> pd.DataFrame:
        """The index of every state of every candidate: of a box its own and that of each of its values."""
        import pandas as pd

        rows = []
        for c in self.candidates:
            names, order = self.layout.state_names[c], self.layout.value_order[c]
            for place, state in enumerate(self._states(c)):
                if names is not None and self.layout.selecting[state]:
                    continue  # entering it is the selection itself
                value = None if names is not None or not place else float(self.layout.reward[state])
                told = names[place] if names is not None else "inspected" if order is None or not place else "value"
                rows.append((self.layout.candidate_ids[c], told, value, self._key(state)[0]))
        return pd.DataFrame(rows, columns=["candidate", "state", "value", "index"])

    def thresholds(self) -> dict[str, float]:
        """For each candidate the index of looking at them: they come up while no one seen has a higher one."""
        ids = self.layout.candidate_ids
        return {ids[c]: self._key(int(self.layout.start[c]))[0] for c in self.candidates}

    def run(self, rng: np.random.Generator) -> tuple[Floats, float]:
        """One search: visits of its states, and the utility."""
        layout = self.layout
        first = int(layout.candidate_ptr[self.candidates.start])
        visits = np.zeros(len(self.index))
        left, sets = self._capacities()
        at: dict[int, int] = {c: int(layout.start[c]) for c in self.candidates if not layout.barred[c]}
        zero = (0.0,) * self.index.shape[1]
        while at:
            able = [
                (self._key(s), -c) for c, s in at.items() if self._key(s)[0] == np.inf or all(left[j] for j in sets[c])
            ]
            if not able or max(able)[0] <= zero:
                break
            c = -max(able)[1]
            state = at[c]
            visits[state - first] += 1.0
            if not layout.stop[state]:  # the value of a box that is known: to act on it is to select
                at[c] = self._next(state, rng)
                if not layout.terminal[at[c]]:
                    continue
                visits[at[c] - first] += 1.0
            del at[c]
            for j in sets[c]:
                left[j] -= 1
        return visits, float(layout.reward[first : first + len(visits)] @ visits)

    def _next(self, state: int, rng: np.random.Generator) -> int:
        own = slice(int(self.layout.edges.ptr[state]), int(self.layout.edges.ptr[state + 1]))
        chances = self.layout.edge_prob[own]
        return int(rng.choice(self.layout.edges.items[own], p=chances / chances.sum()))

    def _capacities(self) -> tuple[list[int], dict[int, list[int]]]:
        """Positions left in the search and its limits, and which of them each candidate uses."""
        layout, limits = self.layout, self.layout.limits
        left = [int(layout.capacity[self.search])]
        sets = {c: [0] for c in self.candidates}
        if limits is not None:
            first, last = int(limits.ptr[self.search]), int(limits.ptr[self.search + 1])
            left += limits.capacity[first:last].tolist()
            for c in self.candidates:
                j = int(limits.innermost[c])
                while j > 0:
                    sets[c].append(j)
                    j = int(limits.parent[first + j - 1])
        return left, sets


@dataclass(frozen=True, eq=False)
class SearchPolicy:
    """What one search follows: a policy, or a lottery over a few."""

    search: str
    policies: tuple[IndexPolicy, ...]
    weights: tuple[float, ...]

    @staticmethod
    def of(layout: Layout, rows: Rows, mixture: Mixture, search: int) -> SearchPolicy:
        drawn = sorted(mixture.lottery(search), key=lambda draw: -draw[1])
        policies = tuple(IndexPolicy.of(layout, rows, mixture.policies[i], search) for i, _ in drawn)
        return SearchPolicy(layout.search_ids[search], policies, tuple(w for _, w in drawn))

    def order(self, draw: int = 0) -> list[str]:
        """As `IndexPolicy.order`, of the likeliest policy or of another."""
        return self.policies[draw].order()

    def indices(self, draw: int = 0) -> pd.DataFrame:
        return self.policies[draw].indices()

    def thresholds(self, draw: int = 0) -> dict[str, float]:
        return self.policies[draw].thresholds()

    def __repr__(self) -> str:
        told = " or ".join(
            f"{brief(w)}: {', '.join(p.order())}" for w, p in zip(self.weights, self.policies, strict=True)
        )
        return f"<policy of {self.search}: {told}>"


def simulate(layout: Layout, rows: Rows, mixture: Mixture, runs: int, seed: int) -> tuple[Floats, Floats]:
    """Mean visits of all states over some runs, and the utility of each run; policies are drawn as the mixture says."""
    rng = np.random.default_rng(seed)
    total, utilities = np.zeros(layout.states), np.zeros(runs)
    drawn = _draws(mixture, runs, rng)
    for search in range(len(layout.search_ids)):
        first, last = layout.candidate_ptr[layout.search_ptr[[search, search + 1]]]
        made: dict[int, IndexPolicy] = {}
        for run in range(runs):
            which = int(drawn[run]) if drawn is not None else _draw(mixture.lottery(search), rng)
            if which not in made:
                made[which] = IndexPolicy.of(layout, rows, mixture.policies[which], search)
            visits, utility = made[which].run(rng)
            total[first:last] += visits
            utilities[run] += utility
    return total / runs, utilities


def _draws(mixture: Mixture, runs: int, rng: np.random.Generator) -> Ints | None:
    """One policy for the whole firm in each run; None where searches draw by themselves."""
    if mixture.firm is None:
        return None
    return np.array([_draw(mixture.firm, rng) for _ in range(runs)], dtype=np.int64)


def _draw(lottery: Sequence[tuple[int, float]], rng: np.random.Generator) -> int:
    if len(lottery) == 1:
        return lottery[0][0]
    chances = np.array([w for _, w in lottery])
    return int(lottery[int(rng.choice(len(lottery), p=chances / chances.sum()))][0])
