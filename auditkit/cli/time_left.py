"""How long a report will still take: from the time so far and the typical shares of its phases."""

from __future__ import annotations

from collections.abc import Collection

SHARES = {
    "reading the data": 4.0,
    "measuring disparities": 2.0,
    "fitting priors": 4.0,
    "best policy under": 14.0,
    "intervals of the prices": 26.0,
    "ex-post laws under": 6.0,
    "frontier of": 30.0,
    "the firm's own decisions": 8.0,
    "writing down the findings": 1.0,
    "drawing the report": 5.0,
    "setting the PDF": 20.0,
}
"""Of the time of default reports of 1,500 to 16,000 rows, by the beginning of what is said of a phase."""

WITHIN = 0.3
"""Of what is left of its phase, every further step takes this share: how many will come is not known."""

LEAST_DONE, LEAST_SECONDS = 0.1, 5.0
"""Before that much is done there is no estimate."""


class TimeLeft:
    """Counts the phases that a report goes through."""

    def __init__(self, without: Collection[str] = ()) -> None:
        self._phases = [phase for phase in SHARES if phase not in without]
        self._at, self._inside = -1, 0.0

    @property
    def done(self) -> float:
        """The share of the work that is done, as far as anybody can tell."""
        total = sum(SHARES[phase] for phase in self._phases)
        before = sum(SHARES[phase] for phase in self._phases[: max(self._at, 0)])
        inside = self._inside * SHARES[self._phases[self._at]] if self._at >= 0 else 0.0
        return (before + inside) / total

    def begin(self, text: str) -> None:
        """Something begins, and what came before it is over. What is of no phase is a step of the present one."""
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
