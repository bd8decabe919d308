"""Steps of the process, as the data call them: which columns hold them, and who reached each.

Stages come from columns (dates, statuses, yes and no), from a path in one cell ("Review > Phone Screen > Onsite"),
from the last stage that each application reached, or from an event log. The last step is the selection. A step that
everybody reached, or that the very same people reached as a later one, tells nothing and is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.dates import to_dates
from auditkit.data.problems import Collector
from auditkit.data.profile import ColumnProfile
from auditkit.data.statuses import to_stage, took_place
from auditkit.data.vocabulary import FOREIGN, MISSING, START, STATUS, code_of, plain, stage_rank

_PATH = re.compile(r"\s*(?:>|→|->|»|⇒|=>|\|)\s*|\s+/\s+")
_DATE_WORDS = re.compile(
    r"^(?:date of|date|datum|fecha(?: de)?|date d['e]?)\s+|[\s_-]*\b(?:date|datum|on|at|timestamp|fecha|completed|am)$",
    re.IGNORECASE,
)
_ENDS = ("selected", "declined", "rejected", "withdrawn")
_HIRED = 9.0
_MOST_STAGES = 30


def label_of(column: str) -> str:
    """The step that a column is about: `Phone Screen Date` is `Phone Screen`."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column).replace("_", " ") if " " not in column else column
    short = _DATE_WORDS.sub("", spaced).strip(" -_:")
    return short if short and short != spaced else column


def labels_of(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the steps of several columns; the columns themselves where two would be called the same."""
    names = tuple(label_of(column) for column in columns)
    return names if len(set(names)) == len(names) else columns


def stage_columns(table: pd.DataFrame, columns: list[ColumnProfile]) -> tuple[str, ...]:
    """Which of these columns are stages between application and selection, in order."""
    found: dict[str, tuple[float, pd.Series[Any]]] = {}
    for column in columns:
        rank = stage_rank(label_of(column.name))
        if rank is None or not 0 < rank < _HIRED or not _like_a_stage(column):
            continue
        reached = took_place(to_stage(table[column.name], column.name, Collector()))
        if 0 < reached.sum() < len(reached) and not any(reached.equals(other) for _, other in found.values()):
            found[column.name] = rank, reached
    names = list(found)
    dates = {name: to_dates(table[name]).values for name in names}
    if all(dates[name].notna().any() for name in names):
        names.sort(key=lambda name: sum(_before(dates[other], dates[name]) for other in names))
    elif any(found[b][1].sum() > 1.1 * found[a][1].sum() for a, b in pairwise(names)):
        names.sort(key=lambda name: (-int(found[name][1].sum()), found[name][0]))
    return tuple(names)


def _before(one: pd.Series[Any], other: pd.Series[Any]) -> bool:
    return bool((one < other).sum() > (one > other).sum())


def _like_a_stage(column: ColumnProfile) -> bool:
    if set(plain(column.name).split()) & FOREIGN["inspected"]:
        return False
    return column.kind == "yes/no" or column.dates >= 0.9 or column.inspections >= 0.6


@dataclass(frozen=True, eq=False)
class StagesInOneColumn:
    """Stages in order, who reached each, and the final statuses that stand in the same cells ("" where none)."""

    names: tuple[str, ...]
    reached: pd.DataFrame
    final: pd.Series[Any]
    selected: str | None


def is_path(cells: pd.Series[Any]) -> bool:
    """Whether cells hold paths such as "Review > Phone Screen > Onsite"."""
    found = [str(word) for word in pd.unique(cells) if plain(word) not in MISSING]
    if not found or len(found) > 5000:
        return False
    parts = {part for word in found for part in _PATH.split(word) if part}
    several = sum(len(_PATH.split(word)) > 1 for word in found) / len(found)
    known = sum(stage_rank(part) is not None or code_of(part, STATUS) is not None for part in parts)
    return several >= 0.5 and len(parts) <= _MOST_STAGES and known >= 0.5 * len(parts)


def is_last_stage(cells: pd.Series[Any], decided: pd.Series[Any] | None = None) -> bool:
    """Whether cells name the last stage that was reached; `decided` are rows for which that must be known."""
    kinds = cells.map({word: _kind(word) for word in pd.unique(cells)})
    named = kinds.map(lambda kind: isinstance(kind, float))
    between = {kind for kind in kinds[named].unique() if 0 < kind < _HIRED}
    if len(between) < 2 or cells.nunique() > _MOST_STAGES:
        return False
    if decided is not None and decided.any():
        return bool(named[decided].mean() >= 0.9)
    return bool((named | (cells == "")).mean() >= 0.8)


def _kind(word: str) -> float | str:
    """The rank of a stage, else the status that a word means, else ""."""
    if plain(word) in MISSING:
        return ""
    code = code_of(word, STATUS)
    rank = stage_rank(word)
    if plain(word) in START:
        return 0.0
    if code in ("rejected", "withdrawn", "declined"):
        return code
    return rank if rank is not None else code or ""


def from_paths(cells: pd.Series[Any]) -> StagesInOneColumn:
    """Stages from a path in each cell, in the order in which most paths pass them."""
    codes, found = pd.factorize(cells)
    paths = [[part for part in _PATH.split(str(word)) if plain(part) not in MISSING] for word in found]
    kinds = {part: _kind(part) for path in paths for part in path}
    often = np.bincount(codes, minlength=len(found))
    ends = {part for part, kind in kinds.items() if kind in _ENDS or kind == _HIRED}
    names = [part for part in kinds if part not in ends]
    index = {name: i for i, name in enumerate(names)}
    ahead = np.zeros((len(names), len(names)))
    reached = np.zeros((len(found), len(names)), dtype=bool)
    final = []
    for k, path in enumerate(paths):
        inner = [index[part] for part in path if part in index]
        reached[k, inner] = True
        for i, a in enumerate(inner):
            for b in inner[i + 1 :]:
                ahead[a, b] += often[k]
        last = [kinds[part] for part in path if part in ends]
        final.append("" if not last else "selected" if last[-1] == _HIRED else str(last[-1]))
    order = sorted(range(len(names)), key=lambda i: (-(ahead[i] > ahead[:, i]).sum(), -reached[codes, i].sum()))
    selected = next((part for part, kind in kinds.items() if kind in (_HIRED, "selected")), None)
    return _in_table(cells, codes, [names[i] for i in order], reached[:, order], final, selected)


def from_last_stage(cells: pd.Series[Any]) -> StagesInOneColumn:
    """Stages from the last one that was reached: whoever reached a stage passed through those before it."""
    codes, found = pd.factorize(cells)
    often = np.bincount(codes, minlength=len(found))
    kinds = [_kind(str(word)) for word in found]
    stages = sorted(
        (i for i, kind in enumerate(kinds) if isinstance(kind, float) and 0 < kind < _HIRED),
        key=lambda i: (kinds[i], -often[i]),
    )
    far = {i: place for place, i in enumerate(stages)}
    reached = np.zeros((len(found), len(stages)), dtype=bool)
    final = []
    for k, kind in enumerate(kinds):
        hired = kind == _HIRED
        reached[k, : len(stages) if hired else far.get(k, -1) + 1] = True
        final.append("selected" if hired else str(kind) if kind in _ENDS else "")
    selected = next((str(found[i]) for i, kind in enumerate(kinds) if kind == _HIRED), None)
    return _in_table(cells, codes, [str(found[i]) for i in stages], reached, final, selected)


def _in_table(
    cells: pd.Series[Any],
    codes: Any,
    names: list[str],
    reached: np.ndarray[Any, np.dtype[np.bool_]],
    final: list[str],
    selected: str | None,
) -> StagesInOneColumn:
    spread = reached[codes]
    # what everybody reached is no stage between application and selection
    kept = [i for i in range(len(names)) if not spread[:, i].all()]
    table = pd.DataFrame(spread[:, kept], index=cells.index, columns=pd.Index([names[i] for i in kept], dtype=object))
    ends = pd.Series(final, dtype="str").take(codes).set_axis(cells.index)
    return StagesInOneColumn(tuple(names[i] for i in kept), table, ends, selected)


def reached_steps(found: dict[str, pd.Series[Any]], unfinished: pd.Series[Any]) -> dict[str, pd.Series[Any]]:
    """Steps in order with who reached them; NA for whoever withdrew, or is still in process, before a step.

    Steps that tell nothing are left out: those that everybody reached, and those equal to a later one.
    """
    steps: dict[str, pd.Series[Any]] = {}
    later: list[pd.Series[Any]] = []
    for place, (name, reached) in enumerate(reversed(found.items())):
        flags = reached.astype("boolean")
        flags = flags.where(flags.fillna(False).astype(bool) | ~unfinished)
        known = flags.dropna()
        same = any(flags.equals(other) or _agree(flags, other) for other in later)
        if place and (known.all() or same):
            continue
        later.append(flags)
        steps[name] = flags
    return dict(reversed(steps.items()))


def _agree(one: pd.Series[Any], other: pd.Series[Any]) -> bool:
    both = one.notna() & other.notna()
    return bool(both.any() and (one[both] == other[both]).all())
