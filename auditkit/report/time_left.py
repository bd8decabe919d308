"""How long a report will still take.

Each phase has an effort (`pipeline.phases`): seconds that it takes on an ordinary machine, some fixed and some for each
thousand applications. How much slower this machine is follows from the phases that are over. Nothing is said before the
number of applications is known, nor once a phase takes much longer than it should.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

LEAST_SECONDS = 5.0
"""Before so much has passed there is no estimate."""
TOO_LONG = 1.5
"""A phase that takes this many times what was expected makes the estimate worthless."""
EVIDENCE = 2.0
"""The seconds of an ordinary machine that this one is first assumed to be like."""


@dataclass(frozen=True)
class Effort:
    """Seconds that a phase takes: `fixed`, and `each` for every thousand applications."""

    fixed: float
    each: float = 0.0

    def seconds(self, applications: int) -> float:
        return self.fixed + self.each * applications / 1000


@dataclass(frozen=True)
class TimeEstimate:
    """As it is when a phase begins: the share of the work before it, its own share, and the seconds of it and after."""

    before: float
    own: float
    phase: float | None
    """Unknown until the applications are counted."""
    after: float
    passed: float = 0.0

    def done(self, spent: float) -> float:
        """The share of the work that is done when this phase has taken `spent` seconds; below 1."""
        return self.before + (self.own * -math.expm1(-1.5 * spent / self.phase) if self.phase else 0.0)

    def left(self, spent: float) -> str:
        """The time that is left in words; nothing while it would be a guess."""
        if self.phase is None or self.passed + spent < LEAST_SECONDS:
            return ""
        if spent > TOO_LONG * self.phase + LEAST_SECONDS:
            return "longer than estimated"
        return f"about {_rounded(max(0.0, self.phase - spent) + self.after)} left"


class TimeLeft:
    """Follows a report through its phases: the beginnings of what is said of each, with their efforts."""

    def __init__(self, phases: Mapping[str, Effort]) -> None:
        self._phases = phases
        self._names = list(phases)
        self._at, self._begun, self._first = -1, 0.0, 0.0
        self._taken: dict[str, float] = {}
        self._applications: int | None = None

    def counted(self, applications: int) -> None:
        self._applications = applications

    def begin(self, text: str, now: float) -> None:
        """A phase begins at the second `now`, and the one before it is over; other text is said within a phase."""
        at = next((i for i, phase in enumerate(self._names) if text.startswith(phase)), self._at)
        if at > self._at:
            if self._at < 0:
                self._first = now
            else:
                self._taken[self._names[self._at]] = now - self._begun
            self._at, self._begun = at, now

    def spent(self, now: float) -> float:
        """Seconds that the present phase has taken."""
        return now - self._begun if self._at >= 0 else 0.0

    @property
    def estimate(self) -> TimeEstimate:
        known = self._applications
        usual = [effort.seconds(known or 1000) for effort in self._phases.values()]
        at, whole = max(self._at, 0), sum(usual)
        ordinary = sum(self._phases[name].seconds(known or 1000) for name in self._taken)
        slower = (sum(self._taken.values()) + EVIDENCE) / (ordinary + EVIDENCE)
        phase = None if known is None or self._at < 0 else slower * usual[at]
        passed = self._begun - self._first
        return TimeEstimate(sum(usual[:at]) / whole, usual[at] / whole, phase, slower * sum(usual[at + 1 :]), passed)


def _rounded(seconds: float) -> str:
    if seconds < 45:
        return f"{max(5, 5 * round(seconds / 5))} s"
    return f"{max(1, round(seconds / 60))} min"
