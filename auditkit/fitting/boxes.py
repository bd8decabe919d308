"""One-stage candidates: pay the cost, see the score, select or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from auditkit.fitting.fitter import Laws
from auditkit.fitting.long_term import TrueValue
from auditkit.fitting.searches import People
from auditkit.model.groups import Groups
from auditkit.model.layout import Floats
from auditkit.model.search import Box


def boxes(
    laws: Laws,
    groups: Sequence[People],
    costs: Floats,
    attributes: Sequence[Mapping[str, float | str]],
    value_scale: float,
    true_value: TrueValue | None,
    names: Sequence[str] | None = None,
) -> list[Box]:
    """A box for each candidate, named c0, c1, ... if not otherwise; those of one law and group share their arrays."""
    shared: dict[tuple[int, str], tuple[Floats, Floats, Floats | None]] = {}
    result = []
    for i, (number, who) in enumerate(zip(laws.which.tolist(), groups)):
        key = number, who.cell
        if key not in shared:
            scores, probs = laws.law(number)
            values = value_scale * scores
            true = None if true_value is None else value_scale * true_value.of(scores, who.cell)
            for array in (values, probs, true):
                if array is not None:
                    array.setflags(write=False)
            shared[key] = values, probs, true
        result.append(
            _box(f"c{i}" if names is None else names[i], who.group, float(costs[i]), *shared[key], attributes[i])
        )
    return result


def _box(
    name: str,
    group: Groups,
    cost: float,
    values: Floats,
    probs: Floats,
    true_values: Floats | None,
    attributes: Mapping[str, float | str],
) -> Box:
    """A box that is not checked and keeps the arrays it is given.

    `Laws` has checked them all at once, and the constructor would copy them: with 100,000 candidates that is most of
    the time and memory of a fit.
    """
    box, put = object.__new__(Box), object.__setattr__
    # one by one: attributes that are set so need no dictionary of the box's own, a third of a kilobyte each
    put(box, "id", name)
    put(box, "group", group)
    put(box, "cost", cost)
    put(box, "values", values)
    put(box, "probs", probs)
    put(box, "true_values", true_values)
    put(box, "attributes", attributes)
    return box
