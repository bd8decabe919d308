"""`auditkit run`: one scheduled audit."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditkit.cli.options import (
    DONE,
    FINDING,
    audit_argument,
    engine_option,
    json_option,
    load_plugins,
    plugin_options,
    warn,
)
from auditkit.cli.output import print_json
from auditkit.errors import InputError
from auditkit.text import printable

if TYPE_CHECKING:
    from auditkit.scheduled.audit_run import Done
    from auditkit.scheduled.settings import AuditSettings


@click.command()
@audit_argument
@click.option(
    "--force", is_flag=True, help="compute even if data and configuration have not changed since the last run"
)
@click.option(
    "--new-population", is_flag=True, help="accept a finished month whose applications differ from an earlier count"
)
@click.option(
    "--wait", type=click.FloatRange(min=0), default=0, metavar="SECONDS", help="how long to wait for another run to end"
)
@engine_option
@plugin_options
@json_option
@click.option("-q", "--quiet", is_flag=True, help="print findings and removals only")
def run(
    audit: Path,
    force: bool,
    new_population: bool,
    wait: float,
    engine: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run one scheduled audit: report, history, thresholds, alerts, retention.

    Exits with 1 if a threshold was crossed (or an alert was not delivered), with 2 if the audit could not be run.
    """
    from auditkit.scheduled import settings
    from auditkit.scheduled.audit_run import record_failure
    from auditkit.scheduled.audit_run import run as run_once
    from auditkit.scheduled.job import job

    chosen = settings.read(audit)
    chosen = replace(chosen, config=chosen.config.over(engine=engine))
    plugins = load_plugins()

    def say(text: str) -> None:
        if not quiet:
            click.echo(text, err=True)

    channels = chosen.channels(plugins.alerts)
    try:
        work = job(chosen, plugins, say, warn)
    except InputError as error:
        moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        record_failure(chosen, chosen.database(os.environ), error, moment, say)
        raise
    done = run_once(chosen, work, channels, os.environ, force=force, new_population=new_population, wait=wait, say=say)
    if as_json:
        from auditkit.scheduled.listing import document

        print_json(
            {**document(chosen.name, [done.run]), "notes": done.notes, "removed": done.removed, "link": done.link}
        )
    else:
        _print_done(done, chosen, quiet)
    for alert in done.alerts:
        if not alert.delivered:
            warn(f"the alert by {alert.channel} was not delivered: {alert.detail}")
    return FINDING if done.finding else DONE


def _print_done(done: Done, settings: AuditSettings, quiet: bool) -> None:
    run = done.run
    if not quiet:
        if run.same_as is not None:
            click.echo(f"run {run.id}: data and configuration are those of run {run.same_as}; nothing was computed")
        else:
            click.echo(f"run {run.id}: {settings.folder / run.folder}")
        click.echo(f"last link of the chain: {done.link}")
        for note in done.notes:
            click.echo(f"note: {printable(note)}")
        for finding in run.findings:
            click.echo(f"finding: {printable(finding)}")
    for crossing in run.crossings:
        click.echo(f"threshold crossed: {printable(crossing.words)}")
    if not run.crossings and not quiet and settings.thresholds:
        click.echo("no threshold was crossed")
    for line in done.removed:
        click.echo(line)
