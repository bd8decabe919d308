"""The files of a report appear together or not at all, whatever ends the program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from auditkit import files
from auditkit.errors import InputError
from support import ROOT
from support.audit_helpers import rows, save
from support.killed_writing import NEW, OLD, contents, start


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("failing", ["", "a.pdf"], ids=["", "taken back"])
@pytest.mark.parametrize("before", ["first", "again"])
def test_killed_at_every_point(tmp_path: Path, before: str, failing: str) -> None:
    """The old set, the new one, or pages without a JSON: never pages beside the numbers of another report."""
    command = [sys.executable, "-m", "support.killed_writing", str(tmp_path), before, failing]
    done = subprocess.run(command, cwd=ROOT / "tests", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    points, parts = json.loads(done.stdout)
    assert points > 30
    assert parts > 1


def test_a_folder_tells_no_command_what_to_write(auditkit: Any, tmp_path: Path) -> None:
    """Files of an archive that look like an interrupted write are never completed, by any command."""
    data = save(tmp_path / "people.csv", rows(searches=6, each=6), leave=("Interview Score",))
    before = data.read_bytes()
    assert auditkit("report", data).code == 0
    hidden = tmp_path / ".people.audit.html.abc.writing"
    hidden.mkdir()
    (hidden / "forward").write_text('{"names": ["people.csv", ".profile"], "replaced": []}')
    (hidden / "new-people.csv").write_bytes(before.replace(b"yes", b"no"))
    (hidden / "new-.profile").write_text("echo planted")
    planted = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    times = {path: path.stat().st_mtime_ns for path in (tmp_path, *tmp_path.rglob("*"))}
    for command in (("verify", "people.audit.json", data), ("check", data), ("history",), ("plugins",)):
        auditkit(*command)
        found = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert found == planted, command
        assert {path: path.stat().st_mtime_ns for path in (tmp_path, *tmp_path.rglob("*"))} == times, command
    assert auditkit("report", data).code == 0
    assert data.read_bytes() == before and not (tmp_path / ".profile").exists()


def test_only_own_leftovers_are_cleared_away(tmp_path: Path) -> None:
    token = "0" * 32
    leftover, linked, other = (tmp_path / f".{name}.{token}.new" for name in ("a.html", "a.pdf", "b.html"))
    kept = tmp_path / "kept"
    kept.write_text("kept")
    leftover.write_bytes(b"half")
    linked.symlink_to(kept)
    other.write_bytes(b"of another set")
    files.write_together(tmp_path, NEW)
    assert not leftover.exists() and linked.is_symlink() and other.exists() and kept.read_text() == "kept"


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
        for owner, name in ((os, "fsync"), (Path, "replace"), (shutil, "copy2")):
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


def test_private_files_are_private_and_others_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write_together(tmp_path, NEW)
        files.write_bytes(tmp_path / "x", b"")
        files.write_bytes(tmp_path / "secret", b"", private=True)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {**dict.fromkeys((*NEW, "x"), 0o640), "secret": 0o600}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_under_stdout_is_said_in_one_line() -> None:
    command = [sys.executable, "-m", "auditkit", "solve", str(ROOT / "sample_data" / "three-boxes.json"), "--json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: output: cannot be written: No space left on device\n"
