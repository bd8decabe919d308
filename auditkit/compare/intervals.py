"""Intervals for the price of fairness: the priors are fitted again to resampled searches, and the price found anew.

Two things are not known of a price. **The priors**: replicate b draws as many searches as there are, with replacement,
fits the priors anew to what was drawn (`fitting.refit`; nothing is asked of a fitter but to train once more), and finds
the price loss*_b of the same searches under these priors, to within a few percent (`solver.near_optimum`). This is most
of what is not known. **The searches**, of which there might have been others: to first order the price is a sum over
searches, and its standard error S that of the sum,

    psi_s = u_s(free) - u_s(constrained) + lambda . a_s(constrained),

a_s what search s adds to the rows; in rows on rates M[j, f] (phi_fs - n_gs phi_f / n_g), as its candidates count in
the size of the group as well.

A price is about quadratic in the differences between groups, so that its root has an even spread. With L the price
measured and Z standard normal,

    tau^2 = mean_b (sqrt(loss*_b) - sqrt(L))^2 + E(sqrt(L + S Z) - sqrt(L))^2
    interval = (sqrt(L) -+ t tau)^2,    one-sided, from 0 on, if the lower end is nothing beside the upper one

t is Student's quantile for the number of replicates. Distances are from the price measured, not from the replicates'
mean, so that what shrinkage takes away and noise adds widens the interval instead of moving it. Duals, and the shifts
that they add up to (`revealed.needed_shifts`), have such intervals on their own scale, from the priors alone.
`docs/validity.md` has the coverage in simulations, and the other ways that were tried.

**This is the one place where random numbers are used**, because resampling is what a bootstrap is. They are seeded, and
drawn for searches in the order of their names: the same data give the same intervals, whatever the order of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.stats import t as student

from auditkit.compare.parts import Parts
from auditkit.constraints.base import Constraint
from auditkit.constraints.binding import bind
from auditkit.errors import InputError
from auditkit.fitting.fitted import Fitted
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Ints
from auditkit.solver import Optimum
from auditkit.solver.near_optimum import NearOptimum, near_optimum
from auditkit.solver.oracle import Oracle, free_visits

REPLICATES = 12
LEVEL = 0.95
SEED = 20_260_229
FEWEST_SEARCHES = 8

LARGE, FEW = 5_000, 6
"""With more candidates than LARGE, FEW replicates must do."""

LARGEST = 40_000
"""With more candidates priors are not fitted again: the interval is that of the searches, and says so."""

MOST_LOST = 0.2
"""Share of the replicates in which the constraint may be out of reach before there is no interval."""

PRECISION, LEAST = 0.05, 1e-5
"""How far a replicate's price may be off: of itself, and of the unconstrained utility."""

NOTHING = 0.01
"""A lower end of less than this share of the upper one cannot be told from 0: the reach itself is an estimate."""

PRIORS, SEARCHES = "priors and searches", "searches"

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


@dataclass(frozen=True)
class IntervalOptions:
    replicates: int = REPLICATES
    level: float = LEVEL
    seed: int = SEED


@dataclass(frozen=True)
class PriceInterval:
    """Intervals of the ratio (None where the unconstrained utility is not positive), of the loss and of each dual.

    `one_sided`: the loss may be as good as 0; only how large it may be is known. `covers` says what was taken as not
    known: priors and searches, or searches alone, and then duals have none.
    """

    level: float
    ratio: tuple[float, float] | None
    loss: tuple[float, float]
    one_sided: bool
    duals: tuple[tuple[float, float] | None, ...]
    replicates: int
    covers: str
    replicated_duals: tuple[tuple[float, ...], ...] = field(default=(), repr=False)
    """The duals of each replicate."""


@dataclass(frozen=True)
class NoInterval:
    """Why there is none."""

    code: str
    reason: str


@dataclass(frozen=True, eq=False)
class Priced:
    """Constraints and the optimum under them."""

    constraints: tuple[Constraint, ...]
    optimum: Optimum


def intervals(fitted: Fitted, problems: Sequence[Priced], options: IntervalOptions) -> list[PriceInterval | NoInterval]:
    """The interval of each price; all share the replicates."""
    layout = fitted.instance.layout
    searches = len(layout.search_ids)
    if not options.replicates:
        return [NoInterval("no-replicates", "no resampling was asked for (replicates = 0)")] * len(problems)
    if searches < FEWEST_SEARCHES:
        reason = f"an interval resamples searches and needs at least {FEWEST_SEARCHES} of them, not {searches}"
        return [NoInterval("few-searches", reason)] * len(problems)
    free = float(layout.reward @ free_visits(layout))
    found: list[PriceInterval | NoInterval] = []
    sums = [contributions(problem.optimum) for problem in problems]
    served = [problem for problem, psi in zip(problems, sums, strict=True) if psi is not None]
    try:
        replicates = iter(_replicates(fitted, served, options))
    except InputError as error:
        return [NoInterval("refitting-fails", f"the fitter fails on resampled searches ({error})")] * len(problems)
    for problem, psi in zip(problems, sums, strict=True):
        if psi is None:
            found.append(NoInterval("not-by-search", "its rows cannot be re-weighted by search"))
        else:
            spread = float(np.sqrt(searches * psi.var(ddof=1)))
            found.append(_interval(problem.optimum, free, spread, next(replicates), options))
    return found


def draws(searches: int, options: IntervalOptions, replicates: int) -> Ints:
    """How often each search is drawn in each replicate; searches are numbered in the order of their names."""
    generator = np.random.default_rng(options.seed)
    return generator.multinomial(searches, np.full(searches, 1 / searches), size=replicates).astype(np.int64)


def refitted(fitted: Fitted, times: Ints) -> Instance:
    """The same searches under the priors that are learnt if search s occurs times[s] times."""
    assert fitted.refit is not None
    candidates = fitted.refit.candidates(times)
    ends = np.cumsum([0, *(len(search.candidates) for search in fitted.instance.searches)]).tolist()
    return Instance(
        tuple(
            replace(search, candidates=tuple(candidates[a:b]))
            for search, a, b in zip(fitted.instance.searches, ends, ends[1:], strict=False)
        )
    )


def _replicates(fitted: Fitted, problems: Sequence[Priced], options: IntervalOptions) -> list[list[NearOptimum | None]]:
    """The prices of each problem under refitted priors."""
    found: list[list[NearOptimum | None]] = [[] for _ in problems]
    candidates = len(fitted.instance.layout.candidate_ids)
    if fitted.refit is None or candidates > LARGEST or not problems:
        return found
    count = min(options.replicates, FEW) if candidates > LARGE else options.replicates
    for times in draws(fitted.refit.searches, options, count):
        instance = refitted(fitted, times)
        for each, problem in zip(found, problems, strict=True):
            each.append(_price(instance, problem))
    return found


def _price(instance: Instance, problem: Priced) -> NearOptimum | None:
    layout, duals = instance.layout, problem.optimum.duals
    oracle = Oracle(layout, bind(problem.constraints, layout))
    found = near_optimum(oracle, [duals] if duals.any() else [], PRECISION, LEAST)
    # selecting nobody meets most constraints: where little else does, there is no price worth the name
    return None if found is None or found.value < found.free - abs(found.free) / 2 else found


def _interval(
    optimum: Optimum, free: float, spread: float, replicates: Sequence[NearOptimum | None], options: IntervalOptions
) -> PriceInterval | NoInterval:
    known = [each for each in replicates if each is not None]
    if (lost := len(replicates) - len(known)) > MOST_LOST * len(replicates):
        reason = f"in {lost} of {len(replicates)} resampled sets of searches it can hardly be met"
        return NoInterval("resampling-fails", reason)
    loss = max(free - optimum.outcome.utility, 0.0)
    root = float(np.sqrt(loss))
    varied = np.sqrt(np.maximum(loss + spread * _NODES, 0.0))
    square = float(_WEIGHTS @ (varied - root) ** 2 / _WEIGHTS.sum())
    if known:
        square += float(np.mean([(np.sqrt(each.loss) - root) ** 2 for each in known]))
    quantile = float(student.ppf((1 + options.level) / 2, len(known) or np.inf))
    reach = quantile * float(np.sqrt(square))
    low, high = max(root - reach, 0.0) ** 2, (root + reach) ** 2
    ends = 0.0 if low < NOTHING * high else low, high
    duals = np.array([each.duals for each in known]).reshape(len(known), len(optimum.duals))
    return PriceInterval(
        level=options.level,
        ratio=(1 - ends[1] / free, 1 - ends[0] / free) if free > 0 else None,
        loss=ends,
        one_sided=ends[0] == 0,
        duals=tuple(_dual(optimum, j, duals[:, j], options.level) for j in range(len(optimum.duals))),
        replicates=len(known),
        covers=PRIORS if known else SEARCHES,
        replicated_duals=tuple(map(tuple, duals.tolist())),
    )


def around(value: float, replicates: Sequence[float] | Floats, level: float) -> tuple[float, float] | None:
    """The interval around what was measured that the distances of the replicates from it ask for; None without any."""
    if not len(replicates):
        return None
    distance = float(np.sqrt(np.mean((np.asarray(replicates) - value) ** 2)))
    reach = float(student.ppf((1 + level) / 2, len(replicates))) * distance
    return value - reach, value + reach


def _dual(optimum: Optimum, j: int, replicates: Floats, level: float) -> tuple[float, float] | None:
    found = around(float(optimum.duals[j]), replicates, level)
    if found is None:
        return None
    (low, high), sense = found, optimum.rows.rows[j].sense
    # a limit from above never has a negative dual, one from below never a positive one
    return max(low, 0.0) if sense == "<=" else low, min(high, 0.0) if sense == ">=" else high


def contributions(optimum: Optimum) -> Floats | None:
    """psi of each search; None if the rows of the optimum do not add up over searches."""
    layout = optimum.outcome.layout
    parts = Parts.of(optimum.rows, layout)
    if parts is None or parts.rate is None:
        return None
    count, visits = len(layout.search_ids), optimum.outcome.visits
    of_state = layout.candidate_search[layout.state_candidate]
    psi = np.bincount(of_state, layout.reward * (free_visits(layout) - visits), minlength=count)
    phi = parts.by_search(visits)
    members = np.zeros((len(parts.names), count))
    np.add.at(members, (parts.classes, layout.candidate_search), 1.0)
    sizes = parts.groups.astype(np.float64) @ members
    for j in np.flatnonzero(optimum.duals):
        for f in np.flatnonzero(parts.matrix[j]):
            own = phi[f]
            if parts.rate[j, f]:
                size = sizes[parts.group_of[j, f]]
                own = own - own.sum() * size / size.sum()
            psi = psi + optimum.duals[j] * parts.matrix[j, f] * own
    return np.asarray(psi)
