"""Every place where a plugin can add to auditkit, on one page.

A plugin is a module (or object) named by an entry point of the group `auditkit`; it implements any of these hooks
with `@auditkit.hookimpl`. The constraints, fitters and alert channels in `plugins/` are registered in just this way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from auditkit.alerts import Channel
    from auditkit.constraints import Constraint
    from auditkit.fit.fitter import Fitter

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
