"""Marks for hidden counts, legends of several columns, notes at the foot, declined offers, days as numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from auditkit.data.firm_history import History
from auditkit.data.load import load
from auditkit.data.reading import AmbiguousReading
from auditkit.data.shapes import _blocks
from auditkit.data.vocabulary import shipped
from auditkit.errors import InputError
from auditkit.plugins.excel import Excel

N = 400
RNG = np.random.default_rng(21)
FAR = RNG.integers(0, 5, N)
"""How far each person got: 0 applied, 4 hired."""
GENDER = RNG.choice(["Female", "Male"], N)


def people(**columns: object) -> pd.DataFrame:
    own = {"Application ID": [f"A{k:04}" for k in range(N)], "Gender": GENDER}
    return pd.DataFrame({**own, **columns}).astype(str)


def funnel(history: History) -> list[int]:
    return [int(history.reached(step).sum()) for step in history.steps]


def counts(*rows: tuple[object, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["Ethnicity", "Applicants", "Shortlisted", "Appointed"]).astype(str)


def at_least(*steps: int) -> list[int]:
    return [int((step <= FAR).sum()) for step in steps]


@pytest.mark.parametrize("mark", ["[c]", "*", "..", "suppressed"])
def test_a_mark_for_a_small_count_is_read_as_less_than_the_smallest_number_shown(mark: str) -> None:
    history = load(counts(("White", 900, 300, 90), ("Asian", 400, 80, 9), ("Mixed", 30, 11, mark)))
    assert len(history.table) == 1330
    said = " ".join(history.reading.assumptions if history.reading else ())
    assert f"'{mark}' hides a count below 9, the smallest number that is shown" in said
    assert "Mixed Appointed 0 to 8" in said


def test_a_mark_beside_small_counts_hides_nothing_that_is_known() -> None:
    with pytest.raises(InputError, match="is not a"):
        load(counts(("White", 900, 300, 90), ("Asian", 400, 80, 1), ("Mixed", 30, 9, "[c]")))


def test_hidden_counts_below_each_other_are_read_too() -> None:
    rows = [
        (stage, group, number)
        for stage, numbers in (
            ("Applied", (900, 400, 30)),
            ("Passed sift", (300, 80, 9)),
            ("Appointed", (90, 12, "[c]")),
        )
        for group, number in zip(("White", "Asian", "Mixed"), numbers, strict=True)
    ]
    history = load(pd.DataFrame(rows, columns=["Stage", "Ethnicity", "Headcount"]).astype(str))
    assert funnel(history)[0] == 389


def test_all_notes_below_a_short_table_are_left_out(tmp_path: Path) -> None:
    table = counts(("White", 900, 300, 90), ("Asian", 400, 80, 12)).to_csv(index=False)
    path = tmp_path / "outcomes.csv"
    path.write_text(table + "\nNotes\n" + "".join(f"{k}. Figures were revised.\n" for k in range(9)))
    assert len(load(path).table) == 1300


def workbook(path: Path, **sheets: pd.DataFrame) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, part in sheets.items():
        sheet = book.create_sheet(name)
        for row in [list(part.columns), *part.to_numpy().tolist()]:
            sheet.append(row)
    book.save(path)
    return path


def test_a_legend_may_say_which_column_each_code_is_of(tmp_path: Path) -> None:
    codes = {"PHASE": dict(zip("13567", ("Applied", "Screen", "Interview", "Offer", "Hire"), strict=True))}
    codes["SEX"] = {"1": "Female", "2": "Male"}
    legend = pd.DataFrame(
        [(field, code, text) for field, words in codes.items() for code, text in words.items()],
        columns=["Field", "Code", "Meaning"],
    )
    legend["Field"] = legend["Field"].mask(legend["Field"].duplicated(), "")  # written once for all codes of a column
    frame = people(PHASE=np.array(list("13567"))[FAR]).drop(columns="Gender")
    frame["SEX"] = np.where(GENDER == "Female", "01", "02")  # a spreadsheet drops the zeros, or adds them
    history = load(workbook(tmp_path / "extract.xlsx", People=frame, Legend=legend), readers=[Excel])
    assert funnel(history) == at_least(1, 2, 3, 4)
    assert set(history.table["group:SEX"]) == {"Female", "Male"}
    other = legend.assign(Field="Something else")
    with pytest.raises(InputError, match="the groups are numbers"):
        load(workbook(tmp_path / "other.xlsx", People=frame, Legend=other), readers=[Excel])


STAGES = np.array(["Applied", "Screen", "Onsite", "Offer", "Offer"])[FAR]


def test_of_those_with_an_offer_who_declined_it_was_not_hired() -> None:
    reasons = np.array(["Underqualified", "Underqualified", "Underqualified", "Offer declined", "Hired"])[FAR]
    history = load(people(Stage=STAGES, **{"Archive Reason": reasons}))
    assert funnel(history) == at_least(1, 2, 3, 4)
    assert history.reading is not None
    assert history.reading.shown == f"favourable: Hired, {at_least(4)[0]} of {N}"
    assert not [said for said in history.reading.assumptions if "declined an offer" in said]


def test_without_a_step_of_offers_who_declined_one_was_still_selected() -> None:
    words = np.array(["Rejected", "Rejected", "Rejected", "Offer declined", "Hired"])[FAR]
    history = load(people(Status=words))
    assert int(history.table["selected"].sum()) == at_least(3)[0]
    said = f"{at_least(3)[0] - at_least(4)[0]} who declined an offer count as 'Hired', because they were chosen"
    assert history.reading is not None and said in history.reading.assumptions
    assert "count as selected" in next(notice.text for notice in history.notices if notice.code == "declined")


def test_an_offer_and_that_the_candidate_has_declined_is_no_selection() -> None:
    words = np.array(["New - Rejected", "Screening - Rejected", "Interview - Rejected", "Offer - Has Declined", ""])[
        FAR
    ]
    words = np.where(FAR == 4, "Hire - Hired", words)
    history = load(people(**{"Step and status": words}))
    assert history.reading is not None and history.reading.favourable.count == at_least(4)[0]
    (told,) = (notice.text for notice in history.notices if notice.code == "declined")
    assert "up to the offer and in none after" in told


def test_shortlisting_comes_before_a_phone_screen() -> None:
    stages = np.array(["Applied", "Shortlisted", "Phone Screen", "Interview", "Hired"])[FAR]
    assert load(people(Stage=stages)).steps == ("Shortlisted", "Phone Screen", "Interview", "Hired")


def test_who_consents_to_a_background_check_is_at_no_step() -> None:
    consent = np.where(RNG.random(N) < 0.93, "Yes", "No")
    flags = {
        name: np.where(k <= FAR, "Yes", np.where(k == FAR + 1, "No", ""))
        for k, name in enumerate(("Phone Screen", "Interview", "Job Offer", "Hired"), 1)
    }
    history = load(people(**{"Background Check Consent": consent}, **flags))
    assert "Background Check Consent" not in history.steps
    assert funnel(history) == at_least(1, 2, 3, 4)


def test_a_pivot_whose_labels_are_departments_and_their_groups() -> None:
    rows = [("Audit", 500, 200, 60), ("Female", 200, 60, 20), ("Male", 300, 140, 40)]
    rows += [("Legal", 300, 100, 30), ("Female", 100, 20, 5), ("Male", 200, 80, 25), ("Grand Total", 800, 300, 90)]
    columns = ["Department / Gender", "Applied", "Longlisted", "Appointed"]
    history = load(pd.DataFrame(rows, columns=columns).astype(str))
    assert funnel(history) == [300, 90]
    assert history.attributes == ("Sex",)
    assert set(history.table["search"]) == {"Audit", "Legal"}


def test_days_of_a_spreadsheet_are_dates_in_columns_named_so() -> None:
    first = RNG.integers(45300, 45400, N)
    names = ("Date Added", "Interview Date", "Offer Date", "Hire Date")
    days = {
        name: [str(day + 9 * k) if k <= far else "" for day, far in zip(first, FAR, strict=True)]
        for k, name in enumerate(names)
    }
    history = load(people(**days))
    assert funnel(history) == at_least(1, 2, 3)
    assert any(notice.code == "day-numbers" for notice in history.notices)
    salaries = {name.replace("Date", "Salary"): cells for name, cells in days.items()}
    with pytest.raises(InputError):
        load(people(**salaries))


def test_employees_selected_by_a_selection_status_may_be_those_laid_off() -> None:
    words = np.where(FAR >= 3, "Selected", "Not Selected")
    frame = people(**{"Selection Status": words})
    assert int(load(frame).table["selected"].sum()) == at_least(3)[0]
    with pytest.raises(AmbiguousReading, match="does not say for what employees were selected"):
        load(frame.rename(columns={"Application ID": "Employee ID"}))


@pytest.mark.parametrize("prefix", ["Race: ", "Race - ", "race_", "Ethnicity "])
def test_columns_of_races_are_one_attribute_also_where_one_race_has_nobody(prefix: str) -> None:
    races = np.array(["White", "Black", "Asian", "Both"])[np.arange(N) % 4]
    flags = {
        f"{prefix}{race}": np.where((races == race) | ((races == "Both") & (race != "Black")), "Y", "N")
        for race in ("White", "Black", "Asian", "Native Hawaiian")
    }
    history = load(people(Hired=np.where(FAR == 4, "Yes", "No"), **flags))
    (race,) = (name for name in history.attributes if name.startswith("Race"))
    found = history.table[f"group:{race}"].value_counts().to_dict()
    assert found == dict.fromkeys(("White", "Black", "Asian", "Two or more races"), N // 4)


def test_a_step_of_two_names_is_as_far_as_the_later_one() -> None:
    rank = shipped().step_rank
    assert rank("Interview / Assessment") == rank("Interview") > rank("HM Review") > rank("Assessment")
    assert rank("Phone Screen/Video") == rank("Phone Screen/Video call") == rank("Phone Screen")


def test_people_who_are_only_on_the_sheet_of_outcomes_are_counted(tmp_path: Path) -> None:
    everyone = people(Outcome=np.where(FAR == 4, "Offer", np.where(FAR == 0, "Did not attend", "Reject")))
    marks = [[key, test, 3] for key in everyone["Application ID"][FAR > 0] for test in ("Lesson", "Group task")]
    events = pd.DataFrame(marks, columns=["Application ID", "Exercise", "Score"]).astype(str)
    history = load(workbook(tmp_path / "centre.xlsx", Scores=events, Outcomes=everyone), readers=[Excel])
    assert len(history.table) == N and funnel(history)[-1] == at_least(4)[0]
    told = " ".join(notice.text for notice in history.notices)
    assert f"{int((FAR == 0).sum())} people who are listed only there are counted too" in told


def test_rows_of_another_file_without_a_match_are_left_out_and_said(tmp_path: Path) -> None:
    own = people(Hired=np.where(FAR == 4, "Yes", "No")).drop(columns="Gender")
    groups = pd.DataFrame({"Application ID": [f"A{k:04}" for k in range(N + 30)], "Gender": "F"})
    groups.loc[: N // 2, "Gender"] = "M"
    history = load(workbook(tmp_path / "two.xlsx", People=own, EEO=groups), readers=[Excel])
    assert len(history.table) == N
    assert "30 rows there have no match here and are left out" in " ".join(each.text for each in history.notices)


@pytest.mark.parametrize("cell", ["{0} / {1}", "{1} - {0}", "{0}|{1}"])
def test_sex_and_race_in_one_column_are_two_attributes(cell: str) -> None:
    races = np.array(["White", "Black or African American", "Asian"])[np.arange(N) % 3]
    merged = [cell.format(sex, race) for sex, race in zip(GENDER, races)]
    merged[:20] = ["Not disclosed"] * 20
    frame = people(Hired=np.where(FAR == 4, "Yes", "No"), **{"EEO (Sex / Race)": merged}).drop(columns="Gender")
    history = load(frame)
    assert history.attributes == ("Sex", "Race")
    assert (history.table["group:Race"] == "White").sum() == (races[20:] == "White").sum()
    assert (history.table["group:Sex"] == "Female").sum() == (GENDER[20:] == "Female").sum()


def test_a_word_with_a_slash_is_no_sex_and_race() -> None:
    races = np.array(["White", "Hispanic / Latino", "Asian"])[np.arange(N) % 3]
    history = load(people(Hired=np.where(FAR == 4, "Yes", "No"), **{"Race / Ethnicity": races}))
    assert set(history.attributes) == {"Gender", "Race / Ethnicity"}


def test_a_second_decision_on_those_whom_the_first_left_open_counts() -> None:
    first = np.array(["Deny", "Deny", "Waitlist", "Waitlist", "Admit"])[FAR]
    second = np.array(["", "", "Released from Waitlist", "Admit from Waitlist", ""])[FAR]
    history = load(people(Decision=first, **{"Second Decision": second}))
    assert history.reading is not None and history.reading.favourable.count == at_least(3)[0]
    assert any("'Second Decision' says what was decided later" in said for said in history.reading.assumptions)
    alone = load(people(Decision=first))
    assert alone.reading is not None and alone.reading.favourable.count == at_least(4)[0]


@pytest.mark.parametrize(("title", "day"), [("Stichtag 31.12.2023", "2023-12-31"), ("Druck am 31.12.2023", "")])
def test_ages_are_those_on_the_day_that_a_title_states(tmp_path: Path, title: str, day: str) -> None:
    born = pd.Timestamp("1983-06-01") + pd.to_timedelta(np.arange(N) * 3, unit="D")  # 40 in June 2023 and later
    rows = [f"{i};{birth:%d.%m.%Y};{'ja' if far == 4 else 'nein'}" for i, (birth, far) in enumerate(zip(born, FAR))]
    text = "\n".join([f"Runde 2023, {title}", "Personalnr.;Geburtsdatum;Befördert", *rows])
    (tmp_path / "runde.csv").write_text(text, encoding="utf-8")
    history = load(tmp_path / "runde.csv")
    said = " ".join(history.reading.assumptions if history.reading else ())
    assert (f"ages are those on {day}, as" in said) == bool(day)


def test_stages_without_offers_have_them_where_some_declined_one() -> None:
    stages = np.array(["Applied", "Screen", "Onsite", "Onsite", "Onsite"])[FAR]
    reasons = np.array(["Rejected", "Rejected", "Rejected", "Offer declined", "Hired"])[FAR]
    history = load(people(**{"Last Stage": stages, "Status": reasons}))
    assert history.steps == ("Screen", "Onsite", "Offer", "Hired")
    assert funnel(history) == at_least(1, 2, 3, 4)


@pytest.mark.parametrize(
    "reason",
    ["Hired someone else", "We hired another applicant", "Jemand anderes eingestellt", "Contratada otra persona"],
)
def test_who_was_not_hired_because_somebody_else_was_is_rejected(reason: str) -> None:
    history = load(people(**{"Archive Reason": np.where(FAR == 4, "Hired", reason)}))
    assert int(history.table["selected"].sum()) == at_least(4)[0]


def test_a_sentence_about_hiring_beside_hired_is_no_selection_without_a_word() -> None:
    words = np.where(FAR == 4, "Hired", np.where(FAR == 3, "Was keen to be hired by March", "Rejected"))
    with pytest.raises(AmbiguousReading, match="Was keen to be hired by March"):
        load(people(Status=words))
    alone = np.where(FAR == 4, "Was hired in March", "Rejected")
    assert int(load(people(Status=alone)).table["selected"].sum()) == at_least(4)[0]


def test_stages_that_begin_with_a_number_are_stages_and_no_ratings() -> None:
    stages = np.array(["0-New", "10-Screen", "20-Interview", "30-Offer", "40-Hired"])[FAR]
    history = load(people(**{"Status code": stages}))
    assert funnel(history) == at_least(1, 2, 3, 4)
    ratings = np.array(["1 - No", "2 - No", "3 - Yes", "4 - Yes", "5 - Strong yes"])[FAR]
    frame = people(Rating=ratings, Hired=np.where(FAR == 4, "Yes", "No"))
    assert load(frame).mapping.columns("prior") == ("Rating",)


def test_colours_of_a_traffic_light_are_results() -> None:
    lights = {
        f"{step} RAG": np.where(k <= FAR, "Green", np.where(k == FAR + 1, "Red", ""))
        for k, step in enumerate(("Screen", "Interview", "Final"), 1)
    }
    assert funnel(load(people(**lights))) == at_least(1, 2, 3)


def test_the_good_words_are_offered_before_others() -> None:
    words = np.where(FAR >= 3, "Redeployed", np.where(FAR == 2, "Slotted in", "Confirmed redundant"))
    frame = people(**{"Outcome of consultation": words}).rename(columns={"Application ID": "Employee No"})
    with pytest.raises(AmbiguousReading) as error:
        load(frame)
    first = error.value.question.answers[0].mapping["selected"]
    assert set(str(first).partition("=")[2].split("|")) == {"Redeployed", "Slotted in"}


def test_an_interview_with_hr_comes_before_that_with_the_manager() -> None:
    stages = np.array(["Candidature reçue", "Présélectionné", "Entretien RH", "Entretien manager", "Embauché"])[FAR]
    assert funnel(load(people(Étape=stages))) == at_least(1, 2, 3, 4)


SECTIONS = (("All", 1000, 600, 200), ("Male", 500, 330, 120), ("Female", 460, 250, 74), ("Did not identify", 40, 20, 6))
RACES = (("White", 560, 350, 120), ("Black", 240, 130, 40), ("Asian", 200, 120, 40))


@pytest.mark.parametrize("rows", [(*SECTIONS, *RACES), (*SECTIONS[1:], *RACES), (*SECTIONS[1:], *RACES, SECTIONS[0])])
def test_groups_of_several_attributes_below_each_other_count_everybody_once(rows: tuple[object, ...]) -> None:
    history = load(pd.DataFrame(rows, columns=["Group", "Applied", "Qualified", "Selected"]).astype(str))
    assert len(history.table) == 1000 and funnel(history) == [600, 200]
    assert history.attributes == ("Sex", "Race") and not history.crossings
    assert history.table["group:Race"].value_counts()["White"] == 560


def test_groups_whose_attribute_nothing_says_are_not_counted_twice() -> None:
    rows = [("Red", 500, 330), ("Blue", 500, 270), ("North", 600, 400), ("South", 400, 200)]
    with pytest.raises(InputError, match="count everybody 2 times"):
        load(pd.DataFrame(rows, columns=["Group", "Applied", "Selected"]).astype(str))


def test_groups_of_one_attribute_that_add_up_to_their_total_are_one_attribute() -> None:
    history = load(pd.DataFrame(SECTIONS, columns=["Group", "Applied", "Qualified", "Selected"]).astype(str))
    assert len(history.table) == 1000 and len(history.attributes) == 1


@pytest.mark.parametrize("others", ["", "M"])
def test_groups_that_are_known_only_of_those_selected_cannot_be_compared(others: str) -> None:
    hired = FAR == 4
    frame = people(Hired=np.where(hired, "Yes", "No")).assign(Gender=np.where(hired, GENDER, others))
    history = load(frame)
    assert history.reading is not None
    assert ("everybody whose group is known" in history.reading.refusal) == (others == "")


def test_blocks_of_equal_sums_are_found_wherever_their_total_is() -> None:
    parts = np.array([[5, 2], [3, 1], [2, 1], [6, 2], [1, 0], [1, 2]])
    whole = parts[:2].sum(axis=0)[None, :]
    expected = [0, 0, 1, 1, 1, 1]
    assert parts[2:].sum(axis=0).tolist() != whole[0].tolist() and _blocks(parts) is None
    equal = np.vstack([parts[:2], [[6, 2], [1, 0], [1, 1]]])
    for rows, found in (
        (equal, expected[:5]),
        (np.vstack([whole, equal]), [-1, *expected[:5]]),
        (np.vstack([equal, whole]), [*expected[:5], -1]),
    ):
        blocks = _blocks(rows)
        assert blocks is not None and blocks.tolist() == found
    assert _blocks(np.vstack([whole, equal[:2]])) is None
