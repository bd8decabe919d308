"""`auditkit respond`: record what was decided about a finding, by whom and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditkit.cli.options import DONE, config_option, json_option
from auditkit.cli.output import print_json
from auditkit.text import printable, ratio

if TYPE_CHECKING:
    from auditkit.scheduled.responses import FindingState


@click.command()
@click.argument("finding", required=False)
@config_option
@click.option("--decision", metavar="WORD", help="investigate, change, keep or close")
@click.option("--owner", metavar="NAME", help="who is responsible")
@click.option("--due", metavar="DATE", help="by when, e.g. 2027-01-31")
@click.option("--text", metavar="TEXT", help="what was decided, and why")
@json_option
def respond(
    finding: str | None,
    config: Path,
    decision: str | None,
    owner: str | None,
    due: str | None,
    text: str | None,
    as_json: bool,
) -> int:
    """Record a response to a finding of the last run; without FINDING, list them.

    FINDING is the number in that list, or its subject. The history keeps every response; the next report shows which
    findings are open.
    """
    from auditkit.errors import InputError, Problem
    from auditkit.scheduled.audit_history import AuditHistory

    past = AuditHistory(config)
    answer = {"decision": decision, "owner": owner, "due": due, "text": text}
    if finding is None and any(value is not None for value in answer.values()):
        raise InputError(Problem("FINDING", "is missing", "auditkit respond lists the findings with their numbers"))
    if finding is not None:
        made = past.respond(finding, answer)
        click.echo(f"recorded for {printable(made.subject)}: {made.decision}", err=as_json)
    now = past.look()
    if not now.runs:
        raise past.no_runs(now.audit)
    if as_json:
        print_json([_document(state) for state in now.findings])
    elif finding is None:
        _print(now.findings)
    return DONE


def _document(state: FindingState) -> dict[str, object]:
    from dataclasses import asdict

    return {**asdict(state), "status": state.status, "open": state.open}


def _print(shown: tuple[FindingState, ...]) -> None:
    from auditkit.cli.output import print_table

    if not shown:
        click.echo("The last report has no finding of a difference to respond to.")
        return
    rows = []
    for number, state in enumerate(shown, 1):
        said = state.response
        then = "" if said is None else ratio(said.impact_ratio, 0.8)
        decided = "" if said is None else f"{said.decision}, {said.owner}" + (f", due {said.due}" if said.due else "")
        rows.append(
            [str(number) if state.found else "", str(state.subject), state.status, decided, then, ratio(state.now, 0.8)]
        )
    print_table(["", "finding", "status", "response", "ratio then", "ratio now"], rows, right=4)
