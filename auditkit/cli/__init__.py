"""The command line: parse, call one function, print. Exit codes live here and nowhere else.

    0  done, nothing above a threshold
    1  done, and there is a finding: a threshold crossed, constraints that conflict, a check that failed
    2  the user's input, configuration or plugin is wrong
    3  a defect of auditkit
    4  `verify`: every check passed, and a part of the file could not be checked

Results go to stdout, progress and reasons to stderr. Heavy libraries load inside the commands that use them.

Each command is in the file of its name; `study` and the commands of other packages are plugins (`group.py`).
`options.py` and `output.py` have the parts that commands share.
"""

from __future__ import annotations

import errno
import io
import os
import sys

# before numpy is loaded: matrices here are small, so waiting threads cost more time than they save
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import click

from auditkit import __version__
from auditkit.cli import (
    alternatives,
    asking,
    check,
    completion,
    fit,
    history,
    init,
    open,
    plugins,
    print_schema,
    record,
    report,
    respond,
    run,
    sample,
    schedule,
    sign,
    solve,
    verify,
    whatif,
)
from auditkit.cli.group import Commands
from auditkit.cli.options import DEFECT, DONE, FINDING, WRONG_INPUT, complain
from auditkit.cli.streams import escaped
from auditkit.errors import InputError, Problem, without_passwords

DEBUG = "--debug"


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="auditkit %(version)s")
@click.option(DEBUG, is_flag=True, help="after any error, with any command: show the traceback")
def commands(debug: bool) -> None:
    """Measure disparity in hiring and price constraints on it, exactly."""


for command in (
    report.report,
    open.open_page,
    check.check,
    init.init,
    fit.fit,
    whatif.whatif,
    alternatives.alternatives,
    solve.solve,
    verify.verify,
    sign.sign,
    run.run,
    history.history,
    respond.respond,
    record.record,
    schedule.schedule,
    sample.sample,
    plugins.plugins,
    print_schema.schema,
    completion.completion,
):
    commands.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit with its code."""
    sys.exit(invoke(arguments))


def invoke(arguments: list[str] | None = None) -> int:
    """Run the program and return its exit code."""
    with escaped():
        return _invoke(arguments)


def _invoke(arguments: list[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    debug = DEBUG in given
    arguments = [argument for argument in given if argument != DEBUG]  # it may come before or after the command
    try:
        _working_folder()
        code = commands.main(args=arguments, prog_name="auditkit", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except InputError as error:
        if debug:
            _show(error)
        complain(error)
        if hasattr(error, "question"):
            asking.say_commands(error, arguments)  # type: ignore[arg-type]
        return WRONG_INPUT
    except click.ClickException as error:
        error.show(said := io.StringIO())
        click.echo(without_passwords(said.getvalue()), err=True, nl=False)
        return WRONG_INPUT
    except click.Abort:
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:  # the reader went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            return _defect(error, debug)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the rest cannot be written either
        complain(InputError(Problem(str(error.filename or "output"), f"cannot be written: {error.strerror}")))
        return WRONG_INPUT
    except Exception as error:
        return _defect(error, debug)


def _working_folder() -> None:
    """Refuse a working folder that was deleted: libraries look it up when they're imported."""
    try:
        os.getcwd()  # noqa: PTH109 (pathlib's does more)
    except FileNotFoundError:
        raise InputError(Problem("the working folder", "was deleted", "go to another one with cd")) from None


def _show(error: Exception) -> None:
    """Print the traceback, with --debug."""
    import traceback

    click.echo(without_passwords("".join(traceback.format_exception(error))), err=True, nl=False)


def _defect(error: Exception, debug: bool) -> int:
    """Say in one line that this is a defect of auditkit."""
    if debug:
        _show(error)
    from auditkit.data.personal import without_cells

    reason = without_cells(without_passwords(f"{type(error).__name__}: {error}".splitlines()[0]))
    click.echo(f"auditkit has a defect: {reason} ({DEBUG} shows where)", err=True)
    return DEFECT
