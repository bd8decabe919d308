"""Which numbers a report must not show, so that no person can be recognised; the same groups in every table.

Small groups are hidden, and with them as many more as keep their numbers from being had by subtraction (see
`disparity.hidden`). Where groups are crossed, sums over one of their columns must not give a group away either. If one
table hid another group than the next, the two together would show what each hides: so the set is found once, together
with that of the Local Law 144 table of the same categories, and applied to all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from auditkit.data import UNKNOWN
from auditkit.disparity import Disparity, Status, hidden, shown
from auditkit.plugins.local_law_144 import rates
from auditkit.plugins.local_law_144.rates import CategoryTable, Summary

if TYPE_CHECKING:
    from auditkit.compare import Constrained, SlackLaw
    from auditkit.data import History


@dataclass(frozen=True)
class Hidden:
    """Groups that are not shown, and what stands in place of their number of applicants."""

    groups: frozenset[str]
    shown: Mapping[str, str]
    threshold: int


def hide(
    history: History,
    reference: str | None,
    summary: Summary | None,
    columns: tuple[str | None, str | None],
    threshold: int,
) -> tuple[Hidden, Summary | None]:
    """The groups to hide, and the Local Law 144 summary without them; `columns` are those of sex and of race."""
    table = history.table[history.decided & (history.table["group"] != UNKNOWN)]
    applicants = {str(group): int(n) for group, n in table["group"].value_counts().sort_index().items()}
    names = history.columns("group")
    parts = table.drop_duplicates("group").set_index("group")[[f"group:{name}" for name in names]].astype("str")
    lines: list[list[str]] = [list(applicants)]
    if len(names) > 1:
        for column in parts.columns:
            lines += [[str(group) for group in part.index] for _, part in parts.groupby(column, sort=True)]
    out = set(hidden(applicants, threshold, last=reference, lines=lines))
    if summary is not None:
        summary = rates.suppress(summary, threshold)
        same = {(columns[0],): "sex", (columns[1],): "race", columns: "intersection", columns[::-1]: "intersection"}
        twin = same.get(names)
        if twin is not None and (law := getattr(summary, twin)) is not None:
            order = list(names) if twin != "intersection" else [str(name) for name in columns]
            of = {tuple(row[f"group:{name}"] for name in order): str(group) for group, row in parts.iterrows()}
            out |= {of[row.parts] for row in law.rows if row.applicants is None and row.parts in of}
            blank = {parts_ for parts_, group in of.items() if group in out}
            blanked: dict[str, Any] = {twin: _blank_rows(law, blank, threshold)}
            summary = replace(summary, **blanked)
    text = {group: shown(applicants[group], threshold) for group in out}
    return Hidden(frozenset(out), text, threshold), summary


def _blank_rows(table: CategoryTable, out: set[tuple[str, ...]], threshold: int) -> CategoryTable:
    blind = any(row.reference and row.parts in out for row in table.rows)
    rows = []
    for row in table.rows:
        if row.parts in out and row.applicants is not None:
            text = shown(row.applicants, threshold)
            row = replace(row, applicants=None, shown=text, selected=None, rate=None, impact_ratio=None)
            row = replace(row, reason=Status.SUPPRESSED.text)
        elif blind and row.applicants is not None:
            row = replace(row, impact_ratio=None, reason="the category with the highest rate is not shown")
        rows.append(row)
    return replace(table, rows=tuple(rows))


def blank(disparity: Disparity, out: Hidden) -> Disparity:
    """A disparity table without the hidden groups; without comparisons when the reference is among them."""
    blind = disparity.reference in out.groups
    rows = []
    for row in disparity.groups:
        if row.group in out.groups:
            row = replace(row, applicants=None, shown=out.shown[row.group], selected=None, rate=None, share=None)
            row = replace(row, impact_ratio=None, status=Status.SUPPRESSED, reason=Status.SUPPRESSED.text)
            row = replace(row, flags=(), comparison=None, measures={})
        elif blind:
            reason = f"{row.status.text}; the reference is not shown"
            row = replace(row, impact_ratio=None, comparison=None, measures={}, flags=(), reason=reason)
        rows.append(row)
    return replace(disparity, groups=tuple(rows))


def tells(groups: frozenset[str], hidden: Hidden) -> bool:
    """Whether numbers of a row would tell the size of a hidden group: it is about few, and one of them is hidden."""
    return bool(groups & hidden.groups) and len(groups) <= 2


def laws_shown(entry: Constrained, hidden: Hidden) -> list[SlackLaw]:
    """Ex-post laws of rows that are neither about one candidate nor about a hidden group."""
    return [
        law
        for law, dual in zip(entry.slack_laws, entry.duals, strict=True)
        if law is not None and not dual.individual and not tells(dual.groups, hidden)
    ]
