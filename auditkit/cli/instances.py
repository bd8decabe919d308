"""Commands about instances, and `verify`, which also checks reports."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

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
        from auditkit.solve.g_rdip import Settings

        solution = solve_instance(problem, constraints, method, settings=Settings(epsilon, delta, outer, inner))
        text = json.dumps(replace(solution, sha256=sha256).to_json(), indent=1, allow_nan=False)
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
    with working("verifying", quiet) as say:
        from auditkit.pipeline import verify_files

        found = verify_files(claimed, subject, load_plugins(), say)
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=1))
    else:
        for check in found.failed:
            click.echo(f"does not stand: {check.claim}: {check.detail}")
        for text in found.not_checked:
            click.echo(f"not checked: {text}")
        click.echo(f"{len(found.checks) - len(found.failed)} of {len(found.checks)} claims stand")
    return DONE if found.holds else FINDING


COMMANDS = (solve, verify)
