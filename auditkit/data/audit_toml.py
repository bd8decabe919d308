"""Writes `audit.toml`: the mapping that was inferred and every setting at its default, each with what it means."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from auditkit.config import RUN_ONLY, SQLITE, Config
from auditkit.data.remembered import columns_seen
from auditkit.data.vocabulary import ROLES

if TYPE_CHECKING:
    from auditkit.data.firm_history import History

_HEAD = """\
# The settings of an audit: `auditkit report --config audit.toml`. Every setting is here with its default; a line that
# begins with # is not set. Options on the command line come first.
"""

_CONSTRAINTS = """\
# Constraints to price, one table each. While none is named: parity and impact-ratio.
#
# [[constraints]]
# type = "parity"
# tolerance = 0.02
#
# [[constraints]]
# type = "quota"
# group = {group}
# share = 0.4
# on = "inspection"
"""

_THRESHOLDS = """
# Lines that figures must not cross: `auditkit run` and `auditkit report --config` then exit with 1.
#
# [thresholds]
# impact_ratio.min = 0.8
# price_of_fairness.loss.max = 50000
# unfilled_capacity.max = 0.05
# impact_ratio.max_drop = 0.05
"""

_HISTORY = """
# Where `auditkit run` keeps what it writes, and for how long.
#
# [history]
# folder = "audits"
# keep = "4 years"
"""

_ALERTS = """
# Who is told when `auditkit run` crosses a line, one table each; secrets are named by their environment variables.
#
# [[alerts]]
# type = "webhook"
# url_env = "AUDIT_WEBHOOK"
"""


def write(config: Config, history: History, folder: Path) -> str:
    """The text of the file; paths are relative to its folder."""
    mapping = history.mapping.as_dict()
    lines = [_HEAD, *_settings(config, folder)]
    lines += ["", "# Which column is what. Roles that the data does not have are listed at the end.", "[mapping]"]
    reasons = {choice.role: choice.reason for choice in history.mapping.choices}
    for role, columns in mapping.items():
        if role == "stages" and "stage" in mapping:
            continue  # values of the stage column, in the order that was found
        lines.append(f"{role} = {_value(columns[0] if len(columns) == 1 else columns)}  # {reasons[role]}")
    lines += [f"# {role} = ...  # {meaning}" for role, meaning in ROLES.items() if role not in mapping]
    if history.mapping.unused:
        lines.append(f"# columns without a role: {', '.join(map(repr, history.mapping.unused))}")
    lines += ["", "# Statuses of the file that auditkit does not know: word = meaning.", "[words]"]
    lines += [f"{_value(word)} = {_value(meaning)}" for word, meaning in config.words.items()]
    lines += ["", "# How many can be selected in each unit inside a search: column = number, or {unit = number}."]
    lines += ["[limits]", *(f"{_value(name)} = {_value(most)}" for name, most in config.limits.items())]
    lines += ["", "# What the columns looked like, so that one that has another name in a later file is found."]
    seen = config.columns if history.reading is None else columns_seen(history.reading)
    lines += ["[columns]", *(f"{_value(name)} = {_value(words)}" for name, words in seen.items())]
    for part, title in (
        ("fit", "How priors are learnt from past scores."),
        ("report", "What is written, and the lines that measurements are compared with."),
        (
            "statement",
            "Your own words: for whom, comments; source and explanation of the data and dates for Local Law 144.",
        ),
    ):
        lines += ["", f"# {title}", f"[{part}]", *_fields(getattr(config, part))]
    group = _value(history.groups[0] if history.groups else "F")
    named = _named("constraints", config.constraints or ())
    return "\n".join(lines) + "\n\n" + _CONSTRAINTS.format(group=group) + named + _runs(config)


def _runs(config: Config) -> str:
    """The parts that `auditkit run` adds."""
    return "".join(
        [
            _THRESHOLDS,
            _table("thresholds", config.thresholds),
            _HISTORY,
            _table("history", config.history),
            _ALERTS,
            _named("alerts", config.alerts),
        ]
    )


def _settings(config: Config, folder: Path) -> Iterator[str]:
    source = None if config.source is None else Path(os.path.relpath(config.source, folder)).as_posix()
    yield from _fields(config, source=source, database=_database(config.database, folder))


def _database(url: str | None, folder: Path) -> str | None:
    """The URL of a SQLite file, relative to the folder; others as they are."""
    if url is None or not url.startswith(SQLITE):
        return url
    return SQLITE + Path(os.path.relpath(url.removeprefix(SQLITE), folder)).as_posix()


def _fields(part: BaseModel, **other: Any) -> Iterator[str]:
    for name, field in type(part).model_fields.items():
        value = other.get(name, getattr(part, name))
        if isinstance(value, BaseModel) or name in (
            "mapping",
            "words",
            "columns",
            "limits",
            "constraints",
            "availability",
            *RUN_ONLY,
        ):
            continue
        meaning = f"  # {field.description}" if field.description else ""
        yield f"# {name} = ...{meaning}" if value is None else f"{name} = {_value(value)}{meaning}"


def _named(name: str, tables: Iterable[Mapping[str, object]]) -> str:
    return "".join(_table(f"[{name}]", keys) for keys in tables)


def _table(name: str, keys: Mapping[str, object]) -> str:
    return f"\n[{name}]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in keys.items()) if keys else ""


def _value(value: Any) -> str:
    """TOML of a plain value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_value(str(key))} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, int | float):
        return repr(value)
    # JSON's escapes are TOML's, but for the delete character
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
