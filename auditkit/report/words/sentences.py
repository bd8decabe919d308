"""Every sentence of the findings and notices, in one place: `findings.py` decides what to say, this file how to say it.

Each function takes numbers and names and returns a few sentences at most. To translate the findings of a report,
translate this file, `labels.py` (charts), `phrases.py` (steps, people and constraints) and the templates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from auditkit.compare.comparison import FEWEST_SELECTED, NoLaw
from auditkit.compare.value_of_point import PointValue
from auditkit.disparity.design import ClusterDesign
from auditkit.disparity.pair import Interval
from auditkit.disparity.results import (
    Caution,
    DisparityTable,
    GroupComparison,
    GroupResult,
    Reconciled,
    SegmentDifference,
    SegmentPart,
    SegmentTable,
)
from auditkit.disparity.score_validity import ScoreValidity
from auditkit.disparity.trend import Trend
from auditkit.fitting.score_meaning import ScoreDifference, ScoreMeaning
from auditkit.report.words.phrases import Phrases
from auditkit.rules.blind_frontier import FrontierOptimum
from auditkit.rules.confirmed_gains import Gain
from auditkit.rules.find import Alternative, Dealt, RuleResult
from auditkit.scenarios import BiasTable, BudgetOrPosition, Extra, Frontier, MorePlaces, MorePositions, Sensitivity
from auditkit.text import (
    NOT_AVAILABLE,
    amount,
    amount_like,
    brief,
    count,
    decimals,
    decimals_of,
    expected,
    fraction,
    interval,
    listing,
    measured,
    p_value,
    percent,
    plain,
    plural,
    ratio,
    sentence,
    signed,
    spaced,
)

Bounds = tuple[float | None, float | None] | None


def p(value: float | None) -> str:
    """p = 0.003, or p < 0.0001."""
    text = p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def ends(found: Interval | None) -> Bounds:
    return None if found is None else found.ends


def with_interval(x: float | None, bounds: Bounds, line: float | None = None) -> tuple[str, str]:
    """A ratio and its interval, with as many digits as the interval warrants."""
    decimals = decimals_of(bounds)
    return measured(x, bounds, line), interval(bounds, lambda end: ratio(end, line, decimals))


def whole(text: str) -> str:
    """As a sentence: a capital letter first and a full stop last."""
    text = sentence(text)
    return text if text.endswith((".", "!", "?")) else f"{text}."


# Disparity ------------------------------------------------------------------------------------------------------------

RECONCILED = {
    Reconciled.NO_STRATA: "the data do not allow a comparison within requisitions",
    Reconciled.NEITHER: "no difference found, neither pooled nor within requisitions",
    Reconciled.BOTH: "the difference is found pooled and within requisitions",
    Reconciled.POOLED_EXPLAINED: "no detectable difference within requisitions: the pooled difference is associated "
    "with which requisitions people applied to",
    Reconciled.POOLED_WITHIN_UNCLEAR: "within requisitions the evidence is not sufficient, but a difference as large "
    "as the pooled one is not ruled out there",
    Reconciled.WITHIN_ONLY: "the difference is found within requisitions, not pooled",
    Reconciled.WITHIN_ONLY_OPPOSITE: "a difference is found within requisitions only, and it points the opposite way "
    "to the pooled rates",
    Reconciled.REVERSED: "differences are found pooled and within requisitions, and they point in opposite directions",
}
"""How the pooled result and the one within requisitions go together."""

CAUTIONS = {
    Caution.SMALL_NUMBERS: "a group under 30 or an expected count under 5: the exact test is used",
    Caution.MORE_THAN_TWO_SD: "more than two standard deviations from the expected number of selections",
    Caution.NOT_ROBUST: "not robust: a single different decision would move the ratio across the line or change the "
    "result of the test",
    Caution.WITHIN_BELOW_LINE: "not below the line when pooled, but below it within requisitions",
    Caution.STRATA_DISAGREE: "the size of the difference varies between requisitions",
}
"""What a reader should know in addition to a status."""


VERDICTS = {"found": "signs of it", "not-found": "no sign of it", "cannot-tell": "the data cannot tell"}
"""Whether the firm decided on something that the data do not show."""

TREATMENTS = {"warn": "warning only", "refuse": "refused", "unknown": "counted as unknown"}
"""How the audit treats a problem in the data."""

ORDERS = {True: "unchanged", False: "changed", None: NOT_AVAILABLE}
"""Whether a constraint changes the order of people within their groups."""


def rates_apart(one: float | None, other: float | None) -> tuple[str, str]:
    """Two rates with as many decimals as it takes to tell them apart, four at most."""
    for digits in (1, 2, 3):
        pair = percent(one, digits), percent(other, digits)
        if pair[0] != pair[1]:
            return pair
    return percent(one, 4), percent(other, 4)


def deviations(sd: float | None) -> str:
    """ "3.1 standard deviations", whichever way."""
    return "" if sd is None else f"{decimals(abs(sd), 1)} standard deviations"


def _clustered(alone: float | None, clustered: float | None, design: ClusterDesign | None) -> str:
    """p allowing for the design effect, and its cause; "" if it's the same p."""
    if design is None or p(clustered) == p(alone):
        return ""
    effect = f", design effect {decimals(design.effect, 1)}" if design.effect >= 1.05 else ""
    return f", {p(clustered)} allowing for {design.cause}{effect}"


def _against(words: Phrases, attribute: str, reference: str | None) -> str:
    return "everyone else" if reference is None else words.people(attribute, reference)


def difference(
    words: Phrases, table: DisparityTable, row: GroupResult, found: GroupComparison, line: float, favourable: bool
) -> str:
    """A difference that was found: rates, ratio, interval, and p: by itself, with the design effect, and corrected."""
    own, other = words.people(table.attribute, row.group), _against(words, table.attribute, found.reference)
    of = f"Of {words.before(table.step)}, " if table.kind == "conditional" else ""
    x, spread = with_interval(found.impact_ratio, ends(found.interval), line)
    one, zero = rates_apart(row.rate, found.rate)
    often = "less often" if favourable else "more often"
    if one == zero:
        text = f"{of}{own} and {other} {words.were(table.step)} at nearly the same rate: {one}"
    else:
        text = f"{of}{own} {words.were(table.step)} {often} than {other}: {one} against {zero}"
    side = "" if found.impact_ratio is None or found.impact_ratio < line else f", not below {fraction(line)}"
    far = f"{deviations(found.sd)}, " if found.sd is not None else ""
    return whole(
        f"{text}, a ratio of {x}{side} ({spread}; {far}{p(found.p)} by itself"
        f"{_clustered(found.p, found.p_design, found.design)}; corrected for all tests in this report "
        f"{p(found.p_adjusted)})"
    )


def within_only(
    words: Phrases, table: DisparityTable, row: GroupResult, found: GroupComparison, opposite: bool, favourable: bool
) -> str:
    """A difference found within requisitions only; `opposite` if it favours the group with the worse pooled rate.
    The odds ratio and the shortfall are those of the group within requisitions."""
    own, other = words.people(table.attribute, row.group), _against(words, table.attribute, found.reference)
    worse, better = (other, own) if opposite else (own, other)
    of = f"of {words.before(table.step)}, " if table.kind == "conditional" else ""
    one, zero = rates_apart(row.rate, found.rate)
    often, more = ("less often", "more") if favourable else ("more often", "fewer")
    text = f"Within requisitions, {of}{worse} {words.were(table.step)} {often} than {better}"
    if (within := found.within) is None:
        return whole(text)
    x, spread = with_interval(within.odds_ratio, ends(within.interval))
    text += f": an odds ratio of {x} for {own} ({spread}; "
    text += f"{p(within.p_design)} by itself; corrected for all tests in this report {p(within.p_adjusted)})"
    if opposite:
        return f"{whole(text)} Pooled, the rates point the other way ({one} of {own}, {zero} of {other})."
    pooled = f"Pooled, {one} of {own} against {zero} of {other} is not a finding by itself"
    if within.shortfall > 0:
        pooled += f"; at the common rate of each requisition {heads(within.shortfall)} {more} {own} "
        pooled += words.would(table.step)
    return f"{whole(text)} {whole(pooled)}"


def behind_it(
    words: Phrases,
    table: DisparityTable,
    row: GroupResult,
    found: GroupComparison,
    reconciled: Reconciled,
    inside: bool,
    favourable: bool,
) -> str:
    """The second sentence of a difference: within requisitions, how many people, how robust; "" if nothing is known.

    `inside`: report the shortfall within requisitions.
    """
    parts = []
    own, other = words.people(table.attribute, row.group), _against(words, table.attribute, found.reference)
    within, shortfall = found.within, found.shortfall
    if within is not None and within.odds_ratio is not None:
        corrected = "" if within.p_adjusted is None else f", corrected {p(within.p_adjusted)}"
        evidence = f"{measured(within.odds_ratio, ends(within.interval))}, {p(within.p_design)}{corrected}"
        said = f"{RECONCILED[reconciled]} (odds ratio within them {evidence})"
        if reconciled is Reconciled.REVERSED:
            often = "more often" if favourable else "less often"
            said = f"within requisitions it is the other way round: {own} {words.were(table.step)} {often} than "
            said += f"{other} there (odds ratio {evidence})"
        parts.append(said)
    elif table.shared == 0:
        parts.append("no requisition has applicants of both, so this may be a difference between requisitions")
    rate = "at the common rate"
    if inside and within is not None:
        rate, shortfall = "at the common rate of each requisition", within.shortfall
    if shortfall > 0:
        more = "more" if favourable else "fewer"
        parts.append(f"{rate} {heads(shortfall)} {more} {own} {words.would(table.step)}")
    if not found.flips.robust:
        parts.append("a single different decision would change this finding")
    return f" {whole('; '.join(parts))}" if parts else ""


def where_it_arises(
    words: Phrases,
    *,
    attribute: str,
    group: str,
    steps: Sequence[str],
    later: Sequence[tuple[str, float | None, Bounds]],
    line: float,
    thin: bool,
) -> str:
    """The decisions that show a difference of their own, and that the later ones show none."""
    decisions = listing([words.decision(step) for step in steps])
    text = f"The difference arises in {decisions}." if len(steps) == 1 else f"Differences arise in {decisions}."
    if not later:
        return text
    parts = []
    for name, x, bounds in sorted(later, key=lambda one: math.inf if one[1] is None else one[1])[:MOST_LATER]:
        own, spread = with_interval(x, bounds, line)
        said = words.reached(name)
        said = f"“{name}”" if said.startswith("who ") else said
        parts.append(f"{said}: {f'ratio {own}, {spread}' if bounds else 'they have the highest rate'}")
    if len(later) > MOST_LATER:
        parts.append(plural(len(later) - MOST_LATER, "more step"))
    after = f"no further difference is found for {words.people(attribute, group)} ({'; '.join(parts)})"
    if thin:
        after += ", but there is too little evidence to rule one out"
    return f"{text} Among those {words.reached(steps[-1])}, {after}."


def builds_up(words: Phrases, attribute: str, group: str, step: str) -> str:
    own = words.people(attribute, group)
    return f"The difference builds up over several steps, up to “{step}”: no single decision shows one for {own}."


MOST_LATER = 2
"""How many later steps a sentence gives ratios for, the lowest first."""
FEW = 5
"""Expected numbers of people below this get a decimal."""


MOST_NAMED = 3
"""How many groups one sentence names; it only counts the others."""
NEAR_NOTHING = 0.05
"""Ratios below this would be found only if hardly anyone in the group were taken."""


def _some(named: Sequence[str], of: int) -> str:
    """a, b, c and 4 more groups."""
    shown = [*named[:MOST_NAMED]]
    return listing([*shown, plural(of - len(shown), "more group")] if of > len(shown) else shown)


def heads(x: float) -> str:
    """About how many people, without digits that suggest more precision than there is."""
    return f"about {count(int(x + 0.5)) if x >= FEW else expected(x)}"


def contributes_most(
    words: Phrases,
    *,
    attribute: str,
    group: str,
    reference: str,
    step: str,
    segments: Sequence[tuple[SegmentTable, SegmentPart]],
) -> str:
    """Where a shortfall arises: for each segment, the value that accounts for most of it."""
    own, other = words.people(attribute, group), words.people(attribute, reference)
    said = []
    for i, (cut, part) in enumerate(segments):
        numbers = f"{count(part.selected)} of {count(part.applicants)} {own}"
        against = f"{count(part.reference_selected)} of {count(part.reference_applicants)} {other}"
        ratio_, _ = with_interval(part.impact_ratio, ends(part.interval))
        evidence = f"{p(part.p_adjusted)}, corrected for {plural(cut.values, 'value')}"
        short = f"the shortfall of {heads(cut.shortfall)} {own} at “{step}”" if i == 0 else "it"
        value = f"{spaced(cut.segment)} {part.value}" if part.value.isdigit() else part.value
        largest = part.shortfall >= max(other.shortfall for other in cut.parts)
        place = f"is largest in {value}" if largest else f"arises in part in {value}"
        more = ", partly made up elsewhere" if part.shortfall > cut.shortfall else ""
        first = f"By {spaced(cut.segment)}, {short} {place} ({heads(part.shortfall)}{more})"
        said.append(f"{first}: {numbers} {words.were(step)} against {against}, a ratio of {ratio_} ({evidence}).")
    return " ".join(said)


def same_everywhere(words: Phrases, attribute: str, group: str, step: str, cuts: Sequence[SegmentTable]) -> str:
    """The difference is about the same size in every value of these segments."""
    own = words.people(attribute, group)
    named = listing([f"{spaced(cut.segment)} ({p(cut.agreement.p)})" for cut in cuts[:3] if cut.agreement is not None])
    return f"The gap for {own} at “{step}” does not differ detectably by {named.replace(' and ', ' or ')}."


def difference_in_segment(words: Phrases, one: SegmentDifference, line: float, apart: bool) -> str:
    """A difference in one department, location, level, source or period; `apart` if it differs from the rest."""
    own, other = words.people(one.attribute, one.group), _against(words, one.attribute, one.against)
    value = f"{spaced(one.segment)} {one.value}" if one.value.isdigit() else f"{one.value} ({spaced(one.segment)})"
    of = f"of {words.before(one.step)}, " if one.kind == "conditional" else ""
    x, spread = with_interval(one.impact_ratio, ends(one.interval), line)
    odds = ends(one.odds_interval)
    text = f"In {value}, {of}{own} {words.were(one.step)} less often than {other}: {count(one.selected)} of "
    text += (
        f"{count(one.applicants)} against {count(one.others_selected)} of {count(one.others_applicants)}, a ratio of "
    )
    text += f"{x} ({spread}; odds ratio within its requisitions {measured(one.odds_ratio, odds)}, {p(one.p_design)}; "
    text = whole(f"{text}corrected for all tests in this report {p(one.p_adjusted)})")
    if one.elsewhere_odds_ratio is None or one.p_elsewhere is None:
        return text
    rest = f"the odds ratio elsewhere is {measured(one.elsewhere_odds_ratio, odds)}"
    if apart:
        return f"{text} It differs from the others: {rest} (test of equal odds ratios: {p(one.p_elsewhere)})."
    return (
        f"{text} Whether it differs from the others is not clear: {rest} (test of equal odds ratios: "
        f"{p(one.p_elsewhere)})."
    )


def below_line(many: int, line: float) -> str:
    """Ratios below the line that are not findings."""
    one = many == 1
    return (
        f"{plural(many, 'ratio')} {'is' if one else 'are'} below {fraction(line)} without sufficient evidence of a "
        f"difference; the tables mark {'it' if one else 'them'}, and {'it is' if one else 'they are'} not counted as "
        f"{'a finding' if one else 'findings'}."
    )


class Alone(NamedTuple):
    """A comparison that is beyond two standard deviations by itself but isn't a finding."""

    who: str
    were: str
    sd: float
    p: float
    p_design: float | None
    p_adjusted: float
    design: ClusterDesign | None


def alone(found: Sequence[Alone], tests: int) -> str:
    """Explains why more than two standard deviations isn't sufficient evidence after the correction."""
    return whole(
        f"{_far(found)}. That is beyond two standard deviations but still not a finding, because among "
        f"{plural(tests, 'test')} some are that far apart by chance; for one comparison chosen before looking at the "
        "data, the uncorrected figures apply"
    )


def far_but_clustered(found: Sequence[Alone]) -> str:
    """Beyond two standard deviations only if applications are taken to be independent."""
    causes = sorted({one.design.cause for one in found if one.design is not None})
    alike = {"requisitions": "to one requisition", "repeat applicants": "by one person"}
    which = " and ".join(alike[cause] for cause in causes)
    return whole(
        f"{_far(found)}. That is beyond two standard deviations only if applications are independent: those {which} "
        "are alike, and once that is allowed for, the evidence is not sufficient"
    )


def _far(found: Sequence[Alone]) -> str:
    each = []
    for one in found[:MOST_NAMED]:
        wide = _clustered(one.p, one.p_design, one.design)
        text = f"{one.who} {one.were} {deviations(one.sd)} less often than expected ({p(one.p)} by itself{wide}; "
        each.append(f"{text}corrected {p(one.p_adjusted)})")
    more = len(found) - MOST_NAMED
    return "; ".join(each) + (f" and {plural(more, 'more comparison')}" if more > 0 else "")


Untestable = Literal["one-group", "nobody", "everybody"]
_WHY: dict[str, str] = {
    "one-group": "fewer than two groups are large enough",
    "nobody": "no one was selected",
    "everybody": "everyone was selected",
}


def nothing_to_compare(reasons: Sequence[tuple[DisparityTable, Untestable]]) -> str:
    """No rates can be compared, which doesn't mean that none differ."""
    why = listing(sorted({_WHY[reason] for _, reason in reasons}))
    why = why or "there is no decision about known groups"
    return f"No rates can be compared: {why}. This report says nothing about differences."


def not_compared(words: Phrases, reasons: Sequence[tuple[DisparityTable, Untestable]]) -> str:
    """Tables with nothing to compare."""
    named = {f"{spaced(table.attribute)} at “{table.step}” ({_WHY[reason]})": None for table, reason in reasons}
    return f"No rates could be compared for {_some(list(named), len(named)).replace('more groups', 'more tables')}."


def no_comparison_within(attribute: str, shared: int, requisitions: int) -> str:
    """Groups hardly ever apply to the same requisition."""
    which, so = "No requisition has", "a comparison within requisitions is not possible"
    if shared:
        which = f"Only {count(shared)} of {count(requisitions)} requisitions have"
        so = "a comparison within requisitions says little"
    return (
        f"{which} applicants from two of the compared groups of {spaced(attribute)}: {so}, and a pooled difference "
        "may be a difference between requisitions."
    )


def joined_requisitions(tables: Sequence[DisparityTable], requisitions: int) -> str:
    """Requisitions with few applicants of a group are compared together."""
    named = [f"{count(table.joined)} of {count(requisitions)} (for {spaced(table.attribute)})" for table in tables]
    text = (
        f"Requisitions with few applicants of a group, {listing(named)}, are compared in sets in which the group has "
        "a similar share of the applicants, so that results within requisitions don't give away anyone's outcome."
    )
    if alone := [spaced(table.attribute) for table in tables if table.stratified is None and table.shared]:
        text += (
            f" For {listing(alone)} this leaves no comparison within requisitions, and a pooled difference may be a "
            "difference between requisitions."
        )
    return text


def many_unknown(attribute: str, unknown: int, of: int) -> str:
    return (
        f"{spaced(attribute)} is unknown for {count(unknown)} of {count(of)} applicants ({percent(unknown / of)}): "
        "no rate counts them, and the results would change if they differed from the others."
    )


def no_difference(smallest: Sequence[float]) -> str:
    text = "No difference between groups was found at any step. That does not prove that there is none"
    if smallest:
        low, high = ratio(min(smallest), None, 2), ratio(max(smallest), None, 2)
        between = f"ratios above {low}" if low == high else f"ratios above {low} to {high}"
        text += f": {between} could have been missed"
    return whole(text)


class Thin(NamedTuple):
    """Groups of a table with too little evidence, each with the largest ratio that would be found."""

    attribute: str
    step: str
    groups: Sequence[tuple[str, float | None]]


def too_little(words: Phrases, tables: Sequence[Thin]) -> str:
    each = []
    for table in tables[:MOST_NAMED]:
        people = [words.people(table.attribute, group) for group, _ in table.groups]
        text = f"at “{table.step}” about {_some(people, len(people))}"
        known = [ratio(x, None, 2) for x in sorted(x for _, x in table.groups if x is not None)]
        if known:
            at = known[0] if known[0] == known[-1] else f"{known[0]} to {known[-1]}"
            near = any(x is not None and x >= NEAR_NOTHING for _, x in table.groups)
            text += f" (80 % power only for ratios {f'of {at} or lower' if near else 'close to 0'})"
        each.append(text)
    rest = f"; and in {plural(len(tables) - MOST_NAMED, 'more table')}" if len(tables) > MOST_NAMED else ""
    return whole(f"There is too little evidence {'; '.join(each)}{rest}")


def repeated(persons: int, applications: int) -> str:
    text = f"{plural(persons, 'person', 'people')} applied more than once ({count(applications)} applications)"
    return f"{text}; intervals and tests count each of them as one person."


# Prices and the firm --------------------------------------------------------------------------------------------------


NOT_MEASURED = "could not be measured, because nothing known about candidates tells the groups apart better than chance"


def prices(
    words: Phrases,
    one: tuple[str, float | None, float | None, Bounds],
    together: tuple[float | None, float | None, Bounds] | None,
    constraints: int,
    level: float | None,
    aware: float | None,
    *,
    lottery: bool = False,
    apart: bool = True,
) -> str:
    """The cost of one constraint, (phrase, share lost, loss, interval of the share lost), and of all of them together.

    `aware` is the share lost if policies could use the group; None if they did. `lottery`: the interval runs from 0 to
    the cost of a lottery. `apart`: something tells the groups apart.
    """
    phrase, share, loss, bounds = one
    value = f"of the value of those {words.outcome('selected')}, net of costs"
    known = None if bounds is None else bounds[1]
    if aware is not None and not apart:
        text = f"What {phrase} would cost without looking at the group {NOT_MEASURED}"
        if known is not None:
            sure = "" if level is None else f" ({percent(level, 0)} confidence)"
            text += f": at most {percent(known, share_decimals(0.0, bounds))} {value}{sure}"
    else:
        blind = "" if aware is None else " Without looking at the group,"
        text = f"{blind.strip()} {phrase if blind else sentence(phrase)}".strip()
        text += f" would cost {cost(share, loss, bounds, level, value)}"
    if together is not None:
        every = "both" if constraints == 2 else f"all {count(constraints)}"
        text += f"; {every} constraints together, {cost(*together, None)}"
    if aware is None:
        return whole(text)
    text = whole(text)
    if lottery:
        text += (
            " The upper end is what a lottery among the people of each requisition would cost, so the data say little"
        )
        text += " about this price."
    return f"{text} {_with_the_group(aware)}"


def only_if_nobody_is_selected(words: Phrases, phrase: str, aware: float | None) -> str:
    """Of a constraint that the best policy meets by selecting no one; `aware` as in `prices`."""
    text = f"{phrase}: under this model a policy"
    if aware is not None:
        text += " that does not see the group"
    text = whole(f"{text} gets there only if no one is {words.outcome('selected')}, so it has no price")
    return text if aware is None else f"{text} {_with_the_group(aware)}"


def _with_the_group(aware: float) -> str:
    return f"If the group could be used it would be {_share(aware)}: a bound, not a proposal."


ASKED = 0.9
"""The ratio in the first sentence on alternatives."""


def rates_compared(words: Phrases, each: Alternative) -> str:
    """ "hiring rates of women and men"."""
    one, two = (words.people(each.attribute, group) for group in (each.group, each.against))
    return f"{words.rate(each.step, 's')} of {one} and {two}"


def alternatives(words: Phrases, each: Alternative, information: Sequence[str], *, apart: bool = True) -> list[str]:
    """The cost of bringing rates together without looking at the group, the best simple rule, and the bound.

    All of it holds under the fitted model and with this information; it never says that no alternative exists. `apart`:
    something tells the groups apart.
    """
    rates = rates_compared(words, each)
    value = f"of the value of those {words.outcome('selected')}, net of costs"
    free, asked = each.blind[0], next((point for point in each.blind if point.ratio == ASKED), None)
    known = listing([*information, "the score"])
    if asked is None or free.utility is None:
        return []
    ratio = brief(ASKED)
    if asked.utility is None:
        first = f"No rule that uses only {known} brings the {rates} to a ratio of {ratio}, under this model"
    elif _only_if_nobody(asked):
        first = f"No rule that uses only {known} brings the {rates} to a ratio of {ratio} under this model"
        first += f", unless no one is {words.outcome('selected')}"
        if each.largest_ratio.filled is not None:
            first += f"; with the positions filled, the largest ratio is {brief(each.largest_ratio.filled)}"
    elif free.reached is not None and free.reached >= ASKED:
        best_search = f"The best search that never looks at {each.attribute}"
        first = f"{best_search} already brings the {rates} to a ratio of {ratio} or more, under this model"
    else:
        lost = max(0.0, 1 - asked.utility / free.utility) if free.utility > 0 else None
        told = amount(free.utility - asked.utility) if lost is None else f"{_share(lost)} {value}"
        first = (
            f"Without looking at {each.attribute}, the {rates} could be brought to a ratio of {ratio} for about {told} "
            f"(under this model, from {known})"
        )
    found = [whole(first)]
    best = each.best
    if best is None:
        found.append(whole(f"No simple rule that was tried reaches {ratio} with the positions filled"))
    else:
        told = f"is: {best.text};" if best.gist is None else f"{best.gist};"
        found.append(whole(f"The best simple rule found {told} {_confirmed(best.gain)}"))
        safest = each.safest_confirmed
        if safest is not None and safest is not best:
            found[-1] += f" {_safest(safest, free.utility)}"
    seen, unseen = (_given_up(points) for points in (each.aware, each.blind))
    if seen is not None and unseen is not None:
        blind = f"without looking at {each.attribute}"
        price = f"Equal rates would cost {_share(unseen)} {blind}"
        if any(point.ratio == 1.0 and _only_if_nobody(point) for point in each.blind):
            price = f"Equal rates cannot be had {blind} unless no one is {words.outcome('selected')}"
        elif not apart:
            price = f"What equal rates would cost {blind} {NOT_MEASURED}"
        found.append(whole(f"{price}; the bound if it could be used is {_share(seen)}"))
    if largest := _largest(each):
        found.append(largest)
    if each.dealt is not None and each.dealt.searches < each.dealt.of:
        found.append(worked_out_on(each.dealt))
    return found


def _only_if_nobody(point: FrontierOptimum) -> bool:
    return point.filled is not None and point.filled < FEWEST_SELECTED


def _given_up(points: Sequence[FrontierOptimum]) -> float | None:
    """The share of the best search's utility lost to equal rates, among policies with the same information."""
    free = points[0].utility if points else None
    equal = next((point.utility for point in points if point.ratio == 1.0), None)
    return None if equal is None or not free or free <= 0 else max(0.0, 1 - equal / free)


def _largest(each: Alternative) -> str | None:
    """How close the model's rates can come, without the group, while earning as much as the firm's own rule."""
    own, less = each.largest_ratio.at_firm_utility, each.largest_ratio.at_less
    if own is None or each.firm.ratio is None:
        return None
    most = "equal rates" if own >= 1 else brief(own)
    told = f"The firm's own rule has a ratio of {brief(each.firm.ratio)}. Without earning less, {most}"
    if less is not None and less > own:
        told += f" can be reached without looking at {each.attribute}, and {brief(less)} for 1 % less"
    else:
        told += f" can be reached without looking at {each.attribute}"
    return whole(f"{told}, under this model")


def worked_out_on(dealt: Dealt) -> str:
    return (
        f"Alternatives were worked out on {count(dealt.searches)} of the {count(dealt.of)} requisitions "
        f"({count(dealt.candidates)} candidates), chosen by a hash of their names; utilities are for these only."
    )


def _share(x: float) -> str:
    return percent(x, share_decimals(x, None))


def _safest(rule: RuleResult, best: float) -> str:
    assert rule.gain is not None
    lost = f" and gives up {_share(max(0.0, 1 - rule.utility / best))} of the best search's value" if best > 0 else ""
    one = whole(f"Of the rules whose gain was confirmed there, the easiest to defend is this: {rule.text}")
    return f"{one} {whole(f'It raised the ratio by {_raised(rule.gain)}{lost}')}"


def _raised(gain: Gain) -> str:
    ends = f"{percent(gain.interval[0] - 1, 0)} to {percent(gain.interval[1] - 1, 0)}"
    return f"{percent(gain.ratio - 1, 0)} ({ends})"


def _confirmed(gain: Gain | None) -> str:
    if gain is None:
        return "its gain was not judged on other requisitions"
    if gain.found:
        return f"on other requisitions it raised the ratio by {_raised(gain)}"
    least = percent(gain.detectable - 1, 0)
    few = f"with so few, only a gain above about {least} could have been confirmed"
    return f"its gain was not confirmed on other requisitions: {few}"


ENOUGH_HELD = 0.98
"""A best search that holds a smaller share of the firm's interviews than this isn't described as holding as many."""


def value_of_a_point(words: Phrases, found: PointValue) -> str:
    """What a score point is worth, how that was set, and what half and twice the value would change."""
    half, twice = (count(round(each.inspected)) for each in (found.at_half, found.at_twice))
    one = words.inspection
    change = f"At half that value the best search would hold {half} {one}s, at twice that value {twice}."
    amount = f"{brief(found.value)} in the unit of costs"
    if found.unit == "inspection":
        amount = f"as much as {brief(found.value)} {one}s (the data have no cost, so all count the same)"
    if found.source == "given":
        return f"A score point is worth {amount}, as given. {change}"
    if round(found.at_value.inspected) < ENOUGH_HELD * found.inspected_by_firm:
        first = f"A score point is taken to be worth {amount}, at which the best search holds "
        first += f"{count(round(found.at_value.inspected))} {one}s; the firm held {count(found.inspected_by_firm)}"
        if found.at_twice.inspected < found.inspected_by_firm:
            return f"{first}, more than the best search would even if a point were worth twice as much. {change}"
        return f"{first}, a number that the best search reaches or passes at no more than twice that value. {change}"
    return (
        f"A score point is taken to be worth {amount}: the value at which the best search holds as many {one}s as the "
        f"firm did ({count(found.inspected_by_firm)}), so whether those were too many or too few is not judged. "
        f"{change}"
    )


def cost(share: float | None, loss: float | None, bounds: Bounds, level: float | None, of: str = "") -> str:
    """At most 0.15 % (95 % confidence; measured 0.03 %), or 0.02 to 0.15 % (95 % interval; measured 0.08 %).

    The interval comes first, because a measured price is one draw of many (docs/validity.md); `of` names the whole.
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
    """How many decimals a small share gets, in per cent: as many as its interval warrants."""
    low, high = bounds or (None, None)
    if low is not None and high is not None and high > low:
        return min(4, max(0, -1 - math.floor(math.log10(high - low))))
    return 1 if abs(share) >= 0.01 else 2


def infeasible(phrase: str, conflict: Sequence[str]) -> str:
    return whole(f"no policy meets {phrase}: {listing(conflict)} cannot hold together")


def unproved(phrase: str, ends: tuple[float, float]) -> str:
    between = f"{amount(ends[0])} and {amount(ends[1])}"
    why = "is not proved, as can happen when constraints can only just be met"
    return whole(f"the price of {phrase} {why}: the utility of the best policy is between {between}")


def firm_gain(
    words: Phrases,
    gain: float,
    own: float,
    bounds: tuple[float, float] | None,
    level: float,
    parts: Mapping[str, float],
    judged: bool = True,
) -> str:
    """By how much the firm's own search, worth `own`, falls short of the best one, and why; `judged` says whether the
    number of inspections can be judged."""
    spread = "" if bounds is None else f"; {percent(level, 0)} interval {_ends(bounds)}"
    best = own + gain
    less = f"{percent(gain / best)} less" if best > 0 <= gain else "less"
    text = f"The firm's own search was worth {less} than the best one for the same openings"
    text += f" ({_like(gain, bounds)} of {_like(best, None)}{spread})"
    on = {
        "positions": "openings left unfilled",
        "cost": f"{words.inspection}s that cost more than they were worth",
        "quality": f"the choice of who {words.were(words.step('selected'), singular=True)}",
    }
    if not judged:
        inspected, selected = (words.were(words.step(name), singular=True) for name in ("inspected", "selected"))
        on["quality"] = f"the choice of who {inspected} and who {selected}"
    if len(parts) == 1 and gain > 0:
        return whole(f"{text}, all of it through {on[next(iter(parts))]}")
    by = on | {"positions": "openings filled", "cost": f"what it spent on {words.inspection}s"}
    lost = listing(f"{_like(part, bounds)} through {on[name]}" for name, part in parts.items() if part > 0)
    won = listing(f"{_like(-part, bounds)} through {by[name]}" for name, part in parts.items() if part < 0)
    said = ", and ".join(filter(None, (f"lost {lost}" if lost else "", f"gained {won}" if won else "")))
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
    size = _like(abs(x), bounds)
    points = "point" if size == "1" else "points"
    return f"{size} {points} {'higher' if x > 0 else 'lower'}{than} ({spread})"


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
    """The shift of scores that best describes whom the firm took forward; `priors` is None if scores were known.

    `explained`, for a shift that isn't clear: whether one as large as the difference in rates would have been clear;
    None if there is no such difference.
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
    if clear:
        text = f"At equal {equal}, the firm's decisions at “{step}” act as if {listing(each)}"
        text += f"; {plural(len(shifts) - len(each), 'more group')} differ less" if many else ""
        text += "; the intervals of the other groups include 0" if others else ""
        return (
            f"{text}. This describes decisions, not intentions: it includes anything that was judged but is not in the "
            "data."
        )
    named = [words.people(attribute, group) for group, *_ in shifts]
    between = f"{other} and any of {count(len(shifts))} other groups" if many else listing([*named, other])
    text = f"At equal {equal}, no difference between {between} is found at “{step}”: "
    text += f"{'at most, the' if many else 'the'} decisions look as if {listing(each)}, and "
    text += f"{'the interval includes' if len(each) == 1 else 'the intervals include'} 0."
    if explained is None:
        return text
    if explained:
        account, same = ("accounts", "it means") if len(priors or ()) == 1 else ("account", "they mean")
        part = f"{account} for at least part of the difference in rates"
        return f"{text} So {equal} {part}; whether {same} the same for each group is a separate question."
    return f"{text} A difference as large as the one in rates could have been missed."


def revealed_left_out(reasons: Sequence[str]) -> str:
    return whole(f"what the firm's decisions act like is not shown everywhere: {'; '.join(reasons)}")


def hidden_information(words: Phrases, attribute: str, value: float | None) -> str:
    return (
        f"By {attribute.replace('+', ' and ')}, scores of those {words.outcome('inspected')} depend on how close the "
        f"competition was ({p(value)}), as they would if the firm decided on information that is not in the data."
    )


def hidden_unknown(attributes: Sequence[str], reasons: Sequence[str]) -> str:
    return (
        f"For {listing(attributes)}, the data cannot tell whether the firm decided on information that is not in them "
        f"({'; '.join(reasons)})."
    )


def hidden_prices(
    constraint: str, people: str, prices: Sequence[tuple[float, float | None]], bounds: tuple[float, float] | None
) -> str:
    """`bounds`: the interval of the price at 0, which decides how many digits the prices get."""
    told = [f"{'cannot be met' if loss is None else amount_like(loss, bounds)} at {brief(rho)}" for rho, loss in prices]
    what = f"what the firm saw of {people} correlates with what the predictions leave open"
    return f" The price of {constraint} depends on how closely {what}: {listing(told)}."


def score_level(
    words: Phrases,
    *,
    attribute: str,
    within: str | None,
    groups: Sequence[tuple[str, float, tuple[float, float]]],
    reference: str,
) -> str:
    """Scores at equal priors, by group, against the reference."""
    than = f" than those of {words.people(attribute, reference)}"
    each = [
        f"{'those' if i else 'scores'} of {words.people(attribute, group)} were {shifted(x, bounds, '' if i else than)}"
        for i, (group, x, bounds) in enumerate(groups)
    ]
    return whole(f"At equal prior information, {_within_each(within)}{listing(each)}")


def trend(words: Phrases, table: DisparityTable, found: Trend) -> str:
    """The rate falls or rises with age; gives the rate of each band."""
    of = f"of {words.before(table.step)}, " if table.kind == "conditional" else ""
    often = "less often" if found.deciding < 0 else "more often"
    rates = listing(f"{percent(band.rate)} {_in_band(band.group)}" for band in found.bands)
    where = "" if found.z_within is None else " within requisitions"
    return whole(
        f"{of}{words.noun} {words.were(table.step)} {often} the older they were, on the whole: {rates} (trend{where}: "
        f"{deviations(found.deciding)}, {p(found.p_design)}; corrected for all tests in this report "
        f"{p(found.p_adjusted)})"
    )


def _in_band(band: str) -> str:
    return f"at {band}" if band[:1].isdigit() else f"of those {band}" if not band.startswith("under") else band


def _within_each(segment: str | None) -> str:
    return "" if segment is None else f"within each {spaced(segment)}, "


def score_validity(words: Phrases, found: ScoreValidity, alpha: float) -> str:
    """Whether the score predicts the outcome, and how the restriction of range affects that."""
    low, high = found.interval.lower, found.interval.upper
    measured = f"{signed(found.correlation)}, {signed(low)} to {signed(high)}"
    who = f"{plural(found.people, 'person', 'people')} {words.outcome('selected')} whose score and outcome are known"
    if found.p > alpha:
        text = f"No relation between the score and later performance is found among the {who}"
    elif found.correlation > 0:
        text = f"Higher scores go with better later performance among the {who}"
    else:
        text = f"Higher scores go with worse later performance among the {who}"
    text += f" ({_within_each(found.within)}correlation {measured}; {p(found.p)})"
    of_all = found.interval_of_all
    if found.correlation_of_all is None or of_all is None:
        return whole(text)
    closer = f"standard deviation {decimals(found.spread, 2)} against {decimals(found.spread_of_all, 2)}"
    return (
        f"{text}. Only those {words.outcome('selected')} have an outcome, and their scores lie closer together than "
        f"all scores ({closer}); corrected for that, as if they had been chosen by the score alone, the correlation is "
        f"{signed(found.correlation_of_all)} ({signed(of_all.lower)} to {signed(of_all.upper)})."
    )


def predicted_differently(
    words: Phrases,
    attribute: str,
    reference: str,
    row: ScoreDifference,
    within: str | None,
    *,
    level: bool,
    adjusted: float,
) -> str:
    """The regression of outcomes on scores differs for a group: in its level, or in its slope."""
    group, other = words.people(attribute, row.group), words.people(attribute, reference)
    if level:
        moved = shifted(row.level, row.level_interval, f" than that of {other}")
        little = "little" if row.level > 0 else "much"
        return whole(
            f"At equal scores, {_within_each(within)}later performance of {group} was {moved}; {p(adjusted)} "
            f"corrected: one prediction for everyone would predict too {little} for {group}"
        )
    more = "more" if row.slope > 0 else "less"
    return whole(
        f"A point of the score says {more} about later performance of {group} than of {other} "
        f"({_within_each(within)}difference per point {signed(row.slope)}, {signed(row.slope_interval[0])} to "
        f"{signed(row.slope_interval[1])}; {p(adjusted)} corrected)"
    )


def predicted_alike(words: Phrases, tables: Sequence[ScoreMeaning]) -> str:
    """Scores aren't found to predict differently for any group."""
    each = [
        f"{words.people(table.attribute, row.group)} "
        f"{shifted(row.level, row.level_interval, ' than ' + words.people(table.attribute, table.reference))}"
        for table in tables
        for row in table.groups
    ]
    return whole(
        "At equal scores no difference in later performance is found between groups, nor in what a point of the score "
        f"says about it; the intervals say how large one could be: {listing(each, 3)}"
    )


def scores_left_out(reasons: Sequence[str]) -> str:
    return whole(f"what scores say about different groups is not shown everywhere: {'; '.join(reasons)}")


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


def no_law(words: Phrases, phrases: Sequence[str], first: NoLaw, rows: int) -> str:
    """Why rows of these constraints lack a distribution of their ex-post slack; `first` is one of them."""
    row = words.row(first.label, first.meaning)
    about = first.label if first.meaning is None else f"“{row}”"
    more = f" and {plural(rows - 1, 'further row')}" if rows > 1 else ""
    return whole(f"no distribution of the ex-post slack under {listing(phrases)} for {about}{more}: {first.reason}")


def lotteries(each: Iterable[tuple[Sequence[str], int, int]]) -> str:
    """In how many requisitions the best policy under constraints is one policy: (phrases, how many, of how many)."""
    said = []
    for phrases, alone, searches in each:
        under = f"under {listing(phrases)}"
        if alone == searches:
            said.append(f"needs no lottery {under}")
        elif searches == 1:
            said.append(f"draws lots {under}")
        else:
            said.append(f"draws lots in {count(searches - alone)} of {plural(searches, 'requisition')} {under}")
    return whole(f"The best policy {'; it '.join(said)}")


def open_positions(each: Iterable[tuple[float, str]]) -> str:
    under: dict[str, list[str]] = {}
    for n, phrase in each:
        under.setdefault(brief(n), []).append(phrase)
    return f"Openings left unfilled on average: {listing(f'{n} under {listing(some)}' for n, some in under.items())}."


# What if --------------------------------------------------------------------------------------------------------------


def frontier(words: Phrases, curve: Frontier) -> str:
    """Where a constraint starts to cost something, and what the strictest one tried costs."""
    axis = curve.constraint.frontier_words(words, curve.parameter)[1]
    solved = [point for point in curve.points if point.loss is not None]
    if not solved:
        return whole(f"{axis}: none of the values tried can be met")
    strict = max(solved, key=lambda point: curve.tightens * point.value)
    if curve.starts is None:
        return whole(f"{axis}: nothing from {brief(solved[0].value)} to {brief(solved[-1].value)} costs anything")
    side = "up to" if curve.tightens > 0 else "down to"
    price = amount(strict.loss) if strict.ratio is None else f"{percent(1 - strict.ratio, 2)} of the utility"
    free = brief(curve.starts, strict.value)
    text = f"{axis}: {side} {free} costs nothing; {brief(strict.value)} costs {price}"
    if strict.unfilled_capacity is not None and strict.unfilled_capacity >= 0.05:
        text += f" and leaves {brief(strict.unfilled_capacity)} of {count(curve.positions)} openings unfilled"
    if curve.apart is not None:
        drawn = plural(max(len(solved) - 1, 1), "straight piece")
        text += (
            f" (exact: {drawn})"
            if curve.apart == 0
            else f" ({drawn}; the curve is at most {amount(curve.apart)} above)"
        )
    lost = len(curve.points) - len(solved)
    return whole(f"{text}; {lost} of the values tried cannot be met" if lost else text)


def biased_scores(words: Phrases, found: Sensitivity) -> str:
    """How biased a group's scores have to be for the constraints to pay off in the long term."""
    people = words.group(found.group)
    if found.wins_at is None:
        least = percent(min(point.factor for point in found.points), 0)
        told = f"Even where the scores of {people} show only {least} of what they are worth, the constraints do not "
        told += "pay off in the long term"
    else:
        told = f"If the scores of {people} show {percent(found.wins_at, 0)} of what they are worth or less, the "
        if found.wins_at >= max(point.factor for point in found.points):
            told = f"With the scores of {people} as they are, and with lower ones, the "
        told += "constrained policy is worth more in the long term"
        stays = [p.factor for p in found.points if p.factor < found.wins_at and (p.long_term_ratio or 0.0) < 1]
        told += f" (but not at {listing(percent(factor, 0) for factor in stays)})" if stays else ""
    if found.unfilled_at is not None:
        told += f"; below {percent(found.unfilled_at, 0)} it leaves positions unfilled"
    return f"{told}."


def best_by_bias(words: Phrases, found: BiasTable) -> str:
    """How strict a constraint should be in the long term, by how biased a group's scores are."""
    best = [(factor, cell) for factor in found.factors if (cell := found.best(factor)) is not None]
    pays = [(factor, cell) for factor, cell in best if (cell.long_term_ratio or 0.0) > 1 + 1e-9]
    people = words.group(found.group)
    tried = f"Of the values of {found.label} that were tried ({found.parameter})"
    if not pays:
        return f"{tried}, none pays off in the long term, however little of their worth the scores of {people} show."
    told = listing(f"{plain(cell.value)} ({percent(cell.long_term_ratio)}) at {percent(f, 0)}" for f, cell in pays)
    nowhere = listing(percent(factor, 0) for factor, _ in best if factor not in dict(pays))
    rest = f"; at {nowhere} none pays off" if nowhere else ""
    which = "which one yields most in the long term (in brackets, the share of the unconstrained utility it keeps)"
    return f"{tried}, {which} depends on how much of their worth the scores of {people} show: {told}{rest}."


def more_positions(found: MorePositions) -> str:
    """How many more positions would make up for the constraints."""
    terms = [(found.short_term, "in the short term")]
    terms += [] if found.long_term is None else [(found.long_term, "in the long term")]
    return whole("; ".join(_made_up(extra, found.positions, when) for extra, when in terms))


def _made_up(extra: Extra, positions: int, when: str) -> str:
    if extra.positions is None:
        return f"no number of further positions makes up for the constraints {when}"
    if extra.positions == 0:
        return f"no further positions are needed to make up for the constraints {when}"
    makes = "position makes" if extra.positions == 1 else "positions make"
    share = f" ({percent(extra.positions / positions)})" if positions else ""
    return f"{count(extra.positions)} more {makes} up for the constraints{share} {when}"


def budget_or_position(words: Phrases, found: BudgetOrPosition) -> str:
    """What one more unit of a budget is worth, compared with one more position."""
    row = words.row(found.label, found.meaning)
    one = found.unit == 1
    more, worth = ("One more unit", "is worth") if one else (f"{plain(found.unit)} more units", "are worth")
    told = f"{more} of the budget ({row[:1].lower()}{row[1:]}) "
    nothing = found.budget == 0
    told += f"{worth} nothing, because the best policy does not use it up" if nothing else ""
    told += "" if nothing else f"{worth} {brief(found.budget)}"
    if found.position is None:
        return f"{told}; there is no candidate left for one more position."
    told += f"; one more position is worth {brief(found.position)}"
    if nothing or found.budget == found.position:
        return f"{told}."
    return f"{told}, {'less' if found.budget > found.position else 'more'} than that."


def more_places(found: MorePlaces) -> str:
    """The limits in which one more place would be worth most."""
    if not found.places:
        return f"None of the {plural(found.limits, 'limit')} inside searches binds."
    each = listing(f"{place.label} in {place.search} ({amount(place.worth)})" for place in found.places)
    more = f"; {plural(found.unsolved, 'more label')} may bind" if found.unsolved else ""
    return f"One more place would be worth most in {each}{more}."


# The data and the model -----------------------------------------------------------------------------------------------


def left_out(rows: int, code: str) -> str:
    return f"{plural(rows, 'row')} left out: {spaced(code)}."


def too_small_to_show(applications: int, threshold: int) -> str:
    return (
        f"{plural(applications, 'application')} of people in categories of fewer than {threshold} applicants: in no "
        "table and no total, so that no one can be recognised."
    )


def cells_merged(attribute: str, joined: Sequence[str]) -> str:
    return f"{attribute.replace('+', ' and ')} crossed: {listing(joined)} are joined, because some cells are too small."


def priors_use(used: bool) -> str:
    return f"The predicted scores {'use' if used else 'do not use'} the protected attributes."


def selection_into_inspection(
    words: Phrases, scored: int, low: tuple[int, int], high: tuple[int, int], weighted: bool
) -> str:
    (a, n), (b, m) = low, high
    how = "weighted to allow for that" if weighted else "not weighted to allow for that"
    done = words.were(words.step("inspected"))
    return (
        f"Scores exist for {count(scored)} candidates. Of the third with the lowest expected scores {percent(a / n)} "
        f"{done}, of the third with the highest {percent(b / m)}; the predicted scores are {how}."
    )


NO_LONG_TERM = "No long-term utility: it needs the later performance of at least 20 people who were selected."


def no_model(reasons: Sequence[str]) -> str:
    why = " ".join(whole(reason) for reason in reasons)
    return f"No model of the scores: {why[:1].lower()}{why[1:]}"


NO_FIRM = "Without a model the report cannot value the firm's decisions; the disparity audit does not need one."
NO_BEST = "Without a model there is no best policy to compare with."
NO_PRICE = "Without a best policy no constraint has a price."
