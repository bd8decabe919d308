"""Which tests are slow: processor seconds, measured with `make times` and kept in tests/processor_times.json.

Processor time (this process and the children it waited for) is nearly the same on a busy machine. All cases of a
parametrised test count as one, fixtures included. (No tests in here.)
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

import pytest

TABLE = Path(__file__).parent.parent / "processor_times.json"
SLOW_SECONDS = 0.3
"""A test that takes longer is left out by `-m 'not slow'`."""

SLOW_GROUP = 4.0
"""So are all tests of a group that takes longer together."""

KEPT_SECONDS = 0.3
"""The table has no tests below this."""


def load() -> dict[str, float]:
    times: dict[str, float] = json.loads(TABLE.read_text(encoding="utf-8"))
    return times


def key(item: pytest.Item) -> str:
    """file::function, without the parameters."""
    return f"{item.path.name}::{getattr(item, 'originalname', item.name)}"


def group(item: pytest.Item) -> str | None:
    """The tests that use module-scoped fixtures of one file, which another worker would make again, go to one.

    So do those that a file marks with `xdist_group`.
    """
    if marker := item.get_closest_marker("xdist_group"):
        return str(marker.args[0])
    info = getattr(item, "_fixtureinfo", None)
    definitions = [d for found in info.name2fixturedefs.values() for d in found] if info else []
    shares = any(d.scope == "module" and d.baseid.endswith(item.path.name) for d in definitions)
    return item.path.stem if shares else None


def unit_seconds(items: Sequence[pytest.Item], times: Mapping[str, float]) -> dict[str, float]:
    """How long the work takes that is sent to a worker in one piece: all cases of a test, or all tests of a group."""
    units = {key(item): group(item) or key(item) for item in items}
    found: defaultdict[str, float] = defaultdict(float)
    for name, unit in units.items():
        found[unit] += times.get(name, 0.0)
    return {name: found[unit] for name, unit in units.items()}


def slow(item: pytest.Item, times: Mapping[str, float], units: Mapping[str, float]) -> bool:
    """Whether `make quick` leaves out a test: for its own time, or for the fixture that the first of a group makes."""
    return times.get(key(item), 0.0) > SLOW_SECONDS or (group(item) is not None and units[key(item)] > SLOW_GROUP)


def spent() -> float:
    return sum(os.times()[:4])


class Recorder:
    """Measures every test, in each worker, and writes the table where the reports arrive."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.last = 0.0

    def pytest_collection_finish(self) -> None:
        self.last = spent()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report, now = (yield), spent()
        setattr(report, PART, (key(item), now - self.last))
        self.last = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name, seconds = getattr(report, PART)
        self.seconds[name] += seconds

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if hasattr(session.config, "workerinput") or exitstatus > pytest.ExitCode.TESTS_FAILED:
            return  # an interrupted run has measured a part of some files
        files = {name.partition("::")[0] for name in self.seconds}
        times = {name: seconds for name, seconds in load().items() if name.partition("::")[0] not in files}
        times |= {name: round(seconds, 1) for name, seconds in self.seconds.items() if seconds >= KEPT_SECONDS}
        TABLE.write_text(json.dumps(dict(sorted(times.items())), indent=0) + "\n", encoding="utf-8")


PART = "processor_time"
"""The attribute that takes a measurement from a worker to the process that collects them."""
