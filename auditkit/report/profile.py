"""What a profile is: the rules of one place, as dated facts, for a report that is read there.

A profile chooses sections (`Section.profiles`), states what its rules ask for and how long records are kept, each fact
with the day from which it holds and the day on which its text was last read. It measures nothing and judges nothing.
A plugin subclasses `Profile` and returns it from the hook `auditkit_profiles`; `--profile` takes its `name`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from auditkit.errors import InputError, Problem, nearest

NONE = "none"
"""The profile that adds nothing."""


@dataclass(frozen=True)
class DatedFact:
    """One sentence about a rule, the day since which it holds, and when its text was read."""

    text: str
    since: date | None
    read_on: date


class Profile:
    """Base of all profiles."""

    name: ClassVar[str]
    """What `--profile` calls it."""

    title: ClassVar[str]

    facts: ClassVar[tuple[DatedFact, ...]] = ()

    retention: ClassVar[str] = ""
    """How long records are kept, such as "4 years"; "" if the facts name no time."""


def check_profile(name: str, profiles: Mapping[str, type[Profile]]) -> None:
    """Raise InputError for a profile that no plugin provides."""
    if name != NONE and name not in profiles:
        raise InputError(Problem("profile", f"there is no profile {name!r}", nearest(name, [*profiles, NONE])))


def defect(profile: type[Profile]) -> str | None:
    """What is wrong with the class of a profile, if anything is."""
    if not isinstance(getattr(profile, "title", None), str):
        return f"the profile {profile.name!r} has no title"
    return None
