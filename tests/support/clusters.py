"""A dask cluster started by hand, as docs/scale.md says. (No tests in here.)"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from distributed import Client

NOBODY = "tcp://127.0.0.1:9"
"""The discard port, where no scheduler listens."""


@contextmanager
def scheduler(before: str = "") -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A scheduler process on a free port of this machine, and its address; `before` is Python that it runs first."""
    code = f"""{before}
import asyncio
from distributed import Scheduler

async def serve():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False, dashboard_address="127.0.0.1:0") as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(serve())
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def workers(address: str, count: int, before: str = "", **env: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Worker processes that have found their scheduler."""
    code = f"""{before}
import sys
from distributed.cli.dask_worker import main

sys.argv = ["dask-worker", *{[address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]}]
main()
"""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **env},
        )
        for _ in range(count)
    ]
    try:
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=600)
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()
