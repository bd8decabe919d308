"""Ctrl-C in the middle of a command: one line, exit code 130, and no file that was not there before."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from auditkit.cli.options import working
from auditkit.model.instance import Instance
from auditkit.model.search import Box, Search

ROOT = Path(__file__).parent.parent
DATA = ROOT / "sample_data" / "hiring.csv"
PATIENCE = 900


def on_terminal(arguments: list[str], folder: Path, **environment: str) -> tuple[subprocess.Popen[bytes], int]:
    """A command whose stderr is a terminal, and the other end of it."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "auditkit", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "COLUMNS": "200", "TERM": "xterm", **environment},
    )
    os.close(theirs)
    return process, ours


def read_until(terminal: int, words: bytes | None) -> bytes:
    """What is shown until some words come, or the end."""
    shown, end = b"", time.monotonic() + PATIENCE
    while time.monotonic() < end and (words is None or words not in shown):
        if select.select([terminal], [], [], 1.0)[0]:
            try:
                more = os.read(terminal, 65536)
            except OSError:  # nobody holds the other end any more
                break
            shown += more
    return shown


@pytest.mark.parametrize("words", [b"reading the data", b"best policy under", b"frontier of"])
def test_an_interrupted_report_leaves_nothing_behind(words: bytes, tmp_path: Path) -> None:
    process, terminal = on_terminal(["report", str(DATA), "-o", "out/"], tmp_path)
    shown = read_until(terminal, words)
    assert words in shown
    process.send_signal(signal.SIGINT)
    rest = read_until(terminal, None)
    assert process.wait(PATIENCE) == 130
    assert process.stdout is not None and process.stdout.read() == b""
    assert rest.strip().endswith(b"interrupted")
    assert b"Traceback" not in shown + rest
    assert list(tmp_path.rglob("*")) == []


def test_compiling_is_said_once_on_a_terminal(tmp_path: Path) -> None:
    (cache := tmp_path / "cache").mkdir()
    instance = tmp_path / "instance.json"
    boxes = [Box(name, group, 1, [9, low], [0.5, 0.5]) for name, group, low in (("a", "X", 1), ("b", "Y", 2))]
    Instance([Search("s", 1, boxes)]).save_json(instance)
    process, terminal = on_terminal(["solve", str(instance)], tmp_path, NUMBA_CACHE_DIR=str(cache))
    shown = read_until(terminal, None)
    assert process.wait(PATIENCE) == 0
    assert shown.count(b"compiling the solver") == 1
    again, terminal = on_terminal(["solve", str(instance)], tmp_path, NUMBA_CACHE_DIR=str(cache))
    assert b"compiling" not in read_until(terminal, None)
    assert again.wait(PATIENCE) == 0


def test_an_interrupt_that_compiled_code_swallows_is_not_lost() -> None:
    begun = []
    with pytest.raises(KeyboardInterrupt), working("something", quiet=True) as say:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        begun.append("went on, as after a callback of compiled code")
        say("the next step")
        begun.append("the next step")
    assert begun == ["went on, as after a callback of compiled code"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
