"""Small exports for the tests of `auditkit.data`: written cell by cell, in the dress that a test asks for."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from support import ROOT

SHARED = ROOT.parent / "shared" / "data"
"""Real files that are no part of the repository: used where they are, never needed."""


HEADER = ("Candidate ID", "Req ID", "Gender", "Interviewed", "Interview score", "CV score", "Final status")
ROWS = (
    ("a1", "r1", "F", "yes", "61.5", "7", "Hired"),
    ("a2", "r1", "M", "yes", "58.25", "8", "Rejected"),
    ("a3", "r1", "F", "no", "", "5", "Rejected"),
    ("a4", "r2", "M", "yes", "70", "9", "Hired"),
    ("a5", "r2", "Zoë", "no", "", "4", "Withdrawn"),
    ("a6", "r2", "M", "no", "", "6", "In process"),
)


def shared(name: str) -> Path:
    """One of the real files; without it the test is skipped."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is no part of the repository")
    return path


def text(header: Sequence[str], rows: Sequence[Sequence[object]], separator: str = ",") -> str:
    """A table as delimited text."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def save(folder: Path, content: str | bytes, name: str = "people.csv", encoding: str = "utf-8") -> Path:
    """A file with this content."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def table(folder: Path, header: str, *rows: str, name: str = "people.csv") -> Path:
    """A comma-separated file from its lines."""
    return save(folder, "\n".join([header, *rows]) + "\n", name)
