"""`auditkit fit`: history to instance file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditkit.cli.options import (
    DONE,
    data_argument,
    data_options,
    fit_options,
    load_plugins,
    quiet_option,
    settings,
    working,
)

if TYPE_CHECKING:
    pass


@click.command()
@data_argument
@data_options
@fit_options
@click.option("-o", "--output", type=click.Path(path_type=Path), help="the instance file to write (default: stdout)")
@quiet_option
def fit(
    data: Path | None,
    config: Path | None,
    maps: tuple[str, ...],
    costs: tuple[str, ...],
    capacity: int | None,
    value_scale: float | None,
    fitter: str | None,
    propensity: bool,
    blind: bool,
    output: Path | None,
    quiet: bool,
) -> int:
    """Turn a history into an instance file: a prior for each candidate, named c0, c1, ... in place of their ids."""
    path, chosen = settings(
        data,
        config,
        maps,
        costs,
        capacity,
        value_scale=value_scale,
        fit__fitter=fitter,
        fit__propensity=propensity or None,
        fit__blind=blind or None,
    )
    with working("fitting priors", quiet):
        from auditkit import pipeline
        from auditkit.files import write_text

        plugins = load_plugins()
        fitted = pipeline.fit_history(pipeline.read(path, chosen, plugins), chosen, plugins)
        text = json.dumps(fitted.instance.to_json(), ensure_ascii=False, allow_nan=False) + "\n"
    for notice in (*fitted.notices, *fitted.quality.warnings):
        click.echo(f"note: {notice}", err=True)
    if output is None:
        click.echo(text, nl=False)
        return DONE
    write_text(output, text)
    layout = fitted.instance.layout
    click.echo(f"{len(layout.candidate_ids):,} candidates in {len(layout.search_ids):,} searches")
    click.echo(f"written: {output}")
    return DONE
