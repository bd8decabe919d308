"""Which applications count, and which of them have the outcome.

"Selected" means any binary outcome: selected, inspected, or scored above the median of the full sample (a tie with
the median is not above it). Withdrawn and pending applications don't enter any rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from auditkit.errors import InputError, Problem, nearest


@dataclass(frozen=True, eq=False)
class CountedOutcome:
    """A binary outcome of every row, and which rows count.

    Withdrawn or undecided (pending) isn't rejected: such rows don't enter any rate, whatever their outcome, because
    leaving out only those without the outcome would raise the rate. A score that was given always counts.
    """

    name: str
    values: NDArray[np.bool_]
    counted: NDArray[np.bool_]
    withdrawn: int
    pending: int
    not_measured: int
    median: float | None = None

    @staticmethod
    def of_column(
        values: pd.Series[Any],
        withdrawn: pd.Series[Any] | None = None,
        pending: pd.Series[Any] | None = None,
        name: str = "selected",
    ) -> CountedOutcome:
        """From a yes/no column; rows where it is missing are left out."""
        numbers, missing = _numbers(values), values.isna().to_numpy(np.bool_)
        if not np.all(missing | (numbers == 0) | (numbers == 1)):
            raise InputError(Problem(f"column {name!r}", "is not a yes/no column", "the outcome 'score' is for scores"))
        gone = _truth(withdrawn, len(numbers))
        waits = _truth(pending, len(numbers)) & ~gone
        counted = ~(gone | waits | missing)
        return CountedOutcome(name, numbers == 1, counted, *_sizes(gone, waits, missing & ~gone & ~waits))

    @staticmethod
    def above_median(
        scores: pd.Series[Any], withdrawn: pd.Series[Any] | None = None, pending: pd.Series[Any] | None = None
    ) -> CountedOutcome:
        """Score above the median of all rows that have a score, whatever their group; a tie is not above."""
        numbers = _numbers(scores)
        scored = np.isfinite(numbers)
        median = float(np.median(numbers[scored])) if scored.any() else None
        above = scored if median is None else scored & (numbers > median)
        gone = _truth(withdrawn, len(numbers)) & ~scored
        waits = _truth(pending, len(numbers)) & ~scored & ~gone
        sizes = _sizes(gone, waits, ~(scored | gone | waits))
        return CountedOutcome("score above the median", above, scored, *sizes, median)

    @staticmethod
    def of_table(table: pd.DataFrame, outcome: str = "selected") -> CountedOutcome:
        column, withdrawn, pending = _column(table, outcome), table.get("withdrawn"), table.get("pending")
        if outcome == "score":
            return CountedOutcome.above_median(column, withdrawn, pending)
        return CountedOutcome.of_column(column, withdrawn, pending, outcome)


def _sizes(gone: NDArray[np.bool_], waits: NDArray[np.bool_], blank: NDArray[np.bool_]) -> tuple[int, int, int]:
    return int(gone.sum()), int(waits.sum()), int(blank.sum())


def _numbers(column: pd.Series[Any]) -> NDArray[np.float64]:
    """NaN for anything missing or not a number."""
    return np.asarray(pd.to_numeric(column, errors="coerce").astype("Float64").to_numpy(np.float64, na_value=np.nan))


def _truth(column: pd.Series[Any] | None, rows: int) -> NDArray[np.bool_]:
    if column is None:
        return np.zeros(rows, dtype=np.bool_)
    return column.astype("boolean").fillna(False).to_numpy(np.bool_)


def _column(table: pd.DataFrame, name: str) -> pd.Series[Any]:
    if name not in table:
        raise InputError(Problem(f"column {name!r}", "is not in the table", nearest(name, map(str, table.columns))))
    return table[name]
