"""Whose fault it is when something that a plugin provides goes wrong, and an error that says so.

`blaming(offer)` goes around every call into a plugin: what its author did not foresee becomes a `PluginError` with
the plugin's distribution and version. What auditkit itself ships is not blamed: there, an exception is our defect.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from auditkit.errors import InputError

GROUP = "auditkit"
"""The group of entry points in which plugins are named."""

FILE = "auditkit_plugin_"
"""What the names of modules begin with that are loaded from a folder of the user's."""

DIRECTORY = "--plugins-dir"
"""What stands for the distribution of such a module."""


@dataclass(frozen=True)
class Origin:
    """Where a plugin comes from."""

    name: str
    module: str
    distribution: str
    version: str

    def __str__(self) -> str:
        return f"plugin {self.name!r} of {self.distribution} {self.version}".rstrip()


class PluginError(InputError):
    """Something that a plugin provides does not keep its promise (exit code 2); `offer` is its class or object.

    `detail` is what the plugin itself said: it may quote a cell or a place on this machine and stays out of reports,
    which have `public`.
    """

    def __init__(self, offer: object, reason: str, detail: str = "") -> None:
        self.offer, self.reason, self.detail = offer, reason, " ".join(detail.split())
        self.public = f"{origin_of(offer)}: {reason}"
        super().__init__(f"{self.public}: {self.detail}" if detail else self.public)

    def __reduce__(self) -> tuple[type[PluginError], tuple[object, str, str]]:  # type: ignore[override]
        return PluginError, (self.offer, self.reason, self.detail)


@contextmanager
def blaming(offer: object, doing: str) -> Iterator[None]:
    """Whatever fails inside is the fault of the plugin that provides `offer`, unless it names the user's own error."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if shipped(offer):
            raise
        raise PluginError(offer, f"{doing} failed with {type(error).__name__}", str(error)) from error


def shipped(offer: object) -> bool:
    """Whether auditkit itself provides this class or object."""
    return _module(offer).startswith("auditkit.")


def origin_of(offer: object) -> Origin:
    """The plugin that provides a class or object, found by its module."""
    module = _module(offer)
    if module.startswith(FILE):
        path = Path(getattr(sys.modules.get(module), "__file__", None) or module.removeprefix(FILE))
        return Origin(path.stem, str(path), DIRECTORY, str(path.parent))
    package = module.partition(".")[0]
    near = [entry for entry in importlib.metadata.entry_points(group=GROUP) if _within(entry.module, package)]
    near.sort(key=lambda entry: entry.module != module)  # stable: the very module, or the first of its package
    for entry in near:
        if entry.dist is not None:
            return Origin(entry.name, module, entry.dist.name, entry.dist.version)
    return Origin(getattr(offer, "__name__", type(offer).__name__), module, f"the module {module}", "")


def _within(module: str, package: str) -> bool:
    return module.partition(".")[0] == package


def _module(offer: object) -> str:
    """The module of a class, of an object's class, or of what a command calls."""
    if not isinstance(offer, type):
        offer = getattr(offer, "callback", None) or type(offer)
    return str(getattr(offer, "__module__", ""))
