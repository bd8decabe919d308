"""The ex-post law of a mixture of policies, exactly: how many are selected from whom, in all searches together.

Under one policy the searches are independent, and in each of them the joint law of the numbers selected, or inspected,
by group is known (MATH section 3; `Prepared.selection_law`, `inspection_law`). For two sets of groups A and B let N_A
and N_B be the firm-wide numbers; their joint law is the convolution, over searches, of the laws in each, and the law
under the mixture is the weighted sum of those under its policies (one policy is drawn for all searches). The realised
value of a row

    theta_j . p  ->  a N_A + b N_B          (rows on selections or on inspections by group; a, b from `parts`)

is a function of the two counts, so mean, standard deviation, histogram and the chance of a miss need no simulation.
Rows on later stages, on values, or with more than two different coefficients have no such law here.

Only non-negative numbers are added and multiplied. Margins with less than `NEGLIGIBLE` of the mass are cut off, which
is less than the rounding of what remains.
"""

from __future__ import annotations

from collections.abc import Sequence
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
"""Work for one row's law (cells times searches times outcomes) beyond which it is not computed."""


Groups = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SlackLaw:
    """Law of the realised slack of a row: >= 0 on the right side of the bound, 0 where an equality holds.

    `outside` is the chance of a slack below 0, for an equality of one that is not 0. A bin holds its left edge.
    """

    label: str
    edges: Floats
    probabilities: Floats
    mean: float
    sd: float
    outside: float


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
    """Joint law of two counts: chance of (first + i, second + j)."""

    first: int
    second: int
    chance: Floats

    def then(self, more: Floats) -> Grid:
        """The law of the sum with independent counts, whose law starts at (0, 0)."""
        rows, columns = self.chance.shape
        total = np.zeros((rows + more.shape[0] - 1, columns + more.shape[1] - 1))
        for i, j in zip(*np.nonzero(more), strict=True):
            total[i : i + rows, j : j + columns] += more[i, j] * self.chance
        return Grid(self.first, self.second, total)._trimmed()

    def _trimmed(self) -> Grid:
        a, b = _inside(self.chance.sum(axis=1)), _inside(self.chance.sum(axis=0))
        return Grid(self.first + a.start, self.second + b.start, self.chance[a, b])


def _inside(margin: Floats) -> slice:
    kept = np.flatnonzero(margin > NEGLIGIBLE)
    return slice(int(kept[0]), int(kept[-1]) + 1)


class ExPost:
    """Laws of one mixture; what the policies are evaluated for is kept between questions."""

    def __init__(self, layout: Layout, rows: Rows, mixture: Mixture, parts: Parts | None) -> None:
        self.layout = layout
        self.rows = rows
        self.weights = mixture.weights
        self.classes = layout.candidate_group if parts is None else parts.classes
        self.size = int(self.classes.max()) + 1
        self.counted, self.coefficient = _by_class(self.size, len(rows), parts)
        selections = self.coefficient[[counted == SELECTION for counted in self.counted]]
        self.kind = np.unique(selections, axis=1, return_inverse=True)[1].ravel() if len(selections) else self._alike
        self.kinds = int(self.kind.max()) + 1
        self.prepared = [Prepared.of_policy(layout, rows, policy) for policy in mixture.policies]
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
        for weight, grid in zip(self.weights, self._counts(SELECTION, everyone, ()), strict=True):
            filled = grid.first + np.arange(grid.chance.shape[0])
            chance[total - filled] += weight * grid.chance[:, 0]
        last = int(np.flatnonzero(chance)[-1]) + 1
        return Unfilled(np.arange(last), chance[:last] / chance.sum())

    def slack(self, j: int) -> SlackLaw | None:
        """The law of the realised slack of row j; None where it is no function of two numbers."""
        counted, coefficient = self.counted[j], self.coefficient[j]
        levels = [float(level) for level in np.unique(coefficient) if level != 0.0]
        if counted is None or not 1 <= len(levels) <= 2 or not self._affordable(counted, coefficient):
            return None
        sets = [tuple(map(int, np.flatnonzero(coefficient == level))) for level in levels]
        grids = self._counts(counted, sets[0], sets[1] if len(sets) == 2 else ())
        return _law(self.rows.rows[j], grids, self.weights, levels[0], levels[1] if len(levels) == 2 else 0.0)

    def _affordable(self, counted: str, coefficient: Floats) -> bool:
        """Grids are about twenty standard deviations wide; each search shifts one once for each of its outcomes.

        A search whose joint counts are too many to be listed is gone through once for each row.
        """
        layout = self.layout
        classes = len(np.unique(coefficient))
        wide = (layout.capacity + 1.0) ** self.kinds > MOST_JOINT
        if counted == SELECTION and wide.any():
            k = layout.capacity[wide] + 1.0
            events = np.diff(layout.candidate_ptr[layout.search_ptr])[wide]
            if (k**classes).max() > MOST_OUTCOMES or float((events * k ** (classes - 1)).sum()) > MOST_CELLS:
                return False
        most = (layout.capacity if counted == SELECTION else np.diff(layout.search_ptr)).astype(np.float64)
        outcomes = (most + 1) ** 2 if counted == SELECTION else most + 1
        width = min(float(most.sum()), 20 * float(np.sqrt((most**2).sum()))) + 1
        return width**2 * float(outcomes.sum()) <= MOST_CELLS

    def _counts(self, counted: str, first: Groups, second: Groups) -> list[Grid]:
        """Under each policy the joint law of the numbers selected or inspected from two sets of groups."""
        if (counted, second, first) in self._grids:
            return [Grid(g.second, g.first, g.chance.T) for g in self._grids[counted, second, first]]
        if (counted, first, second) not in self._grids:
            found = []
            for policy in range(len(self.prepared)):
                grid = Grid(0, 0, np.ones((1, 1)))
                for search in range(len(self.layout.search_ids)):
                    grid = grid.then(self._in_search(counted, policy, search, first, second))
                found.append(grid)
            self._grids[counted, first, second] = found
        return self._grids[counted, first, second]

    def _in_search(self, counted: str, policy: int, search: int, first: Groups, second: Groups) -> Floats:
        k, place = int(self.layout.capacity[search]), np.full(self.size, 2)
        place[list(first)], place[list(second)] = 0, 1
        if not second:
            place = np.minimum(place, 1)  # who is in neither set is the second, which is summed over
        of_candidate = place[self.classes]
        classes = int(place.max()) + 1
        atoms = self._atoms(policy, search) if counted == SELECTION else None
        if counted == INSPECTION:
            counts, chance = self.prepared[policy].inspection_law(search, of_candidate, max(classes, 2))
            table = np.zeros(counts.max(axis=0)[:2] + 1)
            np.add.at(table, (counts[:, 0], counts[:, 1]), chance)
        elif atoms is not None:
            counts, chance = atoms
            a, b = (counts[:, list(dict.fromkeys(self.kind[list(some)]))].sum(axis=1) for some in (first, second))
            table = np.zeros((k + 1, k + 1))
            np.add.at(table, (a, b), chance)
        else:
            law = self.prepared[policy].selection_law(search, of_candidate, classes)
            table = law.reshape(k + 1, -1) if classes < 3 else law.sum(axis=2)
        return table if second else table.sum(axis=1, keepdims=True)

    def _atoms(self, policy: int, search: int) -> tuple[Ints, Floats] | None:
        """All joint counts by kind of group that can happen in a search, if they are few enough to be listed."""
        if (policy, search) not in self._joint:
            k = int(self.layout.capacity[search])
            found = None
            if (k + 1) ** self.kinds <= MOST_JOINT:
                law = self.prepared[policy].selection_law(search, self.kind[self.classes], self.kinds)
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


def _law(row: Row, grids: Sequence[Grid], weights: Sequence[float], a: float, b: float) -> SlackLaw:
    slacks, chances = [], []
    for weight, grid in zip(weights, grids, strict=True):
        n_a = grid.first + np.arange(grid.chance.shape[0])
        n_b = grid.second + np.arange(grid.chance.shape[1])
        value = a * n_a[:, None] + b * n_b[None, :]
        slacks.append((value - row.bound if row.sense == ">=" else row.bound - value).ravel())
        chances.append(weight * grid.chance.ravel())
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
        sd=float(np.sqrt(max(0.0, (slack - mean) ** 2 @ chance))),
        outside=min(1.0, float(chance[missed].sum())),
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
