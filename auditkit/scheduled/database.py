"""Open the database of a history: SQLite in a file, or PostgreSQL by URL; bring its schema to the newest version.

Whatever keeps a database from being used is said without its password.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from auditkit.errors import InputError, Problem
from auditkit.scheduled import tables

ADVISORY = 0x6175646974  # "audit", for PostgreSQL's lock while the schema changes
PATIENCE = 30
"""Seconds to wait for another program that writes to the database."""


def version_of(connection: sa.Connection) -> int | None:
    """The version of the schema, None where there is no history at all."""
    if not sa.inspect(connection).has_table(tables.schema.name):
        return None
    return connection.scalar(sa.select(tables.schema.c.version))


def migrate(connection: sa.Connection, upto: int = len(tables.STEPS)) -> None:
    """Take the steps that are missing, within the transaction of the caller."""
    dialect = connection.dialect.name
    if dialect == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(ADVISORY)))
    version = version_of(connection)
    if version is None:
        tables.schema.create(connection)
        connection.execute(sa.insert(tables.schema).values(version=0, history=uuid.uuid4().hex))
        version = 0
    for step in tables.STEPS[version:upto]:
        for statement in step:
            connection.exec_driver_sql(statement.format(id=tables.IDS[dialect]))
    if version < upto:
        connection.execute(sa.update(tables.schema).values(version=upto))


def prepare(engine: sa.Engine, shown: str, create: bool) -> str:
    """Bring the schema to the newest version; the id of the history."""
    newest = len(tables.STEPS)
    with engine.connect() as connection, connection.begin():
        version = version_of(connection)
    if version is None and not create:
        raise InputError(Problem(shown, "holds no history yet", "auditkit run AUDIT.toml begins one"))
    if version is not None and version > newest:
        what = f"was written by a newer auditkit (its schema is {version}, this one knows {newest})"
        raise InputError(Problem(shown, what, "update auditkit"))
    if version != newest:
        with engine.connect() as connection:
            connection = connection.execution_options(write=True)
            with connection.begin():
                migrate(connection)
    with engine.connect() as connection, connection.begin():
        return str(connection.scalar(sa.select(tables.schema.c.history)))


def connect(url: str, create: bool) -> tuple[sa.Engine, str]:
    """An engine for a SQLite file or a URL, and what to call it in messages."""
    try:
        parsed = sa.make_url(url) if "://" in url else sa.URL.create("sqlite", database=url)
    except exc.ArgumentError:
        raise InputError(
            Problem("history.database", "is no URL of a database", "sqlite:///FILE or postgresql://...")
        ) from None
    shown = parsed.render_as_string(hide_password=True)
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    backend = parsed.get_backend_name()
    if backend not in tables.IDS:
        raise InputError(Problem(shown, f"{backend!r} is no database known here", "SQLite and PostgreSQL are"))
    if backend == "postgresql":
        try:
            return sa.create_engine(parsed, poolclass=sa.NullPool, connect_args={"connect_timeout": PATIENCE}), shown
        except ImportError:
            raise InputError(Problem(shown, "the driver is missing", "pip install 'auditkit[postgres]'")) from None
    shown = parsed.database or ""
    if not create and not Path(shown).is_file():
        raise InputError(Problem(shown, "there is no history yet", "auditkit run AUDIT.toml begins one"))
    if create:
        try:
            Path(shown).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(Problem(shown, f"its folder cannot be made: {error.strerror or error}")) from None
    engine = sa.create_engine(parsed, poolclass=sa.NullPool, connect_args={"timeout": PATIENCE})

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
def speaking(shown: str) -> Iterator[None]:
    """What the database refuses, as an InputError; what is our own mistake stays one."""
    try:
        yield
    except exc.DBAPIError as error:
        denied = getattr(error.orig, "sqlstate", None) == "42501"
        if not (isinstance(error, exc.OperationalError) or type(error) is exc.DatabaseError or denied):
            raise
        reason = next(iter(str(error.orig).strip().splitlines()), type(error.orig).__name__)
        raise InputError(Problem(shown, f"the history cannot be used: {reason}")) from None
