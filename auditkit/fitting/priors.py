"""From a firm's history to an instance: every candidate gets a prior, every search a capacity, inspections a cost.

    features, scores -> folds -> laws (fitter) -> boxes or chains -> Instance, beside what the firm did

The value of a candidate is value_scale * score, in the unit of costs. A prior is the law of the score given what was
known before the inspection, learnt from other folds (`folds`). Applications that were withdrawn or are still open
leave the instance, as they leave all rates, but their scores still teach.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.firm_history import History
from auditkit.errors import InputError, Problem, blaming, nearest
from auditkit.fitting import chains, searches
from auditkit.fitting.boxes import BoxSearches
from auditkit.fitting.fitted import CannotFit, FitSettings, Fitted, Realised
from auditkit.fitting.fitter import GROUP, Fitter, Laws, group_columns
from auditkit.fitting.folds import cross_fit, deal
from auditkit.fitting.group_chances import CellShares, group_chances
from auditkit.fitting.long_term import OutcomeScale, TrueValue, true_values
from auditkit.fitting.propensity import propensity_weights, selection
from auditkit.fitting.quality import assess
from auditkit.fitting.refit import GroupLabels, Refit, StageResults, Training, cell_shares
from auditkit.fitting.searches import Cost, People
from auditkit.model.groups import groups_of
from auditkit.model.instance import Instance
from auditkit.model.layout import Bools, ByKind, Floats, Ints, Partition
from auditkit.model.search import Search

RevealScale = Callable[[Instance, float], float]
"""What a point is worth, from an instance in which it is worth 1 and the number that the firm inspected."""

FEWEST_SCORES = 10
"""With fewer scores nothing is fitted."""

POINTS, FEWEST_POINTS, MOST_STATES = 40, 8, 10_000_000
"""Support points of a prior unless they are given: fewer where all priors together would have more than the last."""


def fit(
    history: History,
    *,
    fitters: Mapping[str, type[Fitter]],
    fitter: str = "empirical",
    cost: Cost | None = None,
    capacity: int | None = None,
    value_scale: float | RevealScale = 1.0,
    folds: int = 5,
    points: int | None = None,
    propensity: bool = False,
    outcome_scale: OutcomeScale = "match",
    staged: bool = True,
    blind: bool = False,
    group_aware: bool = True,
) -> Fitted:
    """Fit a history.

    `cost` (one number, or one per stage) and `capacity` serve where the data have none. `propensity` weighs scores by
    the inverse chance that there is one. `staged` makes chains of data with stages, boxes otherwise. `blind` keeps the
    protected attributes out of the priors. Without `group_aware` the policies of the instance do not see the groups at
    all: these are then known by their probability (`group_chances`), and priors are blind as well.
    `value_scale` is what a point of the score is worth, or a function that says so of the instance in which it is worth
    1 and of the number that the firm inspected; without any cost the unit is one inspection.
    Raises CannotFit if the data cannot support a model, InputError if a cost is missing or a setting is wrong.
    """
    reveal = value_scale if callable(value_scale) else None
    scale = 1.0 if callable(value_scale) else value_scale
    _check_settings(fitter, fitters, capacity, scale, folds, points)
    _check_data(history)
    unseen = not group_aware and bool(history.columns("group") or history.columns("member"))
    blind = blind or unseen
    notices: list[str] = []
    table = history.table
    if points is None:
        points = min(POINTS, max(FEWEST_POINTS, MOST_STATES // len(table)))
        if points < POINTS:
            notices.append(
                f"priors have {points} support points instead of {POINTS}, so that the model fits into memory"
            )
    plan = chains.StagePlan.of(history, notices) if staged and history.stages else None
    features = features_of(history, blind=blind)
    if not len(features.columns.difference(group_columns(features))):
        what = "nothing" if blind else "nothing but their groups"
        notices.append(f"{what} is known of candidates before inspection")
    scores = table["score"].to_numpy(dtype=np.float64)
    scored = ~np.isnan(scores)
    dealt = deal(table["search"], table["candidate"], scored, folds)
    chance_weights = propensity_weights(features, scored)
    weights = chance_weights if propensity else scored.astype(np.float64)
    with blaming(fitters[fitter], f"making the fitter {fitter!r}"):
        model = fitters[fitter](points=points if plan is None else min(points, chains.MOST_POINTS))
        fitter_settings = model.model_dump(mode="json")
    all_laws = cross_fit(model, features, scores, weights, dealt)

    rows, search = _in_layout_order(history, notices)
    laws, people = all_laws.take(rows), searches.people(history, rows)
    positions, capacity_source = searches.capacities(history, rows, search, capacity, notices)
    starts = np.searchsorted(search, np.arange(len(positions) + 1))
    true_value = own_true_value = _true_value(history, outcome_scale, notices)
    extra = searches.attributes(history, rows)
    actual, chances_of_groups, members, labels = people, {}, None, None
    terms = [str(name) for name in table["search"].to_numpy()[rows[starts[:-1]]]], positions, starts
    reached: dict[str, Bools] = {}
    results: list[Floats] = []
    passed: StageResults | None = None
    inspected = table["inspected"].to_numpy(dtype=np.bool_)[rows]
    if unseen:
        labels = _labels(history, features)
        counted = np.zeros(len(table), dtype=np.bool_)
        counted[rows] = True
        chances_of_groups = group_chances(labels.labels, labels.features, dealt, counted, imputed=labels.imputed)
    of_costs = [name for name in map(str, table.columns) if name == "cost" or name.startswith("cost:")]
    costs_known = cost is not None or any(bool(table[name].notna().any()) for name in of_costs)
    if not costs_known:
        cost = 1.0
        notices.append("no cost is given: every inspection costs the same, and the unit of value is one inspection")
    build: Callable[[float], Instance]
    if plan is None:
        costs, cost_source = searches.inspection_costs(history, rows, cost, notices)
        if unseen:
            members = cell_shares(chances_of_groups, all_laws, rows, scores, weights, dealt, tested=True)
            people, true_value = unseen_people(members, actual, true_value)

        def build(scale: float) -> Instance:
            boxes = BoxSearches(*terms, laws, people, costs, extra, scale, true_value, members)
            return _limited(history, rows, boxes) if history.units else boxes.instance()
    else:
        own = plan.stages[: plan.own]
        each, cost_source = searches.stage_costs(history, rows, own, plan.shows, cost, notices)
        results = [plan.results(history, stage) for stage in range(len(plan.stages))]
        notices += chains.few_results(plan, results)
        all_chances = chains.pass_chances(plan, results, features, dealt)
        chances = all_chances[rows]
        padded = np.pad(each, ((0, 0), (0, len(plan.stages) - plan.own)))
        passed = StageResults(plan, all_chances, results)
        if unseen:
            members = cell_shares(chances_of_groups, all_laws, rows, scores, weights, dealt, passed, tested=True)
            people, true_value = unseen_people(members, actual, true_value)

        def build(scale: float) -> Instance:
            candidates = chains.chains(plan, laws, chances, padded, people, extra, scale, true_value, members=members)
            made = (Search(name, int(k), candidates[a:b]) for name, k, (a, b) in zip(*terms[:2], pairwise(starts)))
            return _limited(history, rows, made)

        reached = {name: searches.stage_reached(history, name)[rows] for name in own}
        costs = (each * np.stack(list(reached.values()), axis=1)).sum(axis=1)
        inspected = reached[own[0]]
    instance = build(scale)
    if reveal is not None:
        scale = reveal(instance, float(inspected.sum()))
        instance = build(scale)
    alike = () if members is None else members.alike
    notices += [
        f"nothing that is known of candidates tells the groups of {name} apart beyond chance, and scores don't either: "
        "in the model every rule that does not see the group has equal expected rates"
        for name in alike
    ]
    refit = Refit(
        Training(features, scores, weights, dealt, model, plan, results),
        np.unique(table["search"].to_numpy(dtype=object).astype(str), return_inverse=True)[1].astype(np.int64),
        rows,
        actual,
        extra,
        costs if plan is None else padded,
        scale,
        chances_of_groups,
        labels,
        all_laws,
        passed,
    )
    realised = _realised(
        history, rows, search, positions, inspected, costs, laws, scale, own_true_value, reached, notices
    )
    groups = {name: table[f"group:{name}"].astype("str").to_numpy()[rows] for name in history.columns("group")}
    quality = assess(
        laws,
        scores[rows],
        groups,
        selection(groups, laws.means, inspected, scored[rows], chance_weights[rows], weighted=propensity),
    )
    settings = FitSettings(
        fitter=fitter,
        fitter_settings=fitter_settings,
        features=tuple(str(name) for name in features.columns),
        blind=blind,
        group_aware=not unseen,
        folds=dealt.count,
        folds_of=dealt.unit,
        propensity=propensity,
        value_scale=scale,
        value_revealed=reveal is not None,
        cost=cost_source if costs_known else "inspection",
        capacity=capacity_source,
        stages=() if plan is None else tuple(plan.stages),
        score_stage=None if plan is None else plan.stages[plan.shows],
        true_value=own_true_value,
    )
    return Fitted(
        instance=instance,
        realised=realised,
        quality=quality,
        rows=rows,
        expected=scale * laws.means,
        true_value=own_true_value,
        notices=tuple(notices),
        settings=settings,
        refit=refit,
        groups=_partitions(history, actual),
        alike=alike,
    )


def _partitions(history: History, actual: ByKind[People]) -> dict[str, Partition]:
    labels = [groups_of(who.group) for who in actual.items]
    names = dict.fromkeys(name for own in labels for name in own)
    return {name: Partition.of(name, ByKind(tuple(own[name] for own in labels), actual.kind)) for name in names}


def _labels(history: History, features: pd.DataFrame) -> GroupLabels:
    """Groups, and what their chances are learnt from: features and segments."""
    table = history.table
    known = features.assign(**{f"segment:{name}": table[f"segment:{name}"].astype("str") for name in history.segments})
    imputed: dict[str, dict[str, Floats]] = {}
    for name in history.columns("member"):
        attribute, _, group = name.partition(":")
        imputed.setdefault(attribute, {})[group] = table[f"member:{name}"].to_numpy(dtype=np.float64)
    labels = {name: table[f"group:{name}"].astype("str").to_numpy() for name in history.columns("group")}
    return GroupLabels(labels, known, imputed)


def unseen_people(
    members: CellShares, actual: ByKind[People], true_value: TrueValue | None
) -> tuple[ByKind[People], TrueValue | None]:
    """Candidates without a group but with the number of their cell, and what is expected of cells in the long term."""
    people = members.people
    count = len(people.items)
    if true_value is None:
        return people, None
    effects = np.array([true_value.effects.get(who.cell, 0.0) for who in actual.items])[actual.kind]
    means = np.bincount(members.cell, effects, minlength=count) / np.bincount(members.cell, minlength=count)
    return people, replace(true_value, effects={f"cell {i}": float(mean) for i, mean in enumerate(means)})


def features_of(history: History, *, blind: bool = False) -> pd.DataFrame:
    """What was known of each candidate before the inspection: protected attributes (unless blind), family, priors."""
    table = history.table
    names = () if blind else history.columns("group")
    features: dict[str, pd.Series[Any]] = {
        GROUP if len(names) == 1 else f"{GROUP}:{name}": table[f"group:{name}"].astype("str") for name in names
    }
    if "family" in table.columns:
        features["family"] = table["family"].astype("category")
    features |= {name: table[f"prior:{name}"] for name in history.columns("prior")}
    return pd.DataFrame(features, index=table.index)


def _check_settings(
    fitter: str,
    fitters: Mapping[str, type[Fitter]],
    capacity: int | None,
    value_scale: float,
    folds: int,
    points: int | None,
) -> None:
    problems = []
    if fitter not in fitters:
        problems.append(Problem("fitter", f"there is no fitter {fitter!r}", nearest(fitter, fitters)))
    if not (math.isfinite(value_scale) and value_scale > 0):
        problems.append(Problem("--value-scale", f"{value_scale} is not a positive number"))
    if folds < 2:
        problems.append(Problem("folds", f"{folds} is not a number of folds", "give 2 or more"))
    if points is not None and not 2 <= points <= 1000:
        problems.append(Problem("points", f"{points} is not a number of support points", "give 2 to 1000"))
    if capacity is not None and capacity < 0:
        problems.append(Problem("--capacity", f"{capacity} is not a number of positions", "give 0 or more"))
    if problems:
        raise InputError(problems)


def _check_data(history: History) -> None:
    problems = []
    known = int(history.table["score"].notna().sum()) if history.has("score") else 0
    if not history.has("score"):
        problems.append(Problem("score", "there is no score, so no prior can be learnt", "--map score=COLUMN"))
    elif known < FEWEST_SCORES:
        what = f"only {known} candidates have a score; priors need at least {FEWEST_SCORES}"
        problems.append(Problem("score", what, "audit a longer period, or --map score=COLUMN"))
    elif history.table["candidate"][history.table["score"].notna()].nunique() < 2:
        problems.append(Problem("score", "all scores are of one person", "--map candidate=COLUMN"))
    if not history.has("selected"):
        what = "nothing says who was selected, so there is no policy of the firm to compare with"
        problems.append(Problem("selected", what, "--map selected=COLUMN"))
    elif not history.decided.any():
        problems.append(Problem("selected", "no application has been decided yet"))
    if problems:
        raise CannotFit(problems)


def _in_layout_order(history: History, notices: list[str]) -> tuple[Ints, Ints]:
    """Rows that take part, those of a search together, searches as they first occur; and the number of the search."""
    decided = history.decided.to_numpy(dtype=np.bool_)
    if not decided.all():
        table = history.table
        counts = {name: int(table[name].sum()) for name in ("withdrawn", "pending")}
        named = " and ".join(f"{n:,} {name}" for name, n in counts.items() if n)
        spent = int((table["inspected"].to_numpy(dtype=np.bool_) & ~decided).sum())
        also = f"; what {spent:,} inspections of them cost is not counted" if spent else ""
        notices.append(f"{named} applications are not in the model{also}")
    rows = np.flatnonzero(decided)
    code = pd.factorize(history.table["search"].to_numpy()[rows])[0].astype(np.int64)
    order = np.argsort(code, kind="stable")
    return rows[order], code[order]


def _limited(history: History, rows: Ints, made: Iterable[Search]) -> Instance:
    """The searches, which have the rows one after another, with the limits of their units."""
    found, last = [], 0
    for search in made:
        first, last = last, last + len(search.candidates)
        limits = searches.limits(history, rows[first:last], search.candidates)
        found.append(replace(search, limits=tuple(limits)) if limits else search)
    return Instance(found)


def _true_value(history: History, scale: OutcomeScale, notices: list[str]) -> TrueValue | None:
    if not history.has("outcome"):
        return None
    table = history.table
    known = table[searches.hired(table) & table["outcome"].notna() & table["score"].notna()]
    cells = [who.cell for who in searches.people(history, np.flatnonzero(table.index.isin(known.index)))]
    found = true_values(
        known["score"].to_numpy(dtype=np.float64), known["outcome"].to_numpy(dtype=np.float64), cells, scale
    )
    if isinstance(found, str):
        notices.append(found)
        return None
    how = "rescaled to the mean and spread of the scores" if scale == "match" else "in the unit of the score"
    notices.append(f"true values are learnt from the outcomes of the {found.outcomes:,} people hired, {how}")
    return found


def _realised(
    history: History,
    rows: Ints,
    search: Ints,
    capacity: Ints,
    inspected: Bools,
    costs: Floats,
    laws: Laws,
    value_scale: float,
    true_value: TrueValue | None,
    reached: dict[str, Bools],
    notices: list[str],
) -> Realised:
    table = history.table.iloc[rows]
    scores = table["score"].to_numpy(dtype=np.float64)
    credited = np.where(np.isnan(scores), laws.means, scores)
    true: Floats | None = None
    if true_value is not None:  # linear in the score, so the mean of a prior stands for the prior
        effects = np.array([true_value.effects.get(who.cell, 0.0) for who in searches.people(history, rows)])
        true = value_scale * (true_value.intercept + true_value.slope * credited + effects)
    realised = Realised(
        search=search,
        capacity=capacity,
        inspected=inspected.copy(),
        offered=table["selected"].to_numpy(dtype=np.bool_, copy=True),
        selected=searches.hired(table).copy(),
        value=value_scale * scores,
        credited=value_scale * credited,
        cost=costs,
        true=true,
        reached=reached,
    )
    if n := realised.without_score:
        notices.append(f"{n:,} of those selected have no score: they count with what was expected of them")
    if (n := int((realised.offered & ~realised.selected).sum())) and not reached:
        notices.append(f"{n:,} declined an offer: they fill no position; the model of one stage knows no refusals")
    return realised
