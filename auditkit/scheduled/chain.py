"""The runs of a history as a chain: each run has the SHA-256 of its record and of the previous run's link.

If a number is changed later, or a run removed or inserted, the chain breaks there, and `breaks` says where. A chain
that was cut at its end, or recomputed, is consistent in itself. So the last link is kept outside the database, beside
the artefacts (`last-link.json`), and `auditkit run` and `auditkit history` print it for you to keep elsewhere. What
happens to a run later (alerts, removed artefacts) isn't part of the chain.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import sqlalchemy as sa

from auditkit.errors import InputError, Problem
from auditkit.files import read_json, write_bytes
from auditkit.scheduled import tables

LATER = ("removed", "removed_why", "link")
"""Columns of a run that may change after it was recorded."""
PARTS = (tables.groups, tables.policies, tables.policy_groups, tables.crossings, tables.artefacts)
FIRST = "0" * 64
KEPT = "last-link.json"


def kept(folder: Path) -> dict[str, str]:
    """The links known outside the database, each with its run. Empty before the first run."""
    path = folder / KEPT
    if not path.exists():
        return {}
    found, _ = read_json(path)
    try:
        return {str(found["link"]): f"run {int(found['run'])} of {path}"}
    except (KeyError, TypeError, ValueError):
        what = "isn't a link that auditkit run wrote"
        raise InputError(Problem(str(path), what, "restore it, or remove it to start over")) from None


def keep(connection: sa.Connection, folder: Path, run: int) -> tuple[str, list[str]]:
    """Keep the link of a run that was just recorded; returns it, and what is wrong with the one kept before.

    A link that doesn't fit is left as it is, as evidence.
    """
    wrong = missing(connection, kept(folder))
    link = str(connection.scalar(sa.select(tables.runs.c.link).where(tables.runs.c.id == run)))
    if not wrong:
        write_bytes(folder / KEPT, (json.dumps({"run": run, "link": link}) + "\n").encode(), private=True)
    return link, wrong


def missing(connection: sa.Connection, links: dict[str, str]) -> list[str]:
    """Say which of these links the history lacks; the values describe the links."""
    found = set(connection.scalars(sa.select(tables.runs.c.link).where(tables.runs.c.link.in_(links))))
    cut = "the history was cut or replaced"
    return [f"{cut}: {of} is not in it as it was recorded" for link, of in links.items() if link not in found]


def append(connection: sa.Connection, run: int) -> str:
    """Link a run that was just recorded to the one before; returns its link."""
    before = connection.scalar(
        sa.select(tables.runs.c.link).where(tables.runs.c.id < run).order_by(tables.runs.c.id.desc()).limit(1)
    )
    link = _link(connection, run, before or FIRST)
    connection.execute(sa.update(tables.runs).where(tables.runs.c.id == run).values(link=link))
    return link


def extend(connection: sa.Connection) -> None:
    """Link all runs of a history that has no links yet."""
    for run in list(connection.scalars(sa.select(tables.runs.c.id).order_by(tables.runs.c.id))):
        append(connection, run)


def breaks(connection: sa.Connection) -> tuple[list[str], str]:
    """Where the chain is broken, in words, and its last link."""
    found: list[str] = []
    before, last = FIRST, 0
    query = sa.select(tables.runs.c.id, tables.runs.c.link).order_by(tables.runs.c.id)
    for run, link in connection.execute(query).all():
        if link != _link(connection, run, before):
            since = f"after run {last}" if last else "at its beginning"
            found.append(f"the history is not as it was recorded {since}: run {run} or an earlier one was changed")
        before, last = link or FIRST, run
    return found, before


def _said(connection: sa.Connection, run: int) -> list[list[str]]:
    if not sa.inspect(connection).has_table(tables.said.name):
        return []
    columns = tables.said.c
    chosen = sa.select(columns.kind, columns.text).where(columns.run == run).order_by(columns.number)
    return [list(row) for row in connection.execute(chosen).all()]


def _link(connection: sa.Connection, run: int, before: str) -> str:
    """SHA-256 of the previous link and of everything recorded about a run."""
    parts: dict[str, object] = {}
    for table in PARTS:
        keys = [column for column in table.primary_key.columns if column.name != "run"]
        rows = connection.execute(sa.select(table).where(table.c.run == run).order_by(*keys)).mappings()
        parts[table.name] = sorted(json.dumps(dict(row), sort_keys=True) for row in rows)
    if said := _said(connection, run):  # runs without sentences keep the links of older versions
        parts[tables.said.name] = said
    own = connection.execute(sa.select(tables.runs).where(tables.runs.c.id == run)).mappings().one()
    parts["run"] = {key: value for key, value in own.items() if key not in LATER}
    text = json.dumps([before, parts], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
