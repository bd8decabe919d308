"""Tables for people: rich on a terminal, plain text elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from auditkit.solve import Solution

MOST_ROWS = 25


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None, right: int = 99
) -> None:
    """Columns from number `right` on are numbers and stand to the right."""
    console = Console(soft_wrap=False)
    if not console.is_terminal:
        console.width = 200  # a file or a pipe has no width to fit into
    table = Table(title=title, title_justify="left", box=box.SIMPLE, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i >= right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table, markup=False)


def _number(x: float) -> str:
    return f"{x:.6g}" if abs(x) > 1e-12 else "0"  # what rounding leaves of a zero


def print_solution(solution: Solution) -> None:
    free, best = solution.unconstrained, solution.constrained
    print(f"status         {solution.status}")
    print(f"unconstrained  {_number(free.utility)}")
    if best is None:
        print("These constraints cannot hold together:")
        for spec in solution.conflict:
            print(f"  {spec}")
        return
    print(f"constrained    {_number(best.utility)}  (bound {_number(best.bound)}, gap {best.gap:.1e})")
    kept = "" if solution.ratio is None else f", {solution.ratio:.2%} of the utility is kept"
    print(f"price          {_number(solution.loss or 0.0)}{kept}")
    if solution.approximate is not None:
        certified = solution.approximate.certified
        print(f"certified      {_number(certified.utility)}  is the optimum that g-rdip is measured against")
    if best.conditions:
        rows = [[c.label, c.sense, *map(_number, (c.bound, c.value, c.slack, c.dual))] for c in best.conditions]
        print_table(["constraint", "", "bound", "value", "slack", "dual"], rows[:MOST_ROWS], right=2)
        if len(rows) > MOST_ROWS:
            print(f"... {len(rows)} rows in all (--json has them)")
    policies = [
        [_number(w), "; ".join(", ".join(_number(x) for x in level.duals) for level in policy.levels) or "-"]
        for w, policy in zip(best.mixture.weights, best.mixture.policies, strict=True)
    ]
    if len(policies) <= MOST_ROWS:
        print_table(["weight", "duals of the policy"], policies)
    else:
        print(f"a mixture of {len(policies)} policies (--json has them)")
    layout = free.layout
    groups = []
    for g, name in enumerate(layout.groups):
        before, after = ((o.by_group(o.inspected)[g], o.by_group(o.selected)[g]) for o in (free, best.outcome))
        groups.append([name, str(layout.group_sizes[g]), *map(_number, (before[0], after[0], before[1], after[1]))])
    headings = ["group", "candidates", "inspected", "constrained", "selected", "constrained"]
    print_table(headings, groups, right=1)
    print(
        f"unfilled capacity  {_number(free.unfilled_capacity)} unconstrained, "
        f"{_number(best.outcome.unfilled_capacity)} constrained"
    )
