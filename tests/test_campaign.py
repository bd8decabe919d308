"""The campaign of `make fuzz`, with little time: every attack is tried, and all of them hold."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from support import ROOT


@pytest.fixture(scope="module")
def campaign() -> Any:
    spec = importlib.util.spec_from_file_location("campaign", ROOT / "tools" / "campaign.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["campaign"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, signals and /proc")
@pytest.mark.parametrize(
    "name",
    [
        "files",
        "instances",
        "solutions",
        "specs",
        "settings",
        "exhausting",
        "forged",
        "killed-with-pdf",
        "odd-inputs",
        "many-audits",
        "one-process",
        "other-user",
        "full-disk",
    ],
)
def test_a_short_run_of_each_attack_holds(campaign: Any, name: str) -> None:
    limits = campaign.Limits(0.5, random.Random(7), audits=2, repeats=4, odd=6, kills=3)
    result = campaign.attack(name, limits)
    assert result.failed == []
    assert result.tried > 0


def test_the_page_tells_what_was_tried_what_held_and_what_was_mended(campaign: Any) -> None:
    page = campaign.page([campaign.Result("x", 5, ["broke"]), campaign.Result("y", 7)], 1, 2)
    assert "| x | 5 | 4 | see below |" in page
    assert "| y | 7 | 7 |  |" in page
    assert "- x: `broke`" in page
    measured = campaign.Result("z", 1, measured=[("far.xlsx", "9 bytes", 0.1, 207.4, "too far")])
    assert "| far.xlsx | 9 bytes | 0.10 s | 207 MB | too far |" in campaign.page([measured], 1, 2)
    for _, _, test in campaign.MENDED:
        assert Path(ROOT / "tests" / f"{test}.py").is_file(), test


def test_there_are_at_least_300_odd_exports_and_all_differ(campaign: Any) -> None:
    exports = dict(campaign.odd_exports())
    assert len(exports) >= 300 and len(set(exports.values())) > 0.95 * len(exports)
