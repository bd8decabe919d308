"""Past runs in a database: SQLite in a file, or PostgreSQL by URL.

A run is recorded in one transaction, after its artefacts are in place, so recorded runs are complete. Only figures of
groups, constraints and policies are stored (`tables`), never a candidate's row.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from auditkit.report.figures import Figures, GroupFigure, PolicyFigure, PolicyGroup
from auditkit.report.thresholds import Crossing
from auditkit.scheduled import chain, database, tables

DatabaseRow = Mapping[str, Any]
MutableRow = dict[str, Any]
COMPLETE, UNCHANGED, FAILED = "complete", "unchanged", "failed"
_FINDING, _REASON = "finding", "reason"


@dataclass(frozen=True)
class Artefact:
    name: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class Delivery:
    """The result of an alert; `place` is the number of its `[[alerts]]` table, `detail` the reason it failed."""

    place: int
    channel: str
    delivered: bool
    detail: str = ""


@dataclass(frozen=True)
class Run:
    """One run. If it's unchanged, `figures`, `crossings` and `artefacts` are those of the run it repeats."""

    id: int
    audit: str
    created: str
    status: str
    same_as: int | None
    folder: str
    config_sha256: str
    data_sha256: str | None
    figures: Figures
    crossings: tuple[Crossing, ...]
    artefacts: tuple[Artefact, ...]
    alerts: tuple[Delivery, ...]
    removed: str | None
    removed_why: str | None
    findings: tuple[str, ...] = ()
    """The findings of its report, in words."""
    failure: str = ""
    """Why a failed run failed."""


class RunHistory:
    """An open database. Use `opened`."""

    def __init__(self, engine: sa.Engine, shown: str, id: str) -> None:
        self._engine, self._shown, self.id = engine, shown, id

    # Writing ----------------------------------------------------------------------------------------------------------

    def record(
        self,
        audit: str,
        created: str,
        folder: str,
        config_sha256: str,
        data_sha256: str | None,
        figures: Figures,
        crossings: Iterable[Crossing],
        artefacts: Iterable[Artefact],
        findings: Iterable[str] = (),
    ) -> Run:
        """A new run, all of it or nothing, as it is recorded."""
        values = {
            "audit": audit,
            "created": created,
            "status": COMPLETE,
            "folder": folder,
            "version": figures.version,
            "config_sha256": config_sha256,
            "data_sha256": data_sha256,
            "data_path": figures.data_path,
            "data_rows": figures.rows,
            "problems": figures.problems,
            "python": figures.python,
            "platform": figures.platform,
            "capacity": figures.capacity,
        }
        with self.transaction(write=True) as connection:
            database.hold(connection)
            run = _insert_run(connection, values)
            _insert(connection, tables.groups, _numbered({"run": run, **_renamed(g)} for g in figures.groups))
            inside: list[MutableRow] = []
            for place, policy in enumerate(figures.policies):
                row = {"run": run, "place": place, **_fields(policy)}
                inside += ({"run": run, "place": place, **_renamed(g)} for g in row.pop("groups"))
                _insert(connection, tables.policies, [row])
            _insert(connection, tables.policy_groups, _numbered(inside))
            _insert(connection, tables.crossings, _numbered({"run": run, **_fields(c)} for c in crossings))
            _insert(connection, tables.artefacts, ({"run": run, **_fields(a)} for a in artefacts))
            _say(connection, run, _FINDING, findings)
            chain.append(connection, run)
            made = connection.execute(sa.select(tables.runs).where(tables.runs.c.id == run)).mappings().all()
            return _assembled(connection, made)[0]

    def record_failure(self, audit: str, created: str, version: str, config_sha256: str, reason: str) -> int:
        """A run that ended without a report, with its reason."""
        values = {"audit": audit, "created": created, "status": FAILED, "version": version}
        with self.transaction(write=True) as connection:
            database.hold(connection)
            run = _insert_run(connection, values | {"config_sha256": config_sha256})
            _say(connection, run, _REASON, [reason])
            chain.append(connection, run)
            return run

    def record_unchanged(self, last: Run, created: str) -> int:
        """A run that found the data and the configuration of `last`."""
        values = {
            "audit": last.audit,
            "created": created,
            "status": UNCHANGED,
            "same_as": last.id,
            "version": last.figures.version,
            "config_sha256": last.config_sha256,
            "data_sha256": last.data_sha256,
        }
        with self.transaction(write=True) as connection:
            database.hold(connection)
            run = _insert_run(connection, values)
            chain.append(connection, run)
            return run

    def record_alerts(self, run: int, deliveries: Iterable[Delivery]) -> None:
        rows = [{"run": run, **_fields(d), "delivered": int(d.delivered)} for d in deliveries]
        with self.transaction(write=True) as connection:
            _insert(connection, tables.alerts, rows)

    def mark_removed(self, run: int, when: str, why: str) -> None:
        """The artefacts of a run are (about to be) gone; its figures stay."""
        with self.transaction(write=True) as connection:
            change = sa.update(tables.runs).where(tables.runs.c.id == run).values(removed=when, removed_why=why)
            connection.execute(change)

    # Reading ----------------------------------------------------------------------------------------------------------

    def audits(self) -> list[str]:
        with self.transaction() as connection:
            return list(connection.scalars(sa.select(tables.runs.c.audit).distinct().order_by(tables.runs.c.audit)))

    def runs(self, audit: str, *, failed: bool = False) -> list[Run]:
        """All runs of an audit, oldest first; failed ones only if asked for."""
        with self.transaction() as connection:
            chosen = _of_audit(tables.runs, audit).order_by(tables.runs.c.id)
            chosen = chosen if failed else chosen.where(tables.runs.c.status != FAILED)
            rows = connection.execute(chosen).mappings().all()
            return _assembled(connection, rows)

    def latest(self, audit: str) -> Run | None:
        """The last run that computed something."""
        mine = (tables.runs.c.audit == audit) & (tables.runs.c.status == COMPLETE)
        last = sa.select(tables.runs).where(mine).order_by(tables.runs.c.id.desc()).limit(1)
        with self.transaction() as connection:
            return next(iter(_assembled(connection, connection.execute(last).mappings().all())), None)

    def delivered(self, run: int) -> set[int]:
        """Places of the channels that got an alert about a run, then or when it was found unchanged."""
        r, a = tables.runs.c, tables.alerts.c
        told = (
            sa.select(a.place)
            .join(tables.runs, a.run == r.id)
            .where((r.id == run) | (r.same_as == run), a.delivered == 1)
        )
        with self.transaction() as connection:
            return set(connection.scalars(told))

    def breaks(self, kept: dict[str, str] | None = None) -> tuple[list[str], str]:
        """Where the chain of runs is broken, in words, and its last link; `kept` links must be in it."""
        with self.transaction() as connection:
            found, last = chain.breaks(connection)
            return [*found, *chain.missing(connection, kept or {})], last

    def keep_link(self, folder: Path, run: int) -> tuple[str, list[str]]:
        """Keep the link of a run beside the artefacts (`chain.keep`)."""
        with self.transaction() as connection:
            return chain.keep(connection, folder, run)

    def has_folder(self, folder: str) -> bool:
        """Whether any run has recorded a folder of this name."""
        with self.transaction() as connection:
            found = sa.select(tables.runs.c.id).where(tables.runs.c.folder == folder).limit(1)
            return connection.scalar(found) is not None

    @contextmanager
    def transaction(self, write: bool = False) -> Iterator[sa.Connection]:
        with database.refusals_explained(self._shown, self._engine.url), self._engine.connect() as connection:
            connection = connection.execution_options(write=write)
            with connection.begin():
                yield connection


@contextmanager
def opened(url: str, *, create: bool = True) -> Iterator[RunHistory]:
    """The history in a SQLite file or at a URL; without `create` it must exist."""
    engine, shown = database.connect(url, create)
    try:
        with database.refusals_explained(shown, engine.url):
            id = database.prepare(engine, shown, create)
        yield RunHistory(engine, shown, id)
    finally:
        engine.dispose()


# Rows -----------------------------------------------------------------------------------------------------------------


def _fields(value: Any) -> MutableRow:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _renamed(value: GroupFigure | PolicyGroup) -> MutableRow:
    """`group` is a word of SQL, and a truth value is a number."""
    found = {"name" if key == "group" else key: item for key, item in _fields(value).items()}
    return found | ({"crossing": int(value.crossing)} if isinstance(value, GroupFigure) else {})


def _numbered(rows: Iterable[DatabaseRow]) -> Iterator[MutableRow]:
    """The order of the report, which a database does not keep by itself."""
    return ({**row, "number": number} for number, row in enumerate(rows))


def _insert_run(connection: sa.Connection, values: DatabaseRow) -> int:
    key = connection.execute(sa.insert(tables.runs).values(**values)).inserted_primary_key
    assert key is not None
    return int(key[0])


def _insert(connection: sa.Connection, table: sa.Table, rows: Iterable[DatabaseRow]) -> None:
    if found := [dict(row) for row in rows]:
        connection.execute(sa.insert(table), found)


def _say(connection: sa.Connection, run: int, kind: str, texts: Iterable[str]) -> None:
    tables.said.create(connection, checkfirst=True)
    _insert(connection, tables.said, _numbered({"run": run, "kind": kind, "text": text} for text in texts))


def _of_audit(table: sa.Table, audit: str) -> sa.Select[Any]:
    if table is tables.runs:
        return sa.select(table).where(tables.runs.c.audit == audit)
    return sa.select(table).join(tables.runs, table.c.run == tables.runs.c.id).where(tables.runs.c.audit == audit)


def _assembled(connection: sa.Connection, found: Iterable[Any]) -> list[Run]:
    rows: list[DatabaseRow] = list(found)
    if not rows:
        return []
    audit = rows[0]["audit"]
    only = rows[0]["id"] if len(rows) == 1 else None

    def parts(table: sa.Table, *order: str) -> dict[int, list[MutableRow]]:
        chosen = _of_audit(table, audit) if only is None else sa.select(table).where(table.c.run == only)
        by_run: dict[int, list[MutableRow]] = defaultdict(list)
        for row in connection.execute(chosen.order_by(*(table.c[name] for name in order))).mappings():
            values = dict(row)
            values.pop("number", None)
            by_run[values.pop("run")].append(values)
        return by_run

    groups, policies = parts(tables.groups, "number"), parts(tables.policies, "place")
    inside, crossings = parts(tables.policy_groups, "number"), parts(tables.crossings, "number")
    artefacts, alerts = parts(tables.artefacts, "name"), parts(tables.alerts, "place")
    spoken = sa.inspect(connection).has_table(tables.said.name)
    said = parts(tables.said, "number") if spoken else defaultdict(list)
    made: dict[int, Run] = {}
    for row in rows:
        id, first = row["id"], made.get(row["same_as"] or -1)
        told = tuple(Delivery(d["place"], d["channel"], bool(d["delivered"]), d["detail"]) for d in alerts[id])
        if first is not None:
            own = {"id": id, "created": row["created"], "status": row["status"], "same_as": first.id, "alerts": told}
            made[id] = dataclasses.replace(first, **own)
            continue
        made[id] = Run(
            id=id,
            audit=row["audit"],
            created=row["created"],
            status=row["status"],
            same_as=row["same_as"],
            folder=row["folder"] or "",
            config_sha256=row["config_sha256"],
            data_sha256=row["data_sha256"],
            figures=_figures(row, groups[id], policies[id], inside[id]),
            crossings=tuple(Crossing(**c) for c in crossings[id]),
            artefacts=tuple(Artefact(**a) for a in artefacts[id]),
            alerts=told,
            removed=row["removed"],
            removed_why=row["removed_why"],
            findings=tuple(one["text"] for one in said[id] if one["kind"] == _FINDING),
            failure=" ".join(one["text"] for one in said[id] if one["kind"] == _REASON),
        )
    return list(made.values())


def _figures(
    row: DatabaseRow,
    groups: list[MutableRow],
    policies: list[MutableRow],
    inside: list[MutableRow],
) -> Figures:
    by_place: dict[int, list[PolicyGroup]] = defaultdict(list)
    for values in inside:
        by_place[values.pop("place")].append(PolicyGroup(group=values.pop("name"), **values))
    return Figures(
        created=row["created"],
        version=row["version"],
        data_path=row["data_path"],
        data_sha256=row["data_sha256"],
        rows=row["data_rows"],
        problems=row["problems"],
        python=row["python"],
        platform=row["platform"],
        capacity=row["capacity"],
        groups=tuple(
            GroupFigure(group=values.pop("name"), crossing=bool(values.pop("crossing")), **values) for values in groups
        ),
        policies=tuple(PolicyFigure(groups=tuple(by_place[p.pop("place")]), **p) for p in policies),
    )
