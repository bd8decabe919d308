"""What a report says about the firm's own decisions and scores; the words are in `sentences`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from auditkit.report.schema import FindingKind, FindingModel
from auditkit.report.words import sentences as say
from auditkit.report.words.phrases import Phrases

if TYPE_CHECKING:
    from auditkit.compare import FirmDecisions, FirmSearch
    from auditkit.compare.revealed import RevealedShift, RevealedStep
    from auditkit.data.firm_history import History
    from auditkit.fitting.hidden_information import HiddenInformation

OddsRatios = Mapping[tuple[str, str, str, str], float]

NEGLIGIBLE = 0.005
"""Share of the gain below which a part is not mentioned, and of the utility below which a gain is not a finding."""


def of_decisions(
    found: FirmDecisions,
    history: History,
    words: Phrases,
    names: Mapping[str, str],
    losses: Mapping[str, tuple[float, float]],
    odds: OddsRatios,
) -> list[FindingModel]:
    """The firm's search beside the best, what its decisions act like, hidden information, and what scores say.

    `names` are the phrases of the constraints by their labels, `losses` the intervals of their prices. `odds` are those
    of `findings.odds_ratios`: where a difference is found, what decisions act like matters even if it is not clear.
    """
    differing = {(attribute, step) for attribute, step, *_ in odds}
    best = found.search.unconstrained.gain
    told_of: FindingKind = "firm" if abs(best) > NEGLIGIBLE * abs(found.search.utility) else "notice"
    told = [FindingModel(kind=told_of, code="firm-gain", text=_gain(found.search, words))]
    for step in found.revealed.steps:
        for text, about, clear in _acts_like(step, history.columns("prior"), words, odds):
            kind: FindingKind = "firm" if clear or (about["attribute"], step.step) in differing else "notice"
            told.append(FindingModel(kind=kind, code="acts-like", text=text, step=step.step, **about))
    if found.revealed.left_out:
        told.append(
            FindingModel(kind="notice", code="revealed-left-out", text=say.revealed_left_out(found.revealed.left_out))
        )
    told += _hidden(found, words, names, losses)
    told += _scores(found, words)
    return told


def _gain(search: FirmSearch, words: Phrases) -> str:
    best = search.unconstrained
    parts = {"positions": best.parts.positions, "cost": best.parts.cost, "quality": best.parts.quality}
    least = NEGLIGIBLE * max(abs(best.gain), 1e-12)
    kept = {name: part for name, part in parts.items() if part is not None and abs(part) > least}
    judged = best.parts.cost is not None
    return say.firm_gain(words, best.gain, search.utility, best.interval, search.level, kept, judged)


def _acts_like(
    step: RevealedStep, priors: tuple[str, ...], words: Phrases, odds: OddsRatios
) -> Iterator[tuple[str, dict[str, str], bool]]:
    """One finding for each attribute: its text, what it is about, and whether the shift is clear."""
    by: dict[str, list[RevealedShift]] = {}
    for shift in step.shifts:
        by.setdefault(shift.attribute, []).append(shift)
    for attribute, shifts in by.items():
        clear = [s for s in shifts if not s.interval[0] <= 0 <= s.interval[1]]
        text = say.acts_like(
            words,
            attribute=attribute,
            step=step.step,
            priors=priors if step.standing == "priors" else None,
            shifts=[(s.group, s.shift, s.interval) for s in clear or shifts],
            reference=shifts[0].reference,
            clear=bool(clear),
            others=0 < len(clear) < len(shifts),
            explained=_explained(step, shifts, odds),
        )
        yield text, {"attribute": attribute} | ({"group": clear[0].group} if len(clear) == 1 else {}), bool(clear)


def _explained(step: RevealedStep, shifts: Sequence[RevealedShift], odds: OddsRatios) -> bool | None:
    """Whether shifts as large as the differences in rates would have shown; None if there is no difference.

    A shift times the slope is a log odds ratio at equal standing. If the standing explained nothing, it would be at
    least as large as that in the rates; so where its interval leaves that one out, the standing explains a part.
    Without a slope the decisions follow the standing without exception, and no shift at all describes them.
    """
    told = []
    for shift in shifts:
        for sign, pair in ((1, (shift.group, shift.reference)), (-1, (shift.reference, shift.group))):
            ratio = odds.get((shift.attribute, step.step, *pair))
            if ratio is not None:
                low, high = shift.interval
                told.append(step.slope is None or not low <= sign * math.log(ratio) / step.slope <= high)
    return all(told) if told else None


def _hidden(
    found: FirmDecisions, words: Phrases, names: Mapping[str, str], losses: Mapping[str, tuple[float, float]]
) -> Iterator[FindingModel]:
    def prices(test: HiddenInformation) -> str:
        return _prices(found, test.attribute, words, names, losses)

    for test in found.hidden:
        if test.verdict == "found":
            text = say.hidden_information(words, test.attribute, test.p) + prices(test)
            yield FindingModel(kind="model", code="hidden-information", text=text, attribute=test.attribute)
    loose = [test for test in found.hidden if test.verdict == "cannot-tell"]
    if loose:
        reasons = list(dict.fromkeys(test.reason or "" for test in loose))
        text = say.hidden_unknown([test.attribute for test in loose], reasons)
        yield FindingModel(
            kind="notice",
            code="hidden-information-unknown",
            text=text + "".join(map(prices, loose)),
        )


def _prices(
    found: FirmDecisions,
    attribute: str,
    words: Phrases,
    names: Mapping[str, str],
    losses: Mapping[str, tuple[float, float]],
) -> str:
    for each in found.prices:
        if each.attribute == attribute:
            prices = [(price.correlation, price.loss) for price in each.prices]
            name = names.get(each.constraint, each.constraint)
            return say.hidden_prices(name, words.people(attribute, each.group), prices, losses.get(each.constraint))
    return ""


def _scores(found: FirmDecisions, words: Phrases) -> Iterator[FindingModel]:
    for table in found.scores.tables:
        clear = [row for row in table.groups if not row.level_interval[0] <= 0 <= row.level_interval[1]]
        if not clear:
            continue
        text = say.score_level(
            words,
            attribute=table.attribute,
            within=found.scores.within,
            groups=[(row.group, row.level, row.level_interval) for row in clear],
            reference=table.reference,
        )
        more = {"group": clear[0].group} if len(clear) == 1 else {}
        yield FindingModel(kind="model", code=f"{table.predicts}-level", text=text, attribute=table.attribute, **more)
    if found.scores.left_out:
        yield FindingModel(kind="notice", code="scores-left-out", text=say.scores_left_out(found.scores.left_out))
