"""The interval of a price where policies do not see the group.

Such a price is not quadratic in the differences. With e the excess, by how much the unconstrained optimum misses the
constraint, and D the lever, by how much the excess falls where one unit of utility is given up for it, to first order

    price = e^2 / 2 D,

and both fade with the difference, e^2 as fast as D. So the price depends on where groups differ and hardly on how much,
and where it is not known whether they differ it may be anything up to a bound.

**The bound.** A lottery among the people of each search cares for nobody's group. So however groups differ, equal
rates cost no more than the best such lottery that meets the constraint: with k positions and n people everybody of
search s is inspected and selected with the chance f_s k / n, and the f between 0 and 1 are those of a linear program.

**The error of chances and effects.** In draw b search s counts w_bs more, w standard normal: the coefficients of the
logit that foretells groups, and the effects on scores, move by what that changes to first order (`Refit.drawn`). Laws
stay as they are, so a draw needs no fit. Draws are centred and have variance 1. Of each the price p_b and the excess
e_b are found, beside p_0 and e_0 without a draw; both without shrinkage, and without the test of whether groups are
told apart. With rows of several groups, e is the root of the sum of their squares, each in units of its spread.

    r_b = e_b / e_0,       h_b = (e_b / e_0)^2 p_0 / p_b,        price = p_0 r^2 / h

The excess has no bias. D is of the second degree in what is estimated, so noise makes it larger: by mean_b h_b - 1
from p_0 to the draws, and so by as much from the truth to p_0. The interval is the range of p_0 r^2 / h in the ellipse
of Student's t around (1, 2 - mean h) with the covariance of the draws, at most the bound, as in Fieller's theorem:
where the lever cannot be told from nothing, the upper end is the bound. It always holds the price that is reported,
whichever groups count as told apart there, and begins at 0 unless e_0 is beyond chance.

**The error of the laws.** Scores are regressed on the means m of their laws,

    score = a + m + b (m - mean) + (1 + c) residual,

and what each search adds to a, b and c changes what policies are worth by the values of those whom they select. By the
envelope theorem the price changes by the difference between the policies without and with the constraint, and the bound
by that between the policy without it and the lottery. With the spread of what searches add to the price (`intervals`)
it is the error of the price itself, which widens both ends in quadrature, in proportion to the price; the bound is
taken t standard errors higher.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from auditkit.constraints.base import KindRow, Row, Rows
from auditkit.fitting.fitted import Fitted
from auditkit.model.layout import Bools, Floats, Layout, dot
from auditkit.solver.near_optimum import NearOptimum

ANGLES = 3_600
"""Points of the ellipse at which the price is taken: an end is exact to a millionth."""

NO_PRICE = 1e-9
"""Of the unconstrained utility: a price that is nothing."""


def centred(searches: int, count: int, generator: np.random.Generator) -> Floats:
    """Draws (count, searches) that are standard normal but add up to 0, with their variance of 1 restored."""
    draws = generator.standard_normal((count, searches))
    return draws if count == 1 else np.asarray((draws - draws.mean(axis=0)) * np.sqrt(count / (count - 1)))


def lottery(layout: Layout, rows: Rows) -> Floats | None:
    """The visits of the best lottery within searches that meets the rows; None if none does."""
    from scipy.optimize import linprog

    chance = _positions(layout)
    worth = _of_kinds(layout, layout.kinds.reward, chance)
    matrix = rows.signs[:, None] * np.stack([_amounts(layout, row, chance) for row in rows.rows])
    equal, bounds = rows.is_equality, rows.signs * rows.bounds
    a_eq, b_eq, a_ub, b_ub = (
        own if own.size else None for own in (matrix[equal], bounds[equal], matrix[~equal], bounds[~equal])
    )
    found = linprog(-worth, A_eq=a_eq, b_eq=b_eq, A_ub=a_ub, b_ub=b_ub, bounds=(0.0, 1.0))
    return None if found.status else _visits(layout, chance * np.asarray(found.x)[layout.candidate_search])


def _positions(layout: Layout) -> Floats:
    """The chance of each candidate that there is a position, if a lottery gives them away."""
    chance = np.minimum(layout.capacity / np.maximum(np.diff(layout.search_ptr), 1), 1.0)[layout.candidate_search]
    if layout.limits is not None:
        for capacity, members in zip(layout.limits.capacity, layout.limits.members(layout.search_ptr), strict=True):
            chance[members] = np.minimum(chance[members], capacity / max(1, len(chance[members])))
    return chance


def _amounts(layout: Layout, row: Row, chance: Floats) -> Floats:
    """What a row comes to in each search where each candidate is inspected with a chance."""
    if isinstance(row, KindRow):
        return _of_kinds(layout, row.kind_weights, chance)
    return layout.sum_by_search(row.at(np.arange(layout.states)) * _visits(layout, chance))


def _of_kinds(layout: Layout, weights: Floats, chance: Floats) -> Floats:
    """The same of weights of the states of kinds."""
    found = np.add.reduceat(weights * _reached(layout), layout.kinds.ptr[:-1])[layout.candidate_kind] * chance
    return np.bincount(layout.candidate_search, found, minlength=len(layout.search_ids)).astype(np.float64)


def _visits(layout: Layout, chance: Floats) -> Floats:
    """The visits where each candidate is inspected with a chance, and then selected if that is possible."""
    return np.asarray(layout.of_states(_reached(layout)) * layout.spread(chance))


def _reached(layout: Layout) -> Floats:
    """Of each kind, how often a candidate who is inspected as long as they can be visits every state."""
    kinds = layout.kinds
    if layout.only_boxes:
        return kinds.chance
    from scipy.sparse import coo_array, eye_array
    from scipy.sparse.linalg import spsolve

    begin = np.zeros(len(kinds.reward))
    begin[kinds.ptr[:-1]] = 1.0
    edges = kinds.edges
    places = np.repeat(np.arange(len(begin)), np.diff(edges.ptr)), edges.items
    moves = coo_array((kinds.edge_prob, places), shape=(len(begin),) * 2)
    return np.asarray(spsolve((eye_array(len(begin)) - moves).T.tocsc(), begin))


def error_of_laws(fitted: Fitted, more: Floats) -> float:
    """The standard error, from that of the laws, of what is worth that many more visits of all states."""
    refit, layout = fitted.refit, fitted.instance.layout
    assert refit is not None and refit.laws is not None
    scores, weights, means = refit.training.scores, refit.training.weights, refit.laws.means
    known = np.flatnonzero(~np.isnan(scores) & (weights > 0))
    residual, w, search = scores[known] - means[known], weights[known], refit.search[known]
    centre = float(np.average(means[known], weights=w))
    x = np.column_stack([np.ones(len(known)), means[known] - centre])
    inverse = np.linalg.pinv(x.T @ (x * w[:, None]), hermitian=True)
    residual = residual - x @ (inverse @ (x.T @ (w * residual)))
    square = float(w @ residual**2) / float(w.sum())
    spread = (residual**2 - square) / (2 * square) if square else np.zeros(len(known))
    moves = np.column_stack([(x * (w * residual)[:, None]) @ inverse, w * spread / w.sum()])
    kinds, scale = layout.kinds, refit.value_scale
    selected = layout.by_candidate(kinds.selecting, more)
    expected, total = dot(selected, fitted.expected), float(selected.sum())
    gains = [
        scale * total,
        expected - scale * centre * total,
        layout.total(np.where(kinds.selecting, kinds.reward, 0.0), more) - expected,
    ]
    by_search = np.bincount(search, moves @ np.array(gains), minlength=refit.searches).astype(np.float64)
    count = len(np.unique(search))
    return float(np.sqrt(count / max(1, count - 1) * dot(by_search, by_search)))


@dataclass(frozen=True, eq=False)
class BlindPrices:
    """Prices of the same searches; `share` says which share of all searches these are."""

    reported: NearOptimum
    """Of all searches."""
    centre: NearOptimum
    draws: Sequence[NearOptimum]
    equal: Bools
    """Of each row: whether it is an equality."""
    share: float
    error: float
    """The standard error of the price from laws and searches."""
    bound: float
    """The price of the lottery for all searches, inf if there is none."""
    error_of_bound: float

    @property
    def _missed(self) -> tuple[Floats, Floats]:
        """The excess of each row where that misses it, in units of its spread: of the centre and of each draw."""
        every = np.array([each.excess for each in (self.centre, *self.draws)])
        every = np.where(self.equal, every, np.maximum(every, 0.0))
        spread = np.sqrt(np.mean((every[1:] - every[0]) ** 2, axis=0))
        every = np.where(spread > 0, every / np.where(spread > 0, spread, 1.0), 0.0)
        return every[0], every[1:]

    def surely_missed(self, level: float) -> bool:
        """Whether the excess of a row is beyond chance."""
        first, others = self._missed
        return bool(np.abs(first).max() > stdtrit(max(1, len(others) - 1), 1 - (1 - level) / (2 * len(first))))

    def ends(self, level: float) -> tuple[float, float]:
        loss = self.reported.loss
        t = float(stdtrit(max(1, len(self.draws) - 1), (1 + level) / 2))
        low, high = self._from_draws(t)
        low, high = min(low, loss), max(high, loss)
        other = t * self.error / loss if loss > NO_PRICE * abs(self.reported.free) else 0.0
        low = loss - float(np.hypot(loss - low, other * loss)) if self.surely_missed(level) else 0.0
        most = max(self.bound + t * self.error_of_bound, loss)
        return max(low, 0.0), min(loss + float(np.hypot(high - loss, other * high)), most)

    def _from_draws(self, t: float) -> tuple[float, float]:
        price, losses = self.centre.loss / self.share, np.array([each.loss for each in self.draws]) / self.share
        first, others = self._missed
        squares = np.sum(others**2, axis=1) / max(float(first @ first), 1e-300)
        if price <= NO_PRICE * abs(self.reported.free) or not first.any():
            # the centre meets the rows: draws that miss them say what it may cost
            root = np.sqrt(self.reported.loss)
            reach = t * float(np.sqrt(np.mean((np.sqrt(losses) - root) ** 2)))
            return max(root - reach, 0.0) ** 2, (root + reach) ** 2
        r = others[:, 0] / first[0] if len(first) == 1 else np.sqrt(squares)
        least = 1e-6 * abs(self.centre.free)
        h = squares * price / np.maximum(losses, least / self.share)
        spread = np.array([r - 1, h - h.mean()])
        shape = spread @ spread.T / len(r)
        angle = np.linspace(0, 2 * np.pi, ANGLES)
        sizes, axes = np.linalg.eigh(shape)
        points = t * (axes * np.sqrt(np.maximum(sizes, 0.0))) @ np.stack([np.cos(angle), np.sin(angle)])
        r, h = 1 + points[0], 2 - h.mean() + points[1]
        if self.equal.all() and len(first) == 1:
            r = np.abs(r)
        prices = np.where(h > 0, price * np.maximum(r, 0.0) ** 2 / np.where(h > 0, h, 1.0), np.inf)
        return (0.0 if (1 + points[0] <= 0).any() else float(prices.min())), float(prices.max())
