"""A table of text as it was read, and where it came from."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from auditkit.data.problems import Notice
from auditkit.text import as_unicode


@dataclass(frozen=True)
class Source:
    """Where the data came from; `rows` are those below the header that are not blank."""

    path: str
    rows: int
    sha256: str
    encoding: str | None
    separator: str | None
    header_row: int
    url: str | None = None
    """Of the database, without its password, where the rows come from one."""
    query: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", as_unicode(self.path))


@dataclass(frozen=True, eq=False)
class RawTable:
    """Text cells ("" where empty); the index holds the row numbers of the file.

    `count` is the column of counts of a summary table, whose rows were expanded; `separate` says that its attributes
    were counted each by itself, so that their crossings are not known.
    """

    table: pd.DataFrame
    source: Source
    notices: tuple[Notice, ...]
    count: str | None = None
    separate: bool = False
    titles: tuple[str, ...] = ()
    """What the rows above the header say."""
