"""The commands `run`, `history` and `schedule`: parse, call one function, print. What they return is the exit code."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from auditkit.cli.shared import DONE, FINDING, json_option, load_plugins, plugin_options

if TYPE_CHECKING:
    from auditkit.scheduled.history import Run
    from auditkit.scheduled.run import Done
    from auditkit.scheduled.settings import Settings

audit_argument = click.argument("audit", type=click.Path(path_type=Path), metavar="AUDIT.toml")


@click.command()
@audit_argument
@click.option("--force", is_flag=True, help="compute even if data and configuration are those of the last run")
@click.option(
    "--wait", type=click.FloatRange(min=0), default=0, metavar="SECONDS", help="for another run that is under way"
)
@plugin_options
@json_option
@click.option("-q", "--quiet", is_flag=True, help="print findings and removals only")
def run(audit: Path, force: bool, wait: float, as_json: bool, quiet: bool) -> int:
    """Run one scheduled audit: report, history, thresholds, alerts, retention.

    Leaves with 1 if a threshold is crossed (or an alert reached nobody), with 2 if the audit could not be run.
    """
    from auditkit.scheduled import settings
    from auditkit.scheduled.job import job
    from auditkit.scheduled.run import run as run_once

    chosen = settings.read(audit)
    plugins = load_plugins()

    def say(text: str) -> None:
        if not quiet:
            click.echo(text, err=True)

    def warn(text: str) -> None:
        click.echo(f"warning: {text}", err=True)

    channels = chosen.channels(plugins.alerts)
    done = run_once(chosen, job(chosen, plugins, say, warn), channels, os.environ, force=force, wait=wait, say=say)
    if as_json:
        from auditkit.scheduled.listing import document

        _print_json({**document(chosen.name, [done.run]), "notes": done.notes, "removed": done.removed})
    else:
        _print_done(done, chosen, quiet)
    for alert in done.alerts:
        if not alert.delivered:
            warn(f"the alert by {alert.channel} was not delivered: {alert.detail}")
    return FINDING if done.finding else DONE


def _print_done(done: Done, settings: Settings, quiet: bool) -> None:
    run = done.run
    if not quiet:
        if run.same_as is not None:
            click.echo(f"run {run.id}: data and configuration are those of run {run.same_as}; nothing was computed")
        else:
            click.echo(f"run {run.id}: {settings.folder / run.folder}")
        for note in done.notes:
            click.echo(f"note: {note}")
    for crossing in run.crossings:
        click.echo(f"finding: {crossing.words}")
    if not run.crossings and not quiet and settings.thresholds:
        click.echo("no threshold was crossed")
    for line in done.removed:
        click.echo(line)


@click.group(invoke_without_command=True)
@click.option(
    "--config", type=click.Path(path_type=Path), default=Path("audit.toml"), show_default=True, metavar="AUDIT.toml"
)
@json_option
@click.option(
    "--html", type=click.Path(path_type=Path), metavar="FILE", help="write a page with trend charts and links"
)
@click.option("-n", "--last", type=click.IntRange(min=1), metavar="N", help="only the last N runs")
@click.pass_context
def history(context: click.Context, config: Path, as_json: bool, html: Path | None, last: int | None) -> int:
    """Past audits and their trends."""
    context.obj = config
    if context.invoked_subcommand is not None:
        return DONE
    chosen, runs = _runs(config)
    if last is not None:
        runs = runs[-last:]
    if html is not None:
        _write_page(chosen, runs, html)
        click.echo(f"wrote {html}", err=True)
    from auditkit.scheduled import listing

    if as_json:
        _print_json(listing.document(chosen.name, runs))
    elif html is None:
        from auditkit.tables import print_table

        print_table(listing.COLUMNS, listing.rows(runs))
    return DONE


@history.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@json_option
@click.pass_obj
def diff(config: Path, first: str, second: str, as_json: bool) -> int:
    """What differs between two runs: numbers, dates, `previous` or `latest`."""
    from auditkit.scheduled import difference

    chosen, runs = _runs(config)
    found = difference.compare(difference.find(runs, first), difference.find(runs, second), chosen.folder)
    if as_json:
        _print_json(difference.document(found))
        return DONE
    from auditkit.tables import print_table

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
        click.echo(f"new finding: {words}")
    for words in found.gone_crossings:
        click.echo(f"no longer a finding: {words}")
    return DONE


@click.command()
@audit_argument
@click.option(
    "--every",
    default="weekly",
    show_default=True,
    metavar="WHEN",
    help="monday@06:00, daily@22:30, monthly@1T06:00, cron",
)
@click.option(
    "--for",
    "way",
    type=click.Choice(["systemd", "cron", "github", "script"]),
    help="only this one (default: print all)",
)
@click.option("--install", "do", flag_value="install", help="install the systemd user timer, or else the crontab entry")
@click.option("--uninstall", "do", flag_value="uninstall", help="take an installed schedule back")
@click.argument("arguments", nargs=-1, metavar="[-- ARGUMENTS OF RUN]")
def schedule(audit: Path, every: str, way: str | None, do: str | None, arguments: tuple[str, ...]) -> int:
    """Print what has your system run an audit regularly, or install it. Nothing of auditkit stays running."""
    from auditkit.errors import InputError, Problem
    from auditkit.scheduled import install, settings, units
    from auditkit.scheduled.every import parse

    when = parse(every)
    chosen = settings.read(audit)
    variables = [v for v in [chosen.history.database_env] if v]
    variables += [v for channel in chosen.channels(load_plugins().alerts) for v in channel.variables()]
    plan = units.Plan(
        chosen.path, chosen.name, when, chosen.folder, tuple(dict.fromkeys(variables)), arguments, sys.executable
    )
    if do is None:
        for title, text in (
            part for name, parts in units.everything(plan).items() if way in (None, name) for part in parts
        ):
            click.echo(text if way and way != "systemd" else f"# {title}\n{text}")
        return DONE
    if way not in (None, "systemd", "cron"):
        raise InputError(Problem("--for", f"{way!r} cannot be installed", "systemd and cron can"))
    by = way or install.default_way(os.environ)
    for line in (install.install if do == "install" else install.uninstall)(plan, by):
        click.echo(line)
    return DONE


COMMANDS = (run, history, schedule)


def _runs(config: Path) -> tuple[Settings, list[Run]]:
    from auditkit.scheduled import settings
    from auditkit.scheduled.history import opened

    chosen = settings.read(config)
    with opened(chosen.database(os.environ), create=False) as history:
        return chosen, history.runs(chosen.name)


def _write_page(settings: Settings, runs: list[Run], path: Path) -> None:
    from datetime import UTC, datetime

    from auditkit.errors import InputError, Problem
    from auditkit.files import write_text
    from auditkit.scheduled.page import render

    names = {"impact_ratio.min": "selected", "impact_ratio.inspected.min": "inspected"}
    lines = {names[line.name]: float(line.bound) for line in settings.thresholds if line.name in names}
    created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = render(settings.name, runs, settings.folder, path, created, lines)
    try:
        write_text(path, text)
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be written: {error.strerror or error}")) from None


def _print_json(document: Any) -> None:
    import json

    click.echo(json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False))
