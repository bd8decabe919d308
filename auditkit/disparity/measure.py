"""The base class of disparity measures: from the groups' numbers to one number for each of them.

A plugin subclasses `DisparityMeasure` and returns it from the hook `auditkit_measures`:

    class RateDifference(DisparityMeasure):
        name, title, form = "rate-difference", "Difference", "signed"

        def measure(self, counts, reference):
            base = counts[reference].selected / counts[reference].applicants
            return {group: n.selected / n.applicants - base for group, n in counts.items()}

It becomes a column of the report's table of tests, and is in `measures` of every group in the JSON. It sees only groups
that are compared and shown, so that no number of a hidden group can be worked out from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, get_args

Form = Literal["amount", "expected", "p_value", "percent", "ratio", "signed"]
"""How the report writes the numbers: names of functions in `auditkit.text`."""


class Numbers(NamedTuple):
    """Of one group: how many applied, and how many of them have the outcome."""

    applicants: int
    selected: int


class DisparityMeasure(ABC):
    """Base class of all measures that plugins add."""

    name: ClassVar[str]
    """Its key in the JSON."""

    title: ClassVar[str]
    """The heading of its column."""

    form: ClassVar[Form] = "amount"

    legend: ClassVar[str] = ""
    """A sentence below the table that says what it is."""

    @abstractmethod
    def measure(self, counts: Mapping[str, Numbers], reference: str) -> Mapping[str, float | None]:
        """A number for each group (the reference may have none); None where it is not defined."""


@dataclass(frozen=True)
class MeasureColumn:
    """How a measure of a plugin is shown."""

    name: str
    title: str
    form: Form
    legend: str = ""


def defect(measure: type[DisparityMeasure]) -> str | None:
    """What's wrong with the class of a measure, if anything."""
    if not isinstance(getattr(measure, "title", None), str):
        return f"the measure {measure.name!r} has no title"
    if measure.form not in get_args(Form):
        return f"the measure {measure.name!r} has the form {measure.form!r}: one of {', '.join(get_args(Form))}"
    return None
