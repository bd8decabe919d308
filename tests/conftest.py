"""Fixtures that several files of tests use; CI draws the same random examples every time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("support")  # before the first import from it

from auditkit import cli  # noqa: E402
from auditkit.report import html  # noqa: E402
from support import report_example  # noqa: E402
from support.audit_helpers import rows, save  # noqa: E402
from support.pages import CHROMIUM  # noqa: E402
from support.plugin_helpers import Ran  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# A new example that fails belongs on the desk of whoever runs the tests, not in the way of an unrelated change.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture
def auditkit(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ran]:
    """Run the command line in this process, in `tmp_path`."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Ran:
        code = cli.invoke([str(a) for a in arguments])
        return Ran(code, *capfd.readouterr())

    return run


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small export with everything an audit can use."""
    return save(tmp_path_factory.mktemp("data") / "people.csv", rows())


@pytest.fixture(scope="module")
def few_people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A smaller export, with a group of two persons."""
    return save(tmp_path_factory.mktemp("data") / "people.csv", rows(searches=6, each=6, tiny=2))


@pytest.fixture(scope="module")
def page() -> str:
    """The report of the example."""
    return html.render(report_example.document())


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None and not os.environ.get("CI"):
        pytest.skip("there is no Chromium; .ci/system-packages installs it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()
