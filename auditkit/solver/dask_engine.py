"""The engine on a dask cluster: pieces of an instance stay on the workers, policies go out, sums come back.

An instance is cut into pieces (`block_pieces.py`), about two for each thread of the cluster. A piece is sent once and
known by a hash of its content; for each policy a task per piece is submitted, with the policy's duals. When a worker is
lost its pieces are lost with it: they are sent again to those that are left, and their sums are asked for again. When
none is left, this process continues alone.

The cluster on this machine consists of a scheduler in this process and of worker processes that listen on the loopback
interface only. They end with the scheduler, whatever happens to this process. They are in a session of their own, so
that Ctrl-C in a terminal reaches this process alone.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import logging
import os
import subprocess
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import dask
import distributed
import numpy as np
from distributed import Client, Future, LocalCluster
from distributed.scheduler import KilledWorker

from auditkit.constraints.base import Rows
from auditkit.errors import InputError, Problem
from auditkit.solver import block_pieces
from auditkit.solver.block_pieces import Parts
from auditkit.solver.block_sums import BlockSums, Sums
from auditkit.solver.evaluate import tolerance
from auditkit.solver.policy import Policy

CONNECT_SECONDS, WORKER_SECONDS, START_SECONDS = 5, 5, 60
"""How long to wait for a scheduler, for the first of its workers, and for worker processes of our own."""

PATIENCE_SECONDS, MOST_TRIES, LOOK_SECONDS = 30, 5, 2
"""How long to wait for new workers when all are lost, how often to ask again for one policy, and how often to look
whether there is still a worker while waiting for an answer or for workers."""

PIECES_PER_THREAD = 2

LOST = (CancelledError, KilledWorker, OSError, TimeoutError)
"""What dask raises for the loss of workers or of the scheduler."""

SILENT: dict[str, object] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s",
    "distributed.admin.large-graph-warning-threshold": "1TB",
}

Tell = Callable[[str], None]


class DaskEngine:
    """The workers of one client.

    `gather_workers` brings them together, when they are first needed and after a loss; `check` raises InputError if one
    of them cannot do the work.
    """

    def __init__(
        self,
        client: Client,
        tell: Tell,
        gather_workers: Callable[[], None],
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.client, self._tell, self._gather_workers, self._check = client, tell, gather_workers, check
        self._started = self._gone = False
        self._sent: WeakValueDictionary[str, Future[Any]] = WeakValueDictionary()
        self._plans: WeakKeyDictionary[object, _Plan] = WeakKeyDictionary()

    def sums(self, problem: BlockSums, policy: Policy) -> Sums | None:
        """What a policy yields in each block; None if all workers are gone for good."""
        for _ in range(0 if self._gone else MOST_TRIES):
            try:
                if not self._started:
                    self._gather_workers()
                    self._started = True
                return self._ask(problem, policy)
            except ModuleNotFoundError:
                self._check()  # somebody joined who has no auditkit
                raise
            except Exception as error:
                if not self._is_loss(error):
                    raise
                self._sent.clear()
                self._plans.clear()
                if not self._anybody():
                    break
        if not self._gone:
            self._gone = True
            self._tell("the workers of the engine are gone: this process goes on alone")
        return None

    def _ask(self, problem: BlockSums, policy: Policy) -> Sums:
        plan = self._plan(problem)
        rows = self._rows(plan, problem, policy.rows or problem.rows)
        levels = [(level.objective, level.duals) for level in policy.levels]
        tol = tolerances(problem, policy)
        tasks = [
            self.client.submit(block_pieces.answer, piece, own, levels, tol, pure=False)
            for piece, own in zip(plan.pieces, rows, strict=True)
        ]
        with self.client.as_current():
            while True:
                try:
                    distributed.wait(tasks, timeout=LOOK_SECONDS)
                    break
                except TimeoutError:
                    if not self.client.nthreads():
                        raise
        return plan.joined(problem, self.client.gather(tasks))

    def _plan(self, problem: BlockSums) -> _Plan:
        """Which worker-side pieces a problem has; problems whose types are the same share them."""
        shared = problem.cells if problem.types is None and not problem.further else problem.types or problem
        if shared not in self._plans:
            threads = sum(self.client.nthreads().values())
            if not threads:
                raise TimeoutError
            ranges = block_pieces.ranges(problem, PIECES_PER_THREAD * threads)
            pieces = self._send([block_pieces.cut(problem, a, b) for a, b in ranges])
            self._plans[shared] = _Plan(ranges, pieces)
        return self._plans[shared]

    def _rows(self, plan: _Plan, problem: BlockSums, rows: Rows) -> list[Future[Any]]:
        if rows not in plan.rows:
            plan.rows[rows] = self._send([block_pieces.cut_rows(problem, rows, a, b) for a, b in plan.ranges])
        return plan.rows[rows]

    def _send(self, pieces: list[Any]) -> list[Future[Any]]:
        """Pieces on the workers; those that are there already are not sent again."""
        keys = [block_pieces.digest(piece) for piece in pieces]
        known = {key: self._sent[key] for key in keys if key in self._sent}
        fresh = {key: piece for key, piece in zip(keys, pieces, strict=True) if key not in known}
        if fresh:
            attempt = uuid.uuid4().hex[:8]  # a key that was lost is not used again
            names = {key: f"auditkit-{key}-{attempt}" for key in fresh}
            found = self.client.scatter({names[key]: piece for key, piece in fresh.items()})
            known |= {key: found[names[key]] for key in fresh}
            self._sent.update(known)
        return [known[key] for key in keys]

    def _is_loss(self, error: Exception) -> bool:
        """Whether workers or the scheduler are lost; a client that has given up on its scheduler raises anything."""
        return isinstance(error, LOST) or self._given_up()

    def _given_up(self) -> bool:
        return self.client.status in ("closing", "closed")

    def _anybody(self) -> bool:
        """Whether workers are left, or come within some seconds."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and not self._given_up():
            for look in (self._gather_workers, self.client.nthreads):
                try:
                    if look():  # not all of them, perhaps, but somebody
                        return True
                except Exception as error:
                    if not self._is_loss(error):
                        raise
            time.sleep(0.2)
        return False


class _Plan:
    """The pieces of a problem on the workers, and for each of its rows (or another problem's) theirs."""

    def __init__(self, ranges: list[tuple[int, int]], pieces: list[Future[Any]]) -> None:
        self.ranges, self.pieces = ranges, pieces
        self.rows: WeakKeyDictionary[Rows, list[Future[Any]]] = WeakKeyDictionary()

    def joined(self, problem: BlockSums, parts: list[Parts]) -> Sums:
        further = np.zeros(len(problem.entry_block))
        for (a, b), (_, _, own) in zip(self.ranges, parts, strict=True):
            further[block_pieces.entries(problem, a, b)] = own
        return Sums(np.concatenate([u for u, _, _ in parts]), np.concatenate([c for _, c, _ in parts]), further)


def tolerances(problem: BlockSums, policy: Policy) -> list[float]:
    """Of each level, relative to the rewards of all pieces."""
    levels = len(policy.levels)
    if levels == 1:
        return [0.0]
    if problem.types is None:
        sizes = policy.sizes(problem.layout, problem.rows)
    else:
        typed = problem.typed_rows if policy.rows is None else problem.types.restrict(policy.rows)
        sizes = Policy(policy.levels).sizes(problem.types, typed)
    return tolerance(np.zeros((0, levels)), sizes).tolist()


# ------------------------------------------------------------------------------------------------------ two clusters


@contextmanager
def connected(address: str, tell: Tell) -> Iterator[DaskEngine]:
    """The engine of a scheduler that is running already."""
    with _quietly():
        try:
            with ThreadPoolExecutor(1) as aside:  # a notebook has an event loop in this thread
                found = aside.submit(asyncio.run, _identity(address)).result()
            client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False) if found == "Scheduler" else None
        except OSError:
            client = None
        except (TypeError, ValueError, RuntimeError) as error:  # no certificates
            raise InputError(Problem("engine", f"{address} cannot be used: {error}")) from None
        if client is None:
            fix = "start one with: dask scheduler"
            raise InputError(Problem("engine", f"no scheduler answers at {address}", fix))
        try:
            check = partial(_check, client, address)
            check()
            yield DaskEngine(client, tell, partial(client.wait_for_workers, 1, timeout=PATIENCE_SECONDS), check)
        finally:
            _close(client)


@contextmanager
def on_this_machine(tell: Tell) -> Iterator[DaskEngine]:
    """The engine of a cluster on this machine that lives until the end of the block."""
    with _quietly(), tempfile.TemporaryDirectory(prefix="auditkit-", ignore_cleanup_errors=True) as folder:
        cluster = LocalCluster(
            n_workers=0,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=False,
        )
        wanted = os.cpu_count() or 1
        workers = [_worker(cluster.scheduler_address, folder) for _ in range(wanted)]
        try:
            client = Client(cluster, set_as_default=False)

            def gather_workers() -> None:
                end = time.monotonic() + START_SECONDS
                while True:  # a killed process is still there when its connection is lost: the next look misses it
                    missing = wanted - sum(worker.poll() is None for worker in workers)
                    workers.extend(_worker(cluster.scheduler_address, folder) for _ in range(missing))
                    try:
                        return client.wait_for_workers(wanted, timeout=LOOK_SECONDS)
                    except TimeoutError:
                        if time.monotonic() > end:
                            raise

            try:
                yield DaskEngine(client, tell, gather_workers)
            finally:
                _close(client)
        finally:
            for worker in workers:  # they have nothing to lose
                worker.kill()
                worker.wait()
            with suppress(*LOST, KeyError):  # distributed looks up a worker that left before it was listed
                cluster.close(timeout=CONNECT_SECONDS)


async def _identity(address: str) -> Any:
    """Who answers at an address; a Client would wait forever for somebody who listens and says nothing."""

    async def ask() -> Any:
        options = distributed.Security().get_connection_args("client")
        async with distributed.rpc(address, timeout=CONNECT_SECONDS, connection_args=options) as peer:
            return (await peer.identity())["type"]

    return await asyncio.wait_for(ask(), CONNECT_SECONDS)


def _worker(scheduler: str, folder: str) -> subprocess.Popen[bytes]:
    """A worker process; -P keeps the working directory off its path."""
    options = ["--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--death-timeout", str(START_SECONDS)]
    places = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0", "--local-directory", folder]
    command = [sys.executable, "-P", "-m", "distributed.cli.dask_worker", scheduler, "--no-dashboard"]
    return subprocess.Popen(
        [*command, *options, *places],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]"},
        start_new_session=True,
    )


def _close(client: Client) -> None:
    with suppress(*LOST):
        client.close(timeout=CONNECT_SECONDS)


def _check(client: Client, address: str) -> None:
    """Everybody in the cluster must have the auditkit that this process has: then they compute the same numbers."""
    with suppress(TimeoutError):
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    if not client.nthreads():
        fix = f"start some with: dask worker {address}"
        raise InputError(Problem("engine", f"the scheduler at {address} has no workers", fix))
    # a function of the standard library: it needs no auditkit there to be asked for
    asked = (importlib.metadata.version, "auditkit")
    found: dict[str, object] = client.run(*asked, on_error="return")
    try:
        at_scheduler = client.run_on_scheduler(*asked)
    except importlib.metadata.PackageNotFoundError as error:
        at_scheduler = error
    own = importlib.metadata.version("auditkit")
    others = [(f"the worker at {where}", what) for where, what in sorted(found.items()) if what != own]
    if at_scheduler != own:
        others.insert(0, (f"the scheduler at {address}", at_scheduler))
    if others:
        who, what = others[0]
        has = f"has auditkit {what}, not {own}" if isinstance(what, str) else "has no auditkit"
        more = f", and so it is with {len(others) - 1} more" if len(others) > 1 else ""
        raise InputError(Problem("engine", f"{who} {has}{more}", f"install auditkit {own} on every machine"))


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the words of dask and of the libraries under it: what matters, auditkit says."""
    talkers = ("distributed", "dask", "tornado", "asyncio", "bokeh")
    names = [name for name in (*talkers, *logging.root.manager.loggerDict) if name.partition(".")[0] in talkers]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        with dask.config.set(SILENT), warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"(distributed|dask|tornado|asyncio)(\.|$)")
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
