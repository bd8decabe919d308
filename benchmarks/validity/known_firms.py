"""Firms whose laws are known: a table as a firm would export it, and the instance with the true laws beside it.

A candidate has a group in each attribute and a CV (whole points, normal around 50 plus `cv_gaps` of the groups). The
score of an inspection is

    50 + slope * (CV - 50) + shift of each of its groups + spread * z,      z standard normal

A firm inspects the candidates of each search who stand highest, and selects those with the highest scores among them.
The standing is the expected score without groups, plus `bias` of each group, plus `hidden` of the group times z (a
signal that the data do not have), plus noise. In stages, the inspection begins with a screen that is passed with
the chance 1 / (1 + exp(-(CV - 50) / 10 - shift / 2)).

Of a `blind` scenario the true instance is the one without groups: the law of the score given the CV is the mixture over
the groups, and who belongs to a group follows from the CV and the score by Bayes' rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from auditkit.fitting.chains import StagePlan, chains
from auditkit.fitting.fitter import Laws
from auditkit.fitting.searches import People
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Candidate, Search

Floats = NDArray[np.float64]
CV_SPREAD = 10.0
POINTS = {False: 40, True: 20}
"""Support points of a true law: of boxes, and in stages."""

TWO = {"sex": {"M": 0.5, "F": 0.5}}
FOUR = {"race": {"W": 0.4, "X": 0.3, "Y": 0.2, "Z": 0.1}}
SIX = {"race": {"U": 0.25, "V": 0.2, "W": 0.2, "X": 0.15, "Y": 0.1, "Z": 0.1}}
BOTH = {"sex": {"M": 0.5, "F": 0.5}, "race": {"W": 0.5, "X": 0.3, "Y": 0.2}}


@dataclass(frozen=True)
class Scenario:
    """Where a firm comes from. `looked_at`: it was used to choose a method, not only to measure one."""

    name: str
    shares: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: TWO)
    """Attribute -> group -> its share of the candidates."""
    shifts: Mapping[str, float] = field(default_factory=dict)
    """Group -> what it adds to the score; groups of all attributes, 0 if not named."""
    cv_gaps: Mapping[str, float] = field(default_factory=dict)
    """Group -> what it adds to the mean of CVs."""
    blind: bool = False
    """Policies do not see groups."""
    searches: int = 30
    size: int = 15
    capacity: int = 2
    inspects: int = 6
    slope: float = 0.5
    spread: float = 6.0
    cost: float = 1.0
    staged: bool = False
    rating: float | None = None
    """Scores are rounded to this step."""
    noise: float = 2.0
    bias: Mapping[str, float] = field(default_factory=dict)
    hidden: Mapping[str, float] = field(default_factory=dict)
    constraints: tuple[str, ...] = ("parity",)
    fitter: str = "empirical"
    looked_at: bool = False
    stream: int = 0
    """Scenarios of one stream have the same candidates at the same seed, those of another stream have others."""

    @property
    def groups(self) -> list[str]:
        return [group for attribute in self.shares.values() for group in attribute]


@dataclass(frozen=True, eq=False)
class KnownFirm:
    """`table` is what the firm exports, `truth` the instance with the true laws, `people` what only we know."""

    scenario: Scenario
    seed: int
    table: pd.DataFrame
    truth: Instance
    people: pd.DataFrame
    """Per row of the table: expected score, z, standing."""

    @property
    def roles(self) -> dict[str, str | list[str]]:
        """For `auditkit.read(firm.table, map=firm.roles, cost=firm.cost)`."""
        names: dict[str, str | list[str]] = {
            "candidate": "Candidate",
            "search": "Search",
            "capacity": "Openings",
            "group": [*self.scenario.shares],
            "prior": "CV",
            "score": "Score",
            "selected": "Hired",
        }
        return names | ({"stages": ["Screen", "Interview"]} if self.scenario.staged else {"inspected": "Interviewed"})

    @property
    def cost(self) -> float | dict[str, float]:
        cost = self.scenario.cost
        return {"Screen": cost / 2, "Interview": cost} if self.scenario.staged else cost


def draw(scenario: Scenario, seed: int) -> KnownFirm:
    """The firm of a scenario with this seed; the same every time."""
    rng = np.random.default_rng([2026, seed, *([scenario.stream] if scenario.stream else [])])
    searches, n = np.repeat(np.arange(scenario.searches), scenario.size), scenario.searches * scenario.size
    own = CV_SPREAD * rng.standard_normal(n)
    groups = {
        name: rng.choice(list(shares), size=n, p=list(shares.values())) for name, shares in scenario.shares.items()
    }
    cv = np.clip(np.round(50 + _of_groups(groups, scenario.cv_gaps) + own), 10, 90)
    shift = _of_groups(groups, scenario.shifts)
    expected = 50 + scenario.slope * (cv - 50) + shift
    z, luck = rng.standard_normal(n), rng.random(n)
    score = expected + scenario.spread * z
    if scenario.rating is not None:
        score = scenario.rating * np.round(score / scenario.rating)
    standing = expected - shift + _of_groups(groups, scenario.bias) + _of_groups(groups, scenario.hidden) * z
    standing = standing + scenario.noise * rng.standard_normal(n)
    tried = _highest(standing, searches, scenario.inspects)
    chance = 1 / (1 + np.exp(-(cv - 50) / 10 - shift / 2))
    inspected = tried & (luck < chance) if scenario.staged else tried
    hired = _highest(np.where(inspected, score, -np.inf), searches, scenario.capacity) & inspected
    yes = np.array(["no", "yes"])
    table = pd.DataFrame(
        {
            "Candidate": [f"p{i}" for i in range(n)],
            "Search": [f"s{s}" for s in searches],
            **groups,
            "Openings": scenario.capacity,
            "CV": cv,
        }
    )
    if scenario.staged:
        table["Screen"] = np.where(tried, np.where(inspected, "passed", "failed"), "")
        table["Interview"] = np.where(inspected, np.where(hired, "passed", "failed"), "")
    else:
        table["Interviewed"] = yes[inspected.astype(int)]
    table["Score"] = np.where(inspected, np.round(score, 3), np.nan)
    table["Hired"] = yes[hired.astype(int)]
    people = pd.DataFrame({"expected": expected, "z": z, "standing": standing})
    truth = _blind_truth(scenario, cv) if scenario.blind else _truth(scenario, groups, expected, chance)
    return KnownFirm(scenario, seed, table, truth, people)


def population(scenario: Scenario, seed: int = 0, searches: int = 1000) -> Instance:
    """The true instance of many searches of the same kind; a price of it, per search, is the population's."""
    return draw(replace(scenario, searches=searches), 10_000_019 + seed).truth


def true_law(scenario: Scenario, expected: float) -> tuple[Floats, Floats]:
    """Support points and probabilities of the score of somebody of whom so much is expected."""
    points = POINTS[scenario.staged]
    if scenario.rating is not None:
        step, far = scenario.rating, 5 * scenario.spread
        grid = step * np.arange(np.floor((expected - far) / step), np.ceil((expected + far) / step) + 1)
        probs = np.diff(norm.cdf((np.append(grid, grid[-1] + step) - step / 2 - expected) / scenario.spread))
        return grid, probs / probs.sum()
    edges = norm.ppf(np.arange(points + 1) / points)
    means = points * (norm.pdf(edges[:-1]) - norm.pdf(edges[1:]))  # of equally likely slices
    return expected + scenario.spread * means, np.full(points, 1 / points)


def _truth(scenario: Scenario, groups: dict[str, Floats], expected: Floats, chance: Floats) -> Instance:
    labels = [dict(zip(groups, map(str, each), strict=True)) for each in zip(*groups.values(), strict=True)]
    kinds, which = np.unique(expected, return_inverse=True)
    laws = [true_law(scenario, mean) for mean in kinds]
    if scenario.staged:
        plan = StagePlan(("Screen", "Interview", "offer"), 2, 1)
        chances = np.stack([chance, np.ones_like(chance), np.ones_like(chance)], axis=1)
        costs = np.tile([scenario.cost / 2, scenario.cost, 0.0], (len(chance), 1))
        who = [People(each, "+".join(each.values())) for each in labels]
        made = chains(plan, Laws.of(laws, which), chances, costs, who, [{}] * len(who), 1.0, None)
    else:
        made = [Box(f"c{i}", labels[i], scenario.cost, *laws[which[i]]) for i in range(len(which))]
    return _searches(scenario, made)


def _blind_truth(scenario: Scenario, cv: Floats) -> Instance:
    """Boxes of people of whom only the CV is known."""
    kinds, which = np.unique(cv, return_inverse=True)
    boxes = [_blind_box(scenario, each) for each in kinds.tolist()]
    return _searches(scenario, [replace(boxes[kind], id=f"c{i}") for i, kind in enumerate(which)])


def _blind_box(scenario: Scenario, cv: float) -> Box:
    """The law of the score of somebody with this CV, and how likely each group is before and after it is known."""
    cells = list(product(*(shares.items() for shares in scenario.shares.values())))
    names = [[group for group, _ in cell] for cell in cells]
    centre = np.array([50 + sum(scenario.cv_gaps.get(group, 0.0) for group in own) for own in names])
    chance = np.array([np.prod([share for _, share in cell]) for cell in cells])
    chance = chance * np.diff(norm.cdf((np.array([[cv - 0.5], [cv + 0.5]]) - centre) / CV_SPREAD), axis=0)[0]
    chance /= chance.sum()
    shift = np.array([sum(scenario.shifts.get(group, 0.0) for group in own) for own in names])
    mean = 50 + scenario.slope * (cv - 50) + shift
    far, step = 3.5 * scenario.spread, scenario.rating
    edges = np.linspace(mean.min() - far, mean.max() + far, POINTS[False] + 1)
    if step is not None:
        edges = step * (np.arange(np.floor(edges[0] / step), np.ceil(edges[-1] / step) + 1) - 0.5)
    given = np.diff(norm.cdf((edges - mean[:, None]) / scenario.spread), axis=1)
    joint = chance[:, None] * given / given.sum(axis=1, keepdims=True)
    total = joint.sum(axis=0)
    membership = {}
    for number, (name, shares) in enumerate(scenario.shares.items()):
        of = {group: np.array([own[number] == group for own in names]) for group in shares}
        membership[name] = {
            group: {"before": float(chance[mine].sum()), "given": np.minimum(1.0, joint[mine].sum(axis=0) / total)}
            for group, mine in of.items()
        }
    values = (edges[1:] + edges[:-1]) / 2
    return Box("", {}, scenario.cost, values, total / total.sum(), membership=membership)


def _searches(scenario: Scenario, made: Sequence[Candidate]) -> Instance:
    size = scenario.size
    return Instance(
        tuple(
            Search(f"s{s}", scenario.capacity, tuple(made[s * size : (s + 1) * size])) for s in range(len(made) // size)
        )
    )


def _of_groups(groups: dict[str, Floats], effects: Mapping[str, float]) -> Floats:
    return sum(
        (np.array([effects.get(str(g), 0.0) for g in labels]) for labels in groups.values()),
        start=np.zeros(len(next(iter(groups.values())))),
    )


def _highest(standing: Floats, search: NDArray[np.int64], most: int) -> NDArray[np.bool_]:
    """The `most` highest of each search."""
    order = np.lexsort((-standing, search))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - np.searchsorted(search, search[order])
    return place < most
