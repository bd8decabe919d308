"""Small files that would exhaust the machine, and places that are no files: refused with the reason, within limits."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from auditkit.config import parse
from auditkit.data.file_limits import LONGEST_CELL, LONGEST_LINE, MOST_BLANK_ROWS, MOST_COLUMNS
from auditkit.data.load import load
from auditkit.data.read_file import read as read_with
from auditkit.errors import InputError
from auditkit.files import read_json, sha256_of
from auditkit.plugin_manager import shipped
from auditkit.plugins import excel

ROWS = [("id", "gender", "hired"), (1, "F", 1), (2, "M", 0), (3, "F", 1)]
TEXT = "id,gender,hired\n1,F,1\n2,M,0\n3,F,1\n"
MEMORY = 500_000  # KB
LIMITED = """
import os, resource, sys
from auditkit.cli import invoke
good, *paths = sys.argv[1:]
invoke(["check", good])  # loads everything once; each file is then read by a child of its own
for path in paths:
    if (child := os.fork()) == 0:
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
        sys.stdout, sys.stderr = open(f"{path}.out", "w"), open(f"{path}.err", "w")
        code = invoke(["check", path])
        peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
        print(code, peak.split()[1])
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(0)
    os.waitpid(child, 0)
"""


def book(path: Path, rows: object = ROWS, **cells: object) -> Path:
    made = openpyxl.Workbook()
    sheet = made.active
    assert sheet is not None
    for row in ROWS:
        sheet.append(row)
    for name, value in cells.items():
        sheet[name] = value
    made.save(path)
    return path


def with_rows(path: Path, rows: str, prolog: str = "") -> Path:
    """A workbook into whose first sheet this XML is written."""
    part = "xl/worksheets/sheet1.xml"
    plain = book(path.with_name(f"plain-{path.name}"))
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            text = old.read(name)
            if name == part:
                text = prolog.encode() + text.replace(b"</sheetData>", f"{rows}</sheetData>".encode())
            new.writestr(name, text)
    plain.unlink()
    return path


def cell(text: str) -> str:
    return f'<row r="9"><c r="A9" t="inlineStr"><is><t>{text}</t></is></c></row>'


def laughs(path: Path) -> Path:
    entities = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
    return with_rows(path, cell("&a9;"), f'<!DOCTYPE x [<!ENTITY a0 "ha">{entities}]>')


def many_parts(path: Path) -> Path:
    with zipfile.ZipFile(book(path), "a") as archive:
        for i in range(excel.MOST_PARTS + 1 - len(archive.namelist())):
            archive.writestr(f"x{i}", "")
    return path


def repeated(path: Path) -> Path:
    """40 million rows of the same three values."""
    n = 4_000_000
    table = pa.table({"id": np.zeros(n, "i4"), "gender": np.zeros(n, "i4"), "hired": np.ones(n, bool)})
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(10):
            writer.write_table(table, row_group_size=n)
    return path


def long_value(path: Path) -> Path:
    """One text of a megabyte that 200,000 rows refer to."""
    n = 200_000
    values = pa.DictionaryArray.from_arrays(np.zeros(n, "i4"), ["x" * 1_000_000])
    pq.write_table(pa.table({"id": range(n), "gender": values, "hired": np.ones(n, bool)}), path, compression="zstd")
    return path


def same_words(path: Path) -> Path:
    """A million rows of nine columns in a few kilobytes, which were 3.6 GB as text."""
    words = pa.DictionaryArray.from_arrays(np.zeros(1_000_000, "i4"), ["yes"])
    pq.write_table(pa.table({f"column {i}": words for i in range(9)}), path, compression="zstd")
    assert path.stat().st_size < 50_000
    return path


def text(content: str) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        path.write_text(content)
        return path

    return write


def holes(path: Path) -> Path:
    """Three rows, and then ten gigabytes that are nowhere on the disk."""
    path.write_text(TEXT)
    os.truncate(path, 10 << 30)
    return path


ATTACKS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "far.xlsx": (lambda p: book(p, XFD1048576="x"), "row 1048576: there are more than 10,000 blank rows"),
    "right.xlsx": (lambda p: book(p, XFD3="x"), "row 3: has 16,384 columns"),
    "deep.xlsx": (lambda p: book(p, A1048576="x"), "blank rows"),
    "beyond.xlsx": (
        lambda p: with_rows(p, '<row r="999999999"><c r="A999999999"><v>1</v></c></row>'),
        "1,048,576 rows",
    ),
    "cell.xlsx": (lambda p: with_rows(p, cell("x" * 9_000_000)), "a cell holds 9,000,000 characters"),
    "bomb.xlsx": (lambda p: with_rows(p, cell("x" * 200_000_000)), "would unpack from"),
    "laughs.xlsx": (laughs, "is not a readable .xlsx file"),
    "parts.xlsx": (many_parts, f"has {excel.MOST_PARTS + 1:,} parts inside"),
    "cell.csv": (text(TEXT + "4," + "x" * 10_000_000 + ",1\n"), "row 5: is a line of more than 1,000,000 bytes"),
    "lines.csv": (text(TEXT + '4,"' + "x\n" * 5_000_000 + '",1\n'), "a cell holds too many characters"),
    "open.csv": (text(TEXT + '4,"' + "x,1\n" * 2_000_000), "look for a quotation mark that is never closed"),
    "wide.csv": (text(",".join(f"c{i}" for i in range(10_000)) + "\n" + "1," * 9_999 + "1\n"), "10,000 columns"),
    "commas.csv": (text(TEXT + "," * 10_000_000 + "\n"), "a line of more than"),
    "later.csv": (text(TEXT * 10_000 + "," * 900_000 + "\n"), "has 900,001 columns"),
    "blank.csv": (text(TEXT + "\n" * 10_000_000 + "4,F,1\n"), "row 4: there are more than 10,000 blank rows"),
    "holes.csv": (holes, "the rest is holes"),
    "holes.xlsx": (holes, "the rest is holes"),
    "rows.parquet": (repeated, "120,000,000 cells"),
    "value.parquet": (long_value, "would unpack from"),
    "words.parquet": (same_words, "to 9,000,000 cells, which no real export does"),
}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every file after `check` was tried on it; what it printed is beside it."""
    folder = tmp_path_factory.mktemp("attacks")
    (folder / "good.csv").write_text(TEXT)
    paths = {name: make(folder / name) for name, (make, _) in ATTACKS.items()}
    command = [sys.executable, "-c", LIMITED, str(folder / "good.csv"), *map(str, paths.values())]
    subprocess.run(command, capture_output=True, check=True, cwd=folder)
    return paths


@pytest.mark.parametrize("name", ATTACKS)
def test_a_small_file_is_refused_before_it_fills_the_memory(attacked: dict[str, Path], name: str) -> None:
    path, reason = attacked[name], ATTACKS[name][1]
    assert 512 * path.stat().st_blocks < 12_000_000
    told = Path(f"{path}.err").read_text()
    code, memory = map(int, Path(f"{path}.out").read_text().split()[-2:])
    assert code == 2, told
    assert reason in told
    assert memory < MEMORY


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
def test_a_pipe_or_a_device_is_no_file_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "people.csv")
    places = (tmp_path / "people.csv", Path("/dev/zero"))
    for path in places:
        for reading in (read_with, load, read_json, sha256_of):
            with pytest.raises(InputError, match="is a pipe or a device, not a file"):
                reading(path)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    for reading in (read_with, load, read_json, sha256_of):
        with pytest.raises(InputError, match="is a folder, not a file"):
            reading(tmp_path)


def test_what_lies_within_the_limits_is_read(tmp_path: Path) -> None:
    names = [f"note {i}" for i in range(MOST_COLUMNS - 3)]
    wide = tmp_path / "wide.csv"
    wide.write_text(",".join(["id", "gender", "hired", *names]) + "\n" + f"1,F,1{',x' * len(names)}\n" * 3)
    assert read_with(wide).table.shape == (3, MOST_COLUMNS)
    long = tmp_path / "long.csv"
    long.write_text(TEXT + "4," + "x" * LONGEST_CELL + ",1\n")
    assert read_with(long).table["gender"].iloc[-1] == "x" * LONGEST_CELL
    gap = tmp_path / "gap.csv"
    gap.write_text(TEXT + "\n" * (MOST_BLANK_ROWS - 1) + "4,F,1\n")
    assert read_with(gap).table.index[-1] == 4 + MOST_BLANK_ROWS
    assert len(",x" * len(names)) < LONGEST_LINE


def test_formatted_cells_without_a_value_are_no_cells(tmp_path: Path) -> None:
    path = with_rows(tmp_path / "styled.xlsx", '<row r="1048576"><c r="XFD1048576" s="0"/></row>')
    raw = read_with(path, readers=tuple(shipped().readers.values()))
    assert raw.table.shape == (3, 3)


def test_formatted_rows_below_the_table_are_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million of them took minutes; the values are found before the sheet is parsed."""
    blank = "".join(f'<row r="{r}" s="1"><c r="A{r}" s="1"/><c r="B{r}" s="1"/></row>' for r in range(9, 60_000))
    path = with_rows(tmp_path / "styled.xlsx", blank)
    parsed = []
    monkeypatch.setattr(excel, "_values", lambda row, values=excel._values: parsed.append(row) or values(row))
    raw = read_with(path, readers=tuple(shipped().readers.values()))
    assert raw.table.shape == (3, 3) and len(parsed) == 4
    below = with_rows(tmp_path / "below.xlsx", blank + cell("x").replace("9", "60001"))
    with pytest.raises(InputError, match="row 60001: there are more than 10,000 blank rows"):
        read_with(below, readers=tuple(shipped().readers.values()))


@pytest.mark.parametrize("size", [1 << 20, 7, 100])
def test_the_last_row_with_a_value_is_found_in_any_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    path = with_rows(
        tmp_path / "x.xlsx", '<row r="9"><c r="A9" t="n"><v>1</v></c></row><row r="70"><c r="A70" s="1"/></row>'
    )
    monkeypatch.setattr(excel, "CHUNK", size)
    with zipfile.ZipFile(path) as archive:
        sheet = openpyxl.load_workbook(path, read_only=True).worksheets[0]
        assert excel._last_row(archive, sheet) == 9


def hidden(path: Path, *, visible_rows: bool) -> Path:
    made = openpyxl.Workbook()
    secret = made.active
    assert secret is not None
    secret.title, secret.sheet_state = "old", "hidden"
    shown = made.create_sheet("people")
    for row in [*ROWS, *((i, "M", 0) for i in range(9, 200))]:
        secret.append(row)
    for row in ROWS if visible_rows else []:
        shown.append(row)
    made.active = 1
    made.save(path)
    return path


def test_hidden_sheets_are_not_read_in_place_of_visible_ones(tmp_path: Path) -> None:
    readers = tuple(shipped().readers.values())
    path = hidden(tmp_path / "hidden.xlsx", visible_rows=True)
    raw = read_with(path, readers=readers)
    assert len(raw.table) == 3
    assert [n.text for n in raw.notices if n.code == "hidden-sheets"] == ["hidden sheets were not read: 'old'"]
    named = read_with(path, sheet="old", readers=readers)
    assert len(named.table) == 194
    assert any("was read because it was named" in n.text for n in named.notices)
    with pytest.raises(InputError, match="only hidden sheets hold cells: 'old'"):
        read_with(hidden(tmp_path / "only.xlsx", visible_rows=False), readers=readers)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_a_nul_anywhere_in_a_file_is_found(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes((TEXT * 40_000 + "4,F\0emale,1\n" + TEXT).encode(encoding))
    with pytest.raises(InputError, match=r"row 160001: holds a NUL character"):
        read_with(path)


@pytest.mark.parametrize(
    "content",
    [
        ".".join("a" * 50_000) + " = 1",
        f"[{'.'.join('a' * 50_000)}]",
        "x = {" + " . ".join(['"a\\"b"'] * 50_000) + " = 1}",
        ".".join(["'a'"] * 50_000) + " = 1",
        "\n".join(f"k{i} = 1" for i in range(60_000)),
        "#" * 600_000,
    ],
    ids=["bare", "table", "inline", "quoted", "many", "long"],
)
def test_a_file_of_settings_that_no_settings_need(tmp_path: Path, content: str) -> None:
    """Python's reader would need ten gigabytes for the first."""
    (tmp_path / "audit.toml").write_text(content)
    with pytest.raises(InputError, match="is longer than 500,000 bytes, or has a key of more than 30 parts"):
        parse(tmp_path / "audit.toml")


def test_settings_within_the_limits_are_read(tmp_path: Path) -> None:
    query = "SELECT " + ", ".join(f"a.b{i}" for i in range(500))
    (tmp_path / "audit.toml").write_text(f'query = "{query}"\n# {"-" * 100_000}\n# {"." * 1000}\n')
    assert parse(tmp_path / "audit.toml")[1] == {"query": query}
