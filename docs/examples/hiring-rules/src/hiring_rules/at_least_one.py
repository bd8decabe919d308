"""At least one: in every search somebody of the group is looked at, on average (after the NFL's Rooney rule)."""

from typing import ClassVar

import numpy as np
from auditkit import Layout, OutcomeConstraint, Parameter, Row, group_code, hookimpl
from pydantic import Field


class AtLeastOne(OutcomeConstraint):
    type: ClassVar[str] = "at-least-one"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("number", tightens=1),)
    on: str = "inspection"
    group: str = Field(description="of whom")
    number: float = Field(default=1.0, ge=0, description="how many in each search; all where there are fewer")

    def rows(self, layout: Layout) -> list[Row]:
        member = layout.candidate_group == group_code(layout, self.group)
        available = np.bincount(layout.candidate_search, member, minlength=len(layout.search_ids))
        counted = self.outcome(layout) * member[layout.state_candidate]
        search = layout.candidate_search[layout.state_candidate]
        return [
            Row.of(f"{self.on} of {self.group} in {name} >= {least:g}", counted * (search == s), ">=", least)
            for s, (name, least) in enumerate(zip(layout.search_ids, np.minimum(available, self.number), strict=True))
            if least > 0
        ]


@hookimpl
def auditkit_constraints() -> list[type[AtLeastOne]]:
    return [AtLeastOne]
