"""A query to a database as data: where the database is, and its rows, streamed and read-only.

PostgreSQL runs the query in a read-only transaction through a server-side cursor, which takes one SELECT and nothing
else. SQLite opens the file for reading only, with an authorizer that allows reading. Neither a message nor anything
that is written holds the password: URLs are shown without it, and without parameters that could be one.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from auditkit.data.file_limits import MOST_CELLS
from auditkit.errors import InputError, Problem

if TYPE_CHECKING:
    import sqlalchemy as sa

PATIENCE = 5
"""Seconds to wait for a server to answer."""
MINUTES = 10
"""Time that a query has, from its start to its last row."""
CHUNK = 10_000
"""Rows that are fetched at once."""
HARMLESS = frozenset(
    {"application_name", "charset", "connect_timeout", "host", "port", "sslmode", "target_session_attrs", "user"}
)
"""Parameters of a URL that may be shown: none of them can hold a secret."""

_URL = re.compile(r"[A-Za-z][\w+.-]*://")
_EXAMPLE = "e.g. sqlite:///people.db or postgresql://user@host/database"
_ONE_SELECT = "give one SELECT; the database is opened for reading only"
_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})


def _only_reading(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def is_url(data: object) -> bool:
    """Whether data are named by the URL of a database, not by a path."""
    return isinstance(data, str) and _URL.match(data) is not None


@dataclass(frozen=True)
class Query:
    """SQL and the database that answers it. `url` may hold a password: show `shown` instead."""

    url: sa.URL = field(repr=False)
    sql: str

    @staticmethod
    def of(url: str, sql: str | None) -> Query:
        """Raises InputError if this is not the URL of a database that auditkit can read, or there is no SQL."""
        query = Query(parse_url(url), sql or "")
        if not query.sql.strip():
            what = "is a database, and no query says which rows of it are the data"
            raise InputError(Problem(query.shown, what, '--query "SELECT ... FROM ... ORDER BY ..."'))
        return query

    @property
    def shown(self) -> str:
        """The URL without its password and without parameters that may be secret."""
        return shown(self.url)

    @property
    def name(self) -> str:
        """What the data are called: the name of the database."""
        return Path(self.url.database or self.url.host or "").name or self.url.get_backend_name()

    @property
    def stem(self) -> str:
        return Path(self.name).stem if self.url.get_backend_name() == "sqlite" else self.name

    @contextmanager
    def rows(self, chunk: int = CHUNK) -> Iterator[tuple[list[str], Iterator[Sequence[Sequence[Any]]]]]:
        """The names of the columns, and the rows in chunks, while the connection is open."""
        import sqlalchemy as sa

        engine, end = self._engine(), time.monotonic() + 60 * MINUTES
        with self._explained("cannot be opened", "check the URL, and that the server is running"):
            connection = engine.connect()
        try:
            options: dict[str, object] = {"no_parameters": True, "stream_results": True, "max_row_buffer": chunk}
            if engine.dialect.name == "postgresql":
                options["postgresql_readonly"] = True
            elif (driver := connection.connection.driver_connection) is not None:
                driver.set_authorizer(_only_reading)
                driver.set_progress_handler(lambda: time.monotonic() > end, 10_000)
            with self._explained("the query failed", _ONE_SELECT):
                result = connection.execution_options(**options).exec_driver_sql(self.sql)
                if not result.returns_rows:
                    raise sa.exc.InvalidRequestError("it returns no rows")
                names = [*map(str, result.keys())]
            yield names, self._chunks(result, chunk, end)
        finally:
            connection.close()
            engine.dispose()

    def _chunks(self, result: sa.CursorResult[Any], chunk: int, end: float) -> Iterator[Sequence[Sequence[Any]]]:
        cells = 0
        while True:
            with self._explained("the query failed", _ONE_SELECT):
                rows = result.fetchmany(chunk)
            if not rows:
                return
            cells += len(rows) * len(rows[0])
            if cells > MOST_CELLS:
                what = f"the query returns more than {MOST_CELLS:,} cells"
                raise InputError(Problem(self.shown, what, "select the columns and the period that the audit needs"))
            if time.monotonic() > end:
                raise self._too_slow()
            yield rows

    def _engine(self) -> sa.Engine:
        import sqlalchemy as sa

        if self.url.get_backend_name() == "sqlite":
            return sa.create_engine("sqlite://", creator=self._sqlite, poolclass=sa.NullPool)
        url = self.url.set(drivername="postgresql+psycopg")
        patience: dict[str, object] = {} if "connect_timeout" in url.query else {"connect_timeout": PATIENCE}
        if "options" not in url.query:
            patience["options"] = f"-c statement_timeout={60_000 * MINUTES}"
        try:
            return sa.create_engine(url, poolclass=sa.NullPool, connect_args=patience)
        except ImportError:
            what = "reading PostgreSQL needs the driver psycopg"
            raise InputError(Problem(self.shown, what, "pip install 'auditkit[postgres]'")) from None

    def _sqlite(self) -> sqlite3.Connection:
        path = Path(self.url.database or "").absolute()
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=PATIENCE)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _too_slow(self) -> InputError:
        what = f"the query took longer than {MINUTES:g} minutes"
        return InputError(Problem(self.shown, what, "select fewer rows, or export them once and audit the file"))

    @contextmanager
    def _explained(self, what: str, fix: str) -> Iterator[None]:
        """Whatever the database or its driver says becomes one line without a secret."""
        try:
            yield
        except Exception as error:
            reason = str(getattr(error, "orig", None) or error).strip()
            if reason == "interrupted" or "statement timeout" in reason:
                raise self._too_slow() from None
            # the first line is the reason; PostgreSQL quotes the query, with a caret, below it
            reason = " ".join(next(iter(reason.splitlines()), type(error).__name__).split())
            raise InputError(Problem(self.shown, f"{what}: {scrubbed(reason, self.url)}", fix)) from None


def parse_url(text: str) -> sa.URL:
    """The URL of a SQLite file or a PostgreSQL database; no message quotes it as long as it may hold a password."""

    url = parts_of(text, "DATA")
    backend = url.get_backend_name()
    if backend == "postgres":
        url, backend = url.set(drivername="postgresql"), "postgresql"
    if backend not in ("sqlite", "postgresql"):
        what = f"databases of the kind {backend!r} cannot be read"
        raise InputError(Problem(shown(url), what, "use SQLite or PostgreSQL, or export the table as CSV"))
    if backend == "sqlite":
        if not url.database or url.database == ":memory:":
            raise InputError(Problem(shown(url), "names no file", "e.g. sqlite:///people.db"))
        if not Path(url.database).is_file():
            raise InputError(Problem(shown(url), f"there is no such file: {url.database}"))
    return url


def parts_of(text: str, where: str) -> sa.URL:
    """The parts of a URL; raises InputError, which quotes none of it, if they cannot be told apart."""
    import sqlalchemy as sa

    scheme = text.partition("://")[0]
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError(Problem(where, f"is not the URL of a database ({scheme}://...)", _EXAMPLE)) from None
    if url.host is not None and text.count("@") > 1:
        what = f"the URL ({scheme}://...) has more than one @, so its password cannot be told from its host"
        raise InputError(Problem(where, what, "write @ in a password as %40 and / as %2F"))
    return url


def shown(url: sa.URL) -> str:
    """A URL without what is or may be a password."""
    harmless = {key: value for key, value in url.query.items() if key in HARMLESS}
    return url._replace(password=None).set(query=harmless).render_as_string(hide_password=True)


def holds_secret(url: sa.URL) -> bool:
    """Whether a URL has a password, or a parameter that may be one."""
    return bool(url.password) or not HARMLESS.issuperset(url.query)


def scrubbed(text: str, url: sa.URL) -> str:
    """A text without the secrets of a URL, however they are written."""
    for secret in sorted(_secrets(url), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def _secrets(url: sa.URL) -> set[str]:
    """What must not be shown, in every way in which it may be written."""
    plain = {str(url.password or "")}
    for key, value in url.query.items():
        if key not in HARMLESS:
            plain |= {value} if isinstance(value, str) else set(value)
    return {
        form
        for secret in plain
        if secret
        for form in (secret, quote(secret, safe=""), quote(secret), quote_plus(secret))
    }
