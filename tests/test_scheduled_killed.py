"""Killed at any moment, nothing that was recorded is lost and the next run goes through.

`make fuzz` kills at two to three times as many points.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT, scheduled_postgres

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def _killed(*arguments: object) -> tuple[int, int]:
    """How many runs were killed, and how many points a run has."""
    script = ROOT / "tests" / "support" / "scheduled_killed.py"
    command = [sys.executable, str(script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr[-3000:]
    killed, events = map(int, done.stdout.split())
    return killed, events


def test_killed_at_many_points(tmp_path: Path) -> None:
    killed, events = _killed(tmp_path / "audit", 41)
    assert killed >= 7 and events >= 300


def test_killed_at_many_points_with_the_history_in_postgresql(tmp_path: Path) -> None:
    if scheduled_postgres.binaries() is None:
        pytest.skip("there is no PostgreSQL server here: apt-get install postgresql")
    with scheduled_postgres.server() as url:
        killed, events = _killed(tmp_path / "audit", 103, url)
    assert killed >= 3 and events >= 200
