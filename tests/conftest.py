"""Fixtures that several test files use, and how the suite runs: its random examples, its order, its slow tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("support")  # before the first import from it

from auditkit import cli  # noqa: E402
from auditkit.report import html  # noqa: E402
from support import processor_times, report_example  # noqa: E402
from support.audit_helpers import rows, save  # noqa: E402
from support.pages import CHROMIUM, PATIENCE  # noqa: E402
from support.plugin_helpers import Ran  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The same examples in every run, a third as many as hypothesis draws by itself; `make fuzz` takes the other profile.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=34)
settings.register_profile("fresh", derandomize=False, deadline=None, print_blob=True)
settings.load_profile("steady")

# A shell ignores SIGINT for its background jobs (`nohup make test &`), and children inherit that: Ctrl-C would do
# nothing in any test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-times", action="store_true", help="rewrite tests/processor_times.json")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--record-times"):
        config.pluginmanager.register(processor_times.Recorder())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark slow tests and start them first; keep tests that share a fixture of their file on one worker."""
    times = processor_times.load()
    units = processor_times.unit_seconds(items, times)
    for item in items:
        if processor_times.slow(item, times, units):
            item.add_marker(pytest.mark.slow)
        if getattr(config.option, "loadgroup", False) and (group := processor_times.group(item)):
            # What xdist 3.8 makes of its marker `xdist_group`; it writes to where pytest 9.2 no longer looks.
            item._id = type(item.id).parse(f"{item.nodeid}@{group}")
    items.sort(key=lambda item: -units[processor_times.key(item)])


@pytest.fixture
def auditkit(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Ran]:
    """Run the command line in this process, in `tmp_path`."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Ran:
        code = cli.invoke([str(a) for a in arguments])
        return Ran(code, *capfd.readouterr())

    return run


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small export with everything an audit can use."""
    return save(tmp_path_factory.mktemp("data") / "people.csv", rows())


@pytest.fixture(scope="session")
def few_people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A smaller export, with a group of two persons."""
    return save(tmp_path_factory.mktemp("data") / "people.csv", rows(searches=6, each=6, tiny=2))


@pytest.fixture(scope="session")
def page() -> str:
    """The report of the example."""
    return html.render(report_example.report())


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None and not os.environ.get("CI"):
        pytest.skip("there is no Chromium; .ci/system-packages installs it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu"]
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=options, timeout=1000 * PATIENCE)
        yield opened
        opened.close()
