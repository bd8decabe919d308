"""The files of a report appear together or not at all, whatever ends the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
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


def killed_at(point: int, folder: Path, failing: str = "") -> bool:
    """Whether a child that writes the new files was killed at its `point`-th call of the system.

    The rename to `failing` fails, so that the child has to take back the others.
    """
    child = os.fork()
    if child == 0:
        count, replace = 0, Path.replace

        def unless_failing(path: Path, target: Path) -> Path:
            if Path(target).name == failing and path.name.startswith("new-"):
                raise OSError(28, "No space left on device")
            return replace(path, target)

        Path.replace = unless_failing  # type: ignore[method-assign]

        def watch(_: Any, event: str, what: Any) -> None:
            nonlocal count
            if event in ("c_call", "c_return") and getattr(what, "__name__", "") in CALLS:
                count += 1
                if count == point:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(watch)
        with suppress(InputError):
            files.write_together(folder, NEW)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("failing", ["", "a.pdf"], ids=["", "taken back"])
@pytest.mark.parametrize("before", [{}, OLD], ids=["first", "again"])
def test_killed_at_every_point(tmp_path: Path, before: dict[str, bytes], failing: str) -> None:
    """What was killed is settled by the next look into the folder; a file of a part of the set is known as such."""
    point, parts = 1, 0
    while killed_at(point, folder := start(tmp_path / f"at-{point}", before), failing):
        whole = contents(folder) in (before, NEW)
        parts += not whole
        if not whole:
            held = files._locked(folder)  # nobody can settle it now
            with held, pytest.raises(InputError, match="is one of 3 files that are not all in place"):
                files.refuse_partial(folder / "a.html")
        files.settle(folder)
        assert contents(folder) in (before, NEW), point
        assert sorted(path.name for path in folder.iterdir()) == sorted(contents(folder)), point
        files.refuse_partial(folder / "a.html")
        point += 1
    assert point > 40
    assert parts > 1
    assert contents(folder) == (before if failing else NEW)


def test_any_command_settles_the_folders_that_it_is_given(auditkit: Any, tmp_path: Path) -> None:
    point = 1
    while killed_at(point, folder := start(tmp_path / f"at-{point}", OLD)) and contents(folder) in (OLD, NEW):
        point += 1
    assert contents(folder) not in (OLD, NEW)
    auditkit("history", "--config", folder / "audit.toml")
    assert contents(folder) == NEW


def test_a_journal_reaches_nothing_outside_its_folder(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    folder = start(tmp_path / "x", OLD)
    for number, journal in enumerate(("back", "forward")):
        hidden = folder / f".{number}{files.WRITING}"
        hidden.mkdir()
        (hidden / journal).write_text('{"names": ["../kept.txt"], "replaced": []}')
        (hidden / "new-..").write_text("another")
    files.settle(folder)
    assert (tmp_path / "kept.txt").read_text() == "kept"
    assert contents(folder) == OLD


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_two_programs_that_write_the_same_names_do_not_mix_their_files(tmp_path: Path) -> None:
    children = []
    for who in range(4):
        child = os.fork()
        if child == 0:
            for number in range(15):
                files.write_together(tmp_path, dict.fromkeys(NEW, f"{who} {number}".encode()))
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    assert len(set(contents(tmp_path).values())) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NEW)


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
