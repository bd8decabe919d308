"""Find plugins, load them, and say whose fault it is when that fails.

Nothing happens at import: `load()` builds a manager, loads installed entry points and the directories that the user
names one by one, and keeps going when one of them is broken. The working directory is never looked at by itself.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

from auditkit import hookspecs
from auditkit.errors import InputError, Problem

if TYPE_CHECKING:
    from auditkit.alerts import Channel
    from auditkit.constraints import Constraint
    from auditkit.fit.fitter import Fitter


@dataclass(frozen=True)
class Origin:
    """Where a plugin comes from."""

    name: str
    module: str
    distribution: str
    version: str

    def __str__(self) -> str:
        return f"plugin {self.name!r} of {self.distribution} {self.version}"


@dataclass(frozen=True, eq=False)
class Plugins:
    """Everything that plugins provide, by the name under which users call it."""

    constraints: dict[str, type[Constraint]]
    fitters: dict[str, type[Fitter]]
    alerts: dict[str, type[Channel]]
    origins: dict[tuple[str, str], Origin]
    """(kind, name) -> where it comes from; kind is "constraint", "fitter" or "alert"."""
    warnings: tuple[str, ...]
    """One line for each plugin, or part of one, that could not be used."""


def load(directories: Sequence[Path] = ()) -> Plugins:
    """Load every installed plugin and the files of directories that the user names; nothing else is ever loaded.

    A broken one is left out and named in `warnings`.
    """
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    warnings: list[str] = []
    loaded = _register(manager, [*_installed(), *_files(directories)], warnings)
    origins: dict[tuple[str, str], Origin] = {}

    def gather(kind: str, hook: str, name_of: Callable[[Any], str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for origin, plugin in loaded:
            caller = manager.subset_hook_caller(hook, [p for p in manager.get_plugins() if p is not plugin])
            try:
                offers = [(name_of(offer), offer) for offers in caller() for offer in offers]
            except Exception as error:
                warnings.append(_blame(origin, error))
                continue
            for name, offer in offers:
                if name in found:
                    taken = origins[kind, name]
                    warnings.append(f"{origin} claims the {kind} {name!r}, which is taken by {taken}: left out")
                    continue
                found[name], origins[kind, name] = offer, origin
        return found

    return Plugins(
        constraints=gather("constraint", "auditkit_constraints", lambda kind: kind.type),
        fitters=gather("fitter", "auditkit_fitters", lambda fitter: fitter.name),
        alerts=gather("alert", "auditkit_alerts", lambda channel: channel.type),
        origins=origins,
        warnings=tuple(warnings),
    )


def _installed() -> Iterator[tuple[Origin, Callable[[], Any]]]:
    """Entry points, those of auditkit itself first so that nobody can take their names."""
    seen = set()
    entries = importlib.metadata.entry_points(group=hookspecs.PROJECT)
    for entry in sorted(entries, key=lambda e: (not e.value.startswith("auditkit.plugins."), e.name, e.value)):
        dist = entry.dist
        origin = Origin(entry.name, entry.value, dist.name if dist else "?", dist.version if dist else "?")
        if origin not in seen:  # an editable install can list the same entry point twice
            seen.add(origin)
            yield origin, entry.load


def _files(directories: Sequence[Path]) -> Iterator[tuple[Origin, Callable[[], Any]]]:
    """Every Python file right inside the directories."""
    for directory in directories:
        if not directory.is_dir():
            raise InputError(Problem(str(directory), "is not a directory of plugins"))
        for path in sorted(directory.glob("*.py")):
            if not path.name.startswith("_"):
                yield Origin(path.stem, str(path), "--plugins-dir", str(directory)), partial(_module, path)


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"auditkit_plugin_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # pydantic looks up annotations there
    spec.loader.exec_module(module)
    return module


def _register(
    manager: pluggy.PluginManager, found: Iterable[tuple[Origin, Callable[[], Any]]], warnings: list[str]
) -> list[tuple[Origin, Any]]:
    loaded: list[tuple[Origin, Any]] = []
    for origin, load_one in found:
        plugin = None
        try:
            plugin = load_one()
            manager.register(plugin)
            manager.check_pending()
        except Exception as error:
            if plugin is not None and manager.is_registered(plugin):
                manager.unregister(plugin)
            warnings.append(_blame(origin, error))
            continue
        loaded.append((origin, plugin))
    return loaded


def _blame(origin: Origin, error: Exception) -> str:
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{origin} is left out: {reason}"
