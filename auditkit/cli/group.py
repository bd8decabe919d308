"""The group of all commands: ours, those that ship as plugins, those of other packages.

`auditkit --help` must be quick, and every import counts: the machinery of plugins is loaded only where a package other
than auditkit has any.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import click

SHIPPED = {"study": "auditkit.plugins.study"}
"""Commands that are plugins of auditkit's own, and where; `pyproject.toml` names the same entry points."""

KNOWN = "auditkit.commands"


class Commands(click.Group):
    """Its own commands in the order in which people need them, then those of plugins."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *SHIPPED, *self._theirs(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        if cmd_name in SHIPPED:
            offers: list[click.Command] = import_module(SHIPPED[cmd_name]).auditkit_commands()
            return next(command for command in offers if command.name == cmd_name)
        return self._theirs(ctx).get(cmd_name)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; one of another package that fails is not our defect."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            command = ctx.meta.get(KNOWN, {}).get(ctx.invoked_subcommand)
            if command is None:
                raise
            from auditkit.errors import blaming

            with blaming(command, f"the command {command.name!r}"):
                raise error

    def _theirs(self, ctx: click.Context) -> Mapping[str, click.Command]:
        """Commands of other packages; whatever is wrong with them is said once."""
        if KNOWN not in ctx.meta:
            ctx.meta[KNOWN] = {}
            if others_installed():
                from auditkit import plugin_manager

                ctx.meta[KNOWN], warnings = plugin_manager.commands(taken=[*self.commands, *SHIPPED])
                for line in warnings:
                    click.echo(f"warning: {line}", err=True)
        found: Mapping[str, click.Command] = ctx.meta[KNOWN]
        return found


def others_installed() -> bool:
    """Whether another package has entry points of the group `auditkit`; importlib.metadata takes ten times as long."""
    for folder in map(Path, sys.path):
        try:
            found = [path for path in folder.iterdir() if path.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for path in found:
            try:
                lines = (path / "entry_points.txt").read_text(encoding="utf-8").splitlines()
            except OSError:
                continue
            group = ""
            for line in map(str.strip, lines):
                if line.startswith("["):
                    group = line.strip("[] ")
                elif group == "auditkit" and "=" in line and not line.partition("=")[2].strip().startswith("auditkit."):
                    return True
    return False
