"""Which constraints are priced when the user names none, and over which groups.

Each kind of constraint says itself whether and how it is priced by default (`Constraint.priced_by_default`). Applicants
of unknown group stay in their searches but are no group to be compared. Groups under two per cent of the known
applicants are left out of the defaults, as they may be out of an impact ratio: a rate of a handful says little and
would cost much. A constraint that the user names compares all known groups unless it has `groups` of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from auditkit.constraints.base import AuditContext, Constraint
from auditkit.errors import PluginError, blaming

MINIMUM_SHARE = 0.02
UNKNOWN = "unknown"


def large_enough(sizes: Mapping[str, int], hidden: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The known groups that the default constraints compare; `hidden` ones would be given away."""
    known = {group: n for group, n in sizes.items() if group != UNKNOWN and n > 0}
    least = MINIMUM_SHARE * sum(known.values())
    return tuple(group for group, n in known.items() if n >= least and group not in hidden)


def default_constraints(
    kinds: Mapping[str, type[Constraint]],
    sizes: Mapping[str, int],
    selected: Mapping[str, float],
    hidden: frozenset[str] = frozenset(),
) -> list[Constraint]:
    """The defaults for groups of these sizes, of which so many were selected; none if there is nothing to compare."""
    groups = large_enough(sizes, hidden)
    if len(groups) < 2:
        return []
    lowest = min(groups, key=lambda group: (selected[group] / sizes[group], group))
    return priced(kinds, context(sizes, groups, lowest))


def context(
    sizes: Mapping[str, int], groups: tuple[str, ...], group: str | None, inspected: float | None = None
) -> AuditContext:
    """What constraints are told when they choose their defaults; `groups` are those to compare."""
    share = 0.0 if group is None else int(1000 * sizes[group] / sum(sizes.values())) / 1000
    return AuditContext(groups, len(groups) == len(sizes), group, share, inspected)


def priced(kinds: Mapping[str, type[Constraint]], known: AuditContext) -> list[Constraint]:
    """What each kind of constraint wants a report to price."""
    return _chosen(kinds, "priced_by_default", known)


def explored(kinds: Mapping[str, type[Constraint]], known: AuditContext) -> list[Constraint]:
    """What each kind of constraint wants a frontier of."""
    return _chosen(kinds, "explored_by_default", known)


def _chosen(kinds: Mapping[str, type[Constraint]], choice: str, known: AuditContext) -> list[Constraint]:
    made: list[Constraint] = []
    for kind in sorted(kinds.values(), key=lambda kind: kind.default_order):
        with blaming(kind, f"{choice} of the constraint {kind.type!r}"):
            constraint = getattr(kind, choice)(known)
        if constraint is None:
            continue
        if not isinstance(constraint, Constraint):
            raise PluginError(kind, f"{choice} of the constraint {kind.type!r} must return a constraint or None")
        made.append(constraint)
    return made


def of_known_groups(constraints: Sequence[Constraint], groups: Sequence[str]) -> list[Constraint]:
    """Constraints that compare all groups, made to compare the known ones."""
    if UNKNOWN not in groups:
        return list(constraints)
    known = tuple(group for group in groups if group != UNKNOWN)
    return [
        c.model_copy(update={"groups": known}) if "groups" in type(c).model_fields and c.model_dump()["groups"] is None
        else c
        for c in constraints
    ]  # fmt: skip


def label(constraint: Constraint) -> str:
    """A short name: `parity`, `inspection parity`, `quota F`."""
    keys = constraint.model_dump(exclude_defaults=True, mode="json")
    on = f"{keys['on']} " if "on" in keys else ""
    who = f" {keys['group']}" if isinstance(keys.get("group"), str) else ""
    named = keys.get("label")
    return str(named) if isinstance(named, str) else f"{on}{constraint.type}{who}"
