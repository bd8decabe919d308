"""What a report says of the firm's own decisions and scores, in words that describe and do not judge."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from auditkit.report.findings import Finding, finding
from auditkit.text import amount, brief, listing, p_value, percent

if TYPE_CHECKING:
    from auditkit.compare import FirmDecisions, FirmSearch
    from auditkit.compare.revealed import RevealedShift, RevealedStep
    from auditkit.data import History

NEGLIGIBLE = 0.005
"""Share of the gain below which a part is not mentioned."""


def of_decisions(found: FirmDecisions, history: History) -> list[Finding]:
    """The firm's search beside the best, what its decisions act like, hidden information, and what scores say."""
    told = [finding("firm", "firm-gain", _gain(found.search))]
    priors = listing(history.columns("prior"), 3) or "what was known"
    for step in found.revealed.steps:
        for text, about in _acts_like(step, priors):
            told.append(finding("firm", "acts-like", text, step=step.step, **about))
    if found.revealed.left_out:
        text = f"What the firm's decisions act like is not said of: {'; '.join(found.revealed.left_out)}."
        told.append(finding("notice", "revealed-left-out", text))
    told += _hidden(found)
    told += _scores(found)
    return told


def _gain(search: FirmSearch) -> str:
    best = search.unconstrained
    step = _digit(best.interval)
    text = (
        "The firm's own search, the best of those it inspected taken, is expected to fall short of the best search by "
    )
    text += _written(best.gain, step)
    if best.interval is not None:
        low, high = (_written(end, step) for end in best.interval)
        text += f" ({percent(search.level, 0)} interval {low} to {high})"
    parts = [
        (best.parts.positions, "from positions left open", "because it fills more positions"),
        (best.parts.cost, "from inspections that cost more than they told", "because it inspects for less"),
        (best.parts.quality, "from who is hired", "because it hires better"),
    ]
    least = NEGLIGIBLE * max(abs(best.gain), 1e-12)
    said = [f"{_written(part, step)} {lost}" for part, lost, _ in parts if part > least]
    won = [f"{_written(-part, step)} {gained}" for part, _, gained in parts if part < -least]
    text += f": {listing(said)}" if said else ""
    return f"{text}{f', less {listing(won)}' if won else ''}."


def _digit(bounds: tuple[float, float] | None) -> int | None:
    """Decimals that a number with this interval has: its standard error to one digit."""
    if bounds is None or not bounds[1] > bounds[0]:
        return None
    return max(0, -math.floor(math.log10((bounds[1] - bounds[0]) / 4)))


def _written(x: float, decimals: int | None) -> str:
    return amount(x) if decimals is None else f"{x:,.{decimals}f}"


def _acts_like(step: RevealedStep, priors: str) -> Iterator[tuple[str, dict[str, str]]]:
    """One sentence for each attribute."""
    equal = f"At equal {priors}" if step.standing == "priors" else "At equal scores"
    scores = "expected scores" if step.standing == "priors" else "scores"
    by: dict[str, list[RevealedShift]] = {}
    for shift in step.shifts:
        by.setdefault(shift.attribute, []).append(shift)
    for attribute, shifts in by.items():
        clear = [s for s in shifts if not s.interval[0] <= 0 <= s.interval[1]]
        each = [f"of {s.group} were {_said(s.shift, s.interval)}" for s in (clear or shifts)]
        text = (
            f"{equal}, whom the firm took to “{step.step}” is best described as if {scores} {listing(each)} than those "
        )
        text += f"of {shifts[0].reference}"
        if not clear:
            text += "; intervals that include 0 are no evidence of a shift"
        elif len(clear) < len(shifts):
            text += "; the intervals of the other groups include 0"
        about = {"attribute": attribute} | ({"group": clear[0].group} if len(clear) == 1 else {})
        yield f"{text}. This describes decisions, not intentions.", about


def _said(x: float, bounds: tuple[float, float]) -> str:
    """1.2 points lower (0.4 to 2.0), or 0.2 points higher (0.4 lower to 0.8 higher)."""
    decimals = _digit(bounds)
    low, high = (_written(abs(end), decimals) for end in bounds)
    if bounds[0] < 0 < bounds[1]:
        spread = f"{low} lower to {high} higher"
    else:
        spread = f"{low} to {high}" if x > 0 else f"{high} to {low}"
    return f"{_written(abs(x), decimals)} points {'higher' if x > 0 else 'lower'} ({spread})"


def _hidden(found: FirmDecisions) -> Iterator[Finding]:
    loose = [test for test in found.hidden if test.verdict == "cannot-tell"]
    for test in found.hidden:
        if test.verdict == "found":
            text = f"By {test.attribute}, scores of those inspected depend on how close the competition was "
            text += (
                f"(p = {p_value(test.p)}), as they do where a firm inspects on something that the data do not show. "
            )
            yield finding(
                "model", "hidden-information", text + _prices(found, test.attribute), attribute=test.attribute
            )
    if loose:
        text = "Whether the firm inspected on something that the data do not show cannot be told by "
        text += f"{listing(test.attribute for test in loose)}"
        text += f" ({'; '.join(dict.fromkeys(test.reason or '' for test in loose))}). "
        text += " ".join(filter(None, (_prices(found, test.attribute) for test in loose)))
        yield finding("model", "hidden-information-unknown", text.strip())


def _prices(found: FirmDecisions, attribute: str) -> str:
    for each in found.prices:
        if each.attribute == attribute:
            told = [
                f"{'cannot be met' if price.loss is None else amount(price.loss)} at {brief(price.correlation)}"
                for price in each.prices
            ]
            text = f"The price of {each.constraint}, if what it saw of {each.group} has this correlation with what the "
            return f"{text}priors leave open: {listing(told)}."
    return ""


def _scores(found: FirmDecisions) -> Iterator[Finding]:
    for table in found.scores.tables:
        clear = [row for row in table.groups if not row.level_interval[0] <= 0 <= row.level_interval[1]]
        if not clear:
            continue
        what, given = ("outcomes", "score") if table.predicts == "outcome" else ("scores", "priors")
        each = [f"{_said(row.level, row.level_interval)} for {row.group}" for row in clear]
        text = f"At equal {given}, within job families, {what} were {listing(each)} than for {table.reference}"
        about: Sequence[str] = [row.group for row in clear]
        more = {"group": about[0]} if len(about) == 1 else {}
        yield finding("model", f"{table.predicts}-level", f"{text}.", attribute=table.attribute, **more)
    if found.scores.left_out:
        text = f"What scores say of different groups is left out for {'; '.join(found.scores.left_out)}."
        yield finding("notice", "scores-left-out", text)
