"""Printed text can't take over the terminal: control characters and direction marks in any name come out escaped.

While a command runs, stdout and stderr are wrapped. The escapes are JSON's (\\u001b), so a document printed for
programs stays the same document. rich draws its tables and bars on the bare stream, and its cells are escaped one by
one.

On a terminal, the first word of a line has a colour (`error:`, `written:`, ...), unless NO_COLOR is set.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from auditkit.text import printable_lines

COLOURS = {"error": "1;31", "FAILED": "1;31", "warning": "33", "finding": "1;33", "written": "32", "note": "36"}
"""Colours of the words that lines begin with, as terminals number them."""
_LABEL = re.compile(rf"^({'|'.join(COLOURS)})(?=:)", re.MULTILINE)


class Escaping:
    """A stream that writes only visible characters."""

    def __init__(self, stream: TextIO) -> None:
        self.bare = stream
        self.colours = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def write(self, text: str) -> int:
        shown = printable_lines(text)
        if self.colours:
            shown = _LABEL.sub(lambda found: f"\x1b[{COLOURS[found[1]]}m{found[1]}\x1b[0m", shown)
        return self.bare.write(shown)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bare, name)


def bare(stream: TextIO) -> TextIO:
    """The underlying stream, for a library that draws."""
    return stream.bare if isinstance(stream, Escaping) else stream


@contextmanager
def escaped() -> Iterator[None]:
    """Escape what is written to both streams inside the block."""
    before = sys.stdout, sys.stderr
    for stream in before:
        if hasattr(stream, "reconfigure"):  # a terminal that knows fewer characters shows escapes, not a traceback
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = (cast(TextIO, Escaping(bare(stream))) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
