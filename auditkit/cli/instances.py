"""Commands about instances, and `verify`, which also checks reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from auditkit.cli.shared import (
    DONE,
    FINDING,
    constraint_option,
    json_option,
    load_plugins,
    make_constraints,
    plugin_options,
    quiet_option,
    working,
)

if TYPE_CHECKING:
    from auditkit.verify import Check


@click.command()
@click.argument("instance", type=click.Path(path_type=Path), metavar="INSTANCE.json")
@constraint_option
@click.option(
    "--method",
    default="column-generation",
    show_default=True,
    metavar="NAME",
    help="column-generation, or one of the paper's: rdip, caratheodory, g-rdip",
)
@click.option(
    "--epsilon", type=float, help="g-rdip: tolerance on utility, relative (0.1; 0.35 with convex constraints)"
)
@click.option("--delta", type=float, help="g-rdip: tolerance on constraints, relative (the same)")
@click.option("--outer", type=int, help="g-rdip: outer rounds (default: from epsilon and delta)")
@click.option("--inner", type=int, help="g-rdip: inner rounds (default: from epsilon and delta)")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="write the JSON document to this file")
@plugin_options
@json_option
@quiet_option
def solve(
    instance: Path,
    specs: tuple[str, ...],
    method: str,
    epsilon: float | None,
    delta: float | None,
    outer: int | None,
    inner: int | None,
    output: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Solve an instance exactly: unconstrained and constrained optimum, with a certificate.

    Leaves with 1 if the constraints cannot hold together.
    """
    from auditkit.files import read_instance, write_text

    problem, keys, sha256 = read_instance(instance)
    constraints = make_constraints(keys, specs)
    with working("solving (the first run compiles for some seconds)", quiet):
        from auditkit.solve import solve as solve_instance
        from auditkit.solve.document import document
        from auditkit.solve.g_rdip import Settings

        solution = solve_instance(problem, constraints, method, settings=Settings(epsilon, delta, outer, inner))
        text = json.dumps(document(solution, constraints, sha256), indent=1, allow_nan=False)
    if output is not None:
        write_text(output, text + "\n")
    if as_json:
        click.echo(text)
    else:
        from auditkit.tables import print_solution

        print_solution(solution)
    return DONE if solution.constrained is not None else FINDING


@click.command()
@click.argument("claimed", type=click.Path(path_type=Path), metavar="SOLUTION.json|REPORT.json")
@click.argument("subject", type=click.Path(path_type=Path), metavar="INSTANCE.json|DATA")
@plugin_options
@json_option
@quiet_option
def verify(claimed: Path, subject: Path, as_json: bool, quiet: bool) -> int:
    """Check a solution or a report without the code that found it.

    Policies are evaluated again by other algorithms and bounds re-derived from the duals. Leaves with 1 if any claim
    does not stand.
    """
    from auditkit.files import read_json

    document, _ = read_json(claimed)
    skipped: list[str] = []
    if isinstance(document, dict) and str(document.get("format")).startswith("auditkit-report/"):
        checks, skipped = _of_report(document, subject, quiet)
    else:
        checks = _of_solution(claimed, subject, quiet)
    failed = [check for check in checks if not check.holds]
    if as_json:
        claims = [{"claim": c.claim, "holds": c.holds, "detail": c.detail} for c in checks]
        click.echo(json.dumps({"holds": not failed, "claims": claims, "not_checked": skipped}, indent=1))
    else:
        for check in failed:
            click.echo(f"does not stand: {check.claim}: {check.detail}")
        for text in skipped:
            click.echo(f"not checked: {text}")
        click.echo(f"{len(checks) - len(failed)} of {len(checks)} claims stand")
    return FINDING if failed else DONE


def _of_solution(solution: Path, instance: Path, quiet: bool) -> list[Check]:
    from auditkit.constraints import bind
    from auditkit.files import read_instance, read_solution

    claimed = read_solution(solution)
    problem, _, sha256 = read_instance(instance)
    constraints = make_constraints(claimed["specs"], ())
    with working("verifying", quiet):
        from auditkit.verify import verify as verify_solution

        rows = bind(constraints, problem.layout)
        return verify_solution(claimed, problem.layout, rows, sha256)


def _of_report(report: dict[str, Any], data: Path, quiet: bool) -> tuple[list[Check], list[str]]:
    with working("verifying", quiet) as say:
        from auditkit.pipeline import verify_report

        return verify_report(report, data, load_plugins(), say)


COMMANDS = (solve, verify)
