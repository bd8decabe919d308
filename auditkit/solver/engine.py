"""Where policies are evaluated: in this process, or on the workers of a dask cluster.

    local              the threads of this process
    dask               worker processes on this machine, as many as it has cores, for as long as the command runs
    tcp://HOST:PORT    the workers of a scheduler that is running already (tls:// for one that encrypts)

`BlockSums.of_policy` asks the engine that is running, and nothing else knows of it: a policy goes out, its sums by
block come back. They are the same numbers whatever the engine, because blocks depend on the data alone and every block
is added up by one worker in one order. What needs the visits of every state stays in this process: the optimum at the
end of a solve, and convex measures. `start_engine.py` starts engines by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from auditkit.solver.block_sums import BlockSums, Sums
    from auditkit.solver.policy import Policy


class Engine(Protocol):
    """Somebody else who evaluates policies."""

    def sums(self, problem: BlockSums, policy: Policy) -> Sums | None:
        """What a policy yields in each block; None if no worker is left."""


_running: list[Engine] = []


def current() -> Engine | None:
    """The engine that was started last and is still running; None: policies are evaluated in this process."""
    return _running[-1] if _running else None


@contextmanager
def using(engine: Engine) -> Iterator[None]:
    """Have policies evaluated by this engine."""
    _running.append(engine)
    try:
        yield
    finally:
        _running.remove(engine)
