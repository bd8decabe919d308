"""The group of all commands: ours, those that ship as plugins, and those of other packages.

`auditkit --help` must be quick, and every import counts. A plugin is imported for its commands only if its source
mentions the hook `auditkit_commands`, and the plugin machinery only if another package has such a plugin.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click

HOOK = "auditkit_commands"
OURS, THEIRS = "shipped-commands", "other-commands"


class Commands(click.Group):
    """Lists its own commands in the order in which people need them, then those of plugins."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *self._ours(ctx), *self._theirs(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        return self._ours(ctx).get(cmd_name) or self._theirs(ctx).get(cmd_name)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; if one from another package fails, that isn't our defect."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            command = ctx.meta.get(THEIRS, {}).get(ctx.invoked_subcommand)
            if command is None:
                raise
            from auditkit.errors import blaming

            with blaming(command, f"the command {command.name!r}"):
                raise error

    def _ours(self, ctx: click.Context) -> Mapping[str, click.Command]:
        if OURS not in ctx.meta:
            ctx.meta[OURS] = shipped_commands()
        found: Mapping[str, click.Command] = ctx.meta[OURS]
        return found

    def _theirs(self, ctx: click.Context) -> Mapping[str, click.Command]:
        """Commands of other packages; problems with them are reported once."""
        if THEIRS not in ctx.meta:
            ctx.meta[THEIRS] = {}
            modules = [module for module in command_modules() if not _is_ours(module)]
            if modules:
                from auditkit import plugin_manager

                taken = [*self.commands, *self._ours(ctx)]
                ctx.meta[THEIRS], warnings = plugin_manager.commands(taken, modules)
                for line in warnings:
                    click.echo(f"warning: {line}", err=True)
        found: Mapping[str, click.Command] = ctx.meta[THEIRS]
        return found


def shipped_commands() -> dict[str, click.Command]:
    """Commands that are plugins shipped with auditkit, by name."""
    offers: list[click.Command] = []
    for module in filter(_is_ours, command_modules()):
        offers += getattr(import_module(module), HOOK)()
    return {str(command.name): command for command in offers}


def command_modules() -> Collection[str]:
    """The modules of entry points whose source mentions commands."""
    return sorted({value for value in _entry_points() if _mentions_commands(value.partition(":")[0].strip())})


def _mentions_commands(module: str) -> bool:
    """Whether a module's source mentions the hook; if it can't be read, it's imported later to find out."""
    try:
        spec = find_spec(module)
        if spec is None or spec.origin is None:
            return True
        source = Path(spec.origin).read_text(encoding="utf-8")
    except Exception:
        return True
    return HOOK in source or "import *" in source


def _is_ours(module: str) -> bool:
    return module.startswith("auditkit.")


def _entry_points() -> Iterator[str]:
    """The values of all entry points of the group `auditkit`; importlib.metadata takes ten times as long."""
    seen: set[str] = set()
    for folder in map(Path, sys.path):
        try:
            found = [path for path in folder.iterdir() if path.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for path in found:
            name = path.name.partition("-")[0].lower()
            if name in seen:  # an earlier folder has this distribution, and Python imports that one
                continue
            seen.add(name)
            try:
                lines = (path / "entry_points.txt").read_text(encoding="utf-8").splitlines()
            except OSError:
                continue
            group = ""
            for line in map(str.strip, lines):
                if line.startswith("["):
                    group = line.strip("[] ")
                elif group == "auditkit" and "=" in line:
                    yield line.partition("=")[2].strip()
