"""Which constraints are priced when the user names none.

Each type of constraint says whether and how it is priced by default (`Constraint.priced_by_default`), for each
protected attribute separately. Applicants of unknown group stay in their searches but aren't compared as a group, and
neither are groups under two per cent of the known applicants (`model.groups.comparable`).
"""

from __future__ import annotations

from collections.abc import Mapping

from auditkit.constraints.base import AuditContext, Compared, Constraint
from auditkit.errors import PluginError, blaming
from auditkit.model.layout import Floats, Layout, Partition


def default_constraints(types: Mapping[str, type[Constraint]], layout: Layout, selected: Floats) -> list[Constraint]:
    """The defaults for candidates of whom these were selected; none if there is nothing to compare."""
    known = audit_context(layout, selected)
    return priced(types, known) if known.attributes else []


def audit_context(
    layout: Layout, selected: Floats, group: str | None = None, inspected: float | None = None
) -> AuditContext:
    """The context in which constraints choose their defaults; `selected` is each candidate's chance, or 0 and 1."""
    several = len(layout.protected) > 1
    attributes = tuple(
        Compared(part.by if several else None, part.comparable)
        for part in layout.protected.values()
        if len(part.comparable) > 1
    )
    by: str | None = None
    if group is not None:
        by = layout.find(group)[0].by
    elif ratios := [item for part in layout.protected.values() for item in _ratios(layout, part, selected)]:
        _, by, group = min(ratios)
    if group is None:
        return AuditContext(attributes, inspected=inspected)
    partition, code = layout.find(group, by)
    share = int(1000 * partition.sizes[code] / len(layout.candidate_ids)) / 1000
    return AuditContext(attributes, group, by if several else None, share, inspected)


def _ratios(layout: Layout, part: Partition, selected: Floats) -> list[tuple[float, str, str]]:
    """The rate of each group relative to the highest of its attribute."""
    if len(part.comparable) < 2:
        return []
    chosen, sizes = layout.by_attribute(selected)[part.by], dict(zip(part.names, part.sizes.tolist(), strict=True))
    rates = {name: chosen[name] / sizes[name] for name in part.comparable}
    highest = max(rates.values()) or 1.0
    return [(rate / highest, part.by, name) for name, rate in rates.items()]


def priced(types: Mapping[str, type[Constraint]], known: AuditContext) -> list[Constraint]:
    """What each type of constraint wants a report to price."""
    return _chosen(types, "priced_by_default", known)


def explored(types: Mapping[str, type[Constraint]], known: AuditContext) -> list[Constraint]:
    """What each type of constraint wants a frontier of."""
    return _chosen(types, "explored_by_default", known)


def _chosen(types: Mapping[str, type[Constraint]], choice: str, known: AuditContext) -> list[Constraint]:
    made: list[Constraint] = []
    for each in sorted(types.values(), key=lambda each: each.default_order):
        with blaming(each, f"{choice} of the constraint {each.type!r}"):
            offer = getattr(each, choice)(known)
            several = [] if offer is None else [offer] if isinstance(offer, Constraint) else list(offer)
        if not all(isinstance(constraint, Constraint) for constraint in several):
            raise PluginError(each, f"{choice} of the constraint {each.type!r} must return constraints or None")
        made += several
    return made
