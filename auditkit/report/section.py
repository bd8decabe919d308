"""What a section of the report is: data from the finished document, and a template that shows them.

A plugin subclasses `Section` and returns it from the hook `auditkit_sections`:

    class Rounds(Section):
        name, title = "rounds", "Rounds of interviews"
        template = Path(__file__).with_name("rounds.html")

        def data(self, document):
            return {"rounds": len(document["funnel"]["stages"])} if document["funnel"] else None

The document holds figures of groups and constraints without those of small groups, never a candidate's row; so does
what a section makes of it. The template is Jinja's: it gets `document` and the keys of `data`, every text is escaped,
and a name that is missing is an error. It writes what stands below the heading.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

SHIPPED = ("findings", "people", "disparity", "policies", "costs", "expost", "whatif")
"""The sections after which another may stand."""

RESERVED = frozenset({*SHIPPED, "fit", "method", "certificate", "provenance", "glossary", "content"})
"""Names that are taken in the page."""

_NAME = re.compile(r"[a-z][a-z0-9-]*")


class Section(ABC):
    """Base of all sections that plugins add."""

    name: ClassVar[str]
    """Small letters, digits and hyphens: its anchor in the page and its key in `sections` of the document."""

    title: ClassVar[str]

    template: ClassVar[Path]
    """The Jinja file. A file `section_NAME.html` in --template-dir takes its place."""

    after: ClassVar[str] = "whatif"
    """The section of the report behind which it stands, one of `SHIPPED`."""

    @abstractmethod
    def data(self, document: Mapping[str, Any]) -> dict[str, Any] | None:
        """What the template needs beyond the document, as JSON values; None leaves the section out of this report."""


def flaw(section: type[Section]) -> str | None:
    """What is wrong with the class of a section, if anything is."""
    name, title = getattr(section, "name", None), getattr(section, "title", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return f"the name of a section must be small letters, digits and hyphens, not {name!r}"
    if name in RESERVED:
        return f"the name {name!r} is that of a section of auditkit's own"
    if not isinstance(title, str) or not title.strip():
        return f"the section {name!r} has no title"
    if section.after not in SHIPPED:
        return f"the section {name!r} cannot stand after {section.after!r}: one of {', '.join(SHIPPED)}"
    template = getattr(section, "template", None)
    if not isinstance(template, Path) or not template.is_file():
        return f"the section {name!r} has no template: {template} is not a file"
    return None
