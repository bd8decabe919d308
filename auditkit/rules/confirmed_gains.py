"""Gains that are judged on other requisitions than those that they were chosen on.

Chosen and judged on the same data, a gain appears in half of all firms where there is none. So the requisitions are
dealt by a hash into `BLOCKS` blocks, and these into halves in `SPLITS` ways. On one half the laws are learnt and the
best rule of each kind is chosen; on the other the laws are refitted and the chosen rule is compared with the firm's
own; then the other way round.

    gain = log(ratio of the rule / ratio of the firm's own rule),     the mean of both ways in each split

The splits are *balanced*: any two of them have half of each half in common (columns of a Hadamard matrix), so that the
differences between their halves are contrasts of the blocks orthogonal to one another. The standard error is half the
root mean square of the differences between the two ways, with as many degrees of freedom as there are splits (balanced
half-samples; McCarthy 1969). Laws and choices are repeated in every half, so it covers both. A split's p is one-sided,
from Student's law. The estimate is the median over the splits. Gains are reported and not levels: what is wrong with
the laws is wrong for both rules.

The rule that a report names was chosen on all requisitions; it is near those chosen on the halves, not one of them. So
the interval reaches around two numbers: the gain that was judged, and that of the rule named in the model. A gain is
*found* if twice the median p of all splits is at most 5 % (one split decides by luck) and the interval lies above 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import hadamard
from scipy.special import stdtr, stdtrit

from auditkit.compare.intervals import refitted
from auditkit.fitting.fitted import Fitted
from auditkit.model.layout import Floats, Ints
from auditkit.model.session import current
from auditkit.rules.best_rules import Target, Trials
from auditkit.rules.known_before import known_among, known_of
from auditkit.rules.play import GroupPair, played, played_by, played_by_firm
from auditkit.rules.requisitions import among, dealt, some
from auditkit.rules.rule import KnownBefore, Ranking, Rule

BLOCKS, SPLITS = 8, 6
LEVEL, ALPHA = 0.95, 0.05
FEWEST_SEARCHES = 16
MOST = 4_000
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
    """The halves into which requisitions are dealt, with the laws learnt from each."""

    halves: tuple[tuple[KnownBefore, KnownBefore], ...]
    searches: int
    """That were dealt."""

    @staticmethod
    def of(fitted: Fitted, attributes: Sequence[str]) -> Judges | None:
        """With the chances of groups of these attributes; None where there are too few requisitions."""
        fitted = among(fitted, some(fitted.instance.layout, MOST))
        layout, refit = fitted.instance.layout, fitted.refit
        if refit is None or len(layout.search_ids) < FEWEST_SEARCHES:
            return None
        fewer = refit.training.fitter.model_copy(update={"points": min(POINTS, refit.training.fitter.points)})
        chances = {name: own for name, own in refit.chances.items() if name in attributes}
        labels = refit.groups
        if labels is not None:
            of_groups = {name: own for name, own in labels.labels.items() if name in chances}
            labels = replace(
                labels, labels=of_groups, imputed={n: p for n, p in labels.imputed.items() if n in chances}
            )
        refit = replace(refit, training=replace(refit.training, fitter=fewer), chances=chances, groups=labels)
        fitted = replace(fitted, refit=refit)
        known = known_of(fitted, with_refits=False)
        block = np.empty(len(layout.search_ids), dtype=np.int64)
        block[dealt(layout, "blocks")] = np.arange(len(block)) % BLOCKS
        sides = hadamard(BLOCKS)[1 : 1 + SPLITS, block] > 0
        halves = [tuple(_laws_of(fitted, known, np.flatnonzero(half)) for half in (side, ~side)) for side in sides]
        return Judges(tuple((one, two) for one, two in halves), len(block))

    def gains(
        self,
        pair: GroupPair,
        kinds: Mapping[str, type[Rule]],
        ratios: Sequence[float],
        in_the_model: Mapping[tuple[str, float], float],
    ) -> dict[tuple[str, float], Gain]:
        """For each (kind, ratio) whose rule was chosen on all data, with its gain there."""
        logs: dict[tuple[str, float], list[tuple[float, float]]] = {key: [] for key in in_the_model if key[0] in kinds}
        for halves in self.halves:
            ways = [
                _gains(judged, pair, _chosen(learnt, pair, kinds, ratios)) for learnt, judged in (halves, halves[::-1])
            ]
            for key in logs:
                if all(key in way for way in ways):
                    logs[key].append((ways[0][key], ways[1][key]))
        return {
            key: combined(np.array(own), in_the_model[key])
            for key, own in logs.items()
            if len(own) == SPLITS and np.isfinite(own).all()
        }


def combined(ways: Floats, in_the_model: float) -> Gain:
    """From the log gains of both ways of each split, (splits, 2), and the gain in the model of the rule named."""
    logs, freedom = ways.mean(axis=1), len(ways)
    error = max(float(np.sqrt(np.mean((ways[:, 0] - ways[:, 1]) ** 2))) / 2, 1e-9)
    middle = float(np.median(logs))
    p = min(1.0, 2.0 * float(np.median(stdtr(freedom, -logs / error))))
    reach = float(stdtrit(freedom, (1 + LEVEL) / 2)) * error
    detectable = (float(stdtrit(freedom, 1 - ALPHA / 2)) + float(stdtrit(freedom, 0.8))) * error
    around = middle, float(np.log(in_the_model))
    ends = float(np.exp(min(around) - reach)), float(np.exp(max(around) + reach))
    return Gain(float(np.exp(middle)), ends, p <= ALPHA and ends[0] > 1, p, float(np.exp(detectable)), freedom)


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
    free = current().get(known, "played by the best search", lambda: played_by(known, Ranking(known.plain)))
    positions = float(known.layout.capacity.sum())
    targets = [Target(ratio, free.utility, free.filled, positions) for ratio in ratios]
    rules: dict[tuple[str, float], Rule] = {}
    for name, kind in kinds.items():
        trials = Trials(kind, known, pair)
        trials.design(SIZES[min(2, max(1, len(trials.dimensions)))])
        rules |= {(name, ratio): rule for ratio, rule in trials.refined(targets, steps=0).items()}
    return rules


def _gains(
    known: KnownBefore, pair: GroupPair, rules: Mapping[tuple[str, float], Rule]
) -> dict[tuple[str, float], float]:
    """log(ratio of each rule / ratio of the firm's own)."""
    firm = played_by_firm(known).for_pair(pair).ratio
    yields = {key: played(known, rule) for key, rule in rules.items()} if firm else {}
    ratios = {key: own.for_pair(pair).ratio for key, own in yields.items() if own is not None}
    return {key: float(np.log(ratio / firm)) for key, ratio in ratios.items() if ratio and firm}
