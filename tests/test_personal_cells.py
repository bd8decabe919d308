"""No message repeats a cell that may say who somebody is."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from auditkit.cli import _defect
from auditkit.data.personal import is_personal, is_shown

SECRETS = ("anna", "Carl", "+49 30 1234567", "078-05-1120")
ROLES = ("--map", "candidate=Email", "--map", "score=Interview Score", "--map", "group=Gender")
EXPORT = """Email,Requisition,Gender,Interviewed,Interview Score,Hired,Phone,Application Date,Comments
anna@example.org,r1,F,yes,7.5,yes,+49 30 1234567,2024-01-02,anna was late
anna@example.org,r1,M,yes,anna@example.org,no,+49 30 1234567,anna@example.org,
Carl Smith,r2,anna@example.org,yes,+49 30 1234567,anna@example.org,078-05-1120,Carl +49 30 1234567,Carl
Carl Smith,r2,M,no,078-05-1120,no,078-05-1120,078-05-1120,Carl
"""


@pytest.mark.parametrize("command", [("check", "--all"), ("check", "--json"), ("check",), ("report",), ("init",)])
def test_no_command_repeats_them(auditkit: Any, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "people.csv").write_text(EXPORT)
    for roles in (
        ROLES,
        ROLES[:2],
        ("--map", "prior=Phone"),
        ("--map", "date=Comments"),
        ("--map", "selected=Hired=yes"),
    ):
        if command == ("init",) and roles is not ROLES:
            continue
        run = auditkit(command[0], "people.csv", *command[1:], *roles)
        assert run.code in (0, 1, 2), run.err
        for secret in SECRETS:
            assert secret not in run.out + run.err, (command, roles)


NAMES = [f"Zarathustra{letter} Quimby" for letter in "abcdefghijklm"]
PERSONAL = {
    "Name": lambda i: NAMES[i % 13],
    "Contact": lambda i: f"quimby{i}@example.org",
    "Applicant": lambda i: NAMES[i % 13],
    "Hiring Manager": lambda i: NAMES[i % 3],
}
PLAIN = {
    "Requisition": lambda i: f"r{i % 5}",
    "Gender": lambda i: "FM"[i % 2],
    "Hired": lambda i: "yes" if i % 3 == 0 else "no",
    "Interviewed": lambda i: "yes" if i % 2 == 0 or i % 3 == 0 else "no",
    "Interview Score": lambda i: str(i % 9),
    "Applied": lambda i: f"2024-01-{1 + i % 28:02d}",
}
ASKED = ("candidate", "inspected", "selected", "score", "prior", "cost", "capacity", "date", "stage")


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_mapped_wherever_a_name_slipped_in(auditkit: Any, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    own = rng.sample(list(PERSONAL), 2)
    columns = {**PLAIN, **{name: PERSONAL[name] for name in own}}
    table = [[make(i) for make in columns.values()] for i in range(40)]
    for _ in range(4):
        table[rng.randrange(40)][rng.randrange(len(columns))] = "quimby77@example.org"
    lines = [",".join(row) for row in [list(columns), *table]]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    for role in rng.sample(ASKED, 3):
        run = auditkit("check", "people.csv", "--all", "--map", f"{role}={rng.choice(own)}")
        assert run.code in (0, 1, 2), run.err
        assert "uimby" not in run.out + run.err, (role, own)


def test_what_is_shown_and_what_is_not(auditkit: Any, tmp_path: Path) -> None:
    scores = "".join(f"c{i},{'FM'[i % 2]},{i},{'yes' if i % 3 else 'no'}\n" for i in range(20))
    (tmp_path / "people.csv").write_text(
        f"id,gender,interview score,hired\n{scores}x,F,anna@example.org,no\ny,M,ten,no\n"
    )
    run = auditkit("check", "people.csv", "--json", "--map", "score=interview score")
    found = {p["row"]: p["value"] for p in json.loads(run.out)["problems"] if p["code"] == "not-a-number"}
    assert found == {22: "", 23: "ten"}
    assert not is_personal("Candidate ID", "c-17", of_candidate=True)
    assert is_personal("Candidate ID", "Smith", of_candidate=True)
    assert is_personal("Candidate ID", "Anna Smith 2", of_candidate=True)
    for column in ("First Name", "candidate_name", "E-mail", "Date of birth", "Notes", "Vorname", "name"):
        assert is_personal(column, "x"), column
    for column in ("Job name", "Requisition", "Hired", "Interview Score", "Stage name", "Final Status"):
        assert not is_personal(column, "Phone Screen"), column


def people(column: str, cell: Any, rows: int = 60, above: bool = True) -> str:
    """An export with a name and an e-mail address in every row, and other cells in one column."""
    columns = {
        "Name": lambda i: NAMES[i % 13],
        "E-mail": lambda i: f"quimby{i}@example.org",
        "Phone": lambda i: f"+49 151 {1000000 + i * 7919}",
        **PLAIN,
    }
    columns = {**columns, column: cell} if column else columns
    table = [list(columns)] * above + [[make(i) for make in columns.values()] for i in range(rows)]
    return "\n".join(",".join(row) for row in table)


SLIPPED = {
    "names instead of decisions": people("Hired", lambda i: NAMES[i % 13]),
    "few names instead of decisions": people("Hired", lambda i: NAMES[i % 4]),
    "one name among decisions": people("Hired", lambda i: NAMES[3] if i == 7 else PLAIN["Hired"](i)),
    "names instead of scores": people("Interview Score", lambda i: NAMES[i % 13]),
    "one name among scores": people("Interview Score", lambda i: NAMES[3] if i == 7 else str(i % 9)),
    "names instead of dates": people("Applied", lambda i: NAMES[i % 13]),
    "one name among dates": people("Applied", lambda i: NAMES[3] if i == 7 else PLAIN["Applied"](i)),
    "no header": people("", None, above=False),
    "names under the header of addresses": people("E-mail", lambda i: f"q{i}@example.org" if i % 9 else NAMES[i % 13]),
    "stages that are names": people("Stage", lambda i: NAMES[i % 6]),
    "one row longer than the header": people("", None).replace("2024-01-12", "2024-01-12,quimby@example.org", 1),
}


@pytest.mark.parametrize("name", SLIPPED)
def test_names_in_columns_of_other_things_are_not_repeated(auditkit: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / "people.csv").write_text(SLIPPED[name])
    given = ("--map", "selected=Hired", "--map", "score=Interview Score", "--map", "date=Applied")
    for roles in ((), given):
        run = auditkit("check", "people.csv", "--all", *roles)
        assert run.code in (0, 1, 2), run.err
        for secret in ("uimby", "arathustra", "+49"):
            assert secret not in run.out + run.err, (name, roles)


def test_words_of_hiring_are_no_names() -> None:
    for word in ("Phone Screen", "Talent Pool", "Offer Accepted", "Hiring Manager Review", "New York", "On Hold", "F"):
        assert is_shown("Status", word), word
    for word in ("Ingrid Haverkamp", "Tomasz O'Rourke", "Haverkamp, Ingrid", "Ludwig van Haverkamp", "J. Haverkamp"):
        assert not is_shown("Status", word), word


def test_a_defect_repeats_no_cell(capsys: pytest.CaptureFixture[str]) -> None:
    for cell in ("'anna@example.org'", '"Anna O\'Brien"', "anna@example.org"):
        assert _defect(ValueError(f"could not convert string to float: {cell}"), debug=False) == 3
    said = capsys.readouterr().err
    assert "nna" not in said and "could not convert string to float: '***'" in said
