"""Plugins: where they come from, what happens to broken ones, and the example of the documentation."""

from __future__ import annotations

import ast
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from auditkit import plugin_manager
from auditkit.constraints.binding import make
from auditkit.errors import InputError
from auditkit.solver import solve
from support import ROOT
from support.instances import FOUR
from support.plugin_helpers import GOOD


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


def test_the_example_of_the_documentation_works(tmp_path: Path) -> None:
    loaded = plugin_manager.load([write(tmp_path / "mine", "at_least_one.py", GOOD)])
    assert loaded.warnings == ()
    assert loaded.origins["constraint", "at-least-one"].distribution == "--plugins-dir"
    constraint = make(loaded.constraints, {"type": "at-least-one", "group": "Y", "number": 1.2, "on": "inspection"})
    solution = solve(FOUR, [constraint])
    assert solution.constrained is not None
    result = solution.constrained.outcome
    assert result.by_group(result.inspected)[1] == pytest.approx(1.2, abs=1e-9)
    assert solution.constrained.gap <= 1e-9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_of_this_name\n", "ModuleNotFoundError"),
        ("def broken(:\n", "SyntaxError"),
        (
            "from auditkit import hookimpl\n\n@hookimpl\ndef auditkit_constraints(surprise):\n    return []\n",
            "surprise",
        ),
        (
            "from auditkit import hookimpl\n\n@hookimpl\ndef auditkit_constraints():\n    raise KeyError('oops')\n",
            "oops",
        ),
        (
            "from auditkit import hookimpl\n\n@hookimpl\ndef auditkit_constraints():\n    return [int]\n",
            "not a subclass of Constraint",
        ),
        (GOOD.replace('"at-least-one"', '"parity"'), "claims the constraint 'parity', which is taken by"),
    ],
)
def test_a_broken_plugin_is_named_and_the_rest_goes_on(tmp_path: Path, text: str, message: str) -> None:
    loaded = plugin_manager.load([write(tmp_path / "mine", "flawed.py", text)])
    assert len(loaded.warnings) == 1
    assert "'flawed'" in loaded.warnings[0] and message in loaded.warnings[0]
    assert {"parity", "quota"} <= set(loaded.constraints)
    assert loaded.origins["constraint", "parity"].distribution == "auditkit"


def test_a_broken_entry_point_is_named_with_its_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    real = plugin_manager.importlib.metadata.entry_points(group="auditkit")
    broken = EntryPoint("theirs", "package_that_is_not_there", "auditkit")
    monkeypatch.setattr(plugin_manager.importlib.metadata, "entry_points", lambda group: EntryPoints([*real, broken]))
    loaded = plugin_manager.load()
    assert len(loaded.warnings) == 1 and "'theirs'" in loaded.warnings[0]
    assert "parity" in loaded.constraints


def test_nothing_is_loaded_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "at_least_one.py", GOOD)
    monkeypatch.chdir(tmp_path)
    assert "at-least-one" not in plugin_manager.load().constraints


def test_a_directory_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a directory of plugins"):
        plugin_manager.load([tmp_path / "nowhere"])


def test_the_core_knows_no_shipped_constraint_rule_profile_or_channel_by_name() -> None:
    """Only the command line and a form of the page, which offer some of them, do; plugins get the same words."""
    shipped = plugin_manager.shipped()
    names = {*shipped.constraints, *shipped.rules, *shipped.profiles, *shipped.alerts}
    assert {"parity", "shortlist", "nyc-ll144", "mail"} <= names
    names -= {"bar", "weights", "shortlist"}  # words of English that other texts consist of too
    found = []
    for path in sorted((ROOT / "auditkit").rglob("*.py")):
        if path.parts[len(ROOT.parts) + 1] == "cli" or path.parts[-2:] == ("page", "open_audits.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in names:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.value!r}")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("auditkit.plugins"):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno} imports {node.module}")
    assert found == []
