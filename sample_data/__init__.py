"""Small inputs to try auditkit on, and what writes them; README.md tells the story.

This folder is the package `auditkit.sample_data`, so that `auditkit sample` finds the files in a working copy and in an
installed wheel alike.
"""

from __future__ import annotations

from pathlib import Path

FILES = {
    "hiring.csv": "one year of a firm's hiring, one row per application, with planted differences",
    "hiring-level.csv": "the same kind of firm without planted differences",
    "hiring-messy.csv": "hiring.csv as an office program and several hands leave it",
    "hiring-stages.csv": "an event log, one row per stage event, with planted differences",
    "four-boxes.json": "the smallest instance with a price of fairness",
    "three-boxes.json": "two constraints that cost nothing, but only under the right tie-breaking",
    "stages.json": "six candidates in three stages, with parity at three places",
}
"""The sample files and what they are."""


def content(name: str) -> bytes:
    """The bytes of a sample file."""
    return Path(__file__).with_name(name).read_bytes()
