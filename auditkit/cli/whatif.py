"""`auditkit whatif`: ask what-if questions about a data file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditkit.cli.options import DONE, Request, json_option, load_plugins, quiet_option, takes_settings, working
from auditkit.errors import InputError, Problem
from auditkit.text import cell_percent, number, percent, printable

if TYPE_CHECKING:
    from auditkit.report.what_if import WhatIf


@click.command()
@takes_settings("fit", "constraints")
@click.option("--group", metavar="NAME", help="the group to ask about (default: the one selected least)")
@click.option(
    "--bias-table",
    "bias_tables",
    is_flag=True,
    help="show how strict each constraint should be (default: a quota), given how biased the group's scores are",
)
@click.option(
    "--exact", is_flag=True, help="find every point at which a price changes slope, instead of taking even steps"
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="folder for the charts and the numbers")
@json_option
@quiet_option
def whatif(
    request: Request,
    group: str | None,
    bias_tables: bool,
    exact: bool,
    output: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Ask what stricter constraints, biased scores, more positions and more budget would do.

    Prints a sentence and a table for each question; with -o also writes whatif.json and the charts as SVG.
    """
    if output is not None and output.exists() and not output.is_dir():
        raise InputError(Problem(str(output), "is not a folder", "name another with -o"))
    with working("starting", quiet) as say:
        from auditkit import pipeline

        found = pipeline.ask_about(request.data, request.config, load_plugins(), group, bias_tables, exact, say)
    if as_json:
        click.echo(found.text())
    else:
        _print(found)
    if output is not None:
        from auditkit.files import write_text
        from auditkit.report.scenario_charts import alone

        charts = found.charts()
        output.mkdir(parents=True, exist_ok=True)
        write_text(output / "whatif.json", found.text() + "\n")
        for chart in charts:
            write_text(output / f"{chart.id.removeprefix('chart-')}.svg", alone(chart) + "\n")
        click.echo(f"written: {output}/whatif.json and {len(charts)} charts", err=as_json)
    return DONE


def _print(found: WhatIf) -> None:
    from auditkit.cli.output import print_table

    answers, biased = found.answers.frontier, found.answers.sensitivity
    for curve in answers.curves:
        click.echo(printable(curve.sentence))
        rows = [
            [*map(number, (p.value, p.utility)), cell_percent(p.ratio), number(p.unfilled_capacity)]
            for p in curve.points
        ]
        print_table([curve.parameter, "utility", "kept", "positions open"], rows, right=0)
    if biased is not None:
        click.echo(printable(biased.sentence))
        rows = [[percent(p.factor, 0), cell_percent(p.ratio), cell_percent(p.long_term_ratio)] for p in biased.points]
        rows += [[f"{number(p.shift)} each", *map(cell_percent, (p.ratio, p.long_term_ratio))] for p in biased.shifts]
        print_table(["worth shown by scores", "kept, short term", "kept, long term"], rows, right=0)
    for table in answers.bias_tables:
        click.echo(printable(table.sentence))
        factors = list(dict.fromkeys(cell.factor for cell in table.cells))
        by_value: dict[float, list[str]] = {}
        for cell in table.cells:
            by_value.setdefault(cell.value, []).append(cell_percent(cell.long_term_ratio))
        rows = [[number(value), *cells] for value, cells in by_value.items()]
        heads = [f"kept in the long term, scores at {percent(factors[0], 0)}", *(percent(f, 0) for f in factors[1:])]
        print_table([table.parameter, *heads], rows, right=0)
    for part in (answers.positions, *answers.budgets):
        if part is not None:
            click.echo(printable(part.sentence))
    if answers.constraints:
        click.echo(f"(biased scores and more positions: under {', '.join(answers.constraints)})")
    for notice in answers.notices:
        click.echo(printable(notice))
