"""Quota: the expected outcomes of a group are at least a share of all.

y_group - share * sum_g y_g >= 0        (y in number)

The sum is over all candidates, including those of unknown group. With `within` it holds in each value of the segment
that has candidates of the group; elsewhere it could only be met by selecting no one.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from auditkit import hookimpl
from auditkit.constraints import Description, GroupConstraint, Parameter, Row, ShareAtLeast, Words
from auditkit.model.layout import Layout
from auditkit.text import percent


class Quota(GroupConstraint):
    type: ClassVar[str] = "quota"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("share", tightens=1),)
    group: str = Field(description="the group that the quota is for")
    share: float = Field(ge=0, le=1, description="its least share of the outcomes, 0 to 1")

    def rows(self, layout: Layout) -> list[Row]:
        outcome = self.outcome(layout)
        rows = []
        for scope in self.scopes(layout, (self.group,)):
            if self.group not in scope.sizes:
                continue
            label = f"{self.on} quota {self.group} >= {self.share:g}{scope.where}"
            weights = outcome * (1.0 * scope.share(layout, self.group) - self.share)
            meaning = ShareAtLeast(on=self.on, group=self.group, minimum=self.share, **scope.named)
            rows.append(Row.of(label, np.where(scope.covers(layout), weights, 0.0), ">=", 0, scope.by, meaning))
        return rows

    def describe(self, words: Words) -> Description:
        who, done = words.member(self.by, self.group), words.done(self.on)
        return self.described(
            f"at least {percent(self.share)} {who} among those {done}{self.ending()}",
            f"Utility kept as the share of {who} rises",
            f"least share of {who} among those {done}",
        )


@hookimpl
def auditkit_constraints() -> list[type[Quota]]:
    return [Quota]
