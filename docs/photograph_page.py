"""Take the pictures of page.md: python docs/photograph_page.py

With a folder, photograph every step there instead, at 1280 and 375 pixels, light and dark, to look at. The report is a
quick one. Needs the test extra and a Chromium.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).resolve().parent
QUICK = "[report]\nwhat_if = false\nalternatives = false\nreplicates = 0\n"
PATIENCE = 600_000
Photograph = Callable[[str], None]


def walk(page: Page, address: str, photograph: Photograph) -> None:
    """From the first step to the last with the sample data."""
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    photograph("file")
    page.get_by_role("button", name="Try it with the sample data").click()
    page.get_by_label("Favourable outcome").wait_for()
    photograph("reading")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Make the report").wait_for()
    photograph("choose")
    page.get_by_role("button", name="Make the report").click()
    page.locator(".stages .done").nth(3).wait_for()
    photograph("run")
    page.frame_locator("iframe[title='Audit report']").get_by_role("heading", level=1).wait_for()
    page.get_by_text("Explore: what other constraints would cost").click()
    page.get_by_label("Impact ratio of at least").fill("0.9")
    page.locator("[data-explored]", has_text="Exact: gap").wait_for()
    photograph("report")
    page.get_by_role("link", name="History").click()
    photograph("history")


def main(folder: Path | None) -> None:
    chosen = {"reading", "run", "report"}
    views = [(1280, "light"), (1280, "dark"), (375, "light"), (375, "dark")] if folder else [(1280, "light")]
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        (Path(place) / "audit.toml").write_text(QUICK)
        command = [sys.executable, "-m", "auditkit", "open", "--no-browser", "--config", "audit.toml"]
        with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            for width, scheme in views:
                context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
                page = context.new_page()

                def photograph(step: str, page: Page = page, width: int = width, scheme: str = scheme) -> None:
                    page.wait_for_load_state("load")
                    if folder:
                        page.screenshot(path=folder / f"{step}-{width}-{scheme}.png", full_page=True)
                    elif step in chosen:
                        page.screenshot(path=HERE / f"page-{step}.png")

                walk(page, address, photograph)
                context.close()
            browser.close()
            server.terminate()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    main(parser.parse_args().folder)
