"""From a firm's history to an instance: every candidate gets a prior, every search a capacity, inspections a cost.

    features, scores -> folds -> laws (fitter) -> boxes or chains -> Instance, beside what the firm did

The value of a candidate is value_scale * score, in the unit of costs. A prior is the law of the score given what was
known before the inspection, learnt from other folds (`folds`). Applications that were withdrawn or are still open
leave the instance, as they leave all rates, but their scores still teach.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.history import ALL, History
from auditkit.errors import InputError, Problem, nearest
from auditkit.fit.boxes import boxes
from auditkit.fit.fitted import CannotFit, Fitted, Realised
from auditkit.fit.fitter import GROUP, Fitter, Laws
from auditkit.fit.folds import Folds, deal
from auditkit.fit.long_term import OutcomeScale, TrueValue, true_values
from auditkit.fit.people import Cost, People
from auditkit.fit.quality import assess
from auditkit.fit.selection import propensity_weights, selection
from auditkit.instance import Instance, Search
from auditkit.layout import Bools, Floats, Ints

FEWEST = 10
"""Scores without which nothing is fitted."""


def fit(
    history: History,
    *,
    fitters: Mapping[str, type[Fitter]],
    fitter: str = "empirical",
    cost: Cost | None = None,
    capacity: int | None = None,
    value_scale: float = 1.0,
    folds: int = 5,
    points: int = 40,
    propensity: bool = False,
    outcome_scale: OutcomeScale = "match",
    staged: bool = True,
) -> Fitted:
    """Fit a history.

    `cost` (one number, or one per stage) and `capacity` serve where the data have none. `propensity` weighs scores by
    the inverse chance that there is one. `staged` makes chains of data with stages, boxes otherwise.
    Raises CannotFit if the data cannot support a model, InputError if a cost or a setting is missing or wrong.
    """
    _check_settings(value_scale, folds, capacity, fitter, fitters)
    _check_data(history)
    notices: list[str] = []
    features = features_of(history)
    if list(features.columns) == [GROUP]:
        notices.append("nothing is known of candidates before inspection but their group: --map prior=COLUMN adds more")
    table = history.table
    scores = table["score"].to_numpy(dtype=np.float64)
    scored = ~np.isnan(scores)
    dealt = deal(table["search"], table["candidate"], scored, folds)
    weights = propensity_weights(features, scored)
    laws = cross_fit(
        fitters[fitter](points=points), features, scores, weights if propensity else scored.astype(float), dealt
    )
    rows, searches = _in_layout_order(history, notices)
    people = People.of(history, rows, cost, staged=staged, notices=notices)
    ...
