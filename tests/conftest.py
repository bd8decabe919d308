"""Tests import each other's helpers by name; CI draws the same random examples every time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# A new example that fails belongs on the desk of whoever runs the tests, not in the way of an unrelated change.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
