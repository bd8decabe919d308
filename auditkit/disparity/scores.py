"""Scores of applications: the sums behind every test, whose products say how tests depend on each other.

For sides g of a table the score of application i is

    u_i = (1[g_i = g] - share of g)(y_i - rate)         for all sides but the last

with the shares and rates of all applications (`pooled`) or of those to its requisition (`within`). The last side
follows from the others. If a person has several applications, the products of different ones add to the variance of
the sum. Within requisitions of t applications a score and its mean are dependent; t / (t - 1) corrects for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auditkit.disparity import omnibus
from auditkit.disparity.applicants import Applicants
from auditkit.disparity.cuts import Cut, Sides
from auditkit.disparity.omnibus import Robust

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Way = Literal["pooled", "within"]

MOST_SCORES = 8_000_000
"""Entries of the matrix used to estimate how tests depend on each other; with more rows, requisitions are sampled."""
FEW_REQUISITIONS = 20


def population(data: Applicants, cut: Cut, sides: Sides, rows: Ints | None = None) -> tuple[Ints, Ints]:
    """Rows of a table that belong to these sides, and the side of each."""
    place = np.full(len(cut.groups) + 1, -1)
    for number, side in enumerate(sides):
        place[list(side)] = number
    inside = place[cut.codes if rows is None else cut.codes[rows]]
    keep = inside >= 0
    if cut.before is not None:
        reached = data.reached(cut.before)
        keep &= reached if rows is None else reached[rows]
    at = np.flatnonzero(keep)
    return (at if rows is None else rows[at]), inside[at]


def scores(data: Applicants, cut: Cut, sides: Sides, way: Way, rows: Ints | None) -> tuple[Ints, Floats]:
    """Rows, and their scores for all sides but the last."""
    at, place = population(data, cut, sides, rows)
    n, x = cut.counts(sides)
    y = data.good(cut.step)[at].astype(np.float64)
    if way == "pooled":
        share = np.broadcast_to(n.sum(axis=0) / n.sum(), (len(at), len(sides)))
        rate = np.full(len(at), x.sum() / n.sum())
    else:
        t = np.maximum(n.sum(axis=1), 1)
        k = cut.strata.of_row[at]
        share, rate = (n / t[:, None])[k], (x.sum(axis=1) / t)[k]
    indicator = place[:, None] == np.arange(len(sides) - 1)
    return at, (indicator - share[:, :-1]) * (y - rate)[:, None]


def repeat_variance(data: Applicants, cut: Cut, sides: Sides, way: Way) -> Robust | None:
    """The variance of U with each person's applications as a cluster; None if everyone applied once."""
    if data.repeat_applicants is None:
        return None
    n, x = cut.counts(sides)
    rows, person = data.repeat_applicants
    at, found = scores(data, cut, sides, way, rows)
    variance = omnibus.pooled_variance(n.sum(axis=0), x.sum(axis=0))
    if way == "within":
        t = n.sum(axis=1)[cut.strata.of_row[at]]
        found = found * (t / np.maximum(t - 1, 1))[:, None]
        variance = omnibus.stratified_variance(n, x)
    found = np.column_stack([found, -found.sum(axis=1)])
    who = person[np.searchsorted(rows, at)]
    sums = np.stack([np.bincount(who, weights=column) for column in found.T], axis=1)
    return Robust("repeat applicants", variance + sums.T @ sums - found.T @ found)


def repeat_effects(data: Applicants, at: Ints, u: Floats, value: Ints, V: Floats) -> Floats:
    """The design effect of repeat applicants in each value: 1 + products of different applications / V, at least 1.

    `u` are the scores of the rows `at`, among them all of repeat applicants, and V the variance in each value.
    """
    if data.repeat_applicants is None:
        return np.ones(len(V))
    rows, person = data.repeat_applicants
    place = np.searchsorted(rows, at)
    here = np.minimum(place, len(rows) - 1)
    repeat = rows[here] == at
    who, u, value = person[here[repeat]], u[repeat], value[repeat]
    people = int(person.max()) + 1
    cells, number = np.unique(value * people + who, return_inverse=True)
    sums = np.bincount(number, weights=u, minlength=len(cells))
    more = np.bincount(cells // people, weights=sums**2, minlength=len(V))
    more -= np.bincount(value, weights=u**2, minlength=len(V))
    effects: Floats = 1 + np.divide(more, V, out=np.zeros_like(V), where=V > 0)
    return np.maximum(effects, 1.0)


def sample(data: Applicants, width: int) -> Ints:
    """Counted rows; if these have too many scores, rows of requisitions spread evenly over all."""
    most = MOST_SCORES // max(width, 1)
    rows = np.flatnonzero(data.counted)
    if len(rows) <= most:
        return rows
    stratum, names = data.stratum
    if len(names) <= FEW_REQUISITIONS:
        return rows[:: -(-len(rows) // most)]
    sizes = np.bincount(stratum[rows], minlength=len(names))
    every = -(-len(rows) // most)
    taken = np.arange(len(names)) % every == 0
    taken &= np.cumsum(np.where(taken, sizes, 0)) <= 2 * most
    return rows[taken[stratum[rows]]]


def score_matrix(data: Applicants, contrasts: Sequence[tuple[Cut, Sides, Way]], rows: Ints) -> Floats:
    """Scores of all contrasts below each other, one column for each of the rows."""
    matrix = np.zeros((sum(len(sides) - 1 for _, sides, _ in contrasts), len(rows)))
    begin = 0
    for cut, sides, way in contrasts:
        at, found = scores(data, cut, sides, way, rows)
        matrix[begin : begin + len(sides) - 1, np.searchsorted(rows, at)] = found.T
        begin += len(sides) - 1
    return matrix


def covariance(data: Applicants, matrix: Floats, rows: Ints) -> Floats:
    """Sum over people of u u'. A score that is 0 in every row of the sample is taken as independent of all others.

    Rounded, because the last digits of a sum depend on the order of the people, and would reveal who is who.
    """
    if data.repeat_applicants is not None:
        repeat, person = data.repeat_applicants
        code = np.arange(data.rows) + len(repeat)
        code[repeat] = person
        order = np.argsort(code[rows], kind="stable")
        begins = np.flatnonzero(np.diff(code[rows][order], prepend=-1))
        matrix = np.add.reduceat(matrix[:, order], begins, axis=1)
    C: Floats = matrix @ matrix.T
    absent = np.diag(C) <= 0
    C[absent, absent] = 1.0
    scale = np.sqrt(np.diag(C))
    return np.asarray(np.round(C / np.outer(scale, scale), 11) * np.round(np.outer(scale, scale), 11))
