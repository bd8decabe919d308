"""The three Local Law 144 tables, what is left out of them and hidden in them, and the dated texts."""

from __future__ import annotations

import json
import re
from datetime import date
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditkit.disparity import CountedOutcome
from auditkit.errors import InputError
from auditkit.plugins.local_law_144.rates import (
    CategoryRow,
    CategoryTable,
    LawStatement,
    conventions,
    of_table,
    summarise,
    suppress,
)


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


def row(table: CategoryTable | None, category: str) -> CategoryRow:
    assert table is not None
    return next(row for row in table.rows if row.category == category)


def test_three_tables() -> None:
    summary = of_table(HISTORY)
    assert [table.name for table in summary.tables] == ["sex", "race/ethnicity", "intersection"]
    assert all(table.rate_name == "selection rate" and table.median is None for table in summary.tables)
    assert row(summary.sex, "F").rate == Fraction(27, 156)
    assert row(summary.sex, "F").impact_ratio == Fraction(27, 156) / Fraction(54, 163)
    assert [table.unknown for table in summary.tables] == [7, 4, 11]
    assert all(table.applicants + table.unknown == len(HISTORY) for table in summary.tables)
    assert row(summary.intersection, "F / B").impact_ratio == Fraction(1, 4)
    assert row(summary.intersection, "M / A").reference


def test_small_categories_are_stated_but_not_the_reference() -> None:
    summary = of_table(HISTORY)
    small = row(summary.race, "C")
    assert (small.applicants, small.selected, small.rate, small.impact_ratio) == (5, 4, Fraction(4, 5), None)
    assert "2 %" in small.reason and row(summary.race, "A").reference
    kept = of_table(HISTORY, minimum_share=0)
    assert row(kept.race, "C").reference and row(kept.race, "A").impact_ratio is not None


def test_scored_variant_uses_the_full_sample() -> None:
    summary = of_table(HISTORY, outcome="score")
    assert summary.sex is not None and summary.sex.rate_name == "scoring rate"
    assert summary.sex.median == (len(HISTORY) - 1) / 2
    assert summary.sex.selected == len(HISTORY) // 2  # every unknown sex scored in the lower half


def test_one_column_or_none() -> None:
    summary = of_table(HISTORY, race=None)
    assert summary.race is None and summary.intersection is None and "race/ethnicity" in summary.notes[0]
    unknown = summarise(CountedOutcome.of_table(HISTORY), HISTORY["group:sex"], pd.Series(["unknown"] * len(HISTORY)))
    assert [table.name for table in unknown.tables] == ["sex"] and len(unknown.notes) == 2
    with pytest.raises(InputError, match="did you mean 'group:sex'"):
        of_table(HISTORY, sex="group:sx")
    with pytest.raises(InputError, match="has 3 rows"):
        summarise(CountedOutcome.of_table(HISTORY), pd.Series(["F", "M", "F"]))


def test_nobody_selected_has_a_reason() -> None:
    summary = of_table(HISTORY.assign(selected=False))
    assert row(summary.sex, "F").impact_ratio is None and "zero" in row(summary.sex, "F").reason
    json.dumps(summary.to_json(), allow_nan=False)


def test_statement_names_what_is_missing() -> None:
    statement = LawStatement(data_source="applicant system", audit_date=date(2024, 2, 29))
    assert statement.missing == ("explanation", "distribution_date")
    document = of_table(HISTORY, statement=statement).to_json()
    assert document["statement"]["audit_date"] == "2024-02-29"
    assert document["statement"]["missing"] == ["explanation", "distribution_date"]
    assert document["convention"]["read_on"] == "2026-11-16"
    json.dumps(document, allow_nan=False)


def test_suppression_reaches_sums_over_rows_and_columns() -> None:
    shown = suppress(of_table(HISTORY))
    assert row(shown.race, "C").shown == "5"
    assert row(shown.intersection, "F / C").shown == "<5" and row(shown.intersection, "M / C").shown == "<5"
    # Each sex's total is known: a second category of each has to go, though not the reference while another is left.
    assert row(shown.intersection, "F / B").shown == "not shown" and row(shown.intersection, "M / B").applicants is None
    assert row(shown.intersection, "F / A").impact_ratio == Fraction(1, 2)


def test_hidden_reference() -> None:
    history = people({("F", "A"): (30, 3), ("M", "A"): (3, 3)})
    shown = suppress(of_table(history, minimum_share=0))
    assert row(shown.sex, "M").shown == "<5" and row(shown.sex, "F").shown == "not shown"
    history = people({("F", "A"): (30, 3), ("X", "A"): (40, 3), ("M", "A"): (3, 3)})
    shown = suppress(of_table(history, minimum_share=0))
    assert row(shown.sex, "X").impact_ratio is None and row(shown.sex, "X").applicants == 40


sizes = st.lists(st.integers(0, 12), min_size=6, max_size=6).filter(any)


@settings(deadline=None, max_examples=40)
@given(sizes)
def test_no_hidden_cell_is_alone_in_its_line(n: list[int]) -> None:
    names = [(sex, race) for sex in "FM" for race in "ABC"]
    shown = suppress(of_table(people({name: (k, k // 2) for name, k in zip(names, n)}), minimum_share=0))
    assert shown.intersection is not None
    for i in range(2):
        for value in {row.parts[i] for row in shown.intersection.rows}:
            line = [row for row in shown.intersection.rows if row.parts[i] == value]
            out = [row for row in line if row.applicants is None]
            assert len(out) != 1 or len(line) == 1


def test_conventions_are_dated_and_give_no_verdict() -> None:
    texts = conventions()
    assert set(texts) == {"four_fifths", "two_sd", "local_law_144", "eu_ai_act", "california"}
    for convention in texts.values():
        assert convention.read_on == date(2026, 11, 16) and convention.source == "project fact sheet"
        assert convention.name and not re.search(r"\b(un)?fair|complian|bias|\bpass", convention.text, re.IGNORECASE)
