"""`auditkit history`: past audits, their trends, and what differs between two."""

from __future__ import annotations

from pathlib import Path

import click

from auditkit.cli.options import DONE, FINDING, config_option, json_option, warn
from auditkit.cli.output import print_json
from auditkit.text import printable


@click.group(invoke_without_command=True)
@config_option
@json_option
@click.option(
    "--html", type=click.Path(path_type=Path), metavar="FILE", help="write a page with trend charts and links"
)
@click.option(
    "--link", "known", metavar="LINK", help="a last link that you kept; exits with status 1 if it isn't in the chain"
)
@click.option("-n", "--last", type=click.IntRange(min=1), metavar="N", help="only the last N runs")
@click.pass_context
def history(
    context: click.Context, config: Path, as_json: bool, html: Path | None, known: str | None, last: int | None
) -> int:
    """Show past audits and their trends."""
    context.obj = config
    if context.invoked_subcommand is not None:
        return DONE
    from auditkit.scheduled import listing
    from auditkit.scheduled.audit_history import AuditHistory

    past = AuditHistory(config)
    chosen, runs, (broken, link) = past.recorded(known)
    if last is not None:
        runs = runs[-last:]
    if html is not None:
        from auditkit.files import write_text

        write_text(html, past.trends(html, runs))
        click.echo(f"wrote {html}", err=True)

    if as_json:
        from auditkit.scheduled import evidence_stream

        found = listing.document(chosen.name, runs, evidence_stream.of_runs(chosen.folder, runs))
        print_json(found | {"chain": {"link": link, "breaks": broken}})
    elif html is None:
        from auditkit.cli.output import print_table

        print_table(listing.COLUMNS, listing.rows(runs))
        for run in runs:
            if run.failure:
                click.echo(f"run {run.id} failed: {printable(run.failure)}")
        click.echo(f"last link of the chain: {link}")
    for line in broken:
        warn(line)
    return FINDING if broken else DONE


@history.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@json_option
@click.pass_obj
def diff(config: Path, first: str, second: str, as_json: bool) -> int:
    """Show what differs between two runs, named by number, date, `previous` or `latest`."""
    from auditkit.scheduled import difference
    from auditkit.scheduled.audit_history import AuditHistory

    found = AuditHistory(config).compare(first, second)
    if as_json:
        print_json(difference.document(found))
        return DONE
    from auditkit.cli.output import print_table

    if not (found.provenance or found.figures or found.new_crossings or found.gone_crossings):
        click.echo(f"runs {found.first} and {found.second} do not differ")
        return DONE
    if found.provenance:
        print_table(["", f"run {found.first}", f"run {found.second}"], [list(row) for row in found.provenance])
    for line in found.configuration:
        click.echo(line)
    if found.figures:
        columns = ["part", "of", "figure", f"run {found.first}", f"run {found.second}"]
        print_table(
            columns, [[c.part, c.subject, c.figure, c.before_text, c.after_text] for c in found.figures], right=3
        )
    for words in found.new_crossings:
        click.echo(f"new finding: {printable(words)}")
    for words in found.gone_crossings:
        click.echo(f"no longer a finding: {printable(words)}")
    return DONE
