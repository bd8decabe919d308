"""How a policy fills the limits inside searches, added up a second time, limit by limit."""

from __future__ import annotations

from collections.abc import Sequence

from auditkit.model.documents import UnitOutcomeModel
from auditkit.model.layout import Floats, Layout
from auditkit.model.limits import UnitNumbers
from auditkit.verification.claims import TOLERANCE, Check, check_number

NUMBERS = ("searches", "positions", "selected", "unfilled", "exceeded")


def check_units(
    name: str, claimed: Sequence[UnitOutcomeModel | UnitNumbers], layout: Layout, selected: Floats
) -> list[Check]:
    """The numbers that a document claims of each unit; `selected` is per candidate."""
    limits = layout.limits
    if limits is None:
        return [Check(f"{name}: units", False, "no search has limits")] if claimed else []
    found: dict[str, dict[str, float]] = {}
    for label, k, members in zip(
        limits.labels, limits.capacity.tolist(), limits.members(layout.search_ptr), strict=True
    ):
        total = found.setdefault(label, dict.fromkeys(NUMBERS, 0.0))
        filled = float(selected[members].sum())
        total["searches"] += 1
        total["positions"] += k
        total["selected"] += filled
        total["unfilled"] += max(k - filled, 0.0)
        total["exceeded"] += filled > k + TOLERANCE * max(k, 1)
    checks = [Check(f"{name}: units", sorted(found) == [unit.label for unit in claimed], "other units")]
    for unit in claimed:
        own = found.get(unit.label, {})
        told = {key: getattr(unit, key) for key in own if hasattr(unit, key)}
        checks += [check_number(f"{name}: {unit.label}, {key}", number, own[key]) for key, number in told.items()]
    return checks
