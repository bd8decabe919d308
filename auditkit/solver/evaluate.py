"""Exact evaluation of index policies: expected visits of every state, and the ex-post law of selections.

The work is done by `kernels.py`, over all searches at once; here it is cut into pieces for threads (the kernels hold
no lock) and the pieces' results lie in disjoint parts of the same arrays, so that the answer does not depend on how
it was cut.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from auditkit.constraints.base import Rows
from auditkit.model.layout import Floats, Ints, Layout
from auditkit.solver import kernels
from auditkit.solver.policy import Policy

TIE_TOLERANCE = 1e-9
"""Of the size of a level's rewards: closer indices are tied when a policy has further levels to break ties."""

WORTH_THREADS, STATES_PER_PIECE = 20_000, 5_000
"""Fewer states than the first are not worth threads; pieces of the second keep all of them busy to the end."""

MOST_OUTCOMES = 4_000_000
"""Largest table of joint counts that is laid out in memory."""


def _chains(layout: Layout) -> kernels.Chains:
    return kernels.Chains(
        layout.search_ptr,
        layout.capacity,
        layout.candidate_ptr,
        layout.cyclic,
        layout.terminal,
        layout.stop,
        layout.edges.ptr,
        layout.edges.items,
        layout.edge_prob,
        layout.law.ptr,
        layout.law.items,
        layout.mass.ptr,
        layout.mass.items,
    )


def _pieces(layout: Layout) -> list[tuple[int, int]]:
    """Ranges of searches with about equal numbers of states."""
    searches = len(layout.search_ids)
    if searches == 1 or layout.states < WORTH_THREADS:
        return [(0, searches)]
    count = min(searches, max(1, layout.states // STATES_PER_PIECE), 8 * (os.cpu_count() or 1))
    first_state = layout.candidate_ptr[layout.search_ptr]
    cuts = np.searchsorted(first_state, np.linspace(0, layout.states, count + 1)[1:-1])
    return [(int(a), int(b)) for a, b in pairwise([0, *cuts, searches]) if b > a]


def _over_searches(layout: Layout, work: Callable[[int, int], None]) -> None:
    pieces = _pieces(layout)
    if len(pieces) == 1:
        work(*pieces[0])
        return
    list(_threads(os.getpid()).map(lambda piece: work(*piece), pieces))


@cache
def _threads(_: int) -> ThreadPoolExecutor:
    """Started once for each process: a forked one has none of its parent's."""
    return ThreadPoolExecutor(os.cpu_count(), "auditkit")


@dataclass(frozen=True, eq=False)
class Prepared:
    """Indices of all states under some rewards, and how candidates move while the smallest index falls."""

    layout: Layout
    index: Floats
    mass: Floats

    @staticmethod
    def of_policy(layout: Layout, rows: Rows, policy: Policy) -> Prepared:
        sizes = [level.size(layout, rows) for level in policy.levels] if len(policy.levels) > 1 else None
        return Prepared.of(layout, policy.rewards(layout, rows), sizes)

    @staticmethod
    def of(layout: Layout, rewards: Floats, sizes: Sequence[float] | None = None) -> Prepared:
        """`rewards` has one row per state and one column per level; `sizes` are those of their terms, if known."""
        rewards = np.ascontiguousarray(rewards.reshape(layout.states, -1))
        if rewards.shape[1] == 1:
            tol = np.zeros(1)  # with nothing left to break ties, none is made
        else:
            tol = TIE_TOLERANCE * np.array(np.abs(rewards).max(axis=0, initial=0.0) if sizes is None else sizes)
        index, mass = np.empty_like(rewards), np.empty(len(layout.mass.items))
        chains = _chains(layout)
        _over_searches(layout, lambda a, b: kernels.prepare(a, b, chains, rewards, tol, index, mass))
        return Prepared(layout, index, mass)

    def visits(self) -> Floats:
        """Expected visits p of every state: exits, or entries of terminal states."""
        visits, share = np.empty(self.layout.states), np.empty(self.layout.states)
        chains = _chains(self.layout)
        _over_searches(self.layout, lambda a, b: kernels.evaluate(a, b, chains, self.index, self.mass, share, visits))
        return visits

    def selection_law(self, search: int, group: Ints, groups: int) -> Floats:
        """P(a_0 selected from group 0, a_1 from group 1, ...) in one search, an array of shape (k + 1,) * groups.

        `group` gives the group of every candidate of the layout, 0..groups-1; merge groups to keep this small.
        """
        k = int(self.layout.capacity[search])
        if (k + 1) ** groups > MOST_OUTCOMES:
            raise ValueError(f"{groups} groups and capacity {k} have too many joint outcomes: merge some groups")
        share = np.empty(self.layout.states)
        own = np.ascontiguousarray(group[self.layout.search_ptr[search] : self.layout.search_ptr[search + 1]])
        table = kernels.selection_law(search, _chains(self.layout), self.index, self.mass, share, own, groups)
        return np.asarray(table).reshape((k + 1,) * groups)

    def inspection_law(self, search: int, group: Ints, groups: int) -> tuple[Ints, Floats]:
        """Joint law of the numbers inspected (first stage left) from each group in one search: counts and chances.

        Given that the k-th best capped value is at event e, exactly those are inspected whose start comes no later than
        e: the counts follow from e. Later stages have no such law, because who reaches them is random even then.
        """
        layout, chains = self.layout, _chains(self.layout)
        c0, c1, k = layout.search_ptr[search], layout.search_ptr[search + 1], int(layout.capacity[search])
        start = layout.start[c0:c1]
        share = np.empty(layout.states)
        states, owner, kappa = kernels.list_events(search, chains, self.index, self.mass, share)
        own = np.asarray(group[c0:c1])
        always = np.bincount(own[np.isposinf(self.index[start, 0])], minlength=groups)  # needs no capacity
        first = np.isin(states, start)
        counts = np.cumsum(np.eye(groups, dtype=np.int64)[own[owner]] * first[:, None], axis=0) + always
        if not k or not len(states):
            return always[None, :], np.ones(1)
        fewer = [kernels.chances(c1 - c0, j, owner, kappa) if j else np.zeros(len(states)) for j in (k, k - 1)]
        chance = np.maximum(kappa * (fewer[0] - fewer[1]), 0.0)
        everyone = np.append(chance, max(0.0, 1.0 - float(chance.sum())))  # fewer than k are worth selecting
        found, which = np.unique(np.vstack([counts, counts[-1:]]), axis=0, return_inverse=True)
        return found, np.bincount(which.ravel(), everyone).astype(np.float64)


def visits(layout: Layout, rewards: Floats) -> Floats:
    """Expected visits of every state under the policy that is optimal for `rewards` (states, levels)."""
    return Prepared.of(layout, rewards).visits()
