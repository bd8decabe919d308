"""Every sentence of the findings and notices, in one place: `findings.py` decides what is said, this file how.

Each function takes numbers and names and returns at most two sentences. To translate the findings of a report,
translate this file, `labels.py` (charts), `phrases.py` (steps, people and constraints) and the templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from auditkit.disparity import Caution, Reconciled
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
    roughly,
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

RECONCILED = {
    Reconciled.NO_STRATA: "the data do not allow a comparison within requisitions",
    Reconciled.NEITHER: "no difference found, neither pooled nor within requisitions",
    Reconciled.BOTH: "the difference is found pooled and within requisitions",
    Reconciled.POOLED_EXPLAINED: "no detectable difference within requisitions: the pooled difference goes along with "
    "which requisitions people applied to",
    Reconciled.POOLED_WITHIN_UNCLEAR: "no detectable difference within requisitions, but one as large as the pooled "
    "difference is not ruled out there",
    Reconciled.WITHIN_ONLY: "the difference is found within requisitions only: pooling hides it",
    Reconciled.REVERSED: "differences are found pooled and within requisitions, and they point in opposite directions",
}
"""How the pooled result and the one within requisitions go together."""

CAUTIONS = {
    Caution.SMALL_NUMBERS: "a group under 30 or an expected count under 5: the exact test is used",
    Caution.MORE_THAN_TWO_SD: "more than two standard deviations from the expected number of selections",
    Caution.NOT_ROBUST: "not robust: one decision the other way changes the side of the line or the test",
    Caution.WITHIN_BELOW_LINE: "not below the line pooled, but below it within requisitions",
    Caution.STRATA_DISAGREE: "requisitions differ in how large the difference is",
}
"""What a reader should know beside a status."""


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
        f"{text}, a ratio of {x} ({spread}; {p(evidence[0])}, corrected for all tests of this report {p(evidence[1])})"
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
    reconciled: Reconciled,
    shortfall: float | None,
    robust: bool,
) -> str:
    """The second sentence of a difference: within requisitions, how many people, how robust; "" if nothing is known."""
    parts = []
    if odds_ratio is not None:
        parts.append(f"{RECONCILED[reconciled]} (odds ratio within them {measured(odds_ratio, bounds)}, {p(within_p)})")
    if shortfall is not None and shortfall > 0:
        more = f"{heads(shortfall)} more {words.people(attribute, group)}"
        parts.append(f"at the common rate {more} {words.would(step)}")
    if not robust:
        parts.append("a single decision the other way would change this finding")
    return f" {whole('; '.join(parts))}" if parts else ""


def where_it_arises(
    words: Phrases,
    *,
    attribute: str,
    group: str,
    step: str,
    later: Sequence[tuple[str, float | None, Bounds]],
    line: float,
    thin: bool,
) -> str:
    """That nothing is found behind the step at which a difference was found; `thin` where little could have been."""
    parts = []
    for name, x, bounds in later:
        own, spread = with_interval(x, bounds, line)
        what = f"ratio {own}, {spread}" if bounds else "the highest rate"
        parts.append(f"{words.reached(name)}: {what}")
    text = f"no further difference is found for {words.people(attribute, group)} ({'; '.join(parts)})"
    if thin:
        text += ", but there is too little evidence to rule one out"
    return f"The difference arises at “{step}”. Among those {words.reached(step)}, {text}."


FEW = 5
"""People below which an expected number has a decimal."""


MOST_NAMED = 3
"""Groups that one sentence names; of the others it says how many."""
NEAR_NOTHING = 0.05
"""Ratios below this would be found only if hardly anybody of the group were taken."""


def _some(named: Sequence[str], of: int) -> str:
    """a, b, c and 4 more groups."""
    shown = [*named[:MOST_NAMED]]
    return listing([*shown, plural(of - len(shown), "more group")] if of > len(shown) else shown)


def heads(x: float) -> str:
    """About how many people, without digits that nobody knows."""
    return f"about {count(int(x + 0.5)) if x >= FEW else expected(x)}"


def contributes_most(
    words: Phrases,
    *,
    attribute: str,
    group: str,
    reference: str,
    step: str,
    segments: Sequence[dict[str, Any]],
) -> str:
    """In which values of a segment a shortfall arises; each has `segment`, `value`, numbers, p, and whether no other
    value has a larger part of it."""
    own, other = words.people(attribute, group), words.people(attribute, reference)
    said = []
    for i, part in enumerate(segments):
        numbers = f"{count(part['selected'])} of {count(part['applicants'])} {own}"
        against = f"{count(part['reference_selected'])} of {count(part['reference_applicants'])} {other}"
        ratio_, _ = with_interval(part["impact_ratio"], part["bounds"])
        evidence = f"{p(part['p'])}, corrected for {plural(part['values'], 'value')}"
        short = f"the shortfall of {heads(part['whole'])} {own} at “{step}”" if i == 0 else "it"
        value = f"{spaced(part['segment'])} {part['value']}" if part["value"].isdigit() else part["value"]
        place = f"is largest in {value}" if part["largest"] else f"arises in part in {value}"
        more = ", partly made up elsewhere" if part["shortfall"] > part["whole"] else ""
        first = f"By {spaced(part['segment'])}, {short} {place} ({heads(part['shortfall'])}{more})"
        said.append(f"{first}: {numbers} {words.were(step)} against {against}, a ratio of {ratio_} ({evidence}).")
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
    groups = sorted(groups, key=lambda group: 1.0 if group[1] is None else group[1])
    for group, x, bounds, _ in groups[:MOST_NAMED]:
        own, spread = with_interval(x, bounds, line)
        each.append((words.people(attribute, group), own, spread))
    if len(each) == 1:
        (who, own, spread) = each[0]
        text = f"{of}{who} {words.were(step)} at {own} times {rate} ({spread}): below {fraction(line)}"
    else:
        many = _some([f"{who} ({own}, {spread})" for who, own, spread in each], len(groups))
        text = f"{of}{many} {words.were(step)} at less than {fraction(line)} of {rate}"
    text = whole(f"{text}, but the evidence of a difference is not sufficient")
    more = [(n, words.people(attribute, group)) for group, _, _, n in groups[:MOST_NAMED] if n]
    if not more:
        return text
    (n, who), *others = more
    said = f"{roughly(n)} more applicants" if len(groups) == 1 else f"{roughly(n)} more applicants for {who}"
    said = listing([said, *(f"{roughly(n)} for {who}" for n, who in others)])
    return f"{text} If the rates stayed as they are, about {said} would be needed to show this."


def no_difference(smallest: Sequence[float]) -> str:
    text = "No difference between groups was found at any step, and that is no proof that there is none"
    if smallest:
        low, high = ratio(min(smallest), None, 2), ratio(max(smallest), None, 2)
        between = f"ratios above {low}" if low == high else f"ratios above {low} to {high}"
        text += f": {between} could have been missed"
    return whole(text)


def too_little(words: Phrases, attribute: str, step: str, groups: Sequence[tuple[str, float | None]]) -> str:
    who = _some([words.people(attribute, group) for group, _ in groups], len(groups))
    text = f"At “{step}” there is too little evidence about {who}"
    known = sorted((x, words.people(attribute, group)) for group, x in groups if x is not None)
    if known:
        (low, fewest), (high, most) = known[0], known[-1]
        at = ratio(low, None, 2)
        if at != ratio(high, None, 2):
            at = f"{at} ({fewest}) to {ratio(high, None, 2)} ({most})"
        near = f"of {at} or lower" if high >= NEAR_NOTHING else "close to 0"
        text += f": with 80 % power, only a ratio {near} would have been found"
    return whole(text)


def repeated(persons: int, applications: int) -> str:
    text = f"{plural(persons, 'person', 'people')} applied more than once ({count(applications)} applications)"
    return f"{text}; intervals and tests count each of them as one person."


# Prices and the firm --------------------------------------------------------------------------------------------------


def prices(
    words: Phrases,
    one: tuple[str, float | None, float | None, Bounds],
    together: tuple[float | None, float | None, Bounds] | None,
    constraints: int,
    level: float | None,
    fixed_order: tuple[int, int, int] | None,
) -> str:
    """What one constraint costs, (phrase, share lost, loss, interval of the share lost), what all of them together
    cost, and in how many requisitions one order of interviews would do (fewest, most, of how many)."""
    phrase, share, loss, bounds = one
    value = f"of the value of those {words.outcome('selected')}, net of costs"
    text = f"{sentence(phrase)} would cost the best search {cost(share, loss, bounds, level, value)}"
    if together is not None:
        text += f"; all {count(constraints)} constraints together, {cost(*together, None)}"
    if fixed_order is None:
        return whole(text)
    low, high, searches = fixed_order
    number = count(low) if low == high else f"{count(low)} to {count(high)}"
    would = f"one fixed order of {words.inspection}s would do in {number} of {plural(searches, 'requisition')}"
    return f"{whole(text)} Under a constraint, {would}."


def cost(share: float | None, loss: float | None, bounds: Bounds, level: float | None, of: str = "") -> str:
    """At most 0.15 % (95 % confidence; measured 0.03 %), or 0.02 to 0.15 % (95 % interval; measured 0.08 %).

    The interval comes first, because a price measured is one draw of many (docs/validity.md); `of` says of what.
    """
    if share is None:
        return amount(loss)
    digits = share_decimals(share, bounds)
    text = percent(share, digits)
    if bounds is None or bounds[0] is None or bounds[1] is None:
        return f"{text} {of}".rstrip()
    ends, kind = interval(bounds, lambda x: percent(x, digits)), "interval"
    if not bounds[0]:
        ends, kind = f"at most {percent(bounds[1], digits)}", "confidence"
    sure = "" if level is None else f"{percent(level, 0)} {kind}; "
    return f"{ends}{of and f' {of}'} ({sure}measured {text})"


def share_decimals(share: float, bounds: Bounds) -> int:
    """Decimals of a small share, in per cent."""
    if bounds is not None and None not in bounds:
        return max(1, decimals_of((100 * (bounds[0] or 0.0), 100 * (bounds[1] or 0.0))))
    return 1 if abs(share) >= 0.01 else 2


def infeasible(phrase: str, conflict: Sequence[str]) -> str:
    return whole(f"no policy meets {phrase}: {listing(conflict)} cannot hold together")


def firm_gain(
    words: Phrases,
    gain: float,
    own: float,
    bounds: tuple[float, float] | None,
    level: float,
    parts: Mapping[str, float],
) -> str:
    """By how much the firm's own search, worth `own`, falls short of the best one, and from what."""
    spread = "" if bounds is None else f"; {percent(level, 0)} interval {_ends(bounds)}"
    best = own + gain
    less = f"{percent(gain / best)} less" if best > 0 <= gain else "less"
    text = f"The firm's own search is worth {less} than the best search for the same openings"
    text += f" ({_like(gain, bounds)} units of utility{spread})"
    on = {
        "positions": "openings left unfilled",
        "cost": f"{words.inspection}s that cost more than they were worth",
        "quality": f"who {words.were(words.step('selected'), singular=True)}",
    }
    by = on | {"positions": "openings filled", "cost": f"what it spends on {words.inspection}s"}
    lost = listing(f"{_like(part, bounds)} on {on[name]}" for name, part in parts.items() if part > 0)
    won = listing(f"{_like(-part, bounds)} on {by[name]}" for name, part in parts.items() if part < 0)
    said = ", and ".join(filter(None, (f"loses {lost}" if lost else "", f"gains {won}" if won else "")))
    return whole(text) + (f" It {said}." if said else "")


def _like(x: float, bounds: tuple[float, float] | None) -> str:
    return amount_like(x, bounds)


def _ends(bounds: tuple[float, float]) -> str:
    return interval(bounds, lambda end: amount_like(end, bounds))


def shifted(x: float, bounds: tuple[float, float], than: str) -> str:
    """1.2 points lower than men’s (0.4 to 2.0), or 0.2 points higher than men’s (0.4 lower to 0.8 higher)."""
    low, high = (_like(abs(end), bounds) for end in bounds)
    if bounds[0] < 0 < bounds[1]:
        spread = f"{low} lower to {high} higher"
    else:
        spread = f"{low} to {high}" if x > 0 else f"{high} to {low}"
    return f"{_like(abs(x), bounds)} points {'higher' if x > 0 else 'lower'}{than} ({spread})"


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
    explained: bool | None,
) -> str:
    """The shift of scores that best describes whom the firm took forward; `priors` is None where scores were known.

    `explained`, of a shift that is not clear: whether one as large as the difference in rates would have been; None
    where there is no such difference.
    """
    equal = "scores" if priors is None else listing(priors, 3) or "prior information"
    scores = "scores" if priors is None else "expected scores"
    other = words.people(attribute, reference)
    many = len(shifts) > MOST_NAMED
    largest = sorted(shifts, key=lambda shift: -abs(shift[1]))[:MOST_NAMED] if many else shifts
    each = []
    for i, (group, x, bounds) in enumerate(largest):
        than = f" than those of {other}" if i == 0 else ""
        each.append(f"{'those' if i else scores} of {words.people(attribute, group)} were {shifted(x, bounds, than)}")
    as_if = f"as if {listing(each)}"
    if clear:
        text = f"At equal {equal}, the firm's decisions at “{step}” act {as_if}"
        text += f"; {plural(len(shifts) - len(each), 'more group')} differ less" if many else ""
        text += "; the intervals of the other groups include 0" if others else ""
        return (
            f"{text}. This describes decisions, not intentions: what was judged and is not in the data is part of it."
        )
    named = [words.people(attribute, group) for group, *_ in shifts]
    between = f"{other} and any of {count(len(shifts))} other groups" if many else listing([*named, other])
    text = f"At equal {equal}, no difference between {between} is found at “{step}”"
    text += f": {'the largest are that decisions' if many else 'decisions'} act {as_if}."
    if explained is None:
        return text
    if explained:
        what = "whether these mean the same for each group is another question"
        return f"{text} The difference in rates goes along, at least in part, with differences in {equal}; {what}."
    return f"{text} One as large as the difference in rates could have been missed."


def revealed_left_out(reasons: Sequence[str]) -> str:
    return whole(f"what the firm's decisions act like is not shown everywhere: {'; '.join(reasons)}")


def hidden_information(words: Phrases, attribute: str, value: float | None) -> str:
    return (
        f"By {attribute.replace('+', ' and ')}, scores of those {words.outcome('inspected')} depend on how close the "
        f"competition was ({p(value)}), as they would if the firm decided on something that the data do not show."
    )


def hidden_unknown(attributes: Sequence[str], reasons: Sequence[str]) -> str:
    return (
        f"By {listing(attributes)}, the data cannot tell whether the firm decided on something that they do not show "
        f"({'; '.join(reasons)})."
    )


def hidden_prices(
    constraint: str, people: str, prices: Sequence[tuple[float, float | None]], bounds: tuple[float, float] | None
) -> str:
    """`bounds`: the interval of the price at 0, which says how many digits the prices have."""
    told = [f"{'cannot be met' if loss is None else amount_like(loss, bounds)} at {brief(rho)}" for rho, loss in prices]
    what = f"what it saw of {people} correlates with what the predictions leave open"
    return f" The price of {constraint} depends on how {what}: {listing(told)}."


def score_level(
    words: Phrases,
    *,
    attribute: str,
    outcome: bool,
    within: str | None,
    groups: Sequence[tuple[str, float, tuple[float, float]]],
    reference: str,
) -> str:
    """Outcomes at equal scores, or scores at equal priors, of groups beside the reference."""
    what, given = ("later performance", "scores") if outcome else ("scores", "prior information")
    that, was = ("that", "was") if outcome else ("those", "were")
    than = f" than {that} of {words.people(attribute, reference)}"
    each = [
        f"{that if i else what} of {words.people(attribute, group)} {was} {shifted(x, bounds, '' if i else than)}"
        for i, (group, x, bounds) in enumerate(groups)
    ]
    where = "" if within is None else f"within each {spaced(within)}, "
    return whole(f"At equal {given}, {where}{listing(each)}")


def scores_left_out(reasons: Sequence[str]) -> str:
    return whole(f"what scores say of different groups is not shown everywhere: {'; '.join(reasons)}")


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
    text = f"The firm itself selected more than limits inside requisitions allow: {each}"
    return f"{text}. The best policies stay within them."


SINGLE_ROWS = "rows about single candidates: they are not shown"


def no_law(words: Phrases, phrase: str, first: str, further: int) -> str:
    """`first` is the label of a row, or what rows it is about, and the reason."""
    label, _, reason = first.rpartition(": ")
    row = words.row(label)
    more = f" (and {plural(further, 'further row')})" if further else ""
    about = label if row == label else f"“{row}”"
    return whole(f"no distribution of the ex-post slack under {phrase} for {about}: {reason}{more}")


def lotteries(phrases: Sequence[str], alone: int, searches: int) -> str:
    where = "any requisition" if alone == searches else f"{count(alone)} of {plural(searches, 'requisition')}"
    rest = "" if alone == searches else "; in the others it draws between policies by lot"
    return f"Under {listing(phrases)}, the best policy needs no lottery in {where}{rest}."


def open_positions(each: Iterable[tuple[float, str]]) -> str:
    under: dict[str, list[str]] = {}
    for n, phrase in each:
        under.setdefault(brief(n), []).append(phrase)
    return f"Openings left unfilled on average: {listing(f'{n} under {listing(some)}' for n, some in under.items())}."


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
    done = words.were(words.step("inspected"))
    return (
        f"Scores exist for {count(scored)} candidates. Of the third with the lowest expected scores {percent(a / n)} "
        f"{done}, of the third with the highest {percent(b / m)}; the predicted scores are {how}."
    )


NO_LONG_TERM = "No long-term utility: it needs the later performance of at least 20 people who were selected."


def no_model(reasons: Sequence[str]) -> str:
    why = " ".join(whole(reason) for reason in reasons)
    return f"No model of the scores: {why[:1].lower()}{why[1:]}"


NO_FIRM = "Without a model the firm's decisions are not valued; the disparity audit does not need it."
NO_BEST = "Without a model there is no best policy to compare with."
NO_PRICE = "Without a best policy no constraint has a price."
