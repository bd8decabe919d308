"""A package of somebody else's, with entry points, as pip would leave it behind. (No tests in here.)"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support import ROOT

NAME, VERSION = "their-plugins", "1.2"
NAMED = f"plugin 'theirs' of {NAME} {VERSION}"
HEAD = "from auditkit import hookimpl\n"
GOOD = (ROOT / "docs" / "plugins.md").read_text().split("```python\n")[1].split("```")[0]


class Ran:
    """How a command ended, and what it said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str, **files: str) -> Path:
    """Put the module `theirs` and other files (name__ending) where Python finds them; gone when the test is over."""
    site = folder / "site"
    info = site / f"{NAME.replace('-', '_')}-{VERSION}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n")
    (info / "entry_points.txt").write_text("[auditkit]\ntheirs = theirs_of_a_test\n")
    (site / "theirs_of_a_test.py").write_text(HEAD + source)
    for name, text in files.items():
        (site / name.replace("__", ".")).write_text(text)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "theirs_of_a_test", raising=False)
    sys.modules.pop("theirs_of_a_test", None)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return site
