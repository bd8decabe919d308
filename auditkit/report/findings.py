"""What a report says first, in plain and careful words: measurements, their evidence, and what is missing.

A finding is a measurement that crossed the line of its convention, or a price; a notice is what a reader should know
to read it: what was left out, assumed, or could not be computed, and which option changes that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from auditkit.compare import NoInterval, PriceInterval
from auditkit.compare.shadow_prices import say
from auditkit.disparity import Disparity, Flag, Group, Status
from auditkit.disparity.privacy import laws_shown
from auditkit.text import amount, brief, count, fraction, interval, listing, p_value, percent, plural, ratio, spaced

if TYPE_CHECKING:
    from auditkit.compare import Comparison, Constrained
    from auditkit.data import History
    from auditkit.disparity.privacy import Hidden
    from auditkit.fitting.fitted import Fitted
    from auditkit.plugins.local_law_144.rates import Summary

Finding = dict[str, Any]


def _finding(code: str, text: str) -> Finding:
    return {"kind": "finding", "code": code, "text": text}


def _notice(code: str, text: str) -> Finding:
    return {"kind": "notice", "code": code, "text": text}


# Disparity ------------------------------------------------------------------------------------------------------------


def of_disparity(disparity: Disparity) -> list[Finding]:
    """Every group beyond the line or with a difference; those with too little evidence together."""
    found, thin = [], []
    rows = {row.group: row for row in disparity.groups}
    reference = rows.get(disparity.reference or "")
    for row in disparity.groups:
        if row.comparison is None or reference is None:
            continue
        if row.status in (Status.BELOW_LINE, Status.DIFFERENCE_FOUND):
            code = "impact-ratio-below-line" if row.status is Status.BELOW_LINE else "difference-found"
            found.append(_finding(code, _disparity_text(row, reference, disparity)))
        elif row.status is Status.TOO_LITTLE_EVIDENCE:
            thin.append(row)
    if thin:
        each = [f"{row.group} ({ratio(_float(row.impact_ratio), float(disparity.line))})" for row in thin]
        text = f"{disparity.outcome.capitalize()}: too little evidence to place the impact ratio of {listing(each)} "
        found.append(_notice("too-little-evidence", f"{text}on either side of {fraction(float(disparity.line))}."))
    for note in disparity.notes:
        found.append(_notice("disparity-note", f"{disparity.outcome.capitalize()}: {note}."))
    return found


def _float(x: Any) -> float | None:
    return None if x is None else float(x)


def _disparity_text(row: Group, reference: Group, disparity: Disparity) -> str:
    comparison, line = row.comparison, float(disparity.line)
    assert comparison is not None
    own, other = (f"{count(g.selected)} of {count(g.applicants)}" for g in (row, reference))
    text = (
        f"{disparity.outcome.capitalize()}: {own} applicants of group {row.group} ({percent(_float(row.rate))}) "
        f"against {other} of group {reference.group} ({percent(_float(reference.rate))}), an impact ratio of "
        f"{ratio(_float(row.impact_ratio), line)}. "
    )
    side = "below" if row.status is Status.BELOW_LINE else "not below"
    joined = "and" if row.status is Status.BELOW_LINE else "yet"
    text += f"That is {side} {fraction(line)}, {joined} a difference larger than chance usually makes "
    p = p_value(comparison.p_holm, disparity.alpha)
    text += f"({'p ' if p.startswith('<') else 'p = '}{p} after Holm's correction)."
    if Flag.NOT_ROBUST in row.flags:
        text += " It is not robust: one moved selection would change it."
    if Flag.POOLING_REVERSES in row.flags:
        text += " Within requisitions the difference points the other way."
    return text


# Policies -------------------------------------------------------------------------------------------------------------


def of_comparison(comparison: Comparison, hidden: Hidden) -> list[Finding]:
    """What the best policy would yield, what each constraint costs, and what was not computed."""
    firm, free = comparison.firm.utility, comparison.unconstrained.utility
    text = (
        f"The firm's recorded decisions were worth {amount(firm)}; the best policy without constraints is expected to "
    )
    text += f"be worth {amount(free)} on the same candidates, knowing only what was known before each inspection."
    found = [_finding("firm-and-optimum", text)]
    for entry in comparison.constrained:
        found.append(_price(entry, comparison.value_scale, hidden))
    if comparison.defaults and comparison.constrained:
        text = "No constraint was named, so these were priced: "
        text += listing(entry.label for entry in comparison.constrained if len(entry.constraints) == 1)
        if comparison.left_out:
            text += (
                f". {listing(comparison.left_out)}, under 2 % of the applicants or not shown, are not compared in them"
            )
        found.append(_notice("default-constraints", f"{text}. --constraint names others."))
    if not comparison.constrained:
        text = "There are no two known groups large enough to compare, so no constraint was priced: --constraint SPEC."
        found.append(_notice("no-constrained", text))
    return found + _not_computed(comparison.constrained, hidden)


def _price(entry: Constrained, value_scale: float, hidden: Hidden) -> Finding:
    name = "all constraints together" if entry.label == "all together" else entry.label
    if entry.standing is None:
        return _finding("infeasible", f"No policy meets {name}: {listing(entry.conflict)} cannot hold together.")
    if entry.ratio is not None:
        price, spread = entry.interval, ""
        if isinstance(price, PriceInterval) and price.ratio is not None:
            spread = f"; {percent(price.level, 0)} interval {interval(price.ratio, _percent)}"
        text = f"The best policy under {name} keeps {percent(entry.ratio, 2)} of the utility of the best policy without"
        text += f" (a loss of {amount(entry.loss)}{spread})"
    else:
        text = f"The best policy under {name} costs {amount(entry.loss)}"
    moved = {key: x for key, x in (entry.shifts or {}).items() if key[1] not in hidden.groups}
    largest = max(map(abs, moved.values()), default=0.0)
    if largest > 0:
        text += f". It acts {say({key: x for key, x in moved.items() if abs(x) > 1e-6 * largest}, value_scale)}"
    return _finding("price-of-fairness", f"{text}.")


def _percent(x: float | None) -> str:
    return percent(x, 2)


def _not_computed(entries: Sequence[Constrained], hidden: Hidden) -> list[Finding]:
    found = []
    missing: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry.interval, NoInterval):
            missing[entry.interval.reason].append(entry.label)
    for reason, labels in missing.items():
        found.append(_notice("no-interval", f"No interval for the price of {listing(labels)}: {reason}."))
    without = [e.label for e in entries if e.standing is not None and not laws_shown(e, hidden)]
    if without:
        text = f"No law of the ex-post slack of {listing(without)}: there is one for numbers by group of selections, or"
        found.append(_notice("ex-post-slack-not-computed", f"{text} of inspections."))
    open_ = [e for e in entries if e.standing is not None and e.standing.unfilled_capacity > 0.05]
    if open_:
        each = listing(f"{brief(e.standing.unfilled_capacity)} under {e.label}" for e in open_ if e.standing)
        found.append(_notice("unfilled-positions", f"Positions that stay open on average: {each}."))
    return found


# The data -------------------------------------------------------------------------------------------------------------


def of_data(history: History, hidden: Hidden, summary: Summary | None) -> list[Finding]:
    """What was left out, what was assumed, and what the data lacks."""
    found = []
    for code, n in history.counts.left.items():
        found.append(_notice(f"left-out-{code}", f"{plural(n, 'row')} left out: {spaced(code)}."))
    unknown = history.counts.groups.get("unknown", 0)
    if unknown:
        text = f"{plural(unknown, 'application')} of unknown group: part of their searches, but of no comparison."
        found.append(_notice("unknown-group", text))
    if hidden.groups:
        n = len(hidden.groups)
        text = f"The numbers of {plural(n, 'group')} are not shown, so that no person can be recognised"
        found.append(_notice("groups-suppressed", f"{text} (suppress_below = {hidden.threshold} in audit.toml)."))
    found += [_notice(notice.code, _sentence(notice.text)) for notice in history.notices]
    for note in summary.notes if summary is not None else ():
        found.append(_notice("local-law-144", f"Local Law 144 summary: {note}."))
    if summary is None:
        text = "No Local Law 144 summary: no group column is known to be sex or race/ethnicity."
        found.append(_notice("no-local-law-144", text))
    return found


def of_fit(fitted: Fitted, hidden: Hidden, threshold: int) -> list[Finding]:
    """What the model had to assume, and where it fits badly."""
    found = [_notice("fit", _sentence(text)) for text in fitted.notices]
    for text in visible_warnings(fitted.quality.warnings, hidden):
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
        _notice("no-fit", f"No model of the scores: {why[:1].lower()}{why[1:]}"),
        _notice(
            "no-firm", "Without a model the firm's decisions are not valued; the disparity audit does not need it."
        ),
        _notice("no-unconstrained", "Without a model there is no best policy to compare with."),
        _notice("no-constrained", "Without a best policy no constraint has a price."),
    ]


def of_plugins(lines: Iterable[str]) -> list[Finding]:
    """What could not be used of somebody's plugins, and why."""
    return [_notice("plugin-left-out", _sentence(line)) for line in lines]


def visible_warnings(warnings: Iterable[str], hidden: Hidden) -> list[str]:
    """Warnings of the fit that name no hidden group."""
    starts = tuple(start for group in hidden.groups for start in (f"group {group}:", f"{group}:"))
    return [text for text in warnings if not (starts and text.startswith(starts))]


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
