"""`auditkit plugins new`: what it writes is installed, tested and used, like the example of the documentation; what it
refuses leaves nothing behind."""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditkit import cli, plugin_manager
from auditkit.cli import scaffold
from auditkit.cli.plugins import KINDS
from support import ROOT
from support.audit_helpers import rows, save
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

INSTALLED = [name for name in NAMES if len(name) in range(2, 40)]
EXAMPLE = ROOT / "docs" / "examples" / "hiring-rules"
QUICK = "[fit]\npoints = 10\ngroup_aware = true\n[report]\nreplicates = 0\nwhat_if = false\nalternatives = false\n"
SPECS = ("-c", "at-least-one:group=Female,number=2", "-c", "rate-spread:maximum=0.005")


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


@pytest.fixture(scope="module")
def python(packages: Path) -> Path:
    """The Python of one environment with those packages and the example of the documentation."""
    shutil.copytree(
        EXAMPLE, packages / EXAMPLE.name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build", ".*")
    )
    return environment(packages / "env", packages / EXAMPLE.name, *(packages / name for name in INSTALLED))


@pytest.fixture(scope="module")
def listed(packages: Path, python: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(python, "-m", "auditkit", "plugins", "--json", cwd=packages))
    return found


def test_packages_pass_their_own_tests(packages: Path, python: Path) -> None:
    tests = [packages / name / "tests" for name in (*INSTALLED, EXAMPLE.name)]
    assert "32 passed" in run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, cwd=packages)


def test_it_is_registered_and_solves(python: Path, listed: dict[str, Any], tmp_path: Path) -> None:
    assert listed["warnings"] == []
    theirs = {entry["distribution"]: (entry["kind"], entry["name"]) for entry in listed["plugins"]}
    for name in INSTALLED:
        assert theirs[name] == (scaffold.SORTS[NAMES[name]].registered, name.removeprefix("auditkit-"))
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


def test_the_example_is_registered_and_prices_both(python: Path, listed: dict[str, Any], tmp_path: Path) -> None:
    theirs = {entry["name"]: entry for entry in listed["plugins"] if entry["distribution"] == "hiring-rules"}
    assert set(theirs) == {"at-least-one", "rate-spread"}
    assert all(entry["kind"] == "constraint" and entry["version"] == "1.0" for entry in theirs.values())

    save(tmp_path / "people.csv", rows(searches=4, each=7))
    (tmp_path / "quick.toml").write_text(QUICK)
    command = ("report", "people.csv", "--config", "quick.toml", "--format", "json", "-q", *SPECS)
    run(python, "-m", "auditkit", *command, cwd=tmp_path)
    document = json.loads((tmp_path / "people.audit.json").read_text())
    free = document["unconstrained"]
    one, spread, both = document["constrained"]
    assert [entry["label"] for entry in (one, spread)] == ["at-least-one Female", "rate-spread"]
    for entry in (one, spread, both):
        assert entry["status"] == "optimal" and entry["gap"] <= 1e-6
        digits = 0.005 * (free["utility"] + entry["utility"])  # a report has three of each
        assert entry["price_of_fairness"]["loss"] == pytest.approx(free["utility"] - entry["utility"], abs=digits)
    slacks = [row["slack"] for row in one["duals"]]
    assert len(slacks) == 4 and min(slacks) == pytest.approx(0.0, abs=1e-9) and one["price_of_fairness"]["loss"] > 0.1
    assert spread_of(free["by_group"]["Gender"]) > 0.0055
    assert spread_of(spread["by_group"]["Gender"]) == pytest.approx(0.005, abs=5e-4)  # of three digits
    assert spread_of(both["by_group"]["Gender"]) <= 0.005 + 5e-4
    assert both["utility"] <= min(one["utility"], spread["utility"]) + 1e-6


def spread_of(by_group: dict[str, Any]) -> float:
    """The standard deviation of the selection rates, each group weighing as much as it has candidates."""
    size = np.array([row["candidates"] for row in by_group.values()])
    rate = np.array([row["selected"] for row in by_group.values()]) / size
    return float(np.sqrt(np.average((rate - np.average(rate, weights=size)) ** 2, weights=size)))


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
    folders = [*(packages / name for name in NAMES), EXAMPLE]
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
        ("class", "is a Python keyword"),
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
