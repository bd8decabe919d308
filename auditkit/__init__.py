"""Measure disparity in a selection process, and price constraints on it exactly.

One way through the house: data -> fit -> instance -> constraints -> solve -> compare -> report.
Nothing heavy is imported here, so that `auditkit --help` answers at once; the names below load when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auditkit.hookspecs import hookimpl
    from auditkit.instance import Box, Chain, Instance, Search, State
    from auditkit.solve import solve

__version__ = "0.1.0.dev0"
"""The one place where the version is written; pyproject.toml reads it from here."""

_HOME = {
    "Box": "auditkit.instance",
    "Chain": "auditkit.instance",
    "Instance": "auditkit.instance",
    "Search": "auditkit.instance",
    "State": "auditkit.instance",
    "hookimpl": "auditkit.hookspecs",
    "solve": "auditkit.solve",
}

__all__ = ["Box", "Chain", "Instance", "Search", "State", "__version__", "hookimpl", "solve"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'auditkit' has no attribute {name!r}")
