"""The sections that plugins add (`auditkit.report.section`): their data in the report, their templates in the page.

The report holds the data of each under `sections`. A section that fails, or whose template cannot show its data, is
found out before anything is written, so that a broken one costs the report nothing but itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import JsonValue

from auditkit.errors import PluginError, blaming
from auditkit.report import html
from auditkit.report.schema import Report, SectionModel
from auditkit.report.section import Section

Sections = Mapping[str, Section]


def with_sections(
    report: Report, sections: Sections, template_dir: Path | None, on_fault: Callable[[PluginError], None]
) -> Report:
    """A finished report with title and data of each section that has something to show and shows it."""
    found: dict[str, SectionModel] = {}
    for name, section in sections.items():
        try:
            made = _made(section, report)
            if made is None:
                continue
            entry = SectionModel(title=section.title, data=made)
            html.added(report.model_copy(update={"sections": {name: entry}}), {name: section}, template_dir)
        except PluginError as error:
            on_fault(error)
        else:
            found[name] = entry
    return report.model_copy(update={"sections": found})


def _made(section: Section, report: Report) -> dict[str, JsonValue] | None:
    with blaming(section, f"the section {section.name!r}"):
        made = section.data(report.model_copy(deep=True))  # a copy: a section can look, and change nothing
        if made is None:
            return None
        if not isinstance(made, dict) or not all(isinstance(key, str) for key in made):
            raise TypeError("its data are not a dictionary with names as keys")
        kept: dict[str, JsonValue] = json.loads(json.dumps(made, allow_nan=False))
        return kept
