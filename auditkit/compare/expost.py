"""The ex-post law of a mixture of policies, exactly: how many are selected from whom, in all searches together.

Searches are independent, and in each of them the joint law of the numbers selected, or inspected, by group is known
(MATH section 3; `Prepared.selection_law`, `inspection_law`); where a search draws its policy by lot it is the weighted
sum of the laws under its policies. For two sets of groups A and B let N_A and N_B be the firm-wide numbers; their joint
law is the convolution of the laws of all searches, in pairs, pairs of pairs and so on. (Where one policy is drawn for
the whole firm, the law is the weighted sum of such convolutions.) The realised value of a row

    theta_j . p  ->  a N_A + b N_B          (rows on selections or on inspections by group; a, b from `parts`)

is a function of the two counts, so mean, standard deviation, histogram and the chance of a miss need no simulation.
Rows on later stages, on values, or with more than two different coefficients have no such law here; `reason` says so.

Only non-negative numbers are added and multiplied, or large tables by FFT, whose errors are below 1e-15. Margins with
less than `NEGLIGIBLE` of the mass are cut off, which is less than the rounding of what remains. A table of more than
`MOST_GRID` counts is put on every second one of them: what lies between is shared by its neighbours so that means
stay, and what this adds to the variance is counted (`error`, taken off the standard deviation again).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from auditkit.compare.parts import INSPECTION, SELECTION, Parts
from auditkit.constraints.base import Row, Rows
from auditkit.model.layout import Floats, Ints, Layout
from auditkit.solver.evaluate import MOST_OUTCOMES, Prepared
from auditkit.solver.policy import Mixture
from auditkit.solver.rounding import without_noise

BINS = 40
TAIL = 5e-5
"""Bins span what lies between these quantiles on either side; what lies beyond is counted in the outer bins."""

NEGLIGIBLE = 1e-18
MOST_JOINT = 300_000
"""Largest table of joint counts that is laid out for one search; beyond, groups are merged for each row anew."""

MOST_CELLS = 250_000_000
"""Work for one row's law within searches of large capacity beyond which it is not computed."""

MOST_STEPS = 20_000_000_000
"""The same for searches with limits, whose tables are mostly empty."""

MOST_GRID = 2_000_000
"""Joint counts of the whole firm that are told apart; beyond, only every second one is."""

FEW, MOST_PRODUCTS, FFT_ROUNDING = 32, 2_000_000, 1e-15
"""Outcomes that are shifted one by one; products up to which tables are convolved directly; what FFTs err by."""


Groups = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SlackLaw:
    """Law of the realised slack of a row: >= 0 on the right side of the bound, 0 where an equality holds.

    `outside` is the chance of a slack below 0, for an equality of one that is not 0. A bin holds its left edge. The
    law is exact if `error` is 0; else slacks are off by random amounts with mean 0 and this standard deviation.
    """

    label: str
    edges: Floats
    probabilities: Floats
    mean: float
    sd: float
    outside: float
    error: float = 0.0


@dataclass(frozen=True, eq=False)
class Unfilled:
    """Chance of each number of positions that stay empty, in all searches together."""

    counts: Ints
    probabilities: Floats

    @property
    def mean(self) -> float:
        return float(self.counts @ self.probabilities)


@dataclass(frozen=True, eq=False)
class Grid:
    """Joint law of two counts: chance of (first + step[0] i, second + step[1] j); `spread` is variance due to steps."""

    first: int
    second: int
    chance: Floats
    step: tuple[int, int] = (1, 1)
    spread: tuple[float, float] = (0.0, 0.0)

    def plus(self, other: Grid) -> Grid:
        """The law of the sum with independent counts."""
        one, two = self, other
        for axis in (0, 1):
            while one.step[axis] < two.step[axis]:
                one = one.coarser(axis)
            while two.step[axis] < one.step[axis]:
                two = two.coarser(axis)
        spread = (one.spread[0] + two.spread[0], one.spread[1] + two.spread[1])
        chance, negligible = _convolution(one.chance, two.chance)
        total = Grid(one.first + two.first, one.second + two.second, chance, one.step, spread).trimmed(negligible)
        while total.chance.size > MOST_GRID:
            total = total.coarser(int(total.chance.shape[1] > total.chance.shape[0]))
        return total

    def trimmed(self, negligible: float = NEGLIGIBLE) -> Grid:
        a, b = _inside(self.chance.sum(axis=1), negligible), _inside(self.chance.sum(axis=0), negligible)
        first, second = self.first + self.step[0] * a.start, self.second + self.step[1] * b.start
        return Grid(first, second, self.chance[a, b], self.step, self.spread)

    def coarser(self, axis: int) -> Grid:
        """The law on every second count of one axis; the others go half and half to their neighbours."""
        chance = self.chance if axis == 0 else self.chance.T
        even, odd = chance[0::2].copy(), chance[1::2]
        if len(even) == len(odd):
            even = np.vstack([even, np.zeros((1, even.shape[1]))])
        even[: len(odd)] += odd / 2
        even[1 : len(odd) + 1] += odd / 2
        added = self.step[axis] ** 2 * float(odd.sum())
        step, spread = list(self.step), list(self.spread)
        step[axis] *= 2
        spread[axis] += added
        result = even if axis == 0 else np.ascontiguousarray(even.T)
        return Grid(self.first, self.second, result, (step[0], step[1]), (spread[0], spread[1]))


def _convolution(one: Floats, two: Floats) -> tuple[Floats, float]:
    """Their convolution, and how much of the mass is rounding."""
    small, large = sorted((one, two), key=lambda table: int(np.count_nonzero(table)))
    if np.count_nonzero(small) <= FEW:
        rows, columns = large.shape
        total = np.zeros((rows + small.shape[0] - 1, columns + small.shape[1] - 1))
        for i, j in zip(*np.nonzero(small), strict=True):
            total[i : i + rows, j : j + columns] += small[i, j] * large
        return total, NEGLIGIBLE
    from scipy.signal import convolve2d, fftconvolve

    if small.size * large.size <= MOST_PRODUCTS:
        return np.asarray(convolve2d(small, large)), NEGLIGIBLE
    return np.maximum(fftconvolve(small, large), 0.0), FFT_ROUNDING


def _inside(margin: Floats, negligible: float) -> slice:
    kept = np.flatnonzero(margin > negligible)
    return slice(int(kept[0]), int(kept[-1]) + 1)


def sum_of(tables: Iterable[Floats]) -> Grid:
    """The law of the sum of independent pairs of counts whose laws start at (0, 0): pairs, then pairs of pairs."""
    stack: list[tuple[int, Grid]] = []  # how many tables each is the sum of, falling
    for table in tables:
        size, grid = 1, Grid(0, 0, table).trimmed()
        while stack and stack[-1][0] <= size:
            before, other = stack.pop()
            size, grid = size + before, other.plus(grid)
        stack.append((size, grid))
    total = stack.pop()[1] if stack else Grid(0, 0, np.ones((1, 1)))
    while stack:
        total = stack.pop()[1].plus(total)
    return total


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
        selections = self.coefficient[[counted == SELECTION for counted in self.counted]]
        self.kind = np.unique(selections, axis=1, return_inverse=True)[1].ravel() if len(selections) else self._alike
        self.kinds = int(self.kind.max()) + 1
        self.kind_of = self.kind[self.classes]
        """Of each candidate."""
        self._sets: tuple[Groups | None, Groups | None, Ints, int] = None, None, self.classes, 0
        self._prepared: dict[int, Prepared] = {}
        self._joint: dict[tuple[int, int], tuple[Ints, Floats] | None] = {}
        self._grids: dict[tuple[str, Groups, Groups], list[Grid]] = {}

    @property
    def _alike(self) -> Ints:
        return np.zeros(self.size, dtype=np.int64)

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
        counted, coefficient = str(self.counted[j]), self.coefficient[j]
        levels = _levels(coefficient)
        sets = [tuple(map(int, np.flatnonzero(coefficient == level))) for level in levels]
        grids = self._counts(counted, sets[0], sets[1] if len(sets) == 2 else ())
        weights = [weight for _, weight in self.draws]
        return _law(self.rows.rows[j], grids, weights, levels[0], levels[1] if len(levels) == 2 else 0.0)

    def reason(self, j: int) -> str | None:
        """Why row j has no law; None if it has one."""
        counted, coefficient = self.counted[j], self.coefficient[j]
        if counted is None:
            return "it counts neither selections alone nor inspections alone, each of a group alike"
        if not 1 <= len(_levels(coefficient)) <= 2:
            return "it weighs more than two sets of groups differently"
        if not self._affordable(counted, coefficient):
            return "a single search has too many joint outcomes"
        return None

    def _affordable(self, counted: str, coefficient: Floats) -> bool:
        """A search whose joint counts are too many to be listed is gone through once for each row."""
        layout = self.layout
        if not self._limits_affordable(counted, len(np.unique(coefficient))):
            return False
        if counted == INSPECTION:
            return (float(np.diff(layout.search_ptr).max(initial=0)) + 1) ** 2 <= 4 * MOST_OUTCOMES
        classes = len(np.unique(coefficient))
        wide = (layout.capacity + 1.0) ** self.kinds > MOST_JOINT
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
            return [
                Grid(g.second, g.first, g.chance.T, g.step[::-1], g.spread[::-1])
                for g in self._grids[counted, second, first]
            ]
        if (counted, first, second) not in self._grids:
            searches = range(len(self.layout.search_ids))
            self._grids[counted, first, second] = [
                sum_of(self._mixed(counted, policy, search, first, second) for search in searches)
                for policy, _ in self.draws
            ]
        return self._grids[counted, first, second]

    def _mixed(self, counted: str, drawn: int | None, search: int, first: Groups, second: Groups) -> Floats:
        """The law in one search, under the policy drawn for the firm or the search's own lottery."""
        if drawn is not None:
            return self._in_search(counted, drawn, search, first, second)
        lottery = self.mixture.lottery(search)
        if len(lottery) == 1:
            return self._in_search(counted, lottery[0][0], search, first, second)
        tables = [(w, self._in_search(counted, policy, search, first, second)) for policy, w in lottery]
        total = np.zeros(np.max([table.shape for _, table in tables], axis=0))
        for w, table in tables:
            total[: table.shape[0], : table.shape[1]] += w * table
        return total

    def _policy(self, policy: int) -> Prepared:
        if policy not in self._prepared:
            who, _ = self.mixture.followers(policy)
            self._prepared[policy] = Prepared.of_policy(self.layout, self.rows, self.mixture.policies[policy], who)
        return self._prepared[policy]

    def _in_search(self, counted: str, policy: int, search: int, first: Groups, second: Groups) -> Floats:
        k, (of_candidate, classes) = int(self.layout.capacity[search]), self._placed(first, second)
        atoms = self._atoms(policy, search) if counted == SELECTION else None
        if counted == INSPECTION:
            counts, chance = self._policy(policy).inspection_law(search, of_candidate, max(classes, 2))
            table = np.zeros(counts.max(axis=0)[:2] + 1)
            np.add.at(table, (counts[:, 0], counts[:, 1]), chance)
        elif atoms is not None:
            counts, chance = atoms
            a, b = (counts[:, list(dict.fromkeys(self.kind[list(some)]))].sum(axis=1) for some in (first, second))
            table = np.zeros((k + 1, k + 1))
            np.add.at(table, (a, b), chance)
        else:
            law = self._policy(policy).selection_law(search, of_candidate, classes)
            table = law.reshape(k + 1, -1) if classes < 3 else law.sum(axis=2)
        return table if second else table.sum(axis=1, keepdims=True)

    def _placed(self, first: Groups, second: Groups) -> tuple[Ints, int]:
        """Which of the two sets every candidate is in, worked out once for all searches; how many sets there are."""
        if self._sets[:2] != (first, second):
            place = np.full(self.size, 2)
            place[list(first)], place[list(second)] = 0, 1
            if not second:
                place = np.minimum(place, 1)  # who is in neither set is the second, which is summed over
            self._sets = first, second, place[self.classes], int(place.max()) + 1
        return self._sets[2], self._sets[3]

    def _atoms(self, policy: int, search: int) -> tuple[Ints, Floats] | None:
        """All joint counts by kind of group that can happen in a search, if they are few enough to be listed."""
        if (policy, search) not in self._joint:
            k = int(self.layout.capacity[search])
            found = None
            if (k + 1) ** self.kinds <= MOST_JOINT:
                law = self._policy(policy).selection_law(search, self.kind_of, self.kinds)
                happen = np.nonzero(law)
                found = np.column_stack(happen).astype(np.int64), law[happen]
            self._joint[policy, search] = found
        return self._joint[policy, search]


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
    slacks, chances, added = [], [], 0.0
    for weight, grid in zip(weights, grids, strict=True):
        n_a = grid.first + grid.step[0] * np.arange(grid.chance.shape[0])
        n_b = grid.second + grid.step[1] * np.arange(grid.chance.shape[1])
        value = a * n_a[:, None] + b * n_b[None, :]
        slacks.append((value - row.bound if row.sense == ">=" else row.bound - value).ravel())
        chances.append(weight * grid.chance.ravel())
        added += weight * (a**2 * grid.spread[0] + b**2 * grid.spread[1])
    slack, chance = np.concatenate(slacks), np.concatenate(chances)
    size = max(float(np.abs(slack).max()), abs(row.bound), abs(a), abs(b))
    slack = without_noise(slack, size)
    kept = chance > 0
    slack, chance = slack[kept], chance[kept] / chance.sum()
    mean = without_noise(float(slack @ chance), float(np.abs(slack) @ chance))
    missed = slack != 0 if row.sense == "==" else slack < 0
    edges, probabilities = histogram(slack, chance)
    return SlackLaw(
        label=row.label,
        edges=edges,
        probabilities=probabilities,
        mean=mean,
        sd=float(np.sqrt(max(0.0, (slack - mean) ** 2 @ chance - added))),
        outside=min(1.0, float(chance[missed].sum())),
        error=float(np.sqrt(added)),
    )


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
