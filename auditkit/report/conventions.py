"""Conventions that every report names, each with the date on which its text was last read (`conventions.toml`)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources import files


@dataclass(frozen=True)
class Convention:
    """A convention in our own words."""

    key: str
    name: str
    text: str
    read_on: date
    source: str


def conventions() -> Mapping[str, Convention]:
    """The texts by key."""
    document = tomllib.loads((files("auditkit.report") / "conventions.toml").read_text(encoding="utf-8"))
    return {key: Convention(key=key, **entry) for key, entry in document.items()}
