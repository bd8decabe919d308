"""The files of a report appear together or not at all, whatever ends the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from auditkit import files
from auditkit.errors import InputError
from support import ROOT

OLD = {"a.html": b"old page", "a.json": b"old numbers"}
NEW = {"a.html": b"new page", "a.json": b"new numbers", "a.pdf": b"new pdf"}
CALLS = {"mkdir", "open", "write", "flush", "fsync", "chmod", "rename", "replace", "unlink", "rmdir", "flock", "close"}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


def start(folder: Path, before: dict[str, bytes]) -> Path:
    folder.mkdir()
    for name, content in before.items():
        (folder / name).write_bytes(content)
    return folder


def killed_at(point: int, folder: Path) -> bool:
    """Whether a child that writes the new files was killed at its `point`-th call of the system."""
    child = os.fork()
    if child == 0:
        count = 0

        def watch(_: Any, event: str, what: Any) -> None:
            nonlocal count
            if event in ("c_call", "c_return") and getattr(what, "__name__", "") in CALLS:
                count += 1
                if count == point:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(watch)
        files.write_together(folder, NEW)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("before", [{}, OLD], ids=["first", "again"])
def test_killed_at_every_point(tmp_path: Path, before: dict[str, bytes]) -> None:
    point = 1
    while killed_at(point, folder := start(tmp_path / f"at-{point}", before)):
        files.write_together(folder, {"b.json": b"another"})
        left = contents(folder)
        assert left.pop("b.json") == b"another"
        assert left in (before, NEW), point
        assert sorted(path.name for path in folder.iterdir()) == sorted([*left, "b.json"]), point
        point += 1
    assert point > 40
    assert contents(folder) == NEW


@pytest.mark.parametrize("before", [{}, OLD], ids=["first", "again"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "SIGINT"])
def test_an_error_or_an_interrupt_at_every_step_takes_everything_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: dict[str, bytes], error: BaseException
) -> None:
    def failing(call: Any, at: int) -> Any:
        count = 0

        def instead(*arguments: Any) -> Any:
            nonlocal count
            count += 1
            if count == at:
                raise error
            return call(*arguments)

        return instead

    for at in range(1, 5):
        for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "chmod")):
            folder = start(tmp_path / f"{name}-{at}", before)
            with monkeypatch.context() as patch:
                patch.setattr(owner, name, failing(getattr(owner, name), at))
                try:
                    files.write_together(folder, NEW)
                except (InputError, KeyboardInterrupt):
                    assert contents(folder) == before
                else:
                    assert contents(folder) == NEW
            assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_target_that_is_a_folder_and_a_folder_that_is_read_only(tmp_path: Path) -> None:
    folder = start(tmp_path / "x", OLD)
    (folder / "a.pdf").mkdir()
    with pytest.raises(InputError, match=r"a\.pdf: cannot be written"):
        files.write_together(folder, NEW)
    (folder / "a.pdf").rmdir()
    assert contents(folder) == OLD
    if os.geteuid() != 0:
        folder.chmod(0o500)
        with pytest.raises(InputError, match="cannot be written"):
            files.write_together(folder, NEW)
        folder.chmod(0o700)


def test_what_a_living_program_writes_stays(tmp_path: Path) -> None:
    hidden = tmp_path / f".c.html.x{files.WRITING}"
    hidden.mkdir()
    (hidden / "c.html").write_bytes(b"half")
    with files._locked(hidden):
        files.write_together(tmp_path, NEW)
        assert (hidden / "c.html").read_bytes() == b"half"
    files.write_together(tmp_path, NEW)
    assert not hidden.exists()
    assert contents(tmp_path) == NEW


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_under_stdout_is_said_in_one_line() -> None:
    command = [sys.executable, "-m", "auditkit", "solve", str(ROOT / "sample_data" / "three-boxes.json"), "--json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: output: cannot be written: No space left on device\n"
