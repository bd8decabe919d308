"""What a report says first, in the order of importance and in careful words: measurements, evidence, what is missing.

Kinds, in this order: `disparity` (a difference that was found), `segment` (where it comes from), `price` (what a
constraint costs), `firm` (the recorded decisions beside the best policy), `model` (why there is none), `notice` (what a
reader should know: what was left out, assumed, or could not be computed, and which option changes that).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
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
from auditkit.text import (
    amount,
    brief,
    count,
    expected,
    fraction,
    interval,
    listing,
    p_value,
    percent,
    plural,
    ratio,
    spaced,
)

if TYPE_CHECKING:
    from auditkit.compare import Comparison, Constrained
    from auditkit.data import History
    from auditkit.data.privacy import Protected
    from auditkit.fitting.fitted import Fitted

Finding = dict[str, Any]

KINDS = ("disparity", "segment", "price", "firm", "model", "notice")


def finding(kind: str, code: str, text: str, **about: str) -> Finding:
    """One finding; `about` are the attribute, group, step or segment that it is about."""
    return {"kind": kind, "code": code, "text": text, **about}


def _notice(code: str, text: str) -> Finding:
    return finding("notice", code, text)


# Disparity ------------------------------------------------------------------------------------------------------------


def of_disparities(found: Disparities) -> list[Finding]:
    """Every difference found, where it arises and where it comes from; then what the evidence does not show."""
    told: list[Finding] = []
    for table, row in found.found():
        about = {"attribute": table.attribute, "group": row.group, "step": table.step}
        told.append(finding("disparity", f"difference-{table.kind}", _difference(table, row, found), **about))
        if table.kind == "cumulative" and (later := _later(found, table, row)):
            told.append(finding("disparity", "where-it-arises", later, **about))
    for segment in found.segments:
        if text := _segment(segment):
            about = {"attribute": segment.attribute, "group": segment.group, "step": segment.step}
            told.append(finding("segment", "contributes-most", text, **about, segment=segment.segment))
    for table, text in _below_line(found):
        about = {"attribute": table.attribute, "step": table.step}
        told.append(finding("notice" if table.crossing else "disparity", "below-line", text, **about))
    if not any(item["kind"] == "disparity" for item in told):
        told.append(_notice("no-difference-found", _nothing(found)))
    told += [_notice("too-little-evidence", text) for text in _thin(found)]
    if found.repeated is not None:
        n, m = found.repeated.persons, found.repeated.applications
        text = f"{plural(n, 'person', 'people')} applied more than once ({count(m)} applications): intervals and tests"
        told.append(_notice("repeated-applicants", f"{text} count them as one person each."))
    return told


def _difference(table: DisparityTable, row: GroupResult, page: Disparities) -> str:
    assert table.reference is not None
    other = table[table.reference]
    of = "of all applicants" if table.kind == "cumulative" else "of those who reached the step before"
    text = (
        f"{_who(table, row.group)} reached “{table.step}” less often than {other.group}: {percent(_float(row.rate))} "
        f"against {percent(_float(other.rate))} {of}, a ratio of {ratio(_float(row.impact_ratio), float(page.line))} "
        f"({_interval(row.interval)}; {_p(row.p)}, {_p(row.p_adjusted)} corrected for the whole report)."
    )
    within = row.within
    if within is not None and within.odds_ratio is not None:
        text += f" Within requisitions: odds ratio {ratio(within.odds_ratio)}, {_p(within.p)}; {_reconciled(row)}."
    if row.shortfall is not None and row.shortfall > 0:
        text += f" At the common rate about {expected(row.shortfall)} more of them would have reached it."
    if Caution.NOT_ROBUST in row.flags:
        text += " One moved selection would change this."
    return text


def _who(table: DisparityTable, group: str) -> str:
    return f"{table.attribute.replace('+', ' and ')}: {group}"


def _reconciled(row: GroupResult) -> str:
    return (row.reconciled or Reconciled.NO_STRATA).text


def _later(found: Disparities, table: DisparityTable, row: GroupResult) -> str | None:
    """Whether the difference arises at this step: nothing is found at the conditional steps behind it."""
    steps = list(found.steps)
    behind = steps[steps.index(table.step) + 1 :]
    here = [t for t in found.tables if t.attribute == table.attribute and t.step == table.step]
    if not behind or any(r.group == row.group and r.status.found for t in here if t is not table for r in t.groups):
        return None
    parts = []
    for step in behind:
        after = found.table(table.attribute, step, "conditional")
        own = next((r for r in after.groups if r.group == row.group), None)
        if own is None or own.status.found or own.impact_ratio is None:
            return None
        parts.append(f"{ratio(_float(own.impact_ratio), float(found.line))} ({_interval(own.interval)}) at “{step}”")
    return (
        f"It arises at “{table.step}”: among those who reached it no further difference is found for {row.group}, "
        f"with a ratio of {listing(parts)}."
    )


def _segment(segment: SegmentTable) -> str | None:
    parts = [part for part in segment.parts if part.found and part.shortfall > 0]
    if not parts or segment.shortfall <= 0:
        return None
    part = max(parts, key=lambda part: part.shortfall)
    return (
        f"{spaced(segment.segment)}: {part.value} contributes most to the shortfall of {segment.group} at "
        f"“{segment.step}” ({expected(part.shortfall)} of {expected(segment.shortfall)}): {count(part.selected)} of "
        f"{count(part.applicants)} against {count(part.reference_selected)} of {count(part.reference_applicants)} of "
        f"{segment.reference}, a ratio of {ratio(_float(part.impact_ratio))} ({_p(part.p_adjusted)} corrected for "
        f"{plural(segment.values, 'value')})."
    )


def _below_line(found: Disparities) -> Iterator[tuple[DisparityTable, str]]:
    """Groups below the line without sufficient evidence, one sentence for each attribute and step."""
    for table in found.tables:
        rows = [row for row in table.groups if row.status is GroupStatus.BELOW_LINE_NOT_SUFFICIENT]
        if not rows or not _clearest(found, table):
            continue
        line = float(found.line)
        each = [f"{row.group} {ratio(_float(row.impact_ratio), line)} ({_interval(row.interval)})" for row in rows]
        more = [f"{count(row.more_applicants)} for {row.group}" for row in rows if row.more_applicants]
        of = "" if table.kind == "cumulative" else " of those who reached the step before"
        text = f"{_who(table, listing(each))} against {table.reference} at “{table.step}”{of}: below {fraction(line)}, "
        text += "but the evidence of a difference is not sufficient"
        text += f"; about so many more applicants would show it: {listing(more)}." if more else "."
        yield table, text


def _clearest(found: Disparities, table: DisparityTable) -> bool:
    """Whether, of all applicants and of those who reached the step before, this table has the clearer difference."""
    both = [t for t in found.tables if (t.attribute, t.step) == (table.attribute, table.step)]
    return table is min(both, key=lambda t: min((row.p for row in t.groups if row.p is not None), default=1.0))


def _nothing(found: Disparities) -> str:
    smallest = [
        row.detectable_ratio
        for table in found.tables
        for row in table.groups
        if row.detectable_ratio is not None and not table.crossing and table.kind == "cumulative"
    ]
    text = "No difference between groups was found at any step, and that is no proof that there is none"
    if smallest:
        text += f": ratios above {ratio(min(smallest))} to {ratio(max(smallest))} could have been missed"
    return f"{text}."


def _thin(found: Disparities) -> Iterator[str]:
    for table in found.tables:
        if table.kind != "cumulative":
            continue
        rows = [row for row in table.groups if row.status is GroupStatus.TOO_LITTLE_EVIDENCE]
        if rows:
            each = [
                row.group if row.detectable_ratio is None else f"{row.group} ({ratio(row.detectable_ratio)} or lower)"
                for row in rows
            ]
            yield (
                f"{_who(table, listing(each))} at “{table.step}”: too little evidence; in brackets the ratio that "
                "these numbers could have shown with 80 % power."
            )


def _p(p: float | None) -> str:
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _interval(found: Interval | None) -> str:
    return interval(None if found is None else (found.lower, found.upper))


def _float(x: Any) -> float | None:
    return None if x is None else float(x)


# Policies -------------------------------------------------------------------------------------------------------------


def of_comparison(comparison: Comparison) -> list[Finding]:
    """What each constraint costs, what the best policy would yield, and what was not computed."""
    found = [_price(entry) for entry in comparison.constrained]
    if comparison.defaults and comparison.constrained:
        text = "No constraint was named, so these were priced: "
        text += listing(entry.label for entry in comparison.constrained if len(entry.constraints) == 1)
        small = [group for groups in comparison.left_out.values() for group in groups]
        if small:
            text += f". {listing(small)}, under 2 % of the applicants, are not compared in them"
        found.append(_notice("default-constraints", f"{text}. --constraint names others."))
    if not comparison.constrained:
        text = "There are no two known groups large enough to compare, so no constraint was priced: --constraint SPEC."
        found.append(_notice("no-constrained", text))
    return found + _not_computed(comparison.constrained)


def _price(entry: Constrained) -> Finding:
    name = "all constraints together" if entry.label == "all together" else entry.label
    if entry.standing is None:
        text = f"No policy meets {name}: {listing(entry.conflict)} cannot hold together."
        return finding("price", "infeasible", text)
    if entry.ratio is not None:
        price, spread = entry.interval, ""
        if isinstance(price, PriceInterval) and price.ratio is not None:
            spread = f"; {percent(price.level, 0)} interval {interval(price.ratio, _percent)}"
        text = f"The best policy under {name} keeps {percent(entry.ratio, 2)} of the utility of the best policy without"
        text += f" (a loss of {amount(entry.loss)}{spread})"
    else:
        text = f"The best policy under {name} costs {amount(entry.loss)}"
    return finding("price", "price-of-fairness", f"{text}.")


def _percent(x: float | None) -> str:
    return percent(x, 2)


def _not_computed(entries: Sequence[Constrained]) -> list[Finding]:
    found = []
    missing: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry.interval, NoInterval):
            missing[entry.interval.reason].append(entry.label)
    for reason, labels in missing.items():
        found.append(_notice("no-interval", f"No interval for the price of {listing(labels)}: {reason}."))
    for entry in entries:
        if entry.laws_left_out:
            first, *rest = entry.laws_left_out
            if any(dual.individual for dual in entry.duals):  # its rows name candidates
                first, rest = "rows about single candidates: they are not shown", []
            more = f" (and {plural(len(rest), 'further row')})" if rest else ""
            text = f"No law of the ex-post slack under {entry.label} for {first}{more}."
            found.append(_notice("ex-post-slack-not-computed", text))
    drawn: dict[tuple[int, int], list[str]] = defaultdict(list)
    for entry in entries:
        if entry.optimum is not None:
            mixture = entry.optimum.mixture
            drawn[mixture.count - mixture.randomised, mixture.count].append(entry.label)
    for (alone, searches), labels in drawn.items():
        text = f"Under {listing(labels)} {count(alone)} of {plural(searches, 'requisition')} need no lottery"
        found.append(_notice("lotteries", f"{text}: one policy is followed there; the others draw theirs by lot."))
    open_ = [e for e in entries if e.standing is not None and e.standing.unfilled_capacity > 0.05]
    if open_:
        each = listing(f"{brief(e.standing.unfilled_capacity)} under {e.label}" for e in open_ if e.standing)
        found.append(_notice("unfilled-positions", f"Positions that stay open on average: {each}."))
    return found


# The data -------------------------------------------------------------------------------------------------------------


def of_data(history: History, shown: Protected) -> list[Finding]:
    """What was left out, what was assumed, and what the data lacks."""
    found = []
    for code, n in history.counts.left.items():
        found.append(_notice(f"left-out-{code}", f"{plural(n, 'row')} left out: {spaced(code)}."))
    if shown.left_out:
        text = f"{plural(shown.left_out, 'application')} of people in categories of fewer than {shown.threshold} "
        text += "applicants: in no table and no total, so that nobody can be recognised (suppress_below in audit.toml)."
        found.append(_notice("categories-too-small", text))
    for name, joined in shown.merged.items():
        text = f"{name.replace('+', ' and ')} crossed: {listing(joined)} are joined, because some cells are too small."
        found.append(_notice("cells-merged", text))
    found += [_notice(notice.code, _sentence(notice.text)) for notice in history.notices]
    return found


def of_fit(fitted: Fitted, threshold: int) -> list[Finding]:
    """What the model had to assume, and where it fits badly."""
    found = [_notice("fit", _sentence(text)) for text in fitted.notices]
    used = [name for name in fitted.settings["features"] if name == "group" or name.startswith("group:")]
    said = "use the protected attributes; --blind leaves them out" if used else "do not use the protected attributes"
    found.append(_notice("priors-use", f"The priors of candidates {said}."))
    for text in fitted.quality.warnings:
        found.append(_notice("fit-quality", _sentence(text)))
    selection = fitted.quality.selection
    low, high = selection.by_tercile[0], selection.by_tercile[-1]
    if min(low.candidates, high.candidates) >= max(threshold, 1):
        text = (
            f"Scores exist for {count(selection.scored)} candidates. Of the third with the lowest expected scores "
            f"{percent(low.inspected / low.candidates)} were inspected, of the third with the highest "
            f"{percent(high.inspected / high.candidates)}"
        )
        how = "weighted for that" if selection.weighted else "not weighted for that (--propensity does)"
        found.append(_notice("selection-into-inspection", f"{text}; the priors are {how}."))
    if fitted.realised.long_term_utility is None:
        text = "No long-term utility: it needs the outcomes of at least 20 hired; --map outcome=COLUMN."
        found.append(_notice("no-long-term-utility", text))
    return found


def without_fit(reasons: Sequence[str]) -> list[Finding]:
    """Why there is no model, and what there is not for that reason."""
    why = " ".join(_sentence(reason) for reason in reasons)
    return [
        finding("model", "no-fit", f"No model of the scores: {why[:1].lower()}{why[1:]}"),
        _notice(
            "no-firm", "Without a model the firm's decisions are not valued; the disparity audit does not need it."
        ),
        _notice("no-unconstrained", "Without a model there is no best policy to compare with."),
        _notice("no-constrained", "Without a best policy no constraint has a price."),
    ]


def of_plugins(lines: Iterable[str]) -> list[Finding]:
    """What could not be used of somebody's plugins, and why."""
    return [_notice("plugin-left-out", _sentence(line)) for line in lines]


def in_order(found: Sequence[Finding]) -> list[Finding]:
    """By importance; findings of one kind keep their order."""
    return sorted(found, key=lambda item: KINDS.index(item["kind"]))


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
