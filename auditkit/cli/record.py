"""`auditkit record`: the evidence file of a period."""

from __future__ import annotations

from pathlib import Path

import click

from auditkit.cli.options import DONE, config_option
from auditkit.errors import InputError, Problem

FORMATS = ("html", "pdf", "json")


@click.command()
@config_option
@click.option("--from", "begin", required=True, metavar="DATE", help="first day, e.g. 2026-01-01")
@click.option("--to", "end", required=True, metavar="DATE", help="last day, e.g. 2026-12-31")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PATH", help="path without extension")
@click.option("--format", "formats", default="html,json", show_default=True, metavar="html,pdf,json")
def record(config: Path, begin: str, end: str, output: Path | None, formats: str) -> int:
    """Write the evidence file of a period from the history: scope, quality, recency, results, responses, hashes.

    It says what was tested, what was done about it, and what was not examined. It makes no judgement.
    """
    wanted = tuple(dict.fromkeys(name.strip().lower() for name in formats.split(",") if name.strip()))
    if not wanted or set(wanted) - set(FORMATS):
        raise InputError(Problem("--format", f"{formats!r} is not a list of formats", f"any of {', '.join(FORMATS)}"))
    from auditkit.files import write_together
    from auditkit.scheduled import evidence_page
    from auditkit.scheduled.audit_history import AuditHistory

    found, chosen = AuditHistory(config).evidence(("--from", begin), ("--to", end))
    stem = output or Path(f"{chosen.name}.record.{found.begin}.{found.end}")
    if not stem.parent.is_dir():
        raise InputError(Problem(str(stem.parent), "there is no such folder", "make it, or name another with -o"))
    made = evidence_page.rendered(found, wanted, chosen.config)
    for file in write_together(stem.parent, {f"{stem.name}.{name}": content for name, content in made.items()}):
        click.echo(f"written: {file}")
    return DONE
