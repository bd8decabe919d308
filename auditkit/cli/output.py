"""Tables, JSON and the mapping of columns, as commands print them: rich on a terminal, plain text elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from auditkit.cli.streams import bare
from auditkit.text import each_row, indefinite, printable

if TYPE_CHECKING:
    from auditkit.data.firm_history import History
    from auditkit.data.source import Place


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: int = 99) -> None:
    """Columns from number `right` on hold numbers, aligned to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(soft_wrap=False, file=bare(sys.stdout))
    if not console.is_terminal:
        console.width = 200  # a file or a pipe has no width to fit into
    table = Table(box=box.SIMPLE, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(Text(printable(column)), justify="right" if i >= right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console.print(table, markup=False)


def print_json(document: Any) -> None:
    click.echo(json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False))


def print_mapping(history: History, data: Place) -> None:
    from auditkit.data.firm_history import render_mapping

    reading = history.reading
    if reading is not None:
        click.echo(printable(reading.shown))
    click.echo(f"{printable(data.name)}: {history.counts.rows_read:,} rows read, {history.counts.rows_used:,} used")
    print_table(["role", "column", "reason"], [list(row) for row in render_mapping(history)])
    if reading is None:
        return
    steps = "".join(f" -> {step.step} {step.count:,}" for step in reading.funnel)
    click.echo(printable(f"read as {each_row(reading.row)} ({reading.confidence}): {len(history.table):,}{steps}"))
    for text in reading.assumptions:
        click.echo(printable(f"assumed: {text}"))
    unused = [
        each.column + (f" (looks like {indefinite(each.looks_like)})" if each.looks_like else "")
        for each in reading.unused
    ]
    if unused:
        click.echo(printable(f"not used: {', '.join(unused)}"))
    click.echo()
