"""One-stage candidates: pay the cost, see the score, select or not."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from auditkit.fit.fitter import Laws
from auditkit.fit.long_term import TrueValue
from auditkit.instance import Box
from auditkit.layout import Floats


def boxes(
    laws: Laws,
    groups: Sequence[str],
    costs: Floats,
    attributes: Sequence[dict[str, float]],
    value_scale: float,
    true_value: TrueValue | None,
) -> list[Box]:
    """A box for each candidate, named c0, c1, ...; those with the same law and group share their arrays."""
    made: dict[tuple[int, str], Box] = {}
    result = []
    for i, (number, group) in enumerate(zip(laws.which.tolist(), groups)):
        if (number, group) not in made:
            values, probs = laws.law(number)
            true = None if true_value is None else value_scale * true_value.of(values, group)
            made[number, group] = Box("", group, 0.0, value_scale * values, probs, true)
        # a copy shares the arrays and is not checked again: that is what makes 100,000 of them cheap
        box = copy.copy(made[number, group])
        box.__dict__.update(id=f"c{i}", cost=float(costs[i]), attributes=attributes[i])
        result.append(box)
    return result
