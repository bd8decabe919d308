"""Find plugins, load them, and say whose fault it is when that fails.

Nothing happens at import: `load()` builds a manager, loads installed entry points one by one, and keeps going when
one of them is broken.
"""

from __future__ import annotations

import importlib.metadata
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pluggy

from auditkit import hookspecs

if TYPE_CHECKING:
    from auditkit.constraints import Constraint


@dataclass(frozen=True)
class Origin:
    """Where a plugin comes from."""

    name: str
    module: str
    distribution: str
    version: str


@dataclass(frozen=True, eq=False)
class Plugins:
    manager: pluggy.PluginManager
    origins: tuple[Origin, ...]
    constraints: dict[str, type[Constraint]]
    constraint_origin: dict[str, Origin]
    warnings: tuple[str, ...]
    """One line for each plugin that could not be used."""


def load() -> Plugins:
    """Load every installed plugin; a broken one is left out and named in `warnings`."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    origins, warnings = [], []
    for entry in sorted(importlib.metadata.entry_points(group=hookspecs.PROJECT), key=lambda e: (e.name, e.value)):
        dist = entry.dist
        origin = Origin(entry.name, entry.value, dist.name if dist else "?", dist.version if dist else "?")
        if any(known.name == origin.name and known.module == origin.module for known in origins):
            continue  # an editable install can list the same entry point twice
        try:
            plugin = entry.load()
            manager.register(plugin, name=f"{origin.distribution}:{entry.name}")
            manager.check_pending()
        except Exception as error:
            if manager.has_plugin(f"{origin.distribution}:{entry.name}"):
                manager.unregister(name=f"{origin.distribution}:{entry.name}")
            warnings.append(_blame(origin, error))
            continue
        origins.append(origin)
    kinds: dict[str, type[Constraint]] = {}
    sources: dict[str, Origin] = {}
    for origin in origins:
        plugin = manager.get_plugin(f"{origin.distribution}:{origin.name}")
        hook = manager.subset_hook_caller(
            "auditkit_constraints", [other for other in manager.get_plugins() if other is not plugin]
        )
        try:
            offered = [kind for kinds_of_one in hook() for kind in kinds_of_one]
        except Exception as error:
            warnings.append(_blame(origin, error))
            continue
        for kind in offered:
            if kind.type in kinds:
                warnings.append(
                    f"plugin {origin.name!r} of {origin.distribution} {origin.version} claims the constraint "
                    f"{kind.type!r}, which {sources[kind.type].distribution} has already; its version is left out"
                )
                continue
            kinds[kind.type], sources[kind.type] = kind, origin
    return Plugins(manager, tuple(origins), kinds, sources, tuple(warnings))


def _blame(origin: Origin, error: Exception) -> str:
    reason = f"{type(error).__name__}: {error}".splitlines()[0]
    return f"plugin {origin.name!r} of {origin.distribution} {origin.version} is left out: {reason}"


def warn(plugins: Plugins) -> None:
    for line in plugins.warnings:
        print(f"warning: {line}", file=sys.stderr)
