"""The ex-post law of a mixture of policies, exactly: how many are selected from whom, in all searches together.

Searches are independent, and in each of them the joint law of the numbers selected, or inspected, by group is known
(docs/method.md; `Prepared.selection_law`, `inspection_law`); where a search draws its policy by lot it is the weighted
sum of the laws under its policies. For two sets of groups A and B let N_A and N_B be the firm-wide numbers; their joint
law is the convolution of the laws of all searches, in pairs, pairs of pairs and so on. (Where one policy is drawn for
the whole firm, the law is the weighted sum of such convolutions.) The realised value of a row

    theta_j . p  ->  a N_A + b N_B          (rows on selections or on inspections by group; a, b from `parts`)

is a function of the two counts, so mean, standard deviation, histogram and the chance of a miss need no simulation.
Rows on later stages, on values, or with more than two different coefficients have no such law here; `reason` says so.

Where groups are known by their probability only, who counts in which set is random too. Given the capped values of a
search, candidates who are selected belong to a group with the membership of the state they are in, independently: the
factor of a candidate in the joint law is 1 - p + sum_g p_g z_g in place of 1 - p + p z (`law_kernels.member_law`, with
limits inside searches `limit_law_kernels.nested_law`). The sets and coefficients of a row follow from its meaning, and
are used only if they give the row itself.

Where a table has too many counts it is put on a coarser grid (`convolution.py`); what this adds to the variance is
stated (`error`) and taken off the standard deviation again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from auditkit.compare.convolution import Grid, sum_of
from auditkit.compare.parts import Parts
from auditkit.constraints.base import Row, Rows
from auditkit.constraints.two_sets import INSPECTION, SELECTION, TwoSets, joint_cells
from auditkit.model.layout import Floats, Ints, Layout
from auditkit.model.row_meaning import Meaning
from auditkit.solver.evaluate import MOST_OUTCOMES, STATES_AT_ONCE, Prepared
from auditkit.solver.policy import Mixture
from auditkit.solver.rounding import without_noise

BINS = 40
TAIL = 5e-5
"""Bins span what lies between these quantiles on either side; what lies beyond is counted in the outer bins."""

MOST_JOINT = 300_000
"""Joint counts of a search up to which its law costs nearly nothing."""

MOST_CELLS = 250_000_000
"""Work for one row's law within searches of large capacity beyond which it is not computed."""

MOST_MEMBER_STEPS = 3_000_000_000
"""Work for one row's law where groups are known by their probability."""

MOST_STEPS = 20_000_000_000
"""The same for searches with limits, whose tables are mostly empty."""

FEW = 32
"""About so many outcomes of a set are possible at a time."""

Groups = tuple[int, ...]


NEAR = 0.2


@dataclass(frozen=True)
class Normalised:
    """The paper's normalised slack: (p - q) / (p + q) for a row that compares p with q, between -1 and 1.

    With the sign of the slack, and 0 where there is nothing to compare. For equal numbers of X and Y it is the
    difference over the sum; for a budget, what is left over the sum of what is spent and the limit.
    """

    mean: float
    sd: float
    near: float
    """The chance that it is at most 0.2 either way."""


@dataclass(frozen=True, eq=False)
class SlackLaw:
    """Law of the realised slack of a row: >= 0 on the right side of the bound, 0 where an equality holds.

    `outside` is the chance of a slack below 0, for an equality of one that is not 0. A bin holds its left edge. The
    law is exact if `error` is 0; else slacks are off by random amounts with mean 0 and this standard deviation.
    """

    label: str
    meaning: Meaning
    edges: Floats
    probabilities: Floats
    mean: float
    sd: float
    outside: float
    normalised: Normalised
    error: float = 0.0


@dataclass(frozen=True, eq=False)
class Unfilled:
    """Chance of each number of positions that stay empty, in all searches together."""

    counts: Ints
    probabilities: Floats

    @property
    def mean(self) -> float:
        return float(self.counts @ self.probabilities)


class ExPost:
    """Laws of one mixture; what the policies are evaluated for is kept between questions."""

    def __init__(self, layout: Layout, rows: Rows, mixture: Mixture, parts: Parts | None) -> None:
        self.layout = layout
        self.rows = rows
        self.mixture = mixture
        self.draws: tuple[tuple[int | None, float], ...] = mixture.firm or ((None, 1.0),)
        """Policies that are drawn for the whole firm; None where every search has its own lottery."""
        self.classes = layout.candidate_group if parts is None else parts.classes
        self.size = int(self.classes.max()) + 1
        self.counted, self.coefficient = _by_class(self.size, len(rows), parts)
        self._prepared: dict[int, Prepared] = {}
        self._grids: dict[tuple[str, Groups, Groups], list[Grid]] = {}
        self._members: dict[tuple[str | None, ...], list[Grid]] = {}
        self._last: tuple[int, TwoSets | None] | None = None

    def unfilled(self) -> Unfilled:
        """The law of the number of positions left empty."""
        everyone = tuple(range(self.size))
        total = int(self.layout.capacity.sum())
        chance = np.zeros(total + 1)
        for (_, weight), grid in zip(self.draws, self._counts(SELECTION, everyone, ()), strict=True):
            filled = grid.first + grid.step[0] * np.arange(grid.chance.shape[0])
            np.add.at(chance, np.clip(total - filled, 0, total), weight * grid.chance[:, 0])
        last = int(np.flatnonzero(chance)[-1]) + 1
        return Unfilled(np.arange(last), chance[:last] / chance.sum())

    def slack(self, j: int) -> SlackLaw | None:
        """The law of the realised slack of row j; None where there is none, for a `reason`."""
        if self.reason(j) is not None:
            return None
        weights = [weight for _, weight in self.draws]
        if self._uncertain(j) and (two := self._two_sets(j)) is not None:
            return _law(self.rows.rows[j], self._member_grids(two), weights, *two.coefficients)
        counted, coefficient = str(self.counted[j]), self.coefficient[j]
        levels = _levels(coefficient)
        sets = [tuple(map(int, np.flatnonzero(coefficient == level))) for level in levels]
        grids = self._counts(counted, sets[0], sets[1] if len(sets) == 2 else ())
        return _law(self.rows.rows[j], grids, weights, levels[0], levels[1] if len(levels) == 2 else 0.0)

    def reason(self, j: int) -> str | None:
        """Why row j has no law; None if it has one."""
        counted, coefficient = self.counted[j], self.coefficient[j]
        if self._uncertain(j):
            return self._reason_of_members(j)
        if counted is None:
            return "it counts neither selections alone nor inspections alone, each of a group alike"
        if not 1 <= len(_levels(coefficient)) <= 2:
            return "it weighs more than two sets of groups differently"
        if not self._affordable(counted, coefficient):
            return "a single search has too many joint outcomes"
        return None

    def _uncertain(self, j: int) -> bool:
        return self.layout.uncertain and self.rows.rows[j].by is not None

    def _two_sets(self, j: int) -> TwoSets | None:
        if self._last is None or self._last[0] != j:
            self._last = j, TwoSets.of(self.rows.rows[j], self.layout)
        return self._last[1]

    def _reason_of_members(self, j: int) -> str | None:
        layout, inspections = self.layout, getattr(self.rows.rows[j].meaning, "on", None) == INSPECTION
        possible = self._limits_affordable(INSPECTION if inspections else SELECTION, 3)
        cells = joint_cells(layout, inspections)
        steps = float((cells * np.diff(layout.candidate_ptr[layout.search_ptr])).sum()) * len(self.mixture.policies)
        if not possible or float(cells.max()) > MOST_OUTCOMES or steps > MOST_MEMBER_STEPS:
            return "with groups that are known by their probability only, a search has too many joint outcomes"
        if self._two_sets(j) is None:
            return "it does not compare two groups by selections alone or inspections alone"
        return None

    def _member_grids(self, sets: TwoSets) -> list[Grid]:
        """For each draw of the firm the joint law of the numbers of two sets of groups."""
        if sets.mirrored in self._members:
            return [grid.mirrored() for grid in self._members[sets.mirrored]]
        if sets.name not in self._members:
            tables: list[list[Floats]] = [[] for _ in self.draws]
            for some in self._at_once:
                for (policy, _), found in zip(self.draws, tables, strict=True):
                    found += self._mixed(policy, self._laws_of_members(sets, some), some)
            self._members[sets.name] = [sum_of(found) for found in tables]
        return self._members[sets.name]

    def _laws_of_members(self, sets: TwoSets, some: Ints) -> Callable[[int, Ints], list[Floats]]:
        """Joint laws of two sets in searches among `some`, which are contiguous, under a policy."""
        layout, inspections = self.layout, sets.counted == INSPECTION
        if self._apart and sets.by_kind:
            theta, begins = sets.chances, layout.kinds.ptr[layout.candidate_kind]
        else:
            first, last = (int(layout.search_ptr[s]) for s in (some[0], some[-1] + 1))
            theta, begins = sets.theta(first, last), layout.start - int(layout.start[first])

        def laws(policy: int, searches: Ints) -> list[Floats]:
            found = self._policy(policy).member_laws(searches, theta, inspections, begins)
            return [_trimmed(law) for law in found] if inspections else found

        return laws

    @property
    def _apart(self) -> bool:
        """Whether there are neither chains nor limits, which name states by their place in the layout."""
        return self.layout.only_boxes and self.layout.limits is None

    @property
    def _at_once(self) -> list[Ints]:
        """Searches that are gone through together: all, where chains or limits name states by their place."""
        first = self.layout.candidate_ptr[self.layout.search_ptr]
        cuts = np.searchsorted(first, np.arange(STATES_AT_ONCE, first[-1], STATES_AT_ONCE))
        ends = np.unique([0, *(cuts if self._apart else ()), len(first) - 1]).tolist()
        return [np.arange(a, b) for a, b in pairwise(ends)]

    def _affordable(self, counted: str, coefficient: Floats) -> bool:
        """A search whose joint counts are too many to be listed is gone through once for each row."""
        layout = self.layout
        if not self._limits_affordable(counted, len(np.unique(coefficient))):
            return False
        if counted == INSPECTION:
            return (float(np.diff(layout.search_ptr).max(initial=0)) + 1) ** 2 <= 4 * MOST_OUTCOMES
        classes = len(np.unique(coefficient))
        wide = (layout.capacity + 1.0) ** classes > MOST_JOINT
        if not wide.any():
            return True
        k = layout.capacity[wide] + 1.0
        events = np.diff(layout.candidate_ptr[layout.search_ptr])[wide]
        return float((k**classes).max()) <= MOST_OUTCOMES and float((events * k ** (classes - 1)).sum()) <= MOST_CELLS

    def _limits_affordable(self, counted: str, classes: int) -> bool:
        """Outcomes of a search with limits are followed from event to event, a table for each set."""
        limits, layout = self.layout.limits, self.layout
        if limits is None:
            return True
        own = np.flatnonzero(np.diff(limits.ptr))
        people = np.diff(layout.search_ptr)[own].astype(np.float64)
        events = np.diff(layout.candidate_ptr[layout.search_ptr])[own]
        cells = layout.capacity[own] + 1.0
        cells = cells**classes if counted == SELECTION else cells * (people / 2 + 1) ** 2
        steps = events * cells * (people + np.diff(limits.ptr)[own] * np.minimum(cells, FEW))
        return float(cells.max()) <= MOST_OUTCOMES and float(steps.sum()) <= MOST_STEPS

    def _counts(self, counted: str, first: Groups, second: Groups) -> list[Grid]:
        """For each draw of the firm the joint law of the numbers selected or inspected from two sets of groups."""
        if (counted, second, first) in self._grids:
            return [grid.mirrored() for grid in self._grids[counted, second, first]]
        if (counted, first, second) not in self._grids:
            self._grids[counted, first, second] = [
                sum_of(self._tables(counted, policy, first, second)) for policy, _ in self.draws
            ]
        return self._grids[counted, first, second]

    def _tables(self, counted: str, drawn: int | None, first: Groups, second: Groups) -> list[Floats]:
        everyone = np.arange(len(self.layout.search_ids))
        return self._mixed(drawn, lambda policy, some: self._laws(counted, policy, some, first, second), everyone)

    def _mixed(self, drawn: int | None, laws_of: Callable[[int, Ints], list[Floats]], some: Ints) -> list[Floats]:
        """The law in each of some contiguous searches, under the policy drawn for the firm or the search's lottery."""
        if drawn is not None:
            return laws_of(drawn, some)
        found: list[Floats | None] = [None] * len(some)
        for policy in range(len(self.mixture.policies)):
            who, chance = self.mixture.followers(policy)
            here = (who >= some[0]) & (who <= some[-1])
            laws = laws_of(policy, who[here]) if here.any() else []
            for search, weight, law in zip((who[here] - some[0]).tolist(), chance[here].tolist(), laws, strict=True):
                other = found[search]
                found[search] = weight * law if other is None else _sum(other, weight * law)
        return [table for table in found if table is not None]

    def _laws(self, counted: str, policy: int, searches: Ints, first: Groups, second: Groups) -> list[Floats]:
        """Joint laws of the numbers from two sets of groups in some searches under a policy."""
        place = np.full(self.size, 2)
        place[list(first)], place[list(second)] = 0, 1
        if not second:
            place = np.minimum(place, 1)  # who is in neither set is the second, which is summed over
        group, groups, prepared = place[self.classes], int(place.max()) + 1, self._policy(policy)
        if counted == INSPECTION:
            tables = [_table(*prepared.inspection_law(int(search), group, max(groups, 2))) for search in searches]
        else:
            laws = prepared.selection_laws(searches, group, groups)
            tables = [law.reshape(len(law), -1) if groups < 3 else law.sum(axis=2) for law in laws]
        return tables if second else [table.sum(axis=1, keepdims=True) for table in tables]

    def _policy(self, policy: int) -> Prepared:
        if policy not in self._prepared:
            who, _ = self.mixture.followers(policy)
            self._prepared[policy] = Prepared.of_policy(self.layout, self.rows, self.mixture.policies[policy], who)
        return self._prepared[policy]


def _trimmed(table: Floats) -> Floats:
    """Without rows and columns at the end that have no chance."""
    rows, columns = (int(np.flatnonzero(table.sum(axis=axis) > 0).max(initial=0)) + 1 for axis in (1, 0))
    return table[:rows, :columns]


def _table(counts: Ints, chance: Floats) -> Floats:
    """Chances of pairs of counts, laid out; further counts are summed over."""
    table = np.zeros(counts.max(axis=0)[:2] + 1)
    np.add.at(table, (counts[:, 0], counts[:, 1]), chance)
    return table


def _sum(one: Floats, two: Floats) -> Floats:
    """Tables that begin at the same counts, added up."""
    total = np.zeros(np.maximum(one.shape, two.shape))
    for table in (one, two):
        total[: table.shape[0], : table.shape[1]] += table
    return total


def _by_class(classes: int, rows: int, parts: Parts | None) -> tuple[list[str | None], Floats]:
    """What each row counts, if all of it is selections or all inspections, and its coefficient on each class."""
    counted: list[str | None] = [None] * rows
    coefficient = np.zeros((rows, classes))
    if parts is None:
        return counted, coefficient
    for j in range(rows):
        used = np.flatnonzero(parts.matrix[j])
        what = {parts.parts[f].counts for f in used}
        if what in ({SELECTION}, {INSPECTION}):
            counted[j] = what.pop()
            for f in used:
                coefficient[j, parts.parts[f].group] = parts.matrix[j, f]
    return counted, coefficient


def _levels(coefficient: Floats) -> list[float]:
    return [float(level) for level in np.unique(coefficient) if level != 0.0]


def _law(row: Row, grids: Sequence[Grid], weights: Sequence[float], a: float, b: float) -> SlackLaw:
    slacks, sizes, chances, added = [], [], [], 0.0
    for weight, grid in zip(weights, grids, strict=True):
        n_a = grid.first + grid.step[0] * np.arange(grid.chance.shape[0])
        n_b = grid.second + grid.step[1] * np.arange(grid.chance.shape[1])
        value = a * n_a[:, None] + b * n_b[None, :]
        slacks.append((value - row.bound if row.sense == ">=" else row.bound - value).ravel())
        sizes.append((abs(a) * n_a[:, None] + abs(b) * n_b[None, :] + abs(row.bound)).ravel())
        chances.append(weight * grid.chance.ravel())
        added += weight * (a**2 * grid.spread[0] + b**2 * grid.spread[1])
    slack, chance = np.concatenate(slacks), np.concatenate(chances)
    size = max(float(np.abs(slack).max()), abs(row.bound), abs(a), abs(b))
    slack = without_noise(slack, size)
    kept = chance > 0
    slack, chance, compared = slack[kept], chance[kept] / chance.sum(), np.concatenate(sizes)[kept]
    mean = without_noise(float(slack @ chance), float(np.abs(slack) @ chance))
    missed = slack != 0 if row.sense == "==" else slack < 0
    edges, probabilities = histogram(slack, chance)
    return SlackLaw(
        label=row.label,
        meaning=row.meaning,
        edges=edges,
        probabilities=probabilities,
        mean=mean,
        sd=float(np.sqrt(max(0.0, (slack - mean) ** 2 @ chance - added))),
        outside=min(1.0, float(chance[missed].sum())),
        normalised=_normalised(slack, compared, chance),
        error=float(np.sqrt(added)),
    )


def _normalised(slack: Floats, sizes: Floats, chance: Floats) -> Normalised:
    share = np.divide(slack, sizes, out=np.zeros_like(slack), where=sizes > 0)
    mean = without_noise(float(share @ chance), float(np.abs(share) @ chance))
    near = min(1.0, float(chance[np.abs(share) <= NEAR + 1e-12].sum()))
    return Normalised(mean, float(np.sqrt((share - mean) ** 2 @ chance)), near)


def histogram(values: Floats, chances: Floats) -> tuple[Floats, Floats]:
    """About BINS equal bins with 0 among the edges if it is inside, so that no bin mixes a miss with a hit."""
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(chances[order])
    low = float(values[order[np.searchsorted(upto, TAIL * upto[-1])]])
    high = float(values[order[min(len(order) - 1, int(np.searchsorted(upto, (1 - TAIL) * upto[-1])))]])
    width = (high - low) / BINS if high > low else max(abs(low), 1.0) / BINS
    first, last = int(np.floor(low / width + 1e-9)), int(np.floor(high / width + 1e-9)) + 1
    edges = width * np.arange(first, last + 1, dtype=np.float64)
    bins = np.clip(np.floor(values / width + 1e-9).astype(np.int64) - first, 0, last - first - 1)
    return edges, np.bincount(bins, chances, minlength=last - first).astype(np.float64)
