"""One run at a time per folder of artefacts. The system releases the lock when its holder ends, however it ends."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from auditkit.errors import InputError, Problem

NAME = ".lock"
STEP = 0.2


@contextmanager
def only_one(folder: Path, wait: float, waiting: Callable[[str], None] = lambda _: None) -> Iterator[None]:
    """Hold the lock of a folder; if another run holds it, wait this many seconds and then give up."""
    try:
        import fcntl
    except ImportError:
        raise InputError("scheduled runs need a system with fcntl, such as Linux or macOS") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise InputError(Problem(str(folder), f"cannot be used for artefacts: {error.strerror or error}")) from None
    try:
        last, told = time.monotonic() + wait, False
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= last:
                    holder = os.pread(handle, 200, 0).decode(errors="replace").strip() or "unknown"
                    what = f"another run of this audit is under way ({holder})"
                    fix = f"let it end, or wait for it with --wait SECONDS; waited {wait:g} s"
                    raise InputError(Problem(str(folder), what, fix)) from None
                if not told:
                    waiting(f"another run of this audit is under way: waiting up to {wait:g} s")
                    told = True
                time.sleep(min(STEP, max(0.0, last - time.monotonic())))
        with suppress(OSError):  # the holder's name is for people; a full disk must not stop us here
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"process {os.getpid()}, since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC".encode(), 0)
        yield
    finally:
        os.close(handle)
