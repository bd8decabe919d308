"""Gains that are judged on other requisitions than those that they were chosen on.

Chosen and judged on the same data, a gain appears in half of all firms where there is none. So the requisitions are
dealt into halves by a hash, many times over. On one half the laws are learnt and the best rule of each kind is chosen;
on the other the laws are learnt anew and the chosen rule is compared with the firm's own; then the other way round.

    gain = log(ratio of the rule / ratio of the firm's own rule),     the mean of both ways in each split

The standard error is the larger of two: that of a delete-a-group jackknife in which the laws are fitted again without
each of `GROUPS` groups of requisitions, for the rule that all the data choose; and half the difference between the two
ways, as a root mean square over the splits, which has in it how much the choice varies. A split's p is one-sided, from
Student's law; a gain is *found* if twice the median p of all splits is at most 5 %: one split decides by luck. The
estimate is the median over the splits. Gains are reported and not levels: what is wrong with the laws is wrong for both
rules.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from auditkit.compare.intervals import refitted
from auditkit.fitting.fitted import Fitted
from auditkit.model.layout import Floats, Ints
from auditkit.rules.best_rules import Target, Trials
from auditkit.rules.known_before import firm_ranking, known_among
from auditkit.rules.play import GroupPair, affordable, in_the_model, ranked, visits_of
from auditkit.rules.rule import KnownBefore, Rule

SPLITS, GROUPS = 4, 8
LEVEL, ALPHA = 0.95, 0.05
FEWEST_SEARCHES = 16
MOST = 6_000
"""Candidates whose requisitions are dealt: of more, as many requisitions as hold so many."""

POINTS = 20
"""Support points of laws that are learnt from some of the requisitions."""

SIZES = {1: 4, 2: 8}
"""Points of the design of one and of several parameters, when a rule is chosen on half of the requisitions."""


@dataclass(frozen=True)
class Gain:
    """The ratio of a rule over that of the firm's own, judged on other requisitions; `found` if it is confirmed."""

    ratio: float
    interval: tuple[float, float]
    found: bool
    p: float
    detectable: float
    """The smallest gain that would be found four times out of five."""
    splits: int


@dataclass(frozen=True, eq=False)
class Judges:
    """The requisitions of a fitted history, dealt: laws learnt from halves, and without each group of the jackknife."""

    halves: tuple[tuple[KnownBefore, KnownBefore], ...]
    without_group: tuple[KnownBefore, ...]

    @staticmethod
    def of(fitted: Fitted, known: KnownBefore, attributes: Sequence[str]) -> Judges | None:
        """With the chances of groups of these attributes; None where there are too few requisitions."""
        searches = _dealt(fitted)
        if fitted.refit is None or len(searches) < FEWEST_SEARCHES:
            return None
        training = fitted.refit.training
        fewer = training.kind.model_copy(update={"points": min(POINTS, training.kind.points)})
        chances = {name: own for name, own in fitted.refit.chances.items() if name in attributes}
        labels = fitted.refit.groups
        if labels is not None:
            labels = replace(labels, labels={name: labels.labels[name] for name in chances})
        refit = replace(fitted.refit, training=replace(training, kind=fewer), chances=chances, groups=labels)
        fitted = replace(fitted, refit=refit)
        ids = fitted.instance.layout.search_ids

        def dealt(*name: object) -> list[int]:
            return sorted(searches.tolist(), key=lambda s: _hash(*name, ids[s]))

        halves = []
        for split in range(SPLITS):
            one, two = (_laws_of(fitted, known, np.sort(np.array(dealt(split)[i::2]))) for i in (0, 1))
            halves.append((one, two))
        order = dealt("jackknife")
        left = [[s for i, s in enumerate(order) if i % GROUPS != group] for group in range(GROUPS)]
        return Judges(tuple(halves), tuple(_laws_of(fitted, known, np.sort(np.array(own))) for own in left))

    def gains(
        self,
        pair: GroupPair,
        kinds: Mapping[str, type[Rule]],
        ratios: Sequence[float],
        chosen: Mapping[tuple[str, float], Rule],
    ) -> dict[tuple[str, float], Gain]:
        """For each (kind, ratio) whose rule was `chosen` on all data."""
        wanted = {key: rule for key, rule in chosen.items() if rule.name in kinds}
        errors = self._errors(pair, wanted)
        logs: dict[tuple[str, float], list[tuple[float, float]]] = {key: [] for key in wanted}
        for halves in self.halves:
            ways = [
                _gains(judged, pair, _chosen(learnt, pair, kinds, ratios)) for learnt, judged in (halves, halves[::-1])
            ]
            for key in logs:
                if all(key in way for way in ways):
                    logs[key].append((ways[0][key], ways[1][key]))
        return {
            key: _gain(np.array(own), errors[key])
            for key, own in logs.items()
            if len(own) == SPLITS and key in errors and np.isfinite(own).all()
        }

    def _errors(self, pair: GroupPair, rules: Mapping[tuple[str, float], Rule]) -> dict[tuple[str, float], float]:
        """The jackknife's standard error of each gain."""
        rows = [_gains(known, pair, rules) for known in self.without_group]
        found = {}
        for key in rules:
            own = np.array([row[key] for row in rows if key in row])
            if len(own) == GROUPS:
                found[key] = float(np.sqrt((GROUPS - 1) / GROUPS * ((own - own.mean()) ** 2).sum()))
        return found


def _gain(ways: Floats, error: float) -> Gain:
    """From the gains of both ways of each split, (splits, 2), and the jackknife's standard error."""
    freedom = GROUPS - 1
    logs, halves = ways.mean(axis=1), float(np.sqrt(np.mean((ways[:, 0] - ways[:, 1]) ** 2) / 4))
    error = max(error, halves, 1e-9)
    middle = float(np.median(logs))
    p = min(1.0, 2.0 * float(np.median(stdtr(freedom, -logs / error))))
    reach = float(stdtrit(freedom, (1 + LEVEL) / 2)) * error
    detectable = (float(stdtrit(freedom, 1 - ALPHA / 2)) + float(stdtrit(freedom, 0.8))) * error
    ends = float(np.exp(middle - reach)), float(np.exp(middle + reach))
    return Gain(float(np.exp(middle)), ends, p <= ALPHA, p, float(np.exp(detectable)), len(logs))


def _hash(*parts: object) -> bytes:
    return hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=16).digest()


def _dealt(fitted: Fitted) -> Ints:
    """The requisitions that are dealt: all of them, or as many as hold MOST candidates, chosen by a hash."""
    layout = fitted.instance.layout
    order = np.array(sorted(range(len(layout.search_ids)), key=lambda s: _hash("dealt", layout.search_ids[s])))
    held = np.cumsum(np.diff(layout.search_ptr)[order])
    return np.sort(order[: int(np.searchsorted(held, MOST)) + 1])


def _laws_of(fitted: Fitted, known: KnownBefore, searches: Ints) -> KnownBefore:
    """What is known of some requisitions under laws that are learnt from them alone, chances of groups included."""
    assert fitted.refit is not None
    layout, refit = fitted.instance.layout, fitted.refit
    numbers = refit.search[refit.rows[layout.search_ptr[searches]]]
    times = np.bincount(numbers, minlength=refit.searches).astype(np.int64)
    return known_among(known, refitted(fitted, times, searches, moved=False, regrouped=True), searches)


def _chosen(
    known: KnownBefore, pair: GroupPair, kinds: Mapping[str, type[Rule]], ratios: Sequence[float]
) -> dict[tuple[str, float], Rule]:
    firm = in_the_model(known.layout, visits_of(known.layout, firm_ranking(known)), pair)
    positions = float(known.layout.capacity.sum())
    rules = {}
    for name, kind in kinds.items():
        trials = Trials(kind, known, pair)
        trials.design(SIZES[min(2, max(1, len(trials.dimensions)))])
        for ratio in ratios:
            best = trials.best(Target(ratio, firm.utility, firm.filled, positions))
            if best is not None:
                rules[name, ratio] = best.rule
    return rules


def _gains(
    known: KnownBefore, pair: GroupPair, rules: Mapping[tuple[str, float], Rule]
) -> dict[tuple[str, float], float]:
    """log(ratio of each rule / ratio of the firm's own)."""
    firm = in_the_model(known.layout, visits_of(known.layout, firm_ranking(known)), pair).ratio
    found: dict[tuple[str, float], float] = {}
    if not firm:
        return found
    evaluated: dict[str, float | None] = {}
    for key, rule in rules.items():
        told = f"{rule.name} {rule.model_dump_json()}"
        if told not in evaluated:
            ranking = ranked(rule, known)
            possible = affordable(known.layout, ranking)
            visits = visits_of(known.layout, ranking) if possible else None
            evaluated[told] = None if visits is None else in_the_model(known.layout, visits, pair).ratio
        if ratio := evaluated[told]:
            found[key] = float(np.log(ratio / firm))
    return found
