"""A command whose stderr is a terminal, and what it shows there. (No tests in here.)"""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

PATIENCE = 600
"""Seconds to wait for what is to be shown: the machine may be busy."""


def on_terminal(
    command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] = os.environ
) -> tuple[subprocess.Popen[bytes], int]:
    """A command whose stderr is a terminal, and the other end of it."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*map(str, command)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**environment, "COLUMNS": "200", "TERM": "xterm"},
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
