"""What people and outcomes are called in findings: employees retained or promoted, applicants admitted."""

from __future__ import annotations

import pandas as pd
import pytest

import auditkit
from auditkit.text import NBSP


def people(good: tuple[int, int], outcome: str, words: tuple[str, str], **more: str) -> pd.DataFrame:
    """400 women and 400 men, of whom `good` have the first of two words in a column, the others the second."""
    rows = []
    for sex, n in zip(("Female", "Male"), good, strict=True):
        rows += [{"Gender": sex, **more, outcome: words[0] if k < n else words[1]} for k in range(400)]
    frame = pd.DataFrame(rows)
    frame.insert(0, "Employee ID", [f"E{i:04}" for i in range(len(frame))])
    return frame


def findings(frame: pd.DataFrame, **mapping: str) -> str:
    found = auditkit.audit(frame, map=mapping or None).report.findings
    return " ".join(item.text for item in found if item.kind == "disparity").replace(NBSP, " ")


CASES = {
    "retained": ("Selected for RIF", ("No", "Yes")),
    "promoted": ("Promotion Outcome", ("Promoted", "Not promoted")),
    "admitted": ("Admission Decision", ("Admitted", "Denied")),
    "hired": ("Hiring Decision", ("Hired", "Rejected")),
}


@pytest.mark.parametrize("verb", CASES)
def test_the_verb_of_a_finding_is_that_of_the_outcome(verb: str) -> None:
    outcome, words = CASES[verb]
    text = findings(people((200, 300), outcome, words))
    assert f"Women were {verb} less often than men: 50.0 % against 75.0 %" in text
    assert all(f"were {other} " not in text for other in CASES if other != verb)
    assert f"about 50 more women would have been {verb}" in text


def test_a_layoff_without_a_difference_is_not_told_as_one() -> None:
    text = findings(people((300, 300), *CASES["retained"]))
    assert "less often" not in text and "more often" not in text


@pytest.mark.parametrize("test", ["Rejected=No", "Rejected!=Yes", "Rejected=(blank)"])
def test_a_denied_outcome_is_called_by_its_column(test: str) -> None:
    frame = people((200, 300), "Rejected", ("", "Y"))
    text = findings(frame, selected=test)
    name = "no Rejected" if "blank" in test else "not rejected"
    assert f"Women reached “{name}” less often than men: 50.0 % against 75.0 %" in text
