"""`auditkit report`: the audit of an export, written beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditkit.cli.options import (
    DONE,
    FINDING,
    WRONG_INPUT,
    Request,
    json_option,
    load_plugins,
    quiet_option,
    takes_settings,
    working,
)
from auditkit.cli.output import print_mapping
from auditkit.cli.time_left import TimeLeft
from auditkit.errors import InputError, Problem
from auditkit.text import printable

if TYPE_CHECKING:
    from auditkit.data.source import Place
    from auditkit.pipeline import Audit, Written

MOST_FINDINGS = 8


@click.command()
@takes_settings("fit", "constraints", "report")
@click.option("-o", "--output", help="folder (a new one ends with /), or path without its ending, to write to")
@click.option(
    "--fail-on",
    multiple=True,
    metavar="MEASURE.min=X",
    help="exit with 1 if a measure crosses this (repeatable), e.g. impact_ratio.min=0.8",
)
@json_option
@quiet_option
def report(request: Request, output: str | None, fail_on: tuple[str, ...], as_json: bool, quiet: bool) -> int:
    """Audit an export: read, fit, solve, compare, and write the report beside it.

    people.csv becomes people.audit.html and people.audit.json; for a database the files have its name and go into the
    current folder. With --json the document goes to stdout, and files are
    written only if -o or --format asks for them. Where Pango is missing there is no PDF: the other formats are written
    and stderr says what to install; the exit code is 2 only if PDF was all that was asked for.
    """
    stem = output_stem(request.data, output)
    from auditkit.report import thresholds

    watched = thresholds.parse(request.config.thresholds) + thresholds.parse_options(fail_on)
    settings = request.config.report
    without = {"frontier of": not settings.what_if, "setting the PDF": "pdf" not in settings.formats}
    time_left = TimeLeft([phase for phase, absent in without.items() if absent])
    with working("starting", quiet, time_left) as say:
        from auditkit import pipeline

        done = pipeline.audit(request.data, request.config, load_plugins(), say)
        if output is not None and _new_folder(output):
            from auditkit.files import make_folder

            make_folder(stem.parent)
        files = not as_json or output is not None or "formats" in request.given
        written = pipeline.write(done, stem, say) if files else pipeline.Written(())
    if as_json:
        click.echo(pipeline.text_of(done), nl=False)
    else:
        _print_audit(done, written, request.data)
    if written.no_pdf is not None:
        click.echo(f"warning: {written.no_pdf}", err=True)
    from auditkit.report.figures import figures

    found = thresholds.evaluate(watched, figures(done.document))
    for note in found.notes:
        click.echo(f"note: {note}", err=True)
    for crossing in found.crossings:
        click.echo(f"finding: {printable(crossing.words)}", err=True)
    if written.no_pdf is not None and not written.files:
        return WRONG_INPUT
    return FINDING if found.crossings else DONE


def output_stem(data: Place, output: str | None) -> Path:
    """Where a report goes, without its ending: beside the data, into a folder, or to a name that the user gives.

    Beside a database is the current folder, under the database's name.
    """
    name = f"{data.stem}.audit"
    if output is None:
        stem = data.with_name(name) if isinstance(data, Path) else Path(name)
    elif Path(output).is_dir():
        stem = Path(output) / name
    elif _new_folder(output):  # made when there is something to put into it
        return Path(output) / name
    else:
        given = Path(output)
        stem = given.with_suffix("") if given.suffix.lower() in (".html", ".json", ".pdf") else given
    if not stem.parent.is_dir():
        raise InputError(Problem(str(stem.parent), "there is no such folder", "make it, or name another with -o"))
    return stem


def _new_folder(output: str) -> bool:
    return output.endswith(("/", "\\"))


def _print_audit(audit: Audit, written: Written, data: Place) -> None:
    print_mapping(audit.history, data)
    findings = [f["text"] for f in audit.document["findings"] if f["kind"] != "notice"]
    notices = len(audit.document["findings"]) - len(findings)
    for number, text in enumerate(findings[:MOST_FINDINGS], 1):
        click.echo(f"{number}. {printable(text)}")
    rest = f"{len(findings) - MOST_FINDINGS} more findings and " if len(findings) > MOST_FINDINGS else ""
    click.echo(f"({rest}{notices} notices are in the report)\n")
    for reason in (f["text"] for f in audit.document["findings"] if f["code"] == "no-fit"):
        if reason not in findings[:MOST_FINDINGS]:
            click.echo(printable(reason))
    for hint in audit.hints:
        click.echo(printable(f"for a model of the scores: {hint}"))
    for file in written.files:
        click.echo(f"written: {file}")
