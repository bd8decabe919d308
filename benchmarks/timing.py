"""How benchmarks measure time."""

from __future__ import annotations

import time
from collections.abc import Callable


def processor_time(work: Callable[[], object]) -> float:
    """Seconds that the processors take, all threads together."""
    start = time.process_time()
    work()
    return time.process_time() - start


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest run: what the work costs when nothing else is in the way."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
