"""What a policy yields: expected visits of every state, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditkit.layout import Floats, Layout, dot


@dataclass(frozen=True, eq=False)
class Outcome:
    """Expected visits p: exits of states, entries of terminal ones. Utilities are in the instance's unit."""

    layout: Layout
    visits: Floats

    @property
    def utility(self) -> float:
        return dot(self.layout.reward, self.visits)

    @property
    def long_term_utility(self) -> float | None:
        """Utility with the true values in place of those that the firm believed; None if there are none."""
        return dot(self.layout.true_reward, self.visits) if self.layout.has_true_rewards else None

    @property
    def inspected(self) -> Floats:
        """Per candidate: the chance that the start state is left."""
        return self.visits[self.layout.start]

    @property
    def selected(self) -> Floats:
        """Per candidate: the chance of selection."""
        return self.layout.sum_by_candidate(np.where(self.layout.selecting, self.visits, 0.0))

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
    def unfilled_capacity(self) -> float:
        """Expected number of positions that stay empty, in all searches together."""
        return float(self.layout.capacity.sum() - self.selected.sum())
