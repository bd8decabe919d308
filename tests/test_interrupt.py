"""Ctrl-C in the middle of a command: one line, exit code 130, and no file that was not there before."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from auditkit.cli.options import working
from support import ROOT
from support.terminals import PATIENCE, on_terminal, read_until

DATA = ROOT / "sample_data" / "hiring.csv"


@pytest.mark.parametrize("words", [b"reading the data", b"best policy under", b"frontier of"])
def test_an_interrupted_report_leaves_nothing_behind(words: bytes, tmp_path: Path) -> None:
    (settings := tmp_path / "audit.toml").write_text("[report]\nreplicates = 0\n")  # no need to wait for intervals
    (here := tmp_path / "here").mkdir()
    command = [sys.executable, "-m", "auditkit", "report", DATA, "--config", settings, "-o", "out/"]
    process, terminal = on_terminal(command, here)
    shown = read_until(terminal, words)
    assert words in shown
    process.send_signal(signal.SIGINT)
    rest = read_until(terminal, None)
    assert process.wait(PATIENCE) == 130
    assert process.stdout is not None and process.stdout.read() == b""
    assert rest.strip().endswith(b"interrupted")
    assert b"Traceback" not in shown + rest
    assert list(here.rglob("*")) == []


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
