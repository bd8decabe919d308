"""A child process that does the work of one open audit, one task at a time, and can be killed at any moment.

The parent sends tasks through a pipe and receives progress, then a result, the user's problems, or a defect. Killing
the child cancels a run, so stages don't have to check for it. The child exits when the parent is gone, however that
happened, and removes the private folder.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import threading
import time
from dataclasses import dataclass, field
from enum import StrEnum
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from auditkit.errors import InputError, Problem
from auditkit.page.bench import Bench, Task, TaskProgress


class JobState(StrEnum):
    RUNNING, DONE, REFUSED, FAILED, CANCELLED = "running", "done", "refused", "failed", "cancelled"


@dataclass
class Pending:
    """A submitted task: `result` once it's done, `problems` if the input is wrong or auditkit has a defect."""

    state: JobState = JobState.RUNNING
    progress: TaskProgress = field(default_factory=lambda: TaskProgress("starting", 0.0))
    result: Any = None
    problems: tuple[Problem, ...] = ()
    begun: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)
    """When the last progress arrived."""
    ended: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def running(self) -> bool:
        return self.state is JobState.RUNNING

    @property
    def share(self) -> float:
        """The share done by now."""
        now = self.progress
        return now.share if now.estimate is None else now.estimate.done(now.spent + time.monotonic() - self.heard)

    @property
    def percent(self) -> int:
        return round(100 * self.share)

    @property
    def left(self) -> str:
        """How long the rest may take, in words, or nothing."""
        now = self.progress
        return "" if now.estimate is None else now.estimate.left(now.spent + time.monotonic() - self.heard)

    def end(self, state: JobState, result: object = None, problems: tuple[Problem, ...] = ()) -> None:
        """The first end counts."""
        if self.running:
            self.state, self.result, self.problems = state, result, problems
            self.ended.set()


class Worker:
    """The parent's side of a child process, which starts when it's first needed, and restarts after a kill."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._job: Pending | None = None
        self._turn = threading.Lock()
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None
        self._life: Connection | None = None

    @property
    def busy(self) -> bool:
        return self._turn.locked()

    def start(self) -> None:
        """Start the child; it loads what every task needs while the user is still choosing a file."""
        with self._lock:
            if self._process is not None and self._process.is_alive():
                return
            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe()
            watched, self._life = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(theirs, watched, self._folder), daemon=True)
            process.start()
            theirs.close()
            watched.close()
            self._process, self._pipe = process, ours

    def submit(self, task: Task) -> Pending:
        """Start a task once the previous ones have ended; returns at once."""
        job = Pending()
        threading.Thread(target=self._run, args=(task, job), daemon=True).start()
        return job

    def cancel(self, job: Pending) -> None:
        """End a job now, whether it's running or waiting for its turn."""
        with self._lock:
            current = self._job is job
            job.end(JobState.CANCELLED)
        if current:
            self.stop()

    def stop(self) -> None:
        """Kill the child and everything it is doing."""
        with self._lock:
            process, life = self._process, self._life
            self._process = self._pipe = self._life = None
            if self._job is not None:
                self._job.end(JobState.CANCELLED)
        if process is not None:
            process.kill()
            process.join()
        if life is not None:
            life.close()  # only now: a living child would think we were killed

    def _run(self, task: Task, job: Pending) -> None:
        with self._turn:
            with self._lock:
                if not job.running:
                    return
                self.start()
                self._job, pipe = job, self._pipe
            assert pipe is not None
            try:
                pipe.send(task)
                while job.running:
                    kind, *content = pipe.recv()
                    if kind == "says":
                        job.progress, job.heard = content[0], time.monotonic()
                    elif kind == "refused":
                        job.end(JobState.REFUSED, problems=content[0])
                    else:
                        job.end(JobState(kind), content[0])
            except (EOFError, OSError):
                if job.running:  # not stopped by us
                    what = "the system ended the computation, perhaps for lack of memory"
                    fix = "try it with fewer rows, or close other programs"
                    job.end(JobState.FAILED, problems=(Problem("", what, fix),))
                    self.stop()
            finally:
                with self._lock:
                    self._job = None


def _work(pipe: Connection, life: Connection, folder: Path) -> None:
    """The child: do tasks from the pipe, one after another, until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_leave_with_parent, args=(life, folder), daemon=True).start()
    bench = Bench()
    while True:
        try:
            while bench.idle and not pipe.poll():
                with contextlib.suppress(Exception):  # the real request will report what's wrong
                    bench.idle.pop()()
            task: Task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send(("done", task(bench, lambda progress: pipe.send(("says", progress)))))
        except InputError as error:
            pipe.send(("refused", error.problems))
        except Exception as error:
            what = f"auditkit has a defect: {type(error).__name__}: {error}".splitlines()[0]
            fix = "`auditkit report FILE --debug` shows where"
            pipe.send(("refused", (Problem("", what, fix),)))


def _leave_with_parent(life: Connection, folder: Path) -> None:
    """Exit with the parent, which keeps the other end open while it lives; if it was killed, remove its folder."""
    try:
        life.recv_bytes()
    except (EOFError, OSError):
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)
