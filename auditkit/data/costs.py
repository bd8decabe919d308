"""What inspections cost and how many can be selected: from the data, from the user, and what each lacks."""

from __future__ import annotations

from collections import abc
from typing import Any

import pandas as pd

from auditkit.data.problems import Collector, Notice
from auditkit.data.values import NumberReader, is_blank
from auditkit.errors import InputError, Problem, nearest


def read_costs(
    cells: pd.DataFrame,
    columns: tuple[str, ...],
    stages: tuple[str, ...],
    given: float | abc.Mapping[str, float] | None,
    numbers: NumberReader,
    collector: Collector,
) -> dict[str, pd.Series[Any]]:
    """`cost`, and `cost:<stage>` where each stage has its own: then `cost` is their sum. What is given fills blanks."""
    per_stage = isinstance(given, abc.Mapping) or len(columns) > 1
    if isinstance(given, abc.Mapping) and (wrong := [name for name in given if name not in stages]):
        raise InputError(
            [Problem(f"--cost {name}", f"there is no stage {name!r}", nearest(name, stages)) for name in wrong]
        )
    if len(columns) > 1 and len(columns) != len(stages):
        what = f"{len(columns)} columns for {len(stages)} stages"
        raise InputError(Problem("--map cost", what, "give one column for each stage, in their order"))
    costs = {}
    for i, name in enumerate(stages if per_stage else ("",)):
        default = given.get(name) if isinstance(given, abc.Mapping) else given
        column = columns[i] if i < len(columns) else None
        if column is not None:
            cost = numbers.read(cells[column], column)
            collector.add("negative-cost", cost < 0, column, cells[column])
            missing = is_blank(cells[column])
            if default is not None:
                cost = cost.mask(missing, float(default))
            elif missing.any() and not per_stage:
                collector.add_column("missing-cost", column, int(missing.sum()))
        elif default is not None:
            cost = pd.Series(float(default), index=cells.index)
        else:
            continue
        costs[f"cost:{name}" if per_stage else "cost"] = cost
    if per_stage and costs:
        costs["cost"] = pd.concat(list(costs.values()), axis=1).sum(axis=1, min_count=1)
    return costs


def read_capacity(
    cells: pd.Series[Any] | None,
    column: str | None,
    search: pd.Series[Any],
    hired: pd.Series[Any],
    given: int | None,
    numbers: NumberReader,
    collector: Collector,
    notices: list[Notice],
) -> pd.Series[Any] | None:
    """One capacity for each search, never below the number `hired` in it; None if nothing says it."""
    by_search = search.to_numpy()
    if cells is not None and column is not None:
        own = numbers.whole(cells, column, "bad-capacity")
        capacity = own.groupby(by_search).transform("first")
        differs = own.notna() & (own != capacity)
        others = capacity[differs].astype(int).tolist()
        collector.add_pairs("inconsistent-capacity", column, own.index[differs], cells[differs], others)
        if given is not None:
            capacity = capacity.fillna(float(given))
    elif given is not None:
        column, capacity = "capacity", pd.Series(float(given), index=search.index)
    else:
        return None
    total = hired.groupby(by_search).transform("sum")
    over = (total > capacity) & ~search.duplicated()
    values, others = total[over].astype(int).tolist(), capacity[over].astype(int).tolist()
    collector.add_pairs("more-selected-than-capacity", column, capacity.index[over], values, others)
    if capacity.isna().any():
        n = search[capacity.isna()].nunique()
        text = f"{n} searches have no capacity: the number selected serves"
        notices.append(Notice("capacity-from-selected", text))
    return capacity.where(capacity >= total, total).astype("int64")
