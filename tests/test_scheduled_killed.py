"""Killed at any moment, nothing that was recorded is lost and the next run goes through."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_many_points(tmp_path: Path) -> None:
    script = ROOT / "tests" / "support" / "scheduled_killed.py"
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "audit"), "11"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    killed, events = map(int, done.stdout.split())
    assert killed >= 30 and events >= 300, done.stdout
