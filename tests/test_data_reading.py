"""A file is read right, or auditkit asks: exports with a planted difference, and the single questions one by one."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exports.exam import EXAM
from exports.judging import judge
from exports.unseen import UNSEEN

from auditkit import plugin_manager
from auditkit.data.firm_history import History
from auditkit.data.load import load
from auditkit.data.reading import AmbiguousReading
from auditkit.data.remembered import columns_seen
from auditkit.data.vocabulary import shipped
from auditkit.errors import InputError
from support.data_files import table

READERS = list(plugin_manager.shipped().readers.values())


MENDED = (
    "german_anrede", "neogov_eeo", "taleo_history", "dutch_results", "greenhouse_small_cells",
    "successfactors_statuses", "civil_service_list", "usa_staffing", "grant_rounds",
)  # fmt: skip
"""Exports of the exam that the first run did not read right; `make exports` reads all of them."""


@pytest.mark.parametrize("name", [*UNSEEN, *MENDED])
def test_an_export_is_read_right_or_asked_about(name: str, tmp_path: Path) -> None:
    truth = {**UNSEEN, **EXAM}[name](tmp_path)
    verdict = judge(truth)
    assert verdict.outcome in ("right", "asked, then right"), verdict


def read(tmp_path: Path, *lines: str, **given: str) -> History:
    return load(table(tmp_path, *lines), given or None)


def good(history: History) -> tuple[str, int, int]:
    assert history.reading is not None
    favourable = history.reading.favourable
    return favourable.text, favourable.count, favourable.of


# What is favourable ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "yes", "no", "text"),
    [
        ("Hired", "Y", "N", "Hired"),
        ("Selected for RIF", "N", "Y", "not selected for RIF"),
        ("Rejected", "", "Y", "not rejected"),
        ("Laid Off?", "No", "Yes", "not laid Off"),
        ("Employment Status", "Active", "Terminated - RIF", "Active"),
        ("Decision", "Admit", "Deny", "Admit"),
        ("Award Status", "Awarded", "Declined", "Awarded"),
        ("Esito", "Idoneo", "Non idoneo", "Idoneo"),
        ("Uitkomst", "Aangenomen", "Afgewezen", "Aangenomen"),
        ("Situação", "Aprovado", "Reprovado", "Aprovado"),
        ("Ergebnis", "Zusage", "Absage", "Zusage"),
        ("Statut", "Embauchée", "Refusée", "Embauchée"),
        ("Estado", "Contratada", "Descartada", "Contratada"),
    ],
)
def test_the_good_outcome(tmp_path: Path, column: str, yes: str, no: str, text: str) -> None:
    rows = [f"{i},{'F' if i % 2 else 'M'},{yes if i % 3 == 0 else no}" for i in range(60)]
    assert good(read(tmp_path, f"id,gender,{column}", *rows)) == (text, 20, 60)


def test_the_words_follow_the_data(tmp_path: Path) -> None:
    rows = [f"{i},{'F' if i % 2 else 'M'},{'N' if i % 3 else 'Y'}" for i in range(60)]
    layoff = read(tmp_path, "Employee ID,gender,Selected for RIF", *rows).reading
    promotion = read(tmp_path, "Employee ID,gender,Promoted", *rows).reading
    hiring = read(tmp_path, "Applicant ID,gender,Hired", *rows).reading
    assert layoff is not None and (layoff.words.people, layoff.words.verb) == ("employees", "retained")
    assert promotion is not None and (promotion.words.people, promotion.words.verb) == ("employees", "promoted")
    assert hiring is not None and (hiring.words.people, hiring.words.verb) == ("applicants", "selected")


# Nothing to compare ---------------------------------------------------------------------------------------------------


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    everybody = read(tmp_path, "id,gender,status", *[f"{i},{'FM'[i % 2]},Hired" for i in range(20)])
    assert everybody.reading is not None and "everybody in the file" in everybody.reading.refusal
    nobody = read(tmp_path, "id,gender,hired", *[f"{i},{'FM'[i % 2]},No" for i in range(20)])
    assert nobody.reading is not None and nobody.reading.refusal.startswith("nobody in the file")
    alone = read(tmp_path, "id,gender,hired", *[f"{i},F,{i % 2}" for i in range(20)])
    assert alone.reading is not None and "fewer than two groups" in alone.reading.refusal
    both = read(tmp_path, "id,gender,hired", *[f"{i},{'FM'[i % 2]},{i % 3 % 2}" for i in range(20)])
    assert both.reading is not None and both.reading.refusal == ""


def test_a_refusal_ends_a_report(auditkit: Any, tmp_path: Path) -> None:
    path = table(tmp_path, "id,gender,status", *[f"{i},{'FM'[i % 2]},Hired" for i in range(20)])
    done = auditkit("report", path)
    assert done.code == 2
    assert "everybody in the file" in done.err
    assert not list(tmp_path.glob("*.audit.*"))


# Ambiguous ------------------------------------------------------------------------------------------------------------

TWO = [f"{i},{'FM'[i % 2]},{'Hired' if i % 3 else 'Rejected'},{'Yes' if i % 5 else 'No'}" for i in range(60)]


def test_two_decisions_are_asked_about_with_their_numbers(tmp_path: Path) -> None:
    with pytest.raises(AmbiguousReading) as error:
        read(tmp_path, "id,gender,status,decision", *TWO)
    answers = error.value.question.answers
    assert {answer.flags: answer.shown for answer in answers} == {
        "--map selected=status=Hired": "60 -> Hired 40",
        "--map selected=decision=Yes": "60 -> decision 48",
    }


def test_commands_that_are_printed_work(auditkit: Any, tmp_path: Path) -> None:
    import shlex

    path = table(tmp_path, "id,gender,status,decision", *TWO)
    done = auditkit("check", path)
    done = auditkit("report", path, "--format", "json")
    commands = [line for line in done.err.splitlines() if line.startswith("  auditkit report ")]
    assert done.code == 2 and 1 <= len(commands) <= 3, done.err
    followed = auditkit(*shlex.split(commands[0])[1:])
    assert followed.code == 0, followed.err
    assert followed.out.startswith("favourable: ")


def test_counts_by_step_are_read_whatever_their_columns_are_called(tmp_path: Path) -> None:
    reached = {"Mujeres": (812, 171, 68), "Hombres": (905, 272, 109)}
    words = ("Presentados", "Entrevistados", "Contratados")
    rows = [f"{sex},{word},{n}" for sex, counts in reached.items() for word, n in zip(words, counts, strict=True)]
    history = read(tmp_path, "Sexo,Fase,Personas", *rows)
    assert good(history) == ("Contratados", 177, 1717)
    assert history.reading is not None and [step.count for step in history.reading.funnel] == [443, 177]


def test_running_numbers_are_not_counts(tmp_path: Path) -> None:
    rows = [f"{900 + i},{500 + i},{i % 3},{'FM'[i % 2]},{'hired' if i % 4 == 0 else 'rejected'}" for i in range(80)]
    history = read(tmp_path, "id,candidate_id,current_stage.id,gender,status", *rows)
    assert good(history) == ("hired", 20, 80)
    pivot = ("Row Labels,Count of Applicant ID,Sum of Hired", "Female,300,30", "Male,320,64")
    assert good(read(tmp_path, *pivot))[1:] == (94, 620)


def test_a_reason_not_to_qualify_is_not_a_step(tmp_path: Path) -> None:
    words = ("Not Qualified - Minimum Qualifications", "Not Qualified - Missing Documents", "Eligible, Not Referred")
    words = (*words, "Referred - Not Selected", "Selected")
    history = read(tmp_path, "id,sex,status", *[f'a{i},{"FM"[i % 2]},"{words[i % 5]}"' for i in range(200)])
    assert history.reading is not None
    assert [(step.step, step.count) for step in history.reading.funnel] == [
        ("Eligible", 120),
        ("Referred", 80),
        ("Selected", 40),
    ]


def test_a_column_that_names_people_is_never_one_of_stages(tmp_path: Path) -> None:
    rows = [f"c{i % 30},{'FM'[i % 30 % 2]},smith{i}@example.org,{'yes' if i % 3 else 'no'}" for i in range(60)]
    with pytest.raises(InputError, match="may say who somebody is") as error:
        read(tmp_path, "id,gender,contact,hired", *rows, stage="contact")
    assert "smith" not in str(error.value)


def test_an_unknown_word_is_read_by_what_happened_to_its_people(tmp_path: Path) -> None:
    words = ["Hired", "Rejected", "Moved sideways"]
    rows = [f"{i},{'FM'[i % 2]},{words[i % 3]},{'2024-03-05' if i % 3 != 1 else ''}" for i in range(60)]
    history = read(tmp_path, "id,gender,status,hire date", *rows)
    assert good(history)[1] == 40
    assert history.reading is not None and history.reading.confidence == "likely"
    assert "'Moved sideways' is read as selected" in history.reading.assumptions[0]


# Steps ----------------------------------------------------------------------------------------------------------------


def test_a_flag_that_those_selected_need_not_have_is_not_a_step(tmp_path: Path) -> None:
    rows = []
    for i in range(200):
        interviewed, hired = i % 2 == 0, i % 8 == 0
        rows.append(
            f"{i},{'FM'[i // 2 % 2]},{'Y' if i % 3 else 'N'},{'Y' if interviewed else 'N'},{'Y' if hired else 'N'}"
        )
    history = read(tmp_path, "id,gender,Was Auto-Screened,Panel seen,Hired", *rows)
    assert history.steps == ("Panel seen", "Hired")
    assert history.reading is not None
    assert [(each.column, each.looks_like) for each in history.reading.unused] == [("Was Auto-Screened", "step")]


@pytest.mark.parametrize(
    ("word", "status", "step", "reached"),
    [
        ("Rejected - not selected for interview", "rejected", "Interview", False),
        ("Interviewed, not selected", "rejected", "Interviewed", True),
        ("Not Selected - After Phone Screen", "rejected", "Phone Screen", True),
        ("Interviews: In Progress", "pending", "Interviews", True),
        ("Hired", "selected", "", False),
        ("Not Hired: Phone Screen", "rejected", "Phone Screen", True),
        ("Interviewed - not hired", "rejected", "Interviewed", True),
        ("Qualified, not selected", "rejected", "Qualified", True),
        ("Qualified, not referred", "rejected", "Referred", False),
    ],
)
def test_the_step_in_a_disposition(word: str, status: str, step: str, reached: bool) -> None:
    from auditkit.data.steps import ending

    found = ending(word)
    assert found is not None and (found.status, found.step, found.reached) == (status, step, reached)


@pytest.mark.parametrize(
    ("often", "steps"),
    [
        (
            {"Not Hired: CV Review": 40, "Not Hired: Phone Screen": 20, "Withdrew: Phone Screen": 4,
             "Not Hired: Panel": 10, "Hired: Offer Accepted": 6},
            {"Phone Screen": 40, "Panel": 16, "Hired: Offer Accepted": 6},
        ),
        (
            {"Not eligible": 30, "Eligible, not shortlisted": 20, "Shortlisted, not appointed": 10, "Appointed": 6},
            {"Eligible": 36, "Shortlisted": 16, "Appointed": 6},
        ),
        (
            {"Rejected: Phone Screen": 20, "Rejected: Panel": 10, "Not eligible": 9, "Hired": 6},
            {"Phone Screen": 36, "Panel": 16, "Hired": 6},
        ),
    ],
)  # fmt: skip
def test_the_steps_in_the_words_of_a_status(tmp_path: Path, often: dict[str, int], steps: dict[str, int]) -> None:
    words = [word for word, n in often.items() for _ in range(n)]
    rows = [f'{i},{"FM"[i % 2]},"{word}"' for i, word in enumerate(words)]
    history = read(tmp_path, "id,gender,Application Status", *rows)
    assert {name: int(history.table[f"step:{name}"].sum()) for name in history.steps} == steps
    left = history.table[history.table["withdrawn"]]
    assert len(left) == often.get("Withdrew: Phone Screen", 0)
    for name in left if len(left) else ():
        if name.startswith("step:"):  # who withdrew reached the step, and is not counted after it
            assert left[name].eq(True).all() if name == "step:Phone Screen" else left[name].isna().all()


# Groups ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word",
    [
        *("N/D", "Omitted", "Zeg ik liever niet", "keine Angabe", "Ne souhaite pas répondre", "Prefiero no decirlo"),
        *("Prefiro não informar", "Preferisco non rispondere", "I choose not to self-identify", "Not Declared", "-"),
    ],
)
def test_declined_answers_are_unknown(word: str) -> None:
    assert shipped().is_unknown(word)


def test_two_digit_birth_years(tmp_path: Path) -> None:
    rows = [f"{i},0{1 + i % 9}/25/2{i % 2},06/1{i % 5}/{'62' if i % 4 else '98'},{i % 3 % 2}" for i in range(40)]
    history = read(tmp_path, "id,applied,birth date,hired", *rows)
    assert history.table["group:birth date"].value_counts().to_dict() == {"40 and over": 30, "under 40": 10}


# Files ----------------------------------------------------------------------------------------------------------------


def test_ages_have_finer_bands_beside_the_two_groups(tmp_path: Path) -> None:
    ages = [25, 39, 40, 49, 50, 60, 71, ""]
    rows = [f"{i},{ages[i % 8]},{'Y' if i % 3 else 'N'}" for i in range(48)]
    history = read(tmp_path, "id,Age as of 2024-03-01,hired", *rows)
    (name,) = history.attributes
    pairs = set(zip(history.table[f"group:{name}"], history.table[f"band:{name}"], strict=True))
    old = {("40 and over", band) for band in ("40-49", "50-59", "60 and over")}
    assert pairs == {("under 40", "under 40"), ("unknown", "unknown"), *old}
    assert history.ordered == {f"band:{name}": ("under 40", "40-49", "50-59", "60 and over")}
    own = read(
        tmp_path, "id,Age band,hired", *(f"{i},{('50+', '<30', '30-49')[i % 3]},{'YN'[i % 2]}" for i in range(48))
    )
    assert own.ordered == {"group:Age band": ("<30", "30-49", "50+")}


def test_json_lines_are_never_read_as_text(tmp_path: Path) -> None:
    records = [
        {"id": i, "person": {"gender": "FM"[i % 2]}, "status": "Hired" if i % 3 else "Rejected"} for i in range(9)
    ]
    lines = "\n".join(map(json.dumps, records))
    path = tmp_path / "people.jsonl"
    path.write_text(lines)
    history = load(path, readers=READERS)
    assert len(history.table) == 9 and history.attributes == ("person.gender",)
    with pytest.raises(InputError, match=r"no reader could read this \.jsonl file"):
        load(path)
    other = tmp_path / "people.txt"
    other.write_text(lines)
    with pytest.raises(InputError, match="is JSON, whatever its name says"):
        load(other)
    packed = tmp_path / "people.jsonl.gz"
    packed.write_bytes(gzip.compress(lines.encode()))
    assert len(load(packed, readers=READERS).table) == 9
    path.write_text('{"id": 1}\nnot json\n')
    with pytest.raises(InputError, match=r"people.jsonl, line 2: is not JSON"):
        load(path, readers=READERS)


def test_files_with_nothing_in_common(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("id,hired\n1,yes\n2,no\n")
    two.write_text("name,gender\nA,F\nB,M\n")
    with pytest.raises(InputError, match="neither the same columns nor an id in common"):
        load([one, two])


def test_several_files_on_the_command_line(auditkit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"{i},{'Hired' if i % 3 else 'Rejected'}" for i in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["Candidate ID,Status", *rows]) + "\n")
    (tmp_path / "b.csv").write_text(
        "\n".join(["Candidate ID,Gender", *[f"{i},{'FM'[i % 2]}" for i in range(40)]]) + "\n"
    )
    done = auditkit("check", "a.csv", "b.csv")
    assert done.code == 0, done.err
    assert "joined by 'Candidate ID'" in done.out
    both = [f"{row},{'FM'[i % 2]}" for i, row in enumerate(rows)]
    for k in (1, 2):
        (tmp_path / f"m{k}.csv").write_text(
            "\n".join(["Candidate ID,Status,Gender", *both[k * 20 - 20 : k * 20]]) + "\n"
        )
    done = auditkit("check", "m*.csv")
    assert done.code == 0 and "40 rows read" in done.out, done.err
    whole = "\n".join(["Candidate ID,Status,Gender", *both]) + "\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(whole.encode())))
    done = auditkit("check", "-")
    assert done.code == 0 and "40 rows read" in done.out, done.err


def test_a_sheet_by_name(auditkit: Any, tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for name, sign in (("one", 3), ("two", 4)):
        sheet = book.create_sheet(name)
        sheet.append(["nr", "gender", "hired"])
        for i in range(24):
            sheet.append([i, "FM"[i % 2], "Y" if i % sign == 0 else "N"])
    book.remove(book["Sheet"])
    book.save(tmp_path / "people.xlsx")
    assert auditkit("check", "people.xlsx", "--sheet", "two").out.startswith("favourable: hired, 6 of 24")
    assert auditkit("check", "people.xlsx", "--sheet", "one").out.startswith("favourable: hired, 8 of 24")


def test_stacked_characteristics_count_everybody_once(tmp_path: Path) -> None:
    rows = ["Sex,Female,100,40,10", "Sex,Male,120,60,20", "Ethnicity,White,150,70,22", "Ethnicity,Black,70,30,8"]
    history = read(tmp_path, "Characteristic,Group,Applied,Interviewed,Appointed", *rows)
    assert len(history.table) == 220
    assert history.crossings == ()
    by_sex = history.table.groupby("group:Sex")["selected"].sum().to_dict()
    by_race = history.table.groupby("group:Ethnicity")["selected"].sum().to_dict()
    assert (by_sex, by_race) == ({"Female": 10, "Male": 20}, {"Black": 8, "White": 22})


# What the columns say together ----------------------------------------------------------------------------------------


def people(tmp_path: Path, header: str, *columns: Callable[[int], object], **given: str) -> History:
    """240 people with an id, a gender and further columns, each a function of their number."""
    rows = [",".join(map(str, (i, "FM"[i % 2], *(column(i) for column in columns)))) for i in range(240)]
    return read(tmp_path, f"id,gender,{header}", *rows, **given)


def test_a_step_of_unknown_words_is_known_by_who_passed_it(tmp_path: Path) -> None:
    through = people(
        tmp_path,
        "Sift outcome,hired",
        lambda i: "Zug" if i % 3 else "Kex",
        lambda i: "Y" if i % 3 == 1 and i % 2 else "N",
    )
    assert through.steps == ("Sift outcome", "hired") and through.reading is not None
    assert any("'Zug' passed" in text for text in through.reading.assumptions)
    chance = people(
        tmp_path, "Sift outcome,hired", lambda i: "Zug" if i % 3 else "Kex", lambda i: "Y" if i % 5 == 1 else "N"
    )
    assert chance.steps == ("hired",)  # some of those hired have the other word


def test_a_decision_after_the_decision_is_asked_about(tmp_path: Path) -> None:
    with pytest.raises(AmbiguousReading, match="only people with 'Result'") as asked:
        people(tmp_path, "Result,Field 7", lambda i: "Pass" if i % 2 else "Fail", lambda i: "Y" if i % 6 == 1 else "N")
    assert [answer.flags for answer in asked.value.question.answers] == [
        '--map "selected=Field 7"',
        "--map selected=Result=Pass",
    ]
    named = people(tmp_path, "Hired,Field 7", lambda i: "Y" if i % 2 else "N", lambda i: "Y" if i % 6 == 1 else "N")
    assert good(named) == ("Hired", 120, 240)  # nothing comes after a column that is called just so


def test_hired_for_another_job_is_not_hired_for_this_one() -> None:
    words = shipped()
    assert words.meaning("Hired On Other Requisition") == "withdrawn"
    assert words.meaning("Hired other candidate") == "rejected"
    assert words.meaning("Hired") == "selected"


def test_many_second_applications_are_not_applications(tmp_path: Path) -> None:
    rows = [f"{i % 60},R1,{'FM'[i % 2]},2024-0{1 + i // 60}-11,{'Y' if i % 7 == 0 else 'N'}" for i in range(240)]
    with pytest.raises(InputError, match="if each row is an event"):
        read(tmp_path, "candidate_id,req,gender,applied_at,hired", *rows)


def test_hidden_counts_make_the_least_difference(tmp_path: Path) -> None:
    history = read(tmp_path, "Gender,Applicants,Hired", "Female,40,<5", "Male,100,30")
    assert history.reading is not None
    assert history.table.groupby("group:Gender")["selected"].sum().to_dict() == {"Female": 4, "Male": 30}
    assert "Female Hired 0 to 4 (read as 4)" in " ".join(history.reading.assumptions)
    whole = read(tmp_path, "Gender,Applicants,Hired", "Female,40,3", "Male,100,30").reading
    assert whole is not None and not any("hidden" in text for text in whole.assumptions)


def test_numbers_for_groups_are_asked_about_unless_the_header_explains_them(tmp_path: Path) -> None:
    rows = [f"{i},{1 + i % 2},{'Y' if i % 3 else 'N'}" for i in range(60)]
    with pytest.raises(AmbiguousReading, match="nothing in the file says what they mean") as asked:
        read(tmp_path, "id,Sex,Hired", *rows)
    assert [answer.flags for answer in asked.value.question.answers] == ["--map group=Sex"]
    assert set(read(tmp_path, "id,Sex,Hired", *rows, group="Sex").table["group"]) == {"1", "2"}
    assert set(read(tmp_path, "id,Sex (1=male 2=female),Hired", *rows).table["group"]) == {"male", "female"}


def test_postal_codes_are_flagged_as_possible_proxies(tmp_path: Path) -> None:
    def say(header: str) -> str:
        found = people(tmp_path, f"{header},hired", lambda i: i % 5, lambda i: "YN"[i % 3 > 0], segment=header).reading
        return " ".join(found.assumptions) if found is not None else ""

    assert "possible proxies" in say("Zip code")
    assert "possible proxies" not in say("Area")


# Settings of an earlier file ------------------------------------------------------------------------------------------


def test_the_favourable_value_can_be_set(tmp_path: Path) -> None:
    path = table(
        tmp_path, "id,gender,State", *(f"{i},{'FM'[i % 2]},{('Kept', 'Moved', 'Gone')[i % 3]}" for i in range(60))
    )
    assert good(load(path, favourable="Kept")) == ("Kept", 20, 60)
    assert good(load(path, favourable="Kept|Moved")) == ("Kept|Moved", 40, 60)
    with pytest.raises(InputError, match="'Kepd' is not a value of any column"):
        load(path, favourable="Kepd")


def test_columns_with_other_names_are_matched_or_asked_about(tmp_path: Path) -> None:
    def file(*names: str) -> Path:
        rows = [f"{i},R{i % 4},{'FM'[i % 2]},{'Hired' if i % 3 else 'Rejected'},{'YN'[i % 2]}" for i in range(60)]
        return table(tmp_path, ",".join(names), *rows)

    first = load(file("Applicant ID", "Req", "Sex", "Result", "Remote"))
    assert first.reading is not None
    kept: dict[str, Any] = {"mapping": first.mapping.as_dict(), "columns": columns_seen(first.reading)}
    later = load(file("Applicant ID", "Req number", "Birth label", "Outcome 2025", "Remote"), **kept)
    assert later.reading is not None and good(later) == good(first)
    assert "'Sex' is called 'Birth label' in this file" in later.reading.assumptions
    new = load(file("Applicant ID", "Req", "Sex", "Result", "Gender identity"), **kept).reading
    assert new is not None and "'Gender identity' is new in this file" in " ".join(new.assumptions)
    with pytest.raises(AmbiguousReading, match="no longer has this column") as asked:
        load(file("Key", "Req", "Sex", "Result", "Remote"), **kept)
    assert asked.value.question.answers[0].mapping == {"candidate": "Key"}
    with pytest.raises(InputError, match="there is no column 'Applicant ID'"):
        load(file("Key", "Req", "Sex", "Result", "Remote"), {"candidate": "Applicant ID"})
