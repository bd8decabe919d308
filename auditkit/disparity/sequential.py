"""Evidence that may be looked at every week: e-processes over requisitions as they close.

A requisition with n1 applicants of a group, n0 others and m selected, x of them of the group: given the margins, x is
hypergeometric without a difference, and with an odds ratio theta P_theta(x) / P_1(x) = theta^x / E[theta^X]. The
product over closed requisitions, mixed over log theta with a normal law w of spread 0.5,

    E = sum_j w_j exp( L(theta_j) ),    L(theta) = sum over requisitions of  x log theta - log E[theta^X]

has expectation 1 at any time if there is no difference, so P(E ever reaches 1/alpha) <= alpha (Ville). Odds ratios
theta_0 with  sum_j w_j exp( L(theta_j) - L(theta_0) ) < 1/alpha  form a confidence sequence: it holds the true odds
ratio at all times together with probability 1 - alpha. E-values of several streams may be averaged.

L on a grid is all that is kept to go on. A requisition counts once, when no application to it is pending. Those with
few applicants of a group are counted in sets (`small_values`): L of a single one would tell who was selected. Those for
which there is no set yet wait. Which they are depends on numbers of applicants alone, so E keeps its expectation where
the requisitions of a set select at one rate, and is smaller on average where they do not but have equal shares.
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
from auditkit.disparity.results import Kind
from auditkit.disparity.small_values import join_requisitions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GRID = np.round(np.arange(-60, 61) * 0.05, 10)
"""Logarithms of odds ratios, 0.05 to 20."""
SPREAD = 0.5
WEIGHTS = np.exp(-((GRID / SPREAD) ** 2) / 2) / np.sum(np.exp(-((GRID / SPREAD) ** 2) / 2))
ALPHA = 0.05
"""Chance of a false alarm, at all times together."""
ALARM = 1 / ALPHA


def log_evidence(n1: int, n0: int, m: int, x: int) -> Floats:
    """L of one requisition on the grid; 0 where it tells nothing."""
    if not (n1 and n0 and 0 < m < n1 + n0):
        return np.zeros_like(GRID)
    lowest, law = hypergeometric.law(n1, n0, m, x)
    powers = np.outer(np.arange(lowest, lowest + len(law)), GRID) + np.log(np.maximum(law, 1e-300))[:, None]
    top = powers.max(axis=0)
    found: Floats = x * GRID - (top + np.log(np.exp(powers - top).sum(axis=0)))
    return found


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
    """One group against everybody else in one decision."""

    attribute: str
    step: str
    kind: Kind
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
    """Fewer applicants of a group are too few to be counted by themselves."""

    def sets(self, attribute: str, of: Sequence[int]) -> list[list[int]]:
        """These requisitions in sets that may be counted; those without enough applicants are in none."""
        n = self.applicants[attribute][list(of)]
        place = join_requisitions(n, self.threshold)
        found = []
        for one in np.unique(place).tolist():
            members = np.flatnonzero(place == one)
            total = n[members].sum(axis=0)
            if not ((total > 0) & (total < self.threshold)).any():
                found.append([of[k] for k in members.tolist()])
        return found


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
    first, settings = next(iter(data.steps)), settings or DisparitySettings()
    for cut in cuts(data, settings, joined=False):
        if cut.crossing or (cut.before is None and cut.step != first) or len(cut.taken) < 2:
            continue
        if cut.before is None:
            applicants[cut.attribute] = cut.n[:, list(cut.taken)][closed]
        for g in cut.taken[: 1 if len(cut.taken) == 2 else None]:
            n, x = cut.counts(((g,), cut.rest(g)))
            streams.append(StreamName(cut.attribute, cut.step, cut.kind, cut.groups[g]))
            columns.append(np.stack([n[:, 0], n[:, 1], x.sum(axis=1), x[:, 0]], axis=1)[closed])
    if not streams:
        return None
    closed_names = tuple(names[k] for k in closed)
    return Closings(tuple(streams), closed_names, np.stack(columns, axis=1), applicants, settings.threshold)


def summed(counts: Ints, sets: Iterable[Sequence[int]]) -> tuple[Floats, int]:
    """L over these sets of requisitions of one stream, and how many requisitions are in sets that tell something."""
    total, told = np.zeros_like(GRID), 0
    for members in sets:
        n1, n0, m, x = counts[list(members)].sum(axis=0).tolist()
        if n1 and n0 and 0 < m < n1 + n0:
            total += log_evidence(n1, n0, m, x)
            told += len(members)
    return total, told
