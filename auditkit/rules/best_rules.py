"""The best rule of a kind at a ratio: evaluated over a design, then refined.

For a kind of rule with parameters t and the ratio r wanted,

    maximise  U(t) / |U0| - PENALTY max(0, r - ratio(t)) - PENALTY max(0, filled0 - filled(t)) / positions

exactly evaluated, over 2^m points of a Sobol sequence in the box of the parameters (the same for all r), and from the
best of them by Nelder and Mead's method. The penalty is exact: any rule that misses the ratio by d loses more than the
whole utility times d. Positions must stay filled, because a ratio is also met by hiring nobody.

Nothing says that a better rule of the kind does not exist; the certified bound (`blind_frontier`) says how much better
any could be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from auditkit.model.layout import Floats
from auditkit.rules.play import GroupPair, RuleYield, affordable, in_the_model, ranked, visits_of
from auditkit.rules.rule import Dimension, KnownBefore, Rule

DESIGN, SMALL_DESIGN = 16, 8
"""Points of the design of several parameters and of one; powers of two."""

STEPS, FEW_STEPS = 30, 10
"""Evaluations of the refinement of several parameters and of one."""

SLOW_DESIGN, SLOW_STEPS = 4, 4
"""The same for rules that take long to evaluate."""

GOOD_ENOUGH = 1e-4
"""Of the utility of the best search: a rule that loses less is not refined."""

PENALTY = 5.0

FILLED = 0.995
"""Of the positions that the best search fills."""


@dataclass(frozen=True, eq=False)
class Tried:
    """A rule and what it yields in the model."""

    rule: Rule
    values: Floats
    """Of its dimensions, as shares of their ranges."""
    found: RuleYield


@dataclass(frozen=True)
class Target:
    """What a rule is to reach: a ratio, with so many positions filled, and utility as large as can be."""

    ratio: float
    utility: float
    """The size that losses are relative to."""
    filled: float
    positions: float

    def score(self, found: RuleYield) -> float:
        short = max(0.0, self.ratio - (found.ratio if found.ratio is not None else 0.0))
        empty = max(0.0, FILLED * self.filled - found.filled) / max(self.positions, 1.0)
        return found.utility / max(abs(self.utility), 1e-300) - PENALTY * short - PENALTY * empty

    def met(self, found: RuleYield) -> bool:
        reached = found.ratio is not None and found.ratio >= self.ratio - 1e-3
        return reached and found.filled >= FILLED * self.filled - 1e-6


class Trials:
    """Rules of one kind on what is known of some searches; what was evaluated is kept."""

    def __init__(self, kind: type[Rule], known: KnownBefore, pair: GroupPair) -> None:
        self.kind, self.known, self.pair = kind, known, pair
        self.dimensions: Sequence[Dimension] = tuple(kind.dimensions(known))
        self.tried: list[Tried] = []

    def evaluate(self, values: Floats) -> Tried | None:
        """The rule at shares of the ranges of its dimensions; None if it takes too long."""
        rule = self.kind.of(self.parameters(values), self.known)
        ranking = ranked(rule, self.known)
        if not affordable(self.known.layout, ranking):
            return None
        found = in_the_model(self.known.layout, visits_of(self.known.layout, ranking), self.pair)
        self.tried.append(Tried(rule, values, found))
        return self.tried[-1]

    def parameters(self, values: Floats) -> dict[str, float]:
        found: dict[str, float] = {}
        for dimension, share in zip(self.dimensions, np.clip(values, 0.0, 1.0).tolist(), strict=True):
            value = dimension.low + share * (dimension.high - dimension.low)
            found[dimension.name] = float(round(value)) if dimension.whole else value
        return found

    def design(self, size: int | None = None) -> None:
        """Evaluate a Sobol design; of one whole number, every value."""
        for values in design_of(self.dimensions, SLOW_DESIGN if self.kind.slow else size):
            if self.evaluate(values) is None:
                return

    def best(self, target: Target) -> Tried | None:
        return max(self.tried, key=lambda each: target.score(each.found), default=None)

    def refined(self, target: Target) -> Tried | None:
        """The best after a refinement from the best of the design."""
        start = self.best(target)
        if start is None or all(dimension.whole for dimension in self.dimensions):
            return start
        if target.score(start.found) >= target.utility / max(abs(target.utility), 1e-300) - GOOD_ENOUGH:
            return start
        steps = SLOW_STEPS if self.kind.slow else STEPS if len(self.dimensions) > 1 else FEW_STEPS
        from scipy.optimize import minimize

        def loss(values: Floats) -> float:
            outside = float(np.abs(values - np.clip(values, 0.0, 1.0)).sum())
            found = self.evaluate(np.clip(values, 0.0, 1.0))
            return np.inf if found is None else outside - target.score(found.found)

        simplex = np.vstack([start.values, *(start.values + 0.08 * e for e in np.eye(len(start.values)))])
        minimize(loss, start.values, method="Nelder-Mead", options={"maxfev": steps, "initial_simplex": simplex})
        return self.best(target)


def design_of(dimensions: Sequence[Dimension], size: int | None = None) -> list[Floats]:
    """Points in the unit cube: its centre, then a Sobol sequence; or one for each whole number."""
    if not dimensions:
        return []
    if all(dimension.whole for dimension in dimensions):
        counts = [round(d.high - d.low) + 1 for d in dimensions]
        grids = np.meshgrid(*(np.linspace(0, 1, n) if n > 1 else np.zeros(1) for n in counts), indexing="ij")
        return list(np.stack([grid.ravel() for grid in grids], axis=1))
    from scipy.stats import qmc

    size = size or (DESIGN if len(dimensions) > 1 else SMALL_DESIGN)
    points = qmc.Sobol(len(dimensions), scramble=False).random(size)[1:]
    return [np.full(len(dimensions), 0.5), *(point for point in points if not np.all(point == 0.5))]


def search_rules(
    kinds: Mapping[str, type[Rule]], known: KnownBefore, pair: GroupPair, hints: Sequence[Mapping[str, float]] = ()
) -> dict[str, Trials]:
    """The trials of every kind after its design; `hints` are weights worth trying."""
    found = {}
    for name, kind in kinds.items():
        trials = Trials(kind, known, pair)
        if not trials.dimensions:
            continue
        trials.design()
        named = [dimension.name for dimension in trials.dimensions]
        for hint in hints:
            if set(hint) == set(named):
                ranges = [
                    (hint[d.name] - d.low) / (d.high - d.low) if d.high > d.low else 0.5 for d in trials.dimensions
                ]
                trials.evaluate(np.clip(np.array(ranges), 0.0, 1.0))
        found[name] = trials
    return found
