"""Which constraints are priced when the user names none, and over which groups.

Parity, the impact ratio and, for the group with the lowest rate, a quota at its share of the applicants. Applicants of
unknown group stay in their searches but are no group to be compared. Groups under two per cent of the known applicants
are left out of the defaults, as they may be out of an impact ratio: a rate of a handful says little and would cost
much. A constraint that the user names compares all known groups unless it has `groups` of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auditkit.constraints.base import Constraint
from auditkit.constraints.binding import make
from auditkit.model.groups import UNKNOWN, comparable


def large_enough(sizes: Mapping[str, int], hidden: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The known groups that the default constraints compare; `hidden` ones would be given away."""
    return tuple(group for group in comparable(sizes) if group not in hidden)


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
    share = sizes[lowest] / sum(sizes.values())
    some = {} if len(groups) == len(sizes) else {"groups": list(groups)}
    wanted: list[dict[str, Any]] = [
        {"type": "parity", **some},
        {"type": "impact-ratio", **some},
        {"type": "quota", "group": lowest, "share": int(share * 1000) / 1000},
    ]
    return [make(dict(kinds), keys) for keys in wanted if keys["type"] in kinds]


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
