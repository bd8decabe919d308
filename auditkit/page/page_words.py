"""The words of the page's templates that depend on the data; templates call these functions through `say`."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

from auditkit.text import count, ratio


def ratio_then_and_now(then: float | None, now: float | None, line: float | None) -> str:
    """Follows an earlier finding."""
    known = then is not None and now is not None
    return f"Impact ratio then {ratio(then, line)}, now {ratio(now, line)}." if known else ""


def report_state(finished: bool, running: bool) -> str:
    """Follows the name of an open file."""
    return ", report finished" if finished else ", report under way" if running else ""


def no_history(past: bool) -> str:
    """The heading above the problems on the history page."""
    return "This did not work" if past else "There is no history to show"


def cannot_hold(conflict: Sequence[str]) -> str:
    """If the constraints of the sliders exclude each other."""
    return f"These constraints cannot hold together{': ' if conflict else ''}{'; '.join(conflict)}."


def any_or(value: float | None) -> str:
    return "any" if value is None else f"{value}"


def filled(number: int) -> str:
    return f"({count(number)} filled)"


def settle_first(errors: bool, questions: bool) -> str:
    """Why the user can't continue yet."""
    return "Settle the points above first." if errors else "Answer the question above first." if questions else ""


def due(date: str | None) -> str:
    return f", due {date}" if date else ""


SAYINGS = (ratio_then_and_now, report_state, no_history, cannot_hold, any_or, filled, settle_first, due)
SAY = SimpleNamespace(**{each.__name__: each for each in SAYINGS})
