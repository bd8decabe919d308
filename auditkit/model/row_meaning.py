"""What a row asks for, as data: fields for the groups, the outcome and the segment, so that no program reads a label.

A constraint attaches one of these to each of its rows and measures (`Row.meaning`). The report writes its sentences and
tables from them, `auditkit-solution/3` has them as `meaning`, and `basis` tells intervals how a row scales:

    rate     the coefficients of a group are divided by its number of candidates
    count    they aren't
    None     unknown: nothing that depends on it is computed
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Literal

from pydantic import Field, JsonValue

Basis = Literal["rate", "count"]


@dataclass(frozen=True, kw_only=True)
class _Meaning:
    kind: str

    def to_json(self) -> dict[str, JsonValue]:
        """`kind` and the fields, as `auditkit-solution/3` has them."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class _OfGroups(_Meaning):
    on: str
    """`selection`, `inspection` or the name of a stage."""
    by: str
    """The attribute of the groups, or several joined with `+`."""
    group: str


@dataclass(frozen=True, kw_only=True)
class _OfTwoGroups(_OfGroups):
    against: str
    """The group it is compared with."""
    within: str | None = None
    """The segment within whose `value` the row holds; both None: everywhere."""
    value: str | None = None


@dataclass(frozen=True, kw_only=True)
class RateGap(_OfTwoGroups):
    """Rate (or, with basis "count", number) of `group` minus that of `against`: at most `maximum`; 0 means equal."""

    kind: Literal["rate_gap"] = "rate_gap"
    maximum: float
    basis: Basis = "rate"


@dataclass(frozen=True, kw_only=True)
class RatioAtLeast(_OfTwoGroups):
    """The rate of `group` is at least `minimum` times that of `against`."""

    kind: Literal["ratio"] = "ratio"
    minimum: float
    basis: Literal["rate"] = "rate"


@dataclass(frozen=True, kw_only=True)
class ShareAtLeast(_OfGroups):
    """`group` is at least `minimum` of all who reach the outcome. Its slack is a number of people."""

    kind: Literal["share"] = "share"
    within: str | None = None
    value: str | None = None
    minimum: float
    basis: Literal["count"] = "count"


@dataclass(frozen=True, kw_only=True)
class AmountAtMost(_Meaning):
    """The expected amount spent on an outcome, for `group` or for everybody, is at most `maximum`."""

    kind: Literal["amount"] = "amount"
    on: str
    by: str | None = None
    group: str | None = None
    within: str | None = None
    value: str | None = None
    maximum: float
    of: str | None = None
    """What is added up: an attribute of candidates, or "cost"; None: each outcome counts 1, or `each`."""
    each: float = 1.0
    basis: Literal["count"] = "count"


@dataclass(frozen=True, kw_only=True)
class Other(_Meaning):
    """Anything else, in the words of the constraint's author; the report prints `text`, or the row's label."""

    kind: Literal["other"] = "other"
    on: str | None = None
    by: str | None = None
    group: str | None = None
    within: str | None = None
    value: str | None = None
    basis: Basis | None = None
    text: str | None = None


Meaning = Annotated[RateGap | RatioAtLeast | ShareAtLeast | AmountAtMost | Other, Field(discriminator="kind")]
