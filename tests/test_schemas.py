"""The JSON Schemas are those of the models that the program reads through, and what it writes obeys them."""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import auditkit
from auditkit import plugin_manager
from auditkit.cli import invoke, json_schemas
from auditkit.config import Config
from auditkit.errors import InputError
from auditkit.model.documents import instance_from_document
from auditkit.report.load_report import load
from auditkit.solver import solve
from auditkit.solver.g_rdip import Settings
from support import ROOT, report_example, scheduled_example
from support.constraints import build
from support.instances import FOUR

SAMPLES = ROOT / "sample_data"
SHIPPED = plugin_manager.shipped()
QUICK = Config().over(fit__points=6, report__replicates=0)


def validator(name: str) -> Draft202012Validator:
    schema = json_schemas.schema(name, SHIPPED)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def faults(name: str, document: Any) -> list[str]:
    """What a program that only has the schema says of a document that was written and read again."""
    plain = json.loads(json.dumps(document))
    return [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(plain)]


@pytest.mark.parametrize("name", json_schemas.FILES)
def test_the_schema_in_docs_is_what_the_program_says(name: str) -> None:
    written = ROOT / "docs" / "schemas" / f"{name}.json"
    assert written.read_text(encoding="utf-8") == json_schemas.text(name, SHIPPED), "run: make docs"


def test_the_command_prints_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert invoke(["schema", "solution"]) == 0
    assert json.loads(capsys.readouterr().out)["title"].startswith("auditkit-solution/3")
    assert invoke(["schema"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in json_schemas.FILES)
    assert invoke(["schema", "solutoin"]) == 2
    assert "did you mean 'solution'?" in capsys.readouterr().err
    (tmp_path / "mine.py").write_text(
        "from typing import ClassVar\n"
        "from auditkit import hookimpl\n"
        "from auditkit.constraints import OutcomeConstraint\n"
        "class Mine(OutcomeConstraint):\n    type: ClassVar[str] = 'mine'\n    strength: float\n"
        "    def rows(self, layout):\n        return []\n"
        "@hookimpl\ndef auditkit_constraints():\n    return [Mine]\n"
    )
    assert invoke(["schema", "config", "--plugins-dir", str(tmp_path)]) == 0
    printed = Draft202012Validator(json.loads(capsys.readouterr().out))
    assert printed.is_valid({"constraints": [{"type": "mine", "strength": 1}]})
    assert not printed.is_valid({"constraints": [{"type": "mine", "strenght": 1}]})


# Instances ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.glob("*.json")))
def test_sample_instances_match(sample: str) -> None:
    assert faults("instance", json.loads((SAMPLES / sample).read_text())) == []


def change(document: Any, path: list[Any], value: Any = None) -> Any:
    """A copy with one place changed, or removed where there is no value."""
    document = copy.deepcopy(document)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return document


BOX, CHAIN = ["searches", 0, "candidates", 0], ["searches", 0, "candidates", 0]


@pytest.mark.parametrize(
    ("sample", "path", "value"),
    [
        ("four-boxes", ["format"], "auditkit-instance/3"),
        ("four-boxes", ["searches"], None),
        ("four-boxes", ["searchs"], []),
        ("four-boxes", ["searches", 0, "capacity"], "two"),
        ("four-boxes", [*BOX, "group"], None),
        ("four-boxes", [*BOX, "prob"], [1]),
        ("four-boxes", [*BOX, "values"], ["high"]),
        ("stages", [*CHAIN, "start"], None),
        ("stages", [*CHAIN, "states"], {"a": {"rewrad": 1}}),
        ("stages", [*CHAIN, "states"], {"a": {"to": {"b": "often"}}}),
    ],
)
def test_schema_and_program_refuse_the_same_instances(sample: str, path: list[Any], value: Any) -> None:
    document = change(json.loads((SAMPLES / f"{sample}.json").read_text()), path, value)
    assert faults("instance", document)
    with pytest.raises(InputError):
        instance_from_document(document)


def test_constraints_are_known_by_their_type() -> None:
    four = json.loads((SAMPLES / "four-boxes.json").read_text())
    assert faults("instance", {**four, "constraints": [{"type": "quota", "group": "X", "share": 0.4}]}) == []
    assert faults("instance", {**four, "constraints": [{"type": "quota", "group": "X", "shard": 0.4}]})
    assert faults("instance", {**four, "constraints": [{"group": "X"}]})
    assert faults("instance", {**four, "constraints": [{"type": "of-a-plugin", "whatever": 1}]}) == []


# What is written ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("specs", "method"),
    [
        ([], "column-generation"),
        (["parity:basis=count"], "column-generation"),
        (["nash-welfare:level=group,minimum=0.4"], "column-generation"),
        (["floor:minimum=0.9", "parity"], "column-generation"),
        (["parity"], "rdip"),
        (["parity"], "g-rdip"),
    ],
)
def test_solutions_match(specs: list[str], method: str) -> None:
    document = solve(FOUR, [build(s) for s in specs], method, settings=Settings(outer=5, inner=5)).to_json()
    assert faults("solution", document) == []
    assert faults("solution", change(document, ["unconstrained", "utility"], "much"))


@pytest.fixture(scope="module")
def report(few_people: Path) -> dict[str, Any]:
    specs = ['parity:groups=["Female","Male"]', "floor:minimum=0.9", "budget:limit=5"]
    audit = auditkit.audit(few_people, constraints=specs, config=QUICK.over(report__what_if=True))
    document: dict[str, Any] = json.loads(json.dumps(audit.to_json()))
    return document


def test_reports_match(report: dict[str, Any], few_people: Path) -> None:
    """With hidden groups, constraints that cannot be met and what-if answers; and without a model."""
    assert {entry["status"] for entry in report["constrained"]} == {"optimal", "infeasible"}
    assert report["frontier"] is not None
    assert faults("report", report) == []
    bare = auditkit.audit(few_people, map={"score": "none"}, config=QUICK).to_json()
    assert bare["firm"] is None
    assert faults("report", bare) == []


@pytest.mark.parametrize("document", [report_example.document(), scheduled_example.document()], ids=["report", "run"])
def test_the_example_of_the_tests_matches(document: dict[str, Any]) -> None:
    assert faults("report", document) == []
    load(document)


def test_verify_refuses_what_does_not_match(
    report: dict[str, Any], few_people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(name: str, document: Any, subject: Path) -> str:
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(document))
        assert invoke(["verify", str(path), str(subject), "-q"]) == 2
        return capsys.readouterr().err

    broken = change(change(report, ["firm", "utility"], "much"), ["constrained", 0, "duals", 0, "slack"])
    text = said("report", broken, few_people)
    assert "the report: firm.utility: Input should be a valid number" in text
    assert "the report: constrained[0].duals[0].slack: is missing (write it again with auditkit report" in text
    solution = change(solve(FOUR, [build("parity")]).to_json(), ["constrained", "policies", 0, "duals"])
    text = said("solution", solution, SAMPLES / "four-boxes.json")
    assert "solution.json: constrained.policies[0].duals: is missing (write it again with auditkit solve" in text
    assert faults("report", broken) and faults("solution", solution)


# audit.toml -----------------------------------------------------------------------------------------------------------


def test_what_init_writes_matches(few_people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["init", str(few_people), "-o", str(tmp_path / "audit.toml")]) == 0
    document = tomllib.loads((tmp_path / "audit.toml").read_text())
    assert faults("config", document) == []
    assert faults("config", {**document, "valu_scale": 2})
    assert faults("config", {**document, "fit": {"folds": 1}})
    assert faults("config", {**document, "history": {"keeps": "4 years"}})
    alerts = [{"type": "webhook", "url_env": "AUDIT_WEBHOOK"}]
    assert faults("config", {**document, "alerts": alerts, "thresholds": {"impact_ratio": {"min": 0.8}}}) == []
    assert faults("config", {**document, "alerts": [{"type": "webhook", "url": "x"}]})
