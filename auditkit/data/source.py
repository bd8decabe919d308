"""Data and settings become a history: the first stage of `pipeline`, apart because `auditkit check` needs no other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditkit import plugin_manager
from auditkit.config import Config
from auditkit.data.firm_history import History
from auditkit.data.load import Checked, check, load
from auditkit.data.read_file import Tabular
from auditkit.errors import PluginError

if TYPE_CHECKING:
    from auditkit.plugin_manager import Plugins

Data = Path | Tabular | History
"""A file, a table in memory, or what has been read already."""


def read(
    data: Data,
    config: Config,
    plugins: Plugins | None = None,
    on_fault: Callable[[PluginError], None] | None = None,
) -> History:
    """The history in a file; without `plugins` only what ships reads it."""
    return data if isinstance(data, History) else load(data, **_reading(config, plugins, on_fault))


def problems_of(data: Path | Tabular, config: Config, plugins: Plugins | None = None) -> Checked:
    """Everything that `read` would complain about, without raising."""
    return check(data, **_reading(config, plugins, None))


def _reading(config: Config, plugins: Plugins | None, on_fault: Callable[[PluginError], None] | None) -> dict[str, Any]:
    plugins = plugins or plugin_manager.shipped()
    return {
        "mapping": config.mapping or None,
        "cost": config.cost,
        "capacity": config.capacity,
        "words": config.words or None,
        "sheet": config.sheet,
        "readers": plugins.readers.values(),
        "on_fault": on_fault or plugins.leave_out,
    }
