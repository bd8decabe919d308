"""Constraints that hold on average: what a plugin provides (`base`, `outcome`), and how it is bound to an instance."""

from auditkit.constraints.base import AuditContext, Compared, Constraint, Measure, Parameter, Row, Rows
from auditkit.constraints.binding import bind, make, make_constraints
from auditkit.constraints.outcome import (
    OutcomeConstraint,
    Scope,
    WelfareConstraint,
    group_code,
    group_members,
    group_rates,
    outcome_weights,
)

__all__ = [
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
    "group_code",
    "group_members",
    "group_rates",
    "make",
    "make_constraints",
    "outcome_weights",
]
