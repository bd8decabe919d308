"""Answers the sliders: the exact optimum at another impact ratio, number of interviews or value of a point.

The instance of the last report stays in the worker, along with every policy evaluated on it: a new question starts
from those (`scenarios.neighbours`), which makes an exact answer quick. A different value of a point needs a different
instance; small ones are fitted while the page is idle, others on first use.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from auditkit import pipeline
from auditkit.compare.comparison import firm_standing
from auditkit.config import Config
from auditkit.constraints.base import Constraint, Slider
from auditkit.data.privacy import Protected
from auditkit.errors import blaming
from auditkit.fitting.fitted import Fitted
from auditkit.page.explore import LOWEST, SCALES, Explore, Explored, ExploredGroup, SliderRanges
from auditkit.plugin_manager import Plugins
from auditkit.scenarios.neighbours import Neighbours
from auditkit.solver import Solution, solve_once
from auditkit.solver.policy import Outcome
from auditkit.text import to_digits

MOST_KEPT = len(SCALES)
"""How many values of a point keep their instances."""
MOST_PREPARED = 50_000
"""With at most this many candidates, other values of a point are fitted before they're needed."""


@dataclass
class Explorer:
    """The state that answers sliders; a worker keeps it after a report."""

    shown: Protected
    config: Config
    plugins: Plugins
    value_scale: float
    """The value of a point in the report."""
    fits: dict[float, Fitted]
    lines: dict[float, Neighbours] = field(default_factory=dict)

    @property
    def ranges(self) -> SliderRanges:
        fitted = self.fitted(self.value_scale)
        free = solve_once(fitted.instance).unconstrained
        names = tuple(name for name in fitted.instance.layout.protected if "+" not in name)
        return SliderRanges(names, int(np.ceil(free.inspected.sum())), self.value_scale)

    def preparations(self) -> list[Callable[[], object]]:
        """What can be prepared: the other values of a point, those next to the report's last."""
        if len(self.fits[self.value_scale].realised.inspected) > MOST_PREPARED:
            return []
        order = sorted(SCALES, key=lambda scale: -abs(math.log(scale)))
        return [partial(self.fitted, self.value_scale * scale) for scale in order if scale != 1.0]

    def answer(self, asked: Explore) -> Explored:
        begun = time.perf_counter()
        fitted = self.fitted(asked.value_scale)
        solution = self.solve(asked.value_scale, self.demands(asked))
        best = solution.constrained
        outcome = None if best is None else best.outcome
        return Explored(
            utility=None if outcome is None else outcome.utility,
            gap=None if best is None else best.gap,
            free=solution.unconstrained.utility,
            firm=to_digits(fitted.realised.utility, 3),  # as in the report
            interviews=None if outcome is None else float(outcome.inspected.sum()),
            unfilled=None if outcome is None else float(outcome.unfilled_capacity),
            groups=() if outcome is None else _groups(fitted, asked.attribute, outcome),
            conflict=tuple(solution.conflict),
            seconds=time.perf_counter() - begun,
        )

    def demands(self, asked: Explore) -> list[Constraint]:
        """The constraints that the sliders ask for; each type of constraint makes its own."""
        places: dict[Slider, float] = {}
        if asked.ratio > LOWEST:
            places["impact ratio"] = asked.ratio
        if asked.interviews is not None:
            places["interviews"] = asked.interviews
        made = []
        for each in self.plugins.constraints.values():
            with blaming(each, f"at_slider of the constraint {each.type!r}"):
                made += [each.at_slider(slider, value, asked.attribute) for slider, value in places.items()]
        return [one for one in made if one is not None]

    def fitted(self, value_scale: float) -> Fitted:
        if value_scale not in self.fits:
            made = pipeline.fit_protected(self.shown, self.config.over(value_scale=value_scale), self.plugins)
            while len(self.fits) >= MOST_KEPT:
                dropped = next(iter(self.fits))
                del self.fits[dropped]
                self.lines.pop(dropped, None)
            self.fits[value_scale] = made
        return self.fits[value_scale]

    def solve(self, value_scale: float, constraints: list[Constraint]) -> Solution:
        instance = self.fitted(value_scale).instance
        if not constraints:
            return solve_once(instance)
        return self.lines.setdefault(value_scale, Neighbours()).solve(instance, constraints)


def _groups(fitted: Fitted, attribute: str, outcome: Outcome) -> tuple[ExploredGroup, ...]:
    firm = firm_standing(fitted).by_group[attribute]
    expected = fitted.instance.layout.by_attribute(np.ones(len(fitted.realised.inspected)))[attribute]
    inspected, selected = outcome.inspected_by_attribute[attribute], outcome.selected_by_attribute[attribute]
    rates = {group: selected[group] / size for group, size in expected.items() if size}
    best = max(rates.values(), default=0.0)
    return tuple(
        ExploredGroup(
            group,
            firm[group].candidates,
            firm[group].inspected,
            firm[group].selected,
            inspected[group],
            selected[group],
            rates[group] / best if best and group in rates else None,
        )
        for group in expected
        if group in firm
    )
