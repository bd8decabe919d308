"""Membership from a history: the chance of each group, from what is known before the inspection and given the score.

A policy that does not see the group sees x, what is known before, and the score v. Its law of v is fitted without
protected attributes (`priors`). For the groups g of one attribute:

**Before**, pi_g(x) is a multinomial logit on the priors, the job family and the segments, with a ridge of one
pseudo-candidate on categories, learnt from the other folds; then multiplied by one factor for each group, and
normalised, so that the pi of all candidates add up to the groups' numbers. People of unknown group and groups of under
two per cent are one more class, which constraints do not count.

**Given the score**, with F the law of v and z = (v - mean)/sd,

    theta_g(v) = pi_g(x) exp(a_g + b_g z) / sum_h pi_h(x) exp(a_h + b_h z)

with the a and b for which  sum_v F theta_g = pi_g  and  sum_v F theta_g z = pi_g m_g. It is the law nearest to F with
that mean for each group. All groups share the support of F, so no score gives the group away. The mean m_g is the
group's effect on the score: the mean of score - E(v | x) among others of the group, learnt from the other folds and
shrunk by credibility (`strata`), less the pi-average of all groups' effects. Where F cannot have means that far apart,
all effects of the candidate are scaled down together.

Candidates of one law and nearly the same pi (a bin of its principal component) share their mean pi: there are as many
kinds of candidates as a solver needs to tell apart, not one for each candidate.

**Whether groups differ at all.** What equal rates cost a policy that does not see the group does not fade with the
difference: it can only be undone by the same signs that show it, and the weaker these are, the more has to be bent. So
chance differences would have a price as large as real ones. So pi is used only if it foretells groups of other folds
better than their shares do, and m only if it foretells other folds' scores better than their mean does: each by more
than one needless parameter gains by chance (`BY_CHANCE`). Where one of the two is noise, prices with it would bend the
policy in a direction that undoes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auditkit.fitting.fitter import Laws
from auditkit.fitting.folds import Folds
from auditkit.fitting.regression import Design, is_number, least_squares
from auditkit.fitting.searches import People
from auditkit.fitting.strata import credibility, pseudo_count
from auditkit.model.groups import comparable
from auditkit.model.layout import ByKind, Floats, Ints
from auditkit.model.membership import Share

if TYPE_CHECKING:
    import pandas as pd

BINS, FURTHER_BINS = 8, 3
"""Of the first principal component of log pi, and of the second within each of them."""

SMALLEST = 1e-4
"""No group of an attribute is less likely than this for anyone."""

REACH = 0.8
"""Of how far from the others the mean of a group can be at most: beyond, effects are scaled down."""

MOST_VALUES = 40
"""Segments with more values say less of a group than of a single search, and are left out of the logit."""

MOST_CURVED, MOST_LOGIT_STEPS, LOGIT_PRECISION = 5_000, 30, 1e-7
"""Rows from which the curvature of the logit is found; its steps; the gain per row that ends them."""

BY_CHANCE = 0.5
"""Of the logarithm of the likelihood: what one needless parameter adds to it on average."""

NEWTON_STEPS, RESIDUAL = 60, 1e-11

MOST_AT_ONCE = 4_000_000
"""Numbers of a batch of tilts."""


@dataclass(frozen=True, eq=False)
class GroupChances:
    """One attribute. Arrays have one row per row of the history's table; the last class may be the rest."""

    names: tuple[str, ...]
    """Without the rest."""
    code: Ints
    """The class of each row."""
    before: Floats
    """pi, (rows, classes)."""
    imputed: Floats | None = None
    """Where the data have probabilities instead of groups: these, (rows, classes); `code` is the likeliest."""

    @property
    def classes(self) -> int:
        return self.before.shape[1]

    def only(self, rows: Ints) -> GroupChances:
        imputed = None if self.imputed is None else self.imputed[rows]
        return GroupChances(self.names, self.code[rows], self.before[rows], imputed)

    def effects(self, residual: Floats, weights: Floats, folds: Folds, *, shrunk: bool = True) -> Floats:
        """What each class adds to the expectation of a number, (folds, classes), learnt from the other folds.

        `residual` is the number less its expectation, NaN where it is not known.
        """
        found = np.zeros((folds.count, self.classes))
        for fold in range(folds.count):
            rows = np.flatnonzero(folds.training(fold, ~np.isnan(residual)) & (weights > 0))
            if len(rows) < 2:
                continue
            own, code, w = residual[rows], self.code[rows], weights[rows]
            pseudo = pseudo_count(own[:, None], code, np.zeros(len(rows), dtype=np.int64), w) if shrunk else 0.0
            size = np.bincount(code, w, minlength=self.classes)
            total = np.bincount(code, w * own, minlength=self.classes)
            means = total / np.maximum(size, 1e-300)
            if self.imputed is not None:  # the means of the classes of which everybody's expectation is made
                means = least_squares(self.imputed[rows], own, w, np.full(self.classes, 1e-6))
            mean = float(w @ own) / float(w.sum())
            trust = np.array([credibility(float(n), pseudo) for n in size])
            found[fold] = trust * (means - mean) * (size > 0)
        return found

    def effect_errors(self, residual: Floats, weights: Floats, draws: Floats) -> Floats:
        """What the effects without shrinkage of all rows move by where row i counts draws[., i] more, to first order.

        (draws, classes)
        """
        rows = np.flatnonzero(~np.isnan(residual) & (weights > 0))
        own, w, told = residual[rows], weights[rows], self.told[rows]
        if not len(rows):
            return np.zeros((len(draws), self.classes))
        inverse = np.linalg.pinv(told.T @ (told * w[:, None]), hermitian=True)
        left = w * (own - told @ (inverse @ (told.T @ (w * own))))
        of_mean = w * (own - float(w @ own) / float(w.sum())) / float(w.sum())
        weight = draws[:, rows]
        moves = ((weight * left) @ told) @ inverse - (weight @ of_mean)[:, None]
        return np.asarray(moves * (told.sum(axis=0) > 0))

    @property
    def told(self) -> Floats:
        """What is known of the class of each row, (rows, classes)."""
        return _told(self.code, self.imputed, self.classes)

    def moved(self, logits: Floats, counted: Ints) -> GroupChances:
        """The chances with these added to their logits, adding up to what those of the rows counted add up to."""
        teaching = np.zeros(len(self.code), dtype=np.bool_)
        teaching[counted] = True
        chance = self.before * np.exp(logits - logits.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        return replace(self, before=_adding_up(chance, self.before[counted].sum(axis=0), teaching))

    @property
    def shares(self) -> GroupChances:
        """The same chances for everybody: what the groups are of all."""
        return replace(self, before=np.tile(self.before.mean(axis=0), (len(self.before), 1)))

    def chances_foretell(self, counted: Ints) -> bool:
        """Whether pi, learnt from other folds, makes the groups of these rows likelier than shares alone do."""
        before = self.before[counted]
        told = self.told[counted]
        return float((told * np.log(before / before.mean(axis=0))).sum()) > BY_CHANCE

    def effects_foretell(self, residual: Floats, effects: Floats, folds: Folds) -> bool:
        """Whether effects (folds, classes), learnt from other folds, make a number likelier than its mean alone does.

        `residual` is the number less its expectation, NaN where it is not known.
        """
        known = np.flatnonzero(~np.isnan(residual))
        away = residual[known] - residual[known].mean() if len(known) else residual[known]
        left = away - effects[folds.fold[known], self.code[known]]
        squares = float(away @ away)
        return (squares - float(left @ left)) * len(known) > 2 * BY_CHANCE * squares


def group_chances(
    groups: Mapping[str, NDArray[Any]],
    features: pd.DataFrame,
    folds: Folds,
    counted: NDArray[np.bool_] | Ints,
    names_of: Mapping[str, tuple[str, ...]] | None = None,
    imputed: Mapping[str, Mapping[str, Floats]] | None = None,
) -> dict[str, GroupChances]:
    """For each attribute, from the group of every row; `counted` says how often each row teaches.

    The chances add up to the numbers of the rows that do. `names_of` has the groups of each attribute that are told
    apart: by default those large enough. Of the attributes `imputed` the data have probabilities of groups. A policy
    does not see these either: they teach what is to be expected of people of whom as much is known.
    """
    matrix, penalty = logit_columns(features)
    found = {}
    times, counted = counted.astype(np.float64), counted > 0
    for name, labels in groups.items():
        known, sizes = np.unique(labels[counted].astype(str), return_counts=True)
        names = comparable(dict(zip(known.tolist(), sizes.tolist(), strict=True)))
        names = names if names_of is None else names_of.get(name, ())
        if not names:
            continue
        place = {group: i for i, group in enumerate(names)}
        code = np.array([place.get(label, len(names)) for label in labels.astype(str).tolist()], dtype=np.int64)
        classes = len(names) + int((code == len(names)).any())
        before = _cross_fitted(matrix, _told(code, None, classes), penalty, folds, times)
        totals = np.bincount(code[counted], minlength=classes).astype(np.float64)
        found[name] = GroupChances(names, code, _adding_up(before, totals, counted))
    for name, own in (imputed or {}).items():
        names = comparable({group: float(np.nansum(share[counted])) for group, share in own.items()})
        names = names if names_of is None else names_of.get(name, ())
        if names:
            told = np.stack([np.nan_to_num(own[group]) for group in names], axis=1)
            told = np.column_stack([told, np.maximum(0.0, 1.0 - told.sum(axis=1))])
            told /= told.sum(axis=1, keepdims=True)
            before = _cross_fitted(matrix, told, penalty, folds, times)
            before = _adding_up(before, told[counted].sum(axis=0), counted)
            found[name] = GroupChances(names, told.argmax(axis=1).astype(np.int64), before, told)
    return found


def logit_columns(features: pd.DataFrame) -> tuple[Floats, Floats]:
    """The columns of the logit, and the penalty of each."""
    kept = [str(n) for n in features.columns if is_number(features[n]) or features[n].nunique() <= MOST_VALUES]
    design = Design.of(features[kept])
    penalty = np.maximum(design.penalty, 1e-3)
    penalty[0] = 1e-6
    return design.matrix(features[kept]), penalty


def _told(code: Ints, imputed: Floats | None, classes: int) -> Floats:
    """What is known of the class of each row, (rows, classes)."""
    return np.eye(classes)[code] if imputed is None else imputed


def _cross_fitted(matrix: Floats, told: Floats, penalty: Floats, folds: Folds, times: Floats) -> Floats:
    found, start = np.full(told.shape, 1.0 / told.shape[1]), None
    if told.shape[1] == 1:
        return found
    for fold in range(folds.count):
        inside, training = folds.fold == fold, folds.training(fold, times > 0)
        if inside.any() and training.any():
            start = multinomial_logit(matrix[training], told[training], penalty, start, times[training])
            found[inside] = _softmax(matrix[inside] @ start)
    return found


def multinomial_logit(
    matrix: Floats, told: Floats, penalty: Floats, start: Floats | None = None, times: Floats | None = None
) -> Floats:
    """Coefficients (columns, classes) of P(class) = softmax(X b), by penalised maximum likelihood.

    `told` has the probability of each class for every row, 1 for the one that it is in. Row i counts times[i] times, or
    once. Newton's method; the curvature of many rows is that of every so many of them.
    """
    (n, columns), classes = matrix.shape, told.shape[1]
    each = np.ones((n, 1)) if times is None else times[:, None]
    b = start
    if b is None:
        b = np.zeros((columns, classes))
        b[0] = np.log((each * told).sum(axis=0) + 0.5)

    def loss(b: Floats) -> tuple[float, Floats]:
        chance = _softmax(matrix @ b)
        value = -float((each * told * np.log(np.maximum(chance, 1e-300))).sum())
        return value + float((penalty[:, None] * b**2).sum()) / 2, chance

    now, chance = loss(b)
    for _ in range(MOST_LOGIT_STEPS):
        flat = _curvature(matrix, chance, penalty, each[:, 0])
        slope = (matrix.T @ (each * (chance - told)) + penalty[:, None] * b).ravel()
        move, size = np.linalg.lstsq(flat, slope, rcond=None)[0].reshape(b.shape), 1.0
        then, chance = loss(b - move)
        while then > now and size > 1e-3:
            size /= 2
            then, chance = loss(b - size * move)
        if then > now:
            break
        b, gained, now = b - size * move, now - then, then
        if gained < LOGIT_PRECISION * n:
            break
    return b


def _curvature(matrix: Floats, chance: Floats, penalty: Floats, times: Floats) -> Floats:
    """Of the penalised likelihood, in the coefficients (columns, classes) one after another."""
    (n, columns), classes = matrix.shape, chance.shape[1]
    some = slice(None, None, max(1, n // MOST_CURVED))
    x, inner, each = matrix[some], chance[some], times[some]
    found = np.zeros((columns, classes, columns, classes))
    for k in range(classes):
        for h in range(k, classes):
            own = each * inner[:, k] * ((k == h) - inner[:, h])
            found[:, k, :, h] = found[:, h, :, k] = n / len(inner) * (x.T @ (x * own[:, None]))
    flat = found.reshape(columns * classes, -1)
    flat[np.diag_indices(len(flat))] += np.repeat(penalty, classes)
    return flat


def logit_errors(matrix: Floats, told: Floats, penalty: Floats, times: Floats, draws: Floats) -> Floats:
    """What a logit's coefficients move by where row i counts draws[., i] more: to first order, with H the curvature,

    H^-1 sum_i draws_i times_i x_i (told_i - P_i)         (draws, columns, classes)
    """
    chance = _softmax(matrix @ multinomial_logit(matrix, told, penalty, None, times))
    away = (told - chance) * times[:, None]
    slopes = np.stack([matrix.T @ (away * draw[:, None]) for draw in draws])
    curvature = _curvature(matrix, chance, penalty, times)
    moves = np.linalg.lstsq(curvature, slopes.reshape(len(draws), -1).T, rcond=None)[0]
    return np.asarray(moves.T.reshape(slopes.shape))


def _softmax(eta: Floats) -> Floats:
    found = np.exp(eta - eta.max(axis=-1, keepdims=True))
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def _adding_up(chance: Floats, totals: Floats, counted: NDArray[np.bool_]) -> Floats:
    """The chances times a factor for each class, normalised, so that those of the rows counted have these totals."""
    chance = np.maximum(chance, SMALLEST)
    factor = np.ones(chance.shape[1])
    for _ in range(100):
        whole = chance @ factor
        sums = factor * ((counted / whole) @ chance)
        if np.abs(sums - totals).max() <= 1e-9 * max(1.0, totals.sum()):
            break
        factor *= np.where(totals > 0, totals, SMALLEST) / np.maximum(sums, 1e-300)
    return np.asarray(chance * factor / (chance @ factor)[:, None])


@dataclass(frozen=True, eq=False)
class Passing:
    """Chances of passing the stages of a chain, of each candidate, and what a group adds to them.

    Given that a stage was passed, a group is as many times more likely as it passes more often than others.
    """

    shows: int
    """The stage that shows the score."""
    before_score: int
    """How many stages are passed by chance before a score is shown."""
    chances: Floats
    """(candidates, stages)"""
    effects: Mapping[str, Floats]
    """Of each attribute (folds, stages, classes)."""


@dataclass(frozen=True, eq=False)
class CellShares:
    """Candidates of one law and nearly one pi: `cell` of each, and for each attribute the tilt of every cell."""

    cell: Ints
    tilts: Mapping[str, Tilts]
    passing: Passing | None = None
    """Of cells."""
    before: Mapping[str, Floats] = field(default_factory=dict)
    """pi of cells."""

    @staticmethod
    def of(
        laws: Laws,
        chances: Mapping[str, GroupChances],
        effects: Mapping[str, Floats],
        fold: Ints,
        passing: Passing | None = None,
    ) -> CellShares:
        """Of candidates with these laws, chances of groups, effects on the score (folds, classes) and folds."""
        kind = laws.which
        if passing is not None:
            alike = np.unique(passing.chances, axis=0, return_inverse=True)[1].ravel()
            kind = np.unique(kind * (int(alike.max(initial=0)) + 1) + alike, return_inverse=True)[1]
        for own in chances.values():
            kind = np.unique(kind * (BINS * FURTHER_BINS) + _bins(own.before), return_inverse=True)[1]
        kind = kind.astype(np.int64)
        count = int(kind.max(initial=-1)) + 1
        first = np.empty(count, dtype=np.int64)
        first[kind[::-1]] = np.arange(len(kind) - 1, -1, -1)
        size = np.bincount(kind, minlength=count)
        law, fold = laws.which[first], fold[first]
        if passing is not None:
            by_cell = {name: of_folds[fold] for name, of_folds in passing.effects.items()}
            passing = replace(passing, chances=passing.chances[first], effects=by_cell)
        tilts, before = {}, {}
        for name, own in chances.items():
            sums = [np.bincount(kind, column, minlength=count) for column in own.before.T]
            pi = before[name] = np.stack(sums, axis=1) / size[:, None]
            for stage in range(0 if passing is None else passing.before_score):
                assert passing is not None
                pi = pi * _more_likely(pi, passing.chances[:, stage], passing.effects[name][:, stage])
            tilts[name] = tilted(laws.values[law], laws.probs[law], pi, effects[name][fold], own.names)
        return CellShares(kind, tilts, passing, before)

    @property
    def alike(self) -> tuple[str, ...]:
        """The attributes whose groups have the same chances whatever is known, and whatever was passed."""
        same = [name for name, pi in self.before.items() if not np.ptp(pi, axis=0).max(initial=0.0) > 1e-9]
        return tuple(name for name in same if not (self.tilts[name].slope.any() or self._passes_tell(name)))

    def _passes_tell(self, name: str) -> bool:
        return self.passing is not None and bool(self.passing.effects[name].any())

    @property
    def people(self) -> ByKind[People]:
        """Candidates without a group but with the number of their cell."""
        count = int(self.cell.max(initial=-1)) + 1
        return ByKind(tuple(People({}, f"cell {i}", i) for i in range(count)), self.cell)

    def shares(self, cell: int, scores: Floats, probs: Floats) -> dict[str, dict[str, Share]]:
        """The membership of a box of this cell, whose law has these scores."""
        return {
            name: {
                group: Share(float(probs @ theta), theta)
                for group, theta in zip(tilt.names, tilt.theta(cell, scores).T, strict=False)
            }
            for name, tilt in self.tilts.items()
        }

    def given(self, cells: Ints, scores: Floats) -> dict[str, tuple[tuple[str, ...], Floats]]:
        """Of each attribute the groups, sorted, and the chance of each at scores of these cells, (scores, groups)."""
        found = {}
        for name, tilt in self.tilts.items():
            order = np.argsort(tilt.names)
            found[name] = tuple(tilt.names[i] for i in order), tilt.thetas(cells, scores)[:, order]
        return found

    def of_stages(self, cell: int, scores: Floats) -> dict[str, list[dict[str, Floats]]]:
        """Of a chain: attribute -> for each stage, and after the last, the chance of each group.

        One number until the score is shown, then one for each score.
        """
        assert self.passing is not None
        found, stages = {}, self.passing.chances.shape[1]
        for name, tilt in self.tilts.items():
            now, path = self.before[name][cell][None, :], []
            for stage in range(stages):
                path.append(now)
                if stage == self.passing.shows:
                    now = tilt.theta(cell, scores)
                    continue
                chance, own = self.passing.chances[cell, stage], self.passing.effects[name][cell, stage]
                now = now * _more_likely(now, np.full(len(now), chance), np.tile(own, (len(now), 1)))
            path.append(now)
            found[name] = [dict(zip(tilt.names, each.T, strict=False)) for each in path]
        return found


def _more_likely(pi: Floats, chance: Floats, effects: Floats) -> Floats:
    """P(pass | class) / P(pass), (rows, classes), from chances that are moved by the effects of the classes."""
    moved = np.clip(chance[:, None] + effects - np.einsum("ck,ck->c", pi, effects)[:, None], 0.01, 1.0)
    ratio = moved / np.einsum("ck,ck->c", pi, moved)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):  # nobody passes more often than always
        room = np.where(ratio > 1, (1 / np.maximum(chance[:, None], 1e-300) - 1) / (ratio - 1), np.inf).min(axis=1)
    return np.asarray(1 + np.minimum(room, 1.0)[:, None] * (ratio - 1))


def _bins(chance: Floats) -> Ints:
    """Bins of about equal numbers along the first two principal components of log pi."""
    logs = np.log(np.maximum(chance, SMALLEST))
    logs -= logs.mean(axis=0)
    if chance.shape[1] == 1 or not np.abs(logs).max(initial=0.0) > 1e-9:
        return np.zeros(len(chance), dtype=np.int64)
    _, axes = np.linalg.eigh(logs.T @ logs)
    first = _quantile_bins(logs @ _signed(axes[:, -1]), BINS)
    if chance.shape[1] < 3:
        return first * FURTHER_BINS
    second, found = logs @ _signed(axes[:, -2]), np.zeros(len(chance), dtype=np.int64)
    for b in range(BINS):
        own = first == b
        found[own] = FURTHER_BINS * b + _quantile_bins(second[own], FURTHER_BINS)
    return found


def _signed(axis: Floats) -> Floats:
    """Whichever of the two directions numpy finds."""
    return axis if axis[np.argmax(np.abs(axis))] > 0 else -axis


def _quantile_bins(values: Floats, bins: int) -> Ints:
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    cuts = np.quantile(values, np.arange(1, bins) / bins)
    return np.searchsorted(cuts, values, side="right").astype(np.int64)


@dataclass(frozen=True, eq=False)
class Tilts:
    """theta_g(v) = softmax(intercept + slope z)_g of every cell, with z = (v - centre) / scale."""

    names: tuple[str, ...]
    intercept: Floats
    slope: Floats
    centre: Floats
    scale: Floats

    def theta(self, cell: int, scores: Floats) -> Floats:
        """(scores, classes)"""
        return self.thetas(np.full(len(scores), cell), scores)

    def thetas(self, cells: Ints, scores: Floats) -> Floats:
        """Of scores of different cells."""
        z = (scores - self.centre[cells]) / self.scale[cells]
        return _softmax(self.intercept[cells] + z[:, None] * self.slope[cells])


def tilted(values: Floats, probs: Floats, pi: Floats, effects: Floats, names: tuple[str, ...]) -> Tilts:
    """The tilts for laws (cells, points), pi and effects (cells, classes)."""
    centre = np.einsum("cp,cp->c", values, probs)
    spread = np.sqrt(np.einsum("cp,cp->c", (values - centre[:, None]) ** 2, probs))
    scale = np.where(spread > 0, spread, 1.0)
    pi = np.maximum(pi, SMALLEST / 2)
    pi = pi / pi.sum(axis=1, keepdims=True)
    moved = (effects - np.einsum("ck,ck->c", pi, effects)[:, None]) / scale[:, None]
    moved[spread == 0] = 0.0
    intercept, slope = np.log(pi), np.zeros_like(pi)
    if pi.shape[1] > 1:
        step = max(1, MOST_AT_ONCE // (values.shape[1] * pi.shape[1]))
        for low in range(0, len(pi), step):
            own = slice(low, low + step)
            z = np.where(probs[own] > 0, (values[own] - centre[own, None]) / scale[own, None], 0.0)
            means = moved[own] * _possible(z, probs[own], pi[own], moved[own])[:, None]
            intercept[own], slope[own] = _solved(z, probs[own], pi[own], means)
    return Tilts(names, intercept, slope, centre, scale)


def _possible(z: Floats, probs: Floats, pi: Floats, means: Floats) -> Floats:
    """The factor, at most 1, by which means come within REACH of the largest that a class of this size can have."""
    order = np.argsort(z, axis=1)
    z, probs = np.take_along_axis(z, order, axis=1), np.take_along_axis(probs, order, axis=1)
    factor = np.ones(len(z))
    for k in range(pi.shape[1]):
        for side in (1, -1):
            own, mass = (z[:, ::-1], probs[:, ::-1]) if side == 1 else (z, probs)
            below = np.cumsum(mass, axis=1) - mass
            taken = np.clip(pi[:, k, None] - below, 0.0, mass)
            furthest = side * np.einsum("cp,cp->c", taken, own) / pi[:, k]
            wanted = side * means[:, k]
            with np.errstate(divide="ignore", invalid="ignore"):
                factor = np.where(wanted > REACH * furthest, np.minimum(factor, REACH * furthest / wanted), factor)
    return np.maximum(factor, 0.0)


def _solved(z: Floats, probs: Floats, pi: Floats, means: Floats) -> tuple[Floats, Floats]:
    """Intercepts and slopes, 0 for the last class, by Newton's method; without slopes where it does not settle."""
    cells, classes = pi.shape
    free = classes - 1
    a = np.log(pi[:, :free] / pi[:, free:])
    b = means[:, :free] - means[:, free:]
    target = np.stack([pi[:, :free], pi[:, :free] * means[:, :free]], axis=2)
    todo, moments, size = np.arange(cells), [probs, probs * z, probs * z**2], 2 * free
    for _ in range(NEWTON_STEPS):
        theta = [a[todo, k, None] + z * b[todo, k, None] for k in range(free)]  # class by class: arrays stay long
        largest = reduce(np.maximum, theta, np.zeros_like(z))
        theta = [np.exp(eta - largest) for eta in theta]
        total = sum(theta, np.exp(-largest))
        theta = [each / total for each in theta]
        sums = np.stack([np.stack([_by_cell(each, m) for m in moments], axis=1) for each in theta], axis=1)
        miss = target[todo] - sums[:, :, :2]
        left = np.abs(miss).max(axis=(1, 2)) > RESIDUAL
        if not left.any():
            todo = todo[:0]
            break
        if not left.all():
            todo, miss, sums, z = todo[left], miss[left], sums[left], z[left]
            theta, moments = [each[left] for each in theta], [m[left] for m in moments]
        hessian = np.empty((len(todo), free, 2, free, 2))  # (cells, class, power, class, power)
        for k in range(free):
            for h in range(k, free):
                product = theta[k] * theta[h]
                own = np.stack([-_by_cell(product, m) for m in moments], axis=1) + (sums[:, k] if k == h else 0.0)
                hessian[:, k, :, h, :] = hessian[:, h, :, k, :] = own[:, [[0, 1], [1, 2]]]
        flat = hessian.reshape(-1, size, size) + 1e-14 * np.eye(size)
        step = np.linalg.solve(flat, miss.reshape(-1, size, 1)).reshape(-1, free, 2)
        step *= np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(axis=(1, 2), keepdims=True), 1e-300))
        a[todo] += step[:, :, 0]
        b[todo] += step[:, :, 1]
    a[todo], b[todo] = np.log(pi[todo, :free] / pi[todo, free:]), 0.0
    zero = np.zeros((cells, 1))
    return np.concatenate([a, zero], axis=1), np.concatenate([b, zero], axis=1)


def _by_cell(one: Floats, two: Floats) -> Floats:
    """The sum of products over the points of each cell."""
    return np.asarray(np.einsum("cp,cp->c", one, two))
