"""Lets the tests import their own helpers (`occupancy`, `tiny`) under `--import-mode=importlib`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
