"""Every hook: used by what ships, used by somebody else's package, documented."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pytest

from auditkit import Exporter, hookspecs, plugin_manager
from auditkit.cli import group
from support import ROOT
from support.audit_helpers import rows, save
from support.plugin_helpers import NAME, VERSION, install

HOOKS = re.findall(r"^def (auditkit_\w+)", (ROOT / "auditkit" / "hookspecs.py").read_text(), re.MULTILINE)

THEIRS = '''
import io
from datetime import date
from pathlib import Path

import click
import pandas as pd

from auditkit import CannotExport
from auditkit import DisparityMeasure
from auditkit import DatedFact
from auditkit import Exporter
from auditkit import Profile
from auditkit import Reader
from auditkit import Section
from auditkit import WordList


class Difference(DisparityMeasure):
    name, title, form, legend = "difference", "Gap of rates", "signed", "rate less that of the reference"

    def measure(self, counts, reference):
        base = counts[reference].selected / counts[reference].applicants
        return {group: n.selected / n.applicants - base for group, n in counts.items()}


class Sizes(Section):
    name, title, after = "sizes", "How many applied", "people"
    template = Path(__file__).with_name("sizes.html")

    def data(self, report):
        report.scope.unknown.clear()  # a copy: the report keeps its own
        return {"total": report.input.rows, "who": "<b>everybody</b>"}


class Fixed(Reader):
    name, suffixes = "fixed", (".fixed",)

    def read(self, data, place):
        return {"": pd.read_fwf(io.BytesIO(data), dtype=object)}


@click.command()
def greet():
    """Say hello."""
    click.echo("hello")


@click.command(name="study")
def other_study():
    """Not the one that ships."""


@click.command(name="report")
def other_report():
    """Not the one that ships."""


@hookimpl
def auditkit_measures():
    return [Difference]


@hookimpl
def auditkit_sections():
    return [Sizes]


@hookimpl
def auditkit_readers():
    return [Fixed]


class Trade(WordList):
    name = "trade"
    tables = {"status": {"selected": ["Contract issued"], "rejected": ["Pooled"]}}


@hookimpl
def auditkit_vocabulary():
    return [Trade]


class Codes(Exporter):
    format, suffix = "codes", "codes.txt"

    def write(self, report, pages):
        assert pages.html().startswith("<!DOCTYPE html>")
        return " ".join(finding.code for finding in report.findings).encode()


class Elsewhere(Exporter):
    format, suffix = "elsewhere", "else"

    def write(self, report, pages):
        raise CannotExport("no such file can be written here")


class Broken(Exporter):
    format, suffix = "broken", "broken"

    def write(self, report, pages):
        return 1 / 0


@hookimpl
def auditkit_exporters():
    return [Codes, Elsewhere, Broken]


class Atlantis(Profile):
    name, title, retention = "atlantis", "Atlantis", "2 years"
    facts = (DatedFact("Tides are <recorded>.", date(2020, 1, 1), date(2026, 11, 1)),)


@hookimpl
def auditkit_profiles():
    return [Atlantis]


@hookimpl
def auditkit_commands():
    return [greet, other_study, other_report]
'''
SIZES = "<p>{{ total }} rows of {{ who }}, {{ document.groups | length }} groups</p>"


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return install(tmp_path, monkeypatch, THEIRS, sizes__html=SIZES)


# What ships -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_is_used_by_what_ships_tested_and_documented(hook: str) -> None:
    kind = next(kind for kind in plugin_manager.KINDS if kind.hook == hook)
    assert getattr(plugin_manager.shipped(), f"{kind.name}s"), f"no shipped plugin provides a {kind.name}"
    tests = "".join(path.read_text() for path in (ROOT / "tests").glob("test_*.py"))
    assert f"def {hook}(" in tests, f"no test implements {hook} as somebody else would"
    page = (ROOT / "docs" / "plugins.md").read_text()
    assert f"`{hook}`" in page and f"@hookimpl\ndef {hook}()" in page, f"docs/plugins.md has no example of {hook}"


def example(hook: str) -> str:
    """The plugin that the docstring of a hook shows."""
    text = inspect.getdoc(getattr(hookspecs, hook)) or ""
    return textwrap.dedent("".join(re.findall(r"^(?: {4}.*)?\n?", text, re.MULTILINE)))


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> plugin_manager.Plugins:
    """The examples of all hooks as one installed package."""
    source = "\n\n".join(example(hook) for hook in HOOKS)
    install(tmp_path, monkeypatch, source, rows__html="<p>{{ rows | count }} rows</p>")
    return plugin_manager.load()


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_shows_a_short_example(hook: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = example(hook)
    assert f"@hookimpl\ndef {hook}():\n    return [" in source, f"the docstring of {hook} has no example"
    lines = [line for line in source.partition("@hookimpl")[0].splitlines() if line.strip()]
    assert len([line for line in lines if not line.startswith(("import ", "from "))]) <= 4
    install(tmp_path, monkeypatch, source, rows__html="{{ rows }}")
    loaded = plugin_manager.load()
    kind = next(kind.name for kind in plugin_manager.KINDS if kind.hook == hook)
    assert loaded.warnings == ()
    assert [found for (found, _), o in loaded.origins.items() if o.distribution == NAME] == [kind]


def test_the_examples_of_the_hooks_work(
    shown: plugin_manager.Plugins, auditkit: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    import numpy as np
    import pandas as pd

    from auditkit import Alert, Numbers
    from auditkit.testing import check_constraint

    assert check_constraint(shown.constraints["few-offers"]()) == 8
    features, scores = pd.DataFrame({"group": ["F", "M"] * 10}), np.arange(20.0)
    trained = shown.fitters["unweighted"]().train(features, scores, np.linspace(0.5, 1.5, 20))
    plain = shown.fitters["normal"]().train(features, scores, np.ones(20))
    np.testing.assert_allclose(trained.laws(features).means, plain.laws(features).means)
    shown.alerts["printed"]().send(Alert("1", "crossed", "people", "", "A title", "text"), {})
    assert capfd.readouterr().out == "A title\n"
    table = pd.DataFrame(rows()).astype(str).rename(columns=lambda name: name.replace(" ", "_"))
    table.drop(columns="Interview_Score").to_stata(tmp_path / "people.dta", write_index=False)
    assert shown.measures["rejected"]().measure({"F": Numbers(5, 2)}, "F") == {"F": 3}
    assert auditkit("greet").out == "hello\n"
    assert auditkit("report", "people.dta", "--format", "html,text").code == 0
    assert "No difference between groups was found" in (tmp_path / "people.audit.txt").read_text()
    page = (tmp_path / "people.audit.html").read_text()
    assert f"<p>{len(table)} rows</p>" in page and "Not selected" in page


def test_there_is_a_kind_for_every_hook() -> None:
    assert sorted(kind.hook for kind in plugin_manager.KINDS) == sorted(HOOKS)


def test_what_ships_loads_without_a_warning_from_its_entry_points() -> None:
    shipped = plugin_manager.shipped()
    assert shipped.warnings == ()
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["auditkit"]
    assert {origin.name for origin in shipped.origins.values()} == set(entries)
    assert set(group.shipped_commands()) == set(shipped.commands) == {"study"}


def test_help_does_without_the_machinery_of_plugins_where_nobody_has_any(tmp_path: Path) -> None:
    assert group.command_modules() == ["auditkit.plugins.study"]
    script = "import sys; from auditkit import cli; cli.invoke(['--help']); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "auditkit.plugins.study" in loaded
    assert not loaded & {"auditkit.plugin_manager", "importlib.metadata", "numpy", "pydantic"}
    assert {name for name in loaded if name.startswith("auditkit.plugins.")} == {
        *("auditkit.plugins.study", "auditkit.plugins.study.command")
    }
    assert "study" in done.stdout


def test_help_does_not_import_packages_without_commands(
    auditkit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "raise SystemExit('imported')\n")
    done = auditkit("--help")
    assert done.code == 0 and done.err == "" and "theirs_of_a_test" not in sys.modules
    assert group.command_modules() == ["auditkit.plugins.study"]


def test_a_shipped_command_runs(auditkit: Any) -> None:
    done = auditkit("study", "list")
    assert done.code == 0 and "parity" in done.out


# What others provide --------------------------------------------------------------------------------------------------


def test_every_kind_is_listed_with_its_origin(auditkit: Any, theirs: Path) -> None:
    listed = json.loads(auditkit("plugins", "--json").out)
    assert {entry["kind"] for entry in listed["plugins"]} == {kind.name for kind in plugin_manager.KINDS}
    own = {(e["kind"], e["name"]) for e in listed["plugins"] if (e["distribution"], e["version"]) == (NAME, VERSION)}
    exporters = {("exporter", name) for name in ("codes", "elsewhere", "broken")}
    others = {("measure", "difference"), ("section", "sizes"), ("reader", "fixed"), ("command", "greet")}
    others |= {("profile", "atlantis"), ("word_list", "trade")}
    assert own == exporters | others
    assert [re.findall("claims the command '(.*?)', which is taken", w) for w in listed["warnings"]] == [
        ["study"],
        ["report"],
    ]


def test_commands_of_others_are_listed_and_run_but_take_no_name_of_ours(auditkit: Any, theirs: Path) -> None:
    shown = auditkit("--help")
    assert re.search(r"greet +Say hello", shown.out)
    assert "Not the one that ships" not in shown.out
    assert shown.err.count("which is taken by auditkit itself") == 2
    assert auditkit("greet").out == "hello\n"
    assert "Repeat the paper" in auditkit("study", "--help").out
    done = auditkit("no-such-command")
    assert done.code == 2 and "No such command" in done.err


def test_measures_and_sections_are_in_the_report(auditkit: Any, theirs: Path, tmp_path: Path) -> None:
    people = save(tmp_path / "people.csv", rows(), leave=("Interview Score",))
    done = auditkit("report", people, "--profile", "nyc-ll144")
    assert done.code == 0, done.err
    document = json.loads((tmp_path / "people.audit.json").read_text())
    page = (tmp_path / "people.audit.html").read_text()

    assert [column["name"] for column in document["disparity"]["measures"]] == ["shortfall", "difference"]
    tables = document["disparity"]["tables"]
    assert len(tables) == 3
    for table in tables:
        base = next(row["rate"] for row in table["groups"] if row["group"] == table["reference"])
        compared = [row for row in table["groups"] if row["p"] is not None]
        assert compared
        for row in compared:
            assert row["measures"]["difference"] == pytest.approx(row["rate"] - base)
    assert "Gap of rates" in page and "Gap of rates: rate less that of the reference." in page

    n, groups = document["input"]["rows"], len(document["groups"])
    assert document["sections"]["sizes"] == {
        "title": "How many applied",
        "data": {"total": n, "who": "<b>everybody</b>"},
    }
    assert f"<p>{n} rows of &lt;b&gt;everybody&lt;/b&gt;, {groups} groups</p>" in page
    order = re.findall(r'<section id="(.*?)"', page)
    assert order[order.index("people") + 1] == "sizes"
    assert "fit" not in order, "there is no model, so there is nothing to say of its fit"
    assert order.index("local-law-144") < order.index("method"), "its place is kept all the same"
    assert '<li><a href="#sizes">How many applied</a></li>' in page


def test_a_group_that_is_not_compared_is_not_shown_to_measures() -> None:
    from auditkit.disparity.applicants import Applicants
    from auditkit.disparity.cuts import DisparitySettings
    from auditkit.disparity.disparity_tables import disparities
    from auditkit.disparity.measure import DisparityMeasure, Numbers
    from auditkit.disparity.measured import with_measures

    seen: list[dict[str, Numbers]] = []

    class Seen(DisparityMeasure):
        name, title = "seen", "Seen"

        def measure(self, counts: Any, reference: str) -> dict[str, float | None]:
            seen.append(counts)
            return dict.fromkeys(counts, 1.0)

    counts = {"a": (500, 200), "b": (600, 100), "c": (3, 1), "d": (400, 20)}
    people = [(group, k < x) for group, (n, x) in counts.items() for k in range(n)]
    applicants = Applicants(
        attributes={"G": pd.Series([group for group, _ in people])},
        steps={"Hired": pd.Series([hired for _, hired in people])},
    )
    page = with_measures(disparities(applicants, DisparitySettings(threshold=0)), [Seen], pytest.fail)
    (table,) = page.tables
    assert [sorted(counts) for counts in seen] == [["a", "b", "d"]]
    assert {row.group: row.measures["seen"] for row in table.groups} == {"a": 1.0, "b": 1.0, "c": None, "d": 1.0}


def test_a_theme_can_replace_the_template_of_a_section(auditkit: Any, theirs: Path, tmp_path: Path) -> None:
    people = save(tmp_path / "people.csv", rows(), leave=("Interview Score",))
    (tmp_path / "theme").mkdir()
    (tmp_path / "theme" / "section_sizes.html").write_text(
        '<p>ours: {{ total }}</p>{% include "shipped/section_sizes.html" %}'
    )
    done = auditkit("report", people, "--template-dir", "theme", "--format", "html")
    assert done.code == 0, done.err
    page = (tmp_path / "people.audit.html").read_text()
    assert "<p>ours: " in page and "rows of &lt;b&gt;" in page
    (tmp_path / "theme" / "section_sizes.html").write_text("{{ misspelt }}")
    done = auditkit("report", people, "--template-dir", "theme", "--format", "html")
    assert done.code == 2 and "section_sizes.html, line 1: 'misspelt' is undefined" in done.err


def test_words_of_a_plugin_are_understood(auditkit: Any, theirs: Path, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    lines = [f"{i},{'F' if i % 2 else 'M'},{'Contract issued' if i % 3 else 'Pooled'}" for i in range(30)]
    people.write_text("\n".join(["id,gender,status", *lines]) + "\n")
    done = auditkit("check", people)
    assert done.code == 0, done.err
    assert done.out.startswith("favourable: Contract issued, 20 of 30\n")


def test_a_word_list_must_have_known_entries() -> None:
    from auditkit import WordList
    from auditkit.data.vocabulary import defect

    class Wrong(WordList):
        name = "wrong"
        tables: ClassVar[dict[str, Any]] = {"status": {"choosen": ["x"]}}

    assert "status.choosen" in str(defect(Wrong))
    Wrong.tables = {"states": {"selected": ["x"]}}
    assert "section 'states' (did you mean 'status'?)" in str(defect(Wrong))
    Wrong.tables = {"status": {"selected": "x"}}
    assert "is not a list" in str(defect(Wrong))
    Wrong.tables = {"status": {"selected": ["x"]}}
    assert defect(Wrong) is None


def test_a_reader_is_found_by_the_ending(auditkit: Any, theirs: Path, tmp_path: Path) -> None:
    people = tmp_path / "people.fixed"
    people.write_text("id  gender  hired\n1   F       yes\n2   M       no\n3   F       no\n4   M       yes\n")
    done = auditkit("check", people)
    assert done.code == 0, done.err
    assert "gender" in done.out and f"plugin 'theirs' of {NAME} {VERSION}" in done.out
    text = tmp_path / "people.csv"
    text.write_text("id,gender,hired\n1,F,yes\n2,M,no\n")
    assert "theirs" not in auditkit("check", text).out


def test_a_reader_is_asked_before_a_foreign_file_is_refused(tmp_path: Path) -> None:
    import io

    import pandas as pd

    from auditkit.data.read_file import read
    from auditkit.data.reader import Reader
    from auditkit.errors import InputError

    class Printed(Reader):
        name, starts = "printed", (b"%PDF",)

        def read(self, data: bytes, place: str) -> dict[str, pd.DataFrame]:
            return {"": pd.read_csv(io.BytesIO(data.removeprefix(b"%PDF\n")))}

    path = tmp_path / "people.pdf"
    path.write_bytes(b"%PDF\nid,gender,hired\n1,F,1\n2,M,\n")
    raw = read(path, readers=[Printed])
    assert raw.table.to_numpy().tolist() == [["1", "F", "1"], ["2", "M", ""]]
    with pytest.raises(InputError, match="is a PDF file"):
        read(path)


def test_first_bytes_go_before_the_ending() -> None:
    from auditkit.data.reader import claims

    readers = plugin_manager.shipped().readers
    excel, parquet = readers["excel"], readers["parquet"]
    assert [claims(excel, b"PK\x03\x04...", place) for place in ("a.xlsx", "a.csv")] == [2, 1]
    assert claims(excel, b"name,group", "a.xlsx") == 0
    assert claims(parquet, b"PAR1...", "a.parquet") == 2


# Profiles -------------------------------------------------------------------------------------------------------------


def test_a_profile_states_its_facts_with_their_dates_and_only_where_it_is_chosen(
    theirs: Path, auditkit: Any, tmp_path: Path
) -> None:
    people = save(tmp_path / "people.csv", rows(), leave=("Interview Score",))
    assert auditkit("report", people, "--profile", "atlantis").code == 0
    page = (tmp_path / "people.audit.html").read_text()
    document = json.loads((tmp_path / "people.audit.json").read_text())
    assert (
        "Tides are &lt;recorded&gt;." in page
        and "Applies from 1\xa0January\xa02020." in page
        and "at least 2 years" in page
    )
    assert (
        document["sections"]["profile"]["data"]["profile"] == "Atlantis" and document["config"]["profile"] == "atlantis"
    )
    assert "local-law-144" not in document["sections"] and 'id="local-law-144"' not in page
    assert auditkit("report", people).code == 0
    document = json.loads((tmp_path / "people.audit.json").read_text())
    assert not {"profile", "local-law-144"} & set(document["sections"])
    wrong = auditkit("report", people, "--profile", "atlantic")
    assert wrong.code == 2 and "did you mean 'atlantis'?" in wrong.err


@pytest.mark.parametrize("name", ["nyc-ll144", "california", "new-jersey", "eu-ai-act", "uk"])
def test_profiles_that_ship_are_dated_and_promise_nothing(name: str) -> None:
    profile = plugin_manager.shipped().profiles[name]
    assert profile.facts and all(fact.since and fact.read_on.year == 2026 for fact in profile.facts)
    words = " ".join(fact.text for fact in profile.facts).lower()
    assert not re.search(r"complian|compliant|unbiased|\bfair\b", words)


# Exporters ------------------------------------------------------------------------------------------------------------


def test_somebodys_exporter_writes_its_format(theirs: Path, auditkit: Any, tmp_path: Path) -> None:
    save(tmp_path / "people.csv", rows(searches=3, each=5), leave=("Interview Score",))
    done = auditkit("report", "people.csv", "--format", "json,codes,elsewhere", "-q")
    assert done.code == 0 and "warning: no such file can be written here" in done.err
    report = json.loads((tmp_path / "people.audit.json").read_text())
    codes = [finding["code"] for finding in report["findings"]]
    assert (tmp_path / "people.audit.codes.txt").read_text().split() == codes
    assert not (tmp_path / "people.audit.else").exists() and not (tmp_path / "people.audit.html").exists()
    (tmp_path / "people.audit.json").unlink()
    alone = auditkit("report", "people.csv", "--format", "elsewhere", "-q")
    assert alone.code == 2 and not (tmp_path / "people.audit.json").exists()


def test_an_exporter_that_fails_is_named_and_nothing_is_written(theirs: Path, auditkit: Any, tmp_path: Path) -> None:
    save(tmp_path / "people.csv", rows(searches=3, each=5), leave=("Interview Score",))
    before = sorted(path.name for path in tmp_path.iterdir())
    done = auditkit("report", "people.csv", "--format", "json,broken", "-q")
    assert done.code == 2 and "the exporter 'broken' failed with ZeroDivisionError" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_format_that_nobody_writes_is_refused_before_the_data_are_read(auditkit: Any, tmp_path: Path) -> None:
    save(tmp_path / "people.csv", rows(searches=3, each=5))
    done = auditkit("report", "people.csv", "--format", "jsno")
    assert done.code == 2 and "there is no format 'jsno'" in done.err and "did you mean 'json'?" in done.err


def test_a_suffix_is_the_end_of_a_name() -> None:
    made = type("Dotted", (Exporter,), {"format": "dotted", "suffix": ".csv", "write": lambda self, report, pages: b""})
    kind = next(kind for kind in plugin_manager.KINDS if kind.name == "exporter")
    assert "needs a suffix such as 'csv'" in (kind.problem(made) or "")
    made.suffix = "csv"
    assert kind.problem(made) is None
