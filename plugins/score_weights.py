"""Rules that weight what is known beforehand: in the final score, or only in the order of interviews.

Weights chosen for their effect on a group can be attacked as a proxy for it, so these rules are the most exposed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from auditkit import hookimpl
from auditkit.rules.rule import Dimension, KnownBefore, Ranking, Rule
from auditkit.text import brief, listing

MOST_FEATURES = 4

LEAST_MENTIONED = 0.01
"""Relative to the largest weight: smaller weights aren't mentioned."""

PLAIN = "interviews in the order of expected worth; hires by the score alone"


class ScoreWeights(Rule):
    """Final score = score + weights . what is known beforehand; interviews in the order that is best for it."""

    name: ClassVar[str] = "weights"
    exposure: ClassVar[int] = 90
    weights: dict[str, float]

    @classmethod
    def dimensions(cls, known: KnownBefore) -> Sequence[Dimension]:
        names = [name for name in known.features if known.scale_of(name) > 0][:MOST_FEATURES]
        reach = {name: known.spread / known.scale_of(name) for name in names}
        return [Dimension(name, -reach[name], reach[name]) for name in names]

    @classmethod
    def of(cls, values: Mapping[str, float], known: KnownBefore) -> ScoreWeights:
        return cls(weights={name: float(weight) for name, weight in values.items()})

    def rank(self, known: KnownBefore) -> Ranking:
        return Ranking(known.index(known.bonus(self.weights)))

    def sentence(self, known: KnownBefore) -> str:
        terms = self._terms()
        return f"final score = score{terms}; interviews in the order of its index" if terms else PLAIN

    def gist(self, known: KnownBefore) -> str | None:
        return self._weighing("in the final score")

    def _weighing(self, where: str) -> str | None:
        """Weights A less and B more."""
        used = self._used()
        said = [
            f"{listing([n for n in used if used[n] * sign > 0])} {word}"
            for sign, word in ((-1, "less"), (1, "more"))
            if any(weight * sign > 0 for weight in used.values())
        ]
        return f"weighs {listing(said)} {where}" if said else None

    def _used(self) -> dict[str, float]:
        size = max(map(abs, self.weights.values()), default=0.0)
        return {name: weight for name, weight in self.weights.items() if abs(weight) > LEAST_MENTIONED * size}

    def _terms(self) -> str:
        used = self._used()
        return "".join(f" {'+' if w >= 0 else '−'} {brief(abs(w))} per unit of {n}" for n, w in used.items())


class InterviewOrder(ScoreWeights):
    """Interviews in an order set by weights of what is known beforehand; hires by the score alone."""

    name: ClassVar[str] = "interview-order"
    exposure: ClassVar[int] = 80

    def rank(self, known: KnownBefore) -> Ranking:
        index = known.index()
        moved = index.copy()
        start = known.layout.start
        moved[start] = index[start] + known.value_scale * known.bonus(self.weights)
        return Ranking(moved)

    def sentence(self, known: KnownBefore) -> str:
        terms = self._terms()
        return f"interviews in the order of expected worth{terms}; hires by the score alone" if terms else PLAIN

    def gist(self, known: KnownBefore) -> str | None:
        return self._weighing("in the order of interviews")


class WithoutFeature(Rule):
    """One thing that is known beforehand isn't used at all."""

    name: ClassVar[str] = "without"
    exposure: ClassVar[int] = 60
    refits: ClassVar[bool] = True
    feature: str

    @classmethod
    def dimensions(cls, known: KnownBefore) -> Sequence[Dimension]:
        return [Dimension("feature", 0, len(known.without) - 1, whole=True)] if known.without else []

    @classmethod
    def of(cls, values: Mapping[str, float], known: KnownBefore) -> WithoutFeature:
        return cls(feature=list(known.without)[round(values["feature"])])

    def rank(self, known: KnownBefore) -> Ranking:
        index = known.index().copy()
        index[known.layout.start] = np.asarray(known.without[self.feature]())
        return Ranking(index)

    def sentence(self, known: KnownBefore) -> str:
        others = [name for name in known.without if name != self.feature]
        rest = f", only {listing(others)}" if others else ""
        return f"interviews without looking at {self.feature}{rest}; hires by the score alone"


@hookimpl
def auditkit_rules() -> list[type[Rule]]:
    return [ScoreWeights, InterviewOrder, WithoutFeature]
