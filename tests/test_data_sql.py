"""Data from a database: a SQLite file and a real PostgreSQL server, read-only, streamed, and without their password."""

from __future__ import annotations

import json
import sqlite3
import sys
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
import pytest
import sqlalchemy as sa

import auditkit as ak
from auditkit.data import source
from auditkit.data import sql_query as sql
from auditkit.data.load import load
from auditkit.data.read_file import read
from auditkit.data.read_query import read_query, sha256_of_rows
from auditkit.errors import InputError
from support import scheduled_postgres
from support.audit_helpers import rows, save

QUICK = "[fit]\npoints = 10\n[report]\nreplicates = 0\nwhat_if = false\nalternatives = false\n"
ALL = "SELECT * FROM people ORDER BY number"
SECRETS = ("p@ss/w:rd%?&", quote("p@ss/w:rd%?&", safe=""), scheduled_postgres.PASSWORD)
COLUMNS = ["number", "Candidate ID", "Requisition", "Gender", "Openings", "CV Score", "Interviewed"]
COLUMNS += ["Interview Score", "Interview Cost", "Hired", "Performance Rating"]


def frame() -> pd.DataFrame:
    """The rows with the types that a database gives them."""
    table = pd.DataFrame(rows())
    for name in ("Interview Score", "Performance Rating"):
        table[name] = pd.to_numeric(table[name])
    table.insert(0, "number", range(1, len(table) + 1))
    return table


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if scheduled_postgres.binaries() is None:
        pytest.skip("there is no PostgreSQL server here: apt-get install postgresql")
    with scheduled_postgres.server() as url:
        engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"), poolclass=sa.NullPool)
        frame().to_sql("people", engine, index=False)
        with engine.begin() as connection:
            connection.exec_driver_sql(f"CREATE ROLE reader LOGIN PASSWORD '{SECRETS[0].replace('%', '%%')}'")
            connection.exec_driver_sql("GRANT SELECT ON people TO reader")
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        found: str = request.getfixturevalue("server")
        return found
    with sqlite3.connect(tmp_path / "people.db") as connection:
        frame().to_sql("people", connection, index=False)
    connection.close()
    return f"sqlite:///{tmp_path / 'people.db'}"


def rows_in(url: str) -> int:
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"), poolclass=sa.NullPool)
    with engine.connect() as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM people").scalar_one())


def without_secrets(*texts: str) -> None:
    for text in texts:
        for secret in SECRETS:
            assert secret not in text


def test_a_query_reads_what_an_export_of_it_holds(url: str, tmp_path: Path) -> None:
    history = load(sql.Query.of(url, ALL))
    exported = save(tmp_path / "people.csv", rows())
    expected = load(exported)
    pd.testing.assert_frame_equal(history.table, expected.table.assign(row=history.table["row"]))
    assert history.table["row"].tolist() == list(range(1, len(expected.table) + 1))  # a file has its header in row 1
    assert [p.column for p in history.problems] == [p.column for p in expected.problems]
    assert [p.row for p in history.problems] == [p.row - 1 for p in expected.problems]


def test_the_digest_is_that_of_the_rows_as_csv(url: str, tmp_path: Path) -> None:
    query = sql.Query.of(url, ALL)
    raw = read_query(query)
    raw.table.to_csv(tmp_path / "people.csv", index=False)
    assert raw.source.sha256 == read(tmp_path / "people.csv").source.sha256 == sha256_of_rows(query)
    assert raw.source.sha256 != sha256_of_rows(sql.Query.of(url, ALL + " DESC"))
    assert "no-order" not in {notice.code for notice in raw.notices}
    assert "no-order" in {notice.code for notice in read_query(sql.Query.of(url, "SELECT * FROM people")).notices}


def test_rows_arrive_in_chunks(url: str) -> None:
    with sql.Query.of(url, ALL).rows(chunk=25) as (names, chunks):
        assert names == COLUMNS
        sizes = [len(chunk) for chunk in chunks]
    assert max(sizes) == 25 and sum(sizes) == len(rows())
    with sql.Query.of(url, ALL).rows(chunk=10) as (_, chunks):
        assert len(next(chunks)) == 10  # and the rest is left where it is


@pytest.mark.parametrize("endless", ["one statement", "many rows"])
def test_a_query_has_a_limit_of_time(url: str, endless: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "MINUTES", 0.02)
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
    query = sql.Query.of(url, numbers + ("count(*) FROM n" if endless == "one statement" else "i FROM n"))
    with pytest.raises(InputError, match=r"the query took longer than 0\.02 minutes"), query.rows() as (_, chunks):
        for _ in chunks:
            pass


def test_a_query_has_a_limit_of_cells(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "MOST_CELLS", 100)
    with (
        pytest.raises(InputError, match="the query returns more than 100 cells"),
        sql.Query.of(url, ALL).rows(chunk=10) as (_, chunks),
    ):
        list(chunks)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM people",
        "DELETE FROM people RETURNING *",
        "WITH gone AS (SELECT 1) DELETE FROM people",
        "INSERT INTO people SELECT * FROM people",
        "UPDATE people SET \"Hired\" = 'no'",
        "CREATE TABLE more AS SELECT * FROM people",
        "DROP TABLE people",
        "SELECT 1; DELETE FROM people",
        "COMMIT; DELETE FROM people; SELECT 1",
        "BEGIN",
        "SELECT * FROM nowhere",
        "SELEC",
    ],
)
def test_a_query_that_writes_or_fails_changes_nothing(url: str, statement: str, auditkit: Any, tmp_path: Path) -> None:
    before, files = rows_in(url), sorted(tmp_path.iterdir())
    done = auditkit("report", url, "--query", statement)
    assert done.code == 2
    assert done.err.count("\n") == 1 and "the query failed" in done.err and "reading only" in done.err
    assert rows_in(url) == before
    assert sorted(tmp_path.iterdir()) == files
    without_secrets(done.out, done.err)


def test_postgresql_writes_nothing_through_a_function(server: str) -> None:
    engine = sa.create_engine(server.replace("postgresql:", "postgresql+psycopg:"), poolclass=sa.NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE OR REPLACE FUNCTION wipe() RETURNS int LANGUAGE sql AS 'DELETE FROM people; SELECT 1'"
        )
    before = rows_in(server)
    for statement in ("SELECT wipe()", "WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone"):
        with pytest.raises(InputError, match=r"read-only transaction|data-modifying"):
            read_query(sql.Query.of(server, statement))
    assert rows_in(server) == before > 0


def test_every_command_takes_a_database(url: str, auditkit: Any, tmp_path: Path) -> None:
    (tmp_path / "quick.toml").write_text(QUICK)
    asked = [url, "--query", ALL]
    done = auditkit("report", *asked, "--config", "quick.toml")
    assert done.code == 0, done.err
    stem = "people" if url.startswith("sqlite") else "postgres"
    document = json.loads((tmp_path / f"{stem}.audit.json").read_text())
    assert document["input"]["query"] == ALL
    assert document["input"]["url"] == sql.Query.of(url, ALL).shown
    assert document["input"]["rows"] == len(rows())
    assert not {"database", "database_env", "query"} & document["config"].keys()
    page = (tmp_path / f"{stem}.audit.html").read_text()
    assert auditkit("check", *asked).code == 0
    assert auditkit("fit", *asked, "-o", "instance.json").code == 0
    stands = auditkit("verify", f"{stem}.audit.json", *asked)
    assert stands.code == 0, stands.out
    other = auditkit("verify", f"{stem}.audit.json", url, "--query", ALL + " DESC")
    assert other.code == 1 and "ORDER BY" in other.out
    written = auditkit("init", *asked, "-o", "audit.toml")
    assert written.code == 0
    settings = tomllib.loads((tmp_path / "audit.toml").read_text())
    assert settings["query"] == ALL
    without_secrets(page, done.out, json.dumps(document), stands.out, (tmp_path / "audit.toml").read_text())
    same = ak.audit(url, query=ALL, config=tmp_path / "quick.toml")
    assert same.to_json()["disparity"] == document["disparity"]


def test_a_scheduled_audit_of_a_database(url: str, auditkit: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("PEOPLE", url)
    (tmp_path / "audit.toml").write_text(f'database_env = "PEOPLE"\nquery = "{ALL}"\n{QUICK}parts = "summary"\n')
    first = auditkit("run", "audit.toml")
    assert first.code == 0, first.err
    again = auditkit("run", "audit.toml")
    assert "nothing was computed" in again.out
    for path in (tmp_path / "audits").rglob("*"):
        if path.is_file():
            for secret in SECRETS:
                assert secret.encode() not in path.read_bytes()
    monkeypatch.setenv("PEOPLE", "postgresql://me:hunter2@127.0.0.1:1/x")
    gone = auditkit("run", "audit.toml")
    assert gone.code == 2 and "cannot be opened" in gone.err and "hunter2" not in gone.err
    monkeypatch.delenv("PEOPLE")
    assert "PEOPLE holds no URL" in auditkit("run", "audit.toml").err


@pytest.mark.parametrize("as_parameter", [False, True])
def test_a_password_with_signs_opens_the_database_and_shows_nowhere(
    as_parameter: bool, server: str, auditkit: Any, tmp_path: Path
) -> None:
    host = server.rpartition("@")[2]
    url = f"postgresql://reader:{SECRETS[1]}@{host}"
    if as_parameter:
        url = f"postgresql://reader@{host}?password={SECRETS[1]}&sslmode=prefer"
    found = read_query(sql.Query.of(url, ALL))
    assert len(found.table) == len(rows())
    assert found.source.url == f"postgresql://reader@{host}" + ("?sslmode=prefer" if as_parameter else "")
    without_secrets(repr(sql.Query.of(url, ALL)), repr(found.source))
    wrong = url.replace(SECRETS[1], "hunter%402%2F3")
    for asked in (wrong, url.replace("/postgres", "/nowhere")):
        done = auditkit("check", asked, "--query", ALL)
        assert done.code == 2 and done.err.count("\n") == 1 and "cannot be opened" in done.err
        without_secrets(done.out, done.err)
        assert "hunter" not in done.err


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://me:hunter2@127.0.0.1:1/x", "cannot be opened"),
        ("postgresql://me:hun@ter2@127.0.0.1:1/x", "more than one @"),
        ("postgresql://me:hun@ter2?x@127.0.0.1:1/x", "more than one @"),
        ("postgresql://me:hunter2@127.0.0.1:port/x", "is not the URL of a database"),
        ("mysql://me:hunter2@127.0.0.1/x?token=ter2", "'mysql' cannot be read"),
        ("https://me:hunter2@example.org/people.csv", "'https' cannot be read"),
        ("sqlite://", "names no file"),
        ("sqlite:///nowhere.db", "there is no such file"),
    ],
)
def test_a_database_that_cannot_be_read(url: str, says: str, auditkit: Any, tmp_path: Path) -> None:
    done = auditkit("report", url, "--query", "SELECT 1")
    assert done.code == 2
    assert says in done.err and done.err.count("\n") == 1
    assert "hun" not in done.err and "ter2" not in done.err
    assert not list(tmp_path.iterdir())


def test_what_is_missing_is_said(auditkit: Any, tmp_path: Path, monkeypatch: Any) -> None:
    with sqlite3.connect(tmp_path / "people.db") as connection:
        frame().to_sql("people", connection, index=False)
    connection.close()
    assert "sqlite:///FILE" in auditkit("check", "people.db").err
    save(tmp_path / "people.csv", rows())
    assert "no query says which rows" in auditkit("check", "sqlite:///people.db").err
    assert "the data are a file" in auditkit("check", "people.csv", "--query", ALL).err
    monkeypatch.setitem(sys.modules, "psycopg", None)
    found = auditkit("check", "postgresql://me:hunter2@127.0.0.1:1/x", "--query", ALL)
    assert found.code == 2 and "auditkit[postgres]" in found.err and "hunter2" not in found.err


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ('database = "postgresql://me:hunter2@h/x"\nquery = "SELECT 1"', "database: holds a password"),
        ('database = "postgresql://me@h/x?password=hunter2"\nquery = "SELECT 1"', "database: holds a password"),
        (
            'database_env = "postgresql://me:hunter2@h/x"\nquery = "SELECT 1"',
            "is not the name of an environment variable",
        ),
        ('source = "postgresql://me:hunter2@h/x"', "is the URL of a database"),
        ('database = ["postgresql://me:hunter2@h/x"]', "is not text"),
        ('source = "people.csv"\ndatabase = "sqlite:///people.db"', "exclude each other"),
        ('query = "SELECT 1"', "without a database"),
        ('database = "people.db"\nquery = "SELECT 1"', "is not the URL of a database"),
    ],
)
def test_settings_that_name_no_database(settings: str, says: str, auditkit: Any, tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text(settings + "\n")
    for command in (("run", "audit.toml"), ("check", "--config", "audit.toml")):
        done = auditkit(*command)
        assert done.code == 2
        assert says in done.err and "hunter2" not in done.err


def test_settings_name_a_file_beside_them(tmp_path: Path, auditkit: Any) -> None:
    (tmp_path / "deep").mkdir()
    with sqlite3.connect(tmp_path / "people.db") as connection:
        frame().to_sql("people", connection, index=False)
    connection.close()
    assert auditkit("init", "sqlite:///people.db", "--query", ALL, "-o", "deep/audit.toml").code == 0
    assert tomllib.loads((tmp_path / "deep" / "audit.toml").read_text())["database"] == "sqlite:///../people.db"
    assert auditkit("check", "--config", "deep/audit.toml").code == 0
    save(tmp_path / "people.csv", rows())
    assert auditkit("check", "people.csv", "--config", "deep/audit.toml").code == 0  # the argument comes first


def test_cells_are_written_as_an_export_writes_them(server: str) -> None:
    statement = (
        "SELECT 1.50::numeric AS a, 1e20::numeric AS b, true AS c, DATE '2026-11-16' AS d, NULL AS e, 2::float8 AS f,"
        " '10:30 100%% :x' AS g, TIMESTAMP '2026-11-16 10:30' AS h, ARRAY[1, 2] AS i, '' AS a, 0.1::float8"
    )
    raw = read_query(sql.Query.of(server, statement))
    assert raw.table.columns.tolist() == [*"abcdefghi", "a (2)", "float8"]
    cells = raw.table.iloc[0].to_dict()
    assert cells["a"] == "1.50" and cells["b"] == str(Decimal(10) ** 20) and cells["c"] == "True"
    assert cells["d"] == "2026-11-16" and cells["e"] == "" and cells["f"] == "2" and cells["a (2)"] == ""
    assert cells["g"] == "10:30 100%% :x" and cells["h"] == "2026-11-16T10:30:00" and cells["i"] == "[1, 2]"
    assert cells["float8"] == "0.1"


def test_locate_says_what_is_meant(tmp_path: Path) -> None:
    from auditkit.config import Config

    assert source.locate(None, Config()) is None
    assert source.locate("people.csv", Config()) == Path("people.csv")
    sqlite3.connect(tmp_path / "x.db").close()
    found = source.locate(f"sqlite:///{tmp_path}/x.db", Config(query="SELECT 1"))
    assert isinstance(found, sql.Query) and (found.name, found.stem) == ("x.db", "x")
