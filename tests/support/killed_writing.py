"""Kill a process that writes files together at every call of the system that it makes. (No tests in here.)

Run as a program: a fork of this small process takes a millisecond, one of a test worker with all its libraries fifty.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from auditkit import files
from auditkit.errors import InputError

OLD = {"a.html": b"old page", "a.json": b"old numbers"}
NEW = {"a.html": b"new page", "a.json": b"new numbers", "a.pdf": b"new pdf"}
CALLS = {"open", "write", "writelines", "flush", "fsync", "replace", "unlink", "flock", "close", "stat", "lstat"}


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
            if Path(target).name == failing and path.name.endswith(".new"):
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


def attack(folder: Path, before: dict[str, bytes], failing: str) -> tuple[int, int]:
    """How many points there were, and at how many of them a part of the files was left."""
    point, parts = 1, 0
    while killed_at(point, here := start(folder / f"at-{point}", before), failing):
        left = contents(here)
        if left not in (before, NEW):
            parts += 1
            assert "a.json" not in left, point
            assert all(content in (before.get(name), NEW.get(name)) for name, content in left.items())
        files.write_together(here, NEW)
        assert contents(here) == NEW, point
        assert sorted(path.name for path in here.iterdir()) == sorted(NEW), point
        point += 1
    assert contents(here) == (before if failing else NEW)
    return point, parts


if __name__ == "__main__":
    print(json.dumps(attack(Path(sys.argv[1]), OLD if sys.argv[2] == "again" else {}, sys.argv[3])))
