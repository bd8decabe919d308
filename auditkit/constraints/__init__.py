"""Constraints that hold on average: what a plugin provides (`base`, `outcome`), and how it is bound to an instance.

The classes that ship are here by name too, `auditkit.constraints.Parity`; they are loaded when they are asked for.
"""

import importlib
from typing import Any

from auditkit.constraints.base import AuditContext, Compared, Constraint, Measure, Parameter, Row, Rows
from auditkit.constraints.binding import bind, make, make_constraints
from auditkit.constraints.outcome import (
    GroupConstraint,
    OutcomeConstraint,
    Scope,
    WelfareConstraint,
    group_members,
    group_rates,
    outcome_weights,
)
from auditkit.constraints.words import Description, PlainWords, Words
from auditkit.model.row_meaning import AmountAtMost, Meaning, Other, RateGap, RatioAtLeast, ShareAtLeast

__all__ = [
    "Words",
    "PlainWords",
    "Description",
    "GroupConstraint",
    "ShareAtLeast",
    "RatioAtLeast",
    "RateGap",
    "Other",
    "Meaning",
    "AmountAtMost",
    "AuditContext",
    "Compared",
    "Constraint",
    "Measure",
    "OutcomeConstraint",
    "Parameter",
    "Row",
    "Rows",
    "Scope",
    "WelfareConstraint",
    "bind",
    "group_members",
    "group_rates",
    "make",
    "make_constraints",
    "outcome_weights",
]

_SHIPPED = {
    "Affine": "affine",
    "Atkinson": "atkinson",
    "Budget": "budget",
    "Divergence": "divergence",
    "Entropy": "entropy",
    "Floor": "floor",
    "HolderMean": "holder_mean",
    "ImpactRatio": "impact_ratio",
    "NashWelfare": "nash_welfare",
    "Parity": "parity",
    "Quota": "quota",
}


def __getattr__(name: str) -> Any:
    if name in _SHIPPED:
        return getattr(importlib.import_module(f"auditkit.plugins.{_SHIPPED[name]}"), name)
    raise AttributeError(f"module 'auditkit.constraints' has no attribute {name!r}")
