"""What auditkit says when it cannot go on: whose fault it is, where, and what to do.

Exit codes live in `cli.py`; here an error only knows what kind it is.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: its place, what it is, and the remedy."""

    where: str
    what: str
    fix: str = ""

    def at(self, place: str) -> Problem:
        """The same problem seen from further out: `place` is put before its own place."""
        glue = "" if not self.where or self.where.startswith("[") else "."
        return Problem(f"{place}{glue}{self.where}", self.what, self.fix)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.what}" + (f" ({self.fix})" if self.fix else "")


class InputError(Exception):
    """The user's data, file, configuration or plugin is wrong (exit code 2).

    Carries every problem found, because a user would rather mend ten at once than one ten times.
    """

    def __init__(self, problems: Problem | str | Iterable[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem("", problems)
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)  # survives a trip between processes


def nearest(word: str, known: Iterable[str]) -> str:
    """A remedy for a misspelt name: the nearest known one, or the list of them all."""
    names = sorted(known)
    close = difflib.get_close_matches(word.lower(), [name.lower() for name in names], n=1, cutoff=0.5)
    if close:
        return f"did you mean {next(n for n in names if n.lower() == close[0])!r}?"
    return f"known: {', '.join(names)}" if names else "there are none"
