"""What a rule is: a way to rank candidates that treats everyone alike, from what is known of them and never the group.

A rule gives a number to every state of every candidate (`Ranking`): to a candidate not yet inspected its *index*, to
one whose score is known the *shown score*. The firm always advances the highest number, while it is positive and the
search has room. Nothing more is needed to evaluate it exactly (`play`); whether it is the best of its kind is another
question (`best_rules`).

A plugin subclasses `Rule`, names it, and returns it from the hook `auditkit_rules`. Its fields are its parameters, and
`dimensions` says within which limits the best ones are looked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict

from auditkit.errors import InputError, Problem
from auditkit.model.layout import Bools, Floats, Ints, Layout

NEVER, ALWAYS = -np.inf, np.inf
"""Indices of candidates who are not inspected, and of those who are in any case."""


@dataclass(frozen=True)
class Dimension:
    """A parameter whose best value is looked for between `low` and `high`."""

    name: str
    low: float
    high: float
    whole: bool = False


@dataclass(frozen=True, eq=False)
class Draw:
    """A lottery for places on a shortlist: `places` of each search go to candidates of `band`, drawn at random."""

    band: Bools
    """Per candidate. All others are on the list or not by their index."""
    places: Ints
    """Per search."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """One number for each state: the index before a score is known, then the shown score."""

    index: Floats
    draw: Draw | None = None


@dataclass(frozen=True, eq=False)
class KnownBefore:
    """What a rule may use: everything that is known of candidates but their groups. Arrays have one entry for each."""

    layout: Layout
    features: Mapping[str, Floats]
    """Numbers known before the inspection, in their own units; the mean where one is missing."""
    expected: Floats
    """The score that is expected from what is known before."""
    value_scale: float
    """What one point of the score is worth."""
    interviews: Ints
    """Per search: how many the firm inspected."""
    firm_order: Floats
    """The order in which the firm inspected, as far as what is known explains it."""
    without: Mapping[str, Callable[[], Floats]] = field(default_factory=dict)
    """Feature -> what makes the index of each candidate that follows from all features but this."""

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the scores around what was expected, in points: the unit of sensible weights."""
        kinds = self.layout.kinds
        chance, reward = np.where(kinds.selecting, chances_of_kinds(self.layout), 0.0), kinds.reward / self.value_scale
        owner = kinds.owner
        total = np.bincount(owner, chance)
        mean = np.bincount(owner, chance * reward) / np.maximum(total, 1e-300)
        square = np.bincount(owner, chance * (reward - mean[owner]) ** 2) / np.maximum(total, 1e-300)
        return float(np.sqrt(square[self.layout.candidate_kind].mean()))

    @cached_property
    def better(self) -> tuple[Ints | slice, Ints | slice, Bools]:
        """States with a higher score, the same with a lower one, and which of them are pairs of one candidate."""
        layout = self.layout
        if layout.only_boxes:
            inner = layout.selecting[:-1] & layout.selecting[1:] & (layout.reward[:-1] > layout.reward[1:])
            same = layout.state_candidate[:-1] == layout.state_candidate[1:]
            return slice(None, -1), slice(1, None), inner & same
        worth = np.where(layout.terminal, np.nan, layout.of_states(_worth_of_kinds(layout)))
        known = np.flatnonzero(~np.isnan(worth))
        order = known[np.lexsort((-worth[known], layout.state_stage[known], layout.state_candidate[known]))]
        one, two = order[:-1], order[1:]
        same = (layout.state_candidate[one] == layout.state_candidate[two]) & (worth[one] > worth[two])
        same &= layout.state_stage[one] == layout.state_stage[two]
        return one, two, same

    def scale_of(self, feature: str) -> float:
        """Standard deviation of a feature."""
        return float(self.features[feature].std())

    def bonus(self, weights: Mapping[str, float]) -> Floats:
        """Points that weights add to each candidate's score, 0 on average."""
        unknown = [name for name in weights if name not in self.features]
        if unknown:
            fix = f"known before: {', '.join(self.features) or 'nothing'}"
            raise InputError([Problem("weights", f"nothing is known of {name!r}", fix) for name in unknown])
        total = np.zeros(len(self.expected))
        for name, weight in weights.items():
            total += weight * (self.features[name] - self.features[name].mean())
        return total

    def index(self, bonus: Floats | None = None, costs: float = 1.0, bar: float = 0.0) -> Floats:
        """Of every state: the index of the best search if scores had a bonus (in points) less a bar, and every
        inspection cost so many times as much."""
        if bonus is None and costs == 1.0 and not bar:
            return self.plain
        layout, kinds = self.layout, self.layout.kinds
        own = None if bonus is None and not bar else (np.zeros(len(self.expected)) if bonus is None else bonus) - bar
        if layout.only_boxes:  # what is added to all values of a box is added to its index
            paid = np.where(kinds.selecting, kinds.reward, costs * kinds.reward)
            found = _of_kinds(layout, paid) if costs != 1.0 else self.plain
            return found if own is None else np.asarray(found + layout.spread(self.value_scale * own))
        rewards = np.where(layout.selecting, layout.reward, costs * layout.reward)
        if own is not None:
            rewards = rewards + np.where(layout.selecting, layout.spread(self.value_scale * own), 0.0)
        return _indices(layout, rewards)

    @cached_property
    def plain(self) -> Floats:
        """The index of every state in the best search."""
        layout = self.layout
        found = _of_kinds(layout, layout.kinds.reward) if layout.only_boxes else _indices(layout, layout.reward)
        found.setflags(write=False)
        return found

    def listed(self, order: Floats, places: Ints) -> Bools:
        """The first so many of each search in an order, highest first, ties to the earlier candidate."""
        layout = self.layout
        ranked = np.lexsort((np.arange(len(order)), -order, layout.candidate_search))
        rank = np.empty(len(order), dtype=np.int64)
        rank[ranked] = np.arange(len(order)) - np.repeat(layout.search_ptr[:-1], np.diff(layout.search_ptr))
        return np.asarray(rank < places[layout.candidate_search])

    def shortlist(self, on_list: Bools, index: Floats | None = None) -> Ranking:
        """Inspect exactly those on the list, then go by the score (or other numbers that are shown)."""
        own = (self.index() if index is None else index).copy()
        own[self.layout.start] = np.where(on_list, ALWAYS, NEVER)
        return Ranking(own)


def _of_kinds(layout: Layout, rewards: Floats) -> Floats:
    """The index of every state of boxes by rewards of the states of their kinds."""
    from auditkit.solver.evaluate import Prepared

    return layout.of_states(Prepared.of_kinds(layout, rewards).index[:, 0])


def _indices(layout: Layout, rewards: Floats) -> Floats:
    from auditkit.solver.evaluate import Prepared  # loads numba, which a plugin that is only listed does not need

    return np.ascontiguousarray(Prepared.of(layout, rewards).index[:, 0])


def chances_of_kinds(layout: Layout) -> Floats:
    """The chance of each state of a kind, if one always goes on."""
    kinds = layout.kinds
    if layout.only_boxes:
        return kinds.chance
    found = np.zeros(len(kinds.reward))
    ptr, items = kinds.edges.ptr, kinds.edges.items
    found[kinds.ptr[:-1]] = 1.0
    for state in range(len(found)):  # states come after those that lead to them; cycles are cut where they close
        for edge in range(ptr[state], ptr[state + 1]):
            if items[edge] > state:
                found[items[edge]] += found[state] * kinds.edge_prob[edge]
    return found


def _worth_of_kinds(layout: Layout) -> Floats:
    """What those who are selected from each state of a kind are worth on average; NaN where nobody is."""
    kinds = layout.kinds
    ptr, items = kinds.edges.ptr, kinds.edges.items
    reach = kinds.terminal.astype(np.float64)
    total = reach * kinds.reward
    for state in range(len(reach) - 1, -1, -1):
        for edge in range(ptr[state], ptr[state + 1]):
            if items[edge] > state:
                reach[state] += kinds.edge_prob[edge] * reach[items[edge]]
                total[state] += kinds.edge_prob[edge] * total[items[edge]]
    return np.asarray(np.where(reach > 0, total / np.maximum(reach, 1e-300), np.nan))


class Rule(BaseModel, ABC):
    """Base of all rules: `name` is how it is called, its fields are its parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: ClassVar[str]
    exposure: ClassVar[int] = 50
    """The place among rules, from the safest to defend (0) to the most exposed: weights that are chosen for their
    effect on a group can be attacked as a proxy for it."""

    slow: ClassVar[bool] = False
    """Whether an evaluation takes many times as long as that of other rules, so that fewer are made."""

    refits: ClassVar[bool] = False
    """It needs priors that were fitted in another way, which half of the requisitions do not have."""

    @classmethod
    @abstractmethod
    def dimensions(cls, known: KnownBefore) -> Sequence[Dimension]:
        """What to look for the best values of; none if the rule cannot be used here."""

    @classmethod
    def of(cls, values: Mapping[str, float], known: KnownBefore) -> Rule:
        """The rule with these values of the dimensions: its fields, unless a subclass makes something else of them."""
        return cls.model_validate(values)

    @abstractmethod
    def rank(self, known: KnownBefore) -> Ranking:
        """The numbers by which the rule goes."""

    @abstractmethod
    def sentence(self, known: KnownBefore) -> str:
        """What the rule does, for a reader who knows the columns of the data; no full stop."""

    def gist(self, known: KnownBefore) -> str | None:
        """The same in a few words without numbers, after "the best simple rule found"; None if there is no shorter way
        to say it."""
        return None
