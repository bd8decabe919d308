"""A claim that was checked, and all of them together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from auditkit.display import Shown
from auditkit.model.layout import Floats, Layout
from auditkit.text import exact

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE = 1e-8
"""How far a claim may be from what is found here, relative to the size of its terms."""

SAME_DIGITS = 1e-9
NOISE = 1e-9
CLOSED = 1e-6
"""Relative to the rewards collected: a value and a bound this close have met."""
MOST_DIFFERENCES = 5


@dataclass(frozen=True)
class Check:
    """One claim of a file and whether it holds."""

    claim: str
    holds: bool
    detail: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", bool(self.holds))  # numpy's booleans are not JSON's


@dataclass(frozen=True)
class Verified(Shown):
    """Every claim that was checked, and what could not be."""

    checks: tuple[Check, ...]
    not_checked: tuple[str, ...] = ()
    """Parts of the file that could not be checked here."""
    given: tuple[str, ...] = ()
    """What the file says about its own making, which can't be compared with anything."""

    def and_also(self, checks: Sequence[Check], not_checked: Sequence[str]) -> Verified:
        """With more checks, and more parts that couldn't be checked."""
        return replace(self, checks=(*self.checks, *checks), not_checked=(*self.not_checked, *not_checked))

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.holds)

    @property
    def holds(self) -> bool:
        """Whether every check passed."""
        return not self.failed

    def to_json(self) -> dict[str, object]:
        claims = [asdict(check) for check in self.checks]
        given, not_checked = list(self.given), list(self.not_checked)
        return {"holds": self.holds, "claims": claims, "not_checked": not_checked, "taken_as_given": given}

    def to_frame(self) -> pd.DataFrame:
        """One row per claim."""
        import pandas as pd

        return pd.DataFrame([asdict(check) for check in self.checks])

    def __repr__(self) -> str:
        return f"<Verified: {len(self.checks) - len(self.failed)} of {len(self.checks)} checks passed>"

    def _facts(self) -> list[str]:
        missing = [f"not checked: {text}" for text in self.not_checked]
        return missing + [f"taken as given: {text}" for text in self.given]

    def _tables(self) -> list[pd.DataFrame]:
        """The claims that failed."""
        return [] if self.holds else [self.to_frame().query("not holds")[["claim", "detail"]]]


def check_number(claim: str, claimed: float | None, found: float | None, size: float = 1.0, unit: float = 1.0) -> Check:
    """Whether a claimed number is the one found, to `TOLERANCE` relative to the size of its terms; None equals None.

    `unit` is the smallest scale of such numbers: 1 for people and chances, the rewards collected for money.
    """
    if found is None:
        return Check(claim, claimed is None, f"claimed {claimed}, found none")
    return Check(claim, is_close(claimed, found, size, unit), f"claimed {claimed}, found {exact(found)}")


def is_close(claimed: float | None, found: float, size: float = 1.0, unit: float = 1.0) -> bool:
    if claimed is None or not math.isfinite(claimed) or not math.isfinite(size):
        return False
    return abs(claimed - found) <= TOLERANCE * (unit + abs(found) + size)


def collected(layout: Layout, *visits: Floats) -> float:
    """Absolute rewards, costs and values alike."""
    return sum(float(np.abs(layout.reward) @ each) for each in visits)


def same_numbers(name: str, claimed: Any, found: Any, *, noise: float = 0.0, tolerance: float = SAME_DIGITS) -> Check:
    """Whether a part of a document matches its second derivation, number by number and word by word.

    `tolerance` is relative; `noise` is also allowed, for numbers that are zero up to rounding.
    """

    def differences(claimed: Any, found: Any, place: str) -> Iterator[str]:
        if isinstance(claimed, dict) and isinstance(found, dict):
            for key in dict.fromkeys([*claimed, *found]):
                if key in claimed and key in found:
                    yield from differences(claimed[key], found[key], f"{place}.{key}")
                else:
                    yield f"{place}.{key}"
        elif isinstance(claimed, list) and isinstance(found, list | tuple):
            if len(claimed) != len(found):
                yield f"{place} (length)"
            for i, (one, other) in enumerate(zip(claimed, found, strict=False)):
                yield from differences(one, other, f"{place}[{i}]")
        elif _is_number(claimed) and _is_number(found):
            near = abs(claimed - found) <= tolerance * max(abs(claimed), abs(found)) + noise
            if not (near and math.isfinite(claimed) and math.isfinite(found)):  # inf <= tolerance * inf
                yield place
        elif isinstance(claimed, bool) != isinstance(found, bool) or claimed != found:
            yield place

    wrong = list(islice(differences(claimed, found, name), MOST_DIFFERENCES + 1))
    more = ", ..." if len(wrong) > MOST_DIFFERENCES else ""
    return Check(f"every number of {name}", not wrong, f"differ: {', '.join(wrong[:MOST_DIFFERENCES])}{more}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
