"""Findings as files: NAME.csv, NAME.svg, NAME.md, and one page of several studies, each written whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from auditkit.files import write_text
from auditkit.plugins.study.figure import draw
from auditkit.plugins.study.paper_claims import Claim, Findings, Study, StudyTable


def write(folder: Path, study: Study, findings: Findings, count: str) -> str:
    """Write the files of one study; returns its section of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / f"{study.name}.csv", csv(findings.table))
    write_text(folder / f"{study.name}.svg", draw(findings.panels))
    text = section(study, findings, count)
    write_text(folder / f"{study.name}.md", text.replace("SVG_FOLDER/", ""))
    return text


def csv(table: StudyTable) -> str:
    lines = [table.columns, *([_cell(x) for x in row] for row in table.rows)]
    return "".join(",".join(line) + "\n" for line in lines)


def _cell(x: float | str) -> str:
    return x if isinstance(x, str) else "" if x != x else f"{x:.8g}"


def section(study: Study, findings: Findings, count: str) -> str:
    """Markdown; the place of the chart is left open as SVG_FOLDER."""
    parts = [f"## {study.title} (`{study.name}`)", f"Repeats: {study.paper}. {count}"]
    if findings.claims:
        parts.append(_claims(findings.claims))
    parts += [f"{heading}:\n\n{_markdown(table)}" for heading, table in findings.shown]
    parts += list(findings.notes)
    parts.append(f"![{study.title}](SVG_FOLDER/{study.name}.svg)")
    return "\n\n".join(parts) + "\n"


def _claims(claims: Sequence[Claim]) -> str:
    rows = tuple((c.where, c.says, c.measured, c.verdict) for c in claims)
    return _markdown(StudyTable(("where", "the paper says", "measured", ""), rows))


def _markdown(table: StudyTable) -> str:
    lines = [list(table.columns), ["---"] * len(table.columns), *([_cell(x) for x in row] for row in table.rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def page(title: str, intro: str, sections: Sequence[str], svg_folder: str) -> str:
    return f"# {title}\n\n{intro}\n\n" + "\n".join(sections).replace("SVG_FOLDER", svg_folder)
