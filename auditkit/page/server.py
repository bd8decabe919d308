"""Run the page until Ctrl-C on a free port of 127.0.0.1, with a private folder that is removed afterwards."""

from __future__ import annotations

import contextlib
import errno
import signal
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import uvicorn

from auditkit.config import Config
from auditkit.data.source import place_of
from auditkit.errors import InputError, Problem
from auditkit.page.access import Key
from auditkit.page.open_audits import OpenAudits
from auditkit.page.routes import application
from auditkit.scheduled.audit_history import AuditHistory

HOST = "127.0.0.1"
GRACE = 2
"""Seconds that open connections get at shutdown."""


def serve(
    paths: Sequence[Path],
    config: Config,
    port: int,
    browser: bool,
    announce: Callable[[str], None],
    history: AuditHistory | None = None,
) -> None:
    """Serve the page with these files open; `announce` is called with its address once it responds."""
    if missing := [path for path in paths if not path.is_file()]:
        fix = "give the name of an export, or none"
        raise InputError(Problem(str(path), "there is no such file", fix) for path in missing)
    with (
        _listening(port) as listener,
        tempfile.TemporaryDirectory(prefix="auditkit-page-", ignore_cleanup_errors=True) as folder,
    ):
        key = Key(listener.getsockname()[1])
        audits = OpenAudits(Path(folder), config)
        try:
            audits.warm_up()
            address = key.address
            if paths:
                opened = audits.open_file(place_of([path.resolve() for path in paths]))
                address = address.replace("/?", f"/audits/{opened.id}/reading?")
            server = _Server(
                uvicorn.Config(
                    application(audits, key, history),
                    log_level="critical",
                    access_log=False,
                    server_header=False,
                    lifespan="off",
                    timeout_graceful_shutdown=GRACE,
                    timeout_keep_alive=30,
                ),
                lambda: _started(address, browser, announce),
            )
            with _terminated_like_interrupted():
                server.run(sockets=[listener])
        finally:
            audits.stop()


class _Server(uvicorn.Server):
    """Calls back once it responds."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._callback = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._callback()


def _started(address: str, browser: bool, announce: Callable[[str], None]) -> None:
    announce(address)
    if browser:
        threading.Thread(target=_show, args=(address,), daemon=True).start()


def _show(address: str) -> None:
    """Open a browser; without one, the printed address has to do."""
    with contextlib.suppress(Exception):
        webbrowser.open(address)


@contextlib.contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    """A socket that listens on the port; 0 means any free port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        try:
            listener.bind((HOST, port))
        except OSError as error:
            why = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used: {error.strerror}"
            raise InputError(Problem(f"--port {port}", why, "leave --port out, or name another")) from None
        except OverflowError:
            raise InputError(Problem(f"--port {port}", "is not a port", "name one from 1024 to 65535")) from None
        yield listener


@contextlib.contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Make SIGTERM and SIGHUP end the page like Ctrl-C: uvicorn handles the first signal, this the others."""

    def leave(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {name: signal.signal(name, leave) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
