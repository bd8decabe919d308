"""`auditkit schedule`: timer, cron and CI files for `run`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from auditkit.cli.options import DONE, audit_argument, load_plugins


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
    help="only this kind of timer (default: print all)",
)
@click.option("--install", "do", flag_value="install", help="install the systemd user timer, or else the crontab entry")
@click.option("--uninstall", "do", flag_value="uninstall", help="remove an installed schedule")
@click.argument("arguments", nargs=-1, metavar="[-- ARGUMENTS OF RUN]")
def schedule(audit: Path, every: str, way: str | None, do: str | None, arguments: tuple[str, ...]) -> int:
    """Print or install a timer that runs an audit regularly. No process of auditkit keeps running."""
    from auditkit.errors import InputError, Problem
    from auditkit.scheduled import install, settings, units
    from auditkit.scheduled.recurrence import parse

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
