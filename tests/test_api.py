"""The Python API: the words and the answers of the command line, and results that show no person."""

from __future__ import annotations

import copy
import inspect
import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import pandas as pd
import pytest

import auditkit
from auditkit.cli import commands, invoke
from auditkit.config import OPTIONS, Config, choose
from auditkit.constraints import Parity
from auditkit.data.read_file import to_pandas
from auditkit.model.documents import read_instance
from auditkit.report import frames
from auditkit.report.load_report import load
from auditkit.report.schema import Report
from support import ROOT
from support.audit_helpers import rows

HIRING = ROOT / "sample_data" / "hiring.csv"
FOUR = ROOT / "sample_data" / "four-boxes.json"
QUICK = Config().over(fit__points=8, report__replicates=0, report__alternatives=False)
EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def audit(few_people: Path) -> auditkit.Audit:
    return auditkit.audit(few_people, constraints=["parity", "quota:group=Female,share=0.4"], config=QUICK)


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


def test_a_file_and_a_table_in_memory_give_the_same_audit(few_people: Path, audit: auditkit.Audit) -> None:
    table = pd.read_csv(few_people, dtype=str, keep_default_na=False)
    other = auditkit.audit(table, constraints=["parity", "quota:group=Female,share=0.4"], config=QUICK)
    assert other.to_json()["input"]["path"] == "DataFrame"
    assert other.to_json()["firm"] == audit.to_json()["firm"]
    assert other.to_json()["constrained"] == audit.to_json()["constrained"]
    written = few_people.with_name("again.csv")
    written.write_bytes(table.to_csv(index=False).encode())
    other.save_json(few_people.with_name("again.json"))
    assert auditkit.verify(few_people.with_name("again.json"), written).holds, "to_csv(index=False) is what was audited"


def test_numbers_of_a_table_keep_their_types(few_people: Path) -> None:
    table = pd.read_csv(few_people)
    assert table["Interview Cost"].dtype.kind in "if"
    read, direct = auditkit.read(few_people).to_frame(), auditkit.read(table).to_frame()
    pd.testing.assert_frame_equal(read, direct)


def of_polars(path: Path) -> Any:
    import polars

    return polars.read_csv(path)


def of_arrow(path: Path) -> Any:
    import pyarrow.csv

    return pyarrow.csv.read_csv(path)


class Stream:
    """A table that has nothing but Arrow's PyCapsule interface."""

    def __init__(self, path: Path) -> None:
        self._table = of_polars(path)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("load", [of_polars, of_arrow, Stream])
def test_tables_of_other_libraries_are_read_as_those_of_pandas(people: Path, load: Any) -> None:
    table = load(people)
    expected = auditkit.read(people).to_frame()
    pd.testing.assert_frame_equal(auditkit.read(table).to_frame(), expected)
    assert auditkit.check(table).to_frame().equals(auditkit.check(people).to_frame())
    fitted, other = auditkit.fit(people, config=QUICK), auditkit.fit(table, config=QUICK)
    assert fitted.instance.to_json() == other.instance.to_json()


def test_audit_and_whatif_take_a_polars_table(people: Path) -> None:
    polars_audit = auditkit.audit(of_polars(people)[["Gender", "Hired"]])
    pandas_audit = auditkit.audit(pd.read_csv(people)[["Gender", "Hired"]])
    assert polars_audit.to_json()["disparity"] == pandas_audit.to_json()["disparity"]
    answers = [auditkit.whatif(load(people), constraints="parity", config=QUICK) for load in (of_polars, pd.read_csv)]
    assert answers[0].sentences == answers[1].sentences


def test_cells_of_an_arrow_table_keep_their_kinds() -> None:
    import polars

    cells = {"whole": [1, None], "text": ["a", None], "day": [date(2024, 5, 3), None], "half": [0.5, None]}
    frame = to_pandas(polars.DataFrame(cells))
    assert frame.to_csv(index=False) == "whole,text,day,half\n1,a,2024-05-03,0.5\n,,,\n"


def test_an_arrow_table_without_pyarrow(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = of_polars(people)
    expected = to_pandas(table)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert to_pandas(table).equals(expected)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(auditkit.InputError, match="needs pyarrow or polars"):
        to_pandas(table)


def test_what_is_no_table_is_refused() -> None:
    for wrong, kind in (([1, 2], "int"), ({"a": 1}, "dict"), (7, "int")):
        with pytest.raises(auditkit.InputError, match=f"an object of type {kind} is neither a path nor a table"):
            auditkit.read(wrong)  # type: ignore[arg-type]


def test_the_api_goes_the_way_of_the_command_line(
    few_people: Path, audit: auditkit.Audit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["-c", "parity", "-c", "quota:group=Female,share=0.4", "--json"]
    (tmp_path / "audit.toml").write_text("[fit]\npoints = 8\n[report]\nreplicates = 0\nalternatives = false\n")
    assert invoke(["report", str(few_people), "--config", str(tmp_path / "audit.toml"), *options]) == 0
    document = json.loads(capsys.readouterr().out)
    ours = json.loads(json.dumps(audit.to_json()))
    for key in ("created", "config"):
        document.pop(key), ours.pop(key)
    assert ours == document


def test_read_then_fit_then_solve(few_people: Path, tmp_path: Path) -> None:
    history = auditkit.read(few_people, map={"group": "Gender"}, capacity=1)
    fitted = auditkit.fit(history, config=QUICK, value_scale=2)
    assert fitted.settings.value_scale == 2
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


def test_whatif_and_check(few_people: Path, tmp_path: Path) -> None:
    answers = auditkit.whatif(few_people, group="Female", constraints="impact-ratio:minimum=0.8", config=QUICK)
    assert answers.group == "Female"
    with pytest.raises(auditkit.InputError, match="add --group-aware"):
        auditkit.whatif(few_people, bias_tables=True, config=QUICK)
    assert set(answers.to_frame()["parameter"]) == {"minimum"}
    exact = auditkit.whatif(few_people, group="Female", constraints="budget:limit=2", exact=True, config=QUICK)
    apart = {one["parameter"]: one.get("apart") for one in exact.to_json()["frontier"]["curves"]}
    assert 0 <= apart["limit"] < 0.05 and apart["minimum"] is None
    assert any("straight piece" in said for said in exact.sentences)
    assert any("even steps" in notice for notice in exact.to_json()["frontier"]["notices"])
    assert answers.sentences[0] in shown(answers).replace("  ", " ")
    answers.save_json(tmp_path / "whatif.json")
    checked = auditkit.check(few_people)
    assert checked.ok and set(checked.to_frame()["code"]) == {"unknown-group"}
    bad = auditkit.check(pd.read_csv(few_people).assign(Openings="many"), map={"capacity": "Openings"})
    assert not bad.ok and "fix them before an audit" in shown(bad)


# What is shown and saved --------------------------------------------------------------------------------------------


def test_no_person_is_shown(few_people: Path, audit: auditkit.Audit) -> None:
    history = audit.history
    fitted = audit.fitted
    assert fitted is not None
    solution = auditkit.solve(fitted, ['parity:groups=["Female","Male"]'])
    for result in (audit, history, fitted, fitted.instance, solution, auditkit.check(few_people)):
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
    firm = audit.to_json()["firm"]
    assert women.loc["The firm, as recorded", "selected"] == firm["by_group"]["Gender"]["Female"]["selected"]
    disparity = audit.to_frame("disparity")
    assert set(disparity["attribute"]) == {"Gender"}
    assert set(zip(disparity["step"], disparity["kind"], strict=True)) == {
        *(("Interviewed", "cumulative"), ("Hired", "cumulative"), ("Hired", "conditional"))
    }
    parts = (firm, audit.to_json()["unconstrained"], *audit.to_json()["constrained"])
    assert len(policies) == sum(len(groups) for part in parts for groups in part["by_group"].values())
    with pytest.raises(auditkit.InputError, match=r"there is no table 'polices' \(did you mean 'policies'\?\)"):
        audit.to_frame("polices")
    chances = auditkit.solve(FOUR).to_frame()
    assert chances["select_constrained"].sum() == pytest.approx(1) and len(chances) == 4


def lists_of_parts(part: type, path: str = "") -> Iterator[str]:
    """Where a report has lists of parts."""
    for name, annotation in frames.fields_of(part).items():
        here = f"{path}.{name}" if path else name
        options = get_args(annotation) if get_origin(annotation) in (UnionType, Union) else (annotation,)
        for option in options:
            for kind in filter(frames.fields_of, frames.kinds_of(option)):
                if kind is Config:
                    continue
                if get_origin(option) is tuple:
                    yield here
                yield from lists_of_parts(kind, here)


WITHIN_ANOTHER = {
    "constrained.policies": "multipliers, for verify",
    "constrained.policies.ties": "multipliers, for verify",
    "disparity.tables.groups": "the table `disparity`",
    "revealed.steps": "`revealed` has a row for each group of it",
    "alternatives": "its lists are tables",
    "frontier.curves": "`frontier` has its points",
    "funnel": "the table `funnel`",
    "scores.tables": "`score_meaning`",
    "disparity.score_pages": "its lists are tables",
    "disparity.validity.tables": "`score_validity`",
    "disparity.measures": "columns of `disparity`",
    "frontier.bias_tables": "its cells are a table",
    "firm.units": "of the constrained policies: `units`",
    "unconstrained.units": "of the constrained policies: `units`",
    "fit.hidden_information.tests": "`hidden_information`",
    "fit.hidden_information.prices": "`hidden_prices`",
    "provenance.conventions": "texts of law",
}


def test_every_list_of_a_report_is_a_table() -> None:
    lists = {*lists_of_parts(Report)}
    tables = {table.path for table in frames.TABLES.values()}
    assert tables <= lists
    assert lists - tables == {*WITHIN_ANOTHER}, "a new list is a line of report.frames.TABLES, or one above"


def test_every_table_of_an_audit(audit: auditkit.Audit) -> None:
    report = audit.report
    assert {name for name in frames.NAMES if not audit.to_frame(name).empty} >= {
        *("findings", "groups", "funnel", "prices", "constraints", "frontier", "fit_by_group")
    }
    assert "share" in audit.to_frame("availability"), "an empty table has its columns"
    assert audit.to_frame("findings")["text"].tolist() == [finding.text for finding in report.findings]
    rows = audit.to_frame("constraints")
    assert rows["constraint"].tolist() == [e.label for e in report.entries for _ in e.duals or ()]
    assert rows["value"].tolist() == [dual.value for e in report.entries for dual in e.duals or ()]
    assert {"interval_lower", "interval_upper"} <= {*rows}
    reached = audit.to_frame("funnel").set_index(["step", "group"])["reached"]
    assert reached["Hired", "Female"] == audit.to_json()["funnel"][-1]["by_group"]["Gender"]["Female"]


def test_a_summary_and_a_comparison(few_people: Path, audit: auditkit.Audit) -> None:
    said = audit.summary()
    assert said.startswith("Audit of ") and audit.report.findings[0].text in said and "Best under parity" in said
    assert audit.compare(audit)["change"].fillna(0).eq(0).all()
    table = pd.read_csv(few_people)
    hired = table.assign(Hired=table["Hired"].where(table["Gender"] != "Female", "yes"))
    other = auditkit.audit(hired[["Gender", "Hired"]])
    changes = audit.compare(other).set_index(["subject", "figure"])
    assert changes.loc[("Gender: Female (“Hired”)", "rate"), "after"] == 1
    assert changes.loc[("firm policy", "utility"), ["after", "change"]].isna().all()
    with pytest.raises(auditkit.InputError, match="other: must be an Audit, not dict"):
        audit.compare({})  # type: ignore[arg-type]


def test_every_table_of_candidates_names_groups_alike(few_people: Path, audit: auditkit.Audit) -> None:
    fitted = auditkit.fit(few_people, group_aware=True, config=QUICK)
    solution = auditkit.solve(fitted)
    instance = fitted.instance
    tables = [audit.history, fitted, instance, solution]
    found = [*(table.to_frame() for table in tables), instance.to_frame("values"), solution.simulate(1)]
    assert all("group:Gender" in frame and "Gender" not in frame for frame in found)
    plain = auditkit.solve(FOUR)
    assert "group" in plain.to_frame() and "group" in plain.simulate(1)


BOX = auditkit.Box("a", "X", 1, [1], [1])
ONE = auditkit.Instance([auditkit.Search("s", 1, [BOX])])
WRONG_TYPES: dict[str, tuple[Any, str]] = {
    "cost": (lambda: auditkit.Box("a", "X", "1", [1], [1]), r"cost: must be a number, not '1' \(str\)"),
    "values": (lambda: auditkit.Box("a", "X", 1, ["high"], [1]), "values: must be a list of numbers, not list"),
    "id": (lambda: auditkit.Box(7, "X", 1, [1], [1]), r"id: must be text, not 7 \(int\)"),
    "group": (lambda: auditkit.Box("a", 7, 1, [1], [1]), "group: must be text, or a table of attribute: group"),
    "reward": (lambda: auditkit.Chain("a", "X", "s", [auditkit.State("s", "1")]), "states.s.reward: must be a number"),
    "states": (lambda: auditkit.Chain("a", "X", "s", [BOX]), r"states\[0\]: must be State, not Box"),
    "capacity": (lambda: auditkit.Search("s", 1.5, [BOX]), "capacity: must be a whole number, not 1.5"),
    "candidates": (lambda: auditkit.Search("s", 1, "ab"), "candidates: must be a list of Box or Chain"),
    "searches": (lambda: auditkit.Instance(BOX), "searches: must be a list of Search, not Box"),
    "search": (lambda: ONE[0], r"there is no search 0 \(known: s\)"),
    "replace": (lambda: ONE.replace(capacities=2), "capacities: must be a table"),
    "frame": (lambda: auditkit.Instance.from_frame([]), "frame: must be a DataFrame, not list"),
    "solve": (lambda: auditkit.solve(BOX), "solve takes an Instance, what fit returned, or a path, not Box"),
    "constraint": (lambda: auditkit.solve(ONE, [7]), r"constraints\[0\]: must be a SPEC, a table of keys or"),
    "method": (lambda: auditkit.solve(ONE, method=7), "method: must be text"),
    "sweep": (lambda: auditkit.sweep(BOX, "parity", tolerance=[0]), "sweep takes an Instance or what fit returned"),
    "grid": (lambda: auditkit.sweep(ONE, "parity", tolerance=0.1), "tolerance: must be a list of numbers, not 0.1"),
    "runs": (lambda: auditkit.solve(ONE).simulate(0.5), "runs: must be a whole number from 1 on"),
    "ids": (lambda: auditkit.solve(ONE).to_frame(ids=[]), "ids: must be the History that was fitted, not list"),
    "config": (lambda: auditkit.audit("x", config=7), "config: must be the path of an audit.toml or a Config"),
    "map": (lambda: auditkit.read("x", map="Gender"), "map: must be a table of role: column"),
    "plugins_dir": (lambda: auditkit.solve(ONE, plugins_dir=7), "plugins_dir: must be a folder"),
    "key": (lambda: Parity(tolerance="much"), "tolerance: Input should be a valid number"),
    "unknown key": (lambda: Parity(tol=0.1), r"'parity' has no key 'tol' \(did you mean 'tolerance'\?\)"),
    "text for a number": (lambda: Parity(tolerance="0.1"), "tolerance: is text, not a number"),
}


@pytest.mark.parametrize("case", WRONG_TYPES)
def test_a_wrong_type_is_told_with_the_one_expected(case: str) -> None:
    call, said = WRONG_TYPES[case]
    with pytest.raises(auditkit.InputError, match=said):
        call()


def test_frames_have_intervals_p_values_and_the_measures_of_plugins() -> None:
    audit = auditkit.audit(pd.read_csv(HIRING)[["Requisition ID", "Gender", "Hired"]])
    disparity = audit.to_frame("disparity")
    (table,) = audit.to_json()["disparity"]["tables"]
    row = next(row for row in table["groups"] if row["p"] is not None)
    measured = disparity[disparity["group"] == row["group"]].iloc[0]
    assert [measured[name] for name in ("attribute", "step", "kind")] == ["Gender", "Hired", "cumulative"]
    assert measured["impact_ratio_lower"] == row["interval"]["lower"] < measured["impact_ratio"]
    assert measured["impact_ratio_upper"] == row["interval"]["upper"] > measured["impact_ratio"]
    assert [measured[name] for name in ("p", "p_adjusted", "status")] == [row["p"], row["p_adjusted"], row["status"]]
    assert measured["p_within"] == row["within"]["p"]
    assert measured["odds_ratio_within"] == row["within"]["odds_ratio"]
    assert measured["shortfall"] == row["measures"]["shortfall"], "a plugin's measure is a column"


def test_frames_have_the_intervals_of_prices(audit: auditkit.Audit) -> None:
    document = copy.deepcopy(audit.to_json())
    interval = {"level": 0.95, "ratio": [0.9, 0.99], "loss": [1.0, 2.0]}
    document["constrained"][0]["price_of_fairness"]["interval"] = interval
    frame = replace(audit, report=load(document)).to_frame().set_index("policy")
    row = frame.loc["Best under parity"].iloc[0]
    assert [row["loss_lower"], row["loss_upper"]] == interval["loss"]
    assert [row["kept_lower"], row["kept_upper"]] == interval["ratio"]
    firm = frame.loc["The firm, as recorded"]
    assert firm[["loss", "loss_lower", "kept_upper"]].isna().all(axis=None)


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


def test_an_audit_of_data_without_scores(few_people: Path) -> None:
    small = auditkit.audit(pd.read_csv(few_people)[["Gender", "Hired"]])
    assert small.fitted is None and small.to_frame().empty
    assert not small.to_frame("disparity").empty
    assert "impact ratio" in shown(small)


# Instances by hand ---------------------------------------------------------------------------------------------------


def boxes() -> auditkit.Instance:
    """Two searches; attributes and true values of some candidates only, so that the table has gaps."""
    first = auditkit.Search(
        "s",
        1,
        [
            auditkit.Box("a", "X", 1, [10, 4], [0.5, 0.5], attributes={"age": 30}),
            auditkit.Box("b", "Y", 1.5, [9, 3, 0], [0.25, 0.25, 0.5], true_values=[8, 2, 1]),
        ],
    )
    return auditkit.Instance([first, auditkit.Search("t", 0, [auditkit.Box("a", "Y", 0, [1], [1])])])


def test_lists_become_what_the_classes_hold() -> None:
    instance = boxes()
    assert isinstance(instance.searches, tuple) and isinstance(instance.searches[0].candidates, tuple)
    state = auditkit.State("start", -1.0, {"end": 1.0})
    chain = auditkit.Chain("c", "X", "start", [state, auditkit.State("end", 2.0, selected=True)])
    assert chain.states[0] is state and isinstance(chain.states, tuple)


def test_an_instance_and_its_table_of_values() -> None:
    instance = boxes()
    frame = instance.to_frame("values")
    assert list(frame) == [
        *("search", "capacity", "candidate", "group", "cost", "value", "prob", "true_value", "attribute:age")
    ]
    assert len(frame) == 6
    assert auditkit.Instance.from_frame(frame).to_json() == instance.to_json()
    shuffled = auditkit.Instance.from_frame(frame.sample(frac=1, random_state=1))
    assert auditkit.solve(shuffled).unconstrained.utility == auditkit.solve(instance).unconstrained.utility
    four = auditkit.Instance.from_frame(read_instance(FOUR)[0].to_frame("values"))
    assert auditkit.solve(four, "parity:basis=count").loss == pytest.approx(0.5)
    with pytest.raises(auditkit.InputError, match=r"no table 'rows' \(tables: candidates, values\)"):
        instance.to_frame("rows")  # type: ignore[arg-type]
    with pytest.raises(auditkit.InputError, match="several stages"):
        read_instance(FOUR.with_name("stages.json"))[0].to_frame("values")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="prob"), "column 'prob': is missing"),
        (lambda t: t.rename(columns={"true_value": "true_values"}), "column 'true_values': is not known"),
        (lambda t: t.assign(cost=[1, 2, 3, 3, 3, 0]), "column 'cost', row 1: differs"),
        (lambda t: t.assign(capacity=[1, 1, 2, 2, 2, 0]), "column 'capacity', row 2: differs"),
        (lambda t: t.assign(capacity=0.5), "whole numbers"),
        (lambda t: t.assign(value=list("abcdef")), "column 'value': does not hold numbers"),
        (lambda t: t.assign(group=[None, *"XYYYY"]), "column 'group', row 0: is empty"),
        (lambda t: t.assign(prob=0.5), "search 's', candidate 'b'.*sum to 1.5"),
        (lambda t: t.assign(capacity=[7] * 5 + [0]), "search 's'.*capacity.*not between 0 and the 2"),
    ],
)
def test_a_table_that_is_no_instance(change: Any, message: str) -> None:
    with pytest.raises(auditkit.InputError, match=message):
        auditkit.Instance.from_frame(change(boxes().to_frame("values")))


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
    few_people: Path, capsys: pytest.CaptureFixture[str], wrong: Any, arguments: list[str]
) -> None:
    assert invoke([word.format(few_people) for word in arguments]) == 2
    said = capsys.readouterr().err.splitlines()
    with pytest.raises(auditkit.InputError) as caught:
        wrong(few_people)
    assert [f"error: {problem}" for problem in caught.value.problems] == said


def test_what_was_read_is_not_mapped_again(few_people: Path) -> None:
    history = auditkit.read(few_people)
    with pytest.raises(auditkit.InputError, match="have already been read"):
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
        "    spec = importlib.util.find_spec(f'auditkit.{name}')\n"
        "    assert spec is None or spec.origin is None, name\n"  # a folder that git left behind has no origin
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
    other = {"data", "group", "bias_tables", "exact", "config", "plugins_dir"}
    assert keywords - other <= set(OPTIONS)
    command = {"read": "check", "audit": "report"}.get(name, name)
    taken = {parameter.name for parameter in commands.commands[command].params}
    taken |= {"constraints"} if "specs" in taken else set()
    assert taken & set(OPTIONS) - {"formats"} <= keywords


def test_an_option_lies_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text('capacity = 2\n[fit]\nfitter = "normal"\n')
    chosen = choose(tmp_path / "audit.toml", {"capacity": 3, "fitter": None, "data": "not a setting"})
    assert (chosen.capacity, chosen.fit.fitter) == (3, "normal")
