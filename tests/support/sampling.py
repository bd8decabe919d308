"""Few of many random cases in `make test`, all of them in `make fuzz`. (No tests in here.)

The same property holds of every random case: some of them show a defect that is common, and the search for rare ones
is what `make fuzz` is for. It runs, with fresh seeds, what hypothesis draws and what is marked `sampled`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import settings

T = TypeVar("T")

SHARE = 3
"""Of so many cases `make test` runs one."""


def everything() -> bool:
    """Whether this is `make fuzz`: its profile of hypothesis is chosen before any test file is imported."""
    return settings.get_current_profile_name() == "fresh"


def sampled(cases: Sequence[T], few: int) -> Sequence[T]:
    """`few` of the cases, spread evenly, or all of them; the test is marked `sampled`."""
    return cases if everything() else [cases[k * len(cases) // few] for k in range(few)]


def examples(most: int, **more: Any) -> settings:
    """A third of `most` examples of a hypothesis test, or all of them."""
    return settings(deadline=None, max_examples=most if everything() else -(-most // SHARE), **more)
