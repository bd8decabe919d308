"""What an exporter is: it turns a finished `Report` into the bytes of one file format.

HTML, PDF and JSON are exporters that ship (`plugins/exporters.py`). A plugin subclasses `Exporter` and returns it from
the hook `auditkit_exporters`; `--format` and `report.formats` then take its `format`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from auditkit.config import Parts
from auditkit.errors import InputError, Problem, blaming, nearest

if TYPE_CHECKING:
    from auditkit.report.schema import Report
    from auditkit.report.section import Section

Progress = Callable[[str], None]


class CannotExport(Exception):
    """A format cannot be written on this machine; the others are written all the same."""


@dataclass(frozen=True, eq=False)
class ReportPages:
    """The report as HTML, rendered once for all exporters that need it."""

    report: Report
    parts: Parts = "all"
    """How much of the report is shown, unless an exporter asks for another part."""
    template_dir: Path | None = None
    sections: Mapping[str, type[Section]] = field(default_factory=dict)
    _made: dict[Parts, str] = field(default_factory=dict, repr=False)

    def html(self, parts: Parts | None = None) -> str:
        """The page, self-contained."""
        from auditkit.report import html

        wanted = parts or self.parts
        if wanted not in self._made:
            self._made[wanted] = html.render(
                self.report, template_dir=self.template_dir, sections=self.sections, parts=wanted
            )
        return self._made[wanted]


class Exporter(ABC):
    """Base of all exporters."""

    format: ClassVar[str]
    """What `--format` calls it."""

    suffix: ClassVar[str]
    """How its file name ends, without the dot."""

    progress: ClassVar[str] = ""
    """What is said while it works, if that takes a while."""

    @abstractmethod
    def write(self, report: Report, pages: ReportPages) -> bytes:
        """The file; raise `CannotExport` where this machine cannot write it."""

    def files(self, report: Report, pages: ReportPages) -> Mapping[str, bytes]:
        """The file, and any others that come with it, by the ends of their names."""
        return {self.suffix: self.write(report, pages)}


Exporters = Mapping[str, type[Exporter]]


def check_formats(formats: Iterable[str], exporters: Exporters) -> None:
    """Raise InputError for a format that no exporter writes."""
    unknown = [name for name in formats if name not in exporters]
    if unknown:
        what = "there is no format {!r}"
        raise InputError([Problem("formats", what.format(name), nearest(name, exporters)) for name in unknown])


def export(
    formats: Iterable[str], exporters: Exporters, pages: ReportPages, progress: Progress = lambda _: None
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The files of these formats by the ends of their names, and why a format could not be written."""
    made: dict[str, bytes] = {}
    missing: list[str] = []
    for name in dict.fromkeys(formats):
        exporter = exporters[name]()
        if exporter.progress:
            progress(exporter.progress)
        with blaming(exporter, f"the exporter {name!r}"):
            try:
                made |= exporter.files(pages.report, pages)
            except CannotExport as error:
                missing.append(str(error))
    return made, tuple(missing)


def defect(exporter: type[Exporter]) -> str | None:
    """What is wrong with the class of an exporter, if anything is."""
    suffix = getattr(exporter, "suffix", None)
    if not isinstance(suffix, str) or not suffix.replace(".", "").isalnum() or suffix.startswith("."):
        return f"the exporter {exporter.format!r} needs a suffix such as 'csv', without a dot in front, not {suffix!r}"
    return None
