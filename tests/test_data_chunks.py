"""Large files are parsed in chunks: the same cells, row numbers and messages as if they were parsed at once."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pandas as pd
import pytest
from exports.systems import EXPORTS

from auditkit import plugin_manager
from auditkit.data import delimited
from auditkit.data.load import load
from auditkit.data.read_file import read
from auditkit.errors import InputError

SAMPLES = ("hiring.csv", "hiring-level.csv", "hiring-messy.csv", "hiring-stages.csv")
MOST_CHUNKS = 100  # every one costs some milliseconds, whatever its size
SAMPLE_DATA = Path(__file__).parents[1] / "sample_data"


@pytest.fixture(params=[*EXPORTS, *SAMPLES])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param in SAMPLES:
        return SAMPLE_DATA / request.param
    return EXPORTS[request.param](tmp_path).path


def test_the_same_table_from_chunks_of_any_size(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readers = plugin_manager.shipped().readers.values()
    whole = read(path, readers=readers)
    sizes = {max(size, len(whole.table) // MOST_CHUNKS) for size in (1, 7)}
    for chunk in sizes:
        monkeypatch.setattr(delimited, "CHUNK", chunk)
        parts = read(path, readers=readers)
        pd.testing.assert_frame_equal(parts.table, whole.table)
        assert parts.source == whole.source and parts.notices == whole.notices


@pytest.mark.parametrize("name", SAMPLES)
def test_the_same_history_from_chunks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    history = load(SAMPLE_DATA / name)
    monkeypatch.setattr(delimited, "CHUNK", len(history.table) // MOST_CHUNKS)
    again = load(SAMPLE_DATA / name)
    pd.testing.assert_frame_equal(again.table, history.table)
    assert list(again.problems) == list(history.problems) and again.mapping == history.mapping


def test_cells_are_those_of_the_csv_module(monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'id,note,x\n1,"a, ""b""\nc",2\n\n2,,\r\n3, d ,"é\u20ac"\n4\n'
    records = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True))
    expected = [record + [""] * (3 - len(record)) for record in records]
    for chunk in (1, 2, 100):
        monkeypatch.setattr(delimited, "CHUNK", chunk)
        cells, separator = delimited.delimited("people.csv", text)
        assert separator == ","
        assert cells.to_numpy().tolist() == expected
        assert cells.index.tolist() == list(range(1, len(expected) + 1))


@pytest.mark.parametrize("chunk", [2, 1000])
def test_messages_name_the_row_of_the_file(chunk: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(delimited, "CHUNK", chunk)
    monkeypatch.setattr(delimited, "_SAMPLE", 60)
    lines = ["id,gender,hired", *(f"{i},F,0" for i in range(2, 31))]
    path = tmp_path / "people.csv"
    path.write_text("\n".join([*lines[:19], '20,"F,0', *lines[20:]]) + "\n")
    with pytest.raises(InputError, match=r"row 20.*never closed"):
        read(path)
    path.write_text("\n".join([*lines[:24], "25,F,0,more", *lines[25:]]) + "\n")
    with pytest.raises(InputError, match=r"row 25.*has 4 cells"):
        read(path)
