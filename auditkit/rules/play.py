"""Any rule, evaluated exactly: visits, utility and the rates of groups, in the model and for those who applied.

With sigma the index of a candidate and w the number shown once the score is known, the evaluation in docs/method.md
holds for kappa = min(w, sigma), whether or not sigma is the best index: "advance the highest number shown" is
all that it needs. A shortlist has sigma = +-infinity. A lottery among candidates of a band is a mixture over who is
drawn (`lottery_kernels`).

**In the model** a group's outcomes are its membership times the visits. **For those who applied** everybody counts in
their own group g, with the law of the score of that group: sum over i in g of sum_s p_i(s) theta_g(s) / theta_g(start).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from pydantic import JsonValue

from auditkit.constraints.outcome import outcome_weights, outcomes_of
from auditkit.constraints.two_sets import INSPECTION, SELECTION
from auditkit.errors import PluginError, blaming
from auditkit.model.layout import Floats, Layout, Partition, dot
from auditkit.model.session import current
from auditkit.rules.known_before import firm_ranking
from auditkit.rules.rule import KnownBefore, Ranking, Rule
from auditkit.solver.evaluate import Prepared

MOST_LOTTERY_STEPS = 1e9
"""Of the kernel of lotteries."""


@dataclass(frozen=True)
class GroupPair:
    """Two groups of an attribute whose rates of an outcome are compared."""

    attribute: str
    group: str
    against: str
    on: str = "selection"


@dataclass(frozen=True)
class RuleYield:
    """What a rule yields: utility, rate of the group over that of the other (None where the other has none), and the
    expected numbers inspected and selected."""

    utility: float
    ratio: float | None
    interviews: float
    filled: float


def defect(known: KnownBefore, ranking: Ranking) -> str | None:
    """What is wrong with a ranking; rules that prefer a lower score of the same candidate are refused."""
    index, states = ranking.index, known.layout.states
    if index.shape != (states,):
        return f"its index has the shape {index.shape}, not one number for each of the {states} states"
    if np.isnan(index).any():
        return "its index is not a number somewhere"
    better, worse, pairs = known.better
    if ((index[better] < index[worse]) & pairs).any():
        return "it shows a lower number for a higher score of the same candidate: it is not monotone in the score"
    return None


def ranked(rule: Rule, known: KnownBefore) -> Ranking:
    """The ranking of a rule; raises PluginError if it is none."""
    with blaming(type(rule), f"the rule {rule.name!r}"):
        found = rule.rank(known)
    if not isinstance(found, Ranking):
        raise PluginError(type(rule), f"the rule {rule.name!r}: rank(known) must return a Ranking")
    if (wrong := defect(known, found)) is not None:
        raise PluginError(type(rule), f"the rule {rule.name!r}: {wrong}")
    return found


def affordable(layout: Layout, ranking: Ranking) -> bool:
    """Whether a ranking can be evaluated in reasonable time."""
    if ranking.draw is None:
        return True
    if not layout.only_boxes or layout.limits is not None:
        return False
    people = np.diff(layout.search_ptr).astype(np.float64)
    events = np.diff(layout.candidate_ptr[layout.search_ptr])
    steps = events * people * (ranking.draw.places + 1.0) * np.maximum(layout.capacity, 1)
    return float(steps.sum()) <= MOST_LOTTERY_STEPS


def visits_of(layout: Layout, ranking: Ranking) -> Floats:
    """Expected visits of every state under a ranking."""
    if ranking.draw is None:
        return Prepared.of_indices(layout, ranking.index).visits()
    from auditkit.rules.lottery_kernels import drawn_visits

    listed = np.isposinf(ranking.index[layout.start]) & ~ranking.draw.band
    visits = np.empty(layout.states)
    drawn_visits(
        np.arange(len(layout.search_ids)),
        layout.search_ptr,
        layout.capacity,
        layout.candidate_ptr,
        listed,
        ranking.draw.band,
        ranking.draw.places,
        layout.value_chance,
        ranking.index,
        visits,
    )
    return visits


def rate_weights(layout: Layout, pair: GroupPair) -> list[Floats]:
    """For each of the two groups the weights of states whose product with p is its rate."""
    outcome = outcome_weights(layout, pair.on)
    part = layout.protected[pair.attribute]
    codes = [part.names.index(group) for group in (pair.group, pair.against)]
    return [layout.share(part, code) * outcome / float(part.sizes[code]) for code in codes]


@dataclass(frozen=True)
class Played:
    """What a policy yields in the model, where groups count by membership, whichever of them are compared at whichever
    step."""

    utility: float
    interviews: float
    filled: float
    rates: Mapping[str, Mapping[str, Mapping[str, float]]]
    """Outcome -> attribute -> group -> its rate of the outcome."""

    @staticmethod
    def of(layout: Layout, visits: Floats) -> Played:
        visits = visits.view()
        visits.flags.writeable = False  # what follows from the states of kinds is added up once
        inspected, rates = visits[layout.start], {}
        for on in outcomes_of(layout):
            if on == INSPECTION:
                reached = layout.by_attribute(inspected)
            elif on == SELECTION:
                reached = layout.visits_by_attribute(visits, layout.kinds.selecting)
            else:
                reached = layout.visits_by_attribute(outcome_weights(layout, on) * visits)
            rates[on] = {
                name: {group: reached[name][group] / max(float(n), 1e-300) for group, n in zip(part.names, part.sizes)}
                for name, part in layout.protected.items()
            }
        utility, filled = (layout.total(weights, visits) for weights in (layout.kinds.reward, layout.kinds.selecting))
        return Played(utility, float(inspected.sum()), filled, rates)

    def for_pair(self, pair: GroupPair) -> RuleYield:
        one, two = (self.rates[pair.on][pair.attribute][group] for group in (pair.group, pair.against))
        return RuleYield(self.utility, one / two if two > 0 else None, self.interviews, self.filled)


def played(known: KnownBefore, rule: Rule) -> Played | None:
    """A rule on what is known, evaluated once whichever groups are compared; None if that takes too long."""

    def play() -> Played | None:
        ranking = ranked(rule, known)
        if not affordable(known.layout, ranking):
            return None
        return played_by(known, ranking)

    return current().get(known, f"played {rule.name} {rule.model_dump_json()}", play)


def played_by_firm(known: KnownBefore) -> Played:
    """The same of the firm's own rule."""
    return current().get(known, "played by the firm", lambda: played_by(known, firm_ranking(known)))


def played_by(known: KnownBefore, ranking: Ranking) -> Played:
    return Played.of(known.layout, visits_of(known.layout, ranking))


@dataclass(frozen=True, eq=False)
class ThoseWhoApplied:
    """What policies yield by their visits for the people who happened to apply, each in their own group."""

    layout: Layout
    reward: Floats
    """Of every state, for somebody of the group of its candidate."""
    rates: tuple[Floats, Floats]
    """The weights of states that make the rates of the two groups."""

    @staticmethod
    def of(layout: Layout, pair: GroupPair, actual: Partition) -> ThoseWhoApplied:
        weight, part = np.ones(layout.states), layout.protected[pair.attribute]
        rates = {group: np.zeros(layout.states) for group in (pair.group, pair.against)}
        outcome = outcome_weights(layout, pair.on)
        for code, group in enumerate(actual.names):
            members = actual.codes == code
            if group not in part.names:
                continue
            mine = layout.spread(members)
            if part.uncertain is not None:
                theta = np.asarray(layout.share(part, part.names.index(group)), dtype=np.float64)
                weight[mine] = (theta / layout.spread(np.maximum(theta[layout.start], 1e-12)))[mine]
            if group in rates:
                rates[group] = np.where(mine, weight * outcome, 0.0) / max(1, int(members.sum()))
        return ThoseWhoApplied(layout, weight * layout.reward, (rates[pair.group], rates[pair.against]))

    def yields(self, visits: Floats) -> RuleYield:
        one, two = (dot(weights, visits) for weights in self.rates)
        filled = dot(self.layout.selecting_weights, visits)
        interviews = float(visits[self.layout.start].sum())
        return RuleYield(dot(self.reward, visits), one / two if two > 0 else None, interviews, filled)


def parameters_of(rule: Rule) -> dict[str, JsonValue]:
    """The parameters of a rule, as plain numbers and words."""
    found: Mapping[str, JsonValue] = rule.model_dump(mode="json")
    return dict(found)
