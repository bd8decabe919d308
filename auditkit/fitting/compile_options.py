"""How kernels are compiled, and whether the compiled code can be kept for the next run."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

from numba.core import event


class Compiling(event.Listener):  # type: ignore[misc]
    """What the compiler builds lives until the end: looking through it for garbage takes a tenth of the time."""

    def __init__(self) -> None:
        self.depth, self.collected = 0, False

    def on_start(self, event_: Any) -> None:
        self.collected = gc.isenabled() or (self.depth > 0 and self.collected)
        self.depth += 1
        gc.disable()

    def on_end(self, event_: Any) -> None:
        self.depth -= 1
        if self.collected and not self.depth:
            gc.enable()


event.register("numba:compiler_lock", Compiling())


def _can_be_kept() -> bool:
    """Whether numba finds a folder that it may write to: beside the installed files, or in the user's cache."""
    from numba.core.caching import CompileResultCacheImpl

    try:
        CompileResultCacheImpl(_can_be_kept)
    except (RuntimeError, OSError):
        return False
    return True


KEPT = _can_be_kept()
"""False in a read-only installation of a user without a writable home: every run then compiles."""

OPTIONS: dict[str, object] = {"cache": KEPT, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

INNER = {**OPTIONS, "no_cpython_wrapper": True}
"""Of a kernel that only kernels call."""

INLINED = {**OPTIONS, "inline": "always"}
"""Of a kernel that few others call. Numba optimises a kernel with all that it calls, so each step between is paid for
once more."""


def nothing_kept(kernel: Any) -> bool:
    """Whether no code is kept where that of a kernel would be, not even from an older version.

    numba names the code of a new version like the old and announces it before it is written, so that a second process
    could load the old in between.
    """
    return not any(Path(kernel._cache.cache_path).glob("*.nbi"))
