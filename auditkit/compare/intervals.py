"""Intervals for the price of fairness: the price is solved again under other priors that the data allow.

Two things are not known of a price. **The priors**, which is most of it. Let E be m of the n searches: as many as hold
some thousand candidates, all of them if there are no more.

Replicate b draws m of the n searches with replacement, fits the priors to these alone (`fitting.refit`; a fitter only
has to train once more), and finds the price loss*_b of E under these priors, to within a percent
(`solver.near_optimum`). Its distance is from loss_E, the price of E under the priors of all searches, on the scale of
roots: a price is about quadratic in the differences between groups, so that its root has an even spread. The variance
of priors learnt from m searches is n/m times that of priors learnt from n, and the price of m searches m/n times that
of n; so on the scale of roots both cancel, and

    sqrt(loss*_b) - sqrt(loss_E)        is a draw of the error of sqrt(L), the root of the price of all searches,

whatever m is. So a million candidates cost no more than some thousand. Where constraints compare groups, candidates
are inspected once and policies see the group, a regression knows the error better than resamples do: the prices are
then those of the fit with every group shifted (`group_errors`), at few points that have the mean square of the error of
the groups. These have the error of n searches, so their distance is divided by sqrt(m/n).

**The searches**, of which there might have been others: to first order the price is a sum over searches, and its
standard error S that of the sum,

    psi_s = u_s(free) - u_s(constrained) + lambda . a_s(constrained),

a_s what search s adds to the rows; in rows on rates M[j, f] (phi_fs - n_gs phi_f / n_g), as its candidates count in
the size of the group as well. With Z standard normal,

    tau^2 = mean_b (sqrt(loss*_b) - sqrt(loss_E))^2 + E(sqrt(L + S Z) - sqrt(L))^2
    interval = (sqrt(L) -+ t tau)^2,    one-sided, from 0 on, if the lower end is nothing beside the upper one

Where policies do not see the group, a price is not quadratic in the differences: `blind_intervals` has its interval.

t is Student's quantile for the number of replicates that were asked for, or that of searches with scores if there are
fewer. The priors of replicates are without what shrinkage takes from the
differences between groups (`fitting.refit`), and distances are from the price measured, not from the replicates' mean:
so what shrinkage takes away and noise adds widens the interval instead of moving it. Duals, and the shifts that they
add up to (`revealed.needed_shifts`), have such intervals on their own scale, from refitted priors alone: at the few
points of shifted groups duals jump too rarely to have the right spread.
`docs/validity.md` has the coverage in simulations, and the other ways that were tried.

**This is the one place where random numbers are used**, because resampling is what a bootstrap is. They are seeded, and
drawn for searches in the order of their names: the same data give the same intervals, whatever the order of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeGuard

import numpy as np
from scipy.special import stdtrit

from auditkit.compare.blind_intervals import BlindPrices, centred, error_of_laws, lottery
from auditkit.compare.group_errors import GroupErrors
from auditkit.compare.parts import Parts
from auditkit.constraints.base import Constraint, Row, Rows
from auditkit.constraints.binding import bind
from auditkit.constraints.two_sets import TwoSets
from auditkit.errors import InputError
from auditkit.fitting.fitted import Fitted
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Ints, Layout
from auditkit.model.session import Session
from auditkit.model.variants import moved_by_group
from auditkit.solver import Optimum
from auditkit.solver.near_optimum import NearOptimum, near_optimum
from auditkit.solver.oracle import Oracle, free_visits

REPLICATES = 12
LEVEL = 0.95
SEED = 20_260_229
FEWEST_SEARCHES = 8

MOST = 5_000
"""Candidates of a replicate: of more, as many searches are drawn and priced as hold so many."""

MOST_LOST = 0.2
"""Share of the replicates in which the constraint may be out of reach before there is no interval."""

PRECISION, LEAST = 0.01, 1e-5
"""How far a replicate's price may be off: of itself, and of the unconstrained utility."""

NOTHING = 0.01
"""A lower end of less than this share of the upper one cannot be told from 0: the reach itself is an estimate."""

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


@dataclass(frozen=True)
class IntervalOptions:
    replicates: int = REPLICATES
    level: float = LEVEL
    seed: int = SEED


@dataclass(frozen=True)
class PriceInterval:
    """Intervals of the ratio (None where the unconstrained utility is not positive), of the loss and of each dual.

    `one_sided`: the loss may be zero; only an upper bound is known.
    """

    level: float
    ratio: tuple[float, float] | None
    loss: tuple[float, float]
    one_sided: bool
    duals: tuple[tuple[float, float], ...]
    replicates: int
    replicated_duals: tuple[tuple[float, ...], ...] = field(repr=False)
    """Each replicate's error of the duals, added to the duals measured."""
    lottery: float | None = None
    """Where policies do not see the group: the loss of a lottery among the people of each search."""


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

    @cached_property
    def near(self) -> NearOptimum:
        """The same as a near optimum that is exact."""
        layout, utility = self.optimum.outcome.layout, self.optimum.utility
        rows, free = self.optimum.rows, Oracle(layout, self.optimum.rows).free
        return NearOptimum(free.utility, utility, utility, self.optimum.duals, rows.signs * (free.values - rows.bounds))


def intervals(fitted: Fitted, problems: Sequence[Priced], options: IntervalOptions) -> list[PriceInterval | NoInterval]:
    """The interval of each price; all share the replicates."""
    searches = len(fitted.instance.layout.search_ids)
    if not options.replicates:
        return [NoInterval("no-replicates", "no resampling was asked for (replicates = 0)")] * len(problems)
    if searches < FEWEST_SEARCHES:
        reason = f"an interval resamples searches and needs at least {FEWEST_SEARCHES} of them, not {searches}"
        return [NoInterval("few-searches", reason)] * len(problems)
    if fitted.refit is None:
        return [NoInterval("not-learnt", "the priors were not learnt from a history")] * len(problems)
    taken_apart = [Parts.of(problem.optimum.rows, problem.optimum.outcome.layout) for problem in problems]
    served = [(each, parts) for each, parts in zip(problems, taken_apart, strict=True) if _by_search(parts)]
    try:
        replicates = iter(_replicates(fitted, served, options))
    except InputError as error:
        reason = f"the priors cannot be fitted to resampled searches ({error.problems[0].what})"
        return [NoInterval("refitting-fails", reason)] * len(problems)
    return [
        _interval(problem.optimum, contributions(problem.optimum, parts), next(replicates), options)
        if _by_search(parts)
        else NoInterval("not-by-search", "its rows cannot be re-weighted by search")
        for problem, parts in zip(problems, taken_apart, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Resampling:
    """The searches E that replicates price, and how often each search of the history teaches in each of them."""

    searches: Ints
    """Positions in the layout."""
    times: Ints
    """(replicates, searches of the history in the order of their names)."""

    @staticmethod
    def of(fitted: Fitted, options: IntervalOptions, most: int) -> Resampling:
        """As many searches as hold `most` candidates."""
        assert fitted.refit is not None
        layout, count = fitted.instance.layout, fitted.refit.searches
        generator = np.random.default_rng(options.seed)
        searches, n = np.arange(len(layout.search_ids)), len(layout.search_ids)
        if len(layout.candidate_ids) > most:
            order = np.argsort(layout.search_ids)[generator.permutation(n)]
            held = np.cumsum(np.diff(layout.search_ptr)[order])
            searches = np.sort(order[: max(FEWEST_SEARCHES, 1 + int(np.searchsorted(held, most)))])
        drawn = round(count * len(searches) / n)
        times = generator.multinomial(drawn, np.full(count, 1 / count), size=options.replicates)
        return Resampling(searches, times.astype(np.int64))


def refitted(fitted: Fitted, times: Ints, searches: Ints, *, moved: bool = True, regrouped: bool = False) -> Instance:
    """Some of the searches under the priors that are learnt if search s of the history occurs times[s] times."""
    assert fitted.refit is not None
    return fitted.refit.instance(fitted.instance, times, searches, moved=moved, regrouped=regrouped)


def _replicates(
    fitted: Fitted, problems: Sequence[tuple[Priced, Parts]], options: IntervalOptions
) -> list[_Replicates]:
    """The prices of each problem under refitted priors."""
    if not problems:
        return []
    drawn, part = _drawn(fitted, [problem for problem, _ in problems], options)
    share = len(part.searches) / len(fitted.instance.searches)
    found = [_Replicates(problem, parts, share, part, options.replicates) for problem, parts in problems]
    if fitted.instance.layout.uncertain:
        _draw(fitted, found, drawn.searches, options)
        return found
    for times in drawn.times:
        layout = refitted(fitted, times, drawn.searches).layout
        with Session():  # nothing is asked of this layout again
            for each in found:
                each.add(layout)
    errors = GroupErrors.of(fitted)
    for each in found:
        if errors is not None and errors.serve(each.problem.optimum.rows, each.parts):
            points = errors.points(each.parts, np.random.default_rng(options.seed))
            with Session():
                each.shift([moved_by_group(part.layout, shifts) for shifts in points], errors.freedom)
    return found


def _draw(fitted: Fitted, found: Sequence[_Replicates], searches: Ints, options: IntervalOptions) -> None:
    """The prices of policies that do not see the group, under other chances of groups and effects of theirs."""
    assert fitted.refit is not None
    draws = centred(fitted.refit.searches, options.replicates, np.random.default_rng(options.seed))
    nothing = np.zeros_like(draws[:1])
    for b, instance in enumerate(fitted.refit.drawn(fitted.instance, searches, np.concatenate([nothing, draws]))):
        with Session():
            for each in found:
                if b:
                    each.add(instance.layout)
                else:
                    each.unshrunk = each.price(instance.layout)
    for each in found:
        optimum = each.problem.optimum
        layout = optimum.outcome.layout
        free = free_visits(layout)
        each.of_laws = error_of_laws(fitted, free - optimum.outcome.visits)
        if (visits := lottery(layout, optimum.rows)) is not None:
            worth = layout.total(layout.kinds.reward, visits)
            each.bound = each.problem.near.free - worth, error_of_laws(fitted, free - visits)


def _drawn(fitted: Fitted, problems: Sequence[Priced], options: IntervalOptions) -> tuple[Resampling, Instance]:
    """The resampling, and the searches that it prices: so many that the constraints have all their rows."""
    most = MOST
    while True:
        drawn = Resampling.of(fitted, options, most)
        if len(drawn.searches) == len(fitted.instance.searches):
            return drawn, fitted.instance
        part = fitted.instance.among(drawn.searches)
        if all(_labels(bind(each.constraints, part.layout)) == _labels(each.optimum.rows) for each in problems):
            return drawn, part
        most *= 2


def _labels(rows: Rows) -> list[str]:
    return [row.label for row in rows.rows]


class _Replicates:
    """The prices of one problem on a `share` of the searches, `part`, and their distance from that of known priors."""

    def __init__(self, problem: Priced, parts: Parts, share: float, part: Instance, asked: int) -> None:
        rates = parts.of_rates
        self.problem, self.parts, self.share = problem, parts, share
        self.asked = self.freedom = asked
        # a bound on rates is that of all searches, one on numbers of people falls with their share; duals vice versa
        self.of_bounds, self.of_duals = np.where(rates, 1.0, share), np.where(rates, share, 1.0)
        self.base = problem.near if share == 1 else self.price(part.layout)
        self.known: list[NearOptimum] = []
        self.unshrunk: NearOptimum | None = None
        self.shifted: list[NearOptimum] = []
        self.of_laws, self.bound = 0.0, (np.inf, 0.0)

    def add(self, layout: Layout) -> None:
        """The price under the priors of this layout, if it has one."""
        if self.base is not None and (found := self.price(layout)) is not None:
            self.known.append(found)

    def shift(self, layouts: Sequence[Layout], freedom: int) -> None:
        """Take the error of the price from shifted groups, if it has a price under all of them."""
        prices = [] if self.base is None else [self.price(layout) for layout in layouts]
        found = [price for price in prices if price is not None]
        if found and len(found) == len(prices):
            self.shifted, self.freedom = found, min(freedom, self.asked)

    @property
    def roots(self) -> Floats:
        """Draws of the error of the root of the price of all searches."""
        assert self.base is not None
        taught = np.sqrt(self.share) if self.shifted else 1.0  # by all searches, not by the part that is priced
        losses = [each.loss for each in self.shifted or self.known]
        return np.asarray(np.sqrt(losses) - np.sqrt(self.base.loss)) / taught

    def blind(self, of_searches: float) -> BlindPrices | None:
        """Where policies do not see the group."""
        if self.unshrunk is None:
            return None
        rows, near = self.problem.optimum.rows, self.problem.near
        error = float(np.hypot(self.of_laws, of_searches))
        return BlindPrices(near, self.unshrunk, self.known, rows.is_equality, self.share, error, *self.bound)

    @property
    def duals(self) -> Floats:
        """Draws of the error of the duals, (replicates, rows)."""
        assert self.base is not None
        errors = np.array([each.duals for each in self.known]) - self.base.duals
        taught = 1.0 if self.unshrunk is not None else np.sqrt(self.share)  # by all searches
        return np.asarray(taught / self.of_duals * errors)

    def price(self, layout: Layout) -> NearOptimum | None:
        """Under the priors of a layout; None if there is none worth the name."""
        rows = bind(self.problem.constraints, layout)
        if _labels(rows) != _labels(self.problem.optimum.rows):
            return None  # groups that are learnt anew may be too small to be compared
        rows = rows if self.share == 1 else rows.with_bounds(self.of_bounds * rows.bounds)
        duals = self.of_duals * self.problem.optimum.duals
        found = near_optimum(Oracle(layout, rows), [duals] if duals.any() else [], PRECISION, LEAST)
        # selecting nobody meets most constraints: where little else does, there is no price worth the name
        return None if found is None or found.value < found.free - abs(found.free) / 2 else found


def _interval(
    optimum: Optimum, psi: Floats, replicates: _Replicates, options: IntervalOptions
) -> PriceInterval | NoInterval:
    count = len(replicates.known)
    if (lost := replicates.asked - count) > MOST_LOST * replicates.asked:
        reason = f"in {lost} of {replicates.asked} resampled sets of searches it can hardly be met or compares others"
        return NoInterval("resampling-fails", reason)
    free, loss = replicates.problem.near.free, replicates.problem.near.loss
    root, spread = float(np.sqrt(loss)), float(np.sqrt(len(psi) * psi.var(ddof=1)))
    if (blind := replicates.blind(spread)) is not None:
        low, high = blind.ends(options.level)
    else:
        varied = np.sqrt(np.maximum(loss + spread * _NODES, 0.0))
        square = float(_WEIGHTS @ (varied - root) ** 2 / _WEIGHTS.sum()) + float(np.mean(replicates.roots**2))
        reach = float(stdtrit(replicates.freedom, (1 + options.level) / 2)) * float(np.sqrt(square))
        low, high = max(root - reach, 0.0) ** 2, (root + reach) ** 2
    if all(_met_by_nobody(row) for row in optimum.rows.rows):
        high = min(high, max(free, loss))  # selecting nobody costs no more
    ends = 0.0 if low < NOTHING * high else low, high
    duals = optimum.duals + replicates.duals
    return PriceInterval(
        level=options.level,
        ratio=(1 - ends[1] / free, 1 - ends[0] / free) if free > 0 else None,
        loss=ends,
        one_sided=ends[0] == 0,
        duals=tuple(_dual(optimum, j, duals[:, j], options.level) for j in range(len(optimum.duals))),
        replicates=count,
        replicated_duals=tuple(map(tuple, duals.tolist())),
        lottery=None if blind is None or blind.bound == np.inf else blind.bound,
    )


def _met_by_nobody(row: Row) -> bool:
    """Whether a row holds where nobody is inspected or selected."""
    return (row.sense == "<=" or row.bound <= 0) and (row.sense == ">=" or row.bound >= 0)


def around(value: float, replicates: Sequence[float] | Floats, level: float) -> tuple[float, float] | None:
    """The interval around what was measured that the distances of the replicates from it ask for; None without any."""
    if not len(replicates):
        return None
    distance = float(np.sqrt(np.mean((np.asarray(replicates) - value) ** 2)))
    reach = float(stdtrit(len(replicates), (1 + level) / 2)) * distance
    return value - reach, value + reach


def _dual(optimum: Optimum, j: int, replicates: Floats, level: float) -> tuple[float, float]:
    found = around(float(optimum.duals[j]), replicates, level)
    assert found is not None
    (low, high), sense = found, optimum.rows.rows[j].sense
    # a limit from above never has a negative dual, one from below never a positive one
    return max(low, 0.0) if sense == "<=" else low, min(high, 0.0) if sense == ">=" else high


def _by_search(parts: Parts | None) -> TypeGuard[Parts]:
    """Whether rows add up over searches."""
    return parts is not None and parts.rate is not None


def _of_members(sets: TwoSets, visits: Floats) -> Floats:
    """A rate whose groups are known by their probability, by search: the expected number less what its share of the
    group's expected size accounts for."""
    found = np.zeros(len(sets.layout.search_ids))
    for coefficient, number, size in zip(sets.coefficients, sets.numbers(visits), sets.sizes(), strict=True):
        found += coefficient * (number - number.sum() * size / size.sum())
    return found


def contributions(optimum: Optimum, parts: Parts) -> Floats:
    """psi of each search."""
    assert parts.rate is not None
    layout = optimum.outcome.layout
    count, visits = len(layout.search_ids), optimum.outcome.visits
    gained = layout.by_candidate(layout.kinds.reward, free_visits(layout) - visits)
    psi = np.bincount(layout.candidate_search, gained, minlength=count).astype(np.float64)
    phi = parts.by_search(visits)
    members = np.zeros((len(parts.names), count))
    np.add.at(members, (parts.classes, layout.candidate_search), 1.0)
    sizes = parts.groups.astype(np.float64) @ members
    for j in np.flatnonzero(optimum.duals):
        row = optimum.rows.rows[j]
        if layout.uncertain and row.meaning.basis == "rate" and (sets := TwoSets.of(row, layout)) is not None:
            psi = psi + optimum.duals[j] * _of_members(sets, visits)
            continue
        for f in np.flatnonzero(parts.matrix[j]):
            own = phi[f]
            if parts.rate[j, f]:
                size = sizes[parts.group_of[j, f]]
                own = own - own.sum() * size / size.sum()
            psi = psi + optimum.duals[j] * parts.matrix[j, f] * own
    return np.asarray(psi)
