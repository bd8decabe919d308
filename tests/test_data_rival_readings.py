"""A reading against the best other one of the same file: when auditkit asks, and when it need not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auditkit.data.hypothesis import look
from auditkit.data.load import load
from auditkit.data.problems import Collector
from auditkit.data.raw_table import RawTable
from auditkit.data.read_file import read
from auditkit.data.reading import AmbiguousReading
from auditkit.data.whole_readings import CarriedOut, evidence, rivals
from auditkit.errors import InputError

N = 400


def people(**columns: object) -> pd.DataFrame:
    """Applicants of two groups, in an order that no column follows."""
    rng = np.random.default_rng(5)
    own = {"Application ID": [f"A{k:04}" for k in range(N)], "Gender": rng.choice(["Female", "Male"], N)}
    return pd.DataFrame({**own, **columns})


def yes(share: float, seed: int, of: np.ndarray | None = None) -> np.ndarray:
    chosen = np.random.default_rng(seed).random(N) < share
    return chosen if of is None else chosen & of


def words(chosen: np.ndarray, good: str, bad: str) -> np.ndarray:
    return np.where(chosen, good, bad)


def raw_of(frame: pd.DataFrame) -> RawTable:
    return read(frame)


def test_two_outcomes_that_select_other_people_are_asked_about() -> None:
    one, other = yes(0.3, 1), yes(0.35, 2)
    frame = people(**{"Hired": words(one, "Yes", "No"), "Selected": words(other, "Yes", "No")})
    with pytest.raises(AmbiguousReading) as asked:
        load(frame)
    answers = asked.value.question.answers
    assert {answer.mapping["selected"] for answer in answers} == {"Hired=Yes", "Selected=Yes"}
    counts = {answer.mapping["selected"]: answer.funnel[-1].count for answer in answers}
    assert counts == {"Hired=Yes": int(one.sum()), "Selected=Yes": int(other.sum())}


def test_an_outcome_that_explains_the_other_as_a_step_is_not() -> None:
    seen = yes(0.5, 1)
    hired = yes(0.5, 2, seen)
    results = {"Interview Result": words(seen, "Passed", "Failed")}
    frame = people(**results, **{"Final Decision": words(hired, "Hired", "Rejected")})
    history = load(frame)
    assert history.reading is not None and not history.reading.question
    assert [int(history.reached(step).sum()) for step in history.steps] == [int(seen.sum()), int(hired.sum())]
    plan = look(raw_of(frame))
    rival = look(raw_of(frame), {"selected": "Interview Result=Passed"})
    own = next(iter(plan.outcomes.values()))
    ahead = evidence(CarriedOut(plan, Collector()), own.weight)
    behind = evidence(CarriedOut(rival, Collector()), plan.outcomes["Interview Result=Passed"].weight)
    assert ahead.steps > behind.steps and ahead.left > behind.left  # the other leaves the decision unexplained


def test_the_same_people_in_two_columns_are_no_question() -> None:
    hired = yes(0.3, 1)
    frame = people(**{"Hired": words(hired, "Yes", "No"), "Selected": words(hired, "Y", "N")})
    assert rivals(CarriedOut(look(raw_of(frame)), Collector())) == []
    assert load(frame).table["selected"].sum() == hired.sum()


def test_those_who_then_accept_are_no_other_decision() -> None:
    admitted = yes(0.4, 1)
    enrolled = yes(0.5, 2, admitted)
    frame = people(**{"Decision": words(admitted, "Admit", "Deny"), "Enrolled": words(enrolled, "Y", "N")})
    history = load(frame)
    assert int(history.table["selected"].sum()) == int(admitted.sum())


def test_only_reasons_for_not_selecting_are_asked_about_with_the_blank_as_the_good_outcome() -> None:
    hired = yes(0.2, 1)
    reasons = np.resize(["Better qualified candidate", "Lacks licence", "Location"], N)
    frame = people(**{"Non-Selection Reason": np.where(hired, "", reasons)})
    with pytest.raises(AmbiguousReading) as asked:
        load(frame)
    first = asked.value.question.answers[0]
    assert first.mapping == {"selected": "Non-Selection Reason=(blank)"}
    assert first.funnel[-1].count == int(hired.sum())


def test_words_that_deny_each_other_are_suggested_where_no_name_helps() -> None:
    back = yes(0.5, 1)
    plants = np.resize(["Leeds", "Porto"], N)
    frame = people(**{"Recall Status": words(back, "Recalled", "Not recalled"), "Plant": plants})
    with pytest.raises(AmbiguousReading) as asked:
        load(frame)
    first = asked.value.question.answers[0]
    assert first.mapping == {"selected": "Recall Status=Recalled"} and first.funnel[-1].count == int(back.sum())


def test_a_decision_that_is_empty_before_its_step_is_no_open_one() -> None:
    """Whoever was not referred has neither a date nor a code: not selected, rather than undecided."""
    referred = yes(0.4, 1)
    selected = yes(0.3, 2, referred)
    code = np.where(selected, "Selected", np.where(referred, "Not Selected", ""))
    frame = people(**{"Date Interviewed": np.where(referred, "2025-03-04", ""), "Final Status": code})
    history = load(frame)
    assert not history.table["pending"].any()
    assert [int(history.reached(step).sum()) for step in history.steps] == [int(referred.sum()), int(selected.sum())]


def test_many_people_without_a_decision_are_said() -> None:
    settled = yes(0.5, 1)
    good = yes(0.4, 2, settled)
    frame = people(**{"Final Decision": np.where(good, "Hired", np.where(settled, "Rejected", ""))})
    reading = load(frame).reading
    open_ends = int((~settled).sum())
    text = f"'Final Decision' is empty for {open_ends} of {N} people, who count as undecided"
    assert reading is not None and text in reading.assumptions
    frame = people(**{"Final Decision": words(good, "Hired", "Rejected")})
    whole = load(frame).reading
    assert whole is not None and not [said for said in whole.assumptions if "undecided" in said]


def test_a_date_of_hire_alone_is_the_decision() -> None:
    hired = yes(0.3, 1)
    history = load(people(**{"Date of Hire": np.where(hired, "2025-05-06", "")}))
    assert history.has("selected") and int(history.table["selected"].sum()) == int(hired.sum())


def test_rows_that_are_events_of_an_unnamed_id_are_asked_about() -> None:
    """A log with a decision for each step: `Advance` is not the hire, and a row is not a person."""
    passed, hired = yes(0.5, 1), yes(0.5, 2, yes(0.5, 1))
    start = people(App=[f"K{k:05}" for k in range(N)]).drop(columns="Application ID")
    one = start.assign(Milestone="Screen", Action=words(passed, "Advance", "Reject"))
    two = start[passed].assign(Milestone="Interview", Action=words(hired[passed], "Advance", "Reject"))
    frame = pd.concat([one, two])
    with pytest.raises(AmbiguousReading) as asked:
        load(frame)
    first = asked.value.question.answers[0]
    assert first.mapping == {"candidate": "App", "stage": "Milestone"} and first.people == N
    assert [step.count for step in first.funnel] == [int(passed.sum()), int(hired.sum())]


def test_a_column_that_everybody_selected_passed_is_asked_about_whatever_it_is_called() -> None:
    seen = yes(0.5, 1)
    hired = yes(0.5, 2, seen)
    frame = people(**{"Field 7": words(seen, "Zorbed", "Blank"), "Hired": words(hired, "Yes", "No")})
    with pytest.raises(AmbiguousReading) as asked:
        load(frame)
    first = asked.value.question.answers[0]
    assert first.mapping == {"stages": "Field 7=Zorbed"}
    assert [step.count for step in first.funnel] == [int(seen.sum()), int(hired.sum())]


def test_one_stage_of_unknown_name_does_not_make_the_others_vanish() -> None:
    far = np.random.default_rng(3).choice(["Zorbed", "Screening", "Interview", "Offer"], N, p=[0.5, 0.2, 0.2, 0.1])
    frame = people(**{"Stage": far, "Status": words(far == "Offer", "Hired", "Rejected")})
    with pytest.raises(AmbiguousReading) as asked:
        load(frame)
    assert asked.value.question.answers[0].mapping == {"stages": "Stage"}
    assert [step.count for step in asked.value.question.answers[0].funnel][-1] == int((far == "Offer").sum())


def test_a_cell_that_is_no_number_does_not_make_a_column_of_counts_vanish() -> None:
    counts = {"Applicants": ["90", "80", "70"], "Interviewed": ["40", "see note", "30"], "Hired": ["9", "8", "7"]}
    frame = pd.DataFrame({"Gender": ["Female", "Male", "Other"], **counts})
    with pytest.raises(InputError, match="'see note' is not a number, in a column of counts"):
        load(frame)
