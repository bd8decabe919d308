"""The measure `shortfall`: how many more of a group would have the outcome at the common rate.

n1 P - x1,    P = (x1 + x0) / (n1 + n0), the rate of the group and the reference together
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from auditkit import hookimpl
from auditkit.disparity.measure import DisparityMeasure, Form, Numbers


class Shortfall(DisparityMeasure):
    name: ClassVar[str] = "shortfall"
    title: ClassVar[str] = "Shortfall"
    form: ClassVar[Form] = "expected"
    legend: ClassVar[str] = "how many more of the group would have had the outcome at the common rate"

    def measure(self, counts: Mapping[str, Numbers], reference: str) -> dict[str, float | None]:
        from auditkit.disparity.pair import Pair

        others = {group: n for group, n in counts.items() if group != reference}
        return {group: Pair(*n, *counts[reference]).shortfall for group, n in others.items()}


@hookimpl
def auditkit_measures() -> list[type[Shortfall]]:
    return [Shortfall]
