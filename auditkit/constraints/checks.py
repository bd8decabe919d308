"""Checks that every row and measure of a constraint is what it promised.

Rows must have the shape of the instance and finite numbers. A measure F(p) with the slope s at p keeps its promise in
the direction d if s.d lies between the two one-sided differences,

    (F(p + h d) - F(p)) / h  <=  s.d  <=  (F(p) - F(p - h d)) / h      for a concave F, the other way for a convex one,

which holds at kinks too, and for a smooth F says that s is its gradient.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from auditkit.constraints.base import CellRow, Constraint, KindRow, Measure, Row
from auditkit.errors import PluginError, blaming
from auditkit.model.layout import Floats, Ints, Layout, Partition, dot
from auditkit.model.search import LARGEST
from auditkit.text import number

STEP = 1e-4
TOLERANCE = 1e-3
DIRECTIONS = 3


def checked_rows(constraint: Constraint, rows: Any, layout: Layout) -> list[Row]:
    """The rows of a constraint, by cells if possible; raises PluginError with what's wrong with one."""
    found = []
    for row in _listed(constraint, rows, "rows", "Row"):
        if not isinstance(row, Row):
            raise PluginError(constraint, f"{_named(constraint)}: rows must be of the class Row, not {row!r}")
        if not isinstance(row, CellRow | KindRow):
            with blaming(constraint, f"{_named(constraint)}, row {row.label!r},"):
                row = replace(
                    row,
                    states=np.asarray(row.states),
                    coefficients=np.asarray(row.coefficients, dtype=np.float64),
                    bound=float(row.bound),
                )
        if (wrong := row_flaw(row, layout)) is not None:
            raise PluginError(constraint, f"{_named(constraint)}, row {row.label!r}: {wrong}")
        found.append(CellRow.like(row, layout.cells) or row)
    return found


def _listed(constraint: Constraint, returned: Any, method: str, of: str) -> list[Any]:
    if isinstance(returned, Iterable) and not isinstance(returned, str):
        with blaming(constraint, f"{_named(constraint)}, {method},"):
            return list(returned)
    what = "nothing" if returned is None else f"{type(returned).__name__}"
    raise PluginError(constraint, f"{_named(constraint)}: {method}(layout) returned {what}, not a list of {of}")


def row_flaw(row: Row, layout: Layout) -> str | None:
    """What's wrong with a row, if anything."""
    if row.sense not in ("<=", "==", ">="):
        return f"its sense is {row.sense!r}, not <=, == or >="
    if row.weights is not None and row.weights != layout.states:
        return _wrong_number(row.weights, layout)
    by_cell = isinstance(row, CellRow | KindRow)
    if not by_cell and (row.states.ndim != 1 or row.coefficients.shape != row.states.shape):
        return f"{row.coefficients.shape} coefficients for {row.states.shape} states; there must be as many"
    if (wrong := _of_numbers(row) or (None if by_cell else _of_states(row.states, layout))) is not None:
        return wrong
    if not np.isfinite(_numbers(row)).all():
        return "a coefficient is not finite"
    if max(row.largest, abs(row.bound)) > LARGEST:
        return f"its numbers must not exceed {LARGEST:g}"
    return None


def _numbers(row: Row) -> Floats:
    if isinstance(row, KindRow):
        return row.numbers
    return row.cell_weights if isinstance(row, CellRow) else row.coefficients


def _wrong_number(weights: int, layout: Layout) -> str:
    if weights == len(layout.candidate_ids):
        return (
            f"{weights} weights, one for each candidate, but each of the {layout.states} states needs one: "
            "write weights[layout.state_candidate]"
        )
    return f"{weights} weights, where each of the {layout.states} states needs one"


def checked_measures(constraint: Constraint, measures: Any, layout: Layout) -> list[Measure]:
    """The measures of a constraint, wrapped so that their exceptions name it."""
    found = []
    for measure in _listed(constraint, measures, "measures", "Measure"):
        if not isinstance(measure, Measure):
            raise PluginError(constraint, f"{_named(constraint)}: measures must be of the class Measure")
        with blaming(constraint, f"{_named(constraint)}, measure {measure.label!r},"):
            measure = replace(measure, states=np.asarray(measure.states), bound=float(measure.bound))
        wrong = "its sense must be <= or >=" if measure.sense not in ("<=", ">=") else _of_numbers(measure)
        wrong = wrong or _of_states(measure.states, layout)
        if wrong is not None:
            raise PluginError(constraint, f"{_named(constraint)}, measure {measure.label!r}: {wrong}")
        found.append(_guarded(constraint, measure))
    return found


def check_within(constraint: Constraint, segment: Partition, layout: Layout, parts: Iterable[Row | Measure]) -> None:
    """Raise PluginError if `within` is set and a condition concerns several values of the segment."""
    for part in parts:
        if len(np.unique(segment.codes[layout.owners(part.states)])) > 1:
            how = "use self.scopes(layout), or derive from OutcomeConstraint, which has no such key"
            raise PluginError(constraint, f"{_named(constraint)}, {part.label!r}: doesn't honour `within`: {how}")


def _of_numbers(part: Row | Measure) -> str | None:
    if not isinstance(part.label, str) or not part.label:
        return "it has no label"
    if not np.isfinite(part.bound):
        return f"its bound is {part.bound}"
    return None


def _of_states(states: Ints, layout: Layout) -> str | None:
    if states.ndim != 1 or (len(states) and not np.issubdtype(states.dtype, np.integer)):
        return "its states are not a list of state numbers"
    if len(states) and (states[0] < 0 or states[-1] >= layout.states or (np.diff(states) <= 0).any()):
        return f"its states must increase from 0 on and stay below {layout.states}"
    return None


@dataclass(frozen=True)
class _Guarded:
    """Value and gradient of a measure, whose exceptions name the constraint."""

    constraint: Constraint
    measure: Measure

    @property
    def doing(self) -> str:
        return f"{_named(self.constraint)}, measure {self.measure.label!r},"

    def value(self, visits: Floats) -> float:
        with blaming(self.constraint, self.doing):
            found = float(self.measure.value(visits))
        if np.isnan(found):
            raise PluginError(self.constraint, f"{self.doing} its value is not a number at a point of its domain")
        return found

    def gradient(self, visits: Floats) -> Floats:
        with blaming(self.constraint, self.doing):
            slope = np.asarray(self.measure.gradient(visits), dtype=np.float64)
        if slope.shape != visits.shape:
            what = f"{self.doing} its gradient has the shape {slope.shape}, not {visits.shape}"
            raise PluginError(self.constraint, what)
        return slope


def _guarded(constraint: Constraint, measure: Measure) -> Measure:
    guard = _Guarded(constraint, measure)
    return replace(measure, value=guard.value, gradient=guard.gradient)


def slope_flaw(measure: Measure, at: Floats) -> str | None:
    """Why a measure's gradient can't be that of its value at visits `at` of its states; None if it can."""
    slope = np.asarray(measure.gradient(at), dtype=np.float64)
    here = measure.value(at)
    rng = np.random.default_rng(0)
    ways = [np.ones(len(at)), *(rng.random(len(at)) for _ in range(DIRECTIONS - 1))]
    for way in ways:  # each state's visits move in proportion: an unvisited state stays unvisited
        step = way * at
        said = dot(slope, step)
        ahead = (measure.value(at + STEP * step) - here) / STEP
        behind = (here - measure.value(at - STEP * step)) / STEP
        if not np.isfinite([said, ahead, behind]).all():
            return "its value or gradient is not finite at a point of its domain"
        size = TOLERANCE * (abs(said) + abs(ahead) + abs(behind) + max(abs(measure.bound), 1e-3))
        if not min(ahead, behind) - size <= said <= max(ahead, behind) + size:
            seen = number((ahead + behind) / 2)
            return (
                "its gradient is not that of its value: along the visits it says "
                f"{number(said)}, and the value changes by {seen}"
            )
    return None


def _named(constraint: Constraint) -> str:
    return f"the constraint {constraint.type!r}"
