"""A claim that was checked, and all of them together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from auditkit.display import Shown
from auditkit.text import exact

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE = 1e-8
"""How far a claim may be from what is found here, relative to the size of its terms."""


@dataclass(frozen=True)
class Check:
    """One claim of the solution and whether it stands."""

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

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.holds)

    @property
    def holds(self) -> bool:
        """Whether every claim that was checked stands."""
        return not self.failed

    def to_json(self) -> dict[str, Any]:
        claims = [asdict(check) for check in self.checks]
        return {"holds": self.holds, "claims": claims, "not_checked": list(self.not_checked)}

    def to_frame(self) -> pd.DataFrame:
        """One row per claim."""
        import pandas as pd

        return pd.DataFrame([asdict(check) for check in self.checks])

    def __repr__(self) -> str:
        return f"<Verified: {len(self.checks) - len(self.failed)} of {len(self.checks)} claims stand>"

    def _facts(self) -> list[str]:
        return [f"not checked: {text}" for text in self.not_checked]

    def _tables(self) -> list[pd.DataFrame]:
        """The claims that do not stand."""
        return [] if self.holds else [self.to_frame().query("not holds")[["claim", "detail"]]]


def check_number(claim: str, claimed: float | None, found: float, size: float = 1.0) -> Check:
    """Whether a claimed number is the one found, to `TOLERANCE` relative to the size of its terms."""
    return Check(claim, is_close(claimed, found, size), f"claimed {claimed}, found {exact(found)}")


def is_close(claimed: float | None, found: float, size: float = 1.0) -> bool:
    return claimed is not None and abs(claimed - found) <= TOLERANCE * (1.0 + abs(found) + size)


def same_numbers(name: str, claimed: Any, found: Any, tolerance: float = 1e-9) -> Check:
    """Whether a part of a document is what was derived again, number by number."""
    wrong = list(_differences(claimed, found, "", tolerance))
    return Check(f"every number of {name}", not wrong, f"differ: {', '.join(wrong[:5])}")


def _differences(claimed: Any, found: Any, place: str, tolerance: float) -> Iterator[str]:
    if isinstance(claimed, dict) and isinstance(found, dict):
        for key in dict.fromkeys([*claimed, *found]):
            if key in claimed and key in found:
                yield from _differences(claimed[key], found[key], f"{place}.{key}", tolerance)
            else:
                yield f"{place}.{key}"
    elif isinstance(claimed, list) and isinstance(found, list | tuple):
        if len(claimed) != len(found):
            yield f"{place} (length)"
        for i, (one, other) in enumerate(zip(claimed, found, strict=False)):
            yield from _differences(one, other, f"{place}[{i}]", tolerance)
    elif isinstance(claimed, int | float) and isinstance(found, int | float) and not isinstance(claimed, bool):
        if not abs(claimed - found) <= tolerance * (1 + abs(found)):
            yield place
    elif claimed != found:
        yield place
