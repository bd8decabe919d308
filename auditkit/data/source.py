"""Data and settings become a history: the first stage of `pipeline`, apart because `auditkit check` needs no other."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditkit import plugin_manager
from auditkit.config import Config
from auditkit.data.firm_history import History
from auditkit.data.load import Checked, check, load
from auditkit.data.read_file import Tabular
from auditkit.data.sql_query import Query, holds_secret, is_url, parse_url
from auditkit.data.vocabulary import Vocabulary, extended, speaking
from auditkit.errors import InputError, PluginError, Problem
from auditkit.files import sha256_of

if TYPE_CHECKING:
    from auditkit.plugin_manager import Plugins


@dataclass(frozen=True)
class Files:
    """Several files that are read as one: below each other, or joined by an id."""

    paths: tuple[Path, ...]

    @property
    def name(self) -> str:
        return " + ".join(path.name for path in self.paths)

    @property
    def stem(self) -> str:
        return self.paths[0].stem

    def sha256(self, hint: str = "") -> str:
        """One digest of all files, as their report has it."""
        return hashlib.sha256("".join(sha256_of(path, hint) for path in self.paths).encode()).hexdigest()

    def with_name(self, name: str) -> Path:
        """A path beside the first file."""
        return self.paths[0].with_name(name)


def paths_of(data: Path | Files) -> tuple[Path, ...]:
    """The files, one or several."""
    return data.paths if isinstance(data, Files) else (data,)


def place_of(paths: Sequence[Path]) -> Path | Files:
    """One file, or several that are read as one."""
    return Files(tuple(paths)) if len(paths) > 1 else paths[0]


Place = Path | Files | Query
"""A file, several files, or a query to a database."""
Data = Place | Tabular | History
"""A file, a query, a table in memory, or what has been read already."""


def expanded(data: Sequence[str | Path]) -> str | Path | tuple[Path, ...] | None:
    """What was typed, with patterns such as `2024-*.csv` replaced by the files that they name."""
    if len(data) == 1 and isinstance(data[0], str) and is_url(data[0]):
        return data[0]
    paths: list[Path] = []
    for each in data:
        if isinstance(each, str) and is_url(each):
            raise InputError(Problem("DATA", "a database goes with no other data", "give its URL alone"))
        path = Path(each)
        if set(path.name) & set("*?[") and not path.exists():
            found = sorted(path.parent.glob(path.name))
            if not found:
                raise InputError(Problem(str(path), "no file has such a name"))
            paths += found
        else:
            paths.append(path)
    return None if not paths else paths[0] if len(paths) == 1 else tuple(paths)


def locate(
    data: str | Path | Sequence[Path] | None, config: Config, environ: Mapping[str, str] = os.environ
) -> Place | None:
    """What `data` names, a path or the URL of a database; without it what the settings name, None if nothing.

    Settings name the URL of a database without a password, or the environment variable that holds it.
    """
    given = {name: getattr(config, name) for name in ("source", "database", "database_env")}
    named = [name for name, value in given.items() if value is not None]
    if data is None and len(named) > 1:
        raise InputError(Problem(" and ".join(named), "exclude each other", "keep the one that names the data"))
    if data is None and config.database_env is not None:
        if not config.database_env.isidentifier():  # it may be the URL itself, so it is not repeated
            raise InputError(
                Problem("database_env", "is not the name of an environment variable", "e.g. AUDIT_DATABASE")
            )
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
        data = config.source if not config.also or config.source is None else (config.source, *config.also)
    if isinstance(data, str) and is_url(data):
        return Query.of(data, config.query)
    if config.query is not None and not set(named) & {"database", "database_env"}:
        what = "is for a database, and the data are a file" if data is not None else "is given without a database"
        raise InputError(Problem("query", what, 'auditkit report URL --query "SELECT ..."'))
    if data is None or isinstance(data, str | Path):
        return None if data is None else Path(data)
    return Files(tuple(Path(each) for each in data))


def named_in(config: Config, place: Place) -> Config:
    """The settings with `place` as their data; of the URL of a database all but the password."""
    if isinstance(place, Path | Files):
        first, *more = paths_of(place)
        none = {"database": None, "database_env": None, "query": None}
        return config.model_copy(update={"source": first, "also": more, **none})
    database = place.shown if config.database_env is None else None
    return config.model_copy(update={"source": None, "database": database, "query": place.sql})


def read(
    data: Data,
    config: Config,
    plugins: Plugins | None = None,
    on_fault: Callable[[PluginError], None] | None = None,
) -> History:
    """The history in a file or database; without `plugins` only what ships reads it."""
    if isinstance(data, History):
        return data
    with speaking(_vocabulary(plugins)):
        history = load(_paths(data), **_reading(config, plugins, on_fault))
    if history.reading is not None and history.reading.refusal:
        raise InputError(Problem(getattr(data, "name", "data"), history.reading.refusal))
    return history


def _paths(data: Place | Tabular) -> Path | tuple[Path, ...] | Query | Tabular:
    return data.paths if isinstance(data, Files) else data


def problems_of(data: Place | Tabular, config: Config, plugins: Plugins | None = None) -> Checked:
    """Everything that `read` would complain about, without raising."""
    with speaking(_vocabulary(plugins)):
        return check(_paths(data), **_reading(config, plugins, None))


def _vocabulary(plugins: Plugins | None) -> Vocabulary:
    return extended(*(plugins or plugin_manager.shipped()).word_lists.values())


def _reading(config: Config, plugins: Plugins | None, on_fault: Callable[[PluginError], None] | None) -> dict[str, Any]:
    plugins = plugins or plugin_manager.shipped()
    return {
        "mapping": config.mapping or None,
        "cost": config.cost,
        "capacity": config.capacity,
        "words": config.words or None,
        "limits": config.limits or None,
        "favourable": config.favourable,
        "columns": config.columns or None,
        "sheet": config.sheet,
        "readers": plugins.readers.values(),
        "on_fault": on_fault or plugins.leave_out,
    }
