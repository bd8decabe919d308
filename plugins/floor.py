"""Floor: every candidate has at least a given chance of the outcome.

y_i >= minimum        for every candidate i
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from auditkit import hookimpl
from auditkit.constraints import OutcomeConstraint, Parameter, Row
from auditkit.model.layout import Floats, Layout


class Floor(OutcomeConstraint):
    type: ClassVar[str] = "floor"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("minimum", tightens=1),)
    minimum: float = Field(ge=0, le=1, description="least expected outcome of each candidate")

    def parameter_range(self, name: str, layout: Layout, visits: Floats) -> tuple[float, float]:
        return 0.0, float(layout.capacity.sum()) / len(layout.candidate_ids)

    def rows(self, layout: Layout) -> list[Row]:
        outcome = self.outcome(layout)
        several = len(layout.search_ids) > 1
        rows = []
        for c, (first, last) in enumerate(zip(layout.candidate_ptr[:-1], layout.candidate_ptr[1:], strict=True)):
            states = first + np.flatnonzero(outcome[first:last])
            search = f"{layout.search_ids[layout.candidate_search[c]]}/" if several else ""
            label = f"{self.on} floor {search}{layout.candidate_ids[c]} >= {self.minimum:g}"
            rows.append(Row(label, states, outcome[states], ">=", self.minimum))
        return rows


@hookimpl
def auditkit_constraints() -> list[type[Floor]]:
    return [Floor]
