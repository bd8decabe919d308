"""Which column is what: from names and values, from the user, and never by a silent guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditkit.data.columns import by_name, describe, suggestions
from auditkit.data.firm_history import render_mapping
from auditkit.data.hypothesis import look
from auditkit.data.load import load
from auditkit.data.raw_table import RawTable
from auditkit.data.read_file import read
from auditkit.data.reading import AmbiguousReading
from auditkit.data.roles import Given, Mapping
from auditkit.errors import InputError
from support.data_files import HEADER, ROWS, save, table, text


def infer(raw: RawTable, given: Given | None = None) -> Mapping:
    return look(raw, given).mapping


def roles(path: Path, **given: str) -> dict[str, list[str]]:
    return infer(read(path), given).as_dict()


def refusal(path: Path, **given: str) -> str:
    with pytest.raises(InputError) as error:
        infer(read(path), given)
    return str(error.value)


def test_a_plain_export(tmp_path: Path) -> None:
    history = load(save(tmp_path, text(HEADER, ROWS)))
    assert [(role, column) for role, column, _ in render_mapping(history)] == [
        ("candidate", "Candidate ID"),
        ("search", "Req ID"),
        ("group", "Gender"),
        ("inspected", "Interviewed"),
        ("selected", "Final status"),
        ("score", "Interview score"),
        ("prior", "CV score"),
    ]
    assert all(reason for _, _, reason in render_mapping(history))
    assert history.mapping.unused == ()


# Names of COMPLIANCE.md, in the spellings that systems give them.
@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("CandidateID", "candidate"),
        ("applicant_id", "candidate"),
        ("Application Id", "candidate"),
        ("OPPORTUNITY-ID", "candidate"),
        ("Job Req ID", "search"),
        ("requisition_number", "search"),
        ("PostingId", "search"),
        ("Position", "search"),
        ("Vacancy", "search"),
        ("EEO Race", "group"),
        ("Ethnic origin", "group"),
        ("Candidate Gender", "group"),
        ("Interview taken on", "inspected"),
        ("live interview", "inspected"),
        ("Phone screen", "inspected"),
        ("Hired?", "selected"),
        ("final_status", "selected"),
        ("received_callback", "selected"),
        ("Offer", "selected"),
        ("Match score", "score"),
        ("Interview Score (1-5)", "score"),
        ("Marks", "score"),
        ("Rank", "score"),
        ("Résumé score", "prior"),
        ("screening score", "prior"),
        ("Years of experience", "prior"),
        ("GPA", "prior"),
        ("Cost per interview", "cost"),
        ("Headcount", "capacity"),
        ("Number of openings", "capacity"),
        ("Performance rating", "outcome"),
        ("first-year rating", "outcome"),
        ("Applied at", "date"),
        ("submittedDate", "date"),
        ("Travel expense", "expense"),
    ],
)
def test_names(name: str, role: str) -> None:
    assert min(by_name(name), key=lambda match: match.closeness).role == role


@pytest.mark.parametrize(
    "name", ["Sussex", "Hiring manager gender", "job_req_education", "Notes", "Candidate name", "max score", "hours"]
)
def test_names_that_only_look_like_it(name: str) -> None:
    assert not [match for match in by_name(name) if match.role in ("group", "prior", "candidate", "score", "cost")]


def test_values_decide_between_roles_of_one_name(tmp_path: Path) -> None:
    words = table(tmp_path, "gender,outcome", "F,hired", "M,not_hired")
    assert roles(words)["selected"] == ["outcome"]
    numbers = table(tmp_path, "gender,hired,outcome", "F,1,3.5", "M,0,4.5", "M,1,2")
    assert roles(numbers)["outcome"] == ["outcome"]
    words = table(tmp_path, "gender,hired,positions", "F,1,Captain", "M,0,Clerk")
    assert "capacity" not in roles(words)


def test_a_name_alone_is_not_enough(tmp_path: Path) -> None:
    path = table(
        tmp_path, "gender,hired,score,cost,openings,applied at", "F,1,good,cheap,many,soon", "M,0,bad,dear,few,later"
    )
    assert set(roles(path)) == {"group", "selected"}
    said = [notice.fix for notice in infer(read(path)).notices if notice.code == "unsuited-column"]
    assert len(said) == 4
    assert "--map score=score" in said[0]


def test_earlier_names_go_first(tmp_path: Path) -> None:
    path = table(tmp_path, "candidate id,application id,gender,hired,offer", "1,a,F,1,1", "2,b,M,0,1")
    assert roles(path)["candidate"] == ["candidate id"]
    assert roles(path)["selected"] == ["hired"]


def test_the_user_always_wins(tmp_path: Path) -> None:
    path = save(tmp_path, text(HEADER, ROWS))
    found = roles(path, score="cv-score", prior="none", group="req id")
    assert found["score"] == ["CV score"]
    assert "prior" not in found
    assert found["group"] == ["Req ID"]
    assert infer(read(path), {"score": "CV score"}).choice("score").given  # type: ignore[union-attr]


def test_crossed_groups(tmp_path: Path) -> None:
    path = table(tmp_path, "sex,race,age group,hired", "F,Black,<30,1", "M,White,>30,0", "F,,<30,0")
    history = load(path)
    assert history.mapping.columns("group") == ("sex", "race", "age group")
    assert history.table["group"].tolist() == ["F+Black", "M+White", "unknown"]
    assert history.table["group:sex"].tolist() == ["F", "M", "F"]
    assert history.columns("group") == history.attributes == ("sex", "race", "age group")
    assert history.crossings == (("sex", "race"),)
    assert history.characteristics == {"sex": "sex", "race": "race", "age group": "age"}
    assert "group-crossed" in [notice.code for notice in history.notices]
    assert load(path, {"group": "race"}).groups == ("Black", "White")
    assert load(path, {"group": "race+age group"}).groups == ("Black+<30", "White+>30")
    assert load(path, {"group": ["sex", "age group"]}).groups == ("F+<30", "M+>30")
    assert load(path, {"group": ["sex", "age group"]}).crossings == ()
    asked = load(path, {"group": ["sex,race", "sex+age group"]})
    assert asked.attributes == ("sex", "race", "age group")
    assert asked.crossings == (("sex", "race"), ("sex", "age group"))
    assert load(path, asked.mapping.as_dict()).crossings == asked.crossings


def test_a_column_with_a_plus_in_its_name(tmp_path: Path) -> None:
    path = table(tmp_path, "sex+race,hired", "F,1", "M,0")
    assert load(path, {"group": "sex+race"}).groups == ("F", "M")


def test_a_mapped_column_that_does_not_exist(tmp_path: Path) -> None:
    message = refusal(save(tmp_path, text(HEADER, ROWS)), score="interview scor", group="race")
    assert "there is no column 'interview scor' (closest: 'Interview score'" in message
    assert "there is no column 'race'" in message
    message = refusal(save(tmp_path, text(HEADER, ROWS)), scroe="CV score")
    assert "there is no role 'scroe' (did you mean 'score'?)" in message


def test_one_column_only(tmp_path: Path) -> None:
    assert "takes one column, not 2" in refusal(save(tmp_path, text(HEADER, ROWS)), score="CV score+Interview score")


def test_required_roles_are_asked_for_together(tmp_path: Path) -> None:
    message = refusal(table(tmp_path, "id,team,flag", "1,A,yes", "2,B,no", "3,A,no"))
    assert message.splitlines()[0].startswith("group: no column says which group")
    assert "--map group=team" in message.splitlines()[0]
    assert message.splitlines()[1].startswith("selected: no column says who was selected")
    assert "--map selected=flag" in message.splitlines()[1]


def test_ambiguous_required_roles(tmp_path: Path) -> None:
    rows = ["F,yes,Hired", "M,no,Rejected", "F,yes,Rejected", "M,no,Hired", "F,yes,Rejected", "M,no,Hired"]
    with pytest.raises(AmbiguousReading, match="several columns could say who was selected: 'decision', 'status'") as e:
        load(table(tmp_path, "sex,decision,status", *rows))
    second, first = e.value.question.answers
    assert (first.flags, first.shown) == ("--map selected=status=Hired", "6 -> Hired 3")
    assert (second.flags, second.shown) == ("--map selected=decision=yes", "6 -> decision 3")


def test_columns_that_say_the_same_are_one(tmp_path: Path) -> None:
    path = table(
        tmp_path, "sex,gender,decision,status", "F,Female,yes,Hired", "M,Male,no,Rejected", "F,Female,no,Withdrew"
    )
    history = load(path)
    assert history.attributes == ("sex",)
    assert history.mapping.column("selected") == "status"
    assert history.table["status"].tolist() == ["selected", "rejected", "withdrawn"]


def test_a_status_whose_words_are_not_known(tmp_path: Path) -> None:
    path = table(tmp_path, "gender,final status", "F,Alpha", "M,Beta", "F,Gamma")
    message = refusal(path)
    assert "'final status' is named like it" in message
    assert '--map "selected=final status=VALUE"' in message
    history = load(path, {"selected": "final status=alpha"})
    assert history.table["selected"].tolist() == [True, False, False]


def test_a_pass_mark(tmp_path: Path) -> None:
    path = table(tmp_path, "race,points", "B,69.9", "W,70", "W,", "B,80,")
    history = load(path, {"selected": "points>=70"})
    assert history.table["status"].tolist() == ["rejected", "selected", "pending", "selected"]
    assert ("selected", "points >= 70", "as you said") in render_mapping(history)
    again = load(path, history.mapping.as_dict())
    assert again.table["status"].tolist() == history.table["status"].tolist()
    with pytest.raises(InputError, match="'many' is not a number"):
        load(path, {"selected": "points>=many"})


def test_ambiguous_optional_roles_are_left_out_and_said(tmp_path: Path) -> None:
    mapping = infer(read(table(tmp_path, "gender,hired,int1,int2", "F,1,4,3", "M,0,2,5", "M,0,,")))
    assert mapping.columns("score") == ()
    [notice] = mapping.notices
    assert notice.code == "ambiguous-role"
    assert "'int1', 'int2'" in notice.text
    assert "--map score=int1" in notice.fix


def test_a_score_that_everybody_has_was_known_before(tmp_path: Path) -> None:
    mapping = infer(read(table(tmp_path, "gender,hired,gpa,int1,int2", "F,1,3,4,3", "M,0,2,2,5", "M,0,4,3,4")))
    assert mapping.columns("score") == ()
    assert mapping.columns("prior") == ("gpa", "int1", "int2")
    assert "score-known-before" in [notice.code for notice in mapping.notices]
    history = load(table(tmp_path, "gender,hired,score", "F,1,3.5", "M,0,2.5"))
    assert history.tool_scores == ("prior:score",)


def test_an_audit_of_interviews(tmp_path: Path) -> None:
    history = load(table(tmp_path, "gender,interviewed", "F,yes", "M,no", "F,no"))
    assert history.decision == "inspected"
    assert not history.has("selected")
    assert history.table["inspected"].tolist() == [True, False, False]
    assert history.decided.all()
    assert history.counts.outcomes == {"inspected": 1, "not inspected": 2}
    assert "no-selected" in [notice.code for notice in history.notices]


def test_a_department_serves_as_search_and_is_said(tmp_path: Path) -> None:
    history = load(table(tmp_path, "gender,hired,dept", "F,1,A", "M,0,B"))
    assert history.table["search"].tolist() == ["A", "B"]
    assert "wide-search" in [notice.code for notice in history.notices]
    assert set(load(table(tmp_path, "gender,hired,dept", "F,1,A"), {"search": "none"}).table["search"]) == {"all"}


def test_a_mapping_can_be_given_back(tmp_path: Path) -> None:
    path = save(tmp_path, text(HEADER, ROWS))
    history = load(path)
    again = load(path, history.mapping.as_dict())
    assert again.table.equals(history.table)
    assert all(choice.given for choice in again.mapping.choices)


def test_columns_are_described_and_roles_suggested(tmp_path: Path) -> None:
    found = {
        name: (column.content, suggestions(column))
        for name, cells in read(save(tmp_path, text(HEADER, ROWS))).table.items()
        for column in [describe(str(name), cells)]
    }
    assert found["Gender"] == ("category", ("group",))
    assert found["Interviewed"][0] == "yes/no"
    assert found["Interview score"] == ("number", ("score",))
    assert found["Final status"] == ("status", ("selected",))
    assert found["CV score"] == ("number", ("prior", "score"))


def test_a_mapping_is_frozen() -> None:
    with pytest.raises(AttributeError):
        Mapping((), ()).unused = ("x",)  # type: ignore[misc]


def test_a_status_of_another_name_says_who_withdrew(tmp_path: Path) -> None:
    rows = ("F,2024-03-05,Hired", "M,,Rejected", "F,,Candidate Withdrew", "M,,In Process", "M,2024-03-06,Hired")
    history = load(table(tmp_path, "gender,hire date,workflow state", *rows))
    assert history.mapping.column("selected") == "workflow state"
    assert history.table["status"].tolist() == ["selected", "rejected", "withdrawn", "pending", "selected"]


def test_an_inspection_is_never_invented(tmp_path: Path) -> None:
    everybody = load(table(tmp_path, "gender,interviewed,hired", "F,yes,1", "M,yes,0"))
    assert everybody.steps == ("hired",)
    same = load(table(tmp_path, "gender,interview date,hired", "F,2024-03-05,1", "M,,0"))
    assert same.steps == ("hired",)
    assert "no-inspection" in [notice.code for notice in same.notices]
