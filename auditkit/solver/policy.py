"""Policies by what they are optimal for, and what they yield.

An index policy is named by adjusted rewards: it is the optimal policy of the instance in which state s pays
`objective * R(s) - sum_j duals[j] * theta_j(s)`. A `Level` is one such adjustment; a `Policy` is a sequence of them,
each breaking the ties that the ones before it leave (the paper's tie-breaking rules are second levels). What ties
remain go to the earlier candidate. So a policy is a handful of numbers, and anyone can evaluate it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol
from weakref import ReferenceType, ref

import numpy as np

from auditkit.constraints.base import Rows
from auditkit.model.layout import Floats, Ints, Layout
from auditkit.model.session import current
from auditkit.solver.rounding import without_noise


class Rewarded(Protocol):
    """States with rewards: a layout, or the types of its candidates."""

    @property
    def reward(self) -> Floats: ...


@dataclass(frozen=True)
class Level:
    objective: float
    duals: tuple[float, ...]

    def reward(self, layout: Rewarded, rows: Rows) -> Floats:
        """R adjusted: objective * R - Theta' duals. Rows beyond the duals were added later and do not matter."""
        reward = self.objective * layout.reward
        for dual, row in zip(self.duals, rows.rows, strict=False):
            if dual != 0.0:  # in the order of rows: `verify` repeats it
                row.reduce(reward, dual)
        return reward

    def size(self, layout: Rewarded, rows: Rows) -> float:
        """The largest sum of the terms of an adjusted reward, before they cancel: what rounding is relative to."""
        terms = abs(self.objective) * np.abs(layout.reward)
        for dual, row in zip(self.duals, rows.rows, strict=False):
            if dual != 0.0:
                terms[row.states] += abs(dual) * np.abs(row.coefficients)
        return float(terms.max(initial=0.0))


@dataclass(frozen=True)
class Policy:
    levels: tuple[Level, ...]
    rows: Rows | None = field(default=None, compare=False, repr=False)
    """The rows that the duals refer to, where they are not those of the problem that uses the policy."""

    @staticmethod
    def at(duals: Floats | tuple[float, ...], *ties: Level) -> Policy:
        """The policy optimal for the Lagrangian at `duals`."""
        return Policy((Level(1.0, _plain(duals)), *ties))

    @staticmethod
    def towards(direction: Floats | tuple[float, ...]) -> Policy:
        """The most valuable policy among those that minimise `direction` . Theta p."""
        plain = _plain(direction)
        return Policy((Level(0.0, plain), Level(1.0, (0.0,) * len(plain))))

    def rewards(self, layout: Rewarded, rows: Rows) -> Floats:
        """Adjusted rewards, one column a level, as the kernels take them."""
        return np.column_stack([level.reward(layout, self.rows or rows) for level in self.levels])

    def sizes(self, layout: Rewarded, rows: Rows) -> list[float] | None:
        """Of each level, where ties are made and broken."""
        return [level.size(layout, self.rows or rows) for level in self.levels] if len(self.levels) > 1 else None

    def of(self, rows: Rows) -> Policy:
        """The same policy for use with other rows than those that its duals refer to."""
        return self if self.rows is not None else Policy(self.levels, rows)


def _plain(numbers: Floats | tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(x) + 0.0 for x in numbers)  # + 0.0 turns -0.0 into 0.0


Lottery = tuple[tuple[int, float], ...]
"""Numbers of policies, each with the probability with which it is drawn."""


@dataclass(frozen=True)
class Mixture:
    """Who follows which policy. One policy is drawn for the whole firm (`firm`), or every search has its own.

    Searches follow the policy `default` unless `searches` says otherwise: the number of a search -> its lottery.
    """

    policies: tuple[Policy, ...]
    count: int
    """How many searches there are."""
    firm: Lottery | None = None
    default: int = 0
    searches: Mapping[int, Lottery] = field(default_factory=dict)

    @staticmethod
    def firm_wide(policies: Sequence[Policy], weights: Sequence[float], searches: int) -> Mixture:
        return Mixture(tuple(policies), searches, tuple((i, float(w)) for i, w in enumerate(weights)))

    @staticmethod
    def by_search(policies: Sequence[Policy], lotteries: Sequence[Lottery]) -> Mixture:
        """From one lottery for each search; policies that no search follows are dropped."""
        used = sorted({i for lottery in lotteries for i, _ in lottery})
        number = {i: place for place, i in enumerate(used)}
        renamed = [tuple((number[i], w) for i, w in lottery) for lottery in lotteries]
        alone = Counter(lottery[0][0] for lottery in renamed if len(lottery) == 1)
        default = alone.most_common(1)[0][0] if alone else 0
        others = {s: lottery for s, lottery in enumerate(renamed) if lottery != ((default, 1.0),)}
        return Mixture(tuple(policies[i] for i in used), len(lotteries), None, default, others)

    def lottery(self, search: int) -> Lottery:
        """The lottery that a search takes part in, by itself or with all others."""
        return self.firm or self.searches.get(search, ((self.default, 1.0),))

    def followers(self, policy: int) -> tuple[Ints, Floats]:
        """The searches that may follow a policy, and their chances to do so."""
        chance = np.full(self.count, 1.0 if self.firm is None and policy == self.default else 0.0)
        if self.firm is not None:
            chance[:] = dict(self.firm).get(policy, 0.0)
        for search, lottery in self.searches.items():
            chance[search] = dict(lottery).get(policy, 0.0)
        who = np.flatnonzero(chance)
        return who, chance[who]

    @property
    def randomised(self) -> int:
        """How many searches toss a coin."""
        if self.firm is not None:
            return self.count if len(self.firm) > 1 else 0
        return sum(len(lottery) > 1 for lottery in self.searches.values())

    @property
    def weights(self) -> tuple[float, ...]:
        """The share of the searches that follow each policy, in expectation."""
        return tuple(float(self.followers(i)[1].sum()) / max(self.count, 1) for i in range(len(self.policies)))


class Totals(NamedTuple):
    """Sums over all states, which are made together: visits need not be made a second time for them."""

    utility: float
    size: float
    selected: float
    long_term: float | None


class Outcome:
    """Expected visits p: exits of states, entries of terminal ones. Utilities are in the instance's unit.

    Visits of all states may be given as a way to make them. They are then made when they are asked for, and kept until
    those of another outcome are: an audit has many outcomes, and asks each of them for a few sums.
    """

    def __init__(self, layout: Layout, visits: Floats | Callable[[], Floats]) -> None:
        self.layout = layout
        self._given = visits
        self._made: ReferenceType[Floats] | None = None

    def __getstate__(self) -> dict[str, object]:
        return {"layout": self.layout, "_given": self.visits, "_made": None}

    @property
    def visits(self) -> Floats:
        if not callable(self._given):
            return self._given
        visits = None if self._made is None else self._made()
        if visits is None:
            visits = self._given()
            visits.flags.writeable = False
        self._made = ref(visits)
        current().last_visits = visits
        return visits

    @cached_property
    def _totals(self) -> Totals:
        layout, kinds, visits = self.layout, self.layout.kinds, self.visits
        return Totals(
            layout.total(kinds.reward, visits),
            layout.total(np.abs(kinds.reward), visits),
            layout.total(kinds.selecting, visits),
            layout.total(kinds.true_reward, visits) if layout.has_true_rewards else None,
        )

    @property
    def utility(self) -> float:
        return self._totals.utility

    @property
    def size(self) -> float:
        """The absolute rewards collected, costs and values alike: what rounding of the utility is relative to."""
        return self._totals.size

    def gain_over(self, other: Outcome) -> float:
        """Utility beyond that of another policy of the same instance."""
        return without_noise(self.utility - other.utility, self.size + other.size)

    @property
    def long_term_utility(self) -> float | None:
        """Utility with the true values in place of those that the firm believed; None if there are none."""
        return self._totals.long_term

    @property
    def inspected(self) -> Floats:
        """Per candidate: the chance that the start state is left."""
        return self.visits[self.layout.start]

    @property
    def selected(self) -> Floats:
        """Per candidate: the chance of selection."""
        return self.layout.by_candidate(self.layout.kinds.selecting, self.visits)

    def selected_by_value(self, candidate: int) -> Floats:
        """For a box: the chance that it is selected with each of its values, in the order in which they were given."""
        order = self.layout.value_order[candidate]
        if order is None:
            raise ValueError(f"candidate {self.layout.candidate_ids[candidate]!r} is a chain, not a box")
        chances = np.empty(len(order))
        chances[order] = self.visits[
            self.layout.candidate_ptr[candidate] + 1 : self.layout.candidate_ptr[candidate + 1]
        ]
        return chances

    def by_group(self, per_candidate: Floats) -> Floats:
        """Sum over the candidates of each group, in the order of `layout.groups`."""
        groups = len(self.layout.groups)
        return np.bincount(self.layout.candidate_group, per_candidate, minlength=groups).astype(np.float64)

    @property
    def inspected_by_attribute(self) -> dict[str, dict[str, float]]:
        """Expected inspections of each group of each protected attribute."""
        return self.layout.by_attribute(self.inspected)

    @property
    def selected_by_attribute(self) -> dict[str, dict[str, float]]:
        """Expected selections of each group of each protected attribute."""
        if not self.layout.uncertain:
            return self.layout.by_attribute(self.selected)
        return self.layout.visits_by_attribute(self.visits, self.layout.kinds.selecting)

    @property
    def unfilled_capacity(self) -> float:
        """Expected number of positions that stay empty, in all searches together."""
        positions = float(self.layout.capacity.sum())
        return without_noise(positions - self._totals.selected, positions)
