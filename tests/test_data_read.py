"""From bytes to a table of text: every dress an export comes in, and one clear message when it is no table."""

from __future__ import annotations

import datetime
import hashlib
import sys
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from auditkit.data.delimited import SEPARATORS
from auditkit.data.load import load
from auditkit.data.read_file import read as read_with
from auditkit.errors import InputError
from auditkit.plugin_manager import shipped
from auditkit.plugins import parquet
from support.data_files import HEADER, ROWS, save, table, text
from support.sampling import examples

read = partial(read_with, readers=tuple(shipped().readers.values()))
ENCODINGS = ("utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32")


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("separator", SEPARATORS)
def test_every_encoding_and_separator_gives_the_same_table(tmp_path: Path, encoding: str, separator: str) -> None:
    raw = read(save(tmp_path, text(HEADER, ROWS, separator), encoding=encoding))
    assert raw.source.separator == separator
    assert tuple(raw.table.columns) == HEADER
    assert [tuple(row) for row in raw.table.to_numpy()] == list(ROWS)
    assert list(raw.table.index) == [2, 3, 4, 5, 6, 7]
    assert raw.source.rows == 6
    assert raw.source.header_row == 1


def test_what_is_known_of_the_source(tmp_path: Path) -> None:
    path = save(tmp_path, text(HEADER, ROWS, ";"), encoding="cp1252")
    raw = read(path)
    assert raw.source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert raw.source.encoding == "cp1252"
    assert raw.source.path == str(path)
    assert [notice.code for notice in raw.notices] == ["encoding"]


def test_a_first_line_that_names_the_separator(tmp_path: Path) -> None:
    raw = read(save(tmp_path, "sep=;\r\nid;gender, hired\r\n1;F\r\n2;M\r\n"))
    assert list(raw.table.columns) == ["id", "gender, hired"]
    assert list(raw.table.index) == [3, 4]
    assert raw.source.header_row == 2


def test_decimal_commas_are_not_separators(tmp_path: Path) -> None:
    history = load(save(tmp_path, "gender;hired;score\nF;1;61,5\nM;0;58,25\nF;0;70,0\n"))
    assert history.table["prior:score"].tolist() == [61.5, 58.25, 70.0]


@pytest.mark.parametrize(
    "above",
    [
        "Applicant report\n",
        "Applicant report,2024\n\n",
        "Company,ACME\nExported on,2024-01-05,,,,,\n\n",
        "Applicant report,,,,,,\n,,,,,,\n",
    ],
)
def test_title_rows_above_the_header(tmp_path: Path, above: str) -> None:
    raw = read(save(tmp_path, above + text(HEADER, ROWS)))
    assert tuple(raw.table.columns) == HEADER
    assert raw.source.header_row == above.count("\n") + 1
    assert raw.table.index[0] == raw.source.header_row + 1
    assert "title-rows" in [notice.code for notice in raw.notices]


def test_a_narrow_table_below_a_title_of_its_width_but_one(tmp_path: Path) -> None:
    raw = read(save(tmp_path, "Company,ACME\nid,gender,hired\nx,F,yes\ny,M,no\n"))
    assert list(raw.table.columns) == ["id", "gender", "hired"]


def test_unnamed_and_duplicate_columns(tmp_path: Path) -> None:
    raw = read(table(tmp_path, ",score,score,gender,score (2),", "1,2,3,F,4,", "2,5,6,M,7,"))
    assert list(raw.table.columns) == ["unnamed 1", "score", "score (3)", "gender", "score (2)"]
    assert {notice.code for notice in raw.notices} == {"unnamed-columns", "duplicate-headers"}


def test_row_names_without_a_header_as_r_writes_them(tmp_path: Path) -> None:
    raw = read(save(tmp_path, '"gender" "hired"\n"1" "F" 1\n"2" "M" 0\n'.replace(" ", ",")))
    assert list(raw.table.columns) == ["unnamed 1", "gender", "hired"]
    assert raw.table["gender"].tolist() == ["F", "M"]


def test_trailing_separators_blank_lines_and_short_rows(tmp_path: Path) -> None:
    raw = read(save(tmp_path, "id,gender,hired\n1,F,1,\n\n2,M,0,,\n,,\n3,F\n"))
    assert list(raw.table.columns) == ["id", "gender", "hired"]
    assert list(raw.table.index) == [2, 4, 6]
    assert raw.table.loc[6].tolist() == ["3", "F", ""]
    assert raw.source.rows == 3


def test_quoted_cells_may_hold_everything(tmp_path: Path) -> None:
    raw = read(save(tmp_path, 'id,gender,note\n1,F,"a, ""b""\nsecond line"\n2, "M, x" ,c\n'))
    assert raw.table.iloc[0].tolist() == ["1", "F", 'a, "b"\nsecond line']
    assert raw.table.iloc[1].tolist() == ["2", "M, x", "c"]
    assert list(raw.table.index) == [2, 3]


def test_rows_that_are_too_long_are_all_named(tmp_path: Path) -> None:
    lines = [f"{i},F,1" for i in range(60_000)]
    lines[50_000] = "7,F,1,oops"
    lines[55_000] = "8,M,0,x,y"
    with pytest.raises(InputError) as error:
        read(table(tmp_path, "id,gender,hired", *lines))
    assert [problem.where.split(", ")[1] for problem in error.value.problems] == ["row 50002", "row 55002"]
    assert "4 cells where the rows above have 3" in str(error.value)


def test_empty_overhang_far_below_is_no_problem(tmp_path: Path) -> None:
    lines = [f"{i},F,1" for i in range(30_000)]
    lines[25_000] += ",,"
    assert read(table(tmp_path, "id,gender,hired", *lines)).table.shape == (30_000, 3)


def _excel(path: Path, **sheets: list[list[object]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_excel(tmp_path: Path) -> None:
    day = datetime.datetime(2024, 3, 5)
    rows = [
        ["Report"],
        [],
        ["id", "gender", "hired", "score", "applied at"],
        [1, "F", True, 61.5, day],
        [2.0, "M", False, None, day],
    ]
    raw = read(_excel(tmp_path / "people.xlsx", Empty=[], Data=rows, Notes=[["x"]]))
    assert raw.table.iloc[0].tolist() == ["1", "F", "True", "61.5", "2024-03-05"]
    assert raw.table.iloc[1].tolist() == ["2", "M", "False", "", "2024-03-05"]
    assert list(raw.table.index) == [4, 5]
    assert "sheets" in [notice.code for notice in raw.notices]
    assert raw.source.encoding is None


def test_excel_by_its_content_and_with_a_sheet(tmp_path: Path) -> None:
    path = _excel(tmp_path / "people.csv", One=[["gender", "hired"], ["F", 1]], Two=[["gender", "hired"], ["M", 0]])
    assert read(path, sheet="Two").table.iloc[0].tolist() == ["M", "0"]
    with pytest.raises(InputError, match="no sheet 'Three'"):
        read(path, sheet="Three")
    text = tmp_path / "text.csv"
    text.write_text("gender,hired\nF,1\n")
    with pytest.raises(
        InputError, match=r"text\.csv: is not a workbook, so it has no sheet 'Two' \(leave out --sheet\)"
    ):
        read(text, sheet="Two")


def test_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "id": [1, 2],
            "gender": ["F", None],
            "hired": [True, False],
            "score": [61.5, np.nan],
            "applied at": pd.to_datetime(["2024-03-05 00:00", "2024-03-05 10:30"]),
            "tags": [["a"], ["b"]],
        }
    )
    frame.to_parquet(tmp_path / "people.parquet")
    raw = read(tmp_path / "people.parquet")
    assert raw.table.iloc[0].tolist()[:5] == ["1", "F", "True", "61.5", "2024-03-05"]
    assert raw.table.iloc[1].tolist()[:5] == ["2", "", "False", "", "2024-03-05T10:30:00"]
    assert list(raw.table.index) == [1, 2]


def _zip(path: Path) -> bytes:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    return path.read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b",,,\n,,,\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"id,gender,hired\n", "no rows"),
        (b"id,gender,hired\n,,\n", "no rows"),
        (b"1,2,3\n4,5,6\n", "no header row"),
        (bytes(range(256)) * 50, "not a text file"),
        (b"%PDF-1.7 ...", "PDF"),
        (b"\xd0\xcf\x11\xe0junk", "password"),
        (b"\x1f\x8bjunk", "compressed"),
        (b"PAR1junk", "Parquet"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b'id,gender,hired\n1,"F,1\n2,M,0\n', "never closed"),
        (b"\xff\xfea", "not a text file"),
    ],
)
def test_what_is_no_table_gives_one_clear_message(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        read(save(tmp_path, content))
    assert len(error.value.problems) == 1
    assert "people.csv" in str(error.value)


def test_a_zip_that_is_no_spreadsheet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a readable"):
        read(save(tmp_path, _zip(tmp_path / "x.zip")))


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(InputError, match=r"needs pyarrow \(pip install 'auditkit\[parquet\]'"):
        read(tmp_path / "a.parquet")


def test_parquet_by_way_of_duckdb_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = pd.read_csv(Path(__file__).parent.parent / "sample_data" / "hiring.csv")
    sample["seen"] = pd.to_datetime(sample["Application Date"])
    sample["flag"] = sample["Hired"] == "yes"
    sample.to_parquet(tmp_path / "people.parquet")
    with_pyarrow = read(tmp_path / "people.parquet").table
    # pandas itself cannot lose pyarrow once it has it, so the reader is told that there is none
    monkeypatch.setattr(parquet.Parquet, "read", lambda _, data, place: {"": parquet._with_duckdb(data, place)})
    pd.testing.assert_frame_equal(read(tmp_path / "people.parquet").table, with_pyarrow)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1" + b"junk" * 40 + b"PAR1")
    with pytest.raises(InputError, match="not a readable Parquet file"):
        read(tmp_path / "broken.parquet")


def test_excel_and_parquet_without_rows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no cells"):
        read(_excel(tmp_path / "a.xlsx", Data=[]))
    pd.DataFrame({"a": []}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="no rows"):
        read(tmp_path / "a.parquet")


def test_no_such_file_and_folder(tmp_path: Path) -> None:
    table(tmp_path, "a,b", "1,2")
    with pytest.raises(InputError, match=r"no such file .*did you mean 'people.csv'"):
        read(tmp_path / "peple.csv")
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "none" / "x.csv")
    with pytest.raises(InputError, match="folder"):
        read(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read("a\0b")


_CELL = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=8).map(str.strip)


@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(_CELL, _CELL, _CELL), min_size=1, max_size=12),
    separator=st.sampled_from(SEPARATORS),
    encoding=st.sampled_from(("utf-8", "utf-8-sig", "utf-16")),
)
def test_whatever_is_written_is_read(
    tmp_path: Path, rows: list[tuple[str, str, str]], separator: str, encoding: str
) -> None:
    # the last column is filled so that no row is blank, and the separator is told: cells may look like another one
    rows = [(a, b, c or "end") for a, b, c in rows]
    content = f"sep={separator}\r\n" + text(("one", "two", "three"), rows, separator)
    raw = read(save(tmp_path, content, encoding=encoding))
    assert [tuple(row) for row in raw.table.to_numpy()] == [tuple(cell.strip() for cell in row) for row in rows]
    assert raw.source.rows == len(rows)


@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300) | st.text(',;|\t"\r\n ab1.-=é', max_size=60).map(str.encode))
def test_any_bytes_are_a_table_or_one_input_error(tmp_path: Path, content: bytes) -> None:
    try:
        raw = read(save(tmp_path, content))
    except InputError as error:
        assert error.problems
    else:
        assert raw.source.rows == len(raw.table) > 0
