"""hiring-messy.csv: the rows of hiring.csv as an office program and several hands leave them.

`MESS` says what is wrong with it and how often; the README prints it and the test counts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from auditkit.sample_data.generator.csv_cells import Cells, write_csv
from auditkit.sample_data.generator.draws import Draws
from auditkit.sample_data.generator.firm import SEED, points

ENCODING, SEPARATOR, NEWLINE = "cp1252", ";", "\r\n"
TITLE = "Bewerbungen 2023 – Musterwerk Österfeld AG – Stand 15.01.2025"
RENAMED = {"Relocation Expense": "Relocation Expense (€)"}


@dataclass(frozen=True)
class Mess:
    count: int
    what: str
    reported: dict[str, int]
    """What `auditkit check` counts of it, by code; nothing where it can be read without loss."""


MESS = {
    "title row": Mess(1, "a title row above the header", {}),
    "blank rows": Mess(2, "blank rows", {}),
    "total row": Mess(1, "a row of totals at the end", {"total-row": 1}),
    "repeated rows": Mess(4, "candidates whose row occurs twice, cell by cell", {"repeated-row": 4}),
    "prefer not to say": Mess(23, "groups written as `prefer not to say`", {"unknown-group": 23}),
    "group NA": Mess(13, "groups written as `NA`", {"unknown-group": 13}),
    "group dash": Mess(9, "groups written as `-`", {"unknown-group": 9}),
    "lower case": Mess(6, "`female` for `Female`", {"group-spelling": 1}),
    "trailing spaces": Mess(40, "requisitions and genders with spaces behind them", {}),
    "CV score NA": Mess(6, "CV scores written as `NA`", {}),
    "CV score dash": Mess(4, "CV scores written as `-`", {}),
    "score lost": Mess(4, "interviewed (not hired), but the score is `NA`", {"inspected-without-score": 4}),
    "score without interview": Mess(3, "an interview score, but `Interviewed` is `N`", {"score-without-inspection": 3}),
    "hired without interview": Mess(
        2,
        "hired, but `Interviewed` is `N` and there is no score",
        {"selected-not-inspected": 2, "inspected-without-score": 2},
    ),
    "openings too low": Mess(
        1, "a requisition with one opening fewer than it hired", {"more-selected-than-capacity": 1}
    ),
}


def n(name: str) -> int:
    return MESS[name].count


def messy(clean: list[Cells]) -> bytes:
    """The whole file."""
    draws = Draws(SEED, 3)
    rows = [dict(cells) for cells in clean]
    _openings(draws, rows)
    _unknown_groups(draws, rows)
    _rows_at_odds(draws, rows)
    for cells in rows:
        _dress(cells)
    _spaces(draws, rows)
    header = [RENAMED.get(name, name) for name in rows[0]]
    records = [list(cells.values()) for cells in rows]
    # the later copies first, so that the places of the others do not move
    again = draws.sample(range(len(rows)), n("repeated rows"))
    for i in sorted(again, reverse=True):
        records.insert(min(len(records), i + draws.whole(1, 40)), list(records[i]))
    blank = [""] * len(header)
    for i in sorted(draws.sample(range(1, len(records)), n("blank rows")), reverse=True):
        records.insert(i, blank)
    title, total = [[TITLE, *blank[1:]]] * n("title row"), [["Total", *blank[1:]]] * n("total row")
    return write_csv([*title, header, *records, *total], separator=SEPARATOR, newline=NEWLINE).encode(ENCODING)


def _openings(draws: Draws, rows: list[Cells]) -> None:
    hired: dict[str, int] = {}
    for cells in rows:
        hired[cells["Requisition ID"]] = hired.get(cells["Requisition ID"], 0) + (cells["Hired"] == "Yes")
    openings = {cells["Requisition ID"]: int(cells["Openings"]) for cells in rows}
    full = [name for name in sorted(openings) if hired[name] == openings[name] >= 2]
    for name in draws.sample(full, n("openings too low")):
        for cells in rows:
            if cells["Requisition ID"] == name:
                cells["Openings"] = str(openings[name] - 1)


def _unknown_groups(draws: Draws, rows: list[Cells]) -> None:
    empty = [(cells, name) for cells in rows for name in ("Gender", "Ethnicity") if not cells[name]]
    words = ["prefer not to say"] * n("prefer not to say") + ["NA"] * n("group NA") + ["-"] * n("group dash")
    assert len(words) == len(empty), "MESS must name as many unknown groups as hiring.csv has"
    for (cells, name), word in zip(empty, draws.sample(words, len(words))):
        cells[name] = word


def _rows_at_odds(draws: Draws, rows: list[Cells]) -> None:
    """Each row has at most one of these."""
    rejected = [c for c in rows if c["Interviewed"] == "Yes" and c["Hired"] == "No"]
    for cells in draws.sample(rejected, n("score lost")):
        cells["Interview Score"] = "NA"
    uninvited = [c for c in rows if c["Interviewed"] == "No"]
    for cells in draws.sample(uninvited, n("score without interview")):
        cells["Interview Score"] = f"{points(draws.normal(50, 9)):.1f}"
    missing = ["NA"] * n("CV score NA") + ["-"] * n("CV score dash")
    plain = [c for c in uninvited if not c["Interview Score"]]
    for cells, word in zip(draws.sample(plain, len(missing)), missing):
        cells["CV Score"] = word
    hired = [c for c in rows if c["Hired"] == "Yes"]
    for cells in draws.sample(hired, n("hired without interview")):
        cells["Interviewed"], cells["Interview Score"] = "No", ""
    women = [c for c in rows if c["Gender"] == "Female"]
    for cells in draws.sample(women, n("lower case")):
        cells["Gender"] = "female"


def _dress(cells: Cells) -> None:
    """Ids with thousands points, decimal commas, days first, Y/N and TRUE/FALSE."""
    cells["Candidate ID"] = _thousands(cells["Candidate ID"])
    cells["Application Date"] = date.fromisoformat(cells["Application Date"]).strftime("%d.%m.%Y")
    for name in ("CV Score", "Years of Experience", "Interview Score", "First-year Rating"):
        cells[name] = cells[name].replace(".", ",")
    cells["Interview Cost"] = cells["Interview Cost"].replace(".", ",") + "0"
    cells["Relocation Expense"] = _thousands(cells["Relocation Expense"]) + ",00"
    cells["Interviewed"] = {"Yes": "Y", "No": "N"}[cells["Interviewed"]]
    cells["Hired"] = {"Yes": "TRUE", "No": "FALSE"}[cells["Hired"]]


def _thousands(whole: str) -> str:
    return f"{int(whole):,}".replace(",", ".")


def _spaces(draws: Draws, rows: list[Cells]) -> None:
    known = [c for c in rows if c["Gender"] in ("Female", "Male")]
    for i, cells in enumerate(draws.sample(known, n("trailing spaces"))):
        name = "Gender" if i % 2 else "Requisition ID"
        cells[name] += "  " if i % 3 == 0 else " "
