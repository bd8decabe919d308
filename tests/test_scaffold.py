"""`auditkit plugins new`: what it writes is installed, tested and used; what it refuses leaves nothing behind."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from auditkit import cli, plugin_manager
from auditkit.cli import scaffold
from auditkit.cli.plugins import KINDS
from support import ROOT
from support.instances import FOUR_BOXES
from support.throwaway import environment, run

NAMES = {
    "rooney-rule": "affine",
    "auditkit-squares": "convex",
    "a-rule-with-the-longest-name-possible-is": "affine",
    "q": "convex",
    "auditkit-json-lines": "reader",
    "gap-of-rates": "measure",
    "left-open": "section",
    "finding-lines": "exporter",
    "one-law": "fitter",
    "log-file": "alert",
    "list-groups": "command",
}
"""Names of packages, and the kind of each."""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package of every name."""
    folder = tmp_path_factory.mktemp("plugins")
    for name, kind in NAMES.items():
        assert cli.invoke(["plugins", "new", name, "--kind", kind, "-o", str(folder)]) == 0
    return folder


# A package ------------------------------------------------------------------------------------------------------------


def test_a_package_is_written_whole(auditkit: Any, tmp_path: Path) -> None:
    done = auditkit("plugins", "new", "Rooney_Rule")
    assert done.code == 0 and done.err == ""
    assert [path.name for path in tmp_path.iterdir()] == ["rooney-rule"]
    folder = tmp_path / "rooney-rule"
    written = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert written == {
        *("pyproject.toml", "README.md", ".gitignore", "tests/test_rooney_rule.py"),
        *("src/rooney_rule/__init__.py", "src/rooney_rule/py.typed"),
    }
    for path in written:
        assert f"written: rooney-rule/{path}\n" in done.out
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["auditkit"] == {"rooney-rule": "rooney_rule"}
    (tmp_path / "usual").mkdir()
    assert folder.stat().st_mode == (tmp_path / "usual").stat().st_mode  # not only for its owner


def test_it_passes_its_own_tests_is_registered_and_solves(packages: Path, tmp_path: Path) -> None:
    folders = [packages / name for name in NAMES if len(name) in range(2, 40)]
    python = environment(packages / "env", *folders)
    tests = [folder / "tests" for folder in folders]
    assert "22 passed" in run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, cwd=packages)
    listed = json.loads(run(python, "-m", "auditkit", "plugins", "--json", cwd=tmp_path))
    assert listed["warnings"] == []
    theirs = {entry["distribution"]: (entry["kind"], entry["name"]) for entry in listed["plugins"]}
    for folder in folders:
        kind = scaffold.SORTS[NAMES[folder.name]].registered
        assert theirs[folder.name] == (kind, folder.name.removeprefix("auditkit-"))
    assert "List the groups of an instance file" in run(python, "-m", "auditkit", "--help", cwd=tmp_path)
    (tmp_path / "four.json").write_text(json.dumps(FOUR_BOXES))
    spec = ("-c", "rooney-rule:group=Y,minimum=0.25")
    solution = json.loads(run(python, "-m", "auditkit", "solve", "four.json", *spec, "--json", cwd=tmp_path))
    assert solution["unconstrained"]["utility"] == pytest.approx(7.0625)
    assert solution["constrained"]["utility"] == pytest.approx(
        6.5625
    )  # half from each group: README.md of this project
    assert solution["constrained"]["gap"] <= 1e-9
    again = run(python, "-m", "auditkit", "plugins", "new", "rooney-rule", cwd=tmp_path, code=2)
    assert "rooney-rule" in again and "already" in again


def test_every_kind_is_tried() -> None:
    assert set(NAMES.values()) == set(scaffold.SORTS) == set(KINDS)
    without = {"profile", "rule", "word_list"}  # a few lines each: the examples of hookspecs.py are whole plugins
    written = {sort.registered for sort in scaffold.SORTS.values()}
    assert not written & without and written | without == {kind.name for kind in plugin_manager.KINDS}


def test_it_is_clean_whatever_its_name(packages: Path, tmp_path: Path) -> None:
    folders = [packages / name for name in NAMES]
    for kind in KINDS:
        for name in ("q", "a-plugin-with-the-longest-name-that-fits"):
            (tmp_path / kind).mkdir(exist_ok=True)
            folders.append(scaffold.write_package(scaffold.names(name), tmp_path / kind, kind)[0])
    run(sys.executable, "-m", "ruff", "check", "--no-cache", *folders, cwd=packages)
    run(sys.executable, "-m", "ruff", "format", "--no-cache", "--check", *folders, cwd=packages)


def test_it_is_typed(packages: Path) -> None:
    """The generated packages and the example of the documentation, in one run of mypy."""
    folders = [*(packages / name for name in NAMES), ROOT / "docs" / "examples" / "hiring-rules"]
    parts = [part for folder in folders for part in (folder / "src", folder / "tests")]
    # with the settings and the cache of `make types`, which has been through the package already
    options = ("--config-file", ROOT / "pyproject.toml", "--cache-dir", ROOT / ".mypy_cache")
    assert "strict = true" in (packages / "rooney-rule" / "pyproject.toml").read_text()
    run(sys.executable, "-m", "mypy", *options, *parts, cwd=packages)


# A single file --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind, sort in scaffold.SORTS.items() if sort.single_file])
def test_a_single_file_is_for_plugins_dir(auditkit: Any, tmp_path: Path, kind: str) -> None:
    (tmp_path / "mine").mkdir()
    done = auditkit("plugins", "new", "house-rule", "--single-file", "--kind", kind, "-o", "mine")
    assert done.code == 0
    assert "auditkit plugins --plugins-dir mine" in done.out
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["house_rule.py"]
    loaded = plugin_manager.load([tmp_path / "mine"])
    assert loaded.warnings == () and (scaffold.SORTS[kind].registered, "house-rule") in loaded.origins
    again = auditkit("plugins", "new", "house-rule", "--single-file", "-o", "mine")
    assert again.code == 2 and "mine/house_rule.py: already exists" in again.err


@pytest.mark.parametrize("kind", ["section", "command"])
def test_what_one_file_cannot_hold(auditkit: Any, tmp_path: Path, kind: str) -> None:
    done = auditkit("plugins", "new", "house-rule", "--single-file", "--kind", kind)
    assert done.code == 2 and "needs a package (one file will do for affine, convex, reader," in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_command_does_not_take_the_name_of_ours(auditkit: Any, tmp_path: Path) -> None:
    done = auditkit("plugins", "new", "auditkit-report", "--kind", "command")
    assert done.code == 2 and "is a command of auditkit itself" in done.err
    assert list(tmp_path.iterdir()) == []


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("3x", "is not a name for a package"),
        ("-x", "No such option"),
        ("a b", "is not a name for a package"),
        ("../x", "is not a name for a package"),
        ("x" * 41, "is not a name for a package"),
        ("class", "is a word of Python's own"),
        ("json", "the module 'json' already exists"),
        ("numpy", "the module 'numpy' already exists"),
        ("parity", "is taken: plugin 'parity' of auditkit"),
        ("auditkit-impact-ratio", "is taken: plugin 'impact-ratio' of auditkit"),
    ],
)
def test_a_name_that_cannot_be_had(auditkit: Any, tmp_path: Path, name: str, reason: str) -> None:
    done = auditkit("plugins", "new", name)
    assert done.code == 2
    assert reason in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_left_alone(auditkit: Any, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    done = auditkit("plugins", "new", "mine")
    assert done.code == 2 and "mine: already exists" in done.err
    assert list((tmp_path / "mine").iterdir()) == []
    nowhere = auditkit("plugins", "new", "mine", "-o", "nowhere")
    assert nowhere.code == 2 and "nowhere: there is no such folder" in nowhere.err


def test_nothing_is_left_of_a_package_that_could_not_be_written(
    auditkit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", full)
    done = auditkit("plugins", "new", "mine")
    assert done.code == 2 and "mine: cannot be written: No space left on device" in done.err
    assert list(tmp_path.iterdir()) == []


def test_names_of_classes_do_not_clash_with_what_is_imported() -> None:
    assert scaffold.names("row").class_name == "TheRow"
    assert scaffold.names("welfare-constraint").class_name == "TheWelfareConstraint"
    assert scaffold.names("auditkit-9").class_name == "The9"
    assert scaffold.names("auditkit-click").function == "click_command"
