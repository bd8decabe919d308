"""Loopback servers for alerts: a web server that does as it is told, and a certificate of our own."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PATIENCE = 300
"""Seconds to wait for something that will happen; only a defect takes that long."""

Answer = Callable[["Handler", int], None]


class Handler(BaseHTTPRequestHandler):
    """Hands each request and its number to the answer of the test."""

    server: WebServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.server.guard:
            self.server.requests.append((self.path, dict(self.headers), json.loads(body)))
            number = len(self.server.requests)
        self.server.answer(self, number)

    do_GET = do_POST

    def reply(self, code: int, **headers: str) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


class WebServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.closing = threading.Event()
        self.guard = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: Any) -> None:
        pass  # a client that gave up


@contextmanager
def web(answer: Answer) -> Iterator[WebServer]:
    server = WebServer(answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def hang(handler: Handler, _: int) -> None:
    """Never answer."""
    handler.server.closing.wait()


def drip(handler: Handler, _: int) -> None:
    """Answer without end, one byte at a time, each within any time-out of a socket."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not handler.server.closing.wait(0.03):
        handler.wfile.write(b"x")
        handler.wfile.flush()


def wait_for_requests(server: WebServer, count: int) -> None:
    """Wait until so many requests have arrived: a busy machine may take longer than the client that gave up."""
    end = time.monotonic() + PATIENCE
    while len(server.requests) < count and time.monotonic() < end:
        time.sleep(0.01)


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for localhost that nobody else trusts, and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)),
        ],
        check=True,
        capture_output=True,
    )
    return cert, key
