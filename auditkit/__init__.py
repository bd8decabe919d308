"""Measure disparity in a selection process, and price constraints on it exactly.

One way through the house: data -> fit -> instance -> constraints -> solve -> compare -> report.
Next to nothing is imported here, so that `auditkit --help` answers at once: import the module that you need.
"""

from auditkit.hookspecs import hookimpl

__version__ = "0.1.0.dev0"
"""The one place where the version is written; pyproject.toml reads it from here."""

__all__ = ["__version__", "hookimpl"]
