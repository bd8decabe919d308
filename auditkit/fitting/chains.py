"""Searches in stages: each candidate becomes a chain of the stages that the history has.

Let stage r be the one that shows the score. With q_t the chance to pass stage t, c_t its cost and v_j, p_j the law of
the score at stage r,

    stage t < r      pays -c_t,  goes on to stage t+1 with q_t, else out
    stage r          pays -c_r,  shows v_j with p_j and leads to the next stage's state `<next>-<j>`
    stage t > r      one state for each v_j, pays -c_t, goes on with q_t, else out
    after the last   `hired-<j>`, terminal, pays value_scale * v_j

Leaving a state is the firm's choice. At stage r it is the score that decides, so q_r is 1, unless those who fail the
stage get no score (a written test before an oral board): then it shows v_j with q_r p_j, and leads out otherwise. The q
of the last stage is the chance that an offer made is accepted; if no stage follows r, a stage `offer` without cost is
added, with the share of offers that were not declined.

q_t is estimated among those who reached stage t and whose result is known, given priors and group, with the strata and
the shrinkage of `strata` (a pass is 1, a fail 0), from other folds. It is not made to depend on the score, and a pass
counts as chance even where the firm judged something that is not in the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from auditkit.data.firm_history import History
from auditkit.fitting.fitter import Laws
from auditkit.fitting.folds import Folds
from auditkit.fitting.group_chances import CellShares
from auditkit.fitting.long_term import TrueValue
from auditkit.fitting.quality import FEW
from auditkit.fitting.searches import People, hired, stage_reached
from auditkit.fitting.strata import Strata
from auditkit.model.layout import Floats, Ints
from auditkit.model.search import Chain, State

if TYPE_CHECKING:
    import pandas as pd

MOST_POINTS = 20
"""Support points of a chain's score: it has a state for each of them at every later stage."""
OFFERS = 0.95
"""Share of those who reached a stage that must have been offered the position for it to be the offer itself."""
SCORED = 0.95
"""Share of those who passed a test that must have a score, and of those who failed it that must not, for the score to
be that of a later test."""


@dataclass(frozen=True, eq=False)
class StagePlan:
    """The stages of a history, and which of them shows the score."""

    stages: tuple[str, ...]
    """With the added `offer` if the score is shown last."""
    own: int
    """How many of them are the history's."""
    shows: int
    fails: bool = False
    """Whether the stage that shows the score can be failed, and no score is given then."""

    @staticmethod
    def of(history: History, notices: list[str]) -> StagePlan:
        names = history.stages
        if history.score_stage in names:
            shows = names.index(history.score_stage)
        else:
            shows = len(names) - 1
            reached = stage_reached(history, names[-1])
            offered = history.table["selected"].to_numpy(dtype=np.bool_)
            if shows and reached.any() and offered[reached].mean() >= OFFERS:
                shows -= 1
            notices.append(f"nothing says which stage shows the score: {names[shows]} is taken")
        fails = _fails_without_score(history, names[shows])
        if shows < len(names) - 1:
            return StagePlan(names, len(names), shows, fails)
        return StagePlan((*names, _free("offer", names)), len(names), shows, fails)

    def by_chance(self, stage: int) -> bool:
        """Whether a candidate who is sent to this stage passes it by chance."""
        return stage != self.shows or self.fails

    def results(self, history: History, stage: int) -> Floats:
        """1 for passed, 0 for failed, NaN for those who were not there or whose result is not known."""
        table = history.table
        if stage < self.own:
            known = _passed(history, self.stages[stage])
            return known if self.by_chance(stage) else np.where(np.isnan(known), np.nan, 1.0)
        offered = table["selected"].to_numpy(dtype=np.bool_)
        return np.where(offered, hired(table), np.nan)


def _passed(history: History, stage: str) -> Floats:
    return np.asarray(history.table[f"passed:{stage}"].astype("Float64").fillna(np.nan), dtype=np.float64)


def _fails_without_score(history: History, stage: str) -> bool:
    """Whether (nearly) all of those who passed a stage have a score, and (nearly) none of those who failed it."""
    scored, passed = history.table["score"].notna().to_numpy(), _passed(history, stage)
    shares = [scored[passed == known].mean() for known in (0.0, 1.0) if (passed == known).any()]
    return len(shares) == 2 and shares[0] <= 1 - SCORED <= SCORED <= shares[1]


def few_results(plan: StagePlan, results: Sequence[Floats]) -> list[str]:
    """Notices of stages with few known results."""
    counts = {name: int((~np.isnan(known)).sum()) for name, known in zip(plan.stages, results, strict=True)}
    return [
        f"{name}: only {n} known results to learn the chance of passing from"
        for stage, (name, n) in enumerate(counts.items())
        if n < FEW and plan.by_chance(stage)
    ]


def pass_chances(
    plan: StagePlan, results: Sequence[Floats], features: pd.DataFrame, folds: Folds, times: Ints | None = None
) -> Floats:
    """q_t of every row of the history's table, (rows, stages); 1 at a stage that nobody passes by chance.

    `times` says how often each row teaches, in a resample; once otherwise.
    """
    chances = np.ones((len(features), len(plan.stages)))
    for stage, known in enumerate(results):
        if not plan.by_chance(stage):
            continue
        for fold in range(folds.count):
            inside = np.flatnonzero(folds.fold == fold)
            training = np.flatnonzero(folds.training(fold, ~np.isnan(known)))
            if times is not None:
                training = np.repeat(training, times[training])
            if len(training) and len(inside):
                model = Strata(features.iloc[training], known[training], np.ones(len(training)), 2)
                chances[inside, stage] = np.clip(model.laws(features.iloc[inside]).means, 0.0, 1.0)
    return chances


def chains(
    plan: StagePlan,
    laws: Laws,
    chances: Floats,
    costs: Floats,
    groups: Sequence[People],
    attributes: Sequence[Mapping[str, float | str]],
    value_scale: float,
    true_value: TrueValue | None,
    names: Sequence[str] | None = None,
    members: CellShares | None = None,
) -> list[Chain]:
    """A chain for each candidate, named c0, c1, ... if not otherwise; equal ones share their states."""
    made: dict[tuple[object, ...], Chain] = {}
    result = []
    for i, (number, who) in enumerate(zip(laws.which.tolist(), groups)):
        terms = tuple(chances[i].tolist()), tuple(costs[i].tolist())
        key = number, who.cell, terms
        if key not in made:
            values, probs = laws.law(number)
            true = None if true_value is None else value_scale * true_value.of(values, who.cell)
            own = {} if members is None or who.shares is None else members.of_stages(who.shares, values)
            states = _states(plan, value_scale * values, probs, true, *terms, own)
            made[key] = Chain("", who.group, plan.stages[0], states)
        name = f"c{i}" if names is None else names[i]
        # equal states are checked once, which is most of the time of many candidates
        result.append(replace(made[key], id=name, attributes=attributes[i], checked=True))
    return result


def _states(
    plan: StagePlan,
    values: Floats,
    probs: Floats,
    true: Floats | None,
    chances: tuple[float, ...],
    costs: tuple[float, ...],
    members: Mapping[str, Sequence[Mapping[str, Floats]]],
) -> tuple[State, ...]:
    stages, shows = plan.stages, plan.shows
    out = _free("out", stages)
    numbers = range(1, len(values) + 1)

    def onward(target: str, chance: float) -> dict[str, float]:
        return {name: p for name, p in ((target, chance), (out, 1 - chance)) if p > 0}

    def share(stage: int, j: int = 1) -> dict[str, dict[str, float]]:
        return {name: {g: float(own[j - 1]) for g, own in path[stage].items()} for name, path in members.items()}

    states = [
        State(stages[t], 0.0 - costs[t], onward(stages[t + 1], chances[t]), stage=stages[t], membership=share(t))
        for t in range(shows)
    ]
    passes = chances[shows]
    first = {f"{stages[shows + 1]}-{j}": passes * float(p) for j, p in zip(numbers, probs) if passes}
    if passes < 1:
        first[out] = 1 - passes
    shown = {} if not members else _mean_of(members, shows, probs) if passes == 1 else share(shows)
    states.append(State(stages[shows], 0.0 - costs[shows], first, stage=stages[shows], membership=shown))
    for t in range(shows + 1, len(stages)):
        after = stages[t + 1] if t + 1 < len(stages) else "hired"
        states += [
            State(
                f"{stages[t]}-{j}",
                0.0 - costs[t],
                onward(f"{after}-{j}", chances[t]),
                stage=stages[t],
                membership=share(t, j),
            )
            for j in numbers
        ]
    states += [
        State(
            f"hired-{j}",
            float(v),
            selected=True,
            true_reward=None if true is None else float(true[j - 1]),
            membership=share(len(stages), j),
        )
        for j, v in zip(numbers, values)
    ]
    if any(out in state.to for state in states):
        states.append(State(out, 0.0))
    return tuple(states)


def _mean_of(
    members: Mapping[str, Sequence[Mapping[str, Floats]]], shows: int, probs: Floats
) -> dict[str, dict[str, float]]:
    """Membership at the stage that shows the score: the mean of what it shows, to the last digit."""
    return {name: {g: float(probs @ own) for g, own in path[shows + 1].items()} for name, path in members.items()}


def _free(name: str, taken: Sequence[str]) -> str:
    """The name, marked if a stage already has it."""
    while name in taken:
        name += "*"
    return name
