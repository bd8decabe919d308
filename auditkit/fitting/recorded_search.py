"""The firm's recorded search as a problem of its own: what is left to decide once its choices of whom to inspect stand.

The people whose score the firm saw are inspected at no further cost, everybody else is out of reach, and what the
inspections cost is paid. Of chains the choices up to a stage stand, by default the one that shows the score: whoever
reached a stage has passed those before it, and later stages keep their costs and chances.
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
    rewards: Floats
    reward: Floats
    """By state, 0 where it is paid already."""
    paid: Floats
    """By candidate."""
    inspected: Bools


def stages_before_score(fitted: Fitted) -> list[str]:
    """Stages up to the one that shows the score; none for boxes."""
    names = list(fitted.realised.reached)
    shows = fitted.settings.get("score_stage")
    return names[: names.index(shows) + 1] if shows in names else []


def recorded_search(fitted: Fitted, through: str | None = None) -> RecordedSearch:
    """The problem that the firm's choices up to the stage `through` leave."""
    layout, realised = fitted.instance.layout, fitted.realised
    stages = stages_before_score(fitted)
    reward, changed = layout.reward.copy(), layout
    if not stages:
        inspected = realised.inspected
        paid = np.where(inspected, -reward[layout.start], 0.0)
        reward[layout.start] = 0.0
    else:
        last = len(stages) - 1 if through is None else stages.index(through)
        inspected = realised.reached[stages[last]]
        paid, edges = np.zeros(len(inspected)), layout.edge_prob.copy()
        source = np.repeat(np.arange(layout.states), np.diff(layout.edges.ptr))
        # a state that is no stage and selects nobody is that of those who failed
        failed = (layout.state_stage < 0) & ~layout.selecting
        for number, stage in enumerate(stages[: last + 1]):
            states = np.flatnonzero(layout.state_stage == layout.stages.index(stage))
            there = states[realised.reached[stage][layout.state_candidate[states]]]
            np.add.at(paid, layout.state_candidate[there], -reward[there])
            reward[states] = 0.0
            if number < last:
                leaving = np.isin(source, states)
                edges[leaving] = np.where(failed[layout.edges.items[leaving]], 0.0, 1.0)
        changed = replace(layout, edge_prob=edges)
    rewards = reward.copy()
    largest = 1.0 + float(np.abs(layout.reward).max(initial=0.0))
    rewards[layout.start[~inspected]] = -OUT_OF_REACH * largest
    return RecordedSearch(changed, rewards, reward, paid, inspected)
