"""The workbook: live formulas that agree with the report, text that stays text, sheets that Excel accepts."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import auditkit
from auditkit.config import Config
from auditkit.plugins.workbook import ELSEWHERE, OURS, PLAIN, sheet_name, workbook_of
from auditkit.report.frames import TABLES
from auditkit.report.load_report import load
from support import report_example
from support.audit_helpers import rows, save

REPORT = load(report_example.document())  # its numbers have six digits
LIBREOFFICE = shutil.which("soffice") or shutil.which("libreoffice")


def opened(content: bytes, values: bool = False) -> Any:
    return openpyxl.load_workbook(io.BytesIO(content), data_only=values)


@pytest.fixture(scope="module")
def content() -> bytes:
    return workbook_of(REPORT)


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The workbook of an audit of a small export, with all digits."""
    people = save(tmp_path_factory.mktemp("data") / "people.csv", rows(searches=8, each=10))
    return workbook_of(
        auditkit.audit(people, config=Config().over(report__replicates=0, report__alternatives=False)).report
    )


def computed(book: Any, sheet: str, place: str) -> float:
    """The value of a cell by the arithmetic of its formula: our own reading of it, without any stored value."""
    cell = book[sheet][place].value
    if not (isinstance(cell, str) and cell.startswith("=")):
        return float(cell or 0)
    if found := re.fullmatch(r"='(.+)'!([A-Z]+\d+)", cell):
        return computed(book, found[1].replace("''", "'"), found[2])
    text = re.sub(r"^IFERROR\((.*),\"\"\)$", r"\1", cell[1:]).replace("$", "")
    text = re.sub(
        r"([A-Z]+)(\d+):\1(\d+)", lambda m: ",".join(f"{m[1]}{at}" for at in range(int(m[2]), int(m[3]) + 1)), text
    )
    names = {name: computed(book, sheet, name) for name in re.findall(r"\b[A-Z]{1,2}\d+\b", text)}
    known = {"SQRT": math.sqrt, "ASIN": math.asin, "MAX": max, "SUM": lambda *cells: sum(cells)}
    return float(eval(text.replace("^", "**"), {**known, "__builtins__": {}}, names))


def test_every_formula_has_the_value_that_is_stored_with_it(exact: bytes) -> None:
    formulas, values = opened(exact), opened(exact, values=True)
    checked: dict[str, int] = {}
    for sheet in formulas:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    stored = values[sheet.title][cell.coordinate].value
                    ours = computed(formulas, sheet.title, cell.coordinate)
                    assert stored == pytest.approx(ours, rel=1e-9, abs=1e-9), (sheet.title, cell.coordinate, cell.value)
                    checked[sheet.title] = checked.get(sheet.title, 0) + 1
    assert {"Gender", "Matrix", "Comparisons", "Cut scores", "Policies"} <= checked.keys()


def test_a_changed_count_changes_what_follows_from_it(content: bytes) -> None:
    book = opened(content)
    table = next(table for table in REPORT.tables if not table.crossing)
    sheet = book[table.attribute]
    at = next(r for r in range(4, 30) if sheet.cell(r, 3).value != table.reference and sheet.cell(r, 9).value)
    n, m, y = (sheet.cell(at, column).value for column in (4, 7, 8))
    sheet.cell(at, 5).value = 1
    assert computed(book, table.attribute, f"F{at}") == pytest.approx(1 / n)
    assert computed(book, table.attribute, f"I{at}") == pytest.approx((1 / n) / (y / m))
    assert computed(book, table.attribute, f"L{at}") == pytest.approx(n * (1 + y) / (n + m) - 1)
    total = n + m
    spread = math.sqrt(n * m * (1 + y) * (total - 1 - y) / (total**2 * (total - 1)))
    assert computed(book, table.attribute, f"M{at}") == pytest.approx((1 - n * (1 + y) / total) / spread)


def test_numbers_are_those_of_the_report(content: bytes) -> None:
    values = opened(content, values=True)
    for table in REPORT.tables:
        shown = {
            (row[0].value, row[1].value, row[2].value): row for row in values[table.attribute].iter_rows(min_row=4)
        }
        kind = "all applicants" if table.kind == "cumulative" else "those who reached the previous step"
        for group in table.groups:
            row = shown[table.step, kind, group.group]
            assert (row[3].value, row[4].value) == (group.applicants, group.selected)
            if group.group != table.reference and group.impact_ratio is not None:
                assert row[8].value == pytest.approx(group.impact_ratio)
    assert [row[1].value for row in values["Findings"].iter_rows(min_row=4)] == [f.text for f in REPORT.findings]


def test_every_sheet_can_be_filtered_printed_and_reached(content: bytes) -> None:
    book = opened(content)
    contents = [book["Contents"].cell(r, 1).value for r in range(7, 7 + len(book.sheetnames) - 1)]
    assert contents == book.sheetnames[1:]
    for name in book.sheetnames[1:]:
        sheet = book[name]
        assert sheet.auto_filter.ref and sheet.freeze_panes == "B4", name
        assert all(dimension.width >= 9 for dimension in sheet.column_dimensions.values())
        assert sheet.print_title_rows == "$3:$3"
    attribute = next(table.attribute for table in REPORT.tables)
    assert len(book[attribute]._charts) >= 1


FORMULAS = ["=1+1", "+1", "-1+2", "@SUM(A1)", '=HYPERLINK("http://evil")', "=cmd|' /C calc'!A0", "\t=1", "{=1}"]


@pytest.mark.parametrize("text", FORMULAS)
def test_text_that_looks_like_a_formula_stays_text(text: str) -> None:
    document = report_example.document()
    for table in document["disparity"]["tables"]:
        for row in table["groups"]:
            if row["group"] != table["reference"]:
                row["group"] = text
    document["findings"][0]["text"] = text
    document["mapping"][0]["column"] = text
    book = opened(workbook_of(load(document)))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value == text]
    assert len(cells) >= 3
    assert {cell.data_type for cell in cells} == {"s"}


NAMES = ["Hispanic/Latino", "a" * 40, "[x]:*?", "history", "'quoted'", "Matrix", "findings", "", "é" * 31]


@pytest.mark.parametrize("name", NAMES)
def test_attributes_of_any_name_get_a_sheet_and_references_that_hold(name: str) -> None:
    document = report_example.document()
    for table in document["disparity"]["tables"]:
        table["attribute"] = name if not table["crossing"] else name + "+other"
    content = workbook_of(load(document))
    formulas, values = opened(content), opened(content, values=True)
    assert len({sheet.lower() for sheet in formulas.sheetnames}) == len(formulas.sheetnames)
    assert all(0 < len(sheet) <= 31 and not re.search(r"[\[\]:*?/\\]", sheet) for sheet in formulas.sheetnames)
    references = [cell for row in formulas["Matrix"].iter_rows(min_row=4) for cell in row if cell.data_type == "f"]
    assert references
    for cell in references:
        assert values["Matrix"][cell.coordinate].value == pytest.approx(
            computed(formulas, "Matrix", cell.coordinate), rel=2e-6
        )


def test_names_of_our_sheets_are_reserved(content: bytes) -> None:
    attributes = {sheet_name(table.attribute) for table in REPORT.tables}
    assert {name.lower() for name in opened(content).sheetnames if name not in attributes} <= set(OURS)


def test_every_table_of_the_report_is_in_the_workbook(content: bytes) -> None:
    assert set(TABLES) == set(PLAIN) | ELSEWHERE
    assert not set(PLAIN) & ELSEWHERE
    book, seen = opened(content, values=True), 0
    for table, (name, _) in PLAIN.items():
        wanted = TABLES[table].rows(REPORT)
        assert (name in book.sheetnames) == bool(wanted)
        if wanted:
            seen += 1
            written = [[cell.value for cell in row] for row in book[name].iter_rows(min_row=4)]
            assert len(written) == len(wanted)
            numbers = [x for row in wanted for x in row.values() if type(x) in (int, float)]
            assert [x for row in written for x in row if type(x) in (int, float)] == pytest.approx(numbers)
    assert seen >= 5


def test_the_same_report_gives_the_same_bytes_and_a_whole_zip(content: bytes) -> None:
    assert workbook_of(REPORT) == content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert not [name for name in archive.namelist() if "externalLink" in name or name.endswith(".bin")]


def test_a_report_without_a_model_and_without_groups_is_a_workbook_too() -> None:
    empty = dict.fromkeys(("firm", "unconstrained", "constrained", "disparity", "segments", "frontier", "fit"))
    book = opened(
        workbook_of(load(report_example.document() | empty | {"sensitivity": None, "revealed": None, "scores": None}))
    )
    assert book.sheetnames == ["Contents", "Findings", "Reading", "Sources"]


@pytest.mark.skipif(LIBREOFFICE is None, reason="LibreOffice is not installed")
def test_libreoffice_computes_the_same_values(exact: bytes, tmp_path: Path) -> None:
    """Every formula computed by another program, which is given none of the stored values."""
    opened(exact).save(tmp_path / "book.xlsx")
    command = [LIBREOFFICE, "--headless", f"-env:UserInstallation=file://{tmp_path}/profile", "--convert-to"]
    every = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1"
    done = subprocess.run(
        [*command, every, "--outdir", str(tmp_path), str(tmp_path / "book.xlsx")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    values = opened(exact, values=True)
    for name in values.sheetnames:
        with (tmp_path / f"book-{name}.csv").open(encoding="utf-8", newline="") as file:
            shown = list(csv.reader(file))
        for row in values[name].iter_rows():
            for cell in row:
                if isinstance(cell.value, float):
                    text = shown[cell.row - 1][cell.column - 1].replace(",", "")
                    number = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
                    assert number == pytest.approx(cell.value, rel=1e-4, abs=1e-5), (name, cell.coordinate)
