"""The Python API: the words and the answers of the command line, and results that show no person."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from audit_helpers import rows, save

import auditkit
from auditkit.cli import commands, invoke
from auditkit.config import OPTIONS, Config, choose
from auditkit.plugins.parity import Parity

ROOT = Path(__file__).resolve().parents[1]
FOUR = ROOT / "sample_data" / "four-boxes.json"
QUICK = Config().over(fit__points=8, report__replicates=0)
EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("data") / "people.csv", rows(searches=6, each=6, tiny=2))


@pytest.fixture(scope="module")
def audit(people: Path) -> auditkit.Audit:
    return auditkit.audit(people, constraints=["parity", "quota:group=Female,share=0.4"], config=QUICK)


class Page(HTMLParser):
    """The tags and texts of a piece of HTML; every tag must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name in ("src", "href") or name.startswith("on")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def shown(result: Any) -> str:
    """What a notebook shows of a result, and what a prompt does."""
    page = Page(result._repr_html_())
    assert page.tags <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    return " ".join(page.texts) + repr(result)


# The same answers ---------------------------------------------------------------------------------------------------


def test_a_file_and_a_table_in_memory_give_the_same_audit(people: Path, audit: auditkit.Audit) -> None:
    table = pd.read_csv(people, dtype=str, keep_default_na=False)
    other = auditkit.audit(table, constraints=["parity", "quota:group=Female,share=0.4"], config=QUICK)
    assert other.document["input"]["path"] == "DataFrame"
    assert other.document["firm"] == audit.document["firm"]
    assert other.document["constrained"] == audit.document["constrained"]
    written = people.with_name("again.csv")
    written.write_bytes(table.to_csv(index=False).encode())
    other.save_json(people.with_name("again.json"))
    assert auditkit.verify(people.with_name("again.json"), written).holds, "to_csv(index=False) is what was audited"


def test_numbers_of_a_table_keep_their_types(people: Path) -> None:
    table = pd.read_csv(people)
    assert table["Interview Cost"].dtype.kind in "if"
    read, direct = auditkit.read(people).to_frame(), auditkit.read(table).to_frame()
    pd.testing.assert_frame_equal(read, direct)


def test_the_api_goes_the_way_of_the_command_line(
    people: Path, audit: auditkit.Audit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["-c", "parity", "-c", "quota:group=Female,share=0.4", "--json"]
    (tmp_path / "audit.toml").write_text("[fit]\npoints = 8\n[report]\nreplicates = 0\n")
    assert invoke(["report", str(people), "--config", str(tmp_path / "audit.toml"), *options]) == 0
    document = json.loads(capsys.readouterr().out)
    ours = json.loads(json.dumps(audit.document))
    for key in ("created", "config"):
        document.pop(key), ours.pop(key)
    assert ours == document


def test_read_then_fit_then_solve(people: Path, tmp_path: Path) -> None:
    history = auditkit.read(people, map={"group": "Gender"}, capacity=1)
    fitted = auditkit.fit(history, config=QUICK, value_scale=2)
    assert fitted.settings["value_scale"] == 2
    constraint = {"type": "quota", "group": "Female", "share": 0.4}
    solution = auditkit.solve(fitted, [Parity(groups=["Female", "Male"]), "impact-ratio", constraint])
    assert [c["type"] for c in solution.to_json()["specs"]] == ["parity", "impact-ratio", "quota"]
    fitted.save_json(tmp_path / "instance.json")
    solution.save_json(tmp_path / "solution.json")
    assert auditkit.verify(tmp_path / "solution.json", tmp_path / "instance.json").holds
    again = auditkit.solve(tmp_path / "instance.json", ["parity"])
    assert again.sha256 is not None and again.sha256 == again.to_json()["instance"]["sha256"]
    assert auditkit.solve(FOUR).loss == pytest.approx(0.5)
    assert auditkit.solve(str(FOUR), "floor:minimum=0.1", "caratheodory").status == "optimal"


def test_whatif_and_check(people: Path, tmp_path: Path) -> None:
    answers = auditkit.whatif(people, group="Female", constraints="impact-ratio:minimum=0.8", config=QUICK)
    assert answers.group == "Female"
    assert set(answers.to_frame()["parameter"]) >= {"minimum", "share"}
    assert answers.sentences[0] in shown(answers).replace("  ", " ")
    answers.save_json(tmp_path / "whatif.json")
    checked = auditkit.check(people)
    assert checked.ok and set(checked.to_frame()["code"]) == {"unknown-group"}
    bad = auditkit.check(pd.read_csv(people).assign(Openings="many"), map={"capacity": "Openings"})
    assert not bad.ok and "fix them before an audit" in shown(bad)


# What is shown and saved --------------------------------------------------------------------------------------------


def test_no_person_is_shown(people: Path, audit: auditkit.Audit) -> None:
    history = audit.history
    fitted = audit.fitted
    assert fitted is not None
    solution = auditkit.solve(fitted, ['parity:groups=["Female","Male"]'])
    for result in (audit, history, fitted, fitted.instance, solution, auditkit.check(people)):
        text = shown(result)
        assert "QX1" not in text, f"an id is shown by {type(result).__name__}"
        assert len(text) > 60
    assert "Candidate ID" in shown(history) and "36 of 36 rows" in shown(history)
    assert "QX1000" in history.to_frame()["candidate"].tolist(), "whoever asks for the table gets it"
    assert "Divers" not in "".join(map(str, audit.to_frame().dropna().to_numpy())), "hidden groups have no numbers"


def test_frames(audit: auditkit.Audit) -> None:
    policies = audit.to_frame()
    assert policies["policy"].unique().tolist()[:3] == [
        *("The firm, as recorded", "Best without constraints", "Best under parity")
    ]
    women = policies[policies["group"] == "Female"].set_index("policy")
    firm = audit.document["firm"]
    assert women.loc["The firm, as recorded", "selected"] == firm["by_group"]["Female"]["selected"]
    disparity = audit.to_frame("disparity")
    assert set(disparity["outcome"]) == {"selected", "inspected"}
    chances = auditkit.solve(FOUR).to_frame()
    assert chances["select_constrained"].sum() == pytest.approx(1) and len(chances) == 4


def test_a_text_of_the_data_is_escaped(tmp_path: Path) -> None:
    table = rows(searches=4, each=6)
    for row in table:
        row["Gender"] = EVIL if row["Gender"] == "Female" else row["Gender"]
    history = auditkit.read(pd.DataFrame(table))
    fitted = auditkit.fit(history, config=QUICK)
    for result in (history, fitted, fitted.instance, auditkit.solve(fitted)):
        assert EVIL in shown(result) and EVIL not in result._repr_html_()


def test_an_audit_is_saved(audit: auditkit.Audit, tmp_path: Path) -> None:
    audit.save_html(tmp_path / "report.html")
    audit.save_json(str(tmp_path / "report.json"))
    audit.save_pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert json.loads((tmp_path / "report.json").read_text()) == json.loads(json.dumps(audit.to_json()))
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(auditkit.InputError, match="cannot be written"):
        audit.save_json(tmp_path / "nowhere" / "report.json")


def test_an_audit_of_data_without_scores(people: Path) -> None:
    small = auditkit.audit(pd.read_csv(people)[["Gender", "Hired"]])
    assert small.fitted is None and small.to_frame().empty
    assert not small.to_frame("disparity").empty
    assert "impact ratio" in shown(small)


# What is wrong, and what is promised --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "arguments"),
    [
        (lambda path: auditkit.read("peple.csv"), ["check", "peple.csv"]),
        (lambda path: auditkit.audit(path, constraints="party"), ["report", "{}", "-c", "party"]),
        (lambda path: auditkit.fit(path, fitter="normall"), ["fit", "{}", "--fitter", "normall"]),
        (lambda path: auditkit.read(path, map={"grp": "Gender"}), ["check", "{}", "--map", "grp=Gender"]),
        (lambda path: auditkit.solve("nowhere.json"), ["solve", "nowhere.json"]),
        (lambda path: auditkit.verify(FOUR, FOUR), ["verify", str(FOUR), str(FOUR)]),
    ],
    ids=["no file", "constraint", "fitter", "role", "no instance", "no solution"],
)
def test_messages_are_those_of_the_command_line(
    people: Path, capsys: pytest.CaptureFixture[str], wrong: Any, arguments: list[str]
) -> None:
    assert invoke([word.format(people) for word in arguments]) == 2
    said = capsys.readouterr().err.splitlines()
    with pytest.raises(auditkit.InputError) as caught:
        wrong(people)
    assert [f"error: {problem}" for problem in caught.value.problems] == said


def test_what_was_read_is_not_mapped_again(people: Path) -> None:
    history = auditkit.read(people)
    with pytest.raises(auditkit.InputError, match="have been read already"):
        auditkit.audit(history, map={"group": "Gender"})


def test_plugins_from_a_folder_and_broken_ones(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise RuntimeError('oh')\n")
    with pytest.warns(UserWarning, match="broken"):
        auditkit.solve(FOUR, plugins_dir=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        auditkit.solve(FOUR)


def test_no_public_function_hides_a_package() -> None:
    script = (
        "import auditkit, importlib.util\n"
        "for name in auditkit.__all__:\n"
        "    assert importlib.util.find_spec(f'auditkit.{name}') is None, name\n"
        "from auditkit.solver import METHODS\n"
        "assert dir(auditkit) == sorted(auditkit.__all__)\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, cwd=ROOT)


USER = """\
import pandas as pd

import auditkit


def main(table: pd.DataFrame) -> float | None:
    history: auditkit.History = auditkit.read(table, map={"group": ["sex", "race"]}, cost={"Phone": 1.0})
    fitted: auditkit.Fitted = auditkit.fit(history, value_scale=2.0, fitter="normal")
    solution = auditkit.solve(fitted, ["parity", {"type": "quota", "group": "F", "share": 0.4}])
    audit = auditkit.audit("people.csv", constraints="parity", config="audit.toml", plugins_dir=["plugins"])
    audit.save_html("people.html")
    reveal_type(solution)
    frame: pd.DataFrame = audit.to_frame("disparity")
    try:
        auditkit.verify("solution.json", "instance.json").holds
    except auditkit.InputError as error:
        print(error.problems, len(frame))
    return solution.loss
"""


def test_a_users_script_is_type_checked(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(USER)
    (tmp_path / "bad.py").write_text("import auditkit\n\nauditkit.audit('x.csv', capacity='two').save_xml('y')\n")
    # with the settings and the cache of `make types`, which has been through the package already
    shared = ["--config-file", ROOT / "pyproject.toml", "--cache-dir", ROOT / ".mypy_cache", "--no-error-summary"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *shared, "good.py", "bad.py"], cwd=tmp_path, capture_output=True, text=True
    )
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("good.py") and "note:" not in line] == [], done.stdout
    assert 'Revealed type is "auditkit.solver.solution.Solution"' in done.stdout
    wrong = {line.partition("[")[2] for line in lines if line.startswith("bad.py")}
    assert wrong == {"arg-type]", "attr-defined]"}


@pytest.mark.parametrize("name", ["read", "check", "fit", "audit", "whatif"])
def test_functions_and_commands_take_the_options_of_one_table(name: str) -> None:
    """Every option of a command that is a setting is a keyword of its function, and both go where OPTIONS says."""
    keywords = set(inspect.signature(getattr(auditkit, name)).parameters)
    other = {"data", "group", "config", "plugins_dir"}
    assert keywords - other <= set(OPTIONS)
    command = {"read": "check", "audit": "report"}.get(name, name)
    taken = {parameter.name for parameter in commands.commands[command].params}
    taken |= {"constraints"} if "specs" in taken else set()
    assert taken & set(OPTIONS) - {"formats"} <= keywords


def test_an_option_lies_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text('capacity = 2\n[fit]\nfitter = "normal"\n')
    chosen = choose(tmp_path / "audit.toml", {"capacity": 3, "fitter": None, "data": "not a setting"})
    assert (chosen.capacity, chosen.fit.fitter) == (3, "normal")
