"""What the sliders of the page ask, and the answer: plain values that travel between processes.

`explorer` answers, in the worker.
"""

from __future__ import annotations

from dataclasses import dataclass

LOWEST = 0.5
"""The lowest impact ratio of the slider; there, none is asked for."""
SCALES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)
"""Values of a point that the slider offers, as multiples of the report's."""


@dataclass(frozen=True)
class SliderRanges:
    """Between which ends the sliders move."""

    attributes: tuple[str, ...]
    interviews: int
    """Of the best policy without a limit: allowing more changes nothing."""
    value_scale: float

    @property
    def scales(self) -> tuple[float, ...]:
        """Values of a point at the places of its slider."""
        return tuple(self.value_scale * scale for scale in SCALES)

    def place(self, asked: Explore | None) -> int:
        """Where the slider of the value of a point is."""
        value = self.value_scale if asked is None else asked.value_scale
        return self.scales.index(value) if value in self.scales else SCALES.index(1.0)


@dataclass(frozen=True)
class ExploredGroup:
    """A group under the firm's decisions and under the best policy: people, interviews, hires and impact ratio."""

    group: str
    candidates: float
    firm_inspected: float
    firm_selected: float
    inspected: float
    selected: float
    ratio: float | None


@dataclass(frozen=True)
class Explored:
    """The optimum at the sliders' places. Without `utility` the demands cannot hold together."""

    utility: float | None
    gap: float | None
    free: float
    """Utility of the best policy without demands, at the same value of a point."""
    firm: float
    interviews: float | None
    unfilled: float | None
    groups: tuple[ExploredGroup, ...]
    conflict: tuple[str, ...]
    seconds: float

    @property
    def kept(self) -> float | None:
        """The share of the utility without demands."""
        return None if self.utility is None or self.free <= 0 else self.utility / self.free


@dataclass(frozen=True)
class Explore:
    """One place of the sliders. `ratio` at its lowest and `interviews` None ask for nothing."""

    attribute: str
    ratio: float
    interviews: int | None
    value_scale: float
