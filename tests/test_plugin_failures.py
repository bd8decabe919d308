"""Somebody's plugin is broken: it is named, it is left out or refused, and nobody takes it for a defect of auditkit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditkit import plugin_manager
from auditkit.cli import invoke
from auditkit.errors import PluginError, origin_of
from auditkit.model.documents import read_instance
from auditkit.scheduled.alert import Alert
from auditkit.scheduled.deliver import deliver
from auditkit.solver import solve
from support import ROOT
from support.audit_helpers import rows, save
from support.plugin_helpers import HEAD, NAMED, Ran, install

BOXES = ROOT / "sample_data" / "four-boxes.json"

CONSTRAINT = """
import numpy as np
from typing import ClassVar
from auditkit.constraints import Constraint, Measure, Row


class Theirs(Constraint):
    type: ClassVar[str] = "theirs"

    {body}


@hookimpl
def auditkit_constraints():
    return [Theirs]
"""

ROWS = """def rows(self, layout):
        n = layout.states
        return [{row}]
"""

MEASURE = """def measures(self, layout):
        states = np.flatnonzero(layout.selecting)
        value = lambda p: {value}
        return [Measure("theirs", states, value, lambda p: {gradient}, {sense!r}, {bound})]
"""


def rows_of(row: str) -> str:
    return CONSTRAINT.format(body=ROWS.format(row=row))


def measure_of(value: str, gradient: str, sense: str = ">=", bound: float = 0.05) -> str:
    return CONSTRAINT.format(body=MEASURE.format(value=value, gradient=gradient, sense=sense, bound=bound))


HAS_ROWS = ROWS.format(row='Row("theirs", np.arange(n), np.ones(n), "<=", 100.0)')
GOOD = rows_of('Row("theirs", np.arange(n), np.ones(n), "<=", 100.0)')
BROKEN = {
    "a weight for each candidate": (
        rows_of('Row.of("theirs", np.ones(len(layout.candidate_ids)), "<=", 1.0)'),
        "4 weights, one for each candidate, but each of the 12 states needs one: write weights[layout.state_candidate]",
    ),
    "another number of weights": (rows_of('Row.of("theirs", np.ones(5), "<=", 1.0)'), "5 weights, where each of the"),
    "weights in a table": (rows_of('Row.of("theirs", np.ones((2, n)), "<=", 1.0)'), "one number for every state"),
    "nothing returned": (
        CONSTRAINT.format(body="def rows(self, layout):\n        pass\n"),
        "rows(layout) returned nothing",
    ),
    "one row, no list": (
        CONSTRAINT.format(body='def rows(self, layout):\n        return Row.of("t", layout.reward, "<=", 1.0)\n'),
        "rows(layout) returned Row, not a list of Row",
    ),
    "shape": (rows_of('Row("theirs", np.arange(3), np.ones(2), "<=", 1.0)'), "there must be as many"),
    "outside": (rows_of('Row("theirs", np.arange(n + 1), np.ones(n + 1), "<=", 1.0)'), "stay below"),
    "disorder": (rows_of('Row("theirs", np.array([2, 1]), np.ones(2), "<=", 1.0)'), "must increase"),
    "text": (rows_of('Row("theirs", np.arange(2), ["a", "b"], "<=", 1.0)'), "could not convert"),
    "nan": (rows_of('Row("theirs", np.arange(n), np.full(n, np.nan), "<=", 1.0)'), "coefficient is not finite"),
    "inf": (rows_of('Row("theirs", np.arange(n), np.ones(n), "<=", float("inf"))'), "bound is inf"),
    "huge": (rows_of('Row("theirs", np.arange(n), np.full(n, 1e308), ">=", 1.0)'), "must not exceed 1e+100"),
    "sense": (rows_of('Row("theirs", np.arange(n), np.ones(n), "<", 1.0)'), "not <=, == or >="),
    "no row": (rows_of('("theirs", np.ones(n))'), "must be of the class Row"),
    "raises": (
        CONSTRAINT.format(body="def rows(self, layout):\n        return layout.no_such_thing\n"),
        "no_such_thing",
    ),
    "no keys": (
        CONSTRAINT.format(body="def to_spec(self):\n        raise KeyError('keys')\n\n    " + HAS_ROWS),
        "KeyError: 'keys'",
    ),
    "no words": (
        CONSTRAINT.format(body="def describe(self, words):\n        raise KeyError('describe')\n\n    " + HAS_ROWS),
        "KeyError: 'describe'",
    ),
    "value raises": (measure_of("1 / 0", "np.ones(len(p))"), "ZeroDivisionError"),
    "value is nan": (measure_of("float('nan')", "np.ones(len(p))"), "is not a number"),
    "gradient raises": (measure_of("np.sqrt(p.sum())", "p.no_such_thing"), "no_such_thing"),
    "gradient of a wrong shape": (measure_of("np.sqrt(p.sum())", "np.ones(1)"), "its gradient has the shape (1,)"),
    "gradient of another function": (
        measure_of("np.sqrt(1e-9 + p.sum())", "np.full(len(p), 3.0)"),
        "gradient is not that of its value",
    ),
    "gradient in another order": (
        measure_of("np.sqrt(1e-9 + p @ np.arange(len(p)))", "(0.5 / value(p) * np.arange(len(p)))[::-1]"),
        "gradient is not that of its value",
    ),
    "not concave": (measure_of("p @ p", "2 * p", bound=1.0), "value is not concave"),
    "infinite": (measure_of("float('inf')", "np.full(len(p), np.inf)"), "not finite"),
}


@pytest.fixture
def auditkit(auditkit: Callable[..., Ran]) -> Callable[..., Ran]:
    """The command line, which never takes their failure for its own."""

    def run(*arguments: object) -> Ran:
        ran = auditkit(*arguments)
        assert "defect" not in ran.err and "Traceback" not in ran.err
        return ran

    return run


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    def put(source: str, **files: str) -> Path:
        return install(tmp_path, monkeypatch, source, **files)

    return put


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Without scores: there is a disparity audit and nothing to solve."""
    return save(tmp_path / "people.csv", rows(), leave=("Interview Score",))


QUICK = "[fit]\npoints = 5\n[report]\nreplicates = 0\nalternatives = false\n"


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    (tmp_path / "quick.toml").write_text(QUICK)
    return save(tmp_path / "people.csv", rows(searches=3, each=6))


# Asked for by name: exit 2 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flaw", BROKEN)
def test_a_broken_constraint_is_refused_by_name(auditkit: Any, installed: Any, flaw: str) -> None:
    source, reason = BROKEN[flaw]
    installed(source)
    done = auditkit("solve", BOXES, "-c", "theirs", "-o", "solution.json")
    assert done.code == 2, done.err
    assert NAMED in done.err and reason in done.err, done.err
    assert not Path("solution.json").exists()
    assert auditkit("solve", BOXES).code == 0, "who does not ask for it is not concerned"


def test_a_failure_names_its_line_and_debug_shows_the_traceback(installed: Any, capsys: Any) -> None:
    installed(BROKEN["raises"][0])
    (line,) = [i for i, text in enumerate((HEAD + BROKEN["raises"][0]).splitlines(), 1) if "no_such_thing" in text]
    assert invoke(["solve", str(BOXES), "-c", "theirs"]) == 2
    plain = capsys.readouterr().err
    assert f"(theirs_of_a_test.py, line {line})" in plain and "Traceback" not in plain
    assert invoke(["solve", str(BOXES), "-c", "theirs", "--debug"]) == 2
    shown = capsys.readouterr().err
    assert "Traceback" in shown and "return layout.no_such_thing" in shown and shown.endswith(plain)


AUTHORS = {
    "neither rows nor measures": (CONSTRAINT.format(body="pass"), "has neither rows nor measures: define rows(layout)"),
    "no hookimpl": (GOOD.replace("@hookimpl\n", ""), "auditkit_constraints is not marked as a hook: write @hookimpl"),
    "misspelt hook": (
        GOOD.replace("auditkit_constraints", "auditkit_constraint"),
        "did you mean 'auditkit_constraints'",
    ),
    "hook returns a string": (
        GOOD.replace("[Theirs]", "'theirs'"),
        "auditkit_constraints returned 'theirs', not a list",
    ),
    "hook returns a class": (GOOD.replace("[Theirs]", "Theirs"), "returned Theirs, not a list such as [Theirs]"),
    "hook returns nothing": (
        GOOD.replace("return [Theirs]", "pass"),
        "auditkit_constraints returned nothing, not a list",
    ),
    "type with a space": (
        GOOD.replace('"theirs"', '"their own"', 1),
        "the type 'their own' must consist of letters, digits, hyphens and underscores",
    ),
    "type is a key": (GOOD.replace("ClassVar[str]", "str"), "declare it as type: ClassVar[str] = ..."),
    "key hides a method": (
        CONSTRAINT.format(body="describe: str = 'x'\n\n    " + HAS_ROWS),
        "has the key 'describe', which hides an attribute of Constraint",
    ),
    "key of the base class with another meaning": (
        CONSTRAINT.replace("Constraint, Measure", "OutcomeConstraint as Constraint, Measure").format(
            body="on: bool = True\n\n    " + HAS_ROWS
        ),
        "has the key 'on' with another meaning than in OutcomeConstraint ('selection', 'inspection', or",
    ),
    "parameter that is no key": (
        CONSTRAINT.format(body="parameters: ClassVar = ('share',)\n\n    " + HAS_ROWS),
        "'share' in `parameters` is not a Parameter that names one of its keys",
    ),
}
"""Mistakes that keep a constraint from being registered."""


@pytest.mark.parametrize("flaw", AUTHORS)
def test_a_mistake_of_an_author_is_one_clear_line(
    auditkit: Any, installed: Any, flaw: str, recwarn: pytest.WarningsRecorder
) -> None:
    source, reason = AUTHORS[flaw]
    installed(source)
    done = auditkit("plugins", "--json")
    (line,) = json.loads(done.out)["warnings"]
    assert line.startswith(f"{NAMED} is left out: ") and reason in line
    assert not recwarn.list
    strict = auditkit("solve", BOXES, "-c", "parity", "--strict-plugins")
    assert strict.code == 2 and reason in strict.err
    asked = auditkit("solve", BOXES, "-c", "theirs")
    assert asked.code == 2 and "there is no constraint 'theirs'" in asked.err and reason in asked.err


def test_good_ones_pass_the_same_checks(auditkit: Any, installed: Any) -> None:
    value, gradient = "np.sqrt(1e-9 + p.sum())", "np.full(len(p), 0.5 / value(p))"
    installed(measure_of(value, gradient, bound=0.5))
    assert auditkit("solve", BOXES, "-c", "theirs").code == 0


def test_a_kink_is_no_flaw() -> None:
    """The smaller of two outcomes has no gradient where they are equal, and every slope between is as good."""
    import numpy as np

    from auditkit.constraints.base import Measure
    from auditkit.constraints.checks import slope_flaw

    def slope(p: Any) -> Any:
        return np.array([0.5, 0.5]) if p[0] == p[1] else (p == p.min()).astype(float)

    smaller = Measure("smaller", np.arange(2), lambda p: float(p.min()), slope, ">=", 0.1)
    assert slope_flaw(smaller, np.array([0.3, 0.3])) is None
    assert slope_flaw(smaller, np.array([0.3, 0.4])) is None
    assert slope_flaw(Measure("no", np.arange(2), lambda p: float(p.min()), lambda p: p - p, ">=", 0.1), np.ones(2))


@pytest.mark.parametrize("command", ["report", "whatif", "run"])
def test_every_command_refuses_it_and_writes_nothing(
    auditkit: Any, installed: Any, scored: Path, tmp_path: Path, command: str
) -> None:
    installed(BROKEN["shape"][0])
    settings = tmp_path / "audit.toml"
    settings.write_text('source = "people.csv"\n' + QUICK + '[[constraints]]\ntype = "theirs"\n')
    before = {path for path in tmp_path.rglob("*") if "site" not in path.parts}
    done = auditkit("run", settings) if command == "run" else auditkit(command, "--config", settings)
    assert done.code == 2 and NAMED in done.err, done.err
    after = {path for path in tmp_path.rglob("*") if "site" not in path.parts and path.suffix in (".html", ".json")}
    assert after <= before


def test_verify_refuses_it_too(auditkit: Any, installed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = installed(GOOD)
    assert auditkit("solve", BOXES, "-c", "theirs", "-o", "solution.json").code == 0
    assert auditkit("verify", "solution.json", BOXES).code == 0
    (site / "theirs_of_a_test.py").write_text(HEAD + BROKEN["nan"][0])
    monkeypatch.delitem(plugin_manager.sys.modules, "theirs_of_a_test")
    done = auditkit("verify", "solution.json", BOXES)
    assert done.code == 2 and NAMED in done.err and "not finite" in done.err


FITTER = """
from typing import ClassVar
import numpy as np
from auditkit import Fitter, Laws, ScoreModel


class Model(ScoreModel):
    def laws(self, features):
        return {laws}


class Theirs(Fitter):
    name: ClassVar[str] = "theirs"

    def train(self, features, scores, weights):
        return Model()


@hookimpl
def auditkit_fitters():
    return [Theirs]
"""


@pytest.mark.parametrize(
    ("laws", "reason"),
    [
        ("features.no_such_thing", "no_such_thing"),
        ("[1, 2]", "not Laws"),
        ("Laws(np.ones((1, 2)), np.full((1, 2), np.nan), np.zeros(len(features), dtype=int))", "not finite"),
        ("Laws(np.ones((1, 1)), np.ones((1, 1)), np.zeros(1, dtype=int))", "1 for"),
    ],
)
def test_a_broken_fitter_is_refused_by_name(
    auditkit: Any, installed: Any, scored: Path, laws: str, reason: str
) -> None:
    installed(FITTER.format(laws=laws))
    done = auditkit("fit", scored, "--config", "quick.toml", "--fitter", "theirs", "-o", "instance.json")
    assert done.code == 2 and NAMED in done.err and reason in done.err, done.err
    assert not Path("instance.json").exists()


def test_what_is_asked_for_from_a_plugin_that_does_not_load(auditkit: Any, installed: Any) -> None:
    installed("import a_module_that_is_not_there\n")
    done = auditkit("solve", BOXES, "-c", "theirs")
    assert done.code == 2
    assert NAMED in done.err and "a_module_that_is_not_there" in done.err
    assert "there is no constraint 'theirs'" in done.err


# Not asked for: left out, and said ------------------------------------------------------------------------------------

MEASURED = """
from auditkit import DisparityMeasure


class Theirs(DisparityMeasure):
    name, title = "theirs", "Theirs"

    def measure(self, counts, reference):
        return {numbers}


@hookimpl
def auditkit_measures():
    return [Theirs]
"""
SECTION = """
from pathlib import Path
from auditkit import Section


class Theirs(Section):
    name, title, template = "theirs", "Theirs", Path(__file__).with_name("theirs.html")

    def data(self, report):
        return {data}


@hookimpl
def auditkit_sections():
    return [Theirs]
"""
READER = """
from auditkit import Reader


class Theirs(Reader):
    name, suffixes = "theirs", (".csv",)

    def read(self, data, place):
        return {tables}


@hookimpl
def auditkit_readers():
    return [Theirs]
"""
LEFT_OUT: dict[str, tuple[str, str, dict[str, str]]] = {
    "import": ("import a_module_that_is_not_there\n", "a_module_that_is_not_there", {}),
    "exit": ("raise SystemExit(7)\n", "SystemExit: 7", {}),
    "base exception": ("class Odd(BaseException): ...\nraise Odd('at import')\n", "Odd: at import", {}),
    "generator exit": ("raise GeneratorExit('at import')\n", "GeneratorExit: at import", {}),
    "measure exits": (MEASURED.format(numbers="exit(0)"), "SystemExit", {}),
    "taken name": (GOOD.replace('"theirs"', '"parity"'), "claims the constraint 'parity', which is taken", {}),
    "measure raises": (MEASURED.format(numbers="1 / 0"), "ZeroDivisionError", {}),
    "measure is nan": (MEASURED.format(numbers="dict.fromkeys(counts, float('nan'))"), "not finite for", {}),
    "measure lacks a group": (MEASURED.format(numbers="{}"), "no number for", {}),
    "measure of no group": (MEASURED.format(numbers="dict.fromkeys([*counts, 'x'], 1.0)"), "no group 'x'", {}),
    "measure in no form": (
        MEASURED.format(numbers="{}").replace('"Theirs"\n', '"Theirs"\n    form = "loud"\n'),
        "'loud'",
        {},
    ),
    "section raises": (
        SECTION.format(data="report.misspelt"),
        "AttributeError: 'Report' object has no attribute 'misspelt'",
        {"theirs__html": "x"},
    ),
    "section without JSON": (SECTION.format(data="{'x': object()}"), "not JSON serializable", {"theirs__html": "x"}),
    "section of the wrong sort": (SECTION.format(data="[1]"), "not a dictionary", {"theirs__html": "x"}),
    "template lacks a name": (
        SECTION.format(data="{'x': 1}"),
        "theirs.html, line 2: 'y' is undefined",
        {"theirs__html": "{{ x }}\n{{ y }}"},
    ),
    "template is none": (
        SECTION.format(data="{'x': 1}"),
        "theirs.html, line 1: Expected an expression",
        {"theirs__html": "{% if %}"},
    ),
    "no template": (SECTION.format(data="{}"), "is not a file", {}),
    "section takes a name": (SECTION.format(data="{}").replace('"theirs"', '"fit"'), "auditkit's own", {}),
    "section after no section": (
        SECTION.format(data="{}").replace("class Theirs(Section):", "class Theirs(Section):\n    after = 'glosary'"),
        "cannot follow 'glosary': one of findings, disparity,",
        {"theirs__html": "x"},
    ),
    "reader raises": (READER.format(tables="1 / 0"), "ZeroDivisionError", {}),
    "reader returns no table": (READER.format(tables="{'': [1, 2]}"), "something else than tables", {}),
}


@pytest.mark.parametrize("flaw", LEFT_OUT)
def test_what_nobody_asked_for_is_left_out(auditkit: Any, installed: Any, people: Path, flaw: str) -> None:
    source, reason, files = LEFT_OUT[flaw]
    installed(source, **files)
    strict = auditkit("report", people, "--strict-plugins")
    assert strict.code == 2 and NAMED in strict.err and reason in strict.err, strict.err
    assert not Path("people.audit.html").exists() and not Path("people.audit.json").exists()

    done = auditkit("report", people, "--format", "json")
    assert done.code == 0, done.err
    (line,) = done.err.splitlines()
    assert line.startswith("warning: ") and NAMED in line and reason in line
    document = json.loads(Path("people.audit.json").read_text())
    (told,) = [f["text"] for f in document["findings"] if f["code"] == "plugin-left-out"]
    assert told.startswith(NAMED.capitalize())
    assert all(table["groups"] for table in document["disparity"]["tables"])
    assert list(document["sections"]) == []
    assert [column["name"] for column in document["disparity"]["measures"]] == ["shortfall"]


def test_what_a_plugin_says_stays_out_of_the_report(auditkit: Any, installed: Any, people: Path) -> None:
    """It may quote a cell."""
    installed(READER.format(tables="{}[data[:40].decode() + 'Jane Doe']"))
    done = auditkit("report", people)
    assert done.code == 0 and "Jane Doe" in done.err
    for name in ("people.audit.json", "people.audit.html"):
        written = Path(name).read_text()
        assert "the reader" in written and "failed with KeyError" in written
        assert "Jane Doe" not in written and str(people.parent) not in written


def test_verify_and_check_go_on_without_a_broken_reader(auditkit: Any, installed: Any, people: Path) -> None:
    installed(READER.format(tables="1 / 0"))
    assert auditkit("report", people, "--format", "json").code == 0
    for command in (("verify", "people.audit.json", people), ("check", people), ("init", people)):
        done = auditkit(*command)
        assert done.code == 0 and NAMED in done.err, done.err
        assert auditkit(*command, "--strict-plugins").code == 2


COMMAND = """
import click

@click.command()
def theirs():
    raise KeyError("oops")

@hookimpl
def auditkit_commands():
    return [theirs]
"""


def test_a_command_that_fails_is_theirs(auditkit: Any, installed: Any) -> None:
    installed(COMMAND)
    done = auditkit("theirs")
    assert done.code == 2 and NAMED in done.err and "KeyError: 'oops'" in done.err


def test_help_goes_on_without_a_package_that_does_not_load(auditkit: Any, installed: Any) -> None:
    installed("import a_module_that_is_not_there\n" + COMMAND)
    done = auditkit("--help")
    assert done.code == 0 and "report" in done.out
    assert NAMED in done.err


CHANNEL = """
from typing import ClassVar
from auditkit import Channel


class Theirs(Channel):
    type: ClassVar[str] = "theirs"

    def send(self, alert, secrets):
        raise KeyError("oops")


@hookimpl
def auditkit_alerts():
    return [Theirs]
"""


def test_a_channel_that_fails_does_not_hide_the_audit(installed: Any) -> None:
    installed(CHANNEL)
    channel = plugin_manager.load().alerts["theirs"]()
    alert = Alert("1", "crossed", "people", "2026-11-16T06:00:00Z", "title", "text")
    (sent,) = deliver(alert, [channel], {})
    assert not sent.delivered and sent.detail == f"{NAMED}: KeyError: 'oops'"


# Whose it is ----------------------------------------------------------------------------------------------------------


def test_a_file_of_the_user_is_named_by_its_folder(auditkit: Any, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "flawed.py").write_text(HEAD + BROKEN["nan"][0])
    done = auditkit("solve", BOXES, "-c", "theirs", "--plugins-dir", folder)
    assert done.code == 2 and f"plugin 'flawed' of --plugins-dir {folder}" in done.err


def test_what_ships_is_never_blamed_for_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    parity = plugin_manager.shipped().constraints["parity"]
    monkeypatch.setattr(parity, "rows", lambda self, layout: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        solve(read_instance(BOXES)[0], [parity()])
    assert str(origin_of(parity)).startswith("plugin 'parity' of auditkit ")


def test_a_plugin_error_survives_a_trip_between_processes() -> None:
    import pickle

    error = PluginError(int, "is no plugin", "and\nsays so")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == f"{again.public}: and says so"
