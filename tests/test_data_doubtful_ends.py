"""Who was selected where the file does not quite say so: when auditkit asks, and when it need not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from auditkit.data.load import load
from auditkit.data.reading import AmbiguousReading, ReadingQuestion
from auditkit.errors import InputError
from auditkit.plugins.excel import Excel

N = 400


def people(**columns: object) -> pd.DataFrame:
    """Applicants of two groups, in an order that no column follows."""
    rng = np.random.default_rng(8)
    own = {"Application ID": [f"A{k:04}" for k in range(N)], "Gender": rng.choice(["Female", "Male"], N)}
    return pd.DataFrame({**own, **columns})


def yes(share: float, seed: int, of: np.ndarray | None = None) -> np.ndarray:
    chosen = np.random.default_rng(seed).random(N) < share
    return chosen if of is None else chosen & of


def words(chosen: np.ndarray, good: object, bad: object) -> np.ndarray:
    return np.where(chosen, good, bad)


def asked(frame: pd.DataFrame) -> ReadingQuestion:
    with pytest.raises(AmbiguousReading) as error:
        load(frame)
    return error.value.question


def steps_of(frame: pd.DataFrame) -> list[int]:
    history = load(frame)
    return [int(history.reached(step).sum()) for step in history.steps]


SEEN = yes(0.5, 1)
OFFERED = yes(0.5, 2, SEEN)


def test_an_unknown_word_of_people_who_got_as_far_as_those_selected_is_asked_about() -> None:
    dates = {"Interview Date": words(SEEN, "2025-03-04", ""), "Final Interview Date": words(OFFERED, "2025-04-04", "")}
    hired = yes(0.7, 3, OFFERED)
    status = words(hired, "Hired", words(OFFERED, "Greenlit", "Rejected"))
    question = asked(people(**dates, **{"Final Status": status}))
    assert "people with 'Greenlit' got as far as those selected" in question.text
    assert question.answers[0].mapping == {"selected": "Final Status=Hired|Greenlit"}
    assert question.answers[0].funnel[-1].count == int(OFFERED.sum())
    parked = yes(0.05, 4) & ~SEEN
    history = load(people(**dates, **{"Final Status": words(parked, "Parked", words(hired, "Hired", "Rejected"))}))
    assert int(history.table["selected"].sum()) == int(hired.sum())


def test_not_to_be_rejected_is_less_than_to_be_at_the_last_stage() -> None:
    out = ~OFFERED & yes(0.8, 5)
    stage = words(OFFERED, "Seat confirmed", words(SEEN, "Onsite", "Phone Screen"))
    question = asked(people(Stage=stage, Disqualified=words(out, "Yes", "No")))
    assert f"of {int((~out).sum())} people for whom 'Disqualified' is not true" in question.text
    assert question.answers[0].mapping == {"selected": "Stage=Seat confirmed"}
    assert question.answers[0].funnel[-1].count == int(OFFERED.sum())
    history = load(people(Stage=words(OFFERED, "Hired", stage), Disqualified=words(out, "Yes", "No")))
    assert int(history.table["selected"].sum()) == int(OFFERED.sum())


def test_a_date_that_only_people_who_were_not_rejected_have_comes_first() -> None:
    out = ~OFFERED & yes(0.8, 5)
    dates = {"Interview Date": words(SEEN, "2025-03-04", ""), "Final call": words(OFFERED, "2025-04-04", "")}
    question = asked(people(**dates, **{"Rejected Date": words(out, "2025-05-05", "")}))
    assert "only people for whom 'Rejected Date' is not true have a yes in 'Final call'" in question.text
    assert question.answers[0].mapping == {"selected": "Final call"}
    assert question.answers[0].funnel[-1].count == int(OFFERED.sum())


def test_an_unknown_reason_of_people_at_the_last_stage_may_say_who_was_selected() -> None:
    stage = words(OFFERED, "Offer", words(SEEN, "Onsite", "Phone Screen"))
    signed = yes(0.6, 6, OFFERED)
    frame = people(**{"Stage": stage, "Archive Reason": words(signed, "Code 7", "Underqualified")})
    question = asked(frame)
    assert question.text.startswith("only people who got to the last step have 'Code 7'")
    assert question.answers[0].mapping == {"selected": "Archive Reason=Code 7"}
    assert question.answers[0].funnel[-1].count == int(signed.sum())
    known = load(people(**{"Stage": stage, "Archive Reason": words(signed, "Hired", "Underqualified")}))
    assert int(known.table["selected"].sum()) == int(signed.sum())


def test_employees_may_be_selected_for_something_bad() -> None:
    staff = people().rename(columns={"Application ID": "Employee No"}).assign(Selected=words(SEEN, "Yes", "No"))
    question = asked(staff)
    assert question.text.startswith("'Selected' does not say for what employees were selected")
    assert question.answers[0].mapping == {"selected": "Selected!=Yes"}
    assert {answer.funnel[-1].count for answer in question.answers} == {int(SEEN.sum()), N - int(SEEN.sum())}
    assert steps_of(staff.assign(**{"Promotion round": "2025"})) == [int(SEEN.sum())]
    assert steps_of(people(Selected=words(SEEN, "Yes", "No"))) == [int(SEEN.sum())]


def test_a_deposit_after_the_decision_is_not_the_decision() -> None:
    frame = people(Decision=words(SEEN, "Admit", "Deny"), **{"Deposit Paid": words(OFFERED, "Y", "")})
    assert steps_of(frame) == [int(SEEN.sum())]


def test_the_status_of_a_job_is_never_suggested_as_the_outcome() -> None:
    jobs = np.resize([f"J{k}" for k in range(20)], N)
    status = np.resize(["Open", "Closed", "Closed", "Open", "Filled"] * 4, N)
    with pytest.raises(InputError, match="no column says who was selected") as error:
        load(people(**{"Job": jobs, "Job Status": status, "Resume on file": words(SEEN, "Yes", "No")}))
    assert not isinstance(error.value, AmbiguousReading)


def test_most_people_have_consented_or_may_work_here_which_is_no_step() -> None:
    consent = words(SEEN | yes(0.85, 7), "Y", "N")
    frame = people(**{"Data consent": consent, "Interviewed": words(SEEN, "Y", "N"), "Hired": words(OFFERED, "Y", "N")})
    assert steps_of(frame) == [int(SEEN.sum()), int(OFFERED.sum())]


def test_favorable_and_unfavorable_votes_are_steps_also_where_some_withdrew() -> None:
    left = yes(0.1, 9) & ~SEEN
    vote = words(SEEN, "Favorable", words(left, "Withdrawn", "Unfavorable"))
    board = words(OFFERED, "Favorable", words(SEEN, "Unfavorable", ""))
    history = load(people(**{"Department vote": vote, "Board decision": board}))
    assert [int(history.reached(step).sum()) for step in history.steps] == [int(SEEN.sum()), int(OFFERED.sum())]
    assert int(history.table["withdrawn"].sum()) == int(left.sum())


def test_dates_of_withdrawal_and_rejection_say_who_is_still_in_process() -> None:
    stage = words(OFFERED, "Hired", words(SEEN, "Onsite", "Phone Screen"))
    out, left = ~OFFERED & yes(0.7, 5), ~OFFERED & ~yes(0.7, 5) & yes(0.5, 6)
    dates = {"Rejected on": words(out, "2025-05-05", ""), "Withdrawn on": words(left, "2025-05-05", "")}
    table = load(people(Stage=stage, **dates)).table
    assert int(table["withdrawn"].sum()) == int(left.sum())
    assert int(table["pending"].sum()) == int((~OFFERED & ~out & ~left).sum())


def test_the_parts_of_an_application_count_once() -> None:
    """A row for each scorecard: what differs between them is left out, and said; steps are asked about."""
    frame = people(Status=words(SEEN, "hired", "rejected")).loc[lambda table: table.index.repeat(3)]
    rated = frame.assign(Interviewer=np.resize(["Dana Park", "Omar Reyes", "Tom Becker"], 3 * N))
    reading = load(rated).reading
    assert reading is not None and reading.row == "part of an application"
    assert reading.favourable.count == int(SEEN.sum()) and reading.favourable.of == N
    assert any("agree on group and outcome" in said for said in reading.assumptions)
    assert "Interviewer" in [column.column for column in reading.unused]
    question = asked(frame.assign(Room=np.resize(["North", "South", "West"], 3 * N)))
    assert question.answers[0].mapping == {"stage": "none"} and question.answers[0].people == N


def test_the_result_of_an_event_differs_within_applications() -> None:
    """A flag about the person, beside the result: nobody has passed one step and failed another by it."""
    start = people(**{"Profile Complete": words(yes(0.97, 9), "Yes", "No")})
    one = start.assign(Stage="Phone Screen", Outcome=words(SEEN, "Passed", "Failed"))
    two = start[SEEN].assign(Stage="Onsite", Outcome=words(OFFERED[SEEN], "Passed", "Failed"))
    history = load(pd.concat([one, two]))
    assert history.mapping.column("result") == "Outcome"
    assert int(history.table["selected"].sum()) == int(OFFERED.sum())


def test_sheets_of_the_same_columns_are_one_table(tmp_path: Path) -> None:
    frame = people(Hired=words(SEEN, "Yes", "No"))
    parts = {"2024": frame[:150], "2025": frame[150:], "Some of them": frame[:60]}
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, part in parts.items():
        sheet = book.create_sheet(name)
        for row in [list(part.columns), *part.to_numpy().tolist()]:
            sheet.append(row)
    book.save(tmp_path / "years.xlsx")
    history = load(tmp_path / "years.xlsx", readers=[Excel])
    assert len(history.table) == N and int(history.table["selected"].sum()) == int(SEEN.sum())
    assert len(load(tmp_path / "years.xlsx", readers=[Excel], sheet="2024").table) == 150


def test_counts_with_years_hidden_totals_and_a_note(tmp_path: Path) -> None:
    rows = ["Year,Panel,Gender,Applications,Shortlisted,Awards"]
    cells = {"Physics": (90, 40, 20), "Arts": (7, "<5", "<5"), "Law": (80, 30, 12), "All panels": (177, 72, 33)}
    for year in (2024, 2025):
        for panel, numbers in cells.items():
            rows += [f"{year},{panel},{sex},{','.join(map(str, numbers))}" for sex in ("Female", "Male")]
    (tmp_path / "grants.csv").write_text("\n".join([*rows, "", "Source: grants system, 14 January 2026"]))
    history = load(tmp_path / "grants.csv")
    assert len(history.table) == 4 * 177 and history.steps == ("Shortlisted", "Awards")


def test_all_columns_with_other_names_are_answered_in_one_command_and_bad_stays_bad() -> None:
    """`Rejected` was bad by its name: its yes is bad under any name, and good in none."""
    given = {"group": ["Gender", "Age"], "selected": "Rejected"}
    seen = {"Gender": ["Female", "Male"], "Age": "many", "Rejected": ["Yes", "No"]}
    ages = np.resize(np.arange(20, 60), N)
    frame = people(Age=ages, Rejected=words(SEEN, "Yes", "No"))
    later = frame.rename(columns={"Age": "Years", "Rejected": "Turned down"})
    with pytest.raises(AmbiguousReading, match="no longer has this column") as error:
        load(later, given, columns=seen)
    first = error.value.question.answers[0]
    assert first.mapping == {"group": "Gender,Years", "selected": "Turned down!=Yes"}
    assert first.funnel[-1].count == N - int(SEEN.sum())
    matched = load(frame.rename(columns={"Rejected": "Rejected now"}), given, columns=seen)
    assert int(matched.table["selected"].sum()) == N - int(SEEN.sum())


def test_a_word_only_of_those_who_got_to_the_one_step_may_say_who_was_selected_in_the_end() -> None:
    offer, kept = words(SEEN, "2025-03-04", ""), yes(0.6, 3, SEEN)
    others = words(
        SEEN, "Offer withdrawn by landlord", words(yes(0.2, 4), "Waiting", "Application closed - not rehoused")
    )
    outcome = words(kept, "Housed", words(SEEN & yes(0.4, 5), "Under offer", others))
    dates = {"Registered": [f"2025-01-{1 + k % 28:02}" for k in range(N)], "Date of offer": offer}
    question = asked(people(**dates, Outcome=outcome))
    assert "only people who got to the last step have 'Housed' in 'Outcome'" in question.text
    assert question.answers[0].mapping == {"selected": "Outcome=Housed"}
    assert [step.count for step in question.answers[0].funnel] == [int(SEEN.sum()), int(kept.sum())]
    history = load(people(**dates, Outcome=words(kept, "Hired", words(SEEN, "Offer withdrawn", "Rejected"))))
    assert int(history.table["selected"].sum()) == int(kept.sum())


def test_counts_for_each_step_beside_numbers_of_the_steps_and_of_requisitions() -> None:
    steps = {"New": 40, "1st Interview": 22, "Offer": 9, "Hire": 5}
    rows = [
        {
            "Req. Identifier": 2500000 + req,
            "Location": "Texas" if req % 2 else "Ohio",
            "Gender": gender,
            "Step Sequence": place,
            "Step Name": step,
            "# Submissions": count - 2 * (gender == "Female" and place > 1) + req,
        }
        for req in range(6)
        for gender in ("Female", "Male", "Not Specified")
        for place, (step, count) in enumerate(steps.items(), start=1)
    ]
    history = load(pd.DataFrame(rows))
    women = history.table["group:Gender"] == "Female"
    expected = [sum(row["# Submissions"] for row in rows if row["Step Name"] == step) for step in steps]
    assert [len(history.table), *(int(history.reached(step).sum()) for step in history.steps)] == expected
    assert int(women.sum()) == 6 * 40 + 15
    plain = pd.DataFrame(rows).drop(columns="# Submissions")
    assert len(load(plain).table) == len(rows)


def test_refusing_to_say_is_no_group() -> None:
    answers = np.random.default_rng(9).choice(["White British", "Black African", "Refused to say"], N)
    history = load(people(Hired=words(SEEN, "yes", "no"), Ethnicity=answers))
    assert set(history.table["group:Ethnicity"].dropna()) == {"White British", "Black African", "unknown"}
