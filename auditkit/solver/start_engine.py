"""Engines by name, as `--engine` takes them; `engine.py` says what they are. Dask is loaded only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from auditkit.errors import InputError, Problem, nearest
from auditkit.solver.engine import using

LOCAL, DASK = "local", "dask"
SCHEMES = ("tcp://", "tls://")

Tell = Callable[[str], None]


@contextmanager
def running(name: str, tell: Tell = lambda _: None) -> Iterator[None]:
    """Evaluate policies on the engine of this name; `tell` hears what a user should know.

    Raises InputError if there is no such engine, or it does not answer.
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
    with started as engine, using(engine):
        yield


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
