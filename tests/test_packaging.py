"""What is installed is what is in the tree, it runs without the tree, and its imports point one way."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import sys
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support import ROOT
from support.instances import FOUR_BOXES
from support.terminals import PATIENCE, on_terminal, read_until
from support.throwaway import completed, kept_environment

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
MAPPED = {
    "auditkit": "auditkit",
    "auditkit.plugins": "plugins",
    "auditkit.sample_data": "sample_data",
    "auditkit.templates": "templates",
}
HEAVY = {"numba", "pandas", "scipy", "matplotlib", "weasyprint"}

# The one way through the house: data -> model <- fitting -> constraints -> solver -> compare -> report. Each row is one
# package or module (or a few that stand side by side and do not import each other); it may import from the rows above.
# A new module or folder right under auditkit/ gets a place here.
LAYERS = """
    errors text memory
    files display
    hookspecs
    plugin_manager
    config
    model
    data
    fitting
    constraints
    solver
    disparity
    compare
    scenarios
    rules
    report
    pipeline
    verification
    scheduled
    plugins sample_data templates
    testing
    api
    page
    cli
    __main__
"""
REGISTRY = {"hookspecs", "plugin_manager"}  # they name the base classes of all kinds of plugins, for types alone
RANK = {name: rank for rank, row in enumerate(LAYERS.strip().splitlines()) for name in row.split()}


def source_files() -> Iterator[tuple[str, Path]]:
    """Every file that belongs to the package, with its place inside an installation."""
    for package, folder in MAPPED.items():
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield "/".join((*package.split("."), *path.relative_to(ROOT / folder).parts)), path


# What is declared -----------------------------------------------------------------------------------------------------


def test_the_packages_listed_are_the_packages_on_disk() -> None:
    on_disk = {str(Path(place).parent).replace("/", ".") for place, path in source_files() if path.suffix == ".py"}
    assert sorted(PYPROJECT["tool"]["setuptools"]["packages"]) == sorted(on_disk)
    assert PYPROJECT["tool"]["setuptools"]["package-dir"] == MAPPED
    initialised = {place for place, _ in source_files() if place.endswith("/__init__.py")}
    assert {f"{package.replace('.', '/')}/__init__.py" for package in on_disk} == initialised


def test_every_registered_plugin_is_a_file_in_plugins() -> None:
    for name, module in PROJECT["entry-points"]["auditkit"].items():
        assert module == f"auditkit.plugins.{name.replace('-', '_')}"
        place = ROOT / "plugins" / module.rpartition(".")[2]
        assert place.with_suffix(".py").exists() or (place / "__init__.py").exists(), f"plugin {name} has no file"


def test_the_lock_is_exact_names_no_place_and_lies_within_the_ranges() -> None:
    text = (ROOT / "requirements.lock").read_text().replace(" \\\n", "")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    exact = r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+(    --hash=sha256:[0-9a-f]{64})+"
    odd = [line for line in lines if not re.fullmatch(exact, line)]
    assert not odd, f"only name==version with hashes may stand in requirements.lock: {odd}"
    lines = [line.split()[0] for line in lines]
    locked = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for requirement in map(Requirement, (text for group in groups for text in group)):
        if requirement.name == PROJECT["name"]:
            continue  # an extra that includes another
        version = locked.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is not in requirements.lock: make lock"
        assert requirement.specifier.contains(version), f"{requirement} but {version} is locked: make lock"


def test_the_sbom_and_the_licences_are_those_of_the_lock() -> None:
    pins = re.findall(r"^([A-Za-z0-9._-]+)==([^\s\\]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    sbom = json.loads((ROOT / "sbom.cdx.json").read_text())
    assert sbom["bomFormat"] == "CycloneDX"
    assert sorted((one["name"], one["version"]) for one in sbom["components"]) == sorted(pins)
    needed = {canonicalize_name(one["name"]) for one in sbom["components"] if one["scope"] == "required"}
    assert {canonicalize_name(Requirement(text).name) for text in PROJECT["dependencies"]} <= needed
    licences = (ROOT / "docs" / "licences.md").read_text()
    for one in sbom["components"]:
        words = one["licenses"][0]["license"]["name"]
        assert words and words not in ("not declared", "not installed here"), f"{one['name']}: make sbom"
        assert f"| {one['name']} | {one['version']} |" in licences


# What is installed ----------------------------------------------------------------------------------------------------


def build_wheel(folder: Path) -> Path:
    """sdist -> wheel in a copy of the tree, so that no stale build/ helps and nothing is left behind."""
    copy = folder / "tree"
    copy.mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, copy)
    for name in MAPPED.values():
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    completed(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", copy, cwd=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def runtime_distributions() -> set[str]:
    """What auditkit needs when it is installed without extras, found by following the requirements."""
    todo = [Requirement(text) for text in PROJECT["dependencies"]]
    seen: set[tuple[str, str]] = set()
    while todo:
        requirement = todo.pop()
        for extra in ("", *requirement.extras):
            if (requirement.name, extra) not in seen:
                seen.add((requirement.name, extra))
                needs = map(Requirement, distribution(requirement.name).requires or ())
                todo += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": extra})]
    return {name for name, _ in seen}


def fresh_environment(folder: Path, wheel: Path) -> Path:
    """A new environment that holds the wheel and exactly the dependencies it declares.

    The dependencies are links to those installed here, at the locked versions: seconds instead of a minute. Neither
    the test tools nor the editable auditkit are among them.
    """
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    (site,) = folder.glob("lib/python*/site-packages")
    for name in runtime_distributions():
        dist = distribution(name)
        for top in {file.parts[0] for file in dist.files or ()} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(dist.locate_file(top))).resolve())
    python = folder / "bin" / "python"
    completed(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, cwd=folder)
    completed(sys.executable, "-m", "pip", "--python", python, "check", cwd=folder)
    return python


@pytest.mark.slow
def test_the_wheel_is_complete_and_works_in_a_fresh_environment(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path / "build")
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert shipped == {place for place, _ in source_files()}, "see packages and package-data in pyproject.toml"

    python = fresh_environment(tmp_path / "fresh", wheel)
    auditkit = python.with_name("auditkit")
    elsewhere = tmp_path / "elsewhere"  # and compiles there, once
    elsewhere.mkdir()
    where = "import auditkit, auditkit.plugins, auditkit.templates as t; "
    where += "print(auditkit.__version__, auditkit.__file__, auditkit.plugins.__file__, t.__file__, sep='\\n')"
    version, *files = completed(python, "-c", where, cwd=elsewhere).stdout.splitlines()
    assert all(Path(file).is_relative_to(tmp_path / "fresh") for file in files), files
    assert version in completed(auditkit, "--version", cwd=elsewhere).stdout

    # several plugins may come from one module, under names of their own: each module has registered something
    listing = json.loads(completed(auditkit, "plugins", "--json", cwd=elsewhere).stdout)
    assert {plugin["module"] for plugin in listing["plugins"]} == set(PROJECT["entry-points"]["auditkit"].values())
    assert {plugin["distribution"] for plugin in listing["plugins"]} == {PROJECT["name"]}
    assert not listing["warnings"]

    (elsewhere / "four-boxes.json").write_text(json.dumps(FOUR_BOXES))
    process, terminal = on_terminal([auditkit, "solve", "four-boxes.json"], elsewhere, kept_environment())
    assert read_until(terminal, None).count(b"compiling the solver") == 1
    assert process.wait(PATIENCE) == 0
    process, terminal = on_terminal([auditkit, "solve", "four-boxes.json", "--json"], elsewhere, kept_environment())
    assert b"compiling" not in read_until(terminal, None)
    assert process.wait(PATIENCE) == 0 and process.stdout is not None
    solution = json.loads(process.stdout.read())
    assert solution["format"] == "auditkit-solution/3"
    assert solution["status"] == "optimal"
    assert solution["unconstrained"]["utility"] == pytest.approx(7.0625, abs=1e-9)
    assert solution["constrained"]["utility"] == pytest.approx(6.5625, abs=1e-9)


# What is imported -----------------------------------------------------------------------------------------------------


def test_help_loads_no_heavy_library(tmp_path: Path) -> None:
    done = completed(sys.executable, "-X", "importtime", "-m", "auditkit", "--help", cwd=tmp_path)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "click" in loaded
    assert not loaded & HEAVY, "import these where they are used"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["plugins"], ["solve", "four-boxes.json"]], ids=lambda words: words[0]
)
def test_a_start_reads_nothing_in_the_working_folder(tmp_path: Path, arguments: list[str]) -> None:
    """Neither modules nor plugins, settings or lists of files that happen to be there: only what is named."""
    (tmp_path / "four-boxes.json").write_text(json.dumps(FOUR_BOXES))
    script = """
import os, sys
here, seen = os.getcwd(), []
def hook(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], (str, bytes, os.PathLike)):
        path = os.path.abspath(os.fsdecode(arguments[0]))
        if path == here or path.startswith(here + os.sep):
            seen.append(os.path.basename(path))
sys.addaudithook(hook)
from auditkit.cli import invoke
invoke(sys.argv[1:])
print(seen, file=sys.stderr)
"""
    done = completed(sys.executable, "-P", "-c", script, *arguments, cwd=tmp_path)
    assert set(ast.literal_eval(done.stderr.splitlines()[-1])) == set(arguments[1:])


def own_imports(place: str, tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The modules right under auditkit that a file imports anywhere, for types and inside functions too."""
    package = place.removesuffix(".py").replace("/", ".").split(".")[:-1]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join((*base, *([node.module] if node.module else ())))
            names = [f"{module}.{alias.name}" for alias in node.names]
        for name in names:
            first, _, rest = name.partition(".")
            if first == "auditkit" and (target := rest.partition(".")[0]) in RANK:
                yield target, node.lineno


def test_imports_only_point_back() -> None:
    wrong = []
    for place, path in source_files():
        if path.suffix != ".py" or place == "auditkit/__init__.py":
            continue
        name = place.split("/")[1].removesuffix(".py")
        assert name in RANK, f"give {name} a place in LAYERS of {Path(__file__).name}"
        for target, line in own_imports(place, ast.parse(path.read_text(), str(path))):
            if target != name and RANK[target] >= RANK[name] and not (name in REGISTRY and target in RANK):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {target}")
    assert not wrong, "imports must point back along the way:\n" + "\n".join(wrong)


def imported_modules(place: str, tree: ast.Module, modules: set[str]) -> set[str]:
    """The modules of auditkit that a file imports when it runs, anywhere; imports for types alone do not count."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names & modules or {node.module}
    return found & modules


def test_no_modules_import_each_other_in_a_circle() -> None:
    files = {
        place.removesuffix(".py").removesuffix("/__init__").replace("/", "."): (place, path)
        for place, path in source_files()
        if path.suffix == ".py" and place != "auditkit/__init__.py"
    }
    graph = {
        module: imported_modules(place, ast.parse(path.read_text(), str(path)), set(files)) - {module}
        for module, (place, path) in files.items()
    }
    while free := {module for module, needs in graph.items() if not needs & graph.keys()}:
        graph = {module: needs for module, needs in graph.items() if module not in free}
    # what needs one of a circle is left over too: keep those that something left over needs
    while outer := {module for module in graph if not any(module in needs for needs in graph.values())}:
        graph = {module: needs for module, needs in graph.items() if module not in outer}
    assert not graph, {module: sorted(needs & graph.keys()) for module, needs in graph.items()}


def test_no_two_files_and_no_two_public_classes_share_a_name() -> None:
    files: dict[str, list[str]] = {}
    classes: dict[str, list[str]] = {}
    for place, path in source_files():
        if path.suffix == ".py" and not path.name.startswith("__"):
            files.setdefault(path.name, []).append(place)
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    classes.setdefault(node.name, []).append(place)
    assert {name: places for name, places in (files | classes).items() if len(places) > 1} == {}
    hall = [place for place, path in source_files() if place.count("/") == 1 and path.suffix == ".py"]
    assert len(hall) <= 13, hall


def test_the_package_itself_imports_next_to_nothing(tmp_path: Path) -> None:
    """`import auditkit` loads none of its modules; every public name loads where it is used and is listed."""
    script = (
        "import sys, auditkit; assert not [m for m in sys.modules if m.startswith('auditkit.')];"
        "assert all(hasattr(auditkit, name) for name in auditkit.__all__);"
        "assert sorted(auditkit._HOME) == sorted(set(auditkit.__all__) - {'__version__'})"
    )
    completed(sys.executable, "-c", script, cwd=tmp_path)
