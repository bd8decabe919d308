"""The questions of the page's sliders, and the answers: plain values that travel between processes.

`explorer` answers them in the worker.
"""

from __future__ import annotations

from dataclasses import dataclass

LOWEST = 0.5
"""The lowest impact ratio of the slider, which means no constraint."""
SCALES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)
"""The slider's values of a point, as multiples of the report's."""


@dataclass(frozen=True)
class SliderRanges:
    """The ends of the sliders."""

    attributes: tuple[str, ...]
    interviews: int
    """As many as the best policy without a limit holds: allowing more changes nothing."""
    value_scale: float

    @property
    def scales(self) -> tuple[float, ...]:
        """Values of a point at the positions of its slider."""
        return tuple(self.value_scale * scale for scale in SCALES)

    def place(self, asked: Explore | None) -> int:
        """The position of the slider for the value of a point."""
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
    """The optimum at the sliders' positions. Without `utility` the constraints can't hold together."""

    utility: float | None
    gap: float | None
    free: float
    """Utility of the best policy without constraints, at the same value of a point."""
    firm: float
    interviews: float | None
    unfilled: float | None
    groups: tuple[ExploredGroup, ...]
    conflict: tuple[str, ...]
    seconds: float

    @property
    def kept(self) -> float | None:
        """The share of the unconstrained utility that is kept."""
        return None if self.utility is None or self.free <= 0 else self.utility / self.free


@dataclass(frozen=True)
class Explore:
    """One position of the sliders. `ratio` at its lowest and `interviews` None ask for nothing."""

    attribute: str
    ratio: float
    interviews: int | None
    value_scale: float
