"""From a file to a clean `History`: `load` is the way in, `check` the same without raising.

`read` (bytes to text) -> `roles` (which column is what) -> `clean` (cells to values, all problems) -> `history`.
"""

from __future__ import annotations

from collections import abc
from dataclasses import dataclass
from pathlib import Path

from auditkit.data.cells import UNKNOWN
from auditkit.data.clean import Options, clean, set_aside
from auditkit.data.history import ALL, History, render_mapping
from auditkit.data.match import suggestions
from auditkit.data.problems import KINDS, Counts, DataProblem, Notice, Problems
from auditkit.data.profile import Column
from auditkit.data.read import Source, read
from auditkit.data.roles import Choice, Given, Mapping, describe_all, infer
from auditkit.data.words import ROLES
from auditkit.errors import InputError, Problem

__all__ = [
    "ALL",
    "KINDS",
    "ROLES",
    "UNKNOWN",
    "Checked",
    "Choice",
    "Column",
    "Counts",
    "DataProblem",
    "History",
    "Mapping",
    "Notice",
    "Problems",
    "Source",
    "check",
    "inspect_columns",
    "load",
    "render_mapping",
]


@dataclass(frozen=True, eq=False)
class Checked:
    """What `check` found. `errors` are what stops before the cells are read: the file, or a role that must be given."""

    errors: tuple[Problem, ...]
    history: History | None
    problems: Problems

    @property
    def ok(self) -> bool:
        """Whether `load` would succeed."""
        return not self.errors and not len(self.problems.of("refuse"))


def load(
    path: str | Path,
    mapping: Given | None = None,
    *,
    cost: float | abc.Mapping[str, float] | None = None,
    capacity: int | None = None,
    words: abc.Mapping[str, str] | None = None,
    sheet: str | None = None,
) -> History:
    """Read a file into a clean history; one InputError with everything that must be mended first.

    `mapping` is role -> column (or columns, in a list or joined by `+`; "none" leaves a role out; `selected` and
    `inspected` may compare, as in "Score>=70"). `words` gives statuses the file uses a meaning.
    """
    history = _build(path, mapping, cost, capacity, words, sheet)
    history.problems.raise_refused()
    return history


def check(
    path: str | Path,
    mapping: Given | None = None,
    *,
    cost: float | abc.Mapping[str, float] | None = None,
    capacity: int | None = None,
    words: abc.Mapping[str, str] | None = None,
    sheet: str | None = None,
) -> Checked:
    """Everything that `load` would complain about, without raising."""
    try:
        history = _build(path, mapping, cost, capacity, words, sheet)
    except InputError as error:
        return Checked(error.problems, None, Problems())
    return Checked((), history, history.problems)


def inspect_columns(path: str | Path, *, sheet: str | None = None) -> tuple[tuple[Column, tuple[str, ...]], ...]:
    """Each column of a file, and the roles that it could play, best first."""
    return tuple((column, suggestions(column)) for column in describe_all(read(path, sheet=sheet)))


def _build(
    path: str | Path,
    mapping: Given | None,
    cost: float | abc.Mapping[str, float] | None,
    capacity: int | None,
    words: abc.Mapping[str, str] | None,
    sheet: str | None,
) -> History:
    if capacity is not None and capacity < 0:
        raise InputError(Problem("--capacity", f"{capacity} is not a number of positions", "give 0 or more"))
    raw, collector, left = set_aside(read(path, sheet=sheet))
    return clean(raw, infer(raw, mapping), Options(cost, capacity, words), collector, left)
