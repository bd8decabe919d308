"""Find plugins, load them, and say whose fault it is if that fails.

Nothing happens at import: `load()` builds a manager, loads installed entry points and the directories that the user
names one by one, and keeps going if one of them is broken. The working directory is never searched by itself.
`errors.blaming` watches what a plugin does later, while it's used; an optional plugin that fails then is also left out
with a warning (`Plugins.leave_out`).
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import sys
import warnings as python_warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pluggy

from auditkit import hookspecs
from auditkit.errors import DIRECTORY, FILE, OFFER_NAME, InputError, Origin, PluginError, Problem, nearest

if TYPE_CHECKING:
    import click

    from auditkit.constraints.base import Constraint
    from auditkit.data.reader import Reader
    from auditkit.data.vocabulary import WordList
    from auditkit.disparity.measure import DisparityMeasure
    from auditkit.fitting.fitter import Fitter
    from auditkit.report.exporter import Exporter
    from auditkit.report.profile import Profile
    from auditkit.report.section import Section
    from auditkit.rules.rule import Rule
    from auditkit.scheduled.alert import Channel

SHIPPED = "auditkit.plugins."
"""Prefix of the modules of shipped plugins."""

Found = tuple[Origin, Callable[[], Any]]
"""A plugin that was found, and how to load it."""


HOOKS = tuple(name for name in vars(hookspecs) if name.startswith("auditkit_"))


@dataclass(frozen=True)
class Kind:
    """One kind of thing that plugins provide: its hook, the attribute that names an offer, and its base class."""

    name: str
    hook: str
    called: str
    base: str

    def problem(self, offer: Any) -> str | None:
        """The defect of an offer, if it shows without using it."""
        module, _, name = self.base.rpartition(".")
        base = getattr(importlib.import_module(module), name)
        instance = self is COMMAND
        if not (isinstance(offer, base) if instance else isinstance(offer, type) and issubclass(offer, base)):
            return f"{offer!r} is not {'a' if instance else 'a subclass of'} {name}"
        if self.called in getattr(offer, "model_fields", {}):
            declared = f"{self.called}: ClassVar[str] = ..."
            return f"{offer.__name__}.{self.called} is a key for users to write; declare it as {declared}"
        called = getattr(offer, self.called, None)
        if not isinstance(called, str) or not called:
            return f"{offer!r} has no {self.called}"
        if not OFFER_NAME.fullmatch(called):
            return f"the {self.called} {called!r} must consist of letters, digits, hyphens and underscores"
        if not instance and getattr(offer, "__abstractmethods__", None):
            return f"{called!r} lacks {', '.join(sorted(offer.__abstractmethods__))}"
        defect: Callable[[Any], str | None] | None = getattr(importlib.import_module(module), "defect", None)
        return None if defect is None else defect(offer)


COMMAND = Kind("command", "auditkit_commands", "name", "click.Command")
KINDS = (
    Kind("constraint", "auditkit_constraints", "type", "auditkit.constraints.base.Constraint"),
    Kind("fitter", "auditkit_fitters", "name", "auditkit.fitting.fitter.Fitter"),
    Kind("alert", "auditkit_alerts", "type", "auditkit.scheduled.alert.Channel"),
    Kind("reader", "auditkit_readers", "name", "auditkit.data.reader.Reader"),
    Kind("word_list", "auditkit_vocabulary", "name", "auditkit.data.vocabulary.WordList"),
    Kind("measure", "auditkit_measures", "name", "auditkit.disparity.measure.DisparityMeasure"),
    Kind("rule", "auditkit_rules", "name", "auditkit.rules.rule.Rule"),
    Kind("section", "auditkit_sections", "name", "auditkit.report.section.Section"),
    Kind("exporter", "auditkit_exporters", "format", "auditkit.report.exporter.Exporter"),
    Kind("profile", "auditkit_profiles", "name", "auditkit.report.profile.Profile"),
    COMMAND,
)


def _tell(line: str) -> None:
    python_warnings.warn(line, stacklevel=3)


@dataclass(frozen=True, eq=False)
class Plugins:
    """Everything that plugins provide, by the name that users write."""

    constraints: dict[str, type[Constraint]]
    fitters: dict[str, type[Fitter]]
    alerts: dict[str, type[Channel]]
    readers: dict[str, type[Reader]]
    word_lists: dict[str, type[WordList]]
    measures: dict[str, type[DisparityMeasure]]
    rules: dict[str, type[Rule]]
    sections: dict[str, type[Section]]
    exporters: dict[str, type[Exporter]]
    profiles: dict[str, type[Profile]]
    commands: dict[str, click.Command]
    origins: dict[tuple[str, str], Origin]
    """(kind, name) -> where it comes from; kind is the name of one of `KINDS`."""
    warnings: tuple[str, ...]
    """One line for each plugin, or part of one, that couldn't be used."""
    strict: bool = False
    """A plugin that fails is an error, whether or not it was requested."""
    tell: Callable[[str], None] = field(default=_tell, repr=False)
    """Called with a warning when a plugin fails at run time."""

    def leave_out(self, error: PluginError) -> None:
        """Go on without an optional plugin; raises with `strict`."""
        if self.strict:
            raise error
        self.tell(f"{error} (left out)")


def load(directories: Sequence[Path] = (), taken: Collection[str] = ()) -> Plugins:
    """Load every installed plugin, and the files of directories that the user names; nothing else is ever loaded.

    A broken one is left out and named in `warnings`. `taken` are the commands that are not plugins.
    """
    return _plugins([*_installed(), *_files(directories)], taken)


def shipped() -> Plugins:
    """What auditkit itself provides."""
    return _plugins(found for found in _installed() if _ours(found))


def commands(taken: Collection[str], modules: Collection[str]) -> tuple[Mapping[str, click.Command], tuple[str, ...]]:
    """Commands of the entry points that name these modules, and what's wrong with them; loads nothing else."""
    offers, _, warnings = _gather([found for found in _installed() if found[0].module in modules], (COMMAND,), taken)
    return offers[COMMAND.name], tuple(warnings)


def _plugins(found: Iterable[Found], taken: Collection[str] = ()) -> Plugins:
    offers, origins, warnings = _gather(found, KINDS, taken)
    provided: dict[str, Any] = {f"{kind.name}s": offers[kind.name] for kind in KINDS}
    return Plugins(**provided, origins=origins, warnings=tuple(warnings))


def _gather(
    found: Iterable[Found], kinds: Sequence[Kind], taken: Collection[str]
) -> tuple[dict[str, dict[str, Any]], dict[tuple[str, str], Origin], list[str]]:
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    warnings: list[str] = []
    loaded = _register(manager, found, warnings)
    origins: dict[tuple[str, str], Origin] = {}
    offered: dict[str, dict[str, Any]] = {kind.name: {} for kind in kinds}
    for kind in kinds:
        for origin, plugin in loaded:
            caller = manager.subset_hook_caller(kind.hook, [p for p in manager.get_plugins() if p is not plugin])
            try:
                offers = _offers(kind, caller)
                wrong = [problem for offer in offers if (problem := kind.problem(offer)) is not None]
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                warnings.append(_blame(origin, error))
                continue
            if wrong:
                warnings.append(f"{origin} is left out: {'; '.join(wrong)} (in {kind.hook})")
                continue
            for offer in offers:
                name = getattr(offer, kind.called)
                reason = _unavailable(kind, name, origin, origins, taken)
                if reason is not None:
                    warnings.append(f"{origin} claims the {kind.name} {name!r}, {reason}: left out")
                    continue
                offered[kind.name][name], origins[kind.name, name] = offer, origin
    return offered, origins, warnings


def _offers(kind: Kind, caller: pluggy.HookCaller) -> list[Any]:
    """What one plugin's hook returns; raises InputError if it isn't a list."""
    returned = caller()
    if not returned and caller.get_hookimpls():
        raise InputError(f"{kind.hook} returned nothing, not a list")
    offers: list[Any] = []
    for some in returned:
        if isinstance(some, str | type) or not isinstance(some, Iterable):
            shown = some.__name__ if isinstance(some, type) else repr(some)
            raise InputError(f"{kind.hook} returned {shown}, not a list such as [{shown}]")
        offers += some
    return offers


def _unavailable(
    kind: Kind, name: str, origin: Origin, origins: Mapping[tuple[str, str], Origin], taken: Collection[str]
) -> str | None:
    if (kind.name, name) in origins:
        return f"which is taken by {origins[kind.name, name]}"
    if kind is COMMAND and name in taken:
        return "which is taken by auditkit itself"
    if kind is COMMAND and origin.distribution == DIRECTORY:
        return "but commands come from installed packages only"
    return None


def _ours(found: Found) -> bool:
    return found[0].module.startswith(SHIPPED)


def _installed() -> Iterator[Found]:
    """Entry points, auditkit's own first, so that no other plugin can take their names."""
    seen, told = set(), dict[int, tuple[str, str]]()  # a distribution parses all its metadata for each of the two
    entries = importlib.metadata.entry_points(group=hookspecs.PROJECT)
    for entry in sorted(entries, key=lambda e: (not e.value.startswith(SHIPPED), e.name, e.value)):
        dist = entry.dist
        if id(dist) not in told:
            told[id(dist)] = (dist.name, dist.version) if dist else ("?", "?")
        origin = Origin(entry.name, entry.value, *told[id(dist)])
        if origin not in seen:  # an editable install can list the same entry point twice
            seen.add(origin)
            yield origin, entry.load


def _files(directories: Sequence[Path]) -> Iterator[Found]:
    """Every Python file directly inside the directories."""
    for directory in directories:
        if not directory.is_dir():
            raise InputError(Problem(str(directory), "is not a directory of plugins"))
        for path in sorted(directory.glob("*.py")):
            if not path.name.startswith("_"):
                yield Origin(path.stem, str(path), DIRECTORY, str(directory)), partial(_module, path)


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"{FILE}{path.stem}_{crc32(bytes(path.resolve())):08x}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # pydantic looks up annotations there
    spec.loader.exec_module(module)
    return module


def _register(manager: pluggy.PluginManager, found: Iterable[Found], warnings: list[str]) -> list[tuple[Origin, Any]]:
    loaded: list[tuple[Origin, Any]] = []
    for origin, load_one in found:
        plugin = None
        try:
            with python_warnings.catch_warnings():
                # refused below, along with its plugin
                python_warnings.filterwarnings(
                    "ignore", r'Field name .* shadows an attribute in parent "\w*Constraint"'
                )
                plugin = load_one()
            _check_hooks(plugin)
            manager.register(plugin)
            manager.check_pending()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a plugin may exit the program in more ways than one
            if plugin is not None and manager.is_registered(plugin):
                manager.unregister(plugin)
            warnings.append(_blame(origin, error))
            continue
        loaded.append((origin, plugin))
    return loaded


def _check_hooks(plugin: Any) -> None:
    """Raise InputError if a function was meant to be a hook but isn't one."""
    for name in (name for name in dir(plugin) if name.startswith("auditkit_")):
        marked = hasattr(getattr(plugin, name), f"{hookspecs.PROJECT}_impl")
        if name in HOOKS and not marked:
            raise InputError(f"{name} is not marked as a hook: write @hookimpl above it")
        if marked and name not in HOOKS:
            raise InputError(f"there is no hook {name!r} ({nearest(name, HOOKS)})")


def _blame(origin: Origin, error: BaseException) -> str:
    named = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
    reason = " ".join(f"{named}{error}".split())
    return f"{origin} is left out: {reason}"
