"""`auditkit init`: audit.toml with the inferred mapping and every default."""

from __future__ import annotations

from pathlib import Path

import click

from auditkit.cli.options import DONE, Request, load_plugins, takes_settings
from auditkit.cli.output import print_mapping
from auditkit.errors import InputError, Problem


@click.command()
@takes_settings()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("audit.toml"),
    show_default=True,
    help="the file to write",
)
@click.option("--force", is_flag=True, help="overwrite an existing file")
def init(request: Request, output: Path, force: bool) -> int:
    """Write audit.toml: the inferred mapping and every default, spelled out and explained."""
    if output.exists() and not force:
        raise InputError(Problem(str(output), "already exists", "name another with -o, or overwrite it with --force"))
    from auditkit.data import audit_toml, source
    from auditkit.files import write_text

    history = source.read(request.data, request.config, load_plugins())
    write_text(output, audit_toml.write(request.config, history, output.parent))
    print_mapping(history, request.data)
    click.echo(f"written: {output}")
    return DONE
