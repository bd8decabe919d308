"""The history on SQLite and on a real PostgreSQL server: what goes in comes out, and old schemas move forward."""

from __future__ import annotations

import dataclasses
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from auditkit.errors import InputError
from auditkit.report.figures import figures
from auditkit.report.load_report import load
from auditkit.report.thresholds import Crossing
from auditkit.scheduled import database, tables
from auditkit.scheduled.run_history import Artefact, Delivery, RunHistory, opened
from auditkit.scheduled.settings import read as read_settings
from support import scheduled_postgres
from support.scheduled_example import Scheduled, document


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    if scheduled_postgres.binaries() is None:
        pytest.skip("there is no PostgreSQL server here: apt-get install postgresql")
    with scheduled_postgres.server() as url:
        yield url


@pytest.fixture
def empty_postgres(postgres: str) -> str:
    engine, _ = database.connect(postgres, True)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
    return postgres


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'new folder' / 'history.sqlite'}"
    found: str = request.getfixturevalue("empty_postgres")
    return found


def record(store: RunHistory, audit: str = "hiring", created: str = "2026-11-16T06:00:00Z", **parts: Any) -> int:
    found = dataclasses.replace(figures(load(document(**parts))), created=created)
    crossing = Crossing("gap.max", "Gap <of> parity", 2e-6, 1e-6, "words")
    made = store.record(
        audit, created, created[:10], "c" * 64, "d" * 64, found, [crossing], [Artefact("a.html", "e" * 64, 7)]
    )
    return made.id


def test_what_goes_in_comes_out(url: str) -> None:
    with opened(url) as store:
        first = record(store)
        store.record_alerts(first, [Delivery(0, "webhook", False, "no answer"), Delivery(1, "mail", True)])
        (run,) = store.runs("hiring")
        second = store.record_unchanged(run, "2026-11-23T06:00:00Z")
        store.record_alerts(second, [Delivery(0, "webhook", True)])
    with opened(url) as store:
        runs = store.runs("hiring")
        assert [run.id for run in runs] == [first, second]
        wanted = dataclasses.replace(figures(load(document())), created="2026-11-16T06:00:00Z", data_sha256="d" * 64)
        assert runs[0].figures == wanted
        assert runs[0].crossings == (Crossing("gap.max", "Gap <of> parity", 2e-6, 1e-6, "words"),)
        assert runs[0].alerts == (Delivery(0, "webhook", False, "no answer"), Delivery(1, "mail", True))
        assert runs[0].artefacts == (Artefact("a.html", "e" * 64, 7),)
        assert (runs[1].status, runs[1].same_as, runs[1].figures) == ("unchanged", first, wanted)
        assert store.latest("hiring") == runs[0]
        assert store.latest("another") is None and store.runs("another") == []
        assert store.delivered(first) == {0, 1}
        assert store.has_folder("2026-11-16") and not store.has_folder("2026-11-17")
        assert store.audits() == ["hiring"]


def test_a_record_is_whole_or_not_there(url: str) -> None:
    with opened(url) as store:
        found = figures(load(document()))
        twice = [Artefact("a", "", 1), Artefact("a", "", 1)]  # breaks at the last insertion
        with pytest.raises(sa.exc.IntegrityError):
            store.record("hiring", "2026", "f", "c", "d", found, [], twice)
        assert store.runs("hiring") == []
        with store.transaction() as connection:
            for table in tables.metadata.tables.values():
                if table is not tables.schema:
                    assert connection.scalar(sa.select(sa.func.count()).select_from(table)) == 0


def test_audits_share_a_database_without_meeting(url: str) -> None:
    with opened(url) as store:
        record(store, "hiring"), record(store, "promotion", constrained=None)
        assert len(store.runs("hiring")) == len(store.runs("promotion")) == 1
        assert not store.runs("promotion")[0].figures.constraints


def test_the_schema_is_that_of_the_tables(url: str) -> None:
    with opened(url) as store:
        seen = sa.inspect(store._engine)
        for table in tables.metadata.tables.values():
            assert {column["name"] for column in seen.get_columns(table.name)} == set(table.columns.keys()), table.name
        assert set(seen.get_table_names()) == set(tables.metadata.tables)


def test_a_database_that_cannot_be_created_stays_empty(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = database.connect(url, True)
    with monkeypatch.context() as patch:
        patch.setattr(tables, "VERSION", None)  # after all tables are made, the stamp is refused
        with pytest.raises(sa.exc.IntegrityError), opened(url):
            pass
    with engine.begin() as connection:
        assert not sa.inspect(connection).get_table_names()
    with opened(url) as store:
        record(store)


@pytest.mark.parametrize("version", [tables.VERSION + 1, 0])
def test_a_history_of_another_version_is_refused(url: str, version: int) -> None:
    with opened(url) as store, store.transaction(write=True) as connection:
        connection.execute(sa.update(tables.schema).values(version=version))
    with pytest.raises(InputError, match=f"its tables have version {version}"), opened(url):
        pass


def test_the_number_of_a_run_is_not_given_away_again(url: str) -> None:
    with opened(url) as store:
        first = record(store)
        with store.transaction(write=True) as connection:
            for table in reversed(tables.metadata.sorted_tables):
                if table is not tables.schema:
                    connection.execute(sa.delete(table))
        assert record(store) != first


def test_a_run_on_postgresql(empty_postgres: str, tmp_path: Path) -> None:
    postgres = empty_postgres
    audit = Scheduled(
        tmp_path / "pg",
        '[history]\nname = "on postgresql"\ndatabase_env = "AUDIT_DATABASE"\n[thresholds]\nimpact_ratio.min = 0.8\n',
    )
    audit.environ["AUDIT_DATABASE"] = postgres
    assert audit.run().run.crossings
    assert audit.run().run.status == "unchanged"
    with opened(postgres, create=False) as store:
        assert [run.status for run in store.runs("on postgresql")] == ["complete", "unchanged"]
    for path in audit.path.parent.rglob("*"):
        if path.is_file():
            assert scheduled_postgres.PASSWORD.encode() not in path.read_bytes(), path
    assert not (audit.folder / "history.sqlite").exists()


def test_a_server_that_does_not_answer_is_named_without_its_password(postgres: str) -> None:
    wrong = postgres.replace(scheduled_postgres.PASSWORD, "another-s3cret")
    for url in (wrong, "postgresql://audit:another-s3cret@127.0.0.1:1/x"):
        with pytest.raises(InputError, match="the history cannot be used") as caught, opened(url):
            pass
        assert "another-s3cret" not in str(caught.value)


def test_what_is_no_history_is_refused_in_words(tmp_path: Path) -> None:
    text = tmp_path / "notes.sqlite"
    text.write_text("these are not the rows you are looking for" * 100)
    with pytest.raises(InputError, match="not a database"), opened(f"sqlite:///{text}"):
        pass
    with (
        pytest.raises(InputError, match="there is no history yet"),
        opened(f"sqlite:///{tmp_path / 'none'}", create=False),
    ):
        pass
    empty = tmp_path / "empty.sqlite"
    sqlite3.connect(empty).close()
    empty.touch()
    with pytest.raises(InputError, match="holds no history yet"), opened(f"sqlite:///{empty}", create=False):
        pass
    with pytest.raises(InputError, match="use SQLite or PostgreSQL"), opened("mysql://localhost/x"):
        pass
    with pytest.raises(InputError, match="is not the URL of a database"), opened("non sense://"):
        pass
    blocked = tmp_path / "file"
    blocked.write_text("")
    with (
        pytest.raises(InputError, match="it cannot be made"),
        opened(f"sqlite:///{blocked / 'x' / 'h.sqlite'}"),
    ):
        pass


def test_nothing_of_a_candidate_can_be_stored() -> None:
    """Figures and where they come from; a new column is a decision to be made here."""
    columns = {column.name for table in tables.metadata.tables.values() for column in table.columns}
    of_runs = "id audit created status same_as folder version config_sha256 data_sha256 data_path data_rows problems "
    of_runs += "python platform capacity removed removed_why link"
    of_groups = "run number attribute crossing step name applicants selected rate impact_ratio status reference "
    of_groups += "reference_applicants reference_selected candidates inspected"
    of_policies = "place kind label utility unfilled ratio loss ratio_low ratio_high loss_low loss_high gap"
    others = "version history name sha256 bytes threshold subject value bound words channel delivered detail "
    others += "finding decision owner segment due text"
    assert columns == set(f"{of_runs} {of_groups} {of_policies} {others}".split())


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:{secret}@127.0.0.1:1/db",
        "postgresql://me@127.0.0.1:1/db?password={secret}",
        "postgresql://me@127.0.0.1:1/db?sslpassword={secret}&sslmode=require",
        "postgresql://me:p@{secret}/x@127.0.0.1:1/db",
        "postgresql://me:{secret}/x@127.0.0.1:1/db",
        "postgresql://me:%68{secret}@127.0.0.1:1/db",
        "postgresql://me:{secret}",
        "postgresql://me:x@127.0.0.1:{secret}/db",
        "postgresql://me@127.0.0.1:1/db?options={secret}&nonsense={secret}",
        "nonsense://me:{secret}@host/db",
        "postgresql+nothing://me:{secret}@host/db",
        "sqlite://me:{secret}@host/db",
    ],
)
def test_no_form_of_a_url_shows_its_password(url: str) -> None:
    with pytest.raises(InputError) as caught, opened(url.format(secret="s3cr3t")):
        pass
    assert "s3cr3t" not in str(caught.value)
    assert str(caught.value)


@pytest.mark.parametrize("url", ["postgresql://me@host/db?password=s3cr3t", "postgresql://me:p@s3cr3t/x@host/db"])
def test_no_password_stands_in_audit_toml(tmp_path: Path, url: str) -> None:
    (tmp_path / "audit.toml").write_text(f'source = "x.csv"\n[history]\ndatabase = "{url}"\n')
    with pytest.raises(InputError, match="holds a password") as caught:
        read_settings(tmp_path / "audit.toml")
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:{secret}@host/db",
        "postgresql:/me:{secret}@host/db",
        "postgresql:me:a b/{secret}@host/db",
        " postgresql://me:p@{secret}@host/db",
        "jdbc:postgresql://me:{secret}@host/db",
        "host=h user=me password={secret}",
    ],
)
def test_a_url_where_a_file_or_another_setting_is_meant_shows_no_password(
    auditkit: Any, tmp_path: Path, url: str
) -> None:
    given = url.format(secret="s3cr3t")
    (tmp_path / "audit.toml").write_text(f'source = "x.csv"\nreport = "{given}"\n')
    commands = (["solve", given], ["verify", given, given], ["check", given, given], ["report", given])
    for arguments in (*commands, ["run", tmp_path / "audit.toml"]):
        run = auditkit(*arguments)
        assert run.code == 2
        assert "s3cr3t" not in run.err + run.out


# The chain and older versions -----------------------------------------------------------------------------------------


def filled(url: str) -> None:
    with opened(url) as store:
        for day in range(4):
            record(store, created=f"2026-11-1{day}T06:00:00Z")
        store.record_unchanged(store.runs("hiring")[-1], "2026-11-15T06:00:00Z")


def changed(url: str, statement: str) -> tuple[list[str], str]:
    """What the chain says after a statement of somebody who may write to the database."""
    engine, _ = database.connect(url, True)
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(sa.text(statement))
    engine.dispose()
    with opened(url) as store:
        return store.breaks()


def test_a_chain_holds_whatever_happens_to_runs_later(url: str) -> None:
    filled(url)
    with opened(url) as store:
        before = store.breaks()
        assert before[0] == [] and re.fullmatch(r"[0-9a-f]{64}", before[1])
        store.mark_removed(1, "2026-11-16T06:00:00Z", "older than a day")
        store.record_alerts(2, [Delivery(0, "mail", True)])
        assert store.breaks() == before
        record(store, "another audit of the same database", created="2026-11-17T06:00:00Z")
        after = store.breaks()
    assert after[0] == [] and after[1] != before[1]


@pytest.mark.parametrize(
    ("statement", "since"),
    [
        ("UPDATE auditkit_groups SET selected = selected + 1 WHERE run = 2 AND number = 0", "after run 1: run 2"),
        ("UPDATE auditkit_policies SET loss = 0 WHERE run = 3 AND place = 2", "after run 2: run 3"),
        ("UPDATE auditkit_runs SET created = '2026-01-01T06:00:00Z' WHERE id = 1", "at its beginning: run 1"),
        ("UPDATE auditkit_runs SET link = '0' WHERE id = 5", "after run 4: run 5"),
        ("UPDATE auditkit_artefacts SET sha256 = 'f' WHERE run = 4", "after run 3: run 4"),
        ("DELETE FROM auditkit_crossings WHERE run = 2", "after run 1: run 2"),
        ("INSERT INTO auditkit_artefacts VALUES (3, 'more.html', 'a', 1)", "after run 2: run 3"),
    ],
)
def test_a_chain_says_where_it_was_broken(url: str, statement: str, since: str) -> None:
    filled(url)
    broken, _ = changed(url, statement)
    assert f"the history is not as it was recorded {since} or an earlier one was changed" in broken


def test_a_run_that_was_removed_breaks_the_chain(url: str) -> None:
    filled(url)
    for table in ("groups", "policies", "policy_groups", "crossings", "artefacts"):
        changed(url, f"DELETE FROM auditkit_{table} WHERE run = 3")
    broken, _ = changed(url, "DELETE FROM auditkit_runs WHERE id = 3")
    assert broken == ["the history is not as it was recorded after run 2: run 4 or an earlier one was changed"]


def test_an_older_history_is_migrated_and_a_copy_is_kept(url: str) -> None:
    filled(url)
    with opened(url) as store:
        before = store.runs("hiring"), store.breaks()
    engine, _ = database.connect(url, True)
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(sa.text("ALTER TABLE auditkit_runs DROP COLUMN link"))
        connection.execute(sa.update(tables.schema).values(version=1))
    with pytest.raises(InputError, match="was written by an earlier auditkit"), opened(url, create=False):
        pass  # a command that reads writes nothing
    with opened(url) as store:
        assert (store.runs("hiring"), store.breaks()) == before
        record(store, created="2026-11-18T06:00:00Z")
        assert store.breaks()[0] == []
    with engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            assert connection.scalar(sa.text("SELECT count(*) FROM auditkit_runs_version_1")) == 5
            return
    copy = Path(str(engine.url.database) + ".version-1")
    assert copy.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(copy)) as old:
        assert old.execute("SELECT version FROM auditkit_schema").fetchone() == (1,)
        assert old.execute("SELECT count(*) FROM auditkit_runs").fetchone() == (5,)
        assert "link" not in {row[1] for row in old.execute("PRAGMA table_info(auditkit_runs)")}


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_a_new_history_is_private(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with opened(str(path)) as store:
        record(store)
    assert path.stat().st_mode & 0o777 == 0o600
