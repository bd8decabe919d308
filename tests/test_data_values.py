"""Numbers, dates and words as people write them."""

from __future__ import annotations

import datetime
import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditkit.data.dates import looks_like_dates, to_dates
from auditkit.data.numbers import clean_ids, decimal_mark, to_numbers
from auditkit.data.problems import Collector
from auditkit.data.statuses import check_words, decide, settled, step_codes
from auditkit.data.vocabulary import ROLES, STATUSES, plain, shipped
from auditkit.errors import InputError
from support.sampling import examples


def cells(*values: str) -> pd.Series:
    return pd.Series(values, dtype="str")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["1", "2.5", "-3", "1e3", ".5"], [1, 2.5, -3, 1000, 0.5]),
        (["61,5", "70"], [61.5, 70]),
        (["1.234,5", "12"], [1234.5, 12]),
        (["1,234.5", "12"], [1234.5, 12]),
        (["1,234,567"], [1234567]),
        (["1.234.567"], [1234567]),
        (["1,234", "12.5"], [1234, 12.5]),
        (["1.234", "12,5"], [1234, 12.5]),
        (["1 234,5", "1\u00a0234", "1'234"], [1234.5, 1234, 1234]),
        (["$1,200", "€ 15", "12 EUR", "(3.5)", "−2"], [1200, 15, 12, -3.5, -2]),
        (["85%", "90 %", ""], [85, 90, math.nan]),
        (["", "NA", "n/a", "-", "*", "null"], [math.nan] * 6),
    ],
)
def test_numbers(written: list[str], meant: list[float]) -> None:
    numbers = to_numbers(cells(*written))
    assert not numbers.bad.any()
    assert numbers.values.tolist() == pytest.approx(meant, nan_ok=True)


@pytest.mark.parametrize("word", ["abc", "12a", "1,2,3", "8 hours", "5/10", "inf", "1e999", "1,2345.6", "--1", "1.2.3"])
def test_what_is_no_number(word: str) -> None:
    assert to_numbers(cells(word, "12.5")).bad.tolist() == [True, False]


def test_percent_beside_fractions_is_no_number() -> None:
    assert to_numbers(cells("85%", "0.85")).bad.tolist() == [True, False]


def test_both_decimal_marks_in_a_column_are_not_mixed() -> None:
    numbers = to_numbers(cells("12,5", "12.5"))
    assert numbers.bad.tolist() == [True, False]
    assert to_numbers(cells("12,5", "12.5"), file_mark=",").bad.tolist() == [False, True]


def test_the_file_decides_what_a_column_leaves_open() -> None:
    assert decimal_mark([["a", "1.5"], ["3"]]) == "."
    assert decimal_mark([["0,25"]]) == ","
    assert decimal_mark([["1,5"], ["1.5"]]) is None
    assert to_numbers(cells("69.502", "89"), ".", ";").values.tolist() == [69.502, 89]
    assert to_numbers(cells("69.502", "89"), ",", ";").values.tolist() == [69502, 89]
    assert to_numbers(cells("1,234"), None, ",").values.tolist() == [1234]
    doubtful = to_numbers(cells("1,234"), None, ";")
    assert doubtful.values.tolist() == [1.234]
    assert doubtful.doubtful


@examples(100)
@given(
    st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 2)), min_size=1, max_size=8),
    st.sampled_from([",.", ".,", " ,", "'."]),
)
def test_numbers_come_back_from_any_dress(values: list[float], marks: str) -> None:
    thousands, decimal = marks
    dressed = [f"{x:,.2f}".replace(",", "T").replace(".", decimal).replace("T", thousands) for x in values]
    numbers = to_numbers(cells(*dressed))
    assert not numbers.bad.any()
    assert numbers.values.tolist() == pytest.approx(values, abs=1e-9)


def test_ids_lose_their_spreadsheet_dress_only_if_all_wear_it() -> None:
    assert clean_ids(cells("1,234", "12", "1,234,567", "")).tolist() == ["1234", "12", "1234567", ""]
    assert clean_ids(cells("12.0", "7")).tolist() == ["12", "7"]
    assert clean_ids(cells("1,234", "A-7")).tolist() == ["1,234", "A-7"]
    assert clean_ids(cells("007", "12")).tolist() == ["007", "12"]


SEVEN = ("2024-03-25", "25.03.2024", "25/03/2024", "03-25-2024", "25 Mar 2024", "March 25, 2024", "20240325")


def test_seven_styles_in_one_column() -> None:
    dates = to_dates(cells(*SEVEN))
    assert not dates.bad.any()
    assert not dates.ambiguous.any()
    assert set(dates.values) == {pd.Timestamp("2024-03-25")}
    assert len(dates.styles) == 7


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("2024-03-05T10:30:15Z", "2024-03-05 10:30:15"),
        ("2024-03-05 10:30:15.250+01:00", "2024-03-05 10:30:15.250"),
        ("2024/3/5", "2024-03-05"),
        ("5.3.24", "2024-03-05"),
        ("5.3.85", "1985-03-05"),
        ("25/03/2024 1:05 PM", "2024-03-25 13:05"),
        ("03/25/2024 12:05 am", "2024-03-25 00:05"),
        ("Mon, 25 March 2024", "2024-03-25"),
        ("5-Mar-24", "2024-03-05"),
        ("Sept 5th, 2024", "2024-09-05"),
        ("45376", "2024-03-25"),
        ("05/05/2024", "2024-05-05"),
    ],
)
def test_one_date(word: str, meant: str) -> None:
    assert to_dates(cells(word)).values.tolist() == [pd.Timestamp(meant)]


def test_day_and_month_are_never_guessed() -> None:
    assert to_dates(cells("05/03/2024", "07/04/2024")).ambiguous.all()
    settled = to_dates(cells("05/03/2024", "25/03/2024"))
    assert settled.values.tolist() == [pd.Timestamp("2024-03-05"), pd.Timestamp("2024-03-25")]
    settled = to_dates(cells("05/03/2024", "03/25/2024"))
    assert settled.values.tolist() == [pd.Timestamp("2024-05-03"), pd.Timestamp("2024-03-25")]
    # dashes say nothing about slashes, and two orders in one style settle nothing
    assert to_dates(cells("05/03/2024", "25-03-2024")).ambiguous.tolist() == [True, False]
    torn = to_dates(cells("05/03/2024", "25/03/2024", "03/25/2024"))
    assert torn.ambiguous.tolist() == [True, False, False]
    assert torn.values.isna().tolist() == [True, False, False]


def test_what_is_no_date() -> None:
    dates = to_dates(cells("soon", "2024-02-30", "31.04.2024", "2024-03-05 25:00", "", "NA"))
    assert dates.bad.tolist() == [True, True, True, True, False, False]
    assert not looks_like_dates(cells("soon", "12", "45376", "1.5", "3/4")).any()


@examples(100)
@given(
    st.lists(st.dates(datetime.date(1970, 1, 1), datetime.date(2068, 12, 31)), min_size=1, max_size=20),
    st.sampled_from(["%d/%m/%Y", "%m/%d/%Y", "%d-%m-%y", "%Y-%m-%d", "%d.%m.%Y", "%b %d, %Y", "%d %B %y"]),
)
def test_a_date_is_right_or_ambiguous(days: list[datetime.date], style: str) -> None:
    dates = to_dates(cells(*(day.strftime(style) for day in days)))
    assert not dates.bad.any()
    for day, read, ambiguous in zip(days, dates.values, dates.ambiguous, strict=True):
        # dots are day first by custom, so 3.4. is no question
        assert ambiguous or read == pd.Timestamp(day)
    settled = any(day.day > 12 for day in days) or style not in ("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%y")
    assert not settled or not dates.ambiguous.any()


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("Hired", "selected"),
        ("HIRED - internal", "selected"),
        ("Offer Accepted", "selected"),
        ("not_hired", "rejected"),
        ("Rejected by hiring manager", "rejected"),
        ("Rejected: experience", "rejected"),
        ("Withdrew after interview", "withdrawn"),
        ("Candidate withdrew (salary)", "withdrawn"),
        ("Offer declined", "declined"),
        ("rejected offer", "declined"),
        ("In Process", "pending"),
        ("selected for interview", None),
        ("Declined", None),
        ("Moved on", None),
    ],
)
def test_status_words(word: str, meant: str | None) -> None:
    assert shipped().meaning(word) == meant


def test_no_word_means_two_things() -> None:
    words = shipped()
    phrases = [phrase for code in STATUSES for phrase in set(words.phrases("status", code))]
    assert len(phrases) == len(set(phrases)), {phrase for phrase in phrases if phrases.count(phrase) > 1}
    assert all(phrase == plain(phrase) for phrase in phrases)
    assert all(name == plain(name) for tiers in words.roles.values() for tier in tiers for name in tier)
    named_by_the_user = {"unit", "unit_capacity", "membership"}
    assert set(words.roles) | {"group", "stages"} | named_by_the_user == set(ROLES)


@pytest.mark.parametrize(
    ("column", "meant"),
    [
        (["x", "", "x"], "srs"),
        (["✓", "", ""], "srr"),
        (["2024-03-05", "", "NA"], "srr"),
        (["1", "0", ""], "srp"),
        (["1.0", "0.0", "1"], "srs"),
        (["Yes", "No", "N/A"], "srp"),
        (["Hired", "withdrawn", "in process"], "swp"),
    ],
)
def test_statuses_of_a_column(column: list[str], meant: str) -> None:
    status = settled(decide(cells(*column), "c"), cells(*column), "c", Collector())
    assert "".join(word[0] for word in status) == meant


def test_words_of_the_user() -> None:
    words = check_words({"moved ON": "selected", "nope": "rejected"})
    assert decide(cells("Moved on", "Nope"), "c", words).codes.tolist() == ["selected", "rejected"]
    with pytest.raises(InputError, match="did you mean 'selected'"):
        check_words({"moved on": "selcted"})


def test_stages_of_a_column() -> None:
    codes = step_codes(cells("yes", "2024-03-05", "passed", "Failed", "no show", "", "scheduled", "7.5", "eh"), "c")
    assert codes.tolist() == ["yes", "yes", "passed", "failed", "withdrawn", "", "pending", "yes", "?"]
