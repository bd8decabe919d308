"""At least one: on average, every search looks at someone from the group (after the NFL's Rooney rule)."""

from typing import ClassVar

import numpy as np
from auditkit import Description, GroupConstraint, Layout, Other, Parameter, Row, Words, hookimpl
from pydantic import Field


class AtLeastOne(GroupConstraint):
    type: ClassVar[str] = "at-least-one"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("number", tightens=1),)
    on: str = "inspection"
    group: str = Field(description="of whom")
    number: float = Field(default=1.0, ge=0, description="how many in each search; all where there are fewer")

    def rows(self, layout: Layout) -> list[Row]:
        rows, outcome = [], self.outcome(layout)
        search = layout.candidate_search[layout.state_candidate]
        for scope in self.scopes(layout, (self.group,)):
            share = 1.0 * scope.share(layout, self.group)
            available = np.bincount(layout.candidate_search, share[layout.start], minlength=len(layout.search_ids))
            meaning = Other(on=self.on, group=self.group, basis="count", **scope.named)
            for s in np.flatnonzero(available):
                least = min(available[s], self.number)
                label = f"{self.on} of {self.group} in {layout.search_ids[s]} >= {least:g}{scope.where}"
                weights = outcome * share * (search == s)
                rows.append(Row.of(label, weights, ">=", least, meaning=meaning))
        return rows

    def describe(self, words: Words) -> Description:
        who = f"{words.member(self.by, self.group)} {words.outcome(self.on)}"
        return self.described(f"at least {self.number:g} of {who} in every search", axis=f"least number of {who}")


@hookimpl
def auditkit_constraints() -> list[type[AtLeastOne]]:
    return [AtLeastOne]
