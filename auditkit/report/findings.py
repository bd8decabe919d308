"""What a report says first, in the order of importance: measurements, evidence, what is missing.

Kinds, in this order: `disparity` (a difference that was found), `segment` (where it comes from), `firm` (what the
recorded decisions act like and are worth), `price` (what constraints cost), `model` (why there is none), `notice` (what
a reader should know: what was left out, assumed, or could not be computed). Here it is decided what is said; the words
are in `words/sentences.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from auditkit.compare import NoInterval, PriceInterval
from auditkit.compare.comparison import TOGETHER, NoLaw
from auditkit.disparity.results import (
    Comparator,
    Disparities,
    DisparityTable,
    GroupResult,
    GroupStatus,
    Reconciled,
    SegmentDifference,
    SegmentTable,
)
from auditkit.disparity.segments import REQUISITION
from auditkit.report.published_digits import rounded
from auditkit.report.schema import FindingModel
from auditkit.report.words import sentences as say
from auditkit.report.words.phrases import ALL_TOGETHER, Phrases

if TYPE_CHECKING:
    from auditkit.compare import Comparison, Constrained
    from auditkit.compare.value_of_point import PointValue
    from auditkit.data.firm_history import History
    from auditkit.data.privacy import Protected
    from auditkit.fitting.fitted import Fitted
    from auditkit.rules.find import Alternative, Alternatives

KINDS = ("disparity", "segment", "firm", "price", "model", "notice")
SINGLE_ROWS = NoLaw("rows about single candidates", None, "they are not shown")
MANY_UNKNOWN = 0.05
"""The share of unknown groups from which on a report says so."""
FEW_SHARED = 0.1
"""The share of requisitions with both groups below which a comparison within them says little."""
SHORTFALL_WITHIN = (
    Reconciled.POOLED_EXPLAINED,
    Reconciled.POOLED_WITHIN_UNCLEAR,
    Reconciled.REVERSED,
)
"""Where the shortfall that counts is the one within requisitions."""
LAST = ("firm-gain",)
"""Findings about the firm that come after the prices: they are about value, not about people."""


def _notice(code: str, text: str) -> FindingModel:
    return FindingModel(kind="notice", code=code, text=text)


# Disparity ------------------------------------------------------------------------------------------------------------


def of_disparities(found: Disparities, words: Phrases) -> list[FindingModel]:
    """Every difference found, where it arises and where it comes from; then what the evidence does not show."""
    told: list[FindingModel] = []
    placed: set[tuple[str, str]] = set()
    for table, row in _differences(found):
        told.append(_difference(table, row, found, words))
        if table.kind == "cumulative" and (table.attribute, row.group) not in placed:
            placed.add((table.attribute, row.group))
            if text := _where(found, table, row, words):
                about = {"attribute": table.attribute, "group": row.group, "step": table.step}
                told.append(FindingModel(kind="disparity", code="where-it-arises", text=text, **about))
    told += _trends(found, words)
    told += _validity(found, words)
    told += _searched(found, words)
    told += _segments(found, words)
    tested = [table for table in found.tables if table.pooled is not None]
    if not tested:
        told.append(_notice("nothing-to-compare", say.nothing_to_compare(_untestable(found.tables))))
    elif not any(item.kind in ("disparity", "segment") for item in told):
        told.append(_notice("no-difference-found", _nothing(found)))
    told += _notices(found, words)
    return told


def _differences(found: Disparities) -> Iterator[tuple[DisparityTable, GroupResult]]:
    """Every difference found, but not those that a later step before the last merely carries on."""
    every = list(found.found())
    for table, row in every:
        same = [t for t, other in every if (t.attribute, other.group) == (table.attribute, row.group)]
        between = table.step not in (found.steps[0], found.steps[-1]) and table.kind == "cumulative"
        arises = any(t.step == table.step and t.kind == "conditional" for t in same)
        before = any(found.steps.index(t.step) < found.steps.index(table.step) for t in same)
        if not (between and before and not arises):
            yield table, row


def _notices(found: Disparities, words: Phrases) -> Iterator[FindingModel]:
    """Everything that a reader of the differences should know beside them."""
    tested = [table for table in found.tables if table.pooled is not None]
    if tested and (reasons := _untestable(found.tables)):
        yield _notice("not-compared", say.not_compared(words, reasons))
    if below := [
        row for table in tested for row in table.groups if row.status is GroupStatus.BELOW_LINE_NOT_SUFFICIENT
    ]:
        yield _notice("below-line", say.below_line(len(below), found.line))
    apart = list(_alone(found, words))
    if many := [one for one in apart if one.p_design is None or one.p_design <= found.alpha]:
        yield _notice("two-standard-deviations", say.alone(many, found.tests))
    if clustered := [one for one in apart if one.p_design is not None and one.p_design > found.alpha and one.design]:
        yield _notice("two-standard-deviations", say.far_but_clustered(clustered))
    for text in _one_group_requisitions(found, words):
        yield _notice("no-comparison-within", text)
    if joined := [table for table in _first_tables(found) if table.joined and table.pooled is not None]:
        yield _notice("joined-requisitions", say.joined_requisitions(joined, found.requisitions))
    for table in _first_tables(found):
        if table.unknown >= MANY_UNKNOWN * (table.unknown + table.applicants):
            text = say.many_unknown(table.attribute, table.unknown, table.unknown + table.applicants)
            yield FindingModel(kind="notice", code="many-unknown", text=text, attribute=table.attribute)
    if thin := list(_thin(found)):
        yield _notice("too-little-evidence", say.too_little(words, thin))
    if found.repeated is not None:
        yield _notice("repeated-applicants", say.repeated(found.repeated.persons, found.repeated.applications))


def _first_tables(found: Disparities) -> list[DisparityTable]:
    """Of each attribute, all applicants at the first step."""
    first = {t.attribute: t for t in reversed(found.tables) if t.kind == "cumulative" and not t.crossing}
    return list(first.values())[::-1]


def _untestable(tables: Iterable[DisparityTable]) -> list[tuple[DisparityTable, say.Untestable]]:
    """Tables in which no rates can be compared, and why."""
    reasons: list[tuple[DisparityTable, say.Untestable]] = []
    for table in tables:
        if table.pooled is None:
            compared = [row for row in table.groups if row.status is not GroupStatus.EXCLUDED and row.applicants]
            selected = sum(row.selected for row in compared)
            many = sum(row.applicants for row in compared)
            why: say.Untestable = "one-group" if len(compared) < 2 else "nobody" if not selected else "everybody"
            if len(compared) < 2 or selected in (0, many):
                reasons.append((table, why))
    return reasons


def _alone(found: Disparities, words: Phrases) -> Iterator[say.Alone]:
    """Comparisons of more than two standard deviations that the correction for all tests does not leave a finding."""
    for table in found.tables:
        for row in table.groups:
            if table.crossing or row.status.found or row.sd is None or row.p is None or row.p_adjusted is None:
                continue
            if row.sd < -2 and _clearest(found, table):
                who = words.people(table.attribute, row.group)
                yield say.Alone(who, words.were(table.step), row.sd, row.p, row.p_design, row.p_adjusted, row.design)


def _one_group_requisitions(found: Disparities, words: Phrases) -> Iterator[str]:
    """Attributes whose groups (nearly) never apply to the same requisition."""
    for attribute in found.attributes:
        table = found.table(attribute, found.steps[0])
        few = found.requisitions > 1 and table.shared < FEW_SHARED * found.requisitions
        if few and table.pooled is not None:
            yield say.no_comparison_within(attribute, table.shared, found.requisitions)


def odds_ratios(found: Disparities) -> dict[tuple[str, str, str, str], float]:
    """(attribute, step, group, reference) -> odds ratio within requisitions, of every difference found among those who
    reached the step before."""
    known = {}
    for table, row in found.found():
        first = table.step == found.steps[0]
        if (first or table.kind == "conditional") and row.within is not None and row.within.odds_ratio:
            known[table.attribute, table.step, row.group, str(table.reference)] = row.within.odds_ratio
    return known


def _difference(table: DisparityTable, row: GroupResult, page: Disparities, words: Phrases) -> FindingModel:
    """A difference that was found, told of the group that does worse where it was found."""
    compared = row.against(row.decided_against or Comparator.HIGHEST)
    assert compared is not None
    within = compared.within
    reconciled = row.reconciled or Reconciled.NO_STRATA
    if compared.against is Comparator.OTHERS:
        same = within is None or (within.shortfall > 0) == compared.lower
        found_within = within is not None and within.p_adjusted is not None and within.p_adjusted <= page.alpha
        reconciled = Reconciled.NO_STRATA if within is None else Reconciled.NEITHER
        if found_within:
            reconciled = Reconciled.BOTH if same else Reconciled.REVERSED
        elif within is not None:
            reconciled = Reconciled.POOLED_WITHIN_UNCLEAR
    other = compared.reference
    opposite = reconciled is Reconciled.WITHIN_ONLY_OPPOSITE
    if (opposite or reconciled is Reconciled.WITHIN_ONLY) and within is not None and other is not None:
        text = say.within_only(words, table, row, compared, opposite, page.favourable)
        worse, better = (other, row.group) if opposite else (row.group, other)
        about = {"attribute": table.attribute, "group": worse, "against": better, "step": table.step}
        return FindingModel(kind="disparity", code="difference-within", text=text, **about)
    text = say.difference(words, table, row, compared, page.line, page.favourable)
    inside = reconciled in SHORTFALL_WITHIN and within is not None
    text += say.behind_it(words, table, row, compared, reconciled, inside, page.favourable)
    about = {"attribute": table.attribute, "group": row.group, "step": table.step}
    return FindingModel(kind="disparity", code=f"difference-{table.kind}", text=text, against=other, **about)


def _where(found: Disparities, table: DisparityTable, row: GroupResult, words: Phrases) -> str | None:
    """The decisions in which a difference arises: the first one, or one found among those who reached the step before.

    Only such a decision is named; a difference of all applicants at a later step has built up until there.
    """
    if len(found.steps) < 2 or not found.favourable:
        return None
    arising = [step for step in found.steps if _found_at(found, table.attribute, step, row.group)]
    if not arising:
        return say.builds_up(words, table.attribute, row.group, table.step)
    behind = found.steps[found.steps.index(arising[-1]) + 1 :]
    later, thin = [], False
    for step in behind:
        rows = found.table(table.attribute, step, "conditional").groups
        own = next((r for r in rows if r.group == row.group), None)
        if own is None or own.impact_ratio is None:
            continue
        later.append((step, own.impact_ratio, say.ends(own.interval)))
        of = rows if own.status is GroupStatus.REFERENCE else (own,)  # the reference is compared in the others' rows
        thin |= any(r.status in (GroupStatus.TOO_LITTLE_EVIDENCE, GroupStatus.BELOW_LINE_NOT_SUFFICIENT) for r in of)
    return say.where_it_arises(
        words,
        attribute=table.attribute,
        group=row.group,
        steps=arising,
        later=later,
        line=found.line,
        thin=thin,
    )


def _found_at(found: Disparities, attribute: str, step: str, group: str) -> bool:
    """Whether the decision that leads to this step shows a difference by itself."""
    table = found.table(attribute, step, "cumulative" if step == found.steps[0] else "conditional")
    return any(row.group == group and row.status.found for row in table.groups)


def _trends(found: Disparities, words: Phrases) -> Iterator[FindingModel]:
    """Of each attribute with bands in an order: the clearest trend that is found."""
    known = [
        (table.trend.p_adjusted, table.trend, table)
        for table in found.tables
        if table.trend is not None and table.trend.p_adjusted is not None and table.trend.p_adjusted <= found.alpha
    ]
    for attribute in dict.fromkeys(table.attribute for _, _, table in known):
        _, trend, table = min((each for each in known if each[2].attribute == attribute), key=lambda each: each[0])
        about = {"attribute": attribute, "step": table.step}
        yield FindingModel(kind="disparity", code="trend", text=say.trend(words, table, trend), **about)


def _validity(found: Disparities, words: Phrases) -> Iterator[FindingModel]:
    """Whether the score predicts the outcome of those hired, and for whom it predicts differently."""
    validity, alpha = found.validity, found.alpha
    if validity is None:
        return
    yield FindingModel(kind="model", code="score-validity", text=say.score_validity(words, validity, alpha))
    rows = [(table, row) for table in validity.tables for row in table.groups]
    told = False
    for (table, row), adjusted in zip(rows, validity.adjusted, strict=True):
        for level, p in ((True, adjusted.level_p_adjusted), (False, adjusted.slope_p_adjusted)):
            if p is not None and p <= alpha:
                told = True
                text = say.predicted_differently(
                    words, table.attribute, table.reference, row, validity.within, level=level, adjusted=p
                )
                about = {"attribute": table.attribute, "group": row.group, "against": table.reference}
                yield FindingModel(kind="model", code="score-validity-groups", text=text, **about)
    if rows and not told:
        yield FindingModel(kind="model", code="score-validity-groups", text=say.predicted_alike(words, validity.tables))


def _in_one_value(found: Disparities) -> Iterator[tuple[SegmentDifference, bool]]:
    """Differences in one value of a segment, unless they are the difference of all applicants seen from nearby; with
    each, whether it differs from the others."""
    told: set[tuple[str, str, str]] = set()
    for one in () if found.search is None else found.search.found:
        whole = _found_at(found, one.attribute, one.step, one.group)
        apart = one.p_elsewhere is not None and one.p_elsewhere <= found.alpha
        if (whole and not apart) or (one.attribute, one.group, one.step) in told:
            continue
        told.add((one.attribute, one.group, one.step))
        yield one, apart


def _searched(found: Disparities, words: Phrases) -> Iterator[FindingModel]:
    for one, apart in _in_one_value(found):
        yield FindingModel(
            kind="segment",
            code="difference-in-segment",
            text=say.difference_in_segment(words, one, found.line, apart),
            attribute=one.attribute,
            group=one.group,
            against=one.against,
            step=one.step,
            segment=one.segment,
            value=one.value,
        )


def _segments(found: Disparities, words: Phrases) -> Iterator[FindingModel]:
    """Where a shortfall comes from: the value in which it is largest if values differ, or that all are alike."""
    stands_out = {(one.attribute, one.group, one.step, one.segment) for one, apart in _in_one_value(found) if apart}
    by: dict[tuple[str, str, str], list[SegmentTable]] = defaultdict(list)
    for cut in found.segments:
        if cut.shortfall > 0:
            by[cut.attribute, cut.group, cut.step].append(cut)
    alike_told: set[tuple[str, str]] = set()
    for (attribute, group, step), cuts in by.items():
        about = {"attribute": attribute, "group": group, "step": step}
        apart = []
        for cut in cuts:
            parts = [part for part in cut.parts if part.found and part.shortfall > 0]
            if parts and _differ(cut, found.alpha):
                apart.append((cut, max(parts, key=lambda part: part.shortfall)))
        apart.sort(key=lambda cut: 1.0 if cut[1].p_adjusted is None else cut[1].p_adjusted)
        if apart:
            first, part = apart[0]
            text = say.contributes_most(words, reference=first.reference, segments=apart[:2], **about)
            place = {"against": first.reference, "segment": first.segment, "value": part.value}
            yield FindingModel(kind="segment", code="contributes-most", text=text, **place, **about)
            continue
        alike = {
            cut.segment: cut
            for cut in reversed(cuts)  # of all applicants, where there are two
            if cut.segment != REQUISITION
            and (attribute, group, step, cut.segment) not in stands_out
            and cut.agreement is not None
            and cut.agreement.reliable
        }
        if alike and (attribute, group) not in alike_told:
            alike_told.add((attribute, group))
            told = list(alike.values())[::-1]
            text = say.same_everywhere(words, attribute, group, step, told)
            yield FindingModel(kind="segment", code="same-everywhere", text=text, segment=told[0].segment, **about)


def _differ(cut: SegmentTable, alpha: float) -> bool:
    """Whether the difference is not the same in all values."""
    return cut.agreement is not None and cut.agreement.reliable and cut.agreement.p <= alpha


def _clearest(found: Disparities, table: DisparityTable) -> bool:
    """Whether, of all applicants and of those who reached the step before, this table has the clearer difference."""
    both = [t for t in found.tables if (t.attribute, t.step) == (table.attribute, table.step)]
    return table is min(both, key=lambda t: min((row.p for row in t.groups if row.p is not None), default=1.0))


def _nothing(found: Disparities) -> str:
    return say.no_difference(
        [
            row.detectable_ratio
            for table in found.tables
            for row in table.groups
            if row.detectable_ratio is not None
            and table.pooled is not None
            and not table.crossing
            and table.kind == "cumulative"
        ]
    )


def _thin(found: Disparities) -> Iterator[say.Thin]:
    for table in found.tables:
        rows = [row for row in table.groups if row.status is GroupStatus.TOO_LITTLE_EVIDENCE]
        if rows and table.kind == "cumulative" and table.pooled is not None:
            yield say.Thin(table.attribute, table.step, [(row.group, row.detectable_ratio) for row in rows])


# Policies -------------------------------------------------------------------------------------------------------------


def of_point(point: PointValue, words: Phrases) -> FindingModel:
    """What a score point is worth: every price depends on it, so it is said before them."""
    return FindingModel(kind="price", code="value-of-a-point", text=say.value_of_a_point(words, point))


def of_comparison(comparison: Comparison, words: Phrases, differing: Collection[object] = ()) -> list[FindingModel]:
    """What constraints cost, what the best policy would yield, and what was not computed; `differing` are the
    attributes with a finding of a difference."""
    entries = comparison.constrained
    found = [*_prices(entries, words, differing, comparison.alike)]
    if comparison.defaults and entries:
        small = [group for groups in comparison.left_out.values() for group in groups]
        single = [phrase_of(entry, words) for entry in entries if entry.label != TOGETHER]
        found.append(_notice("default-constraints", say.default_constraints(single, small)))
    if over := [unit for unit in comparison.firm.units if unit.exceeded]:
        found.append(
            FindingModel(
                kind="firm", code="limits-exceeded", text=say.limits_exceeded((u.label, u.exceeded) for u in over)
            )
        )
    if not entries:
        found.append(_notice("no-constrained", say.NOTHING_TO_PRICE))
    return found + _not_computed(entries, words)


def of_alternatives(found: Alternatives, words: Phrases) -> list[FindingModel]:
    """What could be done without looking at the group, for each attribute; and why nothing is said of others."""
    told = [
        FindingModel(
            kind="price",
            code="alternative",
            text=" ".join(alternative_sentences(found, each, words)[:2]),
            attribute=each.attribute,
            group=each.group,
            against=each.against,
            step=words.step(each.step),
        )
        for each in found.found
    ]
    reasons = [_notice("no-alternatives", say.whole(f"{name}: {why}")) for name, why in found.left_out.items()]
    return told + reasons


def alternative_sentences(found: Alternatives, each: Alternative, words: Phrases) -> list[str]:
    """Everything that is said of one attribute and step."""
    return say.alternatives(words, each, found.information, apart=each.attribute not in found.alike)


def phrase_of(entry: Constrained, words: Phrases) -> str:
    """What a constraint asks for."""
    return ALL_TOGETHER if entry.label == TOGETHER else entry.constraints[0].describe(words).phrase


def _prices(
    entries: Sequence[Constrained], words: Phrases, differing: Collection[object], alike: Collection[object] = ()
) -> Iterator[FindingModel]:
    """What cannot be met, and a price: that of the first constraint on an attribute with a finding of a difference.

    Nothing tells the groups of the attributes `alike` apart.
    """
    for entry in entries:
        if entry.standing is None:
            yield FindingModel(
                kind="price", code="infeasible", text=say.infeasible(phrase_of(entry, words), entry.conflict)
            )
        elif entry.optimum is not None and not entry.optimum.proved:
            ends = (entry.standing.utility, rounded(entry.optimum.bound))
            yield FindingModel(kind="price", code="unproved", text=say.unproved(phrase_of(entry, words), ends))
        elif entry.selects_nobody and entry.label != TOGETHER:
            aware = None if entry.group_aware is None else entry.group_aware.given_up
            text = say.only_if_nobody_is_selected(words, phrase_of(entry, words), aware)
            yield FindingModel(kind="price", code="selects-nobody", text=text)
    priced = [entry for entry in entries if entry.status == "optimal" and not entry.selects_nobody]
    each = [entry for entry in priced if entry.label != TOGETHER]
    if not each:
        return
    named = next((entry for entry in each if _by(entry) in differing), each[0])
    level = next((e.interval.level for e in each if isinstance(e.interval, PriceInterval)), None)
    aware = None if named.group_aware is None else named.group_aware.given_up
    all_together = [entry for entry in priced if entry.label == TOGETHER]
    said = [entry for entry in all_together if _apart(entry, alike) or isinstance(entry.interval, PriceInterval)]
    one, together = (phrase_of(named, words), *_cost(named)), _cost(said[0]) if said else None
    lottery, apart = _any_price(named), _apart(named, alike)
    text = say.prices(words, one, together, len(each), level, aware, lottery=lottery, apart=apart)
    yield FindingModel(kind="price", code="price-of-fairness", text=text)


def _apart(entry: Constrained, alike: Collection[object]) -> bool:
    """Whether anything tells the groups that a constraint compares apart; nothing does those of `alike`."""
    compared = () if entry.optimum is None else [row.by for row in entry.optimum.rows.rows]
    return not compared or not set(compared) <= set(alike)


def _by(entry: Constrained) -> object:
    """The attribute that a constraint is about."""
    return getattr(entry.constraints[0], "by", None)


def _any_price(entry: Constrained) -> bool:
    """Whether the interval of the price reaches from nothing to what a lottery would cost."""
    price = entry.interval
    if not isinstance(price, PriceInterval) or price.lottery is None:
        return False
    return price.one_sided and price.loss[1] >= price.lottery > 0


def _cost(entry: Constrained) -> tuple[float | None, float | None, say.Bounds]:
    """The share of the utility that is lost, the loss, and the interval of the share."""
    price = entry.interval
    kept = price.ratio if isinstance(price, PriceInterval) else None
    bounds = None if kept is None else (max(0.0, 1 - kept[1]), max(0.0, 1 - kept[0]))
    return None if entry.ratio is None else max(0.0, 1 - entry.ratio), entry.loss, bounds


def _not_computed(entries: Sequence[Constrained], words: Phrases) -> list[FindingModel]:
    found = []
    missing: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry.interval, NoInterval):
            missing[entry.interval.reason].append(phrase_of(entry, words))
    found += [_notice("no-interval", say.no_interval(phrases, reason)) for reason, phrases in missing.items()]
    laws: dict[str, list[tuple[str, NoLaw, int]]] = defaultdict(list)
    for entry in entries:
        if entry.laws_left_out:
            single = any(dual.individual for dual in entry.duals)  # its rows name candidates
            first = SINGLE_ROWS if single else entry.laws_left_out[0]
            laws[first.reason].append((phrase_of(entry, words), first, 1 if single else len(entry.laws_left_out)))
    for same in laws.values():
        text = say.no_law(words, [phrase for phrase, _, _ in same], same[0][1], sum(rows for *_, rows in same))
        found.append(_notice("ex-post-slack-not-computed", text))
    drawn: dict[tuple[int, int], list[str]] = defaultdict(list)
    for entry in entries:
        if entry.optimum is not None and not entry.selects_nobody:
            mixture = entry.optimum.mixture
            drawn[mixture.count - mixture.randomised, mixture.count].append(phrase_of(entry, words))
    if drawn:
        text = say.lotteries((phrases, alone, searches) for (alone, searches), phrases in drawn.items())
        found.append(_notice("lotteries", text))
    left = [(e.standing.unfilled_capacity, phrase_of(e, words)) for e in entries if e.standing is not None]
    if open_ := [(n, phrase) for n, phrase in left if n > 0.05]:
        found.append(_notice("unfilled-positions", say.open_positions(open_)))
    return found


# The data -------------------------------------------------------------------------------------------------------------


def of_data(history: History, shown: Protected) -> list[FindingModel]:
    """What was left out, what was assumed, and what the data lacks."""
    found = [_notice(f"left-out-{code}", say.left_out(n, code)) for code, n in history.counts.left.items()]
    if shown.left_out:
        found.append(_notice("categories-too-small", say.too_small_to_show(shown.left_out, shown.threshold)))
    found += [_notice("cells-merged", say.cells_merged(name, joined)) for name, joined in shown.merged.items()]
    return found + [_notice(notice.code, say.whole(notice.text)) for notice in history.notices]


def of_fit(fitted: Fitted, threshold: int, words: Phrases) -> list[FindingModel]:
    """What the model had to assume, and where it fits badly."""
    found = [_notice("fit", say.whole(text)) for text in fitted.notices]
    used = [name for name in fitted.settings.features if name == "group" or name.startswith("group:")]
    found.append(_notice("priors-use", say.priors_use(bool(used))))
    found += [_notice("fit-quality", say.whole(text)) for text in fitted.quality.warnings]
    selection = fitted.quality.selection
    low, high = selection.by_tercile[0], selection.by_tercile[-1]
    if min(low.candidates, high.candidates) >= max(threshold, 1):
        ends = (low.inspected, low.candidates), (high.inspected, high.candidates)
        text = say.selection_into_inspection(words, selection.scored, *ends, selection.weighted)
        found.append(_notice("selection-into-inspection", text))
    if fitted.realised.long_term_utility is None:
        found.append(_notice("no-long-term-utility", say.NO_LONG_TERM))
    return found


def without_fit(reasons: Sequence[str]) -> list[FindingModel]:
    """Why there is no model, and what there is not for that reason."""
    return [
        FindingModel(kind="model", code="no-fit", text=say.no_model(reasons)),
        _notice("no-firm", say.NO_FIRM),
        _notice("no-unconstrained", say.NO_BEST),
        _notice("no-constrained", say.NO_PRICE),
    ]


def of_plugins(lines: Iterable[str]) -> list[FindingModel]:
    """Plugins, or parts of them, that could not be used, and why."""
    return [_notice("plugin-left-out", say.whole(line)) for line in lines]


def in_order(found: Sequence[FindingModel]) -> list[FindingModel]:
    """By importance; findings of one kind keep their order."""
    return sorted(found, key=_place)


def _place(item: FindingModel) -> float:
    return KINDS.index("price") + 0.5 if item.code in LAST else KINDS.index(item.kind)
