"""From a file and its settings to a clean `History`: `load` is the way in, `check` the same without raising."""

from __future__ import annotations

from collections import abc
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from auditkit.data.clean import CleaningOptions, clean, set_aside
from auditkit.data.firm_history import History
from auditkit.data.problems import Problems
from auditkit.data.read_file import Tabular, give_up, read
from auditkit.data.read_query import read_query
from auditkit.data.reader import Reader
from auditkit.data.roles import Given, infer
from auditkit.data.sql_query import Query
from auditkit.data.summary_table import expand
from auditkit.data.unit_capacities import Limited
from auditkit.display import Shown
from auditkit.errors import InputError, PluginError, Problem


@dataclass(frozen=True, eq=False)
class Checked(Shown):
    """What `check` found. `errors` are what stops before the cells are read: the file, or a role that must be given."""

    errors: tuple[Problem, ...]
    history: History | None
    problems: Problems

    @property
    def ok(self) -> bool:
        """Whether `load` would succeed."""
        return not self.errors and not len(self.problems.of("refuse"))

    def to_frame(self) -> pd.DataFrame:
        """One row per problem of a cell."""
        columns = ["code", "treatment", "row", "column", "value", "what", "fix"]
        return pd.DataFrame([[getattr(p, name) for name in columns] for p in self.problems], columns=columns)

    def __repr__(self) -> str:
        found = f"{len(self.errors)} errors, {len(self.problems):,} problems with cells"
        return f"<Checked: {found}; {'an audit can go on' if self.ok else 'fix them before an audit'}>"

    def _facts(self) -> list[str]:
        return [str(error) for error in self.errors]

    def _tables(self) -> list[pd.DataFrame]:
        """How often each problem occurs."""
        return [self.to_frame().groupby(["code", "treatment"]).size().rename("cells").reset_index()]


def load(
    path: str | Path | Query | Tabular,
    mapping: Given | None = None,
    *,
    cost: float | abc.Mapping[str, float] | None = None,
    capacity: int | None = None,
    words: abc.Mapping[str, str] | None = None,
    limits: Limited | None = None,
    sheet: str | None = None,
    readers: abc.Iterable[type[Reader]] = (),
    on_fault: abc.Callable[[PluginError], None] = give_up,
) -> History:
    """Read a file or the rows of a query into a clean history; one InputError with everything that must be fixed first.

    `mapping` is role -> column (or columns, in a list or joined by `+`; "none" leaves a role out; `selected` and
    `inspected` may compare, as in "Score>=70"). `words` gives statuses the file uses a meaning.
    `limits` says how many can be selected in the units of a column: one number, or one for each unit. `readers` are
    those of plugins, for files that are not delimited text; `on_fault` hears of one that fails.
    """
    history = _build(path, mapping, CleaningOptions(cost, capacity, words, limits or {}), sheet, readers, on_fault)
    history.problems.raise_refused()
    return history


def check(
    path: str | Path | Query | Tabular,
    mapping: Given | None = None,
    *,
    cost: float | abc.Mapping[str, float] | None = None,
    capacity: int | None = None,
    words: abc.Mapping[str, str] | None = None,
    limits: Limited | None = None,
    sheet: str | None = None,
    readers: abc.Iterable[type[Reader]] = (),
    on_fault: abc.Callable[[PluginError], None] = give_up,
) -> Checked:
    """Everything that `load` would complain about, without raising."""
    try:
        history = _build(path, mapping, CleaningOptions(cost, capacity, words, limits or {}), sheet, readers, on_fault)
    except InputError as error:
        return Checked(error.problems, None, Problems())
    return Checked((), history, history.problems)


def _build(
    path: str | Path | Query | Tabular,
    mapping: Given | None,
    options: CleaningOptions,
    sheet: str | None,
    readers: abc.Iterable[type[Reader]],
    on_fault: abc.Callable[[PluginError], None],
) -> History:
    if options.capacity is not None and options.capacity < 0:
        raise InputError(Problem("--capacity", f"{options.capacity} is not a number of positions", "give 0 or more"))
    if options.limits:
        mapping = {"unit": list(options.limits), **(mapping or {})}
    if isinstance(path, Query):
        found = read_query(path)
    else:
        found = read(path, sheet=sheet, readers=readers, on_fault=on_fault)
    raw, collector, left = set_aside(found)
    if not {"count", "candidate", "selected", "stage"} & (mapping or {}).keys():
        raw = expand(raw)
    return clean(raw, infer(raw, mapping), options, collector, left)
