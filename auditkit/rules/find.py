"""Alternatives to the firm's own rule, for each attribute and step: the certified frontier, simple rules, their gains.

The most affected group of an attribute is compared with the one that reaches the step most often (among groups large
enough to be compared), by what the firm did. A report asks about selection and about every other step of the model at
which a difference was found. Where nothing is asked for, attributes whose ratio is above `ENOUGH` are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from pydantic import JsonValue

from auditkit.constraints.outcome import weights_on
from auditkit.data.stages import PASSED
from auditkit.display import Shown
from auditkit.errors import InputError, Problem, nearest
from auditkit.fitting.fitted import Fitted
from auditkit.model.layout import Layout
from auditkit.model.session import current
from auditkit.rules.best_rules import Target, Trials, search_rules
from auditkit.rules.blind_frontier import FrontierOptimum, frontier_points, largest_ratio
from auditkit.rules.confirmed_gains import Gain, Judges
from auditkit.rules.known_before import known_of
from auditkit.rules.play import (
    GroupPair,
    Played,
    RuleYield,
    ThoseWhoApplied,
    parameters_of,
    played_by_firm,
    ranked,
    rate_weights,
    visits_of,
)
from auditkit.rules.requisitions import among, some
from auditkit.rules.rule import KnownBefore, Rule
from auditkit.scenarios.neighbours import Neighbours
from auditkit.text import brief

TARGETS = (0.8, 0.9, 1.0)
ENOUGH = 0.95
LESS = 0.01
"""Of the utility of the firm's own rule."""

MOST, MOST_TRIED = 5_000, 4_000
"""Candidates of the requisitions on which alternatives are worked out, and among them of those on which the best rules
are looked for; of larger histories as many requisitions as hold so many, chosen by a hash (`requisitions`)."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class RuleResult:
    """A rule and what it yields: in the model, for those who applied, and its gain judged on other requisitions."""

    name: str
    target: float
    """The ratio that it is the best found for."""
    met: bool
    parameters: Mapping[str, JsonValue]
    text: str
    exposure: int
    """From the easiest to defend (0) to the most exposed."""
    utility: float
    ratio: float | None
    """In the model."""
    interviews: float
    filled: float
    people: RuleYield
    """The same for those who applied, each in their own group."""
    gain: Gain | None
    gist: str | None = None
    """What it does in a few words, where there are fewer."""


@dataclass(frozen=True)
class LargestRatio:
    """The largest ratio that any policy without the group can have, up to 1."""

    filled: float | None
    """With as many positions filled as the best search fills."""
    at_firm_utility: float | None
    """At the utility of the firm's own rule, in the model; None if no policy has it."""
    at_less: float | None
    """At one per cent less than that."""


@dataclass(frozen=True)
class Dealt:
    """How many of the requisitions alternatives were worked out on, and with how many candidates."""

    searches: int
    of: int
    candidates: int
    judged: int | None
    """Requisitions on which gains were judged; None where they were not."""


@dataclass(frozen=True)
class Alternative:
    """One attribute and step."""

    attribute: str
    group: str
    against: str
    step: str
    recorded_ratio: float | None
    """That of the firm's decisions."""
    blind: tuple[FrontierOptimum, ...]
    aware: tuple[FrontierOptimum, ...]
    """The bound if the group could be used; empty where that was not asked for."""
    firm: RuleYield
    """The firm's own rule, in the model."""
    rules: tuple[RuleResult, ...]
    largest_ratio: LargestRatio
    dealt: Dealt | None = None
    """None in reports of earlier versions."""

    @property
    def best(self) -> RuleResult | None:
        """The most valuable rule that reaches 0.9, or else the rule with the largest ratio."""
        met = [rule for rule in self.rules if rule.target == 0.9 and rule.met]
        return max(met, key=lambda rule: rule.utility, default=None)

    @property
    def safest_confirmed(self) -> RuleResult | None:
        """The rule that is easiest to defend among those that reach 0.9 and whose gain was found elsewhere."""
        found = [rule for rule in self.rules if rule.target == 0.9 and rule.met and rule.gain and rule.gain.found]
        return min(found, key=lambda rule: (rule.exposure, -rule.utility), default=None)


@dataclass(frozen=True, eq=False)
class Alternatives(Shown):
    """What `auditkit alternatives` finds."""

    found: tuple[Alternative, ...]
    left_out: Mapping[str, str]
    """Attribute -> why there is nothing about it."""
    information: tuple[str, ...]
    """What the rules may use."""
    alike: tuple[str, ...] = ()
    """Attributes whose groups nothing that is known tells apart."""

    def to_json(self) -> list[dict[str, object]]:
        return [asdict(each) for each in self.found]

    def __repr__(self) -> str:
        return f"<Alternatives: {len(self.found)} attributes>"

    def _facts(self) -> list[str]:
        return [f"{name}: {why}" for name, why in self.left_out.items()]

    def _tables(self) -> list[Any]:
        import pandas as pd

        rows = [
            (each.attribute, rule.name, rule.target, rule.utility, rule.ratio, rule.people.ratio, rule.text)
            for each in self.found
            for rule in each.rules
        ]
        columns = ["attribute", "rule", "target", "utility", "ratio", "ratio of those who applied", "what it does"]
        return [pd.DataFrame(rows, columns=columns)]


def find_alternatives(
    fitted: Fitted,
    rules: Mapping[str, type[Rule]],
    *,
    aware: Fitted | None = None,
    asked: Sequence[tuple[str, str]] | None = None,
    on: str = "selection",
    gains: bool = True,
    progress: Progress = lambda _: None,
) -> Alternatives:
    """Of a history fitted so that policies do not see groups; `aware` is the same with groups, for the bound beside it.

    `asked` are the attributes and outcomes that are asked for, whatever their ratio is; otherwise every attribute with
    a difference in the outcome `on`.
    """
    layout = fitted.instance.layout
    if not layout.uncertain:
        what = "the policies of this model see the groups"
        raise InputError(Problem("fit.group_aware", what, "set fit.group_aware = false"))
    for name, _ in asked or ():
        if name not in layout.protected:
            fix = nearest(name, layout.protected)
            raise InputError(Problem("--by", f"there is no protected attribute {name!r}", fix))
    for outcome in {on, *(outcome for _, outcome in asked or ())}:
        weights_on(layout, outcome)  # refuses what is no outcome
    every = len(layout.search_ids)
    searches = some(layout, MOST)
    fitted, aware = among(fitted, searches), None if aware is None else among(aware, searches)
    layout, known = fitted.instance.layout, known_of(fitted)
    pairs: list[tuple[GroupPair, float | None]] = []
    left_out = {}
    for name, outcome in [(name, on) for name in layout.protected] if asked is None else asked:
        pair, ratio = most_affected(fitted, name, outcome)
        if pair is None:
            left_out[name] = "fewer than two groups are large enough to be compared"
        elif asked is None and ratio is not None and ratio >= ENOUGH:
            written = brief(ratio, ENOUGH, 1.0)
            left_out[name] = f"the recorded ratio of {pair.group} to {pair.against} is {written}: little difference"
        elif asked is None and name in fitted.alike:
            left_out[name] = "no rule that treats everyone alike changes the rates of its groups, under this model"
        else:
            pairs.append((pair, ratio))
    judges = Judges.of(fitted, list({pair.attribute for pair, _ in pairs})) if gains and pairs else None
    used = Dealt(len(searches), every, len(known.expected), None if judges is None else judges.searches)
    found = []
    for pair, ratio in pairs:
        progress(f"alternatives for {pair.attribute}")
        found.append(_alternative(fitted, known, rules, aware, pair, ratio, judges, used))
    return Alternatives(tuple(found), left_out, tuple(known.features), fitted.alike)


def outcomes_asked(steps: Sequence[str], found: Collection[str], layout: Layout) -> list[str]:
    """What a report asks about if differences were found at these of its steps: selection, and every other of them that
    the model has. A test that everyone took is passed by chance there, not by a decision."""
    names = {steps[0]: "inspection"} if len(steps) > 1 and not steps[0].endswith(PASSED) else {}
    names = {stage: stage for stage in layout.stages} | names
    return ["selection", *(names[step] for step in steps[:-1] if step in found and step in names)]


def most_affected(fitted: Fitted, attribute: str, on: str) -> tuple[GroupPair | None, float | None]:
    """The group with the lowest recorded rate and the one with the highest, and their ratio."""
    layout, actual = fitted.instance.layout, fitted.groups.get(attribute)
    modelled = layout.protected[attribute].names
    groups = [group for group in (modelled if actual is None else actual.comparable) if group in modelled]
    if len(groups) < 2:
        return None, None
    outcome = fitted.realised.who_reached(on)
    if actual is None:  # probabilities are all that the data have
        assert fitted.refit is not None
        shares = fitted.refit.chances[attribute].only(fitted.refit.rows).imputed
        assert shares is not None
        rates = {group: float(np.average(outcome, weights=shares[:, modelled.index(group)])) for group in groups}
    else:
        rates = {group: float(outcome[actual.codes == actual.names.index(group)].mean()) for group in groups}
    low, high = min(rates, key=lambda g: rates[g]), max(rates, key=lambda g: rates[g])
    if low == high:
        low, high = groups[0], groups[1]
    return GroupPair(attribute, low, high, on), rates[low] / rates[high] if rates[high] > 0 else None


def _alternative(
    fitted: Fitted,
    known: KnownBefore,
    rules: Mapping[str, type[Rule]],
    aware: Fitted | None,
    pair: GroupPair,
    recorded: float | None,
    judges: Judges | None,
    used: Dealt,
) -> Alternative:
    layout = fitted.instance.layout
    firm = played_by_firm(known).for_pair(pair)
    line = Neighbours()
    blind = frontier_points(fitted.instance, pair, line=line)
    seen: tuple[FrontierOptimum, ...] = ()
    if aware is not None and pair.attribute in aware.instance.layout.protected:
        seen = tuple(frontier_points(aware.instance, pair))
    free = blind[0]
    assert free.utility is not None and free.filled is not None
    targets = [Target(r, free.utility, free.filled, float(layout.capacity.sum())) for r in TARGETS]
    chosen = best_of_each(fitted, known, pair, rules, targets, hints=_hints(known, pair, blind))
    visits = {key: visits_of(layout, ranked(rule, known)) for key, rule in chosen.items()}
    yields = {key: Played.of(layout, each).for_pair(pair) for key, each in visits.items()}
    confirmed: dict[tuple[str, float], Gain] = {}
    if judges is not None and firm.ratio:
        gains = {key: own.ratio / firm.ratio for key, own in yields.items() if own.ratio}
        confirmed = judges.gains(pair, judged_rules(rules), TARGETS, gains)
    results, actual = [], fitted.groups.get(pair.attribute)
    people = None if actual is None else ThoseWhoApplied.of(layout, pair, actual)
    for (name, ratio), rule in chosen.items():
        own = yields[name, ratio]
        target = next(target for target in targets if target.ratio == ratio)
        results.append(
            RuleResult(
                name=name,
                target=ratio,
                met=target.met(own),
                parameters=parameters_of(rule),
                text=rule.sentence(known),
                exposure=rule.exposure,
                utility=own.utility,
                ratio=own.ratio,
                interviews=own.interviews,
                filled=own.filled,
                people=own if people is None else people.yields(visits[name, ratio]),
                gain=confirmed.get((name, ratio)),
                gist=rule.gist(known),
            )
        )
    results.sort(key=lambda rule: (rule.target, rule.exposure, rule.name))
    largest = LargestRatio(
        filled=largest_ratio(fitted.instance, pair, blind, filled=0.9999 * free.filled),
        at_firm_utility=largest_ratio(fitted.instance, pair, blind, utility=firm.utility, line=line),
        at_less=largest_ratio(fitted.instance, pair, blind, utility=firm.utility - LESS * abs(firm.utility), line=line),
    )
    return Alternative(
        pair.attribute,
        pair.group,
        pair.against,
        pair.on,
        recorded,
        tuple(blind),
        seen,
        firm,
        tuple(results),
        largest,
        used,
    )


def judged_rules(rules: Mapping[str, type[Rule]]) -> dict[str, type[Rule]]:
    """Rules that can be chosen on half of the requisitions: those that need no other fit."""
    return {name: rule for name, rule in rules.items() if not rule.refits}


def best_of_each(
    fitted: Fitted,
    known: KnownBefore,
    pair: GroupPair,
    rules: Mapping[str, type[Rule]],
    targets: Sequence[Target],
    hints: Sequence[Mapping[str, float]] = (),
) -> dict[tuple[str, float], Rule]:
    """(kind, ratio) -> the best rule found, on all searches or on as many as hold MOST candidates."""
    small = known
    if len(known.expected) > MOST_TRIED:  # the same for all attributes
        small = current().get(known, "fewer", lambda: known_of(among(fitted, some(known.layout, MOST_TRIED))))
    share = float(small.layout.capacity.sum()) / max(1.0, float(known.layout.capacity.sum()))
    trials: dict[str, Trials] = search_rules(rules, small, pair, hints)
    own = [Target(t.ratio, share * t.utility, share * t.filled, share * t.positions) for t in targets]
    found = {name: each.refined(own) for name, each in trials.items()}
    return {(name, t.ratio): best[t.ratio] for t in own for name, best in found.items() if t.ratio in best}


def _hints(known: KnownBefore, pair: GroupPair, blind: Sequence[FrontierOptimum]) -> list[dict[str, float]]:
    """Weights that come nearest to what the best blind policy adds to scores at each ratio: least squares on x."""
    layout = known.layout
    if not known.features:
        return []
    columns = np.column_stack([x - x.mean() for x in known.features.values()])
    one, two = rate_weights(layout, pair)
    chance = np.where(layout.selecting, layout.value_chance if layout.only_boxes else 1.0, 0.0)
    total = np.maximum(layout.sum_by_candidate(chance), 1e-300)
    found = []
    for point in blind:
        if point.ratio in TARGETS and point.dual:
            bonus = -point.dual * (one - point.ratio * two) / known.value_scale
            mean = layout.sum_by_candidate(chance * bonus) / total
            weights = np.linalg.lstsq(columns, mean - mean.mean(), rcond=None)[0]
            found.append(dict(zip(known.features, weights.tolist(), strict=True)))
    return found
