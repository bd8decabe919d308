"""How far the differences between groups in the priors may be off, and the points at which a price is found for it.

A price is a matter of differences between groups. Where priors are those of single inspections and policies see the
group, their error is mostly a shift of each group, of which a regression tells more than resampling does,

    score = X a + D d + error,        Cov(d) clustered by search (CR3, `fitting/clustered.py`),

X what is known before the inspection and D the dummies of groups. For the classes of candidates that a problem tells
apart, d less its mean has r independent directions, and E f(d) is, to third order in f, the mean over 2 r points: along
each direction sqrt(r) standard deviations to either side. Instances at these points differ from the one that was fitted
in nothing but what the selection of a group is worth, so that no prior is refitted. They lie around the fit without
its shrinkage, as resamples do (`fitting/refit.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auditkit.compare.parts import Parts
from auditkit.constraints.base import Rows
from auditkit.constraints.two_sets import INSPECTION, SELECTION
from auditkit.fitting.clustered import clustered
from auditkit.fitting.fitted import Fitted
from auditkit.fitting.fitter import group_columns
from auditkit.fitting.refit import GroupResiduals
from auditkit.fitting.regression import Design
from auditkit.model.layout import Floats
from auditkit.model.row_meaning import RateGap, RatioAtLeast, ShareAtLeast

FEWEST_SCORES = 100
"""With fewer scores resampling knows more of the error than a regression does."""

MOST_SCORES = 20_000
"""Of more, those of the first searches serve, and the covariance is divided by how many times as many there are."""

MOST_DIRECTIONS = 6
"""Of more, so many are drawn, at right angles to each other."""

SLIGHT = 1e-9


@dataclass(frozen=True, eq=False)
class GroupErrors:
    """Shifts of the groups of a layout (`layout.groups`), in the unit of value."""

    missed: Floats
    """What shrinkage left out of each."""
    covariance: Floats
    freedom: int
    sizes: Floats
    """Candidates of each group."""

    @staticmethod
    def of(fitted: Fitted) -> GroupErrors | None:
        """None where the error of the priors is more than a shift of groups: in stages, where policies do not see
        them, where scores are weighted, or where there are few of them."""
        refit, layout = fitted.refit, fitted.instance.layout
        if refit is None or refit.training.plan is not None or layout.uncertain:
            return None
        t, count = refit.training, len(layout.groups)
        names = group_columns(t.features)
        known = np.flatnonzero(~np.isnan(t.scores) & (t.weights > 0))
        if not names or len(known) < FEWEST_SCORES or not (t.weights[known] == 1.0).all():
            return None
        residuals = GroupResiduals(t.features)
        times = len(known) / MOST_SCORES
        if times > 1:
            known = known[np.argsort(refit.search[known], kind="stable")[:MOST_SCORES]]
        others = t.features.drop(columns=names).iloc[known]
        x, own = Design.of(others).matrix(others), residuals.matrix[residuals.kind[known]][:, 1:]
        found = clustered(np.concatenate([x, own], axis=1), t.scores[known], refit.search[known])
        first = np.zeros(count, dtype=np.int64)
        first[layout.candidate_group[::-1]] = refit.rows[::-1]
        dummies = residuals.matrix[residuals.kind[first]][:, 1:]
        means = np.full(len(t.scores), np.nan)
        means[refit.rows] = fitted.expected / refit.value_scale
        scale, dummy = refit.value_scale, slice(x.shape[1], None)
        return GroupErrors(
            scale * residuals.left_out(t.scores - means, t.weights)[first],
            scale**2 / max(times, 1.0) * dummies @ found.covariance[dummy, dummy] @ dummies.T,
            found.freedom,
            np.bincount(layout.candidate_group, minlength=count).astype(np.float64),
        )

    @staticmethod
    def serve(rows: Rows, parts: Parts) -> bool:
        """Whether rows compare groups, and count selections or inspections of theirs whatever the score."""
        compare = all(isinstance(row.meaning, RateGap | RatioAtLeast | ShareAtLeast) for row in rows.rows)
        return compare and all(part.counts in (SELECTION, INSPECTION) for part in parts.parts)

    def points(self, parts: Parts, generator: np.random.Generator) -> Floats:
        """The shift of each group at each point, (points, groups)."""
        directions = self._directions(parts)
        r = len(directions)
        if r > MOST_DIRECTIONS:
            directions = np.linalg.qr(generator.standard_normal((r, MOST_DIRECTIONS)))[0].T @ directions
        return self.missed + np.sqrt(r) * np.concatenate([directions, -directions])

    def _directions(self, parts: Parts) -> Floats:
        """One standard deviation along each independent direction, (r, groups)."""
        layout, count = parts.layout, len(self.sizes)
        class_of = np.zeros(count, dtype=np.int64)
        class_of[layout.candidate_group] = parts.classes
        told = np.unique([part.group for part in parts.parts])
        member = (class_of == told[:, None]).astype(np.float64)  # (classes, groups)
        weighted = member * self.sizes
        mean = weighted / weighted.sum(axis=1, keepdims=True)
        share = weighted.sum(axis=1) / weighted.sum()
        contrast = mean - share @ mean
        sizes, axes = np.linalg.eigh(contrast @ self.covariance @ contrast.T)
        real = sizes > SLIGHT * sizes.max(initial=0.0)
        return np.asarray(np.sqrt(sizes[real])[:, None] * (axes[:, real].T @ member))
