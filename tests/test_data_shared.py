"""Public data sets: small look-alikes always, the real files where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditkit.data.firm_history import History
from auditkit.data.load import load
from auditkit.errors import InputError
from support.data_files import SHARED, save, shared, table


def codes(history: History) -> set[str]:
    return {notice.code for notice in history.notices}


def selected(history: History, column: str = "group") -> dict[str, tuple[int, int]]:
    grouped = history.table.groupby(column)["selected"]
    return {
        str(group): (int(x), int(n))
        for group, x, n in zip(grouped.sum().index, grouped.sum(), grouped.size(), strict=True)
    }


RICCI = (
    "rownames,Race,Position,Oral,Written,Combine",
    "1,W,Captain,89.52,95,92.808",
    "2,B,Lieutenant,80,60,68.5",
    "3,H,Captain,70,71,70.6",
)


def test_scores_without_a_decision_name_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        load(table(tmp_path, *RICCI))
    [problem] = error.value.problems
    assert problem.where == "selected"
    assert '--map "selected=Combine>=MARK"' in problem.fix
    history = load(table(tmp_path, *RICCI), {"selected": "Combine>=70", "score": "combine"})
    assert history.table["selected"].tolist() == [True, False, True]
    assert history.table["search"].tolist() == ["Captain", "Lieutenant", "Captain"]


def test_ricci() -> None:
    path = shared("ricci_v_destefano.csv")
    with pytest.raises(InputError, match=r"^selected: "):
        load(path)
    history = load(path, {"selected": "Combine>=70", "score": "Combine"})
    assert selected(history)["B"] == (9, 27)
    assert selected(history)["W"] == (41, 68)


def test_callbacks(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        "rownames,job_ad_id,job_req_education,received_callback,firstname,race,gender,years_experience,resume_quality",
        "1,384,0,0,Allison,white,f,6,low",
        "2,384,1,1,Kristen,white,f,6,high",
        "3,384,1,0,Lakisha,black,f,6,low",
        "4,385,1,0,Jay,white,m,6,high",
    )
    history = load(path)
    assert history.mapping.as_dict() == {
        "search": ["job_ad_id"],
        "group": ["gender", "race"],
        "selected": ["received_callback"],
        "prior": ["years_experience", "resume_quality"],
    }
    assert "firstname" in history.mapping.unused


def test_openintro_resume() -> None:
    history = load(shared("openintro_resume.csv"))
    assert selected(history, "group:race") == {"black": (157, 2435), "white": (235, 2435)}
    assert history.counts.rows_read == history.counts.applications == 4870


CELLS = (
    "Admit,Gender,Dept,Freq",
    "Admitted,Male,A,5",
    "Rejected,Male,A,3",
    "Admitted,Female,A,4",
    "Rejected,Female,A,0",
    "Rejected,Female,B,2",
)


def test_a_table_of_counts_is_expanded_and_said(tmp_path: Path) -> None:
    history = load(table(tmp_path, *CELLS))
    assert history.mapping.column("count") == "Freq"
    assert "counts" in codes(history)
    assert history.counts.rows_read == history.counts.rows_used == 5
    assert history.counts.applications == len(history.table) == 14
    assert selected(history) == {"Female": (4, 6), "Male": (5, 8)}
    assert history.table["candidate"].is_unique
    assert history.table["row"].value_counts().to_dict() == {2: 5, 3: 3, 4: 4, 6: 2}
    assert load(table(tmp_path, *CELLS), {"count": "none"}).counts.applications == 5


def test_a_column_named_n_is_not_always_a_count(tmp_path: Path) -> None:
    history = load(table(tmp_path, "gender,hired,n", "F,1,3", "F,1,4", "M,0,3"))
    assert history.counts.applications == 3


def test_counts_beyond_reason(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at most 20,000,000"):
        load(table(tmp_path, "gender,hired,n", "F,1,3", "M,0,99999999999"), {"count": "n"})
    with pytest.raises(InputError, match="there are none"):
        load(table(tmp_path, "gender,hired,n", "F,1,0", "M,0,0"), {"count": "n"})


def test_ucb_admissions() -> None:
    history = load(shared("ucb_admissions_aggregate.csv"))
    assert selected(history) == {"Female": (557, 1835), "Male": (1198, 2691)}
    assert history.table["search"].nunique() == 6


def test_blackhire() -> None:
    history = load(shared("gastwirth_blackhire_stratified.csv"))
    assert selected(history) == {"black": (306, 11773), "white": (2799, 69785)}
    assert history.table["search"].nunique() == 8


def test_people_analytics(tmp_path: Path) -> None:
    rows = (
        '"gender","sat","gpa","apttest","int1","int2","int3","hired"',
        '"F",1230,3.57,70,4,3,4,0',
        '"M",1250,3.58,20,3,4,3,1',
    )
    for path in (save(tmp_path, "\n".join(rows)), SHARED / "peopleanalytics_recruiting.csv"):
        if path.exists():
            history = load(path)
            assert history.mapping.columns("prior") == ("sat", "gpa", "apttest", "int1", "int2", "int3")
            assert history.mapping.column("score") is None
            assert history.reading is not None and not history.reading.assumptions  # scores are no counts of a step
            assert {"score-known-before", "no-score", "no-cost"} <= codes(history)
            assert load(path, {"score": "int3"}).has("score")


def test_a_summary_table_is_expanded(tmp_path: Path) -> None:
    rows = ("A,F,100,40,10", "A,M,120,70,30", "B,F,50,10,0", "B,M,1,1,1", "Total,,271,121,41")
    history = load(table(tmp_path, "Department,Gender,Applicants,Interviewed,Hired", *rows))
    assert history.steps == ("Interviewed", "Hired")
    assert history.counts.applications == 271
    assert selected(history) == {"F": (10, 150), "M": (31, 121)}
    assert history.table.groupby("group")["step:Interviewed"].sum().to_dict() == {"F": 50, "M": 71}
    assert history.counts.left == {"total-row": 1}
    assert "summary-table" in codes(history)
    assert history.table["candidate"].is_unique


def test_a_summary_of_yes_and_no(tmp_path: Path) -> None:
    history = load(table(tmp_path, "Race,Passed,Failed", "B,9,18", "W,41,27"))
    assert selected(history) == {"B": (9, 27), "W": (41, 68)}


def test_numbers_of_people_are_no_summary(tmp_path: Path) -> None:
    path = table(tmp_path, "gender,hired,applications,interviews", "F,1,3,2", "M,0,4,1", "M,0,2,2")
    assert load(path).counts.applications == 3
