"""Instance and constraints in, certified optimum out: the methods by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from auditkit.constraints.base import Constraint, Row, Rows
from auditkit.constraints.binding import bind
from auditkit.errors import InputError, Problem, nearest
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Layout
from auditkit.model.session import current
from auditkit.solver import block_master, caratheodory, convex, dual_search, g_rdip, own_rows, rdip
from auditkit.solver.conflict import smallest_conflict
from auditkit.solver.dual_search import DualOptimum
from auditkit.solver.evaluate import mixture_visits
from auditkit.solver.least_spread import with_least_spread
from auditkit.solver.oracle import Column, Infeasible, Oracle, free_visits
from auditkit.solver.policy import Level, Mixture, Outcome, Policy
from auditkit.solver.rounding import without_noise
from auditkit.solver.self_check import require_sound
from auditkit.solver.solution import Approximation, Optimum, Solution


def _generate(oracle: Oracle) -> DualOptimum:
    if oracle.rows.measures:
        return convex.generate(oracle)
    if len(oracle.rows) == 1 and len(oracle.layout.search_ids) == 1:  # no LP needed: half the time
        found = dual_search.search(oracle)
        return replace(found, lotteries=(tuple(enumerate(found.weights.tolist())),))
    if own_rows.worthwhile(oracle):
        return own_rows.generate(oracle)
    return dual_search.alone(oracle.free) if oracle.is_met_by(oracle.free) else block_master.generate(oracle)


def _affine_only(name: str, method: Callable[[Oracle], DualOptimum]) -> Callable[[Oracle], DualOptimum]:
    """A method of the paper for affine constraints, which says so when it meets another."""

    def serve(oracle: Oracle) -> DualOptimum:
        if oracle.rows.measures:
            labels = ", ".join(measure.label for measure in oracle.rows.measures)
            raise InputError(f"{name} serves affine constraints only, not: {labels} (use column-generation or g-rdip)")
        return method(oracle)

    return serve


MOST_ANSWERS = 8
"""Solutions that are kept with an instance."""

COLUMN_GENERATION = "column-generation"

METHODS: dict[str, Callable[[Oracle], DualOptimum]] = {
    COLUMN_GENERATION: _generate,
    "rdip": _affine_only("rdip", rdip.mix_extremes),
    "caratheodory": _affine_only("caratheodory", caratheodory.mix_surrounding),
}
"""Exact methods by name."""

G_RDIP = "g-rdip"


def solve(
    instance: Instance,
    constraints: Sequence[Constraint] = (),
    method: str = "column-generation",
    known: Sequence[Column] = (),
    settings: g_rdip.Settings | None = None,
    least_spread: bool = False,
    precision: float = 0.0,
) -> Solution:
    """Unconstrained and constrained optimum of an instance, exactly, with a certificate.

    Column generation starts from the `known` columns, which must be of the rows of these constraints. `settings` are
    those of g-rdip, the one method that is not exact: its mixture is measured against the certified optimum. With
    `least_spread` the mixture is the optimal one of the policies known whose realised outcomes scatter least. With a
    `precision` affine problems may end with a gap of so much of the utility.
    """
    if least_spread and method != COLUMN_GENERATION:
        raise InputError(Problem("least_spread", f"the mixture of {method} is given", f"use {COLUMN_GENERATION}"))
    if method == G_RDIP:
        return _approximate(solve(instance, constraints, known=known), settings or g_rdip.Settings())
    if method not in METHODS:
        raise InputError(Problem("method", f"there is no method {method!r}", nearest(method, [*METHODS, G_RDIP])))
    layout = instance.layout
    rows = bind(constraints, layout)
    unconstrained = Outcome(layout, free_visits(layout))
    try:
        best = optimum(layout, rows, method, known, precision)
        best = with_least_spread(best) if least_spread else best
    except Infeasible:
        return Solution(method, unconstrained, None, smallest_conflict(layout, rows), constraints=rows.constraints)
    return Solution(method, unconstrained, best, constraints=rows.constraints)


def optimum(
    layout: Layout,
    rows: Rows,
    method: str = "column-generation",
    known: Sequence[Column] = (),
    precision: float = 0.0,
) -> Optimum:
    """The certified optimum under rows that are bound already; raises `Infeasible` with a proof."""
    oracle = Oracle(layout, rows, known, precision)
    found = METHODS[method](oracle) if len(rows) or rows.measures else dual_search.alone(oracle.free)
    cuts, policies, duals = _used_cuts(oracle, found)
    searches = len(layout.search_ids)
    if len(policies) == 1:
        mixture = Mixture(policies, searches)
    elif found.lotteries is None:
        mixture = Mixture.firm_wide(policies, found.weights.tolist(), searches)
    else:
        mixture = Mixture.by_search(policies, found.lotteries)
    free = Outcome(layout, oracle.free_visits)
    # a dual shifts rewards by itself times a coefficient; rewards that no one is expected to collect are no measure
    most = current().get(layout, "most collected", lambda: _most_collected(layout, oracle.free_visits))
    shifts = duals * rows.with_cuts(cuts).largest
    duals = np.where(without_noise(shifts, most) == 0, 0.0, duals)
    best = Optimum(
        rows=rows,
        mixture=mixture,
        outcome=Outcome(layout, lambda: mixture_visits(layout, rows.with_cuts(cuts), mixture)),
        duals=duals[: len(rows)],
        bound=found.bound,
        evaluations=oracle.calls,
        columns=(*known, *oracle.columns),
        cuts=cuts,
        cut_duals=duals[len(rows) :],
        free_size=free.size,
    )
    best = replace(best, bound=without_noise(best.bound, best.size))
    require_sound(free, best)
    return best


def _most_collected(layout: Layout, visits: Floats) -> float:
    """The largest expected reward of a state, costs and values alike."""
    each = layout.products(np.abs(layout.kinds.reward), visits)
    return max((float(products.max(initial=0.0)) for products in each), default=0.0)


def solve_once(instance: Instance, constraints: Sequence[Constraint] = ()) -> Solution:
    """As `solve`, by the default method; the last few answers are kept with the instance and not looked for again."""
    kept: dict[tuple[object, ...], Solution] = current().get(instance, "answers", dict)
    key = tuple((type(constraint), repr(constraint)) for constraint in constraints)
    if key not in kept:
        while len(kept) >= MOST_ANSWERS:
            del kept[next(iter(kept))]
        kept[key] = solve(instance, constraints)
    return kept[key]


def _approximate(certified: Solution, settings: g_rdip.Settings) -> Solution:
    """The uniform mixture that G-RDIP ends with, beside the certified optimum; nothing to find if there is none."""
    if certified.constrained is None:
        return replace(certified, method=G_RDIP)
    optimum = certified.constrained
    oracle = Oracle(optimum.outcome.layout, optimum.rows)
    run = g_rdip.run(oracle, settings)
    counts = Counter(run.policies)
    weights = tuple(count / len(run.policies) for count in counts.values())
    mixed = replace(
        optimum,
        mixture=Mixture.firm_wide(tuple(counts), weights, len(oracle.layout.search_ids)),
        outcome=Outcome(oracle.layout, run.visits),
        evaluations=(run.settings.outer or 1) * (run.settings.inner or 1),
    )
    return replace(certified, method=G_RDIP, constrained=mixed, approximate=Approximation(run, optimum))


def _used_cuts(oracle: Oracle, found: DualOptimum) -> tuple[tuple[tuple[int, Row], ...], tuple[Policy, ...], Floats]:
    """The cuts that the bound or a policy refers to; policies and duals without the others."""
    total, affine = len(oracle.rows), len(oracle.rows) - len(oracle.cuts)
    levels = [level for c in found.columns if c.policy.rows is None for level in c.policy.levels]
    full = np.zeros((1 + len(levels), total))
    full[0, : len(found.duals)] = found.duals
    for place, level in enumerate(levels):
        full[1 + place, : len(level.duals)] = level.duals
    used = [j for j in range(total) if j < affine or full[:, j].any()]
    rest = iter(full[1:, used])
    policies = tuple(
        c.policy
        if c.policy.rows is not None
        else Policy(tuple(Level(level.objective, tuple(map(float, next(rest)))) for level in c.policy.levels))
        for c in found.columns
    )
    return tuple(oracle.cuts[j - affine] for j in used if j >= affine), policies, full[0, used]
