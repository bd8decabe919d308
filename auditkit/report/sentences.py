"""Every sentence of the findings and notices, in one place: `findings.py` decides what is said, this file how.

Each function takes numbers and names and returns at most two sentences. To translate the findings of a report,
translate this file, `labels.py` (charts), `phrases.py` (steps, people and constraints) and the templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from auditkit.report import labels
from auditkit.report.phrases import Phrases
from auditkit.text import (
    amount,
    amount_like,
    brief,
    count,
    decimals_of,
    expected,
    fraction,
    interval,
    listing,
    measured,
    p_value,
    percent,
    plural,
    ratio,
    sentence,
    spaced,
)

Bounds = tuple[float | None, float | None] | None


def p(value: float | None) -> str:
    """p = 0.003, or p < 0.0001."""
    text = p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def with_interval(x: float | None, bounds: Bounds, line: float | None = None) -> tuple[str, str]:
    """A ratio and its interval, with the digits that they have."""
    decimals = decimals_of(bounds)
    return measured(x, bounds, line), interval(bounds, lambda end: ratio(end, line, decimals))


def whole(text: str) -> str:
    """A sentence: a capital at the beginning and a point at the end."""
    text = sentence(text)
    return text if text.endswith((".", "!", "?")) else f"{text}."


# Disparity ------------------------------------------------------------------------------------------------------------


def difference(
    words: Phrases,
    *,
    attribute: str,
    step: str,
    conditional: bool,
    group: str,
    reference: str,
    rates: tuple[float | None, float | None],
    impact_ratio: float | None,
    bounds: Bounds,
    line: float,
    evidence: tuple[float | None, float | None],
) -> str:
    """A difference that was found: rates, ratio, interval, p alone and corrected."""
    own, other = words.people(attribute, group), words.people(attribute, reference)
    of = f"Of {words.before(step)}, " if conditional else ""
    x, spread = with_interval(impact_ratio, bounds, line)
    text = f"{of}{own} {words.were(step)} less often than {other}: {percent(rates[0])} against {percent(rates[1])}"
    return whole(
        f"{text}, a ratio of {x} ({spread}; {p(evidence[0])}, corrected for the whole report {p(evidence[1])})"
    )


def behind_it(
    words: Phrases,
    *,
    attribute: str,
    group: str,
    step: str,
    odds_ratio: float | None,
    bounds: Bounds,
    within_p: float | None,
    reconciled: str,
    shortfall: float | None,
    robust: bool,
) -> str:
    """The second sentence of a difference: within requisitions, how many people, how robust; "" if nothing is known."""
    parts = []
    if odds_ratio is not None:
        parts.append(
            f"within requisitions the odds ratio is {measured(odds_ratio, bounds)} ({p(within_p)}): {reconciled}"
        )
    if shortfall is not None and shortfall > 0:
        more = f"{count(round(shortfall))}" if shortfall >= 10 else expected(shortfall)
        parts.append(f"at the common rate about {more} more {words.people(attribute, group)} {words.would(step)}")
    if not robust:
        parts.append("one moved decision would change this")
    return f" {whole('; '.join(parts))}" if parts else ""


def where_it_arises(
    words: Phrases,
    *,
    attribute: str,
    group: str,
    step: str,
    later: Sequence[tuple[str, float | None, Bounds]],
    line: float,
) -> str:
    """That nothing is found behind the step at which a difference was found."""
    parts = []
    for name, x, bounds in later:
        own, spread = with_interval(x, bounds, line)
        parts.append(f"{words.reached(name)}: {own}, {spread if bounds else 'as the group with the highest rate'}")
    return (
        f"The difference arises at “{step}”. Among those {words.reached(step)}, no further difference is found for "
        f"{words.people(attribute, group)} (ratio of those {'; '.join(parts)})."
    )


def contributes_most(
    words: Phrases,
    *,
    attribute: str,
    group: str,
    reference: str,
    step: str,
    segments: Sequence[dict[str, Any]],
) -> str:
    """In which values of a segment a shortfall arises; each has `segment`, `value`, numbers and p."""
    own, other = words.people(attribute, group), words.people(attribute, reference)
    said = []
    for i, part in enumerate(segments):
        numbers = f"{count(part['selected'])} of {count(part['applicants'])}"
        against = f"{count(part['reference_selected'])} of {count(part['reference_applicants'])}"
        first = f"{numbers} {own} {words.reached(step)} against {against} {other}"
        ratio_, _ = with_interval(part["impact_ratio"], part["bounds"])
        evidence = f"{p(part['p'])}, corrected for {plural(part['values'], 'value')}"
        share = f"{expected(part['shortfall'])} of a shortfall of {expected(part['whole'])}"
        opening = f"{part['value']} contributes most" if i == 0 else f"{part['value']} does"
        said.append(f"By {spaced(part['segment'])}, {opening} ({share}): {first}, a ratio of {ratio_} ({evidence}).")
    return " ".join(said)


def below_line(
    words: Phrases,
    *,
    attribute: str,
    step: str,
    conditional: bool,
    reference: str,
    groups: Sequence[tuple[str, float | None, Bounds, int | None]],
    line: float,
) -> str:
    """Ratios below the line without sufficient evidence, and how many more applicants would give it."""
    other = words.people(attribute, reference)
    rate = f"{other}’s rate" if other in ("women", "men") else f"the rate of {other}"
    of = f"Of {words.before(step)}, " if conditional else ""
    each = []
    for group, x, bounds, _ in groups:
        own, spread = with_interval(x, bounds, line)
        each.append((words.people(attribute, group), own, spread))
    if len(each) == 1:
        (who, own, spread) = each[0]
        text = f"{of}{who} {words.were(step)} at {own} times {rate} ({spread}): below {fraction(line)}"
    else:
        many = listing(f"{who} ({own}, {spread})" for who, own, spread in each)
        text = f"{of}{many} {words.were(step)} at less than {fraction(line)} of {rate}"
    text = whole(f"{text}, but the evidence of a difference is not sufficient")
    more = [(n, words.people(attribute, group)) for group, _, _, n in groups if n]
    if not more:
        return text
    said = listing(count(n) if len(groups) == 1 else f"{count(n)} ({who})" for n, who in more)
    return f"{text} About so many more applicants would show it: {said}."


def no_difference(smallest: Sequence[float]) -> str:
    text = "No difference between groups was found at any step, and that is no proof that there is none"
    if smallest:
        low, high = ratio(min(smallest), None, 2), ratio(max(smallest), None, 2)
        between = f"ratios above {low}" if low == high else f"ratios above {low} to {high}"
        text += f": {between} could have been missed"
    return whole(text)


def too_little(words: Phrases, attribute: str, step: str, groups: Sequence[tuple[str, float | None]]) -> str:
    each = [
        words.people(attribute, group) + ("" if x is None else f" ({ratio(x, None, 2)} or lower)")
        for group, x in groups
    ]
    text = f"Too little evidence about {listing(each)} at “{step}”"
    return f"{text}. In brackets: the ratio that these numbers could have shown with 80 % power."


def repeated(persons: int, applications: int) -> str:
    text = f"{plural(persons, 'person', 'people')} applied more than once ({count(applications)} applications)"
    return f"{text}: intervals and tests count them as one person each."


# Prices and the firm --------------------------------------------------------------------------------------------------


def prices(
    words: Phrases,
    each: Sequence[tuple[str, float | None, float | None, Bounds]],
    together: tuple[float | None, float | None, Bounds] | None,
    level: float | None,
    fixed_order: tuple[int, int, int] | None,
) -> str:
    """What the constraints cost: (phrase, share lost, loss, interval of the share lost), and in how many requisitions
    one order of interviews would do (fewest, most, of how many)."""
    said = []
    for i, (phrase, share, loss, bounds) in enumerate(each):
        said.append(f"{cost(share, loss, bounds, level if i == 0 else None)} for {phrase}")
    if together is not None:
        said.append(f"{cost(*together)} for all of these together")
    value = f"the value of those {words.outcome('selected')}, net of costs"
    text = f"The least that constraints would give up of {value}: {'; '.join(said)}."
    if fixed_order is None:
        return text
    low, high, searches = fixed_order
    number = count(low) if low == high else f"{count(low)} to {count(high)}"
    return f"{text} {number} of {plural(searches, 'requisition')} could keep one fixed order of {words.inspection}s."


def cost(share: float | None, loss: float | None, bounds: Bounds, level: float | None = None) -> str:
    """0.02 to 0.15 % (95 % interval; measured 0.03 %), or up to 0.15 % where it may be as good as nothing."""
    if share is None:
        return amount(loss)
    digits = share_decimals(share, bounds)
    text = percent(share, digits)
    if bounds is None or bounds[0] is None or bounds[1] is None:
        return text
    named = "" if level is None else f"{percent(level, 0)} interval; "
    ends = (bounds[0] or None, bounds[1])
    return f"{interval(ends, lambda x: percent(x, digits))} ({named}measured {text})"


def share_decimals(share: float, bounds: Bounds) -> int:
    """Decimals of a small share, in per cent."""
    if bounds is not None and None not in bounds:
        return max(1, decimals_of((100 * (bounds[0] or 0.0), 100 * (bounds[1] or 0.0))))
    return 1 if abs(share) >= 0.01 else 2


def infeasible(phrase: str, conflict: Sequence[str]) -> str:
    return whole(f"no policy meets {phrase}: {listing(conflict)} cannot hold together")


def firm_gain(
    words: Phrases, gain: float, bounds: tuple[float, float] | None, level: float, parts: Mapping[str, float]
) -> str:
    """By how much the firm's own search falls short of the best one, and from what."""
    spread = "" if bounds is None else f" ({percent(level, 0)} interval {_ends(bounds)})"
    text = f"Against the best search for the same openings the firm's own search falls short by {_like(gain, bounds)}"
    lost = {
        "positions": "from openings left unfilled",
        "cost": f"from {words.inspection}s that cost more than they told",
        "quality": f"from who was {words.outcome('selected')}",
    }
    won = {
        "positions": "because it fills more openings",
        "cost": f"because it spends less on {words.inspection}s",
        "quality": f"because of who was {words.outcome('selected')}",
    }
    most = [f"{_like(part, bounds)} {lost[name]}" for name, part in parts.items() if part > 0]
    said = listing(most)
    less = listing(f"{_like(-part, bounds)} {won[name]}" for name, part in parts.items() if part < 0)
    if not said and not less:
        return whole(text + spread)
    return f"{whole(text + spread)} Parts of this: {', less '.join(filter(None, (said, less)))}."


def _like(x: float, bounds: tuple[float, float] | None) -> str:
    return amount_like(x, bounds)


def _ends(bounds: tuple[float, float]) -> str:
    return interval(bounds, lambda end: amount_like(end, bounds))


def shifted(x: float, bounds: tuple[float, float]) -> str:
    """1.2 points lower (0.4 to 2.0), or 0.2 points higher (0.4 lower to 0.8 higher)."""
    low, high = (_like(abs(end), bounds) for end in bounds)
    if bounds[0] < 0 < bounds[1]:
        spread = f"{low} lower to {high} higher"
    else:
        spread = f"{low} to {high}" if x > 0 else f"{high} to {low}"
    return f"{_like(abs(x), bounds)} points {'higher' if x > 0 else 'lower'} ({spread})"


def acts_like(
    words: Phrases,
    *,
    attribute: str,
    step: str,
    priors: Sequence[str] | None,
    shifts: Sequence[tuple[str, float, tuple[float, float]]],
    reference: str,
    clear: bool,
    others: bool,
) -> str:
    """The shift of scores that best describes whom the firm took forward; `priors` is None where scores were known."""
    equal = "scores" if priors is None else listing(priors, 3) or "prior information"
    scores = "scores" if priors is None else "expected scores"
    each = [f"of {words.people(attribute, group)} were {shifted(x, bounds)}" for group, x, bounds in shifts]
    acts = f"act as if {scores} {listing(each)} than those of {words.people(attribute, reference)}"
    text = f"At equal {equal}, the firm's decisions at “{step}” {acts}"
    if not clear:
        text = f"At equal {equal}, no difference is found in the firm's decisions at “{step}”: they {acts}"
    elif others:
        text += "; the intervals of the other groups include 0"
    return f"{text}. This describes decisions, not intentions."


def revealed_left_out(reasons: Sequence[str]) -> str:
    return whole(f"what the firm's decisions act like is not said of: {'; '.join(reasons)}")


def hidden_information(words: Phrases, attribute: str, value: float | None) -> str:
    return (
        f"By {attribute.replace('+', ' and ')}, scores of those {words.outcome('inspected')} depend on how close the "
        f"competition was ({p(value)}), as they do where a firm decides on something that the data do not show."
    )


def hidden_unknown(attributes: Sequence[str], reasons: Sequence[str]) -> str:
    return (
        "Whether the firm decided on something that the data do not show cannot be told by "
        f"{listing(attributes)} ({'; '.join(reasons)})."
    )


def hidden_prices(
    constraint: str, people: str, prices: Sequence[tuple[float, float | None]], bounds: tuple[float, float] | None
) -> str:
    """`bounds`: the interval of the price at 0, which says how many digits the prices have."""
    told = [f"{'cannot be met' if loss is None else amount_like(loss, bounds)} at {brief(rho)}" for rho, loss in prices]
    return (
        f" The price of {constraint}, if what it saw of {people} has this correlation with what the predictions leave "
        f"open: {listing(told)}."
    )


def score_level(
    words: Phrases,
    *,
    attribute: str,
    outcome: bool,
    groups: Sequence[tuple[str, float, tuple[float, float]]],
    reference: str,
) -> str:
    """Outcomes at equal scores, or scores at equal priors, of groups beside the reference."""
    what, given = ("later performance", "scores") if outcome else ("scores", "prior information")
    each = [f"{shifted(x, bounds)} for {words.people(attribute, group)}" for group, x, bounds in groups]
    was = "was" if outcome else "were"
    text = f"At equal {given}, within job families, {what} {was} {listing(each)} than for "
    return whole(text + words.people(attribute, reference))


def scores_left_out(reasons: Sequence[str]) -> str:
    return whole(f"what scores say of different groups is left out for {'; '.join(reasons)}")


def default_constraints(phrases: Sequence[str], small: Sequence[str]) -> str:
    text = f"No constraint was named in the settings, so these were priced: {listing(phrases)}."
    verb = "is" if len(small) == 1 else "are"
    return text + (f" {listing(small)}, under 2 % of the applicants, {verb} not compared in them." if small else "")


NOTHING_TO_PRICE = "There are no two known groups large enough to compare, so no constraint was priced."


def no_interval(phrases: Sequence[str], reason: str) -> str:
    return whole(f"no interval for the price of {listing(phrases)}: {reason}")


def limits_exceeded(units: Iterable[tuple[str, int]]) -> str:
    """More were selected in a unit than its limit allows."""
    each = listing((f"{label} in {plural(searches, 'requisition')}" for label, searches in units), 3)
    return f"The firm itself selected more than limits inside requisitions allow: {each}. The best policies keep them."


SINGLE_ROWS = "rows about single candidates: they are not shown"


def no_law(phrase: str, first: str, further: int) -> str:
    more = f" (and {plural(further, 'further row')})" if further else ""
    return whole(f"no distribution of the ex-post slack under {phrase} for {first}{more}")


def lotteries(phrases: Sequence[str], alone: int, searches: int) -> str:
    return (
        f"Under {listing(phrases)}, {count(alone)} of {plural(searches, 'requisition')} need no lottery: one policy is "
        "followed there; the others draw theirs by lot."
    )


def open_positions(each: Iterable[tuple[float, str]]) -> str:
    return f"Positions that stay open on average: {listing(f'{brief(n)} under {phrase}' for n, phrase in each)}."


def frontier(words: Phrases, curve: Mapping[str, Any]) -> str:
    """From where on a demand costs something, and what the strictest one that was computed costs."""
    axis = labels.frontier(words, str(curve["label"]), str(curve["parameter"]))[1]
    solved = [point for point in curve["points"] if point["loss"] is not None]
    if not solved:
        return whole(f"{axis}: no value that was tried can be met")
    strict = max(solved, key=lambda point: curve["tightens"] * point["value"])
    if curve["starts"] is None:
        return whole(f"{axis}: nothing from {brief(solved[0]['value'])} to {brief(solved[-1]['value'])} costs anything")
    side = "up to" if curve["tightens"] > 0 else "down to"
    price = amount(strict["loss"]) if strict["ratio"] is None else f"{percent(1 - strict['ratio'], 2)} of the utility"
    free = brief(curve["starts"], strict["value"])
    text = f"{axis}: {side} {free} costs nothing; {brief(strict['value'])} costs {price}"
    if strict["unfilled_capacity"] >= 0.05:
        left = f"{brief(strict['unfilled_capacity'])} of {count(curve['positions'])} openings"
        text += f" and leaves {left} unfilled"
    return whole(text)


# The data and the model -----------------------------------------------------------------------------------------------


def left_out(rows: int, code: str) -> str:
    return f"{plural(rows, 'row')} left out: {spaced(code)}."


def too_small_to_show(applications: int, threshold: int) -> str:
    return (
        f"{plural(applications, 'application')} of people in categories of fewer than {threshold} applicants: in no "
        "table and no total, so that nobody can be recognised."
    )


def cells_merged(attribute: str, joined: Sequence[str]) -> str:
    return f"{attribute.replace('+', ' and ')} crossed: {listing(joined)} are joined, because some cells are too small."


def priors_use(used: bool) -> str:
    return f"The predicted scores {'use' if used else 'do not use'} the protected attributes."


def selection_into_inspection(
    words: Phrases, scored: int, low: tuple[int, int], high: tuple[int, int], weighted: bool
) -> str:
    (a, n), (b, m) = low, high
    how = "weighted for that" if weighted else "not weighted for that"
    done = words.outcome("inspected")
    return (
        f"Scores exist for {count(scored)} candidates. Of the third with the lowest expected scores {percent(a / n)} "
        f"were {done}, of the third with the highest {percent(b / m)}; the predicted scores are {how}."
    )


NO_LONG_TERM = "No long-term utility: it needs the later performance of at least 20 people who were selected."


def no_model(reasons: Sequence[str]) -> str:
    why = " ".join(whole(reason) for reason in reasons)
    return f"No model of the scores: {why[:1].lower()}{why[1:]}"


NO_FIRM = "Without a model the firm's decisions are not valued; the disparity audit does not need it."
NO_BEST = "Without a model there is no best policy to compare with."
NO_PRICE = "Without a best policy no constraint has a price."
