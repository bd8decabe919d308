"""Measure disparity in a selection process, and price constraints on it exactly.

The commands are functions too (`auditkit.api`), and everything that plugin authors need has a name here. Nothing is
imported before it's used, so that `auditkit --help` responds at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auditkit.api import alternatives, audit, check, fit, read, solve, sweep, verify, whatif
    from auditkit.constraints import (
        AmountAtMost,
        Constraint,
        Description,
        GroupConstraint,
        Measure,
        Other,
        OutcomeConstraint,
        Parameter,
        RateGap,
        RatioAtLeast,
        Row,
        Scope,
        ShareAtLeast,
        WelfareConstraint,
        Words,
        group_members,
        group_rates,
    )
    from auditkit.data.firm_history import History
    from auditkit.data.load import Checked
    from auditkit.data.reader import Reader
    from auditkit.data.vocabulary import WordList
    from auditkit.disparity.measure import DisparityMeasure, Numbers
    from auditkit.errors import InputError
    from auditkit.fitting.fitted import Fitted
    from auditkit.fitting.fitter import Fitter, Laws, ScoreModel, quantise
    from auditkit.hookspecs import hookimpl
    from auditkit.model.instance import Instance
    from auditkit.model.layout import Floats, Layout
    from auditkit.model.limits import Limit
    from auditkit.model.search import Box, Chain, Search, State
    from auditkit.report.audit import Audit
    from auditkit.report.exporter import CannotExport, Exporter, ReportPages
    from auditkit.report.profile import DatedFact, Profile
    from auditkit.report.schema import Report
    from auditkit.report.section import Section
    from auditkit.report.what_if import WhatIf
    from auditkit.rules.find import Alternatives
    from auditkit.rules.rule import Dimension, KnownBefore, Ranking, Rule
    from auditkit.scheduled.alert import Alert, AlertError, Channel
    from auditkit.solver import Solution
    from auditkit.verification import Verified

__version__ = "0.1.0"
"""The only place that states the version; pyproject.toml reads it from here."""

_HOMES = {
    "auditkit.api": ("read", "check", "fit", "solve", "sweep", "audit", "whatif", "alternatives", "verify"),
    "auditkit.data.firm_history": ("History",),
    "auditkit.data.load": ("Checked",),
    "auditkit.fitting.fitted": ("Fitted",),
    "auditkit.solver": ("Solution",),
    "auditkit.report.audit": ("Audit",),
    "auditkit.rules.find": ("Alternatives",),
    "auditkit.rules.rule": ("Rule", "Ranking", "KnownBefore", "Dimension"),
    "auditkit.verification": ("Verified",),
    "auditkit.model.instance": ("Instance",),
    "auditkit.model.limits": ("Limit",),
    "auditkit.model.search": ("Search", "Box", "Chain", "State"),
    "auditkit.model.layout": ("Layout", "Floats"),
    "auditkit.errors": ("InputError",),
    "auditkit.hookspecs": ("hookimpl",),
    "auditkit.constraints": (
        "Constraint",
        "OutcomeConstraint",
        "GroupConstraint",
        "WelfareConstraint",
        "Row",
        "Measure",
        "Parameter",
        "RateGap",
        "RatioAtLeast",
        "ShareAtLeast",
        "AmountAtMost",
        "Other",
        "Description",
        "Words",
        "Scope",
        "group_members",
        "group_rates",
    ),
    "auditkit.fitting.fitter": ("Fitter", "ScoreModel", "Laws", "quantise"),
    "auditkit.data.reader": ("Reader",),
    "auditkit.data.vocabulary": ("WordList",),
    "auditkit.disparity.measure": ("DisparityMeasure", "Numbers"),
    "auditkit.report.exporter": ("Exporter", "ReportPages", "CannotExport"),
    "auditkit.report.profile": ("Profile", "DatedFact"),
    "auditkit.report.schema": ("Report",),
    "auditkit.report.section": ("Section",),
    "auditkit.report.what_if": ("WhatIf",),
    "auditkit.scheduled.alert": ("Channel", "Alert", "AlertError"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'auditkit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
