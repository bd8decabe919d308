"""The firm's recorded search as a problem of its own: what is left to decide once the inspections are fixed.

The people whose score the firm saw are inspected at no further cost, everybody else is out of reach, and what the
inspections cost is paid. Of chains the choices up to a stage are fixed, by default the one that shows the score: those
who reached a stage have passed the ones before it, and later stages keep their costs and chances.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from auditkit.fitting.fitted import Fitted
from auditkit.model.layout import Bools, Floats, Layout

OUT_OF_REACH = 1e6
"""What inspecting anybody else costs, in multiples of the largest reward."""


@dataclass(frozen=True, eq=False)
class RecordedSearch:
    """The best policy for `rewards` on `layout` makes the best of it; it is worth `reward` less what was `paid`."""

    layout: Layout
    """As that of the instance, but what is paid already is 0."""
    paid: Floats
    """By candidate."""
    inspected: Bools
    out_of_reach: float
    """What a policy should see of candidates who were not inspected."""

    @property
    def reward(self) -> Floats:
        return self.layout.reward

    @property
    def rewards(self) -> Floats:
        rewards = self.reward.copy()
        rewards[self.layout.start[~self.inspected]] = self.out_of_reach
        return rewards


def stages_before_score(fitted: Fitted) -> list[str]:
    """Stages up to the one that shows the score; none for boxes."""
    names = list(fitted.realised.reached)
    shows = fitted.settings.score_stage
    return names[: names.index(shows) + 1] if shows in names else []


def recorded_search(fitted: Fitted, through: str | None = None) -> RecordedSearch:
    """The problem that the firm's choices up to the stage `through` leave."""
    layout, realised = fitted.instance.layout, fitted.realised
    kinds, stages = layout.kinds, stages_before_score(fitted)
    reward, edges = kinds.reward.copy(), kinds.edge_prob.copy()
    if not stages:
        inspected = realised.inspected
        paid = np.where(inspected, -reward[kinds.ptr[:-1]][layout.candidate_kind], 0.0)
        reward[kinds.ptr[:-1]] = 0.0
    else:
        last = len(stages) - 1 if through is None else stages.index(through)
        inspected = realised.reached[stages[last]]
        whose, of_stage, cost = layout.state_candidate, layout.state_stage, -layout.reward
        paid = np.zeros(len(inspected))
        source = np.repeat(np.arange(len(reward)), np.diff(kinds.edges.ptr))
        # a state that is not a stage and selects no one is that of those who failed
        failed = (kinds.stage < 0) & ~kinds.selecting
        for number, stage in enumerate(stages[: last + 1]):
            code = layout.stages.index(stage)
            states = np.flatnonzero(of_stage == code)
            there = states[realised.reached[stage][whose[states]]]
            np.add.at(paid, whose[there], cost[there])
            reward[kinds.stage == code] = 0.0
            if number < last:
                leaving = kinds.stage[source] == code
                edges[leaving] = np.where(failed[kinds.edges.items[leaving]], 0.0, 1.0)
    changed = replace(layout, kinds=replace(kinds, reward=reward, edge_prob=edges))
    return RecordedSearch(changed, paid, inspected, -OUT_OF_REACH * (1.0 + layout.largest_reward))
