"""Printed text cannot take over the terminal: control characters and direction marks in any name come out escaped.

While a command runs, stdout and stderr are wrapped. The escapes are those of JSON (\\u001b), so a document that is
printed for programs stays the same document. rich draws its tables and bars on the bare stream; what it is given is
escaped cell by cell.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from auditkit.text import printable_lines


class Escaping:
    """A stream that writes what can be seen."""

    def __init__(self, stream: TextIO) -> None:
        self.bare = stream

    def write(self, text: str) -> int:
        return self.bare.write(printable_lines(text))

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bare, name)


def bare(stream: TextIO) -> TextIO:
    """The stream below, for a program that draws."""
    return stream.bare if isinstance(stream, Escaping) else stream


@contextmanager
def escaped() -> Iterator[None]:
    """Both streams escape while this lasts."""
    before = sys.stdout, sys.stderr
    for stream in before:
        if hasattr(stream, "reconfigure"):  # a terminal that knows fewer characters shows escapes, not a traceback
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = (cast(TextIO, Escaping(bare(stream))) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
