"""Whom a report must not show, decided once, before anything is measured.

Protected are the outcomes of groups with fewer than `threshold` applicants. Two moves keep them from being recovered
from everything that a report publishes, and no later stage hides anything:

* People of a category that is too small by itself (the unknown included) are **left out** of every table and total
  alike, and with them the position that they filled. Leaving them out of one table alone would show them by
  subtraction.
* Small cells of a crossing are **merged** with their neighbours: some categories of the attribute that has more are
  joined, for everybody, until no small cell can be told from the totals. That is tried as an attacker would, with an
  integer program over all published counts of all steps. What a group's rate of 0 or 100 % says of its parts is no
  secret of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditkit.data.firm_history import History
from auditkit.data.problems import OF_OUTCOMES, Problems
from auditkit.model.groups import UNKNOWN

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Protected:
    """A history that may be measured and shown; `crossings` has the label of each row for each crossing."""

    history: History
    crossings: dict[str, pd.Series[str]]
    left_out: int
    """People of categories that are too small, who are in no table."""
    positions: Ints
    """Of each row: its place in the table that was given."""
    merged: dict[str, tuple[str, ...]]
    """Crossing -> the categories that are joined in it; all of them if nothing is left to cross."""
    threshold: int


def protect(history: History, threshold: int) -> Protected:
    """The history without those who could be recognised, in an order that does not depend on that of the file."""
    positions = order_of(history)
    history = replace(history, table=history.table.iloc[positions].reset_index(drop=True))
    keep = _large_enough(history, threshold)
    left_out = int((~keep).sum())
    if left_out:
        history, positions = _without(history, keep), positions[keep.to_numpy()]
    crossings, merged = {}, {}
    for names in history.crossings:
        labels, joined = _crossed(history, names, threshold)
        if labels is not None:
            crossings["+".join(names)] = labels
        if joined:
            merged["+".join(names)] = joined
    return Protected(history, crossings, left_out, positions, merged, threshold)


def order_of(history: History) -> Ints:
    """Rows sorted by search, candidate and then everything else, so that shuffled rows give the same report.

    Ties of equal candidates are broken by their order further on, and sums depend on it in the last digit.
    """
    table = history.table
    named = any(choice.role == "candidate" for choice in history.mapping.choices)
    keys = ["search", "candidate"] if named else ["search"]
    if table.duplicated(keys).any():
        keys += [name for name in table.columns if name not in (*keys, "candidate", "row")]
    ranks = []
    for name in keys:
        column = table[name]
        plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufM"
        ranks.append(pd.factorize(column if plain else column.astype("str"), sort=True)[0])
    return np.lexsort(ranks[::-1])


def _large_enough(history: History, threshold: int) -> pd.Series[bool]:
    """Rows of people none of whose categories is too small, found again until nothing changes."""
    keep = pd.Series(True, index=history.table.index)
    columns = [history.table[f"group:{name}"].astype("str") for name in history.attributes]
    counted = history.decided
    while True:
        small = pd.Series(False, index=keep.index)
        for column in columns:
            sizes = column[keep & counted].value_counts()
            small |= column.isin(sizes.index[sizes < threshold]) | (~column.isin(sizes.index) & (threshold > 0))
        if not (small & keep).any():
            return keep
        keep &= ~small


def _without(history: History, keep: pd.Series[bool]) -> History:
    table = history.table[keep].copy()
    if history.has("selected"):
        gone = ~keep & history.table["selected"] & ~history.table["declined"]
        around = [history.table["search"]]
        if history.has("capacity"):
            table["capacity"] = (table["capacity"] - gone.groupby(around).transform("sum")[keep]).clip(lower=0)
        for unit in history.units:
            around.append(history.table[f"segment:{unit}"])
            column = f"unit_capacity:{unit}"
            table[column] = (table[column] - gone.groupby(around).transform("sum")[keep]).clip(lower=0)
    return replace(history, table=table.reset_index(drop=True), problems=_problems_without(history, keep))


def _problems_without(history: History, keep: pd.Series[bool]) -> Problems:
    """Without problems whose number depends on what became of people who are left out."""
    table = history.table
    gone = set(table.loc[~keep, "row"].tolist())
    near = set(table.loc[table["search"].isin(table.loc[~keep, "search"]), "row"].tolist())
    return history.problems.without_rows(gone, OF_OUTCOMES).without_rows(near, ("more-selected-than-capacity",))


def _crossed(history: History, names: Sequence[str], threshold: int) -> tuple[pd.Series[str] | None, tuple[str, ...]]:
    """Labels of a crossing without small cells, and the categories that were joined; no labels if all had to be."""
    columns = [history.table[f"group:{name}"].astype("str") for name in names]
    known = np.logical_and.reduce([column != UNKNOWN for column in columns])
    if len(names) != 2:
        labels = pd.concat(columns, axis=1).agg("+".join, axis=1).where(known, UNKNOWN)
        sizes = labels[history.decided & known].value_counts()
        few = sizes.reindex(labels[history.counted & known].unique(), fill_value=0) < threshold
        return (None, ()) if few.any() else (labels, ())
    # categories of the attribute with more of them are joined
    order = sorted((0, 1), key=lambda i: (columns[i].nunique(), -i))
    few, many = columns[order[0]], columns[order[1]]
    cells = pd.crosstab(few[history.counted], many[history.counted])
    categories = [name for name in cells.columns if name != UNKNOWN]
    rows = [name for name in cells.index if name != UNKNOWN]
    there = cells.loc[rows, categories] > 0
    sizes = pd.DataFrame(_cells(few[history.decided], many[history.decided], rows, categories), rows, categories)
    small = there & (sizes < threshold)  # those decided on in the end count at every step
    joined = [name for name in categories if small[name].any()]
    totals = dict(zip(sizes.columns, sizes.to_numpy().sum(axis=0).tolist(), strict=True))
    rest = sorted((name for name in categories if name not in joined), key=lambda name: (totals[name], name))
    while joined:
        total = sizes[joined].sum(axis=1)
        enough = len(joined) > 1 and not (there[joined].any(axis=1) & (total < threshold)).any()
        if enough and not _recoverable(history, few, many, rows, joined, small):
            break
        if not rest:
            return None, tuple(categories)
        joined.append(rest.pop(0))
    if len(joined) == len(categories) and joined:
        return None, tuple(categories)
    name = " or ".join(sorted(joined)) if len(joined) <= 3 else "other"
    shown = many.where(~many.isin(joined), name)
    pair = (few, shown) if order == [0, 1] else (shown, few)
    return pair[0].str.cat(pair[1], sep="+").where(known, UNKNOWN), tuple(sorted(joined))


def _recoverable(
    history: History, few: pd.Series[str], many: pd.Series[str], rows: list[str], joined: list[str], small: pd.DataFrame
) -> bool:
    """Whether the outcome of a small cell follows from the totals of categories and of joined cells, at any step.

    Variables are the outcomes of each cell of the joined categories at each step, the unknown of the other attribute
    among them; each is at most that of the step before, less those who left after it. Known are the numbers about whom
    each step decided, the total of each category, and the total of each row over the joined categories. A cell is
    recovered if its smallest and largest value agree, unless a total is 0 or everybody, which says so by itself.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    def counts(rows_of: Callable[[str], pd.Series[bool]]) -> Ints:
        """Step, row, category."""
        taken = [rows_of(step) for step in history.steps]
        return np.stack([_cells(few[here], many[here], [*rows, UNKNOWN], joined) for here in taken])

    n, x = counts(history.decided_at), counts(history.reached)
    steps, a, b = x.shape
    size = steps * a * b
    place = np.arange(size).reshape(steps, a, b)
    entries: list[tuple[int, int, float]] = []
    low: list[float] = []
    high: list[float] = []

    def add(columns: Ints, signs: Sequence[float], least: float, most: float) -> None:
        entries.extend((len(low), int(c), s) for c, s in zip(columns.ravel(), signs, strict=True))
        low.append(least)
        high.append(most)

    for s in range(steps):
        for j in range(b):
            add(place[s, :, j], [1.0] * a, x[s, :, j].sum(), x[s, :, j].sum())
        for i in range(a - 1):  # of the unknown no cell is published
            add(place[s, i], [1.0] * b, x[s, i].sum(), x[s, i].sum())
        if s:
            for i in range(a):
                for j in range(b):
                    gone = float(n[s - 1, i, j] - n[s, i, j])
                    add(np.array([place[s, i, j], place[s - 1, i, j]]), [1.0, -1.0], -np.inf, -gone)
    matrix = csr_array(
        ([v for *_, v in entries], ([r for r, *_ in entries], [c for _, c, _ in entries])), shape=(len(low), size)
    )
    system = LinearConstraint(matrix, low, high)
    bounds = Bounds(np.zeros(size), n.ravel())
    for s, i, j in ((s, i, j) for s in range(steps) for i in range(a - 1) for j in range(b)):
        if not small.loc[rows[i], joined[j]]:
            continue
        margins = ((x[s, :, j].sum(), n[s, :, j].sum()), (x[s, i].sum(), n[s, i].sum()))
        if any(part in (0, whole) for part, whole in margins):
            continue
        ends = []
        for sign in (1.0, -1.0):
            objective = np.zeros(size)
            objective[place[s, i, j]] = sign
            found = milp(objective, constraints=system, bounds=bounds, integrality=np.ones(size))
            ends.append(round(sign * float(found.fun)) if found.fun is not None else None)
        if ends[0] == ends[1]:
            return True
    return False


def _cells(few: pd.Series[str], many: pd.Series[str], rows: list[str], columns: list[str]) -> Ints:
    table = pd.crosstab(few, many).reindex(index=rows, columns=columns, fill_value=0)
    return table.to_numpy(dtype=np.int64)
