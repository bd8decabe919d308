"""The profiles that ship, and the section that shows the one that is chosen.

The facts come from public sources; a report prints the day on which each was read. They are not legal advice, and no
profile says whether anything meets a rule.
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

READ = date(2026, 11, 18)


def _since(day: str, text: str) -> DatedFact:
    return DatedFact(text, date.fromisoformat(day), READ)


class NewYorkCity(Profile):
    name: ClassVar[str] = "nyc-ll144"
    title: ClassVar[str] = "New York City, Local Law 144"
    facts: ClassVar[tuple[DatedFact, ...]] = (
        _since(
            "2023-07-05",
            "An automated employment decision tool may be used only if an independent auditor has audited it within "
            "the past year (Administrative Code 20-871). An auditor who took part in using, developing or "
            "distributing the tool is not independent.",
        ),
        _since(
            "2023-05-06",
            "A summary of the audit is published: selection or scoring rates and impact ratios by sex, by "
            "race/ethnicity and by both, and the number of people of unknown category (6 RCNY 5-301 and 5-303). "
            "The rule sets no minimum for a ratio.",
        ),
        _since(
            "2023-05-06",
            "A category of less than 2 % of the data may be left out of the ratios; its number and rate are still "
            "stated, with the reason (6 RCNY 5-301).",
        ),
    )


class California(Profile):
    name: ClassVar[str] = "california"
    title: ClassVar[str] = "California, automated-decision systems in employment"
    retention: ClassVar[str] = "4 years"
    facts: ClassVar[tuple[DatedFact, ...]] = (
        _since(
            "2025-10-01",
            "Anti-bias testing, or the lack of it, is relevant to a claim of discrimination and to the defence: its "
            "quality, efficacy, recency and scope, its results, and the response to them. The regulations do not "
            "require a test.",
        ),
        _since("2025-10-01", "Employers keep automated-decision data for four years."),
    )


class NewJersey(Profile):
    name: ClassVar[str] = "new-jersey"
    title: ClassVar[str] = "New Jersey, N.J.A.C. 13:16"
    facts: ClassVar[tuple[DatedFact, ...]] = (
        _since(
            "2025-12-15",
            "A claim of disparate impact in employment has three steps. The complainant shows the impact with "
            "empirical evidence; the employer shows that the practice is job-related and consistent with business "
            "necessity; the complainant may then show a less discriminatory alternative (13:16-2.2).",
        ),
        _since("2025-12-15", "Automated tools are covered, including those of vendors."),
    )


class EuropeanUnion(Profile):
    name: ClassVar[str] = "eu-ai-act"
    title: ClassVar[str] = "European Union, AI Act"
    retention: ClassVar[str] = "6 months"
    facts: ClassVar[tuple[DatedFact, ...]] = (
        _since(
            "2027-12-02",
            "AI systems for recruitment and selection are high-risk (Annex III, point 4(a)). Their obligations were "
            "to apply from 2 August 2026 and were postponed.",
        ),
        _since(
            "2027-12-02",
            "Deployers keep the logs of such a system for at least six months (Article 26); providers keep its "
            "documentation for ten years (Article 18).",
        ),
    )


class UnitedKingdom(Profile):
    name: ClassVar[str] = "uk"
    title: ClassVar[str] = "United Kingdom, Equality Act 2010"
    facts: ClassVar[tuple[DatedFact, ...]] = (
        _since(
            "2010-10-01",
            "Section 19: a provision, criterion or practice that puts people who share a protected characteristic at a "
            "particular disadvantage discriminates, unless it is shown to be a proportionate means of achieving a "
            "legitimate aim. The section names no ratio.",
        ),
        _since(
            "2024-01-01",
            "Section 19A: the same protection covers people without the characteristic who are put at substantively "
            "the same disadvantage.",
        ),
    )


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
    return [NewYorkCity, California, NewJersey, EuropeanUnion, UnitedKingdom]


@hookimpl
def auditkit_sections() -> list[type[Section]]:
    return [ProfileSection]
