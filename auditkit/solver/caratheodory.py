"""The paper's ellipsoid-based exact Caratheodory (EEC) for several affine constraints.

V = slack vectors of all policies that are optimal at lambda*; the origin lies in conv V. EEC looks for few points of V
around it: an ellipsoid holds the directions not yet ruled out; its centre omega is handed to the *extended linear
oracle*, which returns the point of V extreme in omega among those extreme in earlier directions Omega, and the point
cuts the ellipsoid through its centre. When no point lies beyond omega, the origin is on a face: omega joins Omega and
the search goes on inside that face. The oracle is the index policy at lambda* whose ties are broken by
Omega, then omega: further levels of rewards. Inequalities enter with dummy vectors -e_j.

Two departures, both of floating-point arithmetic: the search ends as soon as the points found surround the origin
(a non-negative least-squares problem), and the normal of a face is made orthogonal to the points found on it. Where a
row is met by a hair, as a budget of 0 is, no points surround the origin to ten digits: then the mixture by which
lambda* was found is the answer.
One of substance: a row with a non-zero dual must be met with equality (complementary slackness), so only inequality
rows with a zero dual have a dummy vector. The paper does not say so.
"""

from __future__ import annotations

import numpy as np

from auditkit.model.layout import Floats
from auditkit.solver import block_master, dual_search
from auditkit.solver.dual_search import DualOptimum
from auditkit.solver.oracle import Column, Oracle
from auditkit.solver.policy import Level, Policy

NEAR = 1e-10
"""Slack, relative to the size of its row, that counts as zero."""


def mix_surrounding(oracle: Oracle) -> DualOptimum:
    found = dual_search.search(oracle) if len(oracle.rows) == 1 else block_master.generate(oracle)
    scale = oracle.scale
    size = max(float(np.abs(found.duals * scale).max(initial=0.0)), 1e-300)
    loose = ~oracle.rows.is_equality & (np.abs(found.duals * scale) <= 1e-12 * size)
    polytope = _Polytope(oracle, found.duals, scale, loose)
    points, columns = _surround(polytope)
    weights = _weights(np.array(points))
    if weights is None:
        return found
    real = [(c, w) for c, w in zip(columns, weights, strict=True) if c is not None and w > 0]
    mixed = np.array([w for _, w in real])
    return DualOptimum(tuple(c for c, _ in real), mixed / mixed.sum(), found.duals, found.bound)


class _Polytope:
    """Slack vectors, scaled and signed so that zero is met and above zero is better, with the extended oracle."""

    def __init__(self, oracle: Oracle, duals: Floats, scale: Floats, loose: np.ndarray) -> None:
        self.oracle, self.duals, self.scale = oracle, duals, scale
        self.sign = oracle.rows.signs
        self.dummies = [-row for row in np.eye(len(duals))[loose]]

    def extreme(self, directions: list[Floats]) -> tuple[Floats, Column | None]:
        levels = [Level(0.0, tuple(float(x) for x in d * self.sign / self.scale)) for d in directions]
        column = self.oracle.column(Policy.at(self.duals, *levels))
        best = self.sign * (self.oracle.rows.bounds - column.values) / self.scale
        best[np.abs(best) < NEAR] = 0.0
        found: tuple[Floats, Column | None] = (best, column)
        for dummy in self.dummies:
            for direction in directions:
                gain = float(direction @ (dummy - found[0]))
                if gain > NEAR:
                    found = (dummy, None)
                if abs(gain) > NEAR:
                    break
        return found


def _surround(polytope: _Polytope) -> tuple[list[Floats], list[Column | None]]:
    m = len(polytope.duals)
    omegas: list[Floats] = []
    points: list[Floats] = []
    columns: list[Column | None] = []
    while len(omegas) < m:
        basis = _complement(omegas, m)
        d = basis.shape[1]
        centre, shape = np.zeros(d), np.eye(d)
        while True:
            omega = basis @ centre
            if np.linalg.norm(omega) < 1e-12:
                omega = basis[:, 0]
            omega = _mend(omega / np.linalg.norm(omega), points, omegas)
            point, column = polytope.extreme([*omegas, omega])
            points.append(point)
            columns.append(column)
            if _weights(np.array(points)) is not None:
                return points, columns
            if float(omega @ point) <= NEAR:
                omegas.append(omega)
                break
            normal = basis.T @ point
            width = np.sqrt(normal @ shape @ normal)
            step = shape @ normal / width
            centre = centre - step / (d + 1)
            if d == 1:
                shape = shape / 4
            else:
                shape = d * d / (d * d - 1.0) * (shape - 2.0 / (d + 1) * np.outer(step, step))
    return points, columns


def _complement(omegas: list[Floats], m: int) -> Floats:
    """Orthonormal basis of what is orthogonal to all of `omegas`."""
    if not omegas:
        return np.eye(m)
    u, s, _ = np.linalg.svd(np.array(omegas).T, full_matrices=True)
    return np.asarray(u[:, int((s > 1e-10).sum()) :])


def _mend(omega: Floats, points: list[Floats], omegas: list[Floats]) -> Floats:
    """Near the normal of a face the ellipsoid gives it only nearly: make it orthogonal to the points on the face."""
    near = [p for p in points if 0 < abs(float(omega @ p)) < 1e-5 * float(np.linalg.norm(p))]
    if not near:
        return omega
    free = _complement([*omegas, *near], len(omega))
    corrected = free @ (free.T @ omega)
    norm = float(np.linalg.norm(corrected))
    return corrected / norm if norm > 0.5 else omega


def _weights(points: Floats) -> Floats | None:
    """Convex weights that average the points to zero, or None."""
    system = np.vstack([points.T, np.ones(len(points))])
    target = np.append(np.zeros(points.shape[1]), 1.0)
    from scipy.optimize import nnls  # only this method needs it, and it takes a fifth of a second

    weights, residual = nnls(system, target, maxiter=100 * len(points) + 100)
    return np.asarray(weights) if residual < NEAR else None
