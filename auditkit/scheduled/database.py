"""Open the database of a history: SQLite in a file, or PostgreSQL by URL; create its tables.

No message contains the password of a URL.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from auditkit.data import sql_query
from auditkit.data.sql_query import parts_of, scrubbed
from auditkit.errors import InputError, Problem
from auditkit.scheduled import migrate, tables

ADVISORY = 0x6175646974  # "audit", for PostgreSQL's lock while the schema changes
PATIENCE = 30
"""Seconds to wait for a response from the database."""
TURN = 600
"""Seconds to wait for programs that write: a refused run would have to be restarted."""


def version_of(connection: sa.Connection) -> int | None:
    """The version of the schema, None where there is no history at all."""
    if not sa.inspect(connection).has_table(tables.schema.name):
        return None
    return connection.scalar(sa.select(tables.schema.c.version))


def prepare(engine: sa.Engine, shown: str, create: bool) -> str:
    """Create the tables where there are none; the id of the history."""
    with engine.connect() as connection, connection.begin():
        version = version_of(connection)
    if version is None and not create:
        raise InputError(Problem(shown, "holds no history yet", "auditkit run AUDIT.toml begins one"))
    if version is None:
        with engine.connect() as connection:
            connection = connection.execution_options(write=True)
            with connection.begin():
                _create(connection)
    with engine.connect() as connection, connection.begin():
        version, history = connection.execute(sa.select(tables.schema.c.version, tables.schema.c.history)).one()
    if version == migrate.FROM and create:
        with engine.connect() as connection:
            connection = connection.execution_options(write=True)
            with connection.begin():
                hold(connection)
                if version_of(connection) == migrate.FROM:  # another program may have been faster
                    migrate.migrate(connection)
        version = tables.VERSION
    if version == migrate.FROM:
        what = f"was written by an earlier auditkit (version {version} of its tables)"
        raise InputError(Problem(shown, what, "the next auditkit run AUDIT.toml brings it up to date and keeps a copy"))
    if version != tables.VERSION:
        what = (
            f"was written by another auditkit: its tables have version {version}, and this one knows {tables.VERSION}"
        )
        raise InputError(Problem(shown, what, "use the auditkit that wrote it, or name another database in [history]"))
    return str(history)


def hold(connection: sa.Connection) -> None:
    """Keep other programs from writing until the transaction ends; SQLite does so by itself."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(ADVISORY)))


def _create(connection: sa.Connection) -> None:
    """All tables, or none, in the transaction of the caller; another program may have been faster."""
    hold(connection)
    if version_of(connection) is None:
        tables.metadata.create_all(connection)
        connection.execute(sa.insert(tables.schema).values(version=tables.VERSION, history=uuid.uuid4().hex))


def connect(url: str, create: bool) -> tuple[sa.Engine, str]:
    """An engine for a SQLite file or a URL, and what to call it in messages."""
    parsed = parts_of(url, "history.database") if "://" in url else sa.URL.create("sqlite", database=url)
    shown = sql_query.shown(parsed)
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    backend = parsed.get_backend_name()
    if backend not in tables.BACKENDS:
        raise InputError(Problem(shown, f"{backend!r} is not supported", "use SQLite or PostgreSQL"))
    if backend == "postgresql":
        patience = {} if "connect_timeout" in parsed.query else {"connect_timeout": PATIENCE}
        try:
            return sa.create_engine(parsed, poolclass=sa.NullPool, connect_args=patience), shown
        except ImportError:
            raise InputError(Problem(shown, "the driver is missing", "pip install 'auditkit[postgres]'")) from None
        except (exc.ArgumentError, exc.NoSuchModuleError, TypeError, ValueError):
            raise InputError(
                Problem(shown, "is not the URL of a database", "postgresql://user@host/database")
            ) from None
    if parsed.host is not None or not parsed.database:
        raise InputError(Problem(shown, "names no file", "e.g. sqlite:///history.sqlite"))
    shown = parsed.database
    if not create and not Path(shown).is_file():
        raise InputError(Problem(shown, "there is no history yet", "auditkit run AUDIT.toml begins one"))
    if create:
        try:
            Path(shown).parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(shown, os.O_RDWR | os.O_CREAT, 0o600))  # a new history is for its user alone
        except OSError as error:
            raise InputError(Problem(shown, f"it cannot be made: {error.strerror or error}")) from None
    engine = sa.create_engine(parsed, poolclass=sa.NullPool, connect_args={"timeout": TURN})

    # The driver's own idea of transactions leaves CREATE TABLE outside of them: ours begin where we say.
    @sa.event.listens_for(engine, "connect")
    def _plain(connection: Any, _: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("write") else "BEGIN")

    return engine, shown


@contextmanager
def refusals_explained(shown: str, url: sa.URL) -> Iterator[None]:
    """Turn refusals of the database into an InputError; defects of auditkit pass through."""
    try:
        yield
    except (TypeError, ValueError, exc.ArgumentError) as error:  # what a driver makes of the parameters of a URL
        if url.get_backend_name() == "sqlite":
            raise
        raise InputError(Problem(shown, f"the history cannot be used: {scrubbed(str(error), url)}")) from None
    except exc.DBAPIError as error:
        state = getattr(error.orig, "sqlstate", None)
        denied = state == "42501"
        unusable = isinstance(error, exc.ProgrammingError) and url.get_backend_name() == "postgresql" and state is None
        if not (isinstance(error, exc.OperationalError) or type(error) is exc.DatabaseError or denied or unusable):
            raise
        reason = next(iter(str(error.orig).strip().splitlines()), type(error.orig).__name__)
        raise InputError(Problem(shown, f"the history cannot be used: {scrubbed(reason, url)}")) from None
