"""Units inside a search and how many can be selected in each: from columns of the data, or from the user.

Units are listed from outer to inner (department, team), so a unit is told by its own name and those around it: two
departments may each have a team "A".
"""

from __future__ import annotations

from collections import abc
from typing import Any

import pandas as pd

from auditkit.data.problems import Collector, Notice
from auditkit.data.values import NumberReader
from auditkit.errors import InputError, Problem, nearest
from auditkit.model.groups import UNKNOWN

Limited = abc.Mapping[str, int | abc.Mapping[str, int]]
"""Column = how many of each of its units, or unit = how many."""


def pair(units: tuple[str, ...], columns: tuple[str, ...]) -> dict[str, str]:
    """Which column has the capacities of which units: one column is for the innermost."""
    if len(columns) not in (0, 1, len(units)):
        what = f"{len(columns)} columns of capacities for {len(units)} columns of units"
        raise InputError(Problem("--map unit_capacity", what, "give one for each, in their order, or one for the last"))
    if columns and not units:
        raise InputError(Problem("--map unit_capacity", "nothing says which unit it is of", "add --map unit=COLUMN"))
    return dict(zip(units[-1:] if len(columns) == 1 else units, columns, strict=False))


def read_unit_capacities(
    cells: pd.DataFrame,
    units: dict[str, pd.Series[Any]],
    columns: tuple[str, ...],
    given: Limited,
    search: pd.Series[Any],
    numbers: NumberReader,
    collector: Collector,
    notices: list[Notice],
) -> dict[str, pd.Series[Any]]:
    """`unit_capacity:<unit>` of every row, NaN where a unit has no limit; what is given fills blanks."""
    if wrong := [name for name in given if name not in units]:
        raise InputError(
            [Problem(f"limits.{name}", f"{name!r} is not mapped as a unit", nearest(name, units)) for name in wrong]
        )
    own = pair(tuple(units), columns)
    around, found = [search.to_numpy()], {}
    for name, labels in units.items():
        around.append(labels.to_numpy())
        capacity = pd.Series(float("nan"), index=cells.index)
        if name in own:
            read = numbers.whole(cells[own[name]], own[name], "bad-capacity")
            capacity = read.groupby(around).transform("first")
            differs = read.notna() & (read != capacity)
            others = capacity[differs].astype(int).tolist()
            collector.add_pairs(
                "inconsistent-unit-capacity", own[name], read.index[differs], cells[own[name]][differs], others
            )
        if name in given:
            limits = given[name]
            if isinstance(limits, abc.Mapping):
                capacity = capacity.fillna(labels.map(dict(limits)))
                for unit in [unit for unit in limits if unit not in set(labels)]:
                    close = nearest(unit, sorted(set(labels) - {UNKNOWN}))
                    notices.append(Notice("no-such-unit", f"limits: no application has {name} {unit!r}; {close}"))
            else:
                capacity = capacity.fillna(float(limits))
        found[f"unit_capacity:{name}"] = capacity.where(labels != UNKNOWN)
    return found
