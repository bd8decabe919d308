"""How long a report will still take: from the time so far and the typical shares of its phases (`pipeline.phases`)."""

from __future__ import annotations

from collections.abc import Mapping

WITHIN = 0.3
"""Each further step takes this share of the rest of its phase: how many will come is not known."""

LEAST_DONE, LEAST_SECONDS = 0.1, 5.0
"""Before that much is done there is no estimate."""


class TimeLeft:
    """Counts the phases that a report goes through: the beginnings of what is said of each, with their shares."""

    def __init__(self, shares: Mapping[str, float]) -> None:
        self._shares, self._phases = shares, list(shares)
        self._at, self._inside = -1, 0.0

    @property
    def done(self) -> float:
        """The estimated share of the work that is done."""
        before = sum(self._shares[phase] for phase in self._phases[: max(self._at, 0)])
        inside = self._inside * self._shares[self._phases[self._at]] if self._at >= 0 else 0.0
        return (before + inside) / sum(self._shares.values())

    def begin(self, text: str) -> None:
        """A phase begins, and the one before it is over; any other text is a step of the present phase."""
        at = next((i for i, phase in enumerate(self._phases) if text.startswith(phase)), self._at)
        if at > self._at:
            self._at, self._inside = at, 0.0
        else:
            self._inside += WITHIN * (1.0 - self._inside)

    def left(self, seconds: float) -> str:
        """What to say after so many seconds; nothing while it would be a guess."""
        if self.done < LEAST_DONE or seconds < LEAST_SECONDS:
            return ""
        rest = seconds * (1.0 - self.done) / self.done
        return f"about {_rounded(rest)} left"


def _rounded(seconds: float) -> str:
    if seconds < 45:
        return f"{max(5, 5 * round(seconds / 5))} s"
    return f"{max(1, round(seconds / 60))} min"
