"""What rules may use, from a fitted history: features, expected scores, and what the firm's own decisions act like.

The firm's own rule is taken as a shortlist: as many interviews in each search as the firm held, in the order of a logit
of who was interviewed on what is known before, centred within searches; then the highest scores. It stands in for the
firm's rule in the model, so that a rule and the firm's own are compared under the same laws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from auditkit.fitting.fitted import Fitted
from auditkit.fitting.refit import Refit
from auditkit.fitting.regression import is_number, logistic
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats, Ints, Layout
from auditkit.rules.requisitions import candidates_of
from auditkit.rules.rule import KnownBefore, Ranking, chances_of_kinds

MOST_FEATURES = 6
RIDGE = 1.0


def numeric_features(fitted: Fitted) -> dict[str, Floats]:
    """Numbers that are known of each candidate before the inspection; the mean where one is missing."""
    if fitted.refit is None:
        return {}
    table: pd.DataFrame = fitted.refit.training.features
    found: dict[str, Floats] = {}
    for name in map(str, table.columns):
        column = table[name]
        if is_number(column) and len(found) < MOST_FEATURES:
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)[fitted.refit.rows]
            known = ~np.isnan(values)
            if known.any() and values[known].std() > 0:
                found[name] = np.where(known, values, values[known].mean())
    return found


def firm_order(features: dict[str, Floats], search: Ints, inspected: Floats) -> Floats:
    """The order in which the firm inspected, as far as the features explain it."""
    if not features:
        return np.zeros(len(search))
    matrix = np.column_stack([(x - x.mean()) / x.std() for x in features.values()])
    size = np.maximum(np.bincount(search), 1)
    centred = matrix - np.stack([np.bincount(search, column) / size for column in matrix.T], axis=1)[search]
    share = np.bincount(search, inspected) / size
    mixed = ((share > 0) & (share < 1))[search]
    if not mixed.any():
        return np.zeros(len(search))
    columns = np.column_stack([np.ones(int(mixed.sum())), centred[mixed]])
    weights = logistic(columns, inspected[mixed], np.array([0.0, *[RIDGE] * len(features)]))
    return np.asarray(matrix @ weights[1:])


def known_of(fitted: Fitted, *, with_refits: bool = True) -> KnownBefore:
    """Of all searches of a fitted history."""
    layout, realised = fitted.instance.layout, fitted.realised
    features = numeric_features(fitted)
    order = firm_order(features, layout.candidate_search, realised.inspected.astype(np.float64))
    interviews = np.bincount(layout.candidate_search, realised.inspected, minlength=len(layout.search_ids))
    without: dict[str, Callable[[], Floats]] = {}
    if with_refits and len(features) > 1:
        without = {name: _index_without(fitted, name) for name in features}
    return KnownBefore(
        layout=layout,
        features=features,
        expected=expected_scores(layout, fitted.settings.value_scale),
        value_scale=fitted.settings.value_scale,
        interviews=interviews.astype(np.int64),
        firm_order=order,
        without=without,
    )


def known_among(known: KnownBefore, instance: Instance, searches: Ints) -> KnownBefore:
    """The same of some searches, under the laws of another instance that has just these."""
    who = candidates_of(known.layout, searches)
    return KnownBefore(
        layout=instance.layout,
        features={name: values[who] for name, values in known.features.items()},
        expected=expected_scores(instance.layout, known.value_scale),
        value_scale=known.value_scale,
        interviews=known.interviews[searches],
        firm_order=known.firm_order[who],
    )


def expected_scores(layout: Layout, value_scale: float) -> Floats:
    """The mean score of each candidate, in points."""
    kinds = layout.kinds
    chance = np.where(kinds.selecting, chances_of_kinds(layout), 0.0)
    total = np.bincount(kinds.owner, chance)
    mean = np.bincount(kinds.owner, chance * kinds.reward) / np.maximum(total, 1e-300)
    return np.asarray(mean[layout.candidate_kind] / value_scale)


def firm_ranking(known: KnownBefore) -> Ranking:
    """The firm's own rule."""
    return known.shortlist(known.listed(known.firm_order, known.interviews))


def _index_without(fitted: Fitted, feature: str) -> Callable[[], Floats]:
    """The index of each candidate under laws that are learnt without a feature."""

    @cache
    def index() -> Floats:
        assert fitted.refit is not None
        fewer = replace(fitted.refit.training, features=fitted.refit.training.features.drop(columns=[feature]))
        own: Refit = replace(fitted.refit, training=fewer, chances={})
        times, searches = np.zeros(own.searches, dtype=np.int64), np.arange(len(fitted.instance.searches))
        times[own.search[own.rows]] = 1
        from auditkit.solver.evaluate import Prepared

        other = own.instance(fitted.instance, times, searches, moved=False).layout
        return np.asarray(Prepared.of(other, other.reward).index[other.start, 0])

    return index
