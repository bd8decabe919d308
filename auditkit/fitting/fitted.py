"""What fitting yields: the instance, what the firm did in it, how well the priors fit, and what had to be assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from pydantic import JsonValue

from auditkit.display import Shown
from auditkit.errors import InputError
from auditkit.fitting.long_term import TrueValue
from auditkit.fitting.quality import FitQuality
from auditkit.fitting.refit import Refit
from auditkit.model.instance import Instance
from auditkit.model.layout import Bools, Floats, Ints, Partition
from auditkit.text import amount

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


class CannotFit(InputError):
    """The data cannot support a model at all; an audit of disparities is still possible."""


@dataclass(frozen=True, eq=False)
class Realised:
    """The firm's own policy. Arrays have one entry per candidate, in the order of the instance's layout.

    Utility = sum of `credited` over the selected - sum of `cost` over the inspected, in the unit of value and cost.
    """

    search: Ints
    capacity: Ints
    """Per search."""
    inspected: Bools
    offered: Bools
    """The firm said yes; who declined is not among the `selected`."""
    selected: Bools
    value: Floats
    """value_scale * score; NaN without a score."""
    credited: Floats
    """The value, or without a score the mean of the prior."""
    cost: Floats
    """What the inspection cost (of chains: all stages reached); of someone not inspected, what it would have cost
    (of chains: 0)."""
    true: Floats | None
    """The expected true value in place of `credited`; None without outcomes."""
    reached: Mapping[str, Bools]
    """Of chains: who reached each stage, in order."""

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                array.setflags(write=False)

    def who_reached(self, on: str) -> Bools:
        """Those with the outcome `on`: selection, inspection or a stage."""
        return {"selection": self.selected, "inspection": self.inspected, **self.reached}[on]

    @property
    def by_search(self) -> Floats:
        """Utility of each search."""
        return self._sum(np.where(self.selected, self.credited, 0.0) - np.where(self.inspected, self.cost, 0.0))

    @property
    def utility(self) -> float:
        return float(self.by_search.sum())

    @property
    def long_term_by_search(self) -> Floats | None:
        if self.true is None:
            return None
        return self._sum(np.where(self.selected, self.true, 0.0) - np.where(self.inspected, self.cost, 0.0))

    @property
    def long_term_utility(self) -> float | None:
        """Utility with true values in place of scores."""
        by_search = self.long_term_by_search
        return None if by_search is None else float(by_search.sum())

    @property
    def unfilled_capacity(self) -> int:
        """Positions that stayed empty."""
        return int(np.maximum(self.capacity - self._sum(self.selected.astype(np.float64)), 0).sum())

    @property
    def without_score(self) -> int:
        """How many of the selected count with the mean of their prior."""
        return int((self.selected & np.isnan(self.value)).sum())

    def _sum(self, per_candidate: Floats) -> Floats:
        return np.bincount(self.search, per_candidate, minlength=len(self.capacity)).astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """Everything that a fit depends on apart from the data."""

    fitter: str
    fitter_settings: Mapping[str, JsonValue]
    features: tuple[str, ...]
    blind: bool
    """The priors do not use the groups."""
    group_aware: bool
    """The policies of the instance see the groups."""
    folds: int
    folds_of: str
    propensity: bool
    value_scale: float
    """What one point of the score is worth, in the unit of costs."""
    value_revealed: bool
    """The value of a point follows from how many the firm inspected."""
    cost: JsonValue
    capacity: JsonValue
    stages: tuple[str, ...]
    score_stage: str | None
    """The stage that shows the score; None without stages."""
    true_value: TrueValue | None


@dataclass(frozen=True, eq=False)
class Fitted(Shown):
    """A history as an instance. Candidates are named c0, c1, ... in the order of the layout."""

    instance: Instance
    realised: Realised
    quality: FitQuality
    rows: Ints
    """Per candidate: position of its row in the history's table."""
    expected: Floats
    """Per candidate: mean of its prior, in the unit of value."""
    true_value: TrueValue | None
    notices: tuple[str, ...]
    settings: FitSettings
    refit: Refit | None = None
    """Fits resampled histories; None if the priors are not learnt from one."""
    groups: Mapping[str, Partition] = field(default_factory=dict)
    """The people who applied, by each protected attribute: in a model that does not see groups the instance has their
    probabilities only."""
    alike: tuple[str, ...] = ()
    """Attributes whose groups nothing that policies see tells apart."""

    def save_json(self, path: str | Path) -> None:
        """Write the instance file."""
        self.instance.save_json(path)

    def to_frame(self) -> pd.DataFrame:
        """One row per candidate of the instance, beside what the firm did; `at` is its row in the history's table."""
        frame = self.instance.to_frame()
        return frame.assign(
            expected=self.expected, inspected=self.realised.inspected, selected=self.realised.selected, at=self.rows
        )

    def __repr__(self) -> str:
        return repr(self.instance).replace("Instance", "Fitted", 1)

    def _facts(self) -> list[str]:
        worth = f"the firm's decisions were worth {amount(self.realised.utility)}"
        return [f"fitter: {self.settings.fitter}; {worth}", *self.notices, *self.quality.warnings]

    def _tables(self) -> list[pd.DataFrame]:
        """Candidates of each group, and how many the firm inspected and selected."""
        import pandas as pd

        layout, realised = self.instance.layout, self.realised
        inspected, selected = (layout.by_attribute(who) for who in (realised.inspected, realised.selected))
        rows = [
            (name, group, inspected[name][group], selected[name][group], size)
            for name, part in layout.protected.items()
            for group, size in zip(part.names, part.sizes, strict=True)
        ]
        return [pd.DataFrame(rows, columns=["attribute", "group", "inspected", "selected", "candidates"])]
