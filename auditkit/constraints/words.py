"""The words in which a constraint describes itself.

`Constraint.describe(words)` composes its phrase from the names that `words` gives to outcomes and groups. A report has
its own words ("women", "hiring rates"); `PlainWords` uses the names in the instance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from auditkit.text import listing


@dataclass(frozen=True)
class Description:
    """A constraint in words."""

    phrase: str
    """What it asks for, as it reads after "under": "equal hiring rates for women and men"."""
    title: str
    """Of the frontier over its main parameter."""
    axis: str
    """Of the values of that parameter."""


class Words(Protocol):
    """Names of outcomes (`on`: selection, inspection or a stage) and of people."""

    def rate(self, on: str, plural: str = "") -> str:
        """ "hiring rate"; with plural "s" "hiring rates"."""

    def outcome(self, on: str) -> str:
        """What happened to people: "hired", or "at “Offer”"."""

    def done(self, on: str) -> str:
        """The same after "those": "hired", or "who reached “Offer”"."""

    def member(self, by: str | None, group: str) -> str:
        """The people of a group: "women". Without an attribute, the only attribute that has the group is meant."""

    def whom(self, by: str | None, groups: Sequence[str] | None) -> str:
        """Whose rates are compared: "for women and men", "by Ethnicity", "by every attribute"."""

    @property
    def inspection(self) -> str:
        """One inspection: "interview"."""


class PlainWords:
    """Words that repeat the names of the instance."""

    inspection = "inspection"

    def rate(self, on: str, plural: str = "") -> str:
        return f"{on} rate{plural}"

    def outcome(self, on: str) -> str:
        return {"selection": "selected", "inspection": "inspected"}.get(on, f"at “{on}”")

    def done(self, on: str) -> str:
        return {"selection": "selected", "inspection": "inspected"}.get(on, f"who reached “{on}”")

    def member(self, by: str | None, group: str) -> str:
        return f"candidates of {group}" if by is None else f"candidates of {by} {group}"

    def whom(self, by: str | None, groups: Sequence[str] | None) -> str:
        if groups:
            return f"for {listing(groups)}"
        return "by every attribute" if by is None else f"by {by.replace('+', ' and ')}"
