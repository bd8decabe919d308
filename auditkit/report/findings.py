"""What a report says first, in the order of importance: measurements, evidence, what is missing.

Kinds, in this order: `disparity` (a difference that was found), `segment` (where it comes from), `firm` (what the
recorded decisions act like and are worth), `price` (what constraints cost), `model` (why there is none), `notice` (what
a reader should know: what was left out, assumed, or could not be computed). Here it is decided what is said; the words
are in `sentences`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from auditkit.compare import NoInterval, PriceInterval
from auditkit.disparity import (
    Caution,
    Disparities,
    DisparityTable,
    GroupResult,
    GroupStatus,
    Interval,
    Reconciled,
    SegmentTable,
)
from auditkit.report import sentences as say
from auditkit.report.phrases import TOGETHER, Phrases

if TYPE_CHECKING:
    from auditkit.compare import Comparison, Constrained
    from auditkit.data import History
    from auditkit.data.privacy import Protected
    from auditkit.fitting.fitted import Fitted

Finding = dict[str, Any]

KINDS = ("disparity", "segment", "firm", "price", "model", "notice")
LAST = ("firm-gain",)
"""Findings about the firm that come after the prices: they are about value, not about people."""


def finding(kind: str, code: str, text: str, **about: str) -> Finding:
    """One finding; `about` are the attribute, group, step or segment that it is about."""
    return {"kind": kind, "code": code, "text": text, **about}


def _notice(code: str, text: str) -> Finding:
    return finding("notice", code, text)


# Disparity ------------------------------------------------------------------------------------------------------------


def of_disparities(found: Disparities, words: Phrases) -> list[Finding]:
    """Every difference found, where it arises and where it comes from; then what the evidence does not show."""
    told: list[Finding] = []
    for table, row in found.found():
        about = {"attribute": table.attribute, "group": row.group, "step": table.step}
        told.append(finding("disparity", f"difference-{table.kind}", _difference(table, row, found, words), **about))
        if table.kind == "cumulative" and (later := _later(found, table, row, words)):
            told.append(finding("disparity", "where-it-arises", later, **about))
    told += _segments(found.segments, words)
    for table, text in _below_line(found, words):
        about = {"attribute": table.attribute, "step": table.step}
        told.append(finding("notice" if table.crossing else "disparity", "below-line", text, **about))
    if not any(item["kind"] == "disparity" for item in told):
        told.append(_notice("no-difference-found", _nothing(found)))
    told += [_notice("too-little-evidence", text) for text in _thin(found, words)]
    if found.repeated is not None:
        text = say.repeated(found.repeated.persons, found.repeated.applications)
        told.append(_notice("repeated-applicants", text))
    return told


def odds_ratios(found: Disparities) -> dict[tuple[str, str, str, str], float]:
    """(attribute, step, group, reference) -> odds ratio within requisitions, of every difference found among those who
    reached the step before."""
    known = {}
    for table, row in found.found():
        first = table.step == found.steps[0]
        if (first or table.kind == "conditional") and row.within is not None and row.within.odds_ratio:
            known[table.attribute, table.step, row.group, str(table.reference)] = row.within.odds_ratio
    return known


def _difference(table: DisparityTable, row: GroupResult, page: Disparities, words: Phrases) -> str:
    assert table.reference is not None
    other = table[table.reference]
    within = row.within
    text = say.difference(
        words,
        attribute=table.attribute,
        step=table.step,
        conditional=table.kind == "conditional",
        group=row.group,
        reference=other.group,
        rates=(_float(row.rate), _float(other.rate)),
        impact_ratio=_float(row.impact_ratio),
        bounds=_bounds(row.interval),
        line=float(page.line),
        evidence=(row.p, row.p_adjusted),
    )
    return text + say.behind_it(
        words,
        attribute=table.attribute,
        group=row.group,
        step=table.step,
        odds_ratio=None if within is None else within.odds_ratio,
        bounds=None if within is None else _bounds(within.interval),
        within_p=None if within is None else within.p,
        reconciled=row.reconciled or Reconciled.NO_STRATA,
        shortfall=_float(row.shortfall),
        robust=Caution.NOT_ROBUST not in row.flags,
    )


def _later(found: Disparities, table: DisparityTable, row: GroupResult, words: Phrases) -> str | None:
    """Whether the difference arises at this step: nothing is found at the conditional steps behind it."""
    steps = list(found.steps)
    behind = steps[steps.index(table.step) + 1 :]
    here = [t for t in found.tables if t.attribute == table.attribute and t.step == table.step]
    if not behind or any(r.group == row.group and r.status.found for t in here if t is not table for r in t.groups):
        return None
    later, thin = [], False
    for step in behind:
        after = found.table(table.attribute, step, "conditional")
        own = next((r for r in after.groups if r.group == row.group), None)
        if own is None or own.status.found or own.impact_ratio is None:
            return None
        later.append((step, _float(own.impact_ratio), _bounds(own.interval)))
        thin |= own.status in (GroupStatus.TOO_LITTLE_EVIDENCE, GroupStatus.BELOW_LINE_NOT_SUFFICIENT)
    return say.where_it_arises(
        words,
        attribute=table.attribute,
        group=row.group,
        step=table.step,
        later=later,
        line=float(found.line),
        thin=thin,
    )


def _segments(segments: Sequence[SegmentTable], words: Phrases) -> Iterator[Finding]:
    """The values in which a shortfall arises: one finding for each shortfall, with at most two ways to cut it."""
    by: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    references: dict[tuple[str, str, str], str] = {}
    for segment in segments:
        parts = [part for part in segment.parts if part.found and part.shortfall > 0]
        if not parts or segment.shortfall <= 0:
            continue
        part = max(parts, key=lambda part: part.shortfall)
        key = segment.attribute, segment.group, segment.step
        references[key] = segment.reference
        by[key].append(
            {
                "segment": segment.segment,
                "value": part.value,
                "shortfall": float(part.shortfall),
                "largest": part.shortfall >= max(other.shortfall for other in segment.parts),
                "whole": float(segment.shortfall),
                "selected": part.selected,
                "applicants": part.applicants,
                "reference_selected": part.reference_selected,
                "reference_applicants": part.reference_applicants,
                "impact_ratio": _float(part.impact_ratio),
                "bounds": _bounds(part.interval),
                "p": part.p_adjusted,
                "values": segment.values,
            }
        )
    for key, cuts in by.items():
        attribute, group, step = key
        clearest = sorted(cuts, key=lambda cut: 1.0 if cut["p"] is None else cut["p"])[:2]
        text = say.contributes_most(
            words, attribute=attribute, group=group, reference=references[key], step=step, segments=clearest
        )
        about = {"attribute": attribute, "group": group, "step": step, "segment": clearest[0]["segment"]}
        yield finding("segment", "contributes-most", text, **about)


def _below_line(found: Disparities, words: Phrases) -> Iterator[tuple[DisparityTable, str]]:
    """Groups below the line without sufficient evidence, one finding for each attribute and step."""
    for table in found.tables:
        rows = [row for row in table.groups if row.status is GroupStatus.BELOW_LINE_NOT_SUFFICIENT]
        if not rows or table.reference is None or not _clearest(found, table):
            continue
        yield (
            table,
            say.below_line(
                words,
                attribute=table.attribute,
                step=table.step,
                conditional=table.kind == "conditional",
                reference=table.reference,
                groups=[(r.group, _float(r.impact_ratio), _bounds(r.interval), r.more_applicants) for r in rows],
                line=float(found.line),
            ),
        )


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
            if row.detectable_ratio is not None and not table.crossing and table.kind == "cumulative"
        ]
    )


def _thin(found: Disparities, words: Phrases) -> Iterator[str]:
    for table in found.tables:
        rows = [row for row in table.groups if row.status is GroupStatus.TOO_LITTLE_EVIDENCE]
        if rows and table.kind == "cumulative":
            groups = [(row.group, row.detectable_ratio) for row in rows]
            yield say.too_little(words, table.attribute, table.step, groups)


def _bounds(found: Interval | None) -> say.Bounds:
    return None if found is None else (found.lower, found.upper)


def _float(x: Any) -> float | None:
    return None if x is None else float(x)


# Policies -------------------------------------------------------------------------------------------------------------


def of_comparison(comparison: Comparison, words: Phrases, differing: Collection[object] = ()) -> list[Finding]:
    """What constraints cost, what the best policy would yield, and what was not computed; `differing` are the
    attributes of which a disparity is told."""
    entries = comparison.constrained
    found = [*_prices(entries, words, differing)]
    if comparison.defaults and entries:
        small = [group for groups in comparison.left_out.values() for group in groups]
        single = [phrase_of(entry, words) for entry in entries if entry.label != TOGETHER]
        found.append(_notice("default-constraints", say.default_constraints(single, small)))
    if over := [unit for unit in comparison.firm.units if unit.exceeded]:
        found.append(finding("firm", "limits-exceeded", say.limits_exceeded((u.label, u.exceeded) for u in over)))
    if not entries:
        found.append(_notice("no-constrained", say.NOTHING_TO_PRICE))
    return found + _not_computed(entries, words)


def phrase_of(entry: Constrained, words: Phrases) -> str:
    """What a constraint asks for."""
    return words.constraint({"label": entry.label, "specs": [c.describe() for c in entry.constraints]})


def _prices(entries: Sequence[Constrained], words: Phrases, differing: Collection[object]) -> Iterator[Finding]:
    """What cannot be met, and a price: that of the first constraint on an attribute of which a disparity is told."""
    for entry in entries:
        if entry.standing is None:
            yield finding("price", "infeasible", say.infeasible(phrase_of(entry, words), entry.conflict))
    priced = [entry for entry in entries if entry.standing is not None]
    each = [entry for entry in priced if entry.label != TOGETHER]
    if not each:
        return
    named = next((entry for entry in each if _by(entry) in differing), each[0])
    level = next((e.interval.level for e in each if isinstance(e.interval, PriceInterval)), None)
    mixtures = [e.optimum.mixture for e in priced if e.optimum is not None]
    alone = [mixture.count - mixture.randomised for mixture in mixtures]
    order = (min(alone), max(alone), mixtures[0].count) if mixtures and mixtures[0].count > 1 else None
    together = next((_cost(entry) for entry in priced if entry.label == TOGETHER), None)
    text = say.prices(words, (phrase_of(named, words), *_cost(named)), together, len(each), level, order)
    yield finding("price", "price-of-fairness", text)


def _by(entry: Constrained) -> object:
    """The attribute that a constraint is about."""
    return getattr(entry.constraints[0], "by", None)


def _cost(entry: Constrained) -> tuple[float | None, float | None, say.Bounds]:
    """The share of the utility that is lost, the loss, and the interval of the share."""
    price = entry.interval
    kept = price.ratio if isinstance(price, PriceInterval) else None
    bounds = None if kept is None else (max(0.0, 1 - kept[1]), max(0.0, 1 - kept[0]))
    return None if entry.ratio is None else max(0.0, 1 - entry.ratio), entry.loss, bounds


def _not_computed(entries: Sequence[Constrained], words: Phrases) -> list[Finding]:
    found = []
    missing: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry.interval, NoInterval):
            missing[entry.interval.reason].append(phrase_of(entry, words))
    found += [_notice("no-interval", say.no_interval(phrases, reason)) for reason, phrases in missing.items()]
    for entry in entries:
        if entry.laws_left_out:
            first, *rest = entry.laws_left_out
            if any(dual.individual for dual in entry.duals):  # its rows name candidates
                first, rest = say.SINGLE_ROWS, []
            text = say.no_law(words, phrase_of(entry, words), first, len(rest))
            found.append(_notice("ex-post-slack-not-computed", text))
    drawn: dict[tuple[int, int], list[str]] = defaultdict(list)
    for entry in entries:
        if entry.optimum is not None:
            mixture = entry.optimum.mixture
            drawn[mixture.count - mixture.randomised, mixture.count].append(phrase_of(entry, words))
    for (alone, searches), phrases in drawn.items():
        found.append(_notice("lotteries", say.lotteries(phrases, alone, searches)))
    left = [(e.standing.unfilled_capacity, phrase_of(e, words)) for e in entries if e.standing is not None]
    if open_ := [(n, phrase) for n, phrase in left if n > 0.05]:
        found.append(_notice("unfilled-positions", say.open_positions(open_)))
    return found


# The data -------------------------------------------------------------------------------------------------------------


def of_data(history: History, shown: Protected) -> list[Finding]:
    """What was left out, what was assumed, and what the data lacks."""
    found = [_notice(f"left-out-{code}", say.left_out(n, code)) for code, n in history.counts.left.items()]
    if shown.left_out:
        found.append(_notice("categories-too-small", say.too_small_to_show(shown.left_out, shown.threshold)))
    found += [_notice("cells-merged", say.cells_merged(name, joined)) for name, joined in shown.merged.items()]
    return found + [_notice(notice.code, say.whole(notice.text)) for notice in history.notices]


def of_fit(fitted: Fitted, threshold: int, words: Phrases) -> list[Finding]:
    """What the model had to assume, and where it fits badly."""
    found = [_notice("fit", say.whole(text)) for text in fitted.notices]
    used = [name for name in fitted.settings["features"] if name == "group" or name.startswith("group:")]
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


def without_fit(reasons: Sequence[str]) -> list[Finding]:
    """Why there is no model, and what there is not for that reason."""
    return [
        finding("model", "no-fit", say.no_model(reasons)),
        _notice("no-firm", say.NO_FIRM),
        _notice("no-unconstrained", say.NO_BEST),
        _notice("no-constrained", say.NO_PRICE),
    ]


def of_plugins(lines: Iterable[str]) -> list[Finding]:
    """What could not be used of somebody's plugins, and why."""
    return [_notice("plugin-left-out", say.whole(line)) for line in lines]


def in_order(found: Sequence[Finding]) -> list[Finding]:
    """By importance; findings of one kind keep their order."""
    return sorted(found, key=_place)


def _place(item: Finding) -> float:
    return KINDS.index("price") + 0.5 if item["code"] in LAST else KINDS.index(item["kind"])
