"""How notebooks show results: the repr, a few facts and small tables, as self-contained HTML.

A result class inherits `Shown` and lists its facts and tables; all text is escaped here. People pass notebooks on, so
`_tables` has only counts and groups; rows about persons are in `to_frame` alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from auditkit.text import cell_percent, count, number

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 20
SHARES = ("kept", "rate")
"""Columns written as percentages."""

_CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"
_NUMBER = "padding:2px 12px 2px 0;text-align:right;font-variant-numeric:tabular-nums"


class Shown:
    """A result with a representation for notebooks."""

    def _facts(self) -> Iterable[str]:
        """Lines below the title."""
        return ()

    def _tables(self) -> Iterable[pd.DataFrame]:
        """Small tables that don't name anyone."""
        return ()

    def _repr_html_(self) -> str:
        facts = "".join(f"<div>{escape(fact)}</div>" for fact in self._facts())
        tables = "".join(map(_table, self._tables()))
        return f"<div><strong>{escape(repr(self).strip('<>'))}</strong>{facts}{tables}</div>"


def _table(frame: pd.DataFrame) -> str:
    if frame.empty:
        return ""
    styles = [_NUMBER if kind.kind in "iuf" else _CELL for kind in frame.dtypes]
    forms = [cell_percent if name in SHARES else number for name in frame]
    names = [str(name).replace("_", " ") for name in frame]
    rows = [
        [form(cell) for form, cell in zip(forms, row, strict=True)]
        for row in frame.head(MOST_ROWS).to_numpy(dtype=object).tolist()
    ]
    body = "".join(_row("td", row, styles) for row in rows)
    more = len(frame) - MOST_ROWS
    rest = f"<div>... and {count(more)} more</div>" if more > 0 else ""
    style = "border-collapse:collapse;margin:6px 0"
    return f'<table style="{style}"><thead>{_row("th", names, styles)}</thead><tbody>{body}</tbody></table>{rest}'


def _row(tag: str, cells: Iterable[str], styles: Iterable[str]) -> str:
    inside = (f'<{tag} style="{style}">{escape(cell)}</{tag}>' for cell, style in zip(cells, styles, strict=True))
    return f"<tr>{''.join(inside)}</tr>"
