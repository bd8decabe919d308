"""`auditkit solve`: the optimum of an instance file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from auditkit.cli.options import (
    DONE,
    FINDING,
    constraint_option,
    engine_option,
    json_option,
    load_plugins,
    plugin_options,
    quiet_option,
    warn,
    working,
)
from auditkit.cli.output import print_table
from auditkit.memory import loading
from auditkit.text import number, percent, scientific

if TYPE_CHECKING:
    from auditkit.solver import Solution

MOST_ROWS = 25


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
@click.option("--least-spread", is_flag=True, help="choose the optimal mixture whose outcomes scatter least")
@click.option(
    "--epsilon", type=float, help="g-rdip: tolerance on utility, relative (0.1; 0.35 with convex constraints)"
)
@click.option("--delta", type=float, help="g-rdip: tolerance on constraints, relative (the same)")
@click.option("--outer", type=int, help="g-rdip: outer rounds (default: from epsilon and delta)")
@click.option("--inner", type=int, help="g-rdip: inner rounds (default: from epsilon and delta)")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="write the JSON document to this file")
@engine_option
@plugin_options
@json_option
@quiet_option
def solve(
    instance: Path,
    specs: tuple[str, ...],
    method: str,
    least_spread: bool,
    epsilon: float | None,
    delta: float | None,
    outer: int | None,
    inner: int | None,
    output: Path | None,
    engine: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Solve an instance exactly: the unconstrained and the constrained optimum, with a certificate.

    Exits with 1 if the constraints cannot hold together.
    """
    with loading():
        from auditkit.constraints import make_constraints
        from auditkit.files import write_text
        from auditkit.model.documents import read_instance

    problem, keys, sha256 = read_instance(instance)
    for line in problem.warnings:
        warn(line)
    named: list[tuple[str, Any]] = [(f"constraints[{i}]", entry) for i, entry in enumerate(keys)]
    named += [(f"--constraint {text!r}", text) for text in specs]
    constraints = make_constraints(load_plugins().constraints, named)
    with working("solving", quiet):
        with loading():
            from auditkit.solver import solve as solve_instance
            from auditkit.solver.g_rdip import Settings
            from auditkit.solver.start_engine import LOCAL, running

        with running(engine or LOCAL, warn):
            settings = Settings(epsilon, delta, outer, inner)
            solution = solve_instance(problem, constraints, method, settings=settings, least_spread=least_spread)
        text = json.dumps(replace(solution, sha256=sha256).to_json(), indent=1, allow_nan=False)
    if output is not None:
        write_text(output, text + "\n")
    if as_json:
        click.echo(text)
    else:
        _print(solution)
    return DONE if solution.constrained is not None else FINDING


def _print(solution: Solution) -> None:
    from auditkit.solver.solution import NOBODY_SELECTED

    free, best = solution.unconstrained, solution.constrained
    print(f"status         {solution.status}")
    print(f"unconstrained  {number(free.utility)}")
    if best is None:
        print("These constraints cannot hold together:")
        for spec in solution.conflict:
            print(f"  {spec}")
        for label in solution.impossible[:MOST_ROWS]:
            print(f"  {label}")
        return
    print(f"constrained    {number(best.utility)}  (bound {number(best.bound)}, gap {scientific(best.gap)})")
    if not best.proved:
        print(best.unproved_text[0].upper() + best.unproved_text[1:] + ".")
    kept = "" if solution.ratio is None else f", {percent(solution.ratio, 2)} of the utility is kept"
    print(f"price          {number(solution.loss or 0.0)}{kept}")
    if solution.selects_nobody:
        print(NOBODY_SELECTED[0].upper() + NOBODY_SELECTED[1:] + ".")
    if solution.approximate is not None:
        certified = solution.approximate.certified
        print(f"certified      {number(certified.utility)}  is the optimum that g-rdip is measured against")
    if best.conditions:
        rows = [[c.label, c.sense, *map(number, (c.bound, c.value, c.slack, c.dual))] for c in best.conditions]
        print_table(["constraint", "", "bound", "value", "slack", "dual"], rows[:MOST_ROWS], right=2)
        if len(rows) > MOST_ROWS:
            print(f"... {len(rows)} rows in all (--json has them)")
    policies = [
        [number(w), "; ".join(", ".join(number(x) for x in level.duals) for level in policy.levels) or "-"]
        for w, policy in zip(best.mixture.weights, best.mixture.policies, strict=True)
    ]
    if len(policies) <= MOST_ROWS:
        print_table(["share of searches", "duals of the policy"], policies)
    else:
        print(f"a mixture of {len(policies)} policies (--json has them)")
    if best.spread is not None:
        print(f"spread         {number(best.spread)}, the least of any mixture of the known policies")
    drawn, searches = best.mixture.randomised, best.mixture.count
    if searches > 1:
        print(f"{searches - drawn:,} of {searches:,} searches follow one policy; {drawn:,} draw theirs by lot")
    layout = free.layout
    counts = [numbers for o in (free, best.outcome) for numbers in (o.inspected_by_attribute, o.selected_by_attribute)]
    groups = [
        [name, number(float(n)), *(number(counts[i][by][name]) for i in (0, 2, 1, 3))]
        for by, part in layout.protected.items()
        for name, n in zip(part.names, part.sizes, strict=True)
    ]
    headings = ["group", "candidates", "inspected", "constrained", "selected", "constrained"]
    print_table(headings, groups, right=1)
    print(
        f"unfilled capacity  {number(free.unfilled_capacity)} unconstrained, "
        f"{number(best.outcome.unfilled_capacity)} constrained"
    )
    units = [outcome.layout.units(outcome.selected) for outcome in (free, best.outcome)]
    rows = [[a.label, str(a.positions), number(a.unfilled), number(b.unfilled)] for a, b in zip(*units, strict=True)]
    if rows:
        print_table(["unit", "places", "unfilled", "constrained"], rows, right=1)
