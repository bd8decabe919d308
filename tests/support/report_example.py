"""A realistic report document (`auditkit-report/2`) for the tests of the rendering.

`report_example.json` is what auditkit wrote for sample_data/hiring.csv, with rounded numbers, coarser histograms and
without the what-if answers, kept so that the golden page stands still. tests/test_schemas.py compares it with the
schema; after a change, write the golden page again (see tests/test_report_render.py).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TEXT = (Path(__file__).parent / "report_example.json").read_text(encoding="utf-8")


def document() -> dict[str, Any]:
    """A new one each time: tests may take it apart."""
    made: dict[str, Any] = json.loads(TEXT)
    return made
