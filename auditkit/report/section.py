"""What a section of the report is: data from the finished document, and a template that shows them.

The report's own sections are `CORE`, in the order of the page. A plugin subclasses `Section` and returns it from the
hook `auditkit_sections`:

    class Rounds(Section):
        name, title = "rounds", "Rounds of interviews"
        template = Path(__file__).with_name("rounds.html")

        def data(self, document):
            return {"rounds": len(document["steps"])} if document["steps"] else None

A section that needs more than the document may `prepare` itself from the applications. The document holds figures of
groups and constraints without those of small groups, never a candidate's row; so does what a section makes of it. The
template is Jinja's: it gets `document` and the keys of `data`, every text is escaped, and a name that is missing is an
error. It writes what stands below the heading.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from auditkit.config import Config
    from auditkit.data import History
    from auditkit.data.privacy import Protected

Part = Literal["summary", "body", "annex"]

_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, eq=False)
class Subject:
    """What an audit is about, before it is measured."""

    history: History
    """All applications, with those whom the report must not show."""
    shown: Protected
    config: Config
    created: str

    @property
    def day(self) -> date:
        return datetime.fromisoformat(self.created).date()


class Section(ABC):
    """Base of all sections."""

    name: ClassVar[str]
    """Small letters, digits and hyphens: its anchor in the page and its key in `sections` of the document."""

    title: ClassVar[str]

    template: ClassVar[Path]
    """The Jinja file. A file `section_NAME.html` in --template-dir takes its place."""

    after: ClassVar[str] = "whatif"
    """The section of `CORE` behind which it stands, in the same part of the report."""

    def prepare(self, subject: Subject) -> None:
        """Take what `data` will need from the applications themselves; called once, before anything is measured.

        Keep figures, never rows. Figures of fewer people than `config.report.suppress_below` belong in no report:
        those of `subject.shown` are safe.
        """
        return

    @abstractmethod
    def data(self, document: Mapping[str, Any]) -> dict[str, Any] | None:
        """What the template needs beyond the document, as JSON values; None leaves the section out of this report."""


class CoreSection(Section):
    """A section of the report's own: a block of the page, whose template needs nothing beyond the document."""

    part: ClassVar[Part] = "annex"

    def __init_subclass__(cls) -> None:
        cls.template = Path(str(files("auditkit.templates"))) / f"section_{cls.name}.html"

    def data(self, document: Mapping[str, Any]) -> dict[str, Any] | None:
        return {}


class FindingsSection(CoreSection):
    name, title, part = "findings", "Findings", "summary"


class DisparitySection(CoreSection):
    name, title, part = "disparity", "Disparity by attribute", "body"


class PoliciesSection(CoreSection):
    name, title, part = "policies", "The firm and the best policies", "body"


class CostsSection(CoreSection):
    name, title, part = "costs", "What each constraint costs", "body"


class NoticesSection(CoreSection):
    name, title = "notices", "Notices"


class PeopleSection(CoreSection):
    name, title = "people", "Numbers by group"


class CrossingsSection(CoreSection):
    name, title = "crossings", "Crossed groups"

    def data(self, document: Mapping[str, Any]) -> dict[str, Any] | None:
        tables = (document["disparity"] or {}).get("tables") or ()
        return {} if any(table["crossing"] for table in tables) else None


class DualsSection(CoreSection):
    name, title = "duals", "What each constraint acts like"

    def data(self, document: Mapping[str, Any]) -> dict[str, Any] | None:
        return {} if any(entry and entry["duals"] for entry in document["constrained"] or ()) else None


class DecisionsSection(CoreSection):
    name, title = "decisions", "What decisions and scores say"

    def data(self, document: Mapping[str, Any]) -> dict[str, Any] | None:
        return {} if document.get("revealed") or document.get("scores") else None


class ExPostSection(CoreSection):
    name, title = "expost", "Ex-post slack and unfilled capacity"


class WhatIfSection(CoreSection):
    name, title = "whatif", "What if"

    def data(self, document: Mapping[str, Any]) -> dict[str, Any] | None:
        return None if document["frontier"] is None and document["sensitivity"] is None else {}


class FitSection(CoreSection):
    name, title = "fit", "Fit quality"


class MethodSection(CoreSection):
    name, title = "method", "Method"


class CertificateSection(CoreSection):
    name, title = "certificate", "Certificate"


class ProvenanceSection(CoreSection):
    name, title = "provenance", "Provenance"


class GlossarySection(CoreSection):
    name, title = "glossary", "Glossary"


CORE: tuple[type[CoreSection], ...] = (
    FindingsSection,
    DisparitySection,
    PoliciesSection,
    CostsSection,
    NoticesSection,
    PeopleSection,
    CrossingsSection,
    DualsSection,
    DecisionsSection,
    ExPostSection,
    WhatIfSection,
    FitSection,
    MethodSection,
    CertificateSection,
    ProvenanceSection,
    GlossarySection,
)
"""In the order of the page: the summary, the body, the annex. Each is a block of report.html."""


def flaw(section: type[Section]) -> str | None:
    """What is wrong with the class of a section, if anything is."""
    names = [core.name for core in CORE]
    name, title = getattr(section, "name", None), getattr(section, "title", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return f"the name of a section must be small letters, digits and hyphens, not {name!r}"
    if name in names or name == "content":
        return f"the name {name!r} is that of a section of auditkit's own"
    if not isinstance(title, str) or not title.strip():
        return f"the section {name!r} has no title"
    if section.after not in names:
        return f"the section {name!r} cannot stand after {section.after!r}: one of {', '.join(names)}"
    template = getattr(section, "template", None)
    if not isinstance(template, Path) or not template.is_file():
        return f"the section {name!r} has no template: {template} is not a file"
    return None
