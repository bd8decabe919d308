"""`auditkit schema`: the JSON Schemas of the file formats."""

from __future__ import annotations

import click

from auditkit.cli.options import load_plugins, plugin_options


@click.command()
@click.argument("name", metavar="NAME", required=False)
@plugin_options
def schema(name: str | None) -> None:
    """Print the JSON Schema of a kind of file: instance, solution, report or config.

    Without a name, list them. Schemas include the constraints and alert channels of plugins.
    """
    from auditkit.cli import json_schemas

    if name is not None:
        click.echo(json_schemas.text(name, load_plugins()), nl=False)
        return
    from auditkit.cli.output import print_table

    print_table(["name", "file"], [[name, title] for name, (_, title) in json_schemas.FILES.items()])
