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

from auditkit.errors import InputError
from auditkit.plugins.local_law_144.outcomes import CountedOutcome
from auditkit.plugins.local_law_144.rates import CategoryRow, CategoryTable, tables
from auditkit.report.conventions import conventions
from support.data_files import shared


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


def test_the_reference_is_chosen_after_small_categories_have_left() -> None:
    table = people({("a", "A"): (490, 100), ("b", "A"): (490, 150), ("tiny", "A"): (20, 20)})
    assert row(of_table(table)["sex"], "tiny").reference  # exactly 2 % is not under 2 %
    sex = of_table(table, minimum_share=0.021)["sex"]
    assert row(sex, "b").reference and "2.1 %" in row(sex, "tiny").reason
    assert not any(each.reference for each in of_table(table, minimum_share=0.9)["sex"].rows)
    tied = of_table(people({("a", "A"): (10, 5), ("b", "A"): (100, 50)}))["sex"]
    assert row(tied, "b").reference and row(tied, "a").impact_ratio == 1


def test_ricci_above_the_median() -> None:
    ricci = pd.read_csv(shared("ricci_v_destefano.csv"))
    found, _ = tables(CountedOutcome.above_median(ricci["Combine"]), {"race/ethnicity": ricci["Race"]})
    assert found[0].median == pytest.approx(69.502, abs=5.1e-7)
    assert [(each.category, each.selected, each.applicants) for each in found[0].rows] == [
        ("B", 9, 27),
        ("H", 6, 23),
        ("W", 44, 68),
    ]


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
    assert set(texts) == {"four_fifths", "two_sd"}
    for convention in texts.values():
        assert convention.read_on == date(2026, 11, 16) and convention.source == "project fact sheet"
        assert convention.name and not re.search(r"\b(un)?fair|complian|bias|\bpass", convention.text, re.IGNORECASE)


# Which applications count ---------------------------------------------------------------------------------------------

FEW = pd.DataFrame(
    {
        "group": ["F", "F", "M", "M", "F", "M", "unknown", None],
        "inspected": [True, True, True, False, True, True, True, True],
        "selected": [False, False, True, False, False, True, True, False],
        "withdrawn": [True, False, False, False, False, False, False, False],
        "pending": [False, True, False, True, False, False, False, False],
        "score": [1.0, 2.0, 3.0, np.nan, 3.0, 3.0, 4.0, 5.0],
    }
)


def of_few(history: pd.DataFrame, outcome: str = "selected") -> CategoryTable:
    (found,), notes = tables(CountedOutcome.of_table(history, outcome), {"sex": history["group"]})
    assert notes == []
    return found


def test_withdrawn_and_pending_are_not_rejected_and_counts_add_up() -> None:
    found = of_few(FEW)
    assert (row(found, "F").applicants, row(found, "F").selected) == (1, 0)
    assert (found.applicants, found.withdrawn, found.pending, found.unknown) == (3, 1, 2, 2)
    assert row(of_few(FEW, "inspected"), "F").applicants == 1  # inspected and then withdrew: in no rate either
    for outcome in ("selected", "inspected", "score"):
        found = of_few(FEW, outcome)
        assert found.applicants + found.withdrawn + found.pending + found.unknown + found.not_measured == len(FEW)
    assert of_few(FEW.drop(columns=["withdrawn", "pending"])).applicants == 6


def test_scored_above_the_full_sample_median() -> None:
    found = of_few(FEW, "score")
    assert found.median == 3 and found.outcome == "score above the median"  # unknown groups are in the sample
    assert (found.selected, found.pending, found.withdrawn) == (0, 1, 0)  # ties are not above; a given score counts
    assert row(found, "F").applicants == 3


def test_missing_outcomes_are_left_out() -> None:
    selected = pd.array([None, None, True, None, None, True, True, False], dtype="boolean")
    found = of_few(FEW.assign(selected=selected))
    assert (found.applicants, found.withdrawn, found.pending, found.not_measured, found.unknown) == (2, 1, 2, 1, 2)


def test_columns_are_asked_for_by_name() -> None:
    with pytest.raises(InputError, match="did you mean 'selected'"):
        CountedOutcome.of_table(FEW, "select")
    with pytest.raises(InputError, match="not a yes/no column"):
        CountedOutcome.of_column(pd.Series([0.0, 2.0]))
    assert CountedOutcome.of_column(pd.Series([0, 1, None])).not_measured == 1
    kept = CountedOutcome.of_column(pd.Series([True, None, False], dtype=object)).counted
    assert kept.tolist() == [True, False, True]
