"""`auditkit fit`: history to instance file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from auditkit.cli.options import DONE, Request, load_plugins, quiet_option, takes_settings, working
from auditkit.text import plural


@click.command()
@takes_settings("fit")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="the instance file to write (default: stdout)")
@quiet_option
def fit(request: Request, output: Path | None, quiet: bool) -> int:
    """Turn a history into an instance file: a prior for each candidate, named c0, c1, ... instead of by their ids."""
    with working("fitting priors", quiet):
        from auditkit import pipeline
        from auditkit.files import write_text

        plugins = load_plugins()
        history = pipeline.read(request.data, request.config, plugins)
        fitted = pipeline.fit_history(history, request.config, plugins)
        text = json.dumps(fitted.instance.to_json(), ensure_ascii=False, allow_nan=False) + "\n"
    for notice in (*fitted.notices, *fitted.quality.warnings):
        click.echo(f"note: {notice}", err=True)
    if output is None:
        click.echo(text, nl=False)
        return DONE
    write_text(output, text)
    layout = fitted.instance.layout
    click.echo(
        f"{plural(len(layout.candidate_ids), 'candidate')} in {plural(len(layout.search_ids), 'search', 'searches')}"
    )
    click.echo(f"written: {output}")
    return DONE
