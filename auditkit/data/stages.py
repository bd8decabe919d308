"""Stages in order: who reached each and who passed it.

reached(i) is what the column says, or that a later stage was reached. passed(i) is what its words say, else whether
stage i+1 was reached (after the last: whether the candidate was selected). It stays open (NA) for those who withdrew
or are still in process, because they did not fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from auditkit.data.problems import Collector
from auditkit.data.statuses import to_stage, took_place


@dataclass(frozen=True, eq=False)
class Stages:
    """The stage columns of a table as codes of `marks.to_stage`, in order."""

    names: tuple[str, ...]
    codes: tuple[pd.Series[Any], ...]

    @property
    def first_reached(self) -> pd.Series[Any]:
        return took_place(self.codes[0])

    def status(self) -> pd.Series[Any]:
        """The final status when no column says it: selected is who reached the last stage and did not fail it."""
        last = self.codes[-1]
        status = pd.Series("rejected", index=last.index, dtype="str")
        anywhere = pd.concat(self.codes, axis=1)
        status = status.mask((anywhere == "pending").any(axis=1), "pending").mask(
            (anywhere == "withdrawn").any(axis=1), "withdrawn"
        )
        return status.mask(last.isin(["yes", "passed"]), "selected").mask(last == "declined", "declined")


def read_stages(table: pd.DataFrame, columns: tuple[str, ...], names: tuple[str, ...], collector: Collector) -> Stages:
    """The stage columns of a table."""
    codes = tuple(to_stage(table[column], column, collector, role="stages") for column in columns)
    return Stages(names, codes)


def reach_and_pass(stages: Stages, status: pd.Series[Any], collector: Collector) -> pd.DataFrame:
    """Columns `stage:<name>` and `passed:<name>`."""
    later = status.isin(["selected", "declined"])
    next_reached: pd.Series[Any] | None = None
    reached: dict[str, pd.Series[Any]] = {}
    passed: dict[str, pd.Series[Any]] = {}
    for name, codes in reversed(list(zip(stages.names, stages.codes, strict=True))):
        here = took_place(codes)
        collector.add("stage-skipped", later & ~here & (codes != "pending"), name, other=repr(name))
        here = here | later
        went_on = (status == "selected") if next_reached is None else next_reached
        known = (
            went_on | (codes == "passed") | codes.isin(["failed", "declined"]) | ~status.isin(["withdrawn", "pending"])
        )
        yes = went_on | (codes == "passed")
        passed[f"passed:{name}"] = yes.astype("boolean").where(here & known)
        reached[f"stage:{name}"] = here.astype("boolean").where(here | (codes != "pending"))
        later, next_reached = here, here
    flipped = [*reversed(reached.items()), *reversed(passed.items())]
    return pd.DataFrame(dict(flipped))


def stage_of_scores(reached: pd.DataFrame, names: tuple[str, ...], scored: pd.Series[Any]) -> str | None:
    """The stage that shows the score: the last one that (nearly) everybody with a score reached."""
    if not scored.any():
        return None
    shares = [
        float(np.mean(reached[f"stage:{name}"].fillna(False).to_numpy(dtype=bool)[scored.to_numpy()])) for name in names
    ]
    fit = [name for name, share in zip(names, shares, strict=True) if share >= 0.99]
    return fit[-1] if fit else None
