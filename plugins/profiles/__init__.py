"""The profiles that ship, and the section that shows the one that is chosen.

The facts are those of public rules and practice as they were last read; a report prints the dates. They are not legal
advice, and no profile says whether anything meets a rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import JsonValue

from auditkit import hookimpl
from auditkit.report.profile import DatedFact, Profile
from auditkit.report.section import Section, Subject

if TYPE_CHECKING:
    from auditkit.report.schema import Report

READ = date(2026, 11, 16)


def _fact(text: str, year: int | None = None, month: int = 1, day: int = 1) -> DatedFact:
    return DatedFact(text, None if year is None else date(year, month, day), READ)


class NewYorkCity(Profile):
    name: ClassVar[str] = "nyc-ll144"
    title: ClassVar[str] = "New York City, Local Law 144"
    facts: ClassVar[tuple[DatedFact, ...]] = (
        _fact(
            "A summary of the audit of an automated employment decision tool is published: selection or scoring rates "
            "and impact ratios by sex, by race/ethnicity and by both, with the number of unknown category."
        ),
        _fact(
            "The audit is at most one year old when the tool is used. The rule sets no mark that a ratio must reach."
        ),
        _fact("A category of less than 2 % of the data may be left out of the ratios; its numbers are stated."),
    )


class California(Profile):
    name: ClassVar[str] = "california"
    title: ClassVar[str] = "California, automated-decision systems in employment"
    retention: ClassVar[str] = "4 years"
    facts: ClassVar[tuple[DatedFact, ...]] = (
        _fact(
            "Whether there was anti-bias testing, and its quality, efficacy, recency, scope, results and the response "
            "to them, are evidence.",
            2025,
            10,
        ),
        _fact("Automated-decision records are kept for four years.", 2025, 10),
    )


class NewJersey(Profile):
    name: ClassVar[str] = "new-jersey"
    title: ClassVar[str] = "New Jersey, N.J.A.C. 13:16"
    facts: ClassVar[tuple[DatedFact, ...]] = (
        _fact(
            "A practice is looked at in three steps: its effect on a group, its necessity, and alternatives that "
            "would do the same with less effect. Each is shown with empirical evidence.",
            2025,
            12,
            15,
        ),
        _fact("Automated tools and tools of vendors are included.", 2025, 12, 15),
    )


class EuropeanUnion(Profile):
    name: ClassVar[str] = "eu-ai-act"
    title: ClassVar[str] = "European Union, AI Act"
    retention: ClassVar[str] = "6 months"
    facts: ClassVar[tuple[DatedFact, ...]] = (
        _fact("Systems for recruitment and selection are high-risk (Annex III, point 4(a)).", 2027, 12, 2),
        _fact(
            "Deployers keep the logs of such a system for at least six months; providers keep documentation 10 years."
        ),
    )


class UnitedKingdom(Profile):
    name: ClassVar[str] = "uk"
    title: ClassVar[str] = "United Kingdom, Equality Act 2010"
    facts: ClassVar[tuple[DatedFact, ...]] = (
        DatedFact(
            "Section 19: a provision, criterion or practice that puts people who share a protected characteristic at a "
            "particular disadvantage discriminates, unless it is shown to be a proportionate means of achieving a "
            "legitimate aim. The section names no ratio.",
            date(2010, 10, 1),
            date(2026, 11, 18),
        ),
        DatedFact(
            "Section 19A: so it does for people without the characteristic who are put at substantively the same "
            "disadvantage.",
            date(2024, 1, 1),
            date(2026, 11, 18),
        ),
    )


class ProfileSection(Section):
    """The chosen profile: what its rules ask for, each with its dates."""

    name: ClassVar[str] = "profile"
    title: ClassVar[str] = "Rules of the place"
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
    return [NewYorkCity, California, NewJersey, EuropeanUnion, UnitedKingdom]


@hookimpl
def auditkit_sections() -> list[type[Section]]:
    return [ProfileSection]
