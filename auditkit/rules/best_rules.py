"""The best rule of a kind at a ratio: evaluated over a small design, then refined.

For a kind of rule with parameters t and the ratio r wanted,

    maximise  U(t) / |U0| - PENALTY max(0, r - ratio(t)) - PENALTY max(0, filled0 - filled(t)) / positions

exactly evaluated. A rule that misses the ratio by d loses `PENALTY` times d of the whole utility, more than rules pay
for a ratio unless it buys one at any price. Positions must stay filled: hiring nobody meets a ratio too.

One parameter: evenly spaced values, the same for all r; then, from the best of them, the point where the ratio reaches
r on the line to its neighbour, or the middle where both neighbours are on one side. Several: a few points of a Halton
sequence and `hints`, the weights nearest to what the best blind policy adds to scores; from the best of them the same
search along the ray through it, then a few steps of Nelder and Mead's method. What was evaluated is kept.

Nothing says that a better rule of the kind does not exist; the certified bound (`blind_frontier`) says how much better
any could be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from auditkit.model.layout import Floats
from auditkit.rules.play import GroupPair, RuleYield, played
from auditkit.rules.rule import Dimension, KnownBefore, Rule

DESIGN, SLOW_DESIGN = 8, 3
"""Points of the design; of rules that take long to evaluate, the second."""

CLOSER, SLOW_CLOSER = 3, 1
"""Rounds of the search on a line."""

REFINEMENTS = 10
"""Evaluations of the refinement of several parameters."""

GOOD_ENOUGH = 1e-4
"""Of the utility of the best search: a rule that loses less is not refined."""

PENALTY = 20.0

FILLED = 0.995
"""Of the positions that the best search fills."""

NEAR = 1e-3
"""A ratio counts as reached if no more than this is missing."""

MARGIN = 2e-4
"""Of a ratio: the search on a line aims so much above it."""


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
        short = max(0.0, self.ratio - NEAR / 2 - (found.ratio if found.ratio is not None else 0.0))
        empty = max(0.0, FILLED * self.filled - found.filled) / max(self.positions, 1.0)
        return found.utility / max(abs(self.utility), 1e-300) - PENALTY * short - PENALTY * empty

    def met(self, found: RuleYield) -> bool:
        reached = found.ratio is not None and found.ratio >= self.ratio - NEAR
        return reached and found.filled >= FILLED * self.filled - 1e-6


class Trials:
    """Rules of one kind on what is known of some searches; what was evaluated is kept."""

    def __init__(self, kind: type[Rule], known: KnownBefore, pair: GroupPair) -> None:
        self.kind, self.known, self.pair = kind, known, pair
        self.dimensions: Sequence[Dimension] = tuple(kind.dimensions(known))
        self.tried: dict[tuple[float, ...], Tried] = {}

    def evaluate(self, values: Floats) -> Tried | None:
        """The rule at shares of the ranges of its dimensions; None if it takes too long."""
        parameters = self.parameters(values)
        at = tuple(parameters.values())
        if at not in self.tried:
            rule = self.kind.of(parameters, self.known)
            found = played(self.known, rule)
            if found is None:
                return None
            self.tried[at] = Tried(rule, values, found.for_pair(self.pair))
        return self.tried[at]

    def parameters(self, values: Floats) -> dict[str, float]:
        found: dict[str, float] = {}
        for dimension, share in zip(self.dimensions, np.clip(values, 0.0, 1.0).tolist(), strict=True):
            value = dimension.low + share * (dimension.high - dimension.low)
            found[dimension.name] = float(round(value)) if dimension.whole else value
        return found

    def design(self, size: int = DESIGN) -> None:
        """Evaluate a design; of whole numbers, every value."""
        for values in design_of(self.dimensions, min(size, SLOW_DESIGN) if self.kind.slow else size):
            if self.evaluate(values) is None:
                return

    def best(self, target: Target) -> Tried | None:
        return max(self.tried.values(), key=lambda each: target.score(each.found), default=None)

    def refined(self, targets: Sequence[Target], steps: int = REFINEMENTS) -> dict[float, Rule]:
        """The best rule for each ratio after a refinement from the best of the design for each of them; `steps` are
        those of Nelder and Mead's method."""
        for target in targets:
            self._refine(target, steps)
        best = {target.ratio: self.best(target) for target in targets}
        return {ratio: tried.rule for ratio, tried in best.items() if tried is not None}

    def _refine(self, target: Target, steps: int) -> None:
        start = self.best(target)
        if start is None or all(dimension.whole for dimension in self.dimensions):
            return
        if target.score(start.found) >= target.utility / max(abs(target.utility), 1e-300) - GOOD_ENOUGH:
            return
        if len(self.dimensions) == 1:
            self._closer(target, [(float(each.values[0]), each) for each in self.tried.values()], np.atleast_1d)
            return
        centre = np.full(len(self.dimensions), 0.5)
        away = start.values - centre
        reach = 0.5 / max(float(np.abs(away).max()), 1e-300)  # where the ray leaves the cube

        def on_ray(share: float) -> Floats:
            return np.asarray(centre + share * away)

        plain, further = self.evaluate(centre), self.evaluate(on_ray(min(reach, 1.5)))
        if plain is not None and further is not None and away.any():
            self._closer(target, [(0.0, plain), (1.0, start), (min(reach, 1.5), further)], on_ray)
        if steps:
            self._nelder_mead(target, steps)

    def _closer(self, target: Target, line: list[tuple[float, Tried]], at: Callable[[float], Floats]) -> None:
        """Evaluate further points of a line, each beside the best one so far; only one where none reaches the ratio."""
        reached = any(target.met(tried.found) for _, tried in line)
        for _ in range(CLOSER if reached and not self.kind.slow else SLOW_CLOSER):
            line.sort(key=lambda point: point[0])
            best = max(range(len(line)), key=lambda i: target.score(line[i][1].found))
            place, here = line[best]
            sides = [line[i] for i in (best - 1, best + 1) if 0 <= i < len(line)]
            crossing = [(x, side) for x, side in sides if target.met(here.found) != target.met(side.found)]
            added = [
                (x, tried)
                for x in [_crossing(target.ratio, (place, here), side) for side in crossing]
                or [(place + x) / 2 for x, _ in sides]
                if (tried := self.evaluate(at(x))) is not None
            ]
            line.extend(added)

    def _nelder_mead(self, target: Target, steps: int) -> None:
        from scipy.optimize import minimize

        start = self.best(target)
        assert start is not None

        def loss(values: Floats) -> float:
            outside = float(np.abs(values - np.clip(values, 0.0, 1.0)).sum())
            found = self.evaluate(np.clip(values, 0.0, 1.0))
            return np.inf if found is None else outside - target.score(found.found)

        simplex = np.vstack([start.values, *(start.values + 0.05 * e for e in np.eye(len(start.values)))])
        minimize(loss, start.values, method="Nelder-Mead", options={"maxfev": steps, "initial_simplex": simplex})


def _crossing(ratio: float, one: tuple[float, Tried], two: tuple[float, Tried]) -> float:
    """Where the ratio is reached on the line between a rule that reaches it and one that does not; the middle if
    positions that stay empty are what is missing."""
    a, b = (tried.found.ratio or 0.0 for _, tried in (one, two))
    share = (ratio * (1 + MARGIN) - a) / (b - a) if a != b else 0.5
    return one[0] + (share if 0.02 < share < 0.98 else 0.5) * (two[0] - one[0])


def design_of(dimensions: Sequence[Dimension], size: int = DESIGN) -> list[Floats]:
    """Points in the unit cube: evenly spaced, or its centre and a Halton sequence; or one for each whole number."""
    if not dimensions:
        return []
    if all(dimension.whole for dimension in dimensions):
        counts = [round(d.high - d.low) + 1 for d in dimensions]
        grids = np.meshgrid(*(np.linspace(0, 1, n) if n > 1 else np.zeros(1) for n in counts), indexing="ij")
        return list(np.stack([grid.ravel() for grid in grids], axis=1))
    if len(dimensions) == 1:
        return list(np.linspace(0, 1, size)[:, None])
    primes = (2, 3, 5, 7, 11, 13)
    points = [np.array([_inverse(i, primes[d % 6]) for d in range(len(dimensions))]) for i in range(1, size)]
    return [np.full(len(dimensions), 0.5), *points]


def _inverse(number: int, base: int) -> float:
    """The digits of a number behind the point, the last first. (`scipy.stats` has it, and takes long to import.)"""
    found, unit = 0.0, 1.0
    while number:
        unit /= base
        number, digit = divmod(number, base)
        found += unit * digit
    return found


def search_rules(
    kinds: Mapping[str, type[Rule]], known: KnownBefore, pair: GroupPair, hints: Sequence[Mapping[str, float]] = ()
) -> dict[str, Trials]:
    """The trials of every kind after its design; `hints` are weights worth trying."""
    found = {}
    for name, kind in kinds.items():
        trials = Trials(kind, known, pair)
        if not trials.dimensions:
            continue
        named = {dimension.name for dimension in trials.dimensions}
        own = [hint for hint in hints if named <= set(hint)]
        trials.design(DESIGN // 2 if own else DESIGN)
        for hint in own:
            ranges = [(hint[d.name] - d.low) / (d.high - d.low) if d.high > d.low else 0.5 for d in trials.dimensions]
            trials.evaluate(np.clip(np.array(ranges), 0.0, 1.0))
        found[name] = trials
    return found
