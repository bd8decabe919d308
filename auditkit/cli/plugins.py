"""`auditkit plugins`: list the registered ones, or write a new one to start from."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click

from auditkit.cli.options import DONE, json_option, load_plugins, plugin_options
from auditkit.errors import InputError, Problem


@click.group(invoke_without_command=True)
@plugin_options
@json_option
@click.pass_context
def plugins(context: click.Context, as_json: bool) -> None:
    """List the registered plugins and where they come from."""
    if context.invoked_subcommand is not None:
        return
    loaded = load_plugins()
    listed = [
        {"kind": kind, "name": name, "module": o.module, "distribution": o.distribution, "version": o.version}
        for (kind, name), o in sorted(loaded.origins.items())
    ]
    if as_json:
        click.echo(json.dumps({"plugins": listed, "warnings": list(loaded.warnings)}, indent=1))
        return
    from auditkit.cli.output import print_table

    columns = ["kind", "name", "module", "distribution", "version"]
    print_table(columns, [[entry[column] for column in columns] for entry in listed])


KINDS = ("affine", "convex", "reader", "measure", "section", "exporter", "fitter", "alert", "command")


@plugins.command()
@click.argument("name")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path(),
    show_default="the working directory",
    help="folder to write it in",
)
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="affine",
    show_default=True,
    help="a constraint (affine: rows of expected outcomes, convex: a function of them), or another kind of plugin",
)
@click.option("--single-file", is_flag=True, help="one file for --plugins-dir instead of a package")
@click.pass_context
def new(context: click.Context, name: str, output: Path, kind: str, single_file: bool) -> int:
    """Write a plugin to start from: a working package, its test and a README.

    NAME is the name of the package and of the thing it provides (without a leading auditkit-).
    """
    from auditkit.cli import scaffold

    names = scaffold.names(name)
    scaffold.refuse_taken(names, kind, load_plugins())
    group = context.find_root().command
    if kind == "command" and isinstance(group, click.Group) and names.type in group.commands:
        raise InputError(Problem(f"NAME {name!r}", "is a command of auditkit itself", "choose another"))
    uses = scaffold.uses(names, kind)
    if single_file:
        path = scaffold.write_file(names, output, kind)
        click.echo(f"written: {path}\n\nTo use it, name its folder:")
        where = f"--plugins-dir {shlex.quote(str(output))}"
        steps = [f"auditkit plugins {where}", f"{uses[0]} {where}"]
    else:
        folder, files = scaffold.write_package(names, output, kind)
        for file in files:
            click.echo(f"written: {folder / file}")
        click.echo("\nInstall it in auditkit's environment, test it and use it:")
        steps = [
            f"cd {shlex.quote(str(folder))}",
            "pip install -e '.[test]'",
            "pytest",
            uses[0],
        ]
    for step in steps:
        click.echo(f"  {step}")
    return DONE
