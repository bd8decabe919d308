"""Rows about no person are left out and said: headings, sums, cards, tasks and test answers; rows about people stay."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from auditkit.data.load import load
from auditkit.data.read_file import read
from auditkit.data.set_aside import set_aside

HEADER = ("Ref", "Type", "Full name", "Gender", "Stage", "Outcome")


def people(n: int = 60) -> list[list[str]]:
    """Applicants, each with every cell, a third of them hired."""
    ends = (("CV review", "Rejected"), ("Interview", "Rejected"), ("Interview", "Hired"))
    return [[f"A{k:03}", "Candidate", f"Person {k}", ("Woman", "Man")[k % 2], *ends[k // 2 % 3]] for k in range(n)]


def left(folder: Path, *more: list[str], own: list[list[str]] | None = None) -> dict[str, int]:
    """What is left out of a list with these rows among the people, and nobody else."""
    rows = people() if own is None else own
    frame = pd.DataFrame([*rows[:20], *more, *rows[20:]], columns=HEADER)
    frame.to_csv(folder / "list.csv", index=False)
    table, _, counts, said = set_aside(read(folder / "list.csv"))
    assert len(table.table) == len(rows) + len(more) - sum(counts.values())
    assert bool(said) == ("not-a-person" in counts)
    return counts


@pytest.mark.parametrize("row", [["Friday, 12 April", *[""] * 5], ["", "", "Second day", "", "", ""]])
def test_a_heading_between_people_is_left_out(tmp_path: Path, row: list[str]) -> None:
    assert left(tmp_path, row) == {"heading-row": 1}


def test_somebody_of_whom_only_the_id_is_known_is_no_heading(tmp_path: Path) -> None:
    assert left(tmp_path, ["A999", *[""] * 5]) == {}


@pytest.mark.parametrize("where", [0, 2])
def test_a_sum_among_the_rows_is_left_out(tmp_path: Path, where: int) -> None:
    rows = [[*row[:4], "x", "x"] for row in people()]
    row = ["", "", "", "", "20", "20"]
    row[where] = "Sum of Friday"
    if where:
        rows = [["", "", *each[2:]] for each in rows]
    assert left(tmp_path, row, own=rows) == {"total-row": 1}


def test_kinds_of_people_without_a_group_are_counted(tmp_path: Path) -> None:
    agency = [[f"A90{k}", "Agency", f"Person {k}", "", "Interview", "Hired"] for k in range(4)]
    assert left(tmp_path, *agency) == {}


@pytest.mark.parametrize(
    "row",
    [
        ["A900", "Candidate", "TEST please ignore", "Man", "", ""],
        ["A900", "Candidate", "Template", "Woman", "CV review", ""],
        ["", "Candidate", "Candidate template", "", "", ""],
        ["A900", "Candidate", "Max Test", "", "Interview", ""],
        ["A900", "Candidate", "READ ME: how this board works", "", "Interview", "Rejected"],
    ],
)
def test_a_row_that_says_that_it_is_about_no_person_is_left_out(tmp_path: Path, row: list[str]) -> None:
    assert left(tmp_path, row) == {"not-a-person": 1}


@pytest.mark.parametrize(
    "row",
    [
        ["A900", "Candidate", "Template Designer, A. Person", "Woman", "Interview", "Hired"],
        ["A900", "Candidate", "Tester", "Woman", "Interview", "Hired"],
        ["A900", "Candidate", "Person 900", "", "Interview", "Hired"],
        ["A900", "Agency", "Person 900", "", "Interview", "Hired"],
    ],
)
def test_somebody_who_lacks_little_is_counted(tmp_path: Path, row: list[str]) -> None:
    assert left(tmp_path, row) == {}


def test_tasks_among_candidates_are_left_out_and_said(tmp_path: Path) -> None:
    tasks = [[f"T{k}", "Task", f"Book a room {k}", "", "", "Done"] for k in range(3)]
    assert left(tmp_path, *tasks) == {"not-a-person": 3}
    reading = load(tmp_path / "list.csv").reading
    assert reading is not None and reading.favourable.of == 60
    said = "3 rows are not counted, as they are not about an applicant: 'Gender', 'Stage' are empty there"
    assert said in reading.assumptions


def test_cards_on_a_list_of_their_own_without_an_end_are_left_out(tmp_path: Path) -> None:
    assert left(tmp_path, ["T1", "Candidate", "Agree on pay", "", "Admin", ""]) == {"not-a-person": 1}


def test_a_row_without_a_name_and_a_group_is_about_nobody(tmp_path: Path) -> None:
    assert left(tmp_path, ["", "Candidate", "", "", "Interview", "Hired"]) == {"not-a-person": 1}


@pytest.mark.parametrize(("column", "left"), [("is_test", 3), ("Test", 0)])
def test_rows_that_are_marked_as_tests_are_left_out(tmp_path: Path, column: str, left: int) -> None:
    """A column that is merely called "Test" may say who passed one."""
    rows = [[f"A{i}", "FM"[i % 2], "Yes" if i % 4 == 0 else "No", "Yes" if i < 3 else "No"] for i in range(100)]
    frame = pd.DataFrame(rows, columns=["Application ID", "Gender", "Hired", column])
    assert len(load(frame).table) == 100 - left


def test_who_never_started_a_test_is_a_person_whatever_the_address(tmp_path: Path) -> None:
    rows = [[f"p.{i}@example.com", "FM"[i % 2], *(("", "", "", "Not started") if i % 9 == 0 else ("3", "4", "5", end))]
            for i, end in enumerate(["Pass", "Fail", "Fail"] * 30)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["E-mail", "Gender", "Start", "Close", "Score", "Decision"])
    frame.to_csv(tmp_path / "tests.csv", index=False)
    assert not set_aside(read(tmp_path / "tests.csv"))[2]
