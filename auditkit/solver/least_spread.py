"""Among all optimal mixtures of known policies, the one with the least ex-post spread.

An optimum is rarely unique: at the optimal duals a search may have many best policies, which differ in how far their
realised outcomes scatter. Let X_sj be what search s adds to row j in one realisation, and b_j / S its share of the
bound. The spread is

    sum over s and j of  E (X_sj - b_j / S)^2 / size_j^2 ,

which with one search and a row that binds is the variance of the realised slack. Each search draws its policy by
itself, so the spread is linear in the weights, and the least one is an LP: over the policies of each search whose
reduced cost is 0, with the rows that have a dual held at their bounds. Value, duals and bound stay as they are.

The second moments come from the exact laws of the numbers selected or inspected (`Prepared.selection_laws`,
`inspection_law`); where groups are known by their probability, who belongs to which is random too (`member_laws`). Rows
that are no such counts, such as those on values or later stages, are refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from auditkit.constraints.base import Row
from auditkit.constraints.two_sets import INSPECTION, TwoSets, joint_cells
from auditkit.errors import InputError, Problem
from auditkit.model.layout import Bools, Floats, Ints, Layout
from auditkit.solver.evaluate import MOST_OUTCOMES, Prepared, mixture_visits
from auditkit.solver.policy import Level, Lottery, Mixture, Outcome, Policy
from auditkit.solver.solution import Optimum
from auditkit.text import count, roughly

BEST = 1e-11
"""Of the size of its terms: a policy whose reduced cost in a search is smaller is as good as the best."""

UNCHANGED = 1e-9
"""Of the size of the optimum: how much its value may move."""

LEAST_WEIGHT = 1e-11

MOST_STEPS = 1e9
"""Work for the law of one row under one policy, where groups are known by their probability: a few seconds."""


@dataclass(frozen=True, eq=False)
class Counted:
    """A row that counts selections, or inspections: candidates of one class weigh `weight[class]` each."""

    inspections: bool
    of: Ints
    weight: Floats

    def moments(self, prepared: Prepared, searches: Ints, target: float) -> tuple[Floats, Floats]:
        """Mean of X, and of (X - target)^2, in some searches."""
        if self.inspections:
            laws = [prepared.inspection_law(int(search), self.of, len(self.weight)) for search in searches]
            values = [(counts @ self.weight, chance) for counts, chance in laws]
        else:
            tables = prepared.selection_laws(searches, self.of, len(self.weight))
            values = [(np.tensordot(self.weight, np.indices(t.shape), 1).ravel(), t.ravel()) for t in tables]
        return (
            np.array([x @ chance for x, chance in values]),
            np.array([(x - target) ** 2 @ chance for x, chance in values]),
        )


@dataclass(frozen=True, eq=False)
class Members:
    """A row that compares two groups which are known by their probability only."""

    sets: TwoSets

    def moments(self, prepared: Prepared, searches: Ints, target: float) -> tuple[Floats, Floats]:
        """Mean of X, and of (X - target)^2, in some searches."""
        (a, b), inspections = self.sets.coefficients, self.sets.counted == INSPECTION
        theta = self.sets.theta(0, len(self.sets.layout.candidate_ids))
        laws = prepared.member_laws(searches, theta, inspections)
        values = [np.add.outer(a * np.arange(len(law)), b * np.arange(law.shape[1])) for law in laws]
        return (
            np.array([float((x * law).sum()) for x, law in zip(values, laws, strict=True)]),
            np.array([float(((x - target) ** 2 * law).sum()) for x, law in zip(values, laws, strict=True)]),
        )


def _members(row: Row, layout: Layout) -> Members:
    sets = TwoSets.of(row, layout)
    if sets is None:
        raise _refused(row, "compares more than two groups, or counts neither selections alone nor inspections alone")
    cells = joint_cells(layout, sets.counted == INSPECTION)
    often = 1 if layout.limits is None else np.diff(layout.search_ptr)  # with limits everybody is counted at each event
    steps = float((often * cells * np.diff(layout.candidate_ptr[layout.search_ptr])).sum())
    if float(cells.max(initial=0.0)) > MOST_OUTCOMES or steps > MOST_STEPS:
        why = "has too many joint outcomes in a search: with groups that are known by their probability a policy takes"
        raise _refused(row, f"{why} {roughly(steps)} steps, and the most is {count(MOST_STEPS)}")
    return Members(sets)


def counted(row: Row, layout: Layout) -> Counted | Members:
    """What a row counts; refuses one that counts something without a law."""
    if layout.uncertain and row.by is not None:
        return _members(row, layout)
    weights = np.zeros(layout.states)
    weights[row.states] = row.coefficients
    at_start = np.zeros(layout.states, dtype=np.bool_)
    at_start[layout.start] = True
    for inspections, where in ((False, layout.selecting), (True, at_start)):
        if (weights[~where] != 0).any():
            continue
        candidate = layout.state_candidate[where]
        each = np.zeros(len(layout.candidate_ids))
        each[candidate] = weights[where]
        if not np.array_equal(each[candidate], weights[where]):
            continue
        weight, of = np.unique(each, return_inverse=True)
        if (float(layout.capacity.max(initial=0)) + 1) ** len(weight) > MOST_OUTCOMES:
            continue
        if len(weight) == 1:
            weight = np.append(weight, 0.0)  # the laws are of at least two classes
        return Counted(inspections, of.ravel().astype(np.int64), weight)
    raise _refused(row, "does not count the selections or the inspections of a few groups, so it has no exact law")


def _refused(row: Row, why: str) -> InputError:
    return InputError(Problem("least_spread", f"{row.label} {why}", "leave least_spread out"))


def with_least_spread(best: Optimum) -> Optimum:
    """The same optimum by the mixture of known policies that scatters least."""
    layout, rows, searches = best.outcome.layout, best.rows, best.mixture.count
    if rows.measures:
        labels = ", ".join(measure.label for measure in rows.measures)
        raise InputError(Problem("least_spread", f"serves affine constraints only, not {labels}", "leave it out"))
    what = [counted(row, layout) for row in rows.rows]
    size = np.maximum(rows.largest, 1e-300)
    policies = list(dict.fromkeys([*best.mixture.policies, *_known(best)]))
    everyone = np.arange(searches)
    utility = np.empty((len(policies), searches))
    values = np.empty((len(policies), len(rows), searches))
    scatter = np.zeros((len(policies), searches))
    prepared = [Prepared.of_policy(layout, rows, policy) for policy in policies]
    for c, one in enumerate(prepared):
        utility[c], values[c] = _by_search(layout, rows.rows, one.visits())
    worth = utility - np.einsum("j,cjs->cs", best.duals, values)
    terms = np.abs(utility) + np.einsum("j,cjs->cs", np.abs(best.duals), np.abs(values))
    allowed = worth >= worth.max(axis=0) - BEST * terms.max(axis=0)
    for c in range(len(best.mixture.policies)):
        allowed[c, best.mixture.followers(c)[0]] = True
    for c, one in enumerate(prepared):
        who = everyone[allowed[c]]
        for j, row in enumerate(what if len(who) else ()):
            mean, squared = row.moments(one, who, float(rows.bounds[j]) / searches)
            if not np.allclose(mean, values[c, j, who], rtol=1e-7, atol=1e-9 * size[j]):
                raise _refused(rows.rows[j], "counts inspections, and a candidate may be inspected more than once")
            scatter[c, who] += squared / size[j] ** 2
    before = sum(w * scatter[c, s] for s in range(searches) for c, w in best.mixture.lottery(s))
    lotteries = _least(best, size, values, scatter, allowed)
    if lotteries is None:
        return replace(best, spread=float(before))
    mixture = Mixture.by_search(policies, lotteries)
    after = sum(w * scatter[c, s] for s, lottery in enumerate(lotteries) for c, w in lottery)
    outcome = Outcome(layout, lambda: mixture_visits(layout, rows, mixture))
    calm = replace(best, mixture=mixture, outcome=outcome, spread=float(after))
    if after >= before or abs(calm.utility - best.utility) > UNCHANGED * best.size:
        return replace(best, spread=float(before))
    return calm


def _known(best: Optimum) -> Iterator[Policy]:
    """Policies that were evaluated, and at the optimal duals those that break ties for and against each row."""
    for column in best.columns:
        yield column.policy
    yield Policy.at(best.duals)
    for j in range(len(best.rows)):
        for sign in (-1.0, 1.0):
            yield Policy.at(best.duals, Level(0.0, tuple(sign * (i == j) for i in range(len(best.rows)))))


def _by_search(layout: Layout, rows: tuple[Row, ...], visits: Floats) -> tuple[Floats, Floats]:
    """Utility, and the value of each row, by search."""
    search, count = layout.candidate_search[layout.state_candidate], len(layout.search_ids)
    values = np.zeros((len(rows), count))
    for j, row in enumerate(rows):
        values[j] = np.bincount(search[row.states], row.coefficients * visits[row.states], minlength=count)
    return np.bincount(search, layout.reward * visits, minlength=count).astype(np.float64), values


def _least(best: Optimum, size: Floats, values: Floats, scatter: Floats, allowed: Bools) -> list[Lottery] | None:
    """The LP; None if HiGHS does not find its optimum."""
    from scipy.optimize import linprog  # a fifth of a second, and few ask for the least spread
    from scipy.sparse import csr_array, vstack

    rows, searches = best.rows, best.mixture.count
    policy, search = np.nonzero(allowed)
    variables = np.arange(len(policy))
    binding = rows.is_equality | (best.duals != 0)
    weights = values[policy, :, search].T / size[:, None]
    bounds = rows.bounds / size
    tight = csr_array(np.ones((0, len(policy)))) if not binding.any() else csr_array(weights[binding])
    one = csr_array((np.ones(len(policy)), (search, variables)), shape=(searches, len(policy)))
    equal, target = vstack([one, tight]).tocsr(), np.append(np.ones(searches), bounds[binding])
    signs = rows.signs[~binding]
    found = linprog(  # type: ignore[call-overload]  # its stubs know no sparse matrices
        scatter[policy, search],
        A_ub=signs[:, None] * weights[~binding] if (~binding).any() else None,
        b_ub=signs * bounds[~binding] if (~binding).any() else None,
        A_eq=equal,
        b_eq=target,
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.status != 0:
        return None
    used = np.flatnonzero(found.x > LEAST_WEIGHT)
    part = equal[:, used].toarray()
    x = found.x[used] + np.linalg.lstsq(part, target - part @ found.x[used], rcond=None)[0]  # to full precision
    if (x < 0).any():
        return None
    lotteries: list[list[tuple[int, float]]] = [[] for _ in range(searches)]
    for place, weight in zip(used, x, strict=True):
        lotteries[search[place]].append((int(policy[place]), float(weight)))
    return [tuple((c, w / sum(each for _, each in lottery)) for c, w in lottery) for lottery in lotteries]
