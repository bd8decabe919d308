"""`auditkit check`: every problem in the data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from auditkit.cli.options import (
    DONE,
    WRONG_INPUT,
    Request,
    complain,
    json_option,
    load_plugins,
    takes_settings,
)
from auditkit.cli.output import print_mapping
from auditkit.errors import InputError
from auditkit.text import printable

if TYPE_CHECKING:
    from auditkit.data.load import Checked
    from auditkit.data.source import Place


@click.command()
@takes_settings()
@click.option("--all", "everything", is_flag=True, help="show every problem, not only the first ten")
@json_option
@click.option("-q", "--quiet", is_flag=True, help="print only what must be fixed before an audit")
def check(request: Request, everything: bool, as_json: bool, quiet: bool) -> int:
    """Only validate: print every problem in the data with its row, column, value and fix.

    Exits with 2 if something must be fixed before an audit.
    """
    from auditkit.data import source

    checked = source.problems_of(request.data, request.config, load_plugins())
    if as_json:
        click.echo(json.dumps(_checked(checked), indent=1, ensure_ascii=False))
    elif quiet:
        complain(InputError([*checked.errors, *checked.problems.of("refuse").lines()]))
    else:
        _print_checked(checked, request.data, everything)
    return DONE if checked.ok else WRONG_INPUT


def _checked(checked: Checked) -> dict[str, object]:
    return {
        "ok": checked.ok,
        "errors": [{"where": p.where, "what": p.what, "fix": p.fix} for p in checked.errors],
        "total": len(checked.problems),
        "problems": [
            {"code": p.code, "treatment": p.treatment, "row": p.row, "column": p.column, "value": p.value}
            | {"what": p.what, "fix": p.fix}
            for p in checked.problems
        ],
    }


def _print_checked(checked: Checked, data: Place, everything: bool) -> None:
    from auditkit.cli.output import print_table

    for problem in checked.errors:
        click.echo(f"error: {printable(problem)}", err=True)
    if checked.history is None:
        return
    print_mapping(checked.history, data)
    problems = list(checked.problems)
    if everything and problems:
        rows = [[p.code, p.treatment, "" if p.row is None else str(p.row), p.column, p.what, p.fix] for p in problems]
        print_table(["code", "treatment", "row", "column", "what", "fix"], rows)
    else:
        for line in checked.problems.lines():
            click.echo(printable(line))
    more = "" if everything or not problems else " (--all lists them row by row)"
    refused = len(checked.problems.of("refuse"))
    click.echo(f"{len(problems):,} problems{more}; {refused:,} must be fixed before an audit")
    for notice in checked.history.notices:
        click.echo(printable(f"note: {notice.text}" + (f" ({notice.fix})" if notice.fix else "")))
