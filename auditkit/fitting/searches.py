"""The terms of each search: how many positions it has, and what its inspections cost.

Each comes from the data if they have it, else from the option, else from what can stand in for it; which one it was is
said in a notice and kept in the settings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.firm_history import ALL, History
from auditkit.errors import InputError, Problem, nearest
from auditkit.model.groups import GROUP, UNKNOWN
from auditkit.model.layout import Bools, ByKind, Floats, Ints
from auditkit.model.limits import Limit
from auditkit.model.search import LARGEST, Candidate

Cost = float | Mapping[str, float]
"""One cost of every inspection, or one for each stage."""


def hired(table: pd.DataFrame) -> Bools:
    """Who fills a position: selected, and did not decline."""
    return (table["selected"] & ~table["declined"]).to_numpy(dtype=np.bool_)


def stage_reached(history: History, stage: str) -> Bools:
    """Who reached a stage, as far as that is known."""
    return history.table[f"stage:{stage}"].fillna(False).to_numpy(dtype=np.bool_)


def capacities(history: History, rows: Ints, search: Ints, option: int | None, notices: list[str]) -> tuple[Ints, str]:
    """Positions of each search (numbered by `search`, one entry per row of `rows`), and where they come from."""
    table = history.table.iloc[rows]
    count = int(search.max()) + 1
    filled = np.bincount(search, hired(table), minlength=count).astype(np.int64)
    if history.has("capacity"):
        source = "option" if history.mapping.column("capacity") is None else "data"
        given = np.zeros(count, dtype=np.int64)
        given[search] = table["capacity"].to_numpy(dtype=np.int64)
    elif option is not None:
        source, given = "option", np.full(count, option, dtype=np.int64)
    else:
        source = "selected"
        # an offer that was declined shows that there was a position
        offers = np.bincount(search, table["selected"].to_numpy(dtype=np.bool_), minlength=count)
        given = np.maximum(filled, offers > 0)
        notices.append("no capacity is given: each search has as many positions as it filled")
    if (given < filled).any():
        n = int((given < filled).sum())
        notices.append(f"{_searches(n)} filled more positions than the capacity given: the number filled serves")
    wanted = np.maximum(given, filled)
    there = np.bincount(search, minlength=count)
    if (wanted > there).any():
        more = int((wanted - there)[wanted > there].sum())
        n = int((wanted > there).sum())
        notices.append(f"{_searches(n)} had more positions than candidates: {more} positions are left out")
    result = np.minimum(wanted, there)
    if (result == 0).any():
        n = int((result == 0).sum())
        notices.append(f"{_searches(n)} had no position to fill: the optimum inspects nobody there")
    return result, source


def limits(history: History, rows: Ints, candidates: Sequence[Candidate]) -> list[Limit]:
    """Those of one search: for each unit with a capacity, told by its name and, if that is not enough, by its members.

    They are kept as they are where the firm selected more.
    """
    found: list[Limit] = []
    if not history.units:
        return found
    table = history.table.iloc[rows]
    around = [table[f"segment:{name}"].astype("str").to_numpy() for name in history.units]
    for level, name in enumerate(history.units):
        capacity = table[f"unit_capacity:{name}"].to_numpy(dtype=np.float64)
        paths = list(zip(*around[: level + 1], strict=True))
        for path in sorted({paths[i] for i in np.flatnonzero(~np.isnan(capacity))}):
            members = [i for i, other in enumerate(paths) if other == path]
            label = " / ".join(f"{unit}: {value}" for unit, value in zip(history.units, path, strict=False))
            most = int(capacity[members[0]])
            if len(members) == int((around[level] == path[-1]).sum()):
                found.append(Limit(label, most, by=name, value=path[-1]))
            else:
                found.append(Limit(label, most, candidates=[candidates[i].id for i in members]))
    return found


def _searches(n: int) -> str:
    return "one search" if n == 1 else f"{n} searches"


def inspection_costs(history: History, rows: Ints, option: Cost | None, notices: list[str]) -> tuple[Floats, str]:
    """The cost of inspecting each row, and where it comes from."""
    if isinstance(option, Mapping):
        raise InputError(Problem("--cost", "costs per stage, but the data have no stages", "give one number"))
    if not history.has("cost") or bool(history.table["cost"].isna().all()):
        assert option is not None  # `fit` gives one where the data have none
        return np.full(len(rows), _finite(option)), "option"
    everyone = np.ones(len(history.table), dtype=np.bool_)
    return _filled(history.table, "cost", rows, everyone, option, notices), "data"


def stage_costs(
    history: History, rows: Ints, stages: tuple[str, ...], shows: int, option: Cost | None, notices: list[str]
) -> tuple[Floats, str]:
    """Costs (rows, stages); `shows` is the stage that shows the score."""
    per_stage = dict(option) if isinstance(option, Mapping) else {}
    if wrong := [name for name in per_stage if name not in stages]:
        raise InputError(
            [Problem(f"--cost {name}", f"there is no stage {name!r}", nearest(name, stages)) for name in wrong]
        )
    columns = {s for s in stages if history.has(f"cost:{s}") and history.table[f"cost:{s}"].notna().any()}
    costs = np.zeros((len(rows), len(stages)))
    if columns or per_stage:
        for i, stage in enumerate(stages):
            if stage in columns:
                there = stage_reached(history, stage)
                costs[:, i] = _filled(history.table, f"cost:{stage}", rows, there, per_stage.get(stage), notices)
            else:
                costs[:, i] = _finite(per_stage.get(stage, 0.0))
        if free := [stage for stage in stages if stage not in columns and stage not in per_stage]:
            notices.append(f"no cost is given for {', '.join(free)}: taken as 0")
        return costs, "data" if columns else "option"
    each, source = inspection_costs(history, rows, option, notices)
    costs[:, : shows + 1] = each[:, None]
    if shows:
        named = ", ".join(stages[: shows + 1])
        notices.append(f"the one cost given is charged at each of {named}")
    return costs, source


def _filled(
    table: pd.DataFrame, column: str, rows: Ints, there: Bools, option: float | None, notices: list[str]
) -> Floats:
    """A cost for each row: its own, the option, the mean of its search, or the mean of all; `there` are those who
    should have one of their own."""
    cost = table[column].astype(np.float64)
    if option is not None:
        cost = cost.fillna(_finite(option))
    elif n := int((cost.isna().to_numpy(dtype=np.bool_) & there)[rows].sum()):
        notices.append(f"{n:,} candidates have no {column}: the mean of their search, or of all, serves")
    cost = cost.fillna(cost.groupby(table["search"].to_numpy()).transform("mean")).fillna(cost.mean())
    return np.asarray(cost, dtype=np.float64)[rows]


def _finite(cost: float) -> float:
    if not math.isfinite(cost) or abs(cost) > LARGEST:
        raise InputError(Problem("--cost", f"{cost} is not a finite number of at most {LARGEST:g}"))
    return float(cost)


@dataclass(frozen=True)
class People:
    """The groups of a candidate, one for each protected attribute, and all of them crossed."""

    group: Mapping[str, str | None]
    cell: str
    shares: int | None = None
    """The number of the cell of `CellShares` that has the membership, in a model that does not see groups."""


def people(history: History, rows: Ints) -> ByKind[People]:
    """The groups of each row; equal ones are one object."""
    names = history.columns("group")
    if not names:
        return ByKind((People({GROUP: ALL}, ALL),), np.zeros(len(rows), dtype=np.int64))
    which, kinds = _kinds([history.table[f"group:{name}"].astype("str") for name in names], rows)
    each = []
    for labels in kinds:
        known = {name: None if label == UNKNOWN else label for name, label in zip(names, labels, strict=True)}
        each.append(People(known, "+".join(labels)))
    return ByKind(tuple(each), which)


def attributes(history: History, rows: Ints) -> ByKind[Mapping[str, float | str]]:
    """Expenses and segments of each row under the names of their columns; what is not known is left out.

    Equal ones are one object, not to be changed: a million candidates have some thousand different ones.
    """
    numbers, texts = history.columns("expense"), history.columns("segment")
    columns = {f"expense:{name}": name for name in numbers} | {f"segment:{name}": name for name in texts}
    if not columns:
        return ByKind(({},), np.zeros(len(rows), dtype=np.int64))
    which, kinds = _kinds([history.table[column] for column in columns], rows)
    each = [
        {name: v if isinstance(v, str) else float(v) for name, v in zip(columns.values(), kind) if _is_known(v)}
        for kind in kinds
    ]
    return ByKind(tuple(each), which)


def _kinds(columns: Sequence[pd.Series[Any]], rows: Ints) -> tuple[Ints, list[tuple[Any, ...]]]:
    """The different combinations of some columns in some rows, as they first occur, and the number of each row's."""
    code = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        own, values = pd.factorize(column.iloc[rows], use_na_sentinel=False)
        code = pd.factorize(code * len(values) + own)[0].astype(np.int64)
    first = np.unique(code, return_index=True)[1]
    found = pd.DataFrame({i: column.iloc[rows[first]].to_numpy() for i, column in enumerate(columns)}, dtype=object)
    return code, list(found.itertuples(index=False, name=None))


def _is_known(value: Any) -> bool:
    return value != UNKNOWN if isinstance(value, str) else not pd.isna(value) and math.isfinite(value)
