"""For the first report on a machine: a second process compiles the kernels that are needed last.

numba compiles under one lock, so threads of one process would wait for each other. The report itself compiles the
kernels that evaluate policies, which it needs first. Meanwhile this module, run as a program, compiles the kernels of
ex-post laws, lotteries and choices for arrays like those of a report, and stores them where the report looks for them.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def needed_last() -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Kernels, in the order in which a default report needs them, each with arguments of the right types."""
    import numpy as np

    from auditkit.fitting.logit_kernels import likelihood
    from auditkit.rules.lottery_kernels import drawn_visits
    from auditkit.solver import law_kernels
    from auditkit.solver.box_kernels import Boxes, Events

    one, real, matrix, yes = np.zeros(1, np.int64), np.zeros(1), np.zeros((1, 1)), np.zeros(1, np.bool_)
    constant = np.zeros(1)
    constant.flags.writeable = False
    boxes, events = Boxes(one, one, one, one, constant), Events(one, real, real, real, one, one, yes)
    yield law_kernels.box_member_laws, (0, 1, one, boxes, events, one, yes, matrix, True, None, one, real)
    yield law_kernels.paired, (real, one, one)
    yield drawn_visits, (one, one, one, one, yes, yes, one, constant, real, real)
    yield likelihood, (one, one, one, yes, yes, matrix, real, 1.0)


@contextmanager
def compiling_ahead() -> Iterator[None]:
    """Compile in the background if nothing is kept yet and there is a second core; stop with the block."""
    if not _worth_it():
        yield
        return
    nothing = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, "-P", "-m", __name__], stdin=nothing, stdout=nothing, stderr=nothing)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def _worth_it() -> bool:
    from auditkit.fitting.compile_options import KEPT, nothing_kept

    return KEPT and (os.cpu_count() or 1) > 1 and nothing_kept(next(needed_last())[0])


def main() -> None:
    from numba import typeof

    gc.disable()  # what the compiler builds lives until the end: searching it for garbage takes a tenth of the time
    for kernel, arguments in needed_last():
        kernel.compile(tuple(typeof(argument) for argument in arguments))


if __name__ == "__main__":
    main()
