"""Bring an older history to the current version of its tables; a copy of the old one is kept.

    1 -> 2    runs are linked to a chain (`chain.py`)

A copy of a SQLite file lies beside it (`history.sqlite.version-1`); in PostgreSQL the old tables are copied
(`auditkit_runs_version_1`).
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from auditkit.scheduled import chain, tables

FROM = 1
"""The version that can be migrated."""


def migrate(connection: sa.Connection) -> None:
    """All of it or nothing, in the transaction of the caller, which holds the database."""
    keep_copy(connection)
    connection.execute(sa.text(f"ALTER TABLE {tables.runs.name} ADD COLUMN link TEXT"))
    chain.extend(connection)
    connection.execute(sa.update(tables.schema).values(version=tables.VERSION))


def keep_copy(connection: sa.Connection) -> None:
    """A copy that the older auditkit can read."""
    if connection.dialect.name == "postgresql":
        for table in tables.metadata.tables.values():
            connection.execute(sa.text(f"CREATE TABLE {table.name}_version_{FROM} AS TABLE {table.name}"))
        return
    path = Path(str(connection.engine.url.database))
    copy = path.with_name(f"{path.name}.version-{FROM}")
    os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
    source = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(source, uri=True)) as old, closing(sqlite3.connect(copy)) as new:
        old.backup(new)
