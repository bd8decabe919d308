"""The three Local Law 144 tables, what is left out of them, and the dated texts."""

from __future__ import annotations

import json
import re
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from auditkit.disparity import CountedOutcome
from auditkit.errors import InputError
from auditkit.plugins.local_law_144.rates import CategoryRow, CategoryTable, tables
from auditkit.report.conventions import conventions


def people(cells: dict[tuple[str, str], tuple[int, int]]) -> pd.DataFrame:
    """One row per person from (applicants, selected) of each sex and race."""
    rows = [(sex, race, k < x) for (sex, race), (n, x) in cells.items() for k in range(n)]
    table = pd.DataFrame(rows, columns=["group:sex", "group:race", "selected"])
    return table.assign(withdrawn=False, score=np.arange(float(len(table)))[::-1])


HISTORY = people(
    {
        ("F", "A"): (100, 20),
        ("M", "A"): (100, 40),
        ("F", "B"): (50, 5),
        ("M", "B"): (60, 12),
        ("F", "C"): (2, 2),
        ("M", "C"): (3, 2),
        ("unknown", "A"): (7, 1),
        ("F", "unknown"): (4, 0),
    }
)


def of_table(table: pd.DataFrame, outcome: str = "selected", **more: Any) -> dict[str, CategoryTable]:
    sex, race = table["group:sex"], table["group:race"]
    both = (sex + "+" + race).where((sex != "unknown") & (race != "unknown"))
    columns = {"sex": sex, "race/ethnicity": race, "intersection": both}
    found, notes = tables(CountedOutcome.of_table(table, outcome), columns, **more)
    assert notes == []
    return {one.name: one for one in found}


def row(table: CategoryTable, category: str) -> CategoryRow:
    return next(row for row in table.rows if row.category == category)


def test_three_tables() -> None:
    summary = of_table(HISTORY)
    assert list(summary) == ["sex", "race/ethnicity", "intersection"]
    assert all(table.rate_name == "selection rate" and table.median is None for table in summary.values())
    assert row(summary["sex"], "F").rate == Fraction(27, 156)
    assert row(summary["sex"], "F").impact_ratio == Fraction(27, 156) / Fraction(54, 163)
    assert [table.unknown for table in summary.values()] == [7, 4, 11]
    assert all(table.applicants + table.unknown == len(HISTORY) for table in summary.values())
    assert row(summary["intersection"], "F / B").impact_ratio == Fraction(1, 4)
    assert row(summary["intersection"], "M / A").reference


def test_small_categories_are_stated_but_not_the_reference() -> None:
    race = of_table(HISTORY)["race/ethnicity"]
    small = row(race, "C")
    assert (small.applicants, small.selected, small.rate, small.impact_ratio) == (5, 4, Fraction(4, 5), None)
    assert "2 %" in small.reason and row(race, "A").reference
    kept = of_table(HISTORY, minimum_share=0)["race/ethnicity"]
    assert row(kept, "C").reference and row(kept, "A").impact_ratio is not None


def test_scored_variant_uses_the_full_sample() -> None:
    sex = of_table(HISTORY, outcome="score")["sex"]
    assert sex.rate_name == "scoring rate"
    assert sex.median == (len(HISTORY) - 1) / 2
    assert sex.selected == len(HISTORY) // 2  # every unknown sex scored in the lower half


def test_a_column_that_says_nothing_or_does_not_belong_to_the_rows() -> None:
    outcome = CountedOutcome.of_table(HISTORY)
    columns = {"sex": HISTORY["group:sex"], "race/ethnicity": pd.Series(["unknown"] * len(HISTORY))}
    found, notes = tables(outcome, columns)
    assert [table.name for table in found] == ["sex"]
    assert len(notes) == 1 and "race/ethnicity" in notes[0]
    with pytest.raises(InputError, match="has 3 rows"):
        tables(outcome, {"sex": pd.Series(["F", "M", "F"])})


def test_nobody_selected_has_a_reason() -> None:
    sex = of_table(HISTORY.assign(selected=False))["sex"]
    assert row(sex, "F").impact_ratio is None and "zero" in row(sex, "F").reason
    json.dumps(sex.to_json(), allow_nan=False)


def test_conventions_are_dated_and_give_no_verdict() -> None:
    texts = conventions()
    assert set(texts) == {"four_fifths", "two_sd", "local_law_144", "eu_ai_act", "california"}
    for convention in texts.values():
        assert convention.read_on == date(2026, 11, 16) and convention.source == "project fact sheet"
        assert convention.name and not re.search(r"\b(un)?fair|complian|bias|\bpass", convention.text, re.IGNORECASE)
