"""`auditkit verify`: check a solution or a report without the code that found it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click

from auditkit.cli.options import (
    DONE,
    FINDING,
    UNCHECKED,
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
@click.argument("subject", type=DataType(path_type=Path), metavar="INSTANCE.json|DATA...", nargs=-1, required=False)
@query_option
@click.option(
    "--template-dir",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="the theme that made the pages, so that they can be checked too",
)
@click.option("--slow", is_flag=True, help="also check reports whose settings ask for far more work than usual")
@click.option(
    "--signer",
    type=click.Path(path_type=Path),
    help="public key, or file of allowed signers, that must have signed the report; you may then leave out DATA",
)
@plugin_options
@json_option
@quiet_option
def verify(
    claimed: Path,
    subject: tuple[str | Path, ...],
    query: str | None,
    template_dir: Path | None,
    slow: bool,
    signer: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Check a solution or a report without the code that found it.

    It evaluates policies with other algorithms and re-derives bounds from the duals. A report is also made a second
    time from its data and compared number by number: the JSON, the document inside a PDF, or the JSON beside a page.
    Pages are rendered a second time too, and compared. Nothing is written.

    With --signer the report's signature is checked first. Exits with status 1 if a check fails, and with 4 if
    the checks pass but a part of the file could not be checked.
    """
    from auditkit.verification.claims import Verified

    with working("verifying", quiet) as say:
        if not subject and signer is None:
            raise click.UsageError("name the data, or the instance; with --signer alone only the signature is checked")
        found = Verified(())
        if signer is not None:
            from auditkit.verification.signatures import check_signature

            found = check_signature(claimed, signer)
        if not subject:
            found = found.and_also([], ["the numbers of the report: its data were not given"])
        elif found.holds:
            from auditkit.config import Config
            from auditkit.data import source
            from auditkit.verification.verify_files import verify_files

            place = source.locate(source.expanded(subject), Config(query=query))
            assert place is not None
            derived = verify_files(claimed, place, load_plugins(), say, theme=template_dir, slow=slow)
            found = replace(found.and_also(derived.checks, derived.not_checked), given=derived.given)
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=1))
    else:
        for check in found.failed:
            click.echo(printable(f"FAILED: {check.claim}: {check.detail}"))
        for text in found.not_checked:
            click.echo(printable(f"not checked: {text}"))
        for text in found.given:
            click.echo(printable(f"taken as given: {text}"))
        if signer is not None and found.checks[0].holds:
            click.echo(printable(found.checks[0].claim))
        click.echo(f"{len(found.checks) - len(found.failed)} of {len(found.checks)} checks passed")
    if not found.holds:
        return FINDING
    return UNCHECKED if found.not_checked else DONE
