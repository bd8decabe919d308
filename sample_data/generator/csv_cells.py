"""Applications and events as CSV, one way of writing each kind of cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import date

from auditkit.sample_data.generator.firm import Application
from auditkit.sample_data.generator.stage_log import Event

Cells = dict[str, str]


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def day(value: date) -> str:
    return value.isoformat()


def yes_no(value: bool) -> str:
    return "Yes" if value else "No"


def hiring_cells(a: Application) -> Cells:
    """One row of hiring.csv, by column."""
    return {
        "Candidate ID": str(a.candidate),
        "Requisition ID": a.requisition,
        "Job Family": a.family,
        "Job Level": a.level,
        "Application Date": day(a.applied),
        "Gender": a.gender,
        "Ethnicity": a.ethnicity,
        "Openings": str(a.openings),
        "CV Score": number(a.cv_score),
        "Years of Experience": number(a.experience),
        "Interviewed": yes_no(a.interviewed),
        "Interview Score": number(a.interview_score),
        "Interview Cost": number(a.interview_cost),
        "Hired": yes_no(a.hired),
        "First-year Rating": number(a.rating),
        "Relocation Expense": str(a.relocation),
    }


def event_cells(event: Event) -> Cells:
    """One row of hiring-stages.csv, by column."""
    a = event.application
    return {
        "Candidate ID": str(a.candidate),
        "Requisition ID": a.requisition,
        "Job Family": a.family,
        "Job Level": a.level,
        "Gender": a.gender,
        "Ethnicity": a.ethnicity,
        "Openings": str(a.openings),
        "CV Score": number(a.cv_score),
        "Years of Experience": number(a.experience),
        "Event Date": day(event.day),
        "Stage": event.stage,
        "Result": event.result,
        "Interview Score": number(event.score),
        "Stage Cost": number(event.cost),
    }


def write_csv(records: Iterable[Sequence[str]], *, separator: str = ",", newline: str = "\n") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=newline).writerows(records)
    return text.getvalue()


def table(rows: Sequence[Cells]) -> str:
    """The plain way: UTF-8, commas, a header in the first line."""
    return write_csv([list(rows[0]), *(list(row.values()) for row in rows)])
