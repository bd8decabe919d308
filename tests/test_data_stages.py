"""Stages as columns, and one row per event."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from auditkit.data.firm_history import History
from auditkit.data.load import check, load
from auditkit.data.reading import AmbiguousReading
from auditkit.errors import InputError
from support.data_files import table

NA = None


def column(history: History, name: str) -> list[bool | None]:
    return [None if pd.isna(value) else bool(value) for value in history.table[name]]


def codes(history: History) -> list[str]:
    return [notice.code for notice in history.notices]


def test_stage_columns_of_marks_and_dates(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        "candidate id,gender,phone,onsite,offer",
        "1,F,1,2024-03-05,x",
        "2,M,1,2024-03-06,",
        "3,F,1,,",
        "4,M,0,,",
    )
    history = load(path, {"stages": "phone+onsite+offer"})
    assert history.stages == ("phone", "onsite", "offer")
    assert column(history, "stage:phone") == [True, True, True, False]
    assert column(history, "stage:onsite") == [True, True, False, False]
    assert column(history, "stage:offer") == [True, False, False, False]
    assert column(history, "passed:phone") == [True, True, False, NA]
    assert column(history, "passed:onsite") == [True, False, NA, NA]
    assert history.table["selected"].tolist() == [True, False, False, False]
    assert history.table["inspected"].tolist() == [True, True, True, False]
    assert {"selected-from-stages", "inspected-derived"} <= set(codes(history))


def test_stage_columns_of_words(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        "gender,phone,onsite,hired",
        "F,passed,passed,yes",
        "M,passed,failed,no",
        "F,failed,,no",
        "M,passed,,no",
        "F,no show,,no",
    )
    history = load(path, {"stages": "phone+onsite"})
    assert column(history, "stage:phone") == [True, True, True, True, False]
    # the fourth passed the phone call and was not invited: no failure of theirs
    assert column(history, "passed:phone") == [True, True, False, True, NA]
    assert column(history, "passed:onsite") == [True, False, NA, NA, NA]
    assert history.table["selected"].tolist() == [True, False, False, False, False]


def test_withdrawn_and_pending_did_not_fail(tmp_path: Path) -> None:
    path = table(
        tmp_path, "gender,phone,onsite,offer", "F,yes,withdrew,", "M,yes,scheduled,", "M,yes,yes,declined", "F,yes,,"
    )
    history = load(path, {"stages": "phone+onsite+offer"})
    assert history.table["status"].tolist() == ["withdrawn", "pending", "declined", "rejected"]
    assert column(history, "passed:phone") == [NA, NA, True, False]
    assert column(history, "stage:onsite") == [False, NA, True, False]
    assert column(history, "passed:offer") == [NA, NA, False, NA]
    assert history.table["selected"].tolist() == [False, False, True, False]


def test_the_stage_that_shows_the_score(tmp_path: Path) -> None:
    rows = ["F,1,1,0,5", "M,1,1,1,7", "F,1,0,0,", "M,0,0,0,"]
    history = load(
        table(tmp_path, "gender,phone,onsite,offer,score", *rows), {"stages": "phone+onsite+offer", "score": "score"}
    )
    assert history.score_stage == "onsite"


def test_costs_of_stages(tmp_path: Path) -> None:
    path = table(tmp_path, "gender,phone,onsite,phone cost,onsite cost", "F,1,1,10,100", "M,1,0,12,")
    history = load(path, {"stages": "phone+onsite", "cost": "phone cost+onsite cost"})
    assert history.columns("cost") == ("phone", "onsite")
    assert history.table["cost:phone"].tolist() == [10, 12]
    assert history.table["cost"].tolist() == [110, 12]
    history = load(path, {"stages": "phone+onsite", "cost": "none"}, cost={"phone": 5, "onsite": 50})
    assert history.table["cost"].tolist() == [55, 55]
    with pytest.raises(InputError, match="no stage 'offer'"):
        load(path, {"stages": "phone+onsite", "cost": "none"}, cost={"offer": 5})
    with pytest.raises(InputError, match="3 columns for 2 stages"):
        load(path, {"stages": "phone+onsite", "cost": ["phone cost", "onsite cost", "phone"]})


def test_stage_columns_that_do_not_exist(tmp_path: Path) -> None:
    path = table(tmp_path, "gender,phone,onsite", "F,1,1", "M,1,0")
    with pytest.raises(InputError, match=r"no column 'onsit' \(closest: 'onsite'\)"):
        load(path, {"stages": "phone+onsit"})


EVENTS = [
    "candidate id,req id,gender,event,event date,score,cost",
    "1,a,F,Applied,2024-01-01,,",
    "1,a,F,Phone screen,2024-01-05,,10",
    "1,a,F,Onsite,2024-01-12,8.5,100",
    "1,a,F,Offer,2024-01-15,,",
    "1,a,F,Hired,2024-01-20,,",
    "2,a,M,Applied,2024-01-02,,",
    "2,a,M,Phone screen,2024-01-06,,10",
    "2,a,M,Onsite,2024-01-13,6,100",
    "2,a,M,Rejected,2024-01-14,,",
    "2,b,M,Applied,2024-01-02,,",
    "2,b,M,Withdrawn,2024-01-06,,",
    "3,a,,Applied,2024-01-03,,",
    "3,a,F,phone-screen,2024-01-07,,10",
    "3,a,F,Rejected,2024-01-08,,",
    "4,a,M,Applied,2024-01-04,,",
    "5,b,M,Applied,2024-01-02,,",
    "5,b,M,Phone screen,2024-01-07,,10",
    "5,b,M,Offer,2024-01-09,,",
    "5,b,M,Offer declined,2024-01-12,,",
]


def test_events_become_applications(tmp_path: Path) -> None:
    history = load(table(tmp_path, *EVENTS))
    assert history.mapping.column("stage") == "event"
    assert history.stages == ("Phone screen", "Onsite", "Offer")
    assert history.mapping.columns("stages") == history.stages
    people = list(zip(history.table["candidate"], history.table["search"], history.table["status"], strict=True))
    assert people == [
        ("1", "a", "selected"),
        ("2", "a", "rejected"),
        ("2", "b", "withdrawn"),
        ("3", "a", "rejected"),
        ("4", "a", "pending"),
        ("5", "b", "declined"),
    ]
    by_key = history.table.set_index(["candidate", "search"])
    assert by_key["stage:Onsite"].astype(bool).to_dict()[("2", "a")]
    assert not by_key["stage:Phone screen"].to_dict()[("4", "a")]
    assert by_key["group"].to_dict()[("3", "a")] == "F"
    assert by_key["row"].to_dict() == {
        ("1", "a"): 2,
        ("2", "a"): 7,
        ("2", "b"): 11,
        ("3", "a"): 13,
        ("4", "a"): 16,
        ("5", "b"): 17,
    }
    assert by_key["score"].to_dict()[("1", "a")] == 8.5
    assert history.score_stage == "Onsite"
    assert history.columns("cost") == ("Phone screen", "Onsite", "Offer")
    assert by_key["cost"].to_dict()[("1", "a")] == 110
    assert by_key["date"].to_dict()[("2", "a")] == pd.Timestamp("2024-01-02")
    # the declined offer came without an onsite day
    assert history.problems.counts()["stage-skipped"] == 1
    assert history.counts.rows_read == history.counts.rows_used == 19
    assert history.counts.applications == 6


def test_the_order_of_stages(tmp_path: Path) -> None:
    assert "stage-order" in codes(load(table(tmp_path, *EVENTS)))
    undated = [",".join(line.split(",")[:4]) for line in EVENTS]
    by_count = load(table(tmp_path, *undated))
    assert by_count.stages[0] == "Phone screen"
    given = load(table(tmp_path, *EVENTS), {"stages": "phone screen+onsite"})
    assert given.stages == ("Phone screen", "Onsite")
    assert "stages-left-out" in codes(given)
    with pytest.raises(InputError, match="'onsit' does not occur in 'event'"):
        load(table(tmp_path, *EVENTS), {"stages": "phone screen+onsit"})


def test_an_event_log_can_be_given_back(tmp_path: Path) -> None:
    path = table(tmp_path, *EVENTS)
    history = load(path)
    assert load(path, history.mapping.as_dict()).table.equals(history.table)


def test_events_that_decide_nothing(tmp_path: Path) -> None:
    lines = ["candidate id,stage,gender", "1,Phone,F", "1,Offer,F", "2,Phone,M", "3,Phone,M", "3,Offer,M"]
    history = load(table(tmp_path, *lines))
    assert history.stages == ("Phone", "Offer")
    assert history.table["selected"].tolist() == [True, False, True]


def test_events_with_rejections_only(tmp_path: Path) -> None:
    lines = ["candidate id,stage,gender", "1,Phone,F", "1,Offer,F", "2,Phone,M", "2,Rejected,M", "3,Phone,M"]
    history = load(table(tmp_path, *lines))
    assert history.table["status"].tolist() == ["selected", "rejected", "pending"]


def test_ambiguous_dates_of_events_are_refused_once(tmp_path: Path) -> None:
    lines = ["candidate id,stage,gender,date", "1,Phone,F,01/02/2024", "1,Offer,F,02/03/2024", "2,Phone,M,03/04/2024"]
    checked = check(table(tmp_path, *lines), {"stage": "stage"})
    assert checked.problems.counts()["ambiguous-date"] == 3


def test_events_need_a_candidate(tmp_path: Path) -> None:
    path = table(tmp_path, "gender,stage", "F,Phone", "F,Offer")
    with pytest.raises(InputError, match="candidate: an event log must say whose event"):
        load(path, {"stage": "stage"})


def test_a_current_stage_is_no_event_log(tmp_path: Path) -> None:
    history = load(table(tmp_path, "candidate id,gender,stage", "1,F,Hired", "2,M,Rejected", "3,M,Withdrawn"))
    assert history.stages == ()
    assert history.table["status"].tolist() == ["selected", "rejected", "withdrawn"]


def test_events_without_a_stage_between(tmp_path: Path) -> None:
    path = table(tmp_path, "candidate id,gender,stage", "1,F,Applied", "1,F,Hired", "2,M,Applied", "2,M,Rejected")
    with pytest.raises(InputError, match="no event is a stage"):
        load(path, {"stage": "stage"})


def test_a_log_that_records_no_rejections(tmp_path: Path) -> None:
    lines = ["candidate id,stage,gender", "1,Phone,F", "1,Hired,F", "2,Phone,M", "3,Phone,M", "3,Onsite,M"]
    history = load(table(tmp_path, *lines))
    assert history.table["status"].tolist() == ["selected", "rejected", "rejected"]
    assert "no-rejections" in codes(history)


def test_only_who_got_to_the_score_can_lack_it(tmp_path: Path) -> None:
    rows = ["F,1,1,5", "M,1,1,", "F,1,0,", "M,1,1,7"]
    history = load(table(tmp_path, "gender,phone,onsite,score", *rows), {"stages": "phone+onsite", "score": "score"})
    assert [problem.row for problem in history.problems if problem.code == "inspected-without-score"] == [3]


def test_a_score_that_belongs_to_no_stage(tmp_path: Path) -> None:
    rows = ["F,0,0,5", "M,1,1,6", "F,1,0,7"]
    history = load(table(tmp_path, "gender,phone,onsite,score", *rows), {"stages": "phone+onsite", "score": "score"})
    assert history.score_stage == "phone"
    assert history.problems.counts()["score-without-inspection"] == 1


def step_events(on: str, off: str, *, dated: bool, skip: int = 0) -> list[str]:
    """A row for each step of 120 people, the last of each person first; of every `skip` people one has no `Panel`."""
    rows = []
    for i in range(120):
        last = min(3, i * 7 % 16 // 3)
        for k, step in enumerate(("CV check", "Panel", "Offer", "Hire")[: last + 1]):
            word = on if k < last else "Hired" if k == 3 else off
            if not (k == 1 and last > 1 and skip and i % skip == 0):
                rows.append(
                    f"A{i:04},{step},{word},{f'2025-03-{k + 1 + i % 9:02}' if dated else ''},{'FM'[i // 2 % 2]}"
                )
    return ["Candidate ID,Recruiting Step,Step Disposition,Step Day,Gender", *reversed(rows)]


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize(("on", "off"), [("Moved Forward", "Declined by Hiring Team"), ("Advanced", "Parked")])
def test_a_word_for_going_on_is_not_the_end(tmp_path: Path, on: str, off: str, dated: bool) -> None:
    history = load(table(tmp_path, *step_events(on, off, dated=dated)))
    lasts = [min(3, i * 7 % 16 // 3) for i in range(120)]
    assert [int(history.table[f"step:{name}"].sum()) for name in history.steps] == [
        sum(last >= k for last in lasts) for k in (1, 2, 3)
    ]
    assert sorted(history.table.loc[history.table["selected"], "candidate"]) == [
        f"A{i:04}" for i, last in enumerate(lasts) if last == 3
    ]
    assert not history.problems.counts().get("stage-skipped")


def test_a_step_that_many_have_no_event_of_is_asked_about(tmp_path: Path) -> None:
    words = ("Moved Forward", "Declined by Hiring Team")
    with pytest.raises(AmbiguousReading, match="who got further than 'Panel' have no event of it") as caught:
        load(table(tmp_path, *step_events(*words, dated=True, skip=3)))
    assert caught.value.question.answers[0].mapping == {"stages": "CV check+Offer+Hire"}
    few = load(table(tmp_path, *step_events(*words, dated=True, skip=40)))
    assert 0 < few.problems.counts()["stage-skipped"] < 10
    log = [",".join(line.split(",")[i] for i in (0, 1, 3, 4)) for line in step_events(*words, dated=True, skip=3)]
    with pytest.raises(AmbiguousReading, match="have no event of it"):
        load(table(tmp_path, *log))


def test_a_status_that_changes_from_row_to_row_without_dates_is_doubted(tmp_path: Path) -> None:
    lines = step_events("Moved Forward", "Declined by Hiring Team", dated=False)
    history = load(table(tmp_path, *lines), {"result": "none"})
    assert history.reading is not None and history.reading.confidence == "likely"
    assert "undated-status" in codes(history)
    dated = load(
        table(tmp_path, *step_events("Moved Forward", "Declined by Hiring Team", dated=True)), {"result": "none"}
    )
    assert "undated-status" not in codes(dated) and dated.reading is not None
    assert dated.reading.favourable.text == "Hired"
