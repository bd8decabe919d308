"""Floor: every candidate has at least a given chance of the outcome.

y_i >= minimum        for every candidate i who can be selected at all

Candidates in a search, or a limit, without positions are left out, because no one is inspected there.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from auditkit import hookimpl
from auditkit.constraints import Description, Other, OutcomeConstraint, Parameter, Row, Words
from auditkit.model.layout import Floats, Layout
from auditkit.text import percent

MEANING = Other(text="the chance of one candidate", basis="count")


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
            if layout.barred[c]:
                continue
            states = first + np.flatnonzero(outcome[first:last])
            search = f"{layout.search_ids[layout.candidate_search[c]]}/" if several else ""
            label = f"{self.on} floor {search}{layout.candidate_ids[c]} >= {self.minimum:g}"
            rows.append(Row(label, states, outcome[states], ">=", self.minimum, meaning=MEANING))
        return rows

    def describe(self, words: Words) -> Description:
        chance = f"chance of every candidate to be {words.outcome(self.on)}"
        return self.described(
            f"a {chance} of at least {percent(self.minimum)}{self.counting()}",
            f"Utility kept as the least {chance} rises",
            "least chance of a candidate",
        )


@hookimpl
def auditkit_constraints() -> list[type[Floor]]:
    return [Floor]
