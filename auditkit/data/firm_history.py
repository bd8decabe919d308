"""The history of a firm's searches: one clean row per application, with what was done to get there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from auditkit.data.attributes import AGE_BANDS, in_order
from auditkit.data.problems import Notice, Problems, RowCounts
from auditkit.data.raw_table import Source
from auditkit.data.reading import Reading
from auditkit.data.roles import Mapping as RoleMapping
from auditkit.display import Shown
from auditkit.model.groups import UNKNOWN

ALL = "all"
"""The one search of data that has no column of searches."""


@dataclass(frozen=True, eq=False)
class History(Shown):
    """One row per application. Treat `table` as read-only.

    | column | type | meaning |
    | --- | --- | --- |
    | `row` | int | its place in the file (for event logs, its first event) |
    | `candidate`, `search` | str | ids; `search` is "all" if the data has none |
    | `person` | str | who applied; absent unless one person has several applications |
    | `group` | str | sex and race crossed with `+`, or the first attribute: what knows only one attribute uses it |
    | `group:<attribute>` | str | each attribute alone; "unknown" for no answer or a declined one |
    | `member:<attribute>:<group>` | float | the probability of a group that somebody imputed; NaN if there is none |
    | `band:<attribute>` | str | the band of age of `AGE_BANDS`; only beside ages and dates of birth |
    | `segment:<name>` | str | department, location, level, source; "unknown" if empty |
    | `inspected` | bool | |
    | `selected` | bool | the firm said yes, also if an offer was declined; absent in an audit of inspections only |
    | `status` | str | `selected`, `declined`, `rejected`, `withdrawn` or `pending`; absent with `selected` |
    | `declined`, `withdrawn`, `pending` | bool | `withdrawn` and `pending` are no rejections: see `decided_at` |
    | `score` | float | absent if there is none; NaN if not inspected |
    | `prior:<column>` | float or category | |
    | `cost`, `cost:<stage>` | float | absent if there is none |
    | `capacity` | int | the same in all rows of a search; absent if there is none |
    | `unit_capacity:<unit>` | float | the same in all rows of a search and unit; NaN if the unit has no limit |
    | `outcome`, `expense:<column>` | float | absent if there is none |
    | `date` | datetime | absent if there is none |
    | `stage:<name>` | boolean | the stage was reached; NA if that is not yet known |
    | `passed:<name>` | boolean | it was passed; NA if it was not reached or is not known |
    | `step:<name>` | boolean | the step was reached; NA for those who withdrew or are undecided before it |

    `attributes`, `segments` and `steps` are the names after the colon, in order; the last step is the selection.
    `units` are the segments with limits inside a search, from outer to inner.
    `crossings` are tuples of attributes that are compared crossed. `characteristics` maps each attribute to `sex`,
    `race`, `age`, `veteran`, `disability`, `nationality`, `religion`, `orientation`, `transgender` or `other`.
    `tool_scores` are columns of the table with a number for everybody that are named like scores.
    """

    table: pd.DataFrame
    stages: tuple[str, ...]
    score_stage: str | None
    mapping: RoleMapping
    problems: Problems
    counts: RowCounts
    source: Source
    notices: tuple[Notice, ...]
    attributes: tuple[str, ...] = ()
    crossings: tuple[tuple[str, ...], ...] = ()
    characteristics: Mapping[str, str] = field(default_factory=dict)
    segments: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    tool_scores: tuple[str, ...] = ()
    reading: Reading | None = None

    def to_frame(self) -> pd.DataFrame:
        """The table, to keep: one row per application."""
        return self.table.copy()

    def __repr__(self) -> str:
        counts = self.counts
        return f"<History of {self.source.path}: {counts.rows_used:,} of {counts.rows_read:,} rows used>"

    def _facts(self) -> list[str]:
        return [
            f"{self.table['search'].nunique():,} searches, groups: {', '.join(self.groups) or 'none'}",
            *([f"stages: {', '.join(self.stages)}"] if self.stages else ()),
            f"{len(self.problems):,} problems with cells",
        ]

    def _tables(self) -> list[pd.DataFrame]:
        """The mapping, and no row of the data."""
        return [pd.DataFrame(render_mapping(self), columns=["role", "column", "reason"])]

    def has(self, column: str) -> bool:
        """Whether the table has this canonical column."""
        return column in self.table.columns

    @property
    def decision(self) -> str:
        """The column that the audit is about: `selected`, or `inspected` if the data do not say who was selected."""
        return "selected" if self.has("selected") else "inspected"

    @property
    def decided(self) -> pd.Series[Any]:
        """Which applications were decided on in the end: all but the withdrawn and the pending ones."""
        return ~(self.table["withdrawn"] | self.table["pending"])

    def reached(self, step: str) -> pd.Series[Any]:
        """Which applications are known to have reached a step."""
        return self.table[f"step:{step}"].fillna(False).astype(bool)

    def decided_at(self, step: str) -> pd.Series[Any]:
        """Which applications enter the rates of a step: the firm decided on them in the end, or let them pass it.

        Whoever withdrew, or is still in process, counts at the steps that they reached and at none after.
        """
        return self.decided | self.reached(step)

    @property
    def counted(self) -> pd.Series[Any]:
        """Which applications enter the rates of at least one step."""
        found = self.decided
        for step in self.steps:
            found = found | self.reached(step)
        return found

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that occur, sorted, without "unknown"."""
        return tuple(sorted(set(self.table["group"].unique()) - {UNKNOWN}))

    def attribute_of(self, characteristic: str) -> str | None:
        """The first attribute about a characteristic: `attribute_of("sex")` is "Gender", None if the data has none."""
        return next((name for name in self.attributes if self.characteristics[name] == characteristic), None)

    @property
    def ordered(self) -> dict[str, tuple[str, ...]]:
        """Columns of ordered groups, from the youngest: `band:` of ages, and `group:` of a file's own bands of age."""
        found: dict[str, tuple[str, ...]] = {f"band:{name}": AGE_BANDS for name in self.columns("band")}
        for name in self.attributes:
            if self.characteristics.get(name) == "age" and f"band:{name}" not in found:
                found[f"group:{name}"] = in_order(self.table[f"group:{name}"].unique())
        return {name: bands for name, bands in found.items() if len(bands) > 2}

    @property
    def repeated_applicants(self) -> int:
        """How many people made more than one application."""
        return 0 if not self.has("person") else int((self.table["person"].value_counts() > 1).sum())

    def columns(self, prefix: str) -> tuple[str, ...]:
        """The names after the colon of `group:`, `member:`, `prior:`, `expense:`, `cost:`, `stage:` or `passed:`."""
        return tuple(str(c).removeprefix(f"{prefix}:") for c in self.table.columns if str(c).startswith(f"{prefix}:"))


def render_mapping(history: History) -> list[tuple[str, str, str]]:
    """Role, columns and reason of each role, for printing."""
    rows = []
    for choice in history.mapping.choices:
        name = (", " if choice.role in ("group", "segment", "reason") else " + ").join(choice.columns)
        if choice.test:
            name += f" {choice.test.sign} {choice.test.value}"
        rows.append((choice.role, name, choice.reason))
    return rows
