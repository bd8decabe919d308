"""What several tests share: instances, constraints, files, pages. No tests in here."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder of the repository."""
