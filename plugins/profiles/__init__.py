"""The shipped profiles (`profiles.toml`), and the section that shows the chosen one.

The facts come from public sources; a report prints the day each was last read. They aren't legal advice, and a profile
never says whether anything meets a rule.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import JsonValue

from auditkit import hookimpl
from auditkit.report.profile import DatedFact, Profile
from auditkit.report.section import Section, Subject

if TYPE_CHECKING:
    from auditkit.report.schema import Report


def read() -> list[type[Profile]]:
    """The profiles of `profiles.toml`."""
    places = tomllib.loads(Path(__file__).with_name("profiles.toml").read_text(encoding="utf-8"))
    read_on = places.pop("read_on")
    return [
        type(
            name,
            (Profile,),
            {
                "name": name,
                "title": place["title"],
                "retention": place.get("retention", ""),
                "facts": tuple(DatedFact(fact["text"], fact["since"], read_on) for fact in place["facts"]),
            },
        )
        for name, place in places.items()
    ]


class ProfileSection(Section):
    """The rules of the chosen profile, each with its dates."""

    name: ClassVar[str] = "profile"
    title: ClassVar[str] = "Local rules"
    template: ClassVar[Path] = Path(__file__).with_name("profile.html")
    after: ClassVar[str] = "fit"

    def __init__(self) -> None:
        self.profile: type[Profile] | None = None

    def prepare(self, subject: Subject) -> None:
        self.profile = subject.profile

    def data(self, report: Report) -> Mapping[str, JsonValue] | None:
        if self.profile is None:
            return None
        facts: list[JsonValue] = [
            {
                "text": fact.text,
                "since": None if fact.since is None else fact.since.isoformat(),
                "read_on": fact.read_on.isoformat(),
            }
            for fact in self.profile.facts
        ]
        return {"profile": self.profile.title, "facts": facts, "retention": self.profile.retention}


@hookimpl
def auditkit_profiles() -> list[type[Profile]]:
    return read()


@hookimpl
def auditkit_sections() -> list[type[Section]]:
    return [ProfileSection]
