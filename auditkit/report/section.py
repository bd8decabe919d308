"""What a section of the report is: data from the finished report, and a template that shows them.

The report's own sections are `CORE`, in the order of the page. A plugin subclasses `Section` and returns it from the
hook `auditkit_sections`:

    class Rounds(Section):
        name, title = "rounds", "Rounds of interviews"
        template = Path(__file__).with_name("rounds.html")

        def data(self, report):
            return {"rounds": len(report.steps)} if report.steps else None

A section that needs more than the report may `prepare` itself from the protected applications. A `Report`
(`auditkit.report.schema`) holds figures of groups and constraints without those of small groups, never a candidate's
row; so does what a section makes of it. The template is Jinja's: it gets the report as `document` and the keys of
`data`, every text is escaped, and a name that is missing is an error. It writes what goes below the heading.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import JsonValue

if TYPE_CHECKING:
    from auditkit.config import Config
    from auditkit.data.privacy import Protected
    from auditkit.report.profile import Profile
    from auditkit.report.schema import Report

Part = Literal["summary", "body", "annex"]

_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, eq=False)
class Subject:
    """What an audit is about, before it is measured."""

    shown: Protected
    """The applications without those whom the report must not show."""
    config: Config
    created: str
    every_category: Protected | None = None
    """All applications, where the user has asked to state categories of any size (`statement.small_categories`)."""
    profile: type[Profile] | None = None
    """The profile that the settings choose."""

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
    """The section of `CORE` that it follows, in the same part of the report."""

    profiles: ClassVar[tuple[str, ...]] = ()
    """The profiles under which it appears; none: under every one, and without."""

    def prepare(self, subject: Subject) -> None:
        """Take what `data` will need from the applications themselves; called once, before anything is measured.

        Keep figures, never rows. Figures of fewer people than `config.report.suppress_below` belong in no report:
        those of `subject.shown` are safe.
        """
        return

    @abstractmethod
    def data(self, report: Report) -> Mapping[str, JsonValue] | None:
        """What the template needs beyond the report, as JSON values; None leaves the section out of this report."""


def _always(_: Report) -> bool:
    return True


@dataclass(frozen=True)
class CoreSection:
    """A section of the report's own: a block of the page, whose template needs nothing beyond the report."""

    name: str
    title: str
    part: Part = "annex"
    in_report: Callable[[Report], bool] = _always
    """Whether a report has something to show in it."""
    needs_model: bool = False
    """Without one the section is left out, and the notices say so in one place."""

    @property
    def template(self) -> Path:
        return Path(str(files("auditkit.templates"))) / f"section_{self.name}.html"


def _policies(report: Report) -> bool:
    return report.firm is not None or _optima(report)


def _optima(report: Report) -> bool:
    return report.unconstrained is not None or bool(report.entries)


def _validity(report: Report) -> bool:
    return report.disparity is not None and report.disparity.validity is not None


def _cut_scores(report: Report) -> bool:
    return report.disparity is not None and bool(report.disparity.score_pages)


def _duals(report: Report) -> bool:
    aware = report.fit is not None and report.fit.settings.group_aware
    return aware and any(entry.duals for entry in report.entries)


CORE = (
    CoreSection("findings", "Findings", "summary"),
    CoreSection("disparity", "Disparity by attribute", "body"),
    CoreSection("validity", "Does the score predict later performance?", "body", _validity),
    CoreSection("policies", "The firm and the best policies", "body", _policies, needs_model=True),
    CoreSection("costs", "What each constraint costs", "body", lambda report: bool(report.entries), needs_model=True),
    CoreSection("alternatives", "Rules that never look at the group", "body", lambda report: bool(report.alternatives)),
    CoreSection("notices", "Notices"),
    CoreSection("people", "Numbers by group"),
    CoreSection("crossings", "Crossed groups", in_report=lambda report: any(table.crossing for table in report.tables)),
    CoreSection("cutscores", "Cut scores", in_report=_cut_scores),
    CoreSection("duals", "What each constraint acts like", in_report=_duals),
    CoreSection(
        "decisions",
        "What decisions and scores say",
        in_report=lambda report: report.revealed is not None or report.scores is not None,
    ),
    CoreSection("expost", "Ex-post slack and unfilled capacity", in_report=_policies, needs_model=True),
    CoreSection(
        "whatif",
        "What if",
        in_report=lambda report: report.frontier is not None or report.sensitivity is not None,
    ),
    CoreSection("fit", "Fit quality", in_report=lambda report: report.fit is not None, needs_model=True),
    CoreSection("method", "Method"),
    CoreSection("certificate", "Certificate", in_report=_optima, needs_model=True),
    CoreSection("provenance", "Provenance"),
    CoreSection("glossary", "Glossary"),
)
"""In the order of the page: the summary, the body, the annex. Each is a block of report.html."""


def defect(section: type[Section]) -> str | None:
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
        return f"the section {name!r} cannot follow {section.after!r}: one of {', '.join(names)}"
    template = getattr(section, "template", None)
    if not isinstance(template, Path) or not template.is_file():
        return f"the section {name!r} has no template: {template} is not a file"
    return None
