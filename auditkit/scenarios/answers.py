"""Which questions are asked of a user's instance when nobody names them, and all answers together.

    frontiers      the least loss for each impact ratio from 0 to 1; each quota for the group that is asked about; each
                   number of inspections; every constraint of the user's that has a number to turn and is affine
    sensitivity    scores of the group that is asked about, under all constraints together
    positions      how many more make up for all constraints together (without any: see `ask`)
    budgets        one more unit of every budget among the constraints, against one more position; without any, one
                   more inspection than the firm made

The group that is asked about is the one with the lowest rate of selection, unless it is named. Groups that a report
hides, and those too small for the default constraints, are asked nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditkit import display
from auditkit.constraints.base import Constraint
from auditkit.constraints.binding import bind, make
from auditkit.constraints.defaults import large_enough, of_known_groups
from auditkit.constraints.outcome import group_code
from auditkit.files import write_json
from auditkit.model.instance import Instance
from auditkit.scenarios.frontier import STEPS, TIGHTENS, Frontier, frontier
from auditkit.scenarios.positions import BudgetOrPosition, MorePositions, budget_or_position, more_positions
from auditkit.scenarios.sensitivity import FACTORS, Sensitivity, sensitivity
from auditkit.solver import solve_once

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str], None]

BUDGET = "budget"
LARGE = 20_000
"""States times rows from which on half as many points are asked: a report should not wait minutes for them."""
FEW_FACTORS = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1)
FEW_STEPS = 5


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
        """`frontier` and `sensitivity` of a report; expected selections of `hidden` groups are left out."""
        curves = [part.to_json() for part in self.frontiers]
        for point in (point for curve in curves for point in curve["points"] if point["selected"] is not None):
            point["selected"] = {name: n for name, n in point["selected"].items() if name not in hidden}
        return {
            "frontier": {
                "group": self.group,
                "constraints": list(self.constraints),
                "curves": curves,
                "positions": None if self.positions is None else self.positions.to_json(),
                "budgets": [part.to_json() for part in self.budgets],
                "notices": list(self.notices),
            },
            "sensitivity": None if self.sensitivity is None else self.sensitivity.to_json(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Every point of every frontier."""
        import pandas as pd

        rows = [
            [curve.label, curve.parameter, p.value, p.utility, p.loss, p.ratio, p.unfilled_capacity]
            for curve in self.frontiers
            for p in curve.points
        ]
        return pd.DataFrame(rows, columns=["frontier", "parameter", "value", "utility", "loss", "kept", "unfilled"])

    def save_json(self, path: str | Path) -> None:
        """Write what `auditkit whatif --json` prints."""
        write_json(path, self.to_json())

    def _repr_html_(self) -> str:
        return display.card("What if", [*self.sentences, *self.notices])


def ask(
    instance: Instance,
    constraints: Sequence[Constraint] | None,
    kinds: Mapping[str, type[Constraint]],
    *,
    group: str | None = None,
    rates: Mapping[str, float] | None = None,
    inspected: float | None = None,
    most_rows: int | None = None,
    hidden: frozenset[str] = frozenset(),
    progress: Progress = lambda _: None,
) -> Answers:
    """Ask all questions that make sense. `rates` (default: those of the unconstrained optimum) say which group is
    selected least; `inspected` is how many the firm inspected. Constraints of more than `most_rows` rows, such as one
    for each candidate, are asked nothing: every point would take long. Without `constraints` the group is to be
    selected as others are: parity if there are two groups, else a quota at its share of the candidates, which is one
    row and quick to solve many times.
    """
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
    chosen = of_known_groups(constraints or (), layout.groups)
    if constraints is None and group is not None:
        share = int(1000 * sizes[group] / sum(sizes.values())) / 1000
        two = {"type": "parity", **some}
        chosen = [make(dict(kinds), two if len(groups) == 2 else {"type": "quota", "group": group, "share": share})]
    named, chosen, rows_in_all = chosen, [], 0
    for constraint in named:
        count = len(bind([constraint], layout))  # a wrong name is found before the first solve
        if most_rows is not None and count > most_rows:
            said = f"{constraint.describe()} has {count:,} rows: questions about it take long, and only "
            notices.append(f"{said}auditkit whatif asks them.")
        else:
            chosen.append(constraint)
            rows_in_all += count
    spent = None if inspected is None else {"on": "inspection", "limit": inspected}
    wanted = _curves(chosen, kinds, group, some if len(groups) > 1 else None, spent)
    if not chosen and not wanted:
        notices.append("There are no two groups to compare and no constraints: nothing can be asked.")
    frontiers: list[Frontier] = []
    for constraint in wanted:
        rows = bind([constraint], layout)
        if rows.measures:
            continue  # the range of a welfare measure is nobody's guess
        progress(f"frontier of {constraint.type}")
        found = frontier(instance, constraint, steps=FEW_STEPS if layout.states * len(rows) > LARGE else STEPS)
        given = constraint in chosen or constraint.type == BUDGET
        frontiers.append(found if given else replace(found, present=None))
    biased = positions = None
    if chosen:
        conflict = solve_once(instance, chosen).conflict
        if conflict:
            notices.append(f"{', '.join(conflict)} cannot hold together: nothing was asked about them.")
        else:
            progress("more positions")
            positions = more_positions(instance, chosen)
            if group is not None:
                progress(f"biased scores of {group}")
                factors = FEW_FACTORS if layout.states * rows_in_all > LARGE else FACTORS
                biased = sensitivity(instance, chosen, group, factors)
    budgets = []
    for constraint in wanted:
        if constraint.type == BUDGET:
            progress("one more unit of budget")
            budgets.append(budget_or_position(instance, constraint))
    specs = tuple(constraint.describe() for constraint in chosen)
    return Answers(group, specs, tuple(frontiers), biased, positions, tuple(budgets), tuple(notices))


def _rates(instance: Instance) -> dict[str, float]:
    outcome = solve_once(instance).unconstrained
    numbers = outcome.by_group(outcome.selected) / outcome.layout.group_sizes
    return dict(zip(outcome.layout.groups, map(float, numbers), strict=True))


def _curves(
    chosen: Sequence[Constraint],
    kinds: Mapping[str, type[Constraint]],
    group: str | None,
    some: Mapping[str, Any] | None,
    spent: Mapping[str, Any] | None,
) -> list[Constraint]:
    """Constraints whose frontier is drawn; those of the user take the place of the same kind among the defaults."""
    own = [c for c in chosen if c.type != "parity" and any(name in type(c).model_fields for name in TIGHTENS)]
    named = {constraint.type for constraint in own}
    defaults: list[dict[str, Any]] = []
    if some is not None:
        defaults.append({"type": "impact-ratio", **some})
    if group is not None:
        defaults.append({"type": "quota", "group": group, "share": 0.0})
    if spent is not None:
        defaults.append({"type": BUDGET, **spent})
    wanted = [d for d in defaults if d["type"] in kinds and d["type"] not in named]
    return sorted([*(make(dict(kinds), keys) for keys in wanted), *own], key=lambda c: c.type == BUDGET)
