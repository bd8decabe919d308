"""Habits of the code: examples in docstrings run, and tests share helpers only through `support`."""

from __future__ import annotations

import ast
import doctest
import importlib
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
