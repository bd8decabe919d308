"""A running `auditkit open`, and what axe-core finds wrong with a page. (No tests in here.)

`axe.min.js` is axe-core 4.14.0 of Deque Systems, under the Mozilla Public License 2.0, unchanged; only tests use it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.pages import PATIENCE, tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

AXE = Path(__file__).with_name("axe.min.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Running:
    """The process, its address and where its private folder is."""

    process: subprocess.Popen[str]
    address: str
    temporary: Path

    @property
    def origin(self) -> str:
        return self.address.split("/?")[0].split("/audits")[0]

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def running(
    folder: Path, *arguments: object, browser: bool = False, environment: dict[str, str] | None = None
) -> Iterator[Running]:
    """`auditkit open` with these arguments, in a folder, with its temporary files in another."""
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "auditkit", "open", *([] if browser else ["--no-browser"]), *map(str, arguments)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary), **(environment or {})},
    )
    assert process.stdout is not None
    try:
        yield Running(process, process.stdout.readline().strip(), temporary)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(PATIENCE)
        process.stdout.close()
        assert process.stderr is not None
        process.stderr.close()


class Visitor:
    """A browser tab that remembers everything the page did that it should not."""

    def __init__(self, browser: Browser, server: Running, **options: Any) -> None:
        self.complaints: list[str] = []
        self.page: Page = tab(browser, **options)
        self.page.on("console", lambda message: self.complaints.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("request", lambda request: self._watch(request.url, server.origin))
        self.page.goto(server.address)

    def _watch(self, url: str, origin: str) -> None:
        if not url.startswith((origin + "/", "data:", "blob:")):
            self.complaints.append(f"request: {url}")

    def choose_file(self, path: Path) -> None:
        """Step 1, up to the reading."""
        self.page.get_by_label("Export file").set_input_files(path)
        self.page.get_by_role("button", name="Continue").click()
        self.page.get_by_label("Favourable outcome").wait_for()

    def settled(self) -> None:
        """Wait until a changed menu is re-read."""
        self.page.locator("[data-live]:not([aria-busy])").wait_for()


def axe_complaints(page: Page) -> list[str]:
    """What axe-core finds wrong with a page, in a context that bypasses its policy: only there may the script run."""
    page.evaluate(AXE)
    found = page.evaluate("async () => (await axe.run(document, {iframes: false})).violations")
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found]
