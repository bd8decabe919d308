"""The firm beside the best policies, like with like: expected worth against expected worth, under the same laws.

What the firm's records are worth (`Realised`) holds luck, and positions that it left open for reasons that are not in
the data. Its search is compared instead: with I the people whose score the firm saw, their costs paid, and the best
then taken,

    W = E[ best that can be made of I ] - cost of I,           gain of a policy = its expected utility - W.

For boxes the bracket is the sum of the k largest positive values of I in each search, whose expectation is that of the
index policy on I with inspections that cost nothing: exact, nothing is sampled. For chains the recorded results up to
the stage that shows the score are kept, and the best is done from there on. `steps` takes the gain apart by stage: the
loss when the firm's choices up to a stage are kept and all later ones are best; passes are as recorded, so that luck in
them is part of a step.

The gain is the sum of three parts. With n, v the expected number of positions filled and the mean worth of those who
fill one (of chains: less the cost of stages behind the score), * the policy's,

    positions   (n* - n) (v* + v) / 2        cost   cost of I - cost*        quality   (v* - v) (n* + n) / 2.

**Interval.** The laws are estimated. If b moves the expected score of candidate i by x_i . db, both utilities move by
the score points of those they select, so gain moves by g . db with g = value_scale sum_i (select*_i - select_i) x_i
(the policies are optimal for what they maximise, so that their own change does not count: envelope theorem). Likewise a
relative change of the spread of scores moves it by the sum of (select* - select) (v - E v). With psi_s the influence of
search s on b and on the log spread (`standing`) and gain_s its own part, the standard error is that of sum_s (gain_s -
mean + g . psi_s): of the laws and of the searches that happened to be open.

A policy that is best for estimated laws profits from their errors, so that its gain is too high by some. The same
policy is therefore valued a second time, with laws moved to the means of the regression, against the firm's own search
under these laws, which errs on the low side; the interval extends from the lower of the two to the higher, each less or
plus the error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from auditkit.compare.intervals import FEWEST_SEARCHES
from auditkit.fitting.fitted import Fitted
from auditkit.fitting.recorded_search import RecordedSearch, recorded_search, stages_before_score
from auditkit.fitting.standing import Standings
from auditkit.model.layout import Floats, Ints, Layout
from auditkit.solver import evaluate
from auditkit.solver.oracle import free_visits
from auditkit.solver.rounding import without_noise

if TYPE_CHECKING:
    from auditkit.compare.comparison import Constrained

UNCONSTRAINED = "unconstrained"

Bounds = tuple[float, float]


@dataclass(frozen=True)
class GainParts:
    """They sum to the gain."""

    positions: float
    """More positions filled, at the mean worth of both searches."""
    cost: float | None
    """Less spent on inspections. None where the value of a point is revealed by how many were inspected: whether these
    were too many cannot be judged, and `quality` is net of them."""
    quality: float
    """Better people in the positions filled."""


@dataclass(frozen=True)
class GroupChange:
    """What a policy changes for a group, in expected numbers of people."""

    inspected: float
    selected: float


@dataclass(frozen=True)
class FirmGain:
    """A policy less the firm's own search; `interval` is None with too few searches or scores."""

    label: str
    gain: float
    interval: Bounds | None
    parts: GainParts
    by_group: Mapping[str, Mapping[str, GroupChange]]


@dataclass(frozen=True, eq=False)
class FirmSearch:
    """The firm's own search, the best of it taken, and what each policy would have gained over it."""

    level: float
    utility: float
    """W."""
    inspected: int
    positions: float
    """Expected to be filled."""
    steps: tuple[tuple[str, float], ...]
    """Of chains: the gain taken apart by stage."""
    unconstrained: FirmGain
    constrained: tuple[FirmGain | None, ...]
    """None where a constraint cannot be met."""


def firm_search(
    fitted: Fitted,
    entries: Sequence[Constrained],
    standings: Standings | None = None,
    *,
    level: float = 0.95,
) -> FirmSearch:
    """Compare the firm's own search with the best policy and with those of `entries`."""
    layout = fitted.instance.layout
    best = free_visits(layout)
    against = Against(fitted, standings, level)
    stages = [(stage, OwnSearch.of(fitted, stage).worth) for stage in stages_before_score(fitted)]
    worths = [float(layout.reward @ best), *(worth for _, worth in stages)]
    steps = tuple((stage, before - after) for (stage, after), before in zip(stages, worths))
    return FirmSearch(
        level=level,
        utility=against.own.worth,
        inspected=int(against.own.problem.inspected.sum()),
        positions=float(against.own.selected.sum()),
        steps=steps,
        unconstrained=against.gain(UNCONSTRAINED, best),
        constrained=tuple(
            None if entry.optimum is None else against.gain(entry.label, entry.optimum.outcome.visits)
            for entry in entries
        ),
    )


@dataclass(frozen=True, eq=False)
class OwnSearch:
    """The firm's recorded search, and expected visits when the best is made of it."""

    problem: RecordedSearch
    visits: Floats

    @staticmethod
    def of(fitted: Fitted, through: str | None = None) -> OwnSearch:
        problem = recorded_search(fitted, through)
        return OwnSearch(problem, evaluate.visits(problem.layout, problem.rewards[:, None]))

    @property
    def selected(self) -> Floats:
        layout = self.problem.layout
        return layout.by_candidate(layout.kinds.selecting, self.visits)

    @property
    def by_candidate(self) -> Floats:
        return self.problem.layout.sum_by_candidate(self.problem.reward * self.visits) - self.problem.paid

    @property
    def worth(self) -> float:
        return float(self.by_candidate.sum())

    def moved(self, shift: Floats) -> float:
        """The worth if every value of a candidate is higher by its shift."""
        problem = self.problem
        paid = problem.layout.spread(shift)
        paid[~problem.layout.selecting] = 0.0
        visits = evaluate.visits(problem.layout, problem.rewards + paid)
        paid += problem.reward
        return float(paid @ visits) - float(problem.paid.sum())


def _at(matrix: Floats, rows: Ints) -> Floats:
    """Some rows of a matrix, without a copy where they are all of them."""
    return matrix if np.array_equal(rows, np.arange(len(matrix))) else matrix[rows]


class _ScoreError:
    """How the laws' error moves expected utilities: by the scores of those selected, by search."""

    def __init__(self, fitted: Fitted, standings: Standings) -> None:
        self.x = _at(standings.matrix, fitted.rows)
        self.scale = fitted.settings.value_scale
        searches = int(standings.search.max()) + 1
        self.of = standings.search[fitted.rows]
        known = ~np.isnan(standings.residual)
        squares = standings.residual[known] ** 2
        spread = np.bincount(standings.search[known], squares / squares.mean() - 1, minlength=searches)
        self.influence = np.column_stack([standings.influence, spread / (2 * known.sum())])

    def of_gain(self, layout: Layout, chosen: Floats, stretched: float, by_search: Floats) -> float:
        """`chosen` by candidate, `by_search` the gain of each search of the layout."""
        slope = np.append(self.scale * (chosen @ self.x), stretched)
        own = np.zeros(len(self.influence))
        own[self.of[layout.search_ptr[:-1]]] = by_search - by_search.mean()
        each = own + self.influence @ slope
        return float(np.sqrt(len(by_search) / (len(by_search) - 1) * (each @ each)))


class Against:
    """Gains of policies over the firm's own search."""

    def __init__(self, fitted: Fitted, standings: Standings | None, level: float = 0.95) -> None:
        self.fitted, self.level, self.own = fitted, level, OwnSearch.of(fitted)
        self._error = None if standings is None else _ScoreError(fitted, standings)
        self._moved, self._worth = np.zeros(len(fitted.rows)), self.own.worth
        if standings is not None and not fitted.settings.blind:
            expected = _at(standings.matrix, fitted.rows) @ standings.coefficients
            self._moved = fitted.settings.value_scale * expected - fitted.expected
            self._worth = self.own.moved(self._moved)

    def gain(self, label: str, visits: Floats) -> FirmGain:
        """Of the policy with these expected visits."""
        fitted, own, layout = self.fitted, self.own, self.fitted.instance.layout
        kinds = layout.kinds
        taken = layout.by_candidate(kinds.selecting, visits)
        by_candidate = layout.by_candidate(kinds.reward, visits) - own.by_candidate
        interval = None
        if self._error is not None and len(layout.search_ids) >= FEWEST_SEARCHES:
            more = taken - own.selected
            worth = layout.total(np.where(kinds.selecting, kinds.reward, 0.0), visits - own.visits)
            stretched = worth - float(fitted.expected @ more)
            again = layout.total(kinds.reward, visits) + float(self._moved @ taken) - self._worth
            interval = self._interval(more, stretched, by_candidate, again)
            if label == UNCONSTRAINED:  # no search is worth more than the best one
                interval = (max(0.0, interval[0]), interval[1])
        changes = _changes(layout, visits[layout.start] - own.problem.inspected, visits - own.visits)
        parts = _parts(layout, visits, own)
        if fitted.settings.value_revealed:
            parts = GainParts(parts.positions, None, parts.quality + (parts.cost or 0.0))
        return FirmGain(label, float(by_candidate.sum()), interval, parts, changes)

    def _interval(self, chosen: Floats, stretched: float, by_candidate: Floats, again: float) -> Bounds:
        from scipy.special import stdtrit

        assert self._error is not None
        layout = self.fitted.instance.layout
        by_search = np.zeros(len(layout.capacity))
        np.add.at(by_search, layout.candidate_search, by_candidate)
        gain, sd = float(by_search.sum()), self._error.of_gain(layout, chosen, stretched, by_search)
        reach = sd * float(stdtrit(len(by_search) - 1, (1 + self.level) / 2))
        return min(gain, again) - reach, max(gain, again) + reach


def _parts(layout: Layout, visits: Floats, own: OwnSearch) -> GainParts:
    """Worth is what selecting states pay; cost all the rest."""
    kinds = layout.kinds
    paying = kinds.selecting
    filled, filled_own = layout.total(paying, visits), layout.total(paying, own.visits)
    earned = own.problem.reward * own.visits
    worth, worth_own = layout.total(np.where(paying, kinds.reward, 0.0), visits), layout.total(paying, earned)
    cost = -layout.total(np.where(paying, 0.0, kinds.reward), visits)
    cost_own = float(own.problem.paid.sum()) - layout.total(~paying, earned)
    if not filled or not filled_own:
        return GainParts(worth - worth_own, cost_own - cost, 0.0)
    mean, mean_own = worth / filled, worth_own / filled_own
    positions = without_noise(filled - filled_own, filled + filled_own) * (mean + mean_own) / 2
    return GainParts(positions, cost_own - cost, worth - worth_own - positions)


def _changes(layout: Layout, inspected: Floats, visits: Floats) -> dict[str, dict[str, GroupChange]]:
    more, hired = layout.by_attribute(inspected), layout.visits_by_attribute(visits, layout.kinds.selecting)
    return {
        name: {group: GroupChange(more[name][group], hired[name][group]) for group in groups}
        for name, groups in more.items()
    }
