"""Whether the firm inspected on something that the data do not show and that tells about the score.

If it did, the scores of the inspected are not those that others with the same priors would have had, and the priors of
a group of which the firm knows more are too high. Rivals make this testable: whether a candidate is inspected depends
on who else applied, the score does not. With q_s inspected in search s,

    d_i = standing of i - standing of the q_s-th best of the others in the search               (`standing`)
    P(i inspected) = Phi(a + b d_i + c d_i^2 + standing, group)                                  a probit
    score_i = x_i beta + sum_g 1(i in g) rho_g sigma lambda_i + error,   lambda = phi / Phi of the probit

for a hidden signal that is normal and has the correlation rho_g with what the priors leave open of the score. Without
hidden information all rho_g are 0, which a Wald test with errors clustered by search decides (`clustered.wald`, with
the few degrees of freedom that small groups leave); then the error of the probit does not matter. The d_i keep lambda
apart from x: without rivals that differ, the data cannot tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from auditkit.fitting.clustered import clustered, mills, probit, wald
from auditkit.fitting.standing import Standings
from auditkit.model.groups import UNKNOWN
from auditkit.model.layout import Bools, Floats, Ints

FEWEST_TESTED = 30
"""Scores of a group below which it is not tested."""
WIDE = 0.18
"""A standard error beyond which a correlation of 0.5 is found in fewer than 80 % of cases: the data cannot tell."""


@dataclass(frozen=True)
class HiddenCorrelation:
    """Of one group: the correlation of what the firm saw with what the priors leave open of the score."""

    group: str
    scores: int
    correlation: float
    standard_error: float
    mills: float
    """Mean of lambda among those with a score: scores of the inspected are rho sigma lambda too high."""


@dataclass(frozen=True)
class HiddenInformation:
    """The test of one attribute."""

    attribute: str
    verdict: Literal["found", "not-found", "cannot-tell"]
    p: float | None
    reason: str | None
    """Why the data cannot tell."""
    spread: float | None
    """sigma, in points of the score."""
    groups: tuple[HiddenCorrelation, ...]


def rival_distance(standing: Floats, inspected: Bools, search: Ints) -> Floats:
    """d of every candidate; NaN in searches where all or none were inspected."""
    found = np.full(len(standing), np.nan)
    order = np.lexsort((-standing, search))
    sizes, taken = np.bincount(search), np.bincount(search, inspected).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)])
    for s in np.flatnonzero((taken > 0) & (taken < sizes)):
        rows, q = order[first[s] : first[s + 1]], int(taken[s])
        own = standing[rows]
        # of the others: for the q best it is the next one behind them
        found[rows] = own - np.where(np.arange(len(rows)) < q, own[q], own[q - 1])
    return found


def hidden_information(
    standings: Standings,
    groups: Mapping[str, NDArray[Any]],
    scores: Floats,
    *,
    threshold: int = 0,
) -> tuple[HiddenInformation, ...]:
    """The test of each attribute; p is corrected for their number (Bonferroni). Inspected is who has a score."""
    if not standings.tells:
        return ()
    inspected = ~np.isnan(scores)
    names = [name for name, labels in groups.items() if len(set(map(str, labels)) - {UNKNOWN}) > 1]
    distance = rival_distance(standings.values, inspected, standings.search)
    fewest = max(FEWEST_TESTED, threshold)
    return tuple(
        _test(name, groups[name], standings, distance, inspected, scores, fewest, len(names)) for name in names
    )


def _test(
    name: str,
    labels: Any,
    standings: Standings,
    distance: Floats,
    inspected: Bools,
    scores: Floats,
    fewest: int,
    tests: int,
) -> HiddenInformation:
    labels = np.asarray(labels).astype(str)
    usable = ~np.isnan(distance) & (labels != UNKNOWN)
    scored = usable & inspected
    known = [str(g) for g in sorted(set(labels[usable])) if (scored & (labels == g)).sum() >= fewest]
    if len(known) < 2:
        return _unknown(name, f"fewer than two groups have {fewest} scores in searches that left somebody out")
    usable &= np.isin(labels, known)
    scored &= usable
    member = (labels[:, None] == np.array(known)).astype(np.float64)
    d, standing = distance[usable], standings.values[usable]
    unit = float(np.std(d)) or 1.0
    d, standing = d / unit, (standing - standing.mean()) / (float(np.std(standing)) or 1.0)
    first = np.column_stack([member[usable], d, d**2, standing])
    b = probit(first, inspected[usable].astype(np.float64))
    if b is None:
        return _unknown(name, "whom the firm inspected follows the priors without exception")
    ratio = np.zeros(len(labels))
    ratio[usable] = mills(first @ b)
    terms = member[scored] * ratio[scored, None]
    x = np.column_stack([standings.matrix[scored], member[scored], terms])
    own = np.arange(x.shape[1] - len(known), x.shape[1])
    if np.linalg.matrix_rank(x) < np.linalg.matrix_rank(x[:, : own[0]]) + len(known):
        return _unknown(name, "rivals do not differ enough")
    found = clustered(x, scores[scored], standings.search[scored])
    # the spread of scores that were not selected: lambda takes rho^2 lambda (lambda + eta) of it away
    spread = float(np.sqrt(found.residual @ found.residual / max(1, scored.sum() - np.linalg.matrix_rank(x))))
    results = tuple(
        HiddenCorrelation(
            group=g,
            scores=int((scored & (labels == g)).sum()),
            correlation=float(found.coefficients[own[i]]) / spread,
            standard_error=float(np.sqrt(found.covariance[own[i], own[i]])) / spread,
            mills=float(ratio[scored & (labels == g)].mean()),
        )
        for i, g in enumerate(known)
    )
    p = wald(x, scores[scored], standings.search[scored], own)
    if p is None:
        return HiddenInformation(name, "cannot-tell", None, "too few searches have scores", spread, results)
    p = min(1.0, tests * p)
    if p < 0.05:
        return HiddenInformation(name, "found", p, None, spread, results)
    if max(row.standard_error for row in results) > WIDE:
        return HiddenInformation(name, "cannot-tell", p, "the correlation is too uncertain", spread, results)
    return HiddenInformation(name, "not-found", p, None, spread, results)


def _unknown(name: str, reason: str) -> HiddenInformation:
    return HiddenInformation(name, "cannot-tell", None, reason, None, ())
