"""Every place where a plugin can add to auditkit, on one page.

A plugin is a module (or object) named by an entry point of the group `auditkit`; it implements any of these hooks
with `@auditkit.hookimpl`. What ships in `plugins/` is registered in just this way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import click

    from auditkit.constraints.base import Constraint
    from auditkit.data.reader import Reader
    from auditkit.disparity.measure import DisparityMeasure
    from auditkit.fitting.fitter import Fitter
    from auditkit.report.section import Section
    from auditkit.scheduled.alert import Channel

PROJECT = "auditkit"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def auditkit_constraints() -> Iterable[type[Constraint]]:  # type: ignore[empty-body]
    """Constraint classes; each is called by its `type` in SPECs, configuration and instance files."""


@hookspec
def auditkit_fitters() -> Iterable[type[Fitter]]:  # type: ignore[empty-body]
    """Fitter classes: from what was known of candidates to the law of their score; called by their `name`."""


@hookspec
def auditkit_alerts() -> Iterable[type[Channel]]:  # type: ignore[empty-body]
    """Alert channels: told of a scheduled audit that crossed a threshold, they tell people; called by their `type`."""


@hookspec
def auditkit_readers() -> Iterable[type[Reader]]:  # type: ignore[empty-body]
    """Reader classes: from the bytes of one kind of file to tables of cells; asked by first bytes and ending."""


@hookspec
def auditkit_measures() -> Iterable[type[DisparityMeasure]]:  # type: ignore[empty-body]
    """Disparity measures: from the numbers of the groups to one number for each; a column of the report's tests."""


@hookspec
def auditkit_sections() -> Iterable[type[Section]]:  # type: ignore[empty-body]
    """Sections of the report: data from the finished document, and a template that shows them."""


@hookspec
def auditkit_commands() -> Iterable[click.Command]:  # type: ignore[empty-body]
    """Commands of `auditkit`; only of installed packages, and never under the name of one that ships."""
