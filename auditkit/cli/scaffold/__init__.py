"""A plugin to start from: what `auditkit plugins new NAME` writes.

The templates beside this file become an installable package with one plugin and its test, or a single file for
`--plugins-dir`. Either is written whole or not at all: under a temporary name, then renamed.
"""

from __future__ import annotations

import importlib.util
import keyword
import os
import re
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from auditkit import __version__
from auditkit.errors import InputError, Problem
from auditkit.files import write_text

if TYPE_CHECKING:
    from auditkit.plugin_manager import Plugins


@dataclass(frozen=True)
class Sort:
    """One kind of plugin that can be written: its name and its uses."""

    noun: str
    registered: str
    """The kind under which `auditkit plugins` lists it."""
    uses: tuple[str, ...]
    """Commands that use it; {type} is its name."""
    single_file: bool = True


REPORT = "auditkit report people.csv"
CONSTRAINT_USES = (f"{REPORT} -c '{{type}}:%s'", "auditkit solve instance.json -c '{type}:%s'")
SORTS = {
    "affine": Sort("a constraint", "constraint", tuple(use % "group=F,minimum=0.1" for use in CONSTRAINT_USES)),
    "convex": Sort("a constraint", "constraint", tuple(use % "maximum=500" for use in CONSTRAINT_USES)),
    "reader": Sort("a reader of files", "reader", ("auditkit check people.jsonl",)),
    "measure": Sort("a disparity measure", "measure", (REPORT,)),
    "section": Sort("a section of the report", "section", (REPORT,), single_file=False),
    "exporter": Sort("an exporter", "exporter", (f"{REPORT} --format {{type}}",)),
    "fitter": Sort("a fitter", "fitter", (f"{REPORT} --fitter {{type}}",)),
    "alert": Sort("an alert channel", "alert", ("auditkit run audit.toml",)),
    "command": Sort("a command", "command", ("auditkit {type} instance.json",), single_file=False),
}
"""The values of `--kind`. A section has a template beside it, and commands come from installed packages only."""

LONGEST = 40
"""Longer names would break the lines of the generated code."""

_NAME = re.compile(r"[a-z]([a-z0-9._-]*[a-z0-9])?", re.IGNORECASE)  # a distribution's, and a module's first letter
_IMPORTED = {"Field", "Floats", "Layout", "Measure", "Row", "Box", "Instance", "Search", "ClassVar"}
_IMPORTED |= {"OutcomeConstraint", "WelfareConstraint", "Parameter", "Reader", "InputError", "Numbers", "Form"}
_IMPORTED |= {"DisparityMeasure", "Section", "Path", "Any", "Mapping", "Fitter", "Laws", "ScoreModel", "OneLaw"}
_IMPORTED |= {"Alert", "AlertError", "Channel", "Description", "GroupConstraint", "Other", "Words"}
_FUNCTIONS = {"click", "json", "hookimpl"}


@dataclass(frozen=True)
class Names:
    """A plugin's names for pip, for Python, in a SPEC, and in its own code."""

    distribution: str
    module: str
    type: str
    class_name: str

    @property
    def function(self) -> str:
        """The name of a command's function."""
        name = self.type.replace("-", "_")
        return (
            name
            if name.isidentifier() and not keyword.iskeyword(name) and name not in _FUNCTIONS
            else f"{name}_command"
        )


def names(name: str) -> Names:
    """All names that follow from the one the user gives; raises InputError if Python couldn't use it."""
    if not _NAME.fullmatch(name) or len(name) > LONGEST:
        fix = f"a letter, then letters, digits and hyphens, at most {LONGEST}: e.g. rooney-rule"
        raise InputError(Problem(f"NAME {name!r}", "is not a name for a package", fix))
    distribution = re.sub(r"[-_.]+", "-", name).lower()
    module = distribution.replace("-", "_")
    if keyword.iskeyword(module):
        raise InputError(Problem(f"NAME {name!r}", "is a Python keyword", f"e.g. {distribution}-rule"))
    found = importlib.util.find_spec(module)
    if module in sys.stdlib_module_names or (found is not None and found.origin is not None):
        what = f"the module {module!r} already exists, and the two would hide each other"
        raise InputError(Problem(f"NAME {name!r}", what, f"e.g. {distribution}-rule"))
    spec = distribution.removeprefix("auditkit-")
    camel = "".join(part.capitalize() for part in spec.split("-"))
    clash = camel in _IMPORTED or not camel.isidentifier()
    return Names(distribution, module, spec, f"The{camel}" if clash else camel)


def refuse_taken(chosen: Names, kind: str, plugins: Plugins) -> None:
    """Raise InputError if a registered plugin already has one of the names."""
    wanted = SORTS[kind].registered, chosen.type
    for (kind, name), origin in plugins.origins.items():
        if (kind, name) == wanted or chosen.distribution in (origin.name, origin.distribution):
            what = f"is taken: {origin} provides the {kind} {name!r}"
            raise InputError(Problem(f"NAME {chosen.distribution!r}", what, "choose another"))


def write_package(chosen: Names, parent: Path, kind: str) -> tuple[Path, list[str]]:
    """Write an installable package in a new folder of `parent`; returns the folder and the files in it."""
    target = _free(parent, chosen.distribution)
    files = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        ".gitignore": "gitignore",
        f"src/{chosen.module}/__init__.py": f"{kind}.py",
        f"src/{chosen.module}/py.typed": None,
        f"tests/test_{chosen.module}.py": f"test_{kind}.py",
    }
    if kind == "section":
        files[f"src/{chosen.module}/{chosen.module}.html"] = "section.html"
    texts = {path: "" if source is None else _render(source, chosen, kind) for path, source in files.items()}
    temporary = None
    try:
        temporary = Path(tempfile.mkdtemp(dir=parent, prefix=f".{target.name}."))
        for path, text in texts.items():
            (temporary / path).parent.mkdir(parents=True, exist_ok=True)
            (temporary / path).write_text(text, encoding="utf-8", newline="\n")
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o777 & ~mask)
        temporary.rename(target)
    except BaseException as error:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        if isinstance(error, OSError):
            raise InputError(Problem(str(target), f"cannot be written: {error.strerror or error}", "see -o")) from None
        raise
    return target, list(texts)


def write_file(chosen: Names, parent: Path, kind: str) -> Path:
    """Write a single file in `parent`, for --plugins-dir."""
    if not SORTS[kind].single_file:
        alone = ", ".join(name for name, sort in SORTS.items() if sort.single_file)
        raise InputError(
            Problem("--single-file", f"{SORTS[kind].noun} needs a package", f"one file will do for {alone}")
        )
    target = _free(parent, f"{chosen.module}.py")
    write_text(target, _render(f"{kind}.py", chosen, kind))
    return target


def uses(chosen: Names, kind: str) -> list[str]:
    """Commands that use the generated plugin."""
    return [use.format(type=chosen.type) for use in SORTS[kind].uses]


def _free(parent: Path, name: str) -> Path:
    if not parent.is_dir():
        raise InputError(Problem(str(parent), "there is no such folder", "make it, or name another with -o"))
    target = parent / name
    if target.exists() or target.is_symlink():
        raise InputError(Problem(str(target), "already exists", "choose another name, or another place with -o"))
    return target


def _render(source: str, chosen: Names, kind: str) -> str:
    made = Environment(
        loader=PackageLoader("auditkit.cli.scaffold", ""),
        autoescape=False,  # Python, TOML and Markdown, from names that `names` has checked
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
    )
    values = {**asdict(chosen), "function": chosen.function, "kind": kind, "noun": SORTS[kind].noun}
    values |= {"uses": uses(chosen, kind), "version": __version__}
    return made.get_template(f"{source}.jinja").render(values)
