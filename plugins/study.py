"""The command `study`: the paper's numerical study, figure by figure (`auditkit.study`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditkit import hookimpl
from auditkit.study.command import study

if TYPE_CHECKING:
    import click


@hookimpl
def auditkit_commands() -> list[click.Command]:
    return [study]
