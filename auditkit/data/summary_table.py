"""A summary table is data too: one row per category, with how many applied, how many reached each step.

`Department, Gender, Applicants, Interviewed, Hired` becomes rows that say yes or no to each step, each standing for
as many applications as the counts say. Or `Admitted, Rejected`, whose sum applied.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.numbers import to_numbers
from auditkit.data.problems import Notice
from auditkit.data.read_file import RawTable
from auditkit.data.role_matching import by_name, is_protected
from auditkit.data.vocabulary import ROW_NUMBERS, STATUS, code_of, plain, stage_rank

_MOST_ROWS = 5000
_APPLIED = frozenset(
    {
        *("applicants", "applications", "applied", "candidates", "number of applicants", "number of applications"),
        *("total applicants", "total applications", "n applicants", "applicant count", "applicant pool", "pool", "n"),
        *("total", "number applied", "total applied", "applicants total", "num applicants", "number of candidates"),
        *("bewerber", "bewerbungen", "anzahl bewerber", "anzahl bewerbungen", "candidats", "candidatures"),
        *("nombre de candidats", "nombre de candidatures", "candidatos", "solicitudes", "numero de candidatos"),
    }
)
_COUNTED = (
    "number of ",
    "number ",
    "n ",
    "num ",
    "total ",
    "anzahl ",
    "nombre de ",
    "numero de ",
    "count of ",
    "no of ",
)


def expand(raw: RawTable) -> RawTable:
    """The table with one row per category and outcome if it is a summary, else as it is."""
    table = raw.table
    if len(table) > _MOST_ROWS:
        return raw
    counts = {str(name): values for name in table if (values := _whole(table[name])) is not None}
    if not counts or not any(is_protected(str(name)) for name in table if name not in counts):
        return raw
    applied = [name for name in counts if plain(name) in _APPLIED]
    reached = [name for name in counts if name not in applied and _is_step(name)]
    refused = [name for name in counts if name not in applied and _outcome(name) == "rejected"]
    if len(applied) == 1:
        total = counts[applied[0]]
    elif not applied and len(reached) == 1 and len(refused) == 1:
        total = counts[reached[0]] + counts[refused[0]]
    else:
        return raw
    reached = sorted((name for name in reached if (counts[name] <= total).all()), key=lambda name: -counts[name].sum())
    # people who applied several times have numbers too, but a selection of 0 or 1, and rows that are no categories
    rest = [name for name in table if name not in counts]
    if not reached or counts[reached[-1]].max() < 2 or table.duplicated(rest).any():
        return raw
    return _expanded(raw, applied[0] if applied else "applicants", total, {name: counts[name] for name in reached})


def _whole(cells: pd.Series[Any]) -> pd.Series[Any] | None:
    """Whole numbers from 0 in every cell, or None."""
    numbers = to_numbers(cells)
    values = numbers.values
    if numbers.bad.any() or values.isna().any() or (values < 0).any() or (values != values.round()).any():
        return None
    return values.astype("int64")


def _outcome(name: str) -> str | None:
    text = plain(name)
    for start in _COUNTED:
        text = text.removeprefix(start)
    return code_of(text, STATUS)


def _is_step(name: str) -> bool:
    if _outcome(name) == "rejected" or plain(name) in ROW_NUMBERS:
        return False
    roles = {match.role for match in by_name(name)}
    return bool(roles & {"selected", "inspected"}) or _outcome(name) == "selected" or (stage_rank(name) or 0) > 0


def _expanded(raw: RawTable, count: str, total: pd.Series[Any], reached: dict[str, pd.Series[Any]]) -> RawTable:
    table = raw.table
    levels = [total.to_numpy(), *(values.to_numpy() for values in reached.values())]
    # a step is reached by no more than the one before
    levels = list(np.minimum.accumulate(levels))
    parts = []
    for k in range(len(levels)):
        own = levels[k] - (levels[k + 1] if k + 1 < len(levels) else 0)
        part = table.drop(columns=[count], errors="ignore").copy()
        for j, name in enumerate(reached):
            part[name] = "yes" if j < k else "no"
        part[count] = pd.Series(own, index=table.index).astype("str")
        parts.append(part)
    rows = pd.concat(parts).sort_index(kind="stable").astype("str")
    text = f"a summary table: {count!r} counts applications, and {', '.join(map(repr, reached))} how many got there"
    return replace(raw, table=rows, notices=(*raw.notices, Notice("summary-table", text)), count=count)
