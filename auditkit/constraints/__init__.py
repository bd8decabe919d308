"""Constraints that hold on average: what a plugin provides (`base`, `outcome`), and how it is bound to an instance.

The shipped classes are also here by name, `auditkit.constraints.Parity`; they are loaded on first use.
"""

import importlib.util
import re
from typing import Any

from auditkit.constraints.base import AuditContext, Compared, Constraint, Measure, Parameter, Row, Rows, Slider
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


def __getattr__(name: str) -> Any:
    """A shipped class: `HolderMean` is in `plugins/holder_mean.py`."""
    module = f"auditkit.plugins.{re.sub(r'(?<=.)(?=[A-Z])', '_', name).lower()}"
    if name[:1].isupper() and importlib.util.find_spec(module) is not None:
        return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'auditkit.constraints' has no attribute {name!r}")
