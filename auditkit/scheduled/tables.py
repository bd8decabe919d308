"""The tables of the history, for SQLite and PostgreSQL.

`VERSION` is stamped into each database. Raise it with every change of a table, and migrate the version before
(`migrate.py`); any other version is refused.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Float, ForeignKey, Identity, Index, Integer, MetaData, Table, Text

VERSION = 2
BACKENDS = ("sqlite", "postgresql")

metadata = MetaData()


def _texts(*names: str, required: bool = False) -> list[Column[Any]]:
    return [Column(name, Text, nullable=not required) for name in names]


def _integers(*names: str, required: bool = False) -> list[Column[Any]]:
    return [Column(name, Integer, nullable=not required) for name in names]


def _floats(*names: str, required: bool = False) -> list[Column[Any]]:
    return [Column(name, Float(53), nullable=not required) for name in names]


def _of_run(name: str, key: Column[Any], *columns: Column[Any]) -> Table:
    """A table of parts of runs; `key` tells those of one run apart."""
    return Table(name, metadata, Column("run", ForeignKey("auditkit_runs.id"), primary_key=True), key, *columns)


def _number(name: str) -> Column[Any]:
    return Column(name, Integer, primary_key=True, autoincrement=False)


schema = Table("auditkit_schema", metadata, *_integers("version", required=True), *_texts("history", required=True))
runs = Table(
    "auditkit_runs",
    metadata,
    Column("id", Integer, Identity(), primary_key=True),
    *_texts("audit", "created", "status", required=True),
    Column("same_as", ForeignKey("auditkit_runs.id")),
    *_texts("folder"),
    *_texts("version", "config_sha256", required=True),
    *_texts("data_sha256", "data_path"),
    *_integers("data_rows", "problems"),
    *_texts("python", "platform"),
    *_floats("capacity"),
    *_texts("removed", "removed_why", "link"),
    Index("auditkit_runs_by_audit", "audit", "id"),
    sqlite_autoincrement=True,  # the number of a run is never given away again
)
groups = _of_run(
    "auditkit_groups",
    _number("number"),
    *_texts("attribute", required=True),
    *_integers("crossing", required=True),
    *_texts("step", "name", required=True),
    *_integers("applicants", "selected"),
    *_floats("rate", "impact_ratio"),
    *_texts("status", "reference"),
    *_integers("reference_applicants", "reference_selected"),
)
policies = _of_run(
    "auditkit_policies",
    _number("place"),
    *_texts("kind", "label", required=True),
    *_texts("status"),
    *_floats("utility", "unfilled", "ratio", "loss", "ratio_low", "ratio_high", "loss_low", "loss_high", "gap"),
)
artefacts = _of_run(
    "auditkit_artefacts",
    Column("name", Text, primary_key=True),
    *_texts("sha256", required=True),
    *_integers("bytes", required=True),
)
policy_groups = _of_run(
    "auditkit_policy_groups",
    _number("number"),
    *_integers("place", required=True),
    *_texts("attribute", "name", required=True),
    *_integers("candidates"),
    *_floats("inspected", "selected"),
)
crossings = _of_run(
    "auditkit_crossings",
    _number("number"),
    *_texts("threshold", "subject", required=True),
    *_floats("value"),
    *_floats("bound", required=True),
    *_texts("words", required=True),
)
alerts = _of_run(
    "auditkit_alerts",
    _number("place"),
    *_texts("channel", required=True),
    *_integers("delivered", required=True),
    *_texts("detail", required=True),
)
said = _of_run("auditkit_said", _number("number"), *_texts("kind", "text", required=True))
"""Sentences of a run: its findings, or why it failed. Like `responses` added after the others."""
responses = Table(
    "auditkit_responses",
    metadata,
    Column("id", Integer, Identity(), primary_key=True),
    Column("run", ForeignKey("auditkit_runs.id"), nullable=False),
    *_texts("audit", "created", "finding", "decision", "owner", "attribute", required=True),
    *_texts("name", "step", "segment", "value", "due"),
    *_texts("text", required=True),
    *_floats("impact_ratio"),
    sqlite_autoincrement=True,
)
"""Added after the others: a database of this version may lack it until the first response."""
