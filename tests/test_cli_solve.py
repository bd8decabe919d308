"""`auditkit solve`, `verify`, `plugins` as a user meets them: results, exit codes, messages, nothing half-written."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from support.instances import DOCUMENT

SAMPLE = Path(__file__).parent.parent / "sample_data" / "four-boxes.json"
Doc = dict[str, Any]


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def to_file(document: Any, name: str = "instance.json") -> Path:
        path = tmp_path / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return path

    return to_file


def test_solve_prints_a_table_and_the_document(auditkit: Any) -> None:
    shown = auditkit("solve", SAMPLE)
    assert shown.code == 0
    assert "6.5625" in shown.out and "selection parity X = Y" in shown.out
    printed = auditkit("solve", SAMPLE, "--json")
    document = json.loads(printed.out)
    assert document["format"] == "auditkit-solution/3"
    assert document["status"] == "optimal" and document["method"] == "column-generation"
    assert document["constrained"]["utility"] == pytest.approx(6.5625)
    assert document["constrained"]["gap"] >= 0
    assert document["constrained"]["candidates"][0].keys() >= {"search", "id", "inspect", "select", "visits"}
    assert len(document["instance"]["sha256"]) == 64


def test_solve_for_the_least_spread(auditkit: Any, tmp_path: Path) -> None:
    out = tmp_path / "solution.json"
    shown = auditkit("solve", SAMPLE, "--least-spread", "-o", out)
    assert shown.code == 0 and "spread         1," in shown.out and "6.5625" in shown.out
    assert auditkit("verify", out, SAMPLE).code == 0
    assert "spread" not in auditkit("solve", SAMPLE).out
    refused = auditkit("solve", SAMPLE, "--least-spread", "--method", "rdip")
    assert refused.code == 2 and "use column-generation" in refused.err


@pytest.mark.parametrize("method", ["column-generation", "rdip", "caratheodory"])
def test_solve_then_verify(auditkit: Any, tmp_path: Path, method: str) -> None:
    out = tmp_path / "solution.json"
    assert auditkit("solve", SAMPLE, "--method", method, "-o", out).code == 0
    stands = auditkit("verify", out, SAMPLE)
    assert stands.code == 0 and "checks passed" in stands.out
    document = json.loads(out.read_text())
    mixture = document["constrained"]["mixture"]
    lottery = mixture["firm"] if "firm" in mixture else next(iter(mixture["searches"].values()))
    lottery[0][1] += 0.01
    out.write_text(json.dumps(document))
    fails = auditkit("verify", out, SAMPLE)
    assert fails.code == 1 and "FAILED: " in fails.out
    assert json.loads(auditkit("verify", out, SAMPLE, "--json").out)["holds"] is False


def test_constraints_of_the_command_line_join_those_of_the_file(auditkit: Any) -> None:
    document = json.loads(auditkit("solve", SAMPLE, "-c", "floor:minimum=0.2", "--json").out)
    assert [spec["type"] for spec in document["specs"]] == ["parity", "floor"]
    assert all(c["select"] >= 0.2 - 1e-9 for c in document["constrained"]["candidates"])


def test_infeasible_constraints_leave_with_one_and_are_named(auditkit: Any, tmp_path: Path) -> None:
    shown = auditkit("solve", SAMPLE, "-c", "floor:minimum=0.3")
    assert shown.code == 1
    assert "cannot hold together" in shown.out and "floor:minimum=0.3" in shown.out
    out = tmp_path / "solution.json"
    document = json.loads(auditkit("solve", SAMPLE, "-c", "floor:minimum=0.3", "--json", "-o", out).out)
    assert document["constrained"] is None and document["conflict"] == ["floor:minimum=0.3"]
    assert auditkit("verify", out, SAMPLE).code == 0


def test_chains_have_every_state_in_their_visits(auditkit: Any, write: Any) -> None:
    document = json.loads(
        auditkit("solve", write(DOCUMENT), "-c", "quota:group=X,share=0.3,on=inspection", "--json").out
    )
    visits = document["constrained"]["candidates"][2]["visits"]
    assert set(visits) == {"phone", "onsite", "hired-9", "hired-4", "out"}


def test_a_method_that_cannot_serve_says_so(auditkit: Any) -> None:
    ran = auditkit("solve", SAMPLE, "-c", "floor:minimum=0.1", "--method", "rdip")
    assert ran.code == 2 and "rdip" in ran.err and "Traceback" not in ran.err
    assert auditkit("solve", SAMPLE, "--method", "rdib").code == 2


def changed(path: str, value: Any) -> Doc:
    document = copy.deepcopy(DOCUMENT)
    *parents, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    place: Any = document
    for key in parents:
        place = place[key]
    if value is KeyError:
        del place[last]
    else:
        place[last] = value
    return document


CANDIDATES = "searches/0/candidates"
WRONG: list[tuple[Any, str]] = [
    (changed(f"{CANDIDATES}/0/probs", [0.5, 0.4]), "candidates[0] 'a'.probs: the probabilities sum to 0.9"),
    (changed(f"{CANDIDATES}/0/probs", [1.5, -0.5]), "outside 0 to 1"),
    (changed(f"{CANDIDATES}/0/probs", [1.0]), "1 numbers for 2 values"),
    (changed(f"{CANDIDATES}/0/values", [float("nan"), 1]), "candidates[0].values[0]: is not a finite number"),
    (changed(f"{CANDIDATES}/0/cost", float("inf")), "candidates[0].cost: is not a finite number"),
    (changed(f"{CANDIDATES}/0/cost", "much"), "'a'.cost: Input should be a valid number"),
    (changed(f"{CANDIDATES}/0/colour", "red"), "unknown key 'colour'"),
    (changed(f"{CANDIDATES}/0/valeus", [1]), "did you mean 'values'"),
    (changed(f"{CANDIDATES}/0/cost", KeyError), "'a'.cost: is missing"),
    (changed(f"{CANDIDATES}/1/id", "a"), "'a' occurs twice"),
    (changed("searches/0/capacity", -1), "-1 is not between 0 and the 3 candidates"),
    (changed("searches/0/capacity", 4), "4 is not between 0 and the 3 candidates"),
    (changed("searches/0/capacity", 1.5), "capacity"),
    (changed("searches/0/openings", 2), "unknown key 'openings'"),
    (changed("searches", []), "at least one search"),
    (changed("format", "auditkit-instance/9"), "auditkit-instance/9"),
    (changed(f"{CANDIDATES}/2/start", "fone"), "there is no state 'fone'"),
    (changed(f"{CANDIDATES}/2/states/phone/to", {"onsite": 0.8, "gone": 0.2}), "there is no state 'gone'"),
    (changed(f"{CANDIDATES}/2/states/phone/to", {"onsite": 1.2}), "states.phone.to"),
    (changed(f"{CANDIDATES}/2/states/phone/to", {"phone": 1.0}), "states.phone: never ends"),
    (changed(f"{CANDIDATES}/2/states/hired-9/to", {"out": 1.0}), "is terminal, so nothing can follow it"),
    (changed(f"{CANDIDATES}/2/states/phone/stege", "x"), "did you mean 'stage'"),
    (changed("constraints", [{"type": "partiy"}]), "did you mean 'parity'"),
    (changed("constraints", [{"type": "quota", "group": "W", "share": 0.1}]), "no candidate is in group 'W'"),
    (changed("constraints", [{"type": "parity", "on": "lunch"}]), "no candidate has a stage 'lunch'"),
    ("{", "is not JSON"),
    ("[]", "doesn't contain a JSON object"),
    ("", "is not JSON"),
]


@pytest.mark.parametrize(("document", "message"), WRONG, ids=[m for _, m in WRONG])
def test_bad_input_is_named_with_its_place(
    auditkit: Any, write: Any, tmp_path: Path, document: Any, message: str
) -> None:
    out = tmp_path / "solution.json"
    out.write_text("old")
    ran = auditkit("solve", write(document), "-o", out)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err and ran.out == ""
    assert out.read_text() == "old"


def test_all_problems_are_told_at_once(auditkit: Any, write: Any) -> None:
    document = changed(f"{CANDIDATES}/0/probs", [0.5, 0.4])
    document["searches"][0]["capacity"] = 9
    document["searches"][0]["candidates"][1]["valeus"] = 1
    document["searches"][0]["candidates"][2]["start"] = "fone"
    ran = auditkit("solve", write(document))
    for part in ("'a'.probs", "capacity", "'valeus'", "'fone'"):
        assert part in ran.err
    assert ran.err.count("error: ") == 4


def test_many_problems_are_counted(auditkit: Any, write: Any) -> None:
    boxes = [{"id": f"c{i}", "group": "X", "cost": 1, "values": [1], "probs": [0.5]} for i in range(25)]
    ran = auditkit("solve", write(DOCUMENT | {"searches": [{"id": "q", "capacity": 1, "candidates": boxes}]}))
    assert ran.err.count("error: ") == 10 and "25 problems in all" in ran.err


def test_files_that_are_not_there_or_not_right(auditkit: Any, tmp_path: Path, write: Any) -> None:
    assert auditkit("solve", tmp_path / "none.json").code == 2
    assert auditkit("solve", tmp_path).code == 2
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\x81")
    assert auditkit("solve", tmp_path / "binary").code == 2
    assert auditkit("verify", SAMPLE, SAMPLE).code == 2
    broken = write({"format": "auditkit-solution/2", "status": "optimal"}, "solution.json")
    ran = auditkit("verify", broken, SAMPLE)
    assert ran.code == 2 and "Traceback" not in ran.err


def test_a_usage_error_leaves_with_two_and_a_defect_with_three(auditkit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert auditkit("solve").code == 2
    assert auditkit("sovle").code == 2

    def broken(*_: object) -> None:
        raise RuntimeError("loose screw")

    monkeypatch.setattr("auditkit.model.documents.read_instance", broken)
    ran = auditkit("solve", SAMPLE)
    assert ran.code == 3
    assert ran.err.count("\n") == 1 and "loose screw" in ran.err and "--debug shows where" in ran.err
    for words in (("solve", SAMPLE, "--debug"), ("--debug", "solve", SAMPLE)):
        ran = auditkit(*words)
        assert ran.code == 3 and "Traceback" in ran.err and "in broken" in ran.err


def test_plugins_are_listed_with_their_origin(auditkit: Any) -> None:
    listed = json.loads(auditkit("plugins", "--json").out)["plugins"]
    names = {entry["name"] for entry in listed if entry["kind"] == "constraint"}
    assert names >= {"parity", "quota", "impact-ratio", "budget", "floor", "affine"}
    assert {entry["distribution"] for entry in listed} == {"auditkit"}
    assert "impact-ratio" in auditkit("plugins").out


def test_g_rdip_takes_its_rounds_from_the_command_line(auditkit: Any) -> None:
    document = json.loads(auditkit("solve", SAMPLE, "--method", "g-rdip", "--outer", 50, "--json").out)
    assert document["g_rdip"]["settings"]["outer"] == 50
    assert len(document["g_rdip"]["trajectory"]["lagrangian"]) == 50
    shown = auditkit("solve", SAMPLE, "--method", "g-rdip", "--epsilon", 0.5, "--delta", 0.5)
    assert shown.code == 0 and "certified" in shown.out
    assert auditkit("solve", SAMPLE, "--method", "g-rdip", "--epsilon", 0).code == 2


def test_plugins_of_a_directory_that_the_user_names(auditkit: Any, tmp_path: Path) -> None:
    from support.plugin_helpers import GOOD

    (tmp_path / "at_least_one.py").write_text(GOOD)
    (tmp_path / "broken.py").write_text("import nothing_of_this_name\n")
    arguments = ("solve", SAMPLE, "-c", "at-least-one:group=Y,on=inspection", "--plugins-dir", tmp_path)
    ran = auditkit(*arguments)
    assert ran.code == 0 and "Y in four-boxes >= 1" in ran.out
    assert "broken" in ran.err and "left out" in ran.err
    strict = auditkit(*arguments, "--strict-plugins")
    assert strict.code == 2 and "broken" in strict.err
    assert auditkit("solve", SAMPLE, "-c", "at-least-one:group=Y").code == 2
