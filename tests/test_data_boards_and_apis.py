"""Boards of cards, answers of an API and further languages are read as tables of applicants."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from auditkit.data.load import load
from auditkit.data.read_file import read
from auditkit.plugins.json_records import JsonRecords

STEPS = ["Applied", "Phone screen", "Interview", "Hired"]


def answer(number: int, fields: object, applications: list[object]) -> dict[str, object]:
    return {"id": 900 + number, "name": f"P. Person {number}", "fields": fields, "placements": applications}


def application(number: int, step: int) -> dict[str, object]:
    return {"id": number, "stage": {"name": STEPS[step], "position": step}, "disqualified": step < 3}


def table(folder: Path, *records: object) -> pd.DataFrame:
    path = folder / "api.json"
    path.write_text(json.dumps({"candidates": records}), encoding="utf-8")
    return read(path, readers=[JsonRecords]).table


def test_custom_fields_are_columns_and_each_application_is_a_row(tmp_path: Path) -> None:
    asked = [{"name": "Gender", "value": "Female"}, {"name": "name", "value": "of a field"}]
    found = table(tmp_path, answer(1, asked, [application(1, 2), application(2, 0)]), answer(2, [], []))
    assert found["id"].tolist() == ["901", "901", "902"]
    assert found["placements.stage.name"].tolist() == ["Interview", "Applied", ""]
    assert found["Gender"].tolist() == ["Female", "Female", ""]
    assert found["name"].tolist() == ["P. Person 1", "P. Person 1", "P. Person 2"]
    assert found["fields.name"].tolist() == ["of a field", "of a field", ""]


def test_a_list_of_named_stages_stays_a_path(tmp_path: Path) -> None:
    found = table(tmp_path, {"id": 1, "stages": [{"name": "Applied"}, {"name": "Interview"}]}, {"id": 2, "stages": []})
    assert found["stages"].tolist() == ["Applied > Interview", ""]


def test_the_number_of_a_step_is_no_requisition(tmp_path: Path) -> None:
    sexes = [[{"name": "Gender", "value": sex}] for sex in ("Female", "Male")]
    records = [answer(k, sexes[k % 2], [application(k, k // 2 % 4)]) for k in range(80)]
    (tmp_path / "api.json").write_text(json.dumps({"candidates": records}), encoding="utf-8")
    history = load(tmp_path / "api.json", readers=[JsonRecords])
    assert history.mapping.columns("search") == ()
    assert [int(history.reached(step).sum()) for step in history.steps] == [60, 40, 20]


def cards(**more: list[str]) -> pd.DataFrame:
    """A board whose list is the step, with a label of those turned down."""
    lists = ["1 New CVs", "2 Phone call", "3 On-site", "4 Hired"]
    rows = range(80)
    own = {
        "Card Name": [f"P. Person {k}" for k in rows],
        "Labels": ["" if k % 4 == 3 else "Rejected (red)" if k % 5 else "Referral (blue)" for k in rows],
        "List Name": [lists[k % 4] for k in rows],
        "Gender": [("Woman", "Man")[k // 4 % 2] for k in rows],
    }
    return pd.DataFrame({**own, **more})


def test_the_list_of_a_card_is_the_step(tmp_path: Path) -> None:
    history = load(cards())
    assert history.mapping.columns("stages") == ("List Name",)
    assert [int(history.reached(step).sum()) for step in history.steps] == [60, 40, 20]


def test_danish_words_are_known() -> None:
    rows = range(120)
    ends = [("Ansøgning modtaget", "Afslag"), ("1. samtale", "Afslag"), ("1. samtale", "Trukket tilbage")]
    ends += [("Tilbud", "Afslag"), ("Ansættelse", "Ansat")]
    frame = pd.DataFrame(
        {
            "Kandidat-ID": [f"K{k}" for k in rows],
            "Køn": [("Kvinde", "Mand", "Ønsker ikke at oplyse")[k // 5 % 3] for k in rows],
            "Sidste trin": [ends[k % 5][0] for k in rows],
            "Udfald": [ends[k % 5][1] for k in rows],
        }
    )
    history = load(frame)
    assert history.steps == ("1. samtale", "Tilbud", "Ansættelse")
    assert history.table["group"].value_counts().to_dict() == {"Kvinde": 40, "Mand": 40, "unknown": 40}
    assert history.table["status"].value_counts().to_dict() == {"rejected": 72, "withdrawn": 24, "selected": 24}


@pytest.mark.parametrize("letters", ["mw", "MF", "hf", "VM"])
def test_letters_below_a_header_are_groups(tmp_path: Path, letters: str) -> None:
    one, other = letters
    rows = [["", "Bewerbungen", "", "Einstellungen", ""], ["Abteilung", one, other, one, other]]
    rows += [[name, "100", "80", "20", "9"] for name in ("Vertrieb", "IT", "Recht")]
    path = tmp_path / "counts.csv"
    path.write_text("\n".join(";".join(row) for row in rows))
    history = load(path)
    assert history.table["group"].value_counts().to_dict() == {one: 300, other: 240}
    assert int(history.table["selected"].sum()) == 87


def test_a_numbered_decision_is_the_decision_of_the_firm() -> None:
    rows = range(120)
    own = {"Ref": [f"A{k}" for k in rows], "Sex": [("Female", "Male")[k % 2] for k in rows]}
    own |= {"Decision 1": ["Admit" if k < 60 else "Deny" for k in rows], "Enrolled": ["Yes"] * 20 + [""] * 100}
    assert int(load(pd.DataFrame(own)).table["selected"].sum()) == 60
