"""Which questions are asked of a user's instance when nobody names them, and all answers together.

    frontiers      the least loss for each impact ratio from 0 to 1; each quota for the group that is asked about; every
                   constraint of the user's that has a number to turn and is affine
    sensitivity    scores of the group that is asked about, under all constraints together
    positions      how many more make up for all constraints together
    budgets        one more unit of every budget among the constraints, against one more position

The group that is asked about is the one with the lowest rate of selection, unless it is named. Groups that a report
hides, and those too small for the default constraints, are asked nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auditkit.compare.defaults import large_enough
from auditkit.constraints import Constraint, bind, group_code, make
from auditkit.instance import Instance
from auditkit.solve import solve
from auditkit.whatif.frontier import TIGHTENS, Frontier, frontier
from auditkit.whatif.positions import BudgetOrPosition, MorePositions, budget_or_position, more_positions
from auditkit.whatif.sensitivity import FACTORS, Sensitivity, sensitivity

Progress = Callable[[str], None]

LARGE = 400_000
"""States from which on half as many points are asked."""


@dataclass(frozen=True)
class Answers:
    group: str | None
    """The group that was asked about; None if there are no two groups to compare."""
    constraints: tuple[str, ...]
    """What holds in the answers on scores and positions, as SPECs."""
    frontiers: tuple[Frontier, ...]
    sensitivity: Sensitivity | None
    positions: MorePositions | None
    budgets: tuple[BudgetOrPosition, ...]
    notices: tuple[str, ...]
    """Questions that could not be asked, and why."""

    @property
    def sentences(self) -> list[str]:
        single = [self.sensitivity, self.positions]
        return [part.sentence for part in (*self.frontiers, *single, *self.budgets) if part is not None]

    def to_json(self, hidden: frozenset[str] = frozenset()) -> dict[str, Any]:
        """All answers; expected selections of `hidden` groups are left out."""
        curves = [part.to_json() for part in self.frontiers]
        for point in (point for curve in curves for point in curve["points"] if point["selected"] is not None):
            point["selected"] = {name: n for name, n in point["selected"].items() if name not in hidden}
        return {
            "group": self.group,
            "constraints": list(self.constraints),
            "frontiers": curves,
            "sensitivity": None if self.sensitivity is None else self.sensitivity.to_json(),
            "positions": None if self.positions is None else self.positions.to_json(),
            "budgets": [part.to_json() for part in self.budgets],
            "notices": list(self.notices),
        }


def ask(
    instance: Instance,
    constraints: Sequence[Constraint] | None,
    kinds: Mapping[str, type[Constraint]],
    *,
    group: str | None = None,
    rates: Mapping[str, float] | None = None,
    hidden: frozenset[str] = frozenset(),
    progress: Progress = lambda _: None,
) -> Answers:
    """Ask all questions that make sense. Without `constraints` parity holds; `rates` (default: of the unconstrained
    optimum) say which group is selected least."""
    layout = instance.layout
    sizes = dict(zip(layout.groups, map(int, layout.group_sizes), strict=True))
    groups = large_enough(sizes, hidden)
    notices: list[str] = []
    if group is not None:
        group_code(layout, group)
    elif len(groups) > 1:
        lowest = _rates(instance) if rates is None else rates
        group = min(groups, key=lambda name: (lowest[name], name))
    some: dict[str, Any] = {} if len(groups) == len(sizes) else {"groups": list(groups)}
    chosen = list(constraints) if constraints is not None else []
    if constraints is None and len(groups) > 1 and "parity" in kinds:
        chosen = [make(dict(kinds), {"type": "parity", **some})]
    wanted = _curves(chosen, kinds, group, some if len(groups) > 1 else None)
    if not chosen and not wanted:
        notices.append("There are no two groups to compare and no constraints: nothing can be asked.")
    few = layout.states > LARGE
    frontiers: list[Frontier] = []
    for constraint in wanted:
        if bind([constraint], layout).measures:
            continue  # the range of a welfare measure is nobody's guess
        progress(f"frontier of {constraint.type}")
        values = [0.0, 0.25, 0.5, 0.75, 1.0] if few and constraint.type in ("quota", "impact-ratio") else None
        frontiers.append(frontier(instance, constraint, values=values))
    biased = positions = None
    if chosen:
        conflict = solve(instance, chosen).conflict
        if conflict:
            notices.append(f"{', '.join(conflict)} cannot hold together: nothing was asked about them.")
        else:
            progress("more positions")
            positions = more_positions(instance, chosen)
            if group is not None:
                progress(f"biased scores of {group}")
                biased = sensitivity(instance, chosen, group, FACTORS[::3] if few else FACTORS)
    budgets = []
    for constraint in chosen:
        if constraint.type == "budget":
            progress("one more unit of budget")
            budgets.append(budget_or_position(instance, constraint))
    specs = tuple(constraint.describe() for constraint in chosen)
    return Answers(group, specs, tuple(frontiers), biased, positions, tuple(budgets), tuple(notices))


def _rates(instance: Instance) -> dict[str, float]:
    outcome = solve(instance).unconstrained
    numbers = outcome.by_group(outcome.selected) / outcome.layout.group_sizes
    return dict(zip(outcome.layout.groups, map(float, numbers), strict=True))


def _curves(
    chosen: Sequence[Constraint],
    kinds: Mapping[str, type[Constraint]],
    group: str | None,
    some: Mapping[str, Any] | None,
) -> list[Constraint]:
    """Constraints whose frontier is drawn; those of the user take the place of the same kind among the defaults."""
    own = [c for c in chosen if c.type != "parity" and any(name in type(c).model_fields for name in TIGHTENS)]
    named = {constraint.type for constraint in own}
    defaults: list[dict[str, Any]] = []
    if some is not None:
        defaults.append({"type": "impact-ratio", **some})
    if group is not None:
        defaults.append({"type": "quota", "group": group, "share": 0.0})
    wanted = [d for d in defaults if d["type"] in kinds and d["type"] not in named]
    return [*(make(dict(kinds), keys) for keys in wanted), *own]
