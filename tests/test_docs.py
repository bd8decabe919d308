"""The documentation holds: every command on its pages runs, its links lead somewhere, its generated parts are fresh.

Commands stand in ```sh blocks and are run page by page, in order, in a folder like a reader's: with sample_data (whose
large files are cut short, to be quick), people.csv and the files of docs. `leaves with 1` in a comment behind a command
is the exit code that is expected instead of 0.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import nbformat
import pandas as pd
import pytest

import auditkit
from auditkit import config, pipeline, plugin_manager
from auditkit.cli import invoke
from auditkit.report import pdf
from support import ROOT
from support.pages import tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
LINKED = [*PAGES, *(ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md")), *ROOT.glob("*/README.md")]

NOTEBOOKS = sorted(DOCS.glob("notebooks/*.ipynb"))

NOT_RUN = {
    r"auditkit \w+ .*postgresql://": "needs a server; tests/test_data_sql.py starts one",
    r"make ": "sets up environments and runs these very tests",
    r"(\.venv/bin/)?(python -m )?pip ": "installs packages; tests/test_packaging.py and test_plugins*.py do it",
    r"(\.venv/bin/)?(python -m )?pytest": "tests within tests: generated packages are tested where they are made",
    r"ssh-keygen|sha256sum|echo|auditkit sign|auditkit verify .*--signer": "test_signatures.py runs them with a key",
    r"auditkit open": "serves a page until Ctrl-C; tests/test_page_*.py open it",
    r"auditkit schedule .*--install": "would install a timer on this machine",
}
"""Commands that a test cannot run, and why. Everything else on a page is run."""

SHELL = {"cp", "cd", "mkdir"}


def script(name: str) -> Any:
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


notebooks = script("run_notebooks")


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """Fenced blocks, with the line of the page on which they begin."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```(\w*)[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield Block(page, text[: found.start()].count("\n") + 2, found[1], found[2])


def commands(block: Block) -> Iterator[tuple[list[str], int]]:
    """The commands of a block as words, each with the exit code that is expected."""
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            told = re.search(r"#.*leaves with (\d)", line)
            yield words, int(told[1]) if told else 0


def reason_not_to_run(words: list[str]) -> str | None:
    line = " ".join(words)
    return next((why for pattern, why in NOT_RUN.items() if re.match(pattern, line)), None)


# The pages as a reader follows them -----------------------------------------------------------------------------------


def cut(path: Path, column: str, groups: int) -> None:
    """Keep the rows of the first few searches of a sample."""
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    place = head.split(",").index(column)
    kept = list(dict.fromkeys(line.split(",")[place] for line in lines))[:groups]
    path.write_text("\n".join([head, *(x for x in lines if x.split(",")[place] in kept)]) + "\n", encoding="utf-8")


def other_people(folder: Path) -> None:
    """The three files of docs/data.md whose favourable outcome or steps are named on the command line."""
    n = 120
    people = pd.DataFrame({"ID": range(1000, 1000 + n), "Gender": ["Female", "Male", "Male"] * (n // 3)})
    good = [k % 4 != 0 if sex == "Male" else k % 2 == 0 for k, sex in enumerate(people["Gender"])]
    layoffs = people.assign(Status=["Active" if x else "Selected for RIF" for x in good])
    layoffs.to_csv(folder / "layoffs.csv", index=False)
    people.assign(Reason=["" if x else "Not qualified" for x in good]).to_csv(folder / "log.csv", index=False)
    physical = ["" if not x else "P" if k % 5 else "F" for k, x in enumerate(good)]
    exam = people.assign(Written=["Pass" if x else "Fail" for x in good], Physical=physical)
    exam.to_excel(folder / "exam.xlsx", index=False)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which a reader might sit."""
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("*.md", "*.png"))
    cut(tmp_path / "sample_data" / "hiring.csv", "Requisition ID", 3)
    cut(tmp_path / "sample_data" / "hiring-stages.csv", "Requisition ID", 4)
    shutil.copy(tmp_path / "sample_data" / "hiring.csv", tmp_path / "people.csv")
    samples = {path.name: path.read_bytes() for path in (tmp_path / "sample_data").iterdir() if path.is_file()}
    monkeypatch.setattr("auditkit.sample_data.content", samples.__getitem__)  # `auditkit sample` copies them cut short
    with contextlib.closing(sqlite3.connect(tmp_path / "people.db")) as connection:
        pd.read_csv(tmp_path / "people.csv").rename_axis("id").to_sql("applications", connection)
    (tmp_path / "exports").mkdir()
    shutil.copy(tmp_path / "people.csv", tmp_path / "exports")
    other_people(tmp_path)
    setting = pdf.render  # one line of each page: tests/test_report_render_pdf.py sets whole ones
    monkeypatch.setattr(pdf, "render", lambda page, *more: setting("<title>Report</title><p>In one line.</p>", *more))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_and_every_python_block_runs(page: Path, desk: Path) -> None:
    if page.stem == "tutorial":  # it needs no checkout
        shutil.rmtree(desk / "sample_data")
        (desk / "people.csv").unlink()
    names: dict[str, Any] = {"__name__": "page", "__file__": str(desk / "page.py")}
    for block in blocks(page):
        if block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block.text, block.place, "exec"), names)
        elif block.language == "sh":
            for words, expected in commands(block):
                if reason_not_to_run(words) is None:
                    assert execute(words) == expected, f"{block.place}: {shlex.join(words)}"


def execute(words: list[str]) -> int:
    """Run a command; ours in this process, which has the compiled kernels."""
    if words[0] == "auditkit":
        return invoke(words[1:])
    if words[0] == "cd":
        os.chdir(words[1])
        return 0
    assert words[0] in SHELL, f"{words[0]!r}: neither auditkit nor one of {SHELL}; see NOT_RUN"
    return subprocess.run(words, check=False).returncode


def test_no_command_hides_from_the_tests() -> None:
    """Commands stand in blocks that are marked as sh; and what is not run is on the list for a reason that holds."""
    hidden = [
        block.place
        for page in PAGES
        for block in blocks(page)
        if block.language in ("", "bash", "shell", "console")
        and re.search(r"^\$? ?auditkit ", block.text, re.MULTILINE)
    ]
    assert not hidden, "mark these as ```sh"
    shown = [" ".join(words) for page in PAGES for b in blocks(page) if b.language == "sh" for words, _ in commands(b)]
    idle = [pattern for pattern in NOT_RUN if not any(re.match(pattern, line) for line in shown)]
    assert not idle, "on no page: take it off the list"
    skipped = [line for line in shown if reason_not_to_run(line.split())]
    assert len(skipped) < len(shown) / 3, f"too much is not run: {skipped}"


def test_settings_and_documents_on_the_pages_are_read() -> None:
    plugins, read = plugin_manager.shipped(), 0
    for block in (block for page in PAGES for block in blocks(page)):
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "toml" and "project" not in (document := tomllib.loads(block.text)):
            pipeline.constraints_of(config.check(document, block.place).constraints, plugins)
            read += 1
    assert read >= 2


# Links and generated parts --------------------------------------------------------------------------------------------


def build(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """As `make docs` does."""
    sphinx = [sys.executable, "-m", "sphinx", "-n", "-W", "--keep-going", "-q", "-b", "html"]
    return subprocess.run([*sphinx, str(source), str(target)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built pages; a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    done = build(DOCS, folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_pages_are_built_without_a_warning_and_load_nothing(site: Path) -> None:
    for page in [*PAGES[1:], *NOTEBOOKS]:
        text = (site / page.relative_to(DOCS).with_suffix(".html")).read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)=\"(\w+:)?//", text)
        assert not loaded, f"{page.name} loads from elsewhere"
    first = (site / "README.html").read_text(encoding="utf-8")
    assert all(f'href="notebooks/{notebook.stem}.html"' in first for notebook in NOTEBOOKS)
    assert all(f'href="{page.stem}.html"' in first for page in PAGES[2:] if page.stem != "README")


def test_the_reference_has_every_public_name(site: Path) -> None:
    text = (site / "api.html").read_text(encoding="utf-8")
    public = {f"auditkit.{name}" for name in auditkit.__all__ if name != "__version__"}
    found = set(re.findall(r'<dt class="sig[^>]* id="(auditkit\.[\w.]+)"', text))
    assert public <= found and {"auditkit.testing.check_constraint", "auditkit.Audit.to_frame"} <= found
    assert "Find the best policy without and with constraints" in text, "docstrings are shown"


TOO_WIDE = """width => [...document.querySelectorAll('body *')].filter(e => {
    const box = e.getBoundingClientRect();
    const outside = box.width > 0 && (box.right > width + 0.5 || box.left < -0.5);
    const block = getComputedStyle(e).display != 'inline' && e.clientWidth > 0;
    return outside || (block && e.scrollWidth > e.clientWidth + 1);
}).map(e => e.outerHTML.slice(0, 150))"""


def test_no_page_is_clipped_or_scrolls_sideways(site: Path, browser: Browser) -> None:
    page = tab(browser, {"width": 1200, "height": 900})
    pages = sorted(site.rglob("*.html"))
    assert len(pages) >= len(PAGES) + len(NOTEBOOKS) - 1
    for path in pages:
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 1200, path.name
        assert page.evaluate(TOO_WIDE, 1200) == [], path.name
    page.close()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_stored(path: Path) -> None:
    stored, ran = nbformat.read(path, as_version=4), notebooks.run(path)
    nbformat.validate(ran)
    pairs = list(zip(stored.cells, ran.cells, strict=True))
    assert sum(bool(cell.get("outputs")) for cell, _ in pairs) >= 4
    for cell, now in pairs:
        assert cell.get("outputs") == now.get("outputs"), f"not what the program says: make docs\n{cell.source}"


def test_a_broken_link_or_anchor_fails(tmp_path: Path) -> None:
    source = tmp_path / "docs"
    source.mkdir()
    shutil.copy(DOCS / "conf.py", source)
    (source / "README.md").write_text("# A\n\n[b](b.md) [c](missing.md) [d](b.md#nowhere) [e](../gone.csv) [f](#no)\n")
    (source / "b.md").write_text("# B\n\n[good](README.md#a)\n")
    done = build(source, tmp_path / "out")
    assert done.returncode != 0
    for target in ("missing.md", "nowhere", "gone.csv", "no'"):
        assert target in done.stderr, done.stderr
    assert "b.md:3" not in done.stderr


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_files_lead_somewhere(page: Path) -> None:
    """As GitHub shows them; anchors of docs are checked by the build."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = [t.partition("#")[0] for t in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"\w+:|#", t)]
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_generated_pages_are_fresh() -> None:
    """In a process of its own: click keeps the help option that a command was first asked for, here by another test."""
    check = [sys.executable, str(DOCS / "generate.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, f"make docs: {done.stdout}{done.stderr}"


# The plugins of the page, at work -------------------------------------------------------------------------------------


@pytest.fixture
def their_plugins(desk: Path) -> Path:
    """Every plugin of docs/plugins.md, each as a file in a folder; commands are known from packages only."""
    folder = desk / "their-plugins"
    folder.mkdir()
    texts = [b.text for b in blocks(DOCS / "plugins.md") if b.language == "python" and "@hookimpl" in b.text]
    for i, text in enumerate(text for text in texts if "auditkit_commands" not in text):
        (folder / f"plugin_{i}.py").write_text(text)
    page = (DOCS / "plugins.md").read_text()
    (folder / "openings.html").write_text(page.split("```html+jinja\n")[1].split("```")[0])
    return folder


def test_the_plugins_of_the_page_work_on_the_tutorials_data(their_plugins: Path, desk: Path) -> None:
    """Two attributes, and groups that are unknown, as in hiring.csv."""
    table = pd.read_csv(desk / "people.csv", dtype=str, keep_default_na=False)
    table.loc[::9, "Gender"] = ""
    assert {"Gender", "Ethnicity"} <= {*table}
    quick = config.Config().over(fit__points=4, report__replicates=0, report__alternatives=False)
    constraints = ["at-least-one:group=Female,within=Job Family", "rate-spread:maximum=0.1,on=inspection"]
    options: dict[str, Any] = {"plugins_dir": their_plugins, "config": quick}
    audit = auditkit.audit(table, constraints=constraints, fitter="pooled", profile="ontario", **options)
    report = audit.to_json()
    assert [entry["status"] for entry in report["constrained"]] == ["optimal"] * 3
    assert report["fit"]["fitter"] == "pooled" and "openings" in report["sections"]
    assert "rate-difference" in audit.to_frame("disparity")
    audit.save_html("with-plugins.html")
    text = Path("with-plugins.html").read_text()
    assert "The best policy without constraints leaves" in text and "Records of hiring are kept for three years" in text
    written = audit.exporters["ratios"]().write(audit.report, audit.pages()).decode()
    assert written.startswith("attribute,step,group,impact ratio\r\nGender,")

    found = auditkit.alternatives(table, attributes=["Gender"], **options)
    assert "curious" in {rule.name for one in found.found for rule in one.rules}

    table.rename(columns=lambda name: re.sub(r"\W", "_", name)).to_stata("people.dta", write_index=False)
    told = table.assign(Hired=table["Hired"].map({"Yes": "contract issued"}).fillna("pooled"))
    for data in ("people.dta", told):
        read = auditkit.read(data, plugins_dir=their_plugins)
        assert int(read.to_frame()["selected"].sum()) == (table["Hired"] == "Yes").sum()

    channel = plugin_manager.load([their_plugins]).alerts["log-file"](path=str(desk / "log.txt"))
    channel.send(SimpleNamespace(created="2026-11-16", title="a threshold was crossed"), {})
    assert Path("log.txt").read_text() == "2026-11-16 a threshold was crossed\n"
