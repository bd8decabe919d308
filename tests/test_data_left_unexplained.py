"""What a reading leaves unexplained is read, asked about or refused: codes, legends, lists, layoffs."""

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


def workbook(path: Path, **sheets: pd.DataFrame) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, part in sheets.items():
        sheet = book.create_sheet(name.replace("_", " "))
        for row in [list(part.columns), *part.to_numpy().tolist()]:
            sheet.append(row)
    book.save(path)
    return path


SEEN = yes(0.5, 1)
OFFERED = yes(0.5, 2, SEEN)


def test_minus_one_beside_0_and_1_says_that_there_was_no_answer() -> None:
    first = words(SEEN, "1", "0")
    offer = words(SEEN, words(OFFERED, "1", "0"), "-1")
    assert steps_of(people(**{"Interview passed": first, "Offer": offer})) == [int(SEEN.sum()), int(OFFERED.sum())]
    assert int(load(people(Hired=words(OFFERED, "1", "0"))).table["selected"].sum()) == int(OFFERED.sum())


def test_a_few_people_with_an_unknown_word_near_the_end_are_asked_about() -> None:
    odd = yes(0.15, 3, SEEN & ~OFFERED)
    status = words(OFFERED, "Hired", words(odd, "Zorbed", "Rejected"))
    assert 3 <= odd.sum() <= 0.1 * N
    question = asked(people(**{"Interview Date": words(SEEN, "2025-03-04", ""), "Final Status": status}))
    assert "it is not known what 'Zorbed' means" in question.text
    assert question.answers[0].mapping == {"selected": "Final Status=Hired"}
    far = odd & (np.cumsum(odd) <= 2)  # two of them would make no difference
    status = words(OFFERED, "Hired", words(far, "Zorbed", "Rejected"))
    history = load(people(**{"Interview Date": words(SEEN, "2025-03-04", ""), "Final Status": status}))
    assert history.reading is not None and any("'Zorbed' means" in said for said in history.reading.assumptions)


def test_unknown_reasons_of_people_who_never_got_near_the_end_are_why_they_were_not_selected() -> None:
    stage = words(OFFERED, "Offer", words(SEEN, "Onsite", "Phone Screen"))
    timing = yes(0.5, 4) & ~SEEN
    frame = people(
        **{"Stage": stage, "Archived reason": words(OFFERED, "Hired", words(timing, "Timing", "Underqualified"))}
    )
    assert timing.mean() > 0.1
    assert steps_of(frame)[-1] == int(OFFERED.sum())
    assert not load(frame).table["pending"].any()


def test_an_amount_that_only_finalists_have_may_say_who_was_selected_in_the_end() -> None:
    award = words(OFFERED, np.resize(["5000", "7500"], N), "0")
    question = asked(people(Finalist=words(SEEN, "Yes", "No"), **{"Grant amount": award}))
    assert question.answers[0].mapping == {"selected": "Grant amount>0"}
    assert [step.count for step in question.answers[0].funnel] == [int(SEEN.sum()), int(OFFERED.sum())]
    paid = words(yes(0.5, 9), np.resize(["20", "25"], N), "0")
    assert steps_of(people(Finalist=words(SEEN, "Yes", "No"), Fee=paid)) == [int(SEEN.sum())]


def test_several_words_of_a_result_may_be_its_passes() -> None:
    rng = np.random.default_rng(5)
    band = words(SEEN, rng.choice(["A", "B"], N), rng.choice(["C", "D"], N))
    hired = words(OFFERED, "Yes", "No")
    question = asked(people(**{"Test band": band, "Hired": hired}))
    assert question.answers[0].mapping in ({"stages": "Test band=A|B"}, {"stages": "Test band=B|A"})
    assert [step.count for step in question.answers[0].funnel] == [int(SEEN.sum()), int(OFFERED.sum())]
    told = people(**{"Test band": band, "Interviewed": words(SEEN, "Yes", "No"), "Hired": hired})
    assert steps_of(told) == [int(SEEN.sum()), int(OFFERED.sum())]  # the same people: nothing to ask


def test_selected_beside_ages_may_mean_a_layoff() -> None:
    staff = people(Age=np.resize(np.arange(25, 65), N)).drop(columns="Application ID")
    staff = staff.assign(**{"Decisional unit": np.resize(["Ops", "IT"], N), "Selected": words(SEEN, "Yes", "No")})
    question = asked(staff)
    assert question.text == "'Selected' does not say for what employees were selected: a layoff or something good"
    assert question.answers[0].mapping == {"selected": "Selected!=Yes"}
    applicants = people(Age=np.resize(np.arange(25, 65), N), Selected=words(SEEN, "Yes", "No"))
    assert steps_of(applicants) == [int(SEEN.sum())]


def test_of_two_bad_outcomes_the_one_that_more_people_had_counts() -> None:
    told = yes(0.6, 3) & ~OFFERED
    letters = words(told, "Y", words(OFFERED, "", "N"))
    days = words(OFFERED, "", "2025-03-04")
    history = load(people(**{"Rejected on": days, "Rejection letter": letters}))
    assert int(history.table["selected"].sum()) == int(OFFERED.sum())


def test_whatever_the_reason_to_disqualify_it_was_one() -> None:
    reasons = words(OFFERED, "", words(SEEN, "Timing", words(yes(0.5, 3), "Not qualified", "Commute")))
    history = load(people(Stage=words(OFFERED, "Hired", "Phone Screen"), **{"Disqualified reason": reasons}))
    assert int(history.table["selected"].sum()) == int(OFFERED.sum()) and not history.table["pending"].any()


def test_a_waiting_list_that_ended_well_is_asked_about() -> None:
    late = yes(0.3, 3) & ~SEEN
    decision = words(SEEN, "Admitted", words(late, "Waitlisted - admitted", "Denied"))
    question = asked(people(Decision=decision))
    assert "it is not known what 'Waitlisted - admitted' means" in question.text
    waiting = words(SEEN, "Admitted", words(late, "Waitlisted", "Denied"))
    assert int(load(people(Decision=waiting)).table["pending"].sum()) == int(late.sum())


def test_a_sheet_that_says_what_codes_mean(tmp_path: Path) -> None:
    codes = words(OFFERED, "CHE", words(SEEN, "CF", "NQ"))
    meanings = {"CHE": "Hired", "CF": "Interviewed, not hired", "NQ": "Not qualified", "WD": "Withdrew"}
    legend = pd.DataFrame({"Code": list(meanings), "Meaning": list(meanings.values())})
    path = workbook(tmp_path / "flow.xlsx", Flow=people(Disposition=codes), Codes=legend)
    history = load(path, readers=[Excel])
    assert [int(history.reached(step).sum()) for step in history.steps][-1] == int(OFFERED.sum())
    assert "sheet 'Codes' says what the codes in 'Disposition' mean" in {n.text for n in history.notices}
    ones = people(Region=np.resize(["1", "2"], N), Level=np.resize(["2", "1", "1"], N), Hired=words(SEEN, "Yes", "No"))
    either = pd.DataFrame({"Code": ["1", "2"], "Meaning": ["North", "South"]})
    path = workbook(tmp_path / "ones.xlsx", Flow=ones, Region_codes=either)
    assert "sheet 'Region codes' says what the codes in 'Region' mean" in {
        n.text for n in load(path, readers=[Excel]).notices
    }
    path = workbook(tmp_path / "unsaid.xlsx", Flow=ones, Codes=either)  # of Region or of Level: nothing says which
    assert not {n for n in load(path, readers=[Excel]).notices if n.code == "legend"}


def test_sheets_that_list_those_who_got_further(tmp_path: Path) -> None:
    frame = people()
    path = workbook(tmp_path / "lists.xlsx", Applicants=frame, Interviewed=frame[SEEN], Hired=frame[OFFERED])
    history = load(path, readers=[Excel])
    assert [int(history.reached(step).sum()) for step in history.steps] == [int(SEEN.sum()), int(OFFERED.sum())]


def test_event_logs_under_the_names_of_process_mining() -> None:
    parts = []
    for at, (step, who) in enumerate({"Received": SEEN | True, "Interview": SEEN, "Hired": OFFERED}.items()):
        own = people()[who].rename(columns={"Application ID": "case:concept:name", "Gender": "case:Gender"})
        parts.append(own.assign(**{"concept:name": step, "time:timestamp": f"2025-03-0{at + 1}T00:00:00Z"}))
    assert steps_of(pd.concat(parts)) == [int(SEEN.sum()), int(OFFERED.sum())]


def test_pronouns_are_an_attribute_and_letters_are_groups_of_counts() -> None:
    frame = people(Hired=words(SEEN, "Yes", "No"))
    pronouns = frame["Gender"].map({"Female": "she/her", "Male": "he/him"})
    history = load(frame.drop(columns="Gender").assign(Pronouns=pronouns))
    assert history.attributes == ("Pronouns",)
    counts = {"Unit": ["Ops", "IT", "Law"], "F applied": ["90", "80", "70"], "M applied": ["85", "75", "95"]}
    counts |= {"F hired": ["9", "8", "7"], "M hired": ["12", "14", "19"]}
    history = load(pd.DataFrame(counts))
    assert len(history.table) == 495 and int(history.table["selected"].sum()) == 69


def test_percentages_without_numbers_of_people_are_refused() -> None:
    shares = pd.DataFrame({"Team": ["Ops", "IT"] * 2, "Gender": ["Women", "Women", "Men", "Men"]})
    with pytest.raises(InputError, match="has percentages, but not the numbers of people that they are of"):
        load(shares.assign(**{"% hired": ["11.0%", "14.2%", "5.3%", "5.7%"]}))
    raised = people(Hired=words(SEEN, "Yes", "No"), Raise=np.resize(["2%", "3%"], N))
    assert steps_of(raised) == [int(SEEN.sum())]


def test_nothing_known_of_a_placement_asks_which_is_good() -> None:
    question = asked(people(Placement=words(SEEN, "Track A", "Track B")))
    assert {answer.mapping["selected"] for answer in question.answers} == {"Placement=Track A", "Placement=Track B"}


def test_results_only_of_those_selected_came_after() -> None:
    """`Oral` is no decision by its name: the check of those who passed it may be."""
    passed = words(SEEN, words(yes(0.6, 4), "P", "F"), "")
    kept = SEEN & (passed == "P")
    question = asked(people(Oral=words(SEEN, "P", "F"), Background=passed))
    assert question.answers[0].mapping == {"selected": "Background"}
    assert question.answers[0].funnel[-1].count == int(kept.sum())
    hired = people(Hired=words(SEEN, "Yes", "No"), Background=passed)
    assert steps_of(hired)[-1] == int(SEEN.sum())


def test_people_at_the_last_stage_of_whom_the_decision_says_otherwise_are_asked_about() -> None:
    step = words(OFFERED, "Hire", words(SEEN, "Interview", "Review"))
    inside = OFFERED & yes(0.5, 4)
    ends = words(inside, "Internal transfer", words(OFFERED, "External hire", "Lacks skill"))
    question = asked(people(Step=step, Disposition=ends))
    assert (
        f"{int((OFFERED & ~inside).sum())} of {int(OFFERED.sum())} were selected, who all are at 'Hire'"
        in question.text
    )
    assert question.answers[0].mapping == {"selected": "Step=Hire"}
    assert question.answers[0].funnel[-1].count == int(OFFERED.sum())
    same = words(inside, "Internal hire", words(OFFERED, "External hire", "Lacks skill"))
    assert steps_of(people(Step=step, Disposition=same))[-1] == int(OFFERED.sum())


def test_who_was_not_dismissed_is_nearly_everybody_so_a_promotion_may_be_meant() -> None:
    gone = yes(0.04, 6)
    dates = {"Promotion Date": words(SEEN, "2025-03-04", ""), "Termination Date": words(gone, "2025-04-04", "")}
    question = asked(people(**dates))
    assert question.answers[0].mapping == {"selected": "Promotion Date"}
    only = people(**{"Termination Date": dates["Termination Date"]})
    assert int(load(only).table["selected"].sum()) == N - int(gone.sum())


def test_words_that_say_to_what_somebody_was_promoted_are_one_answer() -> None:
    to = words(OFFERED, np.resize(["Grade 6", "Grade 7"], N), "")
    question = asked(people(Shortlisted=words(SEEN, "Y", "N"), **{"Moved to": to}))
    assert question.answers[0].mapping == {"selected": "Moved to!=(blank)"}
    assert question.answers[0].funnel[-1].count == int(OFFERED.sum())


def test_counts_called_headcount_and_salaries_that_are_no_counts() -> None:
    cells = [(site, sex, end) for site in "AB" for sex in ("Women", "Men") for end in ("Appointed", "Not appointed")]
    counts = pd.DataFrame(cells, columns=["Site", "Sex", "Outcome"]).assign(Headcount=np.arange(8) + 20)
    history = load(counts)
    assert len(history.table) == sum(range(20, 28)) and int(history.table["selected"].sum()) == 20 + 22 + 24 + 26
    rng = np.random.default_rng(4)
    staff = people(**{"Base Salary": rng.integers(500, 700, N), "Grade 2024": np.resize([7, 8, 9], N)})
    staff = staff.assign(**{"Grade 2023": np.resize([6, 7, 8], N), "Promoted": words(SEEN, "Yes", "No")})
    assert len(load(staff).table) == N


def test_a_file_that_lists_those_hired_once_more(tmp_path: Path) -> None:
    frame = people()
    for name, part in (("everybody", frame), ("hired", frame[SEEN]), ("more", frame.replace("A0", "B0", regex=True))):
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    history = load([tmp_path / "everybody.csv", tmp_path / "hired.csv"])
    assert len(history.table) == N and int(history.table["selected"].sum()) == int(SEEN.sum())
    whole = frame.assign(Hired=words(SEEN, "Yes", "No"))
    whole.to_csv(tmp_path / "a.csv", index=False)
    whole.replace("A0", "B0", regex=True).to_csv(tmp_path / "b.csv", index=False)
    assert len(load([tmp_path / "a.csv", tmp_path / "b.csv"]).table) == 2 * N


def test_a_question_none_of_whose_answers_can_be_read_is_a_refusal() -> None:
    """Codes for sex are asked about, but everybody was hired, so that no answer can be compared."""
    frame = people(Hired="Yes").assign(Gender=np.resize(["1", "2"], N))
    with pytest.raises(InputError, match="the groups are numbers") as error:
        load(frame)
    assert not isinstance(error.value, AmbiguousReading)
    half = frame.assign(Hired=words(SEEN, "Yes", "No"))
    assert asked(half).answers[0].mapping == {"group": "Gender"}


def test_a_question_without_answers_is_a_refusal() -> None:
    """The unknown words are addresses, which no command may repeat."""
    people_ = [f"p{k % 3}@example.org" for k in range(N)]
    frame = people(**{"Interview Date": words(SEEN, "2025-03-04", ""), "Decision": words(OFFERED, "Hired", people_)})
    try:
        history = load(frame)
    except InputError as error:
        assert "@" not in str(error)
    else:
        assert history.reading is not None and not history.reading.question


def test_what_an_audit_needs_chooses_first_among_columns_with_other_names(tmp_path: Path) -> None:
    frame = people(Team=np.resize(["Ops", "IT"], N), Status=words(SEEN, "Hired", "Rejected"))
    given = {"candidate": "Application ID", "search": "Team", "group": "Gender", "selected": "Status"}
    seen = {
        "Team": ["Ops", "IT"],
        "Status": ["Hired", "Rejected"],
        "Gender": ["Female", "Male"],
        "Application ID": "many",
    }
    later = frame.drop(columns="Team").rename(columns={"Status": "Outcome"}).replace({"Hired": "Appointed"})
    with pytest.raises(AmbiguousReading, match="no longer has this column") as error:
        load(later, given, columns=seen)
    assert error.value.question.answers[0].mapping == {"search": "none", "selected": "Outcome"}
    assert error.value.question.answers[0].funnel[-1].count == int(SEEN.sum())


def test_a_scheduled_run_suggests_commands_that_can_be_typed() -> None:
    from auditkit.cli.asking import _arguments

    assert _arguments(["run", "audit.toml"]) == "--config audit.toml"
    assert _arguments(["report", "people.csv", "-q"]) == "people.csv -q"


def test_a_prefix_that_all_headers_have_is_not_part_of_their_names() -> None:
    frame = people(Edad=np.resize(np.arange(25, 65), N), Hired=words(SEEN, "Yes", "No"))
    history = load(frame.rename(columns=lambda name: f"Candidate - {name}"))
    assert set(history.attributes) == {"Candidate - Gender", "Candidate - Edad"}


def test_reasons_for_not_hiring_beside_a_step_may_say_who_was_hired() -> None:
    reasons = words(OFFERED, "", np.resize(["Skills", "Fit", "Location"], N))
    frame = people(**{"Reached interview": words(SEEN, "Yes", "No"), "Reason for non-hire": reasons})
    question = asked(frame)
    assert question.answers[0].mapping == {"selected": "Reason for non-hire=(blank)"}
    assert [step.count for step in question.answers[0].funnel] == [int(SEEN.sum()), int(OFFERED.sum())]


def test_an_audit_of_inspections_only_says_so() -> None:
    text = "no column says who was selected: the audit is of who was inspected"
    only = load(people(Interviewed=words(SEEN, "Yes", "No"))).reading
    assert only is not None and text in only.assumptions and only.confidence == "likely"
    both = load(people(Interviewed=words(SEEN, "Yes", "No"), Hired=words(OFFERED, "Yes", "No"))).reading
    assert both is not None and text not in both.assumptions


def test_those_made_redundant_of_all_employees_leave_those_retained() -> None:
    rows = [
        (team, band, 100 + k, 10 + 5 * k)
        for k, (team, band) in enumerate([(t, b) for t in "AB" for b in ("Under 40", "40 and over")])
    ]
    counts = pd.DataFrame(rows, columns=["Team", "Age band", "Employees in scope", "Made redundant"])
    history = load(counts)
    assert len(history.table) == 406 and int(history.table["selected"].sum()) == 406 - 70


def test_a_high_rate_undecided_people_and_dates_that_contradict_are_said() -> None:
    high = load(people(Hired=words(yes(0.95, 3), "Yes", "No"))).reading
    assert high is not None and any(
        "of the people who were decided on had the favourable outcome" in s for s in high.assumptions
    )
    stage = words(OFFERED, "Hired", words(yes(0.5, 4), "Phone screen", "Rejected"))
    open_ = load(people(Status=stage)).reading
    assert open_ is not None and any(
        "people are read as undecided, by the words in 'Status'" in s for s in open_.assumptions
    )
    dates = {"Applied on": np.resize(["2025-05-04", "2025-06-04"], N), "Interview date": words(SEEN, "2025-03-04", "")}
    early = load(people(**dates, Hired=words(OFFERED, "Yes", "No"))).reading
    text = f"'Interview date' is before 'Applied on' for {int(SEEN.sum())} of {int(SEEN.sum())} people"
    assert early is not None and any(text in said for said in early.assumptions)
    dates["Interview date"] = words(SEEN, "2025-07-04", "")
    later = load(people(**dates, Hired=words(OFFERED, "Yes", "No"))).reading
    assert later is not None and later.assumptions == ()


def test_of_steps_that_tell_the_same_the_one_that_is_called_like_a_step_is_named() -> None:
    parts = []
    for at, (step, who) in enumerate(
        {"Applied": SEEN | True, "Phone screen": SEEN, "Mail sent": SEEN, "Hired": OFFERED}.items()
    ):
        parts.append(people()[who].assign(Event=step, Date=f"2025-03-0{at + 1}"))
    history = load(pd.concat(parts))
    assert history.steps == ("Phone screen", "Hired")


@pytest.mark.parametrize(("column", "is_asked"), [("Antwort Bewerber", False), ("Reply", False), ("Board", True)])
def test_what_candidates_made_of_an_offer_is_no_later_decision(column: str, is_asked: bool) -> None:
    reply = np.where(OFFERED, np.where(yes(0.7, 9), "accepted", "rejected"), "")
    frame = people(
        Shortlisted=words(SEEN, "Y", "N"), Entscheidung=words(OFFERED, "Zusage", "Absage"), **{column: reply}
    )
    if is_asked:
        assert f"have a yes in {column!r}" in asked(frame).text
    else:
        assert steps_of(frame) == [int(SEEN.sum()), int(OFFERED.sum())]
