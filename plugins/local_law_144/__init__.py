"""The section `local-law-144`: the tables of New York City Local Law 144, where the data knows sex or race."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from auditkit import hookimpl
from auditkit.report.section import Section


class LocalLaw(Section):
    name: ClassVar[str] = "local-law-144"
    title: ClassVar[str] = "New York City Local Law 144"
    template: ClassVar[Path] = Path(__file__).with_name("local_law_144.html")
    after: ClassVar[str] = "disparity"

    def data(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Which of the three tables there are; their numbers are in the document, which needs the rows for them."""
        law = (document["disparity"] or {}).get("local_law_144") or {}
        return {"tables": [name for name in ("sex", "race", "intersection") if law.get(name)]}


@hookimpl
def auditkit_sections() -> list[type[LocalLaw]]:
    return [LocalLaw]
