"""`auditkit init`: audit.toml with the inferred mapping and every default."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditkit.cli.options import (
    DONE,
    data_argument,
    data_options,
    load_plugins,
    plugin_options,
    settings,
)
from auditkit.cli.output import print_mapping
from auditkit.errors import InputError, Problem

if TYPE_CHECKING:
    pass


@click.command()
@data_argument
@data_options
@plugin_options
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("audit.toml"),
    show_default=True,
    help="the file to write",
)
@click.option("--force", is_flag=True, help="overwrite a file that is there")
def init(
    data: Path | None,
    config: Path | None,
    maps: tuple[str, ...],
    costs: tuple[str, ...],
    capacity: int | None,
    output: Path,
    force: bool,
) -> int:
    """Write audit.toml: the inferred mapping and every default, spelled out and explained."""
    path, chosen = settings(data, config, maps, costs, capacity)
    if output.exists() and not force:
        raise InputError(Problem(str(output), "is there already", "name another with -o, or overwrite it with --force"))
    from auditkit.cli import audit_toml
    from auditkit.data import source
    from auditkit.files import write_text

    history = source.read(path, chosen, load_plugins())
    write_text(output, audit_toml.write(chosen, history, output.parent))
    print_mapping(history, path)
    click.echo(f"written: {output}")
    return DONE
