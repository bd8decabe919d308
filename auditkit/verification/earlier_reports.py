"""Reports of the same data with other settings: two of them can be subtracted, which reveals more about a person."""

from __future__ import annotations

import json
from pathlib import Path

from auditkit.errors import InputError
from auditkit.files import parse_json, read_file
from auditkit.report.schema import Report

MOST_FILES, MOST_BYTES = 200, 20_000_000
IMMATERIAL = ("source", "statement", "organisation", "thresholds", "history", "alerts", "engine")
FORMATS = ("formats", "parts", "template_dir")
"""Settings that change no number, and those of `report` that do not."""


def with_other_settings(folder: Path, report: Report) -> list[str]:
    """Names of the reports in a folder that were made from the same data with other settings."""
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix == ".json")[:MOST_FILES]
    except OSError:
        return []
    mine, found = _settings(report.config.to_json()), []
    for path in files:
        try:
            if path.stat().st_size > MOST_BYTES:
                continue
            other = parse_json(read_file(path), str(path))
        except (OSError, InputError):
            continue
        if isinstance(other, dict) and str(other.get("format")).startswith("auditkit-report/"):
            source = other.get("input")
            same = isinstance(source, dict) and source.get("sha256") == report.input.sha256
            if same and _settings(other.get("config")) != mine:
                found.append(path.name)
    return found


def _settings(config: object) -> str:
    """The settings that affect numbers, as text."""
    if not isinstance(config, dict):
        return ""
    kept = {key: value for key, value in config.items() if key not in IMMATERIAL}
    if isinstance(kept.get("report"), dict):
        kept["report"] = {key: value for key, value in kept["report"].items() if key not in FORMATS}
    return json.dumps(kept, sort_keys=True)
