"""Evidence that you may look at every week: e-processes over requisitions as they close.

Take a requisition with n1 applicants of a group, n0 others and m selected, x of them from the group. Given the margins,
x is hypergeometric without a difference, and with an odds ratio theta P_theta(x) / P_1(x) = theta^x / E[theta^X]. The
product over closed requisitions, mixed over log theta with a normal law w of spread 0.5,

    E = sum_j w_j exp( L(theta_j) ),    L(theta) = sum over requisitions of  x log theta - log E[theta^X]

has expectation 1 at any time if there is no difference, so P(E ever reaches 1/alpha) <= alpha (Ville). Odds ratios
theta_0 with  sum_j w_j exp( L(theta_j) - L(theta_0) ) < 1/alpha  form a confidence sequence: it contains the true odds
ratio at all times simultaneously with probability 1 - alpha. E-values of several streams may be averaged.

Only L on a grid is kept to go on. A requisition counts once, when no application to it is pending. Those with few
applicants of a group are counted in sets: L of a single one would reveal who was selected. Only the sums m and x of a
set are used, and how many applied to each requisition; how the m selected are spread over the requisitions is not used,
and the mean in L is the largest over all ways to spread them,

    log E[theta^X]  <=  max over m_1 + m_2 + ... = m  of  sum_k h_k(m_k),      h_k(m_k) = log E[theta^X_k],

so that the expectation of E is at most 1 whatever the rates of the requisitions. h_k is concave (Newton's inequalities:
E[theta^X_k] is a normalised elementary symmetric polynomial), so the maximum is the sum of the m largest increments of
all h_k. It costs little if shares are similar, and all the evidence if they aren't: sets wait for similar shares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditkit.disparity import hypergeometric
from auditkit.disparity.applicants import Applicants
from auditkit.disparity.cuts import DisparitySettings, cuts
from auditkit.disparity.small_values import join_requisitions
from auditkit.model.session import kept

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GRID = np.round(np.arange(-60, 61) * 0.05, 10)
"""Logarithms of odds ratios, 0.05 to 20."""
SPREAD = 0.5
WEIGHTS = np.exp(-((GRID / SPREAD) ** 2) / 2) / np.sum(np.exp(-((GRID / SPREAD) ** 2) / 2))
ALPHA = 0.05
"""Chance of a false alarm, over all times together."""
ALARM = 1 / ALPHA


ALIKE, MOST_WAITING = 0.08, 30
"""Small requisitions are counted together if their shares of each group differ by no more, or if this many wait."""
LARGE = 1_000
"""Applicants of a requisition of a set from which on x is taken as drawn with replacement, which spreads more."""


def log_evidence(sizes: Sequence[tuple[int, int]], m: int, x: int) -> Floats:
    """L of requisitions of these sizes (n1, n0) on the grid, from their sums; 0 if they aren't informative."""
    n1, n0 = (sum(column) for column in zip(*sizes, strict=True))
    if not (n1 and n0 and 0 < m < n1 + n0):
        return np.zeros_like(GRID)
    if len(sizes) == 1:
        return np.asarray(x * GRID - _log_mean(n1, n0, m))
    increments = np.concatenate([_increments(*size) for size in sizes])
    return np.asarray(x * GRID - np.partition(increments, -m, axis=0)[-m:].sum(axis=0))


def _log_mean(n1: int, n0: int, m: int) -> Floats:
    """log E[theta^X] without a difference."""
    lowest, law = hypergeometric.law(n1, n0, m)
    powers = np.outer(np.arange(lowest, lowest + len(law)), GRID) + np.log(np.maximum(law, 1e-300))[:, None]
    top = powers.max(axis=0)
    return np.asarray(top + np.log(np.exp(powers - top).sum(axis=0)))


@kept(most=500)
def _increments(n1: int, n0: int) -> Floats:
    """What each additional selection adds to log E[theta^X], (applicants, grid)."""
    if n1 + n0 > LARGE:
        return np.tile(np.log1p(n1 / (n1 + n0) * np.expm1(GRID)), (n1 + n0, 1))
    return np.diff([_log_mean(n1, n0, m) for m in range(n1 + n0 + 1)], axis=0)


def e_value(log: Floats) -> float:
    """E of the sums L on the grid."""
    top = float(log.max())
    return float(np.exp(min(top, 700.0)) * np.sum(WEIGHTS * np.exp(log - top)))


def confidence_sequence(log: Floats, alpha: float = ALPHA) -> tuple[float, float | None]:
    """The smallest and largest odds ratio that are not ruled out; 0 and None beyond the grid."""
    top = float(log.max())
    mixture = top + math.log(float(np.sum(WEIGHTS * np.exp(log - top))))
    kept = np.flatnonzero(mixture - log < -math.log(alpha))
    low, high = int(kept[0]), int(kept[-1])
    upper = math.exp(GRID[high + 1]) if high < len(GRID) - 1 else None
    return math.exp(GRID[low - 1]) if low else 0.0, upper


@dataclass(frozen=True)
class StreamName:
    """One group against everyone else: which of the applicants reached a step."""

    attribute: str
    step: str
    group: str


@dataclass(frozen=True, eq=False)
class Closings:
    """Closed requisitions: for each its counts (n1, n0, m, x) in every stream."""

    streams: tuple[StreamName, ...]
    requisitions: tuple[str, ...]
    counts: Ints
    """Requisitions by streams by 4."""
    applicants: Mapping[str, Ints]
    """Attribute -> requisitions by the groups that are compared."""
    threshold: int = 0
    """Requisitions with fewer applicants of a group can't be counted by themselves."""

    def sets(self, attribute: str, of: Sequence[int]) -> list[list[int]]:
        """These requisitions, with small ones in sets; those without a set yet are left out."""
        n = self.applicants[attribute][list(of)]
        small = ((n > 0) & (n < self.threshold)).any(axis=1)
        waiting = np.flatnonzero(small)
        share = n / np.maximum(n.sum(axis=1, keepdims=True), 1)
        place = join_requisitions(n[waiting], self.threshold)
        found = [[k] for k in np.flatnonzero(~small).tolist()]
        for one in np.unique(place).tolist():
            members = waiting[place == one]
            total, alike = n[members].sum(axis=0), np.ptp(share[members], axis=0).max() <= ALIKE
            if (alike or len(waiting) >= MOST_WAITING) and not ((total > 0) & (total < self.threshold)).any():
                found.append(members.tolist())
        return [[of[k] for k in members] for members in found]


def closings(data: Applicants, settings: DisparitySettings | None = None) -> Closings | None:
    """The closed requisitions of these applications; None where the data have no requisitions."""
    if data.strata is None:
        return None
    stratum, names = data.stratum
    pending = ~data.decided if data.pending is None else np.asarray(data.pending, dtype=np.bool_)
    closed = np.flatnonzero(np.bincount(stratum[pending], minlength=len(names)) == 0)
    streams: list[StreamName] = []
    columns: list[Ints] = []
    applicants: dict[str, Ints] = {}
    settings = settings or DisparitySettings()
    for cut in cuts(data, settings, joined=False):
        if cut.crossing or cut.before is not None or len(cut.taken) < 2:
            continue
        applicants.setdefault(cut.attribute, cut.n[:, list(cut.taken)][closed])
        for g in cut.taken[: 1 if len(cut.taken) == 2 else None]:
            n, x = cut.counts(((g,), cut.rest(g)))
            streams.append(StreamName(cut.attribute, cut.step, cut.groups[g]))
            columns.append(np.stack([n[:, 0], n[:, 1], x.sum(axis=1), x[:, 0]], axis=1)[closed])
    if not streams:
        return None
    closed_names = tuple(names[k] for k in closed)
    return Closings(tuple(streams), closed_names, np.stack(columns, axis=1), applicants, settings.threshold)


def summed(counts: Ints, sets: Iterable[Sequence[int]]) -> tuple[Floats, int]:
    """L over these sets of requisitions of one stream, and how many requisitions are in sets that tell something."""
    total, told = np.zeros_like(GRID), 0
    for members in sets:
        own = counts[list(members)]
        log = log_evidence([(n1, n0) for n1, n0, *_ in own.tolist()], *own[:, 2:].sum(axis=0).tolist())
        total += log
        told += len(members) if log.any() else 0
    return total, told
