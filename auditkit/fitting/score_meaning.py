"""What one number says of another in different groups: outcomes given scores, and scores given priors.

One regression for each protected attribute, within the values of a segment (job families, say), errors clustered by
search. With s the predictor, s* its mean, and r the reference (the largest group),

    y = family + b s + sum_{g != r} 1(g) (level_g + slope_g (s - s*)) + error

    outcome on score     y the outcome of those hired, s their score       (Cleary's regression; `score_validity`)
    score on priors      y the score of those inspected, s their standing  (`standing`)

level_g is how much more y is in group g at the average s: above 0, the common line predicts too little for the group.
slope_g says whether a point of s tells more or less of this group. Choosing people by s itself does not distort either;
choosing them by something that is not in the data does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from auditkit.fitting.clustered import clustered
from auditkit.model.groups import UNKNOWN
from auditkit.model.layout import Floats, Ints

FEWEST_COMPARED = 20
"""People of a group below which nothing is said of it."""
FEWEST_CLUSTERS = 10

Bounds = tuple[float, float]
Predicted = Literal["outcome", "score"]


@dataclass(frozen=True)
class ScoreDifference:
    """One group beside the reference; differences in the unit of what is predicted, and in it per point."""

    group: str
    people: int
    level: float
    level_interval: Bounds
    level_p: float | None
    slope: float
    slope_interval: Bounds
    slope_p: float | None


@dataclass(frozen=True)
class ScoreMeaning:
    """One regression for one attribute."""

    attribute: str
    predicts: Predicted
    """`outcome` (from the score) or `score` (from the priors)."""
    reference: str
    people: int
    families: int
    slope: float
    """Of the reference."""
    groups: tuple[ScoreDifference, ...]


@dataclass(frozen=True, kw_only=True)
class ScoreMeanings:
    """What scores say of different groups."""

    within: str | None = None
    """The segment within whose values people are compared."""
    tables: tuple[ScoreMeaning, ...]
    left_out: tuple[str, ...]
    """In words: what could not be said, and why."""


def score_meanings(
    groups: Mapping[str, NDArray[Any]],
    family: Any | None,
    search: Ints,
    scores: Floats,
    standing: Floats | None,
    *,
    within: str | None = None,
    threshold: int = 0,
    level: float = 0.95,
) -> ScoreMeanings:
    """Scores on priors for every attribute; arrays have one entry per application, NaN where a number is missing.

    `within` is the name of the segment of which `family` has the values.
    """
    if standing is None:
        why = "score on priors: there are no priors that tell candidates apart"
        return ScoreMeanings(within=within, tables=(), left_out=(why,))
    return by_attribute("score", groups, family, search, scores, standing, within, threshold, level)


def by_attribute(
    predicts: Predicted,
    groups: Mapping[str, NDArray[Any]],
    family: NDArray[Any] | None,
    search: Ints,
    y: Floats,
    s: Floats,
    within: str | None,
    threshold: int,
    level: float,
) -> ScoreMeanings:
    """The regression of y on s for every attribute, of those who have both."""
    tables: list[ScoreMeaning] = []
    left_out: list[str] = []
    given = "score" if predicts == "outcome" else "priors"
    fewest = max(FEWEST_COMPARED, threshold)
    for attribute, labels in groups.items():
        found = _regression(attribute, predicts, np.asarray(labels).astype(str), family, search, y, s, fewest, level)
        if isinstance(found, str):
            left_out.append(f"{predicts} on {given} by {attribute}: {found}")
        else:
            tables.append(found)
    return ScoreMeanings(within=within, tables=tuple(tables), left_out=tuple(left_out))


def _regression(
    attribute: str,
    predicts: Predicted,
    labels: Any,
    family: Any | None,
    search: Ints,
    y: Floats,
    s: Floats,
    fewest: int,
    level: float,
) -> ScoreMeaning | str:
    rows = ~np.isnan(y) & ~np.isnan(s) & (labels != UNKNOWN)
    names, sizes = np.unique(labels[rows], return_counts=True)
    known = [str(name) for name, n in sorted(zip(names, sizes), key=lambda pair: -pair[1]) if n >= fewest]
    if len(known) < 2:
        return f"fewer than two groups have {fewest} people with both numbers"
    rows &= np.isin(labels, known)
    if len(np.unique(search[rows])) < FEWEST_CLUSTERS:
        return f"fewer than {FEWEST_CLUSTERS} searches"
    of, x, target = labels[rows], s[rows], y[rows]
    families = np.zeros(len(of), dtype=np.int64) if family is None else np.unique(family[rows], return_inverse=True)[1]
    around = x - x.mean()
    if not np.ptp(around) > 0 or not np.ptp(target) > 0:
        return "all numbers are equal"
    member = (of[:, None] == np.array(known[1:])).astype(np.float64)
    fixed = (families[:, None] == np.unique(families)).astype(np.float64)
    matrix = np.column_stack([around, member, member * around[:, None], fixed])
    if np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        return "groups and families cannot be told apart"
    found = clustered(matrix, target, search[rows])
    reach = found.reach(level)
    differences = []
    for i, g in enumerate(known[1:]):
        unit = np.eye(matrix.shape[1])
        both = []
        for column in (1 + i, len(known) + i):
            value, error = float(found.coefficients[column]), found.error(unit[column])
            both.append((value, (value - reach * error, value + reach * error), found.p(unit[column])))
        (up, up_bounds, up_p), (tilt, tilt_bounds, tilt_p) = both
        differences.append(ScoreDifference(g, int((of == g).sum()), up, up_bounds, up_p, tilt, tilt_bounds, tilt_p))
    return ScoreMeaning(
        attribute,
        predicts,
        known[0],
        len(of),
        fixed.shape[1],
        float(found.coefficients[0]),
        tuple(differences),
    )
