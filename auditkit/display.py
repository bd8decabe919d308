"""How results look in a notebook: a line, a few facts and small tables, as self-contained HTML.

Every text is escaped here, so that a class only says what it shows. Nothing of auditkit is imported: every layer may
show itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

MOST_ROWS = 20

_CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"
_NUMBER = "padding:2px 12px 2px 0;text-align:right;font-variant-numeric:tabular-nums"


@dataclass(frozen=True)
class Table:
    """Columns from number `right` on are numbers and stand to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    right: int = 99


def card(title: str, facts: Iterable[str] = (), *tables: Table) -> str:
    """One result as HTML."""
    lines = "".join(f"<div>{escape(fact)}</div>" for fact in facts)
    return f"<div><strong>{escape(title)}</strong>{lines}{''.join(map(_table, tables))}</div>"


def number(x: object) -> str:
    """A number as people read it, "-" where there is none."""
    if x is None or x != x:
        return "-"
    if isinstance(x, float) and not x.is_integer():
        return f"{x:,.6g}" if abs(x) > 1e-12 else "0"  # what rounding leaves of a zero
    return f"{x:,.0f}" if isinstance(x, int | float) else str(x)


def percent(x: float | None) -> str:
    return "-" if x is None else f"{x:.2%}"


def _table(table: Table) -> str:
    if not table.rows:
        return ""
    head = "".join(f'<th style="{_style(i, table)}">{escape(name)}</th>' for i, name in enumerate(table.columns))
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{_style(i, table)}">{escape(number(cell))}</td>' for i, cell in enumerate(row))
        + "</tr>"
        for row in table.rows[:MOST_ROWS]
    )
    more = len(table.rows) - MOST_ROWS
    rest = f"<div>... and {more:,} more</div>" if more > 0 else ""
    style = "border-collapse:collapse;margin:6px 0"
    return f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}'


def _style(column: int, table: Table) -> str:
    return _NUMBER if column >= table.right else _CELL
