"""The firm beside the best policies, like with like: expected worth against expected worth, under the same laws.

What the firm's records are worth (`Realised`) holds luck, and positions that it left open for reasons that are not in
the data. Its search is compared instead: with I the people whose score the firm saw, their costs paid, and the best
then taken,

    W = E[ best that can be made of I ] - cost of I,           gain of a policy = its expected utility - W.

For boxes the bracket is the sum of the k largest positive values of I in each search, whose expectation is that of the
index policy on I with inspections that cost nothing: exact, nothing is sampled. For chains the recorded results up to
the stage that shows the score stand, and from there on the best is done. `steps` takes the gain apart by stage: what is
lost when the firm's choices up to a stage stand and all later ones are best; passes are as recorded, so that luck in
them is part of a step.

The gain is the sum of three parts. With n, v the expected number of positions filled and the mean worth of whoever
fills one (of chains: less the cost of stages behind the score), * the policy's,

    positions   (n* - n) (v* + v) / 2        cost   cost of I - cost*        quality   (v* - v) (n* + n) / 2.

**Interval.** The laws are estimated. If b moves the expected score of candidate i by x_i . db, both utilities move by
the score points of those they select, so gain moves by g . db with g = value_scale sum_i (select*_i - select_i) x_i
(the policies are optimal for what they maximise, so that their own change does not count: envelope theorem). Likewise a
relative change of the spread of scores moves it by the sum of (select* - select) (v - E v). With psi_s the influence of
search s on b and on the log spread (`standing`) and gain_s its own part, the standard error is that of sum_s (gain_s -
mean + g . psi_s): of the laws and of the searches that happened to be open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from auditkit.fitting.fitted import Fitted
from auditkit.fitting.standing import Standings
from auditkit.model.layout import Bools, Floats, Layout
from auditkit.solver import evaluate

if TYPE_CHECKING:
    from auditkit.compare.comparison import Constrained

FEWEST_SEARCHES = 8

Bounds = tuple[float, float]


@dataclass(frozen=True)
class GainParts:
    """They sum to the gain."""

    positions: float
    cost: float
    quality: float


@dataclass(frozen=True)
class GroupChange:
    """What a policy changes for a group, in expected numbers of people."""

    inspected: float
    selected: float


@dataclass(frozen=True, eq=False)
class FirmGain:
    """A policy less the firm's own search; `interval` is None with too few searches or scores."""

    label: str
    gain: float
    interval: Bounds | None
    parts: GainParts
    by_group: Mapping[str, Mapping[str, GroupChange]]

    def to_json(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "gain": self.gain,
            "interval": None if self.interval is None else list(self.interval),
            "parts": asdict(self.parts),
            "by_group": {
                name: {group: asdict(change) for group, change in groups.items()}
                for name, groups in self.by_group.items()
            },
        }


@dataclass(frozen=True, eq=False)
class FirmSearch:
    """The firm's own search, the best of it taken, and what each policy would have gained over it."""

    level: float
    utility: float
    """W."""
    inspected: float
    positions: float
    """Expected to be filled."""
    steps: tuple[tuple[str, float], ...]
    """Of chains: the gain taken apart by stage."""
    unconstrained: FirmGain
    constrained: tuple[FirmGain | None, ...]
    """None where a constraint cannot be met."""

    def to_json(self) -> dict[str, Any]:
        """The part `firm.gain` of a report."""
        return {
            "level": self.level,
            "expected_utility": self.utility,
            "inspected": self.inspected,
            "positions_filled": self.positions,
            **self.unconstrained.to_json(),
            "steps": [{"step": step, "gain": gain} for step, gain in self.steps],
        }


def firm_search(
    fitted: Fitted,
    entries: Sequence[Constrained],
    standings: Standings | None = None,
    *,
    level: float = 0.95,
) -> FirmSearch:
    """Compare the firm's own search with the best policy and with those of `entries`."""
    layout = fitted.instance.layout
    best = evaluate.visits(layout, layout.reward[:, None])
    own = own_search(fitted)
    stages = [(stage, own_search(fitted, stage).worth) for stage in _stages(fitted)]
    worths = [float(layout.reward @ best), *(worth for _, worth in stages)]
    steps = tuple((stage, before - after) for (stage, after), before in zip(stages, worths))
    scores = None if standings is None else _ScoreError(fitted, standings)
    constrained = []
    for entry in entries:
        visits = None if entry.optimum is None else entry.optimum.outcome.visits
        constrained.append(None if visits is None else _gain(entry.label, fitted, visits, own, scores, level))
    return FirmSearch(
        level=level,
        utility=own.worth,
        inspected=float(own.inspected.sum()),
        positions=float(own.selected.sum()),
        steps=steps,
        unconstrained=_gain("unconstrained", fitted, best, own, scores, level),
        constrained=tuple(constrained),
    )


@dataclass(frozen=True, eq=False)
class OwnSearch:
    """What the firm's own search is expected to yield: `values` and `visits` of states, `paid` by candidates."""

    layout: Layout
    inspected: Bools
    visits: Floats
    reward: Floats
    paid: Floats
    """Costs of inspecting up to the score, as recorded."""

    @property
    def selected(self) -> Floats:
        return self.layout.sum_by_candidate(np.where(self.layout.selecting, self.visits, 0.0))

    @property
    def worth(self) -> float:
        return float(self.reward @ self.visits) - float(self.paid.sum())


def _stages(fitted: Fitted) -> list[str]:
    """Stages up to the one that shows the score."""
    names = list(fitted.realised.reached)
    shows = fitted.settings.get("score_stage")
    return names[: names.index(shows) + 1] if shows in names else []


def own_search(fitted: Fitted, through: str | None = None) -> OwnSearch:
    """The firm's recorded choices up to a stage (by default the one that shows the score), and the best afterwards."""
    layout, realised = fitted.instance.layout, fitted.realised
    stages = _stages(fitted)
    reward = layout.reward.copy()
    if not stages:
        inspected = realised.inspected
        paid = np.where(inspected, -reward[layout.start], 0.0)
        reward[layout.start] = 0.0
        changed = layout
    else:
        last = stages.index(stages[-1] if through is None else through)
        inspected = np.asarray(realised.reached[stages[last]])
        paid = np.zeros(len(inspected))
        edges = layout.edge_prob.copy()
        source = np.repeat(np.arange(layout.states), np.diff(layout.edges.ptr))
        # a state that is no stage and selects nobody is the one of those who failed
        failed = (layout.state_stage < 0) & ~layout.selecting
        for number, stage in enumerate(stages[: last + 1]):
            states = np.flatnonzero(layout.state_stage == layout.stages.index(stage))
            there = realised.reached[stage][layout.state_candidate[states]]
            np.add.at(paid, layout.state_candidate[states[there]], -reward[states[there]])
            reward[states] = 0.0
            if number < last:  # who reached a later stage has passed this one
                out = np.isin(source, states)
                edges[out] = np.where(failed[layout.edges.items[out]], 0.0, 1.0)
        changed = replace(layout, edge_prob=edges)
    rewards = reward.copy()
    # whoever was not inspected costs more than anybody is worth
    rewards[layout.start[~inspected]] = -1e6 * (1.0 + float(np.abs(layout.reward).max(initial=0.0)))
    visits = evaluate.visits(changed, rewards[:, None])
    return OwnSearch(changed, np.asarray(inspected), visits, reward, paid)


class _ScoreError:
    """How the laws' error moves expected utilities: by the scores of those selected, by search."""

    def __init__(self, fitted: Fitted, standings: Standings) -> None:
        self.x = standings.matrix[fitted.rows]
        self.scale = float(fitted.settings["value_scale"])
        searches = int(standings.search.max()) + 1
        self.of = standings.search[fitted.rows]
        known = ~np.isnan(standings.residual)
        squares = standings.residual[known] ** 2
        spread = np.bincount(standings.search[known], squares / squares.mean() - 1, minlength=searches)
        self.influence = np.column_stack([standings.influence, spread / (2 * known.sum())])

    def of_gain(self, fitted: Fitted, chosen: Floats, stretched: Floats, by_search: Floats) -> float:
        """`chosen` and `stretched` by candidate, `by_search` the gain of each search of the layout."""
        slope = np.append(self.scale * (chosen @ self.x), stretched.sum())
        own = np.zeros(len(self.influence))
        layout = fitted.instance.layout
        place = self.of[layout.search_ptr[:-1]]
        own[place] = by_search - by_search.mean()
        each = own + self.influence @ slope
        used = len(by_search)
        return float(np.sqrt(used / max(1, used - 1) * (each @ each)))


def _gain(
    label: str, fitted: Fitted, visits: Floats, own: OwnSearch, scores: _ScoreError | None, level: float
) -> FirmGain:
    from scipy.special import ndtri

    layout = fitted.instance.layout
    selecting = layout.selecting
    taken = layout.sum_by_candidate(np.where(selecting, visits, 0.0))
    by_candidate = layout.sum_by_candidate(layout.reward * visits)
    own_by_candidate = layout.sum_by_candidate(own.reward * own.visits) - own.paid
    gain = float(by_candidate.sum() - own_by_candidate.sum())
    by_search = np.bincount(layout.candidate_search, by_candidate - own_by_candidate, minlength=len(layout.capacity))
    interval = None
    if scores is not None and len(layout.search_ids) >= FEWEST_SEARCHES:
        spread = layout.reward - np.where(selecting, fitted.expected[layout.state_candidate], 0.0)
        moved = np.where(selecting, spread * (visits - own.visits), 0.0)
        sd = scores.of_gain(fitted, taken - own.selected, layout.sum_by_candidate(moved), by_search)
        reach = float(ndtri((1 + level) / 2)) * sd
        interval = (gain - reach, gain + reach)
        if label == "unconstrained":  # no search is worth more than the best one
            interval = (max(0.0, interval[0]), interval[1])
    inspected = np.where(layout.stop[layout.start], 0.0, visits[layout.start])
    return FirmGain(label, gain, interval, _parts(layout, visits, own), _changes(layout, inspected, taken, own))


def _parts(layout: Layout, visits: Floats, own: OwnSearch) -> GainParts:
    """Worth is what selecting states pay; cost all the rest."""
    paying = layout.selecting
    filled, filled_own = float(visits[paying].sum()), float(own.visits[paying].sum())
    worth, worth_own = float(layout.reward[paying] @ visits[paying]), float(own.reward[paying] @ own.visits[paying])
    cost = -float(layout.reward[~paying] @ visits[~paying])
    cost_own = float(own.paid.sum()) - float(own.reward[~paying] @ own.visits[~paying])
    if not filled or not filled_own:
        return GainParts(worth - worth_own, cost_own - cost, 0.0)
    mean, mean_own = worth / filled, worth_own / filled_own
    positions = (filled - filled_own) * (mean + mean_own) / 2
    return GainParts(positions, cost_own - cost, worth - worth_own - positions)


def _changes(
    layout: Layout, inspected: Floats, taken: Floats, own: OwnSearch
) -> dict[str, dict[str, GroupChange]]:
    more, hired = layout.by_attribute(inspected - own.inspected), layout.by_attribute(taken - own.selected)
    return {
        name: {group: GroupChange(more[name][group], hired[name][group]) for group in groups}
        for name, groups in more.items()
    }
