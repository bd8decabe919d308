"""Habits of the code: examples in docstrings run, files and modules that a text names exist, tests share helpers."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import ROOT

FOLDERS = {"auditkit": "auditkit", "plugins": "auditkit.plugins"}
TESTS = sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py"))


def module_name(path: Path) -> str:
    """The name under which a file of the package is imported; `path` is relative to the repository."""
    folder, *rest = path.with_suffix("").parts
    return ".".join([FOLDERS[folder], *rest]).removesuffix(".__init__")


EXAMPLES = sorted(
    module_name(path.relative_to(ROOT))
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.py")
    if ">>>" in path.read_text(encoding="utf-8")
)


def test_examples_are_found() -> None:
    assert {"auditkit.constraints.spec", "auditkit.text"} <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_in_docstrings_run(name: str) -> None:
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted > 0 and done.failed == 0


def imported_tests(source: str) -> set[str]:
    """The modules of tests that a source imports, at whatever depth and however named."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {part for alias in node.names for part in alias.name.split(".")}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {*node.module.split("."), *(alias.name for alias in node.names)}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names}
    return found & {path.stem for path in TESTS if path.stem.startswith("test_")}


@pytest.mark.parametrize(
    "source",
    [
        "from test_api import x",
        "import test_api as y",
        "def f():\n    from tests.test_api import x",
        "from tests import test_api",
        "from . import test_api",
    ],
)
def test_imports_from_tests_are_seen(source: str) -> None:
    assert imported_tests(source) == {"test_api"}


@pytest.mark.parametrize("path", TESTS, ids=str)
def test_no_test_imports_another(path: Path) -> None:
    assert imported_tests((ROOT / path).read_text(encoding="utf-8")) == set(), "put what is shared into tests/support"


# Names of files and modules in texts ----------------------------------------------------------------------------------

WRITTEN = (".py", ".md", ".html", ".jinja", ".toml", ".css", ".js", ".txt")
MODULE = re.compile(r"\bauditkit(?:\.[A-Za-z_]\w*)+")
PATH = re.compile(r"\b(?:auditkit|plugins|tests|docs|tools|benchmarks|sample_data|templates)/[\w./-]*\w\.[a-z]{2,4}\b")
FILE = re.compile(r"`(?!src/)((?:[\w-]+/)*[\w-]+\.py)`")
TEMPLATE = re.compile(r"(?:\bshow\(|get_template\(|\{%-? (?:import|include|from|extends) )[\"']([\w-]+\.html)[\"']")
NOT_IN_REPOSITORY = {"MATH"}


def tracked() -> list[str]:
    return subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()


def is_module(name: str) -> bool:
    """Whether a dotted name leads to a module, or to something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def missing(text: str, files: set[str]) -> Iterator[str]:
    """What a text names that does not exist."""
    places = [f"/{file}" for file in files]
    yield from (name for name in MODULE.findall(text) if not is_module(name))
    yield from (path for path in PATH.findall(text) if path not in files)
    yield from (name for name in FILE.findall(text) if not any(place.endswith(f"/{name}") for place in places))
    yield from (name for name in TEMPLATE.findall(text) if not any(place.endswith(f"/{name}") for place in places))
    yield from (f"{word} (not in this repository)" for word in NOT_IN_REPOSITORY if re.search(rf"\b{word}\b", text))


def test_files_and_modules_named_in_texts_exist() -> None:
    files = set(tracked())
    texts = [
        file for file in sorted(files) if file.endswith(WRITTEN) and not file.startswith(("tests/", "CHANGELOG.md"))
    ]
    assert len(texts) > 250
    found = {file: [*missing((ROOT / file).read_text(encoding="utf-8"), files)] for file in texts}
    assert {file: names for file, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "text",
    [
        "see `auditkit.solver.nowhere`",
        "auditkit.errors.Nobody",
        "in docs/nowhere.md",
        "`nowhere.py` has it",
        "`nowhere/errors.py` has it",
        "MATH section 2",
        'show("pagewaiting.html")',
    ],
)
def test_a_name_that_leads_nowhere_is_seen(text: str) -> None:
    assert len([*missing(text, set(tracked()))]) == 1


def test_the_terms_of_the_report_are_in_the_glossary() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    known = re.findall(r"^- \*\*([^*]+)\*\*: \S", page, re.MULTILINE)
    assert len(known) == len(set(known)) > 50
    template = (ROOT / "templates" / "section_glossary.html").read_text(encoding="utf-8")
    terms = [term for entry in re.findall(r'^  \("([^"]+)", "', template, re.MULTILINE) for term in entry.split(", ")]
    assert len(terms) > 20
    assert {term.lower().replace("’", "'") for term in terms} <= {term.lower() for term in known}


CONSTRUCTORS = {"__init__", "__post_init__"}


def writes_into_frozen(source: str) -> list[int]:
    """Lines that set attributes around a frozen class, other than of itself in its own constructor."""
    tree, allowed = ast.parse(source), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in CONSTRUCTORS:
            for call in ast.walk(node):
                own = isinstance(call, ast.Call) and call.args and ast.unparse(call.args[0]) == "self"
                if own and ast.unparse(call.func) == "object.__setattr__":
                    allowed.add(id(call.func))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("object.__setattr__", "object.__new__"):
            found += [] if id(node) in allowed else [node.lineno]
        elif isinstance(node, ast.Attribute) and node.attr == "__dict__":
            found.append(node.lineno)
        elif isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            found += [node.lineno] if ast.unparse(node).startswith("vars(") else []
    return found


def test_nothing_writes_into_frozen_objects() -> None:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    found = {str(path): writes_into_frozen(path.read_text(encoding="utf-8")) for path in files}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    [
        "row.__dict__.update(bound=1)",
        "vars(row)['bound'] = 1",
        "def put(row):\n    object.__setattr__(row, 'bound', 1)",
        "class A:\n    def __init__(self, other):\n        object.__setattr__(other, 'bound', 1)",
        "put = object.__setattr__",
        "box = object.__new__(Box)",
    ],
)
def test_a_write_into_a_frozen_object_is_seen(source: str) -> None:
    assert writes_into_frozen(source)
    assert not writes_into_frozen("class A:\n    def __post_init__(self):\n        object.__setattr__(self, 'x', 1)")


def constants(source: str) -> dict[str, str]:
    """Numbers that a module names."""
    return {
        node.targets[0].id: ast.unparse(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper()
        if isinstance(node.value, ast.Constant | ast.UnaryOp) and not isinstance(getattr(node.value, "value", 0), str)
    }


def test_a_number_has_one_name_in_one_place() -> None:
    """A constant is not written down a second time, and these three mean one thing in the whole package."""
    places: dict[tuple[str, str], list[str]] = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "verification" in path.parts:  # it shares nothing with what it checks
                continue
            for name, value in constants(path.read_text(encoding="utf-8")).items():
                places.setdefault((name, value), []).append(str(path.relative_to(ROOT)))
    assert {key: found for key, found in places.items() if len(found) > 1} == {}
    for name in ("ROUNDING", "FEWEST", "MOST_FINDINGS"):
        assert sum(key[0] == name for key in places) <= 1, name


@pytest.fixture(scope="module")
def shared() -> str:
    return "made once"


def test_tests_that_share_a_fixture_go_to_one_worker(shared: str, request: pytest.FixtureRequest) -> None:
    """They did not for a while, and nobody noticed but the clock: xdist reads the group from the name."""
    grouped = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@test_habits") == grouped


UNTYPED = re.compile(r"\b(?:dict|Mapping)\[str, Any\]")
WHERE_IT_ENTERS = {
    "auditkit/api.py": 1,  # the arguments of a caller, before they are checked
    "auditkit/data/source.py": 1,  # arguments that `load` and `check` share
    "auditkit/model/membership.py": 1,  # groups of an instance file
    "auditkit/plugin_manager.py": 3,  # what plugins offer, by kind
    "auditkit/scheduled/run_history.py": 2,  # rows of a database
    "plugins/workbook.py": 2,  # rows of a sheet
}
"""How often a table without types may be written down, by file."""


def test_no_table_without_types_travels_through_the_report() -> None:
    """JSON enters the report in one place, `load_report`, which hands on a `Report`."""
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = {str(path.relative_to(ROOT)): len(UNTYPED.findall(path.read_text(encoding="utf-8"))) for path in files}
    assert {file: number for file, number in found.items() if number} == WHERE_IT_ENTERS


KIND_OF_A_PART = {"row_meaning.py", "cuts.py", "results.py", "disparity_tables.py", "segments.py", "segment_search.py"}
ALIKE = {"layout.py", "variants.py", "state_cells.py"}


def test_kind_has_one_meaning_in_model_data_and_disparity() -> None:
    """Candidates that are alike, or the key `kind` of the files (docs/glossary.md); all else has a name of its own."""
    found = set()
    for folder in ("model", "data", "disparity"):
        for path in (ROOT / "auditkit" / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                name = getattr(node, "id", getattr(node, "attr", getattr(node, "name", "")))
                of_numpy = isinstance(node, ast.Attribute) and ast.unparse(node).endswith("dtype.kind")
                if isinstance(name, str) and re.search(r"(^|_)kinds?(_|$)", name) and not of_numpy:
                    found.add(path.name)
    assert found <= KIND_OF_A_PART | ALIKE


MEMORIES = {"cache", "functools.cache", "lru_cache", "functools.lru_cache", "WeakKeyDictionary", "WeakValueDictionary"}
RUNNING = {"auditkit/solver/engine.py": ["_running"]}
"""Engines that are open, innermost last: a stack, not a cache."""


def module_caches(source: str) -> list[str]:
    """Names of a module, or of its classes, that remember: functions that keep answers, and containers to fill."""
    tree, found = ast.parse(source), []
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    for node in (node for body in bodies for node in body):
        if isinstance(node, ast.FunctionDef):
            made = [ast.unparse(each).partition("(")[0] for each in node.decorator_list]
            found += [node.name] if MEMORIES & {*made} else []
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            name = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            call = ast.unparse(node.value.func) if isinstance(node.value, ast.Call) else ""
            empty = ast.unparse(node.value) in ("{}", "[]", "dict()", "list()", "set()", "defaultdict(list)")
            found += [name] if call in MEMORIES or (empty and node in tree.body) else []
    return found


def test_caches_belong_to_the_session() -> None:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = {str(path.relative_to(ROOT)): module_caches(path.read_text(encoding="utf-8")) for path in files}
    found.pop("auditkit/model/session.py")
    assert {file: names for file, names in found.items() if names} == RUNNING


@pytest.mark.parametrize(
    "source",
    [
        "@cache\ndef f(): ...",
        "@lru_cache(maxsize=2)\ndef f(): ...",
        "class A:\n    @cache\n    def f(self): ...",
        "_hints = cache(get_type_hints)",
        "_LAST: list[int] = []",
        "known = WeakKeyDictionary()",
    ],
)
def test_a_cache_of_a_module_is_seen(source: str) -> None:
    assert module_caches(source)
