"""The sections that plugins add (`auditkit.report.section`): their data in the document, their templates in the page.

The document holds the data of each under `sections`; whatever a section cannot make of it, or its template cannot show,
is found out before anything is written, so that a broken one costs the report nothing but itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from auditkit.errors import PluginError, blaming
from auditkit.report import html
from auditkit.report.section import Section
from auditkit.report.view import Document

Sections = Mapping[str, Section]


def data(
    document: Document, sections: Sections, template_dir: Path | None, on_fault: Callable[[PluginError], None]
) -> dict[str, Any]:
    """`sections` of a finished document: title and data of each that has something to show and shows it."""
    found: dict[str, Any] = {}
    for name, section in sections.items():
        try:
            made = _made(section, document)
            if made is None:
                continue
            entry = {"title": section.title, "data": made}
            html.added({**document, "sections": {name: entry}}, {name: section}, template_dir)
        except PluginError as error:
            on_fault(error)
        else:
            found[name] = entry
    return found


def _made(section: Section, document: Document) -> dict[str, Any] | None:
    with blaming(section, f"the section {section.name!r}"):
        made = section.data(json.loads(json.dumps(document)))  # a copy: a section can look, and change nothing
        if made is None:
            return None
        if not isinstance(made, dict) or not all(isinstance(key, str) for key in made):
            raise TypeError("its data are not a dictionary with names as keys")
        kept: dict[str, Any] = json.loads(json.dumps(made, allow_nan=False))
        return kept
