"""What a reader is: from the bytes of one kind of file to tables of cells.

A plugin subclasses `Reader`, says by what it knows its files, and returns it from the hook `auditkit_readers`:

    class Stata(Reader):
        name, suffixes = "stata", (".dta",)

        def read(self, data, place):
            return {"": pd.read_stata(io.BytesIO(data))}

Files that no reader knows are read as delimited text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import pandas as pd


class Reader(ABC):
    """Base of all readers. Where `starts` are given, the first bytes say what a file is; else the ending of its name.

    Of two readers for the same first bytes, the one that names the file's ending too goes first.
    """

    name: ClassVar[str]

    starts: ClassVar[tuple[bytes, ...]] = ()
    """First bytes that only such files have."""

    suffixes: ClassVar[tuple[str, ...]] = ()
    """Endings of their names, in small letters with the dot: (".dta",)."""

    @abstractmethod
    def read(self, data: bytes, place: str) -> Mapping[str, pd.DataFrame]:
        """The tables of a file by name, in order; one under "" where the format has no names for them.

        Columns that have names are taken by them. Where columns are numbered 0, 1, ... the header is looked for among
        the rows. Cells may be anything; they become the text that an export would write. Raise InputError, with what
        the user can do, where the file itself is broken.
        """


def claims(reader: type[Reader], data: bytes, place: str) -> int:
    """0 if a file is not one of this reader's, 2 if both its first bytes and its ending speak for it, else 1."""
    ending = PurePath(place).suffix.lower() in reader.suffixes
    return int(ending) + 1 if reader.starts and data.startswith(reader.starts) else int(ending and not reader.starts)
