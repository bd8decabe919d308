"""`auditkit verify`: a solution or a report, checked without the code that found it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from auditkit.cli.options import (
    DONE,
    FINDING,
    DataType,
    json_option,
    load_plugins,
    plugin_options,
    query_option,
    quiet_option,
    working,
)
from auditkit.text import printable


@click.command()
@click.argument("claimed", type=click.Path(path_type=Path), metavar="SOLUTION.json|REPORT.json|REPORT.pdf|REPORT.html")
@click.argument("subject", type=DataType(path_type=Path), metavar="INSTANCE.json|DATA")
@query_option
@plugin_options
@json_option
@quiet_option
def verify(claimed: Path, subject: str | Path, query: str | None, as_json: bool, quiet: bool) -> int:
    """Check a solution or a report without the code that found it.

    Policies are evaluated again by other algorithms and bounds re-derived from the duals. A report is also made once
    more from its data and compared number by number: the JSON, the document inside a PDF, or the JSON beside a page.
    Pages are made again too, and compared. What was not checked is said. Exits with 1 if any claim does not stand.
    """
    with working("verifying", quiet) as say:
        from auditkit.config import Config
        from auditkit.data import source
        from auditkit.pipeline import verify_files

        place = source.locate(subject, Config(query=query))
        assert place is not None
        found = verify_files(claimed, place, load_plugins(), say)
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=1))
    else:
        for check in found.failed:
            click.echo(printable(f"does not stand: {check.claim}: {check.detail}"))
        for text in found.not_checked:
            click.echo(printable(f"not checked: {text}"))
        click.echo(f"{len(found.checks) - len(found.failed)} of {len(found.checks)} claims stand")
    return DONE if found.holds else FINDING
