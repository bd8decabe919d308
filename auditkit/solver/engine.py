"""Where policies are evaluated: in this process, or on the workers of a dask cluster.

    local              the threads of this process
    dask               worker processes on this machine, as many as it has cores, for as long as the command runs
    tcp://HOST:PORT    the workers of a scheduler that is running already (tls:// for one that encrypts)

`BlockSums.of_policy` asks the engine that is running, and nothing else knows of it: a policy goes out, its sums by
block come back. They are the same numbers whatever the engine, because blocks depend on the data alone and every block
is added up by one worker in one order. What needs the visits of every state stays in this process: the optimum at the
end of a solve, and convex measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from auditkit.errors import InputError, Problem, nearest

if TYPE_CHECKING:
    from auditkit.solver.block_sums import BlockSums, Sums
    from auditkit.solver.policy import Policy

LOCAL, DASK = "local", "dask"
SCHEMES = ("tcp://", "tls://")

Tell = Callable[[str], None]


class Engine(Protocol):
    """Somebody else who evaluates policies."""

    def sums(self, problem: BlockSums, policy: Policy) -> Sums | None:
        """What a policy yields in each block; None if there is nobody left to ask."""


_running: list[Engine] = []


def current() -> Engine | None:
    """The engine that was started last and is still running; None: policies are evaluated in this process."""
    return _running[-1] if _running else None


@contextmanager
def running(name: str, tell: Tell = lambda _: None) -> Iterator[None]:
    """Evaluate policies on the engine of this name; `tell` hears what a user should know.

    Raises InputError if there is no such engine, or nobody answers there.
    """
    if name == LOCAL:
        yield
        return
    address = None if name == DASK else _address(name)
    try:
        from auditkit.solver import dask_engine
    except ModuleNotFoundError as error:
        if error.name not in ("dask", "distributed"):
            raise
        problem = Problem("engine", f"{name!r} needs dask, which is not installed", "pip install 'auditkit[dask]'")
        raise InputError(problem) from None
    started = dask_engine.on_this_machine(tell) if address is None else dask_engine.connected(address, tell)
    with started as engine:
        _running.append(engine)
        try:
            yield
        finally:
            _running.remove(engine)


def _address(name: str) -> str:
    """The address of a scheduler."""
    scheme = next((scheme for scheme in SCHEMES if name.startswith(scheme)), None)
    if scheme is None:
        known = "local, dask, or tcp://HOST:PORT"
        close = nearest(name, (LOCAL, DASK))
        fix = f"{close} Known: {known}" if close.startswith("did") else f"known: {known}"
        raise InputError(Problem("engine", f"there is no engine {name!r}", fix))
    host, _, port = name.removeprefix(scheme).rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or not 0 < int(port) < 65536:
        raise InputError(Problem("engine", f"{name!r} is not {scheme}HOST:PORT", f"e.g. {scheme}10.0.0.5:8786"))
    return name
