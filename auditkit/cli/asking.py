"""If a file can be read in several ways: ask on a terminal, print tried commands elsewhere."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from auditkit.text import printable

if TYPE_CHECKING:
    from auditkit.cli.options import Request
    from auditkit.data.reading import AmbiguousReading, Answer

T = TypeVar("T")


def answered(request: Request, run: Callable[[Request], T]) -> T:
    """Run a command; on a terminal, ask about an ambiguous reading and put the answer into the settings."""
    from dataclasses import replace

    from auditkit.data.reading import AmbiguousReading

    try:
        return run(request)
    except AmbiguousReading as error:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise
        answer = _ask(error)
        config = request.config.over(mapping=dict(answer.mapping))
        return run(replace(request, config=config))


def _ask(error: AmbiguousReading) -> Answer:
    question = error.question
    click.echo(printable(question.text), err=True)
    for number, answer in enumerate(question.answers, 1):
        click.echo(printable(f"  {number}. {answer.flags}: {answer.shown}"), err=True)
    choice = click.prompt("which", type=click.IntRange(1, len(question.answers)), default=1, err=True)
    return question.answers[int(choice) - 1]


def say_commands(error: AmbiguousReading, typed: Sequence[str]) -> None:
    """Print the commands that were tried on the file, the likeliest first, each with its funnel."""
    click.echo("each of these was tried on this file:", err=True)
    for answer in error.question.answers:
        click.echo(printable(f"  auditkit report {_arguments(typed)} {answer.flags}"), err=True)
        click.echo(printable(f"      {answer.shown}"), err=True)


def _arguments(typed: Sequence[str]) -> str:
    """The arguments that were typed; for commands other than `report`, only those that say which data to read."""
    command, *rest = typed or ("report",)
    if command == "report":
        return shlex.join(rest)
    if command == "run":  # the settings say which data
        return shlex.join(["--config", *rest])
    kept, about = [], ("--map", "--config", "--sheet", "--query", "--plugins-dir")
    for before, word in zip([command, *rest], rest, strict=False):
        if word in about or before in about or not (word.startswith("-") or before.startswith("-")):
            kept.append(word)
    return shlex.join(kept)
