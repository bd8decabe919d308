"""`auditkit report`: the audit of an export, written beside it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditkit.cli.asking import answered
from auditkit.cli.compile_ahead import compiling_ahead
from auditkit.cli.options import (
    DONE,
    FINDING,
    WRONG_INPUT,
    Request,
    json_option,
    load_plugins,
    quiet_option,
    takes_settings,
    verbose_option,
    working,
)
from auditkit.cli.output import print_mapping
from auditkit.errors import InputError, Problem
from auditkit.memory import loading
from auditkit.text import decimals, listing, plural, printable

if TYPE_CHECKING:
    from auditkit.data.source import Place
    from auditkit.pipeline import Audit, Written


@click.command()
@takes_settings("fit", "constraints", "report")
@click.option("-o", "--output", help="folder (a new one ends with /), or path without extension, to write to")
@click.option(
    "--fail-on",
    multiple=True,
    metavar="MEASURE.min=X",
    help="exit with 1 if a measure crosses this (repeatable), e.g. impact_ratio.min=0.8",
)
@json_option
@quiet_option
@verbose_option
def report(
    request: Request, output: str | None, fail_on: tuple[str, ...], as_json: bool, quiet: bool, verbose: bool
) -> int:
    """Audit an export: read, fit, solve, compare, and write the report beside it.

    people.csv becomes people.audit.html and people.audit.json; for a database the files get its name and go into the
    current folder. With --json the document goes to stdout, and files are written only if -o or --format asks for
    them. Without Pango there is no PDF: the other formats are written and stderr says what to install; the exit code
    is 2 only if you asked for nothing but PDF.
    """
    stem = output_stem(request.data, output)
    with loading():
        from auditkit import pipeline
        from auditkit.report import thresholds
        from auditkit.verification.earlier_reports import with_other_settings

    watched = thresholds.parse(request.config.thresholds) + thresholds.parse_options(fail_on)
    seconds: dict[str, float] = {}
    with working("starting", quiet) as say, compiling_ahead():
        say.expect(pipeline.phases(request.config))
        plugins = load_plugins()
        done = answered(
            request,
            lambda asked: pipeline.audit(
                asked.data, asked.config, plugins, say, timed=seconds.__setitem__, counted=say.counted
            ),
        )
        if output is not None and _new_folder(output):
            from auditkit.files import make_folder

            make_folder(stem.parent)
        files = not as_json or output is not None or "formats" in request.given
        others = with_other_settings(stem.parent, done.report) if files else []
        begin = time.perf_counter()
        written = pipeline.write(done, stem, say) if files else pipeline.Written(())
        seconds["write"] = time.perf_counter() - begin
    if verbose:
        for stage, taken in seconds.items():
            click.echo(f"{stage:8}{decimals(taken):>8} s", err=True)
    if as_json:
        if done.history.reading is not None:
            click.echo(printable(done.history.reading.shown), err=True)
        click.echo(done.report.text(), nl=False)
    else:
        _print_audit(done, written, request.data)
    for reason in written.not_written:
        click.echo(f"warning: {reason}", err=True)
    if others:
        click.echo(f"warning: {_subtracted(others)}", err=True)
    from auditkit.report.figures import figures

    found = thresholds.evaluate(watched, figures(done.report))
    for note in found.notes:
        click.echo(f"note: {note}", err=True)
    for crossing in found.crossings:
        click.echo(f"finding: {printable(crossing.words)}", err=True)
    if written.not_written and not written.files:
        return WRONG_INPUT
    return FINDING if found.crossings else DONE


def _subtracted(others: list[str]) -> str:
    names = printable(", ".join(others[:3]) + (", ..." if len(others) > 3 else ""))
    exists = f"a report of the same data with other settings exists ({names})"
    return f"{exists}: someone who has both may learn more about a person"


def output_stem(data: Place, output: str | None) -> Path:
    """Where a report goes, without extension: beside the data, into a folder, or to a name that the user gives.

    For a database it's the current folder, under the database's name.
    """
    from auditkit.data.sql_query import Query

    name = "stdin.audit" if data.name == "-" else f"{data.stem}.audit"
    if output is None:
        stem = Path(name) if isinstance(data, Query) or data.name == "-" else data.with_name(name)
    elif Path(output).is_dir():
        stem = Path(output) / name
    elif _new_folder(output):  # made when there is something to put into it
        return Path(output) / name
    else:
        given = Path(output)
        stem = given.with_suffix("") if given.suffix.lower() in (".html", ".json", ".pdf", ".xlsx", ".docx") else given
    if not stem.parent.is_dir():
        raise InputError(Problem(str(stem.parent), "there is no such folder", "make it, or name another with -o"))
    return stem


def _new_folder(output: str) -> bool:
    return output.endswith(("/", "\\"))


def _print_audit(audit: Audit, written: Written, data: Place) -> None:
    print_mapping(audit.history, data)
    from auditkit.report import view

    leading, told = view.leading(audit.report), view.told(audit.report)
    for text in view.nothing_found(audit.report):
        click.echo(printable(text))
    for number, finding in enumerate(leading, 1):
        click.echo(f"{number}. {printable(finding.text)}")
    more, notices = len(told) - len(leading), len(audit.report.findings) - len(told)
    rest = [plural(more, "more finding")] * bool(more) + [plural(notices, "notice")] * bool(notices)
    click.echo(f"(also in the report: {listing(rest)})\n" if rest else "")
    for finding in audit.report.findings:
        if finding.code == "no-fit" and finding not in leading:
            click.echo(printable(finding.text))
    for hint in audit.hints:
        click.echo(printable(f"for a model of the scores: {hint}"))
    for file in written.files:
        click.echo(f"written: {file}")
