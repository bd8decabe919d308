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
from auditkit.data.statuses import took_place
from auditkit.data.vocabulary import spoken

PASSED = " (passed)"
"""What the step of having passed a test is called, after the test."""


@dataclass(frozen=True, eq=False)
class Stages:
    """The stages of a table as codes of `step_codes`, in order."""

    names: tuple[str, ...]
    codes: tuple[pd.Series[Any], ...]

    @property
    def first_reached(self) -> pd.Series[Any]:
        return took_place(self.codes[0])

    def status(self) -> pd.Series[Any]:
        """The final status when no column says it: selected is who reached the last stage."""
        last = self.codes[-1]
        status = pd.Series("rejected", index=last.index, dtype="str")
        for codes in self.codes:
            status = status.mask(codes.isin(["pending", "withdrawn"]), codes)
            status = status.mask(codes.isin(["no", "failed"]), "rejected")
        return status.mask(last.isin(["yes", "passed"]), "selected").mask(last == "declined", "declined")

    def skipped(self, status: pd.Series[Any]) -> dict[str, tuple[pd.Series[Any], pd.Series[Any]]]:
        """For each stage who got further without it, and all who got further; the last stage first."""
        further = status.isin(["selected", "declined"])
        result = {}
        for name, codes in reversed(list(zip(self.names, self.codes, strict=True))):
            here = took_place(codes)
            result[name] = further & ~here & (codes != "pending"), further
            further = further | here
        return result


def reach_and_pass(stages: Stages, status: pd.Series[Any], collector: Collector) -> pd.DataFrame:
    """Columns `stage:<name>` and `passed:<name>`."""
    skipped = stages.skipped(status)
    next_reached: pd.Series[Any] | None = None
    reached: dict[str, pd.Series[Any]] = {}
    passed: dict[str, pd.Series[Any]] = {}
    for name, codes in reversed(list(zip(stages.names, stages.codes, strict=True))):
        without, further = skipped[name]
        collector.add("stage-skipped", without, name, other=repr(name))
        here = took_place(codes) | further
        went_on = (status == "selected") if next_reached is None else next_reached
        # in a column with fails, a word that only says that it took place is not one of them
        good = codes.isin(["passed", "yes"]) if (codes == "failed").any() else codes == "passed"
        known = went_on | good | codes.isin(["failed", "declined"]) | ~status.isin(["withdrawn", "pending"])
        yes = went_on | good
        passed[f"passed:{name}"] = yes.astype("boolean").where(here & known)
        reached[f"stage:{name}"] = here.astype("boolean").where(here | (codes != "pending"))
        next_reached = here
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


def reached_steps(found: dict[str, pd.Series[Any]], unfinished: pd.Series[Any]) -> dict[str, pd.Series[Any]]:
    """Steps in order with who reached them; NA for those who withdrew, or are still in process, before a step.

    Steps that tell nothing are left out: those that everybody reached, and of those that tell the same all but the
    last, or the one before it where that is known of more people or alone is called like a step.
    """
    steps: dict[str, pd.Series[Any]] = {}
    replaced: set[str] = set()
    for place, (name, reached) in enumerate(reversed(found.items())):
        flags = reached.astype("boolean")
        flags = flags.where(flags.fillna(False).astype(bool) | ~unfinished)
        passed = name.endswith(PASSED)
        same = [later for later, other in steps.items() if flags.equals(other) or (not passed and _agree(flags, other))]
        if same and same[-1] == next(iter(steps)) and flags.sum() > steps[same[-1]].sum():
            same = []  # some reached it and left before the last: of 89 with an offer 80 accepted
        if place and (same or flags.dropna().all()):
            last = same[-1] if same else ""
            settled = not last or last in replaced or last == next(iter(steps))
            if not settled and _says_more(name, flags, last, steps[last]):
                steps = {name if key == last else key: flags if key == last else steps[key] for key in steps}
                replaced.add(name)
            continue
        steps[name] = flags
    return dict(reversed(steps.items()))


def _says_more(name: str, flags: pd.Series[Any], later: str, other: pd.Series[Any]) -> bool:
    """Whether of two steps that tell the same the earlier is known of more people, or alone is called like a step."""
    if flags.count() != other.count():
        return bool(flags.count() > other.count())
    return spoken().step_rank(later) is None and spoken().step_rank(name) is not None


def _agree(one: pd.Series[Any], other: pd.Series[Any]) -> bool:
    both = one.notna() & other.notna()
    return bool(both.any() and (one[both] == other[both]).all())
