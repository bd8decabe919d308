"""The paper's G-RDIP: a two-layer primal-dual method, near-optimal and near-feasible.

Rows and measures are scaled to size one, F_i(p) = -slack_i(p). In every outer round m the duals lambda (rows) and beta
(measures) are fixed; in every inner round l the best response

    p(m,l) = argmax_p (R - sum_j lambda_j theta_j - sum_i beta_i y_i) . p

is an index policy, evaluated exactly, and the conjugate variables move against it,
y_i <- y_i - eta_in beta_i (grad F_i*(y_i) - p(m,l)). Then lambda and beta take a projected gradient step on the mean
of the inner rounds. The answer is the uniform mixture of all policies. Without measures one inner round is enough.

The index that the paper writes k in the loop and m in the body is one index. F_i is made strictly convex by a small
quadratic, as the paper proposes, and grad F_i*(y) is the maximiser of y.x - F_i(x) over all x from 0 to the expected
visits of those who are never left alone (at most 1 but in chains with cycles). With tolerances
epsilon on utility and delta on the constraints there are 1 / (epsilon delta)^2 rounds of each kind, duals are at most
1 / delta (in units of the unconstrained utility), and a step is their range over the root of the number of rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from auditkit.constraints.base import Measure
from auditkit.errors import InputError
from auditkit.model.layout import Floats, Layout, dot
from auditkit.solver import evaluate
from auditkit.solver.oracle import Oracle
from auditkit.solver.policy import Level, Policy

QUADRATIC = 1e-3
MOST_POLICIES = 2_000_000

Visits = Callable[[Floats], Floats]
"""Rewards in, expected visits of the policy that is optimal for them out: exact here, sampled in a benchmark."""


@dataclass(frozen=True)
class Settings:
    """Tolerances (0.1 each, or 0.35 where measures take part); rounds follow from them unless they are given."""

    epsilon: float | None = None
    delta: float | None = None
    outer: int | None = None
    inner: int | None = None

    def complete(self, convex: bool) -> Settings:
        """These settings with everything that was left open filled in."""
        default = 0.35 if convex else 0.1
        epsilon, delta = (default if x is None else x for x in (self.epsilon, self.delta))
        if epsilon <= 0 or delta <= 0:
            raise InputError("g-rdip: epsilon and delta must be positive")
        needed = math.ceil(1.0 / (epsilon * delta) ** 2)
        outer, inner = self.outer or needed, (self.inner or needed) if convex else 1
        if outer < 1 or inner < 1 or outer * inner > MOST_POLICIES:
            raise InputError(
                f"g-rdip: epsilon {epsilon:g} and delta {delta:g} with {outer:,} rounds of {inner:,} are not between 1 "
                f"and {MOST_POLICIES:,} policies: give other tolerances, or the numbers of rounds"
            )
        return Settings(epsilon, delta, outer, inner)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The mean visits of all policies, the policies themselves, and what happened in each outer round."""

    visits: Floats
    policies: tuple[Policy, ...]
    """One for each outer round; none where measures take part, whose y no list of duals describes."""
    settings: Settings
    lagrangian: Floats
    utility: Floats
    slacks: Floats
    """Mean slack of every row and measure, relative to its size."""
    duals: Floats
    """Duals of rows and measures, in the user's units."""


def run(oracle: Oracle, settings: Settings, visits_of: Visits | None = None) -> Trajectory:
    """G-RDIP on one problem."""
    layout, rows, measures = oracle.layout, oracle.rows, oracle.rows.measures
    respond = visits_of or (lambda rewards: evaluate.visits(layout, rewards))
    settings = settings.complete(bool(measures))
    outer, inner, delta = settings.outer or 1, settings.inner or 1, settings.delta or 1.0
    free = oracle.free
    m = len(rows)
    most = most_visits(layout)
    conjugates = [_Conjugate(x, oracle.free_visits[x.states], most[x.states], inner) for x in measures]
    sizes = np.append(oracle.scale if m else [], [c.size for c in conjugates])
    signs = np.append(rows.signs, np.ones(len(measures)))
    limit = (abs(free.utility) or layout.largest_reward or 1.0) / delta
    least = np.append(np.where(rows.is_equality, -limit, 0.0), np.zeros(len(measures)))
    step = limit / math.sqrt(outer)
    duals = np.zeros(m + len(measures))  # >= 0 for inequalities, of rows and measures at size one
    total = np.zeros(layout.states)
    policies, lagrangians, utilities, all_slacks, all_duals = [], [], [], [], []
    for _ in range(outer):
        level = Level(1.0, tuple(float(x) for x in (duals * signs / sizes)[:m]))
        affine = level.reward(layout, rows)
        mean = np.zeros(layout.states)
        lagrangian = 0.0
        for _ in range(inner):
            reward = affine.copy()
            for beta, conjugate in zip(duals[m:], conjugates, strict=True):
                reward[conjugate.measure.states] -= beta * conjugate.y
            p = respond(reward)
            mean += p / inner
            tangents = [c.tangent(p) for c in conjugates]
            slacks = signs[:m] * (rows.bounds - rows.values(p)) / sizes[:m]
            lagrangian += (dot(layout.reward, p) + float(duals[:m] @ slacks - duals[m:] @ tangents)) / inner
            for beta, conjugate in zip(duals[m:], conjugates, strict=True):
                conjugate.move(float(beta) / limit, p)
        total += mean / outer
        slack = np.append(signs[:m] * (rows.bounds - rows.values(mean)), [x.slack(mean) for x in measures]) / sizes
        policies.append(Policy((level,)))
        lagrangians.append(lagrangian)
        utilities.append(dot(layout.reward, mean))
        all_slacks.append(slack)
        all_duals.append(duals * signs / sizes)
        duals = np.clip(duals - step * slack, least, limit)
    return Trajectory(
        visits=total,
        policies=() if measures else tuple(policies),
        settings=settings,
        lagrangian=np.array(lagrangians),
        utility=np.array(utilities),
        slacks=np.array(all_slacks),
        duals=np.array(all_duals),
    )


def most_visits(layout: Layout) -> Floats:
    """The largest expected visits of every state: those of a policy that always goes on."""
    from scipy.sparse import csc_array, csr_array, eye_array
    from scipy.sparse.linalg import spsolve

    if not layout.cyclic.any():
        return np.ones(layout.states)
    shape = (layout.states, layout.states)
    steps = csr_array((layout.edge_prob, layout.edges.items, layout.edges.ptr), shape=shape)
    starts = np.zeros(layout.states)
    starts[layout.start] = 1.0
    system = csc_array(eye_array(layout.states) - csr_array(steps.T))
    return np.maximum(1.0, spsolve(system, starts))


class _Conjugate:
    """The conjugate variable y of one measure, with F(x) = -slack(x) / size + a small quadratic, and x = grad F*(y)."""

    def __init__(self, measure: Measure, start: Floats, upper: Floats, rounds: int) -> None:
        self.measure, self.upper = measure, upper
        self.size = max(abs(measure.bound), 1e-3)
        self.x = np.clip(0.5 * start + 0.01, 0.0, upper)
        self.y = self._gradient(self.x)
        self.most = 10.0 * float(np.abs(self.y).max(initial=1e-9))
        self.rate = self.most / math.sqrt(rounds)

    def _value(self, x: Floats) -> float:
        over = self.measure.bound - self.measure.value(x)
        return (over if self.measure.sense == ">=" else -over) / self.size + QUADRATIC / 2 * float(x @ x)

    def _gradient(self, x: Floats) -> Floats:
        slope = np.asarray(self.measure.gradient(x), dtype=np.float64)
        return (-slope if self.measure.sense == ">=" else slope) / self.size + QUADRATIC * x

    def tangent(self, visits: Floats) -> float:
        """y.p - F*(y): what the second game pays for F."""
        return float(self.y @ (visits[self.measure.states] - self.x)) + self._value(self.x)

    def move(self, beta: float, visits: Floats) -> None:
        """One projected gradient step of y, and the new maximiser x = grad F*(y)."""
        if beta == 0.0:
            return
        y = self.y - self.rate * beta * (self.x - visits[self.measure.states])
        self.y = np.clip(y, -self.most, self.most)

        def loss(x: Floats) -> tuple[float, Floats]:
            return self._value(x) - float(self.y @ x), self._gradient(x) - self.y

        from scipy.optimize import minimize

        found = minimize(loss, self.x, jac=True, bounds=[(0.0, float(x)) for x in self.upper], method="L-BFGS-B")
        self.x = np.asarray(found.x)
