"""Return free memory to the system.

Allocators keep freed memory for later use: after reading a million rows, 0.4 GB more than the table needs. Later
stages need blocks of other sizes, so the peak of an audit would be that much higher.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def give_back() -> None:
    """Release memory that the allocators of Arrow and the C library hold but do not use, if they can."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # a C library other than glibc has no such function
            ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def loading() -> Iterator[None]:
    """For what is loaded once and kept: don't search it for garbage, neither now nor later.

    Modules and what they define are most of the objects in a short run.
    """
    with uncollected():
        yield
        gc.freeze()


@contextmanager
def uncollected() -> Iterator[None]:
    """For work whose objects are needed until it ends: looking through them for garbage meanwhile finds none."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
