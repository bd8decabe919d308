"""`auditkit record`: the evidence file of a period."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from pathlib import Path

import click

from auditkit.cli.options import DONE
from auditkit.errors import InputError, Problem

FORMATS = ("html", "pdf", "json")


@click.command()
@click.option(
    "--config", type=click.Path(path_type=Path), default=Path("audit.toml"), show_default=True, metavar="AUDIT.toml"
)
@click.option("--from", "begin", required=True, metavar="DATE", help="first day, e.g. 2026-01-01")
@click.option("--to", "end", required=True, metavar="DATE", help="last day, e.g. 2026-12-31")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PATH", help="path without extension")
@click.option("--format", "formats", default="html,json", show_default=True, metavar="html,pdf,json")
def record(config: Path, begin: str, end: str, output: Path | None, formats: str) -> int:
    """Write the evidence file of a period from the history: scope, quality, recency, results, responses, hashes.

    It says what was tested and what was done about it, and what was not examined. It judges nothing.
    """
    first, last = _day(begin, "--from"), _day(end, "--to")
    wanted = tuple(dict.fromkeys(name.strip().lower() for name in formats.split(",") if name.strip()))
    if not wanted or set(wanted) - set(FORMATS):
        raise InputError(Problem("--format", f"{formats!r} is not a list of formats", f"any of {', '.join(FORMATS)}"))
    from auditkit.files import write_together
    from auditkit.scheduled import evidence_page, settings
    from auditkit.scheduled.evidence import evidence
    from auditkit.scheduled.responses import responses_of
    from auditkit.scheduled.run_history import opened

    chosen = settings.read(config)
    with opened(chosen.database(os.environ), create=False) as history:
        runs, said = history.runs(chosen.name), responses_of(history, chosen.name)
    found = evidence(chosen, runs, said, first, last, datetime.now(UTC))
    stem = output or Path(f"{chosen.name}.record.{first}.{last}")
    if not stem.parent.is_dir():
        raise InputError(Problem(str(stem.parent), "there is no such folder", "make it, or name another with -o"))
    made = evidence_page.rendered(found, wanted, chosen.config)
    for file in write_together(stem.parent, {f"{stem.name}.{name}": content for name, content in made.items()}):
        click.echo(f"written: {file}")
    return DONE


def _day(text: str, option: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(Problem(option, f"{text!r} is not a date", "write it as 2026-01-31")) from None
