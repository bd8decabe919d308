"""Errors: what is wrong, where, how to fix it, and whose code failed.

An `InputError` is the user's to fix. `blaming(offer)` wraps every call into a plugin: an unexpected exception in the
plugin becomes a `PluginError` with its distribution and version. Plugins that ship with auditkit aren't blamed: there,
an exception is a defect of auditkit. Exit codes are decided in `auditkit.cli`.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

if TYPE_CHECKING:
    from pydantic import BaseModel

Model = TypeVar("Model", bound="BaseModel")

_IN_URL = re.compile(r"((?:[A-Za-z][\w+.-]*:/+|postgres\w*:)[^\s:/@]*):.*@", re.DOTALL)
_AS_KEY = re.compile(r"\b(\w*pass(?:word|wd)?|pwd)=[^\s&]+", re.IGNORECASE)


def without_passwords(text: str) -> str:
    """A text without the passwords in URLs and connection strings, wherever they occur.

    >>> without_passwords("postgresql:/me:p/w@rd@host/db: there is no such file")
    'postgresql:/me:***@host/db: there is no such file'
    >>> without_passwords("host=h user=me password=s3cret")
    'host=h user=me password=***'
    """
    return _AS_KEY.sub(r"\1=***", _IN_URL.sub(r"\1:***@", text))


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: place, cause and fix. Passwords in quoted text are removed."""

    where: str
    what: str
    fix: str = ""

    def __post_init__(self) -> None:
        for key in ("where", "what"):
            object.__setattr__(self, key, without_passwords(getattr(self, key)))

    def at(self, place: str) -> Problem:
        """The same problem seen from further out: `place` goes before its own place."""
        glue = "" if not self.where or self.where.startswith("[") else "."
        return Problem(f"{place}{glue}{self.where}", self.what, self.fix)

    def of_file(self, path: object) -> Problem:
        """The same problem, with the file it is in."""
        return Problem(f"{path}: {self.where}" if self.where else str(path), self.what, self.fix)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.what}" + (f" ({self.fix})" if self.fix else "")


class InputError(Exception):
    """The user's data, file, configuration or plugin is wrong (exit code 2).

    It carries every problem found, because a user would rather fix ten at once than one ten times.
    """

    def __init__(self, problems: Problem | str | Iterable[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem("", problems)
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)  # survives a trip between processes


def wrong_type(where: str, value: object, expected: str) -> Problem:
    """A value of the wrong type, with the expected one.

    >>> str(wrong_type("capacity", "2", "a whole number"))
    "capacity: must be a whole number, not '2' (str)"
    """
    shown = f"{value!r} " if isinstance(value, str | int | float) else ""
    kind = type(value).__name__
    return Problem(where, f"must be {expected}, not {shown}({kind})" if shown else f"must be {expected}, not {kind}")


MOST_NAMES = 30
"""The most names that a message lists."""


def nearest(word: object, known: Iterable[str]) -> str:
    """A fix for a misspelt name: the nearest known one, or a list of them, shortened if it's long."""
    names = sorted(known)
    close = difflib.get_close_matches(str(word).lower(), [name.lower() for name in names], n=1, cutoff=0.5)
    if close:
        return f"did you mean {next(n for n in names if n.lower() == close[0])!r}?"
    more = [f"{len(names) - MOST_NAMES:,} more"] if len(names) > MOST_NAMES else []
    return f"known: {', '.join([*names[:MOST_NAMES], *more])}" if names else "there are none"


def validated(
    model: type[Model],
    raw: object,
    subject: str = "",
    *,
    fix: str = "",
    quote: bool = True,
    wording: Callable[[str, Any], Problem | None] = lambda where, item: None,
    extra: Literal["ignore"] | None = None,
) -> Model:
    """`raw` as a pydantic model, or an InputError with a problem for each wrong key.

    `subject` is what the keys belong to, `fix` a remedy for all of them. Without `quote` no message repeats a value: it
    may be a secret in the wrong place. `wording` may phrase a problem better, given its place and pydantic's error.
    `extra` overrides what the model does with keys that it doesn't have.
    """
    return made_from(model, raw, lambda: model.model_validate(raw, extra=extra), subject, fix, quote, wording)


def made_from(
    model: type[Model],
    raw: object,
    make: Callable[[], Model],
    subject: str = "",
    fix: str = "",
    quote: bool = True,
    wording: Callable[[str, Any], Problem | None] = lambda where, item: None,
) -> Model:
    """The result of `make`, with pydantic's errors about `raw` as an InputError; see `validated`."""
    from pydantic import ValidationError

    try:
        made = make()
        if swallowed := list(_swallowed(raw, made, "")):
            raise InputError([Problem(where, f"is {what}, not a number", fix) for where, what in swallowed])
        return made
    except ValidationError as error:
        problems = []
        for item in error.errors():
            *parents, key = item["loc"] or ("",)
            where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in item["loc"]).lstrip(".")
            fields = _fields(model, parents)
            if (problem := wording(where, item)) is not None:
                problems.append(problem)
            elif item["type"] == "extra_forbidden":
                what = f"{subject!r} has no key {key!r}" if subject else f"unknown key {key!r}"
                problems.append(Problem(where, what, fix or nearest(str(key), fields)))
            elif item["type"] == "missing":
                what = f"{subject!r} needs the key {key!r}" if subject else "is missing"
                problems.append(Problem(where, what, fix or fields.get(str(key), "")))
            else:
                given = f", not {item['input']!r}" if quote else ""
                problems.append(Problem(where, item["msg"].removeprefix("Value error, ") + given, fix))
        raise InputError(problems) from None


def _swallowed(raw: Any, made: Any, place: str) -> Iterator[tuple[str, str]]:
    """Places where pydantic would silently coerce true, false or a text to a number."""
    if isinstance(raw, bool | str):
        if isinstance(made, int | float) and not isinstance(made, bool):
            yield place, "text" if isinstance(raw, str) else "true or false"
    elif isinstance(raw, dict):
        for key, value in raw.items():
            if isinstance(value, bool | str | dict | list | tuple):
                inside = made.get(key) if isinstance(made, dict) else getattr(made, str(key), None)
                yield from _swallowed(value, inside, f"{place}.{key}" if place else str(key))
    elif isinstance(raw, list | tuple) and isinstance(made, list | tuple):
        for i, (value, inside) in enumerate(zip(raw, made, strict=False)):
            if isinstance(value, bool | str | dict | list | tuple):
                yield from _swallowed(value, inside, f"{place}[{i}]")


def _fields(model: type[BaseModel], parents: Iterable[int | str]) -> dict[str, str]:
    """The keys that a nested part of a model knows, each with its description."""
    from pydantic import BaseModel

    for name in parents:
        field = model.model_fields.get(str(name))
        inside = [] if field is None else [field.annotation]
        while inside:
            kind = inside.pop()
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                model = kind
            inside += get_args(kind)
    return {field.alias or key: field.description or "" for key, field in model.model_fields.items()}


GROUP = "auditkit"
"""The entry point group that plugins use."""

FILE = "auditkit_plugin_"
"""Name prefix of modules loaded from one of the user's folders."""

DIRECTORY = "--plugins-dir"
"""Shown as the distribution of such a module."""


OFFER_NAME = re.compile(r"\w[\w.-]*")
"""The name by which users call a plugin: in a SPEC, as an option, as a command."""


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
    """Something that a plugin provides doesn't keep its promise (exit code 2); `offer` is its class or object.

    `detail` is the plugin's own message: it may quote a cell or a path on this machine, so it stays out of reports,
    which show `public`.
    """

    def __init__(self, offer: object, reason: str, detail: str = "") -> None:
        self.offer, self.reason, self.detail = offer, reason, " ".join(detail.split())
        self.public = f"{origin_of(offer)}: {reason}"
        super().__init__(f"{self.public}: {self.detail}" if detail else self.public)

    def __reduce__(self) -> tuple[type[PluginError], tuple[object, str, str]]:  # type: ignore[override]
        return PluginError, (self.offer, self.reason, self.detail)


@contextmanager
def blaming(offer: object, doing: str) -> Iterator[None]:
    """Blame any failure in the block on the plugin that provides `offer`, unless it reports the user's own error."""
    try:
        yield
    except (InputError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        if shipped(offer):
            raise
        raise PluginError(offer, f"{doing} failed with {type(error).__name__}", f"{error}{_at(error)}") from error


def _at(error: BaseException) -> str:
    """Where a plugin's code failed: the last line outside auditkit, or nothing."""
    from traceback import extract_tb

    inside = str(Path(__file__).parent)
    outer = [f for f in extract_tb(error.__traceback__) if not f.filename.startswith((inside, "<"))]
    own = [f for f in outer if "site-packages" not in f.filename] or outer
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


def shipped(offer: object) -> bool:
    """Whether auditkit itself provides this class or object."""
    return _module(offer).startswith("auditkit.")


def origin_of(offer: object) -> Origin:
    """The plugin that provides a class or object, found by its module."""
    module = _module(offer)
    if module.startswith(FILE):
        path = Path(getattr(sys.modules.get(module), "__file__", None) or module.removeprefix(FILE))
        return Origin(path.stem, str(path), DIRECTORY, str(path.parent))
    from importlib.metadata import entry_points  # slow to import, and seldom needed

    package = module.partition(".")[0]
    near = [entry for entry in entry_points(group=GROUP) if _within(entry.module, package)]
    near.sort(key=lambda entry: entry.module != module)  # stable: the very module, or the first of its package
    for entry in near:
        if entry.dist is not None:
            return Origin(entry.name, module, entry.dist.name, entry.dist.version)
    return Origin(getattr(offer, "__name__", type(offer).__name__), module, f"the module {module}", "")


def _within(module: str, package: str) -> bool:
    return module.partition(".")[0] == package


def _module(offer: object) -> str:
    """The module of a class, of an object's class, or of a command's function."""
    if not isinstance(offer, type):
        offer = getattr(offer, "callback", None) or type(offer)
    return str(getattr(offer, "__module__", ""))
