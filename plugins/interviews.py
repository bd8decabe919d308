"""Rules on how many people are interviewed, and who among near-equals: the rules that are easiest to defend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from auditkit import hookimpl
from auditkit.model.layout import Ints
from auditkit.plugins.score_weights import PLAIN
from auditkit.rules.rule import Dimension, Draw, KnownBefore, Ranking, Rule
from auditkit.text import brief, percent


class MoreInterviews(Rule):
    """Interview as if each interview cost only a share of its actual cost."""

    name: ClassVar[str] = "more-interviews"
    exposure: ClassVar[int] = 10
    cost_share: float = Field(gt=0)

    @classmethod
    def dimensions(cls, known: KnownBefore) -> Sequence[Dimension]:
        return [Dimension("cost_share", 0.02, 1.0)]

    def rank(self, known: KnownBefore) -> Ranking:
        return Ranking(known.index(costs=self.cost_share))

    def sentence(self, known: KnownBefore) -> str:
        if self.cost_share == 1:
            return PLAIN
        return f"interviews as if each cost {percent(self.cost_share, 0)} of what it does, so more of them"


class Shortlist(Rule):
    """A fixed number of interviews per opening, by highest expected score; the best scores are hired."""

    name: ClassVar[str] = "shortlist"
    exposure: ClassVar[int] = 20
    per_opening: float = Field(gt=0)

    @classmethod
    def dimensions(cls, known: KnownBefore) -> Sequence[Dimension]:
        return [Dimension("per_opening", 1.0, 12.0)]

    def rank(self, known: KnownBefore) -> Ranking:
        return known.shortlist(known.listed(known.expected, places(known, self.per_opening)))

    def sentence(self, known: KnownBefore) -> str:
        return f"{brief(self.per_opening)} interviews per opening, by expected score; hires by the score alone"


class Lottery(Rule):
    """As many interviews as the firm held; places near the cut are drawn by lot among near-equals."""

    name: ClassVar[str] = "lottery"
    exposure: ClassVar[int] = 30
    slow: ClassVar[bool] = True
    width: float = Field(ge=0, description="of the band, in points of the expected score")

    @classmethod
    def dimensions(cls, known: KnownBefore) -> Sequence[Dimension]:
        if not known.layout.only_boxes or known.layout.limits is not None:
            return []
        return [Dimension("width", 0.0, 4.0 * float(known.expected.std()))]

    def rank(self, known: KnownBefore) -> Ranking:
        layout = known.layout
        wanted = known.interviews
        listed = known.listed(known.expected, wanted)
        cut = np.full(len(layout.search_ids), np.inf)
        np.minimum.at(cut, layout.candidate_search[listed], known.expected[listed])
        near = np.abs(known.expected - cut[layout.candidate_search]) <= self.width / 2
        sure = listed & ~near
        found = known.shortlist(sure)
        left = wanted - np.bincount(layout.candidate_search[sure], minlength=len(wanted))
        return Ranking(found.index, Draw(near, np.maximum(left, 0).astype(np.int64)))

    def sentence(self, known: KnownBefore) -> str:
        as_many = "as many interviews as the firm held, by expected score"
        if not self.width:
            return f"{as_many}, without a lottery"
        return f"{as_many}; places are drawn by lot among those within {brief(self.width / 2)} points of the cut"


class HiringBar(Rule):
    """Hire no one below a bar; otherwise search as well as possible."""

    name: ClassVar[str] = "bar"
    exposure: ClassVar[int] = 40
    bar: float

    @classmethod
    def dimensions(cls, known: KnownBefore) -> Sequence[Dimension]:
        low, high = np.quantile(known.expected, [0.0, 0.5])
        return [Dimension("bar", float(low) - 3 * known.spread, float(high))]

    def rank(self, known: KnownBefore) -> Ranking:
        return Ranking(known.index(bar=self.bar))

    def sentence(self, known: KnownBefore) -> str:
        kinds = known.layout.kinds
        lowest = float(kinds.reward[kinds.selecting].min(initial=np.inf)) / known.value_scale
        if self.bar < lowest:
            return "no bar that a score could miss; the best interviews and hires"
        return f"no hire below a score of {brief(self.bar)}; the best interviews and hires under that bar"


def places(known: KnownBefore, per_opening: float) -> Ints:
    """Interviews of each search, at most as many as it has candidates."""
    wanted = np.ceil(per_opening * known.layout.capacity - 1e-9)
    return np.minimum(wanted, np.diff(known.layout.search_ptr)).astype(np.int64)


@hookimpl
def auditkit_rules() -> list[type[Rule]]:
    return [MoreInterviews, Shortlist, Lottery, HiringBar]
