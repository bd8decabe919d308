"""Adjusted p-values for all tests of a page, with their dependence (Westfall and Young's step-down min-p).

Every test is a quadratic form of a score, a sum over people i of u_i = (1[g_i = g] - share)(y_i - rate), pooled or
within requisitions. Under the null the scores of all tests are about normal with covariance C = sum_i u_i u_i':
tables, pooled and stratified tests, attributes, crossings and segments share people, so their tests are far from
independent, and Holm's correction would give away too much. Test l has a *weight* w_l. With p* a draw under the null
and s = p / w in ascending order,

    adjusted p_(j) = max over i <= j of  P( some l >= i has p*_(l) <= s_(i) w_(l) )

The event of a test with a discrete law is p* <= the largest value it can attain that is not above s w.

*Families.* The weights in a family are proportional to `weight`, at the level at which the family alone would have
error share x alpha.

*Draws.* 8,000 draws of the normal law with a fixed seed estimate these probabilities. Near alpha, where a finding
depends on the estimate, the union is sampled by importance: draw event l in proportion to its level a_l, replace the
score of test l by a draw from its tail, move all others along with it, and average  sum(a) / (number of events that
occur). Its relative error is that of an average of numbers between 1 / (number of tests) and 1.

Square roots and whitening are symmetric, V diag(1/sqrt(e)) V': eigenvectors have no inherent sign or order, and the
draws must not depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, erfcinv, gammaincc, gammainccinv

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEED = 12
DRAWS = 8_000
RARE_DRAWS = 4_000
ROUNDING = 1 + 1e-9
"""p-values that differ by rounding are the same."""


@dataclass(frozen=True, eq=False)
class PageTest:
    """One test of a page: its p, its degrees of freedom, its family, and the p-values it can attain."""

    p: float
    df: int = 1
    family: str = ""
    attainable: Floats | None = None
    """Ascending; None for a continuous law."""
    weight: float = 1.0
    """Relative to the other tests of its family; it may depend on the numbers of people and of selections, but not on
    which group was selected."""


@dataclass(frozen=True)
class Adjusted:
    """Adjusted p of each test, and the p that a single test of each family needs to be found."""

    p: tuple[float, ...]
    level: dict[str, float]


def step_down(
    tests: Sequence[PageTest], covariance: Floats, alpha: float = 0.05, shares: dict[str, float] | None = None
) -> Adjusted:
    """Adjusts these tests together; `covariance` has, test by test, as many rows as the test has degrees of freedom."""
    shares = shares or {test.family: 1.0 for test in tests}
    if not tests:
        return Adjusted((), dict.fromkeys(shares, alpha))
    null = JointNull(covariance, tuple(tests))
    weight = null.weights(alpha, shares)
    raw = np.array([test.p for test in tests])
    relative = raw / weight
    order = np.argsort(relative, kind="stable")
    least = np.minimum.accumulate((null.p / weight)[:, order[::-1]], axis=1)[:, ::-1]
    share = np.mean(least <= relative[order] * ROUNDING, axis=0)
    highest = 0.0
    adjusted = np.empty(len(tests))
    for i, test in enumerate(order):
        among = order[i:]
        bound = relative[test] * weight[among]
        here = min(float(share[i]), float(bound.sum()))
        if max(here, highest) < 3 * alpha:
            levels = null.attained(bound * ROUNDING, among)
            here = null.union(levels, among) if levels.sum() > alpha / 10 else float(levels.sum())
        highest = max(highest, here)
        adjusted[test] = min(1.0, max(highest, raw[test]))
    most = float(np.quantile(least[:, 0], alpha, method="lower"))
    level = {test.family: min(alpha, most * w) for test, w in zip(tests, weight.tolist())}
    return Adjusted(tuple(adjusted.tolist()), {family: level.get(family, alpha) for family in shares})


@dataclass(frozen=True, eq=False)
class JointNull:
    """The law of all tests together without any difference."""

    covariance: Floats
    tests: tuple[PageTest, ...]

    @cached_property
    def blocks(self) -> list[slice]:
        ends = np.concatenate([[0], np.cumsum([test.df for test in self.tests])])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    @cached_property
    def _white(self) -> tuple[Floats, list[Floats], Ints]:
        """The covariance after whitening each test separately, the space that each test spans, and its dimension."""
        C = self.covariance
        white, spans, rank = np.zeros_like(C), [], []
        for block in self.blocks:
            W, span, r = _whitening(C[block, block])
            white[block, block] = W
            spans.append(span)
            rank.append(r)
        joint = white @ C @ white
        for block, span in zip(self.blocks, spans):
            joint[block, block] = span  # exactly
        return (joint + joint.T) / 2, spans, np.array(rank)

    @property
    def rank(self) -> Ints:
        return self._white[2]

    @cached_property
    def _normal(self) -> Floats:
        """Draws of the whitened scores."""
        values, vectors = np.linalg.eigh(self._white[0])
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        drawn: Floats = np.random.default_rng(SEED).standard_normal((DRAWS, len(root))) @ root
        return drawn

    @cached_property
    def p(self) -> Floats:
        """p-values under the null, draws by tests."""
        statistic = self._statistics(self._normal)
        tails = [_tail(column, int(r)) for column, r in zip(statistic.T, self.rank)]
        return np.stack([_up_to(tail, test.attainable) for tail, test in zip(tails, self.tests)], axis=1)

    def _statistics(self, normal: Floats) -> Floats:
        return np.add.reduceat(np.square(normal), [block.start for block in self.blocks], axis=1)

    def weights(self, alpha: float, shares: dict[str, float]) -> Floats:
        """The weight of each test: the level at which its family by itself has error share x alpha."""
        weight = np.ones(len(self.tests))
        for family, share in shares.items():
            mine = np.flatnonzero([test.family == family for test in self.tests])
            if len(mine):
                own = np.array([self.tests[l].weight for l in mine])
                level = max(float(np.quantile((self.p[:, mine] / own).min(axis=1), share * alpha)), 1e-12)
                # The error is about proportional to the level: importance sampling makes up for the few draws there.
                error = self.union(self.attained(level * own, mine), mine)
                weight[mine] = own * level * (min(max(share * alpha / error, 0.5), 2.0) if error > 0 else 1.0)
        return weight

    def attained(self, level: Floats, among: Ints) -> Floats:
        """P(p* <= level) of each of these tests."""
        found = np.minimum(level, 1.0)
        for at, l in enumerate(among):
            if self.rank[l] == 0:
                found[at] = 0.0
            elif (values := self.tests[l].attainable) is not None:
                below = int(np.searchsorted(values, found[at], side="right"))
                found[at] = values[below - 1] if below else 0.0
        return found

    def union(self, levels: Floats, among: Ints) -> float:
        """P(at least one of these tests has p* <= its level), by importance."""
        total = float(levels.sum())
        if total <= 0:
            return 0.0
        C, _, rank = self._white
        rng = np.random.default_rng(SEED)
        # Systematic sampling: every event is drawn in proportion to its level, up to one draw.
        picks = np.searchsorted(np.cumsum(levels) / total, (np.arange(RARE_DRAWS) + rng.random()) / RARE_DRAWS)
        picks = np.minimum(picks, len(among) - 1)
        heights = rng.permutation(RARE_DRAWS)  # of the tail; spread evenly over all draws
        normal = self._normal[:RARE_DRAWS].copy()
        for pick in np.unique(picks):
            l, rows = int(among[pick]), np.flatnonzero(picks == pick)
            block = self.blocks[l]
            old = normal[rows, block]
            length = np.sqrt(np.maximum(np.square(old).sum(axis=1), 1e-300))
            u = (np.argsort(np.argsort(heights[rows])) + 0.5) / len(rows)
            target = np.sqrt(_threshold(levels[pick] * u, int(rank[l])))
            new = old * (target / length)[:, None]
            normal[rows] += (new - old) @ C[block]
        statistic = self._statistics(normal)[:, among]
        least = np.array([_threshold(np.array([a]), int(rank[l]))[0] for a, l in zip(levels, among)])
        events = statistic >= least * (1 - 1e-9)
        return min(1.0, total * float(np.mean(1.0 / np.maximum(events.sum(axis=1), 1))))


def _tail(statistic: Floats, df: int) -> Floats:
    """P(chi-square > statistic), in closed form where it has a short one."""
    half = statistic / 2
    if df == 0:
        return np.ones_like(half)
    if df == 1:
        return np.asarray(erfc(np.sqrt(half)), dtype=np.float64)
    return np.asarray(np.exp(-half) if df == 2 else gammaincc(df / 2, half), dtype=np.float64)


def _threshold(level: Floats, df: int) -> Floats:
    """The inverse of `_tail`; infinite at 0."""
    if df == 0:
        return np.full_like(level, np.inf)
    if df == 1:
        return np.asarray(2 * np.square(erfcinv(level)), dtype=np.float64)
    if df == 2:
        with np.errstate(divide="ignore"):
            return np.asarray(-2 * np.log(level), dtype=np.float64)
    return np.asarray(2 * gammainccinv(df / 2, level), dtype=np.float64)


def _up_to(tail: Floats, attainable: Floats | None) -> Floats:
    """The smallest attainable p that is not below the tail of the normal law."""
    if attainable is None:
        return tail
    found: Floats = attainable[np.minimum(np.searchsorted(attainable, tail), len(attainable) - 1)]
    return found


def _whitening(covariance: Floats) -> tuple[Floats, Floats, int]:
    """W with W C W = the projection on the space that C spans, that projection, and its rank; all symmetric."""
    values, vectors = np.linalg.eigh(covariance)
    keep = values > 1e-9 * max(float(values.max(initial=0.0)), 1e-300)
    span = vectors[:, keep]
    return (span / np.sqrt(values[keep])) @ span.T, span @ span.T, int(keep.sum())
