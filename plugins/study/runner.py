"""Instances of sweeps in several processes, with progress for those who watch, and started again where it stopped."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from auditkit.plugins.study.store import Data, Store
from auditkit.plugins.study.sweeps import SWEEPS, Rows

Tick = Callable[[], None]


def compute(task: tuple[str, int, int]) -> Rows:
    """One instance of a sweep; called in another process, so that it takes names and numbers only."""
    name, seed, number = task
    return SWEEPS[name].rows(seed, number)


class Runner:
    """Holds the processes; they start with the first sweep that has something to do."""

    def __init__(self, folder: Path, seed: int, instances: int, jobs: int, quiet: bool = False) -> None:
        self.folder = folder
        self.seed = seed
        self.instances = instances
        self.jobs = jobs
        self.quiet = quiet
        self._pool: Executor | None = None

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def data(self, name: str) -> Data:
        """The numbers of a sweep: those on disk, and those that are still missing, computed now."""
        sweep = SWEEPS[name]
        count = sweep.count(self.instances)
        store = Store(self.folder, sweep, self.seed)
        todo = list(store.missing(count))
        with progress(name, count, count - len(todo), self.quiet) as tick:
            tasks = [(name, self.seed, number) for number in todo]
            for number, rows in zip(todo, self._results(tasks, sweep.timed), strict=True):
                store.add(number, rows)
                tick()
        return store.data(count)

    def _results(self, tasks: list[tuple[str, int, int]], alone: bool) -> Iterable[Rows]:
        if self.jobs == 1 or len(tasks) < 2 or alone:
            return map(compute, tasks)
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.jobs, get_context("spawn"))  # a fork would copy numba's threads
        return self._pool.map(compute, tasks)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def progress(name: str, total: int, done: int, quiet: bool) -> Iterator[Tick]:
    if quiet or done == total or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:16}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task(name, total=total, completed=done)
        yield lambda: bars.advance(task)
