"""From an export to a document: golden JSON, the same bytes twice, nobody recognisable, missing parts said.

The golden document is `golden/audit.json`. After a change that is meant, look at the difference and then:

    UPDATE_GOLDEN=1 .venv/bin/pytest tests/test_pipeline.py -k golden
"""

from __future__ import annotations

import copy
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from auditkit import pipeline
from auditkit.config import Config, check
from auditkit.data import KINDS
from auditkit.disparity import hidden
from auditkit.errors import InputError
from auditkit.report import html
from auditkit.report.document import dump
from auditkit.report.people import in_general
from support.audit_helpers import HEADER, plugins, rows, save

GOLDEN = Path(__file__).parent / "golden" / "audit.json"
PLUGINS = plugins()
EPOCH = "1790000000"
KEYS = (
    *("format", "version", "created", "input", "config", "mapping", "problems", "groups", "firm", "unconstrained"),
    *("constrained", "disparity", "funnel", "frontier", "sensitivity", "fit", "sections", "findings", "provenance"),
)
BANNED = re.compile(r"\b(fair|unfair|unbiased|bias-free|compliant|compliance|discriminat\w+)\b", re.IGNORECASE)
Doc = dict[str, Any]


@pytest.fixture(autouse=True)
def fixed_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", EPOCH)


def audited(path: Path, **settings: Any) -> pipeline.Audit:
    settings.setdefault("report__replicates", 25)
    return pipeline.audit(path, Config().over(**settings), PLUGINS)


@pytest.fixture(scope="module")
def whole(people: Path) -> Doc:
    """The document of the small export; do not change it."""
    before = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = EPOCH
    try:
        return audited(people).document
    finally:
        if before is None:
            del os.environ["SOURCE_DATE_EPOCH"]


def numbers_apart(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two documents differ by more than rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        if list(one) != list(other):
            return [f"{place}: keys {list(one)} and {list(other)}"]
        return [d for key in one for d in numbers_apart(one[key], other[key], f"{place}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [d for i, (a, b) in enumerate(zip(one, other)) for d in numbers_apart(a, b, f"{place}[{i}]")]
    if isinstance(one, float) or isinstance(other, float):
        same = None not in (one, other) and one == pytest.approx(other, rel=1e-6, abs=1e-6)
        return [] if same else [f"{place}: {one} and {other}"]
    return [] if one == other else [f"{place}: {one!r} and {other!r}"]


def test_golden(people: Path) -> None:
    # without intervals, whose last digits are the LP solver's
    kept = json.loads(dump(audited(people, report__replicates=0).document))
    for volatile in ("version", "provenance"):
        kept.pop(volatile)
    for entry in kept["constrained"]:
        entry.pop("policies")  # any optimal mixture will do
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    wrong = numbers_apart(json.loads(GOLDEN.read_text(encoding="utf-8")), kept)
    assert not wrong, f"if it is meant: see the head of {Path(__file__).name}\n" + "\n".join(wrong[:20])


def test_the_document_has_its_shape(whole: Doc) -> None:
    assert tuple(whole) == KEYS
    assert whole["format"] == "auditkit-report/1"
    assert whole["created"] == "2026-09-21T14:13:20Z"
    assert whole["input"]["path"] == "people.csv"
    assert whole["problems"]["counts"] == {"read": 108, "used": 108, "left": {}}
    assert [entry["label"] for entry in whole["constrained"]] == [
        "parity",
        "impact-ratio",
        "quota Female",
        "all together",
    ]
    for entry in whole["constrained"]:
        assert entry["status"] == "optimal"
        assert entry["gap"] < 1e-6
        assert entry["price_of_fairness"]["loss"] >= -1e-9
        assert sum(entry["unfilled"]["probabilities"]) == pytest.approx(1)
        for law in entry["ex_post_slack"]:
            assert sum(law["probabilities"]) == pytest.approx(1)
            assert len(law["edges"]) == len(law["probabilities"]) + 1
        total = sum(row["selected"] for row in entry["by_group"].values())
        assert total + entry["unfilled_capacity"] == pytest.approx(12)
    assert whole["constrained"][0]["price_of_fairness"]["interval"]["level"] == 0.95
    assert {row["name"]: row["applicants"] for row in whole["groups"]}["unknown"] == 1
    assert [stage["stage"] for stage in whole["funnel"]] == ["applied", "inspected", "selected"]
    assert whole["fit"]["fitter"] == "empirical"
    assert sum(whole["fit"]["pit"]["shares"]) == pytest.approx(1)
    assert set(whole["disparity"]) == {"selected", "inspected", "local_law_144"}
    assert whole["disparity"]["local_law_144"]["sex"]["applicants"] == 107
    assert whole["disparity"]["local_law_144"]["statement"]["audit_date"] == "2026-09-21"


def test_words_are_careful(whole: Doc) -> None:
    for finding in whole["findings"]:
        assert set(finding) >= {"kind", "code", "text"}
        assert not BANNED.search(finding["text"]), finding
        assert finding["text"][0].isupper() or finding["text"][0].isdigit()
        assert finding["text"].endswith(".")
    kinds = [finding["kind"] for finding in whole["findings"]]
    assert kinds == sorted(kinds)  # findings before notices
    codes = [finding["code"] for finding in whole["findings"]]
    assert codes.count("price-of-fairness") == 4
    assert "default-constraints" in codes
    assert "unknown-group" in codes


def test_the_same_bytes_twice(people: Path, whole: Doc) -> None:
    again = audited(people)
    assert dump(again.document) == dump(whole)
    page = html.render(again.document)
    assert page == html.render(json.loads(dump(whole)))


def test_nobody_can_be_recognised(whole: Doc) -> None:
    text, page = dump(whole), html.render(whole)
    table = rows()
    for row in table:
        assert row["Candidate ID"] not in text
        assert row["Candidate ID"] not in page
    assert not re.search(r"\bc\d+\b", "".join(re.findall(r'"label": "[^"]*"', text)))
    assert "REQ-" not in text


def test_small_groups_are_hidden_everywhere(tmp_path: Path) -> None:
    path = save(tmp_path / "people.csv", rows(tiny=3))
    document = audited(path).document
    assert hidden({"Divers": 3, "Female": 40, "Male": 50}) == {"Divers", "Female"}
    groups = {row["name"]: row for row in document["groups"]}
    out = {name for name, row in groups.items() if row["suppressed"]}
    assert "Divers" in out
    assert len(out) == 2
    for name in out:
        assert groups[name]["applicants"] is groups[name]["selected"] is None
        assert all(stage["by_group"][name] is None for stage in document["funnel"])
        for policy in (document["firm"], document["unconstrained"], *document["constrained"]):
            assert set(policy["by_group"][name].values()) == {None}
        for outcome in ("selected", "inspected"):
            row = next(r for r in document["disparity"][outcome]["groups"] if r["group"] == name)
            assert row["applicants"] is row["comparison"] is row["rate"] is None
        law = next(r for r in document["disparity"]["local_law_144"]["sex"]["rows"] if r["category"] == name)
        assert law["applicants"] is law["rate"] is None
        assert name not in {row["group"] for row in document["fit"]["by_group"]}
    assert groups["Divers"]["shown"] == "<5"
    assert "groups-suppressed" in {f["code"] for f in document["findings"]}
    # named by the user, a hidden group is priced, but neither its law nor its shift is told, which hold its size
    named = audited(path, constraints=[{"type": "parity", "groups": ["Male", "Divers"]}]).document["constrained"][0]
    assert named["status"] == "optimal"
    assert named["ex_post_slack"] is None
    assert [dual["words"] for dual in named["duals"]] == [None]
    shown = audited(path, report__suppress_below=0).document
    assert not any(row["suppressed"] for row in shown["groups"])


def test_crossed_groups_are_hidden_as_in_the_intersection(tmp_path: Path) -> None:
    table = rows(searches=12, each=10)
    for i, row in enumerate(table):
        row["Race"] = "White" if i % 3 else "Black"
    few = [row for row in table if row["Race"] == "Black" and row["Gender"] == "Female"]
    for row in few[3:]:
        row["Race"] = "White"
    path = tmp_path / "people.csv"
    header = ",".join([*HEADER, "Race"])
    path.write_text("\n".join([header, *(",".join(str(row[n]) for n in (*HEADER, "Race")) for row in table)]) + "\n")
    document = audited(path, report__replicates=0, fit__points=8).document
    out = {row["name"] for row in document["groups"] if row["suppressed"]}
    assert {"Female+Black"} < out
    law = document["disparity"]["local_law_144"]["intersection"]["rows"]
    assert {"+".join(row["parts"]) for row in law if row["applicants"] is None} == out


def test_without_scores_or_costs_there_is_still_the_disparity_audit(tmp_path: Path) -> None:
    bare = save(tmp_path / "a.csv", rows(), ("Interview Score", "Interview Cost", "Performance Rating"))
    document = audited(bare).document
    for part in ("firm", "unconstrained", "constrained", "fit"):
        assert document[part] is None
    codes = {f["code"]: f["text"] for f in document["findings"]}
    assert "--map score=COLUMN" in codes["no-fit"]
    assert "--cost" in codes["no-fit"]
    assert {"no-firm", "no-unconstrained", "no-constrained"} <= set(codes)
    assert document["disparity"]["selected"]["groups"]
    assert "<html" in html.render(document)
    costless = save(tmp_path / "b.csv", rows(), ("Interview Cost",))
    assert audited(costless).document["fit"] is None
    priced = audited(costless, cost=2.5, report__replicates=0).document
    assert priced["fit"]["settings"]["cost"] in ("option", "data")
    assert priced["constrained"][0]["price_of_fairness"]["interval"] is None
    assert "no-interval" in {f["code"] for f in priced["findings"]}
    plain = save(tmp_path / "c.csv", rows(), ("Performance Rating", "Openings"))
    document = audited(plain, report__replicates=0).document
    codes = {f["code"]: f["text"] for f in document["findings"]}
    assert "no-long-term-utility" in codes
    assert "no-capacity" in codes
    assert document["firm"]["long_term_utility"] is None


def test_few_scores_are_no_model(tmp_path: Path) -> None:
    path = save(tmp_path / "few.csv", rows(searches=1))
    document = audited(path).document
    assert document["fit"] is None
    assert "score" in next(f["text"] for f in document["findings"] if f["code"] == "no-fit")


def test_an_audit_of_inspections_only(tmp_path: Path) -> None:
    path = save(tmp_path / "people.csv", rows(), ("Hired", "Performance Rating", "Interview Score"))
    document = audited(path).document
    assert document["disparity"]["selected"] is None
    assert document["disparity"]["inspected"]["groups"]
    assert [stage["stage"] for stage in document["funnel"]] == ["applied", "inspected"]
    assert document["groups"][0]["selected"] is None


def test_stages_are_in_the_funnel(tmp_path: Path) -> None:
    lines = ["candidate id,req id,gender,phone screen,onsite interview,offer"]
    for i in range(40):
        lines.append(f"p{i},r{i % 4},{'FM'[i % 2]},{'yes' if i % 3 else 'no'},{'yes' if i % 6 in (1, 2) else ''},"
                     f"{'yes' if i % 12 == 1 else ''}")  # fmt: skip
    path = tmp_path / "stages.csv"
    path.write_text("\n".join(lines) + "\n")
    mapping = {"stages": ["phone screen", "onsite interview", "offer"]}
    document = audited(path, mapping=mapping).document
    assert document["funnel"][0]["stage"] == "applied"
    assert len(document["funnel"]) == 5
    assert document["disparity"]["inspected"] is not None


def test_problems_are_counted_and_told_without_cells(tmp_path: Path) -> None:
    table = rows()
    path = save(tmp_path / "people.csv", [*table, table[5], table[17]])
    document = audited(path, report__replicates=0).document
    assert document["problems"]["counts"] == {"read": 110, "used": 108, "left": {"repeated-row": 2}}
    by_code = {row["code"]: row for row in document["problems"]["by_code"]}
    assert by_code["repeated-row"]["count"] == 2
    assert by_code["repeated-row"]["what"] == "the row repeats another one cell by cell and is left out"
    assert table[5]["Candidate ID"] not in dump(document)
    assert "left-out-repeated-row" in {f["code"] for f in document["findings"]}
    for kind in KINDS.values():
        for text in (kind.what, kind.fix):
            assert "{" not in in_general(text)


def test_individual_rows_are_not_shown(people: Path) -> None:
    floor = {"type": "floor", "minimum": 0.001}
    document = audited(people, constraints=[floor], report__replicates=0, fit__points=10).document
    (entry,) = document["constrained"]
    (dual,) = entry["duals"]
    assert dual["label"] == "108 rows, one for each candidate"
    assert entry["policies"] is None
    assert entry["ex_post_slack"] is None
    assert "REQ-" not in dump(document)
    assert "ex-post-slack-not-computed" in {f["code"] for f in document["findings"]}


def test_conflicts_are_findings(people: Path) -> None:
    clash = [{"type": "quota", "group": "Female", "share": 0.9}, {"type": "quota", "group": "Male", "share": 0.9}]
    clash.append({"type": "budget", "limit": -6, "expense": -1})
    document = audited(people, constraints=clash, report__replicates=0, fit__points=10).document
    last = document["constrained"][-1]
    assert last["status"] == "infeasible"
    assert last["utility"] is last["duals"] is None
    assert len(last["conflict"]) >= 2
    assert any(f["code"] == "infeasible" for f in document["findings"])
    assert "<html" in html.render(document)


def test_files_are_written_whole_or_not_at_all(
    people: Path, whole: Doc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = audited(people, report__formats=("html", "json"), fit__points=10, report__replicates=0)
    written = pipeline.write(audit, tmp_path / "out.audit")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.audit.html", "out.audit.json"]
    assert {p.name for p in written.files} == {"out.audit.html", "out.audit.json"}
    before = (tmp_path / "out.audit.html").read_bytes()

    def fail(*_: object, **__: object) -> str:
        raise RuntimeError("drawing fails")

    monkeypatch.setattr("auditkit.report.html.render", fail)
    with pytest.raises(RuntimeError, match="drawing fails"):
        pipeline.write(audit, tmp_path / "out.audit")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.audit.html", "out.audit.json"]
    assert (tmp_path / "out.audit.html").read_bytes() == before
    with pytest.raises(InputError, match="cannot be written"):
        monkeypatch.undo()
        pipeline.write(audit, tmp_path / "nowhere" / "x")


def test_a_pdf_needs_pango_and_nothing_else_does(people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from auditkit.report import pdf

    def missing(*_: object) -> bytes:
        raise pdf.PdfUnavailable("no library")

    monkeypatch.setattr(pdf, "render", missing)
    audit = audited(people, report__formats=("html", "pdf"), fit__points=10, report__replicates=0)
    written = pipeline.write(audit, tmp_path / "x")
    assert [p.name for p in written.files] == ["x.html"]
    assert written.no_pdf is not None
    assert "libpango" in written.no_pdf


def test_a_report_can_be_verified_against_its_data(tmp_path: Path) -> None:
    people = save(tmp_path / "people.csv", rows(searches=6, each=6))
    document = audited(people, fit__points=10, report__replicates=0).document
    found = pipeline.verify_report(document, people, PLUGINS)
    assert found.failed == ()
    assert found.not_checked == ()
    assert len(found.checks) > 40

    def fails(change: Any) -> bool:
        other = copy.deepcopy(document)
        change(other)
        return not pipeline.verify_report(other, people, PLUGINS).holds

    assert fails(lambda d: d["firm"].update(utility=d["firm"]["utility"] + 1))
    assert fails(lambda d: d["unconstrained"]["by_group"]["Male"].update(selected=1))
    assert fails(lambda d: d["constrained"][0].update(bound=d["constrained"][0]["bound"] + 0.01))
    assert fails(lambda d: d["constrained"][1]["policies"][0].update(weight=0.5))
    assert fails(lambda d: d["constrained"][0]["duals"][0].update(label="another"))
    assert fails(lambda d: d["constrained"][0]["duals"][0].update(value=0.0))
    assert fails(lambda d: d["disparity"]["selected"].update(applicants=3))
    assert fails(lambda d: d["input"].update(sha256="0"))
    with pytest.raises(InputError, match="the report: input: is missing"):
        pipeline.verify_report({"format": "auditkit-report/1"}, people, PLUGINS)


def test_settings_are_checked_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        check({"valuescale": 2, "fit": {"folds": 1, "fiter": "x"}, "report": {"formats": ["docx"]}})
    text = str(caught.value)
    assert "did you mean 'value_scale'" in text
    assert "fit.folds" in text
    assert "did you mean 'fitter'" in text
    assert "report.formats" in text
    with pytest.raises(InputError, match="there is no fitter 'x'"):
        audited(save(tmp_path / "p.csv", rows()), fit__fitter="x")
    with pytest.raises(InputError, match=r"constraints\[0\].*did you mean 'parity'"):
        audited(tmp_path / "p.csv", constraints=[{"type": "party"}])
