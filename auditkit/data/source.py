"""Data and settings become a history: the first stage of `pipeline`, apart because `auditkit check` needs no other."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditkit import plugin_manager
from auditkit.config import Config
from auditkit.data.firm_history import History
from auditkit.data.load import Checked, check, load
from auditkit.data.read_file import Tabular
from auditkit.data.sql_query import Query, holds_secret, is_url, parse_url
from auditkit.errors import InputError, PluginError, Problem

if TYPE_CHECKING:
    from auditkit.plugin_manager import Plugins

Place = Path | Query
"""A file, or a query to a database."""
Data = Place | Tabular | History
"""A file, a query, a table in memory, or what has been read already."""


def locate(data: str | Path | None, config: Config, environ: Mapping[str, str] = os.environ) -> Place | None:
    """What `data` names, a path or the URL of a database; without it what the settings name, None if nothing.

    Settings name the URL of a database without a password, or the environment variable that holds it.
    """
    given = {name: getattr(config, name) for name in ("source", "database", "database_env")}
    named = [name for name, value in given.items() if value is not None]
    if data is None and len(named) > 1:
        raise InputError(Problem(" and ".join(named), "exclude each other", "keep the one that names the data"))
    if data is None and config.database_env is not None:
        if not config.database_env.isidentifier():  # it may be the URL itself, so it is not repeated
            raise InputError(Problem("database_env", "is no name of an environment variable", "e.g. AUDIT_DATABASE"))
        data = environ.get(config.database_env, "").strip()
        if not is_url(data):
            what = f"the environment variable {config.database_env} holds no URL of a database"
            raise InputError(Problem("database_env", what, "set it, e.g. to postgresql://user:password@host/database"))
    elif data is None and config.database is not None:
        data = config.database
        if is_url(data) and holds_secret(parse_url(data)):
            what = "holds a password, or parameters that may be one"
            raise InputError(Problem("database", what, "put the URL into an environment variable, see database_env"))
        if not is_url(data):
            raise InputError(Problem("database", "is not the URL of a database", "a file is named by source"))
    elif data is None:
        data = config.source
    if isinstance(data, str) and is_url(data):
        return Query.of(data, config.query)
    if config.query is not None and not set(named) & {"database", "database_env"}:
        what = "is for a database, and the data are a file" if data is not None else "is given without a database"
        raise InputError(Problem("query", what, 'auditkit report URL --query "SELECT ..."'))
    return None if data is None else Path(data)


def named_in(config: Config, place: Place) -> Config:
    """The settings with `place` as their data; of the URL of a database all but the password."""
    if isinstance(place, Path):
        return config.model_copy(update={"source": place, "database": None, "database_env": None, "query": None})
    database = place.shown if config.database_env is None else None
    return config.model_copy(update={"source": None, "database": database, "query": place.sql})


def read(
    data: Data,
    config: Config,
    plugins: Plugins | None = None,
    on_fault: Callable[[PluginError], None] | None = None,
) -> History:
    """The history in a file or database; without `plugins` only what ships reads it."""
    return data if isinstance(data, History) else load(data, **_reading(config, plugins, on_fault))


def problems_of(data: Place | Tabular, config: Config, plugins: Plugins | None = None) -> Checked:
    """Everything that `read` would complain about, without raising."""
    return check(data, **_reading(config, plugins, None))


def _reading(config: Config, plugins: Plugins | None, on_fault: Callable[[PluginError], None] | None) -> dict[str, Any]:
    plugins = plugins or plugin_manager.shipped()
    return {
        "mapping": config.mapping or None,
        "cost": config.cost,
        "capacity": config.capacity,
        "words": config.words or None,
        "limits": config.limits or None,
        "sheet": config.sheet,
        "readers": plugins.readers.values(),
        "on_fault": on_fault or plugins.leave_out,
    }
