"""The groups of candidates, and which of them are compared, in the report, in constraints and in plugins alike."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

UNKNOWN = "unknown"
"""The label of applicants of unknown category."""

GROUP = "group"
"""The name of the attribute if an instance's groups have none."""

Groups = str | Mapping[str, str | None]
"""The group of a candidate, or one for each protected attribute; None where it is unknown."""

MINIMUM_SHARE = Fraction(2, 100)


def group_column(attribute: str) -> str:
    """The column of an attribute's groups in every table of candidates: `group:Gender`, or `group` without a name."""
    return GROUP if attribute == GROUP else f"{GROUP}:{attribute}"


def groups_of(group: Groups) -> dict[str, str]:
    """Attribute -> label of one candidate, UNKNOWN where it is not known."""
    if isinstance(group, str):
        return {GROUP: group}
    return {name: UNKNOWN if label is None else label for name, label in group.items()}


def comparable(
    sizes: Mapping[str, float], minimum_share: float | Fraction = MINIMUM_SHARE, threshold: int = 0
) -> tuple[str, ...]:
    """The groups of one attribute to compare, in the order given, by their (expected) numbers of applicants.

    Left out are applicants of unknown category, groups under `minimum_share` of the known applicants, and groups under
    `threshold` applicants, which a report must not show.
    """
    least = Fraction(str(minimum_share))  # 0.02 means 2/100, not the nearest binary number
    known = {
        group: Fraction(n if isinstance(n, float) else int(n))
        for group, n in sizes.items()
        if group != UNKNOWN and n > 0
    }
    total = sum(known.values())
    return tuple(group for group, n in known.items() if n >= least * total and n >= threshold)
