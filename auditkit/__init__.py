"""Measure disparity in a selection process, and price constraints on it exactly.

One way through the house: data -> fit -> instance -> constraints -> solve -> compare -> report.
The commands are functions too (`auditkit.api`). Nothing heavy is imported here, so that `auditkit --help` answers at
once; the names below load when first used.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auditkit.api import audit, check, fit, read, solve, verify, whatif
    from auditkit.data import Checked, History
    from auditkit.errors import InputError
    from auditkit.fit.fitted import Fitted
    from auditkit.hookspecs import hookimpl
    from auditkit.instance import Box, Chain, Instance, Search, State
    from auditkit.report.audit import Audit
    from auditkit.solve import Solution
    from auditkit.verify import Verified
    from auditkit.whatif import Answers

__version__ = "0.1.0.dev0"
"""The one place where the version is written; pyproject.toml reads it from here."""

_HOME = {
    **dict.fromkeys(("read", "check", "fit", "solve", "audit", "whatif", "verify"), "auditkit.api"),
    **dict.fromkeys(("Box", "Chain", "Instance", "Search", "State"), "auditkit.instance"),
    **dict.fromkeys(("Checked", "History"), "auditkit.data"),
    "Answers": "auditkit.whatif",
    "Audit": "auditkit.report.audit",
    "Fitted": "auditkit.fit.fitted",
    "InputError": "auditkit.errors",
    "Solution": "auditkit.solve",
    "Verified": "auditkit.verify",
    "hookimpl": "auditkit.hookspecs",
}

__all__ = [
    "read",
    "check",
    "fit",
    "solve",
    "audit",
    "whatif",
    "verify",
    "History",
    "Checked",
    "Fitted",
    "Solution",
    "Audit",
    "Answers",
    "Verified",
    "Instance",
    "Search",
    "Box",
    "Chain",
    "State",
    "InputError",
    "hookimpl",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'auditkit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """`fit`, `solve`, `verify` and `whatif` are folders too; importing one must not put it in the function's place."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
