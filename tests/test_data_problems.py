"""Every kind of problem: where it is, how it is treated, and that the rows still add up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from auditkit.data.load import check, load
from auditkit.data.problems import CODES, LEAVING, RowCounts
from auditkit.data.reading import AmbiguousReading
from auditkit.errors import InputError
from support.data_files import save, table
from support.sampling import examples

# code: (lines of the file, mapping, options, [(row, column, value)])
Case = tuple[list[str], dict[str, str], dict[str, Any], list[tuple[int | None, str, str]]]
CASES: dict[str, Case] = {
    "not-a-number": (
        ["gender,hired,cost", "F,1,12", "M,0,abc", "F,0,13", "M,0,dear"],
        {},
        {},
        [(3, "cost", "abc"), (5, "cost", "dear")],
    ),
    "bad-capacity": (
        ["gender,hired,openings", "F,1,2.5", "M,0,-1"],
        {"capacity": "openings"},
        {},
        [(2, "openings", "2.5"), (3, "openings", "-1")],
    ),
    "bad-count": (["gender,hired,n", "F,1,2", "M,0,1.5"], {"count": "n"}, {}, [(3, "n", "1.5")]),
    "inconsistent-capacity": (
        ["gender,hired,req id,openings", "F,1,a,2", "M,0,a,2", "F,0,a,3", "M,0,b,1"],
        {},
        {},
        [(4, "openings", "3")],
    ),
    "inconsistent-unit-capacity": (
        ["gender,hired,req id,team,places", "F,1,a,x,2", "M,0,a,y,1", "F,0,a,x,3", "M,0,b,x,1"],
        {"unit": "team", "unit_capacity": "places"},
        {},
        [(4, "places", "3")],
    ),
    "duplicate-candidate": (
        ["candidate id,gender,hired", "1,F,1", "2,M,0", "1,F,0"],
        {},
        {},
        [(4, "candidate id", "1")],
    ),
    "ambiguous-date": (
        ["gender,hired,applied at", "F,1,05/03/2024", "M,0,06/04/2024", "M,0,07/07/2024"],
        {},
        {},
        [(2, "applied at", "05/03/2024"), (3, "applied at", "06/04/2024")],
    ),
    "unknown-word": (
        ["gender,final status", "F,Hired", "M,Rejected", "M,Moved on"],
        {},
        {},
        [(4, "final status", "Moved on")],
    ),
    "conflicting-value": (
        ["candidate id,stage,gender", "1,Phone,F", "1,Onsite,M", "2,Phone,M", "2,Onsite,", "1,Hired,f"],
        {"stage": "stage"},
        {},
        [(3, "gender", "M")],
    ),
    "repeated-row": (
        ["candidate id,gender,hired", "1,F,1", "2,M,0", "1,F,1"],
        {},
        {},
        [(4, "candidate id", "1")],
    ),
    "repeated-header": (["gender,hired", "F,1", "gender,hired", "M,0"], {}, {}, [(3, "", "")]),
    "total-row": (["gender,hired,score", "F,1,3", "M,0,4.5", "Total,,7.5"], {}, {}, [(4, "gender", "Total")]),
    "heading-row": (
        ["ref,gender,stage,hired", "1,F,a,1", "Second day,,,", *[f"{i},M,b,{i % 2}" for i in range(2, 7)]],
        {},
        {},
        [(3, "ref", "Second day")],
    ),
    "not-a-person": (
        [
            "ref,name,gender,hired",
            *[f"{i},P {i},{'FM'[i % 2]},{i % 3 % 2}" for i in range(30)],
            "99,Test please ignore,,",
        ],
        {},
        {},
        [(32, "ref", "99")],
    ),
    "ambiguous-number": (["gender;hired;cost", "F;1;1,234", "M;0;2,345"], {}, {}, [(None, "cost", "1,234")]),
    "selected-not-inspected": (
        ["gender,hired,interviewed", "F,1,yes", "M,1,no", "F,0,no"],
        {},
        {},
        [(3, "interviewed", "no")],
    ),
    "score-without-inspection": (
        ["gender,hired,interviewed,score", "F,1,yes,3.5", "M,0,no,4.5", "F,0,yes,2", "M,0,no,"],
        {},
        {},
        [(3, "score", "4.5")],
    ),
    "inspected-without-score": (
        ["gender,hired,interviewed,score", "F,1,yes,3.5", "M,0,yes,", "F,0,no,"],
        {"score": "score"},
        {},
        [(3, "score", "")],
    ),
    "more-selected-than-capacity": (
        ["gender,hired,req id,openings", "F,1,a,1", "M,1,a,1", "M,1,b,1"],
        {},
        {},
        [(2, "openings", "2")],
    ),
    "negative-cost": (["gender,hired,cost", "F,1,-5", "M,0,7"], {}, {}, [(2, "cost", "-5")]),
    "missing-cost": (["gender,hired,cost", "F,1,", "M,0,7"], {}, {}, [(None, "cost", "1")]),
    "missing-candidate": (["candidate id,gender,hired", "a,F,1", ",M,0", "b,M,0"], {}, {}, [(3, "candidate id", "")]),
    "mixed-dates": (
        ["gender,hired,applied at", "F,1,2024-03-05", "M,0,25.03.2024", "M,0,5 Mar 2024"],
        {},
        {},
        [(None, "applied at", "3")],
    ),
    "group-spelling": (
        ["gender,hired", "Female,1", "female,0", "Female,0", "Male,0"],
        {},
        {},
        [(None, "gender", "female")],
    ),
    "stage-skipped": (
        ["gender,phone,onsite", "F,yes,yes", "M,no,yes", "F,yes,no"],
        {"stages": "phone+onsite"},
        {},
        [(3, "phone", "")],
    ),
    "unreadable-date": (
        ["gender,hired,applied at", "F,1,2024-03-05", "M,0,2024-02-30", "M,0,soon"],
        {},
        {},
        [(3, "applied at", "2024-02-30"), (4, "applied at", "soon")],
    ),
    "unknown-group": (
        ["gender,hired", "F,1", "M,0", "NA,0", "-,0", "*,0", "prefer not to say,0", ",0", "Unknown,1"],
        {},
        {},
        [(row, "gender", word) for row, word in enumerate(["NA", "-", "*", "prefer not to say", "", "Unknown"], 4)],
    ),
    "missing-search": (["gender,hired,req id", "F,1,a", "M,0,"], {}, {}, [(3, "req id", "")]),
    "missing-status": (["gender,hired", "F,1", "M,", "M,0"], {}, {}, [(3, "hired", "")]),
    "missing-stage": (
        ["candidate id,stage,gender", "1,Phone,F", "1,Hired,F", "2,,M", "2,Phone,M"],
        {"stage": "stage"},
        {},
        [(4, "stage", "")],
    ),
    "prior-not-number": (
        ["gender,hired,years of experience", *[f"F,1,{i}" for i in range(12)], "M,0,5+"],
        {},
        {},
        [(14, "years of experience", "5+")],
    ),
}


def test_every_kind_has_a_case() -> None:
    assert set(CASES) == set(CODES)
    assert {kind.treatment for kind in CODES.values()} == {"refuse", "warn", "unknown"}


@pytest.mark.parametrize("code", CASES)
def test_problem(tmp_path: Path, code: str) -> None:
    lines, mapping, options, expected = CASES[code]
    path = table(tmp_path, *lines)
    checked = check(path, mapping, **options)
    assert not checked.errors
    found = [problem for problem in checked.problems if problem.code == code]
    assert [(problem.row, problem.column, problem.value) for problem in found] == expected
    treatment = CODES[code].treatment
    for problem in found:
        assert problem.treatment == treatment
        assert problem.what and problem.fix
        assert "{" not in problem.what + problem.fix
    assert checked.ok == (treatment != "refuse")
    if treatment == "refuse":
        with pytest.raises(InputError) as error:
            load(path, mapping, **options)
        [line] = error.value.problems
        rows = ", ".join(str(row) for row, _, _ in expected)
        place = f"row {rows}" if len(expected) == 1 else f"{len(expected)} rows ({rows})"
        if isinstance(error.value, AmbiguousReading):
            assert all(answer.flags and answer.funnel for answer in error.value.question.answers)
            return
        assert line.where == f"{place}, column {expected[0][1]!r}"
    else:
        load(path, mapping, **options)
    assert checked.history is not None
    assert checked.history.counts.left == ({code: len(expected)} if code in LEAVING else {})


def frame(tmp_path: Path, code: str) -> Any:
    lines, mapping, options, _ = CASES[code]
    return load(table(tmp_path, *lines), mapping, **options).table


def test_what_the_treatments_do(tmp_path: Path) -> None:
    assert frame(tmp_path, "selected-not-inspected")["inspected"].tolist() == [True, True, False]
    assert frame(tmp_path, "score-without-inspection")["score"].isna().tolist() == [False, True, False, True]
    assert frame(tmp_path, "more-selected-than-capacity")["capacity"].tolist() == [2, 2, 1]
    assert frame(tmp_path, "negative-cost")["cost"].tolist() == [-5, 7]
    assert frame(tmp_path, "group-spelling")["group"].tolist() == ["Female", "Female", "Female", "Male"]
    assert frame(tmp_path, "unknown-group")["group"].tolist() == ["F", "M", *["unknown"] * 6]
    assert frame(tmp_path, "missing-search")["search"].tolist() == ["a", "unknown"]
    assert frame(tmp_path, "missing-status")["pending"].tolist() == [False, True, False]
    assert frame(tmp_path, "missing-candidate")["candidate"].tolist() == ["a", "row 3", "b"]
    assert frame(tmp_path, "prior-not-number")["prior:years of experience"].isna().sum() == 1
    assert frame(tmp_path, "unreadable-date")["date"].isna().tolist() == [False, True, True]
    assert frame(tmp_path, "repeated-row")["row"].tolist() == [2, 3]


def test_all_problems_of_all_columns_at_once(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        "candidate id,gender,final status,cost,applied at",
        "1,F,Hired,12,05/03/2024",
        "1,M,Moved on,abc,soon",
        "3,NA,Rejected,-3,06/04/2024",
    )
    checked = check(path)
    assert checked.problems.counts() == {
        "duplicate-candidate": 1,
        "unknown-word": 1,
        "unknown-group": 1,
        "not-a-number": 1,
        "negative-cost": 1,
        "ambiguous-date": 2,
        "unreadable-date": 1,
    }
    assert len(checked.problems) == 8
    treatments = [problem.treatment for problem in checked.problems]
    assert treatments == sorted(treatments, key=["refuse", "warn", "unknown"].index)
    with pytest.raises(InputError) as error:
        load(path)
    assert len(error.value.problems) == 4  # the two dates are one line


def test_a_flood_of_refusals_is_counted_not_listed(tmp_path: Path) -> None:
    path = table(tmp_path, "gender,hired,cost", *["F,1,abc"] * 2500, "M,0,1")
    with pytest.raises(InputError) as error:
        load(path, {"cost": "cost"})
    [line] = error.value.problems
    assert str(line).startswith("2,500 rows (2, 3, 4, ...), column 'cost': 'abc' is not a number (")
    assert len(list(check(path, {"cost": "cost"}).problems)) == 2500


def test_a_message_repeats_one_cell_and_no_row(tmp_path: Path) -> None:
    secret = "x" * 200 + "\x1b[31m"
    path = table(tmp_path, "name,gender,hired,cost", f"Ada Lovelace,F,1,{secret}", "Grace Hopper,M,0,1")
    [problem] = [p for p in check(path, {"cost": "cost"}).problems if p.code == "not-a-number"]
    assert "Lovelace" not in problem.what + problem.fix + problem.value
    assert "\x1b" not in problem.what
    assert len(problem.what) < 100


def test_check_never_raises(tmp_path: Path) -> None:
    assert not check(tmp_path / "none.csv").ok
    checked = check(table(tmp_path, "a,b", "x,y"))
    assert [problem.where for problem in checked.errors] == ["group", "selected"]
    assert checked.history is None


def test_statuses_are_counted_apart(tmp_path: Path) -> None:
    words = ["Hired", "Offer declined", "Rejected", "Withdrawn", "In process", "Rejected by manager"]
    history = load(table(tmp_path, "gender,final status", *[f"{g},{w}" for g, w in zip("FMFMFM", words, strict=True)]))
    assert history.counts.outcomes == {"declined": 1, "pending": 1, "rejected": 2, "selected": 1, "withdrawn": 1}
    assert history.table["selected"].tolist() == [True, True, False, False, False, False]
    assert history.decided.tolist() == [True, True, True, False, False, True]
    assert {"withdrawn", "pending", "declined"} <= {notice.code for notice in history.notices}


def test_declined_offers_do_not_fill_positions(tmp_path: Path) -> None:
    history = load(
        table(tmp_path, "gender,final status,openings", "F,Hired,1", "M,Offer declined,1"), {"capacity": "openings"}
    )
    assert history.table["capacity"].tolist() == [1, 1]
    assert "more-selected-than-capacity" not in history.problems.counts()


def test_cost_and_capacity_of_the_user(tmp_path: Path) -> None:
    path = table(tmp_path, "gender,hired,score", "F,1,3.5", "M,0,2.5")
    history = load(path, cost=40, capacity=3)
    assert history.table["cost"].tolist() == [40, 40]
    assert history.table["capacity"].tolist() == [3, 3]
    assert not {"no-cost", "no-capacity"} & {notice.code for notice in history.notices}
    assert {"no-cost", "no-capacity"} <= {notice.code for notice in load(path).notices}
    history = load(table(tmp_path, "gender,hired,cost", "F,1,", "M,0,7"), cost=40)
    assert history.table["cost"].tolist() == [40, 7]
    assert not history.problems.counts()
    with pytest.raises(InputError, match="--capacity"):
        load(path, capacity=-1)


def test_who_was_inspected_when_no_column_says(tmp_path: Path) -> None:
    scored = load(table(tmp_path, "gender,hired,score", "F,1,3.5", "M,0,2.5", "M,0,", "F,0,4"))
    assert scored.table["inspected"].tolist() == [True, True, False, True]
    unscored = load(table(tmp_path, "gender,hired", "F,1", "M,0"))
    assert unscored.table["inspected"].tolist() == [True, False]
    assert all("inspected-derived" in [n.code for n in h.notices] for h in (scored, unscored))
    dated = load(table(tmp_path, "gender,hired,interview date", "F,1,2024-03-05", "M,0,", "M,0,05/04/2024"))
    assert dated.table["inspected"].tolist() == [True, False, True]


def test_ranks_are_reversed(tmp_path: Path) -> None:
    history = load(table(tmp_path, "gender,hired,rank", "F,1,1", "M,0,3", "M,0,2", "F,0,"))
    assert history.table["score"].tolist()[:3] == [3, 1, 2]
    assert "rank-reversed" in [notice.code for notice in history.notices]


def test_dressed_ids_are_the_same_candidate(tmp_path: Path) -> None:
    path = save(tmp_path, 'candidate id,gender,hired\n"1,234",F,1\n1234,F,0\n77,M,0\n')
    assert [p.row for p in check(path).problems if p.code == "duplicate-candidate"] == [3]


def test_the_same_person_may_apply_to_two_searches(tmp_path: Path) -> None:
    history = load(table(tmp_path, "candidate id,req id,gender,hired", "1,a,F,1", "1,b,F,0", "2,a,M,0"))
    assert not history.problems.counts()


def test_one_group_is_said(tmp_path: Path) -> None:
    assert "one-group" in [n.code for n in load(table(tmp_path, "gender,hired", "F,1", "F,0")).notices]


def test_priors_expenses_outcomes_and_dates(tmp_path: Path) -> None:
    history = load(
        table(
            tmp_path,
            "gender,hired,gpa,education,travel expense,performance rating,applied at",
            "F,1,3.5,MSc,100,4,2024-03-05",
            "M,0,3.1,,50,,2024-03-06",
        )
    )
    assert history.columns("prior") == ("gpa", "education")
    assert history.table["prior:education"].tolist() == ["MSc", "unknown"]
    assert history.table["expense:travel expense"].tolist() == [100, 50]
    assert history.table["outcome"].isna().tolist() == [False, True]
    assert history.table["date"].dt.day.tolist() == [5, 6]


def test_counts_that_do_not_add_up_are_a_defect() -> None:
    with pytest.raises(AssertionError):
        RowCounts(3, 2, {}, 2, {"selected": 2}, {"F": 2})
    with pytest.raises(AssertionError):
        RowCounts(2, 2, {}, 2, {"selected": 1}, {"F": 2})
    with pytest.raises(AssertionError):
        RowCounts(2, 2, {}, 2, {"selected": 2}, {"F": 1})


_GROUP = st.sampled_from(["F", "M", "f", "", "NA", "prefer not to say", "*", "X"])
_STATUS = st.sampled_from(["Hired", "Rejected", "Withdrawn", "offer declined", "in process", "", "???", "what"])
_ROW = st.tuples(
    st.sampled_from(["1", "2", "3", "4", ""]),
    st.sampled_from(["a", "b", ""]),
    _GROUP,
    st.sampled_from(["yes", "no", "", "2024-01-01", "perhaps"]),
    st.sampled_from(["1", "2,5", "2.5", "", "x", "-3"]),
    _STATUS,
    st.sampled_from(["1", "2", "1.5", ""]),
)
_MAPPING = {
    "candidate": "id",
    "search": "req",
    "group": "sex",
    "inspected": "seen",
    "score": "score",
    "selected": "status",
    "capacity": "openings",
}


@examples(30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_ROW, min_size=1, max_size=12))
def test_rows_always_add_up(tmp_path: Path, rows: list[tuple[str, ...]]) -> None:
    lines = [",".join(f'"{cell}"' for cell in row) for row in rows]
    checked = check(table(tmp_path, "id,req,sex,seen,score,status,openings", *lines), _MAPPING)
    if checked.history is None:
        assert all("".join(row).strip() == "" for row in rows)
        return
    counts, frame = checked.history.counts, checked.history.table
    assert counts.rows_read == counts.rows_used + sum(counts.left.values())
    assert counts.rows_read + sum("".join(row) == "" for row in rows) == len(rows)
    assert counts.applications == len(frame) == sum(counts.groups.values()) == sum(counts.outcomes.values())
    unknown = sum(problem.code == "unknown-group" for problem in checked.problems)
    assert counts.groups.get("unknown", 0) == unknown
    assert not (frame["selected"] & ~frame["inspected"]).any()
    assert frame["row"].is_unique
    assert set(frame["status"]) <= {"selected", "declined", "rejected", "withdrawn", "pending"}


def test_a_file_with_everything_wrong_at_once(tmp_path: Path) -> None:
    lines = [
        "sep=;",
        "Recruiting report;;;;;;;;",
        "",
        ";Candidate ID;Requisition;Gender;Interview date;Interview Score;Cost per interview;Openings;Final Status",
        *(
            f"{i};1.{200 + i};R-{i % 2};{'Weiß' if i % 3 else '-'};05.03.2024;6{i},5;1.200,50;2;Rejected"
            for i in range(10)
        ),
        "11;1.250;R-1;Grün;;;900;2;Hired (internal)",
        "12;1.251;R-1;Grün;06.03.2024;zwölf;900;2;Withdrawn by candidate",
        "Summe;;;;;;12.905;;",
    ]
    checked = check(save(tmp_path, "\r\n".join(lines), encoding="cp1252"))
    history = checked.history
    assert history is not None
    assert history.source.header_row == 4
    assert history.table["candidate"].tolist()[0] == "1200"
    assert history.table["cost"].tolist()[0] == 1200.5
    assert history.table["score"].tolist()[0] == 60.5
    assert checked.problems.counts() == {
        "total-row": 1,
        "unknown-group": 4,
        "selected-not-inspected": 1,
        "not-a-number": 1,
        "inspected-without-score": 1,
    }
    assert [p.row for p in checked.problems.of("refuse")] == [16]
    assert history.counts.left == {"total-row": 1}
    assert history.counts.rows_read == 13


def test_one_problem_is_one_line(tmp_path: Path) -> None:
    lines = ["gender,hired,cost", *["F,1,12"] * 30, "M,0,abc", "M,0,dear", "F,0,-", "M,0,abc"]
    [line] = check(table(tmp_path, *lines), {"cost": "cost"}).problems.of("refuse").lines()
    assert line.where == "3 rows (32, 33, 35), column 'cost'"
    assert line.what == "'abc' is not a number; also 'dear'"
    spelt = check(table(tmp_path, "gender,hired", *["Female,1"] * 3, "female,0", "FEMALE,0", "Male,1")).problems.lines()
    assert [(line.where, line.what) for line in spelt] == [
        ("2 values, column 'gender'", "'female' is taken as the same group as 'Female'; also 'FEMALE'")
    ]


def test_a_refused_key_names_the_column_that_would_do(tmp_path: Path) -> None:
    rows = ("1,F,1,2020-01-01,w1", "1,F,0,2020-01-02,w2", "2,M,0,2020-01-03,w3")
    path = table(tmp_path, "candidate id,gender,hired,date of birth,workflow ref", *rows)
    with pytest.raises(InputError, match='--map "candidate=workflow ref"'):
        load(path)


def test_whoever_applies_again_on_another_day_counts_twice(tmp_path: Path) -> None:
    rows = (
        "1,a,F,1,2024-01-05",
        "1,a,F,0,2024-02-05",
        "2,a,M,0,2024-02-05",
        "1,a,F,0,2024-03-05",
        "2,b,M,0,2024-03-05",
    )
    history = load(table(tmp_path, "candidate id,req id,gender,hired,applied at", *rows))
    assert history.table["candidate"].tolist() == ["1", "1 (2)", "2", "1 (3)", "2"]
    assert history.table["person"].tolist() == ["1", "1", "2", "1", "2"]
    assert history.repeated_applicants == 2
    assert "applied-again" in [notice.code for notice in history.notices]


def test_notes_at_the_foot_are_no_applications(tmp_path: Path) -> None:
    rows = [f"{i},r{i % 2},F,{i % 2},{i}" for i in range(1, 11)]
    foot = ("Total applications: 10,,,,", "Exported by A. Person on 2024-05-06,,,,")
    history = load(table(tmp_path, "candidate id,req id,gender,hired,cv score", *rows, *foot))
    assert history.counts.left == {"total-row": 2}
    assert len(history.table) == 10
