"""A realistic report (`auditkit-report/3`) for the tests of the rendering.

`report_example.json` is what auditkit wrote for sample_data/hiring.csv, with rounded numbers, coarser histograms and
without the what-if answers, kept so that the golden page stands still. tests/test_schemas.py compares it with the
schema; after a change, write the golden page again (see tests/test_report_render.py).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from auditkit.report.load_report import load
from auditkit.report.schema import Report

TEXT = (Path(__file__).parent / "report_example.json").read_text(encoding="utf-8")


def document() -> dict[str, Any]:
    """A new one each time: tests may take it apart."""
    made: dict[str, Any] = json.loads(TEXT)
    return made


def report(changed: dict[str, Any] | None = None) -> Report:
    """The example, or a document made from it, as a report."""
    return load(document() if changed is None else changed)


ASKED: dict[str, Any] = {
    "group": None,
    "curves": [],
    "positions": None,
    "budgets": [],
    "notices": [],
    "constraints": [],
}
"""What-if questions without an answer."""

ALTERNATIVES: list[dict[str, Any]] = [
    {
        "attribute": "Gender",
        "group": "Female",
        "against": "Male",
        "step": "hired",
        "recorded_ratio": 0.76,
        "blind": [
            {"ratio": None, "utility": 200.0, "bound": 200.1, "gap": 0.1, "filled": 60.0, "reached": 0.75},
            {"ratio": 0.8, "utility": 190.0, "bound": 190.1, "gap": 0.1, "filled": 60.0, "reached": 0.8},
            {"ratio": 0.9, "utility": None, "bound": None, "gap": None, "filled": None, "reached": None},
        ],
        "aware": [
            {"ratio": None, "utility": 204.0, "bound": 204.0, "gap": 0.0, "filled": 60.0, "reached": 0.72},
            {"ratio": 0.8, "utility": 198.0, "bound": 198.0, "gap": 0.0, "filled": 60.0, "reached": 0.8},
        ],
        "firm": {"utility": 170.0, "ratio": 0.76, "interviews": 400.0, "filled": 58.0},
        "rules": [
            {
                "name": "more-interviews",
                "target": 0.8,
                "met": True,
                "parameters": {"more": 2},
                "text": "two more interviews in each requisition",
                "exposure": 0,
                "utility": 180.0,
                "ratio": 0.81,
                "interviews": 520.0,
                "filled": 59.0,
                "people": {"utility": 175.0, "ratio": 0.82, "interviews": 515.0, "filled": 58.5},
                "gain": None,
            }
        ],
        "largest_ratio": {"filled": 0.88, "at_firm_utility": 0.86, "at_less": 0.87},
        "sentences": ["Two more interviews in each requisition would raise the ratio to 0.81."],
    }
]
"""Rules for one attribute, as `alternatives` of a document: a bound out of reach, and a rule that was not judged."""

NOTHING = ("mapping", "attributes", "steps", "groups", "funnel", "findings")
MISSING = ("firm", "unconstrained", "constrained", "disparity", "segments", "frontier", "sensitivity", "revealed")


def empty() -> dict[str, Any]:
    """A document with nothing in it that the format allows to be missing."""
    made = document()
    made |= {key: [] for key in NOTHING} | dict.fromkeys((*MISSING, "scores", "fit")) | {"sections": {}}
    made["problems"] = {"total": 0, "by_code": [], "counts": {"read": 0, "used": 0, "left": {}}}
    made["scope"] |= {"period": None, "searches": 0, "rows": 0, "applications": 0, "reached": {}, "left_out": []}
    made["scope"] |= {"unknown": {}, "merged": {}}
    made["provenance"]["conventions"] = []
    return made


SCORE_PAGE: dict[str, Any] = {
    "attribute": "Gender",
    "score": "CV Score",
    "reference": "Male",
    "groups": [
        {
            "group": group,
            "scored": 100,
            "mean": 50.0,
            "sd": 10.0,
            "quantiles": [37.0, 43.0, 50.0, 57.0, None],
            **distance,
        }
        for group, distance in (
            (
                "Female",
                {"d": -0.2, "interval": {"lower": -0.4, "upper": 0.1, "method": "t", "confidence": 0.95}, "p": 0.2},
            ),
            ("Male", {"d": None, "interval": None, "p": None}),
        )
    ],
    "cuts": [{"score": 55.0, "above": [30, 35], "impact_ratios": [30 / 35, 1.0], "present": True}],
    "agree": 0.7,
}
