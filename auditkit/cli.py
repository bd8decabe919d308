"""The command line: parse, call one function, print. Exit codes live here and nowhere else.

    0  done, nothing above a threshold
    1  done, and there is a finding: a threshold crossed, constraints that conflict, a claim that does not stand
    2  the user's input, configuration or plugin is wrong
    3  a defect of auditkit

Results go to stdout, progress and reasons to stderr. Heavy libraries load inside the commands that use them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from auditkit import __version__
from auditkit.errors import InputError, Problem

if TYPE_CHECKING:
    from auditkit.constraints import Constraint
    from auditkit.plugin_manager import Plugins

DONE, FINDING, WRONG_INPUT, DEFECT = 0, 1, 2, 3
MOST_PROBLEMS = 10
TRACEBACK = "AUDITKIT_TRACEBACK"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="auditkit %(version)s")
def commands() -> None:
    """Measure disparity in hiring and price constraints on it, exactly."""


def main(arguments: list[str] | None = None) -> None:
    """Run the program and leave with its exit code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    try:
        code = commands.main(args=arguments, prog_name="auditkit", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except InputError as error:
        complain(error)
        return WRONG_INPUT
    except click.ClickException as error:
        error.show(sys.stderr)
        return WRONG_INPUT
    except click.Abort:
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:  # the reader went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        click.echo(f"auditkit has a defect: {reason} (set {TRACEBACK}=1 to see where)", err=True)
        return DEFECT


def complain(error: InputError) -> None:
    for problem in error.problems[:MOST_PROBLEMS]:
        click.echo(f"error: {problem}", err=True)
    if len(error.problems) > MOST_PROBLEMS:
        click.echo(f"... {len(error.problems)} problems in all", err=True)


@contextmanager
def working(what: str, quiet: bool) -> Iterator[None]:
    """A spinner on stderr while something may take long; nothing when nobody is looking."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def load_plugins() -> Plugins:
    from auditkit import plugin_manager

    plugins = plugin_manager.load()
    for line in plugins.warnings:
        click.echo(f"warning: {line}", err=True)
    return plugins


def make_constraints(keys: list[dict[str, Any]], specs: tuple[str, ...]) -> list[Constraint]:
    """Constraints of a file and of the command line, every wrong one reported at once."""
    from auditkit import spec
    from auditkit.constraints import make

    kinds = load_plugins().constraints
    made: list[Constraint] = []
    problems: list[Problem] = []
    named = [(f"constraints[{i}]", entry) for i, entry in enumerate(keys)]
    for text in specs:
        try:
            named.append((f"--constraint {text!r}", spec.parse(text)))
        except InputError as error:
            problems += error.problems
    for place, entry in named:
        try:
            made.append(make(kinds, entry))
        except InputError as error:
            problems += [problem.at(place) for problem in error.problems]
    if problems:
        raise InputError(problems)
    return made


constraint_option = click.option(
    "--constraint",
    "-c",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="name or name:key=value,... (repeatable), e.g. quota:group=F,share=0.4,on=inspection",
)
json_option = click.option("--json", "as_json", is_flag=True, help="print the whole document as JSON")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="no progress on stderr")


@commands.command()
@click.argument("instance", type=click.Path(path_type=Path), metavar="INSTANCE.json")
@constraint_option
@click.option(
    "--method",
    default="column-generation",
    show_default=True,
    metavar="NAME",
    help="column-generation, or one of the paper's: rdip, caratheodory",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="write the JSON document to this file")
@json_option
@quiet_option
def solve(instance: Path, specs: tuple[str, ...], method: str, output: Path | None, as_json: bool, quiet: bool) -> int:
    """Solve an instance exactly: unconstrained and constrained optimum, with a certificate.

    Leaves with 1 if the constraints cannot hold together.
    """
    from auditkit.files import read_instance, write_text

    problem, keys, sha256 = read_instance(instance)
    constraints = make_constraints(keys, specs)
    with working("solving (the first run compiles for some seconds)", quiet):
        from auditkit.solve import solve as solve_instance
        from auditkit.solve.document import document

        solution = solve_instance(problem, constraints, method)
        text = json.dumps(document(solution, constraints, sha256), indent=1, allow_nan=False)
    if output is not None:
        write_text(output, text + "\n")
    if as_json:
        click.echo(text)
    else:
        from auditkit.tables import print_solution

        print_solution(solution)
    return DONE if solution.constrained is not None else FINDING


@commands.command()
@click.argument("solution", type=click.Path(path_type=Path), metavar="SOLUTION.json")
@click.argument("instance", type=click.Path(path_type=Path), metavar="INSTANCE.json")
@json_option
@quiet_option
def verify(solution: Path, instance: Path, as_json: bool, quiet: bool) -> int:
    """Check a solution without the code that found it: evaluate its policies again, re-derive its bounds.

    Leaves with 1 if any claim of the solution does not stand.
    """
    from auditkit.constraints import bind
    from auditkit.files import read_instance, read_solution

    claimed = read_solution(solution)
    problem, _, sha256 = read_instance(instance)
    constraints = make_constraints(claimed["specs"], ())
    with working("verifying", quiet):
        from auditkit.verify import verify as verify_solution

        rows = bind(constraints, problem.layout)
        checks = verify_solution(claimed, problem.layout, rows, sha256)
    failed = [check for check in checks if not check.holds]
    if as_json:
        claims = [{"claim": c.claim, "holds": c.holds, "detail": c.detail} for c in checks]
        click.echo(json.dumps({"holds": not failed, "claims": claims}, indent=1))
    else:
        for check in failed:
            click.echo(f"does not stand: {check.claim}: {check.detail}")
        click.echo(f"{len(checks) - len(failed)} of {len(checks)} claims stand")
    return FINDING if failed else DONE


@commands.group(invoke_without_command=True)
@json_option
@click.pass_context
def plugins(context: click.Context, as_json: bool) -> None:
    """List what is registered, and from where."""
    if context.invoked_subcommand is not None:
        return
    loaded = load_plugins()
    listed = [
        {"kind": kind, "name": name, "module": o.module, "distribution": o.distribution, "version": o.version}
        for (kind, name), o in sorted(loaded.origins.items())
    ]
    if as_json:
        click.echo(json.dumps({"plugins": listed, "warnings": list(loaded.warnings)}, indent=1))
        return
    from auditkit.tables import print_table

    columns = ["kind", "name", "module", "distribution", "version"]
    print_table(columns, [[entry[column] for column in columns] for entry in listed])
