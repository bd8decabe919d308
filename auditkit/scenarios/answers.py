"""The what-if questions that are asked by default, and all answers together.

    frontiers      what each kind of constraint asks for (`explored_by_default`): each impact ratio from 0 to 1, each
                   quota for the group that is asked about, each number of inspections; and every constraint of the
                   user's that has a number to turn
    sensitivity    scores of the group that is asked about, under all constraints together
    positions      how many more make up for all constraints together (without any: see `ask`)
    budgets        one more unit of every resource (a budget) among these, against one more position
    bias tables    on request: how strict each of the user's constraints with a number to turn should be (default: a
                   quota for the group that is asked about), given how biased the group's scores are
    places         where searches have limits: one more place in those that bind

The group that is asked about is the one with the lowest rate of selection, unless it is named. Groups that a report
hides, and those too small for the default constraints, are asked nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from auditkit.constraints.base import AuditContext, Constraint
from auditkit.constraints.binding import bind
from auditkit.constraints.defaults import audit_context, explored, priced
from auditkit.errors import InputError, Problem
from auditkit.model.instance import Instance
from auditkit.model.layout import Floats
from auditkit.scenarios.bias_table import BiasTable, bias_table
from auditkit.scenarios.breakpoints import NotStraight
from auditkit.scenarios.frontier import STEPS, Frontier, frontier
from auditkit.scenarios.places import MorePlaces, more_places
from auditkit.scenarios.positions import BudgetOrPosition, MorePositions, budget_or_position, more_positions
from auditkit.scenarios.sensitivity import FACTORS, Sensitivity, sensitivity
from auditkit.solver import solve_once
from auditkit.text import plain

Progress = Callable[[str], None]

LARGE = 20_000
"""States times rows from which on half as many points are asked: a report should not wait minutes for them."""
FEW_FACTORS = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1)
FEW_STEPS = 5
SHIFTED = (0.9, 0.7, 0.5)
"""Factors that are asked about as points too."""


@dataclass(frozen=True)
class Answers:
    """The answers to all questions."""

    group: str | None
    """The group that was asked about; None if there are no two groups to compare."""
    constraints: tuple[Constraint, ...]
    """What holds in the answers on scores and positions."""
    frontiers: tuple[Frontier, ...]
    sensitivity: Sensitivity | None
    positions: MorePositions | None
    budgets: tuple[BudgetOrPosition, ...]
    places: MorePlaces | None
    notices: tuple[str, ...]
    """Questions that could not be asked, and why."""
    bias_tables: tuple[BiasTable, ...] = ()


def ask(
    instance: Instance,
    constraints: Sequence[Constraint] | None,
    kinds: Mapping[str, type[Constraint]],
    *,
    group: str | None = None,
    selected: Floats | None = None,
    inspected: float | None = None,
    most_rows: int | None = None,
    bias_tables: bool = False,
    exact: bool = False,
    progress: Progress = lambda _: None,
) -> Answers:
    """Ask all questions that make sense. `selected` (default: the chances under the unconstrained optimum) says which
    group is selected least; `inspected` is how many the firm inspected.

    Constraints of more than `most_rows` rows, such as one for each candidate, are asked nothing: every point would take
    long. With `exact` a frontier has its breakpoints in place of even steps, if it is made of straight pieces. Without
    `constraints` the default with the fewest rows holds, because it is solved many times.
    """
    layout = instance.layout
    if bias_tables and layout.uncertain:
        what = "a bias of a group's scores matters to policies that see the group, and in this model they do not"
        raise InputError(Problem("bias tables", what, "add --group-aware; in Python group_aware=True"))
    notices: list[str] = []
    if selected is None:
        selected = solve_once(instance).unconstrained.selected
    known = audit_context(layout, selected, group, inspected)
    group, by = known.group, known.by
    chosen = list(constraints or ())
    if constraints is None and group is not None:
        chosen = sorted(priced(kinds, known), key=lambda constraint: len(bind([constraint], layout)))[:1]
    named, chosen, rows_in_all = chosen, [], 0
    for constraint in named:
        count = len(bind([constraint], layout))  # a wrong name is found before the first solve
        if most_rows is not None and count > most_rows:
            said = f"{constraint.to_spec()} has {count:,} rows: questions about it take long, and only "
            notices.append(f"{said}auditkit whatif asks them.")
        else:
            chosen.append(constraint)
            rows_in_all += count
    wanted = _curves(chosen, kinds, known)
    if not chosen and not wanted:
        notices.append("There are no two groups to compare and no constraints, so there is nothing to ask.")
    frontiers: list[Frontier] = []
    for constraint in wanted:
        rows = bind([constraint], layout)
        progress(f"frontier of {constraint.type}")
        steps = FEW_STEPS if layout.states * len(rows) > LARGE else STEPS
        try:
            found = frontier(instance, constraint, steps=steps, exact=exact)
        except NotStraight as curved:
            notices.append(f"The frontier of {constraint.to_spec()} is in even steps: {curved.why}.")
            found = frontier(instance, constraint, steps=steps)
        if found.left_out:
            at = ", ".join(plain(value) for value in found.left_out)
            said = f"The frontier of {constraint.to_spec()} leaves out {found.parameter} {at}: it can only just be met"
            notices.append(f"{said}, and the optimum there is not proved.")
        given = constraint in chosen or _is_resource(constraint)
        frontiers.append(found if given else replace(found, present=None))
    biased = positions = places = None
    if chosen:
        present = solve_once(instance, chosen)
        if present.status == "infeasible":
            notices.append(f"{', '.join(present.conflict)} cannot hold together: nothing was asked about them.")
        elif present.status == "unproved":
            some = ", ".join(constraint.to_spec() for constraint in chosen)
            notices.append(f"{some} can only just be met: nothing was asked about more positions or biased scores.")
        else:
            progress("more positions")
            positions = more_positions(instance, chosen)
            if group is not None and layout.uncertain:
                notices.append("The effect of biased scores is computed only for models whose policies see the group.")
            elif group is not None:
                progress(f"biased scores of {group}")
                factors = FEW_FACTORS if layout.states * rows_in_all > LARGE else FACTORS
                biased = sensitivity(instance, chosen, group, factors, by, SHIFTED)
    tables: list[BiasTable] = []
    if bias_tables and group is not None:
        own = [c for c in wanted if c in chosen and not _is_resource(c)]
        for constraint in own or [c for c in wanted if getattr(c, "group", None) == group and not _is_resource(c)]:
            progress(f"{constraint.short_name} by bias of {group}")
            tables.append(bias_table(instance, constraint, group, by=by))
    if layout.limits is not None:
        progress("one more place in each unit")
        places = more_places(instance, chosen)
    budgets = []
    for constraint in wanted:
        if _is_resource(constraint):
            progress("one more unit of budget")
            budgets.append(budget_or_position(instance, constraint))
    return Answers(
        group, tuple(chosen), tuple(frontiers), biased, positions, tuple(budgets), places, tuple(notices), tuple(tables)
    )


def _curves(
    chosen: Sequence[Constraint], kinds: Mapping[str, type[Constraint]], known: AuditContext
) -> list[Constraint]:
    """Constraints whose frontier is drawn; those of the user take the place of the same kind among the defaults."""
    own = [c for c in chosen if c.parameter is not None and c.parameter.in_reports]
    named = {constraint.type for constraint in own}
    return sorted([*(c for c in explored(kinds, known) if c.type not in named), *own], key=_is_resource)


def _is_resource(constraint: Constraint) -> bool:
    return constraint.parameter is not None and constraint.parameter.resource
