"""The command about plugins."""

from __future__ import annotations

import json

import click

from auditkit.cli.shared import json_option, load_plugins, plugin_options


@click.group(invoke_without_command=True)
@plugin_options
@json_option
@click.pass_context
def plugins(context: click.Context, as_json: bool) -> None:
    """List what is registered, and from where."""
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
    from auditkit.tables import print_table

    columns = ["kind", "name", "module", "distribution", "version"]
    print_table(columns, [[entry[column] for column in columns] for entry in listed])


COMMANDS = (plugins,)
