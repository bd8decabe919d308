"""What every solution must satisfy, looked at before anybody sees it.

The value does not exceed its bound, probabilities lie between 0 and 1, nobody selects more than the capacity, rows are
met, lotteries sum to 1, and constraints gain nothing. A solution that fails is a defect (exit code 3): no report is
written from it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from auditkit.constraints.base import Rows
from auditkit.errors import InputError, Problem
from auditkit.solver.policy import Outcome
from auditkit.solver.solution import Optimum
from auditkit.text import plain

TOLERANCE = 1e-6
"""Relative to the size of the terms; far above rounding, far below what a reader would notice."""


WIDE = 1e7
"""Coefficients of a row that differ by a larger factor are lost in the rounding of an LP."""


class SelfCheckError(Exception):
    """A solution that cannot be one."""


def require_sound(free: Outcome, best: Optimum) -> None:
    """Raise SelfCheckError, with everything that is wrong, if a solution contradicts itself."""
    faults = [*_of_outcome("unconstrained", free), *_of_outcome("constrained", best.outcome), *_of_optimum(free, best)]
    if faults and (wide := [*_too_wide(best.rows)]):
        raise InputError(wide)
    if faults:
        raise SelfCheckError("the solution contradicts itself: " + "; ".join(faults))


def _too_wide(rows: Rows) -> Iterator[Problem]:
    """Rows that no program in double precision can meet: that is the user's to mend."""
    for row in rows.rows:
        sizes = np.abs(row.coefficients[row.coefficients != 0.0])
        if len(sizes) and sizes.max() > WIDE * sizes.min():
            span = f"from {plain(sizes.min())} to {plain(sizes.max())}"
            what = f"its coefficients, {span}, are too far apart to be met exactly"
            yield Problem(row.label, what, "leave out terms that do not count, or state them in another unit")


def _of_outcome(name: str, outcome: Outcome) -> Iterator[str]:
    layout = outcome.layout
    if not np.isfinite(outcome.visits).all() or not np.isfinite(outcome.utility):
        yield f"{name}: a number is not finite"
        return
    if outcome.visits.min(initial=0.0) < -TOLERANCE:
        yield f"{name}: a state is visited less than never"
    selected = outcome.selected
    if selected.max(initial=0.0) > 1 + TOLERANCE:
        yield f"{name}: a chance of selection exceeds 1"
    chosen = np.bincount(layout.candidate_search, selected, minlength=len(layout.search_ids))
    if (chosen > layout.capacity + TOLERANCE * (1 + layout.capacity)).any():
        yield f"{name}: more are selected than there are positions"
    if any(unit.exceeded for unit in layout.units(selected)):
        yield f"{name}: more are selected than a limit allows"


def _of_optimum(free: Outcome, best: Optimum) -> Iterator[str]:
    size = 1e-300 + best.size + free.size
    if not np.isfinite(best.bound) or not np.isfinite(best.duals).all():
        yield "the bound or a dual is not finite"
        return
    if best.utility > best.bound + TOLERANCE * size:
        yield f"the value {best.utility} exceeds its bound {best.bound}"
    if best.utility > free.utility + TOLERANCE * size:
        yield f"the value {best.utility} exceeds {free.utility}, that without constraints"
    for row, slack, terms in zip(best.rows.rows, best.slacks, best.sizes, strict=True):
        wrong = abs(slack) if row.sense == "==" else -slack
        if wrong > TOLERANCE * (1 + terms):
            yield f"{row.label} is missed by {wrong}"
    mixture = best.mixture
    for lottery in [mixture.firm] if mixture.firm is not None else mixture.searches.values():
        weights = [weight for _, weight in lottery]
        if min(weights) < -TOLERANCE or abs(sum(weights) - 1) > TOLERANCE:
            yield f"the chances of a lottery are {weights}"
            return
